"""Predictors of others: objects with fit and predict in place of ours."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pytest

import regretless as rl

pytest.importorskip("pandas")
pytest.importorskip("sklearn")
import pandas
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler


def newsvendor() -> rl.Problem:
    """Orders of two goods against predicted demand: a unit short costs 9, one too many 1."""
    return rl.Problem(
        2,
        theta=[0.0, 0.0],
        soft=[rl.Soft(np.eye(2), [0.0, 0.0], weight=1.0, under=9.0)],
        sense="min",
    )


def rows(seed: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(count, 3))
    y = np.column_stack([20 + 3 * X[:, 0], 30 - 2 * X[:, 1] + X[:, 2]]) + rng.gamma(2.0, 2.0, size=(count, 2))
    return X, y


class Spy(Ridge):
    """Remembers the rows that each copy learned from, and what was asked of it."""

    log: ClassVar[list[tuple[set[float], set[float]]]] = []

    def fit(self, X, y):
        self.known = {float(x) for x in X[:, 0]}
        return super().fit(X, y)

    def predict(self, X):
        Spy.log.append((self.known, {float(x) for x in X[:, 0]}))
        return super().predict(X)


def test_forecasts_of_training_rows_are_out_of_fold() -> None:
    X, y = rows(0, 100)
    Spy.log = []
    model = rl.DecisionRegressor(newsvendor(), "l2", predicts="d", predictor=Spy(), shuffle=False).fit(X, y)
    assert len(Spy.log) == 6
    assert all(not known & asked for known, asked in Spy.log)
    # The object that is kept knows all training rows and no validation row.
    assert model.predictor_.known == {float(x) for x in X[:80, 0]}
    assert not hasattr(model.predictor, "known"), "the object that was given stays as it was"
    np.testing.assert_allclose(model.predict(X), model.predictor_.predict(X), rtol=1e-6)


def test_scenarios_are_its_errors() -> None:
    X, y = rows(1, 400)
    new, truth = rows(2, 400)
    fit = {"predicts": "d", "predictor": make_pipeline(StandardScaler(), LinearRegression()), "random_state": 3}
    plain = rl.DecisionRegressor(newsvendor(), "l2", **fit).fit(X, y)
    spread = rl.DecisionRegressor(newsvendor(), "l2+scenarios", scenarios=1000, **fit).fit(X, y)
    # The decision is the 0.9 quantile of forecast + errors: by hand, from the pipeline itself.
    errors = y - LinearRegression().fit(X, y).predict(X)
    wanted = spread.predictor_.predict(new) + np.quantile(errors, 0.9, axis=0)
    assert np.abs(spread.decide(new) - wanted).mean() < 0.4
    assert spread.evaluate(new, truth).mean < 0.7 * plain.evaluate(new, truth).mean
    auto = rl.DecisionRegressor(newsvendor(), "auto", **fit).fit(X, y)
    assert auto.method_ in {"given+scenarios", "given+scaled"}
    assert {c["name"] for c in auto.candidates_} == {"constant", "given", "given+scenarios", "given+scaled"}


def test_frames_go_to_the_object_as_they_are() -> None:
    X, y = rows(3, 120)
    frame = pandas.DataFrame(X, columns=["a", "b", "c"])
    frame["shop"] = np.where(X[:, 0] > 0, "north", "south")

    class Planner:
        """A table by shop."""

        def fit(self, X, y):
            self.table = {shop: y[(X["shop"] == shop).to_numpy()].mean(axis=0) for shop in set(X["shop"])}
            return self

        def predict(self, X):
            return np.array([self.table[shop] for shop in X["shop"]])

    model = rl.DecisionRegressor(newsvendor(), "l2", predicts="d", predictor=Planner()).fit(frame, y)
    assert model.predict(frame).shape == (120, 2)
    assert len(np.unique(model.predict(frame)[:, 0])) == 2


def test_saved_without_the_object(tmp_path) -> None:
    X, y = rows(4, 100)
    forest = RandomForestRegressor(10, random_state=0)
    model = rl.DecisionRegressor(newsvendor(), "l2+scenarios", predicts="d", predictor=forest).fit(X, y)
    model.save(tmp_path / "run")
    assert not [p for p in (tmp_path / "run").rglob("*") if p.suffix in (".pkl", ".pickle", ".joblib")]
    kept = pandas.read_csv(tmp_path / "run" / "forecasts.csv")
    assert list(kept["part"].unique()) != [] and len(kept) == 100
    train = (kept["part"] == "train").to_numpy()
    assert train.sum() == 80
    # Out of fold: the forest itself is closer to rows that it knows.
    numbers = kept.iloc[:, 2:].to_numpy()
    inside = np.mean((model.predictor_.predict(X)[train] - y[train]) ** 2)
    assert np.mean((numbers[train] - y[train]) ** 2) > 1.5 * inside
    with pytest.raises(rl.ProjectError, match="RandomForestRegressor"):
        rl.Run(tmp_path / "run").decide(X)
    again = rl.Run(tmp_path / "run", predictor=model.predictor_)
    np.testing.assert_allclose(again.decide(X), model.decide(X), atol=1e-6)
    assert again.own is not None and again.own["name"].endswith("RandomForestRegressor")


def test_what_cannot_be_used_is_said() -> None:
    X, y = rows(5, 60)
    with pytest.raises(rl.TrainingError, match="no `fit`"):
        rl.DecisionRegressor(newsvendor(), predicts="d", predictor=3).fit(X, y)
    with pytest.raises(rl.TrainingError, match="is a class"):
        rl.DecisionRegressor(newsvendor(), predicts="d", predictor=Ridge).fit(X, y)
    with pytest.raises(rl.RegretlessError, match="nothing to train"):
        rl.DecisionRegressor(newsvendor(), "surrogate-smooth", predicts="d", predictor=Ridge()).fit(X, y)

    class Short(Ridge):
        def predict(self, X):
            return super().predict(X)[:, :1]

    with pytest.raises(rl.TrainingError, match="MultiOutputRegressor"):
        rl.DecisionRegressor(newsvendor(), "l2", predicts="d", predictor=Short()).fit(X, y)
