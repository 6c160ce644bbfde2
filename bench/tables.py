"""How long a large table takes to read: ours beside polars, in one run.

python bench/tables.py [ROWS] [COLUMNS]    # 1,000,000 rows of 50 columns: 46 of numbers, 3 of text, 1 of dates

Ours reads the columns of the problem file into what is learned from: numbers checked, levels numbered, dates as seconds, rows in memory.
Polars reads them into its columns, dates parsed, with as many threads. Each is the best of three, turn by turn.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

from regretless import _regretless

PROBLEM = """
[problem]
variables = 1
[objective]
linear = 0
[[soft]]
rows = [1]
limit = { predict = "demand" }
over = 1
[data]
file = "table.csv"
split = { kind = "chronological" }
"""


def write(path: Path, rows: int, columns: int) -> None:
    """Numbers as sales tables have them, shops, goods, weather and days."""
    rng = np.random.default_rng(1)
    table = {f"x{j}": rng.normal(100.0, 30.0, rows).round(2) for j in range(columns - 5)}
    table["day"] = (np.datetime64("2018-01-01") + np.arange(rows) // 1000).astype("datetime64[D]")
    for name, levels in (("shop", 200), ("product", 40), ("weather", 5)):
        table[name] = np.array([f"{name} {level}" for level in range(levels)])[rng.integers(0, levels, rows)]
    table["demand"] = rng.poisson(20.0, rows).astype(float)
    pl.DataFrame(table).write_csv(path)


def timed(work) -> float:
    """Seconds."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def main(rows: int, columns: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "table.csv"
        write(file, rows, columns)
        (Path(folder) / "problem.toml").write_text(PROBLEM)
        project = _regretless.Project.read(str(Path(folder) / "problem.toml"), "{}")
        turns = [
            (timed(lambda: pl.read_csv(file, try_parse_dates=True)), timed(lambda: project.data(None)))
            for _ in range(3)
        ]
        theirs, ours = (min(times) for times in zip(*turns))
        size = file.stat().st_size / 2**20
        print(
            f"{rows:,} × {columns}, {size:.0f} MiB: polars {theirs:.2f} s, regretless {ours:.2f} s: {ours / theirs:.2f} ×"
        )


if __name__ == "__main__":
    given = [int(text.replace("_", "")) for text in sys.argv[1:]]
    main(*(given + [1_000_000, 50][len(given) :]))
