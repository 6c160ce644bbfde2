"""What a predicted spread is worth where the noise is known: the true cost of decisions over that of the true distribution.

    python bench/learning/spread.py [--seeds 20]

Five features uniform on ±1, normal noise. 2,000 rows, a fifth of them for validation (it chooses nothing of a line, and how many trees
there are), and 20,000 more to judge by. One order; a unit short costs `ratio`, a unit too many 1. Two tasks: a linear mean with a
linear spread from 0.2 to 1.8, predicted by lines; and a bent mean with a spread that jumps, predicted by trees. Writes spread.csv.
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path

import numpy as np
from scipy.stats import norm

import regretless as rl

METHODS = ["l2", "l2+scenarios", "l2+scaled"]
PREDICTORS = {"linear": "linear", "bent": "trees"}


def draw(task: str, rng: np.random.Generator, rows: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Features, and the mean and the spread of demand."""
    X = rng.uniform(-1, 1, (rows, 5))
    if task == "linear":
        return X, 10 + X @ np.linspace(2, -1, 5), 1 + 0.8 * X[:, 0]
    mean = 10 + 3 * np.abs(X[:, 0]) + 2 * np.sin(3 * X[:, 1]) + X[:, 2] * X[:, 3]
    return X, mean, np.where(X[:, 2] > 0, 0.4, 1.0) + 1.5 * np.maximum(X[:, 4], 0) ** 2


def cost(order: np.ndarray, mean: np.ndarray, spread: np.ndarray, ratio: float) -> float:
    """The mean of E (q − D)⁺ + ratio·E (D − q)⁺ for D normal."""
    z = (order - mean) / spread
    surplus = spread * (z * norm.cdf(z) + norm.pdf(z))
    return float(np.mean(surplus + ratio * (surplus - (order - mean))))


def excess(task: str, seed: int, ratio: float, method: str) -> float:
    rng = np.random.default_rng(seed)
    X, mean, spread = draw(task, rng, 2000)
    demand = mean + spread * rng.standard_normal(2000)
    soft = rl.Soft([[1.0]], [0.0], weight=1.0, under=ratio)
    shop = rl.Problem(1, theta=[0.0], sense="min", soft=soft, upper=40.0)
    predictor = PREDICTORS[task]
    model = rl.DecisionRegressor(shop, method, predicts="d", predictor=predictor, random_state=seed).fit(X, demand)
    X, mean, spread = draw(task, rng, 20_000)
    best = cost(mean + spread * norm.ppf(ratio / (1 + ratio)), mean, spread, ratio)
    return cost(np.asarray(model.decide(X))[:, 0], mean, spread, ratio) / best - 1


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=20)
    seeds = range(parser.parse_args().seeds)
    rows = [
        {
            "task": task,
            "ratio": ratio,
            "method": method,
            "seed": seed,
            "excess": round(excess(task, seed, ratio, method), 6),
        }
        for task in PREDICTORS
        for ratio in (9.0, 50.0)
        for method in METHODS
        for seed in seeds
    ]
    with Path(__file__).with_suffix(".csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)

    def own(task: str, ratio: float, method: str) -> np.ndarray:
        key = (task, ratio, method)
        return np.array([row["excess"] for row in rows if (row["task"], row["ratio"], row["method"]) == key])

    print(
        "| task | prices | "
        + " | ".join(METHODS)
        + " | scaled over scenarios |"
        + "\n"
        + "|---" * (3 + len(METHODS))
        + "|"
    )
    for task in PREDICTORS:
        for ratio in (9.0, 50.0):
            each = [own(task, ratio, method) for method in METHODS]
            cells = [f"{100 * e.mean():.2f} ± {100 * e.std(ddof=1) / np.sqrt(len(e)):.2f} %" for e in each]
            print(f"| {task} | {ratio:g} : 1 | {' | '.join(cells)} | {each[2].mean() / each[1].mean():.2f} |")


if __name__ == "__main__":
    main()
