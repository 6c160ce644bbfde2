"""The decision problem and its exact optima."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _regretless
from ._arrays import Batch, Figure, Float, Sparse, Why, Word, coefficients, floats, height, number, vector
from ._shown import Brief, listed, table
from .errors import ProblemError

if TYPE_CHECKING:
    from .quantities import Quantities

__all__ = ["Optimum", "Problem", "RowValues", "Soft"]


@dataclass(frozen=True)
class Soft:
    """Soft rows: ``weightᵀ max(Cx − d, 0) + underᵀ max(d − Cx, 0)`` is paid and nothing forbidden.

    >>> import regretless as rl
    >>> water = rl.Soft([[2.0, 1.0]], 10.0, weight=0.5)          # a unit above 10 costs 0.5
    >>> hours = rl.Soft([[1.0, 1.0]], 8.0, weight=3.0, under=1.0)  # and here one below 8 costs 1
    """

    C: ArrayLike
    d: ArrayLike
    weight: ArrayLike
    under: ArrayLike = 0.0
    name: str | None = None


@dataclass(frozen=True, repr=False)
class RowValues(Brief):
    """A number for every row and bound, by kind; with a leading axis for a batch."""

    soft: Float
    at_most: Float
    equal: Float
    lower: Float
    upper: Float

    @classmethod
    def _of(cls, answer: Mapping[str, Any]) -> RowValues:
        return cls(**{kind: answer[kind] for kind in KINDS})

    def _tuple(self) -> tuple[Float, Float, Float, Float, Float]:
        return (self.soft, self.at_most, self.equal, self.lower, self.upper)


#: The kinds of rows, in the order in which they are stacked.
KINDS = ("soft", "at_most", "equal", "lower", "upper")


#: What a problem that came of a file knows beside its statement, as pickles call it.
BESIDE = {
    "file": "file",
    "declared": "_declared",
    "told": "_told",
    "placeholders": "_placeholders",
    "statement": "_statement",
    "columns": "_columns",
}


@dataclass(frozen=True, repr=False)
class Optimum(Brief):
    """What an exact solve found.

    ``status`` is ``optimal``, ``infeasible``, ``unbounded``, ``numerical-trouble``, or in a batch ``refused`` for an instance whose
    parameters make no problem (NaN, a negative price, a Q that is not PSD); ``why`` then says which rows cannot hold together
    or what was wrong. The other instances of a batch do not notice. Without an optimum ``x`` and ``multipliers`` are NaN unless the best
    point found was asked for (``best_effort``); the objective is infinite where there is no feasible point or no bound.

    ``primal``, ``dual`` and ``gap`` say how right the answer is, on the rows as they were stated: the largest violation of a hard row i
    over ``1 + |bᵢ| + |aᵢ|ᵀ|x|``; ``‖θ − 2Qx − C'ᵀλ‖∞`` over ``1 + ‖θ‖∞ + ‖C'ᵀλ‖∞``; the duality gap, or the sum of complementarity if that
    is larger, over ``1 + |objective|``. ``optimal`` is said only where all three are within the tolerance; they are infinite where
    there is no answer.
    """

    x: Float
    objective: Figure
    status: Word
    why: Why
    multipliers: RowValues
    primal: Figure
    dual: Figure
    gap: Figure


class Problem:
    """``max θᵀx − xᵀQx − Σ soft(x)`` over ``Ax ≤ b``, ``Bx = c``, ``lower ≤ x ≤ upper``.

    For ``sense="min"`` it is ``min θᵀx + xᵀQx + Σ soft(x)``. What is stated here can be overridden in every solve; what is not known
    yet is left out (θ) or given as a placeholder of the right shape.

    >>> import regretless as rl
    >>> farm = rl.Problem(2, A=[[1.0, 1.0]], b=8.0, soft=rl.Soft([[2.0, 1.0]], 10.0, weight=0.5))
    >>> optimum = farm.solve([3.0, 2.0])
    >>> optimum.x, optimum.objective, optimum.status
    (array([8., 0.]), 21.0, 'optimal')

    ``A``, ``B``, ``C`` and ``Q`` may be sparse matrices of SciPy or PyTorch. Their parameter is then the vector of stored values, in
    overrides, predictions and gradients alike (:meth:`places` says which is which): what is not stored is 0 and stays 0, a
    zero that is stored may be predicted. A sparse Q stores its diagonal too.

    A batch has one axis more. Instances that are infeasible have a status, not an exception:

    >>> farm.solve([[3.0, 2.0], [1.0, 2.0]]).objective
    array([21., 16.])
    >>> farm.solve([3.0, 2.0], b=-1.0).why
    ['at_most', 'lower bound of x0', 'lower bound of x1']
    """

    def __init__(
        self,
        n: int,
        theta: ArrayLike | None = None,
        *,
        Q: ArrayLike | None = None,
        soft: Soft | Sequence[Soft] = (),
        A: ArrayLike | None = None,
        b: ArrayLike | None = None,
        B: ArrayLike | None = None,
        c: ArrayLike | None = None,
        lower: ArrayLike | None = 0.0,
        upper: ArrayLike | None = None,
        sense: Literal["max", "min"] = "max",
        variables: Sequence[str] | None = None,
    ) -> None:
        if not isinstance(n, (int, np.integer)) or n < 1:
            raise ProblemError(f"n is {n!r}: the number of variables, at least 1")
        n = int(n)
        blocks = [soft] if isinstance(soft, Soft) else list(soft or ())
        rows = []
        for i, block in enumerate(blocks):
            if not isinstance(block, Soft):
                raise ProblemError(f"soft has a {type(block).__name__}: regretless.Soft is expected")
            C = coefficients("C", block.C, n)
            sides = (("d", block.d), ("weight", block.weight), ("under", block.under))
            default = "soft" if len(blocks) == 1 else f"soft{i}"
            rows.append((block.name or default, C, *(vector(w, v, height(C)).copy() for w, v in sides)))
        #: Everything the problem was made from; what pickling keeps.
        self._state: dict[str, Any] = {
            "n": n,
            "theta": None if theta is None else vector("theta", theta, n).copy(),
            "Q": None if Q is None else coefficients("Q", Q, n),
            "soft": rows,
            "at_most": _hard("A", A, "b", b, n, "at_most"),
            "equal": _hard("B", B, "c", c, n, "equal"),
            # No bound is an infinite one; the engine's own default is 0.
            "lower": vector("lower", -np.inf if lower is None else lower, n).copy(),
            "upper": vector("upper", np.inf if upper is None else upper, n).copy(),
            "sense": sense,
            "variables": None if variables is None else [str(name) for name in variables],
        }
        #: The problem file that it was read from.
        self.file: str | None = None
        #: What its file predicts, with the columns it names; none where it has patterns.
        self._declared: dict[str, list[str]] = {}
        #: What its file predicts and knows by row, where that is other than whole parameters.
        self._told: Any = None
        #: Parameters that hold placeholders: their numbers come from columns.
        self._placeholders: set[str] = set()
        #: The words of its file, if it is in algebra.
        self._statement: str | None = None
        #: What `[data]` of its file says of columns: which are features, the series, the time.
        self._columns: dict[str, Any] = {}
        self._build()

    def _build(self) -> None:
        s = self._state
        self._inner = _regretless.Problem(
            s["n"], s["sense"], s["variables"], s["theta"], s["Q"],
            s["soft"], s["at_most"], s["equal"], s["lower"], s["upper"],
        )  # fmt: skip

    def __getstate__(self) -> dict[str, Any]:
        return self._state | {name: getattr(self, own) for name, own in BESIDE.items()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.file, self._declared = state.get("file"), state.get("declared", {})
        self._told, self._placeholders = state.get("told"), state.get("placeholders", set())
        self._statement, self._columns = state.get("statement"), state.get("columns", {})
        self._state = {name: part for name, part in state.items() if name not in BESIDE}
        self._build()

    @property
    def n(self) -> int:
        """Number of variables."""
        return int(self._state["n"])

    @property
    def sense(self) -> str:
        """``max`` or ``min``."""
        return str(self._state["sense"])

    @property
    def quadratic(self) -> bool:
        """True if the problem states a Q."""
        return self._state["Q"] is not None

    @property
    def variables(self) -> list[str]:
        """Names of the variables."""
        return self._inner.variables

    @property
    def predicts(self) -> list[str] | Quantities | None:
        """What the problem's file says is predicted: parameters, in its order, or :class:`Quantities` with what is known by row; ``None``
        where no file says it, or not without its table."""
        if self._told is not None:
            from .quantities import Quantities

            return Quantities._of_file(self, *self._told)
        return list(self._declared) or None

    def states_as(self, other: Problem) -> bool:
        """True for a problem that states the same: a copy, or one that was pickled."""
        if self is other:
            return True
        alike = (self.sense, self.variables, self.shapes) == (other.sense, other.variables, other.shapes)
        return alike and all(
            np.array_equal(self._inner.stated(symbol), other._inner.stated(symbol))
            and np.array_equal(self._cells(symbol), other._cells(symbol))
            for symbol in self.shapes
        )

    def _cells(self, symbol: str) -> NDArray[np.int64]:
        """Row and column of each value of a sparse parameter; nothing for a dense one."""
        return np.array(self.places(symbol) or (), dtype=np.int64)

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shape of every parameter the problem has; Q is always one of them, blocks of a kind are stacked. A sparse
        one is a vector of its stored values: see :meth:`places`.

        >>> import regretless as rl
        >>> rl.Problem(2, A=[[1.0, 1.0]], b=8.0).shapes
        {'theta': (2,), 'Q': (2, 2), 'A': (1, 2), 'b': (1,), 'lower': (2,), 'upper': (2,)}
        """
        return dict(self._shapes)

    @cached_property
    def _shapes(self) -> dict[str, tuple[int, ...]]:
        n, s = self.n, self._state
        soft, at_most, equal = (sum(height(block[1]) for block in s[kind]) for kind in KINDS[:3])
        shapes: dict[str, tuple[int, ...]] = {"theta": (n,), "Q": (n, n)}
        if soft:
            shapes |= {"C": (soft, n), "d": (soft,), "alpha": (soft,), "under": (soft,)}
        if at_most:
            shapes |= {"A": (at_most, n), "b": (at_most,)}
        if equal:
            shapes |= {"B": (equal, n), "c": (equal,)}
        for symbol in shapes.keys() & {"Q", "C", "A", "B"}:
            if (places := self._inner.places(symbol)) is not None:
                shapes[symbol] = places[0].shape
        return shapes | {"lower": (n,), "upper": (n,)}

    def places(self, symbol: str) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None:
        """Row and column of each value of a sparse parameter, row after row from left to right; ``None`` for a dense one.

        >>> import regretless as rl, scipy.sparse as sp
        >>> flow = rl.Problem(3, B=sp.csr_array([[1.0, 0.0, -1.0], [0.0, 2.0, 0.0]]), c=0.0)
        >>> flow.stated("B"), flow.places("B")
        (array([ 1., -1.,  2.]), (array([0, 0, 1]), array([0, 2, 1])))
        """
        if symbol not in self.shapes:
            raise ProblemError(f"the problem has no parameter `{symbol}`: it has {', '.join(self.shapes)}")
        found: tuple[NDArray[np.int64], NDArray[np.int64]] | None = self._inner.places(symbol)
        return found

    def stated(self, symbol: str) -> Float:
        """What the problem states for a parameter."""
        if symbol not in self.shapes:
            raise ProblemError(f"the problem has no parameter `{symbol}`: it has {', '.join(self.shapes)}")
        values = self._inner.stated(symbol)
        # An LP states no Q.
        return values.reshape(self.shapes[symbol]) if values.size else np.zeros(self.shapes[symbol])

    def solve(
        self,
        theta: ArrayLike | None = None,
        *,
        tolerance: float | None = None,
        best_effort: bool = False,
        threads: int | None = None,
        **parameters: ArrayLike | None,
    ) -> Optimum:
        """Exact optima, measured: ``optimal`` keeps ``tolerance`` (1e-7) in ``primal``, ``dual`` and ``gap``; see :class:`Optimum`.

        ``parameters`` override ``Q``, ``C``, ``d``, ``alpha``, ``under``, ``A``, ``b``, ``B``, ``c``, ``lower`` and ``upper``. The work
        is done without the interpreter's lock, on all cores or on ``threads`` of them; Ctrl-C is heard.
        """
        given = {"theta": theta, **parameters}
        self._needs(given)
        batch = self._batch(given)
        if tolerance is not None and not 0.0 <= (tolerance := number("tolerance", tolerance)) < 1.0:
            raise ProblemError(f"tolerance is {tolerance!r}: a number from 0 to 1")
        answer = self._inner.solve(batch.parts, batch.rows, tolerance, best_effort, threads)
        if batch.size is None and answer["status"][0] == "refused":
            raise ProblemError(answer["why"][0][0])
        shapes = self._kinds()
        return Optimum(
            x=batch.shaped(answer["x"], (self.n,)),
            objective=batch.figures(answer["objective"]),
            status=batch.listed(answer["status"]),
            why=answer["why"] if batch.size is not None else answer["why"][0],
            multipliers=RowValues(**{kind: batch.shaped(answer[kind], (shapes[kind],)) for kind in KINDS}),
            **{figure: batch.figures(answer[figure]) for figure in ("primal", "dual", "gap")},
        )

    def objective(self, x: ArrayLike, theta: ArrayLike | None = None, **parameters: ArrayLike | None) -> Figure:
        """The objective at decisions, soft rows included; hard rows are not looked at.

        >>> import regretless as rl
        >>> farm = rl.Problem(2, soft=rl.Soft([[2.0, 1.0]], 10.0, weight=0.5))
        >>> farm.objective([8.0, 0.0], [3.0, 2.0])      # 24 − 0.5·(16 − 10)
        21.0
        """
        return self._judge(x, theta, parameters, 0)

    def violation(self, x: ArrayLike, theta: ArrayLike | None = None, **parameters: ArrayLike | None) -> Figure:
        """The largest violation of a hard row or bound at decisions; 0 where they are feasible, NaN where there is none."""
        found = self._judge(x, theta, parameters, 1)
        missing = np.isnan(floats("x", x)).any(axis=-1)
        return np.where(missing, np.nan, found) if np.ndim(found) else float("nan") if missing else found

    def _judge(
        self, x: ArrayLike, theta: ArrayLike | None, parameters: Mapping[str, ArrayLike | None], which: int
    ) -> Figure:
        points = floats("x", x)
        if points.shape[-1:] != (self.n,) or points.ndim > 2:
            raise ProblemError(f"x has the shape {points.shape}, expected ({self.n},) or (batch, {self.n})")
        batch = self._batch({"theta": theta, **parameters})
        if points.ndim == 2 and batch.size is None:
            batch.size = len(points)
        if points.ndim == 1:
            points = np.tile(points, (batch.rows, 1))
        if len(points) != batch.rows:
            raise ProblemError(f"x has {len(points)} rows, the parameters {batch.rows}")
        return batch.figures(self._inner.judge(points, batch.parts)[which])

    #: What makes parameters of rows.
    _ways = "problem.predicts.parameters(…)"

    def _unknown(self, left: list[str]) -> str:
        """Why some parameters hold no numbers to decide with."""
        return f"{', '.join(f'`{symbol}`' for symbol in left)} comes from columns of the problem's file"

    def _needs(self, given: Mapping[str, ArrayLike | None]) -> None:
        """Refuses to decide by numbers that nobody gave."""
        there = {symbol for symbol, values in given.items() if values is not None}
        # A θ that is left out as a whole has a message of its own.
        whole = {"theta"} if self._told is None and self._state["theta"] is None else set()
        if left := sorted(self._placeholders - there - whole):
            raise ProblemError(f"{self._unknown(left)}: give it here; {self._ways} makes it of rows")
        if "theta" not in there and self._state["theta"] is None:
            raise ProblemError(
                "theta was never given: state it in the problem or give it here; theta=0.0 if the objective has no linear term"
            )

    def _batch(self, given: Mapping[str, ArrayLike | None]) -> Batch:
        return Batch(self._shapes, given)

    def _kinds(self) -> dict[str, int]:
        shapes = self._shapes
        rows = {"soft": "d", "at_most": "b", "equal": "c", "lower": "lower", "upper": "upper"}
        return {kind: shapes.get(symbol, (0,))[0] for kind, symbol in rows.items()}

    def _any_penalties(self) -> Any:
        """Penalties for where none matter."""
        return tuple(np.ones(size) for size in self._kinds().values())

    def __repr__(self) -> str:
        kinds = self._kinds()
        rows = ", ".join(f"{kinds[kind]} {kind}" for kind in ("soft", "at_most", "equal") if kinds[kind])
        return f"Problem({self.sense}, n={self.n}{', ' + rows if rows else ''})"

    def _repr_html_(self) -> str:
        def of(kind: str) -> list[str]:
            sizes = [(block[0], height(block[1])) for block in self._state[kind]]
            return [f"{name} ({rows} {'row' if rows == 1 else 'rows'})" for name, rows in sizes]

        lists = {
            "variables": self.variables,
            **{kind: of(kind) for kind in KINDS[:3]},
            "predicted": list(self._declared),
        }
        facts = {"problem": repr(self)} | {kind: listed(names) for kind, names in lists.items() if names}
        return table([{"": key, " ": value} for key, value in facts.items()])


def stated_problem(problem: Any) -> Problem:
    """The problem, if it is one."""
    if not isinstance(problem, Problem):
        raise ProblemError(f"problem is a {type(problem).__name__}: regretless.Problem is expected")
    return problem


def _hard(
    what: str, M: ArrayLike | None, side: str, rhs: ArrayLike | None, n: int, name: str
) -> list[tuple[str, Float | Sparse, Float]]:
    if (M is None) != (rhs is None):
        given, missing = (side, what) if M is None else (what, side)
        raise ProblemError(f"{given} is given without {missing}")
    if M is None or rhs is None:
        return []
    rows = coefficients(what, M, n)
    return [(name, rows, vector(side, rhs, height(rows)).copy())]
