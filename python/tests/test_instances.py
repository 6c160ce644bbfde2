"""Exact optima of problems nobody here wrote: netlib LPs and Maros–Meszaros QPs against HiGHS and Clarabel.

Run where ``REGRETLESS_DATA`` names a folder with ``netlib/*.mps.gz`` and ``maros_meszaros/*.mat``; of these, all with n ≤ 11,000.
As a program it prints a table of all of them, whatever their size, with a minute for each; names as arguments are all it does then:

    REGRETLESS_DATA=DIR PYTHONPATH=python python python/tests/test_instances.py [NAME ...]
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

import regretless as rl

highspy = pytest.importorskip("highspy")
clarabel = pytest.importorskip("clarabel")

#: Larger ones take a minute or more.
LARGEST = 11_000
#: Convex but for rounding: the right answer is a refusal.
INDEFINITE = {"VALUES"}
#: No answer is within 1e-7: ours says so, and so does Clarabel's.
HARD = {"LISWET9", "LISWET10", "LISWET12"}
#: Clarabel has no answer (it calls the first one unbounded) or, on LISWET, one that is far off: the optimum is from the
#: collection's own list, without the constant.
KNOWN = {
    "PRIMALC2": -3551.3077,
    "POWELL20": 5.20895828e10,
    "LISWET7": 498.84089 - 2525.26,
    "LISWET9": 1963.2513 - 2525.26,
    "LISWET10": 49.485785 - 2525.95,
    "LISWET12": 1736.9274 - 2525.75,
}
#: Seconds that a file has in the table.
LIMIT = 60.0


class Stated(NamedTuple):
    """min ½xᵀPx + qᵀx over l ≤ Ax ≤ u, lb ≤ x ≤ ub."""

    P: sp.csr_array | None
    q: np.ndarray
    A: sp.csr_array
    l: np.ndarray
    u: np.ndarray
    lb: np.ndarray
    ub: np.ndarray


def files() -> list[Path]:
    folder = os.environ.get("REGRETLESS_DATA")
    if folder is None:
        return []
    found = [*sorted(Path(folder).glob("netlib/*.mps.gz")), *sorted(Path(folder).glob("maros_meszaros/*.mat"))]
    return found or [Path(folder) / "no instances here"]


def finite(values: np.ndarray) -> np.ndarray:
    """±1e20 is infinite."""
    values = np.asarray(values, dtype=float).ravel().copy()
    values[values >= 1e20], values[values <= -1e20] = np.inf, -np.inf
    return values


def read(path: Path) -> Stated:
    if path.suffix == ".gz":
        reader = highspy.Highs()
        reader.setOptionValue("output_flag", False)
        reader.readModel(str(path))
        lp = reader.getLp()
        matrix = lp.a_matrix_
        A = sp.csr_array(sp.csc_array((matrix.value_, matrix.index_, matrix.start_), shape=(lp.num_row_, lp.num_col_)))
        bounds = [finite(v) for v in (lp.row_lower_, lp.row_upper_, lp.col_lower_, lp.col_upper_)]
        return Stated(None, np.array(lp.col_cost_), A, *bounds)
    data = scipy.io.loadmat(path)
    n = int(data["n"].item())
    A, l, u = sp.csr_array(data["A"]), finite(data["l"]), finite(data["u"])
    lb, ub = np.full(n, -np.inf), np.full(n, np.inf)
    if A.shape[0] >= n and abs(A[A.shape[0] - n :] - sp.eye_array(n)).nnz == 0:
        A, l, u, lb, ub = A[: A.shape[0] - n], l[:-n], u[:-n], l[-n:], u[-n:]
    P = sp.csr_array(data["P"]).astype(float)
    return Stated(P, data["q"].ravel().astype(float), A, l, u, lb, ub)


def problem(s: Stated) -> rl.Problem:
    equal = s.l == s.u
    above, below = np.isfinite(s.u) & ~equal, np.isfinite(s.l) & ~equal
    rows, limits = sp.vstack([s.A[above], -s.A[below]]).tocsr(), np.concatenate([s.u[above], -s.l[below]])
    hard = {"A": rows, "b": limits} if len(limits) else {}
    hard |= {"B": s.A[equal], "c": s.l[equal]} if equal.any() else {}
    Q = None if s.P is None else 0.5 * s.P
    return rl.Problem(len(s.q), s.q, Q=Q, lower=s.lb, upper=s.ub, sense="min", **hard)


def reference(s: Stated) -> float:
    """HiGHS for LPs, Clarabel for QPs."""
    n = len(s.q)
    if s.P is None:
        lp = highspy.HighsLp()
        lp.num_col_, lp.num_row_, lp.col_cost_ = n, s.A.shape[0], s.q
        lp.row_lower_, lp.row_upper_, lp.col_lower_, lp.col_upper_ = s.l, s.u, s.lb, s.ub
        columns = sp.csc_array(s.A)
        lp.a_matrix_.start_, lp.a_matrix_.index_, lp.a_matrix_.value_ = columns.indptr, columns.indices, columns.data
        solver = highspy.Highs()
        solver.setOptionValue("output_flag", False)
        solver.passModel(lp)
        solver.run()
        return float(solver.getInfo().objective_function_value)
    rows = sp.vstack([s.A, sp.eye_array(n)]).tocsr()
    l, u = np.concatenate([s.l, s.lb]), np.concatenate([s.u, s.ub])
    equal = l == u
    above, below = np.isfinite(u) & ~equal, np.isfinite(l) & ~equal
    G = sp.vstack([rows[equal], rows[above], -rows[below]]).tocsc()
    h = np.concatenate([u[equal], u[above], -l[below]])
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-10
    cones = [clarabel.ZeroConeT(int(equal.sum())), clarabel.NonnegativeConeT(len(h) - int(equal.sum()))]
    answer = clarabel.DefaultSolver(sp.triu(s.P).tocsc(), s.q, G, h, cones, settings).solve()
    return float(answer.obj_val)


def violation(s: Stated, x: np.ndarray) -> float:
    """The largest violation of a row or bound, over 1 + |limit| + |row|ᵀ|x|."""
    rows, l, u = sp.vstack([s.A, sp.eye_array(len(x))]), np.concatenate([s.l, s.lb]), np.concatenate([s.u, s.ub])
    value, size = rows @ x, np.abs(rows) @ np.abs(x)
    worst = 0.0
    for limit, out in ((u, value - u), (l, l - value)):
        there = np.isfinite(limit)
        worst = max(worst, float(np.max(out[there] / (1.0 + np.abs(limit[there]) + size[there]), initial=0.0)))
    return worst


def value(s: Stated, x: np.ndarray) -> float:
    curved = 0.0 if s.P is None else 0.5 * x @ (s.P @ x)
    return float(s.q @ x + curved)


@pytest.mark.skipif("REGRETLESS_DATA" not in os.environ, reason="REGRETLESS_DATA is not set")
@pytest.mark.parametrize("path", files(), ids=lambda path: path.name.split(".")[0])
def test_an_instance(path: Path) -> None:
    assert path.exists(), f"REGRETLESS_DATA is set, and there are no instances in {path.parent}"
    name = path.name.split(".")[0]
    stated = read(path)
    if len(stated.q) > LARGEST:
        pytest.skip(f"more than {LARGEST} variables")
    if name in INDEFINITE:
        with pytest.raises(rl.ProblemError, match="positive semidefinite"):
            problem(stated)
        return
    optimum = problem(stated).solve()
    if name in HARD and optimum.status == "numerical-trouble":
        pytest.xfail("not within the tolerance, and says so")
    assert optimum.status == "optimal", (optimum.primal, optimum.dual, optimum.gap)
    assert violation(stated, optimum.x) <= 1e-7
    found = value(stated, optimum.x)
    expected = KNOWN.get(name) or reference(stated)
    assert found == pytest.approx(expected, rel=1e-6, abs=1e-6)
    assert found == pytest.approx(optimum.objective, rel=1e-9, abs=1e-9)


def line(path: Path) -> dict[str, object]:
    """One file of the table, in a process of its own."""
    name, stated = path.name.split(".")[0], read(path)
    started = time.perf_counter()
    try:
        optimum = problem(stated).solve()
    except rl.ProblemError as error:
        return {"verdict": "right" if name in INDEFINITE else "WRONG", "said": str(error).splitlines()[0][:60]}
    seconds = time.perf_counter() - started
    found = {"n": len(stated.q), "rows": stated.A.shape[0], "said": optimum.status, "seconds": seconds}
    found |= {"primal": optimum.primal, "dual": optimum.dual, "gap": optimum.gap}
    if optimum.status == "numerical-trouble":
        return {**found, "verdict": "none"}
    expected = KNOWN.get(name) or reference(stated)
    off = abs(value(stated, optimum.x) - expected) / (1.0 + abs(expected))
    right = optimum.status == "optimal" and violation(stated, optimum.x) <= 1e-7 and off <= 1e-6
    late = right and seconds > LIMIT
    return {**found, "off": off, "verdict": "late" if late else "right" if right else "WRONG"}


def table(names: list[str]) -> None:
    """Prints how every file went, and how many went right."""
    counts: dict[str, int] = {}
    print(f"{'':10} {'n':>6} {'rows':>6} {'primal':>7} {'dual':>7} {'gap':>7} {'off':>7} {'seconds':>7}")
    for path in files():
        name = path.name.split(".")[0]
        if names and name not in names:
            continue
        command = [sys.executable, __file__, "--one", str(path)]
        try:
            # Reading the file and the other solver's answer take time of their own.
            done = subprocess.run(command, capture_output=True, text=True, timeout=2.0 * LIMIT, check=True)
            found = json.loads(done.stdout)
        except subprocess.TimeoutExpired:
            found = {"verdict": "late"}
        except subprocess.CalledProcessError as error:
            found = {"verdict": "WRONG", "said": (error.stderr.strip().splitlines() or ["it died"])[-1]}
        counts[found["verdict"]] = counts.get(found["verdict"], 0) + 1
        figures = " ".join(f"{found.get(key, float('nan')):7.0e}" for key in ("primal", "dual", "gap", "off"))
        sizes = f"{found.get('n', 0):6} {found.get('rows', 0):6}"
        seconds = found.get("seconds", float("nan"))
        print(f"{name:10} {sizes} {figures} {seconds:7.2f} {found['verdict']:5} {found.get('said', '')}", flush=True)
    print(", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items())))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps(line(Path(sys.argv[2]))))
    else:
        table(sys.argv[1:])
