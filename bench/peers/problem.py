"""What is to be decided, in NumPy: neither torch nor any of the libraries is needed to state it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True)
class Problem:
    """``max θᵀx − xᵀQx − overᵀ max(Cx − d, 0) − underᵀ max(d − Cx, 0)`` over ``Ax ≤ b``, ``Bx = c``, ``0 ≤ x ≤ upper``."""

    n: int
    C: Array
    d: Array
    over: Array
    under: Array
    A: Array
    b: Array
    B: Array
    c: Array
    Q: Array | None = None
    #: None are bounded above, or all.
    upper: Array | None = None

    @property
    def two_sided(self) -> bool:
        return bool(self.under.any())

    def stated(self, name: str) -> Array:
        """The parameter that holds where none is predicted."""
        if name == "theta":
            return np.zeros(self.n)
        if name == "Q" and self.Q is None:
            return np.zeros((self.n, self.n))
        return getattr(self, name)


def problem(n: int, C: Array, d: Array, over: Array, **parts: Any) -> Problem:
    """A problem whose missing parts are empty."""
    none, nothing = np.zeros((0, n)), np.zeros(0)
    empty = {"under": np.zeros_like(over), "A": none, "b": nothing, "B": none, "c": nothing}
    return Problem(n=n, C=C, d=d, over=over, **{**empty, **parts})


@dataclass(frozen=True)
class Job:
    """A problem, what is predicted in it, and data to learn that from.

    ``truths`` takes row numbers and gives the true parameters of these rows, ``test_truths`` likewise. ``network`` makes the predictor
    that all libraries train; it is called in the process that has torch.
    """

    name: str
    problem: Problem
    predicts: tuple[str, ...]
    features: Array
    truths: Callable[[Array], dict[str, Array]]
    test_features: Array
    test_truths: Callable[[Array], dict[str, Array]]
    batch: int
    learning_rate: float
    network: Callable[[], Any]
    #: What a unit of a violated hard row costs in the loss that layers are trained on: above the multipliers of true optima.
    violation: float = 1.0
    #: K of our surrogate: rows are rounded over 1/4K on either side, which should be little beside the values of the rows.
    sharpness: float = 5.0
    #: Relative gap of our smoothed gradients: an LP has use for it, a QP none.
    smoothing: float = 0.0
    #: μ of Moreau's smoothed gradients, likewise.
    mu: float = 1e-3

    @property
    def rows(self) -> int:
        return len(self.features)


def lookup(**tables: Array) -> Callable[[Array], dict[str, Array]]:
    """Rows of tables that are at hand."""
    return lambda ids: {name: table[ids] for name, table in tables.items()}


def thinned(rng: np.random.Generator, rows: int, n: int, zeros: int, ones: bool = False) -> Array:
    """A matrix of ones or of uniform numbers with ``zeros`` entries of every column set to 0."""
    matrix = np.ones((rows, n)) if ones else rng.random((rows, n))
    for j in range(n):
        matrix[rng.permutation(rows)[:zeros], j] = 0.0
    return matrix
