"""Methods side by side, and problems checked before anything is trained."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np

from . import _regretless
from ._own import is_own
from ._own_rows import forecast
from ._project import Predicts, Rows, of_file
from ._shown import table
from ._told import Record, records
from .errors import TrainingError
from .problem import Problem

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

__all__ = ["Check", "Comparison", "Finding", "Row", "Test", "check", "compare"]

#: Seeds, unless they are said.
SEEDS = 3

#: Where rows are: a frame, (X, y), a file, or nothing where a problem file names a table.
Table = Any


class _Beside(TypedDict, total=False):
    """Where the file names decisions that others took."""

    advantage: float


class Row(_Beside):
    """A method over all seeds; ``achieved`` is the mean gain or cost of a decision, ``advantage`` what it is worth in place of the baseline's."""

    method: str
    regret: float
    achieved: float | None
    std: float | None
    interval: tuple[float, float] | None
    relative: float | None
    ratio: float | None
    p_two_stage: float | None
    p_value: float | None
    wilcoxon: float | None
    cvar90: float
    violation: float
    mse: float
    mae: float
    zero_gradients: float | None
    seconds: float
    seeds: int
    best: bool
    undecided: int
    note: str | None


@dataclass(frozen=True)
class Test:
    """The tests of a method: two-sided p, ``None`` where there is too little to test by.

    ``two_stage`` is the paired t-test against the best method that does not look at decisions, ``next`` the one against the best other
    method, ``wilcoxon`` Wilcoxon's signed-rank test against that one.
    """

    method: str
    two_stage: float | None
    next: float | None
    wilcoxon: float | None


class Comparison:
    """Methods side by side: ``rows`` and ``frame()`` have the table, ``tests`` the p-values, ``records`` every training."""

    def __init__(self, inner: _regretless.Comparison) -> None:
        self._inner = inner
        told = json.loads(inner.json())
        #: The table, in the order of the methods.
        self.rows: list[Row] = told["rows"]
        #: The problem's name, if it has one.
        self.problem: str | None = told["problem"]
        #: The part that was judged on: ``test``, or ``validation`` where there is none.
        self.judged_on: str = told["judged_on"]
        #: What the tests pair: ``seeds`` or ``instances``.
        self.paired_over: str = told["paired_over"]
        #: What to know about the data, and what not to trust unseen.
        self.notes: list[str] = told["notes"]
        self.warnings: list[str] = told["warnings"]

    @property
    def records(self) -> list[Record]:
        """Every training: method, seed, epochs, measures, regrets of the rows."""
        return records(self._inner.records())

    @property
    def best(self) -> str:
        """The method with the lowest regret."""
        return next(row["method"] for row in self.rows if row["best"])

    @property
    def tests(self) -> list[Test]:
        """The tests of every method."""
        return [Test(r["method"], r["p_two_stage"], r["p_value"], r["wilcoxon"]) for r in self.rows]

    def frame(self) -> DataFrame:
        """The table as a pandas frame, a row a method."""
        return frame(self.rows).set_index("method")

    def plot(self, ax: Axes | None = None) -> Axes:
        """Mean regrets with their 95 % intervals, with matplotlib."""
        ax = axes(ax)
        rows = self.rows[::-1]
        regrets = np.array([row["regret"] for row in rows], dtype=np.float64)
        ends = np.array([row["interval"] or (row["regret"],) * 2 for row in rows], dtype=np.float64)
        errors = np.abs(ends - regrets[:, np.newaxis]).T
        colours = ["C1" if row["best"] else "C0" for row in rows]
        places = np.arange(len(rows))
        ax.errorbar(regrets, places, xerr=errors, fmt="none", ecolor="0.6", zorder=1)
        ax.scatter(regrets, places, c=colours, zorder=2)
        ax.set_yticks(places, [row["method"] for row in rows])
        ax.set_xlabel(f"mean regret on {self.judged_on}, 95 % interval")
        return ax

    def save(self, directory: str | PathLike[str]) -> Path:
        """Writes what ``regretless compare --out`` writes: the page, its charts and ``comparison.json``; where the page is."""
        return Path(self._inner.write(fspath(directory)))

    def report(self, directory: str | PathLike[str]) -> Path:
        """The same as :meth:`save`."""
        return self.save(directory)

    def __repr__(self) -> str:
        seeds = self.rows[0]["seeds"]
        return f"Comparison({len(self.rows)} methods, {seeds} seeds, judged on {self.judged_on}: {self.best} is best)"

    def _repr_html_(self) -> str:
        shown = ("method", "regret", "std", "ratio", "p_two_stage", "p_value", "seconds")
        return table([{key: row[key] for key in shown} for row in self.rows])  # type: ignore[literal-required]


def compare(
    problem: Problem | str | PathLike[str],
    data: Table = None,
    methods: str | Sequence[str] | None = None,
    seeds: int | Sequence[int] | None = None,
    *,
    folds: int | None = None,
    predicts: Predicts = None,
    validation: float = 0.2,
    test: float = 0.2,
    shuffle: bool = True,
    progress: Callable[[int, int, str, int, float], Any] | None = None,
    threads: int | None = None,
    **settings: Any,
) -> Comparison:
    """Trains every method with every seed and judges them on the same rows, as ``regretless compare`` does.

    ``problem`` is a :class:`Problem` with ``data=(X, y)`` (``(X, y, known)`` where something is known by row), as :class:`DecisionRegressor` takes them, and its settings as ``settings``. Or it
    is a problem file, or what ``read_problem`` made of one, and ``data`` a frame with the columns that the file names, a table's path,
    or nothing where the file names one; ``settings`` then take the place of the file's.

    With an object as ``predictor`` it is fitted once, and methods are what is done with its forecasts: ``l2`` (as they are),
    ``l2+scenarios``, ``auto``.

    ``methods`` are all that say something about the problem unless they are named. ``seeds`` is a number of them, from the problem's own on, or
    a list; three unless said, one for an object. ``progress(trials, done, method, seed, regret)`` is called after every training, from whatever thread it was done in.

    ``folds`` are rolling origins in place of seeds, as ``regretless compare --folds`` has them: at so many moments, from 3 on, methods are trained on what
    was before and judged on what came next, and tests pair the moments. Rows are in the order of ``time``, or of the table.

    >>> import numpy as np, regretless as rl
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 3))
    >>> y = X @ rng.normal(size=(3, 4)) + 5.0
    >>> plan = rl.Problem(4, A=[[1.0, 2.0, 1.0, 3.0]], b=10.0, upper=4.0)
    >>> found = rl.compare(plan, (X, y), ["l2", "spo+"], seeds=1, predictor="linear", epochs=5)
    >>> [row["method"] for row in found.rows]                  # constant is always there to compare with
    ['constant', 'l2', 'spo+']
    """
    if folds is not None:
        if seeds is not None:
            raise TrainingError("folds or seeds, not both: each moment has a seed of its own")
        if isinstance(folds, bool) or not isinstance(folds, int) or not 3 <= folds <= 100:
            raise TrainingError(f"folds is {folds!r}: a whole number from 3 to 100")
        if is_own(settings.get("predictor", "")):
            raise TrainingError("an object is fitted once, with one split: leave out folds")
        shuffle = False
    project, known, _, chosen = prepared(problem, data, seeds, predicts, validation, test, shuffle, settings)
    return Comparison(_regretless.Comparison.of(project, known, named(methods), chosen, folds, progress, threads))


def named(methods: str | Sequence[str] | None) -> list[str] | None:
    """One method may be named as it is."""
    return [methods] if isinstance(methods, str) else None if methods is None else list(methods)


def prepared(
    problem: Problem | str | PathLike[str],
    data: Table,
    seeds: int | Sequence[int] | None,
    predicts: Predicts,
    validation: float,
    test: float,
    shuffle: bool,
    settings: dict[str, Any],
) -> tuple[_regretless.Project, _regretless.Data, bool, list[int]]:
    """What is compared: the problem with its settings, the rows, whether no file holds them, and the seeds."""
    file = problem_file(problem, data)
    if file is not None:
        project, rows = of_file(file, data, settings)
        known = project.data(rows)
    elif is_own(settings.get("predictor", "")):
        return compared_own(problem, data, seeds, predicts, validation, test, shuffle, settings)
    seeds = SEEDS if seeds is None else seeds
    if file is None:
        X, y, there = pair(data)
        kind = "random" if shuffle else "chronological"
        split = {"kind": kind, "valid": validation, "test": test}
        first = 0 if isinstance(seeds, int) or not len(seeds) else int(seeds[0])
        made = Rows(problem, predicts, X, y, settings, known=there, seed=first, split=lambda *_: split)  # type: ignore[arg-type]
        project, known = made.project, made.data
    chosen = [project.seed + i for i in range(seeds)] if isinstance(seeds, int) else [int(seed) for seed in seeds]
    if len(set(chosen)) < len(chosen):
        raise TrainingError(
            f"seeds has {next(s for s in chosen if chosen.count(s) > 1)} twice: the same training, counted twice"
        )
    return project, known, file is None or rows is not None, chosen


def compared_own(
    problem: Any,
    data: Table,
    seeds: int | Sequence[int] | None,
    predicts: Predicts,
    validation: float,
    test: float,
    shuffle: bool,
    settings: dict[str, Any],
) -> tuple[_regretless.Project, _regretless.Data, bool, list[int]]:
    """A predictor of others, fitted once: its forecasts are the rows that are compared on."""
    chosen = list(range(seeds)) if isinstance(seeds, int) else [0] if seeds is None else [int(seed) for seed in seeds]
    if len(chosen) != 1:
        raise TrainingError("an object is fitted once, with one split: give one seed; tests then pair rows")
    X, y, there = pair(data)
    split = {"kind": "random", "valid": validation, "test": test}
    made = forecast(problem, predicts, X, y, settings, chosen[0], lambda _: shuffle, lambda *_: split, known=there)
    return made.rows.project, made.data, True, chosen


def problem_file(problem: Any, data: Table) -> str | None:
    """The file behind a problem, if there is one and it says where in ``data`` the rows are."""
    if isinstance(problem, (str, PathLike)):
        return fspath(problem)
    return problem.file if isinstance(problem, Problem) and not isinstance(data, (tuple, list)) else None


def pair(data: Any) -> tuple[Any, Any, Any]:
    """X and y, and what is known by row."""
    if isinstance(data, (tuple, list)) and len(data) in (2, 3):
        return data[0], data[1], data[2] if len(data) == 3 else None
    raise TrainingError(
        "data of a problem in memory are a pair (X, y), or (X, y, known); a problem file names the columns of one frame"
    )


class Finding(TypedDict):
    """One check: what was checked, ``ok``, ``warning``, ``failed`` or ``skipped``, and why."""

    check: str
    verdict: str
    detail: str


@dataclass(frozen=True)
class Check:
    """What can be found out about a problem before anything is trained; true if nothing failed."""

    passed: bool
    instances: int
    checks: list[Finding] = field(repr=False)
    #: Penalties, certificates and gradients as ``regretless check --format json`` prints them.
    details: dict[str, Any] = field(repr=False)

    def __bool__(self) -> bool:
        return self.passed

    @property
    def troubles(self) -> list[Finding]:
        """What failed or should be looked at."""
        return [finding for finding in self.checks if finding["verdict"] in ("failed", "warning")]

    def frame(self) -> DataFrame:
        """The checks as a pandas frame."""
        return frame(self.checks)

    def __str__(self) -> str:
        return "\n".join(f"{f['verdict']:8} {f['check']}: {f['detail']}" for f in self.checks)

    def _repr_html_(self) -> str:
        return table(self.checks)


def check(
    problem: Problem | str | PathLike[str],
    data: Table = None,
    *,
    predicts: Predicts = None,
    **settings: Any,
) -> Check:
    """Looks at a problem and its data as ``regretless check`` does: features, missing cells, leaks, optima, penalties, gradients.

    ``problem`` and ``data`` are those of :func:`compare`.

    >>> import numpy as np, regretless as rl
    >>> X = np.linspace(0.0, 1.0, 60).reshape(-1, 1)
    >>> y = np.hstack([1.0 + X, 2.0 - X])
    >>> found = rl.check(rl.Problem(2, A=[[1.0, 1.0]], b=1.0), (X, y))
    >>> found.passed, found.instances
    (True, 60)
    """
    file = problem_file(problem, data)
    if file is not None:
        project, rows = of_file(file, data, settings)
    else:
        if header_only(data):
            raise TrainingError("a frame alone does not say what is predicted: give (X, y), or a problem file")
        X, y, there = pair(data)
        made = Rows(problem, predicts, X, y, settings, known=there)  # type: ignore[arg-type]
        project, rows = made.project, made.columns
    told: dict[str, Any] = json.loads(project.check(rows))
    return Check(told.pop("passed"), told.pop("instances"), told.pop("checks"), told)


def header_only(data: Any) -> bool:
    """True for a frame in place of a pair."""
    return not isinstance(data, (tuple, list)) and hasattr(data, "columns")


def frame(rows: Sequence[Any]) -> DataFrame:
    """Rows as a pandas frame."""
    try:
        import pandas
    except ImportError as error:
        raise ImportError("a frame needs pandas: pip install pandas; without it there are the rows as dicts") from error
    return pandas.DataFrame(list(rows))


def axes(ax: Any) -> Any:
    """Axes to draw on."""
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError("plots need matplotlib: pip install matplotlib") from error
    return pyplot.subplots(layout="constrained")[1]
