"""Exact optima against HiGHS, SciPy and Clarabel."""

from __future__ import annotations

import clarabel
import highspy
import numpy as np
import pytest
import scipy.optimize
import scipy.sparse as sp
from conftest import draw

import regretless as rl


def parts(p: rl.Problem) -> dict[str, np.ndarray]:
    shapes = p.shapes
    empty = {"C": (0, p.n), "d": (0,), "alpha": (0,), "under": (0,), "A": (0, p.n), "b": (0,), "B": (0, p.n), "c": (0,)}
    return {s: p.stated(s) if s in shapes else np.zeros(empty[s]) for s in [*empty, "theta", "Q", "lower", "upper"]}


def as_lp(p: rl.Problem):
    """min cost over (x, over, under) ≥ …: soft rows as Cx − over + under = d."""
    v = parts(p)
    m, sign = len(v["d"]), -1.0 if p.sense == "max" else 1.0
    cost = np.concatenate([sign * v["theta"], v["alpha"], v["under"]])
    upper = np.hstack([v["A"], np.zeros((len(v["b"]), 2 * m))])
    equal = np.vstack([np.hstack([v["C"], -np.eye(m), np.eye(m)]), np.hstack([v["B"], np.zeros((len(v["c"]), 2 * m))])])
    low = np.concatenate([v["lower"], np.zeros(2 * m)])
    high = np.concatenate([v["upper"], np.full(2 * m, np.inf)])
    return cost, upper, v["b"], equal, np.concatenate([v["d"], v["c"]]), low, high, sign


def highs(p: rl.Problem) -> float:
    cost, A, b, B, c, low, high, sign = as_lp(p)
    model = highspy.Highs()
    model.silent()
    for l, h, k in zip(low, high, cost):
        model.addCol(k, l, h, 0, [], [])
    for row, bound in zip(A, b):
        model.addRow(-highspy.kHighsInf, bound, len(row), np.arange(len(row), dtype=np.int32), row)
    for row, bound in zip(B, c):
        model.addRow(bound, bound, len(row), np.arange(len(row), dtype=np.int32), row)
    model.run()
    assert model.getModelStatus() == highspy.HighsModelStatus.kOptimal
    return sign * model.getObjectiveValue()


def clarabel_value(p: rl.Problem) -> float:
    cost, A, b, B, c, low, high, sign = as_lp(p)
    N, m = len(cost), len(cost) - p.n
    P = np.zeros((N, N))
    P[: p.n, : p.n] = 2 * parts(p)["Q"]
    finite_low, finite_high = np.isfinite(low), np.isfinite(high)
    eye = np.eye(N)
    G = np.vstack([B, A, -eye[finite_low], eye[finite_high]])
    h = np.concatenate([c, b, -low[finite_low], high[finite_high]])
    cones = [clarabel.ZeroConeT(len(c)), clarabel.NonnegativeConeT(len(h) - len(c))]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    solution = clarabel.DefaultSolver(sp.csc_matrix(np.triu(P)), cost, sp.csc_matrix(G), h, cones, settings).solve()
    assert str(solution.status) in ("Solved", "AlmostSolved"), m
    return sign * solution.obj_val


@pytest.mark.parametrize("seed", range(12))
def test_lps_agree_with_highs_and_scipy(seed: int) -> None:
    rng = np.random.default_rng(seed)
    p = draw(
        rng,
        int(rng.integers(1, 12)),
        quadratic=False,
        soft=int(rng.integers(0, 5)),
        hard=int(rng.integers(0, 5)),
        equal=int(rng.integers(0, 2)),
    )
    ours = p.solve()
    assert ours.status == "optimal" and p.violation(ours.x) < 1e-8
    assert ours.objective == pytest.approx(highs(p), abs=1e-7)
    cost, A, b, B, c, low, high, sign = as_lp(p)
    other = scipy.optimize.linprog(
        cost,
        A if len(b) else None,
        b if len(b) else None,
        B if len(c) else None,
        c if len(c) else None,
        np.column_stack([low, high]),
    )
    assert ours.objective == pytest.approx(sign * other.fun, abs=1e-7)
    assert p.objective(ours.x) == pytest.approx(ours.objective, abs=1e-9)


@pytest.mark.parametrize("seed", range(12))
def test_qps_agree_with_clarabel(seed: int) -> None:
    rng = np.random.default_rng(100 + seed)
    p = draw(
        rng,
        int(rng.integers(1, 10)),
        quadratic=True,
        soft=int(rng.integers(0, 5)),
        hard=int(rng.integers(0, 5)),
        equal=int(rng.integers(0, 2)),
    )
    ours = p.solve()
    assert ours.status == "optimal" and p.violation(ours.x) < 1e-7
    assert ours.objective == pytest.approx(clarabel_value(p), abs=1e-6)


def test_degenerate_problems() -> None:
    # Every vertex is optimal, rows are repeated, and many meet in one point.
    p = rl.Problem(3, np.zeros(3), A=[[1.0, 1, 1]] * 4 + [[1.0, 0, 0]], b=[1.0] * 5, upper=1.0)
    assert p.solve().objective == 0.0
    p = rl.Problem(3, [1.0, 1, 1], A=[[1.0, 1, 1]] * 4 + [[1.0, 0, 0], [1, 1, 0], [1, 0, 1]], b=1.0)
    assert p.solve().objective == pytest.approx(highs(p))
    # An assignment with equal costs.
    k = 4
    rows = np.array(
        [[1.0 if i == j // k else 0 for j in range(k * k)] for i in range(k)]
        + [[1.0 if i == j % k else 0 for j in range(k * k)] for i in range(k)]
    )
    p = rl.Problem(k * k, np.ones(k * k), B=rows, c=np.ones(2 * k), sense="min")
    assert p.solve().objective == pytest.approx(k)


def test_multipliers_are_the_derivative_of_the_value(rng: np.random.Generator) -> None:
    p = draw(rng, 6, quadratic=True)
    optimum, step = p.solve(), 1e-5
    sign = 1.0 if p.sense == "max" else -1.0
    for i, b in enumerate(p.stated("b")):
        up, down = (p.solve(b=p.stated("b") + s * np.eye(3)[i]).objective for s in (step, -step))
        assert sign * (up - down) / (2 * step) == pytest.approx(optimum.multipliers.at_most[i], abs=1e-4), b


def test_hard_problems_are_a_status(farm: rl.Problem) -> None:
    assert farm.solve([1.0, 1.0], b=-1.0).status == "infeasible"
    free = rl.Problem(2, lower=None)
    assert free.solve([1.0, 1.0]).status == "unbounded" and free.solve([1.0, 1.0]).objective == np.inf


def test_members_of_a_batch_do_not_notice_each_other(farm: rl.Problem) -> None:
    theta = np.array([[3.0, 2.0], [np.nan, 1.0], [1.0, 2.0]])
    b = np.array([[8.0], [8.0], [-1.0]])
    out = farm.solve(theta, b=b)
    assert list(out.status) == ["optimal", "refused", "infeasible"]
    assert out.x[0].tolist() == [8.0, 0.0] and np.isnan(out.x[1]).all()
    assert "NaN" in out.why[1][0] and "at_most" in out.why[2]
    with pytest.raises(rl.ProblemError, match="finite"):
        farm.solve([np.nan, 1.0])


def test_regret_of_decisions_made_elsewhere(rng: np.random.Generator) -> None:
    p = draw(rng, 4, quadratic=True, equal=1)
    truths = rng.normal(size=(20, 4))
    best = p.solve(truths)
    judged = rl.regret(p, truths=truths, decisions=best.x, predict="theta")
    assert np.allclose(judged.regret, 0.0, atol=1e-6) and judged.undecided == 0
    # The same decisions, whoever took them.
    guesses = rng.normal(size=(20, 4))
    ours = rl.regret(p, guesses, truths, predict="theta")
    theirs = rl.regret(p, truths=truths, decisions=ours.x, predict="theta")
    assert np.allclose(ours.regret, theirs.regret, atol=1e-6) and np.allclose(ours.objective, theirs.objective)
    # What breaks a hard row does not pay, even where it looks like it.
    away = best.x + rng.normal(size=(20, 4))
    judged = rl.regret(p, truths=truths, decisions=away, predict="theta")
    broken = judged.violation > 1e-6
    assert broken.any() and (judged.regret >= -1e-9).all()
    assert np.allclose(judged.violation, p.violation(away, truths))
    missing = best.x.copy()
    missing[3] = np.nan
    with pytest.warns(rl.RegretlessWarning, match="there is no decision"):
        judged = rl.regret(p, truths=truths, decisions=missing, predict="theta")
    assert judged.undecided == 1 and np.isnan(judged.regret[3]) and len(judged.decided.regret) == 19
    for given, says in [({"decisions": missing[:, :2]}, "shape"), ({}, "either predictions or decisions")]:
        with pytest.raises(rl.LossError, match=says):
            rl.regret(p, truths=truths, predict="theta", **given)
