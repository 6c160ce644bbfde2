"""Whose errors a forecast should know where the load drifts: those of training days, of validation days too, or of both.

    python bench/learning/drift.py ERCOT_FOLDER [--zones FWEST EAST …]

The task of `scheduling.py` with a least squares line and its errors as they are, cross-fitted in five blocks of time; the cost on every
other test day. `train`: line and errors of the training days. `later`: the errors of that line on validation days beside them. `both`: line
and errors of training and validation days together.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from scheduling import HOURS, OVER, UNDER, cost, days

import regretless as rl


def line(x: np.ndarray, d: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Predictions of all rows by least squares on some."""
    wide = np.column_stack([np.ones(len(x)), x])
    return wide @ np.linalg.lstsq(wide[rows], d[rows], rcond=None)[0]


def crossed(x: np.ndarray, d: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Errors of rows in order, each of a line that did not learn from its block."""
    blocks = np.array_split(rows, 5)
    return np.vstack([(d - line(x, d, np.setdiff1d(rows, block)))[block] for block in blocks])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--zones", nargs="*", default=["FWEST", "EAST", "WEST", "NCENT"])
    given = parser.parse_args()
    print("| zone | error on validation days | on test days | train | later | both |\n|---|---|---|---|---|---|")
    for zone in given.zones:
        x, load = days(given.data / f"{zone}.csv.gz")
        ends = [int(0.6 * len(x)), int(0.8 * len(x)), len(x)]
        train, valid, test = (np.arange(a, b) for a, b in zip([0, *ends], ends, strict=False))
        d = load / load[train].mean()
        x = (x - x[train].mean(axis=0)) / x[train].std(axis=0)
        limit = float(np.quantile(np.abs(np.diff(d[train], axis=1)), 0.75))
        steps = np.diff(np.eye(HOURS), axis=0)
        soft = rl.Soft(np.eye(HOURS), np.zeros(HOURS), weight=OVER, under=UNDER)
        ramps, limits = np.vstack([steps, -steps]), np.full(2 * len(steps), limit)
        problem = rl.Problem(HOURS, theta=np.zeros(HOURS), sense="min", A=ramps, b=limits, soft=soft)
        judged, both = test[::2], np.concatenate([train, valid])

        def paid(points: np.ndarray, errors: np.ndarray) -> str:
            samples = points[judged][:, None, :] + errors[None]  # noqa: B023
            x = np.asarray(rl.decide(problem, samples=samples, predict="d").x)  # noqa: B023
            return f"{cost(x, d[judged]).mean():.3f}"  # noqa: B023

        points, own = line(x, d, train), crossed(x, d, train)
        late = (d - points)[valid]
        ways = [(points, own), (points, np.vstack([own, late])), (line(x, d, both), crossed(x, d, both))]
        off = [f"{e.mean():+.3f} ± {e.std():.3f}" for e in (late, (d - points)[test])]
        print("|", " | ".join([zone, *off, *(paid(*way) for way in ways)]), "|", flush=True)


if __name__ == "__main__":
    main()
