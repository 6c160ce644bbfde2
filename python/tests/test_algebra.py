"""Problem files in algebra against CVXPY: the same words, the same optimum."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

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
