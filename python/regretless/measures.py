"""What decisions cost."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _regretless
from ._arrays import Float, floats
from ._predicted import Predicted, Values
from ._troubles import Infeasible, checked, tell
from .errors import LossError
from .forecast import Forecast, Risk, risk_of
from .multipliers import multipliers_for
from .problem import Problem, stated_problem
from .quantities import Quantities

if TYPE_CHECKING:
    from ._told import Account

__all__ = ["Decisions", "regret"]

#: Parameters of what must hold.
HARD = {"A", "b", "B", "c", "lower", "upper"}


@dataclass(frozen=True, repr=False)
class Decisions:
    """Decisions on predictions, judged by the truth.

    Rows without a decision or an optimum have a regret of NaN and a ``trouble``. Means and quantiles are those of the other rows, as
    ``regretless evaluate`` has them; ``undecided`` counts the rows without a decision, and ``score`` of an estimator is NaN with any, so
    that it cannot win a search by what it left out. A decision that breaks hard rows of the truth has a ``violation``, and its regret includes what
    that costs.
    """

    x: Float
    regret: Float
    objective: Float
    optimal: Float
    violation: Float
    predicted_objective: Float
    trouble: list[str | None]
    #: Of decisions at risk what was minimised, the threshold, and both with the decision judged by what came true.
    objective_at_risk: Float | None = None
    threshold: Float | None = None
    score: Float | None = None
    #: What the decisions brought or cost, against whom, by period, series and row, as JSON: see :attr:`account`.
    account_json: str | None = None

    @property
    def account(self) -> Account | None:
        """What the decisions brought or cost in total, against the constant predictor and others, by period, by series and row by row, as
        ``regretless evaluate --format json`` prints it; ``None`` where decisions were not taken by a model."""
        found: Account | None = None if self.account_json is None else json.loads(self.account_json)
        return found

    @property
    def undecided(self) -> int:
        """Rows without a decision: their prediction had no optimum."""
        return int((~self._there).sum())

    @property
    def _there(self) -> NDArray[np.bool_]:
        return np.asarray(np.isfinite(self.x).all(axis=1))

    @property
    def decided(self) -> Decisions:
        """The rows whose prediction had an optimum."""
        rows = np.flatnonzero(self._there)
        return Decisions(
            x=self.x[rows],
            regret=self.regret[rows],
            objective=self.objective[rows],
            optimal=self.optimal[rows],
            violation=self.violation[rows],
            predicted_objective=self.predicted_objective[rows],
            trouble=[self.trouble[row] for row in rows],
            objective_at_risk=None if self.objective_at_risk is None else self.objective_at_risk[rows],
            threshold=None if self.threshold is None else self.threshold[rows],
            score=None if self.score is None else self.score[rows],
        )

    @property
    def mean(self) -> float:
        """Mean regret of the rows with a decision and an optimum."""
        known = self._known()
        return float(known.mean()) if len(known) else float("nan")

    @property
    def standard_error(self) -> float:
        """Standard error of the mean regret."""
        known = self._known()
        return float(known.std(ddof=1) / np.sqrt(len(known))) if len(known) > 1 else float("nan")

    @property
    def relative(self) -> float:
        """Mean regret over the mean absolute optimal value; NaN where that is 0 up to rounding."""
        known = ~np.isnan(self.regret)
        size = float(np.abs(self.optimal[known]).mean()) if known.any() else 0.0
        return self.mean / size if size > 1e-9 * abs(self.mean) else float("nan")

    def quantile(self, q: float) -> float:
        """A quantile of the regret."""
        known = self._known()
        return float(np.quantile(known, q)) if len(known) else float("nan")

    def cvar(self, q: float = 0.9) -> float:
        """Mean regret of the worst ``1 − q`` of the rows."""
        known = np.sort(self._known())
        worst = known[min(int(np.floor(q * len(known))), len(known) - 1) :]
        return float(worst.mean()) if len(known) else float("nan")

    def __repr__(self) -> str:
        undecided = f", {self.undecided} undecided" if self.undecided else ""
        return f"Decisions({len(self.regret)} rows, mean regret {self.mean:.4g} ± {self.standard_error:.2g}{undecided})"

    def _known(self) -> Float:
        """Regrets to summarise."""
        return self.regret[~np.isnan(self.regret)]


def told(decisions: Decisions, infeasible: Infeasible = "mark", stacklevel: int = 4) -> Decisions:
    """The decisions, with a warning about rows that have none."""
    troubles = {row: why for row, why in enumerate(decisions.trouble) if why is not None}
    hint = "Their regret is NaN; `decided` has the rows with a decision."
    tell(troubles, len(decisions.trouble), "decision to judge", infeasible, hint, stacklevel)
    return decisions


def regret(
    problem: Problem,
    predictions: Values | Forecast | None = None,
    truths: Values | None = None,
    *,
    decisions: ArrayLike | None = None,
    predict: str | Sequence[str] | Quantities | None = None,
    known: Values | None = None,
    risk: Risk | None = None,
    infeasible: Infeasible = "mark",
    threads: int | None = None,
) -> Decisions:
    """Decides exactly at predictions and compares with the best decision under the truth.

    A prediction is a number, or with a :class:`Forecast` a distribution: decisions are then for the average over its scenarios. In place
    of predictions there may be ``decisions`` that were taken elsewhere, a row each; NaN where there is none.

    With ``risk`` decisions are for the worst scenarios, as :func:`decide` says, and ``score`` judges each with its threshold t by
    ``t + max(cost − t, 0)/(1 − τ)``, the mean of which is what such decisions minimise.

    Where hard rows or bounds are predicted, a decision can break those of the truth, and that may even pay; one from elsewhere can break
    any. Broken rows then cost four times their largest multiplier over the truths, so that no decision gains by breaking one.

    Rows without a decision or an optimum are NaN, and one warning says how many and why; with ``infeasible="fail"`` they are an error.

    >>> import regretless as rl
    >>> machine = rl.Problem(2, A=[[1.0, 1.0]], b=1.0)
    >>> found = rl.regret(machine, [[1.0, 2.0]], [[2.0, 1.5]])
    >>> found.x, found.regret              # makes the second product, worth 1.5 instead of 2
    (array([[0., 1.]]), array([0.5]))
    >>> rl.regret(machine, truths=[[2.0, 1.5]], decisions=[[0.5, 0.5]]).regret
    array([0.25])
    """
    layout = Predicted(stated_problem(problem), predict)
    if truths is None or (predictions is None) == (decisions is None):
        raise LossError("give truths, and either predictions or decisions")
    true = layout.flat("truths", truths)
    there = np.ascontiguousarray(layout.known(known, len(true)))
    prices = None
    if (decisions is not None or HARD & layout.symbols) and len(true):
        given = layout.given(true, there)
        found = multipliers_for(problem, "dual", given, list(given))
        prices = None if found is None else found.values._tuple()
    predicted, law = None, None
    if isinstance(predictions, Forecast):
        predicted, law = predictions._told(layout)
    elif predictions is not None:
        predicted = layout.flat("predictions", predictions)
    if risk is not None and law is None:
        raise LossError("a point has no risk: give a Forecast")
    judge = _regretless.Judge(problem._inner, layout.placing, law, risk_of(risk), prices, 0)
    if predicted is not None:
        if len(predicted) != len(true):
            raise LossError(f"there are {len(predicted)} predictions and {len(true)} truths")
        answer = judge.evaluate(predicted, true, there, np.arange(len(true), dtype=np.uint64), threads)
    else:
        x = floats("decisions", decisions if decisions is not None else ())
        if x.shape != (len(true), problem.n):
            raise LossError(f"decisions have the shape {x.shape}, expected ({len(true)}, {problem.n})")
        answer = judge.judge(x, true, there, threads)
    return told(Decisions(**answer), checked(infeasible), stacklevel=4)
