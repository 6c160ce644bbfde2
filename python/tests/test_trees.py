"""Boosted trees against scikit-learn's, on losses that both have."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import regretless as rl

pytest.importorskip("sklearn")
from sklearn.datasets import make_friedman1
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import RidgeCV

SEEDS = range(5)
SAME = {"depth": 64, "leaves": 15, "min_rows": 20, "rows": 1.0, "l2": 0.0}


def forecast() -> rl.Problem:
    """max θx − ½x², whose regret is half the squared error of θ."""
    return rl.Problem(1, Q=[[1.0]], lower=None)


def errors(method: str, loss: str, error) -> tuple[np.ndarray, np.ndarray]:
    """Errors on new rows of ours and of scikit-learn's trees, draw by draw."""
    ours, theirs = [], []
    for seed in SEEDS:
        X, y = make_friedman1(2000, noise=1.0, random_state=seed)
        y = y - 14.0
        new, truth = make_friedman1(2000, noise=1.0, random_state=100 + seed)
        truth = truth - 14.0
        # The last fifth chooses among rounds; scikit-learn takes the last round, and the same rows before it.
        model = rl.DecisionRegressor(
            forecast(),
            method,
            predictor="trees",
            trees=SAME,
            epochs=100,
            patience=100,
            shuffle=False,
        ).fit(X, y[:, None])
        other = HistGradientBoostingRegressor(
            loss=loss, max_iter=100, max_leaf_nodes=15, min_samples_leaf=20, early_stopping=False
        ).fit(X[:1600], y[:1600])
        ours.append(error(model.predict(new)[:, 0] - truth))
        theirs.append(error(other.predict(new) - truth))
    return np.array(ours), np.array(theirs)


def test_least_squares() -> None:
    ours, theirs = errors("l2", "squared_error", lambda e: np.mean(e**2))
    # Both fit 25 units of variance down to the noise of 1; which is ahead differs from draw to draw.
    assert abs(np.mean(ours / theirs) - 1.0) < 0.03, (ours, theirs)


def test_least_absolute_errors() -> None:
    ours, theirs = errors("l1", "absolute_error", lambda e: np.mean(np.abs(e)))
    assert np.mean(ours / theirs) < 1.05, (ours, theirs)


def test_pickled_trees_predict_the_same() -> None:
    X, y = make_friedman1(200, random_state=0)
    model = rl.DecisionRegressor(forecast(), "spo+", predictor="trees", trees={"min_rows": 5}, epochs=5).fit(
        X, y[:, None] - 14.0
    )
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert np.std(model.predict(X)) > 0.0


def test_settings_of_trees_are_for_trees() -> None:
    X, y = make_friedman1(60, random_state=0)
    with pytest.raises(rl.RegretlessError, match="trees"):
        rl.DecisionRegressor(forecast(), trees={"depth": 3}).fit(X, y[:, None])


def test_importance_and_directions() -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(400, 3))
    y = (2 * X[:, 1] + 0.3 * np.sin(3 * X[:, 2]) + rng.normal(size=400)) - 1.0
    model = rl.DecisionRegressor(
        forecast(),
        "l2",
        predictor="trees",
        trees={"monotone": {"x1": "increasing"}, "min_rows": 5, "base": "constant"},
        epochs=60,
    ).fit(X, y)
    assert model.feature_importances_.argmax() == 1
    assert abs(model.feature_importances_.sum() - 1.0) < 1e-9
    line = np.zeros((200, 3))
    line[:, 1] = np.linspace(-1, 1, 200)
    assert np.all(np.diff(model.predict(line)) >= -1e-6)
    # What the column is worth to decisions, with scikit-learn's own tool.
    from sklearn.inspection import permutation_importance

    worth = permutation_importance(model, X, y, n_repeats=2, random_state=0)
    assert worth.importances_mean.argmax() == 1
    # And our own, which says the same of the same rows but for the shuffles.
    told = model.evaluate(X, y, importance=True).account["importance"]
    ours = {feature["name"]: feature for feature in told["features"]}
    assert (told["rows"], told["features"][0]["name"]) == (400, "x1")
    for j, mean in enumerate(worth.importances_mean):
        feature = ours[f"x{j}"]
        assert abs(feature["regret"] - mean) < 4 * feature["standard_error"] + 1e-9
    assert "importance" not in model.evaluate(X, y).account
    linear = rl.DecisionRegressor(forecast(), "l2", predictor="linear").fit(X, y)
    with pytest.raises(AttributeError, match="trees"):
        _ = linear.feature_importances_


def test_scales_and_warm_starts() -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 2))
    y = np.exp(1.0 + X @ [0.8, -0.5] + 0.3 * rng.normal(size=300))
    # Least squares of log y by hand, with the mean of exp(ε) on the way back.
    model = rl.DecisionRegressor(forecast(), "l2", predictor="linear", target_transform="log", shuffle=False).fit(X, y)
    A = np.column_stack([np.ones(240), X[:240]])
    w, *_ = np.linalg.lstsq(A, np.log(y[:240]), rcond=None)
    errors = np.log(y[:240]) - A @ w
    wanted = np.exp(np.column_stack([np.ones(60), X[240:]]) @ w) * np.exp(errors).mean()
    np.testing.assert_allclose(model.predict(X[240:]), wanted, rtol=5e-3)
    with pytest.raises(rl.RegretlessError, match="above 0"):
        rl.DecisionRegressor(forecast(), "l2", predictor="linear", target_transform="log").fit(X, y - 2.0)
    tuned = rl.DecisionRegressor(forecast(), "spo+", predictor="trees", warmup="auto", epochs=20).fit(X, y)
    assert any("l2 first" in epoch["stage"] for epoch in tuned.history_)


def test_networks_and_trees_stand_on_a_line() -> None:
    rng = np.random.default_rng(8)
    X = rng.normal(size=(300, 3))
    y = 20.0 + X @ [4.0, -2.0, 1.0] + rng.normal(size=300)
    ridge = RidgeCV(alphas=np.logspace(-6, 3, 19)).fit(X[:240], y[:240])
    far = 50.0 * X[:5]
    for predictor in ("trees", "mlp"):
        # No step that is worth taking: the line is what is left, and beyond the rows it goes on.
        model = rl.DecisionRegressor(
            forecast(), "l2", predictor=predictor, base="linear", target_transform="none", epochs=1, learning_rate=1e-9,
            shuffle=False,
        ).fit(X, y[:, None])  # fmt: skip
        assert np.allclose(model.predict(far).ravel(), ridge.predict(far), rtol=1e-2), predictor
