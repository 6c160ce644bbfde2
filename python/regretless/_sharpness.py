"""K: given, or fitted to the problem once and kept."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from . import _regretless
from ._arrays import Batch, Float, number, vector
from .errors import ProblemError, RegretlessWarning
from .problem import KINDS, Problem

#: Instances that the distance from the exact problem is measured on, once.
PROBES = 16

#: Beyond this share the surrogate decides another problem.
FAR = 0.05

Kinds = tuple[Float, ...]


class SharpnessSetting:
    """K of every row: as given, or not known before it is fitted."""

    def __init__(self, given: Kinds | None) -> None:
        self._rows = given
        #: True if the user asked for ``"auto"``.
        self.auto = given is None
        #: False while a batch may still say better.
        self.settled = given is not None
        #: The one that stands for all.
        self.k: float | None = None if given is None else _stands(given)

    def fit(self, problem: Problem, batch: Batch, *, settled: bool = True) -> None:
        """Fits K to the instances of a batch. What was fitted to the problem as stated stays if the batch has the same rows."""
        if self.settled:
            return
        if self._rows is not None and settled and set(batch.batched) <= {"theta"}:
            self.settled = True
            return
        if batch.rows:
            k, rows = _regretless.sharpness(problem._inner, batch.parts, batch.rows)
            self.k, self._rows, self.settled = k, tuple(rows), settled

    def rows(self, problem: Problem) -> Any:
        """K of the rows by kind; any where none is known yet, which nothing may depend on."""
        if self._rows is None:
            return tuple(np.full(size, 5.0) for size in problem._kinds().values())
        return self._rows

    def shown(self) -> float | dict[str, float] | None:
        """One number, or one a kind where they differ."""
        if self._rows is None:
            return None
        means = {kind: float(values.mean()) for kind, values in zip(KINDS, self._rows) if values.size}
        return means if len(set(means.values())) > 1 else next(iter(means.values()), self.k)

    def kept(self) -> list[float]:
        """The stacked rows, the one that stands for all first; empty while nothing is settled."""
        return [] if self._rows is None or not self.settled else [self.k or 0.0, *np.concatenate(self._rows).tolist()]

    def restore(self, problem: Problem, kept: Sequence[float]) -> None:
        """Takes over what :meth:`kept` told."""
        if not len(kept):
            return
        sizes = list(problem._kinds().values())
        if len(kept) != 1 + sum(sizes):
            raise ProblemError(f"the state has K of {len(kept) - 1} rows, the problem {sum(sizes)}")
        values = np.asarray(kept, dtype=np.float64)
        self.k, self._rows, self.settled = float(values[0]), tuple(np.split(values[1:], np.cumsum(sizes)[:-1])), True

    def __repr__(self) -> str:
        if self._rows is None:
            return "'auto'"
        shown = self.shown()
        each = shown if isinstance(shown, dict) else {"": shown}
        text = ", ".join(f"{kind}: {k:.3g}" if kind else f"{k:.3g}" for kind, k in each.items())
        text = f"{{{text}}}" if isinstance(shown, dict) else text
        return f"{text} (auto)" if self.auto else text


def sharpness(problem: Problem, K: float | Mapping[str, ArrayLike] | str) -> SharpnessSetting:
    """A setting from what a user gave."""
    if isinstance(K, str):
        if K != "auto":
            raise ProblemError(f'K is {K!r}: "auto", a number, or a dict of numbers by kind of row')
        return SharpnessSetting(None)
    sizes = problem._kinds()
    if not isinstance(K, Mapping):
        return SharpnessSetting(tuple(np.full(sizes[kind], number("K", K)) for kind in KINDS))
    if unknown := sorted(set(K) - set(KINDS)):
        raise ProblemError(f"there is no kind of row `{unknown[0]}`: {', '.join(KINDS)}")
    if lacking := [kind for kind in KINDS if sizes[kind] and kind not in K]:
        raise ProblemError(f"K has no number for the rows of `{lacking[0]}`")
    return SharpnessSetting(tuple(vector(f"K of {kind}", K.get(kind, 1.0), sizes[kind]) for kind in KINDS))


def _stands(rows: Kinds) -> float:
    sized = [values for values in rows if values.size]
    return float(sized[0].flat[0]) if sized else 5.0


def warn_if_far(solver: _regretless.Surrogate, batch: Batch, stacklevel: int) -> None:
    """One warning if the surrogate is far from the exact problem on instances of its first batch."""
    step = -(-batch.rows // PROBES) or 1
    some = [(symbol, np.ascontiguousarray(array[::step])) for symbol, array in batch.parts]
    rows = len(range(0, batch.rows, step))
    gaps = solver.exact_gaps(solver.solve(some, rows, None, None), some, None)
    gaps = gaps[np.isfinite(gaps)]
    if not gaps.size or (gap := float(np.median(gaps))) <= FAR:
        return
    warnings.warn(
        f"the surrogate's decisions are {100 * gap:.0f} % off the exact objective (median over {gaps.size} instances of the "
        'first batch; `exact_gap` of a solution tells it): give a larger K, or K="auto"',
        RegretlessWarning,
        stacklevel=stacklevel,
    )
