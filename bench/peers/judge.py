"""Regret of predictions, always by the same exact oracle; the oracle itself is checked against Clarabel."""

from __future__ import annotations

from typing import Any

import clarabel
import numpy as np
import scipy.sparse as sp

from .adapters.ours import stated
from .problem import Array, Job, Problem
from .work import JOBS

#: Instances on which the oracle is checked.
CHECKED = 20


def run(job: str, seed: int, rows: int | None, predictions: dict[str, str]) -> dict[str, Any]:
    """Mean regret of each file of predictions, of the training mean, and the mean optimum."""
    made = JOBS[job](seed=seed, **({} if rows is None else {"rows": rows}))
    ids = np.arange(len(made.test_features))
    truths = made.test_truths(ids)
    oracle = stated(made.problem, made.predicts)
    best = oracle.solve(**truths)
    assert (best.status == "optimal").all()

    def regret(predicted: dict[str, Array]) -> float:
        found = oracle.solve(**predicted)
        fine = found.status == "optimal"
        # A prediction that makes no problem is decided by nothing: x = 0 would be a gift, so it is not judged but counted.
        value = oracle.objective(found.x, **truths)
        return float(np.mean((best.objective - value)[fine])) if fine.any() else float("nan")

    train = made.truths(np.arange(min(made.rows, 500)))
    constant = {name: np.broadcast_to(value.mean(0), truths[name].shape) for name, value in train.items()}
    found = {name: regret(dict(np.load(path))) for name, path in predictions.items()}
    checked = [
        abs(best.objective[i] - reference(made, i, truths)) / (1.0 + abs(best.objective[i])) for i in ids[:CHECKED]
    ]
    return {
        "regret": found,
        "constant": regret({k: np.ascontiguousarray(v) for k, v in constant.items()}),
        "optimum": float(np.mean(best.objective)),
        "worst_difference_to_clarabel": float(max(checked)),
    }


def reference(job: Job, row: int, truths: dict[str, Array]) -> float:
    """The optimal value of one true instance by Clarabel."""
    p: Problem = job.problem
    own = {name: truths[name][row] if name in truths else p.stated(name) for name in ("theta", "Q", "C")}
    n, soft = p.n, len(p.d)
    P = sp.block_diag([2.0 * own["Q"], sp.csc_matrix((2 * soft, 2 * soft))], format="csc")
    q = np.concatenate([-own["theta"], p.over, p.under])
    # Cx − d = over − under, both at least 0; then Bx = c, Ax ≤ b, x ≤ upper, all at least 0.
    equal = sp.vstack([
        sp.hstack([sp.csc_matrix(own["C"]), -sp.eye(soft), sp.eye(soft)]),
        sp.hstack([sp.csc_matrix(p.B), sp.csc_matrix((len(p.B), 2 * soft))]),
    ])  # fmt: skip
    bounded, upper = (np.zeros((0, n)), np.zeros(0)) if p.upper is None else (np.eye(n), p.upper)
    rows = sp.csc_matrix(np.concatenate([p.A, bounded]))
    at_most = sp.vstack([sp.hstack([rows, sp.csc_matrix((rows.shape[0], 2 * soft))]), -sp.eye(n + 2 * soft)])
    sides = np.concatenate([p.d, p.c, p.b, upper, np.zeros(n + 2 * soft)])
    cones = [clarabel.ZeroConeT(equal.shape[0]), clarabel.NonnegativeConeT(at_most.shape[0])]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    A = sp.vstack([equal, at_most], format="csc")
    solution = clarabel.DefaultSolver(sp.triu(P, format="csc"), q, A, sides, cones, settings).solve()
    assert str(solution.status) == "Solved", solution.status
    return -float(solution.obj_val)
