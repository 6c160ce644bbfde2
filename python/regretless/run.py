"""Problem files and run directories of the command line."""

from __future__ import annotations

import json
from collections import Counter
from os import PathLike, fspath
from typing import Any

import numpy as np

from . import _regretless
from ._arrays import Float, floats
from ._decide import decided
from .errors import ProjectError
from .measures import Decisions, told
from .problem import Problem

__all__ = ["Run", "read_problem"]


def read_problem(path: str | PathLike[str]) -> Problem:
    """The problem of a problem file. Predicted parts hold placeholders of their shape; θ is left out if it is predicted.

    >>> import pathlib, tempfile
    >>> import regretless as rl
    >>> text = '''
    ... [problem]
    ... variables = ["wheat", "corn"]
    ... [objective]
    ... linear = { predict = "price_*" }
    ... [[hard]]
    ... name = "land"
    ... rows = [[1.0, 1.0]]
    ... at_most = 8.0
    ... '''
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder) / "farm.toml"
    ...     _ = file.write_text(text)
    ...     farm = rl.read_problem(file)
    >>> farm, farm.variables
    (Problem(max, n=2, 1 at_most), ['wheat', 'corn'])
    >>> farm.solve([3.0, 2.0]).x
    array([8., 0.])
    """
    state, _, _ = _regretless.read_problem(fspath(path))
    return _stated(state)


def _stated(state: dict[str, Any]) -> Problem:
    problem = Problem.__new__(Problem)
    problem.__setstate__(state)
    return problem


class Run:
    """A finished run of ``regretless train``: its model decides here as it does on the command line, bit for bit.

    ``X`` is an array with the model's features in its order, or a data frame (pandas, polars, Arrow) that has them by name, in any
    order and among others. Reading a run executes nothing.
    """

    def __init__(self, directory: str | PathLike[str]) -> None:
        self._directory = fspath(directory)
        (state, name, predicted), self._learner, card, result, epochs = _regretless.read_run(self._directory)
        #: The problem; predicted parts hold placeholders.
        self.problem: Problem = _stated(state)
        #: The problem's name, if its file gives one.
        self.name: str | None = name
        #: The symbols of what is predicted, in the order of the targets.
        self.predicts: list[str] = predicted
        #: What the model file says about itself.
        self.card: dict[str, Any] = json.loads(card)
        #: What training came to: ``result.json``, if it is still there.
        self.result: dict[str, Any] | None = json.loads(result)
        self._epochs: list[dict[str, Any]] = json.loads(epochs)

    @property
    def features(self) -> list[str]:
        """Names of the features, in the model's order."""
        return list(self.card["features"])

    @property
    def targets(self) -> list[str]:
        """Names of the predicted columns, in the model's order."""
        return list(self.card["targets"])

    @property
    def method(self) -> str:
        """The method of the model that was kept."""
        return str(self.card["method"])

    @property
    def summary(self) -> str:
        """What was chosen, over what, by how much."""
        return self._learner.sentence

    def history(self) -> Any:
        """Every epoch of every stage: a pandas frame where pandas is installed, a list of dicts otherwise."""
        rows = [_flat(epoch) for epoch in self._epochs]
        try:
            import pandas  # type: ignore[import-untyped]
        except ImportError:
            return rows
        return pandas.DataFrame(rows)

    def predict(self, X: Any) -> Float:
        """Predicted numbers, one column a target."""
        return self._learner.predict(_columns("X", X, self.features))

    def decide(self, X: Any, *, threads: int | None = None) -> Float:
        """Exact decisions; a row whose prediction has no optimum is NaN, and one warning counts them."""
        return decided(self._learner, _columns("X", X, self.features), threads)

    def evaluate(self, X: Any, y: Any, *, threads: int | None = None) -> Decisions:
        """Decisions judged by the parameters that came true; ``y`` has the targets, by name or in their order."""
        features, truths = _columns("X", X, self.features), _columns("y", y, self.targets)
        if len(truths) != len(features):
            raise ProjectError(f"X has {len(features)} rows, y {len(truths)}")
        return told(Decisions(**self._learner.evaluate(features, truths, threads)), stacklevel=4)

    def __repr__(self) -> str:
        kept = f"{self.method}, {len(self.features)} features → {len(self.targets)} targets"
        return f"Run({self._directory!r}: {kept})"


def _columns(what: str, table: Any, names: list[str]) -> Float:
    """The named columns of a frame, or an array that has as many."""
    header = getattr(table, "column_names", None) or getattr(table, "columns", None)
    if header is None:
        array = floats(what, table)
        if array.ndim != 2 or array.shape[1] != len(names):
            raise ProjectError(f"{what} has the shape {array.shape}, expected (rows, {len(names)}): {_some(names)}")
        return _whole(what, np.ascontiguousarray(array), names)
    counts = Counter(str(name) for name in header)
    if missing := [name for name in names if name not in counts]:
        raise ProjectError(f"{what} lacks {_some(missing)}; it has {_some(list(counts))}")
    if twice := [name for name in names if counts[name] > 1]:
        raise ProjectError(f"{what} has {_some(twice)} more than once")
    return _whole(what, np.column_stack([floats(f"{what}[{name!r}]", table[name]) for name in names]), names)


def _whole(what: str, array: Float, names: list[str]) -> Float:
    bad = np.argwhere(~np.isfinite(array))
    if len(bad):
        row, column = bad[0].tolist()
        raise ProjectError(f"{what} has no number for `{names[column]}` in row {row}: fill in what is missing first")
    return array


def _some(names: list[str]) -> str:
    shown = ", ".join(f"`{name}`" for name in names[:10])
    return shown + (f" and {len(names) - 10} more" if len(names) > 10 else "")


def _flat(epoch: dict[str, Any]) -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in epoch.items():
        if isinstance(value, dict):
            flat |= {f"{key}_{inner}": number for inner, number in value.items()}
        else:
            flat[key] = value
    return flat
