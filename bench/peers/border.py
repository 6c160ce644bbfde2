"""What crossing from Python to the engine costs: the torch layer against bare calls of the extension on arrays that are ready.

Two surrogates that are alike follow the same predictions in turn; one is called through ``DecisionLayer`` and autograd, the other through
the extension's own ``solve`` and ``vjp``. The overhead is what the layer's median takes more, in shares of the bare calls' median. The bare
calls cross the border too, without shapes being checked or tensors made: what that crossing costs is not part of the overhead.
"""

from __future__ import annotations

import time
from statistics import median
from typing import Any

import numpy as np
import torch

from . import measure
from .adapters.ours import Layer
from .work import JOBS

CALLS = 300


def run(job: str, move: float) -> dict[str, Any]:
    torch.set_num_threads(1)
    torch.set_default_dtype(torch.float64)
    made = JOBS[job](seed=0)
    measure.warm_up()
    through, bare = Layer(made, 1), Layer(made, 1)
    ids = np.arange(made.batch)
    known = ids.astype(np.uint64)
    truth = made.truths(ids)["theta"]
    upstream = np.tile(np.linspace(-1.0, 1.0, truth.shape[1]), (made.batch, 1))
    rng = np.random.default_rng(0)
    engine = bare.layer.surrogate._inner
    times: dict[str, list[float]] = {
        k: [] for k in ("layer_forward", "layer_backward", "bare_forward", "bare_backward")
    }
    for _ in range(CALLS):
        theta = truth + move * rng.uniform(-1.0, 1.0, truth.shape)
        leaf = torch.tensor(theta, requires_grad=True)
        gradient = torch.as_tensor(upstream)
        clock = [time.perf_counter()]
        x = through.decide({"theta": leaf}, ids)
        clock.append(time.perf_counter())
        x.backward(gradient)
        clock.append(time.perf_counter())
        solved = engine.solve([("theta", theta)], made.batch, known, 1)
        solved.x()
        clock.append(time.perf_counter())
        found = solved.vjp(upstream, ["theta"], 1)
        clock.append(time.perf_counter())
        for name, seconds in zip(times, np.diff(clock)):
            times[name].append(float(seconds) * 1e6)
        assert np.allclose(found["theta"].reshape(truth.shape), leaf.grad.numpy())
    medians = {name: median(values[CALLS // 10 :]) for name, values in times.items()}
    layer, own = (medians[f"{k}_forward"] + medians[f"{k}_backward"] for k in ("layer", "bare"))
    return {**medians, "overhead": layer / own - 1.0, "batch": made.batch, "move": move}
