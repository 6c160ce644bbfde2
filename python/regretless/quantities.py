"""Numbers that are predicted and numbers that are known by row, and the coefficients that they become."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _regretless
from ._arrays import Float, floats
from ._frames import header, matched
from .errors import ProblemError
from .problem import Problem, stated_problem

__all__ = ["At", "Quantities"]

#: Symbol, entry, fixed factor, known factor, and what it is a multiple of: nothing, or (whether it is known, its number).
Term = tuple[str, int, float, int | None, tuple[bool, int] | None]


@dataclass(frozen=True)
class At:
    """A place of a quantity: ``factor`` times it plus ``shift``. A factor that is known by row is named."""

    #: A parameter, or some of it: ``"d"``, ``"b[1]"``, ``"theta[wheat]"``, ``"C[0]"`` (a row), ``"C[0, wheat]"``.
    place: str
    factor: float | str = 1.0
    shift: float = 0.0


Places = str | At | Sequence[str | At]


class Quantities:
    """What of a problem is predicted and what is known by row: give it as ``predict=``.

    Each quantity has a name and one place or several (it is then *tied*); without places its name is one, or that of a CVXPY
    Parameter after ``from_cvxpy``. What is known has its values with every call, as ``known=``. A coefficient is the sum of what
    is placed there, whatever the problem states for it; prices that come out negative count as 0.

    >>> import regretless as rl
    >>> shop = rl.Problem(2, theta=[0.0, 0.0], A=[[1.0, 1.0], [1.0, 0.0]], b=[0.0, 0.0])
    >>> load = rl.Quantities(shop, {"price": ["theta[0]", rl.At("theta[1]", factor=0.5)]}, known={"stock": "b"})
    >>> loss = rl.DecisionLoss(shop, "spo+", predict=load)
    >>> loss([[1.0]], [[2.0]], known=[[3.0, 1.0]]).gradient.shape
    (1, 1)
    """

    def __init__(
        self,
        problem: Problem,
        predict: str | Sequence[str] | Mapping[str, Places],
        known: str | Sequence[str] | Mapping[str, Places] | None = None,
    ) -> None:
        self.problem = stated_problem(problem)
        predicted, given = _named(predict), _named(known or {})
        if not predicted:
            raise ProblemError("nothing is predicted: name a quantity")
        if both := sorted(set(predicted) & set(given)):
            raise ProblemError(f"`{both[0]}` is predicted and known")
        self._empty()
        for quantities, shapes in ((given, self.known), (predicted, self.shapes)):
            start = 0
            for name, places in quantities.items():
                shapes[name] = self._shape(name, places)
                self._starts[name] = start
                start += prod(shapes[name])
        for name, places in {**given, **predicted}.items():
            for at in places:
                self._place(name, at)
        self._from_cvxpy([name for name in (*given, *predicted) if self._of_cvxpy(name)])

    def _empty(self) -> None:
        #: The shape of every predicted quantity and of every known one.
        self.shapes: dict[str, tuple[int, ...]] = {}
        self.known: dict[str, tuple[int, ...]] = {}
        #: The columns of quantities that a file names.
        self._called: dict[str, list[str]] = {}
        self._starts: dict[str, int] = {}
        self.terms: list[Term] = []

    @classmethod
    def _of_file(
        cls, problem: Problem, predicted: list[list[str]], known: list[list[str]], terms: list[Term]
    ) -> Quantities:
        """Those of a problem file: a quantity for the columns of a key."""
        out = cls.__new__(cls)
        out.problem = problem
        out._empty()
        for groups, shapes in ((known, out.known), (predicted, out.shapes)):
            for columns in groups:
                together = _beginning(columns) if len(columns) > 1 else columns[0]
                name = together if together and together not in out._called else columns[0]
                out._called[name], shapes[name] = columns, (len(columns),)
        out.terms = terms
        return out

    @property
    def of_file(self) -> bool:
        """True if they are those of the problem's file."""
        return bool(self._called)

    @property
    def width(self) -> int:
        """Predicted numbers of a row."""
        return sum(map(prod, self.shapes.values()))

    @property
    def known_width(self) -> int:
        """Known numbers of a row."""
        return sum(map(prod, self.known.values()))

    @property
    def placing(self) -> tuple[int, int, list[Term]]:
        """What the engine is told."""
        return self.width, self.known_width, self.terms

    @property
    def names(self) -> list[str]:
        """Names of what is predicted."""
        return list(self.shapes)

    @property
    def columns(self) -> list[str]:
        """Names of the columns of what is predicted: that of a quantity, numbered where it has several entries."""
        return self._columns(self.shapes)

    @property
    def known_columns(self) -> list[str]:
        """Names of the columns of what is known by row."""
        return self._columns(self.known)

    def _columns(self, shapes: Mapping[str, tuple[int, ...]]) -> list[str]:
        named = {name: self._called.get(name) or numbered(name, prod(shape)) for name, shape in shapes.items()}
        return [column for columns in named.values() for column in columns]

    @property
    def symbols(self) -> set[str]:
        """The parameters that depend on what is predicted."""
        return {symbol for symbol, _, _, _, of in self.terms if of is not None and not of[0]}

    def known_rows(self, values: ArrayLike | Mapping[str, ArrayLike] | None, rows: int) -> Float:
        """What is known of the rows of a batch, flat."""
        if not self.known:
            if values is not None:
                raise ProblemError("nothing is known by row here: `known` has no place")
            return np.zeros((rows, 0))
        if values is None:
            raise ProblemError(f"{', '.join(self.known)} are known by row: give their values as `known`")
        return self.flat("known", values, self.known, rows)

    def flat(self, what: str, values: Any, shapes: Mapping[str, tuple[int, ...]], rows: int | None = None) -> Float:
        """Rows of a batch: arrays by the names of quantities, a frame with their columns, or one array with all entries side by side."""
        if isinstance(values, Mapping) and set(values) == set(shapes):
            return named(what, values, shapes, rows)
        columns = self._columns(shapes)
        if header(values) is not None:
            array = matched(what, values, columns, ProblemError)
        else:
            array = floats(what, values)
            if len(shapes) == 1 and array.ndim > 2:
                return named(what, {name: array for name in shapes}, shapes, rows)
            if array.ndim == 1 and len(columns) == 1:
                array = array[:, np.newaxis]
            if array.ndim != 2 or array.shape[1] != len(columns):
                told = ", ".join(f"{name} ({prod(shape)})" for name, shape in shapes.items())
                raise ProblemError(
                    f"{what} has the shape {array.shape}, expected (batch, {len(columns)}): {told}, side by side or in a dict"
                )
        if rows is not None and rows != len(array):
            raise ProblemError(f"{what} has {len(array)} rows, others {rows}")
        return np.ascontiguousarray(array)

    def parts(self, known: Float) -> dict[str, Float]:
        """Flat rows of what is known, by name."""
        ends = np.cumsum([prod(shape) for shape in self.known.values()])
        pieces = np.split(known, ends[:-1], axis=1)
        return {name: piece.reshape(-1, *shape) for (name, shape), piece in zip(self.known.items(), pieces)}

    def parameters(self, quantities: Any, known: Any = None) -> dict[str, Float]:
        """The parameters of the problem at rows of quantities and of what is known, for ``problem.solve(**…)``."""
        rows = self.flat("quantities", quantities, self.shapes)
        there = self.known_rows(known if self.known else None, len(rows))
        found = _regretless.placed(self.problem._inner, self.placing, rows, there)
        shapes = self.problem.shapes
        return {symbol: values.reshape((len(values), *shapes[symbol])) for symbol, values in found.items()}

    def __repr__(self) -> str:
        def told(shapes: Mapping[str, tuple[int, ...]]) -> str:
            return ", ".join(name if prod(shape) == 1 else f"{name} ({prod(shape)})" for name, shape in shapes.items())

        known = f"; known: {told(self.known)}" if self.known else ""
        return f"Quantities({told(self.shapes)}{known})"

    def _of_cvxpy(self, name: str) -> bool:
        return name in getattr(self.problem, "parameters", {})

    def _shape(self, name: str, places: list[At]) -> tuple[int, ...]:
        if places == [At(name)] and self._of_cvxpy(name):
            places.clear()
        if not places:
            if self._of_cvxpy(name):
                return tuple(self.problem.parameters[name])  # type: ignore[attr-defined]
            places.append(At(name))
        sizes = {at.place: len(self._entries(at.place)) for at in places}
        if len(set(sizes.values())) > 1:
            told = ", ".join(f"{place} has {size}" for place, size in sizes.items())
            raise ProblemError(f"the places of `{name}` differ in their numbers of entries: {told}")
        whole = self.problem.shapes.get(places[0].place)
        return whole if whole is not None else (next(iter(sizes.values())),)

    def _entries(self, place: str) -> NDArray[np.int64]:
        """The flat entries of a place within its parameter."""
        found = re.fullmatch(r"\s*(\w+)\s*(?:\[([^\]]*)\])?\s*", place)
        shapes = self.problem.shapes
        if found is None or found[1] not in shapes:
            raise ProblemError(
                f"`{place}` is no place: a parameter such as `d`, or `b[1]`; there are {', '.join(shapes)}"
            )
        symbol, index = found[1], found[2]
        if index is None:
            return np.arange(prod(shapes[symbol]))
        n, variables = self.problem.n, self.problem.variables
        steps = [step.strip() for step in index.split(",")]
        at_places = self.problem.places(symbol)
        matrix = at_places is not None or len(shapes[symbol]) == 2
        numbers = []
        for axis, step in enumerate(steps):
            by_variable = axis == 1 or (not matrix and symbol in ("theta", "lower", "upper"))
            if by_variable and step in variables:
                numbers.append(variables.index(step))
            elif re.fullmatch(r"\d+", step):
                numbers.append(int(step))
            else:
                raise ProblemError(f"`{place}`: `{step}` is no number and no variable")
        if len(numbers) > 1 + matrix:
            raise ProblemError(f"`{place}` has {len(numbers)} indices, and {symbol} is a vector")
        if at_places is not None:
            there = at_places[0] == numbers[0]
            if len(numbers) == 2:
                there &= at_places[1] == numbers[1]
            entries = np.flatnonzero(there)
        elif matrix:
            rows = np.arange(prod(shapes[symbol])).reshape(shapes[symbol])
            inside = numbers[0] < len(rows) and (len(numbers) == 1 or numbers[1] < n)
            entries = rows[tuple(numbers)].reshape(-1) if inside else np.zeros(0, dtype=np.int64)
        else:
            entries = np.arange(shapes[symbol][0])[numbers[0] : numbers[0] + 1]
        if not len(entries):
            raise ProblemError(f"there is no `{place}`: {symbol} has the shape {shapes[symbol]}")
        return entries

    def _place(self, name: str, at: At) -> None:
        symbol = re.split(r"[\s\[]", at.place.strip())[0]
        entries, start, known = self._entries(at.place), self._starts[name], name in self.known
        factor = 1.0
        by: list[int | None] = [None] * len(entries)
        if isinstance(at.factor, str):
            if at.factor not in self.known:
                raise ProblemError(
                    f"the factor `{at.factor}` of `{name}` is not known: a factor is fixed or known by row"
                )
            size, first = prod(self.known[at.factor]), self._starts[at.factor]
            if size not in (1, len(entries)):
                raise ProblemError(f"the factor `{at.factor}` has {size} entries, `{at.place}` has {len(entries)}")
            by = [first + (i if size > 1 else 0) for i in range(len(entries))]
        else:
            factor = float(at.factor)
        for i, entry in enumerate(entries.tolist()):
            self.terms.append((symbol, entry, factor, by[i], (known, start + i)))
            if at.shift:
                self.terms.append((symbol, entry, float(at.shift), None, None))

    def _from_cvxpy(self, names: list[str]) -> None:
        """Places of CVXPY's Parameters: their maps; the others keep their values."""
        if not names:
            return
        reading = self.problem._reading  # type: ignore[attr-defined]
        for symbol, form in reading.maps.items():
            chosen = [name for name in names if name in form.parts]
            touched = sorted({int(e) for name in chosen for e in form.parts[name][0]})
            if not touched:
                continue
            rest = np.array(form.constant, dtype=np.float64)
            for name, (entries, theirs, factors) in form.parts.items():
                if name in chosen:
                    known, start = name in self.known, self._starts[name]
                    for entry, their, factor in zip(entries.tolist(), theirs.tolist(), factors.tolist()):
                        self.terms.append((symbol, entry, factor, None, (known, start + their)))
                    continue
                if name not in reading.values:
                    raise ProblemError(f"the Parameter `{name}` has no value, and is neither predicted nor known")
                np.add.at(rest, entries, reading.values[name][0, theirs] * factors)
            self.terms.extend((symbol, entry, float(rest[entry]), None, None) for entry in touched if rest[entry])


def _named(given: str | Sequence[str] | Mapping[str, Places]) -> dict[str, list[At]]:
    """Quantities with their places; none for one that is named only."""
    if isinstance(given, str):
        given = [given]
    if not isinstance(given, Mapping):
        return {name: [] for name in given}
    return {name: _places(places) for name, places in given.items()}


def _places(places: Places) -> list[At]:
    each = [places] if isinstance(places, (str, At)) else places
    return [place if isinstance(place, At) else At(place) for place in each]


def _beginning(columns: list[str]) -> str:
    """What names begin with in common."""
    first, last = min(columns), max(columns)
    same = next((i for i, (a, b) in enumerate(zip(first, last)) if a != b), len(first))
    return first[:same].rstrip("_-. ")


def numbered(name: str, entries: int) -> list[str]:
    """What the columns of a quantity are called where nobody says."""
    return [name] if entries == 1 else [f"{name}_{i}" for i in range(entries)]


def named(
    what: str, values: Mapping[str, Any], shapes: Mapping[str, tuple[int, ...]], rows: int | None = None
) -> Float:
    """Rows of a batch of arrays by name, side by side; no copy for a single one."""
    parts = []
    for name, shape in shapes.items():
        array = floats(f"{what} of {name}", values[name])
        if array.ndim == 1 and shape == (1,):
            array = array[:, np.newaxis]
        if array.ndim != len(shape) + 1 or array.shape[1:] != shape:
            wanted = ", ".join(map(str, ("batch", *shape)))
            raise ProblemError(f"{what} of {name} has the shape {array.shape}, expected ({wanted})")
        if rows is not None and rows != len(array):
            raise ProblemError(f"{what} of {name} has {len(array)} rows, others {rows}")
        rows = len(array)
        parts.append(array.reshape(rows, prod(shape)))
    return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)
