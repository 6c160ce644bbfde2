"""Decisions of a model, a piece of the rows at a time."""

from __future__ import annotations

import numpy as np

from . import _regretless
from ._arrays import Float
from ._troubles import tell

#: Rows that are decided at a time, so that Ctrl-C is heard in between.
PIECE = 4096


def decided(learner: _regretless.Learner, features: Float, known: Float, threads: int | None) -> Float:
    """Exact decisions for rows of features, with what is known of them; a row whose prediction has no optimum is NaN, and one warning counts them."""
    parts: list[Float] = []
    troubles: dict[int, str] = {}
    for start in range(0, max(len(features), 1), PIECE):
        x, status = learner.decide(features[start : start + PIECE], known[start : start + PIECE], threads)
        parts.append(np.where(np.array(status)[:, np.newaxis] == "optimal", x, np.nan) if len(x) else x)
        troubles |= {start + i: why for i, why in enumerate(status) if why != "optimal"}
    tell(troubles, len(features), "decision", "mark", "Their decision is NaN.", stacklevel=4)
    return np.concatenate(parts)
