"""Forecasts made elsewhere: samples or quantiles of what is predicted, and decisions for their average."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from . import _regretless
from ._arrays import Float, floats
from ._predicted import Predicted, Values
from ._shown import Brief, brief
from ._troubles import Infeasible, checked, tell
from .errors import LossError
from .problem import Problem, stated_problem
from .quantities import Quantities

__all__ = ["Decided", "Forecast", "Risk", "decide"]

#: How much the worst scenarios count: the level of CVaR, or that with its weight beside the mean.
Risk = float | Mapping[str, float]


def risk_of(risk: Risk | None) -> tuple[float, float] | None:
    """Level and weight; None for the mean."""
    if risk is None:
        return None
    told = dict(risk) if isinstance(risk, Mapping) else {"cvar": risk}
    if "cvar" not in told or set(told) - {"cvar", "weight"}:
        raise LossError(f"risk is {risk!r}: a level such as 0.9, or {{'cvar': 0.9, 'weight': 0.5}}")
    return float(told["cvar"]), float(told.get("weight", 1.0))


@dataclass(frozen=True, repr=False)
class Forecast(Brief):
    """Weighted scenarios of what is predicted, for each of some rows.

    ``samples`` has a row an instance, then the scenarios, then what is predicted: shape ``(rows, S, width)``, or ``(rows, S)`` for one
    number; a dict of such arrays for several parameters. ``weights`` has one number for each scenario, or ``(rows, S)``; without any they
    are equally likely. Numbers that go wrong together belong into one scenario.

    >>> import regretless as rl
    >>> demand = rl.Forecast([[8.0, 12.0]], weights=[1.0, 3.0])
    >>> demand.count
    2
    """

    samples: Values
    weights: ArrayLike | None = None

    @staticmethod
    def quantiles(levels: Sequence[float], values: Values) -> Forecast:
        """Quantiles as scenarios: ``values`` has those of one level after the other where samples are, and each counts for the levels
        that are nearest to its own. Several numbers are taken to rise and fall together; rows of the problem that hold one of them each
        do not mind.

        >>> import regretless as rl
        >>> rl.Forecast.quantiles([0.1, 0.5, 0.9], [[7.0, 10.0, 14.0]]).weights
        array([0.3, 0.4, 0.3])
        """
        found = np.asarray(levels, dtype=float)
        if found.ndim != 1 or not len(found) or (found <= 0).any() or (found >= 1).any() or (np.diff(found) <= 0).any():
            raise LossError("levels of quantiles ascend between 0 and 1")
        edges = np.concatenate([[0.0], (found[1:] + found[:-1]) / 2, [1.0]])
        forecast = Forecast(values, np.diff(edges))
        if forecast.count != len(found):
            raise LossError(f"there are {forecast.count} quantiles and {len(found)} levels")
        return forecast

    @property
    def count(self) -> int:
        """Scenarios of a row."""
        first = next(iter(self.samples.values())) if isinstance(self.samples, Mapping) else self.samples
        shape = np.shape(first)
        if len(shape) < 2:
            raise LossError(f"samples have the shape {shape}: rows, scenarios, and what is predicted")
        return int(shape[1])

    def _told(self, layout: Predicted) -> tuple[Float, tuple[int, list[float] | None]]:
        """The rows of numbers that stand for it, and how."""
        count = self.count

        def together(values: Any) -> Any:
            array = np.asarray(values, dtype=float)
            if array.ndim < 2 or array.shape[1] != count:
                raise LossError(f"samples have the shape {array.shape}, expected {count} scenarios a row")
            # One number has no axis of its own.
            return array.reshape(array.shape[0] * count, *(array.shape[2:] or (1,)))

        samples = self.samples
        named = {k: together(v) for k, v in samples.items()} if isinstance(samples, Mapping) else together(samples)
        flat = layout.flat("samples", named)
        rows = len(flat) // max(count, 1)
        points = np.ascontiguousarray(flat.reshape(rows, count * layout.width))
        weights = np.ones(count) if self.weights is None else floats("weights", self.weights)
        if weights.shape == (count,):
            return points, (count, [float(w) for w in weights])
        if weights.shape == (rows, count):
            if (
                bad := ~(np.isfinite(weights).all(axis=1) & (weights >= 0).all(axis=1) & (weights.sum(axis=1) > 0))
            ).any():
                raise LossError(
                    f"the weights of sample {int(np.flatnonzero(bad)[0])} are no weights: from 0 on, not all 0"
                )
            return np.ascontiguousarray(np.concatenate([points, weights], axis=1)), (count, None)
        raise LossError(f"weights have the shape {weights.shape}, expected ({count},) or ({rows}, {count})")


@dataclass(frozen=True, repr=False)
class Decided:
    """Decisions, a row each, and the mean objective over the scenarios that they were taken for. NaN where there is none.

    At risk also what was minimised (``objective_at_risk``) and the objective that is missed with a probability of at most 1 − τ
    (``threshold``).
    """

    x: Float
    expected_objective: Float
    trouble: list[str | None]
    objective_at_risk: Float | None = None
    threshold: Float | None = None

    def __repr__(self) -> str:
        there = np.isfinite(self.expected_objective)
        mean = f", mean expected objective {brief(float(self.expected_objective[there].mean()))}" if there.any() else ""
        lacking = sum(why is not None for why in self.trouble)
        rows, variables = self.x.shape
        undecided = f", {lacking} undecided" if lacking else ""
        return f"Decided({rows} rows, {variables} variables{mean}{undecided})"


def decide(
    problem: Problem,
    forecast: Forecast | None = None,
    *,
    samples: Values | None = None,
    weights: ArrayLike | None = None,
    predict: str | Sequence[str] | Quantities | None = None,
    known: Values | None = None,
    risk: Risk | None = None,
    infeasible: Infeasible = "mark",
    threads: int | None = None,
) -> Decided:
    """The best decisions for the average over scenarios that somebody brings: a :class:`Forecast`, or its ``samples`` and ``weights``.

    With ``risk`` for the worst of them: 0.9 is the mean of the worst tenth (CVaR), ``{"cvar": 0.9, "weight": 0.5}`` half of that and half of
    the mean of all. Q may not be predicted then.

    :func:`regret` judges them: give it the forecast in place of predictions.

    >>> import regretless as rl
    >>> stock = rl.Problem(1, theta=[1.0], soft=rl.Soft([[1.0]], 0.0, weight=6.0))    # a unit left over costs 6
    >>> rl.decide(stock, samples=[[8.0, 9.0, 10.0, 11.0, 12.0]], predict="d").x      # one more would be lost once in five
    array([[8.]])
    """
    if (forecast is None) == (samples is None):
        raise LossError("give a forecast, or samples")
    if forecast is None:
        forecast = Forecast(samples if samples is not None else (), weights)
    elif weights is not None:
        raise LossError("the forecast has weights of its own")
    layout = Predicted(stated_problem(problem), predict)
    told, law = forecast._told(layout)
    there = np.ascontiguousarray(layout.known(known, len(told)))
    judge = _regretless.Judge(problem._inner, layout.placing, law, risk_of(risk), None, 0)
    x, expected, at_risk, trouble = judge.decide(told, there, threads)
    bad = {row: why for row, why in enumerate(trouble) if why is not None}
    tell(bad, len(trouble), "decision", checked(infeasible), "Their decision is NaN.", stacklevel=3)
    return Decided(x, expected, trouble, *(at_risk or (None, None)))
