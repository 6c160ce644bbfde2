# %% [markdown]
# # A day of dispatch: what does a forecast of load cost on a grid?
#
# At noon the plants of tomorrow are scheduled, hour by hour, on a forecast of the load in three zones. What comes true
# is settled: a MWh too few is bought in a hurry, one too many is sold for little, and a line that carries more than its
# limit is relieved for money. Limits of lines and the balance are therefore *soft* rows; ramps and capacities are hard.
#
#     min  cost(p) + short · max(load − Σp, 0) + long · max(Σp − load, 0) + relief · max(|flow| − limit, 0)
#     flow = PTDF (plants·p − shares·load)                         power flow without losses (DC)
#
# The load of a zone feeds many limits at once: that of its hour's balance, and by the PTDF those of all lines.
#
# Without `--case` the grid is a small one made here. `--case case118_ieee.m` reads a grid of the format of MATPOWER
# and PGLib (https://github.com/power-grid-lib/pglib-opf), plain or as .gz.

# %%
import argparse
import gzip
import re
import sys
from dataclasses import dataclass
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import scipy.sparse as sp
from side_by_side import BLUE, GREY, ORANGE, panel, table, verdict

import regretless as rl

parser = argparse.ArgumentParser(prog="dispatch.py")
parser.add_argument("--quick", action="store_true", help="few seeds and epochs: does it run at all?")
parser.add_argument("--figure", type=Path, default=Path("dispatch.png"), metavar="PATH", help="default: %(default)s")
parser.add_argument("--case", type=Path, metavar="FILE", help="a grid in MATPOWER's format")
args = parser.parse_args([] if "ipykernel" in sys.modules else None)

SEEDS = range(2) if args.quick else range(3)
HISTORY, TEST, EPOCHS = (60, 20, 2) if args.quick else (200, 100, 20)
HOURS, WATCHED = 24, 5
SHORT, LONG, RELIEF = 400.0, 10.0, 60.0  # € a MWh


# %% [markdown]
# ## The grid
# Buses with their load at an ordinary hour, plants (bus, capacity, cost a MWh), lines (from, to, reactance, limit).


# %%
@dataclass
class Grid:
    load: np.ndarray
    zone: np.ndarray
    plants: np.ndarray
    lines: np.ndarray


def small() -> Grid:
    """Three towns of four buses each: cheap plants in the north, load and dear plants in the south."""
    load = np.array([20, 30, 10, 20, 40, 60, 50, 30, 90, 120, 80, 70], float)
    ring = [(4 * z + a, 4 * z + b, 0.04, 150) for z in range(3) for a, b in [(0, 1), (1, 2), (2, 3), (3, 0)]]
    ties = [(2, 4, 0.08, 130), (3, 7, 0.08, 110), (6, 8, 0.08, 120), (7, 11, 0.08, 120), (1, 10, 0.2, 100)]
    plants = [(0, 220, 18), (2, 160, 24), (5, 120, 38), (6, 100, 46), (9, 160, 62), (11, 120, 75)]
    return Grid(load, np.repeat(np.arange(3), 4), np.array(plants, float), np.array(ring + ties, float))


def read(path: Path) -> Grid:
    """A case file; its buses, in their order, are three zones of about the same load."""
    text = gzip.decompress(path.read_bytes()).decode() if path.suffix == ".gz" else path.read_text()

    def rows(name: str) -> np.ndarray:
        inside = re.search(rf"mpc\.{name}\s*=\s*\[(.*?)\];", text, re.DOTALL)
        if inside is None:
            raise SystemExit(f"{path}: no table mpc.{name}, is this a case of MATPOWER?")
        stated = (line.split("%")[0].strip(" ;\t") for line in inside[1].splitlines())
        return np.array([[float(word) for word in line.split()] for line in stated if line])

    bus, gen, cost, branch = (rows(name) for name in ("bus", "gen", "gencost", "branch"))
    number = {int(b): i for i, b in enumerate(bus[:, 0])}
    at = np.vectorize(lambda b: number[int(b)])
    load = np.maximum(bus[:, 2], 0.0)
    runs, there = (gen[:, 7] > 0) & (gen[:, 8] > 0), branch[:, 10] > 0
    limit = np.where(branch[:, 5] > 0, branch[:, 5], 1e4)
    plants = np.column_stack([at(gen[:, 0]), gen[:, 8], cost[:, -2]])[runs]
    lines = np.column_stack([at(branch[:, 0]), at(branch[:, 1]), branch[:, 3], limit])[there]
    return Grid(load, np.minimum(3 * load.cumsum() // load.sum(), 2).astype(int), plants, lines)


grid = small() if args.case is None else read(args.case)
buses, plants, lines = len(grid.load), len(grid.plants), len(grid.lines)
start, end = grid.lines[:, :2].astype(int).T
incidence = sp.csr_array(
    (np.r_[np.ones(lines), -np.ones(lines)], (np.r_[:lines, :lines], np.r_[start, end])), (lines, buses)
)
susceptance = sp.diags_array(1 / grid.lines[:, 2])
ptdf = (susceptance @ incidence).toarray() @ np.linalg.pinv((incidence.T @ susceptance @ incidence).toarray())
usual = np.array([grid.load[grid.zone == z].sum() for z in range(3)])  # MW in each zone
shares = np.zeros((buses, 3))
shares[np.arange(buses), grid.zone] = grid.load / usual[grid.zone]
site = np.zeros((buses, plants))
site[grid.plants[:, 0].astype(int), np.arange(plants)] = 1.0
capacity, price = grid.plants[:, 1], grid.plants[:, 2]

# Only lines that could be loaded are watched: those that the cheapest plants load most, whatever the limits.
order = np.argsort(price, kind="stable")
used = np.zeros(plants)
used[order] = np.diff(np.minimum(capacity[order].cumsum(), 1.1 * usual.sum()), prepend=0.0)
flow = ptdf @ (site @ used - shares @ (1.1 * usual))
watched = np.sort(np.argsort(-np.abs(flow) / grid.lines[:, 3])[:WATCHED])
by_plant, by_load, limit = (ptdf @ site)[watched], (ptdf @ shares)[watched], grid.lines[watched, 3]

# %% [markdown]
# ## The problem
# Variables are the plants' MW, hour after hour. Soft rows of an hour: the balance, then each watched line in both
# directions. A row's limit is made of the three loads of its hour, which are what is predicted.

# %%
signs = np.repeat([1.0, -1.0], len(watched))
hour = np.vstack([np.ones(plants), np.vstack([by_plant, -by_plant])])
weight, under = np.r_[LONG, np.full(len(signs), RELIEF)], np.r_[SHORT, np.zeros(len(signs))]
change = sp.kron(np.eye(HOURS - 1, HOURS, 1) - np.eye(HOURS - 1, HOURS), np.eye(plants))
system = rl.Problem(
    HOURS * plants,
    theta=np.tile(price, HOURS),
    Q=sp.diags_array(np.tile(0.02 * price / capacity, HOURS)),  # the last MW of a plant is a little dearer
    sense="min",
    soft=rl.Soft(sp.csr_array(sp.kron(np.eye(HOURS), hour)), 0.0, np.tile(weight, HOURS), np.tile(under, HOURS)),
    A=sp.csr_array(sp.vstack([change, -change])),
    b=np.tile(0.25 * capacity, 2 * (HOURS - 1)),  # a quarter of its capacity an hour, up and down
    upper=np.tile(capacity, HOURS),
)
rows = len(hour)
places: dict[str, list[rl.At]] = {}
for h in range(HOURS):
    for z in range(3):
        on_lines = signs * np.tile(by_load[:, z], 2)
        shift = np.tile(limit, 2) if z == 0 else np.zeros(len(signs))  # once a row
        places[f"load_{z}_{h:02}"] = [
            rl.At(f"d[{h * rows}]"),
            *(rl.At(f"d[{h * rows + 1 + i}]", factor=on_lines[i], shift=shift[i]) for i in range(len(signs))),
        ]
loads = rl.Quantities(system, places)

# %% [markdown]
# ## The data
# Temperature of each zone, weekday, season; the load rises with heat and with cold, in the evening more than at night,
# and errs for all zones and hours together and for each by itself. With data of your own, replace this cell.

# %%
CLOCK = np.arange(HOURS)
SHAPE = 0.78 + 0.16 * np.exp(-(((CLOCK - 9) / 3.0) ** 2)) + 0.24 * np.exp(-(((CLOCK - 19) / 2.5) ** 2))
TOUCHY = 0.3 + np.exp(-(((CLOCK - 18) / 4.0) ** 2))  # how much an hour feels the weather


def days(rng: np.random.Generator, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Features and loads of some days: (days, 6) and (days, hours × zones)."""
    season, weekend = rng.uniform(0, 2 * np.pi, count), (rng.random(count) < 2 / 7).astype(float)
    warm = 14 - 9 * np.cos(season)[:, None] + rng.normal(0, 3, (count, 1)) + rng.normal(0, 1.5, (count, 3))
    weather = 0.012 * np.maximum(warm - 20, 0) ** 1.3 + 0.008 * np.maximum(12 - warm, 0)
    mean = SHAPE[:, None] * (1 - 0.1 * weekend[:, None, None]) + TOUCHY[:, None] * weather[:, None, :]
    error = rng.normal(0, 0.02, (count, 1, 1)) + rng.normal(0, 0.025, (count, 1, 3))
    error = error * np.sqrt(TOUCHY)[:, None] + rng.normal(0, 0.012, (count, HOURS, 3))
    load = usual * (mean * (1 + error))
    return np.column_stack([warm, weekend, np.cos(season), np.sin(season)]), load.reshape(count, -1)


def overload(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """MW beyond the limit of each watched line: (days, hours, lines)."""
    return np.maximum(np.abs(flows(x, y)) - limit, 0)


def flows(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return x.reshape(-1, HOURS, plants) @ by_plant.T - y.reshape(-1, HOURS, 3) @ by_load.T


# %% [markdown]
# ## Methods × seeds
# All have the same linear predictor, which cannot bend with the weather, and see the same days. `l2` plans for the
# forecast; `surrogate` trains on what plans cost; with `+scenarios` the plan is for the forecast and its errors.

# %%
METHODS = ["constant", "l2", "surrogate", "l2+scenarios"]
regrets: dict[str, list[float]] = {}
plans: dict[str, list[np.ndarray]] = {}
truths: list[np.ndarray] = []

for seed in SEEDS:
    rng = np.random.default_rng(seed)
    (X, y), (X_test, y_test) = days(rng, HISTORY), days(rng, TEST)
    truths.append(y_test)
    for method in METHODS:
        model = rl.DecisionRegressor(
            system, method, predicts=loads, predictor="linear", warmup="auto", scenarios=40,
            learning_rate=0.003, epochs=EPOCHS, random_state=seed,
        ).fit(X, y)  # fmt: skip
        judged = model.evaluate(X_test, y_test)
        regrets.setdefault(method, []).append(judged.mean)
        plans.setdefault(method, []).append(judged.x)
    print(f"seed {seed}: done", flush=True)

# %% [markdown]
# ## What came out

# %%
print(f"{buses} buses, {plants} plants, {lines} lines of which {len(watched)} are watched: {system.n} variables")
table("regret in € a day", regrets, "l2")
print()
for method in ["surrogate", "l2+scenarios"]:
    print(verdict(regrets, method, "l2"))

# %%
figure, axes = plt.subplots(2, 2, figsize=(12, 7.6), layout="constrained")
shown = {method: values for method, values in regrets.items() if method != "constant"}
COLOURS = {"l2": GREY, "surrogate": BLUE, "l2+scenarios": ORANGE}
panel(axes[0, 0], shown, COLOURS, "regret, € a day")
axes[0, 0].set_title("What a forecast costs beyond perfect foresight")


# The grid: of a case file buses have no places, so lines pull them together and all push one another apart.
def layout(laplacian: np.ndarray) -> np.ndarray:
    seat = np.linalg.eigh(laplacian)[1][:, 1:3] * np.sqrt(len(laplacian))
    for step in np.linspace(0.1, 0.001, 400):
        away = seat[:, None] - seat
        far = np.hypot(*away.T).T + 1e-6
        force = (away / far[:, :, None] ** 2).sum(1) * 0.02 - laplacian @ seat
        seat = seat + step * force / np.maximum(np.hypot(*force.T), 0.3)[:, None]
    return seat


seat = layout((incidence.T @ incidence).toarray()) if args.case else None
if seat is None:
    corner = np.array([(0, 0), (1, 0.15), (1.1, -0.9), (0.1, -1)])
    seat = np.vstack([corner + np.array([2.2 * z, -0.5 * z * (2 - z)]) for z in range(3)])
beyond = np.mean([overload(x, t).sum(1).mean(0) for x, t in zip(plans["l2"], truths)], axis=0)
ax = axes[0, 1]
for a, b in zip(start, end):
    ax.plot(*seat[[a, b]].T, color="#d0d0d0", linewidth=1, zorder=1)
for place, mw in zip(watched, beyond):
    ends = seat[[start[place], end[place]]]
    ax.plot(*ends.T, color=plt.cm.YlOrRd(0.25 + 0.75 * mw / max(beyond.max(), 1e-9)), linewidth=3, zorder=2)
    if mw > 0.15 * beyond.max():
        ax.annotate(f"{mw:,.0f}", ends.mean(0), ha="center", va="center", fontsize=8, zorder=5,
                    bbox={"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": "none", "alpha": 0.85})  # fmt: skip
ax.scatter(*seat.T, s=10 + 160 * grid.load / grid.load.max(), color="#555555", zorder=3)
ax.scatter(*seat[grid.plants[:, 0].astype(int)].T, s=26, marker="s", color=BLUE, zorder=4)
ax.set_axis_off()
ax.set_title("Where plans on l2 overload lines, MWh a day (■ plants, ● load)")


# The day on which they differ most, and the line that is overloaded most on it.
def short(x: np.ndarray) -> np.ndarray:
    """MWh that a plan lacks: one number a day."""
    return np.maximum(truths[0].reshape(TEST, HOURS, 3).sum(2) - x.reshape(TEST, HOURS, plants).sum(2), 0).sum(1)


day = int(np.argmax(short(plans["l2"][0]) - short(plans["l2+scenarios"][0])))
true = truths[0][day].reshape(HOURS, 3)
ax = axes[1, 0]
ax.fill_between(CLOCK, true.sum(1), step="mid", color="#e4e4e4", label="load that came true")
for method in COLOURS:
    ax.step(
        CLOCK, plans[method][0][day].reshape(HOURS, plants).sum(1), where="mid", color=COLOURS[method], label=method
    )
ax.set_ylim(0.9 * true.sum(1).min())
ax.set_ylabel("MW")
ax.set_title("One day: generation as planned")
ax.legend(loc="upper left")

ax = axes[1, 1]
line = int(np.argmax(overload(plans["l2"][0][day], truths[0][day]).sum((0, 1))))
for method in COLOURS:
    carried = np.abs(flows(plans[method][0][day], truths[0][day]))[0, :, line]
    ax.plot(CLOCK, carried, color=COLOURS[method], label=method)
    ax.fill_between(CLOCK, carried, limit[line], where=carried > limit[line], color=COLOURS[method], alpha=0.25)
ax.axhline(limit[line], color="black", linewidth=0.8, linestyle="--")
ax.annotate("limit (soft)", (0, limit[line]), xytext=(0, 3), textcoords="offset points", fontsize=8.5)
ax.set_ylim(0.96 * limit[line])
ax.set_ylabel("MW")
ax.set_title(f"The same day on line {start[watched[line]] + 1}–{end[watched[line]] + 1}")
for ax in axes[1]:
    ax.set_xticks(range(0, 25, 4))
    ax.set_xlabel("hour of the day")
figure.savefig(args.figure)
print(f"\nfigure: {args.figure}")
