"""Decisions of a model, a piece of the rows at a time."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from . import _regretless
from ._arrays import Float
from ._frames import Cells, dense, header, numbers
from ._frames import columns as columns_of
from ._troubles import tell
from .errors import LossError
from .measures import Decisions, told

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
    tell(troubles | dict(beyond), len(features), "decision", "mark", "Their decision is NaN.", stacklevel=4)
    return out


def predicted(learner: _regretless.Learner, features: Float, beyond: Mapping[int, str]) -> Float:
    """Predictions for rows of features; a row that is ``beyond`` what is known is NaN, and one warning counts them."""
    out = learner.predict(features)
    if beyond:
        out[list(beyond)] = np.nan
        tell(beyond, len(features), "prediction", "mark", "Their prediction is NaN.", stacklevel=4)
    return out


def judged(
    learner: _regretless.Learner,
    features: Float,
    truths: Float,
    known: Float,
    columns: list[tuple[str, Cells]],
    baseline: Any,
    variables: int,
    threads: int | None,
) -> Decisions:
    """Decisions for rows of features with what came of them; ``columns`` are those of a frame that may say when rows are, of which series, and
    what others decided."""
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
        taken = (", ".join(there or ["baseline"]), np.ascontiguousarray(array))
    elif names := learner.baseline(list(own)):
        taken = (", ".join(names), numbers("baseline", [(name, own[name]) for name in names], LossError))
    return told(Decisions(**learner.evaluate(features, truths, known, clock, taken, threads)), stacklevel=5)
