"""HiGHS along the sequences of `bench/ENGINE.md`: its simplex method, started from the last basis, without a gradient.

cargo run --release -p regretless-bench -- mps FOLDER
python bench/highs.py FOLDER

Every price moves by the same share in each step as there, and in files named `*.demands.mps` the right-hand sides of equalities too.
Times are of the re-solve alone, without handing over the numbers.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from statistics import median

import highspy
import numpy as np

STEPS, SECONDS = 200, 20.0


def sequence(path: Path, share: float) -> tuple[float, float, int]:
    """Milliseconds of the cold solve and the median step, and the number of steps."""
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    solver.setOptionValue("threads", 1)
    solver.readModel(str(path))
    lp = solver.getLp()
    n, rng = lp.num_col_, np.random.default_rng(1)
    costs, lower, upper = (np.array(v) for v in (lp.col_cost_, lp.row_lower_, lp.row_upper_))
    equal = np.flatnonzero(lower == upper)
    start = time.perf_counter()
    solver.run()
    cold = time.perf_counter() - start
    times, began = [], time.perf_counter()
    while len(times) < STEPS and time.perf_counter() - began < SECONDS:
        solver.changeColsCost(n, np.arange(n, dtype=np.int32), costs * (1 + share * rng.uniform(-1, 1, n)))
        if ".demands." in path.name:
            moved = lower[equal] * (1 + share * rng.uniform(-1, 1, len(equal)))
            for row, value in zip(equal[moved != 0.0], moved[moved != 0.0], strict=True):
                solver.changeRowBounds(int(row), float(value), float(value))
        start = time.perf_counter()
        solver.run()
        times.append(time.perf_counter() - start)
        assert solver.getModelStatus() == highspy.HighsModelStatus.kOptimal
    return 1e3 * cold, 1e3 * median(times), len(times)


def main() -> None:
    print("| problem | move | cold ms | step ms | steps |\n|---|---|---|---|---|")
    for path in sorted(Path(sys.argv[1]).glob("*.mps")):
        for share in (0.001, 0.01):
            cold, step, steps = sequence(path, share)
            print(f"| {path.name.split('.')[0]} | ±{100 * share:g} % | {cold:.1f} | {step:.2f} | {steps} |", flush=True)


if __name__ == "__main__":
    main()
