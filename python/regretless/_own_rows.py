"""Rows whose features are forecasts: what an object of the user's is given of a frame, and what its forecasts are told of."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from . import _regretless
from ._arrays import Float
from ._frames import Cells, cells, column, distinct, fits, header, some
from ._own import Own, Part, Places, height, narrowed
from ._own_decisions import decision_method, learner
from ._project import Predicts, Rows, Targets, joined, known_rows, of_columns, ordered
from .errors import TrainingError
from .problem import Problem, stated_problem

#: Settings of an object's own training on decisions, which its forecasts have no use for.
OF_TRAINING = ("epochs", "batch", "learning_rate", "patience", "weight_decay", "warmup")

#: Settings of features that forecasts have no use for: the object has them.
OF_FEATURES = ("features", "kinds")


@dataclass(frozen=True)
class Seen:
    """What a frame's columns are to an object and to its forecasts."""

    #: What the object is given; ``None`` for all of X.
    columns: list[str] | None
    #: What stands beside its forecasts: series, time, groups, and what others decided.
    context: list[str]
    time: str | None
    #: What is said of the context.
    told: dict[str, Any]

    @staticmethod
    def of(X: Any, words: Mapping[str, Any], settings: Mapping[str, Any], targets: Sequence[str]) -> Seen:
        """By the words of the problem's file and the settings, which come first."""
        if header(X) is None:
            if settings.get("features"):
                raise TrainingError("features names columns, and X has no names: give a frame")
            return Seen(None, [], None, {})
        there = distinct("X", X, TrainingError)
        told = of_columns(words, there, stacklevel=6)
        asked = settings.get("features") or told.get("features")
        baseline = [name for name in there if any(fits(own, name) for own in told.get("baseline", []))]
        apart = [name for name in there if any(fits(own, name) for own in told.get("exclude", []))]
        hidden = {*baseline, *apart, told.get("key")}
        columns = [name for name in (there if asked is None else selected(asked, there)) if name not in hidden]
        if both := [name for name in columns if name in targets]:
            raise TrainingError(f"X and y both have {some(both)}: a feature is known when the decision is taken")
        if not columns:
            raise TrainingError(f"no column of X is left for the predictor to learn from; it has {some(there)}")
        series = settings.get("series") or told.get("series") or []
        time = settings.get("time") or told.get("time")
        marks = {*([series] if isinstance(series, str) else series), time, *told.get("groups", []), *baseline}
        context = [name for name in there if any(mark is not None and fits(mark, name) for mark in marks)]
        if told:
            # What is said of features, the object has no use for.
            told = {name: value for name, value in told.items() if name not in (*OF_FEATURES, "missing")}
            told |= {"exclude": [], "key": None}
        return Seen(None if columns == there else columns, context, time if time in there else None, told)

    def beside(self, X: Any, held: Any) -> dict[str, Cells]:
        """The context of rows, and of rows to choose by behind them."""
        found = {name: of_frame(X, name) for name in self.context}
        if held is None:
            return found
        if missing := [name for name in found if name not in (header(held) or [])]:
            raise TrainingError(f"X of validation lacks {some(missing)}")
        return {name: joined(values, of_frame(held, name), name) for name, values in found.items()}


def selected(asked: Sequence[str], there: Sequence[str]) -> list[str]:
    """The columns that ``features`` names."""
    found: dict[str, None] = {}
    for own in asked:
        names = [name for name in there if fits(own, name)]
        if not names:
            past = own.replace(" ", "").startswith(("lag(", "mean("))
            hint = ": an object is given columns as they are, make one of the past before" if past else ""
            raise TrainingError(f"features names `{own}`, which is no column of X{hint}; it has {some(there)}")
        found |= dict.fromkeys(names)
    return list(found)


def of_frame(X: Any, name: str) -> Cells:
    """A frame's column."""
    there = header(X) or []
    return cells(column(X, there, there.index(name)))


def moments_of(X: Any, time: str | None) -> Places | None:
    """For each row the place of its time among all times; ``None`` where these cannot be told, and rows stand in their order."""
    if time is None:
        return None
    values: Any = of_frame(X, time)
    if isinstance(values, list):
        try:
            values = np.array([dated(value) for value in values], dtype="datetime64[ns]")
        except ValueError:
            return None
    return None if np.isnan(values).any() else np.unique(values, return_inverse=True)[1].astype(np.int64)


def dated(text: str) -> str:
    """A date as NumPy reads it: 01.06.2018 is 2018-06-01."""
    day, *rest = text.split(".")
    return "-".join([rest[1], rest[0], day]) if len(rest) == 2 and len(rest[1]) == 4 else text


def placed(count: int, drawn: np.random.Generator | None, moments: Places | None, end: int) -> Places:
    """For each row its place, by which it is held out: drawn, or as it stands, or by its moment, all rows of which have the same place."""
    place = np.arange(count)
    if drawn is not None:
        place[drawn.permutation(count)] = np.arange(count)
    elif moments is not None:
        by_moment = np.searchsorted(np.sort(moments), moments)
        # A moment that is longer than what is held out would leave nothing.
        place = by_moment if (by_moment >= end).any() else place
    return place


@dataclass
class Forecast:
    """Rows whose features are the forecasts of an object of the user's."""

    rows: Rows
    data: _regretless.Data
    own: Own
    forecasts: Float
    #: The part of every row.
    parts: list[str]


def forecast(
    problem: Problem,
    predicts: Predicts,
    X: Any,
    y: Any,
    settings: Mapping[str, Any],
    seed: int,
    shuffle: Callable[[bool], bool],
    split: Callable[..., Mapping[str, Any]],
    *,
    known: Any = None,
    weigh: Callable[[int], Float] | None = None,
    validation: Sequence[Any] | None = None,
) -> Forecast:
    """Fits the object in ``settings["predictor"]``: training rows are forecast out of fold, others by what learned from all of those."""
    order, layout = ordered(problem, predicts)
    quantities = layout.quantities
    learn = learner(settings["predictor"], layout, settings, seed)
    own = Own(settings["predictor"], layout.width, learn)
    targets = Targets(y, layout, order)
    names = targets.columns(layout)
    seen = Seen.of(X, stated_problem(problem)._columns, settings, names or [])
    own.columns = seen.columns
    moments = moments_of(X, seen.time)
    shuffled = shuffle(seen.time is not None)

    def part_of(X: Any, targets: Targets, known: Any) -> Part:
        truths = targets.array
        if height(X) != len(truths):
            raise TrainingError(f"inconsistent numbers of samples: X has {height(X)} rows, y {len(truths)}")
        there = known_rows(quantities, known, X, len(truths))
        told = quantities.parts(there) if quantities is not None and there.size else None
        return Part(narrowed(X, seen.columns), truths, known=told)

    all_rows = part_of(X, targets, known)
    count = len(all_rows.y)
    weights = None if weigh is None else weigh(count)
    all_rows = replace(all_rows, weights=weights)
    parts = np.full(count, "train", dtype=object)
    if validation is None:
        chosen = split(count)
        ends = np.cumsum([0, *(round(chosen.get(part, 0.0) * count) for part in ("valid", "test"))])
        place = placed(count, np.random.default_rng([seed, 4]) if shuffled else None, moments, count - int(ends[2]))
        for part, first, last in zip(("valid", "test"), count - ends[2] + ends[:2], count - ends[2] + ends[1:]):
            parts[(place >= first) & (place < last)] = part
        held = all_rows.rows(np.flatnonzero(parts == "valid"))
    else:
        if len(validation) not in (2, 3):
            raise TrainingError("validation is (X, y), or (X, y, known) where something is known by row")
        true = Targets(validation[1], layout, order, targets.names)
        held = part_of(validation[0], true, validation[2] if len(validation) == 3 else None)
    forecasts = own.fit(all_rows, np.flatnonzero(parts == "train"), held, shuffled, seed, moments)
    truths, told = all_rows.y, all_rows.known
    if validation is not None:
        # Rows to choose by come after the others, and count once.
        forecasts = np.concatenate([forecasts, own.predict(held.X)])
        truths = np.concatenate([truths, held.y])
        parts = np.concatenate([parts, np.full(len(held.y), "valid", dtype=object)])
        if told is not None and held.known is not None:
            told = {name: np.concatenate([values, held.known[name]]) for name, values in told.items()}
        if weights is not None:
            weights = np.concatenate([weights, np.ones(len(held.y))])
    # An object that learned from decisions has forecasts as any other.
    given = {**settings, "predictor": "given"}
    if decision_method(str(settings.get("method") or "auto")) is not None:
        given |= {"method": "l2"}
    if learn is not None:
        given = {name: value for name, value in given.items() if name not in OF_TRAINING}
    given = {name: value for name, value in given.items() if name not in OF_FEATURES}
    beside = seen.beside(X, None if validation is None else validation[0])
    called = [f"forecast_{name}" for name in names or range(layout.width)]
    if set(called) & {*beside, *(names or [])}:
        called = [f"forecast_{k}" for k in range(layout.width)]
    columns = np.arange(layout.width)
    while True:
        ordered_names = [called[k] for k in columns]
        table = {name: forecasts[:, k] for name, k in zip(ordered_names, columns)} | beside
        # With rows to choose by behind them, truths are in the order of the layout, and their names those of y.
        y_rows = y if validation is None else layout.shaped(truths)
        rows = Rows(
            problem,
            predicts,
            table,
            y_rows,
            {**given, "features": ordered_names},
            known=told,
            seed=seed,
            split=split,
            said=seen.told,
        )
        rows.targets.one_axis, rows.targets.names = targets.one_axis, targets.names
        if list(columns) == rows.known.take:
            break
        # Forecasts in the order of the targets.
        columns = np.array(rows.known.take)
    data = rows.data.with_parts(parts.tolist())
    if weights is not None:
        data = data.with_weights(weights)
    return Forecast(rows, data, own, forecasts, parts.tolist())
