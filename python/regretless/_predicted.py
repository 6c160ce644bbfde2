"""What is predicted: an array for one parameter, a dict of arrays for several."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike

from ._arrays import Float, floats
from ._frames import distinct, header, matched, some
from .errors import ProblemError, RegretlessError
from .problem import Problem
from .quantities import Quantities

Values = ArrayLike | Mapping[str, ArrayLike]

#: What comes out: an array for one parameter, a dict of arrays for several.
Shaped = Float | dict[str, Float]


def names(problem: Problem, predict: str | Sequence[str] | None, word: str = "predict") -> list[str]:
    """The names of what is predicted; without any, what the problem's file says, or θ. A problem that states θ has to say so: values meant for another
    parameter would otherwise be taken for it."""
    if predict is None:
        if isinstance(problem.predicts, list):
            return problem.predicts
        if parameters := list(getattr(problem, "parameters", {})):
            raise ProblemError(
                f"say which of the Parameters {some(parameters)} are predicted, such as {word}={parameters[0]!r}"
            )
        if problem._placeholders:
            raise ProblemError(
                "the columns that the problem's file predicts have patterns, and their names are not known without its table: "
                f"give Quantities, such as {word}=Quantities(problem, {{'price': 'theta'}}), or train with the file"
            )
        if problem._state["theta"] is not None:
            raise ProblemError(
                f'the problem states theta: say what is predicted, such as {word}="d"; {word}="theta" replaces what it states'
            )
        return ["theta"]
    found = [predict] if isinstance(predict, str) else list(predict)
    if not found:
        raise ProblemError(f'{word} names nothing: name a parameter, such as {word}="theta"')
    return found


def resolved(
    problem: Problem, predict: str | Sequence[str] | Quantities | None
) -> str | Sequence[str] | Quantities | None:
    """What is predicted: where nothing is said, the quantities of the problem's file; CVXPY's Parameters by their names."""
    if predict is None:
        found = problem.predicts
        return found if isinstance(found, Quantities) else None
    if isinstance(predict, Quantities):
        return predict
    parameters = getattr(problem, "parameters", {})
    named = [predict] if isinstance(predict, str) else list(predict)
    return Quantities(problem, named) if named and set(named) <= set(parameters) - set(problem.shapes) else predict


class Predicted:
    """What is predicted: parameters, whole and in this order, or quantities; and how they lie in a flat row."""

    def __init__(self, problem: Problem, predict: str | Sequence[str] | Quantities | None) -> None:
        self.problem = problem
        predict = resolved(problem, predict)
        self.quantities = predict if isinstance(predict, Quantities) else None
        shapes = problem.shapes
        if isinstance(predict, Quantities):
            if not predict.problem.states_as(problem):
                raise ProblemError("the quantities are of another problem")
            self.names, self.shapes = predict.names, dict(predict.shapes)
            if left := sorted(problem._placeholders - {symbol for symbol, *_ in predict.terms}):
                raise ProblemError(f"{problem._unknown(left)}: say in Quantities where it is predicted or known")
        else:
            self.names = names(problem, predict)
            if left := sorted(problem._placeholders - set(self.names)):
                way = "give Quantities with what is known"
                if problem.predicts is not None:
                    way = f"name nothing, so that the file says what is predicted and known, or {way}"
                raise ProblemError(f"{problem._unknown(left)}, and holds placeholders here: {way}")
            if unknown := [name for name in self.names if name not in shapes]:
                raise ProblemError(f"the problem has no parameter `{unknown[0]}`: it has {', '.join(shapes)}")
            if twice := [name for k, name in enumerate(self.names) if name in self.names[:k]]:
                raise ProblemError(f"`{twice[0]}` is predicted twice")
            self.shapes = {name: shapes[name] for name in self.names}
        self.width = sum(prod(shape) for shape in self.shapes.values())

    @property
    def placing(self) -> Any:
        """What the engine is told: the parameters, or the terms."""
        return self.names if self.quantities is None else self.quantities.placing

    @property
    def symbols(self) -> set[str]:
        """The parameters that depend on what is predicted."""
        return set(self.names) if self.quantities is None else self.quantities.symbols

    def flat(self, what: str, values: Values) -> Float:
        """Rows of a batch; no copy for a single parameter."""
        if self.quantities is not None:
            return self.quantities.flat(what, values, self.shapes)
        # A dict of columns is a frame like any other.
        by_parameter = isinstance(values, Mapping) and set(values) & set(self.problem.shapes)
        if not by_parameter and len(self.names) > 1:
            raise ProblemError(f"{what} are of {', '.join(self.names)}: give a dict with an array for each")
        all_of: Mapping[str, Any] = cast(Mapping[str, Any], values) if by_parameter else {self.names[0]: values}
        if set(all_of) != set(self.names):
            raise ProblemError(f"{what} has {', '.join(all_of)}, expected {', '.join(self.names)}")
        rows: int | None = None
        parts = []
        for name, shape in self.shapes.items():
            given = all_of[name]
            if header(given) is not None:
                array = self.named(f"{what} of {name}", name, given)[1]
            else:
                array = floats(f"{what} of {name}", given)
            if array.ndim != len(shape) + 1 or array.shape[1:] != shape:
                wanted = ", ".join(map(str, ("batch", *shape)))
                raise ProblemError(f"{what} of {name} has the shape {array.shape}, expected ({wanted})")
            if rows is not None and rows != len(array):
                raise ProblemError(f"{what} of {name} has {len(array)} rows, others {rows}")
            rows = len(array)
            parts.append(array.reshape(rows, prod(shape)))
        return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)

    def known(self, values: Values | None, rows: int) -> Float:
        """What is known of the rows of a batch."""
        if self.quantities is not None:
            return self.quantities.known_rows(values, rows)
        if values is not None:
            raise ProblemError("nothing is known by row here: say where it goes, predict=Quantities(…, known=…)")
        return np.zeros((rows, 0))

    def given(self, rows: Float, known: Float) -> dict[str, Float]:
        """The problem's parameters at rows of what is predicted."""
        return self.parts(rows) if self.quantities is None else self.quantities.parameters(rows, known)

    def named(
        self,
        what: str,
        name: str,
        table: Any,
        known: list[str] | None = None,
        error: type[RegretlessError] = ProblemError,
    ) -> tuple[list[str], Float]:
        """A frame's columns for the entries of a parameter: those that are known or that the problem's file lists, else those
        that are named for the entries, whatever their order, else all as they come."""
        there, shape = distinct(what, table, error), self.shapes[name]
        declared = self.problem._declared.get(name, [])
        wanted = declared if known is None and set(declared) == set(there) else known
        if wanted is None:
            order, missing, unknown = self.problem._inner.named(name, there)
            if missing or unknown:
                troubles = ([f"lacks {some(missing)}"] if missing else []) + (
                    [f"has {some(unknown)}"] if unknown else []
                )
                raise error(
                    f"{what} {' and '.join(troubles)}, and other columns are named for the entries of {name}: "
                    "name them all, or pass an array in their order"
                )
            wanted = there if order is None else [there[column] for column in order]
        array = matched(what, table, wanted, error, only=True)
        if array.shape[1] != prod(shape):
            raise ProblemError(f"{what} has {array.shape[1]} columns, expected {prod(shape)}")
        return wanted, array.reshape(len(array), *shape)

    def parts(self, flat: Float) -> dict[str, Float]:
        """The arrays of rows, by parameter."""
        out, start = {}, 0
        for name, shape in self.shapes.items():
            width = prod(shape)
            out[name] = flat[:, start : start + width].reshape((len(flat), *shape))
            start += width
        return out

    def shaped(self, flat: Float) -> Shaped:
        """An array for one parameter, a dict for several."""
        parts = self.parts(flat)
        return parts[self.names[0]] if len(self.names) == 1 else parts
