"""MPS and QPS files against HiGHS: the same model, the same optimum."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

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


def drawn(rng: np.random.Generator, folder: Path, *, quadratic: bool) -> tuple[Path, float]:
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
    path = folder / "model.mps"
    solver.writeModel(str(path))
    solver.run()
    assert solver.getModelStatus() == highspy.HighsModelStatus.kOptimal
    return path, float(solver.getInfo().objective_function_value) - lp.offset_


@pytest.mark.parametrize("quadratic", [False, True])
def test_models_that_highs_writes(tmp_path: Path, quadratic: bool) -> None:
    rng = np.random.default_rng(7 + quadratic)
    for _ in range(20):
        path, expected = drawn(rng, tmp_path, quadratic=quadratic)
        optimum = rl.read_problem(path).solve()
        assert optimum.status == "optimal"
        assert optimum.objective == pytest.approx(expected, rel=1e-5, abs=1e-5)


def test_what_is_refused_says_where(tmp_path: Path) -> None:
    path = tmp_path / "whole.mps"
    path.write_text("ROWS\n N cost\nCOLUMNS\n M 'MARKER' 'INTORG'\n x cost 1\nENDATA\n")
    with pytest.raises(rl.ProjectError, match=r"whole.mps, line 4: whole-number variables are not supported"):
        rl.read_problem(path)


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
