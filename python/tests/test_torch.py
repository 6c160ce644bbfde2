"""The PyTorch layer and losses."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from conftest import draw

import regretless as rl

torch = pytest.importorskip("torch")
import regretless.torch  # noqa: E402

torch.set_num_threads(1)


def tensors(p: rl.Problem, names: list[str], rows: int, rng: np.random.Generator) -> list:
    out = []
    for name in names:
        value = p.stated(name) + 0.01 * rng.normal(size=(rows, *p.shapes[name]))
        if name == "Q":
            value = (value + value.transpose(0, 2, 1)) / 2 + 0.05 * np.eye(p.n)
        out.append(torch.tensor(np.abs(value) if name in ("alpha", "under") else value, requires_grad=True))
    return out


@pytest.mark.parametrize(
    "names",
    [
        ["theta"],
        ["Q"],
        ["C"],
        ["d"],
        ["alpha"],
        ["under"],
        ["A"],
        ["b"],
        ["B"],
        ["c"],
        ["lower"],
        ["upper"],
        ["theta", "C", "d"],
    ],
)
def test_gradcheck(names: list[str]) -> None:
    rng = np.random.default_rng(5)
    p = draw(rng, 4, quadratic=True, equal=1)
    layer = rl.torch.DecisionLayer(rl.Surrogate(p, K=2.0, multipliers=8.0))

    def decide(*values):
        given = dict(zip(names, values))
        if "Q" in given:  # Q is read as (Q + Qᵀ)/2, and checked for symmetry.
            given["Q"] = (given["Q"] + given["Q"].transpose(1, 2)) / 2
        return layer(**given)

    assert torch.autograd.gradcheck(decide, tensors(p, names, 2, rng), eps=1e-6, atol=1e-4, rtol=1e-3)


def test_shared_tensors_have_the_sum(rng: np.random.Generator) -> None:
    p = draw(rng, 4, quadratic=True)
    layer = rl.torch.DecisionLayer(rl.Surrogate(p, K=2.0))
    theta = torch.tensor(rng.normal(size=(3, 4)))
    shared = torch.tensor(p.stated("d"), requires_grad=True)
    layer(theta, d=shared).sum().backward()
    each = shared.detach().expand(3, -1).clone().requires_grad_()
    layer(theta, d=each).sum().backward()
    assert torch.allclose(shared.grad, each.grad.sum(0))


def test_float32_and_one_instance(farm: rl.Problem) -> None:
    layer = rl.torch.DecisionLayer(rl.Surrogate(farm, K=5.0))
    theta = torch.tensor([3.0, 2.0], dtype=torch.float32, requires_grad=True)
    x = layer(theta)
    x.sum().backward()
    assert x.dtype == torch.float32 and x.shape == (2,) and theta.grad.shape == (2,)
    assert layer.solution.status == "optimal"


def test_training_through_the_layer_lowers_the_regret(rng: np.random.Generator) -> None:
    p = draw(rng, 4, quadratic=True)
    features = torch.tensor(rng.normal(size=(64, 5)))
    truth = features @ torch.tensor(rng.normal(size=(5, 4)))
    network = torch.nn.Linear(5, 4, dtype=torch.float64)
    loss = rl.torch.DecisionLoss(p, method="spo+", predict="theta")
    optimizer = torch.optim.Adam(network.parameters(), lr=0.05)
    before = rl.regret(p, network(features).detach().numpy(), truth.numpy(), predict="theta").mean
    for _ in range(60):
        optimizer.zero_grad()
        loss(network(features), truth, ids=torch.arange(64)).backward()
        optimizer.step()
    assert rl.regret(p, network(features).detach().numpy(), truth.numpy(), predict="theta").mean < 0.2 * before


def test_loss_gradients_reach_several_predictions(rng: np.random.Generator) -> None:
    p = draw(rng, 3, quadratic=True)
    predicted = {
        s: torch.tensor(p.stated(s)[None] + 0.1 * rng.normal(size=(1, *p.shapes[s])), requires_grad=True)
        for s in ("C", "d")
    }
    truth = {s: torch.tensor(p.stated(s)[None]) for s in ("C", "d")}
    rl.torch.DecisionLoss(p, predict=["C", "d"], K=2.0)(predicted, truth).backward()
    assert all(float(t.grad.abs().sum()) > 0 for t in predicted.values())


def test_gradients_agree_with_cvxpylayers() -> None:
    cp = pytest.importorskip("cvxpy")
    layers = pytest.importorskip("cvxpylayers.torch")
    rng = np.random.default_rng(2)
    n = 4
    root = rng.normal(size=(n, n))
    Q = root @ root.T + np.eye(n)
    A = np.abs(rng.normal(size=(2, n)))
    x, theta, b = cp.Variable(n), cp.Parameter(n), cp.Parameter(2)
    objective = cp.Maximize(theta @ x - cp.sum_squares(np.linalg.cholesky(Q).T @ x))
    other = layers.CvxpyLayer(cp.Problem(objective, [A @ x <= b, x >= 0]), parameters=[theta, b], variables=[x])
    ours = rl.torch.DecisionLayer(rl.Surrogate(rl.Problem(n, Q=Q, A=A, b=np.ones(2)), K=1e6, multipliers=50.0))
    checked = 0
    for _ in range(6):
        values = [torch.tensor(rng.normal(size=n) + 2.0), torch.tensor(rng.uniform(0.1, 0.6, 2))]
        g = torch.tensor(rng.normal(size=n))
        answers = []
        for layer in (lambda t, r: other(t, r, solver_args={"eps": 1e-12})[0], lambda t, r: ours(t, b=r)):
            given = [v.clone().requires_grad_() for v in values]
            out = layer(*given)
            (out * g).sum().backward()
            answers.append((out.detach(), *(v.grad for v in given)))
        # Where a row is just about to bind, both derivatives are one-sided.
        if float((A @ answers[0][0].numpy() - values[1].numpy()).min()) > -1e-6:
            continue
        for a, c in zip(*answers):
            assert torch.allclose(a, c, atol=2e-4)
        checked += 1
    assert checked >= 2


def test_wrong_arguments(farm: rl.Problem) -> None:
    layer = rl.torch.DecisionLayer(rl.Surrogate(farm))
    with pytest.raises(TypeError, match="a tensor is expected"):
        layer([1.0, 2.0])
    with pytest.raises(TypeError, match="at least one"):
        layer()
    with pytest.raises(TypeError, match="Surrogate is expected"):
        rl.torch.DecisionLayer(farm)
    with pytest.raises(TypeError, match="floating-point"):
        layer(torch.tensor([[3, 2]]))
    with pytest.raises(TypeError, match="truths is a list"):
        rl.torch.DecisionLoss(farm, "spo+")(torch.tensor([[1.0, 2.0]]), [[2.0, 1.0]])


def test_second_derivatives_are_refused() -> None:
    layer = rl.torch.DecisionLayer(rl.Surrogate(rl.Problem(2, Q=np.eye(2), lower=None)))
    theta = torch.tensor([3.0, 2.0], requires_grad=True)
    (slope,) = torch.autograd.grad((layer(theta) ** 2).sum(), theta, create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        slope.sum().backward()


def test_a_layer_can_be_copied_after_use(farm: rl.Problem) -> None:
    layer = rl.torch.DecisionLayer(rl.Surrogate(farm))
    theta = torch.tensor([[3.0, 2.0]])
    assert torch.equal(copy.deepcopy(layer)(theta), layer(theta))
    assert torch.equal(copy.deepcopy(layer)(theta), layer(theta))
