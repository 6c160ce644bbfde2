"""What one machine does: the table of docs/scale.md.

``cargo build --release -p regretless-cli && python3 bench/scale.py`` prints it, in a minute. Production plans of n products on n/2 machines with a
soft store; margins are predicted from eight features by a linear predictor. Decisions are exact, from Parquet where pyarrow is installed
and from CSV otherwise.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[1]
FEATURES = 8


def problem(n: int, rng: np.random.Generator) -> str:
    """The problem file of n products."""
    listed = json.dumps
    machines = rng.uniform(0, 1, (n // 2, n)).round(4)
    return f"""
[problem]
variables = {listed([f"p{i}" for i in range(n)])}
[objective]
linear = {{ predict = "margin_*" }}
[[hard]]
rows = {listed(machines.tolist())}
at_most = {n / 8}
[[soft]]
rows = {listed([[1.0] * n])}
limit = {n / 6}
over = 1.0
[bounds]
upper = 1.0
[data]
file = "history.csv"
features = "f*"
[predictor]
kind = "linear"
[training]
epochs = 20
"""


def table(path: Path, columns: dict[str, np.ndarray]) -> Path:
    """A table as Parquet, or as CSV where nobody writes Parquet."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        return csv(path, columns)
    path = path.with_suffix(".parquet")
    pyarrow.parquet.write_table(pyarrow.table(columns), path, row_group_size=20_000)
    return path


def csv(path: Path, columns: dict[str, np.ndarray]) -> Path:
    path = path.with_suffix(".csv")
    np.savetxt(path, np.column_stack(list(columns.values())), "%.6f", ",", header=",".join(columns), comments="")
    return path


def timed(command: list[str], folder: Path) -> tuple[float, float]:
    """Seconds by the clock, and of processors: the latter do not depend on what else the machine does."""
    began, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    clock, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    return clock, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure(program: str, n: int, rows: int) -> list[str]:
    """A line of the table."""
    rng = np.random.default_rng(n)
    weights = rng.normal(size=(FEATURES, n))
    X = rng.normal(size=(rows, FEATURES))
    features = {f"f{i}": X[:, i] for i in range(FEATURES)}
    y = 2 + X[:1000] @ weights + 0.5 * rng.normal(size=(1000, n))
    history = {name: values[:1000] for name, values in features.items()} | {f"margin_p{i}": y[:, i] for i in range(n)}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "problem.toml").write_text(problem(n, rng))
        csv(folder / "history", history)
        new = table(folder / "new", features).name
        cells = [str(n)]
        timed([program, "train", "problem.toml", "--method", "l2", "--out", "run", "--quiet"], folder)
        decide = [program, "decide", "run", "--features", new, "--threads"]
        one, two = (timed([*decide, threads, "--out", f"decided{threads}"], folder) for threads in "12")
        cells += [f"{rows / one[1]:,.0f}", f"{one[0] / two[0]:.1f}"]
        for threads in "12":
            plan = [program, "study", "plan", "compare", "problem.toml", "--seeds", "2", "--out", f"s{threads}"]
            timed([*plan, "--methods", "spo+,surrogate-smooth"], folder)
        work = [program, "study", "do", "--quiet", "--threads"]
        one, two = (timed([*work, threads, f"s{threads}"], folder) for threads in "12")
        # The constant predictor, which is always there, trains nothing.
        cells += [f"{4 * 3600 / one[1]:,.0f}", f"{one[0] / two[0]:.1f}"]
    return cells


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--command", default=str(ROOT / "target" / "release" / "regretless"))
    parser.add_argument("--sizes", help="variables and rows, `n:rows`", default="10:200000,40:20000,80:4000")
    given = parser.parse_args()
    program = str(Path(given.command).absolute())
    print(f"{os.cpu_count()} cores\n")
    print("| n | rows a second of one core | two threads | trainings an hour of one core | two threads |")
    print("|---|---|---|---|---|")
    for size in given.sizes.split(","):
        n, rows = (int(part) for part in size.split(":"))
        print("| " + " | ".join(measure(program, n, rows)) + " |", flush=True)


if __name__ == "__main__":
    main()
