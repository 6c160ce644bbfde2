"""K that nobody gave: fitted once, kept, told; and how far the surrogate is from the problem."""

from __future__ import annotations

import importlib
import pickle
import warnings

import numpy as np
import pytest

import regretless as rl


@pytest.fixture
def portfolio() -> rl.Problem:
    rng = np.random.default_rng(0)
    factors = rng.normal(size=(10, 10)) / np.sqrt(10)
    return rl.Problem(10, Q=0.5 * factors @ factors.T + 0.05 * np.eye(10), B=np.ones((1, 10)), c=1.0)


@pytest.fixture
def returns() -> np.ndarray:
    return np.random.default_rng(1).normal(0.1, 0.3, size=(40, 10))


def test_the_default_is_near_the_exact_optimum(portfolio: rl.Problem, returns: np.ndarray) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        out = rl.Surrogate(portfolio).solve(returns)
    assert np.median(out.exact_gap) < 0.02 and np.abs(out.x - portfolio.solve(returns).x).max() < 0.03
    with pytest.warns(rl.RegretlessWarning, match="% off the exact objective") as told:
        blunt = rl.Surrogate(portfolio, K=5.0).solve(returns)
    assert len(told) == 1 and told[0].filename == __file__
    with pytest.warns(rl.RegretlessWarning, match="% off") as told:
        rl.Surrogate(portfolio, K=5.0, examples={"theta": returns}).solve(returns)
    assert len(told) == 1 and told[0].filename == __file__
    assert np.median(blunt.exact_gap) > 0.1
    exact = portfolio.solve(returns[0]).objective
    size = np.abs(returns[0] * portfolio.solve(returns[0]).x).sum()
    assert blunt.exact_gap[0] * size < abs(blunt.objective[0] - exact) * 1.0001


def test_it_is_fitted_once(portfolio: rl.Problem, returns: np.ndarray) -> None:
    surrogate = rl.Surrogate(portfolio)
    assert surrogate.K is None and "K='auto'" in repr(surrogate)
    surrogate.solve(returns)
    first = surrogate.K
    assert isinstance(first, dict) and first["lower"] == pytest.approx(50.0) and "(auto)" in repr(surrogate)
    surrogate.solve(100.0 * returns)
    assert surrogate.K == first
    again = pickle.loads(pickle.dumps(surrogate))
    assert again.K == first and np.array_equal(again.solve(returns).x, surrogate.solve(returns).x)
    given = rl.Surrogate(portfolio, K=first, multipliers=surrogate.multipliers)
    assert np.array_equal(given.solve(returns).x, surrogate.solve(returns).x)
    told = rl.Surrogate(portfolio, examples={"theta": returns})
    assert told.K == first


def test_a_problem_that_states_theta_has_it_at_once() -> None:
    shop = rl.Problem(
        2, [-0.1, -0.1], soft=rl.Soft(np.eye(2), [0.0, 0.0], weight=1.0, under=5.0), A=[[1.0, 1.0]], b=99.0
    )
    stated = rl.Surrogate(shop)
    assert stated.K is not None
    before = stated.K
    stated.solve([[-0.2, -0.1]])
    assert stated.K == before
    # The limits were placeholders: the first batch with real ones says better.
    real = rl.Surrogate(shop)
    real.solve(d=np.random.default_rng(0).uniform(10.0, 40.0, (20, 2)))
    assert real.K != before


def test_losses_and_layers_keep_it_in_their_state(portfolio: rl.Problem, returns: np.ndarray) -> None:
    torch = pytest.importorskip("torch")
    layers = importlib.import_module("regretless.torch")

    truth, predicted = torch.tensor(returns), torch.tensor(returns[::-1].copy())
    loss = layers.DecisionLoss(portfolio, "surrogate")
    layer = layers.DecisionLayer(rl.Surrogate(portfolio))
    fresh = torch.nn.ModuleList([layers.DecisionLoss(portfolio), layers.DecisionLayer(rl.Surrogate(portfolio))])
    value, x = loss(predicted, truth), layer(predicted)
    assert loss.loss.K == pytest.approx(rl.Surrogate(portfolio, examples={"theta": returns}).K)
    fresh.load_state_dict(torch.nn.ModuleList([loss, layer]).state_dict())
    assert fresh[0].loss.K == loss.loss.K and fresh[1].surrogate.K == layer.surrogate.K
    # Other batches would have led to other K and penalties.
    fresh[0](0.01 * truth, 0.01 * truth)
    assert fresh[0](predicted, truth).item() == pytest.approx(value.item(), rel=1e-12)
    assert torch.equal(fresh[1](predicted), x)
    fresh.load_state_dict({})  # states of older versions have none of it
    assert "auto" in repr(fresh)
    examples = rl.DecisionLoss(portfolio, "surrogate", examples=returns)
    assert examples.K == loss.loss.K and rl.DecisionLoss(portfolio, "spo+").K is None


@pytest.mark.parametrize("scale", [0.01, 3.0, 700.0])
def test_units_of_the_rows_do_not_matter(scale: float) -> None:
    rng = np.random.default_rng(3)
    A, C, theta = rng.uniform(0.1, 1.0, (3, 6)), rng.uniform(0.1, 1.0, (2, 6)), rng.uniform(0.5, 2.0, (30, 6))
    order = rng.permutation(3)

    def shop(s: float, rows: np.ndarray) -> rl.Problem:
        soft = rl.Soft(s * C, s * C.sum(1) * 0.3, weight=0.7 / s)
        return rl.Problem(6, A=s * A[rows], b=s * (A.sum(1) * 0.4)[rows], upper=1.0, soft=soft)

    plain = rl.DecisionLoss(shop(1.0, np.arange(3)), "surrogate")(theta, theta[::-1].copy())
    scaled = rl.DecisionLoss(shop(scale, order), "surrogate")(theta, theta[::-1].copy())
    np.testing.assert_allclose(scaled.value, plain.value, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(scaled.gradient, plain.gradient, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("method", ["surrogate-smooth", "surrogate-vertex", "spo+-smooth", "fenchel-young"])
def test_rows_that_are_stated_twice_count_once(method: str) -> None:
    rng = np.random.default_rng(4)
    A, theta = rng.uniform(0.1, 1.0, (3, 5)), rng.uniform(0.5, 2.0, (30, 5))
    b = A.sum(1) * 0.4
    once = rl.Problem(5, A=A, b=b, B=np.ones((1, 5)), c=1.2, upper=1.0)
    # The same rows again, one of them with a limit that says nothing new.
    twice = rl.Problem(5, A=A[[0, 1, 2, 1, 0]], b=[*b, b[1], b[0] + 1.0], B=np.ones((2, 5)), c=1.2, upper=1.0)
    one, two = (rl.DecisionLoss(p, method)(theta, theta[::-1].copy()) for p in (once, twice))
    np.testing.assert_allclose(two.value, one.value, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(two.gradient, one.gradient, rtol=1e-6, atol=1e-8)
    # Together they move the decision as the one row does; what says nothing moves nothing.
    pulls = []
    for p in (once, twice):
        out = rl.Surrogate(p).solve(theta)
        pulls.append(out.vjp(np.ones_like(theta), wrt=["b", "c"]))
    np.testing.assert_allclose(pulls[1].c.sum(1), pulls[0].c.sum(1), rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(pulls[1].b[:, 1] + pulls[1].b[:, 3], pulls[0].b[:, 1], rtol=1e-6, atol=1e-8)
    assert (pulls[1].b[:, 4] == 0.0).all()
