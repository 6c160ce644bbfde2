"""Draws the charts of docs/reproduction.md from the tables beside this file: python docs/reproduction/charts.py"""

from __future__ import annotations

import csv
from pathlib import Path
from statistics import mean

import matplotlib
import matplotlib.pyplot as plt
import tables
from matplotlib.axes import Axes

HERE = Path(__file__).parent
IMAGES = HERE.parent / "images"

#: From two-stage to ours; what a table does not have is left out.
METHODS = [
    "l1", "l2", "weighted-l1", "l1+stopped", "l2+stopped", "l1+scenarios", "l2+scenarios", "spo+", "spo+-smooth", "df",
    "surrogate-vertex", "surrogate-smooth", "surrogate-smooth+l2", "fenchel-young", "auto",
]  # fmt: skip
GAIN, LOSS, EVEN = "#1b7837", "#b2182b", "#8c8c8c"


Found = tuple[float, float | None]
Cells = dict[tuple[str, str], dict[str, Found]]


def read(*files: str) -> Cells:
    """Ratio to the best two-stage method and its p, by (size, predictor) and method."""

    def found(row: tables.Row) -> Found:
        return float(row["ratio to two-stage"]), float(row["p"]) if row["p"] else None

    cells = tables.read(list(files))
    return {cell: {m: found(row) for m, row in of.items() if m in METHODS} for cell, of in cells.items()}


def panel(axes: Axes, title: str, methods: list[str], of: dict[str, Found], widest: float) -> None:
    """Differences of one cell; filled where 5 % significance is reached, at the edge what lies beyond it."""
    axes.axvline(0.0, color="black", lw=0.8)
    for y, method in enumerate(methods):
        if method not in of:
            continue
        ratio, p = of[method]
        percent = 100.0 * (ratio - 1.0)
        clear = p is not None and p < 0.05
        colour = EVEN if not clear else GAIN if percent < 0 else LOSS
        beyond = percent > widest
        x = widest if beyond else percent
        axes.plot([0.0, x], [y, y], color=colour, lw=1.2)
        axes.plot(x, y, ">" if beyond else "o", color=colour, mfc=colour if clear else "white", ms=6)
        if beyond:
            axes.annotate(
                f"+{percent:.0f} %",
                (x, y),
                (-7, 0),
                textcoords="offset points",
                ha="right",
                va="center",
                fontsize=7,
                bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.0},
            )
    axes.set_title(title, fontsize=9)
    axes.set_xlim(-1.15 * widest if widest < 40 else -45, 1.12 * widest)
    axes.set_ylim(len(methods) - 0.5, -0.5)
    axes.set_yticks(range(len(methods)), methods, fontsize=8)
    axes.tick_params(axis="x", labelsize=8)
    axes.grid(axis="x", color="#e5e5e5", lw=0.6)
    axes.set_axisbelow(True)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.tick_params(axis="y", length=0)


def chart(
    to: str,
    headline: str,
    cells: Cells,
    widest: float,
    columns: int,
) -> None:
    """One panel a cell."""
    methods = [m for m in METHODS if any(m in of for of in cells.values())]
    rows = -(-len(cells) // columns)
    figure, grid = plt.subplots(
        rows,
        columns,
        figsize=(2.6 * columns + 1.4, (0.22 * len(methods) + 0.75) * rows + 0.5),
        sharey=True,
        squeeze=False,
    )
    for axes, ((size, predictor), of) in zip(grid.flat, cells.items()):
        panel(
            axes,
            f"({size}) {predictor}" if "," in size else f"{headline.split(':')[0].lower()} {size}",
            methods,
            of,
            widest,
        )
    for axes in list(grid.flat)[len(cells) :]:
        axes.set_visible(False)
    figure.suptitle(headline.split(": ", 1)[1], fontsize=10, x=0.01, ha="left")
    figure.supxlabel(
        "regret against the best two-stage method of the cell, %; left is better, filled: p < 0.05 unadjusted",
        fontsize=8,
    )
    figure.tight_layout(rect=(0, 0.01, 1, 0.99))
    figure.savefig(IMAGES / to, metadata={"Date": None})
    plt.close(figure)


def by_epoch(to: str, headline: str, file: str) -> None:
    """Mean test regret over seeds by epoch, a line a method."""
    found: dict[str, dict[int, list[float]]] = {}
    for row in csv.DictReader((HERE / file).open()):
        found.setdefault(row["method"], {}).setdefault(int(row["epoch"]), []).append(float(row["regret"]))
    figure, axes = plt.subplots(figsize=(7.0, 3.6))
    ends = []
    for colour, (method, of) in zip(matplotlib.colormaps["tab10"].colors, found.items()):
        means = [mean(of[epoch]) for epoch in sorted(of)]
        axes.plot(range(len(means)), means, color=colour, lw=1.6)
        ends.append((means[-1], method, colour))
    # The first epochs are off the top: what matters is where they come to.
    lowest, highest = min(end for end, *_ in ends), max(end for end, *_ in ends)
    low, top = lowest - 0.3 * (highest - lowest), highest + 0.3 * (highest - lowest)
    axes.set_ylim(low, top)
    # Names beside the ends, apart from one another.
    place, step = -1.0, 0.055 * (top - low)
    for end, method, colour in sorted(ends):
        place = max(end, place + step)
        axes.annotate(method, (1.01, place), xycoords=("axes fraction", "data"), color=colour, fontsize=8, va="center")
    axes.set(xlabel="epoch", ylabel="mean regret on test rows")
    axes.set_title(headline, fontsize=10, loc="left")
    axes.grid(axis="y", color="#e5e5e5", lw=0.6)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    figure.tight_layout()
    figure.savefig(IMAGES / to, metadata={"Date": None})
    plt.close(figure)


def main() -> None:
    """All charts."""
    matplotlib.use("Agg")
    matplotlib.rcParams |= {"svg.hashsalt": "regretless", "svg.fonttype": "none", "font.family": "sans-serif"}
    chart(
        "synthetic-100.svg",
        "Synthetic: The synthetic LP with 100 samples, 15 seeds",
        read("sound-synthetic-N100.csv"),
        28.0,
        4,
    )
    chart(
        "synthetic-1000.svg",
        "Synthetic: The synthetic LP with 1,000 samples, 15 seeds",
        read("sound-synthetic-N1000-n40.csv", "sound-synthetic-N1000-n80.csv"),
        50.0,
        4,
    )
    chart(
        "portfolio.svg",
        "Equities: Portfolios on real prices, 5 seeds",
        read("sound-portfolio.csv"),
        6.0,
        5,
    )
    chart(
        "provisioning.svg",
        "Ratio: Provisioning on real load, 5 seeds; panels: price of too much over price of too little",
        read("sound-provisioning.csv", "sound-provisioning-auto.csv"),
        75.0,
        5,
    )
    by_epoch(
        "published-epochs.svg",
        "The published profile at N = 5,000, (80,80,0), K = 25, 5 seeds",
        "published-n80-N5000-epochs.csv",
    )


if __name__ == "__main__":
    main()
