"""Predictors of others: objects with fit and predict in place of ours."""

from __future__ import annotations

import pickle
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
    Spy.log = []
    with pytest.raises(rl.TrainingError, match=r"nothing to train.*lightgbm\.objective.*torch\.DecisionLoss"):
        rl.DecisionRegressor(newsvendor(), "surrogate-smooth", predicts="d", predictor=Spy()).fit(X, y)
    assert not Spy.log, "refused before anything is fitted"
    with pytest.raises(rl.TrainingError, match="alone"):
        rl.DecisionRegressor(newsvendor(), "spo+-smooth+l2", predicts="d", predictor=Ridge()).fit(X, y)

    class Short(Ridge):
        def predict(self, X):
            return super().predict(X)[:, :1]

    with pytest.raises(rl.TrainingError, match="MultiOutputRegressor"):
        rl.DecisionRegressor(newsvendor(), "l2", predicts="d", predictor=Short()).fit(X, y)


def test_rows_to_choose_by_may_be_given() -> None:
    # With 103 errors no decision is as good as its neighbour.
    X, y = rows(6, 103)
    new, truth = rows(7, 60)
    Spy.log = []
    fit = {"predicts": "d", "predictor": Spy(), "shuffle": False}
    # Spreads are told by errors on X alone; plain scenarios know those on later rows too.
    model = rl.DecisionRegressor(newsvendor(), "l2+scaled", **fit).fit(X, y, validation=(new, truth))
    # All of X is learned from, and nothing of the rows to choose by.
    assert model.predictor_.known == {float(x) for x in X[:, 0]}
    assert model.predict(new).shape == (60, 2)
    own = model.candidates_[-1]["valid"]["regret"]
    assert own == pytest.approx(model.evaluate(new, truth).mean, rel=1e-6)


def test_texts_have_one_axis() -> None:
    from sklearn.feature_extraction.text import CountVectorizer

    rng = np.random.default_rng(8)
    words = np.array(["rain", "sun"], dtype=object)[rng.integers(0, 2, 120)]
    y = np.where(words == "rain", 5.0, 15.0) + rng.normal(size=120)
    problem = rl.Problem(1, theta=[0.0], soft=[rl.Soft([[1.0]], [0.0], weight=1.0, under=3.0)], sense="min")
    pipeline = make_pipeline(CountVectorizer(), LinearRegression())
    model = rl.DecisionRegressor(problem, "l2", predicts="d", predictor=pipeline).fit(words, y)
    assert model.n_features_in_ == 1
    assert model.predict(words[:10]).shape == (10,)


def test_runs_pickle_with_their_object(tmp_path) -> None:
    X, y = rows(9, 80)
    model = rl.DecisionRegressor(newsvendor(), "l2", predicts="d", predictor=LinearRegression()).fit(X, y)
    model.save(tmp_path / "run")
    run = pickle.loads(pickle.dumps(rl.Run(tmp_path / "run", predictor=model.predictor_)))
    np.testing.assert_allclose(run.decide(X), model.decide(X), atol=1e-6)


def test_objects_are_compared() -> None:
    X, y = rows(10, 300)
    found = rl.compare(
        newsvendor(), (X, y), ["l2", "l2+scenarios"], predicts="d", predictor=LinearRegression(), shuffle=False
    )
    by = {row["method"]: row for row in found.rows}
    assert set(by) == {"constant", "l2", "l2+scenarios"} and by["l2"]["seeds"] == 1
    # By hand: fitted on three fifths, judged on the last.
    by_hand = LinearRegression().fit(X[:180], y[:180]).predict(X[240:])
    wanted = rl.regret(newsvendor(), by_hand, y[240:], predict="d").mean
    assert by["l2"]["regret"] == pytest.approx(wanted, rel=1e-5)
    assert by["l2+scenarios"]["regret"] < by["l2"]["regret"] < by["constant"]["regret"]
    for seeds in (5, [0, 1]):
        with pytest.raises(rl.TrainingError, match="fitted once"):
            rl.compare(newsvendor(), (X, y), ["l2"], seeds, predicts="d", predictor=LinearRegression())


def knapsack(seed: int, count: int) -> tuple[rl.Problem, np.ndarray, np.ndarray]:
    """Three of six, gains with curves that a small predictor gets half right."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(count, 3))
    slopes = np.random.default_rng(99).normal(size=(3, 6))
    y = 3.0 + X @ slopes + 2.0 * (X @ slopes) ** 2 + 0.2 * rng.normal(size=(count, 6))
    return rl.Problem(6, B=[[1.0] * 6], c=3.0, upper=1.0), X, y


@pytest.mark.parametrize("library", ["lightgbm", "xgboost"])
def test_boosters_learn_from_decisions(library: str) -> None:
    module = pytest.importorskip(library)
    if library == "lightgbm":
        wrapper = module.LGBMRegressor(n_estimators=60, num_leaves=4, verbose=-1, n_jobs=1, random_state=0)
    else:
        wrapper = module.XGBRegressor(n_estimators=60, max_depth=2, n_jobs=1, random_state=0)
    problem, X, y = knapsack(0, 600)
    _, new, truth = knapsack(1, 600)
    model = rl.DecisionRegressor(problem, "spo+", predictor=wrapper, warmup=5).fit(X, y)
    assert model.predict(new).shape == (600, 6)
    # The object that is kept is that objective's booster on the training rows.
    objective = getattr(rl, library).objective(problem, "spo+", np.zeros((2, 6)))
    assert objective.outputs == 6
    constant = rl.regret(problem, np.tile(y.mean(axis=0), (600, 1)), truth).mean
    found = model.evaluate(new, truth).mean
    assert found < 0.6 * constant, (found, constant)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(new), model.predict(new))


def test_modules_learn_from_decisions() -> None:
    torch = pytest.importorskip("torch")
    problem, X, y = knapsack(2, 400)
    _, new, truth = knapsack(3, 600)
    # Features in thousands: they are standardised.
    X, new = 1000.0 * X, 1000.0 * new
    torch.manual_seed(0)
    line = torch.nn.Linear(3, 6)
    before = [p.clone() for p in line.parameters()]
    fit = {"predictor": line, "epochs": 30, "learning_rate": 0.02, "shuffle": False}
    models = {method: rl.DecisionRegressor(problem, method, **fit).fit(X, y) for method in ("l2", "spo+")}
    assert all(torch.equal(a, b) for a, b in zip(before, line.parameters())), "what was given stays as it was"
    found = {method: model.evaluate(new, truth).mean for method, model in models.items()}
    # Squared errors of a line: scikit-learn's by hand, or better by the epoch that is kept.
    by_hand = LinearRegression().fit(X[:320], y[:320]).predict(new)
    wanted = rl.regret(problem, by_hand, truth).mean
    assert found["l2"] < 1.05 * wanted
    assert found["spo+"] < found["l2"], found
    again = rl.DecisionRegressor(problem, "spo+", **fit).fit(X, y)
    np.testing.assert_array_equal(again.predict(new), models["spo+"].predict(new))
    with pytest.raises(rl.TrainingError, match="the module gives"):
        rl.DecisionRegressor(problem, "spo+", predictor=torch.nn.Linear(3, 5)).fit(X, y)


def centre(tmp_path) -> tuple[rl.Problem, pandas.DataFrame]:
    """A file that says which columns are no features, and its table, the newest rows first."""
    (tmp_path / "centre.toml").write_text(
        """
[problem]
variables = ["a", "b"]
sense = "min"
[objective]
linear = [0.0, 0.0]
[[soft]]
name = "short"
rows = [[1.0, 0.0], [0.0, 1.0]]
limit = { predict = "calls_*" }
under = 9.0
over = 1.0
[data]
file = "centre.csv"
series = "shop"
time = "day"
key = "id"
exclude = ["late"]
baseline = "did_*"
[predictor]
kind = "linear"
"""
    )
    X, y = rows(20, 240)
    frame = pandas.DataFrame(X, columns=["f", "g", "h"])
    frame["day"] = np.repeat(pandas.date_range("2024-01-01", periods=120), 2)
    frame["shop"] = ["north", "south"] * 120
    frame["id"], frame["late"] = np.arange(240), y[:, 0]
    frame["did_a"], frame["did_b"] = y[:, 0] + 1.0, y[:, 1] + 1.0
    frame["calls_a"], frame["calls_b"] = y[:, 0], y[:, 1]
    return rl.read_problem(tmp_path / "centre.toml"), frame[::-1].reset_index(drop=True)


class Table:
    """Remembers what it was given, and forecasts the mean."""

    log: ClassVar[list[pandas.DataFrame]] = []

    def fit(self, X, y):
        Table.log.append(X)
        self.mean, self.columns = np.mean(y, axis=0), list(X.columns)
        return self

    def predict(self, X):
        assert list(X.columns) == self.columns
        return np.tile(self.mean, (len(X), 1)) + X["f"].to_numpy()[:, np.newaxis]


@pytest.mark.parametrize("named", [None, ["shop", "f"], ["f", "did_a", "sh*", "late"]])
def test_an_object_is_given_the_features_and_nothing_else(tmp_path, named) -> None:
    problem, frame = centre(tmp_path)
    truths, X = frame[["calls_a", "calls_b"]], frame.drop(columns=["calls_a", "calls_b"])
    Table.log = []
    model = rl.DecisionRegressor(problem, "l2+scenarios", predictor=Table(), features=named).fit(X, truths)
    wanted = {"f", "g", "h", "day", "shop"} if named is None else {"f", "shop"}
    assert all(set(seen.columns) == wanted for seen in Table.log) and len(Table.log) == 6
    assert Table.log[-1]["shop"].iloc[0] == "south", "columns are as they came"
    # The file has a time: the newest fifth was held out, and blocks of days were left out in turn.
    days = X["day"].sort_values().unique()
    known = [set(X["day"][seen.index]) for seen in Table.log]
    assert known[-1] == set(days[:96])
    left = [sorted(known[-1] - seen) for seen in known[:-1]]
    assert [day for block in left for day in block] == list(days[:96])
    # What the file says of columns holds in the account, here and of what was saved.
    model.save(tmp_path / "run")
    run = rl.Run(tmp_path / "run", predictor=model.predictor_)
    assert run.features == ["forecast_calls_a", "forecast_calls_b"]
    for judged in (model.evaluate(X, truths), run.evaluate(X, truths)):
        taken = judged.account["against"][0]
        # A unit too many of each, by hand.
        assert taken["name"] == "did_*" and taken["mean"] == pytest.approx(2.0)
        assert {part["name"] for part in judged.account["series"]} == {"north", "south"}
    # New rows have neither decisions nor what is excluded.
    new = X.drop(columns=["did_a", "did_b", "late", "id"])
    np.testing.assert_allclose(run.decide(new), model.decide(new[new.columns[::-1]]), atol=1e-9)


def test_what_an_object_cannot_be_given_is_said_first(tmp_path) -> None:
    problem, frame = centre(tmp_path)
    truths, X = frame[["calls_a", "calls_b"]], frame.drop(columns=["calls_a", "calls_b"])
    Table.log = []

    def fit(rows, features):
        rl.DecisionRegressor(problem, "l2", predictor=Table(), features=features).fit(rows, truths)

    for rows, features, said in (
        (X, ["f", "nowhere"], "features names `nowhere`"),
        (X, ["f", "lag(calls_a, 1)"], r"`lag\(calls_a, 1\)`.*columns as they are"),
        (X, ["did_*", "late"], "no column of X is left"),
        (frame, None, "both have `calls_a`, `calls_b`"),
        (X[["f", "g"]].to_numpy(), ["f"], "give a frame"),
    ):
        with pytest.raises(rl.TrainingError, match=said):
            fit(rows, features)
    assert not Table.log, "refused before anything is fitted"
    model = rl.DecisionRegressor(problem, "l2", predictor=Table(), features=["f"]).fit(X, truths)
    with pytest.raises(rl.TrainingError, match="lacks `f`"):
        model.decide(X[["g", "h"]])


@pytest.mark.parametrize("written", ["%Y-%m-%d", "%d.%m.%Y"])
def test_a_time_that_is_named_orders_the_rows(written: str) -> None:
    X, y = rows(21, 100)
    frame = pandas.DataFrame(X, columns=["f", "g", "h"])
    days = pandas.Series(pandas.date_range("2024-01-20", periods=100)[::-1])
    frame["day"] = days.dt.strftime(written)
    Table.log = []
    fit = {"predicts": "d", "predictor": Table(), "features": ["f"], "time": "day"}
    model = rl.DecisionRegressor(newsvendor(), "l2", **fit).fit(frame, y)
    # The newest come first here: they are held out, and no fold takes them.
    assert set(Table.log[-1].index) == set(range(20, 100))
    assert len(model.evaluate(frame[:20], y[:20]).account["periods"]) > 0
