"""Test regret by epoch, from the trainings of a study: python docs/reproduction/curves.py FOLDER SIZE K > curves.csv

One line an epoch, method and seed, for the methods without K and those with the one named. A training that was stopped stays where it was.
"""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path


def main(folder: Path, size: str, k: float) -> None:
    """Writes the lines to standard output."""
    lines = (folder / "results.jsonl").read_text(encoding="utf-8").splitlines()
    trainings = [json.loads(line) for line in lines]
    own = [t for t in trainings if t["size"] == size and t["k"] in (None, k) and len(t["curve"]) > 1]
    epochs = max(len(training["curve"]) for training in own)
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(["method", "seed", "epoch", "regret"])
    for training in own:
        for epoch in range(epochs):
            regret = training["curve"][min(epoch, len(training["curve"]) - 1)]
            out.writerow([training["method"], training["seed"], epoch, f"{regret:.5g}"])


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], float(sys.argv[3]))
