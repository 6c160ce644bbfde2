"""LightGBM trained on decisions: the shortest path through a grid, with squared errors and with SPO+ after them.

    python examples/python/boosting.py    # draws boosting.svg

Costs of the edges depend on weather and traffic by thresholds. Small trees cannot get all of it right; those trained on decisions
spend their leaves where a mistake would change the path.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import lightgbm
import numpy as np

import regretless as rl

ROUNDS = int(os.environ.get("ROUNDS", "150"))
WARM = ROUNDS // 3
SIDE = 4


def grid() -> rl.Problem:
    """Edges right and down, from the first corner to the last."""
    edges = [(SIDE * i + j, SIDE * i + j + 1) for i in range(SIDE) for j in range(SIDE - 1)]
    edges += [(SIDE * i + j, SIDE * (i + 1) + j) for i in range(SIDE - 1) for j in range(SIDE)]
    flow = np.zeros((SIDE**2, len(edges)))
    for e, (a, b) in enumerate(edges):
        flow[a, e], flow[b, e] = -1.0, 1.0
    ends = np.zeros(SIDE**2)
    ends[0], ends[-1] = -1.0, 1.0
    return rl.Problem(len(edges), B=flow, c=ends, upper=1.0, sense="min")


def days(rng: np.random.Generator, count: int, form: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Features, and costs that grow with a power of them."""
    X = rng.normal(size=(count, 5))
    costs = (X @ form / np.sqrt(5) + 3) ** 6 / 100 + 1
    return X, costs * rng.uniform(0.5, 1.5, size=costs.shape)


def main(out: Path) -> None:
    """Trains twice, and draws the regret on new days by round."""
    rng = np.random.default_rng(0)
    plan = grid()
    form = rng.integers(0, 2, size=(5, plan.n)).astype(float)
    X, costs = days(rng, 500, form)
    new, truth = days(rng, 500, form)
    optimum = plan.solve(truth).objective.mean()
    curves = {}
    for method, label in [("l2", "squared errors"), ("spo+", f"{WARM} rounds of squared errors, then SPO+")]:
        objective = rl.lightgbm.objective(plan, method, costs, warmup=WARM)
        data = lightgbm.Dataset(X, np.zeros(len(X)))
        told: dict[str, dict[str, list[float]]] = {}
        lightgbm.train(
            objective.params(verbose=-1, num_leaves=4, learning_rate=0.1, seed=0, num_threads=1),
            data,
            ROUNDS,
            valid_sets=[lightgbm.Dataset(new, np.zeros(len(new)), reference=data)],
            feval=objective.regret(truth),
            callbacks=[lightgbm.record_evaluation(told)],
        )
        curves[label] = 100 * np.array(told["valid_0"]["regret"]) / optimum
        print(f"{label}: {curves[label][-1]:.1f} % over the shortest paths, {curves[label].min():.1f} % at best")
    draw(curves, out)


def draw(curves: dict[str, np.ndarray], out: Path) -> None:
    """A line for each."""
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    _, ax = pyplot.subplots(figsize=(7, 4), layout="constrained")
    for label, curve in curves.items():
        ax.plot(np.arange(1, len(curve) + 1), curve, label=label)
    ax.set(xlabel="round", ylabel="regret on new days, % of the optimum", ylim=(0, None))
    ax.legend()
    pyplot.savefig(out)
    print(out)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path("boosting.svg"))
