"""From what was read to the problem's parameters, each an affine map of CVXPY's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import cvxpy as cp
import numpy as np
import scipy.sparse as sp

from .._arrays import Float
from ..errors import ProblemError
from .forms import Forms, Rows, places, refuse
from .maps import Map, Reading
from .reader import Reader


@dataclass(frozen=True)
class Stated:
    """A problem at the Parameters' values, and how it depends on them."""

    n: int
    sense: Literal["max", "min"]
    names: list[str]
    at: dict[str, Float]
    reading: Reading


def stated(problem: Any) -> Stated:
    """Reads a problem."""
    if not isinstance(problem, cp.Problem):
        raise ProblemError(f"from_cvxpy takes a cvxpy.Problem, not a {type(problem).__name__}")
    reader = Reader(problem)
    forms, n, sign = reader.forms, reader.forms.n, reader.sign
    theta, rest = forms.parted(reader.linear)
    Q, constants = sp.csr_array((n * n, 1 + forms.p)), []
    for F, S, term in reader.squares:
        slopes, level = _split(forms, F, S, term)
        Q = Q + _sandwich(slopes, S)
        if level.indices.any():
            weights = sign * _square(S[:, [0]])
            theta = theta + 2.0 * sign * (slopes.T @ (weights @ level))
            constants.append((weights.toarray(), level))
        else:
            g = level[:, [0]].T.tocsr()
            theta = theta + 2.0 * slopes.T @ (sp.kron(g, sp.eye_array(F.shape[0])) @ S)
            rest = rest + sp.kron(g, g) @ S
    symbols: dict[str, tuple[Rows, tuple[int, ...]]] = {"theta": (sign * theta, (n,))}
    if Q.count_nonzero():
        # What is left of rounding would make Q a little unsymmetric.
        flipped = np.arange(n * n).reshape(n, n).T.flatten()
        symbols["Q"] = ((Q + Q[flipped]) * 0.5, (n, n))
    rows, over, under = reader.soft()
    for kind, (M, side), found in (
        ("soft", ("C", "d"), rows),
        ("at_most", ("A", "b"), reader.rows("at_most")),
        ("equal", ("B", "c"), reader.rows("equal")),
    ):
        m = found.shape[0]
        coefficients, level = forms.parted(found)
        if m:
            symbols |= {M: (coefficients, (m, n)), side: (-level, (m,))}
        if m and kind == "soft":
            symbols |= {"alpha": (forms.by_parameter(over), (m,)), "under": (forms.by_parameter(under), (m,))}
    maps = {symbol: _map(reader, M, shape) for symbol, (M, shape) in symbols.items()}
    maps |= {side: _bounds(reader, side) for side in ("lower", "upper")}
    reading = Reading(
        parameters={p.name(): p.shape for p in reader.parameters},
        values={p.name(): _row(p.value) for p in reader.parameters if p.value is not None},
        variables=_places(reader),
        maps={symbol: form for symbol, form in maps.items() if form.parts},
        offset=_map(reader, sign * rest, ()),
        squares=[(weights, _map(reader, level, (level.shape[0],))) for weights, level in constants],
    )
    values = {p.name(): _row(_placeholder(p) if p.value is None else p.value) for p in reader.parameters}
    at = {symbol: form.at(values).reshape(form.shape) for symbol, form in maps.items()}
    if len(reading.values) < len(reading.parameters):
        # Placeholders are no reason for bounds to cross.
        at["upper"] = np.maximum(at["lower"], at["upper"])
    return Stated(n, "max" if sign < 0 else "min", _names(reader), at, reading)


def _split(forms: Forms, F: Rows, S: Rows, term: Any) -> tuple[Rows, Rows]:
    """Rows of a square as slopes (rows, n), and what is left with a column for 1 and each Parameter."""
    coefficients, level = forms.parted(F)
    coefficients.eliminate_zeros()
    level.eliminate_zeros()
    if coefficients.indices.any():
        raise refuse(term, "a square of a Parameter times a variable: not affine in it", "use cp.quad_form(x, P)")
    if S.indices.any() and level.indices.any():
        raise refuse(term, "a product of two Parameters: not DPP", "make one of them a number")
    entries = coefficients.tocoo()
    i, k = np.divmod(entries.row, forms.n)
    return sp.csr_array((entries.data, (i, k)), shape=(F.shape[0], forms.n)), level


def _square(column: Rows) -> Rows:
    m = round(column.shape[0] ** 0.5)
    entries = column.tocoo()
    return sp.csr_array((entries.data, np.divmod(entries.row, m)), shape=(m, m))


def _sandwich(F: Rows, S: Rows) -> Rows:
    """``FᵀSF`` for each column of S, all matrices flat."""
    m, n = F.shape
    used = np.unique(S.indices)
    if len(used) > m:
        # Many small terms: vec(FᵀSF) = (Fᵀ⊗I)(I⊗Fᵀ) vec(S)
        return sp.csr_array(sp.kron(F.T, sp.eye_array(n)) @ (sp.kron(sp.eye_array(m), F.T) @ S))
    data, rows, columns = [np.zeros(0)], [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for column in used:
        part = (F.T @ _square(S[:, [column]]) @ F).tocoo()
        data.append(part.data)
        rows.append(part.row.astype(np.int64) * n + part.col)
        columns.append(np.full(part.nnz, column))
    entries = (np.concatenate(data), (np.concatenate(rows), np.concatenate(columns)))
    return sp.csr_array(entries, shape=(n * n, S.shape[1]))


def _map(reader: Reader, M: Rows, shape: tuple[int, ...], constant: Float | None = None) -> Map:
    entries = M.tocoo()
    entries.sum_duplicates()
    entries.eliminate_zeros()
    parts, start = {}, 1
    for p in reader.parameters:
        own = (entries.col >= start) & (entries.col < start + p.size)
        if own.any():
            theirs = (entries.col[own] - start).astype(np.int64)
            parts[p.name()] = (entries.row[own].astype(np.int64), theirs, entries.data[own])
        start += p.size
    return Map(shape, M[:, [0]].toarray().ravel() if constant is None else constant, parts)


def _bounds(reader: Reader, side: str) -> Map:
    bounds, n = reader.bounds[side], reader.forms.n
    constant = np.full(n, -np.inf if side == "lower" else np.inf)
    nothing = sp.csr_array((1, 1 + reader.forms.p))
    for i, limit in bounds.items():
        constant[i] = limit[0, 0]
    return _map(reader, sp.vstack([bounds.get(i, nothing) for i in range(n)], format="csr"), (n,), constant)


def _row(value: Any) -> Float:
    dense = value.toarray() if sp.issparse(value) else value
    return np.asarray(dense, dtype=np.float64).reshape(1, -1)


def _placeholder(parameter: Any) -> Any:
    """A value that a Parameter without one could have."""
    if parameter.attributes["PSD"] or parameter.attributes["NSD"]:
        return np.eye(*parameter.shape) * (1.0 if parameter.attributes["PSD"] else -1.0)
    return parameter.project(np.zeros(parameter.shape))


def _places(reader: Reader) -> dict[str, Any]:
    sizes = [0, *np.cumsum([v.size for v in reader.variables])]
    return {v.name(): places(v.shape, start) for v, start in zip(reader.variables, sizes)}


def _names(reader: Reader) -> list[str]:
    names = [""] * reader.forms.n
    for name, where in _places(reader).items():
        for place in np.ndindex(*where.shape):
            names[where[place]] = f"{name}[{', '.join(map(str, place))}]" if place else name
    return names
