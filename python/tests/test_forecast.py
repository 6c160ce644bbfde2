"""Forecasts made elsewhere against quantiles by hand and against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import regretless as rl


def shop() -> rl.Problem:
    """Two orders; a unit short costs 3, one too many 1."""
    soft = rl.Soft(np.eye(2), [0.0, 0.0], weight=1.0, under=3.0)
    return rl.Problem(2, theta=[0.0, 0.0], soft=soft, upper=100.0, sense="min")


def test_samples_give_their_quantiles() -> None:
    samples = np.random.default_rng(0).normal(20.0, 4.0, (7, 25, 2))
    found = rl.decide(shop(), samples=samples, predict="d")
    wanted = np.sort(samples, axis=1)[:, 18]  # 19 of 25 is the first share of at least 3/4
    np.testing.assert_allclose(found.x, wanted, atol=1e-6)
    short = np.maximum(samples - found.x[:, None], 0).sum(axis=2)
    over = np.maximum(found.x[:, None] - samples, 0).sum(axis=2)
    np.testing.assert_allclose(found.expected_objective, (3 * short + over).mean(axis=1), rtol=1e-8)
    assert found.trouble == [None] * 7


def test_weights_are_repetitions() -> None:
    samples = np.random.default_rng(1).normal(20.0, 4.0, (5, 4, 2))
    weights = np.array([1, 2, 3, 1])
    repeated = np.repeat(samples, weights, axis=1)
    wanted = rl.decide(shop(), samples=repeated, predict="d")
    shared = rl.decide(shop(), samples=samples, weights=weights, predict="d")
    np.testing.assert_allclose(shared.expected_objective, wanted.expected_objective, rtol=1e-8)
    by_row = rl.decide(shop(), rl.Forecast(samples, np.tile(weights, (5, 1))), predict="d")
    np.testing.assert_allclose(by_row.x, shared.x, atol=1e-6)


def test_a_point_is_a_forecast() -> None:
    truths = np.random.default_rng(2).normal(20.0, 4.0, (6, 2))
    points = truths + 1.0
    plain = rl.regret(shop(), points, truths, predict="d")
    found = rl.regret(shop(), rl.Forecast(points[:, None, :]), truths, predict="d")
    np.testing.assert_allclose(found.regret, plain.regret, atol=1e-8)
    np.testing.assert_allclose(found.regret, 2.0, atol=1e-6)


def test_quantiles_count_for_what_is_near() -> None:
    forecast = rl.Forecast.quantiles([0.1, 0.5, 0.9], np.array([[7.0, 10.0, 14.0]]))
    assert forecast.weights is not None
    np.testing.assert_allclose(forecast.weights, [0.3, 0.4, 0.3])
    stock = rl.Problem(1, theta=[0.0], soft=rl.Soft([[1.0]], 0.0, weight=1.0, under=1.5), sense="min")
    assert rl.decide(stock, forecast, predict="d").x[0, 0] == pytest.approx(10.0)
    for levels in ([0.5, 0.1], [0.0, 0.5], []):
        with pytest.raises(rl.LossError, match="levels"):
            rl.Forecast.quantiles(levels, [[1.0, 2.0]])
    with pytest.raises(rl.LossError, match="3 quantiles and 2 levels"):
        rl.Forecast.quantiles([0.1, 0.9], [[7.0, 10.0, 14.0]])


def test_what_is_no_forecast() -> None:
    samples = np.ones((3, 4, 2))
    for weights in ([1.0, 2.0], np.ones((2, 4))):
        with pytest.raises(rl.LossError, match="weights have the shape"):
            rl.decide(shop(), samples=samples, weights=weights, predict="d")
    with pytest.raises(rl.LossError, match="from 0 on"):
        rl.decide(shop(), samples=samples, weights=-np.ones(4), predict="d")
    with pytest.raises(rl.LossError, match="sample 1 are no weights"):
        rl.decide(shop(), samples=samples, weights=np.array([[1.0] * 4, [0.0] * 4, [1.0] * 4]), predict="d")
    with pytest.raises(rl.LossError, match="a forecast, or samples"):
        rl.decide(shop(), predict="d")
    with pytest.raises(rl.LossError, match="hard rows"):
        rl.decide(rl.Problem(1, theta=[1.0], A=[[1.0]], b=1.0), samples=[[1.0, 2.0]], predict="b")


def test_calibration_finds_what_was_done_to_a_forecast() -> None:
    rng = np.random.default_rng(5)
    mean, spread = rng.uniform(15.0, 25.0, (200, 2)), np.array([2.0, 5.0])
    truths = mean + spread * rng.standard_normal((200, 2))
    exact = mean[:, None] + spread * rng.standard_normal((200, 60, 2))
    # A forecast that is right is left alone, or all but.
    right = rl.calibrate(shop(), rl.Forecast(exact[:100]), truths[:100], predict="d")
    held = rl.regret(shop(), right(rl.Forecast(exact[100:])), truths[100:], predict="d").mean
    assert held < 1.03 * rl.regret(shop(), rl.Forecast(exact[100:]), truths[100:], predict="d").mean
    # Too sure of the first quantity, too low for the second.
    wrong = mean[:, None] + spread * [0.2, 1.0] * rng.standard_normal((200, 60, 2)) - [0.0, 6.0]
    found = rl.calibrate(shop(), rl.Forecast(wrong[:100]), truths[:100], predict="d")
    assert found.gain > found.standard_error and not found.is_identity
    # One price tells one quantile: that of the first is moved out by shift or by scale.
    assert found.shift[0] + 0.67 * found.scale[0] > 1.5 and found.shift[1] > 0.5
    held = [rl.regret(shop(), forecast, truths[100:], predict="d").mean for forecast in (
        rl.Forecast(wrong[100:]), found(rl.Forecast(wrong[100:])), rl.Forecast(exact[100:])
    )]  # fmt: skip
    assert held[1] < 1.12 * held[2] < 0.8 * held[0], held


@pytest.mark.parametrize(("off", "spread"), [(4.0, 4.0), (9.0, 2.0), (0.0, 8.0)])
def test_calibration_comes_near_the_best_of_a_grid(off: float, spread: float) -> None:
    """A forecast that says N(60, 1), and truths elsewhere: the cost by hand, 4 a unit short and 1 a unit over."""
    rng = np.random.default_rng(5)
    samples, truths = rng.normal(60.0, 1.0, (120, 31, 1)), rng.normal(60.0 + off, spread, (120, 1))
    stock = rl.Problem(1, theta=[0.0], sense="min", soft=rl.Soft([[1.0]], 0.0, weight=1.0, under=4.0), upper=200.0)
    found = rl.calibrate(stock, rl.Forecast(samples), truths, predict="d")
    center, deviation = samples.mean(axis=1), samples.std(axis=1)
    # Of 31 the 25th is the first share of at least 4/5; what is calibrated keeps its order.
    z = (np.sort(samples, axis=1)[:, 24] - center) / deviation

    def cost(shift: float, scale: float, tail: float) -> float:
        order = center + deviation * (shift + scale * np.sign(z) * np.abs(z) ** (1 + tail))
        return float((4 * np.maximum(truths - order, 0) + np.maximum(order - truths, 0)).mean())

    best = min(
        cost(shift, scale, tail)
        for shift in off + np.linspace(-2, 2, 21)
        for scale in np.geomspace(0.3, 10, 21)
        for tail in (-0.9, -0.6, -0.3, 0.0, 0.3, 0.6, 0.9)
        if abs(shift) <= 10
    )
    own = cost(found.shift[0], found.scale[0], found.tail[0])
    assert own < 1.03 * best < 0.9 * cost(0.0, 1.0, 0.0), (own, best)
    judged = rl.regret(stock, found(rl.Forecast(samples)), truths, predict="d").mean
    assert judged == pytest.approx(own, rel=1e-6)


def test_a_forecast_that_is_right_is_left_alone() -> None:
    rng = np.random.default_rng(11)
    samples, truths = rng.normal(20.0, 3.0, (150, 31, 1)), rng.normal(20.0, 3.0, (150, 1))
    stock = rl.Problem(1, theta=[0.0], sense="min", soft=rl.Soft([[1.0]], 0.0, weight=1.0, under=4.0), upper=200.0)
    found = rl.calibrate(stock, rl.Forecast(samples), truths, predict="d")
    assert found.is_identity and found.gain == 0.0


def test_calibration_of_several_parameters_and_weights() -> None:
    rng = np.random.default_rng(6)
    samples = {"theta": rng.normal(1.0, 0.1, (40, 3, 2)), "d": rng.normal(5.0, 0.2, (40, 3, 2))}
    truths = {"theta": rng.normal(1.0, 0.1, (40, 2)), "d": rng.normal(5.0, 2.0, (40, 2))}
    problem = rl.Problem(2, soft=rl.Soft(np.eye(2), [0.0, 0.0], weight=9.0), upper=100.0)
    weights = np.array([1.0, 2.0, 1.0])
    forecast = rl.Forecast(samples, weights)
    found = rl.calibrate(problem, forecast, truths, predict=["theta", "d"])
    moved = found(forecast)
    assert isinstance(moved.samples, dict) and not found.is_identity
    # By hand: the same numbers from the formula.
    share = (weights / weights.sum())[None, :, None]
    for name, at in (("theta", 0), ("d", 2)):
        own = samples[name]
        mean = (share * own).sum(axis=1, keepdims=True)
        deviation = np.sqrt((share * (own - mean) ** 2).sum(axis=1, keepdims=True))
        z = (own - mean) / deviation
        shift, scale, tail = (getattr(found, k)[at : at + 2] for k in ("shift", "scale", "tail"))
        wanted = mean + deviation * (shift + scale * np.sign(z) * np.abs(z) ** (1 + tail))
        np.testing.assert_allclose(moved.samples[name], wanted, rtol=1e-12)


def test_what_cannot_be_calibrated_is_said() -> None:
    forecast = rl.Forecast(np.full((10, 3, 2), 5.0))
    with pytest.raises(rl.LossError, match="20 rows"):
        rl.calibrate(shop(), forecast, np.zeros((10, 2)), predict="d")
    with pytest.raises(rl.LossError, match="10 forecasts and 9 truths"):
        rl.calibrate(shop(), forecast, np.zeros((9, 2)), predict="d")
    # A point has no deviation: nothing to move.
    same = rl.calibrate(shop(), rl.Forecast(np.full((30, 3, 2), 5.0)), np.full((30, 2), 6.0), predict="d")
    assert same.is_identity and same.gain == 0.0


def test_what_a_model_says_decides_as_the_model() -> None:
    rng = np.random.default_rng(7)
    X = rng.uniform(-1.0, 1.0, (200, 2))
    demand = 20.0 + X @ [[3.0, 0.0], [0.0, 5.0]] + (1.0 + X[:, :1]) * rng.standard_normal((200, 2))
    for method in ("l2", "l2+scenarios", "l2+scaled", "l2+forest"):
        model = rl.DecisionRegressor(shop(), method, predicts="d", predictor="linear").fit(X[:150], demand[:150])
        forecast = model.forecast(X[150:])
        assert (forecast.count == 1) == (method == "l2")
        found = rl.decide(shop(), forecast, predict="d")
        own = model.evaluate(X[150:], demand[150:])
        np.testing.assert_allclose(found.expected_objective, own.predicted_objective, rtol=1e-6, atol=1e-9)
        judged = rl.regret(shop(), forecast, demand[150:], predict="d")
        # Where a share of the scenarios is met exactly, more than one decision is as good.
        np.testing.assert_allclose(judged.mean, own.mean, rtol=0.02)


def test_rows_that_calibration_leaves_out_are_told() -> None:
    rng = np.random.default_rng(1)
    samples, truths = 10.0 + 0.5 * rng.standard_normal((40, 20, 2)), 10.0 + 2.0 * rng.standard_normal((40, 2))
    others = np.delete(np.arange(40), [3, 7])
    alone = rl.calibrate(shop(), rl.Forecast(samples[others]), truths[others], predict="d", folds=2)
    samples[3, 4, 1] = truths[7, 0] = np.nan
    with pytest.warns(rl.RegretlessWarning, match=r"2 of 40 samples have no decision.*\(sample 3\).*left out"):
        found = rl.calibrate(shop(), rl.Forecast(samples), truths, predict="d", folds=2)
    np.testing.assert_allclose([found.shift, found.scale, found.tail], [alone.shift, alone.scale, alone.tail])


def test_a_model_foresees_no_rows_and_nothing_before_fit() -> None:
    rng = np.random.default_rng(2)
    X, demand = rng.standard_normal((80, 3)), 20.0 + rng.standard_normal((80, 2))
    for method in ("l2", "l2+scenarios", "l2+neighbours"):
        model = rl.DecisionRegressor(shop(), method, predicts="d", predictor="linear")
        with pytest.raises(rl.TrainingError, match="not fitted yet"):
            model.forecast(X)
        count = model.fit(X, demand).forecast(X).count
        none = model.forecast(X[:0])
        assert np.shape(none.samples) == (0, count, 2)
        assert rl.decide(shop(), none, predict="d").x.shape == (0, 2)


def test_forecasts_and_decisions_are_shown_in_a_line() -> None:
    samples = np.tile([[1.0], [2.0]], (30, 1, 2))
    samples[4] = np.nan
    assert repr(rl.Forecast(samples)) == "Forecast(samples=<30 × 2 × 2 float64>)"
    assert "'d': <30 × 2 × 2 float64>" in repr(rl.Forecast({"d": samples}))
    with pytest.warns(rl.RegretlessWarning):
        decided = rl.decide(shop(), samples=samples, predict="d")
    # Each shop is at 2: one unit too many, half of the time.
    assert repr(decided) == "Decided(30 rows, 2 variables, mean expected objective 1, 1 undecided)"


def given(tmp_path):
    """Rows of two shops whose forecasts are in a file, quantiles in no order of the targets, and what came true."""
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(5)
    level = rng.uniform(20.0, 40.0, (60, 2))
    truths = pandas.DataFrame(level + rng.normal(0.0, [2.0, 6.0], (60, 2)), columns=["bread", "rolls"])
    table = pandas.DataFrame({"note": ["x"] * 60})
    for q, z in ((0.9, 1.28), (0.1, -1.28), (0.5, 0.0)):
        table[f"rolls@{q}"], table[f"bread@{q}"] = level[:, 1] + 6.0 * z, level[:, 0] + 2.0 * z
    table.to_csv(tmp_path / "forecasts.csv", index=False)
    return tmp_path / "forecasts.csv", table, truths


def test_forecasts_of_a_file_go_by_their_names(tmp_path) -> None:
    path, table, truths = given(tmp_path)
    wanted = rl.Forecast.quantiles(
        [0.1, 0.5, 0.9], np.stack([table[[f"bread@{q}", f"rolls@{q}"]].to_numpy() for q in (0.1, 0.5, 0.9)], axis=1)
    )
    best = rl.decide(shop(), wanted, predict="d").x
    model = rl.DecisionRegressor(shop(), "l2", predicts="d").fit(None, truths, forecasts=path)
    for forecasts in (path, str(path), table):
        np.testing.assert_allclose(model.decide(forecasts=forecasts), best, atol=1e-9)
    np.testing.assert_allclose(model.predict(forecasts=path)[:, 1], wanted.samples[:, :, 1] @ wanted.weights)
    assert model.evaluate(None, truths, forecasts=table).mean == pytest.approx(
        rl.regret(shop(), wanted, truths.to_numpy(), predict="d").mean
    )
    model.save(tmp_path / "run")
    run = rl.Run(tmp_path / "run")
    np.testing.assert_array_equal(run.decide(forecasts=path), model.decide(forecasts=table))
    assert run.evaluate(None, truths, forecasts=path).mean == model.evaluate(None, truths, forecasts=path).mean
    # The command line decides with what was learned here.
    from conftest import call

    call(tmp_path, "decide", "run", "--forecasts", "forecasts.csv", "--out", "x.csv")
    pandas = pytest.importorskip("pandas")
    np.testing.assert_allclose(pandas.read_csv(tmp_path / "x.csv").iloc[:, -2:].to_numpy(), best, atol=1e-6)


def test_forecasts_that_do_not_fit_are_refused(tmp_path) -> None:
    path, table, truths = given(tmp_path)
    fresh = rl.DecisionRegressor(shop(), "l2", predicts="d")
    with pytest.raises(rl.RegretlessError, match="rolls"):
        fresh.fit(None, truths, forecasts=table.filter(like="bread"))
    with pytest.raises(rl.TrainingError, match="X has 60 rows, forecasts 50"):
        fresh.fit(truths.add_prefix("was_"), truths, forecasts=table[:50])
    with pytest.raises(rl.TrainingError, match="take the place of a predictor"):
        rl.DecisionRegressor(shop(), "l2", predicts="d", predictor="trees").fit(None, truths, forecasts=path)
    with pytest.raises(rl.TrainingError, match="a file or a frame"):
        fresh.fit(None, truths, forecasts=table.filter(like="@").to_numpy())
    model = fresh.fit(None, truths, forecasts=path)
    with pytest.raises(rl.TrainingError, match="give `forecasts`"):
        model.decide()
    was = (truths + np.random.default_rng(8).normal(size=truths.shape)).add_prefix("was_")
    plain = rl.DecisionRegressor(shop(), "l2", predicts="d", predictor="linear").fit(was, truths)
    with pytest.raises(rl.TrainingError, match="leave `forecasts` out"):
        plain.decide(was, forecasts=path)


def test_given_columns_of_a_frame_go_by_their_names() -> None:
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(6)
    level = rng.uniform(20.0, 40.0, (60, 2))
    truths = pandas.DataFrame(level + rng.normal(0.0, 2.0, (60, 2)), columns=["bread", "rolls"])
    swapped = pandas.DataFrame({"forecast_rolls": level[:, 1], "forecast_bread": level[:, 0]})
    model = rl.DecisionRegressor(shop(), "l2", predicts="d", predictor="given").fit(swapped, truths)
    np.testing.assert_allclose(model.predict(swapped), level, rtol=1e-6)
    np.testing.assert_allclose(model.decide(swapped), level, rtol=1e-6)
    # Names that do not tell are refused, unless they are listed.
    untold = swapped.set_axis(["one", "two"], axis=1)
    with pytest.raises(rl.RegretlessError, match="do not tell which target"):
        rl.DecisionRegressor(shop(), "l2", predicts="d", predictor="given").fit(untold, truths)
    listed = rl.DecisionRegressor(shop(), "l2", predicts="d", predictor="given", features=["two", "one"])
    np.testing.assert_allclose(listed.fit(untold, truths).predict(untold), level, rtol=1e-6)
