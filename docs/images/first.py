"""Draws docs/images/first.svg from the first Python block of the README: python docs/images/first.py"""

from __future__ import annotations

import re
from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt

HERE = Path(__file__).parent


def main() -> None:
    """Runs the block and shows what the decisions of both models lose."""
    block = re.findall(r"```python\n(.*?)```", (HERE.parents[1] / "README.md").read_text(), re.DOTALL)[0]
    names: dict[str, object] = {}
    exec(block, names)
    X, y = names["X"], names["y"]
    lost = [names[name].evaluate(X[500:], y[500:]).regret for name in ("two_stage", "ours")]
    gain = lost[0] - lost[1]
    error = gain.std(ddof=1) / len(gain) ** 0.5
    print(f"less by {gain.mean():.3f} ± {error:.3f} a decision, {100 * gain.mean() / lost[0].mean():.0f} %")
    matplotlib.rcParams.update({"svg.hashsalt": "first", "font.family": "DejaVu Sans", "font.size": 11})
    figure, axes = plt.subplots(figsize=(8, 1.9))
    rows = [("ours", "trained on decisions", "#0072b2"), ("two_stage", "predict, then decide", "#9aa3ad")]
    for at, (name, label, colour) in enumerate(rows):
        decisions = names[name].evaluate(X[500:], y[500:])
        axes.barh(at, decisions.mean, xerr=decisions.standard_error, color=colour, height=0.62, capsize=4)
        axes.text(0.012, at, label, color="white", va="center", weight="bold")
        axes.text(decisions.mean + decisions.standard_error + 0.012, at, f"{decisions.mean:.3f}", va="center")
    axes.set(xlabel="mean regret on 1,500 new rows, ± standard error: what decisions lose", yticks=[])
    axes.spines[["top", "right", "left"]].set_visible(False)
    figure.savefig(HERE / "first.svg", bbox_inches="tight", metadata={"Date": None})


if __name__ == "__main__":
    main()
