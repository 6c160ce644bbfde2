"""Two-stage predictors that are linear, against scikit-learn on the same rows."""

from __future__ import annotations

import numpy as np
import pytest

import regretless as rl

pytest.importorskip("sklearn")
from sklearn.linear_model import QuantileRegressor, RidgeCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler


def fitted(plan: rl.Problem, method: str, X: np.ndarray, y: np.ndarray) -> tuple[rl.DecisionRegressor, np.ndarray]:
    """A model and the rows it was trained on: all but the last fifth."""
    model = rl.DecisionRegressor(plan, method, predictor="linear", shuffle=False, epochs=3).fit(X, y)
    rows = np.arange(len(X) - round(0.2 * len(X)))
    return model, rows


def ridge(X: np.ndarray, y: np.ndarray) -> RidgeCV:
    alphas = len(X) * np.logspace(-6, 3, 19)
    return make_pipeline(StandardScaler(), RidgeCV(alphas, alpha_per_target=True)).fit(X, y)


@pytest.mark.parametrize(("rows", "features"), [(200, 3), (60, 30), (40, 60)])
@pytest.mark.parametrize("noise", [0.1, 3.0])
def test_l2_is_ridge_regression(rng: np.random.Generator, rows: int, features: int, noise: float) -> None:
    plan = rl.Problem(4, A=[[1.0, 2.0, 1.0, 3.0]], b=10.0, upper=4.0)
    X = 10.0 + rng.normal(size=(rows, features)) @ np.diag(np.logspace(-2, 2, features))
    y = (X / X.std(0))[:, :3] @ rng.normal(size=(3, 4)) - 5.0 + noise * rng.normal(size=(rows, 4))
    model, train = fitted(plan, "l2", X, y)
    theirs = ridge(X[train], y[train])
    assert np.allclose(model.predict(X), theirs.predict(X), rtol=1e-4, atol=1e-4 * y.std())


def test_l2_takes_constant_and_repeated_features(rng: np.random.Generator) -> None:
    plan = rl.Problem(2, A=[[1.0, 1.0]], b=3.0, upper=2.0)
    X = rng.normal(size=(100, 2))
    X = np.hstack([X, X[:, :1] * 5.0 - 1.0, np.full((100, 1), 7.0)])
    y = X[:, :2] + 0.1 * rng.normal(size=(100, 2))
    model, train = fitted(plan, "l2", X, y)
    assert np.allclose(model.predict(X), ridge(X[train], y[train]).predict(X), atol=1e-4)


@pytest.mark.parametrize("method", ["l1", "weighted-l1"])
def test_l1_is_quantile_regression(rng: np.random.Generator, method: str) -> None:
    plan = rl.Problem(3, A=[[1.0, 2.0, 1.0]], b=4.0, upper=2.0)
    X = rng.normal(size=(300, 6))
    y = X @ rng.normal(size=(6, 3)) + rng.standard_t(2, size=(300, 3))
    model, train = fitted(plan, method, X, y)
    ours = np.abs(model.predict(X) - y)[train].mean(0)
    for k in range(3):
        theirs = QuantileRegressor(quantile=0.5, alpha=0.0).fit(X[train], y[train, k])
        best = np.abs(theirs.predict(X[train]) - y[train, k]).mean()
        assert ours[k] == pytest.approx(best, rel=1e-4)


def paths() -> rl.Problem:
    """The shortest path through a 5 × 5 grid, from one corner to the other."""
    edges = [((i, j), (i, j + 1)) for i in range(5) for j in range(4)]
    edges += [((i, j), (i + 1, j)) for i in range(4) for j in range(5)]
    flow = np.zeros((25, len(edges)))
    for e, (a, b) in enumerate(edges):
        flow[5 * a[0] + a[1], e], flow[5 * b[0] + b[1], e] = -1.0, 1.0
    ends = np.zeros(25)
    ends[0], ends[-1] = -1.0, 1.0
    return rl.Problem(len(edges), B=flow, c=ends, upper=1.0, sense="min")


def test_skewed_costs_are_predicted_on_their_logarithm(rng: np.random.Generator) -> None:
    # Elmachtoub & Grigas' generator at degree 8: least squares of the costs has a regret above 20 % of the optimum.
    binary = rng.integers(0, 2, size=(40, 5)).astype(float)
    X = rng.normal(size=(700, 5))
    y = ((X @ binary.T / np.sqrt(5) + 3) ** 8 + 1) * rng.uniform(0.5, 1.5, size=(700, 40))
    plan = paths()
    model = rl.DecisionRegressor(plan, "l2", predictor="linear", shuffle=False).fit(X[:200], y[:200])
    plain = ridge(X[:160], y[:160]).predict(X[200:])
    optimum = plan.solve(y[200:]).objective.mean()
    ours, theirs = -model.score(X[200:], y[200:]) / optimum, rl.regret(plan, plain, y[200:]).mean / optimum
    assert theirs > 0.15
    assert ours < 0.09
