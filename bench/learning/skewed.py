"""Two-stage regressions of skewed costs: the shortest path through a 5 × 5 grid (Elmachtoub & Grigas 2022).

python bench/learning/skewed.py ROWS DRAWS [FIRST]    # prints rows of the table of docs/training.md: regret over the optimum in %,
                                                      # mean ± its standard error over draws FIRST, FIRST + 1, …
"""

from __future__ import annotations

import sys

import numpy as np
from sklearn.linear_model import LinearRegression

import regretless as rl


def paths() -> rl.Problem:
    """Edges right and down, from the first node to the last."""
    edges = [(5 * i + j, 5 * i + j + 1) for i in range(5) for j in range(4)]
    edges += [(5 * i + j, 5 * i + j + 5) for i in range(4) for j in range(5)]
    flow = np.zeros((25, len(edges)))
    for e, (a, b) in enumerate(edges):
        flow[a, e], flow[b, e] = -1.0, 1.0
    ends = np.zeros(25)
    ends[0], ends[-1] = -1.0, 1.0
    return rl.Problem(len(edges), B=flow, c=ends, upper=1.0, sense="min")


def draw(rng: np.random.Generator, rows: int, degree: int, binary: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Features and costs [((Bξ)/√5 + 3)^degree + 1]·U(0.5, 1.5)."""
    X = rng.normal(size=(rows, 5))
    costs = (X @ binary.T / np.sqrt(5) + 3) ** degree + 1
    return X, costs * rng.uniform(0.5, 1.5, size=costs.shape)


def main(rows: int, draws: int, first: int = 1000) -> None:
    """Prints a row a setting."""
    plan = paths()
    print("| n | degree | LinearRegression | … of log c | `l2` | `l1` |\n" + "|---" * 6 + "|")
    for degree in (1, 4, 8):
        found = []
        for seed in range(first, first + draws):
            rng = np.random.default_rng(seed)
            binary = rng.integers(0, 2, size=(40, 5)).astype(float)
            X, y = draw(rng, rows + rows // 4, degree, binary)
            new, truth = draw(rng, 1000, degree, binary)
            optimum = plan.solve(truth).objective.mean()
            plain = LinearRegression().fit(X, y).predict(new)
            logarithm = np.exp(LinearRegression().fit(X, np.log(y)).predict(new))
            predictions = [plain, logarithm]
            for method in ("l2", "l1"):
                model = rl.DecisionRegressor(plan, method, predictor="linear", random_state=seed).fit(X, y)
                predictions.append(model.predict(new))
            found.append([100 * rl.regret(plan, p, truth).mean / optimum for p in predictions])
        errors = np.std(found, axis=0, ddof=1) / np.sqrt(draws)
        cells = [f"{mean:.1f} ± {error:.1f}" for mean, error in zip(np.mean(found, axis=0), errors, strict=True)]
        print(f"| {rows} | {degree} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
