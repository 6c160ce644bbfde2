"""`auto` on data that its choice did not see: two programs, or two settings, on the same draws.

python bench/learning/auto.py paths OUT ROWS DRAWS NAME=PROGRAM[:KIND] …     # shortest path, noise 0.5, degree 8
python bench/learning/auto.py bakery OUT CSV ROWS DRAWS NAME=PROGRAM[:KIND] …  # orders of a bakery's shops

PROGRAM is a `regretless`; KIND states the kind of predictor. Each draw is a line of the table OUT (CSV): what was kept, the
regret over the optimum on the test rows in %, seconds. Draws that are in OUT are not done again. In the end the means, their
standard errors over draws, and of every program the paired difference to the first.
"""

from __future__ import annotations

import csv
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
from bakery import table
from skewed import draw

LEVELS = (0.1, 0.25, 0.5, 0.75, 0.9)
FIELDS = ("case", "draw", "name", "regret", "seconds", "kept")


def path_problem(folder: Path, rows: int, seed: int) -> None:
    """The draws of skewed.py: `rows` and a quarter more to learn from, 1,000 to judge by."""
    edges = [(5 * i + j, 5 * i + j + 1) for i in range(5) for j in range(4)]
    edges += [(5 * i + j, 5 * i + j + 5) for i in range(4) for j in range(5)]
    flow = np.zeros((25, len(edges)))
    for e, (a, b) in enumerate(edges):
        flow[a, e], flow[b, e] = -1.0, 1.0
    ends = [-1.0, *([0.0] * 23), 1.0]
    rng = np.random.default_rng(seed)
    binary = rng.integers(0, 2, size=(40, 5)).astype(float)
    for name, count in (("history", rows + rows // 4), ("test", 1000)):
        X, y = draw(rng, count, 8, binary)
        names = [f"x{j}" for j in range(5)] + [f"c{e:02}" for e in range(40)]
        pd.DataFrame(np.hstack([X, y]), columns=names).to_csv(folder / f"{name}.csv", index=False)
    (folder / "problem.toml").write_text(
        f'[problem]\nvariables = 40\nsense = "min"\n[objective]\nlinear = {{ predict = "c*" }}\n'
        f'[[hard]]\nname = "flow"\nrows = {flow.tolist()}\nequals = {ends}\n[bounds]\nupper = 1.0\n'
        '[data]\ntrain = "history.csv"\ntest = "test.csv"\nfeatures = ["x*"]\nsplit = { kind = "random", valid = 0.2 }\n'
    )


def bakery_problem(folder: Path, data: pd.DataFrame, features: list[str], rows: int, seed: int) -> float:
    """`rows` rows of whole series before the origin, the twelfth of days after it as the test; the level goes round with the seed."""
    level = LEVELS[seed % len(LEVELS)]
    days = np.sort(data["date_short"].unique())
    start = days[int((0.75, 0.8333)[seed % 2] * len(days))]
    end = days[min(int(((0.75, 0.8333)[seed % 2] + 1 / 12) * len(days)), len(days) - 1)]
    keys = data[["shop_no", "product_no"]].drop_duplicates().sample(frac=1.0, random_state=seed)
    per = (data["date_short"] < start).sum() / len(keys)
    own = data.merge(keys.head(max(1, round(rows / per))))
    own = own.sort_values(["date_short", "shop_no", "product_no"])
    before = own[own["date_short"] < start]
    after = own[(own["date_short"] >= start) & (own["date_short"] < end)]
    columns = ["date_short", *features, "demand"]
    before[columns].to_csv(folder / "history.csv", index=False)
    after[columns].to_csv(folder / "test.csv", index=False)
    quoted = json.dumps(features)
    (folder / "problem.toml").write_text(
        f'[problem]\nvariables = 1\nsense = "min"\n[objective]\nlinear = [0.0]\n[[soft]]\nname = "stock"\nrows = [[1.0]]\n'
        f'limit = {{ predict = "demand" }}\nover = {1 - level}\nunder = {level}\n'
        f'[data]\ntrain = "history.csv"\ntest = "test.csv"\nfeatures = {quoted}\ntime = "date_short"\n'
    )
    past = before.groupby(["shop_no", "product_no"])["demand"].quantile(level)
    order = past.reindex(pd.MultiIndex.from_frame(after[["shop_no", "product_no"]])).to_numpy()
    short = after["demand"].to_numpy() - order
    return float(np.nanmean(np.maximum(level * short, (level - 1) * short)))


def trained(program: str, folder: Path, seed: int) -> tuple[dict, float]:
    """What `train` says, and its seconds."""
    binary, _, kind = program.partition(":")
    problem = (folder / "problem.toml").read_text() + (f'[predictor]\nkind = "{kind}"\n' if kind else "")
    (folder / "own.toml").write_text(problem)
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as run:
        done = subprocess.run(
            [binary, "train", "own.toml", "--seed", str(seed), "--format", "json", "--out", f"{run}/run"],
            cwd=folder, capture_output=True, text=True, check=False,
        )  # fmt: skip
    if done.returncode:
        sys.exit(done.stderr or done.stdout)
    return json.loads(done.stdout), time.perf_counter() - began


def main(what: str, out: str, *rest: str) -> None:
    """Fills the table."""
    data, features = table(rest[0]) if what == "bakery" else (None, [])
    rows, draws, *programs = rest[1:] if what == "bakery" else rest
    path = Path(out)
    found = list(csv.DictReader(path.open())) if path.is_file() else []
    case = f"{what} {rows}"
    for seed in range(int(draws)):
        with tempfile.TemporaryDirectory() as folder:
            saa = None
            for name, program in (p.split("=", 1) for p in programs):
                if any((r["case"], r["draw"], r["name"]) == (case, str(seed), name) for r in found):
                    continue
                if what == "paths":
                    path_problem(Path(folder), int(rows), seed)
                else:
                    saa = bakery_problem(Path(folder), data, features, int(rows), seed)
                result, seconds = trained(program, Path(folder), seed)
                test = result["test"]
                regret = 100 * (test["relative"] if saa is None else test["regret"] / saa)
                line = [case, seed, name, f"{regret:.3f}", f"{seconds:.1f}", result["kept"]]
                found.append(dict(zip(FIELDS, map(str, line), strict=True)))
                print(*line, flush=True)
                with path.open("w", newline="") as file:
                    writer = csv.DictWriter(file, FIELDS)
                    writer.writeheader()
                    writer.writerows(found)
    own = pd.DataFrame(found).query("case == @case").astype({"regret": float, "seconds": float})
    wide = own.pivot_table(index="draw", columns="name", values="regret")
    first = programs[0].partition("=")[0]
    for name in wide:
        gap = (wide[name] - wide[first]).dropna()
        error = gap.std() / np.sqrt(len(gap)) if len(gap) > 1 else float("nan")
        mean = wide[name].dropna()
        taken = own[own["name"] == name]["seconds"]
        print(
            f"{case} {name}: {mean.mean():.2f} ± {mean.std() / np.sqrt(len(mean)):.2f} over {len(mean)} draws, "
            f"{gap.mean():+.2f} ± {error:.2f} against {first}; {taken.mean():.0f} s, at most {taken.max():.0f}"
        )


if __name__ == "__main__":
    main(*sys.argv[1:])
