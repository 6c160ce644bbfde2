"""From what a user passes to C-contiguous float64 arrays with one row an instance."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .errors import ProblemError

Float = NDArray[np.float64]
#: A number of one instance, or one for each of a batch.
Figure = float | Float
#: A word of one instance, or one for each of a batch.
Word = str | NDArray[np.str_]
#: Reasons of one instance, or those of each of a batch.
Why = list[str] | list[list[str]]
Ids = NDArray[np.int64] | NDArray[np.uint64]

#: Symbols of all parameters, in the order of the documentation.
SYMBOLS = ("theta", "Q", "C", "d", "alpha", "under", "A", "b", "B", "c", "lower", "upper")


def floats(what: str, value: ArrayLike) -> Float:
    """The value as a C-contiguous float64 array; no copy where it is one."""
    if type(value) is np.ndarray and value.dtype == np.float64 and value.flags.c_contiguous:
        return value
    if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
        raise ProblemError(f"{what} has masked entries: fill them in first")
    try:
        array = np.asarray(value)
        if array.dtype.kind == "c":
            raise TypeError("it is complex. Complex data not supported")
        return np.asarray(array, dtype=np.float64, order="C")
    except (TypeError, ValueError, OverflowError) as error:
        raise ProblemError(f"{what} is not an array of numbers: {error}") from None


def number(what: str, value: Any) -> float:
    """The value as a number."""
    if value is None:
        raise ProblemError(f"{what} is None: a number is expected")
    array = floats(what, value)
    if array.ndim:
        raise ProblemError(f"{what} has the shape {array.shape}: one number is expected")
    return float(array)


def vector(what: str, value: ArrayLike, length: int) -> Float:
    """A vector of a length; one number stands for all."""
    array = floats(what, value)
    if array.ndim == 0:
        return np.full(length, float(array))
    if array.shape != (length,):
        raise ProblemError(f"{what} has the shape {array.shape}, expected ({length},) or one number")
    return array


def matrix(what: str, value: ArrayLike, columns: int) -> Float:
    """A matrix with so many columns; a vector stands for one row."""
    array = floats(what, value)
    if array.ndim == 1:
        array = array[np.newaxis, :]
    if array.ndim != 2 or array.shape[1] != columns:
        raise ProblemError(f"{what} has the shape {array.shape}, expected (rows, {columns})")
    return array


class Sparse(NamedTuple):
    """A sparse matrix by its stored coefficients."""

    height: int
    width: int
    rows: NDArray[np.int64]
    columns: NDArray[np.int64]
    values: Float


class _Coo(NamedTuple):
    """PyTorch's sparse tensors (COO, CSR and the others) in what is read of SciPy's."""

    shape: tuple[int, ...]
    row: Any
    col: Any
    data: Any

    @classmethod
    def of(cls, tensor: Any) -> _Coo:
        coo = tensor.detach().cpu().to_sparse_coo().coalesce()
        indices = coo.indices().numpy()
        if len(indices) != 2:
            return cls(tuple(coo.shape), None, None, None)
        row, col = indices
        return cls(tuple(coo.shape), row, col, coo.values().numpy())

    def tocoo(self, copy: bool) -> _Coo:
        return self

    def sum_duplicates(self) -> None:
        """They are."""


def coefficients(what: str, value: Any, columns: int) -> Float | Sparse:
    """A copy of a matrix with so many columns, an array or a sparse one of SciPy or PyTorch; what the caller does with it
    afterwards is no part of the problem. Entries that are stored twice are summed; a zero that is stored is kept."""
    if str(getattr(value, "layout", "")).startswith("torch.sparse"):
        value = _Coo.of(value)
    if not hasattr(value, "tocoo"):
        return matrix(what, value, columns).copy()
    if len(value.shape) != 2 or value.shape[1] != columns:
        raise ProblemError(f"{what} has the shape {value.shape}, expected (rows, {columns})")
    coo = value.tocoo(copy=True)
    coo.sum_duplicates()
    rows, cols = (np.ascontiguousarray(part, dtype=np.int64) for part in (coo.row, coo.col))
    return Sparse(int(coo.shape[0]), columns, rows, cols, floats(what, coo.data))


def height(rows: Float | Sparse) -> int:
    """Rows of a matrix."""
    return rows.height if isinstance(rows, Sparse) else len(rows)


class Batch:
    """Parameters of one instance or many, ready for the engine.

    An array with one axis more than the parameter has is a batch; the others hold for all instances.
    """

    def __init__(self, shapes: Mapping[str, tuple[int, ...]], given: Mapping[str, ArrayLike | None]) -> None:
        self.parts: list[tuple[str, Float]] = []
        #: Which parameters have a row of their own for each instance.
        self.batched: dict[str, bool] = {}
        sizes: dict[str, int] = {}
        for symbol, value in given.items():
            if value is None:
                continue
            if symbol not in shapes:
                raise ProblemError(f"the problem has no parameter `{symbol}`: it has {', '.join(shapes)}")
            shape = shapes[symbol]
            array = floats(symbol, value)
            # One number stands for a whole vector.
            if array.ndim == 0 and len(shape) == 1:
                array = np.full(shape, array)
            own = array.ndim == len(shape) + 1
            if (array.shape[1:] if own else array.shape) != shape:
                raise ProblemError(
                    f"{symbol} has the shape {array.shape}, expected {shape}, or (batch, {', '.join(map(str, shape))}) for a batch"
                )
            if own:
                sizes[symbol] = array.shape[0]
            self.batched[symbol] = own
            width = prod(shape)
            self.parts.append((symbol, array.reshape(array.shape[0] if own else 1, width)))
        if len(set(sizes.values())) > 1:
            differ = ", ".join(f"{symbol} has {size}" for symbol, size in sizes.items())
            raise ProblemError(f"batches of different sizes: {differ}")
        #: None for a single instance.
        self.size: int | None = next(iter(sizes.values()), None)
        # One row for all of no instances is no row.
        if self.size == 0:
            self.parts = [(symbol, array[:0]) for symbol, array in self.parts]

    @property
    def rows(self) -> int:
        """Instances."""
        return 1 if self.size is None else self.size

    def shaped(self, array: NDArray[Any], shape: tuple[int, ...]) -> Any:
        """Rows of an answer in the shape of one instance, or of a batch of them."""
        full = array.reshape((self.rows, *shape))
        if self.size is not None:
            return full
        return full[0] if shape else full[0].item()

    def figures(self, array: Float) -> Figure:
        """A number of each instance."""
        return float(array[0]) if self.size is None else array

    def listed(self, values: list[str]) -> Word:
        """Words of an answer: one word, or an array of them."""
        return values[0] if self.size is None else np.array(values, dtype=np.str_)


def sample_ids(ids: ArrayLike | None, rows: int) -> Ids | None:
    """Ids of samples: whole numbers, one an instance; the extension refuses those below 0."""
    if ids is None:
        return None
    array = np.asarray(ids)
    if array.ndim == 0:
        array = array.reshape(1)
    if array.shape != (rows,):
        raise ProblemError(f"ids have the shape {array.shape}, expected ({rows},)")
    if array.dtype.kind not in "iu":
        raise ProblemError("ids are whole numbers from 0 on")
    signed = array.dtype.kind == "i"
    return np.ascontiguousarray(array, dtype=np.int64) if signed else np.ascontiguousarray(array, dtype=np.uint64)
