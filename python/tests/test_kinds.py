"""Frames with text, dates and gaps: as on the command line, to the last bit."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
from conftest import call

import regretless as rl

pandas = pytest.importorskip("pandas")

PROBLEM = """
[problem]
sense = "min"
variables = ["order"]
[[soft]]
name = "demand"
rows = [[1.0]]
limit = { predict = "demand" }
over = 1.0
under = 3.0
[bounds]
upper = 100.0
[data]
file = "history.csv"
split = { valid = 0.2, test = 0.0 }
[predictor]
kind = "KIND"
[training]
epochs = 8
seed = 3
"""
FEATURES = ["day", "shop", "line", "rain"]


@pytest.fixture(scope="module")
def history() -> pandas.DataFrame:
    rng = np.random.default_rng(5)
    rows = 400
    days = pandas.date_range("2018-01-01", periods=rows // 4, freq="D").repeat(4)
    shop = np.tile(["north", "south", "east", "west"], rows // 4)
    rain = np.where(rng.uniform(size=rows) < 0.1, np.nan, rng.uniform(0, 10, rows).round(2))
    demand = 20.0 + 5.0 * (shop == "north") + 4.0 * (days.dayofweek >= 5) + rng.normal(size=rows)
    return pandas.DataFrame(
        {"day": days, "shop": shop, "line": rng.integers(1, 4, rows), "rain": rain, "demand": demand.round(3)}
    )


@pytest.fixture(params=["linear", "mlp", "trees"])
def runs(request: pytest.FixtureRequest, history: pandas.DataFrame, tmp_path: Path):
    """A run of the command line, and a model of the same rows here."""
    (tmp_path / "problem.toml").write_text(PROBLEM.replace("KIND", request.param))
    history.to_csv(tmp_path / "history.csv", index=False)
    call(tmp_path, "train", "problem.toml", "--method", "l2", "--out", "cli", "--quiet")
    model = rl.DecisionRegressor(
        rl.read_problem(tmp_path / "problem.toml"), "l2", predictor=request.param, epochs=8, random_state=3
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rl.RegretlessWarning)
        model.fit(history[FEATURES], history[["demand"]])
    return tmp_path, model, rl.Run(tmp_path / "cli")


def test_both_train_the_same_model(runs, history: pandas.DataFrame) -> None:
    folder, model, run = runs
    model.save(folder / "python")
    ours, theirs = (folder / name / "model.safetensors" for name in ("python", "cli"))
    assert ours.read_bytes() == theirs.read_bytes()
    X = history[FEATURES]
    assert np.array_equal(model.predict(X), run.predict(X)) and np.array_equal(model.decide(X), run.decide(X))
    # In any order, among others, and as any kind of frame.
    mixed = history[["demand", "rain", "line", "shop", "day"]]
    assert np.array_equal(run.predict(mixed), run.predict(X))
    for make in (_polars, _arrow, _categorical):
        assert np.array_equal(run.predict(make(X)), run.predict(X)), make
    # What the command line decides of the same rows.
    call(folder, "decide", "cli", "--features", "history.csv", "--out", "x.csv")
    written = pandas.read_csv(folder / "x.csv")
    np.testing.assert_allclose(written["order"], run.decide(X)[:, 0], rtol=1e-9)


def _polars(X: pandas.DataFrame):
    polars = pytest.importorskip("polars")
    return polars.DataFrame({name: X[name].to_numpy() for name in X.columns})


def _arrow(X: pandas.DataFrame):
    pyarrow = pytest.importorskip("pyarrow")
    return pyarrow.table({name: pyarrow.array(X[name]) for name in X.columns})


def _categorical(X: pandas.DataFrame) -> pandas.DataFrame:
    return X.astype({"shop": "category"})


def test_what_is_new_is_said_and_what_is_missing_taken(runs, history: pandas.DataFrame) -> None:
    _, model, run = runs
    X = history[FEATURES].head(3).copy()
    X["shop"] = ["north", "harbour", None]
    X.loc[0, "rain"] = np.nan
    for one in (model, run):
        with pytest.warns(rl.RegretlessWarning, match="`shop`: 1 row with levels that no training row has.*`harbour`"):
            assert np.isfinite(one.predict(X)).all()
    with pytest.raises(rl.RegretlessError, match="`soon` is not a date"):
        run.predict(X.assign(day="soon"))
    with pytest.raises(rl.RegretlessError, match="infinity"):
        run.predict(X.assign(rain=np.inf))
    with pytest.raises(rl.RegretlessError, match="give a frame"):
        run.predict(np.zeros((2, 4)))


def test_kinds_are_stated(history: pandas.DataFrame, tmp_path: Path) -> None:
    """A small number that names something is a category where somebody says so, and where a frame does."""
    (tmp_path / "problem.toml").write_text(PROBLEM.replace("KIND", "linear"))
    farm = rl.read_problem(tmp_path / "problem.toml")
    X, y = history[["line", "day"]], history[["demand"]]
    said = rl.DecisionRegressor(farm, "l2", predictor="linear", kinds={"line": "category", "day": ["weekday"]}).fit(
        X, y
    )
    plain = rl.DecisionRegressor(farm, "l2", predictor="linear").fit(X, y)
    typed = rl.DecisionRegressor(farm, "l2", predictor="linear", kinds={"day": ["weekday"]}).fit(
        X.astype({"line": "category"}), y
    )
    assert np.array_equal(said.predict(X), typed.predict(X)) and not np.array_equal(said.predict(X), plain.predict(X))
    with pytest.raises(rl.RegretlessError, match="no column of the table fits `lines`"):
        rl.DecisionRegressor(farm, "l2", kinds={"lines": "category"}).fit(X, y)
