"""Samples without an answer are NaN and told of once, never the best value there is."""

from __future__ import annotations

import importlib
import pickle
import warnings

import numpy as np
import pytest

import regretless as rl

#: Without an upper bound a negative cost has no optimum.
OPEN = rl.Problem(2, sense="min", A=[[1.0, -1.0]], b=1.0)
TRUTH = np.ones((4, 2))
PREDICTED = np.array([[1.0, 2.0], [np.nan, 1.0], [np.inf, 1.0], [-1.0, -1.0]])


@pytest.mark.parametrize("method", list(rl.METHODS))
def test_no_loss_is_nan_and_told_once(method: str) -> None:
    loss = rl.DecisionLoss(OPEN, method, multipliers=8.0)
    with pytest.warns(rl.RegretlessWarning, match=r"of 4 samples have no loss: .*prediction") as told:
        result = loss(PREDICTED, TRUTH)
    assert len(told) == 1 and told[0].filename == __file__
    # Prediction losses solve nothing, and the ridge of `df` bounds what is not bounded.
    without = [1, 2] if method in ("l1", "l2", "weighted-l1", "df") else [1, 2, 3]
    assert sorted(result.troubles) == without
    assert np.isnan(result.value).nonzero()[0].tolist() == without
    assert np.isnan(result.gradient).all(axis=1).nonzero()[0].tolist() == without


def test_the_setting_says_what_becomes_of_them() -> None:
    with pytest.raises(rl.LossError, match=r"3 of 4 samples have no loss: .*unbounded"):
        rl.DecisionLoss(OPEN, "spo+", infeasible="fail")(PREDICTED, TRUTH)
    skipping = rl.DecisionLoss(OPEN, "spo+", infeasible="skip", mix=0.5)
    with pytest.warns(rl.RegretlessWarning, match="left out of the gradient"):
        result = skipping(PREDICTED, TRUTH)
    assert (
        (result.gradient[1:] == 0.0).all() and np.isfinite(result.gradient).all() and np.isnan(result.value[1:]).all()
    )
    assert pickle.loads(pickle.dumps(skipping)).infeasible == "skip"
    with pytest.raises(rl.LossError, match="infeasible is 'maybe': \"mark\""):
        rl.DecisionLoss(OPEN, infeasible="maybe")  # type: ignore[arg-type]


def test_sound_batches_are_silent() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rl.DecisionLoss(OPEN, "spo+")(TRUTH + 0.5, TRUTH)
        rl.regret(OPEN, TRUTH + 0.5, TRUTH)


def test_a_mean_in_torch_is_nan_or_that_of_the_others() -> None:
    torch = pytest.importorskip("torch")
    layers = importlib.import_module("regretless.torch")

    truth = torch.tensor(TRUTH)
    for infeasible in ("mark", "skip"):
        predicted = torch.tensor(PREDICTED, requires_grad=True)
        loss = layers.DecisionLoss(OPEN, "spo+", infeasible=infeasible)
        with pytest.warns(rl.RegretlessWarning, match="3 of 4"):
            value = loss(predicted, truth)
        value.backward()
        assert torch.isnan(value) == (infeasible == "mark")
        assert torch.isnan(predicted.grad[1:]).all() == (infeasible == "mark")
        if infeasible == "skip":
            assert value.item() == pytest.approx(rl.DecisionLoss(OPEN, "spo+")(PREDICTED[:1], TRUTH[:1]).value[0])
            with pytest.warns(rl.RegretlessWarning, match="3 of 3"):
                assert torch.isnan(loss(predicted[1:], truth[1:]))


def test_regret_of_nothing_is_unknown() -> None:
    with pytest.warns(rl.RegretlessWarning, match="3 of 4 samples have no decision to judge"):
        judged = rl.regret(OPEN, PREDICTED, TRUTH)
    assert judged.undecided == 3 and np.isnan(judged.regret[1:]).all() and np.isnan(judged.x[1:]).all()
    with pytest.warns(rl.RegretlessWarning):
        nothing = rl.regret(OPEN, PREDICTED[1:], TRUTH[1:])
    assert all(np.isnan(v) for v in (nothing.mean, nothing.relative, nothing.cvar(), nothing.quantile(0.5)))
    with pytest.raises(rl.LossError, match="3 of 4"):
        rl.regret(OPEN, PREDICTED, TRUTH, infeasible="fail")


def test_a_layer_has_no_point_where_there_is_no_optimum() -> None:
    surrogate = rl.Surrogate(OPEN, multipliers=8.0)
    with pytest.warns(rl.RegretlessWarning, match=r"3 of 4 samples have no optimum: .*NaN.*unbounded|unbounded.*NaN"):
        out = surrogate.solve(PREDICTED)
    assert np.isfinite(out.x[0]).all() and np.isnan(out.x[1:]).all() and np.isnan(out.objective[1:]).all()
    gradient = out.vjp(np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 0.0], [1.0, 0.0]]), wrt="theta").theta
    # Nobody asks for the gradient of the third.
    assert np.isnan(gradient).all(axis=1).tolist() == [False, True, False, True]
    with pytest.warns(rl.RegretlessWarning, match="point reached"):
        assert np.isfinite(surrogate.solve(PREDICTED, best_effort=True).x[3]).all()


def test_a_theta_that_nobody_gave_is_no_theta() -> None:
    farm = rl.Problem(2, A=[[1.0, 1.0]], b=8.0, soft=rl.Soft([[2.0, 1.0]], 10.0, weight=0.5))
    for use in (farm.solve, rl.Surrogate(farm).solve, lambda: farm.solve(d=[[9.0], [8.0]])):
        with pytest.raises(rl.ProblemError, match=r"theta was never given: .*theta=0\.0"):
            use()
    assert rl.Problem(2, 0.0, A=[[1.0, 1.0]], b=8.0).solve().objective == 0.0
    # What is asked about rows needs none.
    assert farm.objective([8.0, 0.0]) == -3.0 and rl.Multipliers.choose(farm, 7.0).values.at_most == [7.0]


def test_fit_names_what_is_suspicious(rng: np.random.Generator) -> None:
    shop = rl.Problem(2, A=[[1.0, 2.0]], b=4.0, upper=3.0)
    X, y = rng.normal(size=(100, 4)), rng.uniform(1.0, 2.0, (100, 2))
    X[:, 1], X[:, 3], y[:, 1] = 3.0 - 2.0 * y[:, 0], X[:, 0], 1.5
    with pytest.warns(rl.RegretlessWarning) as told:
        rl.DecisionRegressor(shop, "l2", predictor="linear", epochs=2).fit(X, y)
    text = " ".join(str(w.message) for w in told)
    for part in ("`x1` is an affine function of `theta_x0`", "`theta_x1` does not change", "`x0` and `x3`"):
        assert part in text
    assert len(told) == 3 and all(w.filename == __file__ for w in told)
    with pytest.warns(rl.RegretlessWarning, match="1 row for validation: too few"):
        model = rl.DecisionRegressor(shop, "auto", predictor="linear", epochs=2).fit(X[:5, :1], y[:5])
    assert "cannot tell methods apart" in model.summary_ and "standard errors" not in model.summary_


def test_a_regret_with_holes_says_so() -> None:
    problem = rl.Problem(1, theta=1.0, A=[[1.0]], b=1.0)
    with pytest.warns(rl.RegretlessWarning, match="1 of 4"):
        found = rl.regret(problem, [[np.nan], [5.0], [4.0], [2.0]], np.full((4, 1), 5.0), predict="b")
    # Regrets of 0, 1 and 3: x is what is predicted, 5 the best.
    assert found.undecided == 1 and found.mean == pytest.approx(4 / 3) and found.relative == pytest.approx(4 / 15)
    assert found.standard_error == pytest.approx(np.sqrt(7 / 9)) and found.quantile(0.5) == pytest.approx(1.0)
    assert found.cvar() == pytest.approx(3.0) and "mean regret 1.333 ± 0.88, 1 undecided" in repr(found)
    assert found.decided.mean == found.mean and len(found.decided.regret) == 3
    # Relative to an optimal value of 0 there is nothing to say, and no division by it.
    idle = rl.Problem(1, theta=-1.0, A=[[1.0]], b=1.0)
    nothing = rl.regret(idle, [[1.0]], [[-1.0]], predict="theta")
    assert nothing.mean == pytest.approx(1.0) and np.isnan(nothing.relative)
