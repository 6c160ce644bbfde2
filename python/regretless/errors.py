"""What can go wrong, by name. Hard problems are a ``status``, not an error."""

__all__ = [
    "InternalError",
    "LossError",
    "MultiplierError",
    "ProblemError",
    "ProjectError",
    "RegretlessError",
    "RegretlessWarning",
    "TrainingError",
]


class RegretlessError(Exception):
    """Everything that regretless raises."""


class RegretlessWarning(UserWarning):
    """An answer that is there but should not be trusted unseen."""


class ProblemError(RegretlessError, ValueError):
    """A problem or its parameters are not what they should be: shapes, signs, bounds, NaN."""


class ProjectError(RegretlessError, ValueError):
    """A problem file, a run directory or a table for it cannot be used."""


class MultiplierError(RegretlessError, ValueError):
    """A rule gave no penalties for the hard rows."""


class LossError(RegretlessError, ValueError):
    """A decision loss cannot be built or evaluated as asked."""


class TrainingError(RegretlessError, RuntimeError, ValueError):
    """Training failed: data, settings or divergence. A ``ValueError`` too, as scikit-learn has it for bad data."""


class InternalError(RegretlessError, RuntimeError):
    """A bug in regretless."""
