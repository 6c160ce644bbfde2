"""Decisions at risk against the same problem in CVXPY, and by formula."""

from __future__ import annotations

import numpy as np
import pytest

import regretless as rl

cp = pytest.importorskip("cvxpy")


def cvar(costs: np.ndarray, weights: np.ndarray, level: float) -> float:
    """t + E(cost − t)⁺/(1 − τ), least at one of the costs."""
    return float(min(t + weights @ np.maximum(costs - t, 0) / (1 - level) for t in costs))


@pytest.mark.parametrize("risk", [0.9, {"cvar": 0.75, "weight": 0.4}])
def test_a_portfolio_is_that_of_cvxpy(risk: float | dict[str, float]) -> None:
    rng = np.random.default_rng(0)
    n, count, rows = 6, 60, 4
    factor = rng.normal(size=(n, 3))
    q = 0.05 * factor @ factor.T
    shop = rl.Problem(n, Q=q, B=np.ones((1, n)), c=[1.0], upper=0.6)
    samples = 0.05 + 0.3 * rng.standard_t(3, size=(rows, count, n))
    weights = rng.random(count)
    found = rl.decide(shop, samples=samples, weights=weights, predict="theta", risk=risk)
    level, share = (risk, 1.0) if isinstance(risk, float) else (risk["cvar"], risk["weight"])
    p = weights / weights.sum()
    for row in range(rows):
        x, t = cp.Variable(n), cp.Variable()
        loss = -samples[row] @ x
        tail = t + p @ cp.pos(loss - t) / (1 - level)
        cost = cp.quad_form(x, q) + (1 - share) * (p @ loss) + share * tail
        wanted = cp.Problem(cp.Minimize(cost), [cp.sum(x) == 1, x >= 0, x <= 0.6])
        wanted.solve(solver="CLARABEL")
        own = -samples[row] @ found.x[row]
        mixed = (1 - share) * (p @ own) + share * cvar(own, p, level) + found.x[row] @ q @ found.x[row]
        assert abs(mixed - wanted.value) < 1e-6
        assert found.objective_at_risk is not None
        assert abs(-found.objective_at_risk[row] - wanted.value) < 1e-6
        np.testing.assert_allclose(found.x[row], x.value, atol=1e-3)


def test_orders_of_two_shops_are_those_of_cvxpy() -> None:
    rng = np.random.default_rng(1)
    count = 40
    bakery = rl.Problem(
        2, theta=[0.5, 0.4], sense="min", A=[[1.0, 1.0]], b=45.0,
        soft=rl.Soft(np.eye(2), [0.0, 0.0], weight=1.0, under=3.0),
    )  # fmt: skip
    samples = rng.normal([20.0, 25.0], [2.0, 8.0], (3, count, 2))
    found = rl.decide(bakery, samples=samples, predict="d", risk=0.8)
    for row in range(3):
        x, t = cp.Variable(2), cp.Variable()
        z = cp.vstack([x - samples[row, s] for s in range(count)])
        cost = cp.sum(cp.pos(z) + 3 * cp.pos(-z), axis=1)
        tail = t + cp.sum(cp.pos(cost - t)) / count / 0.2
        wanted = cp.Problem(cp.Minimize(np.array([0.5, 0.4]) @ x + tail), [x >= 0, cp.sum(x) <= 45])
        wanted.solve(solver="CLARABEL")
        assert found.objective_at_risk is not None and found.threshold is not None
        assert abs(found.objective_at_risk[row] - wanted.value) < 1e-6
        z = found.x[row] - samples[row]
        own = found.x[row] @ [0.5, 0.4] + (np.maximum(z, 0) + 3 * np.maximum(-z, 0)).sum(axis=1)
        assert abs(cvar(own, np.full(count, 1 / count), 0.8) - wanted.value) < 1e-6
        # The threshold is exceeded by at most a fifth of the scenarios, and reached by more.
        assert (own > found.threshold[row] + 1e-9).mean() <= 0.2 < (own >= found.threshold[row] - 1e-9).mean() + 1e-9
    truths = rng.normal([20.0, 25.0], [2.0, 8.0], (3, 2))
    judged = rl.regret(bakery, rl.Forecast(samples), truths, predict="d", risk=0.8)
    assert judged.score is not None and judged.threshold is not None
    pair = judged.threshold + np.maximum(judged.objective - judged.threshold, 0) / 0.2
    np.testing.assert_allclose(judged.score, pair, rtol=1e-9)


def test_a_regressor_decides_at_risk() -> None:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(300, 1))
    demand = 20 + 2 * X + rng.normal(0, 3, (300, 1))
    stock = rl.Problem(1, theta=[0.0], sense="min", soft=rl.Soft([[1.0]], 0.0, weight=1.0, under=3.0))
    kinds = {
        risk: rl.DecisionRegressor(stock, "l2+scenarios", predicts="d", predictor="linear", risk=risk)
        for risk in (None, 0.9)
    }
    mean, hedged = (model.fit(X, demand).decide(X[:20]) for model in kinds.values())
    assert (np.asarray(hedged) > np.asarray(mean)).all()


def test_what_makes_no_sense_is_refused() -> None:
    stock = rl.Problem(1, theta=[0.0], soft=rl.Soft([[1.0]], 0.0, weight=6.0))
    samples = [[8.0, 9.0, 10.0]]
    with pytest.raises(rl.LossError, match="level of CVaR is 90"):
        rl.decide(stock, samples=samples, predict="d", risk=90)
    with pytest.raises(rl.LossError, match=r"a level such as 0\.9"):
        rl.decide(stock, samples=samples, predict="d", risk={"var": 0.9})
    with pytest.raises(rl.LossError, match="a point has no risk"):
        rl.regret(stock, [[8.0]], [[9.0]], predict="d", risk=0.9)
    curved = rl.Problem(2, theta=[1.0, 1.0], Q=np.eye(2), upper=1.0)
    with pytest.raises(rl.LossError, match="Q is predicted"):
        rl.decide(curved, samples=np.stack([[np.eye(2), 2 * np.eye(2)]]), predict="Q", risk=0.9)
    with pytest.raises(rl.TrainingError, match="no risk"):
        rl.DecisionRegressor(stock, "l2", predicts="d", risk=0.9).fit(np.zeros((30, 1)), np.ones((30, 1)))
