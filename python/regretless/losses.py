"""Decision losses: what a prediction costs once it has been decided with, and its gradient."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from . import _regretless
from ._arrays import Float, floats, number, sample_ids
from ._predicted import Predicted, Values
from .errors import LossError
from .multipliers import MultiplierRule, multipliers_for
from .problem import Problem, stated_problem
from .surrogate import PROBES

__all__ = ["METHODS", "DecisionLoss", "LossResult", "Method"]

Method = Literal[
    "l1", "l2", "weighted-l1", "spo+", "spo+-smooth", "df",
    "surrogate-vertex", "surrogate-smooth", "fenchel-young", "surrogate",
]  # fmt: skip

#: Formula, gradient, what may be predicted and source of every method.
METHODS: dict[str, dict[str, str]] = {
    name: {"formula": formula, "gradient": gradient, "predicts": predicts, "source": source}
    for name, formula, gradient, predicts, source in _regretless.methods()
}

_ON_SURROGATE = ("spo+-smooth", "surrogate-vertex", "surrogate-smooth", "fenchel-young")


@dataclass(frozen=True)
class LossResult:
    """Values, gradients and troubles of a batch."""

    #: The loss of each sample.
    value: Float
    #: ∂value/∂prediction, shaped as the predictions are.
    gradient: Any
    #: Samples that have no loss, with the reason; their value and gradient are 0.
    troubles: dict[int, str]


class DecisionLoss:
    """A loss that looks at decisions.

    ``method`` is one of ``METHODS`` (``surrogate`` is ``surrogate-smooth``), ``predict`` what is predicted (θ, if the problem
    states none, need not be named). With ``mix = w`` the gradient
    is ``w·g₂ + (1 − w)·g·‖g₂‖/‖g‖`` over the batch, g₂ that of L2: the method's gradient at the length of L2's. ``scale`` are units for
    the prediction losses, such as the deviations of the targets. ``smoothing`` is that of the surrogate, for ``surrogate-smooth``.

    Penalties of hard rows are chosen from the truths of the first batch unless they are given.

    >>> import regretless as rl
    >>> machine = rl.Problem(2, A=[[1.0, 1.0]], b=1.0)
    >>> loss = rl.DecisionLoss(machine, "spo+")
    >>> result = loss([[1.0, 2.0]], [[2.0, 1.5]])       # the better product is predicted to be the worse one
    >>> result.value, result.gradient
    (array([2.5]), array([[-2.,  2.]]))
    """

    def __init__(
        self,
        problem: Problem,
        method: Method | str = "surrogate",
        *,
        predict: str | Sequence[str] | None = None,
        K: float = 5.0,
        smoothing: float = 0.0,
        multipliers: MultiplierRule = "dual",
        mix: float | None = None,
        ridge: float = 0.1,
        over: float = 1.0,
        under: float = 1.0,
        scale: ArrayLike | None = None,
        store_bytes: int = 512 << 20,
    ) -> None:
        self.problem = stated_problem(problem)
        self.method = "surrogate-smooth" if method == "surrogate" else str(method)
        self._predicted = Predicted(problem, predict)
        if self.method not in METHODS:
            raise LossError(f"there is no method `{method}`: {', '.join(METHODS)}")
        if mix is not None and not 0.0 <= mix <= 1.0:
            raise LossError(f"mix is {mix}: a share from 0 to 1")
        self.mix = mix
        self._rule = multipliers
        self._settings = (
            number("K", K), number("smoothing", smoothing), number("ridge", ridge),
            number("over", over), number("under", under),
        )  # fmt: skip
        self._scale = None if scale is None else floats("scale", scale).reshape(-1)
        self._store_bytes = store_bytes
        self._inner: _regretless.Loss | None = None
        #: Penalties once they are chosen; rows that they were too small for in the last batch.
        self._penalties: Any = None
        self._uncapped: list[int] = []
        # What is wrong with the settings is said now and not at the first batch.
        self._build("l2" if self._needs_multipliers else self.method, None)
        if self._needs_multipliers:
            self._build(self.method, problem._any_penalties())
        self._l2 = None if mix is None else self._build("l2", None)

    @property
    def _needs_multipliers(self) -> bool:
        return self.method in _ON_SURROGATE

    def _build(self, method: str, multipliers: Any) -> _regretless.Loss:
        return _regretless.Loss(
            self.problem._inner, method, self._predicted.names, *self._settings,
            multipliers, self._scale, self._store_bytes,
        )  # fmt: skip

    def _ready(self, truths: Float) -> _regretless.Loss:
        if self._inner is None:
            values = self._penalties
            if self._needs_multipliers and values is None:
                some = truths[:: -(-len(truths) // PROBES) or 1]
                shaped = self._predicted.shaped(some)
                given = shaped if isinstance(shaped, dict) else {self._predicted.names[0]: shaped}
                found = multipliers_for(self.problem, self._rule, given, list(given))
                # Without an optimum there is no loss either: any penalties do, and none are kept.
                if found is None:
                    return self._build(self.method, self.problem._any_penalties())
                values = found.values._tuple()
            self._penalties = values
            self._inner = self._build(self.method, values)
        return self._inner

    def __call__(
        self, predictions: Values, truths: Values, *, ids: ArrayLike | None = None, threads: int | None = None
    ) -> LossResult:
        """Values and gradients of a batch; samples with ``ids`` start where they were solved last."""
        predicted, true = self._predicted.flat("predictions", predictions), self._predicted.flat("truths", truths)
        rows = len(predicted)
        if len(true) != rows:
            raise LossError(f"there are {rows} predictions and {len(true)} truths")
        if rows == 0:
            return LossResult(np.zeros(0), self._predicted.shaped(predicted), {})
        # Without ids nothing of a sample is to be remembered; the ids of a batch are then its own.
        own = sample_ids(ids, rows)
        known = np.arange(rows, dtype=np.uint64) if own is None else own
        answer = self._ready(true).evaluate(predicted, true, known, threads)
        gradient = answer["gradients"]
        if self._l2 is not None and self.mix is not None:
            plain = self._l2.evaluate(predicted, true, known, threads)["gradients"]
            length = float(np.linalg.norm(gradient))
            longest = float(np.linalg.norm(plain))
            # What is left of rounding has no direction.
            stretch = (1.0 - self.mix) * longest / length if length > 1e-12 * longest else 0.0
            gradient = self.mix * plain + stretch * gradient
        self._uncapped = answer["uncapped"]
        return LossResult(answer["values"], self._predicted.shaped(gradient), dict(answer["troubles"]))

    def end_epoch(self) -> list[str]:
        """Doubles the penalties that were too small in the last batch; the names of their rows."""
        if self._inner is None:
            return []
        raised = self._inner.end_epoch(self._uncapped)
        if raised:
            stacked = np.concatenate(self._penalties)
            stacked[self._uncapped] *= 2.0
            self._penalties = tuple(np.split(stacked, np.cumsum([len(part) for part in self._penalties])[:-1]))
        return raised

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_inner": None, "_l2": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._l2 = None if self.mix is None else self._build("l2", None)
