"""From a problem and rows in Python to what trains: one way for estimators, comparisons and checks."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike, fspath
from typing import Any

import numpy as np

from . import _regretless
from ._arrays import SYMBOLS, Float
from ._frames import Cells, columns, dense, fits, header, matched, numbers, picked, some, whole
from ._predicted import Predicted, Values, names, resolved
from .errors import RegretlessError, RegretlessWarning, TrainingError
from .problem import Problem, stated_problem
from .quantities import Quantities

#: Settings that may be given beside a problem file: the options of the command line.
OPTIONS = ("K", "batch", "epochs", "layers", "learning_rate", "method", "mix", "warmup")

#: Settings of a problem in memory: where they stand in problem files.
SETTINGS = {
    "K": "surrogate.k",
    "smoothing": "surrogate.smoothing",
    "multipliers": "surrogate.multipliers",
    "predictor": "predictor.kind",
    "layers": "predictor.layers",
    "base": "predictor.base",
    "trees": "predictor.*",
    "target_transform": "predictor.target_transform",
    "dropout": "predictor.dropout",
    "embedding": "predictor.quadratic",
    "method": "training.method",
    "epochs": "training.epochs",
    "batch": "training.batch",
    "learning_rate": "training.learning_rate",
    "schedule": "training.schedule",
    "weight_decay": "training.weight_decay",
    "mix": "training.mix",
    "weights": "training.weights",
    "patience": "training.stop",
    "scenarios": "training.scenarios",
    "risk": "training.risk",
    "infeasible": "training.infeasible",
    "kinds": "data.kinds",
    "features": "data.features",
    "forecasts": "data.forecasts",
    "series": "data.series",
    "time": "data.time",
    "period": "data.period",
    "delay": "data.delay",
    "warmup": "training.warmup",
}


def plain(value: Any) -> Any:
    """Numbers and arrays of NumPy, and other mappings, as JSON knows them."""
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    if isinstance(value, Mapping):
        return dict(value)
    raise TrainingError(f"{value!r} of type {type(value).__name__} is no value of a setting")


def dumped(value: Any) -> str:
    """JSON, with what JSON lacks refused."""
    try:
        return json.dumps(value, default=plain, allow_nan=False)
    except ValueError as error:
        raise TrainingError(f"a setting is not finite: {error}") from None


def sections(settings: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Arguments in the words of problem files; ``None`` is the default."""
    out: dict[str, dict[str, Any]] = {}
    for name, value in settings.items():
        if name not in SETTINGS:
            raise TrainingError(f"there is no setting `{name}`: {', '.join(sorted(SETTINGS))}")
        if value is None:
            continue
        section, key = SETTINGS[name].split(".")
        if name == "trees":
            if not isinstance(value, Mapping):
                raise TrainingError(f"trees is {value!r}: a dict such as {{'depth': 4}}")
            out.setdefault(section, {}).update(value)
            continue
        if name == "patience":
            value = {"patience": value}
        elif name == "scenarios":
            value = {"count": value}
        elif name == "risk" and not isinstance(value, Mapping):
            value = {"cvar": value}
        elif name == "embedding" and not isinstance(value, Mapping):
            value = {"embedding": value}
        out.setdefault(section, {})[key] = value
    return out


#: What is predicted: parameters by name, or quantities.
Predicts = str | Sequence[str] | Quantities | None


def ordered(problem: Problem, predicts: Predicts, word: str = "predicts") -> tuple[list[str], Predicted]:
    """What is predicted as the user names it, and in the order of problem files."""
    predicts = resolved(stated_problem(problem), predicts)
    if isinstance(predicts, Quantities):
        return predicts.names, Predicted(problem, predicts)
    own = names(stated_problem(problem), predicts, word)
    return own, Predicted(problem, sorted(own, key=lambda name: SYMBOLS.index(name) if name in SYMBOLS else 0))


class Features:
    """X as columns: their names, their cells, and for a shared network the selectors of a variable's. A cell that is NaN is missing."""

    def __init__(self, X: Any, problem: Problem, known: Features | None = None) -> None:
        there = header(X)
        self.named = there is not None
        self.names: list[str] = []
        self.shared = False
        self.cells: list[Cells] = []
        self.selectors: list[str] | None = None
        #: True if X may have columns that are no features: those of a problem's file.
        self.lenient = False
        if there is not None:
            wanted = known.names if known is not None and known.named else there
            parts = picked("X", X, wanted, TrainingError, only=known is None or not known.lenient)
            self.names = there if known is None else known.names
            self.cells = [values for _, values in parts]
            for name, values in zip(wanted, self.cells):
                if not isinstance(values, list):
                    whole("X", values[:, np.newaxis], [name], TrainingError, gaps=True)
            self.rows = len(self.cells[0]) if self.cells else len(X)
            self._check((self.rows, len(self.cells)), known)
            return
        array = dense("X", X)
        self.shared = array.ndim == 3 and array.shape[1] == problem.n
        self.names = self._numbered(array, problem) if known is None else known.names
        if self.shared:
            self.selectors = [f"x{j}_{{variable}}" for j in range(array.shape[2])]
            whole("X", array, None, TrainingError, gaps=True)
            array = np.ascontiguousarray(array.reshape(len(array), -1))
        elif array.ndim != 2:
            n = problem.n
            wanted_shape = f"(rows, features), or (rows, {n}, features) for a network shared by all variables"
            hint = ". Reshape your data: X.reshape(-1, 1) for one feature" if array.ndim < 2 else ""
            raise TrainingError(f"Expected 2D array: X has the shape {array.shape}, expected {wanted_shape}{hint}")
        self.rows = len(array)
        self._check(array.shape, known)
        whole("X", array, None, TrainingError, gaps=True)
        self.cells = list(np.ascontiguousarray(array.T))

    @staticmethod
    def _check(shape: tuple[int, ...], known: Features | None) -> None:
        """At least a row and a feature, and as many features as the model has."""
        if shape[0] == 0 or shape[1] == 0:
            what = "sample" if shape[0] == 0 else "feature"
            if known is None or what == "feature":
                raise TrainingError(f"Found array with 0 {what}(s) (shape={shape}) while a minimum of 1 is required.")
        if known is not None and shape[1] != len(known.names):
            raise TrainingError(
                f"X has {shape[1]} features, but DecisionRegressor is expecting {len(known.names)} features as input: "
                f"it was trained on {len(known.names)}"
            )

    @staticmethod
    def _numbered(array: Float, problem: Problem) -> list[str]:
        if array.ndim == 3:
            return [f"x{j}_{variable}" for variable in problem.variables for j in range(array.shape[2])]
        return [f"x{j}" for j in range(array.shape[-1])] if array.ndim else []

    def columns(self) -> list[tuple[str, Cells]]:
        """Names and cells."""
        return list(zip(self.names, self.cells))

    def coded(self, learner: _regretless.Learner, history: Any = None) -> tuple[Float, dict[int, str]]:
        """The rows as a model takes them; levels that it does not know are told in a warning. And rows that look back beyond what the
        model and ``history`` know."""
        return coded("X", learner, self.columns(), self.rows, TrainingError, history)

    def forget(self, learner: _regretless.Learner) -> Features:
        """Keeps the names that the model needs, and no cells."""
        if self.lenient:
            time, series = learner.clock() if learner.looked_back() else (None, [])
            needed = [*json.loads(learner.card())["features"], *series, *([] if time is None else [time])]
            self.names = [name for name in dict.fromkeys(needed) if name in self.names]
        self.cells, self.rows = [], 0
        return self


def coded(
    what: str,
    learner: _regretless.Learner,
    columns: list[tuple[str, Cells]],
    rows: int,
    error: type[RegretlessError],
    history: Any = None,
) -> tuple[Float, dict[int, str]]:
    """Columns as a model takes them; levels that it does not know are told in a warning. And rows that look back beyond what the model
    and ``history``, a frame or the columns of several with the newest last, know."""
    if learner.plain() and history is None:
        found = numbers(what, columns, error)
        return (found if columns else np.zeros((rows, 0))), {}
    features, new, beyond = learner.features(columns, looked_back(history, learner))
    for line in new:
        warnings.warn(line, RegretlessWarning, stacklevel=5)
    return features, dict(beyond)


def looked_back(history: Any, learner: _regretless.Learner) -> list[list[tuple[str, Cells]]]:
    """The columns that features of the past are made of, of no frame, of one, or of several whose columns these are already."""
    if history is None or isinstance(history, list):
        return history or []
    if header(history) is None:
        raise TrainingError("history is no frame: its columns are found by name")
    return [picked("history", history, learner.looked_back(), TrainingError)]


def came_true(
    learner: _regretless.Learner, X: list[tuple[str, Cells]], y: list[tuple[str, Cells]], history: Any
) -> Any:
    """What is known of the past when rows are judged: ``history``, and what came true of the rows before, where the columns are all there."""
    wanted = learner.looked_back()
    if not wanted:
        return history
    there = dict(X) | dict(y)
    own = [[(name, there[name]) for name in wanted]] if set(wanted) <= set(there) else []
    return [*looked_back(history, learner), *own]


def joined(one: Cells, other: Cells, name: str) -> Cells:
    """The cells of a column in two frames, one after the other."""
    if isinstance(one, list) and isinstance(other, list):
        return one + other
    if isinstance(one, list) or isinstance(other, list):
        raise TrainingError(f"X[{name!r}] is text in one of X and validation, and numbers in the other")
    return np.concatenate([one, other])


class Targets:
    """y as rows of predicted numbers in the order of problem files, with the names of frames."""

    def __init__(self, y: Any, layout: Predicted, order: list[str], known: dict[str, list[str]] | None = None) -> None:
        #: Names of the columns, by parameter, where y has names.
        self.names: dict[str, list[str]] = {}
        self.one_axis = False
        given: Values
        if layout.quantities is not None:
            given = self._quantities(y, layout, layout.quantities)
        elif isinstance(y, Mapping) and set(y) <= set(SYMBOLS):
            given = {name: self._named(f"y[{name!r}]", values, name, layout, known) for name, values in y.items()}
        else:
            given = self._whole(y, layout, order, known)
        self.array = layout.flat("y", given)

    def _whole(self, y: Any, layout: Predicted, order: list[str], known: dict[str, list[str]] | None) -> Any:
        if header(y) is not None and len(order) == 1:
            return self._named("y", y, order[0], layout, known)
        if header(y) is not None:
            return self._several(y, layout, order, known or {})
        if y is None:
            raise TrainingError("DecisionRegressor requires y to be passed, but the target y is None")
        array = dense("y", y)
        if array.ndim == 1 and layout.width == 1:
            self.one_axis = True
            array = array[:, np.newaxis]
        whole("y", array, None, TrainingError)
        if array.ndim == 2 and array.shape[1] == layout.width:
            # Side by side, in the order of `predicts`.
            return Predicted(layout.problem, order).parts(array)
        return array

    def _quantities(self, y: Any, layout: Predicted, quantities: Quantities) -> Any:
        """Quantities by their names, by those of their columns, or side by side."""
        if y is None:
            raise TrainingError("DecisionRegressor requires y to be passed, but the target y is None")
        self.one_axis = layout.width == 1 and header(y) is None and np.ndim(y) == 1
        array = quantities.flat("y", y, quantities.shapes)
        return layout.parts(whole("y", array, quantities.columns, TrainingError))

    def _several(self, y: Any, layout: Predicted, order: list[str], known: dict[str, list[str]]) -> Any:
        """One frame for several parameters: a model that was trained on names knows which column is whose."""
        if set(known) != set(order):
            what = f"y is one frame, and {some(order)} are predicted: which column is whose cannot be told"
            raise TrainingError(
                f"{what}. Give a dict of frames, such as y={{{order[0]!r}: frame[[…]], {order[1]!r}: frame[[…]]}}"
            )
        wanted = [column for name in layout.names for column in known[name]]
        self.names = known
        array = whole("y", matched("y", y, wanted, TrainingError, only=True), wanted, TrainingError)
        return layout.parts(array)

    def _named(self, what: str, values: Any, name: str, layout: Predicted, known: dict[str, list[str]] | None) -> Any:
        """A parameter's columns, by name where names say which is whose."""
        if header(values) is None or name not in layout.shapes:
            return values
        wanted, array = layout.named(what, name, values, (known or {}).get(name), TrainingError)
        self.names[name] = wanted
        whole(what, array.reshape(len(array), -1), wanted, TrainingError)
        return array

    def columns(self, layout: Predicted) -> list[str] | None:
        """Names of all targets; ``None`` where they have none."""
        if layout.quantities is not None:
            return layout.quantities.columns
        if set(self.names) != set(layout.names):
            return None
        return [column for name in layout.names for column in self.names[name]]


def known_rows(quantities: Quantities | None, known: Any, X: Any, rows: int) -> Float:
    """What is known of rows: as it is given, or among the columns of the frame X."""
    if quantities is None or not quantities.known:
        if known is not None:
            raise TrainingError("nothing is known by row here: say where it goes, predicts=Quantities(…, known=…)")
        return np.zeros((rows, 0))
    wanted = quantities.known_columns
    there = header(X) if known is None else None
    if there is not None and set(wanted) <= set(there):
        known = X
    array = quantities.known_rows(known, rows)
    return whole("known", array, wanted, TrainingError)


def of_columns(told: Mapping[str, Any], names: Sequence[str], stacklevel: int = 4) -> dict[str, Any]:
    """What a problem file says of columns, as far as a frame has them."""
    if not told:
        return {}
    out = dict(told)
    lacking = [name for name in (*out["series"], out["time"]) if name is not None and name not in names]
    if lacking:
        warnings.warn(
            f"the problem's file says what {some(lacking)} tells of a row, and X has no such column: it is left out",
            RegretlessWarning,
            stacklevel=stacklevel,
        )
        out |= {"series": [name for name in out["series"] if name in names]}
        out |= {"time": out["time"] if out["time"] in names else None}
    out["key"] = out["key"] if out["key"] in names else None
    there = {
        key: [own for own in out.get(key, []) if any(fits(own, name) for name in names)]
        for key in ("exclude", "groups", "baseline")
    }
    kinds = {own: kind for own, kind in out["kinds"].items() if any(fits(own, name) for name in names)}
    return out | there | {"kinds": kinds}


class Rows:
    """Rows of a problem in memory, ready to be learned from."""

    def __init__(
        self,
        problem: Problem,
        predicts: Predicts,
        X: Any,
        y: Any,
        settings: Mapping[str, Any],
        *,
        known: Any = None,
        seed: int = 0,
        split: Callable[..., Mapping[str, Any]] | None = None,
        validation: Sequence[Any] | None = None,
        said: Mapping[str, Any] | None = None,
    ) -> None:
        """``said`` is what is said of columns in place of what the problem's file says."""
        self.order, self.layout = ordered(problem, predicts)
        self.features = Features(X, stated_problem(problem))
        self.targets = Targets(y, self.layout, self.order)
        rows = self.features.rows
        if len(self.targets.array) != rows:
            raise TrainingError(f"inconsistent numbers of samples: X has {rows} rows, y {len(self.targets.array)}")
        if rows == 1:
            raise TrainingError("1 sample cannot be learned from: n_samples=1, some are held out to choose by")
        quantities = self.layout.quantities
        there = known_rows(quantities, known, X, rows)
        X_all, y_all, parts = self.features.cells, self.targets.array, None
        if validation is not None:
            if len(validation) not in (2, 3):
                raise TrainingError("validation is (X, y), or (X, y, known) where something is known by row")
            held = Features(validation[0], problem, self.features)
            true = Targets(validation[1], self.layout, self.order, self.targets.names)
            if held.rows != len(true.array) or not held.rows:
                raise TrainingError(f"validation has {held.rows} rows of X and {len(true.array)} of y")
            told = validation[2] if len(validation) == 3 else None
            of_held = known_rows(quantities, told, validation[0], held.rows)
            X_all = [joined(*pair) for pair in zip(X_all, held.cells, self.features.names)]
            y_all = np.concatenate([y_all, true.array])
            there = np.concatenate([there, of_held])
            parts = ["train"] * rows + ["valid"] * held.rows
        written = sections(settings)
        written.setdefault("predictor", {}).update({"shared": True} if self.features.shared else {})
        written.setdefault("training", {})["seed"] = seed
        own = written.get("data", {})
        if said is None:
            said = of_columns(stated_problem(problem)._columns if self.features.named else {}, self.features.names)
        named = own.get("features") or (None if "forecasts" in own else said.get("features"))
        # Forecasts go by their names.
        told, given = bool(said), self.features.named and written["predictor"].get("kind") == "given"
        if (said or given) and named is None:
            # As in its file: all that is nothing else. What is known and not in X is no feature.
            features = [] if given else self.features.names
            apart = [name for name in (quantities.known_columns if quantities else []) if name not in features]
            said = {key: value for key, value in said.items() if key != "features"}
            said["exclude"] = [*said.get("exclude", []), *apart]
        else:
            named = named or self.features.selectors or self.features.names
        own = dict(said) | own | {"memory": True} | ({} if named is None else {"features": named})
        timed = told and own.get("time") is not None
        written["data"] = own | ({} if split is None else {"split": split(rows, timed)})
        self.features.lenient = told or given
        targets = self.targets.columns(self.layout)
        if both := [name for name in self.features.names if name in (targets or ())]:
            raise TrainingError(f"X and y both have {some(both)}: a feature is known when the decision is taken")
        self.known = Known(problem, self.layout.names, self.order, targets, dumped(written), quantities)
        self.project = self.known.project()
        take, called = taken(self.project, self.layout)
        known_columns = zip(quantities.known_columns if quantities else [], np.ascontiguousarray(there.T))
        self.columns: list[tuple[str, Cells]] = [
            *zip(self.features.names, X_all),
            *zip(called, np.ascontiguousarray(y_all[:, take].T)),
            # What is known may be a feature too.
            *((name, cells) for name, cells in known_columns if name not in self.features.names),
        ]
        self.known.take = take
        self.data = self.project.data(self.columns)
        if parts is not None:
            self.data = self.data.with_parts(parts)

    def forget(self, learner: _regretless.Learner) -> Known:
        """What a model has to know of the rows, and none of them."""
        self.known.features = self.features.forget(learner)
        self.known.names, self.known.one_axis = self.targets.names, self.targets.one_axis
        return self.known


@dataclass
class Known:
    """What a model keeps of the problem and the rows it was trained with."""

    problem: Problem
    #: What is predicted, in the order of problem files and as the user named it.
    predicted: list[str]
    order: list[str]
    targets: list[str] | None
    settings: str
    #: Quantities and what is known by row, where they were told.
    quantities: Quantities | None = None
    #: For each target its place in a flat row of `predicted`.
    take: list[int] = field(default_factory=list)
    features: Features | None = None
    #: Names of y's columns, by parameter.
    names: dict[str, list[str]] = field(default_factory=dict)
    #: True if y had one axis.
    one_axis: bool = False

    def project(self) -> _regretless.Project:
        """The project again."""
        if self.quantities is not None:
            told, inner = self.quantities, self.problem._inner
            if told.of_file and self.problem._statement is not None:
                # In its own words: what several columns add up to has none elsewhere.
                return _regretless.Project.of_statement(self.problem._statement, self.settings)
            return _regretless.Project.of_quantities(inner, told.columns, told.known_columns, told.terms, self.settings)
        return _regretless.Project.of(self.problem._inner, self.predicted, self.targets, self.settings)


def taken(project: _regretless.Project, layout: Predicted) -> tuple[list[int], list[str]]:
    """For each target of a project its place in a flat row of the layout, where blocks of rows come one after the other, and
    its name."""
    parts = project.parts()
    if layout.quantities is not None:
        called = list(dict.fromkeys(column for *_, columns in parts for column in columns))
        own = layout.quantities.columns
        return [own.index(column) for column in called], called
    start, starts = 0, {}
    for name, shape in layout.shapes.items():
        starts[name] = start
        start += int(np.prod(shape))
    places = [starts[symbol] + i for symbol, first, last, _ in parts for i in range(first, last)]
    return places, [column for *_, columns in parts for column in columns]


def of_file(path: str | PathLike[str], table: Any, settings: Mapping[str, Any]) -> tuple[_regretless.Project, Any]:
    """A problem file with options in place of its settings, and the columns of a frame if that is where the rows are."""
    if unknown := [name for name in settings if name not in (*OPTIONS, "seed")]:
        raise TrainingError(
            f"`{unknown[0]}` cannot be given beside a problem file, write it there; here go {', '.join(OPTIONS)}"
        )
    given = {name: value for name, value in settings.items() if value is not None}
    if isinstance(table, (str, PathLike)):
        given["data"] = fspath(table)
        table = None
    frame = None if table is None else columns(table)
    return _regretless.Project.read(fspath(path), dumped(given)), frame
