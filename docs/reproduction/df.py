"""Why our `df` differs from the paper's: the same network, steps and seeds, with one thing changed, how the decision is differentiated.

    python docs/reproduction/df.py DATA [--seeds 2006,2007] [--out df-by-seed.csv]

DATA holds the published files of N = 100, n = 40. Needs regretless, torch and cvxpylayers. DF descends −f(x(θ̂); θ) for the optimum x
of the problem with a ridge of 0.1 ‖x‖². `exact` takes x and its derivative from regretless; `scs` from cvxpylayers with SCS as it comes,
which is what the released experiment did; `scs-tight` the same at a tolerance of 1e-9.
"""

from __future__ import annotations

import argparse
import csv
import sys
import time
from pathlib import Path

import cvxpy as cp
import numpy as np
import torch
from cvxpylayers.torch import CvxpyLayer

import regretless as rl
import regretless.torch

RIDGE, BATCH, EPOCHS, RATE, CLIP = 0.1, 10, 40, 0.01, 1e-4
WAYS = ("exact", "scs", "scs-tight")


def problems(data: Path, size: str) -> tuple[rl.Problem, dict[str, np.ndarray]]:
    """The problem of a size, and its arrays."""
    told = dict(np.load(data / f"problem_{size}.npz"))
    soft = rl.Soft(told["C"], told["d"], weight=told["alpha"]) if len(told["C"]) else None
    n = told["A"].shape[1]
    return rl.Problem(n, A=told["A"], b=told["b"], **({"soft": soft} if soft else {})), told


def layer(told: dict[str, np.ndarray]) -> CvxpyLayer:
    """The released layer: soft rows as they are, a ridge, and nothing else."""
    n = told["A"].shape[1]
    theta, x = cp.Parameter(n), cp.Variable(n)
    gain = theta @ x - RIDGE * cp.sum_squares(x)
    if len(told["C"]):
        gain -= told["alpha"] @ cp.pos(told["C"] @ x - told["d"])
    return CvxpyLayer(cp.Problem(cp.Maximize(gain), [told["A"] @ x <= told["b"], x >= 0]), [theta], [x])


def train(
    way: str, problem: rl.Problem, told: dict[str, np.ndarray], rows: dict[str, np.ndarray], seed: int
) -> dict[str, float]:
    """One training with the settings of the released experiment; what is reported is the last epoch."""
    torch.manual_seed((17 * seed + 23 * seed**2) % 2**32)
    torch.set_default_dtype(torch.float64)
    width, n = rows["xi_train"].shape[1], problem.n
    relu = torch.nn.ReLU
    parts = torch.nn.Linear(width, 128), relu(), torch.nn.Linear(128, 128), relu(), torch.nn.Linear(128, n)
    network = torch.nn.Sequential(*parts)
    optimizer = torch.optim.Adagrad(network.parameters(), lr=RATE)
    X, y = (torch.as_tensor(rows[f"{what}_train"]) for what in ("xi", "theta"))
    exact = rl.torch.DecisionLoss(problem, "df", ridge=RIDGE) if way == "exact" else None
    outside = None if exact else layer(told)
    tight = {"eps_abs": 1e-9, "eps_rel": 1e-9, "max_iters": 200_000} if way == "scs-tight" else {}
    C, d, alpha = (torch.as_tensor(told[k]) for k in ("C", "d", "alpha")) if len(told["C"]) else (None, None, None)

    def loss(at: torch.Tensor) -> torch.Tensor:
        predicted = network(X[at])
        if exact:
            return exact(predicted, y[at])
        (x,) = outside(predicted, solver_args=tight)
        gain = (y[at] * x).sum(dim=1)
        if C is not None:
            gain = gain - torch.relu(x @ C.T - d) @ alpha
        return -gain.mean()

    def regret(part: str) -> float:
        with torch.no_grad():
            predicted = network(torch.as_tensor(rows[f"xi_{part}"])).numpy()
        return float(rl.regret(problem, predicted, rows[f"theta_{part}"]).mean)

    order, valid = torch.Generator().manual_seed(seed), []
    for _ in range(EPOCHS):
        for at in torch.randperm(len(X), generator=order).split(BATCH):
            optimizer.zero_grad()
            loss(at).backward()
            torch.nn.utils.clip_grad_norm_(network.parameters(), CLIP)
            optimizer.step()
        valid.append(regret("valid"))
        if len(valid) >= 8 and all(new >= old + 1e-6 for new, old in zip(valid[-4:], valid[-8:-4])):
            break
    with torch.no_grad():
        error = float(((network(torch.as_tensor(rows["xi_test"])) - torch.as_tensor(rows["theta_test"])) ** 2).mean())
    return {"regret": regret("test"), "mse": error, "epochs": len(valid)}


def main() -> None:
    """Trains each seed each way and writes a line a training."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--seeds", default=",".join(map(str, range(2006, 2021))))
    parser.add_argument("--sizes", default="40_40_0,40_40_20")
    parser.add_argument("--ways", default=",".join(WAYS))
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "df-by-seed.csv")
    told = parser.parse_args()
    with told.out.open("w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(["size", "seed", "way", "regret", "mse", "epochs"])
        for seed in map(int, told.seeds.split(",")):
            rows = dict(np.load(told.data / f"seed{seed}.npz"))
            for size in told.sizes.split(","):
                problem, arrays = problems(told.data, size)
                for way in told.ways.split(","):
                    begun = time.monotonic()
                    found = train(way, problem, arrays, rows, seed)
                    out.writerow([size.replace("_", ","), seed, way, *(f"{v:.6g}" for v in found.values())])
                    file.flush()
                    print(size, seed, way, found, f"{time.monotonic() - begun:.1f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
