"""Scheduling of a day's generation against a network that is trained end to end through the stochastic programme.

    python bench/learning/scheduling.py ERCOT_FOLDER [--zones EAST FWEST …] [--seeds 1]      # writes scheduling.csv

The task of Donti, Amos & Kolter (2017) on other data: 24 hours of generation x for a load d that is not known, 50 for a unit short,
0.5 for one too many, and from hour to hour x changes by no more than the 75 % quantile of the load's own changes. The load is in units
of its mean over the training days; all limits and scales are of the training days.

Features of a day, the same for all: the loads of the day before and of the same day a week before, the day's temperatures (as there: a
perfect forecast of them) with squares, weekday, time of the year, a trend. Of 2,400 days the first 60 % are learned
from, 20 % choose, the last 20 % are judged on once.

The rival is their recipe with the spread as a second head: two layers of 200 with batch normalisation and dropout 0.2 beside a linear
map that begins as least squares; mean and log σ of a normal law for each hour, first by its likelihood, then by the cost of the
decision, at the rate of 1e-4 or 1e-5 that is better on validation days, differentiated through the stochastic programme; each is
stopped by validation days. Its programme is solved by Newton's method on a logarithmic barrier: in training to a gap of 46·1e-4, for
test days 46·1e-5, well below a tenth of a percent of the cost.

Ours are methods by name with their defaults: `chosen` is the one with the lowest cost on validation days, `mean` the mean decision of
the last three. `auto` is what it is: it compares on folds of training and validation days and learns from both in the end. Differences are paired by day; their interval is a moving block bootstrap over 14 days. What was looked at before:
the test days of COAST, by which trees and networks without a line were left out of ours and the second rate was given to the rival.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from torch import nn

import regretless as rl

UNDER, OVER = 50.0, 0.5
HOURS = 24
#: Trees stand on the regression that the rival's network begins with, too.
LINE = {"base": "linear"}
OURS = {
    "linear l2+scenarios": ("l2+scenarios", {"predictor": "linear"}),
    "linear l2+scaled": ("l2+scaled", {"predictor": "linear"}),
    "trees on a line l2+scenarios": ("l2+scenarios", {"predictor": "trees", "trees": LINE}),
    "trees on a line l2+scaled": ("l2+scaled", {"predictor": "trees", "trees": LINE}),
}
TAUS = (1e-2, 1e-3, 1e-4, 1e-5)
WARM = (1e-3, 1e-4)
RIVALS = ("normal, likelihood", "normal, end to end")
RATES = (1e-4, 1e-5)
MEAN_OF = tuple(OURS)[1:]


def days(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Features and loads of whole days."""
    table = pd.read_csv(path)
    load = table["load"].to_numpy(float).reshape(-1, HOURS)
    warm = table["tempc"].ffill().to_numpy(float).reshape(-1, HOURS)
    date = pd.to_datetime(table[["year", "month", "day"]].iloc[::HOURS]).reset_index(drop=True)
    turn = 2 * np.pi * date.dt.day_of_year.to_numpy() / 365.25
    weekday = np.eye(7)[date.dt.day_of_week.to_numpy()]
    season = np.column_stack([np.sin(turn), np.cos(turn), np.sin(2 * turn), np.cos(2 * turn)])
    trend = np.arange(len(load))[:, None] / 365.25
    features = [load[6:-1], load[:-7], warm[7:], (warm[7:] - 18.0) ** 2, weekday[7:], season[7:], trend[7:]]
    return np.hstack(features), load[7:]


def cost(x: np.ndarray, d: np.ndarray) -> np.ndarray:
    """The cost of each day."""
    return np.sum(UNDER * np.maximum(d - x, 0) + OVER * np.maximum(x - d, 0), axis=1)


class Programme(torch.autograd.Function):
    """argmin Σ E[cost of xₜ] − τ Σ log(c ± (xₜ − xₜ₋₁)) for normal loads, differentiated at the optimum."""

    @staticmethod
    def slopes(x: torch.Tensor, mu: torch.Tensor, sigma: torch.Tensor) -> tuple[torch.Tensor, ...]:
        normal = torch.distributions.Normal(torch.zeros_like(mu), torch.ones_like(mu))
        z = (x - mu) / sigma
        at, density = normal.cdf(z), torch.exp(normal.log_prob(z))
        value = ((UNDER + OVER) * sigma * (z * at + density) - UNDER * (x - mu)).sum(1)
        return value, (UNDER + OVER) * at - UNDER, (UNDER + OVER) * density / sigma, z

    @staticmethod
    def barrier(x: torch.Tensor, limit: float, tau: float) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        steps = torch.diff(torch.eye(HOURS, dtype=x.dtype), dim=0)
        up, down = limit - x @ steps.T, limit + x @ steps.T
        inside = (up > 0).all(1) & (down > 0).all(1)
        value = -tau * (torch.log(up.clamp_min(1e-300)) + torch.log(down.clamp_min(1e-300))).sum(1)
        value = torch.where(inside, value, torch.inf)
        gradient = tau * (1 / up - 1 / down) @ steps
        weights = tau * (1 / up**2 + 1 / down**2)
        return value, gradient, torch.einsum("ti,bt,tj->bij", steps, weights, steps)

    @classmethod
    def solve(
        cls, mu: torch.Tensor, sigma: torch.Tensor, limit: float, start: torch.Tensor, taus: tuple[float, ...] = TAUS
    ) -> torch.Tensor:
        x = start.clone()
        level = torch.special.ndtri(torch.tensor(UNDER / (UNDER + OVER), dtype=mu.dtype))
        best = mu + sigma * level
        for tau in taus:
            for _ in range(40):
                value, slope, bend, _ = cls.slopes(x, mu, sigma)
                fence, own, curve = cls.barrier(x, limit, tau)
                # Far out the cost is a line: there it bends as the chord to its minimum does.
                chord = slope / torch.where((x - best).abs() < 1e-9, torch.full_like(x, torch.inf), x - best)
                bend = torch.maximum(bend, 0.1 * chord).clamp_min(1e-6)
                gradient = slope + own
                step = -torch.linalg.solve(curve + torch.diag_embed(bend), gradient)
                fall = (gradient * step).sum(1)
                length = torch.ones(len(x), dtype=x.dtype)
                for _ in range(30):
                    tried = x + length[:, None] * step
                    new = cls.slopes(tried, mu, sigma)[0] + cls.barrier(tried, limit, tau)[0]
                    worse = ~(new <= value + fence + 1e-4 * length * fall + 1e-12)
                    if not worse.any():
                        break
                    length = torch.where(worse, length / 2, length)
                x = torch.where(worse[:, None], x, x + length[:, None] * step)
                if (-fall < 1e-9).all():
                    break
        return x

    @staticmethod
    def forward(ctx, mu, sigma, limit, start, taus=TAUS):  # type: ignore[no-untyped-def]
        x = Programme.solve(mu, sigma, limit, start, taus)
        ctx.save_for_backward(x, mu, sigma)
        ctx.limit, ctx.tau = limit, taus[-1]
        return x

    @staticmethod
    def backward(ctx, gradient):  # type: ignore[no-untyped-def]
        x, mu, sigma = ctx.saved_tensors
        _, _, bend, z = Programme.slopes(x, mu, sigma)
        _, _, curve = Programme.barrier(x, ctx.limit, ctx.tau)
        v = torch.linalg.solve(curve + torch.diag_embed(bend + 1e-6), gradient)
        return bend * v, bend * z * v, None, None, None


class Network(nn.Module):
    """Mean and spread of a normal law for each hour."""

    def __init__(self, features: int, weights: np.ndarray) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        for width in (200, 200):
            layers += [nn.Linear(features, width), nn.BatchNorm1d(width), nn.ReLU(), nn.Dropout(0.2)]
            features = width
        self.deep = nn.Sequential(*layers, nn.Linear(200, 2 * HOURS))
        nn.init.zeros_(self.deep[-1].weight)
        nn.init.zeros_(self.deep[-1].bias)
        self.line = nn.Linear(len(weights) - 1, HOURS)
        with torch.no_grad():
            self.line.weight.copy_(torch.tensor(weights[1:].T))
            self.line.bias.copy_(torch.tensor(weights[0]))
        self.level = nn.Parameter(torch.full((HOURS,), -3.0))

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        mean, spread = self.deep(x).chunk(2, dim=1)
        return self.line(x) + mean, torch.exp((self.level + spread).clamp(-7.0, 1.0))


def rival(x: np.ndarray, d: np.ndarray, parts: list[np.ndarray], limit: float, seed: int) -> tuple[np.ndarray, ...]:
    """Decisions on test days: trained by likelihood alone, and through the programme after it."""
    torch.manual_seed(seed)
    torch.set_default_dtype(torch.float64)
    train, valid, test = parts
    weights = np.linalg.lstsq(np.column_stack([np.ones(len(train)), x[train]]), d[train], rcond=None)[0]
    network = Network(x.shape[1], weights)
    inputs, loads = torch.tensor(x), torch.tensor(d)
    flat = torch.full((len(d), HOURS), float(d[train].mean()))
    starts, taus = flat.clone(), {True: WARM, False: TAUS[:-1]}
    known = np.zeros(len(d), bool)

    def decided(rows: np.ndarray, mu: torch.Tensor, sigma: torch.Tensor) -> torch.Tensor:
        x = Programme.apply(mu, sigma, limit, starts[rows], taus[bool(known[rows].all())])
        # The next solve of a row starts near its last decision, off the limits of its ramp.
        starts[rows], known[rows] = 0.9 * x.detach() + 0.1 * flat[rows], True
        return x

    def likelihood(rows: np.ndarray) -> torch.Tensor:
        mu, sigma = network(inputs[rows])
        return -torch.distributions.Normal(mu, sigma).log_prob(loads[rows]).sum(1).mean()

    def task(rows: np.ndarray) -> torch.Tensor:
        short = loads[rows] - decided(rows, *network(inputs[rows]))
        return (UNDER * short.clamp_min(0) + OVER * (-short).clamp_min(0)).sum(1).mean()

    def batches(size: int) -> Iterator[np.ndarray]:
        order = rng.permutation(train)
        yield from (order[i : i + size] for i in range(0, len(order) - 1, size))

    def descend(loss, rate: float, epochs: int, patience: int, size: int) -> float:  # type: ignore[no-untyped-def]
        optimiser = torch.optim.Adam(network.parameters(), rate)
        best, waited = (float("inf"), {}), 0
        for _ in range(epochs):
            network.eval()
            with torch.no_grad():
                value = float(loss(valid))
            if value < best[0]:
                best, waited = (value, {k: v.clone() for k, v in network.state_dict().items()}), 0
            else:
                waited += 1
            if waited > patience:
                break
            network.train()
            for rows in batches(size):
                optimiser.zero_grad()
                loss(rows).backward()
                optimiser.step()
        network.load_state_dict(best[1])
        return best[0]

    def decisions() -> np.ndarray:
        network.eval()
        with torch.no_grad():
            return Programme.apply(*network(inputs[test]), limit, flat[test]).numpy()

    rng = np.random.default_rng(seed)
    descend(likelihood, 1e-3, 300, 30, 100)
    first = decisions()
    begun = {k: v.clone() for k, v in network.state_dict().items()}
    ends = []
    for rate in RATES:
        network.load_state_dict(begun)
        ends.append((descend(task, rate, 60, 10, 150), decisions()))
    return first, min(ends, key=lambda end: end[0])[1]


def ours(
    x: np.ndarray, d: np.ndarray, parts: list[np.ndarray], limit: float, seed: int
) -> tuple[dict[str, np.ndarray], str]:
    """Decisions on test days of each method, of the one that is best on validation days, and of a mean; and which one is best."""
    train, valid, test = parts
    steps = np.diff(np.eye(HOURS), axis=0)
    soft = rl.Soft(np.eye(HOURS), np.zeros(HOURS), weight=OVER, under=UNDER)
    A = np.vstack([steps, -steps])
    problem = rl.Problem(HOURS, theta=np.zeros(HOURS), sense="min", A=A, b=np.full(len(A), limit), soft=soft)
    found, costs = {}, {}
    for name, (method, predictor) in OURS.items():
        model = rl.DecisionRegressor(problem, method, predicts="d", random_state=seed, **predictor)
        model.fit(x[train], d[train], validation=(x[valid], d[valid]))
        costs[name] = cost(np.asarray(model.decide(x[valid])), d[valid]).mean()
        found[name] = np.asarray(model.decide(x[test]))
    best = min(costs, key=lambda name: costs[name])
    model = rl.DecisionRegressor(problem, "auto", predicts="d", random_state=seed)
    model.fit(x[train], d[train], validation=(x[valid], d[valid]))
    found["auto"] = np.asarray(model.decide(x[test]))
    found["chosen"] = found[best]
    found["mean"] = np.mean([found[name] for name in MEAN_OF], axis=0)
    return found, best


def interval(gaps: np.ndarray, base: np.ndarray, block: int = 14, draws: int = 10_000) -> tuple[float, float, float]:
    """Σ gaps / Σ base with its 95 % interval, by blocks of neighbouring days."""
    rng = np.random.default_rng(0)
    count = -(-len(gaps) // block)
    begins = rng.integers(0, len(gaps) - block + 1, (draws, count))
    rows = (begins[..., None] + np.arange(block)).reshape(draws, -1)[:, : len(gaps)]
    ratios = gaps[rows].sum(axis=1) / base[rows].sum(axis=1)
    return float(gaps.sum() / base.sum()), *(float(q) for q in np.quantile(ratios, [0.025, 0.975]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--zones", nargs="*", default=["EAST", "FWEST"])
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--cache", type=Path, help="a folder for costs by day: a run that was stopped goes on")
    given = parser.parse_args()
    torch.set_num_threads(1)
    rows = []
    by_day: dict[str, list[np.ndarray]] = {}
    for zone in given.zones:
        x, load = days(given.data / f"{zone}.csv.gz")
        ends = [int(0.6 * len(x)), int(0.8 * len(x)), len(x)]
        parts = [np.arange(a, b) for a, b in zip([0, *ends], ends, strict=False)]
        d = load / load[parts[0]].mean()
        x = (x - x[parts[0]].mean(axis=0)) / x[parts[0]].std(axis=0)
        limit = float(np.quantile(np.abs(np.diff(d[parts[0]], axis=1)), 0.75))

        def theirs(seed: int) -> tuple[dict[str, np.ndarray], str]:
            return dict(zip(RIVALS, rival(x, d, parts, limit, seed), strict=True)), ""  # noqa: B023

        own: dict[str, list[np.ndarray]] = {}
        for seed in range(given.seeds):
            for label, who in (("rival", theirs), ("ours", lambda seed: ours(x, d, parts, limit, seed))):  # noqa: B023
                kept = given.cache / f"{zone}-{seed}-{label}.npz" if given.cache else None
                if kept and kept.is_file():
                    costs = dict(np.load(kept))
                    best = str(costs.pop("best"))
                else:
                    found, best = who(seed)
                    for name, decisions in found.items():
                        assert np.abs(np.diff(decisions, axis=1)).max() <= limit + 1e-6, name
                    costs = {name: cost(decisions, d[parts[2]]) for name, decisions in found.items()}
                    if kept:
                        kept.parent.mkdir(parents=True, exist_ok=True)
                        np.savez(kept, best=best, **costs)
                for name, each in costs.items():
                    own.setdefault(name, []).append(each)
                    rows.append([zone, seed, name, f"{each.mean():.4f}", best if name == "chosen" else ""])
                    print(*rows[-1], flush=True)
        base = np.mean(own["normal, end to end"], axis=0).mean()
        for name, each in own.items():
            by_day.setdefault(name, []).append(np.mean(each, axis=0) / base)
    with Path(__file__).with_suffix(".csv").open("w", newline="") as file:
        csv.writer(file).writerows([["zone", "seed", "method", "cost", "which"], *rows])
    print("| | cost over that of the network trained end to end | 95 % |\n|---|---|---|")
    # Zones have the same days: a day is the mean over them.
    means = {name: np.mean(each, axis=0) for name, each in by_day.items()}
    reference = means["normal, end to end"]
    for name, each in means.items():
        gap, low, high = interval(each - reference, reference)
        print(f"| {name} | {100 * gap:+.1f} % | {100 * low:+.1f} to {100 * high:+.1f} % |")


if __name__ == "__main__":
    main()
