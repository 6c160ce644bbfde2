"""Orders of a bakery's shops: trees of ours and LightGBM with the loss of a quantile, on the same rows, features and settings.

python bench/learning/bakery.py Bakery_dataset.csv    # writes bench/learning/bakery.csv and prints its table

One model over all series, for each service level and each of four origins that roll by a twelfth of the days: what is before an origin
is learned from (the last 15 % of these days choose the number of rounds), the twelfth of days after it is decided. Lags are of days
before. Costs are relative to the quantile of each series' own past (SAA); the difference is paired over the days.
"""

from __future__ import annotations

import csv
import sys
import time
from pathlib import Path

import lightgbm
import numpy as np
import pandas as pd

import regretless as rl

RESULTS = Path(__file__).with_name("bakery.csv")
LEVELS = (0.1, 0.25, 0.5, 0.75, 0.9)
ORIGINS = (0.6667, 0.75, 0.8333, 0.9167)
TREES = {"depth": 64, "leaves": 31, "min_rows": 20, "rows": 1.0, "l2": 0.0}


def table(path: str) -> tuple[pd.DataFrame, list[str]]:
    """Rows in the order of days, with lags and means of each series' past."""
    data = pd.read_csv(path, index_col=0, parse_dates=["date_short"])
    data = data.sort_values(["shop_no", "product_no", "date_short"])
    past = data.groupby(["shop_no", "product_no"])["demand"]
    for lag in (1, 2, 7, 14):
        data[f"lag{lag}"] = past.shift(lag)
    for days in (7, 28, 91):
        data[f"mean{days}"] = past.transform(
            lambda s, days=days: s.shift(1).rolling(days, min_periods=days // 2).mean()
        )
    data["same_weekday"] = data[["lag7", "lag14"]].mean(axis=1)
    data = data.dropna().sort_values(["date_short", "shop_no", "product_no"]).reset_index(drop=True)
    features = [c for c in data.columns if c not in ("date_short", "demand")]
    data[features] = data[features].astype(float)
    return data, features


def cost(order: np.ndarray, demand: np.ndarray, level: float) -> np.ndarray:
    """A unit short costs the level, one too many the rest."""
    return np.maximum(level * (demand - order), (1.0 - level) * (order - demand))


def ours(train: pd.DataFrame, valid: pd.DataFrame, test: pd.DataFrame, features: list[str], level: float) -> np.ndarray:
    stock = rl.Problem(1, theta=[0.0], soft=[rl.Soft([[1.0]], [0.0], 1.0 - level, under=level)], sense="min")
    model = rl.DecisionRegressor(
        stock, "weighted-l1", predicts="d", predictor="trees", trees=TREES, weights={"over": 1.0 - level, "under": level},
        target_transform="none", epochs=200, patience=20,
    )  # fmt: skip
    x, y = train[features].to_numpy(), train["demand"].to_numpy()
    model.fit(x, y, validation=(valid[features].to_numpy(), valid["demand"].to_numpy()))
    return model.predict(test[features].to_numpy())


def theirs(
    train: pd.DataFrame, valid: pd.DataFrame, test: pd.DataFrame, features: list[str], level: float
) -> np.ndarray:
    params = {"objective": "quantile", "alpha": level, "verbose": -1, "num_threads": 1, "seed": 0}
    data = lightgbm.Dataset(train[features], train["demand"])
    held = lightgbm.Dataset(valid[features], valid["demand"], reference=data)
    stop = lightgbm.early_stopping(20, verbose=False)
    booster = lightgbm.train(params, data, 200, valid_sets=[held], callbacks=[stop])
    return np.asarray(booster.predict(test[features], num_iteration=booster.best_iteration))


def past(train: pd.DataFrame, test: pd.DataFrame, level: float) -> np.ndarray:
    """The quantile of each series' past."""
    found = train.groupby(["shop_no", "product_no"])["demand"].quantile(level)
    return found.reindex(pd.MultiIndex.from_frame(test[["shop_no", "product_no"]])).to_numpy()


def main(path: str) -> None:
    data, features = table(path)
    days = np.sort(data["date_short"].unique())
    rows = []
    for origin in ORIGINS:
        start, end = days[int(origin * len(days))], days[min(int((origin + 1 / 12) * len(days)), len(days) - 1)]
        before = data[data["date_short"] < start]
        cut = np.sort(before["date_short"].unique())
        choose = cut[int(0.85 * len(cut))]
        train, valid = before[before["date_short"] < choose], before[before["date_short"] >= choose]
        test = data[(data["date_short"] >= start) & (data["date_short"] < end)]
        known = pd.MultiIndex.from_frame(test[["shop_no", "product_no"]])
        test = test[known.isin(pd.MultiIndex.from_frame(train[["shop_no", "product_no"]]))]
        for level in LEVELS:
            reference = cost(past(before, test, level), test["demand"].to_numpy(), level).mean()
            by_day = {}
            for name, fit in (("regretless", ours), ("LightGBM", theirs)):
                began = time.perf_counter()
                orders = fit(train, valid, test, features, level)
                seconds = time.perf_counter() - began
                each = pd.Series(cost(orders, test["demand"].to_numpy(), level) / reference)
                by_day[name] = each.groupby(test["date_short"].to_numpy()).mean()
                rows.append([origin, level, name, f"{each.mean():.4f}", f"{seconds:.1f}"])
            gap = by_day["regretless"] - by_day["LightGBM"]
            rows.append([origin, level, "difference", f"{gap.mean():.4f}", f"{gap.std() / np.sqrt(len(gap)):.4f}"])
            print(*rows[-3], *rows[-2][3:], *rows[-1][3:], flush=True)
    with RESULTS.open("w", newline="") as file:
        csv.writer(file).writerows([["origin", "level", "predictor", "cost / SAA", "seconds, of differences ±"], *rows])
    found = pd.DataFrame(rows, columns=["origin", "level", "predictor", "cost", "more"]).astype(
        {"cost": float, "more": float}
    )
    print("| level | regretless | LightGBM | difference | s | s |\n" + "|---" * 6 + "|")
    for level in (*LEVELS, None):
        own = found if level is None else found[found["level"] == level]
        mean = own.groupby("predictor")[["cost", "more"]].mean()
        gaps = own[own["predictor"] == "difference"]
        error = np.sqrt((gaps["more"] ** 2).sum()) / len(gaps)
        cells = [mean.loc["regretless", "cost"], mean.loc["LightGBM", "cost"], mean.loc["difference", "cost"]]
        times = [mean.loc["regretless", "more"], mean.loc["LightGBM", "more"]]
        shown = f"{cells[0]:.4f} | {cells[1]:.4f} | {cells[2]:+.4f} ± {error:.4f} | {times[0]:.0f} | {times[1]:.0f}"
        print(f"| {level or 'mean'} | {shown} |")


if __name__ == "__main__":
    main(sys.argv[1])
