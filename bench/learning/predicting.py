"""Predictions of 100 boosted trees of depth 6 for a million rows, beside scikit-learn's HistGradientBoostingRegressor, one thread each.

    python bench/learning/predicting.py

Times are of work, the least of three. Ours are from a model of `DecisionRegressor`, features encoded on the way.
"""

import os
import time

os.environ["OMP_NUM_THREADS"] = "1"
os.environ["RAYON_NUM_THREADS"] = "1"

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor

import regretless as rl

ROWS, FEATURES, ROUNDS, DEPTH = 1_000_000, 10, 100, 6


def least(call) -> float:
    times = []
    for _ in range(3):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return min(times)


def main() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, FEATURES))
    y = 20 + X[:, 0] * X[:, 1] + np.sin(3 * X[:, 2]) + rng.normal(size=len(X))
    problem = rl.Problem(1, sense="min", soft=rl.Soft([[1.0]], [20.0], weight=1.0, under=3.0))
    trees = {"base": "constant", "depth": DEPTH, "leaves": 2**DEPTH}
    ours = rl.DecisionRegressor(problem, "l2", predicts="d", predictor="trees", trees=trees, epochs=ROUNDS)
    ours.fit(X, y[:, np.newaxis])
    (kept,) = ours.candidates_
    theirs = HistGradientBoostingRegressor(max_iter=ROUNDS, max_depth=DEPTH, max_leaf_nodes=2**DEPTH, early_stopping=False).fit(X, y)
    many = rng.normal(size=(ROWS, FEATURES))
    own, other = least(lambda: ours.predict(many)), least(lambda: theirs.predict(many))
    print(f"{kept['best']} trees kept of {ROUNDS}; ours {ROWS / own:,.0f} rows a second and core, HistGradientBoosting {ROWS / other:,.0f}: {own / other:.2f} of its time")


if __name__ == "__main__":
    main()
