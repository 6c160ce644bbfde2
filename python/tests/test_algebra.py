"""Problem files in algebra against CVXPY: the same words, the same optimum."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest
from conftest import call

import regretless as rl

cp = pytest.importorskip("cvxpy")

BATTERY = """
[sets]
hour = 12
[quantities]
price = {{ for = "hour", value = {price} }}
efficiency = 0.93
[variables]
charge = {{ for = "hour", upper = 1.0 }}
discharge = {{ for = "hour", upper = 1.0 }}
stored = {{ for = "hour", upper = 4.0, before = {start} }}
[objective]
maximize = "sum(h in hour: price[h] * (discharge[h] - charge[h]) - 0.5 * (charge[h] + discharge[h])^2)"
[[hard]]
name = "balance"
for = "h in hour"
row = "stored[h] = stored[h-1] + efficiency * charge[h] - discharge[h] / efficiency"
[[soft]]
row = "stored[11] >= 2"
under = 3.0
"""


@pytest.mark.parametrize("seed", range(4))
def test_a_battery(seed: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(seed)
    price, start = rng.uniform(0, 10, 12).round(2), float(rng.uniform(0, 4))
    file = tmp_path / "battery.toml"
    file.write_text(BATTERY.format(price=price.tolist(), start=start))
    problem = rl.read_problem(file)
    assert problem.variables[0] == "charge[0]" and problem.n == 36
    charge, discharge, stored = (cp.Variable(12, nonneg=True) for _ in range(3))
    before = cp.hstack([start, stored[:-1]])
    gain = price @ (discharge - charge) - 0.5 * cp.sum_squares(charge + discharge) - 3.0 * cp.pos(2 - stored[11])
    rows = [stored == before + 0.93 * charge - discharge / 0.93, charge <= 1, discharge <= 1, stored <= 4]
    expected = cp.Problem(cp.Maximize(gain), rows).solve(solver=cp.CLARABEL)
    assert problem.solve().objective == pytest.approx(expected, rel=1e-6, abs=1e-6)


NETWORK = """
[sets]
node = ["a", "b", "c", "d"]
arc = {{ file = "arcs.csv", key = ["from", "to"] }}
[quantities]
cost = {{ for = "arc", file = "arcs.csv" }}
supply = {{ for = "node", value = {supply} }}
[variables]
flow = {{ for = "(i, j) in arc", upper = 6.0 }}
[objective]
minimize = "sum((i, j) in arc: cost[i, j] * flow[i, j] + 0.1 * flow[i, j]^2)"
[[soft]]
for = "n in node"
row = "sum((n, j) in arc: flow[n, j]) - sum((i, n) in arc: flow[i, n]) = supply[n]"
over = 5.0
under = 7.0
"""


@pytest.mark.parametrize("seed", range(4))
def test_a_network(seed: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(seed)
    arcs = [(i, j) for i in range(4) for j in range(4) if i != j and rng.random() < 0.7] or [(0, 1), (2, 3)]
    arcs += [(i, (i + 1) % 4) for i in range(4) if (i, (i + 1) % 4) not in arcs]
    cost, supply = rng.uniform(0, 3, len(arcs)).round(3), rng.normal(0, 4, 4).round(3)
    lines = [f"{'abcd'[i]},{'abcd'[j]},{c}" for (i, j), c in zip(arcs, cost, strict=True)]
    (tmp_path / "arcs.csv").write_text("\n".join(["from,to,cost", *lines, ""]))
    file = tmp_path / "network.toml"
    file.write_text(NETWORK.format(supply=supply.tolist()))
    problem = rl.read_problem(file)
    flow = cp.Variable(len(arcs), nonneg=True)
    out = np.array([[float(i == n) - float(j == n) for i, j in arcs] for n in range(4)])
    net = out @ flow - supply
    total = cost @ flow + 0.1 * cp.sum_squares(flow) + 5.0 * cp.sum(cp.pos(net)) + 7.0 * cp.sum(cp.pos(-net))
    expected = cp.Problem(cp.Minimize(total), [flow <= 6]).solve(solver=cp.CLARABEL)
    assert problem.solve().objective == pytest.approx(expected, rel=1e-6, abs=1e-6)


def test_what_is_wrong_is_told_with_its_place(tmp_path: Path) -> None:
    file = tmp_path / "bad.toml"
    file.write_text(BATTERY.format(price=[1.0] * 12, start=0.0).replace("stored[h-1]", "stored[h-1]^2"))
    with pytest.raises(rl.ProjectError, match=r"bad\.toml:16:\d+: hard\[0\]\.row: two variables are multiplied"):
        rl.read_problem(file)


PUMP = """
[sets]
block = 4
[quantities]
tariff = { for = "block", known = "tariff_*" }
use = { for = "block", predict = "use_*" }
level = { known = "level" }
[variables]
pump = { for = "block", upper = 20 }
[objective]
minimize = "sum(b in block: tariff[b] * pump[b])"
[[soft]]
name = "tank"
for = "b in block"
row = "15 <= level + sum(c in block if c <= b: pump[c] - use[c]) <= 60"
over = 100
under = 100
[data]
file = "history.csv"
key = "day"
[predictor]
kind = "linear"
"""


def test_sums_of_columns_are_saved_in_the_words_of_their_file(tmp_path: Path) -> None:
    """A limit is a level less all that was used: trained here, decided there, and the other way round."""
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(5)
    heat = rng.normal(size=90)
    rows = pandas.DataFrame({"day": range(90), "heat": heat, "level": rng.uniform(20, 40, 90).round(1)})
    rows = rows.assign(**{f"tariff_{b}": rng.uniform(5, 9, 90).round(2) for b in range(4)})
    truths = {f"use_{b}": (10.0 + b + 2.0 * heat + rng.normal(size=90)).round(2) for b in range(4)}
    rows.assign(**truths).iloc[:70].to_csv(tmp_path / "history.csv", index=False)
    rows.iloc[70:].to_csv(tmp_path / "new.csv", index=False)
    (tmp_path / "pump.toml").write_text(PUMP)
    history, new = pandas.read_csv(tmp_path / "history.csv"), pandas.read_csv(tmp_path / "new.csv")

    problem = pickle.loads(pickle.dumps(rl.read_problem(tmp_path / "pump.toml")))
    X, y = history[["heat", "level", *(f"tariff_{b}" for b in range(4))]], history[list(truths)]
    model = rl.DecisionRegressor(problem, "surrogate-smooth", predictor="linear", epochs=4).fit(X, y)
    model.save(tmp_path / "run")
    again = (tmp_path / "run" / "config.toml").read_text()
    assert "sum(c in block if c <= b: pump[c] - use[c])" in again
    call(tmp_path, "decide", "run", "--features", "new.csv", "--out", "decided.csv")
    decided = pandas.read_csv(tmp_path / "decided.csv")[problem.variables].to_numpy()
    own = model.decide(new[list(X.columns)])
    assert own == pytest.approx(decided, abs=1e-8)
    assert np.array_equal(rl.Run(tmp_path / "run").decide(new), own)

    call(tmp_path, "train", "pump.toml", "--method", "l2", "--out", "there")
    call(tmp_path, "decide", "there", "--features", "new.csv", "--out", "there.csv")
    decided = pandas.read_csv(tmp_path / "there.csv")[problem.variables].to_numpy()
    assert rl.Run(tmp_path / "there").decide(new) == pytest.approx(decided, abs=1e-8)
    # What the pump brings covers what is used, as far as its 20 a block allow: by hand, for what was predicted.
    used = rl.Run(tmp_path / "there").predict(new)
    tank = new[["level"]].to_numpy() + np.cumsum(decided - used, axis=1)
    could = new[["level"]].to_numpy() + np.cumsum(20.0 - used, axis=1)
    assert (tank >= np.minimum(15.0, could) - 1e-6).all() and (tank <= 60.0 + 1e-6).all()
