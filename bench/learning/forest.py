"""The forest behind `+forest` against scikit-learn's RandomForestRegressor: the same data, trees and leaves, one thread each.

    python bench/learning/forest.py

Friedman's first function with noise of deviation 1. Ours gives weights to past outcomes; their mean is its prediction. Its time is that
of a whole `fit` of `constant+forest`, decisions on validation rows included; times are of work, the least of three.
"""

from __future__ import annotations

import os

os.environ["OMP_NUM_THREADS"] = "1"

import time
from collections.abc import Callable

import numpy as np
from sklearn.datasets import make_friedman1
from sklearn.ensemble import RandomForestRegressor

import regretless as rl

#: As ours has them; all features at each split is scikit-learn's default, too.
TREES, LEAF = 200, 5


def timed(work: Callable[[], object]) -> tuple[float, object]:
    """The least seconds of work of three times, and what came out."""
    least, made = float("inf"), None
    for _ in range(3):
        start = time.process_time()
        made = work()
        least = min(least, time.process_time() - start)
    return least, made


def main() -> None:
    problem = rl.Problem(1, theta=[0.0], sense="max", lower=0.0, upper=1.0)
    print("| rows | seed | our RMSE | theirs | our s | theirs |\n|---|---|---|---|---|---|")
    for rows in (500, 2000):
        gaps = []
        for seed in range(5):
            X, y = make_friedman1(rows + 2000, noise=1.0, random_state=seed)
            new, truth = X[rows:], y[rows:]
            fit = rl.DecisionRegressor(problem, "constant+forest", predicts="theta", validation=0.1, threads=1, random_state=seed)
            ours_s, ours = timed(lambda: fit.fit(X[:rows], y[:rows]))
            # As many rows to learn from.
            train = rows - rows // 10
            forest = RandomForestRegressor(TREES, min_samples_leaf=LEAF, n_jobs=1, random_state=seed)
            theirs_s, theirs = timed(lambda: forest.fit(X[:train], y[:train]))
            error = [float(np.sqrt(np.mean((np.ravel(m.predict(new)) - truth) ** 2))) for m in (ours, theirs)]
            gaps.append(error[0] - error[1])
            print(f"| {rows} | {seed} | {error[0]:.3f} | {error[1]:.3f} | {ours_s:.2f} | {theirs_s:.2f} |", flush=True)
        spread = np.std(gaps, ddof=1) / np.sqrt(len(gaps))
        print(f"| {rows} | mean | {np.mean(gaps):+.3f} ± {spread:.3f} | | | |")


if __name__ == "__main__":
    main()
