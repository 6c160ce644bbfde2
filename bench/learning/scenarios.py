"""What a training sample costs through scenarios: a solve and its gradient, warm, in milliseconds and beside the point's.

    python bench/learning/scenarios.py

24 hours of generation with ramps, their loads predicted, 2,500 residuals on each of 24 rows (limits: one row with many breakpoints);
and shares of 8 regions whose rows of load are predicted, 24 two-sided rows, 64 scenarios of C (a row for each). Times are those of the
loss in an epoch after the first, over the training rows, on one thread; the median of epochs.
"""

from __future__ import annotations

import numpy as np

import regretless as rl


def milliseconds(model: rl.DecisionRegressor, rows: int) -> float:
    """Solve and gradient of a training sample, in the epochs of the last stage but its first two."""
    stage = model.history_[-1]["stage"]
    epochs = [epoch for epoch in model.history_ if epoch["stage"] == stage and epoch["epoch"] > 1]
    return float(np.median([1e3 * (e["seconds_solve"] + e["seconds_gradient"]) / rows for e in epochs]))


def fitted(problem: rl.Problem, method: str, x: np.ndarray, y: np.ndarray, predicts: str, **more: int) -> float:
    train = slice(0, len(x) - 100)
    model = rl.DecisionRegressor(
        problem, method, predicts=predicts, predictor="linear", epochs=4, patience=4, threads=1, target_transform="none",
        learning_rate=1e-4, **more,
    )  # fmt: skip
    model.fit(x[train], y[train], validation=(x[-100:], y[-100:]))
    return milliseconds(model, len(x) - 100)


def main() -> None:
    rng = np.random.default_rng(0)
    hours, rows = 24, 2600
    x = rng.standard_normal((rows, 6))
    load = 1.0 + 0.3 * np.sin(np.arange(hours) / 4) + 0.02 * x @ rng.standard_normal((6, hours))
    load += 0.1 * rng.standard_normal((rows, hours))
    steps = np.diff(np.eye(hours), axis=0)
    ramps = np.vstack([steps, -steps])
    soft = rl.Soft(np.eye(hours), np.zeros(hours), weight=1.0, under=20.0)
    generation = rl.Problem(
        hours, theta=np.zeros(hours), sense="min", A=ramps, b=np.full(len(ramps), 0.06), soft=soft, upper=10.0
    )
    point = fitted(generation, "surrogate-smooth", x, load, "d")
    many = fitted(generation, "surrogate-smooth+scenarios", x, load, "d")
    print("| | point, ms | scenarios, ms | ratio |\n|---|---|---|---|")
    print(f"| 24 rows, n = 24, 2,500 residuals of limits | {point:.3f} | {many:.3f} | {many / point:.1f} |")
    regions, rows = 8, 700
    x = rng.standard_normal((rows, 6))
    C = 1.0 + 0.1 * (x @ rng.standard_normal((6, hours * regions))) + 0.2 * rng.standard_normal((rows, hours * regions))
    C = C.reshape(rows, hours, regions)
    soft = rl.Soft(np.zeros((hours, regions)), np.ones(hours), weight=1.0, under=10.0)
    shares = rl.Problem(
        regions, theta=np.zeros(regions), sense="min", soft=soft, B=np.ones((1, regions)), c=1.0, upper=1.0
    )
    point = fitted(shares, "surrogate-smooth", x, C, "C")
    many = fitted(shares, "surrogate-smooth+scenarios", x, C, "C", scenarios=64)
    print(f"| 24 rows, n = 8, C predicted, 64 scenarios | {point:.3f} | {many:.3f} | {many / point:.1f} |")


if __name__ == "__main__":
    main()
