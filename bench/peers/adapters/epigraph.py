"""The problem as the solvers want it: soft rows through epigraph variables.

``min ½zᵀPz + qᵀz`` over ``Gz ≤ h``, ``Ez = e`` with ``z = (x, s)``: s is at least ``Cx − d`` and at least ``−(under/over)(Cx − d)`` (0 for
rows that cost nothing below their limit) and costs ``over`` a unit. So a two-sided soft row needs one variable, not two.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from ..problem import Job, Problem
from .base import Tensors

#: The ridge that gives an LP a gradient, that of the paper's decision-focused baseline.
RIDGE = 0.1


def ridges(job: Job, least: float = 0.0) -> tuple[float, float]:
    """Ridges on x and on s: none on a problem with a Q, at least ``least`` for solvers that need it."""
    quadratic = job.problem.Q is not None or "Q" in job.predicts
    x, s = (0.0, 0.0) if quadratic else (RIDGE, RIDGE / 100)
    return max(x, least), max(s, least)


@dataclass
class Form:
    """The matrices of a batch; what no prediction enters has no batch axis."""

    P: Tensor
    q: Tensor
    G: Tensor
    h: Tensor
    E: Tensor
    e: Tensor


class Epigraph:
    """Puts predictions where they belong. ``ridge`` adds ``ridge·‖x‖²`` to the cost, ``slack_ridge`` the same of s."""

    def __init__(self, problem: Problem, ridge: float = 0.0, slack_ridge: float = 0.0, bounds: bool = True) -> None:
        self.problem, self.bounds = problem, bounds
        self.n, self.soft = problem.n, len(problem.d)
        self.size = self.n + self.soft
        names = ("theta", "Q", "C", "d", "over", "A", "b", "B", "c")
        self.stated = {name: torch.as_tensor(problem.stated(name)) for name in names}
        over = self.stated["over"]
        if not bool((over > 0).all()):
            raise ValueError("a soft row without a price above its limit has no epigraph variable here")
        self.share = torch.as_tensor(problem.under) / over
        self.ridges = 2.0 * torch.cat([torch.full((self.n,), ridge), torch.full((self.soft,), slack_ridge)])
        self.fixed = self(dict.fromkeys(()))

    def __call__(self, predicted: Tensors) -> Form:
        p = {**self.stated, **predicted}
        if hasattr(self, "fixed") and set(predicted) == {"theta"}:
            return Form(self.fixed.P, self._linear(p), self.fixed.G, self.fixed.h, self.fixed.E, self.fixed.e)
        P = torch.diag(self.ridges) + _corner(2.0 * p["Q"], self.size)
        C, eye = p["C"], torch.eye(self.soft)
        below = _across(-self.share[:, None] * C, -eye)
        upper, lower = _across(C, -eye), _across(p["A"], torch.zeros(p["A"].shape[-2], self.soft))
        rows = [lower, upper, below]
        sides = [p["b"], p["d"], -self.share * p["d"]]
        if self.bounds:
            rows.append(_across(-torch.eye(self.n), torch.zeros(self.n, self.soft)))
            sides.append(torch.zeros(self.n))
        E = _across(p["B"], torch.zeros(p["B"].shape[-2], self.soft))
        return Form(P, self._linear(p), _stack(rows, 2), _stack(sides, 1), E, p["c"])

    def _linear(self, p: Tensors) -> Tensor:
        return _stack([-p["theta"], p["over"]], 1)


def _corner(Q: Tensor, size: int) -> Tensor:
    pad = size - Q.shape[-1]
    return torch.nn.functional.pad(Q, (0, pad, 0, pad))


def _across(left: Tensor, right: Tensor) -> Tensor:
    """Side by side, the right one repeated for a batch on the left."""
    return torch.cat([left, right.expand(*left.shape[:-2], *right.shape[-2:])], dim=-1)


def _stack(parts: list[Tensor], axes: int) -> Tensor:
    """Below one another along the first of the last ``axes`` axes; those without a batch axis are repeated where others have one."""
    batch = max((part.shape[: part.dim() - axes] for part in parts), key=len)
    return torch.cat([part.expand(*batch, *part.shape[-axes:]) for part in parts], dim=-axes)
