"""Calibration on decisions: where a forecast stands and how wide it is, as decisions want it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _regretless
from ._arrays import Float
from ._predicted import Predicted, Values
from .errors import LossError
from .forecast import Forecast
from .problem import Problem, stated_problem
from .quantities import Quantities

__all__ = ["Calibration", "calibrate"]

#: Shift, the logarithm of the scale, and tail: what changes nothing, the first step of the search, and how far it goes.
NOTHING = np.zeros(3)
STEPS = np.array([0.4, 0.4, 0.3])
FARTHEST = np.array([3.0, 2.0, 0.9])

#: Halvings of the step for all quantities together, and for each by itself.
TOGETHER, APART = 4, 2

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

    Rows are cut into ``folds`` blocks of neighbours, so give them in the order of time. Numbers for all quantities together and, up to
    eight of them, for each are found without a block and judged on it; kept are those that gain most, if that exceeds the gain's standard
    error. They are then found once more on all rows. It takes some hundred decisions a row.

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

    def costs(numbers: Float, at: NDArray[np.intp]) -> Float:
        moved = _moved(points[at], weights[at], numbers).reshape(len(at), count * width)
        told = np.ascontiguousarray(np.concatenate([moved, weights[at]], axis=1))
        judge = _regretless.Judge(problem._inner, layout.placing, law, None, None, 0)
        ids = at.astype(np.uint64)
        answer: dict[str, Any] = judge.evaluate(told, np.ascontiguousarray(true[at]), there[at], ids, threads)
        return np.asarray(answer["regret"])

    # Rows without a decision or an optimum say nothing; calibrated or not, they are the same ones.
    plain = costs(np.tile(NOTHING, (width, 1)), np.arange(rows))
    kept = np.flatnonzero(np.isfinite(plain))
    if len(kept) < max(FEWEST, folds):
        raise LossError(f"{len(kept)} of {rows} forecasts have a decision: calibrating needs {FEWEST}")

    def searched(at: NDArray[np.intp], apart: bool) -> Float:
        return _search(lambda numbers: _mean(costs(numbers, at)), width, apart)

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


def _moved(points: Float, weights: Float, numbers: Float) -> Float:
    """Calibrated samples. Those of a row that are all the same have no deviation, and stay."""
    share = weights[..., None]
    mean = (share * points).sum(axis=1, keepdims=True)
    deviation = np.sqrt((share * (points - mean) ** 2).sum(axis=1, keepdims=True))
    z = (points - mean) / np.where(deviation > 0, deviation, 1.0)
    shift, scale, tail = numbers[:, 0], np.exp(numbers[:, 1]), numbers[:, 2]
    found: Float = mean + deviation * (shift + scale * np.sign(z) * np.abs(z) ** (1 + tail))
    return found


def _mean(costs: Float) -> float:
    """A calibration that leaves rows without a decision is none."""
    return float(costs.mean()) if np.isfinite(costs).all() else float("inf")


def _search(cost: Callable[[Float], float], width: int, apart: bool) -> Float:
    """The numbers with the least cost, one of them moved at a time by steps that are halved."""
    numbers = np.tile(NOTHING, (width, 1))
    best = cost(numbers)

    def moves(steps: Float, quantities: slice) -> Iterator[Float]:
        for k in range(len(steps)):
            for sign in (1.0, -1.0):
                tried = numbers.copy()
                tried[quantities, k] = np.clip(tried[quantities, k] + sign * steps[k], -FARTHEST[k], FARTHEST[k])
                yield tried

    def settle(steps: Float, quantities: slice) -> None:
        nonlocal numbers, best
        for _ in range(4):
            each = [(cost(tried), i, tried) for i, tried in enumerate(moves(steps, quantities))]
            least, _, tried = min(each, key=lambda found: found[:2])
            if not least < best:
                return
            numbers, best = tried, least

    for halving in range(TOGETHER):
        settle(STEPS / 2**halving, slice(None))
    for halving in range(APART if apart else 0):
        for j in range(width):
            settle(STEPS / 2 ** (halving + 1), slice(j, j + 1))
    return numbers
