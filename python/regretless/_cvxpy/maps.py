"""Our parameters as affine functions of CVXPY's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._arrays import Float, floats
from ..errors import ProblemError

Index = NDArray[np.int64]


@dataclass(frozen=True)
class Map:
    """``constant + Σ factor · Parameter entry``: for each Parameter the entries of ours, its entries and the factors; all by rows."""

    shape: tuple[int, ...]
    constant: Float
    parts: dict[str, tuple[Index, Index, Float]]

    def at(self, values: Mapping[str, Any]) -> Any:
        """Flat values, one row for each row of the Parameters; where a Parameter has a single row, it holds for all."""
        out: Any = self.constant[np.newaxis]
        for name, (entries, theirs, factors) in self.parts.items():
            rows = values[name]
            if isinstance(rows, np.ndarray):
                terms = np.zeros((len(rows), len(self.constant)))
                np.add.at(terms.T, entries, (rows[:, theirs] * factors).T)
            else:
                import torch

                zeros = rows.new_zeros((len(rows), len(self.constant)))
                picked = rows[:, torch.as_tensor(theirs, device=rows.device)] * rows.new_tensor(factors)
                terms = zeros.index_add(1, torch.as_tensor(entries, device=rows.device), picked)
                out = rows.new_tensor(out) if isinstance(out, np.ndarray) else out
            out = out + terms
        return out

    def transposed(self, name: str, size: int, gradient: Float) -> Float:
        """From rows of gradients in ours to rows of gradients in a Parameter."""
        entries, theirs, factors = self.parts[name]
        out = np.zeros((len(gradient), size))
        np.add.at(out.T, theirs, (gradient[:, entries] * factors).T)
        return out


@dataclass(frozen=True)
class Reading:
    """What was read from a CVXPY problem, beside the problem itself."""

    #: Shapes of the Parameters.
    parameters: dict[str, tuple[int, ...]]
    #: Rows of those that had a value.
    values: dict[str, Float]
    #: Where the entries of each variable are in x, in its shape.
    variables: dict[str, NDArray[np.intp]]
    maps: dict[str, Map]
    #: Objective terms without a variable: an affine one and quadratic ones ``gᵀSg``, as S and g.
    offset: Map
    squares: list[tuple[Float, Map]]


class Told:
    """Values of Parameters: those that are told now, else those that they had."""

    def __init__(self, reading: Reading, values: Mapping[Any, Any]) -> None:
        self._reading = reading
        self._rows: dict[str, Any] = {}
        self.batched: dict[str, bool] = {}
        for key, value in values.items():
            self._tell(key if isinstance(key, str) else key.name(), value)
        #: Some tensor, so that numbers follow it to its type and device.
        self._like = next((rows for rows in self._rows.values() if not isinstance(rows, np.ndarray)), None)
        sizes = {name: len(self._rows[name]) for name, batch in self.batched.items() if batch}
        if len(set(sizes.values())) > 1:
            raise ProblemError("batches of different sizes: " + ", ".join(f"{k} has {v}" for k, v in sizes.items()))

    def _tell(self, name: str, value: Any) -> None:
        shapes = self._reading.parameters
        if name not in shapes:
            raise ProblemError(f"the problem has no Parameter `{name}`: it has {', '.join(shapes) or 'none'}")
        array = value if hasattr(value, "new_tensor") else floats(name, value)
        shape, batch = shapes[name], array.ndim == len(shapes[name]) + 1
        if tuple(array.shape)[int(batch) :] != shape:
            wanted = ", ".join(map(str, ("batch", *shape)))
            raise ProblemError(
                f"{name} has the shape {tuple(array.shape)}, expected {shape}, or ({wanted}) for a batch"
            )
        self._rows[name] = array.reshape(len(array) if batch else 1, int(np.prod(shape)))
        self.batched[name] = batch

    def __getitem__(self, name: str) -> Any:
        """Rows of a Parameter."""
        rows = self._rows.get(name, self._reading.values.get(name))
        if rows is None:
            raise ProblemError(f"the Parameter `{name}` has no value: give one here, or set it before from_cvxpy")
        return self._alike(rows)

    def _alike(self, rows: Any) -> Any:
        return rows if self._like is None or not isinstance(rows, np.ndarray) else self._like.new_tensor(rows)

    def of(self, form: Map) -> Any:
        """A map's value in its shape; with a leading axis if a Parameter that it depends on is a batch."""
        rows = self._alike(form.at({name: self[name] for name in form.parts}))
        batched = any(self.batched.get(name, False) for name in form.parts)
        return rows.reshape((len(rows), *form.shape) if batched else form.shape)
