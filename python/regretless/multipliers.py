"""Penalties of hard rows: how much a unit of violation costs in the softened problem."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Union

import numpy as np
from numpy.typing import ArrayLike

from . import _regretless
from ._arrays import vector
from .errors import MultiplierError
from .problem import KINDS, Problem, RowValues

__all__ = ["Certificate", "MultiplierRule", "Multipliers"]

#: A rule by name, one number for all hard rows, or numbers by kind of row.
MultiplierRule = Union[Literal["dual", "theory", "empirical"], float, Mapping[str, ArrayLike], "Multipliers"]


@dataclass(frozen=True)
class Certificate:
    """How the softened problem behaved on the instances that the penalties were chosen for."""

    holds: bool
    instances: int
    without_optimum: int
    unbounded: int
    worst_violation: float
    worst_row: str | None


@dataclass(frozen=True)
class Multipliers:
    """Penalties with their reason and how well they held.

    The softened problem ``max F(x) − Σ βᵢ·(violation of hard row i)`` has the optimum of the original one if every βᵢ is at least the
    row's multiplier there. ``dual`` takes four times the largest multiplier over the given instances, ``theory`` the paper's bounds
    (and refuses problems that no theorem covers), ``empirical`` the paper's rule of thumb.

    >>> import regretless as rl
    >>> farm = rl.Problem(2, A=[[1.0, 1.0]], b=8.0)
    >>> found = rl.Multipliers.choose(farm, "dual", theta=[[3.0, 2.0], [1.0, 2.0]])
    >>> found.values.at_most, found.certificate.holds
    (array([12.]), True)
    """

    values: RowValues
    explanation: str
    certificate: Certificate

    @classmethod
    def choose(
        cls,
        problem: Problem,
        rule: MultiplierRule = "dual",
        *,
        factor: float | None = None,
        sqrt_n: bool = False,
        **parameters: ArrayLike | None,
    ) -> Multipliers:
        """Chooses penalties for the instances given as ``theta=…``, ``C=…``; without any, for the problem as stated."""
        if isinstance(rule, Multipliers):
            return rule
        batch = problem._batch(parameters)
        values = None
        name: str
        if isinstance(rule, str):
            name = rule
        elif isinstance(rule, Mapping):
            name, values = "rows", _by_kind(problem, rule)
        elif np.ndim(rule) == 0:
            name, factor = "constant", float(rule)
        else:
            raise MultiplierError('give a rule\'s name, one number, or a dict such as {"at_most": [3.0, 1.0]}')
        chosen = _regretless.multipliers(problem._inner, name, factor, sqrt_n, values, batch.parts, batch.rows)
        certificate = {key: chosen[key] for key in Certificate.__dataclass_fields__}
        return cls(RowValues._of(chosen), chosen["explanation"], Certificate(**certificate))


def multipliers_for(
    problem: Problem, rule: MultiplierRule, given: dict[str, Any], batched: Sequence[str]
) -> Multipliers | None:
    """Penalties for a batch, or for those of its instances that have an optimum; ``None`` if none has one."""
    try:
        return Multipliers.choose(problem, rule, **given)
    except MultiplierError:
        if not batched:
            raise
    stated = problem._state["theta"] is not None or "theta" in given
    status = problem.solve(**(given if stated else given | {"theta": np.zeros(problem.n)})).status
    solved = np.asarray(status) == "optimal"
    if not solved.any():
        return None
    some = {symbol: array[solved] if symbol in batched else array for symbol, array in given.items()}
    return Multipliers.choose(problem, rule, **some)


def _by_kind(problem: Problem, given: Mapping[str, ArrayLike]) -> Any:
    sizes = problem._kinds()
    if unknown := sorted(set(given) - set(KINDS)):
        raise MultiplierError(f"there is no kind of row `{unknown[0]}`: {', '.join(KINDS[1:])}")
    needed = [kind for kind in ("at_most", "equal") if sizes[kind] and kind not in given]
    if needed:
        raise MultiplierError(f"penalties for the rows of `{needed[0]}` are missing")
    # Bounds that are not named cost as much as the dearest row that is.
    largest = max((float(np.max(v)) for v in given.values() if np.size(v)), default=1.0)
    return tuple(vector(kind, given.get(kind, largest), sizes[kind]) for kind in KINDS)
