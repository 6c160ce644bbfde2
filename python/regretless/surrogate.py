"""The surrogate: the problem softened and smoothed, with derivatives in every parameter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _regretless
from ._arrays import Batch, Figure, Float, Why, Word, floats, number, sample_ids
from ._sharpness import SharpnessSetting, sharpness, warn_if_far
from ._shown import Brief
from ._troubles import tell
from .errors import ProblemError
from .multipliers import MultiplierRule, Multipliers, multipliers_for
from .problem import KINDS, Problem, stated_problem

__all__ = ["Gradients", "Solution", "Surrogate"]

#: Instances that penalties are chosen by; more say little more.
PROBES = 256


@dataclass(frozen=True, repr=False)
class Gradients(Brief):
    """∂⟨g, x⟩ with respect to each parameter as stated, in its own shape, with a leading axis for a batch; ``None`` if not asked for.

    With ``v = H⁻¹g``: ``∂θ = v``, ``∂Q = −(vxᵀ + xvᵀ)``, ``∂d = w∘(Cv)``, ``∂C = −(λvᵀ + (w∘Cv)xᵀ)``; ``K`` is that of all rows together.
    """

    theta: Float | None = None
    Q: Float | None = None
    C: Float | None = None
    d: Float | None = None
    alpha: Float | None = None
    under: Float | None = None
    A: Float | None = None
    b: Float | None = None
    B: Float | None = None
    c: Float | None = None
    lower: Float | None = None
    upper: Float | None = None
    K: Figure | None = None


class Solution:
    """The optima of a surrogate.

    ``status`` is ``optimal``; ``uncapped`` if the penalties of the rows in ``why`` were too small here, so that the instance was solved
    with its hard rows kept; ``infeasible``, ``unbounded`` or ``numerical-trouble``; in a batch also ``refused``. Without an optimum,
    ``x``, ``objective`` and gradients are NaN; with ``best_effort`` they are those of the point that was reached.
    """

    def __init__(
        self,
        problem: Problem,
        batch: Batch,
        inner: _regretless.Solutions,
        solver: _regretless.Surrogate,
        best_effort: bool = False,
    ) -> None:
        self._problem, self._batch, self._inner, self._best_effort = problem, batch, inner, best_effort
        self._solver = solver
        #: The decisions.
        self.x: Float = batch.shaped(inner.x(best_effort), (problem.n,))

    # Few read them after every batch: they are made when they are asked for.
    @cached_property
    def _told(self) -> tuple[list[str], list[list[str]]]:
        return self._inner.status()

    @property
    def status(self) -> Word:
        """How each solve ended."""
        return self._batch.listed(self._told[0])

    @property
    def why(self) -> Why:
        """Rows or reasons behind a status."""
        return self._told[1] if self._batch.size is not None else self._told[1][0]

    @property
    def objective(self) -> Figure:
        """The *original* problem's objective at ``x``."""
        return self._batch.figures(self._inner.objective(self._best_effort))

    @cached_property
    def exact_gap(self) -> Figure:
        """How far ``objective`` is from the exact optimum: ``|F(x) − V|`` over the size of the objective's terms, soft rows at what
        missing their limits altogether would cost. A few per cent say that K is too small for the units of the rows. Solves every
        instance exactly when it is first asked for.

        >>> import regretless as rl
        >>> simplex = rl.Problem(3, B=[[1.0, 1.0, 1.0]], c=1.0)
        >>> blunt, fitted = rl.Surrogate(simplex, K=1.0), rl.Surrogate(simplex, multipliers=8.0)
        >>> [s.solve([3.0, 2.0, 1.0]).exact_gap < 0.05 for s in (blunt, fitted)]
        [False, True]
        """
        return self._batch.figures(self._solver.exact_gaps(self._inner, self._batch.parts, None))

    @cached_property
    def _accuracy(self) -> list[Figure]:
        return [self._batch.figures(figure) for figure in self._inner.accuracy()]

    @property
    def primal(self) -> Figure:
        """The largest violation of a hard row or bound, over 1 + |limit| + |row|ᵀ|x|: what softening and smoothing leave of it."""
        return self._accuracy[0]

    @property
    def dual(self) -> Figure:
        """The residual of stationarity, over 1 + ‖θ‖∞ + ‖C'ᵀλ‖∞."""
        return self._accuracy[1]

    @property
    def gap(self) -> Figure:
        """A bound on how far ``x`` is from the exact optimum of the problem with its hard rows at their penalties, over
        1 + |objective|: the duality gap of ``x`` and its multipliers. Costs no solve; ``exact_gap`` does.

        >>> import regretless as rl
        >>> simplex = rl.Problem(3, B=[[1.0, 1.0, 1.0]], c=1.0)
        >>> blunt, sharp = (rl.Surrogate(simplex, K=K, multipliers=8.0).solve([3.0, 2.0, 1.0]) for K in (1.0, 1000.0))
        >>> bool(sharp.gap < 0.01 < blunt.gap)
        True
        """
        return self._accuracy[2]

    @property
    def residual(self) -> Figure:
        """Stationarity residual over the size of its terms."""
        return self._batch.figures(self._inner.residual())

    @property
    def segments(self) -> NDArray[np.int8]:
        """The piece of every row, stacked as soft, ``Ax ≤ b``, ``Bx = c``, lower, upper: −1 below its limit, 0 on the rounded piece,
        1 above; 2 for a row that has no price or bound."""
        pieces: NDArray[np.int8] = self._inner.segments()
        shaped: NDArray[np.int8] = self._batch.shaped(pieces, (pieces.shape[1],)) if pieces.size else pieces
        return shaped

    def vjp(
        self, grad_x: ArrayLike, *, wrt: str | Sequence[str] | None = None, threads: int | None = None
    ) -> Gradients:
        """Gradients from ``grad_x = ∂L/∂x`` in all parameters, or in those of ``wrt``: one solve with the factor at hand.

        >>> import regretless as rl
        >>> farm = rl.Problem(2, Q=[[1.0, 0.0], [0.0, 1.0]], lower=None)
        >>> out = rl.Surrogate(farm).solve([3.0, 2.0])     # max θᵀx − xᵀx: x = θ/2
        >>> out.vjp([1.0, 0.0], wrt=["theta"]).theta
        array([0.5, 0. ])
        """
        shapes = self._shapes
        wanted = list(shapes) if wrt is None else [wrt] if isinstance(wrt, str) else list(wrt)
        if unknown := [symbol for symbol in wanted if symbol not in shapes]:
            raise ProblemError(f"there is no `{unknown[0]}` here to have a gradient in: {', '.join(shapes)}")
        upstream = floats("grad_x", grad_x)
        if upstream.shape != self.x.shape:
            raise ProblemError(f"grad_x has the shape {upstream.shape}, expected that of x, {self.x.shape}")
        return Gradients(**self._pull(upstream, wanted, threads))

    def _pull(self, upstream: Float, wanted: list[str], threads: int | None) -> dict[str, Any]:
        """Gradients by symbol, from an ``upstream`` in the shape of x."""
        rows = np.ascontiguousarray(upstream, dtype=np.float64).reshape(self._batch.rows, self._problem.n)
        found = self._inner.vjp(rows, wanted, self._best_effort, threads)
        shapes = self._shapes
        return {symbol: self._batch.shaped(array, shapes[symbol]) for symbol, array in found.items()}

    def __repr__(self) -> str:
        words = self._told[0]
        optimal = sum(word == "optimal" for word in words)
        return f"Solution({optimal} of {len(words)} optimal, n={self._problem.n})"

    @property
    def _shapes(self) -> dict[str, tuple[int, ...]]:
        """Of what has a gradient."""
        shapes: dict[str, tuple[int, ...]] = {**self._problem._shapes, "K": ()}
        if not self._problem.quadratic and "Q" not in self._batch.batched:
            del shapes["Q"]
        return shapes


class Surrogate:
    """A problem whose hard rows cost a penalty and whose hinges are rounded over ``|z| ≤ 1/4K``.

    Its optimum is a smooth function of every parameter. ``multipliers`` are ``"dual"``, ``"theory"``, ``"empirical"``, a number, numbers by
    kind of row, or a ``Multipliers``; rules look at the first batch that is solved, unless ``examples`` are given. ``segments``
    is ``"smooth"``, or ``"vertex"`` for the paper's way.

    ``K`` is ``"auto"``, one number, or a dict of numbers by kind of row, in the units of the rows. ``"auto"`` fits it to ``examples``, to
    the problem as it is stated if that has a θ, or to the first batch, by the rule of training (5 over the mean distance of rows
    from their limits; bounds in the units of x have one of their own). Then it stays; ``surrogate.K`` tells it.

    Gradients are the derivatives of the optimum. Those of an LP know the rows that bind and no other; with ``smoothing=0.3`` they are
    those of an interior-point method whose duality gap is still 30 % of the objective, which sees what may come to bind or let go. The
    optimum stays what it is, and each gradient costs a factorisation.

    >>> import regretless as rl
    >>> farm = rl.Problem(2, A=[[1.0, 1.0]], b=8.0, soft=rl.Soft([[2.0, 1.0]], 10.0, weight=0.5))
    >>> surrogate = rl.Surrogate(farm)
    >>> out = surrogate.solve([[3.0, 2.0], [1.0, 2.0]], ids=[0, 1])   # with ids, the next solve starts here
    >>> out.x.shape, out.status
    ((2, 2), array(['optimal', 'optimal'], dtype='<U7'))
    >>> out.exact_gap.max().item() < 0.05                             # near the exact optimum
    True
    """

    def __init__(
        self,
        problem: Problem,
        K: float | Mapping[str, ArrayLike] | Literal["auto"] = "auto",
        multipliers: MultiplierRule = "dual",
        segments: Literal["smooth", "vertex"] = "smooth",
        *,
        smoothing: float = 0.0,
        examples: dict[str, ArrayLike] | None = None,
        store_bytes: int = 512 << 20,
    ) -> None:
        self._problem, self._rule, self._segments = stated_problem(problem), multipliers, segments
        self._smoothing, self._store_bytes = number("smoothing", smoothing), store_bytes
        self._K = sharpness(problem, K)
        self._inner: _regretless.Surrogate | None = None
        self._multipliers: Multipliers | None = None
        if segments not in ("smooth", "vertex"):
            raise ProblemError(f'segments is {segments!r}: "smooth" or "vertex"')
        if examples is not None:
            shown = problem._batch(examples)
            self._choose(shown)
            if self._inner is not None:
                warn_if_far(self._inner, shown, stacklevel=3)
        else:
            if problem._state["theta"] is not None:
                self._K.fit(problem, problem._batch({}), settled=False)
            if not isinstance(multipliers, str):
                self._multipliers = multipliers_for(problem, multipliers, {}, [])
            elif multipliers not in ("dual", "theory", "empirical"):
                Multipliers.choose(problem, multipliers)
        if self._inner is None:
            # What cannot be is said now, not with the first batch.
            self._choose_nothing()

    @property
    def problem(self) -> Problem:
        """The problem behind it."""
        return self._problem

    @property
    def multipliers(self) -> Multipliers | None:
        """The penalties; ``None`` until they are chosen."""
        return self._multipliers

    @property
    def K(self) -> float | dict[str, float] | None:
        """The sharpness: one number, or a dict by kind of row where they differ; ``None`` until it is chosen."""
        return self._K.shown()

    def _choose(self, batch: Batch) -> _regretless.Surrogate:
        self._K.fit(self._problem, batch)
        if self._multipliers is None:
            self._choose_multipliers(batch)
        if self._multipliers is None:
            return self._choose_nothing()
        self._inner = self._build(self._multipliers.values._tuple())
        return self._inner

    def _choose_multipliers(self, batch: Batch) -> None:
        step = -(-batch.rows // PROBES) or 1
        some = {symbol: _unflat(self._problem, symbol, array[::step]) for symbol, array in batch.parts}
        # Shared values have one row as well.
        given: dict[str, Any] = {symbol: array if batch.batched[symbol] else array[0] for symbol, array in some.items()}
        batched = [symbol for symbol in given if batch.batched[symbol]]
        self._multipliers = multipliers_for(self._problem, self._rule, given, batched)

    def _build(self, penalties: Any) -> _regretless.Surrogate:
        problem, shape = self._problem._inner, (self._K.rows(self._problem), self._segments, self._smoothing)
        return _regretless.Surrogate(problem, penalties, *shape, self._store_bytes)

    def solve(
        self,
        theta: ArrayLike | None = None,
        *,
        ids: ArrayLike | None = None,
        best_effort: bool = False,
        threads: int | None = None,
        **parameters: ArrayLike | None,
    ) -> Solution:
        """Optima of one instance or a batch; samples with ``ids`` start where they were solved last."""
        return self._solve({"theta": theta, **parameters}, ids, threads, best_effort)

    def _solve(
        self,
        given: Mapping[str, ArrayLike | None],
        ids: ArrayLike | None,
        threads: int | None,
        best_effort: bool = False,
    ) -> Solution:
        self._problem._needs(given)
        batch = self._problem._batch(given)
        rows = sample_ids(ids, batch.rows)
        if batch.rows == 0 and self._inner is None:
            inner = self._choose_nothing()
        else:
            first = self._inner is None
            inner = self._inner or self._choose(batch)
            if first and self._inner is not None:
                warn_if_far(inner, batch, stacklevel=4)
        solved = inner.solve(batch.parts, batch.rows, rows, threads)
        solution = Solution(self._problem, batch, solved, inner, best_effort)
        if batch.size is None and solution.status == "refused":
            raise ProblemError(solution.why[0])
        if batch.size is not None and (troubled := solved.troubled()):
            words, why = solution._told
            reasons = {i: why[i][0] if words[i] == "refused" else words[i] for i in troubled}
            hint = "Their x is that of the point reached." if best_effort else "Their x and gradients are NaN."
            tell(reasons, batch.rows, "optimum", "mark", hint, stacklevel=4)
        return solution

    def _choose_nothing(self) -> _regretless.Surrogate:
        """A surrogate for a batch without instances or optima: any penalties do, and none are kept."""
        return self._build(self._problem._any_penalties())

    def forget(self) -> None:
        """Forgets where samples were solved last."""
        if self._inner is not None:
            self._inner.forget()

    def __getstate__(self) -> dict[str, Any]:
        rule = self._multipliers or self._rule
        kept = {"problem": self._problem, "rule": rule, "segments": self._segments, "smoothing": self._smoothing}
        return {**kept, "K": self._K, "store_bytes": self._store_bytes, "chosen": self._multipliers is not None}

    def _chosen(self) -> dict[str, list[float]]:
        """What was fitted so far, for those who keep states: K and penalties of the stacked rows; empty where not yet."""
        penalties = [] if self._multipliers is None else np.concatenate(self._multipliers.values._tuple()).tolist()
        return {"K": self._K.kept(), "multipliers": penalties}

    def _choose_again(self, chosen: Mapping[str, Sequence[float]]) -> None:
        """Takes over what :meth:`_chosen` told."""
        sizes = list(self._problem._kinds().values())
        self._K.restore(self._problem, chosen["K"])
        if len(chosen["multipliers"]):
            parts = np.split(np.asarray(chosen["multipliers"], dtype=np.float64), np.cumsum(sizes)[:-1])
            by_kind = dict(zip(KINDS, parts))
            hard = {kind: values for kind, values in by_kind.items() if kind != "soft"}
            self._multipliers = multipliers_for(self._problem, hard, {}, [])
            self._inner = None if self._multipliers is None else self._build(self._multipliers.values._tuple())

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._problem, self._rule, self._segments = state["problem"], state["rule"], state["segments"]
        self._smoothing, self._store_bytes = state["smoothing"], state["store_bytes"]
        # Older pickles hold the numbers themselves.
        self._K = state["K"] if isinstance(state["K"], SharpnessSetting) else SharpnessSetting(state["K"])
        self._inner = self._multipliers = None
        if state["chosen"]:
            self._multipliers = multipliers_for(self._problem, self._rule, {}, [])
            if self._multipliers is not None and self._K.settled:
                self._inner = self._build(self._multipliers.values._tuple())

    def __repr__(self) -> str:
        smoothed = f", smoothing={self._smoothing:g}" if self._smoothing else ""
        return f"Surrogate({self._problem!r}, K={self._K!r}, segments={self._segments!r}{smoothed})"


def _unflat(problem: Problem, symbol: str, array: Float) -> Float:
    return array.reshape((len(array), *problem.shapes[symbol]))
