"""Does it hurt to give a table as it is? A bakery's orders with and without shop, weekday, month and the weather.

python bench/learning/kinds.py Bakery_dataset.csv    # writes bench/learning/kinds.csv and prints its table

For each seed eight shops are drawn and one product, and of the last 500 days the last 100 are decided for, the 100 before them
choose. A unit short costs 3, one too many 1. Both tables have lags of days before and what is on; the other one has columns of text
and the weather beside. Every method that `compare` has by default is trained with default settings, and some of them as lines and
trees, too. The difference is paired over days: a day's is the mean over the rows of all seeds, and days are taken as independent.
The table is written anew after every case.
"""

from __future__ import annotations

import csv
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

import regretless as rl

RESULTS = Path(__file__).with_name("kinds.csv")
SEEDS = 4
SHOPS, DAYS, HELD = 8, 500, 100
NUMBERS = ["lag1", "lag7", "mean7", "mean28", "promotion_currentweek"]
BOOLEANS = ["is_schoolholiday", "is_holiday", "is_holiday_next2days"]
MORE = ["shop", "weekday", "month", "rain_mm", "temp_avg_celsius"]
CASES = [
    ("constant", "constant"),
    ("linear", "l1"),
    ("linear", "l2"),
    ("linear", "l2+scenarios"),
    ("linear", "l2+scaled"),
    ("linear", "surrogate-smooth"),
    ("trees", "l2"),
    ("trees", "l2+scenarios"),
    ("mlp", "l1"),
    ("mlp", "l2"),
    ("mlp", "l2+scenarios"),
    ("mlp", "l2+scaled"),
    ("mlp", "surrogate-smooth"),
    ("mlp", "surrogate-smooth+l2"),
    ("auto", "auto"),
]


def table(path: str, seed: int) -> pd.DataFrame:
    """Rows in the order of days."""
    data = pd.read_csv(path, index_col=0, parse_dates=["date_short"])
    rng = np.random.default_rng(seed)
    product = rng.choice(np.sort(data["product_no"].unique()))
    data = data[data["product_no"] == product].sort_values(["shop_no", "date_short"])
    past = data.groupby("shop_no")["demand"]
    data["lag1"], data["lag7"] = past.shift(1), past.shift(7)
    for days in (7, 28):
        data[f"mean{days}"] = past.transform(
            lambda s, days=days: s.shift(1).rolling(days, min_periods=days // 2).mean()
        )
    shops = rng.choice(np.sort(data["shop_no"].unique()), size=SHOPS, replace=False)
    dates = np.sort(data["date_short"].unique())[-DAYS:]
    data = data[data["shop_no"].isin(shops) & data["date_short"].isin(dates)].dropna()
    data["shop"] = "shop " + data["shop_no"].astype(str)
    data["weekday"] = data["date_short"].dt.day_name()
    data["month"] = data["date_short"].dt.month_name()
    return data.sort_values(["date_short", "shop_no"]).reset_index(drop=True)


def costs(data: pd.DataFrame, features: list[str], predictor: str, method: str, seed: int) -> pd.Series:
    """What each row's order costs, by day."""
    dates = np.sort(data["date_short"].unique())
    test, choose = dates[-HELD], dates[-2 * HELD]
    parts = [data[data["date_short"] < choose], data[(data["date_short"] >= choose) & (data["date_short"] < test)]]
    parts.append(data[data["date_short"] >= test])
    stock = rl.Problem(1, theta=[0.0], soft=[rl.Soft([[1.0]], [0.0], 1.0, under=3.0)], sense="min")
    kind = "linear" if predictor == "constant" else predictor
    model = rl.DecisionRegressor(stock, method, predicts="d", predictor=kind, random_state=seed)
    (x, y), held, (xt, yt) = [(part[features], part["demand"].to_numpy()) for part in parts]
    model.fit(x, y, validation=held)
    regret = pd.Series(model.evaluate(xt, yt).regret)
    return regret.groupby(parts[2]["date_short"].to_numpy()).mean() / data["demand"].mean()


def main(path: str) -> None:
    warnings.simplefilter("ignore")
    rows = []
    for predictor, method in CASES:
        gaps, means = [], {"without": [], "with": []}
        for seed in range(SEEDS):
            data = table(path, seed)
            found = {
                name: costs(data, NUMBERS + BOOLEANS + extra, predictor, method, seed)
                for name, extra in (("without", []), ("with", MORE))
            }
            gaps.append(found["with"] - found["without"])
            for name, each in found.items():
                means[name].append(each.mean())
            print(predictor, method, seed, *(f"{each.mean():.4f}" for each in found.values()), flush=True)
        gap = pd.concat(gaps, axis=1).mean(axis=1)
        error = gap.std() / np.sqrt(len(gap))
        cells = [np.mean(means["without"]), np.mean(means["with"]), gap.mean(), error]
        rows.append([predictor, method, *(f"{cell:.4f}" for cell in cells)])
        with RESULTS.open("w", newline="") as file:
            names = ["predictor", "method", "without", "with", "difference", "±"]
            csv.writer(file).writerows([names, *rows])
    print("| predictor | method | without | with | difference |\n" + "|---" * 5 + "|")
    for predictor, method, without, wide, gap, error in rows:
        print(f"| {predictor} | {method} | {without} | {wide} | {float(gap):+.4f} ± {error} |")


if __name__ == "__main__":
    main(sys.argv[1])
