"""Calibration on decisions: where a forecast stands and how wide it is, as decisions want it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _regretless
from ._arrays import Float
from ._predicted import Predicted, Values
from ._troubles import tell
from .errors import LossError
from .forecast import Forecast
from .problem import Problem, stated_problem
from .quantities import Quantities

__all__ = ["Calibration", "calibrate"]

#: Shift, the logarithm of the scale, and tail: what changes nothing, the first step of the search, and how far it goes.
NOTHING = np.zeros(3)
STEPS = np.array([0.4, 0.4, 0.3])
FARTHEST = np.array([10.0, np.log(10.0), 0.9])

#: Halvings of the step, and rounds over all numbers at most.
HALVINGS, ROUNDS = 4, 24

#: Quantities that are looked at one by one, at most: every number of each is another set of decisions.
SINGLE = 8

#: Rows that are worth calibrating on.
FEWEST = 20


@dataclass(frozen=True)
class Calibration:
    """Numbers that move the scenarios of each quantity: with the mean μ and the deviation s of a row's scenarios,

        p′ = μ + s·(shift + scale·sgn(z)·|z|^(1 + tail)),   z = (p − μ)/s

    Call it with a forecast to have the calibrated one. ``gain`` is what the regret of rows fell by out of fold, ± ``standard_error``; a
    calibration that did not gain more than that is the identity.
    """

    shift: Float
    scale: Float
    tail: Float
    #: Regret of rows that were left out, before and after.
    before: float
    after: float
    standard_error: float
    _layout: Predicted = field(repr=False, compare=False)

    @property
    def gain(self) -> float:
        """What the mean regret of rows fell by that were left out."""
        return self.before - self.after

    @property
    def is_identity(self) -> bool:
        """True if forecasts stay as they are."""
        return not (self.shift.any() or (self.scale != 1).any() or self.tail.any())

    def __call__(self, forecast: Forecast) -> Forecast:
        """The calibrated forecast."""
        if self.is_identity:
            return forecast
        points, weights = _parts(self._layout, forecast)
        rows, count, width = points.shape
        moved = _moved(points, weights, np.column_stack([self.shift, np.log(self.scale), self.tail]))
        parts = self._layout.parts(moved.reshape(rows * count, width))
        shaped = {name: part.reshape(rows, count, *part.shape[1:]) for name, part in parts.items()}
        samples: Values = shaped[self._layout.names[0]] if len(shaped) == 1 else shaped
        return Forecast(samples, forecast.weights)


def calibrate(
    problem: Problem,
    forecast: Forecast,
    truths: Values,
    *,
    predict: str | Sequence[str] | Quantities | None = None,
    known: Values | None = None,
    folds: int = 5,
    threads: int | None = None,
) -> Calibration:
    """Finds shift, scale and tail of a forecast that lower what decisions cost, by rows with forecasts that did not know their truths.

    The search starts where the truths' errors are, in deviations of their forecasts: the shift is their mean, the scale how far they spread.
    From there, or from the forecast as it is if that costs less, the numbers move by steps that are halved, as long as decisions cost less.
    The shift stays within ± 10, the scale between 1/10 and 10, the tail within ± 0.9.

    Rows are cut into ``folds`` blocks of neighbours, so give them in the order of time. Numbers for all quantities together and, up to
    eight of them, for each are found without a block and judged on it; kept are those that gain most, if that exceeds the gain's standard
    error. They are then found once more on all rows. It takes some hundred decisions a row. Rows with a NaN, and those that have no decision
    or no optimum, say nothing: they are left out, and one warning counts them.

    >>> import numpy as np
    >>> import regretless as rl
    >>> stock = rl.Problem(1, theta=[0.0], sense="min", soft=rl.Soft([[1.0]], 0.0, weight=1.0, under=9.0))
    >>> rng = np.random.default_rng(0)
    >>> sure = rl.Forecast(10.0 + rng.normal(0.0, 0.5, (200, 50, 1)))          # says ± 0.5, and is ± 2 off
    >>> calibration = rl.calibrate(stock, sure, 10.0 + rng.normal(0.0, 2.0, (200, 1)), predict="d")
    >>> bool(calibration.scale[0] > 2), bool(calibration.gain > calibration.standard_error)
    (True, True)
    """
    layout = Predicted(stated_problem(problem), predict)
    points, weights = _parts(layout, forecast)
    rows, count, width = points.shape
    true = layout.flat("truths", truths)
    if len(true) != rows:
        raise LossError(f"there are {rows} forecasts and {len(true)} truths")
    if folds < 2 or rows < max(FEWEST, folds):
        raise LossError(f"{rows} rows in {folds} folds: calibrating needs {FEWEST} rows and two folds")
    there = np.ascontiguousarray(layout.known(known, rows))
    law = (count, None)

    def judged(numbers: Float, at: NDArray[np.intp]) -> dict[str, Any]:
        moved = _moved(points[at], weights[at], numbers).reshape(len(at), count * width)
        told = np.ascontiguousarray(np.concatenate([moved, weights[at]], axis=1))
        judge = _regretless.Judge(problem._inner, layout.placing, law, None, None, 0)
        ids = at.astype(np.uint64)
        return judge.evaluate(told, np.ascontiguousarray(true[at]), there[at], ids, threads)

    def costs(numbers: Float, at: NDArray[np.intp]) -> Float:
        return np.asarray(judged(numbers, at)["regret"])

    # Rows without a decision or an optimum say nothing; calibrated or not, they are the same ones.
    uncalibrated = judged(np.tile(NOTHING, (width, 1)), np.arange(rows))
    plain = np.asarray(uncalibrated["regret"])
    kept = np.flatnonzero(np.isfinite(plain))
    if len(kept) < max(FEWEST, folds):
        raise LossError(f"{len(kept)} of {rows} forecasts have a decision: calibrating needs {FEWEST}")
    troubles = {row: why for row, why in enumerate(uncalibrated["trouble"]) if why is not None}
    tell(troubles, rows, "decision to judge", "mark", "They are left out of the calibration.")

    def searched(at: NDArray[np.intp], apart: bool) -> Float:
        starts = _moments(points[at], weights[at], true[at])
        return _search(lambda numbers: _mean(costs(numbers, at)), starts, apart)

    ways = [False, True] if 1 < width <= SINGLE else [False]
    found = {}
    for way in ways:
        after = np.empty(len(kept))
        for block in np.array_split(np.arange(len(kept)), folds):
            numbers = searched(np.delete(kept, block), way)
            after[block] = costs(numbers, kept[block])
        gains = plain[kept] - after
        if np.isfinite(gains).all():
            # Neighbours are not independent: blocks of them say how far the mean can be off, too.
            each = np.array([own.mean() for own in np.array_split(gains, folds)])
            error = max(gains.std(ddof=1) / np.sqrt(len(gains)), each.std(ddof=1) / np.sqrt(folds))
            found[way] = (float(gains.mean()), float(error))
    before = float(plain[kept].mean())
    best = max(found, key=lambda way: found[way][0], default=None)
    numbers = np.tile(NOTHING, (width, 1))
    gain, error = found[best] if best is not None else (0.0, 0.0)
    if best is not None and gain > error:
        numbers = searched(kept, best)
    else:
        gain = 0.0
    return Calibration(
        shift=numbers[:, 0],
        scale=np.exp(numbers[:, 1]),
        tail=numbers[:, 2],
        before=before,
        after=before - gain,
        standard_error=error,
        _layout=layout,
    )


def _parts(layout: Predicted, forecast: Forecast) -> tuple[Float, Float]:
    """Samples, rows × scenarios × quantities, and how likely they are, rows × scenarios."""
    told, (count, shared) = forecast._told(layout)
    points = told[:, : count * layout.width].reshape(len(told), count, layout.width)
    weights = told[:, count * layout.width :] if shared is None else np.tile(shared, (len(told), 1))
    return points, weights / weights.sum(axis=1, keepdims=True)


def _spread(points: Float, weights: Float) -> tuple[Float, Float]:
    """Means and deviations of the samples of each row."""
    share = weights[..., None]
    mean = (share * points).sum(axis=1, keepdims=True)
    return mean, np.sqrt((share * (points - mean) ** 2).sum(axis=1, keepdims=True))


def _moved(points: Float, weights: Float, numbers: Float) -> Float:
    """Calibrated samples. Those of a row that are all the same have no deviation, and stay."""
    mean, deviation = _spread(points, weights)
    z = (points - mean) / np.where(deviation > 0, deviation, 1.0)
    shift, scale, tail = numbers[:, 0], np.exp(numbers[:, 1]), numbers[:, 2]
    found: Float = mean + deviation * (shift + scale * np.sign(z) * np.abs(z) ** (1 + tail))
    return found


def _mean(costs: Float) -> float:
    """A calibration that leaves rows without a decision is none."""
    return float(costs.mean()) if np.isfinite(costs).all() else float("inf")


def _moments(points: Float, weights: Float, true: Float) -> Float:
    """For each quantity the numbers by the errors e of its truths and the deviations s of their forecasts:

    shift = Σ e·s / Σ s², scale² = Σ (e − shift·s)² / Σ s², tail = 0: least squares, in which a row that is almost sure counts little.
    """
    mean, deviation = (of_rows[:, 0] for of_rows in _spread(points, weights))
    known = deviation > 0
    error, square = np.where(known, true - mean, 0.0), (deviation**2).sum(axis=0)
    square = np.where(square > 0, square, 1.0)
    shift = (error * deviation).sum(axis=0) / square
    scale = np.sqrt(((error - shift * deviation) ** 2).sum(axis=0) / square)
    numbers = np.column_stack([shift, np.log(np.maximum(scale, np.exp(-FARTHEST[1]))), np.zeros_like(shift)])
    found: Float = np.clip(numbers, -FARTHEST, FARTHEST)
    return found


def _search(cost: Callable[[Float], float], moments: Float, apart: bool) -> Float:
    """The numbers with the least cost: a pattern search (Hooke and Jeeves 1961) from the best of some starts.

    A round moves one number at a time, up or down a step where that costs less, and then goes once more where the round went. A round
    without a move halves the steps. ``apart`` moves the numbers of each quantity by themselves, otherwise all quantities have the same.
    """
    width = len(moments)
    own = moments if apart else np.tile(moments.mean(axis=0), (width, 1))
    starts = [np.tile(NOTHING, (width, 1)), own, own * [1.0, 0.0, 0.0], own * [0.0, 1.0, 0.0]]
    ranked = [(cost(start), i, start) for i, start in enumerate(starts)]
    best, _, numbers = min(ranked, key=lambda found: found[:2])
    blocks = [slice(j, j + 1) for j in range(width)] if apart else [slice(None)]

    def better(tried: Float) -> bool:
        nonlocal numbers, best
        tried = np.clip(tried, -FARTHEST, FARTHEST)
        if np.array_equal(tried, numbers) or not (found := cost(tried)) < best:
            return False
        numbers, best = tried, found
        return True

    halved = 0
    for _ in range(ROUNDS):
        before = numbers
        for block in blocks:
            for k, step in enumerate(STEPS / 2**halved):
                for sign in (1.0, -1.0):
                    tried = numbers.copy()
                    tried[block, k] += sign * step
                    if better(tried):
                        break
        if numbers is not before:
            better(2 * numbers - before)
        elif halved == HALVINGS:
            break
        else:
            halved += 1
    return numbers
