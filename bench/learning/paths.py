"""Trees, lines and losses on the shortest path through a 5 × 5 grid (Elmachtoub & Grigas 2022), draw by draw.

python bench/learning/paths.py ROWS DRAWS [DEGREE]    # adds what is missing to bench/learning/paths.csv and prints its table

Every predictor learns from ROWS rows and chooses by a quarter as many; scikit-learn's learn from all of them. Regret over the optimum
in %, on 1,000 new rows of noise 0.5.
"""

from __future__ import annotations

import csv
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from skewed import draw, paths
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression

import regretless as rl

RESULTS = Path(__file__).with_name("paths.csv")
FIRST = 1000

SLOW: dict[str, object] = {"learning_rate": 0.05, "epochs": 400, "patience": 60, "schedule": "constant"}

#: What trees do by themselves where a loss has no curvature.
FALLING: dict[str, object] = {"schedule": {"kind": "plateau", "factor": 0.5, "patience": 10, "back": True}}

#: What is compared: settings of DecisionRegressor.
OURS: dict[str, dict[str, object]] = {
    "linear l2, own scale": {"method": "l2", "predictor": "linear", "target_transform": "none"},
    "linear l2": {"method": "l2", "predictor": "linear"},
    "linear spo+": {"method": "spo+", "predictor": "linear"},
    "linear spo+ after l2": {"method": "spo+", "predictor": "linear", "warmup": "auto"},
    "trees l2, own scale": {"method": "l2", "predictor": "trees", "target_transform": "none"},
    "trees spo+, own scale": {"method": "spo+", "predictor": "trees", "target_transform": "none"},
    "trees spo+ after l2, own scale": {
        "method": "spo+", "predictor": "trees", "target_transform": "none", "warmup": "auto",
    },
    # Squared errors with the rule that SPO+ has, and SPO+ without it. The rule was chosen on other draws (3002 to 3009).
    "trees l2, own scale, falling rate": {
        "method": "l2", "predictor": "trees", "target_transform": "none", **FALLING,
    },
    "trees spo+ after l2, own scale, constant rate": {
        "method": "spo+", "predictor": "trees", "target_transform": "none", "warmup": "auto", "schedule": "constant",
    },
    # Half the rate, twice the rounds: chosen on other draws (3000, 3001).
    "trees l2, own scale, rate 0.05": {
        "method": "l2", "predictor": "trees", "target_transform": "none", **SLOW,
    },
    "trees spo+ after l2, own scale, rate 0.05": {
        "method": "spo+", "predictor": "trees", "target_transform": "none", "warmup": "auto", **SLOW,
    },
    "trees on a line spo+ after l2, own scale": {
        "method": "spo+", "predictor": "trees", "target_transform": "none", "warmup": "auto",
        "trees": {"base": "linear"},
    },
    "trees l2": {"method": "l2", "predictor": "trees"},
    "trees on a line l2": {"method": "l2", "predictor": "trees", "trees": {"base": "linear"}},
}  # fmt: skip

THEIRS: dict[str, Callable[[], object]] = {
    "LinearRegression": LinearRegression,
    "RandomForestRegressor": lambda: RandomForestRegressor(random_state=0),
}


def predictors() -> dict[str, Callable[[rl.Problem, int, np.ndarray, np.ndarray, np.ndarray], np.ndarray]]:
    """Each from training rows and new features to predictions."""

    def ours(settings: dict[str, object]):
        def fit(plan, seed, X, y, new):
            return rl.DecisionRegressor(plan, random_state=seed, **settings).fit(X, y).predict(new)

        return fit

    def theirs(make: Callable[[], object], logarithm: bool):
        def fit(plan, seed, X, y, new):
            if logarithm:
                return np.exp(make().fit(X, np.log(y)).predict(new))
            return make().fit(X, y).predict(new)

        return fit

    return {
        **{name: theirs(make, False) for name, make in THEIRS.items()},
        "LinearRegression of log c": theirs(LinearRegression, True),
        **{name: ours(settings) for name, settings in OURS.items()},
    }


def main(rows: int, draws: int, degree: int = 8) -> None:
    """Does what is not in the file, then prints the table."""
    plan = paths()
    known = {}
    if RESULTS.exists():
        with RESULTS.open() as file:
            known = {
                (int(r["rows"]), int(r["degree"]), int(r["draw"]), r["predictor"]): r for r in csv.DictReader(file)
            }
    with RESULTS.open("a", newline="") as file:
        out = csv.writer(file)
        if not known:
            out.writerow(["rows", "degree", "draw", "predictor", "regret", "seconds"])
        for seed in range(FIRST, FIRST + draws):
            rng = np.random.default_rng(seed)
            binary = rng.integers(0, 2, size=(40, 5)).astype(float)
            X, y = draw(rng, rows + rows // 4, degree, binary)
            new, truth = draw(rng, 1000, degree, binary)
            optimum = plan.solve(truth).objective.mean()
            for name, fit in predictors().items():
                key = (rows, degree, seed, name)
                if key in known:
                    continue
                start = time.perf_counter()
                predicted = fit(plan, seed, X, y, new)
                seconds = time.perf_counter() - start
                regret = 100 * rl.regret(plan, predicted, truth).mean / optimum
                known[key] = {"regret": regret, "seconds": seconds}
                out.writerow([rows, degree, seed, name, f"{regret:.4f}", f"{seconds:.2f}"])
                file.flush()
    print(f"| n = {rows}, degree {degree} | regret, % | s |\n|---|---|---|")
    for name in predictors():
        found = [known[rows, degree, seed, name] for seed in range(FIRST, FIRST + draws)]
        regrets = np.array([float(f["regret"]) for f in found])
        error = regrets.std(ddof=1) / np.sqrt(draws) if draws > 1 else float("nan")
        seconds = np.mean([float(f["seconds"]) for f in found])
        print(f"| {name} | {regrets.mean():.1f} ± {error:.1f} | {seconds:.1f} |")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
