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


def test_scikit_learns_wrappers_are_told_the_way_out() -> None:
    X, y = rows(6, 60)
    for library, wrapper in [("lightgbm", lightgbm.LGBMRegressor), ("xgboost", xgboost.XGBRegressor)]:
        objective = getattr(rl, library).objective(plan(), "spo+", y)
        with pytest.raises(rl.LossError, match=r"objective\(truths, scores\)"):
            objective(y[:, 0], np.zeros(240))
        # As the wrapper itself calls it.
        with pytest.raises(rl.LossError, match=rf"{library}\.train"):
            wrapper(objective=objective, n_estimators=2).fit(X, y[:, 0])


@pytest.mark.parametrize("library", ["lightgbm", "xgboost"])
def test_an_objective_used_twice_begins_anew(library: str) -> None:
    X, y = rows(7, 200)
    y = y / [1, 1, 1000, 1000]
    objective = getattr(rl, library).objective(plan(), "spo+", y, warmup=5)
    first = train(library, objective, X, y, 8, X)
    np.testing.assert_array_equal(train(library, objective, X, y, 8, X), first)


@pytest.mark.parametrize("library", ["lightgbm", "xgboost"])
def test_rows_count_as_their_weights_say(library: str) -> None:
    X, y = rows(8, 300)
    y = y[:, :1]
    weights = np.where(X[:, 0] > 0.0, 3.0, 0.5)
    standard = (y[:, 0] - y[:, 0].mean()) / y[:, 0].std()
    objective = getattr(rl, library).objective(rl.Problem(1, Q=[[1.0]], lower=None), "l2", y)
    # The library's own squared errors with the same weights are the same trees.
    if library == "lightgbm":
        own = {"boost_from_average": False, "verbose": -1, "num_threads": 1, "seed": 0}
        data = lightgbm.Dataset(X, standard, weight=weights)
        wanted = lightgbm.train({**own, "objective": "regression"}, data, 15).predict(X)
        data = lightgbm.Dataset(X, np.zeros(300), weight=weights)
        found = lightgbm.train(objective.params(**own), data, 15).predict(X, raw_score=True)
    else:
        own = {"nthread": 1, "seed": 0, "base_score": 0.0}
        matrix = xgboost.DMatrix(X, standard, weight=weights)
        wanted = xgboost.train({**own, "objective": "reg:squarederror"}, matrix, 15).predict(matrix)
        found = xgboost.train(objective.params(**own), matrix, 15, obj=objective).predict(matrix, output_margin=True)
    np.testing.assert_allclose(found.ravel(), wanted, rtol=1e-4, atol=1e-4)
    # Of a decision loss: a row of weight 2 is there twice.
    one = getattr(rl, library).objective(plan(), "spo+", np.ones((3, 4)))
    two = getattr(rl, library).objective(plan(), "spo+", np.ones((4, 4)))
    raw = np.random.default_rng(0).normal(size=(3, 4))
    gradient, curvature = one.slopes(raw, np.array([1.0, 1.0, 2.0]))
    again, _ = two.slopes(np.vstack([raw, raw[2:]]))
    np.testing.assert_allclose(gradient[:2], again[:2], atol=1e-12)
    np.testing.assert_allclose(gradient[2], again[2] + again[3], atol=1e-12)
    np.testing.assert_array_equal(curvature, np.repeat([[1.0], [1.0], [2.0]], 4, axis=1))
    with pytest.raises(rl.LossError, match="weights of rows"):
        one.slopes(raw, np.ones(2))


@pytest.mark.parametrize("strategy", ["one_output_per_tree", "multi_output_tree"])
def test_xgboosts_metric_and_trees_of_all_outputs(strategy: str) -> None:
    X, y = rows(9, 400)
    valid, true = rows(10, 200)
    objective = rl.xgboost.objective(scaled(), "spo+", y, warmup=10)
    told: dict[str, dict[str, list[float]]] = {}
    matrix = xgboost.DMatrix(valid, true)
    booster = xgboost.train(
        objective.params(nthread=1, seed=0, max_depth=3, multi_strategy=strategy, tree_method="hist"),
        xgboost.DMatrix(X, y),
        30,
        obj=objective,
        evals=[(matrix, "valid")],
        custom_metric=objective.regret(true),
        evals_result=told,
        verbose_eval=False,
    )
    regrets = told["valid"]["regret"]
    again = rl.regret(scaled(), objective.predict(booster, matrix), true).mean
    assert abs(regrets[-1] - again) < 1e-5 * again  # told in six digits
    constant = rl.regret(scaled(), np.tile(y.mean(axis=0), (200, 1)), true).mean
    assert regrets[-1] < 0.6 * constant


@pytest.mark.parametrize("library", ["lightgbm", "xgboost"])
def test_what_is_known_by_row_is_used(library: str) -> None:
    X, y = rows(11, 150)
    y = y[:, :1]
    stock = np.where(X[:, 1] > 0.0, 0.0, 50.0)[:, np.newaxis]
    # What is in stock need not be ordered: order + stock against demand.
    problem = rl.Problem(1, theta=[0.0], soft=rl.Soft([[1.0]], 0.0, weight=1.0, under=3.0), upper=40.0, sense="min")
    terms = rl.Quantities(problem, {"demand": "d"}, known={"stock": rl.At("d", factor=-1.0)})
    objective = getattr(rl, library).objective(
        problem, "surrogate-smooth", y, predict=terms, known={"stock": stock}, K=5.0, multipliers=10.0
    )
    gradient, _ = objective.slopes(np.full((150, 1), -1.0))
    full = stock[:, 0] > 0.0
    # With 50 in stock nothing is ordered whatever demand is: there is nothing to learn.
    np.testing.assert_allclose(gradient[full], 0.0, atol=1e-9)
    assert np.abs(gradient[~full]).max() > 0.1
    train(library, objective, X, y, 3, X)


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
