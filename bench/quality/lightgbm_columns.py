"""LightGBM's columns of the scoreboard: forecasts and orders for the rows that it writes out.

regretless benchmark quality --data DIR --only ovens --export rows
python bench/quality/lightgbm_columns.py rows              # writes a file a column beside each rows.csv
regretless benchmark quality --data DIR --only ovens --forecasts rows

Settings are those of nobody who says anything: 200 rounds at most, stopped after 20 without gain on the validation part, one thread.
Errors for scenarios are cross-fitted over five blocks of training rows, and are those of the row's own series. Test rows are looked at for their features alone.
"""

from __future__ import annotations

import sys
from pathlib import Path

import lightgbm
import numpy as np
import pandas as pd

ROUNDS, WAIT, FOLDS = 200, 20, 5


class Rows:
    """A cell: features, what is to be predicted, and the part of each row."""

    def __init__(self, path: Path) -> None:
        table = pd.read_csv(path)
        features = [c for c in table.columns if c[:2] in ("x:", "c:")]
        self.categories = [i for i, c in enumerate(features) if c.startswith("c:")]
        self.x = table[features].to_numpy(float)
        self.y = table[[c for c in table.columns if c.startswith("y:")]].to_numpy(float)
        self.series = table["series"].to_numpy()
        part = table["part"].to_numpy()
        self.train, self.valid, self.test = (np.flatnonzero(part == name) for name in ("train", "valid", "test"))
        width = self.y.shape[1]
        demand = "over:0" in table
        self.over = np.array([table[f"over:{k}"].iloc[0] for k in range(width)]) if demand else None
        self.under = np.array([table[f"under:{k}"].iloc[0] for k in range(width)]) if demand else None
        self.room = table["room"].to_numpy(float)[self.test] if "room" in table else None


def fit(rows: Rows, train: np.ndarray, target: np.ndarray, at: np.ndarray, level: float | None = None) -> np.ndarray:
    """Learns a target from some rows and predicts it at others: the mean, or a quantile."""
    loss = {"objective": "regression"} if level is None else {"objective": "quantile", "alpha": level}
    params = {**loss, "verbose": -1, "num_threads": 1, "seed": 0, "deterministic": True}
    data = lightgbm.Dataset(rows.x[train], target[train], categorical_feature=rows.categories or "auto")
    held = lightgbm.Dataset(rows.x[rows.valid], target[rows.valid], reference=data)
    stop = lightgbm.early_stopping(WAIT, verbose=False)
    booster = lightgbm.train(params, data, ROUNDS, valid_sets=[held], callbacks=[stop])
    return np.asarray(booster.predict(rows.x[at], num_iteration=booster.best_iteration))


def residuals(rows: Rows, k: int) -> np.ndarray:
    """Errors of training rows, each of a model that was trained without the block of the row."""
    errors = []
    for block in np.array_split(rows.train, FOLDS):
        others = np.setdiff1d(rows.train, block)
        errors.append(rows.y[block, k] - fit(rows, others, rows.y[:, k], block))
    return np.concatenate(errors)


def to_fit(orders: np.ndarray, room: np.ndarray | None) -> np.ndarray:
    """Orders, none below 0, scaled to the room there is."""
    orders = np.maximum(orders, 0.0)
    if room is None:
        return orders
    return orders * np.minimum(1.0, room / np.maximum(orders.sum(axis=1), 1e-12))[:, None]


def over_residuals(rows: Rows, point: np.ndarray, errors: list[np.ndarray]) -> np.ndarray:
    """Orders with the least mean cost over point + error of the series, as long as there is room."""
    orders = np.empty_like(point)
    for series in np.unique(rows.series[rows.test]):
        own, past = rows.series[rows.test] == series, rows.series[rows.train] == series
        room = None if rows.room is None else rows.room[own]
        orders[own] = ordered(rows, point[own], [error[past] for error in errors], room)
    return orders


def ordered(rows: Rows, point: np.ndarray, errors: list[np.ndarray], room: np.ndarray | None) -> np.ndarray:
    """A price p of room takes each order to the quantile of its scenarios at (under − p)/(over + under); p makes them fit."""

    def orders(price: np.ndarray) -> np.ndarray:
        each = []
        for k, error in enumerate(errors):
            level = np.clip((rows.under[k] - price) / (rows.over[k] + rows.under[k]), 0.0, 1.0)
            shift = np.where(level > 0.0, np.quantile(error, level), -np.inf)
            each.append(np.maximum(point[:, k] + shift, 0.0))
        return np.column_stack(each)

    free = orders(np.zeros(len(point)))
    if room is None:
        return free
    low, high = np.zeros(len(point)), np.full(len(point), rows.under.max())
    for _ in range(50):
        middle = (low + high) / 2
        small = orders(middle).sum(axis=1) <= room
        low, high = np.where(small, low, middle), np.where(small, middle, high)
    return np.where((free.sum(axis=1) <= room)[:, None], free, orders(high))


def columns(rows: Rows) -> dict[str, np.ndarray]:
    """What each column predicts for the test rows."""
    width = rows.y.shape[1]

    def point(target: np.ndarray) -> np.ndarray:
        return np.column_stack([fit(rows, rows.train, target[:, k], rows.test) for k in range(width)])

    mean = point(rows.y)
    if rows.over is None:
        found = {"LightGBM l2": mean}
        if rows.y.min() > 0.0:
            found["LightGBM l2 of log c"] = np.exp(point(np.log(rows.y)))
        return found
    levels = rows.under / (rows.over + rows.under)
    quantile = np.column_stack([fit(rows, rows.train, rows.y[:, k], rows.test, levels[k]) for k in range(width)])
    errors = [residuals(rows, k) for k in range(width)]
    end = "" if rows.room is None else " to fit"
    return {
        f"LightGBM l2{end}": to_fit(mean, rows.room),
        f"LightGBM quantile{end}": to_fit(quantile, rows.room),
        "LightGBM + residuals": over_residuals(rows, mean, errors),
    }


def main(folder: str) -> None:
    """Does what is not there yet."""
    for path in sorted(Path(folder).glob("*/*/*/rows.csv")):
        if any(path.parent.glob("LightGBM*.csv")):
            continue
        rows = Rows(path)
        for name, predicted in columns(rows).items():
            table = pd.DataFrame(predicted, columns=[f"y:{k}" for k in range(predicted.shape[1])])
            table.to_csv(path.with_name(f"{name}.csv"), index=False)
        print(path.parent, flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
