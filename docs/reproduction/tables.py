"""Writes the tables of docs/reproduction.md, and docs/reproduction/published.md, from the files beside this one.

python docs/reproduction/tables.py [--check]

A table follows a line such as `<!-- rows of a.csv b.csv as ({size}) {predictor} -->`, with `only METHOD …` behind it for some methods alone,
or `<!-- beside the paper: a.csv b.csv: METHOD … -->`.
"""

from __future__ import annotations

import csv
import re
import sys
from pathlib import Path
from statistics import mean, stdev

import published

HERE = Path(__file__).parent
STORY = HERE.parent / "reproduction.md"
MARK = re.compile(r"(<!-- rows of (?P<files>.+?) as (?P<head>.+?)(?: only (?P<only>.+?))? -->\n\n)(?:\|.*\n)*")
BEYOND = re.compile(r"(<!-- beyond the stopped of (?P<file>\S+): (?P<methods>.+?) -->\n\n)(?:\|.*\n)*")
BESIDE = re.compile(r"(<!-- beside the paper: (?P<files>.+?): (?P<methods>.+?) -->\n\n)(?:\|.*\n)*")

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


def main() -> None:
    """Rewrites the tables, or says that they are not those of the files."""
    text = STORY.read_text(encoding="utf-8")
    assert MARK.search(text), f"{STORY} has no tables"

    def fill(found: re.Match[str]) -> str:
        only = (found["only"] or "").split()
        return found[1] + table(found["files"].split(), found["head"], only)

    def fill_beyond(found: re.Match[str]) -> str:
        return found[1] + beyond(found["file"], found["methods"].split())

    def fill_beside(found: re.Match[str]) -> str:
        return found[1] + published.summary(found["files"].split(), found["methods"].split())

    fresh = BESIDE.sub(fill_beside, BEYOND.sub(fill_beyond, MARK.sub(fill, text)))
    for page, wanted in {STORY: fresh, published.PAGE: published.page()}.items():
        if "--check" not in sys.argv:
            page.write_text(wanted, encoding="utf-8")
        elif not page.exists() or page.read_text(encoding="utf-8") != wanted:
            sys.exit(f"{page}: tables differ from the files in {HERE}; run python {Path(__file__).name}")


if __name__ == "__main__":
    main()
