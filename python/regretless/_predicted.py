"""What is predicted: an array for one parameter, a dict of arrays for several."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ._arrays import Float, floats
from .errors import ProblemError
from .problem import Problem

Values = ArrayLike | Mapping[str, ArrayLike]


def names(problem: Problem, predict: str | Sequence[str] | None, word: str = "predict") -> list[str]:
    """The names of what is predicted; without any, θ. A problem that states θ has to say so: values meant for another
    parameter would otherwise be taken for it."""
    if predict is None:
        if problem._state["theta"] is not None:
            raise ProblemError(
                f'the problem states theta: say what is predicted, such as {word}="d"; {word}="theta" replaces what it states'
            )
        return ["theta"]
    found = [predict] if isinstance(predict, str) else list(predict)
    if not found:
        raise ProblemError(f'{word} names nothing: name a parameter, such as {word}="theta"')
    return found


class Predicted:
    """The parameters that are predicted, whole and in this order, and how they lie in a flat row."""

    def __init__(self, problem: Problem, predict: str | Sequence[str] | None) -> None:
        self.problem = problem
        self.names = names(problem, predict)
        shapes = problem.shapes
        if unknown := [name for name in self.names if name not in shapes]:
            raise ProblemError(f"the problem has no parameter `{unknown[0]}`: it has {', '.join(shapes)}")
        self.shapes = {name: shapes[name] for name in self.names}
        self.width = sum(prod(shape) for shape in self.shapes.values())

    def flat(self, what: str, values: Values) -> Float:
        """Rows of a batch; no copy for a single parameter."""
        if not isinstance(values, Mapping):
            if len(self.names) > 1:
                raise ProblemError(f"{what} are of {', '.join(self.names)}: give a dict with an array for each")
            values = {self.names[0]: values}
        if set(values) != set(self.names):
            raise ProblemError(f"{what} has {', '.join(values)}, expected {', '.join(self.names)}")
        rows: int | None = None
        parts = []
        for name, shape in self.shapes.items():
            array = floats(f"{what} of {name}", values[name])
            if array.ndim != len(shape) + 1 or array.shape[1:] != shape:
                wanted = ", ".join(map(str, ("batch", *shape)))
                raise ProblemError(f"{what} of {name} has the shape {array.shape}, expected ({wanted})")
            if rows is not None and rows != len(array):
                raise ProblemError(f"{what} of {name} has {len(array)} rows, others {rows}")
            rows = len(array)
            parts.append(array.reshape(rows, prod(shape)))
        return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)

    def shaped(self, flat: Float) -> Any:
        """An array for one parameter, a dict for several."""
        out, start = {}, 0
        for name, shape in self.shapes.items():
            width = prod(shape)
            out[name] = flat[:, start : start + width].reshape((len(flat), *shape))
            start += width
        return out[self.names[0]] if len(self.names) == 1 else out
