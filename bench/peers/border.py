"""What crossing from Python to the engine costs while a network is trained: the torch layer against bare calls of the extension.

Two surrogates that are alike see every batch of one training; one is called through ``DecisionLayer`` and autograd, the other through the
extension's own ``solve`` and ``vjp`` on arrays that are ready. The overhead is what the layer's median takes more, in shares of the bare
calls' median. A third call is a torch function that does nothing: what torch itself asks of every layer, as cold as the others find it.
"""

from __future__ import annotations

import time
from statistics import median
from typing import Any

import numpy as np
import torch

from . import measure
from .adapters.base import layer_loss
from .adapters.ours import Layer
from .work import JOBS

EPOCHS = 10


class Nothing(torch.autograd.Function):
    """The least a layer can be."""

    @staticmethod
    def forward(ctx: Any, theta: torch.Tensor) -> torch.Tensor:
        return theta.detach().clone()

    @staticmethod
    def backward(ctx: Any, *outputs: torch.Tensor) -> torch.Tensor:
        return outputs[0]


def run(job: str) -> dict[str, Any]:
    torch.set_num_threads(1)
    torch.set_default_dtype(torch.float64)
    torch.manual_seed(0)
    made = JOBS[job](seed=0)
    measure.warm_up()
    through, bare = Layer(made, 1), Layer(made, 1)
    engine = bare.layer.surrogate._inner
    network, features = made.network(), torch.as_tensor(made.features)
    optimizer = torch.optim.Adam(network.parameters(), lr=made.learning_rate)
    turn = 0
    times: dict[str, list[list[float]]] = {who: [] for who in ("layer", "bare", "torch")}
    for epoch in range(EPOCHS):
        for ids in measure.batches(made, 0, epoch, made.rows):
            true = {name: torch.as_tensor(value) for name, value in made.truths(ids).items()}
            predicted = network(features[ids])
            leaf = predicted["theta"].detach().requires_grad_()
            theta, known = leaf.detach().numpy().copy(), ids.astype(np.uint64)

            # Whoever comes second finds caches warm.
            turn += 1
            for who in ("layer", "bare")[:: 1 if turn % 2 else -1]:
                clock = [time.perf_counter()]
                if who == "layer":
                    x = through.decide({"theta": leaf}, ids)
                else:
                    solved = engine.solve([("theta", theta)], len(ids), known, 1)
                    own = solved.x(False)
                clock.append(time.perf_counter())
                at = (x.detach() if who == "layer" else torch.as_tensor(own)).requires_grad_()
                layer_loss(made, at, true).backward()
                upstream = at.grad.numpy()
                clock.append(time.perf_counter())
                if who == "layer":
                    x.backward(at.grad)
                else:
                    found = solved.vjp(upstream, ["theta"], False, 1)
                clock.append(time.perf_counter())
                _note(times[who], epoch, clock)
            assert np.array_equal(own.reshape(x.shape), x.detach().numpy())
            assert np.array_equal(found["theta"].reshape(theta.shape), leaf.grad.numpy())

            again = leaf.detach().requires_grad_()
            clock = [time.perf_counter()]
            same = Nothing.apply(again)
            clock += [time.perf_counter()] * 2
            same.backward(at.grad)
            clock.append(time.perf_counter())
            _note(times["torch"], epoch, clock)

            optimizer.zero_grad()
            predicted["theta"].backward(leaf.grad)
            optimizer.step()
    found = {
        f"{who}_{way}": median(t[i] for t in rows)
        for who, rows in times.items()
        for i, way in enumerate(("forward", "backward"))
    }
    totals = {who: median(sum(row) for row in rows) for who, rows in times.items()}
    return {
        **found,
        "overhead": totals["layer"] / totals["bare"] - 1.0,
        "torch": totals["torch"] / totals["bare"],
        "batch": made.batch,
    }


def _note(rows: list[list[float]], epoch: int, clock: list[float]) -> None:
    """Forward and backward in microseconds, from the second epoch on."""
    if epoch:
        rows.append([1e6 * (clock[1] - clock[0]), 1e6 * (clock[3] - clock[2])])
