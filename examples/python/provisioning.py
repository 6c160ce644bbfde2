# %% [markdown]
# # Power for tomorrow: predicted output of sites
#
# A utility contracts capacity x (MW) of six sites for tomorrow. What a MW delivers in each three hours of the day, the
# matrix C, depends on the weather and is predicted. Demand d is known. Too much is sold at a small loss, too little is
# bought at a high price: *soft* rows that cost on both sides, and differently.
#
#     min  priceᵀx + 10 · max(Cx − d, 0) + 150 · max(d − Cx, 0)     over  0 ≤ x ≤ size of the sites
#
# A forecast of C is never right. The objective is not linear in C, so that the decision for the mean forecast is not
# the best on average: shortage is dear, and a margin is worth its price. Decision losses learn such a margin into the
# forecast; `+scenarios` leaves the forecast alone and decides for many that differ from it as the truth used to.

# %%
import matplotlib.pyplot as plt
import numpy as np
from side_by_side import BLUE, GREY, ORANGE, arguments, panel, table, verdict

import regretless as rl

args = arguments("provisioning")
SEEDS = range(2) if args.quick else range(5)
EPOCHS = 4 if args.quick else 100
HISTORY, TEST = (150, 100) if args.quick else (800, 500)

# %% [markdown]
# ## The problem
# C has a row for each three hours and a column for each site. The ones are a placeholder of the right shape.

# %%
SITES = ["wind north", "wind coast", "solar south", "solar east", "hydro", "gas"]
START = np.arange(0, 24, 3)
DEMAND = 3 * np.array([62.0, 60.0, 84.0, 98.0, 96.0, 94.0, 102.0, 80.0])  # MWh in three hours
SURPLUS, SHORTAGE = 10.0, 150.0  # € a MWh

supply = rl.Problem(
    len(SITES),
    [260.0, 280.0, 170.0, 180.0, 700.0, 1300.0],  # € for a MW of capacity, for the day
    soft=rl.Soft(np.ones((len(START), len(SITES))), DEMAND, weight=SURPLUS, under=SHORTAGE),
    upper=[150.0, 150.0, 120.0, 120.0, 60.0, 120.0],
    sense="min",
    variables=SITES,
)

# %% [markdown]
# ## The data
# Features: forecasts of wind and cloud at two places, and the season. With data of your own, this is the cell to replace:
# `X` has one row a day, `y` the outputs that came true, an array of days × rows × sites.


# %%
def days(rng: np.random.Generator, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Features and MWh a MW of some days."""
    near = [[1.0, 0.5], [0.0, 0.87]]  # winds at the two places go together
    wind, cloud = rng.normal(size=(count, 2)) @ near, rng.uniform(size=(count, 2))
    season = rng.uniform(0, 2 * np.pi, (count, 1))

    def error(of_day: float, of_hour: float) -> np.ndarray:
        """What the weather did beside its forecast."""
        return of_day * rng.normal(size=(count, 1, 2)) + of_hour * rng.normal(size=(count, len(START), 2))

    blow = 1 / (1 + np.exp(-(0.3 + 0.8 * wind[:, None] + error(0.5, 0.3))))
    sun = np.maximum(0, np.sin(np.pi * (START + 1.5 - 6) / 12))[:, None] * (0.7 + 0.3 * np.cos(season))[:, None]
    shine = sun * (1 - 0.8 * np.clip(cloud[:, None] + error(0.2, 0.1), 0, 1))
    firm = np.broadcast_to([0.9, 0.97], (count, len(START), 2))  # hydro, gas
    X = np.hstack([wind, cloud, np.cos(season), np.sin(season)])
    return X, 3 * np.concatenate([blow, shine, firm], axis=2)


# %% [markdown]
# ## Methods × seeds
# All methods have the same linear predictor and see the same days. `constant` knows no features; `l1` and `l2` are the
# two-stage way; `df` and `surrogate` train on decisions; `auto` tries all of them and keeps what is better on validation.

# %%
METHODS = ["constant", "l1", "l2", "df", "surrogate", "l2+scenarios", "auto"]
regrets: dict[str, list[float]] = {}
missed: dict[str, list[np.ndarray]] = {}

for seed in SEEDS:
    rng = np.random.default_rng(seed)
    (X, y), (X_test, y_test) = days(rng, HISTORY), days(rng, TEST)
    for method in METHODS:
        model = rl.DecisionRegressor(
            supply, method, predicts="C", predictor="linear", scenarios=30,
            learning_rate=0.01, epochs=EPOCHS, random_state=seed,
        ).fit(X, y)  # fmt: skip
        decisions = model.evaluate(X_test, y_test)
        regrets.setdefault(method, []).append(decisions.mean)
        # MWh above (+) and below (−) demand, days × three hours.
        missed.setdefault(method, []).append(np.einsum("dts,ds->dt", y_test, decisions.x) - DEMAND)
    print(f"seed {seed}: auto {model.summary_}")

# %% [markdown]
# ## What came out

# %%
table("regret in € a day", regrets, "l2")
print()
for method in ["df", "surrogate", "l2+scenarios", "auto"]:
    print(verdict(regrets, method, "l2"))
for method in ["surrogate", "auto"]:
    print(verdict(regrets, "l2+scenarios", method))

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
shown = {method: values for method, values in regrets.items() if method != "constant"}
colours = {"l1": GREY, "l2": GREY, "df": BLUE, "surrogate": BLUE, "l2+scenarios": ORANGE, "auto": BLUE}
panel(left, shown, colours, "regret, € a day")
left.set_title("Regret by method")

for shift, (method, colour) in zip([-0.8, 0.0, 0.8], [("l2", GREY), ("surrogate", BLUE), ("l2+scenarios", ORANGE)]):
    off = np.concatenate(missed[method])
    where = START + 1.5 + shift
    right.bar(where, SHORTAGE * np.maximum(-off, 0).mean(0), 0.72, color=colour, label=method)
    right.bar(where, -SURPLUS * np.maximum(off, 0).mean(0), 0.72, color=colour, alpha=0.5)
right.axhline(0, color="black", linewidth=0.8)
right.set_xticks(np.arange(0, 25, 3))
right.yaxis.set_major_formatter(lambda value, _: f"{abs(value):,.0f}")
right.set_xlabel("hour of the day")
right.set_ylabel("mean cost, € in three hours")
right.set_title("What shortage (up) and surplus (down) cost")
right.legend(loc="upper left")
figure.savefig(args.figure)
print(f"\nfigure: {args.figure}")
