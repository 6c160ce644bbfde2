"""HiGHS hot-started in a loop, with SPO+ by hand: what a careful engineer writes without a library for it."""

from __future__ import annotations

import multiprocessing as mp
from contextlib import suppress
from multiprocessing.connection import Connection
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
    hard, inf = np.concatenate([problem.A, problem.B]), highspy.kHighsInf
    rows = np.block([[hard, np.zeros((len(hard), soft))], [problem.C, -np.eye(soft)]])
    lp.num_col_, lp.num_row_ = n + soft, len(rows)
    lp.col_cost_ = np.concatenate([np.zeros(n), problem.over])
    upper = np.full(n, inf) if problem.upper is None else problem.upper
    lp.col_lower_, lp.col_upper_ = np.zeros(n + soft), np.concatenate([upper, np.full(soft, inf)])
    lp.row_lower_ = np.concatenate([np.full(len(problem.A), -inf), problem.c, np.full(soft, -inf)])
    lp.row_upper_ = np.concatenate([problem.b, problem.c, problem.d])
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
    """A solver, with the last basis and the true optimum of each sample it has seen."""

    def __init__(self, problem: Problem) -> None:
        self.solver, self.n = model(problem), problem.n
        self.columns = np.arange(self.n, dtype=np.int32)
        self.bases: dict[int, Any] = {}
        self.best: dict[int, tuple[Array, float]] = {}

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

    def batch(self, keys: np.ndarray, theta: Array, truth: Array) -> tuple[Array, Array, Array, Array]:
        """Optima and values at 2θ̂ − θ, then at θ; the latter are solved at a sample's first visit."""
        rows = []
        for key, predicted, true in zip(keys.tolist(), theta, truth):
            if key not in self.best:
                self.best[key] = self.solve(true, key)
            rows.append((*self.solve(2.0 * predicted - true, key), *self.best[key]))
        x, value, x_best, value_best = (np.array(column) for column in zip(*rows))
        return x, value, x_best, value_best


def serve(problem: Problem, connection: Connection) -> None:
    """A worker in a process of its own."""
    worker = Worker(problem)
    # The end of the other side is the end of this one.
    with suppress(EOFError):
        while True:
            connection.send(worker.batch(*connection.recv()))


class SpoPlus(torch.autograd.Function):
    """``v(2θ̂ − θ) − 2θ̂ᵀx* + θᵀx* + soft(x*)``, v the optimal value; its subgradient is ``2(x(2θ̂ − θ) − x*)``."""

    @staticmethod
    def forward(
        ctx: Any, theta: Tensor, true: Tensor, x: Tensor, value: Tensor, x_best: Tensor, value_best: Tensor
    ) -> Tensor:
        ctx.save_for_backward(x, x_best)
        # value_best = θᵀx* − soft(x*)
        return (value - value_best + 2.0 * ((true - theta) * x_best).sum(-1)).mean()

    @staticmethod
    def backward(ctx: Any, *outputs: Tensor) -> Any:
        x, best = ctx.saved_tensors
        return outputs[0] * 2.0 * (x - best) / len(x), None, None, None, None, None


class Highs(Adapter):
    packages = ("highspy",)
    settings = "simplex, each sample started from its own last basis, SPO+ by hand; the first epoch solves the truths too; two threads are two processes"

    def __init__(self, job: Job, threads: int) -> None:
        super().__init__(job, threads)
        if job.problem.Q is not None or job.predicts != ("theta",):
            reason = (
                "SPO+ by hand is for a predicted θ in an LP: HiGHS gives no gradient and takes no hot start for a QP"
            )
            raise CannotError(reason)
        self.worker, self.helpers = Worker(job.problem), []
        # Processes, not threads: then the interpreter's lock plays no part.
        spawn = mp.get_context("spawn")
        for _ in range(threads - 1):
            here, there = spawn.Pipe()
            spawn.Process(target=serve, args=(job.problem, there), daemon=True).start()
            self.helpers.append(here)

    def lose(self, predicted: Tensors, true: Tensors, ids: np.ndarray) -> Tensor:
        theta, truth = predicted["theta"].detach().numpy(), true["theta"].numpy()
        # A sample always has the same worker, and so its basis.
        shares = [np.flatnonzero(ids % self.threads == which) for which in range(self.threads)]
        busy = [(helper, share) for helper, share in zip(self.helpers, shares[1:]) if len(share)]
        for helper, share in busy:
            helper.send((ids[share], theta[share], truth[share]))
        answers = [self.worker.batch(ids[own], theta[own], truth[own])] if len(own := shares[0]) else []
        answers += [helper.recv() for helper, _ in busy]
        order = np.argsort(np.concatenate([share for share in shares if len(share)]))
        found = (torch.as_tensor(np.concatenate(parts)[order]) for parts in zip(*answers))
        return SpoPlus.apply(predicted["theta"], true["theta"], *found)
