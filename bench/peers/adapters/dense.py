"""qpth and ProxSuite's QPLayer: batched layers of dense QPs."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from ..problem import Job
from .base import Adapter, Tensors
from .epigraph import RIDGE, Epigraph, ridges

#: qpth factors P, epigraph variables included: where these have no ridge they get this one.
LEAST = 1e-4


class Qpth(Adapter):
    packages = ("qpth",)
    settings = f"batched interior point; {RIDGE}‖x‖² where there is no Q, and at least {LEAST} on epigraph variables"

    def __init__(self, job: Job, threads: int) -> None:
        from qpth.qp import QPFunction

        super().__init__(job, threads)
        x, s = ridges(job)
        self.form = Epigraph(job.problem, x, max(s, LEAST))
        self.solve = QPFunction(verbose=-1, check_Q_spd=False)

    def decide(self, predicted: Tensors, ids: np.ndarray) -> Tensor:
        f = self.form(predicted)
        none = torch.empty(0)
        equal = (f.E, f.e) if f.E.shape[-2] else (none, none)
        return self.solve(f.P, f.q, f.G, f.h, *equal)[:, : self.form.n]


class Proxsuite(Adapter):
    packages = ("proxsuite",)
    settings = f"QPLayer; {RIDGE}‖x‖² where there is no Q"
    tolerance = 1e-6

    def __init__(self, job: Job, threads: int) -> None:
        from proxsuite.torch.qplayer import QPFunction

        super().__init__(job, threads)
        self.form = Epigraph(job.problem, *ridges(job))
        self.solve = QPFunction(eps=self.tolerance, omp_parallel=threads > 1)

    def decide(self, predicted: Tensors, ids: np.ndarray) -> Tensor:
        f = self.form(predicted)
        z, _, _ = self.solve(f.P, f.q, f.E, f.e, f.G, torch.full_like(f.h, -1e20), f.h)
        return z[:, : self.form.n]
