# %% [markdown]
# # A portfolio: predicted returns and predicted risk
#
# Every quarter, money is spread over nine shares of three sectors before returns θ and risk Q of the quarter are known.
# A sector may hold 40 % of the money; more is allowed at a price, so that limit is *soft*.
#
#     max  θᵀx − xᵀQx − price · max(sector·x − 0.4, 0)     over  1ᵀx = 1,  x ≥ 0
#
# The objective is linear in θ and in Q: one who predicts their conditional means decides as well as one can, and training
# on decisions has little to add. We compare two forms. In the first, Q is an *embedding*, the same in every quarter, and
# only θ follows the features: it cannot say that times are rough, unless decisions teach θ to say it. In the second, a
# network, Q follows them too.

# %%
import matplotlib.pyplot as plt
import numpy as np
import torch
from side_by_side import BLACK, BLUE, GREY, ORANGE, arguments, gain, panel, table, verdict

import regretless as rl
import regretless.torch

args = arguments("portfolio")
SEEDS = range(2) if args.quick else range(5)
EPOCHS = 4 if args.quick else 80
HISTORY, TEST = (120, 200) if args.quick else (600, 1000)

# %% [markdown]
# ## The problem
# Returns are in % a quarter, Q is the covariance times an aversion to risk, and the objective is in % as well.

# %%
SECTORS = ["energy", "banks", "tech"]
MEMBER = np.kron(np.eye(3), np.ones((1, 3)))  # sector × share: three shares in each
N = MEMBER.shape[1]
LIMIT, PRICE = 0.4, 4.0  # ten points above the limit cost 0.4 % of return
AVERSION = 0.05  # % of return given up for one %² of variance

market = rl.Problem(
    N,
    Q=np.eye(N),  # a placeholder of the right shape: Q is predicted
    soft=rl.Soft(MEMBER, LIMIT, weight=PRICE),
    B=np.ones((1, N)),
    c=1.0,
    variables=[f"{sector} {i}" for sector in SECTORS for i in (1, 2, 3)],
)
BOTH = ["theta", "Q"]

# %% [markdown]
# ## The data
# A factor market: daily returns have a market part, a sector part and their own. Features are a signal for each sector
# and the volatilities of market and sectors, as an index would show them. The signals are stronger than real ones:
# otherwise nothing could be seen in so few quarters. The market is the same for every seed, the quarters are not.

# %%
world = np.random.default_rng(7)
BETA, OWN = world.uniform(0.7, 1.3, N), world.uniform(0.6, 1.4, N)
SIGNAL = 2.5 * MEMBER * (1 + world.normal(size=(3, N)))  # % a quarter for one deviation of a sector's signal
DAYS = 63

Parts = dict[str, np.ndarray]


def quarters(rng: np.random.Generator, count: int) -> tuple[np.ndarray, Parts, Parts]:
    """Features, what came true, and what was to be expected: the conditional means, which only a simulation knows."""
    signal, mood = rng.normal(size=(count, 3)), rng.normal(size=(count, 4))
    rough = np.exp(0.7 * mood) * [0.7, 0.8, 0.8, 0.8]  # daily deviation of market and sectors, %
    common = rng.normal(size=(count, DAYS, 1)) * rough[:, None, :1] * BETA
    sector = (rng.normal(size=(count, DAYS, 3)) * rough[:, None, 1:]) @ MEMBER
    expected = 2.0 + signal @ SIGNAL
    daily = expected[:, None] / DAYS + common + sector + rng.normal(size=(count, DAYS, N)) * OWN
    spread = daily - daily.mean(1, keepdims=True)
    came = {"theta": daily.sum(1), "Q": AVERSION * np.einsum("tdi,tdj->tij", spread, spread)}
    square = rough**2
    variance = square[:, :1, None] * np.outer(BETA, BETA) + np.diag(OWN**2)
    variance = variance + np.einsum("tk,ki,kj->tij", square[:, 1:], MEMBER, MEMBER)
    odds = {"theta": expected, "Q": AVERSION * (DAYS - 1) * variance}
    return np.hstack([signal, mood]), came, odds


# %% [markdown]
# ## A network for θ and Q
# Q = LLᵀ is positive semidefinite whatever the weights are. `DecisionLayer` turns both into a portfolio and
# back-propagates through it, so the loss can be anything: here, what the portfolio really brought.

# %%
Tensors = dict[str, torch.Tensor]


class Market(torch.nn.Module):
    """θ from a linear layer, for there is little signal; the risk from a small network around the mean risk."""

    def __init__(self, features: int, came: Tensors) -> None:
        super().__init__()
        self.mean, self.deviation = came["theta"].mean(0), came["theta"].std(0)
        self.root = torch.linalg.cholesky(came["Q"].mean(0))
        self.returns = torch.nn.Linear(features, N)
        self.risk = torch.nn.Sequential(torch.nn.Linear(features, 24), torch.nn.Tanh(), torch.nn.Linear(24, N * N))
        for layer in (self.returns, self.risk[-1]):
            # Untrained, it predicts nearly the means.
            layer.weight.data *= 0.1
            layer.bias.data.zero_()
        self.double()

    def forward(self, X: torch.Tensor) -> Tensors:
        L = self.root @ (torch.eye(N, dtype=X.dtype) + self.risk(X).view(-1, N, N).tril())
        return {"theta": self.mean + self.deviation * self.returns(X), "Q": L @ L.mT}


def squares(predicted: Tensors, came: Tensors, rows: torch.Tensor) -> torch.Tensor:
    return sum((predicted[part] - came[part]).square().mean() / came[part].var() for part in predicted)


decide = rl.torch.DecisionLayer(rl.Surrogate(market, K=25.0))


def realised(predicted: Tensors, came: Tensors, rows: torch.Tensor) -> torch.Tensor:
    """Minus what portfolios brought: the objective of the problem, in torch."""
    x = decide(ids=rows, **predicted)
    risk = torch.einsum("bi,bij,bj->b", x, came["Q"], x)
    above = torch.relu(x @ torch.tensor(MEMBER).T - LIMIT).sum(1)
    return (risk + PRICE * above - (came["theta"] * x).sum(1)).mean()


def arrays(parts: Tensors) -> Parts:
    return {name: part.detach().numpy() for name, part in parts.items()}


def train(model: Market, loss, X: torch.Tensor, y: Tensors, epochs: int, rate: float) -> None:
    """Adam; the epoch with the least regret on the last fifth of the rows is kept."""
    cut = len(X) * 4 // 5
    held = arrays({name: part[cut:] for name, part in y.items()})
    optimiser = torch.optim.Adam(model.parameters(), rate)
    best, kept = np.inf, {}
    for _ in range(epochs):
        for rows in torch.randperm(cut).split(60):
            optimiser.zero_grad()
            loss(model(X[rows]), {name: part[rows] for name, part in y.items()}, rows).backward()
            optimiser.step()
        regret = rl.regret(market, arrays(model(X[cut:])), held, predict=BOTH).mean
        if regret < best:
            best, kept = regret, {name: value.clone() for name, value in model.state_dict().items()}
    model.load_state_dict(kept)


# %% [markdown]
# ## Methods × seeds
# `odds known` decides with the conditional means: no forecast can do better on average. The rest of its regret is luck.

# %%
regrets: dict[str, list[float]] = {}
AVERSIONS = np.geomspace(0.1, 10.0, 9)
frontier: dict[str, list[np.ndarray]] = {}


def record(name: str, predicted: Parts, came: Parts) -> None:
    """Regret, and for several aversions to risk what the same forecast would have brought."""
    regrets.setdefault(name, []).append(rl.regret(market, predicted, came, predict=BOTH).mean)
    points = []
    for aversion in AVERSIONS:
        x = market.solve(predicted["theta"], Q=aversion * predicted["Q"]).x
        variance = np.einsum("bi,bij,bj->b", x, came["Q"], x).mean() / AVERSION
        points.append((np.sqrt(variance), (came["theta"] * x).sum(1).mean()))
    frontier.setdefault(name, []).append(np.array(points))


for seed in SEEDS:
    rng = np.random.default_rng(seed)
    (X, y, _), (X_test, y_test, odds) = quarters(rng, HISTORY), quarters(rng, TEST)

    for method in ["constant", "l2", "surrogate", "auto"]:
        model = rl.DecisionRegressor(
            market, method, predicts=BOTH, predictor="linear", embedding=4,
            learning_rate=0.01, epochs=EPOCHS, random_state=seed,
        ).fit(X, y)  # fmt: skip
        record(method if method == "constant" else f"embedding, {method}", model.predict(X_test), y_test)
    print(f"seed {seed}: auto {model.summary_}")

    torch.manual_seed(seed)
    features, targets = torch.tensor(X), {name: torch.tensor(part) for name, part in y.items()}
    network = Market(X.shape[1], targets)
    train(network, squares, features, targets, EPOCHS, 1e-2)
    record("network, squares", arrays(network(torch.tensor(X_test))), y_test)
    train(network, realised, features, targets, EPOCHS // 2, 1e-3)
    record("network, decisions", arrays(network(torch.tensor(X_test))), y_test)
    record("odds known", odds, y_test)

# %% [markdown]
# ## What came out

# %%
TWO_STAGE = "embedding, l2"
reference = {name: "network, squares" if name == "network, decisions" else TWO_STAGE for name in regrets}
table("regret in % of the money a quarter", regrets, reference)
print()
for name in ["embedding, surrogate", "embedding, auto", "network, squares", "network, decisions"]:
    print(verdict(regrets, name, reference[name]))
avoidable = gain(regrets, "odds known", TWO_STAGE)[0]
print(f"Of the regret of {TWO_STAGE}, {avoidable:.2f} % of the money can be avoided by forecasts; of this are avoided")
for name in ["embedding, auto", "network, squares", "network, decisions"]:
    print(f"  {100 * gain(regrets, name, TWO_STAGE)[0] / avoidable:3.0f} % by {name}")

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
colours = {name: BLUE if name.endswith(("surrogate", "auto", "decisions")) else GREY for name in regrets}
panel(left, regrets, colours | {"odds known": BLACK}, "regret, % of the money a quarter")
left.set_title("Regret by method")

lines = {"constant": GREY, TWO_STAGE: ORANGE, "network, decisions": BLUE, "odds known": BLACK}
for name, colour in lines.items():
    risk, gained = np.mean(frontier[name], axis=0).T
    right.plot(risk, gained, "o-", color=colour, label=name, markersize=3.5)
right.set_xlabel("risk that came true: deviation, % a quarter")
right.set_ylabel("return that came true, % a quarter")
right.set_title("Efficient frontier: one point an aversion to risk")
right.legend(loc="upper left")
figure.savefig(args.figure)
print(f"\nfigure: {args.figure}")
