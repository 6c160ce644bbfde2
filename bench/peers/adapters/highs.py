"""HiGHS hot-started in a loop, with SPO+ by hand: what a careful engineer writes without a library for it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import highspy
import numpy as np
import torch
from torch import Tensor

from ..problem import Array, Job, Problem
from .base import Adapter, CannotError, Tensors


def model(problem: Problem) -> Any:
    """``min costᵀz`` with z = (x, s), s the excess over soft limits; simplex without presolve, so that a basis can be reused."""
    soft, n = len(problem.d), problem.n
    lp = highspy.HighsLp()
    rows = np.block([[problem.A, np.zeros((len(problem.A), soft))], [problem.C, -np.eye(soft)]])
    lp.num_col_, lp.num_row_ = n + soft, len(rows)
    lp.col_cost_ = np.concatenate([np.zeros(n), problem.over])
    lp.col_lower_, lp.col_upper_ = np.zeros(n + soft), np.full(n + soft, highspy.kHighsInf)
    lp.row_lower_, lp.row_upper_ = np.full(len(rows), -highspy.kHighsInf), np.concatenate([problem.b, problem.d])
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    at = [row.nonzero()[0] for row in rows]
    lp.a_matrix_.start_ = np.concatenate([[0], np.cumsum([len(a) for a in at])])
    lp.a_matrix_.index_ = np.concatenate(at)
    lp.a_matrix_.value_ = rows[rows != 0.0]
    solver = highspy.Highs()
    for option, value in (("output_flag", False), ("threads", 1), ("presolve", "off"), ("solver", "simplex")):
        solver.setOptionValue(option, value)
    solver.passModel(lp)
    return solver


class Worker:
    """A solver and the last basis of each sample it has seen."""

    def __init__(self, problem: Problem) -> None:
        self.solver, self.n = model(problem), problem.n
        self.columns = np.arange(self.n, dtype=np.int32)
        self.bases: dict[int, Any] = {}

    def solve(self, theta: Array, key: int) -> tuple[Array, float]:
        """The optimal x and value, started from the sample's own last basis, or else from that of the sample before."""
        if key in self.bases:
            self.solver.setBasis(self.bases[key])
        self.solver.changeColsCost(self.n, self.columns, -theta)
        self.solver.run()
        if self.solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            raise RuntimeError(f"HiGHS: {self.solver.modelStatusToString(self.solver.getModelStatus())}")
        self.bases[key] = self.solver.getBasis()
        x = np.array(self.solver.getSolution().col_value[: self.n])
        return x, -self.solver.getInfo().objective_function_value


class SpoPlus(torch.autograd.Function):
    """``v(2θ̂ − θ) − 2θ̂ᵀx* + θᵀx* + soft(x*)``, v the optimal value; its subgradient is ``2(x(2θ̂ − θ) − x*)``."""

    @staticmethod
    def forward(ctx: Any, theta: Tensor, true: Tensor, found: tuple[Array, Array], best: tuple[Array, Array]) -> Tensor:
        (x, value), (x_best, value_best) = ((torch.as_tensor(a), torch.as_tensor(v)) for a, v in (found, best))
        ctx.save_for_backward(x, x_best)
        # value_best = θᵀx* − soft(x*)
        return (value - value_best + 2.0 * ((true - theta) * x_best).sum(-1)).mean()

    @staticmethod
    def backward(ctx: Any, *outputs: Tensor) -> Any:
        x, best = ctx.saved_tensors
        return outputs[0] * 2.0 * (x - best) / len(x), None, None, None


class Highs(Adapter):
    packages = ("highspy",)
    settings = (
        "simplex, each sample started from its own last basis, SPO+ by hand; the first epoch solves the truths too"
    )

    def __init__(self, job: Job, threads: int) -> None:
        super().__init__(job, threads)
        if job.problem.Q is not None or job.predicts != ("theta",):
            raise CannotError(
                "SPO+ by hand is for a predicted θ in an LP: HiGHS gives no gradient and takes no hot start for a QP"
            )
        self.workers = [Worker(job.problem) for _ in range(threads)]
        self.pool = ThreadPoolExecutor(threads) if threads > 1 else None
        self.best: dict[int, tuple[Array, float]] = {}

    def lose(self, predicted: Tensors, true: Tensors, ids: np.ndarray) -> Tensor:
        theta, truth = predicted["theta"].detach().numpy(), true["theta"].numpy()
        found, best = ((np.empty_like(theta), np.empty(len(theta))) for _ in range(2))

        def some(which: int) -> None:
            worker = self.workers[which]
            # A sample always has the same worker, and so its basis.
            for row in np.flatnonzero(ids % self.threads == which):
                key = int(ids[row])
                if key not in self.best:
                    self.best[key] = worker.solve(truth[row], key)
                best[0][row], best[1][row] = self.best[key]
                found[0][row], found[1][row] = worker.solve(2.0 * theta[row] - truth[row], key)

        if self.pool is None:
            some(0)
        else:
            list(self.pool.map(some, range(self.threads)))
        return SpoPlus.apply(predicted["theta"], true["theta"], found, best)
