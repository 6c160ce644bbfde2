"""What the three examples share: the command line, a table of regrets and a panel with a dot for every seed."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

GREY, BLUE, ORANGE, BLACK = "#8c8c8c", "#1f5f99", "#d9822b", "#222222"

#: Regret of each method, one number a seed, in the same order of seeds for all.
Regrets = Mapping[str, Sequence[float]]

plt.rcParams.update({
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "figure.dpi": 120,
    "font.size": 9.5,
    "legend.frameon": False,
})  # fmt: skip


def arguments(name: str) -> argparse.Namespace:
    """``--quick`` and ``--figure PATH``; in a notebook the defaults."""
    parser = argparse.ArgumentParser(prog=f"{name}.py")
    parser.add_argument("--quick", action="store_true", help="few seeds and epochs: does it run at all?")
    parser.add_argument("--figure", type=Path, default=Path(f"{name}.png"), metavar="PATH", help="default: %(default)s")
    return parser.parse_args([] if "ipykernel" in sys.modules else None)


def short(value: float) -> str:
    """Three digits, without an exponent."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:#.3g}"


def ratio(regrets: Regrets, method: str, reference: str) -> float:
    """Mean regret of a method over that of another."""
    return float(np.mean(regrets[method]) / np.mean(regrets[reference]))


def gain(regrets: Regrets, method: str, reference: str) -> tuple[float, float, int]:
    """What a method saves, paired over seeds: mean, its standard error, and in how many seeds it saves anything."""
    saved = np.subtract(regrets[reference], regrets[method])
    error = saved.std(ddof=1) / np.sqrt(len(saved)) if len(saved) > 1 else np.nan
    return float(saved.mean()), float(error), int((saved > 0).sum())


def table(title: str, regrets: Regrets, reference: str | Mapping[str, str]) -> None:
    """Prints mean regret, deviation over seeds, and the comparison with a two-stage method, paired over seeds."""
    seeds = len(next(iter(regrets.values())))
    print(f"\n{title}, mean of {seeds} seeds; less is better\n")
    print(f"{'method':<24}{'regret':>9}{'± std':>9}{'ratio':>8}{'saves ± s.e.':>18}{'better in':>11}   than")
    for method, values in regrets.items():
        mean, std = np.mean(values), np.std(values, ddof=1) if seeds > 1 else np.nan
        line = f"{method:<24}{short(mean):>9}{short(std):>9}"
        other = reference if isinstance(reference, str) else reference[method]
        if method == other:
            print(line + f"{1:>8.2f}")
            continue
        saved, error, better = gain(regrets, method, other)
        paired = f"{short(saved)} ± {short(error)}"
        print(line + f"{ratio(regrets, method, other):>8.2f}{paired:>18}{f'{better}/{seeds}':>11}   {other}")


def verdict(regrets: Regrets, method: str, reference: str) -> str:
    """One sentence that claims a difference only beyond three standard errors: with five seeds, p < 0.05."""
    saved, error, _ = gain(regrets, method, reference)
    percent = 100 * (1 - ratio(regrets, method, reference))
    if len(regrets[method]) < 3:
        return f"{method} and {reference}: too few seeds to tell."
    if abs(saved) <= 3 * error:
        return f"{method} and {reference}: no difference beyond noise ({-percent:+.0f} % regret)."
    return f"{method} has {abs(percent):.0f} % {'less' if saved > 0 else 'more'} regret than {reference}."


def panel(ax: plt.Axes, regrets: Regrets, colours: Mapping[str, str], label: str) -> None:
    """Mean regret of each method as a bar with its value, and a dot for every seed."""
    names = list(regrets)
    means = [float(np.mean(regrets[name])) for name in names]
    most = max(max(values) for values in regrets.values())
    ax.barh(names, means, color=[colours[name] for name in names], alpha=0.35, height=0.62)
    for i, name in enumerate(names):
        values = np.asarray(regrets[name])
        # Seeds in order from top to bottom of a bar: the same height is the same seed.
        heights = i + np.linspace(-0.2, 0.2, len(values)) if len(values) > 1 else [i]
        ax.plot(values, heights, "o", color=colours[name], markersize=3.5)
        ax.text(most * 1.04, i, f"{short(means[i])}", va="center", color=BLACK)
    ax.set_ylim(len(names) - 0.4, -0.6)
    ax.set_xlim(0, most * 1.16)
    ax.tick_params(axis="y", length=0)
    ax.xaxis.set_major_formatter(lambda value, _: f"{value:,.4g}" if value < 1e4 else f"{value:,.0f}")
    ax.set_xlabel(label)
