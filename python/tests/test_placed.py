"""Problem files that are fixed here, known there and predicted elsewhere: what Python makes of them is what `solve --params` does."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from conftest import call

import regretless as rl


def written(folder: Path, text: str, rows: pd.DataFrame) -> rl.Problem:
    """The problem of a file beside a table with what came true."""
    (folder / "problem.toml").write_text(text)
    rows.to_csv(folder / "rows.csv", index=False)
    return rl.read_problem(folder / "problem.toml")


def solved(folder: Path, params: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Decisions and objectives of the command line."""
    params.to_csv(folder / "params.csv", index=False)
    told = call(folder, "solve", "problem.toml", "--params", "params.csv", "--format", "json")
    answers = json.loads(told)["instances"]
    assert all(answer["status"] == "optimal" for answer in answers)
    return np.array([list(a["x"].values()) for a in answers]), np.array([a["objective"] for a in answers])


MATRICES = """
[problem]
variables = ["ice", "soup"]
[objective]
linear = [{ predict = "price" }, 5.0]
[[hard]]
rows = [1.0, 1.0]
at_most = { known = "space" }
"""

ALGEBRA = """
[sets]
item = ["ice", "soup"]
[quantities]
price = { predict = "price" }
space = { known = "space" }
[variables]
make = { for = "item" }
[objective]
maximize = "price * make['ice'] + 5 * make['soup']"
[[hard]]
row = "sum(i in item: make[i]) <= space"
"""


@pytest.mark.parametrize("text", [MATRICES, ALGEBRA])
def test_a_fixed_gain_stands_beside_a_predicted_one(tmp_path: Path, text: str) -> None:
    """Soup earns 5 whatever is predicted for ice: where ice earns less, all is soup."""
    rng = np.random.default_rng(2)
    rows = pd.DataFrame({"sun": rng.normal(size=60), "space": rng.uniform(1, 3, 60)})
    rows["price"] = 5 + 2 * rows.sun + rng.normal(size=60)
    problem = written(tmp_path, text, rows)
    X, y = rows[["sun", "space"]], rows[["price"]]
    model = rl.DecisionRegressor(problem, "l2", predictor="linear").fit(X, y)
    predicted = pd.DataFrame({"price": np.ravel(model.predict(X)), "space": rows.space})
    x, _ = solved(tmp_path, predicted)
    assert np.allclose(model.decide(X), x, atol=1e-7)
    assert np.allclose(x[:, 1], np.where(predicted.price < 5, rows.space, 0.0), atol=1e-7)
    _, best = solved(tmp_path, rows)
    judged = rl.regret(problem, predicted[["price"]], y, known=rows)
    assert np.allclose(judged.optimal, best) and np.allclose(judged.x, x, atol=1e-7)
    given = problem.predicts.parameters(y, rows)
    assert np.array_equal(given["theta"], np.column_stack([rows.price, np.full(60, 5.0)]))
    assert np.allclose(problem.solve(**given).objective, best)
    with pytest.raises(rl.ProblemError, match="`theta` comes from columns"):
        problem.solve(b=[2.0])


#: The shop of the Rust tests in a shape that is stored sparse: more variables than it needs.
SHOP = """
[problem]
variables = {names}
[objective]
linear = {linear}
quadratic = {quadratic}
[[soft]]
name = "load"
rows = [{{ v70 = 1.0, v75 = -1.0 }}, {{ v3 = 0.5, v78 = {{ known = "share" }} }}]
limit = [{{ predict = "load" }}, {{ predict = "load", factor = {{ known = "share" }} }}]
over = 2.0
under = 0.1
[[hard]]
name = "stock"
rows = [{{ v70 = 1.0, v78 = 1.0 }}]
at_most = {{ known = "stock" }}
[[hard]]
name = "use"
rows = [{{ v1 = 1.0, v70 = 1.0 }}, {{ v2 = 1.0, v75 = {{ predict = "use" }} }}]
at_most = [4.0, 3.0]
[bounds]
upper = 5.0
"""

#: The same size in algebra: a predicted coefficient of rows and of the quadratic term.
LARGE = """
[sets]
item = 80
[quantities]
price = {{ for = "item", value = {price} }}
risk = {{ predict = "risk" }}
use = {{ predict = "use" }}
stock = {{ known = "stock" }}
[variables]
x = {{ for = "item", upper = 5.0 }}
[objective]
maximize = "sum(i in item: price[i] * x[i] - x[i]^2) - risk * (x[7] + x[70])^2"
[[hard]]
name = "chain"
for = "i in item if i != 0"
row = "x[i] + x[i-1] <= 4"
[[hard]]
name = "use"
row = "use * x[70] + x[3] <= stock"
"""


def shop(rng: np.random.Generator) -> str:
    cells = ", ".join(f"{price:.3f}" for price in rng.uniform(1, 3, 79))
    diagonal = ", ".join('{ predict = "risk" }' if i == 70 else "0.5" for i in range(80))
    rows = ", ".join(f"{{ v{i} = {cell} }}" for i, cell in enumerate(diagonal.split(", ")))
    return SHOP.format(
        names=json.dumps([f"v{i}" for i in range(80)]),
        linear=f'[{cells}, {{ predict = "price", factor = -1.0, shift = 6.0 }}]',
        quadratic=f"[{rows}]",
    )


def large(rng: np.random.Generator) -> str:
    return LARGE.format(price=rng.uniform(1, 3, 80).round(3).tolist())


@pytest.mark.parametrize("text", [shop, large])
def test_stored_coefficients_stay_in_their_cells(tmp_path: Path, text: Callable[[np.random.Generator], str]) -> None:
    rng = np.random.default_rng(5)
    names = ["price", "load", "share", "stock", "use", "risk"]
    rows = pd.DataFrame(rng.uniform(0.5, 3.0, size=(6, len(names))), columns=names)
    guess = rows * rng.uniform(0.5, 1.5, size=rows.shape)
    problem = written(tmp_path, text(rng), rows)
    assert problem.places("A") is not None and problem.places("Q") is not None
    quantities = problem.predicts
    known = rows[quantities.known_columns]
    guess[known.columns] = known
    truth, predicted = (solved(tmp_path, frame) for frame in (rows, guess))
    found = problem.solve(**quantities.parameters(rows[quantities.columns], known))
    assert np.allclose(found.objective, truth[1]) and np.allclose(found.x, truth[0], atol=1e-6)
    judged = rl.regret(problem, guess[quantities.columns], rows[quantities.columns], known=known)
    assert np.allclose(judged.x, predicted[0], atol=1e-6) and np.allclose(judged.optimal, truth[1])


READ = """
import resource, sys
import numpy as np
import regretless as rl
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
problem = rl.read_problem(sys.argv[1])
found = problem.solve()
print(problem.n, found.status, repr(found.objective), (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""


def test_a_large_model_needs_the_memory_of_what_it_stores(tmp_path: Path) -> None:
    """25,000 rows over 50,000 variables would be 10 GB with their zeros. The best of each pair is taken."""
    cost = np.random.default_rng(3).integers(1, 100, 50_000)
    lines = ["NAME pairs", "ROWS", " N cost", *(f" G r{i}" for i in range(25_000)), "COLUMNS"]
    lines += [f" x{j} cost {c} r{j // 2} 1" for j, c in enumerate(cost)]
    lines += ["RHS", *(f" rhs r{i} 1" for i in range(25_000)), "ENDATA", ""]
    (tmp_path / "pairs.mps").write_text("\n".join(lines))
    done = subprocess.run(
        [sys.executable, "-c", READ, tmp_path / "pairs.mps"], capture_output=True, text=True, check=True
    )
    n, status, objective, megabytes = done.stdout.split()
    assert (n, status) == ("50000", "optimal")
    assert float(objective) == pytest.approx(cost.reshape(-1, 2).min(axis=1).sum())
    assert int(megabytes) < 1000
