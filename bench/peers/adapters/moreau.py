"""Moreau: batched interior point with smoothed gradients, or active set with a ridge."""

from __future__ import annotations

from typing import Any

import moreau
import moreau.torch
import numpy as np
import torch
from torch import Tensor

from ..problem import Job
from .base import Adapter, Memory, Tensors
from .epigraph import RIDGE, Epigraph, ridges


class Moreau(Adapter):
    """Called directly, without cvxpylayers in between: values go in by sparsity pattern."""

    packages = ("moreau", "moreau-cpu")

    def __init__(self, job: Job, threads: int, form: Epigraph, **settings: Any) -> None:
        super().__init__(job, threads)
        self.form, self.memory = form, Memory(job.rows)
        shape = form({})
        quadratic = "Q" in job.predicts or job.problem.Q is not None
        dense = torch.ones(job.problem.n, job.problem.n) if quadratic else torch.zeros(0, 0)
        pattern = torch.nn.functional.pad(dense, (0, form.size - len(dense)) * 2) + form.ridges.diag()
        self.P_at = pattern.nonzero(as_tuple=True)
        # Where C is predicted all its entries are there, whatever the stated ones are.
        full = form({"C": torch.ones_like(form.stated["C"])}) if "C" in job.predicts else shape
        self.A_at = torch.cat([full.E, full.G]).nonzero(as_tuple=True)
        rows = len(full.E) + len(full.G)
        self.solver = moreau.torch.Solver(
            form.size, rows, *_pattern(self.P_at, form.size), *_pattern(self.A_at, rows),
            cones=moreau.Cones(num_zero_cones=len(full.E), num_nonneg_cones=len(full.G)),
            settings=moreau.Settings(device="cpu", batch_size=job.batch, enable_grad=True, **settings),
        )  # fmt: skip

    def decide(self, predicted: Tensors, ids: np.ndarray) -> Tensor:
        f = self.form(predicted)
        rows, sides = _join(f.E, f.G, 2), _join(f.e, f.h, 1)
        P, A = (m[..., at[0], at[1]] for m, at in ((f.P, self.P_at), (rows, self.A_at)))
        if P.dim() != A.dim():
            # One that all instances share is set up once, but only if both are.
            P, A = (_batched(part, len(ids)) for part in (P, A))
        q, b = _batched(f.q, len(ids)), _batched(sides, len(ids))
        solution = self.solver.solve(P, A, q, b, warm_start=self.warm(ids))
        self.keep(ids, solution)
        return solution.x[:, : self.form.n]

    def warm(self, ids: np.ndarray) -> Any:
        kept = self.memory.get(ids)
        return None if kept is None else moreau.BatchedWarmStart(**kept)

    def keep(self, ids: np.ndarray, solution: Any) -> None:
        self.memory.put(ids, **{k: getattr(solution, k).detach().numpy() for k in ("x", "z", "s")})

    def statuses(self) -> list[str]:
        return [str(status) for status in self.solver.info.status]


class InteriorPoint(Moreau):
    settings = "interior point, smoothed gradients (μ = 0.01 for the LP, 0.001 for others), each sample started where it was solved last"

    def __init__(self, job: Job, threads: int) -> None:
        ipm = moreau.IPMSettings(diff_method="smoothed", diff_smoothing_mu=job.mu)
        super().__init__(job, threads, Epigraph(job.problem), solver="ipm", ipm_settings=ipm)


class ActiveSet(Moreau):
    settings = f"active set, {RIDGE}‖x‖² where there is no Q, each sample started where it was solved last"
    gradients = "exact"

    def __init__(self, job: Job, threads: int) -> None:
        active = moreau.ActiveSetSettings(diff_method=self.gradients)
        form = Epigraph(job.problem, *ridges(job))
        super().__init__(job, threads, form, solver="active_set", active_set_settings=active)


class SmoothedActiveSet(ActiveSet):
    settings = "the same with its smoothed gradients"
    gradients = "smoothed"


def _pattern(at: tuple[Tensor, Tensor], rows: int) -> tuple[Tensor, Tensor]:
    """Row offsets and columns of a compressed sparse matrix."""
    counts = torch.bincount(at[0], minlength=rows)
    return torch.cat([torch.zeros(1, dtype=torch.int64), counts.cumsum(0)]), at[1]


def _join(above: Tensor, below: Tensor, axes: int) -> Tensor:
    """One above the other; the upper one is repeated where only the lower one has a batch axis."""
    if above.dim() < below.dim():
        above = above.expand(len(below), *above.shape)
    return torch.cat([above, below], dim=-axes)


def _batched(part: Tensor, batch: int) -> Tensor:
    return part if part.dim() == 2 else part.expand(batch, len(part))
