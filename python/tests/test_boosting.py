"""Decision losses as objectives of LightGBM and XGBoost."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import regretless as rl

lightgbm = pytest.importorskip("lightgbm")
xgboost = pytest.importorskip("xgboost")


def plan() -> rl.Problem:
    return rl.Problem(4, A=[[1.0, 2.0, 1.0, 3.0], [2.0, 1.0, 1.0, 0.5]], b=[4.0, 3.0], upper=2.0)


def rows(seed: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Gains with thresholds and interactions, two of the four in thousands."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(count, 3))
    a, b, c = X.T
    y = np.column_stack([2 + np.sign(a) + b * c, 3 - a + (b > 0), 2 + a * c, 1.5 + np.abs(b) - c])
    return X, (y + 0.3 * rng.normal(size=y.shape)) * [1.0, 1.0, 1000.0, 1000.0]


def scaled() -> rl.Problem:
    """The plan with its last two variables in thousandths."""
    units = np.array([1.0, 1.0, 1e-3, 1e-3])
    A = np.array([[1.0, 2.0, 1.0, 3.0], [2.0, 1.0, 1.0, 0.5]]) / units
    return rl.Problem(4, A=A, b=[4.0, 3.0], upper=2.0 * units)


def train(library: str, objective, X, y, rounds: int, new, **params) -> np.ndarray:
    if library == "lightgbm":
        data = lightgbm.Dataset(X, np.zeros(len(X)))
        booster = lightgbm.train(objective.params(verbose=-1, num_threads=1, seed=0, **params), data, rounds)
        return objective.predict(booster, new)
    matrix = xgboost.DMatrix(X, y)
    booster = xgboost.train(objective.params(nthread=1, seed=0, **params), matrix, rounds, obj=objective)
    return objective.predict(booster, xgboost.DMatrix(new))


@pytest.mark.parametrize("library", ["lightgbm", "xgboost"])
def test_squared_errors_are_the_librarys_own(library: str) -> None:
    X, y = rows(0, 400)
    y = y[:, :1]
    one = rl.Problem(1, Q=[[1.0]], lower=None)
    objective = getattr(rl, library).objective(one, "l2", y)
    found = train(library, objective, X, y, 20, X, learning_rate=0.1)[:, 0]
    # The library's own L2 on standardised targets from 0 is the same sequence of trees.
    standard = (y[:, 0] - y[:, 0].mean()) / y[:, 0].std()
    if library == "lightgbm":
        own = {"objective": "regression", "boost_from_average": False, "verbose": -1, "num_threads": 1, "seed": 0}
        booster = lightgbm.train({**own, "learning_rate": 0.1}, lightgbm.Dataset(X, standard), 20)
        wanted = booster.predict(X)
    else:
        own = {"objective": "reg:squarederror", "base_score": 0.0, "nthread": 1, "seed": 0, "learning_rate": 0.1}
        wanted = xgboost.train(own, xgboost.DMatrix(X, standard), 20).predict(xgboost.DMatrix(X))
    np.testing.assert_allclose(found, y.mean() + y.std() * wanted, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("library", ["lightgbm", "xgboost"])
def test_decisions_get_better(library: str) -> None:
    X, y = rows(1, 800)
    new, truth = rows(2, 800)
    small = {"num_leaves": 6, "min_data_in_leaf": 20} if library == "lightgbm" else {"max_depth": 2}
    problem = scaled()
    found = {}
    for method, rounds in [("l2", 10), ("spo+", 60)]:
        objective = getattr(rl, library).objective(problem, method, y, warmup=10)
        assert objective.outputs == 4
        predicted = train(library, objective, X, y, rounds, new, **small)
        assert predicted.shape == (800, 4)
        found[method] = rl.regret(problem, predicted, truth).mean
    constant = rl.regret(problem, np.tile(y.mean(axis=0), (800, 1)), truth).mean
    # Ten rounds of squared errors, and fifty of decisions after them.
    assert found["l2"] < 0.6 * constant, (found, constant)
    assert found["spo+"] < 0.9 * found["l2"], (found, constant)


def test_early_stopping_on_regret() -> None:
    X, y = rows(3, 300)
    valid, true = rows(4, 200)
    objective = rl.lightgbm.objective(plan(), "spo+", y / [1, 1, 1000, 1000], warmup=5)
    data = lightgbm.Dataset(X, np.zeros(300))
    true = true / [1, 1, 1000, 1000]
    kept: dict[str, dict[str, list[float]]] = {}
    booster = lightgbm.train(
        objective.params(verbose=-1, num_leaves=4),
        data,
        80,
        valid_sets=[lightgbm.Dataset(valid, np.zeros(200), reference=data)],
        feval=objective.regret(true),
        callbacks=[lightgbm.early_stopping(10, verbose=False), lightgbm.record_evaluation(kept)],
    )
    told = kept["valid_0"]["regret"]
    assert booster.best_iteration == int(np.argmin(told)) + 1
    again = rl.regret(plan(), objective.predict(booster, valid, num_iteration=booster.best_iteration), true).mean
    assert abs(again - min(told)) < 1e-9


def test_rows_must_be_those_of_the_truths() -> None:
    _, y = rows(5, 50)
    objective = rl.xgboost.objective(plan(), "spo+", y)
    with pytest.raises(rl.LossError, match="training rows, in their order"):
        objective(np.zeros((49, 4)))
    with pytest.raises(rl.LossError, match="expected"):
        objective.restore(np.zeros((49, 3)))


def test_the_example_draws(tmp_path) -> None:
    root = Path(__file__).parents[2]
    path = os.pathsep.join([str(root / "python"), os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, str(root / "examples" / "python" / "boosting.py"), str(tmp_path / "drawn.svg")]
    out = subprocess.run(
        command, env={**os.environ, "PYTHONPATH": path, "ROUNDS": "12"}, capture_output=True, text=True
    )
    assert out.returncode == 0, out.stdout + out.stderr
    assert out.stdout.count("at best") == 2
    assert (tmp_path / "drawn.svg").read_text().count("<path") > 10
