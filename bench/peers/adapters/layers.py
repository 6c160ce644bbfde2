"""cvxpylayers: any convex problem that is stated in CVXPY by its rules."""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np
import torch
from cvxpylayers.torch import CvxpyLayer
from torch import Tensor

from ..problem import Job
from .base import Adapter, CannotError, Tensors
from .epigraph import RIDGE

#: How far diffcp's proximal gradients look along the loss's gradient.
TAU = 0.05


class Cvxpy(Adapter):
    """Stated as a user would: ``pos`` for soft rows; a predicted Q enters by its Cholesky factor, as the rules demand."""

    packages = ("cvxpylayers", "cvxpy", "diffcp", "clarabel")

    def __init__(self, job: Job, threads: int, ridge: float, **layer: Any) -> None:
        super().__init__(job, threads)
        p = job.problem
        x = cp.Variable(p.n)
        shapes = {"theta": p.n, "C": p.C.shape, "b": p.b.shape, "Q": (p.n, p.n)}
        parameters = {name: cp.Parameter(shapes[name]) for name in job.predicts}
        part = {name: parameters.get(name, p.stated(name)) for name in shapes}
        excess = part["C"] @ x - p.d
        cost = p.over @ cp.pos(excess) - part["theta"] @ x
        if p.two_sided:
            cost += p.under @ cp.pos(-excess)
        if "Q" in parameters:
            cost += cp.sum_squares(part["Q"] @ x)
        elif p.Q is not None:
            cost += cp.sum_squares(np.linalg.cholesky(p.Q).T @ x)
        elif ridge:
            cost += ridge * cp.sum_squares(x)
        rules = [x >= 0]
        if len(p.A):
            rules.append(p.A @ x <= part["b"])
        if len(p.B):
            rules.append(p.B @ x == p.c)
        self.names = tuple(parameters)
        self.layer = CvxpyLayer(cp.Problem(cp.Minimize(cost), rules), list(parameters.values()), [x], **layer)
        self.options: dict[str, Any] = {}

    def decide(self, predicted: Tensors, ids: np.ndarray) -> Tensor:
        given = dict(predicted)
        if "Q" in given:
            given["Q"] = torch.linalg.cholesky(given["Q"]).mT
        return self.layer(*(given[name] for name in self.names), **self.options)[0]


class Diffcp(Cvxpy):
    settings = "diffcp with Clarabel, least squares by LSQR (its default), the LP as it is"
    ridge = 0.0

    def __init__(self, job: Job, threads: int, **solver: Any) -> None:
        super().__init__(job, threads, self.ridge)
        jobs = {"n_jobs_forward": threads, "n_jobs_backward": threads}
        self.options = {"solver_args": {"solve_method": "Clarabel", **jobs, **solver}}


class DiffcpRidge(Diffcp):
    settings = f"the same with {RIDGE}‖x‖² added where there is no Q"
    ridge = RIDGE


class DiffcpLpgd(Diffcp):
    """Lagrangian proximal gradients, diffcp's answer to LPs: one more solve at a perturbed objective instead of a derivative."""

    settings = f"the same without a ridge, derivative mode lpgd_left, τ = {TAU}"

    def __init__(self, job: Job, threads: int) -> None:
        # The loss is a mean over the batch: τ is meant for one sample's.
        kwargs = {"tau": TAU * job.batch, "rho": 0.0}
        super().__init__(job, threads, mode="lpgd_left", derivative_kwargs=kwargs)


class ThroughMoreau(Cvxpy):
    packages = ("cvxpylayers", "cvxpy", "moreau")
    settings = "Moreau inside cvxpylayers, interior point with smoothed gradients"

    def __init__(self, job: Job, threads: int) -> None:
        probe()
        options = {"solver": "ipm", "ipm_settings": {"diff_method": "smoothed"}}
        super().__init__(job, threads, 0.0, solver="MOREAU", solver_args=options)


def probe() -> None:
    """``min x² + x`` over ``x ≥ 0`` is at 0; if the bound gets lost it is at −½."""
    x, slope = cp.Variable(1), cp.Parameter(1)
    layer = CvxpyLayer(cp.Problem(cp.Minimize(cp.sum_squares(x) + slope @ x), [x >= 0]), [slope], [x], solver="MOREAU")
    if (found := float(layer(torch.ones(1, 1))[0])) < -0.1:
        raise CannotError(
            f"bounds get lost on the way: min x² + x over x ≥ 0 is found at x = {found:.2g}; measured directly instead"
        )
