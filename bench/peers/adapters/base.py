"""What every library is asked for."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor

from ..problem import Job, Problem

Tensors = dict[str, Tensor]

#: Violations that are no more than a solver's inaccuracy.
TOLERATED = 1e-4


class CannotError(Exception):
    """The library cannot express the job, or not here; the message says why."""


class Adapter:
    """One way of using one library, made for a job and a number of threads; what must be built once is built here.

    A *layer* implements ``decide``, a *loss* implements ``lose``. Both may use ``ids``, the row numbers of the samples, to start from
    where a sample was solved last.
    """

    #: The packages whose versions are recorded.
    packages: ClassVar[tuple[str, ...]] = ()
    #: How it is used, in words.
    settings: ClassVar[str] = ""

    def __init__(self, job: Job, threads: int) -> None:
        self.job, self.threads = job, threads

    def decide(self, predicted: Tensors, ids: np.ndarray) -> Tensor:
        """Decisions for a batch, differentiable in what is predicted."""
        raise NotImplementedError

    def lose(self, predicted: Tensors, true: Tensors, ids: np.ndarray) -> Tensor:
        """Mean loss of a batch, differentiable in what is predicted."""
        raise NotImplementedError

    def statuses(self) -> list[str] | None:
        """How each instance of the last batch ended, if the library says so."""
        return None

    @property
    def is_layer(self) -> bool:
        return type(self).decide is not Adapter.decide


def objective(problem: Problem, x: Tensor, true: Tensors) -> Tensor:
    """The true objective at decisions, one for each row."""

    def part(name: str) -> Tensor:
        return true[name] if name in true else torch.as_tensor(problem.stated(name))

    def times(matrix: Tensor) -> Tensor:
        return x @ matrix.T if matrix.dim() == 2 else torch.einsum("bij,bj->bi", matrix, x)

    excess = times(part("C")) - torch.as_tensor(problem.d)
    over, under = torch.as_tensor(problem.over), torch.as_tensor(problem.under)
    value = (part("theta") * x).sum(-1) - excess.clamp(min=0.0) @ over - (-excess).clamp(min=0.0) @ under
    return value - (x * times(part("Q"))).sum(-1) if "Q" in true or problem.Q is not None else value


def layer_loss(job: Job, x: Tensor, true: Tensors) -> Tensor:
    """Minus the mean true objective, and a price on violated hard rows: without one, a layer whose x may leave them would be trained to."""
    p = job.problem
    A, b, B, c = (torch.as_tensor(part) for part in (p.A, p.b, p.B, p.c))
    hard = [x @ A.T - b, (x @ B.T - c).abs(), -x]
    broken = sum((part - TOLERATED).clamp(min=0.0).sum(-1) for part in hard)
    return (job.violation * broken - objective(p, x, true)).mean()


class Memory:
    """Rows of arrays by sample id: what a careful user of a library with warm starts keeps."""

    def __init__(self, rows: int) -> None:
        self.rows, self.known = rows, np.zeros(rows, dtype=bool)
        self.tables: dict[str, np.ndarray[Any, Any]] = {}

    def put(self, ids: np.ndarray, **arrays: np.ndarray) -> None:
        for name, array in arrays.items():
            if name not in self.tables:
                self.tables[name] = np.zeros((self.rows, array.shape[1]))
            self.tables[name][ids] = array
        self.known[ids] = True

    def get(self, ids: np.ndarray) -> dict[str, np.ndarray] | None:
        """What was kept for all of these; ``None`` if one of them is new."""
        return {name: table[ids] for name, table in self.tables.items()} if self.known[ids].all() else None
