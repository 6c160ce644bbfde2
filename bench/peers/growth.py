"""How time grows with the size of the problem and of the batch."""

from __future__ import annotations

from dataclasses import replace
from statistics import median
from typing import Any

import numpy as np
import torch

from . import measure
from .adapters import PEERS
from .work import growing

#: How far an entry of θ moves between calls.
MOVE = 0.01


def run(peer: str, n: int, batch: int) -> dict[str, Any]:
    """Microseconds an instance of solving and differentiating: the first time, and the median of three more with θ moved a little."""
    torch.set_num_threads(1)
    torch.set_default_dtype(torch.float64)
    job = replace(growing(n, seed=0, rows=batch), batch=batch)
    measure.warm_up()
    rng, true = np.random.default_rng(0), job.truths(np.arange(batch))["theta"]
    start = true + rng.normal(0.0, 0.1, true.shape)
    moved = [start + MOVE * rng.uniform(-1.0, 1.0, start.shape) for _ in range(3)]
    times = [clock.wall for clock in measure.visits(PEERS[peer].load(), job, [start, *moved], batch)]
    return {"cold": times[0], "warm": median(times[1:])}
