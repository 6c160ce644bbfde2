"""Decisions of a model, a piece of the rows at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _regretless
from ._arrays import Float
from ._frames import Cells, dense, header, numbers, some
from ._frames import columns as columns_of
from ._troubles import tell
from .errors import LossError
from .measures import Decisions, told

#: What to do about rows that look back further than the model knows.
LOOKS_BACK = " Give what came true since training as `history=`."

#: Rows that are decided at a time, so that Ctrl-C is heard in between.
PIECE = 4096


def decided(
    learner: _regretless.Learner,
    features: Float,
    known: Float,
    threads: int | None,
    beyond: Mapping[int, str] = MappingProxyType({}),
) -> Float:
    """Exact decisions for rows of features, with what is known of them; a row whose prediction has no optimum, or that is ``beyond`` what is
    known, is NaN, and one warning counts them."""
    parts: list[Float] = []
    troubles: dict[int, str] = {}
    for start in range(0, max(len(features), 1), PIECE):
        x, status = learner.decide(features[start : start + PIECE], known[start : start + PIECE], threads)
        parts.append(np.where(np.array(status)[:, np.newaxis] == "optimal", x, np.nan) if len(x) else x)
        troubles |= {start + i: why for i, why in enumerate(status) if why != "optimal"}
    out = np.concatenate(parts)
    if beyond:
        out[list(beyond)] = np.nan
    tell(
        troubles | dict(beyond),
        len(features),
        "decision",
        "mark",
        "Their decision is NaN." + LOOKS_BACK * bool(beyond),
        stacklevel=4,
    )
    return out


def predicted(learner: _regretless.Learner, features: Float, beyond: Mapping[int, str]) -> Float:
    """Predictions for rows of features; a row that is ``beyond`` what is known is NaN, and one warning counts them."""
    out = learner.predict(features)
    if beyond:
        out[list(beyond)] = np.nan
        tell(beyond, len(features), "prediction", "mark", "Their prediction is NaN." + LOOKS_BACK, stacklevel=4)
    return out


def scenarios(learner: _regretless.Learner, features: Float, beyond: Mapping[int, str]) -> tuple[Float, Float]:
    """Scenarios for rows of features, one after the other, and how likely they are; those of a row that is ``beyond`` what is known are
    NaN, and one warning counts them."""
    points, weights = learner.forecast(features)
    if beyond:
        points[list(beyond)] = np.nan
        tell(beyond, len(features), "forecast", "mark", "Their scenarios are NaN." + LOOKS_BACK, stacklevel=4)
    return points, weights


def judged(
    learner: _regretless.Learner,
    features: Float,
    truths: Float,
    known: Float,
    columns: list[tuple[str, Cells]],
    baseline: Any,
    variables: int,
    threads: int | None,
    beyond: Mapping[int, str] = MappingProxyType({}),
    groups: str | Sequence[str] | None = None,
    importance: bool = False,
) -> Decisions:
    """Decisions for rows of features with what came of them; ``columns`` are those of a frame that may say when rows are, of which series, and
    what others decided. Rows ``beyond`` what is known have no decision, as ``regretless decide`` has none for them."""
    time, series = learner.clock()
    own = dict(columns)
    wanted = {*series, *([time] if time else [])}
    clock = [(name, cells) for name, cells in own.items() if name in wanted]
    taken = None
    if baseline is not None:
        there = header(baseline)
        array = dense("baseline", baseline if there is None else numbers("baseline", columns_of(baseline), LossError))
        array = array[:, np.newaxis] if array.ndim == 1 else array
        if array.shape != (len(features), variables):
            raise LossError(f"baseline has the shape {array.shape}, expected ({len(features)}, {variables})")
        name = there[0] if there is not None and len(there) == 1 else "baseline"
        taken = (name, np.ascontiguousarray(array))
    elif named := learner.baseline(list(own)):
        name, names = named
        taken = (name, numbers("baseline", [(name, own[name]) for name in names], LossError))
    apart = _groups(learner, columns, groups)
    rows = np.array([row for row in range(len(features)) if row not in beyond], dtype=np.intp)
    if len(rows) < len(features):
        features, truths, known = (np.ascontiguousarray(table[rows]) for table in (features, truths, known))
        clock = [(name, _some(cells, rows)) for name, cells in clock]
        taken = taken and (taken[0], np.ascontiguousarray(taken[1][rows]))
        apart = [(name, [cells[row] for row in rows]) for name, cells in apart]
    found = learner.evaluate(features, truths, known, clock, taken, apart, importance, threads)
    return told(Decisions(**_spread(found, rows, beyond)), stacklevel=5)


def _groups(
    learner: _regretless.Learner, columns: list[tuple[str, Cells]], groups: str | Sequence[str] | None
) -> list[tuple[str, list[str]]]:
    """The columns by which an account is told apart: those that are named, or as many as are there of those of the problem's file."""
    there = dict(columns)
    wanted = [groups] if isinstance(groups, str) else learner.groups() if groups is None else list(groups)
    if groups is not None and (missing := [name for name in wanted if name not in there]):
        raise LossError(f"groups names {some(missing)}, which X lacks; it has {some(list(there))}")
    return [(name, _texts(there[name])) for name in wanted if name in there]


def _texts(cells: Cells) -> list[str]:
    """The cells of a column as text; whole numbers without a point."""
    if isinstance(cells, list):
        return cells
    return ["" if np.isnan(v) else str(int(v)) if v.is_integer() else str(v) for v in cells.tolist()]


def _some(cells: Cells, rows: NDArray[np.intp]) -> Cells:
    """Some cells of a column."""
    return [cells[row] for row in rows] if isinstance(cells, list) else np.ascontiguousarray(cells[rows])


def _spread(found: dict[str, Any], rows: NDArray[np.intp], beyond: Mapping[int, str]) -> dict[str, Any]:
    """What was found of some rows among all of them: NaN where there is nothing."""
    if not beyond:
        return found
    every = len(rows) + len(beyond)
    spread = {}
    for name, value in found.items():
        spread[name] = value
        if isinstance(value, np.ndarray):
            spread[name] = np.full((every, *value.shape[1:]), np.nan)
            spread[name][rows] = value
    trouble: list[str | None] = [beyond.get(row) for row in range(every)]
    for row, why in zip(rows, found["trouble"]):
        trouble[row] = why
    return spread | {"trouble": trouble}
