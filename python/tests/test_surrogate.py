"""Gradients against finite differences and against cvxpylayers."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from conftest import draw

import regretless as rl


@pytest.mark.parametrize("quadratic", [False, True])
def test_gradients_agree_with_differences(quadratic: bool) -> None:
    rng = np.random.default_rng(3)
    p = draw(rng, 5, quadratic=quadratic, equal=1)
    surrogate = rl.Surrogate(p, K=2.0)
    g = rng.normal(size=5)
    gradients, step = surrogate.solve().vjp(g), 1e-6
    for symbol in p.shapes:
        if symbol == "Q" and not quadratic:
            continue
        value, found = p.stated(symbol), getattr(gradients, symbol)
        direction = rng.normal(size=value.shape)
        if symbol == "Q":
            direction = direction + direction.T
        up, down = (surrogate.solve(**{symbol: value + s * step * direction}).x @ g for s in (1, -1))
        assert np.sum(found * direction) == pytest.approx((up - down) / (2 * step), abs=2e-5), symbol
    up, down = (rl.Surrogate(p, K=2.0 + s * step, multipliers=surrogate.multipliers).solve().x @ g for s in (1, -1))
    assert gradients.K == pytest.approx((up - down) / (2 * step), abs=2e-5)


def test_an_lp_has_a_gradient_in_a_given_q() -> None:
    p = draw(np.random.default_rng(1), 4, quadratic=False)
    out = rl.Surrogate(p, K=2.0).solve(Q=np.eye(4))
    assert out.vjp(np.ones(4)).Q.shape == (4, 4)
    plain = rl.Surrogate(p, K=2.0).solve()
    assert plain.vjp(np.ones(4)).Q is None
    with pytest.raises(rl.ProblemError, match="no `Q` here"):
        plain.vjp(np.ones(4), wrt=["Q"])


def test_the_surrogate_tends_to_the_problem(rng: np.random.Generator) -> None:
    p = draw(rng, 6, quadratic=True)
    exact = p.solve().x
    distances = [np.abs(rl.Surrogate(p, K=k).solve().x - exact).max() for k in (1.0, 10.0, 1e4)]
    assert distances[0] > distances[1] > distances[2] and distances[2] < 1e-3


def test_vertex_mode_and_sharpness_by_kind(farm: rl.Problem) -> None:
    smooth, vertex = (rl.Surrogate(farm, K=25.0, segments=s).solve([3.0, 2.0]).x for s in ("smooth", "vertex"))
    assert np.abs(smooth - vertex).max() < 0.1
    sharp = rl.Surrogate(farm, K={"soft": 1e6, "at_most": 1e6, "lower": 1e6, "upper": 1e6})
    assert np.allclose(sharp.solve([3.0, 2.0]).x, [8.0, 0.0], atol=1e-4)


def test_ids_start_where_they_were(farm: rl.Problem) -> None:
    surrogate = rl.Surrogate(farm)
    theta = np.random.default_rng(0).normal(size=(50, 2)) + 2.0
    cold = surrogate.solve(theta)
    warm = [surrogate.solve(theta, ids=np.arange(50)) for _ in range(2)][-1]
    assert np.allclose(cold.x, warm.x, atol=1e-9)
    assert surrogate._inner is not None and surrogate._inner.remembered == 50
    surrogate.forget()
    assert surrogate._inner.remembered == 0
    surrogate.solve(theta, ids=np.arange(50))
    assert surrogate._inner.remembered == 50


def test_threads_change_nothing_whichever_way_small_batches_are_done(farm: rl.Problem) -> None:
    rng = np.random.default_rng(1)
    start = rng.normal(size=(40, 2)) + 2.0
    alone, free = rl.Surrogate(farm, multipliers=9.0), rl.Surrogate(farm, multipliers=9.0)
    for _ in range(150):  # both ways of doing a batch are timed in between
        start += 0.05 * rng.normal(size=start.shape)
        one, all_ = (s.solve(start, ids=np.arange(40), threads=t) for s, t in ((alone, 1), (free, None)))
        assert np.array_equal(one.x, all_.x)
        gradients = [s.vjp(start, threads=t).theta for s, t in ((one, 1), (all_, None))]
        assert np.array_equal(*gradients)


def test_penalties_too_small_are_named(farm: rl.Problem) -> None:
    small = rl.Surrogate(farm, multipliers={"at_most": [0.1], "lower": 10.0, "upper": 10.0})
    out = small.solve([3.0, 2.0], upper=10.0)
    assert out.status == "uncapped" and out.why == ["at_most"]
    # Without bounds the softened problem has no end, and no row is to blame.
    assert small.solve([3.0, 2.0]).why == []


def test_rules_for_penalties(farm: rl.Problem) -> None:
    theta = np.array([[3.0, 2.0], [1.0, 2.0]])
    dual, theory = (rl.Multipliers.choose(farm, rule, theta=theta) for rule in ("dual", "theory"))
    assert dual.certificate.holds and theory.certificate.holds
    # The multiplier of the land is at most the larger price of a crop: 2 at (3, 2), where water takes its share.
    assert dual.values.at_most == pytest.approx(4 * 2.0)
    assert rl.Multipliers.choose(farm, 7.0, theta=theta).values.at_most == [7.0]
    with pytest.raises(rl.MultiplierError, match="no rule"):
        rl.Surrogate(farm, multipliers="guess")


def test_smoothed_gradients_see_what_is_near() -> None:
    """Two variables at their upper bounds, one of them barely worth it: the derivative does not tell them apart, an
    interior-point method does. Separable, so that the central path is a formula: λ = μ/(1 − x), ν = μ/x, θ = λ − ν."""
    box, theta = rl.Problem(2, upper=[1.0, 1.0]), np.array([2.0, 0.2])
    mu = 1e-6
    # Four bounds; the size of the objective is Σθ.
    smoothed = rl.Surrogate(box, K=1e6, multipliers=8.0, smoothing=4.0 * mu / theta.sum())
    found = np.array([smoothed.solve(theta).vjp(g, wrt="theta").theta for g in np.eye(2)])

    def central(price: float) -> float:
        # μ/(1 − x) − μ/x = θ
        roots = np.roots([price, 2.0 * mu - price, -mu])
        return float(next(r.real for r in roots if 0.0 < r.real < 1.0))

    h = 1e-4
    expected = [(central(t + h) - central(t - h)) / (2.0 * h) for t in theta]
    np.testing.assert_allclose(np.diag(found), expected, rtol=1e-2)
    assert found[1, 1] > 90.0 * found[0, 0]
    exact = rl.Surrogate(box, K=1e6, multipliers=8.0).solve(theta)
    assert exact.vjp([1.0, 0.0], wrt="theta").theta[0] == pytest.approx(exact.vjp([0.0, 1.0], wrt="theta").theta[1])


@pytest.mark.parametrize("smoothing", [-0.1, 1.5, float("nan")])
def test_smoothing_is_a_share(smoothing: float) -> None:
    with pytest.raises(rl.ProblemError, match="smoothing"):
        rl.Surrogate(rl.Problem(2, upper=1.0), smoothing=smoothing)
    with pytest.raises(rl.ProblemError, match="smooth segments"):
        rl.Surrogate(rl.Problem(2, upper=1.0), segments="vertex", smoothing=0.1)


def test_smoothing_is_kept_by_copies() -> None:
    surrogate = rl.Surrogate(rl.Problem(2, upper=1.0), smoothing=0.3, examples={"theta": [[1.0, 2.0]]})
    again = pickle.loads(pickle.dumps(surrogate))
    assert "smoothing=0.3" in repr(again)
    upstream = [1.0, -1.0]
    same = [s.solve([1.0, 2.0]).vjp(upstream, wrt="theta").theta for s in (surrogate, again)]
    np.testing.assert_array_equal(*same)
