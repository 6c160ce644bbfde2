"""Writes the tables of docs/reproduction.md and synthetic.md, and published.md, from the files beside this one.

python docs/reproduction/tables.py [--check]

A table follows a line such as `<!-- rows of a.csv b.csv as ({size}) {predictor} -->`, with `only METHOD …` behind it for some methods alone,
`<!-- beside the paper: a.csv b.csv: METHOD … -->` or `<!-- ways to differentiate: a.csv -->`.
"""

from __future__ import annotations

import csv
import re
import sys
from collections.abc import Callable
from pathlib import Path
from statistics import mean, stdev

import published

HERE = Path(__file__).parent
PAGES = [HERE.parent / "reproduction.md", HERE / "synthetic.md"]

Row = dict[str, str]


def read(files: list[str]) -> dict[tuple[str, str], dict[str, Row]]:
    """Rows by (size, predictor) and method, networks first; where several K were tried, the one chosen on validation."""
    cells: dict[tuple[str, str], dict[str, Row]] = {}
    for file in files:
        for row in csv.DictReader((HERE / file).open()):
            cell = cells.setdefault((row["size"], row["predictor"]), {})
            if not row["k"] or row["method"] not in cell:
                cell[row["method"]] = row
    return dict(sorted(cells.items(), key=lambda cell: cell[0][1] != "mlp"))


def entry(row: Row, lowest: bool) -> str:
    """Regret, and against the best two-stage method the difference and its p."""
    regret = f"{float(row['regret']):#.3g}".rstrip(".")
    text = f"**{regret}**" if lowest else regret
    if not row["p"]:
        return text
    percent, p = 100.0 * (float(row["ratio to two-stage"]) - 1.0), float(row["p"])
    digits = 1 if abs(percent) < 0.95 else 0
    return f"{text} ({percent:+.{digits}f} %, p {'< 0.001' if p < 0.001 else f'{p:.3f}'})"


def table(files: list[str], head: str, only: list[str]) -> str:
    """A column a cell and a row a method; the lowest of a column is bold where all methods are shown."""
    cells = read(files)
    methods = only or list(dict.fromkeys(method for cell in cells.values() for method in cell))
    heads = [head.format(size=size, predictor=predictor) for size, predictor in cells]
    lines = [["", *heads], ["---"] * (len(heads) + 1)]
    lowest = [None if only else min(cell, key=lambda m: float(cell[m]["regret"])) for cell in cells.values()]
    for method in methods:
        found = zip(cells.values(), lowest, strict=True)
        entries = (entry(cell[method], method == low) if method in cell else "" for cell, low in found)
        lines.append([f"`{method}`", *entries])
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def beyond(file: str, methods: list[str]) -> str:
    """By cell the best forecast stopped on decisions, and what methods have less or more than it: mean and standard error over seeds."""
    cells: dict[tuple[int, str], dict[str, dict[str, float]]] = {}
    for row in csv.DictReader((HERE / file).open()):
        cell = cells.setdefault((int(row["samples"]), row["size"]), {})
        cell.setdefault(row["method"], {})[row["seed"]] = float(row["regret"])
    lines = [["samples", "size", "best stopped", *(f"`{m}`" for m in methods)], ["---"] * (3 + len(methods))]
    for (samples, size), cell in sorted(cells.items()):
        stopped = min((m for m in cell if m.endswith("+stopped")), key=lambda m: mean(cell[m].values()))
        level = mean(cell[stopped].values())
        line = [f"{samples:,}", f"({size})", f"`{stopped}` {level:#.3g}"]
        for method in methods:
            gains = [100.0 * (cell[method][seed] - at) / level for seed, at in cell[stopped].items()]
            line.append(f"{mean(gains):+.0f} ± {stdev(gains) / len(gains) ** 0.5:.0f} %")
        lines.append(line)
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def ways(file: str) -> str:
    """How `df` is differentiated: regret, its deviation over seeds, and the paired difference to exact derivatives with its standard error."""
    cells: dict[str, dict[str, dict[str, float]]] = {}
    for row in csv.DictReader((HERE / file).open()):
        cells.setdefault(row["way"], {}).setdefault(row["size"], {})[row["seed"]] = float(row["regret"])
    sizes = list(next(iter(cells.values())))
    lines = [["derivative", *(f"({size})" for size in sizes)], ["---"] * (1 + len(sizes))]
    for way, cell in cells.items():
        line = [f"`{way}`"]
        for size, of in cell.items():
            text = f"{mean(of.values()):.3f} ± {stdev(of.values()):.3f}"
            if way != "exact":
                gaps = [at - cells["exact"][size][seed] for seed, at in of.items()]
                text += f" ({mean(gaps):+.3f} ± {stdev(gaps) / len(gaps) ** 0.5:.3f})"
            line.append(text)
        lines.append(line)
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


#: A mark in a page, and the table that follows it.
FILLS: list[tuple[str, Callable[[re.Match[str]], str]]] = [
    (
        "rows of (?P<files>.+?) as (?P<head>.+?)(?: only (?P<only>.+?))?",
        lambda at: table(at["files"].split(), at["head"], (at["only"] or "").split()),
    ),
    ("beyond the stopped of (?P<file>.+?): (?P<methods>.+?)", lambda at: beyond(at["file"], at["methods"].split())),
    (
        "beside the paper: (?P<files>.+?): (?P<methods>.+?)",
        lambda at: published.summary(at["files"].split(), at["methods"].split()),
    ),
    ("ways to differentiate: (?P<file>.+?)", lambda at: ways(at["file"])),
]


def filled(page: Path) -> str:
    """A page with its tables as the files have them."""
    text = page.read_text(encoding="utf-8")
    for mark, fill in FILLS:
        place = re.compile(rf"(?P<mark><!-- {mark} -->\n\n)(?:\|.*\n)*")
        text = place.sub(lambda at, fill=fill: at["mark"] + fill(at), text)  # type: ignore[misc]
    return text


def main() -> None:
    """Rewrites the tables, or says that they are not those of the files."""
    pages = {page: filled(page) for page in PAGES} | {published.PAGE: published.page()}
    for page, wanted in pages.items():
        if "--check" not in sys.argv:
            page.write_text(wanted, encoding="utf-8")
        elif not page.exists() or page.read_text(encoding="utf-8") != wanted:
            sys.exit(f"{page}: tables differ from the files in {HERE}; run python {Path(__file__).name}")


if __name__ == "__main__":
    main()
