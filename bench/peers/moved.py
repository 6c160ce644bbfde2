"""SPO+ on shortest paths, visited again and again with predictions that have moved a little: ``bench/peers/run moved``.

Stated as people do, with a flow row for every node and an upper bound for every arc: each vertex is degenerate, and one row follows
from the others. Both libraries see the same predictions in the same process, one after the other, one thread.
"""

from __future__ import annotations

import argparse
from statistics import median

import numpy as np
import torch

from . import measure
from .adapters import PEERS
from .shortest_path import shortest_path

OURS, PEER = "ours-spo", "pyepo-glop"
#: Visits with moved predictions.
VISITS = 5


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench/peers/run moved", description=__doc__)
    parser.add_argument(
        "--move", type=float, default=0.05, help="share of itself by which an entry of a prediction moves"
    )
    parser.add_argument("--sides", default="5,20", help="nodes along a side of the grid")
    given = parser.parse_args()
    torch.set_num_threads(1)
    torch.set_default_dtype(torch.float64)
    measure.warm_up()
    print("| grid | variables | ours, first µs | moved µs | PyEPO on GLOP, first µs | moved µs | ratio moved |")
    print("|---|---|---|---|---|---|---|")
    for side in (int(side) for side in given.sides.split(",")):
        job = shortest_path(side, degree=4, seed=0, rows=640 if side < 10 else 96)
        true = job.truths(np.arange(job.rows))["theta"]
        inputs = np.column_stack([np.ones(job.rows), job.features])
        start = inputs @ np.linalg.lstsq(inputs, true, rcond=None)[0]
        rng = np.random.default_rng(0)
        moved = [start * (1.0 + given.move * rng.uniform(-1.0, 1.0, start.shape)) for _ in range(VISITS)]
        times = {}
        for peer in (OURS, PEER):
            clocks = measure.visits(PEERS[peer].load(), job, [start, *moved], job.batch)
            times[peer] = clocks[0].wall, median(clock.wall for clock in clocks[1:])
        (first, again), (their_first, theirs) = times[OURS], times[PEER]
        print(
            f"| {side} × {side} | {job.problem.n} | {first:.0f} | {again:.1f} | {their_first:.0f} | {theirs:.0f} "
            f"| {theirs / again:.1f}× |"
        )


if __name__ == "__main__":
    main()
