"""MPS, QPS and LP files against HiGHS: the same model, the same optimum."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.io
import scipy.sparse as sp
from conftest import call

import regretless as rl
from regretless._arrays import Sparse

highspy = pytest.importorskip("highspy")


def quiet() -> highspy.Highs:
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    return solver


def stated(problem: rl.Problem) -> dict[str, list[tuple]]:
    """Rows as a·x ≤ u by name, each by what is not 0, so that two statements of one model can be compared."""
    state = problem.__getstate__()
    blocks = [*state["at_most"], *state["equal"]]
    return {name: told(scipy_of(rows), limits) for name, rows, limits in blocks}


def scipy_of(matrix: np.ndarray | Sparse) -> sp.csr_array:
    """As SciPy has it."""
    if isinstance(matrix, Sparse):
        return sp.csr_array((matrix.values, (matrix.rows, matrix.columns)), shape=matrix[:2])
    return sp.csr_array(matrix)


def told(rows: sp.csr_array, limits: np.ndarray) -> list[tuple]:
    """Columns, values and limit of each row."""
    rows.eliminate_zeros()
    rows.sort_indices()
    cut = zip(rows.indptr[:-1], rows.indptr[1:], limits, strict=True)
    return [(rows.indices[a:b].tolist(), rows.data[a:b].tolist(), limit) for a, b, limit in cut]


def drawn(rng: np.random.Generator, folder: Path, *, quadratic: bool, form: str = "mps") -> tuple[Path, float]:
    """A bounded random model with every kind of row and bound, written by HiGHS, and its optimum."""
    n, m = int(rng.integers(2, 8)), int(rng.integers(1, 7))
    lp = highspy.HighsLp()
    A = np.where(rng.random((m, n)) < 0.6, rng.normal(size=(m, n)).round(3), 0.0)
    x = rng.uniform(-1.0, 1.0, n)
    kind = rng.integers(0, 4, m)
    lower = np.where(kind == 0, -highspy.kHighsInf, A @ x - np.where(kind == 1, 0.0, 0.5))
    upper = np.where(kind == 3, highspy.kHighsInf, A @ x + np.where(kind == 1, 0.0, 0.5))
    lp.num_col_, lp.num_row_, lp.col_cost_ = n, m, rng.normal(size=n).round(3)
    lp.col_lower_, lp.col_upper_ = (
        np.where(rng.random(n) < 0.5, -2.0, x - 0.1),
        np.where(rng.random(n) < 0.5, 3.0, x + 0.1),
    )
    lp.row_lower_, lp.row_upper_, lp.offset_ = lower, upper, float(rng.normal())
    columns = sp.csc_matrix(A)
    lp.a_matrix_.start_, lp.a_matrix_.index_, lp.a_matrix_.value_ = columns.indptr, columns.indices, columns.data
    solver = quiet()
    solver.passModel(lp)
    if quadratic:
        root = rng.normal(size=(n, n))
        hessian = highspy.HighsHessian()
        triangle = sp.csc_matrix(np.tril(root @ root.T + np.eye(n)))
        hessian.dim_, hessian.format_ = n, highspy.HessianFormat.kTriangular
        hessian.start_, hessian.index_, hessian.value_ = triangle.indptr, triangle.indices, triangle.data
        solver.passHessian(hessian)
    path = folder / f"model.{form}"
    solver.writeModel(str(path))
    solver.run()
    assert solver.getModelStatus() == highspy.HighsModelStatus.kOptimal
    return path, float(solver.getInfo().objective_function_value) - lp.offset_


@pytest.mark.parametrize("form", ["mps", "lp"])
@pytest.mark.parametrize("quadratic", [False, True])
def test_models_that_highs_writes(tmp_path: Path, quadratic: bool, form: str) -> None:
    rng = np.random.default_rng(7 + quadratic)
    for _ in range(20):
        path, expected = drawn(rng, tmp_path, quadratic=quadratic, form=form)
        optimum = rl.read_problem(path).solve()
        assert optimum.status == "optimal"
        assert optimum.objective == pytest.approx(expected, rel=1e-5, abs=1e-5)


def test_an_lp_file_is_what_highs_reads(tmp_path: Path) -> None:
    """Costs, bounds and every row by the names of the variables, whose order is that of the file here."""
    rng = np.random.default_rng(11)
    for _ in range(20):
        path, _ = drawn(rng, tmp_path, quadratic=False, form="lp")
        solver = quiet()
        solver.readModel(str(path))
        lp = solver.getLp()
        problem = rl.read_problem(path)
        order = [list(lp.col_names_).index(name) for name in problem.variables]
        state = problem.__getstate__()
        for ours, theirs in (("theta", lp.col_cost_), ("lower", lp.col_lower_), ("upper", lp.col_upper_)):
            np.testing.assert_array_equal(state[ours], np.array(theirs)[order])
        matrix = lp.a_matrix_
        shape = (lp.num_row_, lp.num_col_)
        A = sp.csr_array(sp.csc_matrix((matrix.value_, matrix.index_, matrix.start_), shape=shape))[:, order]
        rows = stated(problem)
        for i, (name, lower, upper) in enumerate(zip(lp.row_names_, lp.row_lower_, lp.row_upper_)):
            sides = told(A[[i]], [upper]) if np.isfinite(upper) else []
            if np.isfinite(lower) and lower != upper:
                sides += told(-A[[i]], [-lower])
            assert rows.pop(name, []) == sides, name
        assert not rows


def test_what_is_refused_says_where(tmp_path: Path) -> None:
    path = tmp_path / "whole.mps"
    path.write_text("ROWS\n N cost\nCOLUMNS\n M 'MARKER' 'INTORG'\n x cost 1\nENDATA\n")
    with pytest.raises(rl.ProjectError, match=r"whole.mps, line 4: whole-number variables are not supported"):
        rl.read_problem(path)


def replaced(rng: np.random.Generator, lp: highspy.HighsLp) -> tuple[str, pd.DataFrame, highspy.HighsLp]:
    """Some numbers of a model as columns, a row of a table, and the model with that row's numbers in it."""
    text, table = ['[problem]\nmodel = "model.mps"'], {}

    def column(value: float) -> str:
        """A new column for a number: it is (value − shift) / factor there."""
        factor, shift = rng.choice([1.0, 2.0, -0.5]), rng.choice([0.0, 1.0])
        name = f"c{rng.permutation(1000)[0]}_{len(table)}"
        table[name] = (value - shift) / factor
        word = "known" if len(table) > 1 and rng.random() < 0.5 else "predict"
        return f'{{ {word} = "{name}", factor = {factor}, shift = {shift} }}'

    variables, rows = lp.col_names_, lp.row_names_
    matrix = lp.a_matrix_
    values, index, start = (np.array(part) for part in (matrix.value_, matrix.index_, matrix.start_))
    cost, row_lower, row_upper = (np.array(part) for part in (lp.col_cost_, lp.row_lower_, lp.row_upper_))
    upper = np.array(lp.col_upper_)
    for j in rng.permutation(lp.num_col_):
        if rng.random() < 0.5:
            cost[j] += rng.normal()
            text.append(f'[[replace]]\nvariables = "{variables[j]}"\ncost = {column(cost[j])}')
        if rng.random() < 0.3:
            upper[j] += rng.random()
            text.append(f'[[replace]]\nvariables = "{variables[j]}"\nupper = {column(upper[j])}')
        for k in range(start[j], start[j + 1]):
            if rng.random() < 0.3:
                values[k] *= 1 + 0.01 * rng.random()
                row = f'[[replace]]\nrows = "{rows[index[k]]}"\nvariables = "{variables[j]}"'
                text.append(f"{row}\ncoefficient = {column(values[k])}")
    for i in rng.permutation(lp.num_row_):
        one = np.isinf(row_lower[i]) != np.isinf(row_upper[i]) or row_lower[i] == row_upper[i]
        if one and rng.random() < 0.6:
            moved = 0.01 * rng.random()
            row_lower[i], row_upper[i] = row_lower[i] - moved, row_upper[i] + moved
            if lp.row_lower_[i] == lp.row_upper_[i]:
                row_lower[i] = row_upper[i]
            limit = row_upper[i] if np.isfinite(row_upper[i]) else row_lower[i]
            text.append(f'[[replace]]\nrows = "{rows[i]}"\nlimit = {column(limit)}')
    lp.col_cost_, lp.col_upper_, lp.row_lower_, lp.row_upper_ = cost, upper, row_lower, row_upper
    lp.a_matrix_.value_ = values
    order = rng.permutation(list(table))
    return "\n".join(text), pd.DataFrame([table])[order], lp


def test_numbers_of_a_model_by_name(tmp_path: Path) -> None:
    """Costs, bounds, limits and coefficients from a table give what HiGHS finds with these numbers in the model."""
    rng = np.random.default_rng(31)
    solved = 0
    for _ in range(60):
        path, _ = drawn(rng, tmp_path, quadratic=False)
        solver = quiet()
        solver.readModel(str(path))
        text, row, lp = replaced(rng, solver.getLp())
        file = tmp_path / "problem.toml"
        file.write_text(text)
        if row.empty:
            continue
        solver.passModel(lp)
        solver.run()
        optimal = solver.getModelStatus() == highspy.HighsModelStatus.kOptimal
        problem = rl.read_problem(file)
        optimum = problem.solve(**problem.predicts.parameters(row[problem.predicts.columns], row))
        assert (optimum.status[0] == "optimal") == optimal, text
        if optimal:
            best = solver.getInfo().objective_function_value - lp.offset_
            assert optimum.objective[0] == pytest.approx(best, rel=1e-6, abs=1e-6), text
            solved += 1
    assert solved > 30


#: Costs and coefficients learned, stock and limits known; the names of the table come in another order than the model's.
REPLACED = """
[problem]
model = "model.mps"
[[replace]]
variables = "buy"
upper = { known = "most" }
[[replace]]
rows = "stock_*"
limit = { known = "*_now" }
[[replace]]
rows = "need"
variables = ["west", "east"]
coefficient = { predict = "yield_*" }
[[replace]]
variables = ["east", "west"]
cost = { predict = "price_*" }
[[soften]]
rows = "need"
under = { known = "fine" }
limit = { known = "need" }
[predictor]
kind = "linear"
"""

MODEL = """ROWS
 N cost
 L stock_east
 L stock_west
 G need
COLUMNS
 east cost 2 stock_east 1
 east need 1
 west cost 3 stock_west 1
 west need 1
 buy cost 9 need 1
RHS
 rhs stock_east 4 stock_west 5
 rhs need 6
BOUNDS
 UP bnd buy 8
ENDATA
"""


def test_a_model_with_known_numbers_decides_the_same_everywhere(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    rows = pd.DataFrame({"heat": rng.random(120), "need": rng.uniform(4, 8, 120), "most": rng.uniform(1, 3, 120)})
    rows["stock_west_now"], rows["stock_east_now"] = rng.uniform(1, 5, 120), rng.uniform(1, 5, 120)
    rows["fine"] = rng.uniform(4, 20, 120)
    rows["price_west"], rows["price_east"] = 6 - 5 * rows.heat, 1 + 5 * rows.heat
    rows["yield_east"], rows["yield_west"] = 0.5 + rows.heat, 1.5 - rows.heat
    (tmp_path / "model.mps").write_text(MODEL)
    (tmp_path / "problem.toml").write_text(REPLACED)
    problem = rl.read_problem(tmp_path / "problem.toml")
    y = rows[["price_west", "yield_west", "price_east", "yield_east"]]
    X = rows.drop(columns=y.columns)
    model = rl.DecisionRegressor(problem, "l2", predictor="linear").fit(X, y)
    own = model.decide(X)
    # Targets are linear in heat: the decision is that of the truth.
    truth = problem.solve(**problem.predicts.parameters(y, rows))
    assert own == pytest.approx(truth.x, abs=1e-5)
    model.save(tmp_path / "run")
    X.to_csv(tmp_path / "new.csv", index=False)
    call(tmp_path, "decide", "run", "--features", "new.csv", "--out", "decided.csv")
    decided = pd.read_csv(tmp_path / "decided.csv")[problem.variables].to_numpy()
    assert decided == pytest.approx(own, abs=1e-8)
    assert np.array_equal(rl.Run(tmp_path / "run").decide(X), own)
    rows.to_csv(tmp_path / "rows.csv", index=False)
    call(tmp_path, "train", "problem.toml", "--data", "rows.csv", "--method", "l2", "--out", "there")
    assert rl.Run(tmp_path / "there").decide(X) == pytest.approx(truth.x, abs=1e-3)


def found(pattern: str) -> list[Path]:
    folder = os.environ.get("REGRETLESS_DATA")
    return sorted(Path(folder).glob(pattern)) if folder else []


def infinite(values: np.ndarray) -> np.ndarray:
    """±1e20 is infinite."""
    values = np.array(values, dtype=float)
    return np.where(np.abs(values) >= 1e20, np.copysign(np.inf, values), values)


@pytest.mark.skipif("REGRETLESS_DATA" not in os.environ, reason="REGRETLESS_DATA is not set")
@pytest.mark.parametrize("path", found("netlib/*.mps.gz"), ids=lambda path: path.name.split(".")[0])
def test_the_same_model_as_highs_reads(path: Path) -> None:
    """Costs, bounds and every row, to the last bit."""
    solver = quiet()
    solver.readModel(str(path))
    lp = solver.getLp()
    n = lp.num_col_
    problem = rl.read_problem(path)
    assert (problem.n, problem.variables) == (n, list(lp.col_names_))
    state = problem.__getstate__()
    np.testing.assert_array_equal(state["theta"], lp.col_cost_)
    np.testing.assert_array_equal(state["lower"], infinite(lp.col_lower_))
    np.testing.assert_array_equal(state["upper"], infinite(lp.col_upper_))
    matrix = lp.a_matrix_
    A = sp.csr_array(sp.csc_matrix((matrix.value_, matrix.index_, matrix.start_), shape=(lp.num_row_, n)))
    rows = stated(problem)
    ours = zip(lp.row_names_, infinite(lp.row_lower_), infinite(lp.row_upper_))
    for i, (name, lower, upper) in enumerate(ours):
        sides = told(A[[i]], [upper]) if np.isfinite(upper) else []
        if np.isfinite(lower) and lower != upper:
            sides += told(-A[[i]], [-lower])
        assert rows.pop(name, []) == sides, name
    assert not rows


@pytest.mark.skipif("REGRETLESS_DATA" not in os.environ, reason="REGRETLESS_DATA is not set")
@pytest.mark.parametrize("path", found("maros_meszaros/*.mat"), ids=lambda path: path.stem)
def test_a_hessian_that_highs_writes(path: Path, tmp_path: Path) -> None:
    """½xᵀPx + qᵀx as QPS is xᵀ(P/2)x + qᵀx here."""
    data = scipy.io.loadmat(path)
    n = int(data["n"].item())
    if path.stem == "VALUES":
        pytest.skip("not convex")
    P, A = sp.csc_matrix(data["P"]), sp.csc_matrix(data["A"])
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_, lp.col_cost_ = n, A.shape[0], data["q"].ravel().astype(float)
    lp.col_lower_, lp.col_upper_ = np.full(n, -highspy.kHighsInf), np.full(n, highspy.kHighsInf)
    lp.row_lower_, lp.row_upper_ = (infinite(data[side].ravel()) for side in "lu")
    lp.a_matrix_.start_, lp.a_matrix_.index_, lp.a_matrix_.value_ = A.indptr, A.indices, A.data
    hessian = highspy.HighsHessian()
    triangle = sp.tril(P).tocsc()
    hessian.dim_, hessian.format_ = n, highspy.HessianFormat.kTriangular
    hessian.start_, hessian.index_, hessian.value_ = triangle.indptr, triangle.indices, triangle.data
    solver = quiet()
    solver.passModel(lp)
    solver.passHessian(hessian)
    file = tmp_path / "model.mps"
    solver.writeModel(str(file))
    state = rl.read_problem(file).__getstate__()
    # HiGHS writes 15 digits, of one triangle.
    off = abs(scipy_of(state["Q"]) - 0.5 * P) - 1e-9 * abs(0.5 * P)
    assert off.max() <= 1e-12 * abs(P).max()
    np.testing.assert_allclose(state["theta"], lp.col_cost_, rtol=1e-9)
