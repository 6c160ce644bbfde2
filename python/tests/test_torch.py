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
    with pytest.raises(RuntimeError, match="differentiate twice"):
        slope.sum().backward()


def test_a_layer_can_be_copied_after_use(farm: rl.Problem) -> None:
    layer = rl.torch.DecisionLayer(rl.Surrogate(farm))
    theta = torch.tensor([[3.0, 2.0]])
    assert torch.equal(copy.deepcopy(layer)(theta), layer(theta))
    assert torch.equal(copy.deepcopy(layer)(theta), layer(theta))


def test_losses_of_every_sample(rng: np.random.Generator) -> None:
    machine = rl.Problem(3, A=[[1.0, 2.0, 1.0]], b=2.0, upper=1.0)
    truth = torch.tensor(rng.uniform(1.0, 2.0, (5, 3)))
    predicted = torch.tensor(rng.uniform(1.0, 2.0, (5, 3)), requires_grad=True)
    of = {way: rl.torch.DecisionLoss(machine, "spo+", reduction=way) for way in ("none", "sum", "mean")}
    each = of["none"](predicted, truth)
    assert each.shape == (5,) and torch.allclose(each.sum(), of["sum"](predicted, truth))
    assert torch.allclose(each.mean(), of["mean"](predicted, truth))
    weights = torch.tensor(rng.uniform(size=5))
    (weighted,) = torch.autograd.grad((weights * each).sum(), predicted)
    for i in range(5):
        (own,) = torch.autograd.grad(of["mean"](predicted[i : i + 1], truth[i : i + 1]), predicted)
        assert torch.allclose(weighted[i], weights[i] * own[i])
    with pytest.raises(ValueError, match="'mean', 'sum' or 'none'"):
        rl.torch.DecisionLoss(machine, reduction="all")


def test_tensors_in_the_order_of_the_named_parameters(farm: rl.Problem) -> None:
    surrogate = rl.Surrogate(farm, K=3.0, multipliers=8.0)
    layer = rl.torch.DecisionLayer(surrogate, parameters=["b", "theta"])
    theta = torch.tensor([[3.0, 2.0], [1.0, 2.0]], dtype=torch.float64, requires_grad=True)
    b = torch.tensor([8.0], dtype=torch.float64, requires_grad=True)
    assert torch.equal(layer(b, theta), rl.torch.DecisionLayer(surrogate)(theta, b=b))
    layer(b, theta).sum().backward()
    assert theta.grad is not None and b.grad is not None and b.grad.shape == (1,)
    for call, says in [
        (lambda: layer(b, theta, b), "3 tensors for b, theta"),
        (lambda: layer(b, theta, b=b), "b is given twice"),
    ]:
        with pytest.raises(TypeError, match=says):
            call()
    with pytest.raises(rl.ProblemError, match="no parameter `c`"):
        rl.torch.DecisionLayer(surrogate, parameters=["c"])


def test_in_the_shape_of_cvxpylayers() -> None:
    """The portfolio of their documentation: the same answers and gradients, up to the smoothing."""
    cp = pytest.importorskip("cvxpy")
    theirs = pytest.importorskip("cvxpylayers.torch")
    n = 4
    x, mu, root = cp.Variable(n, name="x"), cp.Parameter(n, name="mu"), cp.Parameter(name="most")
    sigma = np.diag([0.4, 0.3, 0.2, 0.5])
    problem = cp.Problem(cp.Maximize(mu @ x - cp.quad_form(x, sigma)), [cp.sum(x) == 1, x >= 0, x <= root])
    answers = []
    for layer in (
        theirs.CvxpyLayer(problem, parameters=[mu, root], variables=[x]),
        rl.torch.CvxpyLayer(problem, parameters=[mu, root], variables=[x], K=1e4, multipliers=20.0),
    ):
        returns = torch.tensor([[0.1, 0.3, 0.2, 0.15], [0.2, 0.1, 0.25, 0.3]], dtype=torch.float64, requires_grad=True)
        most = torch.tensor([0.5, 0.6], dtype=torch.float64, requires_grad=True)
        (weights,) = layer(returns, most)
        (weights * torch.arange(1.0, 5.0, dtype=torch.float64)).sum().backward()
        answers.append((weights.detach(), returns.grad, most.grad))
    for one, other in zip(*answers):
        assert torch.allclose(one, other, atol=2e-3), (one, other)
    layer = rl.torch.CvxpyLayer(problem, [mu, root], [x])
    with pytest.raises(TypeError, match="expected one for each of mu, most"):
        layer(torch.zeros(4))
    with pytest.raises(rl.ProblemError, match="no variable `y`: it has x"):
        rl.torch.CvxpyLayer(problem, [mu, root], ["y"])
    with pytest.warns(rl.RegretlessWarning, match="solver_args"):
        layer(torch.ones(4, dtype=torch.float64), torch.tensor(0.5, dtype=torch.float64), solver_args={"eps": 1e-8})


def test_torch_func_transforms(farm: rl.Problem, rng: np.random.Generator) -> None:
    layer = rl.torch.DecisionLayer(rl.Surrogate(farm, K=3.0, multipliers=8.0))
    theta = torch.tensor(rng.uniform(1.0, 3.0, (4, 2)))
    b = torch.tensor([8.0], dtype=torch.float64)
    # A map over rows is a batch.
    mapped = torch.func.vmap(lambda row: layer(row, b=b))(theta)
    assert torch.allclose(mapped, layer(theta, b=b))
    assert torch.allclose(torch.func.vmap(layer, in_dims=1)(theta.T), layer(theta))
    # Over batches, and over limits that batches share.
    twice = torch.func.vmap(lambda limit: layer(theta, b=limit))(torch.tensor([[8.0], [6.0]], dtype=torch.float64))
    assert twice.shape == (2, 4, 2) and torch.allclose(
        twice[1], layer(theta, b=torch.tensor([6.0], dtype=torch.float64))
    )
    # Gradients and Jacobians against autograd and differences.
    given = theta.clone().requires_grad_()
    (wanted,) = torch.autograd.grad((layer(given) ** 2).sum(), given)
    assert torch.allclose(torch.func.grad(lambda t: (layer(t) ** 2).sum())(theta), wanted)
    each = torch.func.vmap(torch.func.grad(lambda t: (layer(t) ** 2).sum()))(theta)
    assert torch.allclose(each, wanted)
    jacobian = torch.func.jacrev(layer)(theta[0])
    step = 1e-6
    for j in range(2):
        moved = theta[0].clone()
        moved[j] += step
        assert torch.allclose(jacobian[:, j], (layer(moved) - layer(theta[0])) / step, atol=1e-4)


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_torch_func_of_losses(farm: rl.Problem, rng: np.random.Generator, reduction: str) -> None:
    """Gradients in the weights of a network, as torch.func takes them, against those of ``backward``."""
    loss = rl.torch.DecisionLoss(farm, "surrogate-smooth", K=3.0, multipliers=8.0, reduction=reduction)
    X, true = torch.tensor(rng.normal(size=(6, 3))), torch.tensor(rng.uniform(1.0, 3.0, (6, 2)))
    network = torch.nn.Linear(3, 2, dtype=torch.float64)
    weigh = torch.tensor(rng.uniform(1.0, 2.0, 6)) if reduction == "none" else 1.0

    def total(weights: dict[str, torch.Tensor]) -> torch.Tensor:
        return (weigh * loss(2.0 + torch.func.functional_call(network, weights, (X,)), true)).sum()

    weights = dict(network.named_parameters())
    found, value = torch.func.grad_and_value(total)({name: w.detach() for name, w in weights.items()})
    wanted = total(weights)
    wanted.backward()
    assert value.item() == wanted.item()
    assert all(torch.equal(found[name], weight.grad) for name, weight in weights.items())
    assert max(gradient.abs().max() for gradient in found.values()) > 0
    with pytest.raises(RuntimeError, match="first derivatives only"):
        torch.func.grad(lambda t: torch.func.grad(lambda p: loss(p, true).sum())(t).square().sum())(true + 0.2)
