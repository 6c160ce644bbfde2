"""Affine CVXPY expressions as sparse rows, one for each entry.

An entry is ``Σ (1, p)_j (1, x)_i f_ji``: affine in the variables x for fixed Parameters p and affine in p for fixed x. Its row has
``f_ji`` in column ``j (1 + n) + i``, so the columns of a product of two monomials are added.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..errors import ProblemError

Rows = Any  # scipy.sparse.csr_array
Index = NDArray[np.intp]

ACCEPTED = (
    "In the objective regretless takes affine and convex quadratic terms and weighted penalties (pos, neg, abs, norm1, "
    "maximum or minimum of two affine expressions), as constraints affine <=, >= and ==; everything affine in the Parameters"
)


def refuse(term: Any, what: str, hint: str) -> ProblemError:
    """The error for a term or constraint that does not fit, as CVXPY prints it."""
    text = " ".join(str(term).split())
    shown = text if len(text) <= 100 else text[:97] + "..."
    return ProblemError(f"`{shown}` is {what}. {ACCEPTED}. Hint: {hint}")


def places(shape: tuple[int, ...], start: int = 0) -> Index:
    """The number of every entry, in CVXPY's column-major order."""
    return start + np.arange(int(np.prod(shape)), dtype=np.intp).reshape(shape, order="F")


def spread(shape: tuple[int, ...], to: tuple[int, ...]) -> Index:
    """Which entry of a shape each entry of a larger one repeats."""
    return np.broadcast_to(places(shape), to).flatten(order="F")


def pick(index: Index, size: int) -> Rows:
    """The matrix that takes the entries of an index."""
    return sp.csr_array((np.ones(len(index)), (np.arange(len(index)), index)), shape=(len(index), size))


class Forms:
    """Reads expressions over given variables and Parameters; variables are stacked column by column, Parameters row by row."""

    def __init__(self, variables: Sequence[Any], parameters: Sequence[Any]) -> None:
        self._start: dict[int, int] = {}
        self.n = self.p = 0
        for variable in variables:
            self._start[variable.id] = self.n
            self.n += variable.size
        for parameter in parameters:
            self._start[parameter.id] = self.p
            self.p += parameter.size
        self.width = 1 + self.n
        self.columns = self.width * (1 + self.p)

    def zeros(self, rows: int) -> Rows:
        """So many rows of nothing."""
        return sp.csr_array((rows, self.columns))

    def constant(self, value: Any) -> Rows:
        """Rows of numbers."""
        dense = value.toarray() if sp.issparse(value) else np.asarray(value, dtype=np.float64)
        column = dense.flatten(order="F")[:, np.newaxis]
        return sp.csr_array(sp.hstack([sp.csr_array(column), sp.csr_array((len(column), self.columns - 1))]))

    def of(self, expr: Any) -> Rows:
        """The rows of an affine expression."""
        if not expr.variables() and not expr.parameters():
            return self.constant(expr.value)
        if not expr.args:
            start, entries = self._start[expr.id], np.arange(expr.size)
            by_row = np.arange(expr.size).reshape(expr.shape).flatten(order="F")
            # A variable has the Parameters of its bounds.
            columns = 1 + start + entries if expr.variables() else (1 + start + by_row) * self.width
            return sp.csr_array((np.ones(expr.size), (entries, columns)), shape=(expr.size, self.columns))
        if pairs := _pairs(expr):
            out, left, right = pairs
            # CVXPY takes nothing times anything for affine, so what is constant is looked at first.
            order = (0, 1) if expr.args[0].is_constant() else (1, 0)
            factors = {order[0]: self.of(expr.args[order[0]])}
            if not factors[order[0]].count_nonzero():
                return self.zeros(expr.size)
            factors[order[1]] = self.of(expr.args[order[1]])
            return self.product(factors[0][left], factors[1][right], out, expr.size, expr)
        base, slopes = affine(expr)
        return sum((slope @ self.of(arg) for arg, slope in slopes), start=self.constant(base))

    def product(self, left: Rows, right: Rows, into: Index, size: int, term: Any) -> Rows:
        """Products of pairs of rows, summed into rows of the answer."""
        lengths = np.diff(right.indptr)
        count = np.diff(left.indptr) * lengths
        row = np.repeat(np.arange(len(count)), count)
        kth = np.arange(len(row)) - np.repeat(np.cumsum(count) - count, count)
        a, b = left.indptr[row] + kth // lengths[row], right.indptr[row] + kth % lengths[row]
        one, other = left.indices[a].astype(np.int64), right.indices[b].astype(np.int64)
        if ((one >= self.width) & (other >= self.width)).any():
            hint = "make one Parameter of the product and compute it outside"
            raise refuse(term, "a product of two Parameters: not DPP", hint)
        values = left.data[a] * right.data[b]
        return sp.csr_array((values, (into[row], one + other)), shape=(size, self.columns))

    def weigh(self, expr: Any, weights: Rows) -> tuple[Any, list[tuple[Any, Rows]]]:
        """``Σ wᵢ exprᵢ`` of an affine function as what it adds and such a sum over each of its arguments."""
        if pairs := _pairs(expr):
            out, left, right = pairs
            fixed, free = (0, 1) if expr.args[0].is_constant() else (1, 0)
            take, into = (left, right) if fixed == 0 else (right, left)
            factor = self.of(expr.args[fixed])[take]
            passed = self.product(weights[out], factor, into, expr.args[free].size, expr)
            return np.zeros(expr.shape), [(expr.args[free], passed)]
        base, slopes = affine(expr)
        return base, [(arg, slope.T.tocsr() @ weights) for arg, slope in slopes]

    def by_parameter(self, rows: Rows) -> Rows:
        """Rows without variables, with a column for 1 and each Parameter."""
        entries = rows.tocoo()
        shape = (rows.shape[0], 1 + self.p)
        return sp.csr_array((entries.data, (entries.row, entries.col // self.width)), shape=shape)

    def parted(self, rows: Rows) -> tuple[Rows, Rows]:
        """Coefficients of the variables, row by row, and what is left without them, both with a column for 1 and each Parameter."""
        entries = rows.tocoo()
        j, i = np.divmod(entries.col.astype(np.int64), self.width)
        inside, m = i > 0, rows.shape[0]
        at = entries.row[inside].astype(np.int64) * self.n + i[inside] - 1
        coefficients = sp.csr_array((entries.data[inside], (at, j[inside])), shape=(m * self.n, 1 + self.p))
        rest = sp.csr_array((entries.data[~inside], (entries.row[~inside], j[~inside])), shape=(m, 1 + self.p))
        return coefficients, rest


def _pairs(expr: Any) -> tuple[Index, Index, Index] | None:
    """Entries of a product: which of the answer, of the left and of the right factor; ``None`` for other functions."""
    kind = type(expr).__name__
    if kind == "multiply":
        left, right = (spread(arg.shape, expr.shape) for arg in expr.args)
        return np.arange(expr.size), left, right
    if kind == "MulExpression" and all(1 <= arg.ndim <= 2 for arg in expr.args):
        left, right = (places(arg.shape) for arg in expr.args)
        left, right = np.atleast_2d(left), right.reshape(len(right), -1)
        out = places((left.shape[0], right.shape[1]))
        r, k, c = np.indices((*left.shape, right.shape[1])).reshape(3, -1)
        return out[r, c], left[r, k], right[k, c]
    return None


def affine(expr: Any) -> tuple[Any, list[tuple[Any, Rows]]]:
    """An affine function of its arguments: its value at 0 and its derivative in each of those that are not numbers."""
    free = [k for k, arg in enumerate(expr.args) if arg.variables() or arg.parameters()]
    kind = type(expr).__name__
    if kind == "AddExpression":
        slopes = [(arg, pick(spread(arg.shape, expr.shape), arg.size)) for arg in expr.args]
        return np.zeros(expr.shape), slopes
    if kind == "NegExpression":
        return np.zeros(expr.shape), [(expr.args[0], -sp.eye_array(expr.size, format="csr"))]
    if not (expr.is_atom_convex() and expr.is_atom_concave()):
        raise refuse(expr, "not affine in the Parameters", "make a Parameter of it and compute its value outside")
    if kind == "DivExpression" and expr.args[1].parameters():
        raise refuse(expr, "a division by a Parameter: not DPP", "make a Parameter of the inverse and multiply by it")
    at: list[Any] = [np.zeros(arg.shape) if k in free else arg.value for k, arg in enumerate(expr.args)]
    base = np.asarray(expr.numeric(at), dtype=np.float64)
    slopes = [(expr.args[k], _slope(expr, at, k, base)) for k in free]
    # kron and convolve are products too: where both factors are unknown, moving one at a time shows nothing.
    rng = np.random.default_rng(0)
    expected = base.flatten(order="F")
    for k, (arg, slope) in zip(free, slopes):
        at[k] = rng.uniform(1.0, 2.0, arg.shape)
        expected = expected + slope @ at[k].flatten(order="F")
    if not np.allclose(np.asarray(expr.numeric(at)).flatten(order="F"), expected):
        raise refuse(expr, f"not affine in the arguments of {kind}", "write products with Parameters as @ and *")
    return base, slopes


def _slope(expr: Any, at: list[Any], k: int, base: Any) -> Rows:
    shape, data, rows, columns = expr.args[k].shape, [], [], []
    rest = base.flatten(order="F")
    for column, place in enumerate(np.ndindex(*shape[::-1])):
        unit = np.zeros(shape)
        unit[place[::-1]] = 1.0
        moved = np.asarray(expr.numeric([*at[:k], unit, *at[k + 1 :]])).flatten(order="F") - rest
        hit = np.flatnonzero(moved)
        data.append(moved[hit])
        rows.append(hit)
        columns.append(np.full(len(hit), column))
    parts = (np.concatenate(data), (np.concatenate(rows), np.concatenate(columns)))
    return sp.csr_array(parts, shape=(expr.size, expr.args[k].size))
