"""Quantities: tied, known by row, by index and by the names of CVXPY's Parameters; against a problem per row and differences."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV

import regretless as rl

METHODS = ("l2", "df", "surrogate-smooth")


def shop() -> rl.Problem:
    return rl.Problem(
        2,
        theta=[1.0, 0.0],
        soft=rl.Soft([[1.0, 1.0]], [0.0], weight=[6.0]),
        A=[[0.0, 1.0], [1.0, 0.0]],
        b=[0.0, 30.0],
        upper=[30.0, 30.0],
    )


def load(problem: rl.Problem) -> rl.Quantities:
    return rl.Quantities(
        problem,
        {"load": ["d", rl.At("theta[1]", factor=0.2, shift=0.1)]},
        known={"stock": "b[0]"},
    )


def test_known_is_a_problem_per_row() -> None:
    problem = shop()
    quantities = load(problem)
    predicted, true, stock = np.array([[9.0], [12.0]]), np.array([[10.0], [11.0]]), np.array([[3.0], [7.0]])
    found = rl.regret(problem, predicted, true, predict=quantities, known={"stock": stock})
    for i in range(2):
        own = problem.solve(theta=[1.0, 0.2 * predicted[i, 0] + 0.1], d=predicted[i], b=[stock[i, 0], 30.0])
        assert found.x[i] == pytest.approx(own.x, abs=1e-7)
        best = problem.solve(theta=[1.0, 0.2 * true[i, 0] + 0.1], d=true[i], b=[stock[i, 0], 30.0])
        assert found.optimal[i] == pytest.approx(best.objective)
    assert found.x[:, 1] == pytest.approx(stock[:, 0], abs=1e-7)


@pytest.mark.parametrize("method", METHODS)
def test_a_tied_gradient_agrees_with_differences(method: str) -> None:
    problem = shop()
    loss = rl.DecisionLoss(problem, method, predict=load(problem), K=0.7, ridge=0.3)
    true, known = np.array([[10.0]]), np.array([[3.0]])
    at = lambda q: loss([[q]], true, known=known)  # noqa: E731
    step = 1e-5
    difference = (at(9.3 + step).value - at(9.3 - step).value) / (2 * step)
    assert at(9.3).gradient[:, 0] == pytest.approx(difference, abs=1e-4)


def test_by_index_and_as_rows() -> None:
    problem = shop()
    row = rl.Quantities(problem, ["C[0]", "b[1]"])
    assert row.shapes == {"C[0]": (2,), "b[1]": (1,)}
    by_name = rl.Quantities(problem, {"one": "theta[x1]", "two": "C[0, x1]"})
    assert [term[:2] for term in by_name.terms] == [("theta", 1), ("C", 1)]
    with pytest.raises(rl.ProblemError, match="no `b\\[7\\]`"):
        rl.Quantities(problem, ["b[7]"])
    with pytest.raises(rl.ProblemError, match="fixed or known"):
        rl.Quantities(problem, {"a": rl.At("d", factor="c"), "c": "b[0]"})
    loss = rl.DecisionLoss(problem, "l2", predict=load(problem))
    with pytest.raises(rl.ProblemError, match="known by row"):
        loss([[1.0]], [[1.0]])


def test_negative_prices_count_as_nothing() -> None:
    problem = shop()
    price = rl.Quantities(problem, {"price": "alpha"})
    loss = rl.DecisionLoss(problem, "df", predict=price, ridge=0.3)
    below, zero = loss([[-2.0]], [[6.0]]), loss([[0.0]], [[6.0]])
    assert (below.cut, zero.cut) == (1, 0)
    assert below.value == pytest.approx(zero.value) and below.gradient == pytest.approx(0.0)


def test_parameters_of_cvxpy_by_name() -> None:
    cp = pytest.importorskip("cvxpy")
    make, price = cp.Variable(2, nonneg=True, name="make"), cp.Parameter(2, name="price")
    demand, room = cp.Parameter(2, name="demand"), cp.Parameter(name="room", value=8.0)
    profit = price @ make - 0.5 * cp.sum(cp.pos(make - demand)) - 0.1 * cp.sum(cp.multiply(price, make))
    problem = rl.from_cvxpy(cp.Problem(cp.Maximize(profit), [cp.sum(make) <= room, make <= 7]))
    quantities = rl.Quantities(problem, "price", known=["demand"])
    assert quantities.shapes == {"price": (2,)} and quantities.known == {"demand": (2,)}
    rng = np.random.default_rng(0)
    p, t, d = rng.uniform(1, 3, (4, 2)), rng.uniform(1, 3, (4, 2)), rng.uniform(1, 5, (4, 2))
    found = rl.regret(problem, p, t, predict=quantities, known=d)
    for i in range(4):
        own = problem.solve(**problem.given(price=p[i], demand=d[i], room=8.0))
        best = problem.solve(**problem.given(price=t[i], demand=d[i], room=8.0))
        assert found.predicted_objective[i] == pytest.approx(own.objective)
        assert found.optimal[i] == pytest.approx(best.objective)


def history(rows: int = 120) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(4)
    features = rng.normal(size=(rows, 3))
    return features, 10 + 2 * features[:, 0] + rng.normal(size=rows), rng.uniform(1, 5, size=rows)


def test_a_regressor_learns_quantities_and_is_told_what_is_known(tmp_path: Path) -> None:
    problem = shop()
    quantities = load(problem)
    X, loads, stock = history()
    model = rl.DecisionRegressor(problem, "l2", predictor="linear", predicts=quantities).fit(X, loads, known=stock)
    predicted = model.predict(X[:5])
    assert predicted.shape == (5,)
    for i, x in enumerate(model.decide(X[:5], known=stock[:5])):
        by_hand = problem.solve(theta=[1.0, 0.2 * predicted[i] + 0.1], d=[predicted[i]], b=[stock[i], 30.0])
        assert x == pytest.approx(by_hand.x, abs=1e-7)
    judged = rl.regret(problem, predicted[:, None], loads[:5, None], predict=quantities, known=stock[:5, None])
    assert model.evaluate(X[:5], loads[:5], known=stock[:5]).regret == pytest.approx(judged.regret, abs=1e-9)
    # By the names of columns, in any order, it is the same model.
    named = pd.DataFrame(X, columns=["a", "b", "c"])
    framed = rl.DecisionRegressor(problem, "l2", predictor="linear", predicts=quantities)
    framed.fit(named, pd.DataFrame({"load": loads}), known=pd.DataFrame({"other": 0 * stock, "stock": stock}))
    assert np.array_equal(framed.decide(named, known={"stock": stock}), model.decide(X, known=stock))
    # The run of a problem in memory is a problem file as anybody would write it.
    model.save(tmp_path / "run")
    assert np.array_equal(rl.Run(tmp_path / "run").decide(X, known=stock), model.decide(X, known=stock))
    assert '{ predict = ["load"], factor = 0.2, shift = 0.1 }' in (tmp_path / "run" / "config.toml").read_text()
    for wrong, message in [({}, "known by row"), ({"known": stock[:7]}, "7")]:
        with pytest.raises(rl.RegretlessError, match=message):
            model.decide(X, **wrong)


def test_what_is_known_may_be_a_feature_and_others_may_forecast() -> None:
    problem = shop()
    X, loads, stock = history()
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(stock=stock)
    model = rl.DecisionRegressor(problem, "df", predictor="linear", predicts=load(problem), epochs=3)
    model.fit(frame, loads, validation=(frame[:30], loads[:30]))
    assert list(model.feature_names_in_) == ["a", "b", "c", "stock"]
    assert (model.decide(frame)[:, 1] <= stock + 1e-7).all()
    own = rl.DecisionRegressor(problem, "l2", predictor=LinearRegression(), predicts=load(problem))
    own.fit(X, loads, known=stock)
    assert (own.decide(X, known=stock)[:, 1] <= stock + 1e-7).all()


def test_methods_are_compared_and_problems_checked_with_what_is_known() -> None:
    problem = shop()
    quantities = load(problem)
    X, loads, stock = history()
    settings = {"predicts": quantities, "predictor": "linear", "epochs": 3}
    found = rl.compare(problem, (X, loads, stock), ["l2", "df"], seeds=1, **settings)
    assert [row["method"] for row in found.rows] == ["constant", "l2", "df"]
    assert rl.check(problem, (X, loads, stock), predicts=quantities)
    with pytest.raises(rl.TrainingError, match=r"`spo\+`.*predicts θ only"):
        rl.compare(problem, (X, loads, stock), ["spo+"], seeds=1, **settings)
    with pytest.raises(rl.RegretlessError, match="known by row"):
        rl.compare(problem, (X, loads), ["l2"], seeds=1, **settings)


def test_a_sum_of_quantities_learns_and_has_no_problem_file(tmp_path: Path) -> None:
    problem = shop()
    X, loads, stock = history()
    both = rl.Quantities(problem, {"base": "d", "extra": "d"}, known={"stock": "b[0]"})
    truths = {"base": loads, "extra": np.abs(X[:, 1])}
    model = rl.DecisionRegressor(problem, "l2", predictor="linear", predicts=both).fit(X, truths, known=stock)
    predicted = model.predict(X[:1])
    whole = problem.solve(theta=[1.0, 0.0], d=predicted["base"] + predicted["extra"], b=[stock[0], 30.0])
    assert model.decide(X[:1], known=stock[:1]) == pytest.approx(whole.x, abs=1e-7)
    with pytest.raises(rl.RegretlessError, match="several columns add up"):
        model.save(tmp_path / "run")


FILE = """
[problem]
sense = "min"
variables = ["ice", "soup"]
[objective]
linear = [0.1, { predict = "fee", factor = 2.0 }]
[[soft]]
name = "demand"
rows = [[1.0, 0.0], [0.0, 1.0]]
limit = [{ predict = "demand_ice" }, { predict = "demand_soup" }]
over = 1.0
under = [{ predict = "fee", shift = 3.0 }, 4.0]
[[hard]]
name = "space"
rows = [1.0, 2.0]
at_most = { known = "space" }
[data]
file = "history.csv"
[predictor]
kind = "linear"
"""


def canteen(folder: Path) -> tuple[Path, pd.DataFrame]:
    rng = np.random.default_rng(7)
    frame = pd.DataFrame(rng.normal(size=(120, 2)), columns=["sun", "day"])
    frame["space"] = rng.uniform(10, 20, size=120)
    frame["demand_soup"] = 8 - frame.sun + rng.normal(size=120)
    frame["demand_ice"] = 8 + 2 * frame.sun + rng.normal(size=120)
    frame["fee"] = np.abs(1 + 0.3 * frame.day)
    frame.to_csv(folder / "history.csv", index=False)
    (folder / "problem.toml").write_text(FILE)
    return folder / "problem.toml", frame


def test_a_problem_file_brings_its_quantities(tmp_path: Path) -> None:
    file, frame = canteen(tmp_path)
    problem = rl.read_problem(file)
    assert repr(problem.predicts) == "Quantities(fee, demand_ice, demand_soup; known: space)"
    X, y = frame[["sun", "day", "space"]], frame[["demand_soup", "demand_ice", "fee"]]
    model = rl.DecisionRegressor(problem, "l2", predictor="linear").fit(X, y)
    x = model.decide(X)
    assert (x @ [1.0, 2.0] <= frame.space + 1e-6).all() and x.max() > 5
    model.save(tmp_path / "run")
    assert np.array_equal(rl.Run(tmp_path / "run").decide(frame), x)
    # The same predictions, judged without the model.
    judged = rl.regret(problem, model.predict(X), y, known=frame)
    assert model.evaluate(X, y).regret == pytest.approx(judged.regret, abs=1e-9)
    assert judged.regret.min() >= -1e-9 and judged.mean > 0.1
    assert rl.check(problem, (X, y)) and rl.check(problem, frame)
    assert rl.compare(problem, (X, y), ["l2"], seeds=1, predictor="linear").best
    # What only some of it would leave at placeholders is refused.
    with pytest.raises(rl.RegretlessError, match=r"`b`.*placeholders"):
        rl.DecisionRegressor(problem, "l2", predictor="linear", predicts="d").fit(X, y[["demand_ice", "demand_soup"]])
    with pytest.raises(rl.ProblemError, match="give it here"):
        problem.solve(theta=[0.1, 2.0], d=[8.0, 8.0])
    given = problem.predicts.parameters(y, frame)
    assert problem.solve(**given).objective == pytest.approx(judged.optimal)


def test_quantities_are_copied_searched_and_found_in_any_layout() -> None:
    problem = shop()
    X, loads, stock = history()
    model = rl.DecisionRegressor(problem, "l2", predictor="linear", predicts=rl.Quantities(problem, {"load": "d"}))
    assert clone(model).fit(X, loads).score(X, loads) == model.fit(X, loads).score(X, loads)
    GridSearchCV(model, {"method": ["l2", "constant"]}, cv=2, error_score="raise").fit(X, loads)
    other = rl.Problem(2, theta=[5.0, 0.0], soft=rl.Soft([[1.0, 1.0]], [0.0], weight=[6.0]))
    with pytest.raises(rl.ProblemError, match="another problem"):
        rl.DecisionLoss(other, "l2", predict=model.predicts)
    # Columns side by side as pandas keeps them, which is column by column.
    both = rl.Quantities(problem, {"load": "d", "gain": ["theta[0]", "theta[1]"]}, known={"stock": "b[0]"})
    rows = np.column_stack([loads, np.abs(loads)])
    by_column = both.parameters(np.asfortranarray(rows), np.asfortranarray(stock[:, None]))
    for symbol, values in both.parameters(rows, stock).items():
        assert np.array_equal(by_column[symbol], values)
    assert np.array_equal(by_column["d"][:, 0], loads) and np.array_equal(by_column["theta"][:, 1], np.abs(loads))


def test_boosting_knows_what_is_known() -> None:
    lightgbm = pytest.importorskip("lightgbm")
    problem = shop()
    X, loads, stock = history()
    with pytest.raises(rl.ProblemError, match="known by row"):
        rl.lightgbm.objective(problem, "df", loads, predict=load(problem))
    objective = rl.lightgbm.objective(problem, "df", loads, predict=load(problem), known=stock, warmup=5)
    booster = lightgbm.train(objective.params(verbose=-1), lightgbm.Dataset(X, np.zeros(len(X))), 10)
    found = rl.regret(problem, objective.predict(booster, X), loads, predict=load(problem), known=stock).mean
    raw = booster.predict(X, raw_score=True)
    assert objective.regret(loads, stock)(raw, None)[1] == pytest.approx(found)
    with pytest.raises(rl.LossError, match="row 3"):
        rl.lightgbm.objective(problem, "df", np.where(np.arange(120) == 3, np.nan, loads)[:, None], predict="d")


def test_parameters_of_cvxpy_are_named_as_they_are() -> None:
    cp = pytest.importorskip("cvxpy")
    cost, x = cp.Parameter(2, name="cost"), cp.Variable(2, nonneg=True, name="x")
    read = rl.from_cvxpy(cp.Problem(cp.Minimize(cost @ x), [cp.sum(x) == 1]))
    predicted, true = [[1.0, 2.0]], [[2.0, 1.0]]
    for predict in ("cost", rl.Quantities(read, {"cost": "cost"}), rl.Quantities(read, "cost")):
        assert rl.regret(read, predicted, true, predict=predict).regret == pytest.approx([1.0])
    with pytest.raises(rl.ProblemError, match="predict='cost'"):
        rl.regret(read, predicted, true)
