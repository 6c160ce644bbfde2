"""Problem files and run directories of the command line."""

from __future__ import annotations

import json
from collections.abc import Sequence
from math import prod
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _own, _regretless
from ._arrays import Float, Sparse
from ._beside import given_rows
from ._decide import decided, judged, predicted
from ._frames import dense, header, matched, picked, some, some_columns, whole
from ._project import came_true, coded
from ._shown import listed, table
from ._told import Candidate, Card, Epoch, Outcome, flat, learning_curve
from .compare import axes, frame
from .errors import ProjectError
from .measures import Decisions
from .problem import Problem

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

__all__ = ["Run", "read_problem"]


def read_problem(path: str | PathLike[str]) -> Problem:
    """The problem of a problem file. Predicted parts hold placeholders of their shape; θ is left out if all of it is predicted. What ``[data]``
    says of columns (features, series, time, key, baseline) is what ``DecisionRegressor`` does with a frame unless it is told otherwise.

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
    state, _, parts, told, placed, words, data = _regretless.Project.read(fspath(path), "{}").stated()
    problem = _stated(state, parts, told, placed, words, data)
    problem.file = str(Path(path).absolute())
    return problem


def _stated(
    state: dict[str, Any],
    parts: Sequence[tuple[str, int, int, list[str]]],
    told: Any,
    placed: set[str],
    words: str | None,
    data: str | None,
) -> Problem:
    """The problem of a file, which knows what is predicted of it and what is known by row."""
    for kind in ("soft", "at_most", "equal"):
        state[kind] = [(name, _matrix(rows), *sides) for name, rows, *sides in state[kind]]
    problem = Problem.__new__(Problem)
    problem.__setstate__(state | {"Q": _matrix(state["Q"])})
    declared: dict[str, list[str]] = {symbol: [] for symbol, *_ in parts}
    for symbol, first, last, columns in parts:
        declared[symbol] += columns if len(columns) == last - first else []
    widths = {symbol: sum(last - first for name, first, last, _ in parts if name == symbol) for symbol in declared}
    if all(width == prod(problem.shapes[symbol]) for symbol, width in widths.items()):
        problem._declared = declared
    problem._told, problem._placeholders, problem._statement = told, placed, words
    problem._columns = json.loads(data) if data is not None else {}
    return problem


def _matrix(told: Any) -> Any:
    """A sparse matrix is told by its coefficients."""
    return Sparse(*told) if isinstance(told, tuple) else told


class Run:
    """A finished run of ``regretless train`` or ``DecisionRegressor.save``: it decides here as on the command line, bit for bit.

    It pickles by its path, with the ``predictor`` that it was given. ``X`` is an array with the model's features in its order, or a data frame (pandas, polars, Arrow) that has them by name, in any
    order and among others. Reading a run executes nothing: it holds text, JSON and numbers, and no pickles. Where the predictor was an
    object of the user's, the fitted object is asked for again: ``Run(directory, predictor=object)``; X is then what it predicts from.
    """

    def __init__(self, directory: str | PathLike[str], *, predictor: Any = None) -> None:
        #: Where it is.
        self.directory: Path = Path(directory)
        #: What the run says of a predictor that is not ours: its name and parameters.
        self.own: dict[str, Any] | None = _own.read(self.directory)
        self._predictor = predictor
        (state, name, parts, told, placed, words, data), self._learner = _regretless.read_run(fspath(directory))
        #: The problem; predicted parts hold placeholders.
        self.problem: Problem = _stated(state, parts, told, placed, words, data)
        #: The problem's name, if its file gives one.
        self.name: str | None = name
        #: The symbols of what is predicted, in the order of the targets.
        self.predicts: list[str] = [symbol for symbol, *_ in parts]
        #: What the model file says about itself.
        self.card: Card = json.loads(self._learner.card())
        #: What training came to, if it was trained to its end.
        self.result: Outcome | None = json.loads(self._learner.outcome())
        #: Every epoch of every stage.
        self.epochs: list[Epoch] = flat(self._learner.epochs())

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
        return self.card["method"]

    @property
    def summary(self) -> str:
        """What was chosen, over what, by how much."""
        return self.result["sentence"] if self.result else ""

    @property
    def candidates(self) -> list[Candidate]:
        """Everything that was trained on the way, with its measures on validation."""
        return self.result["tried"] if self.result else []

    def history(self) -> DataFrame:
        """Every epoch of every stage as a pandas frame; ``epochs`` has the same as dicts."""
        return frame(self.epochs)

    def predict(self, X: Any = None, *, forecasts: Any = None, history: Any = None) -> Float:
        """Predicted numbers, one column a target. ``forecasts`` and ``history`` are those of :meth:`decide`."""
        return predicted(self._learner, *self._features(self._beside(X, forecasts), history))

    @property
    def known(self) -> list[str]:
        """Names of the columns that are known by row, in the model's order."""
        return list(self.card.get("known", []))

    def decide(
        self,
        X: Any = None,
        *,
        forecasts: Any = None,
        known: Any = None,
        history: Any = None,
        threads: int | None = None,
    ) -> Float:
        """Exact decisions; a row whose prediction has no optimum is NaN, and one warning counts them. What is known of the rows is in the
        frame ``X``, or in ``known``. Where features are made of the past, ``history`` is a frame with what came true since training:
        time, series and what is looked back at. A run that was trained with ``forecasts`` decides for those of the new rows, a file or a
        frame (``docs/forecasts.md``); X may be ``None`` then."""
        X = self._beside(X, forecasts)
        features, beyond = self._features(X, history)
        return decided(self._learner, features, self._known(X, known, len(features)), threads, beyond)

    def _known(self, X: Any, known: Any, rows: int) -> Float:
        if not self.known:
            return np.zeros((rows, 0))
        if known is None and header(X) is None:
            raise ProjectError(
                f"{some(self.known)} are known by row: give them as `known`, or X as a frame that has them"
            )
        found = _columns("known", X if known is None else known, self.known)
        if len(found) != rows:
            raise ProjectError(f"X has {rows} rows, known {len(found)}")
        return found

    def evaluate(
        self,
        X: Any,
        y: Any,
        *,
        forecasts: Any = None,
        known: Any = None,
        baseline: Any = None,
        history: Any = None,
        groups: str | Sequence[str] | None = None,
        importance: bool = False,
        threads: int | None = None,
    ) -> Decisions:
        """Decisions judged by the parameters that came true; ``y`` has the targets, by name or in their order. ``baseline`` are decisions
        that were taken, a row each in the order of the variables, by default the columns of X or y that ``data.baseline`` of the run
        names: ``account`` of what comes back compares with them. Features of the past are made of what came true before each row, here
        and in ``history``; a row that looks back further has no decision. ``groups`` are columns of X by which ``account`` is told
        apart, such as a region; those of the problem's file unless said. With ``importance`` it says what
        each feature is worth, too: how much dearer decisions get with its column shuffled."""
        truths = _columns("y", y, self.targets)
        X = self._beside(X, forecasts)
        if self._learner.looked_back():
            X_there, y_there = some_columns(X), list(zip(self.targets, np.ascontiguousarray(truths.T)))
            history = came_true(self._learner, X_there + some_columns(y), y_there, history)
        features, beyond = self._features(X, history)
        if len(truths) != len(features):
            raise ProjectError(f"X has {len(features)} rows, y {len(truths)}")
        there = self._known(X, known, len(features))
        columns = some_columns(y) + some_columns(X)
        return judged(
            self._learner,
            features,
            truths,
            there,
            columns,
            baseline,
            self.problem.n,
            threads,
            beyond,
            groups,
            importance,
        )

    def _beside(self, X: Any, forecasts: Any) -> Any:
        return given_rows(X, forecasts, self.features, ProjectError)

    def _features(self, X: Any, history: Any = None) -> tuple[Float, dict[int, str]]:
        if self.own is None:
            return features_of("X", X, self, history)
        if self._predictor is None:
            raise ProjectError(
                f"the forecasts of this run come from {self.own['name']}, which it does not hold: give it, fitted, as "
                f"Run({str(self.directory)!r}, predictor=object)"
            )
        forecasts = np.asarray(self._predictor.predict(_own.narrowed(X, self.own.get("columns"))), dtype=np.float64)
        found = _columns("forecasts", forecasts.reshape(len(forecasts), -1), self.features)
        return np.ascontiguousarray(found[:, self.own["order"]]), {}

    def report(self, directory: str | PathLike[str]) -> Path:
        """Writes the page that ``regretless report`` writes into a folder; where it is."""
        return Path(_regretless.report([fspath(self.directory)], fspath(directory)))

    def plot(self, ax: Axes | None = None) -> Axes:
        """The regret on validation by epoch, a line a stage, with matplotlib."""
        drawn: Axes = learning_curve(self.epochs, axes(ax))
        return drawn

    def __reduce__(self) -> tuple[Any, tuple[str, Any]]:
        return _opened, (str(self.directory.absolute()), self._predictor)

    def __repr__(self) -> str:
        kept = f"{self.method}, {len(self.features)} features → {len(self.targets)} targets"
        return f"Run({str(self.directory)!r}: {kept})"

    def _repr_html_(self) -> str:
        facts = {
            "run": str(self.directory),
            "problem": self.name,
            "method": self.method,
            "features": listed(self.features),
            "targets": listed(self.targets),
            "summary": self.summary,
        }
        return table([{"": key, " ": value} for key, value in facts.items() if value])


def _opened(directory: str, predictor: Any) -> Run:
    """A run that was pickled."""
    return Run(directory, predictor=predictor)


def features_of(what: str, X: Any, run: Run, history: Any = None) -> tuple[Float, dict[int, str]]:
    """The model's features in a frame by name, or in an array that has as many, as the model takes them; and rows that look back beyond
    what is known."""
    if header(X) is not None:
        lags: Any = run.card.get("lags") or {"features": [], "series": []}
        own = run.features[: len(run.features) - len(lags["features"])]
        told_by = [*lags["series"], *([lags["time"]] if "time" in lags else [])]
        columns = picked(what, X, [*own, *(name for name in told_by if name not in own)], ProjectError)
        for name, cells in columns:
            if not isinstance(cells, list):
                whole(what, cells[:, np.newaxis], [name], ProjectError, gaps=True)
        rows = len(columns[0][1]) if columns else len(X)
        return coded(what, run._learner, columns, rows, ProjectError, history)
    if not run._learner.plain():
        raise ProjectError(
            f"{what} is no frame, and the model has features that are no numbers: give a frame with {some(run.features)}"
        )
    return _columns(what, X, run.features, gaps=True), {}


def _columns(what: str, values: Any, names: list[str], *, gaps: bool = False) -> Float:
    """The named columns of a frame, or an array that has as many."""
    if header(values) is not None:
        return whole(what, matched(what, values, names, ProjectError), names, ProjectError)
    array = dense(what, values)
    if array.ndim == 1 and len(names) == 1:
        array = array[:, np.newaxis]
    if array.ndim != 2 or array.shape[1] != len(names):
        raise ProjectError(f"{what} has the shape {array.shape}, expected (rows, {len(names)}): {some(names)}")
    return whole(what, np.ascontiguousarray(array), names, ProjectError, gaps=gaps)
