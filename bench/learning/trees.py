"""Boosted trees against scikit-learn's HistGradientBoostingRegressor: the same data and settings, one thread each.

    python bench/learning/trees.py

builds and runs `regretless-bench-learning -- trees`, which prints its times and leaves its data, and fits scikit-learn to them. Times are of work, so that others on the machine do not matter
much; the least of three. RAYON_NUM_THREADS=1 for the last table, of a training.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

os.environ["OMP_NUM_THREADS"] = "1"

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor

FEATURES = 10


def main() -> None:
    profile = [] if "--dev" in sys.argv else ["--release"]
    with tempfile.TemporaryDirectory() as folder:
        command = ["cargo", "run", "--quiet", *profile, "-p", "regretless-bench-learning", "--", "trees", folder]
        printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        print(printed)
        lines = [line.split("|") for line in printed.splitlines()]
        ours = {int(cells[1]): float(cells[2]) for cells in lines if len(cells) == 5 and cells[1].strip().isdigit()}
        print("| rows | ours s | HistGradientBoosting s | ratio |\n|---|---|---|---|")
        for rows, seconds in ours.items():
            table = np.fromfile(Path(folder) / f"{rows}.f64").reshape(rows, FEATURES + 1)
            theirs = []
            for _ in range(3):
                start = time.process_time()
                HistGradientBoostingRegressor(max_iter=100, learning_rate=0.1, max_depth=6, early_stopping=False).fit(
                    table[:, :-1], table[:, -1]
                )
                theirs.append(time.process_time() - start)
            print(f"| {rows} | {seconds:.3f} | {min(theirs):.3f} | {seconds / min(theirs):.2f} |")


if __name__ == "__main__":
    main()
