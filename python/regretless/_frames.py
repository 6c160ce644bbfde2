"""Data frames (pandas, polars, Arrow, dicts of columns) as columns of numbers and text, found by name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from numbers import Number
from typing import Any

import numpy as np

from ._arrays import Float, floats
from .errors import RegretlessError

#: A column for the engine.
Cells = Float | list[str]


def header(table: Any) -> list[str] | None:
    """The names of a frame's columns; ``None`` for what is no frame, or has numbers for names."""
    names = getattr(table, "column_names", None)
    if names is None:
        names = list(table) if isinstance(table, Mapping) else getattr(table, "columns", None)
    if names is None:
        return None
    named = [isinstance(name, str) for name in names]
    if any(named) and not all(named):
        kinds = sorted({type(name).__name__ for name in names})
        raise TypeError(
            "Feature names are only supported if all input features have string names, but the frame has names of the types "
            f"{kinds}: rename the columns, for example with X.columns = X.columns.astype(str)"
        )
    return [str(name) for name in names] if any(named) else None


def column(table: Any, names: Sequence[str], i: int) -> Any:
    """A column by its position: names may be there twice."""
    if hasattr(table, "iloc"):
        return table.iloc[:, i]
    if hasattr(table, "column_names"):
        return table.column(i)
    return table[names[i]]


def cells(values: Any) -> Cells:
    """Numbers, NaN where there is none, or text, empty where there is none; a categorical column is text whatever its categories are."""
    if hasattr(getattr(values, "dtype", None), "categories"):
        return ["" if value is None or value != value else str(value) for value in np.asarray(values, dtype=object)]
    array = np.asarray(values)
    if array.dtype.kind in "biuf":
        return np.ascontiguousarray(array, dtype=np.float64)
    listed = array.tolist() if array.dtype.kind != "M" else np.datetime_as_string(array).tolist()
    none = [value is None or value != value for value in listed]
    if all(nothing or isinstance(value, Number) for value, nothing in zip(listed, none)):
        return np.array([np.nan if nothing else float(value) for value, nothing in zip(listed, none)])
    return ["" if nothing else str(value) for value, nothing in zip(listed, none)]


def columns(table: Any) -> list[tuple[str, Cells]]:
    """All columns of a frame."""
    names = header(table)
    if names is None:
        raise TypeError(f"a frame with named columns is expected, not a {type(table).__name__}")
    return [(name, cells(column(table, names, i))) for i, name in enumerate(names)]


def some_columns(table: Any) -> list[tuple[str, Cells]]:
    """All columns of a frame; none of what is no frame."""
    return [] if header(table) is None else columns(table)


def fits(pattern: str, name: str) -> bool:
    """True for a name, or what a pattern with ``*`` and ``?`` stands for."""
    return name == pattern or fnmatchcase(name, pattern.replace("[", "[[]"))


def some(names: Sequence[str]) -> str:
    """Names for a message."""
    shown = ", ".join(f"`{name}`" for name in names[:10])
    return shown + (f" and {len(names) - 10} more" if len(names) > 10 else "")


def distinct(what: str, table: Any, error: type[RegretlessError]) -> list[str]:
    """The names of a frame's columns, none of them twice."""
    there = header(table) or []
    if twice := [name for name, count in Counter(there).items() if count > 1]:
        raise error(f"{what} has {some(twice)} more than once")
    return there


def matched(what: str, table: Any, wanted: Sequence[str], error: type[RegretlessError], *, only: bool = False) -> Float:
    """The named columns of a frame in the order wanted, all of them numbers; with ``only`` it may have no others."""
    return numbers(what, picked(what, table, wanted, error, only=only), error)


def picked(
    what: str, table: Any, wanted: Sequence[str], error: type[RegretlessError], *, only: bool = False
) -> list[tuple[str, Cells]]:
    """The named columns of a frame in the order wanted, with their names; with ``only`` it may have no others."""
    there = header(table)
    assert there is not None
    counts = Counter(there)
    if missing := [name for name in wanted if name not in counts]:
        raise error(f"{what} lacks {some(missing)}; it has {some(list(counts))}")
    if twice := [name for name in (counts if only else wanted) if counts[name] > 1]:
        raise error(f"{what} has {some(twice)} more than once")
    if only and (unknown := [name for name in there if name not in set(wanted)]):
        raise error(f"{what} has {some(unknown)}, which the model does not know; it knows {some(wanted)}")
    place = {name: i for i, name in enumerate(there)}
    return [(name, cells(column(table, there, place[name]))) for name in wanted]


def numbers(what: str, parts: Sequence[tuple[str, Cells]], error: type[RegretlessError]) -> Float:
    """Columns of numbers side by side."""
    found = []
    for name, got in parts:
        if isinstance(got, list):
            raise error(f"{what}[{name!r}] is text: encode it as numbers, or leave the column out")
        found.append(got)
    return np.ascontiguousarray(np.column_stack(found)) if found else np.zeros((0, 0))


def dense(what: str, values: Any) -> Float:
    """An array of numbers; sparse ones are refused with the way out."""
    if hasattr(values, "toarray") and hasattr(values, "nnz"):
        raise TypeError(f"{what} is sparse, and predictors here are dense: pass {what}.toarray()")
    return floats(what, values)


def whole(
    what: str, array: Float, names: Sequence[str] | None, error: type[RegretlessError], *, gaps: bool = False
) -> Float:
    """The array, if every entry is a finite number; with ``gaps`` some may be NaN."""
    fine = np.isfinite(array) | np.isnan(array) if gaps else np.isfinite(array)
    if fine.all():
        return array
    place = np.argwhere(~fine)[0].tolist()
    value = array[tuple(place)]
    word = "NaN" if np.isnan(value) else "infinity" if value > 0 else "-infinity"
    if names is not None and array.ndim == 2:
        message = (
            f"{what} has no number for `{names[place[1]]}` in row {place[0]} ({word}): fill in what is missing first"
        )
    else:
        message = f"{what}{place} is {value} ({word}): fill in what is missing first"
    raise error(message)
