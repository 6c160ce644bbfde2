"""Frames of pandas, polars and Arrow: columns by name, whatever their order."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import regretless as rl

pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")
pyarrow = pytest.importorskip("pyarrow")

MAKERS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "pandas": pandas.DataFrame,
    "polars": polars.DataFrame,
    "arrow": pyarrow.table,
    "dict": dict,
}
GOODS = ["wheat", "corn", "rye"]


@pytest.fixture
def plan() -> rl.Problem:
    return rl.Problem(3, A=[[1.0, 2.0, 1.0]], b=3.0, upper=2.0, variables=GOODS)


@pytest.fixture
def columns(rng: np.random.Generator) -> dict[str, Any]:
    X = rng.normal(size=(80, 2))
    y = 3.0 + X @ rng.normal(size=(2, 3))
    return {"rain": X[:, 0], "sun": X[:, 1]} | {f"price_{good}": y[:, j] for j, good in enumerate(GOODS)}


def parts(make, columns, features=("rain", "sun"), goods=GOODS):
    return make({name: columns[name] for name in features}), make({f"price_{g}": columns[f"price_{g}"] for g in goods})


@pytest.mark.parametrize("kind", MAKERS)
def test_every_kind_of_frame_gives_the_same(plan: rl.Problem, columns, kind: str) -> None:
    X, y = parts(MAKERS[kind], columns)
    arrays = np.column_stack([columns["rain"], columns["sun"]]), np.column_stack([columns[f"price_{g}"] for g in GOODS])
    model = rl.DecisionRegressor(plan, "l2", predictor="linear").fit(X, y)
    plain = rl.DecisionRegressor(plan, "l2", predictor="linear").fit(*arrays)
    assert list(model.feature_names_in_) == ["rain", "sun"] and not hasattr(plain, "feature_names_in_")
    assert np.array_equal(model.predict(X), plain.predict(arrays[0]))
    # Reordered columns mean the same, in X and in y.
    turned = parts(MAKERS[kind], columns, ("sun", "rain"), ["rye", "wheat", "corn"])
    assert np.array_equal(model.decide(turned[0]), model.decide(X))
    assert model.score(*turned) == model.score(X, y) == plain.score(*arrays)
    again = rl.DecisionRegressor(plan, "l2", predictor="linear").fit(X, turned[1])
    assert np.array_equal(again.predict(X), model.predict(X))
    # An array in their order is fine, too.
    assert np.array_equal(model.decide(arrays[0]), model.decide(X))


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow"])
def test_what_is_missing_unknown_or_there_twice_is_named(plan: rl.Problem, columns, kind: str) -> None:
    make = MAKERS[kind]
    X, y = parts(make, columns)
    model = rl.DecisionRegressor(plan, "l2", predictor="linear").fit(X, y)
    for table, says in [
        (make({"rain": columns["rain"]}), "X lacks `sun`; it has `rain`"),
        (
            make({"rain": columns["rain"], "sun": columns["sun"], "moon": columns["sun"]}),
            "X has `moon`, which the model",
        ),
        (make({"rain": columns["rain"], "sun": ["a"] * 80}), r"X\['sun'\] is text"),
        (make({"rain": columns["rain"], "sun": [float("inf"), *columns["sun"][1:]]}), "no number for `sun` in row 0"),
    ]:
        with pytest.raises(rl.TrainingError, match=says):
            model.predict(table)
    with pytest.raises(rl.TrainingError, match="y lacks `price_rye`"):
        model.score(X, make({"price_wheat": columns["price_wheat"], "price_corn": columns["price_corn"]}))


def test_names_that_are_there_twice(plan: rl.Problem, columns) -> None:
    X, y = parts(pandas.DataFrame, columns)
    twice = pandas.concat([X, X[["sun"]]], axis=1)
    with pytest.raises(rl.TrainingError, match="X has `sun` more than once"):
        rl.DecisionRegressor(plan, "l2").fit(twice, y)
    model = rl.DecisionRegressor(plan, "l2", predictor="linear").fit(X, y)
    with pytest.raises(rl.TrainingError, match="`sun` more than once"):
        model.predict(twice)
    with pytest.raises(TypeError, match="string names"):
        model.predict(X.rename(columns={"sun": 7}))


def test_a_column_is_a_feature_or_a_target(plan: rl.Problem, columns) -> None:
    X, y = parts(pandas.DataFrame, columns)
    with pytest.raises(rl.TrainingError, match="X and y both have `price_rye`"):
        rl.DecisionRegressor(plan, "l2").fit(X.assign(price_rye=1.0), y)


#: What may be predicted, with columns that are named for its entries in one way or another.
NAMED = {
    "d": ["left_hours", "left_stock_rye", "left_stock_wheat"],
    "alpha": ["price_0", "price_1", "price_2"],
    "b": ["at_most_0", "at_most_1"],
    "A": [f"use_{i}_{good}" for i in (1, 2) for good in GOODS],
    "upper": GOODS,
    "C": [f"C_{i}_{j}" for i in range(3) for j in range(3)],
}


@pytest.mark.parametrize("symbol", NAMED)
def test_columns_of_every_parameter_are_found_by_name(symbol: str, rng: np.random.Generator) -> None:
    named = NAMED[symbol]
    farm = rl.Problem(
        3,
        theta=[3.0, 2.0, 1.0],
        A=[[1.0, 2.0, 1.0], [2.0, 1.0, 1.0]],
        b=[4.0, 5.0],
        soft=[
            rl.Soft([[1.0, 1.0, 0.0]], 1.0, weight=2.0, name="hours"),
            rl.Soft([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]], 1.0, weight=2.0, name="stock"),
        ],
        upper=2.0,
        variables=GOODS,
    )
    X = rng.normal(size=(60, 2))
    stated = farm.stated(symbol).reshape(-1)
    y = stated * np.exp(0.1 * X @ rng.normal(size=(2, len(stated)))) + 0.01 * rng.uniform(size=(60, len(stated)))
    ordered, turned = pandas.DataFrame(y, columns=named), pandas.DataFrame(y, columns=named)[named[::-1]]
    whole = y.reshape(60, *farm.shapes[symbol])
    model, plain, again = (
        rl.DecisionRegressor(farm, "l2", predicts=symbol, predictor="linear").fit(X, given)
        for given in (ordered, whole, turned)
    )
    assert np.array_equal(model.predict(X), plain.predict(X)) and np.array_equal(again.predict(X), plain.predict(X))
    assert model.score(X, turned) == plain.score(X, whole)
    # Losses and regrets look at names, too.
    judged = [rl.regret(farm, whole, given, predict=symbol).regret for given in (whole, turned)]
    assert np.array_equal(*judged)
    values = [rl.DecisionLoss(farm, "l2", predict=symbol)(whole + 0.1, given).value for given in (whole, turned)]
    assert np.array_equal(*values)


def test_what_of_y_is_missing_unknown_or_there_twice_is_named(plan: rl.Problem, columns) -> None:
    X, y = parts(pandas.DataFrame, columns)
    fit = rl.DecisionRegressor(plan, "l2", predictor="linear").fit
    for given, says in [
        (y.drop(columns="price_rye"), "y lacks `price_rye`, and other columns are named for the entries of theta"),
        (y.rename(columns={"price_rye": "price_ry"}), "y lacks `price_rye` and has `price_ry`"),
        (y.assign(rain=1.0), "y has `rain`, and other columns"),
        (pandas.concat([y, y[["price_rye"]]], axis=1), "y has `price_rye` more than once"),
        (y.rename(columns=dict(zip(y.columns, "abc"))).iloc[:, :2], "y has 2 columns, expected 3"),
    ]:
        with pytest.raises(ValueError, match=says):
            fit(X, given)
    # Names that say nothing: the order counts.
    other = y.rename(columns=dict(zip(y.columns, ["north", "south", "east"])))
    assert np.array_equal(fit(X, other).predict(X), fit(X, y).predict(X))


def test_one_frame_for_several_parameters_is_for_models_that_know_its_names(plan: rl.Problem, columns) -> None:
    X, y = parts(pandas.DataFrame, columns)
    limit = pandas.DataFrame({"land": 3.0 + 0.1 * columns["rain"]})
    model = rl.DecisionRegressor(plan, "l2", predicts=["theta", "b"], predictor="linear")
    with pytest.raises(rl.TrainingError, match="which column is whose cannot be told"):
        model.fit(X, pandas.concat([limit, y], axis=1))
    model.fit(X, {"theta": y, "b": limit})
    together = pandas.concat([limit, y[y.columns[::-1]]], axis=1)
    assert model.score(X, together) == model.score(X, {"theta": y, "b": limit})
    with pytest.raises(rl.TrainingError, match="y lacks `land`"):
        model.score(X, y)


def test_booleans_dates_and_categories(plan: rl.Problem, columns) -> None:
    X, y = parts(pandas.DataFrame, columns)
    X["holiday"] = columns["rain"] > 0
    model = rl.DecisionRegressor(plan, "l2", predictor="linear").fit(X, y)
    as_numbers = X.assign(holiday=X["holiday"].astype(float))
    assert np.array_equal(model.predict(X), model.predict(as_numbers))
    for bad in (pandas.date_range("2024-01-01", periods=80), pandas.Categorical(["a", "b"] * 40)):
        with pytest.raises(rl.TrainingError, match=r"X\['holiday'\] is text"):
            model.predict(X.assign(holiday=bad))


def test_sparse_features_are_refused_with_the_way_out(plan: rl.Problem, columns) -> None:
    sparse = pytest.importorskip("scipy.sparse")
    X = sparse.csr_matrix(np.ones((80, 2)))
    with pytest.raises(TypeError, match=r"X\.toarray\(\)"):
        rl.DecisionRegressor(plan, "l2").fit(X, np.ones((80, 3)))


def test_one_quantity_may_have_one_axis(rng: np.random.Generator) -> None:
    shop = rl.Problem(1, theta=0.0, soft=rl.Soft([[1.0]], 0.0, weight=1.0, under=3.0), upper=10.0)
    X = rng.normal(size=(60, 2))
    y = 5.0 + X[:, 0] + 0.3 * rng.normal(size=60)
    model = rl.DecisionRegressor(shop, "l2", predicts="d", predictor="linear").fit(X, y)
    twin = rl.DecisionRegressor(shop, "l2", predicts="d", predictor="linear").fit(X, y.reshape(-1, 1))
    assert model.predict(X).shape == (60,) and twin.predict(X).shape == (60, 1)
    assert np.array_equal(model.predict(X), twin.predict(X)[:, 0])
    series = pandas.Series(y, name="demand")
    assert model.score(X, series) == twin.score(X, y)


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_frames_come_out(plan: rl.Problem, columns, kind: str) -> None:
    X, y = parts(MAKERS[kind], columns)
    model = rl.DecisionRegressor(plan, "l2", predictor="linear").fit(X, y)
    plain = model.decide(X)
    out = model.set_output(transform=kind).decide(X)
    assert isinstance(out, type(X)) and list(out.columns) == GOODS and np.array_equal(out.to_numpy(), plain)
    assert list(model.predict(X).columns) == [f"price_{good}" for good in GOODS]
    assert isinstance(model.set_output(transform="default").decide(X), np.ndarray)
    with pytest.raises(rl.TrainingError, match="'default', 'pandas' or 'polars'"):
        model.set_output(transform="arrow")


def test_a_parquet_file_that_is_packed_otherwise_says_so(tmp_path):
    polars.DataFrame({"price": [1.0, 2.0]}).write_parquet(tmp_path / "t.parquet", compression="brotli")
    (tmp_path / "p.toml").write_text('[problem]\nvariables = ["x"]\n[objective]\nlinear = { predict = ["price"] }\n')
    command = Path(__file__).parents[2] / "target" / "debug" / "regretless"
    if not command.exists():
        pytest.skip("the command line is not built")
    said = subprocess.run(
        [command, "check", "p.toml", "--data", "t.parquet"], cwd=tmp_path, capture_output=True, text=True
    )
    assert "it is packed with brotli, which is not read" in said.stderr, said.stderr
    assert "snappy, zstd or gzip" in said.stderr
