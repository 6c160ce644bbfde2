"""PyEPO and this package say the same: losses, gradients, regrets, sample by sample."""

from __future__ import annotations

import numpy as np
import pytest

import regretless as rl

pyepo = pytest.importorskip("pyepo")
torch = pytest.importorskip("torch")
from pyepo.model.bases import shortestPathBase  # noqa: E402
from scipy.optimize import linprog  # noqa: E402

GRID = (4, 5)


class ShortestPath(shortestPathBase):
    """PyEPO's model with a solver that comes with SciPy: OR-Tools and highspy cannot live in one process."""

    def _getModel(self):
        nodes = GRID[0] * GRID[1]
        self.flow, self.supply = np.zeros((nodes, len(self.arcs))), np.eye(nodes)[0] - np.eye(nodes)[-1]
        for arc, (tail, head) in enumerate(self.arcs):
            self.flow[tail, arc], self.flow[head, arc] = 1.0, -1.0
        return None, self.arcs

    def setObj(self, c) -> None:
        self.costs = c

    def solve(self):
        found = linprog(self.costs, A_eq=self.flow, b_eq=self.supply, bounds=(0, 1))
        return found.x, found.fun


@pytest.fixture(scope="module")
def model() -> ShortestPath:
    return ShortestPath(GRID)


@pytest.fixture(scope="module")
def path(model: ShortestPath) -> rl.Problem:
    return rl.Problem(model.num_cost, B=model.flow[:-1], c=model.supply[:-1], upper=1.0, sense="min")


@pytest.fixture(scope="module")
def costs(model) -> tuple[np.ndarray, np.ndarray]:
    """True costs, and predicted ones."""
    _, true = pyepo.data.shortestpath.genData(60, 5, GRID, deg=4, noise_width=0.5, seed=3)
    noise = np.random.default_rng(3).uniform(0.5, 1.5, true.shape)
    return true.astype(float), true * noise


@pytest.fixture(scope="module")
def data(model, costs):
    return pyepo.data.dataset.optDataset(model, np.zeros((len(costs[0]), 1)), costs[0])


def test_optima(path: rl.Problem, costs, data) -> None:
    ours = path.solve(costs[0])
    # PyEPO keeps 32 bits.
    assert np.allclose(ours.x, data.sols.numpy(), atol=1e-6)
    assert np.allclose(ours.objective, data.objs.numpy()[:, 0], rtol=1e-6)


def test_spo_plus(model, path: rl.Problem, costs, data) -> None:
    true, predicted = costs
    theirs = torch.tensor(predicted, requires_grad=True)
    spo = pyepo.func.SPOPlus(model, processes=1, reduction="none")
    values = spo(theirs, torch.tensor(true), data.sols.double(), data.objs.double())
    values.sum().backward()
    ours = rl.DecisionLoss(path, "spo+")(predicted, true)
    assert np.allclose(ours.value, values.detach().numpy(), atol=1e-5) and (ours.value > 0.1).any()
    assert np.allclose(ours.gradient, theirs.grad.numpy(), atol=1e-5)


def test_regret(model, path: rl.Problem, costs) -> None:
    true, predicted = costs
    judged = rl.regret(path, predicted, true)
    assert judged.relative == pytest.approx(pyepo.metric.SPOError(predicted, true, model), rel=1e-5) and judged.mean > 0
    one = [pyepo.metric.calRegret(model, p, t, z) for p, t, z in zip(predicted, true, judged.optimal)]
    assert np.allclose(judged.regret, one, atol=1e-6)
