"""Features of the past and results in money: as on the command line, equal numbers."""

from __future__ import annotations

import json
import pickle
import warnings

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
features = ["shop", "rain", "lag(demand, 1, 7)", "mean(demand, 7)"]
series = "shop"
time = "day"
baseline = "ordered"
split = { valid = 0.2, test = 0.0 }
[predictor]
kind = "linear"
[training]
seed = 3
"""
X_OF = ["day", "shop", "rain"]
PAST = {"features": ["shop", "rain", "lag(demand, 1, 7)", "mean(demand, 7)"], "series": "shop", "time": "day"}


def table(first: str, days: int, seed: int) -> pandas.DataFrame:
    rng = np.random.default_rng(seed)
    dates = pandas.date_range(first, periods=days, freq="D")
    shops = ["north", "south", "east"]
    day = dates.repeat(len(shops))
    shop = np.tile(shops, days)
    level = 20.0 + 5.0 * (shop == "north") + 6.0 * (day.day_of_week >= 5)
    frame = pandas.DataFrame(
        {
            "day": day,
            "shop": shop,
            "rain": rng.uniform(0, 9, len(day)).round(2),
            "demand": level + rng.normal(size=len(day)),
        }
    )
    return frame.assign(ordered=25.0)


@pytest.fixture(scope="module")
def frames() -> tuple[pandas.DataFrame, pandas.DataFrame]:
    return table("2018-01-01", 120, 1), table("2018-05-01", 21, 2)


@pytest.fixture(scope="module")
def both(frames, tmp_path_factory):
    """A run of the command line, and a model of the same rows, in another order, here."""
    folder = tmp_path_factory.mktemp("lags")
    history, later = frames
    (folder / "problem.toml").write_text(PROBLEM)
    history.to_csv(folder / "history.csv", index=False)
    later.to_csv(folder / "later.csv", index=False)
    call(folder, "train", "problem.toml", "--method", "l2", "--out", "cli", "--quiet")
    model = rl.DecisionRegressor(
        rl.read_problem(folder / "problem.toml"), "l2", predictor="linear", random_state=3, **PAST
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rl.RegretlessWarning)
        model.fit(history[X_OF], history[["demand"]])
    return folder, model, rl.Run(folder / "cli")


def test_both_learn_the_same(both, frames) -> None:
    folder, model, run = both
    _, later = frames
    assert run.features[-3:] == ["lag1_demand", "lag7_demand", "mean7_demand"]
    next_day = later.head(3)
    np.testing.assert_allclose(model.predict(next_day[X_OF]), run.predict(next_day), rtol=1e-12)
    call(
        folder, "decide", "cli", "--features", "later.csv", "--history", "later.csv", "--out", "x.csv", "--predictions"
    )
    written = pandas.read_csv(folder / "x.csv")
    for one, X in ((model, later[X_OF]), (run, later)):
        decided = one.decide(X, history=later)
        np.testing.assert_allclose(written["order"], decided[:, 0], rtol=1e-9)
        assert np.isfinite(decided).all()


def test_rows_that_nobody_can_decide_for(both, frames) -> None:
    _, model, run = both
    _, later = frames
    for one, X in ((model, later[X_OF]), (run, later)):
        with pytest.warns(rl.RegretlessWarning, match="missing lag1_demand.*`history=`"):
            decided = one.decide(X)
        # The day after the last one is known to the model.
        assert np.isfinite(decided[:3]).all() and np.isnan(decided[3:]).all()
        with pytest.warns(rl.RegretlessWarning, match="missing lag1_demand.*`history=`"):
            assert np.isnan(one.predict(X)[3:]).all()
    with pytest.warns(rl.RegretlessWarning, match="missing lag1_demand.*`history=`"):
        scenarios = model.forecast(later[X_OF]).samples
    assert np.isfinite(scenarios[:3]).all() and np.isnan(scenarios[3:]).all()
    with pytest.raises(rl.RegretlessError, match="history lacks `demand`"):
        run.decide(later, history=later[["day", "shop"]])


def test_a_model_goes_to_the_command_line_and_back(both, frames) -> None:
    folder, model, run = both
    _, later = frames
    model.save(folder / "python")
    saved = rl.Run(folder / "python")
    np.testing.assert_allclose(saved.decide(later, history=later), run.decide(later, history=later), rtol=1e-9)
    call(folder, "decide", "python", "--features", "later.csv", "--history", "later.csv", "--out", "y.csv")
    np.testing.assert_allclose(
        pandas.read_csv(folder / "y.csv")["order"], run.decide(later, history=later)[:, 0], rtol=1e-9
    )


def test_weights_stay_with_their_rows(frames) -> None:
    """Rows are put into the order of time, and their weights with them."""
    history, _ = frames
    rng = np.random.default_rng(0)
    weights = rng.uniform(0.1, 3.0, len(history))
    mixed = rng.permutation(len(history))
    stock = rl.Problem(1, theta=[0.0], sense="min", soft=rl.Soft([[1.0]], [0.0], weight=[1.0], under=[3.0]), upper=99.0)
    found = []
    for rows in (np.arange(len(history)), mixed):
        part = history.iloc[rows]
        model = rl.DecisionRegressor(stock, "l2", predicts="d", predictor="linear", series="shop", time="day")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", rl.RegretlessWarning)
            model.fit(part[X_OF], part[["demand"]], sample_weight=weights[rows])
        found.append(model.predict(history[X_OF]))
    np.testing.assert_allclose(found[0], found[1], rtol=1e-6)


def test_money(both, frames) -> None:
    folder, model, run = both
    _, later = frames
    call_out = folder / "account.json"
    told = json.loads(call(folder, "evaluate", "cli", "--data", "later.csv", "--format", "json"))
    call_out.write_text(json.dumps(told))
    found = run.evaluate(later, later, baseline=later[["ordered"]])
    account = found.account
    assert account is not None
    # By hand.
    truth, x = later["demand"].to_numpy(), found.x[:, 0]
    cost = np.maximum(x - truth, 0) + 3 * np.maximum(truth - x, 0)
    theirs = np.maximum(25 - truth, 0) + 3 * np.maximum(truth - 25, 0)
    assert account["achieved"]["total"] == pytest.approx(cost.sum())
    against = {rival["name"]: rival for rival in account["against"]}
    assert against["ordered"]["advantage"] == pytest.approx((theirs - cost).mean(), abs=1e-9)
    spread = (theirs - cost).std(ddof=1) / np.sqrt(len(cost))
    assert against["ordered"]["standard_error"] == pytest.approx(spread)
    assert account["soft"][0]["short"]["share"] == pytest.approx((x < truth - 1e-4).mean(), abs=0.02)
    assert sum(group["total"] for group in account["periods"]) == pytest.approx(cost.sum())
    assert {group["name"] for group in account["series"]} == {"north", "south", "east"}
    # As on the command line, and from the estimator.
    assert told["account"]["achieved"]["total"] == pytest.approx(cost.sum(), rel=1e-9)
    assert [rival["name"] for rival in told["account"]["against"]] == list(against)
    own = model.evaluate(later[X_OF], later[["demand"]], baseline=later[["ordered"]]).account
    assert own is not None and own["achieved"]["total"] == pytest.approx(cost.sum(), rel=1e-9)
    with pytest.raises(rl.RegretlessError, match="baseline has the shape"):
        run.evaluate(later, later, baseline=np.zeros((2, 1)))


def test_an_account_by_groups(both, frames) -> None:
    """As on the command line, equal numbers, from the run and from the estimator."""
    folder, model, run = both
    _, later = frames
    later = later.assign(area=np.where(later["shop"] == "south", "warm", "cold"), floor=2)
    later.to_csv(folder / "areas.csv", index=False)
    told = json.loads(
        call(folder, "evaluate", "cli", "--data", "areas.csv", "--groups", "area,floor", "--format", "json")
    )
    for one, X, y in ((run, later, later), (model, later.drop(columns=["demand", "ordered"]), later[["demand"]])):
        account = one.evaluate(X, y, groups=["area", "floor"]).account
        assert account is not None
        for ours, theirs in zip(account["groups"], told["account"]["groups"], strict=True):
            assert ours["by"] == theirs["by"]
            for mine, other in zip(ours["groups"], theirs["groups"], strict=True):
                assert mine["name"] == other["name"] and mine["decisions"] == other["decisions"]
                assert mine["total"] == pytest.approx(other["total"], rel=1e-9)
        assert [group["name"] for group in account["groups"][1]["groups"]] == ["2"]
    with pytest.raises(rl.RegretlessError, match="groups names `region`"):
        run.evaluate(later, later, groups="region")


def test_a_gap_says_the_same_everywhere(both, frames) -> None:
    """After two weeks that nobody told of, the rows that look back at them have no decision, here as there."""
    folder, model, run = both
    _, later = frames
    after = later[later["day"] >= "2018-05-15"]
    after.to_csv(folder / "after.csv", index=False)
    later[later["day"] < "2018-05-15"].to_csv(folder / "since.csv", index=False)
    told = json.loads(call(folder, "evaluate", "cli", "--data", "after.csv", "--format", "json", code=1))
    assert told["undecided"] == 3
    since = later[later["day"] < "2018-05-15"]
    for one, X, y in ((model, after[X_OF], after[["demand"]]), (run, after, after)):
        with pytest.warns(rl.RegretlessWarning, match="missing lag1_demand"):
            found = one.evaluate(X, y)
        assert found.undecided == 3 and np.isnan(found.x[:3]).all() and np.isnan(found.regret[:3]).all()
        assert found.trouble[0] is not None and found.trouble[0].startswith("missing lag1_demand")
        assert found.mean == found.decided.mean == pytest.approx(told["regret"], rel=1e-9)
        assert found.standard_error == pytest.approx(told["standard_error"], rel=1e-9)
        assert found.account is not None
        assert found.account["achieved"]["total"] == pytest.approx(told["account"]["achieved"]["total"], rel=1e-9)
    told = json.loads(
        call(folder, "evaluate", "cli", "--data", "after.csv", "--history", "since.csv", "--format", "json")
    )
    for one, X, y in ((model, after[X_OF], after[["demand"]]), (run, after, after)):
        found = one.evaluate(X, y, history=since)
        assert told["undecided"] == found.undecided == 0
        assert found.mean == pytest.approx(told["regret"], rel=1e-9)


def test_compare_looks_back_too(both, frames) -> None:
    folder, _, _ = both
    history, _ = frames
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rl.RegretlessWarning)
        one = rl.compare(rl.read_problem(folder / "problem.toml"), history, ["l2"], seeds=1)
        two = rl.compare(folder / "problem.toml", None, ["l2"], seeds=1)
    assert [row["regret"] for row in one.rows] == [row["regret"] for row in two.rows]


def test_the_file_says_what_columns_are(both, frames) -> None:
    """Series, time, features and what others decided: with a problem of a file nobody says them again."""
    folder, told, _ = both
    history, later = frames
    problem = rl.read_problem(folder / "problem.toml")
    model = rl.DecisionRegressor(problem, "l2", predictor="linear", random_state=3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rl.RegretlessWarning)
        model.fit(history.drop(columns="demand"), history[["demand"]])
        other = rl.DecisionRegressor(problem, "l2", predictor="linear", features=["rain"], time=None)
        other.fit(history.drop(columns="demand"), history[["demand"]])
    day = later.head(3)
    np.testing.assert_array_equal(model.predict(day[X_OF]), told.predict(day[X_OF]))
    assert list(model.feature_names_in_) == ["shop", "rain", "day"] and list(other.feature_names_in_) == ["rain"]
    ordered = later.ordered - later.demand
    cost = np.where(ordered > 0, ordered, -3.0 * ordered).mean()
    there = pickle.loads(pickle.dumps(model))
    there.save(folder / "kept")
    for one in (model, there, rl.Run(folder / "kept"), rl.Run(folder / "cli")):
        account = one.evaluate(later, later[["demand"]]).account
        assert [other["name"] for other in account["against"]] == ["ordered", "constant"]
        assert account["against"][0]["mean"] == pytest.approx(cost)
        without = one.evaluate(later[X_OF], later[["demand"]]).account
        assert [other["name"] for other in without["against"]] == ["constant"]
    assert "ordered" in call(folder, "evaluate", "kept", "--data", "later.csv")
    # Groups, too: what they cost adds up to all.
    text = (folder / "problem.toml").read_text()
    (folder / "grouped.toml").write_text(text.replace("[data]\n", '[data]\ngroups = ["area", "floor"]\n', 1))
    grouped = rl.DecisionRegressor(rl.read_problem(folder / "grouped.toml"), "l2", predictor="linear")
    past, after = (rows.assign(area=np.where(rows["shop"] == "south", "warm", "cold")) for rows in (history, later))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rl.RegretlessWarning)
        grouped.fit(past.drop(columns="demand"), past[["demand"]])
    account = grouped.evaluate(after.drop(columns="demand"), after[["demand"]]).account
    (by,) = account["groups"]
    assert "area" in by["by"] and {group["name"] for group in by["groups"]} == {"warm", "cold"}
    assert sum(group["total"] for group in by["groups"]) == pytest.approx(account["achieved"]["total"])
    # Arrays have no names, and what is not there is said.
    rl.DecisionRegressor(problem, "l2", predictor="linear").fit(history[["rain"]].to_numpy(), history[["demand"]])
    with pytest.warns(rl.RegretlessWarning, match="`shop`, `day`"):
        rl.DecisionRegressor(problem, "l2", predictor="linear", features=["rain"]).fit(
            history[["rain"]], history[["demand"]]
        )
