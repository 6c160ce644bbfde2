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
