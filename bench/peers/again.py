"""What a sample costs a loss at the first visit, when its prediction has moved a little since, and when it has not."""

from __future__ import annotations

from statistics import median
from typing import Any

import numpy as np
import torch

from . import measure
from .adapters import PEERS
from .work import JOBS

#: How far an entry of the prediction moves between visits, in shares of itself: what SPO+ solves for moves by about twice that.
MOVE = 0.02
#: Visits of each kind after the first.
VISITS = 5


def run(peer: str, job: str, rows: int | None) -> dict[str, Any]:
    """Microseconds a sample, in batches of the training's size and of all samples; predictions start at least squares."""
    torch.set_num_threads(1)
    torch.set_default_dtype(torch.float64)
    made = JOBS[job](seed=0, **({} if rows is None else {"rows": rows}))
    measure.warm_up()
    every = np.arange(made.rows)
    true = made.truths(every)["theta"]
    inputs = np.column_stack([np.ones(made.rows), made.features])
    start = inputs @ np.linalg.lstsq(inputs, true)[0]
    rng = np.random.default_rng(0)
    moved = [start * (1.0 + MOVE * rng.uniform(-1.0, 1.0, start.shape)) for _ in range(VISITS)]
    # Each moved prediction is met twice in a row: the second time it is unchanged.
    thetas = [start, *(theta for theta in moved for _ in range(2))]
    adapter_type, found = PEERS[peer].load(), {}
    for size in (made.batch, made.rows):
        times = measure.visits(adapter_type, made, thetas, size)
        for visit, some in (("first", times[:1]), ("moved", times[1::2]), ("unchanged", times[2::2])):
            found[f"{visit}, batch {size}"] = {unit: median(vars(t)[unit] for t in some) for unit in ("wall", "cpu")}
    return {"visits": found}
