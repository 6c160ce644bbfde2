"""Problems stated in CVXPY.

>>> import cvxpy as cp, numpy as np, regretless as rl
>>> make, price, demand = cp.Variable(2, nonneg=True, name="make"), cp.Parameter(2, name="price"), cp.Parameter(2, name="demand")
>>> profit = price @ make - 0.5 * cp.sum(cp.pos(make - demand))
>>> problem = rl.from_cvxpy(cp.Problem(cp.Maximize(profit), [cp.sum(make) <= 8]))
>>> given = problem.given(price=[[3.0, 2.0], [1.0, 2.0]], demand=[5.0, 2.0])     # a batch of two prices
>>> {symbol: value.shape for symbol, value in given.items()}
{'theta': (2, 2), 'd': (2,)}
>>> problem.split(problem.solve(**given).x)
{'make': array([[8., 0.],
       [0., 8.]])}
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ._arrays import Float
from ._cvxpy.maps import Reading, Told
from .errors import ProblemError
from .problem import Problem, Soft
from .surrogate import Gradients

if TYPE_CHECKING:
    import cvxpy as cp

__all__ = ["CvxpyProblem", "from_cvxpy"]


class CvxpyProblem(Problem):
    """A problem read by :func:`from_cvxpy`. It knows the Parameters and variables by their names, and needs CVXPY no more."""

    @property
    def _reading(self) -> Reading:
        reading: Reading = self._state["cvxpy"]
        return reading

    _ways = "problem.given(…)"

    def _unknown(self, left: list[str]) -> str:
        parts = {name for symbol in left for name in self._reading.maps[symbol].parts}
        names = ", ".join(f"`{name}`" for name in self.parameters if name in parts - set(self._reading.values))
        symbols = ", ".join(f"`{symbol}`" for symbol in left)
        return f"{symbols} depends on the Parameter {names}, which had no value when the problem was read"

    @property
    def parameters(self) -> dict[str, tuple[int, ...]]:
        """The shape of every CVXPY Parameter."""
        return dict(self._reading.parameters)

    @property
    def variable_names(self) -> list[str]:
        """The names of CVXPY's variables."""
        return list(self._reading.variables)

    def given(self, values: Mapping[Any, Any] | None = None, /, **named: Any) -> dict[str, Any]:
        """What the problem's parameters are at values of CVXPY's, for ``solve(**given)``.

        Values are named, or in a dict by Parameter or name; one axis more than the Parameter has is a batch. Parameters left out keep
        the value they had. PyTorch tensors give tensors, with gradients.

        >>> import cvxpy as cp, regretless as rl
        >>> x, p = cp.Variable(2, name="x"), cp.Parameter(2, name="p", value=[0, 0])
        >>> problem = rl.from_cvxpy(cp.Problem(cp.Minimize(cp.sum_squares(x - p))))
        >>> problem.given({p: [1.0, 2.0]})                # (x − p)² = x² − 2px + p²
        {'theta': array([-2., -4.])}
        """
        told = Told(self._reading, {**(values or {}), **named})
        for name in self.parameters:
            told[name]  # a placeholder is no value to decide with
        maps = self._reading.maps.items()
        return {symbol: told.of(form) for symbol, form in maps if any(name in told.batched for name in form.parts)}

    def offset(self, values: Mapping[Any, Any] | None = None, /, **named: Any) -> Any:
        """What CVXPY's objective is above ours at every x: terms without a variable.

        >>> import cvxpy as cp, regretless as rl
        >>> x, p = cp.Variable(2, name="x"), cp.Parameter(2, name="p", value=[0, 0])
        >>> problem = rl.from_cvxpy(cp.Problem(cp.Minimize(cp.sum_squares(x - p) + 1)))
        >>> problem.offset(p=[1.0, 2.0])
        6.0
        """
        told = Told(self._reading, {**(values or {}), **named})
        total = told.of(self._reading.offset)
        for weights, inner in self._reading.squares:
            g = told.of(inner)
            total = total + ((g @ (weights if isinstance(g, np.ndarray) else g.new_tensor(weights))) * g).sum(-1)
        return float(total) if isinstance(total, (np.ndarray, np.floating)) and total.ndim == 0 else total

    def split(self, x: Any) -> dict[str, Any]:
        """Decisions as CVXPY's variables, by name and in their shapes, with the leading axis of a batch if there is one."""
        if x.shape[-1:] != (self.n,):
            raise ProblemError(f"x has the shape {tuple(x.shape)}, expected ({self.n},) or (batch, {self.n})")
        return {name: x[..., places] for name, places in self._reading.variables.items()}

    def pull(self, gradients: Gradients) -> dict[str, Float]:
        """Gradients in the problem's parameters as gradients in CVXPY's, by name; as far as they were asked for.

        >>> import cvxpy as cp, regretless as rl
        >>> x, p = cp.Variable(2, name="x"), cp.Parameter(2, name="p", value=[1, 2])
        >>> problem = rl.from_cvxpy(cp.Problem(cp.Minimize(cp.sum_squares(x - p))))
        >>> problem.pull(rl.Surrogate(problem).solve().vjp([1.0, 0.0]))["p"].round(12)      # x = p
        array([1., 0.])
        """
        out: dict[str, Any] = {}
        for symbol, form in self._reading.maps.items():
            gradient = getattr(gradients, symbol)
            if gradient is None:
                continue
            lead = gradient.shape[: gradient.ndim - len(form.shape)]
            for name in form.parts:
                shape = self.parameters[name]
                rows = form.transposed(name, int(np.prod(shape)), gradient.reshape(-1, len(form.constant)))
                out[name] = out.get(name, 0.0) + rows.reshape(lead + shape)
        return out


def from_cvxpy(problem: cp.Problem) -> CvxpyProblem:
    """Reads a CVXPY problem ``max θᵀx − xᵀQx − Σ soft(x)`` (or min with +) over ``Ax ≤ b``, ``Bx = c``, ``lower ≤ x ≤ upper``.

    The variables are stacked, each flattened column by column. In the objective there may be affine terms, convex quadratics
    (``quad_form``, ``sum_squares``, ``square``, ``quad_over_lin``, squared norms) and penalties: ``pos``, ``neg``, ``abs``, ``norm1``,
    ``maximum`` and ``minimum`` of two affine expressions, summed and weighted; a row with penalties on both sides is one soft row.
    Constraints are affine, or limits of ``max``, ``maximum``, ``abs``, ``norm_inf``, short ``norm1`` (``min``, ``minimum`` from below). One about a single entry of a variable, with a number as its coefficient, is a bound, and so are
    the attributes ``nonneg``, ``nonpos`` and ``bounds``; if an entry has several bounds on a side that depend on Parameters, the
    later ones are rows. Equalities are always rows. Parameters may stand wherever the problem stays affine in them, P of
    ``quad_form(x, P)`` included. What does not fit is refused by name.

    The result is stated at the Parameters' values; those without one have a placeholder, so pass them through ``given``.

    >>> import cvxpy as cp, regretless as rl
    >>> x, demand = cp.Variable(name="x"), cp.Parameter(name="demand", value=5)
    >>> news = rl.from_cvxpy(cp.Problem(cp.Minimize(cp.pos(x - demand) + 3 * cp.neg(x - demand)), [x >= 0, x <= 9]))
    >>> news, news.stated("alpha"), news.stated("under"), news.stated("upper")
    (Problem(min, n=1, 1 soft), array([1.]), array([3.]), array([9.]))
    >>> news.solve(**news.given(demand=[4.0, 6.0])).x
    array([[4.],
           [6.]])
    """
    try:
        from ._cvxpy.stated import stated
    except ImportError as error:
        raise ImportError(
            "regretless.from_cvxpy needs CVXPY: pip install cvxpy, or pip install 'regretless[cvxpy]'"
        ) from error

    read = stated(problem)
    at = read.at
    soft = Soft(at.pop("C"), at.pop("d"), at.pop("alpha"), at.pop("under")) if "C" in at else ()
    made = CvxpyProblem(read.n, **at, soft=soft, sense=read.sense, variables=read.names)
    made._state["cvxpy"] = read.reading
    # What depends on a Parameter without a value is not decided with.
    values = set(read.reading.values)
    made._placeholders = {symbol for symbol, form in read.reading.maps.items() if set(form.parts) - values}
    return made
