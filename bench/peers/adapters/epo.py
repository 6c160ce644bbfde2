"""PyEPO: SPO+ and perturbed Fenchel–Young losses over solvers that are brought along."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import torch
from pyepo import dsl
from pyepo.func import SPOPlus, perturbedFenchelYoung
from torch import Tensor

from ..problem import Job
from .base import Adapter, CannotError, Tensors


class Epo(Adapter):
    """The LP in PyEPO's own language, epigraph variables at a known price; true optima are kept as its dataset keeps them."""

    packages = ("pyepo",)
    backend: ClassVar[dict[str, Any]]

    def __init__(self, job: Job, threads: int) -> None:
        super().__init__(job, threads)
        if job.problem.Q is not None or job.predicts != ("theta",):
            raise CannotError("its losses are for linear objectives with fixed constraints")
        p = job.problem
        x, theta = dsl.Variable(p.n, lb=0.0, ub=p.upper), dsl.Parameter(p.n)
        value, rules = theta @ x, []
        if len(p.A):
            rules.append(p.A @ x <= p.b)
        if len(p.B):
            rules.append(p.B @ x == p.c)
        if len(p.C):
            s = dsl.Variable(len(p.d), lb=0.0)
            value, rules = value - p.over @ s, [*rules, p.C @ x - s <= p.d]
        self.model = dsl.Problem(dsl.Maximize(value), rules).compile(**self.backend)
        self.best: dict[int, tuple[Tensor, float]] = {}
        self.loss = self.make()

    def make(self) -> Any:
        return SPOPlus(self.model, processes=self.threads)

    def optima(self, theta: Tensor, ids: np.ndarray) -> tuple[Tensor, Tensor]:
        """True optima, solved at the first visit."""
        for row, key in enumerate(ids.tolist()):
            if key not in self.best:
                self.model.setObj(theta[row])
                solution, value = self.model.solve()
                self.best[key] = (torch.as_tensor(np.asarray(solution, dtype=float)), float(value))
        found = [self.best[key] for key in ids.tolist()]
        return torch.stack([x for x, _ in found]), torch.tensor([[value] for _, value in found])

    def lose(self, predicted: Tensors, true: Tensors, ids: np.ndarray) -> Tensor:
        solutions, values = self.optima(true["theta"], ids)
        return self.loss(predicted["theta"], true["theta"], solutions, values)


class Gurobi(Epo):
    packages = ("pyepo", "gurobipy")
    settings = "SPO+ over Gurobi with the size-limited licence of its wheel, one thread a model"
    backend: ClassVar[dict[str, Any]] = {"backend": "gurobi", "Threads": 1}


class Glop(Epo):
    packages = ("pyepo", "ortools")
    settings = "SPO+ over OR-Tools' GLOP"
    backend: ClassVar[dict[str, Any]] = {"backend": "ortools", "solver": "glop"}


class Perturbed(Gurobi):
    settings = "perturbed Fenchel–Young loss over Gurobi (size-limited licence), one sample, σ = 0.5"

    def make(self) -> Any:
        return perturbedFenchelYoung(self.model, n_samples=1, sigma=0.5, processes=self.threads)

    def lose(self, predicted: Tensors, true: Tensors, ids: np.ndarray) -> Tensor:
        solutions, _ = self.optima(true["theta"], ids)
        return self.loss(predicted["theta"], solutions)
