"""Frames of pandas, polars and Arrow: columns by name, whatever their order."""

from __future__ import annotations

from collections.abc import Callable
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
        (make({"rain": columns["rain"], "sun": [None, *columns["sun"][1:]]}), "no number for `sun` in row 0"),
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
