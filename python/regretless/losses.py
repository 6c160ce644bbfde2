"""Decision losses: what a prediction costs once it has been decided with, and its gradient."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from . import _regretless
from ._arrays import Float, floats, number, sample_ids
from ._predicted import Predicted, Shaped, Values
from ._sharpness import sharpness, warn_if_far
from ._shown import Brief
from ._troubles import Infeasible, checked, tell
from .errors import LossError
from .multipliers import MultiplierRule, multipliers_for
from .problem import Problem, stated_problem
from .quantities import Quantities
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

#: What a warning about samples without a loss adds.
HINTS = {
    "mark": 'Their loss and gradient are NaN; infeasible="skip" leaves them out, infeasible="fail" raises.',
    "skip": "Their loss is NaN and they are left out of the gradient.",
    "fail": "",
}

_ON_SURROGATE = ("spo+-smooth", "surrogate-vertex", "surrogate-smooth", "fenchel-young")


@dataclass(frozen=True, repr=False)
class LossResult(Brief):
    """Values, gradients and troubles of a batch."""

    #: The loss of each sample; NaN where there is none.
    value: Float
    #: ∂value/∂prediction: an array for one predicted parameter, a dict of arrays for several.
    gradient: Shaped
    #: Samples that have no loss, with the reason; see ``infeasible`` of :class:`DecisionLoss`.
    troubles: dict[int, str]
    #: Prices that came out negative in the predictions, and count as 0.
    cut: int = 0


class DecisionLoss:
    """A loss that looks at decisions.

    ``method`` is one of ``METHODS`` (``surrogate`` is ``surrogate-smooth``), ``predict`` what is predicted (θ, if the problem
    states none, need not be named); :class:`Quantities` if it is more, or less, than whole parameters. With ``mix = w`` the gradient
    is ``w·g₂ + (1 − w)·g·‖g₂‖/‖g‖`` over the batch, g₂ that of L2: the method's gradient at the length of L2's. ``scale`` are units for
    the prediction losses, such as the deviations of the targets. ``smoothing`` is that of the surrogate, for ``surrogate-smooth``.

    Penalties of hard rows and ``K`` are chosen from ``examples`` of truths, or from the truths of the first batch, unless they are given; then
    they stay. ``loss.K`` tells it, see :class:`regretless.Surrogate`.

    A prediction that is not finite, or whose problem is infeasible or unbounded, has no loss. With ``infeasible="mark"`` its value and
    gradient are NaN, with ``"skip"`` its value is NaN and its gradient 0; one warning a batch says how many and why. ``"fail"`` raises.

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
        predict: str | Sequence[str] | Quantities | None = None,
        K: float | Mapping[str, ArrayLike] | Literal["auto"] = "auto",
        smoothing: float = 0.0,
        multipliers: MultiplierRule = "dual",
        mix: float | None = None,
        ridge: float = 0.1,
        over: float = 1.0,
        under: float = 1.0,
        scale: ArrayLike | None = None,
        examples: Values | None = None,
        examples_known: Values | None = None,
        infeasible: Infeasible = "mark",
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
        self.infeasible = checked(infeasible)
        self._rule = multipliers
        self._K = sharpness(problem, K)
        self._settings = (
            number("smoothing", smoothing), number("ridge", ridge), number("over", over), number("under", under),
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
        if examples is not None:
            rows = self._predicted.flat("examples", examples)
            self._ready(rows, self._predicted.known(examples_known, len(rows)))

    @property
    def K(self) -> float | dict[str, float] | None:
        """The sharpness: one number, or a dict by kind of row; ``None`` until it is chosen, or where the method has none."""
        return self._K.shown() if self._needs_multipliers else None

    @property
    def _needs_multipliers(self) -> bool:
        return self.method in _ON_SURROGATE

    def _build(self, method: str, multipliers: Any) -> _regretless.Loss:
        k, rows = (self._K.k or 5.0, self._K.rows(self.problem)) if method in _ON_SURROGATE else (5.0, None)
        return _regretless.Loss(
            self.problem._inner, method, self._predicted.placing, k, rows, *self._settings,
            multipliers, self._scale, self._store_bytes,
        )  # fmt: skip

    def _ready(self, truths: Float, known: Float) -> _regretless.Loss:
        if self._inner is None:
            values = self._penalties
            if self._needs_multipliers and (values is None or not self._K.settled):
                step = -(-len(truths) // PROBES) or 1
                given = self._predicted.given(truths[::step], known[::step])
                batch = self.problem._batch(given)
                self._K.fit(self.problem, batch)
            if self._needs_multipliers and values is None:
                found = multipliers_for(self.problem, self._rule, given, list(given))
                # Without an optimum there is no loss either: any penalties do, and none are kept.
                if found is None:
                    return self._build(self.method, self.problem._any_penalties())
                values = found.values._tuple()
                if self.method != "surrogate-vertex":
                    rows = self._K.rows(self.problem)
                    solver = _regretless.Surrogate(self.problem._inner, values, rows, "smooth", 0.0, 0)
                    warn_if_far(solver, batch, stacklevel=4)
            self._penalties = values
            self._inner = self._build(self.method, values)
        return self._inner

    def __call__(
        self,
        predictions: Values,
        truths: Values,
        *,
        known: Values | None = None,
        ids: ArrayLike | None = None,
        threads: int | None = None,
    ) -> LossResult:
        """Values and gradients of a batch, with what is ``known`` of its rows; samples with ``ids`` start where they were solved last."""
        predicted, true = self._predicted.flat("predictions", predictions), self._predicted.flat("truths", truths)
        rows = len(predicted)
        if len(true) != rows:
            raise LossError(f"there are {rows} predictions and {len(true)} truths")
        if rows == 0:
            return LossResult(np.zeros(0), self._predicted.shaped(predicted), {})
        # Without ids nothing of a sample is to be remembered; the ids of a batch are then its own.
        own = sample_ids(ids, rows)
        sample = np.arange(rows, dtype=np.uint64) if own is None else own
        there = np.ascontiguousarray(self._predicted.known(known, rows))
        answer = self._ready(true, there).evaluate(predicted, true, there, sample, threads)
        value, gradient, troubles = answer["values"], answer["gradients"], dict(answer["troubles"])
        if self._l2 is not None and self.mix is not None:
            plain = self._l2.evaluate(predicted, true, there, sample, threads)["gradients"]
            gradient = _regretless.mix(gradient, plain, self.mix)
        self._uncapped = answer["uncapped"]
        if troubles:
            tell(troubles, rows, "loss", self.infeasible, HINTS[self.infeasible])
            without = list(troubles)
            value[without] = np.nan
            gradient[without] = 0.0 if self.infeasible == "skip" else np.nan
        return LossResult(value, self._predicted.shaped(gradient), troubles, answer["cut"])

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

    def __repr__(self) -> str:
        k = f", K={self._K!r}" if self._needs_multipliers else ""
        mix = "" if self.mix is None else f", mix={self.mix:g}"
        return f"DecisionLoss({self.problem!r}, {self.method!r}, predict={self._predicted.names}{k}{mix})"

    def _chosen(self) -> dict[str, list[float]]:
        """What was fitted so far, for those who keep states: K and penalties of the stacked rows; empty where not yet."""
        penalties = [] if self._penalties is None else np.concatenate(self._penalties).tolist()
        return {"K": self._K.kept(), "multipliers": penalties}

    def _choose_again(self, chosen: Mapping[str, Sequence[float]]) -> None:
        """Takes over what :meth:`_chosen` told."""
        self._K.restore(self.problem, chosen["K"])
        if len(chosen["multipliers"]):
            sizes = list(self.problem._kinds().values())
            stacked = np.asarray(chosen["multipliers"], dtype=np.float64)
            self._penalties = tuple(np.split(stacked, np.cumsum(sizes)[:-1]))
        self._inner = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_inner": None, "_l2": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update({"infeasible": "mark"} | state)
        if len(self._settings) == 5:
            # Pickles of before K could be fitted.
            self._K, self._settings = sharpness(self.problem, self._settings[0]), self._settings[1:]
        self._l2 = None if self.mix is None else self._build("l2", None)
