"""regretless itself."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from torch import Tensor

import regretless as rl
import regretless.torch

from ..problem import Job, Problem
from .base import Adapter, CannotError, Tensors

#: True instances that the penalties of hard rows are chosen from.
PROBES = 256


def stated(problem: Problem, predicts: tuple[str, ...]) -> rl.Problem:
    """The problem as regretless states it; what is missing is left out, and θ if it is predicted."""
    soft = [rl.Soft(problem.C, problem.d, weight=problem.over, under=problem.under)] if len(problem.d) else []
    hard = {k: v for k, v in (("A", problem.A), ("b", problem.b)) if len(problem.A)}
    equal = {k: v for k, v in (("B", problem.B), ("c", problem.c)) if len(problem.B)}
    Q = problem.stated("Q") if "Q" in predicts or problem.Q is not None else None
    theta = None if "theta" in predicts else problem.stated("theta")
    return rl.Problem(problem.n, theta, Q=Q, soft=soft, upper=problem.upper, **hard, **equal)


class Layer(Adapter):
    packages = ("regretless",)
    settings = "DecisionLayer, ids given, penalties from the true parameters; K = 5 and smoothing = 0.3 (LP), or K = 100 (others)"

    def __init__(self, job: Job, threads: int) -> None:
        super().__init__(job, threads)
        known = job.truths(np.arange(min(job.rows, PROBES)))
        examples = {name: known[name] for name in job.predicts}
        problem = stated(job.problem, job.predicts)
        surrogate = rl.Surrogate(problem, job.sharpness, smoothing=job.smoothing, examples=examples)
        self.layer = rl.torch.DecisionLayer(surrogate, threads=threads)

    def decide(self, predicted: Tensors, ids: np.ndarray) -> Tensor:
        return self.layer(**predicted, ids=ids)

    def statuses(self) -> list[str] | None:
        return list(self.layer.solution.status) if self.layer.solution else None


class ExactLayer(Layer):
    settings = "the same without smoothing"

    def __init__(self, job: Job, threads: int) -> None:
        if not job.smoothing:
            raise CannotError("the layer above has the same gradients here")
        super().__init__(replace(job, smoothing=0.0), threads)


class Loss(Adapter):
    packages = ("regretless",)
    settings = "DecisionLoss `spo+`, ids given; the first epoch solves the truths too"

    def __init__(self, job: Job, threads: int) -> None:
        super().__init__(job, threads)
        if job.predicts != ("theta",):
            raise CannotError("SPO+ is for a predicted θ")
        self.loss = rl.torch.DecisionLoss(stated(job.problem, job.predicts), "spo+", threads=threads)

    def lose(self, predicted: Tensors, true: Tensors, ids: np.ndarray) -> Tensor:
        return self.loss(predicted["theta"], true["theta"], ids=ids)
