"""What a predicted spread is worth where the noise is known: the true cost of decisions over that of the true distribution.

    python bench/learning/spread.py [--seeds 20]

Five features uniform on ±1, a linear mean, a linear spread from 0.2 to 1.8, normal noise. 2,000 rows, a fifth of them for validation
(what chooses nothing here), and 20,000 more to judge by. One order; a unit short costs `ratio`, a unit too many 1. Writes spread.csv.
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path

import numpy as np
from scipy.stats import norm

import regretless as rl

METHODS = ["l2", "l2+scenarios", "l2+scaled"]


def draw(rng: np.random.Generator, rows: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    X = rng.uniform(-1, 1, (rows, 5))
    return X, 10 + X @ np.linspace(2, -1, 5), 1 + 0.8 * X[:, 0]


def cost(order: np.ndarray, mean: np.ndarray, spread: np.ndarray, ratio: float) -> float:
    """The mean of E (q − D)⁺ + ratio·E (D − q)⁺ for D normal."""
    z = (order - mean) / spread
    surplus = spread * (z * norm.cdf(z) + norm.pdf(z))
    return float(np.mean(surplus + ratio * (surplus - (order - mean))))


def excess(seed: int, ratio: float, method: str) -> float:
    rng = np.random.default_rng(seed)
    X, mean, spread = draw(rng, 2000)
    demand = mean + spread * rng.standard_normal(2000)
    shop = rl.Problem(1, theta=[0.0], sense="min", soft=rl.Soft([[1.0]], [0.0], weight=1.0, under=ratio), upper=40.0)
    model = rl.DecisionRegressor(shop, method, predicts="d", predictor="linear", random_state=seed).fit(X, demand)
    X, mean, spread = draw(rng, 20_000)
    best = cost(mean + spread * norm.ppf(ratio / (1 + ratio)), mean, spread, ratio)
    return cost(np.asarray(model.decide(X))[:, 0], mean, spread, ratio) / best - 1


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=20)
    seeds = range(parser.parse_args().seeds)
    rows = [
        {"ratio": ratio, "method": method, "seed": seed, "excess": round(excess(seed, ratio, method), 6)}
        for ratio in (9.0, 50.0)
        for method in METHODS
        for seed in seeds
    ]
    with Path(__file__).with_suffix(".csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    print("| prices | " + " | ".join(METHODS) + " |\n|---" * 1 + "|---" * len(METHODS) + "|")
    for ratio in (9.0, 50.0):
        cells = []
        for method in METHODS:
            own = np.array([row["excess"] for row in rows if row["ratio"] == ratio and row["method"] == method])
            cells.append(f"{100 * own.mean():.2f} ± {100 * own.std(ddof=1) / np.sqrt(len(own)):.2f} %")
        print(f"| {ratio:g} : 1 | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
