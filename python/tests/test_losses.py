"""Decision losses: values by hand, gradients against differences."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from conftest import draw

import regretless as rl


@pytest.mark.parametrize("method", [m for m in rl.METHODS if m not in ("l1", "weighted-l1")])
def test_gradients_agree_with_differences(method: str) -> None:
    rng = np.random.default_rng(11)
    # A strictly convex problem: decisions are smooth almost everywhere.
    p = draw(rng, 4, quadratic=True)
    loss = rl.DecisionLoss(p, method, predict="theta", K=2.0, ridge=1e-9)
    truth, predicted, step = rng.normal(size=(6, 4)), rng.normal(size=(6, 4)), 1e-6
    result = loss(predicted, truth)
    assert not result.troubles
    for k in range(4):
        shift = step * np.eye(4)[k]
        differences = (loss(predicted + shift, truth).value - loss(predicted - shift, truth).value) / (2 * step)
        if method == "surrogate-vertex":
            continue  # Its pieces are frozen: the gradient is the paper's, not that of the value.
        assert result.gradient[:, k] == pytest.approx(differences, abs=1e-4), k


def test_a_stated_theta_is_not_replaced_unasked(rng: np.random.Generator) -> None:
    p, costs = draw(rng, 3, quadratic=False), rng.normal(size=(4, 3))
    for use in (
        lambda: rl.DecisionLoss(p),
        lambda: rl.regret(p, costs, costs),
        lambda: rl.DecisionRegressor(p, "l2").fit(costs, costs),
    ):
        with pytest.raises(rl.ProblemError, match=r'states theta: say what is predicted, such as predicts?="d"'):
            use()


def test_spo_plus_bounds_the_regret(rng: np.random.Generator) -> None:
    p = draw(rng, 5, quadratic=False)
    truth, predicted = rng.normal(size=(40, 5)), rng.normal(size=(40, 5))
    loss = rl.DecisionLoss(p, "spo+", predict="theta")(predicted, truth).value
    assert (loss >= rl.regret(p, predicted, truth, predict="theta").regret - 1e-9).all()


def test_several_parameters_at_once(rng: np.random.Generator) -> None:
    p = draw(rng, 4, quadratic=True)
    truth = {"C": p.stated("C") + 0.1 * rng.normal(size=(5, 3, 4)), "d": p.stated("d") + 0.1 * rng.normal(size=(5, 3))}
    predicted = {name: value + 0.1 * rng.normal(size=value.shape) for name, value in truth.items()}
    loss = rl.DecisionLoss(p, "surrogate", predict=["C", "d"], K=3.0)
    result = loss(predicted, truth)
    assert result.gradient["C"].shape == (5, 3, 4) and (result.value >= 0).all()
    assert loss(truth, truth).value == pytest.approx(np.zeros(5), abs=1e-9)
    decisions = rl.regret(p, predicted, truth, predict=["C", "d"])
    by_hand = [p.objective(x, C=C, d=d) for x, C, d in zip(decisions.x, truth["C"], truth["d"])]
    assert decisions.objective == pytest.approx(np.array(by_hand))
    best = p.solve(**truth).objective
    sign = 1.0 if p.sense == "max" else -1.0
    assert decisions.regret == pytest.approx(sign * (best - np.array(by_hand)), abs=1e-8)


def test_mixing_has_the_length_of_l2(rng: np.random.Generator) -> None:
    p = draw(rng, 4, quadratic=True)
    truth, predicted = rng.normal(size=(2, 6, 4))
    l2, own, mixed = (
        rl.DecisionLoss(p, m, predict="theta", mix=w, K=2.0)(predicted, truth).gradient
        for m, w in (("l2", None), ("surrogate", None), ("surrogate", 0.25))
    )
    assert mixed == pytest.approx(0.25 * l2 + 0.75 * own * np.linalg.norm(l2) / np.linalg.norm(own))


def test_what_does_not_fit_is_refused_by_name(farm: rl.Problem) -> None:
    with pytest.raises(rl.LossError, match="spo\\+"):
        rl.DecisionLoss(farm, "spo+", predict="C")
    with pytest.raises(rl.LossError, match="there is no method"):
        rl.DecisionLoss(farm, "magic")
    with pytest.raises(rl.ProblemError, match="no parameter `B`"):
        rl.DecisionLoss(farm, predict="B")


def test_measures_by_hand(rng: np.random.Generator) -> None:
    p = draw(rng, 3, quadratic=False)
    d = rl.regret(p, rng.normal(size=(30, 3)), rng.normal(size=(30, 3)), predict="theta")
    assert d.mean == pytest.approx(d.regret.mean())
    assert d.relative == pytest.approx(d.regret.mean() / np.abs(d.optimal).mean())
    assert d.cvar(0.9) == pytest.approx(np.sort(d.regret)[-3:].mean())
    assert d.standard_error == pytest.approx(d.regret.std(ddof=1) / np.sqrt(30))


def test_penalties_are_part_of_a_pickle(rng: np.random.Generator) -> None:
    p = draw(rng, 4, quadratic=True)
    loss = rl.DecisionLoss(p, predict="theta")
    loss(rng.normal(size=(5, 4)), rng.normal(size=(5, 4)))
    again = pickle.loads(pickle.dumps(loss))
    far = 100.0 * rng.normal(size=(5, 4))
    assert again(far, far[::-1]).value == pytest.approx(loss(far, far[::-1]).value)
    loss(far, far[::-1])
    loss.end_epoch()
    raised = pickle.loads(pickle.dumps(loss))
    assert raised(far, far[::-1]).value == pytest.approx(loss(far, far[::-1]).value)


def test_breaking_a_hard_row_does_not_pay() -> None:
    p = rl.Problem(2, [3.0, 2.0], A=[[1.0, 1.0]], b=8.0)
    judged = rl.regret(p, [[100.0], [8.0], [-1.0]], [[8.0], [8.0], [8.0]], predict="b")
    # 92 units too much at four times the multiplier 3, less the 276 that they bring.
    assert judged.regret[:2] == pytest.approx([92 * 12.0 - 276.0, 0.0])
    assert judged.undecided == 1 and np.isnan(judged.regret[2])


def test_rounding_has_no_direction(farm: rl.Problem) -> None:
    # The decision does not change near the prediction, so that nothing but L2 is left of the mixture.
    plain = rl.DecisionLoss(farm, "l2")([[30.0, 2.0]], [[31.0, 2.0]]).gradient
    mixed = rl.DecisionLoss(farm, "df", mix=0.5, ridge=1e-9)([[30.0, 2.0]], [[31.0, 2.0]]).gradient
    assert mixed == pytest.approx(0.5 * plain)


def test_smoothing_reaches_the_surrogate_loss(rng: np.random.Generator) -> None:
    """The gradient of a sample is that of the surrogate: H⁻¹(θ̂ − θ), with the H of smoothed gradients."""
    shop = rl.Problem(4, A=[[1.0, 2.0, 1.0, 3.0]], b=10.0, upper=4.0)
    predicted, true = rng.uniform(1.0, 3.0, (2, 20, 4))
    penalties = rl.Multipliers.choose(shop, "dual", theta=true)
    loss = rl.DecisionLoss(shop, "surrogate", smoothing=0.3, multipliers=penalties)
    solved = rl.Surrogate(shop, smoothing=0.3, multipliers=penalties).solve(predicted)
    expected = solved.vjp(predicted - true, wrt="theta").theta
    np.testing.assert_allclose(loss(predicted, true).gradient, expected, rtol=1e-9)
    plain = rl.DecisionLoss(shop, "surrogate", multipliers=penalties)(predicted, true)
    assert np.abs(plain.gradient - expected).max() > 0.1


def test_smoothing_out_of_range_is_said_at_once() -> None:
    with pytest.raises(rl.RegretlessError, match="smoothing"):
        rl.DecisionLoss(rl.Problem(2, upper=1.0), "surrogate", smoothing=2.0)
