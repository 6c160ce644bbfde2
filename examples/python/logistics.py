# %% [markdown]
# # Freight: which lanes get the trucks?
#
# A carrier promises truckloads on twelve lanes between four depots before the day's rates are known. Vehicle hours
# are hard: each depot has a fleet. A depot handles so many loads a day; more is possible and costs overtime, so that
# limit is *soft*. What a load earns, θ, is predicted from demand, storms, fuel and the weekday.
#
#     max  θᵀx − overtime · max(handling·x − capacity, 0)     over  hours·x ≤ fleet,  0 ≤ x ≤ loads on offer
#
# Rates multiply: tight demand in bad weather is dear. So we compare three forms of predictor, each trained on squared
# errors and on decisions: linear (cannot be right everywhere), a network (could, with more days), and a product (has
# the right form). The worse the form fits, the more there is to gain by spending its errors where they do not matter.

# %%
import itertools

import matplotlib.pyplot as plt
import numpy as np
import torch
from side_by_side import BLUE, GREY, arguments, panel, table, verdict

import regretless as rl
import regretless.torch

args = arguments("logistics")
SEEDS = range(2) if args.quick else range(5)
EPOCHS = 4 if args.quick else 150

# %% [markdown]
# ## The problem
# One variable a lane: truckloads a day. θ is what is predicted, so it is left out here.

# %%
DEPOTS = ["Lille", "Lyon", "Basel", "Turin"]
KM = np.array([[0, 690, 630, 930], [690, 0, 400, 310], [630, 400, 0, 450], [930, 310, 450, 0]])
LANES = list(itertools.permutations(range(4), 2))
LENGTH = np.array([KM[start, end] for start, end in LANES])
STARTS = np.array([[float(start == depot) for start, _ in LANES] for depot in range(4)])
ENDS = np.array([[float(end == depot) for _, end in LANES] for depot in range(4)])
HOURS = 3 + LENGTH / 65  # loading and driving, for one load

carrier = rl.Problem(
    len(LANES),
    A=STARTS * HOURS,
    b=110.0,  # vehicle hours a day at every depot
    soft=rl.Soft(STARTS + ENDS, [22.0, 26.0, 24.0, 20.0], weight=120.0),  # € overtime for each load above
    upper=10.0,  # loads on offer
    variables=[f"{DEPOTS[start]}–{DEPOTS[end]}" for start, end in LANES],
)

# %% [markdown]
# ## The data
# The world is the same for every seed, the days are not. With data of your own, this is the cell to replace: `X` has
# one row a day, `y` the rates that came true, one column a lane.

# %%
world = np.random.default_rng(2024)
ON_DEMAND = 0.35 * STARTS - 0.20 * ENDS  # dear out of a tight depot, cheap back into it
ON_STORM = 0.30 * (STARTS + ENDS) * world.uniform(0.3, 1.0, len(LANES))
ON_WEEKDAY = world.normal(0.0, 0.12, (5, len(LANES)))


def days(rng: np.random.Generator, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Features and rates (€ a load) of some days."""
    demand, storm = rng.normal(size=(count, 4)), rng.exponential(size=(count, 4))
    fuel, weekday = rng.normal(size=(count, 1)), np.eye(5)[rng.integers(5, size=count)]
    effects = demand @ ON_DEMAND + storm @ ON_STORM + weekday @ ON_WEEKDAY + 0.0002 * fuel * LENGTH
    rates = (150 + 0.9 * LENGTH) * np.exp(effects + rng.normal(0.0, 0.1, effects.shape))
    return np.hstack([demand, storm, fuel, weekday]), rates


# %% [markdown]
# ## Predictors of your own
# Any `torch.nn.Module` that returns rates will do, and `regretless.torch.DecisionLoss` is a loss like any other. We
# train on squares first and then on decisions: far from the truth the gradient of a decision is a poor guide.


# %%
class Form(torch.nn.Module):
    """Rates from a network in standardised units: its output is added to the mean rate, or multiplies it."""

    def __init__(self, net: torch.nn.Module, X: torch.Tensor, y: torch.Tensor, *, multiplies: bool) -> None:
        super().__init__()
        self.net, self.multiplies = net, multiplies
        self.features, self.rates = (X.mean(0), X.std(0)), (y.mean(0), y.std(0))

    def forward(self, X: torch.Tensor) -> torch.Tensor:
        out = self.net((X - self.features[0]) / self.features[1])
        mean, deviation = self.rates
        return mean * torch.exp(out) if self.multiplies else mean + deviation * out


def train(form: Form, loss, X: torch.Tensor, y: torch.Tensor, epochs: int, rate: float) -> None:
    """Adam; the epoch with the least regret on the last fifth of the rows is kept."""
    cut = len(X) * 4 // 5
    optimiser = torch.optim.Adam(form.parameters(), rate)
    best, kept = np.inf, {}
    for _ in range(epochs):
        for rows in torch.randperm(cut).split(32):
            optimiser.zero_grad()
            loss(form(X[rows]), y[rows], rows).backward()
            optimiser.step()
        regret = rl.regret(carrier, form(X[cut:]).detach(), y[cut:]).mean
        if regret < best:
            best, kept = regret, {name: value.clone() for name, value in form.state_dict().items()}
    form.load_state_dict(kept)


# %% [markdown]
# ## Forms × losses × seeds
# Within a seed all see the same 400 days and are judged on the same 400 others. `constant` knows no features; `auto`
# tries several methods and keeps what is better on validation.

# %%
regrets: dict[str, list[float]] = {}
plans: dict[str, list[np.ndarray]] = {"hindsight": []}


def record(name: str, decisions: rl.Decisions) -> None:
    regrets.setdefault(name, []).append(decisions.mean)
    plans.setdefault(name, []).append(decisions.x)


for seed in SEEDS:
    rng = np.random.default_rng(seed)
    (X, y), (X_test, y_test) = days(rng, 400), days(rng, 400)
    plans["hindsight"].append(carrier.solve(y_test).x)

    for method in ["constant", "l2", "spo+", "auto"]:
        model = rl.DecisionRegressor(carrier, method, predictor="linear", epochs=EPOCHS, random_state=seed).fit(X, y)
        record(method if method == "constant" else f"linear, {method}", model.evaluate(X_test, y_test))
    print(f"seed {seed}: auto {model.summary_}")

    torch.manual_seed(seed)
    X_t, y_t, X_new = (torch.tensor(array, dtype=torch.float32) for array in (X, y, X_test))
    hidden = torch.nn.Sequential(torch.nn.Linear(14, 64), torch.nn.ReLU(), torch.nn.Linear(64, 12))
    for name, net, multiplies in [("network", hidden, False), ("product", torch.nn.Linear(14, 12), True)]:
        form = Form(net, X_t, y_t, multiplies=multiplies)
        deviation, decision = y_t.std(0), rl.torch.DecisionLoss(carrier, "spo+")
        train(form, lambda p, t, _, s=deviation: ((p - t) / s).square().mean(), X_t, y_t, EPOCHS, 3e-3)
        record(f"{name}, l2", rl.regret(carrier, form(X_new).detach(), y_test))
        train(form, lambda p, t, rows, loss=decision: loss(p, t, ids=rows), X_t, y_t, EPOCHS // 2, 3e-4)
        record(f"{name}, spo+", rl.regret(carrier, form(X_new).detach(), y_test))

# %% [markdown]
# ## What came out
# Each decision-trained predictor against the same form trained on squares, paired over seeds.

# %%
reference = {name: "linear, l2" if name == "constant" else f"{name.split(',')[0]}, l2" for name in regrets}
table("regret in € a day", regrets, reference)
print()
for name in ["linear, spo+", "linear, auto", "network, spo+", "product, spo+"]:
    print(verdict(regrets, name, reference[name]))

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
shown = {name: values for name, values in regrets.items() if name != "constant"}
panel(left, shown, {name: GREY if name.endswith("l2") else BLUE for name in shown}, "regret, € a day")
left.set_title("Regret by form and loss")

# How far a lane's loads are from those of the best plan in hindsight: where do the two linear predictors differ?
off = {
    name: np.abs(np.subtract(plans[name], plans["hindsight"])).mean((0, 1)) for name in ["linear, l2", "linear, spo+"]
}
order = np.argsort(off["linear, l2"])
right.hlines(range(len(LANES)), *(values[order] for values in off.values()), color=GREY, linewidth=1)
for (name, values), colour in zip(off.items(), [GREY, BLUE]):
    right.plot(values[order], range(len(LANES)), "o", color=colour, label=name)
right.set_yticks(range(len(LANES)), np.array(carrier.variables)[order])
right.tick_params(axis="y", length=0)
right.set_xlim(0)
right.set_xlabel("loads a day away from the best plan in hindsight")
right.set_title("Where decisions differ")
right.legend(loc="lower right")
figure.savefig(args.figure)
print(f"\nfigure: {args.figure}")
