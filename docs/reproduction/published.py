"""Puts our rows of the `published` profile beside the paper's figures.

tables.py writes both: the summary in docs/reproduction.md and the page docs/reproduction/published.md, which has every figure.
"""

from __future__ import annotations

import csv
from pathlib import Path

HERE = Path(__file__).parent
PAPER = HERE.parents[1] / "crates" / "regretless-paper" / "published"
PAGE = HERE / "published.md"
#: The files behind the page, by application.
FILES = {
    "synthetic": [
        f"published-{cell}.csv" for cell in ("n40-N100", "n80-N100", "n40-N1000", "n80-N1000", "n40-N5000", "n80-N5000")
    ],
}
TITLES = {"synthetic": "The synthetic LP", "portfolio": "Portfolios", "provisioning": "Provisioning"}
#: Seeds behind each of the paper's figures.
SEEDS = 15

Row = dict[str, str]
#: (size, samples, method, K or "best") and what is printed there: the figure and its deviation.
Printed = dict[tuple[str, str, str, str], tuple[float, float | None]]


def printed(application: str, what: str) -> Printed:
    """A table of the paper."""
    found: Printed = {}
    for row in csv.DictReader((PAPER / f"{application}.csv").open()):
        if row["table"] == what:
            place = (row["size"], row["samples"], row["method"], row["k"])
            found[place] = (float(row["value"]), float(row["std"]) if row["std"] else None)
    return found


def rows(files: list[str]) -> list[Row]:
    """The rows of some files, in their order."""
    return [row for file in files for row in csv.DictReader((HERE / file).open())]


def errors(row: Row) -> float | None:
    """Ours less the paper's in standard errors of the difference, √(s²/n + s_p²/n_p)."""
    if not row["paper"] or not row["paper std"] or not row["std"]:
        return None
    own, theirs = float(row["std"]) ** 2 / int(row["seeds"]), float(row["paper std"]) ** 2 / SEEDS
    return (float(row["regret"]) - float(row["paper"])) / (own + theirs) ** 0.5


def digits(text: str, count: int = 4) -> str:
    """So many significant digits, or a dash."""
    return f"{float(text):#.{count}g}".rstrip(".") if text else "–"


def label(row: Row) -> str:
    """The method; of several K the one that is best on test, as the paper chose."""
    if row["k"]:
        return f"`{row['method']}` K = {row['k']}"
    return f"`{row['method']}`" + (" best K" if row["method"].startswith(("surrogate", "spo+-", "fenchel")) else "")


def summary(files: list[str], methods: list[str]) -> str:
    """A line a cell and a column a method: ours, the paper's in brackets, and how many standard errors lie between."""
    cells: dict[tuple[str, str], dict[str, Row]] = {}
    for row in rows(files):
        cell = cells.setdefault((row["samples"], row["size"]), {})
        if not row["k"] or row["method"] not in cell:
            cell[row["method"]] = row
    lines = [["N", "size", *(f"`{m}`" for m in methods)], ["---"] * (2 + len(methods))]
    for (samples, size), cell in cells.items():
        lowest = min((m for m in methods if m in cell), key=lambda m: float(cell[m]["regret"]))
        line = [f"{int(samples):,}" if samples else "", f"({size})"]
        for method in methods:
            row = cell.get(method)
            if row is None:
                line.append("")
                continue
            own = digits(row["regret"])
            text = f"**{own}**" if method == lowest else own
            z = errors(row)
            line.append(text if z is None else f"{text} ({digits(row['paper'])}, {z:+.1f})")
        lines.append(line)
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def whole(application: str, files: list[str]) -> str:
    """Every row with every figure that the paper prints beside it."""
    t, p = printed(application, "t"), printed(application, "p")
    head = ["size", "N", "method", "regret", "paper", "errors"]
    head += ["MSE", "paper", "epochs", "paper", "t", "paper", "p", "paper", "seeds"]
    lines = [head, ["---"] * len(head)]
    for row in rows(files):
        k = row["k"] or ("best" if row["method"] == "surrogate-vertex" else "")
        place = (row["size"], row["samples"], row["method"], k)
        z = errors(row)
        theirs = [digits(str(of[place][0])) if place in of else "–" for of in (t, p)]
        lines.append([
            f"({row['size']})",
            row["samples"] or "–",
            label(row),
            f"{digits(row['regret'])} ± {digits(row['std'], 3)}",
            f"{digits(row['paper'])} ± {digits(row['paper std'], 3)}" if row["paper"] else "–",
            "–" if z is None else f"{z:+.1f}",
            digits(row["mse"], 3),
            digits(row["paper mse"], 3),
            digits(row["epochs"], 3),
            digits(row["paper epochs"], 3),
            digits(row["t"], 3),
            theirs[0],
            digits(row["p"], 2),
            theirs[1],
            row["seeds"],
        ])  # fmt: skip
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def page() -> str:
    """docs/reproduction/published.md"""
    parts = [
        "# The `published` profile beside the paper, every figure\n\n"
        "Regret on test with its standard deviation over seeds; *errors*: ours less the paper's in standard\n"
        "errors of the difference. MSE and epochs are means over seeds; t and p are of the paired test against\n"
        "`surrogate-vertex` with its best K, one-tailed, as in the paper. Behind each figure of ours stands the\n"
        "paper's, a dash where it has none. Commands and data: [results of the studies](README.md).\n"
    ]
    for application, files in FILES.items():
        for file in files:
            parts.append(f"## {TITLES[application]}: [`{file}`]({file})\n\n{whole(application, [file])}")
    return "\n".join(parts)
