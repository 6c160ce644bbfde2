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
    ids, rng = np.arange(batch), np.random.default_rng(0)
    true = {"theta": torch.as_tensor(job.truths(ids)["theta"])}
    start = true["theta"].numpy() + rng.normal(0.0, 0.1, true["theta"].shape)
    times, adapter = [], None
    adapter_type = PEERS[peer].load()
    for call in range(4):
        moved = start + (MOVE * rng.uniform(-1.0, 1.0, start.shape) if call else 0.0)
        clock = measure.Epoch()
        with clock.forward:
            adapter = adapter or adapter_type(job, 1)
        measure.step(adapter, {"theta": torch.as_tensor(moved)}, true, ids, clock)
        times.append((clock.forward.wall + clock.backward.wall) / batch * 1e6)
    return {"cold": times[0], "warm": median(times[1:])}
