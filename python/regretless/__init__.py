"""Decision-focused learning with soft constraints.

Predict the parameters of an optimisation problem, decide with the predictions, and train on what the decisions cost.
"""

from typing import TYPE_CHECKING, Any

from . import lightgbm, xgboost
from ._regretless import __version__
from .calibration import Calibration, calibrate
from .compare import Check, Comparison, check, compare
from .cvxpy import CvxpyProblem, from_cvxpy
from .errors import (
    InternalError,
    LossError,
    MultiplierError,
    ProblemError,
    ProjectError,
    RegretlessError,
    RegretlessWarning,
    TrainingError,
)
from .forecast import Decided, Forecast, decide
from .losses import METHODS, DecisionLoss, LossResult, Method
from .measures import Decisions, regret
from .multipliers import Certificate, Multipliers
from .problem import Optimum, Problem, RowValues, Soft
from .quantities import At, Quantities
from .run import Run, read_problem
from .surrogate import Gradients, Solution, Surrogate

if TYPE_CHECKING:
    from .regressor import DecisionRegressor

__all__ = [
    "METHODS",
    "At",
    "Calibration",
    "Certificate",
    "Check",
    "Comparison",
    "CvxpyProblem",
    "Decided",
    "DecisionLoss",
    "DecisionRegressor",
    "Decisions",
    "Forecast",
    "Gradients",
    "InternalError",
    "LossError",
    "LossResult",
    "Method",
    "MultiplierError",
    "Multipliers",
    "Optimum",
    "Problem",
    "ProblemError",
    "ProjectError",
    "Quantities",
    "RegretlessError",
    "RegretlessWarning",
    "RowValues",
    "Run",
    "Soft",
    "Solution",
    "Surrogate",
    "TrainingError",
    "__version__",
    "calibrate",
    "check",
    "compare",
    "decide",
    "from_cvxpy",
    "lightgbm",
    "read_problem",
    "regret",
    "xgboost",
]


def __getattr__(name: str) -> Any:
    # scikit-learn takes a second to import: only those who want it wait for it.
    if name == "DecisionRegressor":
        from .regressor import DecisionRegressor

        return DecisionRegressor
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
