"""Predictors of others: whatever has ``fit`` and ``predict``."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._arrays import Float
from ._frames import header, some
from .errors import TrainingError

#: Places of rows.
Places = NDArray[np.int64]

#: Every predictor of a fold learns from four fifths of the rows.
FOLDS = 5


def is_own(predictor: Any) -> bool:
    """True for what is no name of ours."""
    return not isinstance(predictor, str)


def checked(predictor: Any) -> Any:
    """An object with ``fit`` and ``predict``."""
    missing = [name for name in ("fit", "predict") if not callable(getattr(predictor, name, None))]
    if missing or isinstance(predictor, type):
        lacks = "is a class, not an object" if isinstance(predictor, type) else f"has no `{missing[0]}`"
        raise TrainingError(
            f"predictor is {predictor!r}, which {lacks}: give 'linear', 'mlp' or 'trees', or an object with fit and predict"
        )
    return predictor


def fresh(predictor: Any) -> Any:
    """An unfitted copy."""
    try:
        from sklearn.base import clone

        return clone(predictor, safe=False)
    except ImportError:
        return copy.deepcopy(predictor)


def name_of(predictor: Any) -> str:
    """Module and class."""
    kind = type(predictor)
    return f"{kind.__module__}.{kind.__qualname__}"


def taken(X: Any, rows: Sequence[int] | Places) -> Any:
    """Some rows of a frame or an array, as what they are."""
    at = np.asarray(rows, dtype=np.int64)
    if hasattr(X, "iloc"):
        return X.iloc[at]
    if hasattr(X, "column_names"):
        return X.take(at)
    if hasattr(X, "columns"):
        return X[at.tolist()]
    return X[at] if hasattr(X, "nnz") else np.asarray(X)[at]


def narrowed(X: Any, columns: Sequence[str] | None) -> Any:
    """Of a frame the columns that an object was given, as what they are; an array, or all columns where ``columns`` is ``None``, as it is."""
    there = header(X)
    if columns is None or there is None or there == list(columns):
        return X
    if missing := [name for name in columns if name not in there]:
        raise TrainingError(f"X lacks {some(missing)}, which the predictor was fitted on; it has {some(there)}")
    if isinstance(X, Mapping):
        return {name: X[name] for name in columns}
    return X.select(list(columns)) if hasattr(X, "column_names") else X[list(columns)]


def height(X: Any) -> int:
    """How many rows a frame or an array has."""
    shape = getattr(X, "shape", None)
    if shape is not None:
        return int(shape[0])
    return len(next(iter(X.values()), ())) if isinstance(X, Mapping) else len(X)


def folds(rows: Places, shuffle: bool, seed: int, moments: Places | None = None) -> list[Places]:
    """Rows to leave out in turn: blocks in their order, or drawn by the seed. Where rows have ``moments``, blocks are in the order of these,
    and all rows of one are in the same block."""
    order = np.asarray(rows)
    if shuffle:
        order = np.random.default_rng([seed, 5]).permutation(order)
    elif moments is not None and len(there := np.unique(moments[order])) > 1:
        return [order[np.isin(moments[order], block)] for block in np.array_split(there, min(FOLDS, len(there)))]
    return [np.sort(fold) for fold in np.array_split(order, min(FOLDS, len(order)))]


@dataclass(frozen=True)
class Part:
    """Rows to learn from."""

    X: Any
    y: Float
    #: How much each row counts; ``None`` if all count the same.
    weights: Float | None = None
    #: What is known of them, by name.
    known: Mapping[str, Float] | None = None

    def rows(self, at: Places) -> Part:
        """Some of them."""
        weights = None if self.weights is None else self.weights[at]
        known = None if self.known is None else {name: values[at] for name, values in self.known.items()}
        return Part(taken(self.X, at), self.y[at], weights, known)


class Own:
    """A predictor of others, fitted to training rows, with what it says of rows that it did not see."""

    #: The columns of frames that it is given; ``None`` for all.
    columns: list[str] | None = None

    def __init__(self, predictor: Any, width: int, learn: Callable[[Any, Part, Part], Any] | None = None) -> None:
        self.given = predictor if learn is not None else checked(predictor)
        self.width = width
        #: What makes a fitted predictor of an unfitted one, rows to learn from and rows to choose by; ``None`` for its own ``fit``.
        self._learn = learn
        #: The object that was fitted on all training rows.
        self.fitted: Any = None

    def fit(
        self, part: Part, train: Places, held: Part, shuffle: bool, seed: int, moments: Places | None = None
    ) -> Float:
        """Fits it, and returns a forecast of every row: of training rows by one that was fitted without them."""
        count = len(part.y)
        out = np.empty((count, self.width))
        if len(train) < 2:
            raise TrainingError("1 training row cannot be forecast by what learned from the others: give more rows")
        for fold in folds(train, shuffle, seed, moments):
            rest = np.setdiff1d(train, fold)
            out[fold] = self.predict(taken(part.X, fold), self._on(part.rows(rest), held))
        self.fitted = self._on(part.rows(train), held)
        others = np.setdiff1d(np.arange(count), train)
        if len(others):
            out[others] = self.predict(taken(part.X, others))
        # What trains it knows the rows; what is kept does not.
        self._learn = None
        return out

    def _on(self, part: Part, held: Part) -> Any:
        if self._learn is not None:
            return self._learn(fresh(self.given), part, held)
        truths = part.y[:, 0] if self.width == 1 else part.y
        given = {} if part.weights is None else {"sample_weight": part.weights}
        predictor = fresh(self.given)
        fitted = predictor.fit(part.X, truths, **given)
        # A pipeline returns itself, a network of Keras its history.
        return fitted if callable(getattr(fitted, "predict", None)) else predictor

    def predict(self, X: Any, predictor: Any = None) -> Float:
        """Forecasts, rows × width."""
        rows = height(X)
        if rows == 0:
            return np.zeros((0, self.width))
        asked = self.fitted if predictor is None else predictor
        found = np.asarray(asked.predict(narrowed(X, self.columns)), dtype=np.float64)
        if found.ndim == 0 or len(found) != rows or found.size != rows * self.width:
            hint = (
                ": wrap one that predicts one number in sklearn.multioutput.MultiOutputRegressor"
                if found.size == rows
                else ""
            )
            raise TrainingError(
                f"{name_of(self.given)} predicts the shape {found.shape}, expected ({rows}, {self.width}){hint}"
            )
        shaped = found.reshape(rows, self.width)
        if not np.isfinite(shaped).all():
            raise TrainingError(f"{name_of(self.given)} predicts what is no number")
        return np.ascontiguousarray(shaped)


#: What a run says of a predictor that it does not hold.
FILE = "predictor.json"


def write(
    directory: Path,
    own: Own,
    forecasts: Float,
    order: Sequence[int],
    parts: Sequence[str],
    targets: Sequence[str],
) -> None:
    """The predictor's name, and its forecasts of rows that it did not see: ``predictor.json``, ``forecasts.csv``."""
    told = {
        "name": name_of(own.given),
        "parameters": repr(own.given),
        "order": list(order),
        "columns": own.columns,
        "forecasts": "forecasts.csv",
    }
    (directory / FILE).write_text(json.dumps(told, indent=2) + "\n", encoding="utf-8")
    quoted = ['"' + t.replace('"', '""') + '"' if any(c in t for c in ',"\n') else t for t in targets]
    lines = [",".join(["row", "part", *quoted])]
    for row, (part, numbers) in enumerate(zip(parts, forecasts[:, list(order)])):
        lines.append(",".join([str(row), part, *map(repr, numbers.tolist())]))
    (directory / "forecasts.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")


def read(directory: Path) -> dict[str, Any] | None:
    """What a run says of its predictor, if that is one of others."""
    path = directory / FILE
    if not path.is_file():
        return None
    told: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return told
