"""Takes a CVXPY problem apart: linear, quadratic and penalty terms, rows and bounds, each affine in the Parameters."""

from __future__ import annotations

from itertools import product
from typing import Any

import cvxpy as cp
import numpy as np
import scipy.sparse as sp
from cvxpy.atoms.atom import Atom

from .forms import Forms, Rows, pick, refuse, spread

#: What functions and constraints are that have no place here, and what to write instead.
_EPIGRAPH = "bound its entries by a variable t, as `t >= entries`, and use t"
_CONE = "use cp.sum_squares or cp.quad_form if a square will do"
_STRANGERS = {
    **dict.fromkeys(("Pnorm", "PnormApprox"), ("a norm, a second-order cone", _CONE)),
    **dict.fromkeys(("max", "min", "norm_inf", "sum_largest", "dotsort"), ("not a sum of penalties", _EPIGRAPH)),
    **dict.fromkeys(("log", "exp", "entr", "kl_div", "rel_entr", "log_sum_exp", "logistic", "log1p", "xexp"),
                    ("an exponential cone", "use a quadratic or several cp.maximum or cp.minimum as an approximation")),
    "huber": ("a Huber function", "use cp.abs: the surrogate rounds it by itself"),
    "indicator": ("a set of constraints as a cost", "give the constraints to cp.Problem"),
    "SOC": ("a second-order cone", _CONE),
    "PSD": ("a semidefinite constraint", "only rows and bounds can be constraints"),
    "ExpCone": ("an exponential cone", "only rows and bounds can be constraints"),
}  # fmt: skip

_ATTRIBUTES = {
    **dict.fromkeys(("boolean", "integer"), ("an integer variable", "leave the attribute out for the relaxation")),
    **dict.fromkeys(("complex", "imag", "hermitian"), ("complex", "state real and imaginary parts on their own")),
    **dict.fromkeys(("PSD", "NSD"), ("a semidefinite variable", "only rows and bounds can be constraints")),
    **dict.fromkeys(("symmetric", "diag", "sparsity"),
                    ("a variable with entries tied to others", "use a vector of the free entries")),
}  # fmt: skip


class Reader:
    """The cost ``linear + Σ F'SF + Σ over·max(row, 0) + under·max(−row, 0)`` and the constraints of a problem."""

    def __init__(self, problem: cp.Problem) -> None:
        self.sign = -1.0 if isinstance(problem.objective, cp.Maximize) else 1.0
        _check(problem)
        self.variables, self.parameters = problem.variables(), problem.parameters()
        self.forms = forms = Forms(self.variables, self.parameters)
        self.linear = forms.zeros(1)
        #: Rows F and the weights S of their products, entry by entry.
        self.squares: list[tuple[Rows, Rows, Any]] = []
        self._soft: list[tuple[Rows, Rows, Rows]] = []
        self._rows: dict[str, list[Rows]] = {"at_most": [], "equal": []}
        self.bounds: dict[str, dict[int, Rows]] = {"lower": {}, "upper": {}}
        self._cost(problem.objective.args[0], forms.constant(self.sign))
        attributes = [constraint for variable in self.variables for constraint in _attributes(variable)]
        for constraint in [*attributes, *problem.constraints]:
            self._constrain(constraint)

    def rows(self, kind: str) -> Rows:
        """All rows of ``at_most`` or ``equal``: what is at most or equal to 0."""
        return sp.vstack([self.forms.zeros(0), *self._rows[kind]], format="csr")

    def soft(self) -> tuple[Rows, Rows, Rows]:
        """Soft rows with what a unit above and below 0 costs; a row that comes twice, or with the other sign, comes once."""
        rows, over, under = (
            sp.vstack([self.forms.zeros(0), *part], format="csr")
            for part in (zip(*self._soft) if self._soft else [()] * 3)
        )
        for part in (rows, over, under):
            part.eliminate_zeros()
            part.sort_indices()
        known: dict[tuple[bytes, bytes], int] = {}
        kept: list[int] = []
        place, turned = [], []
        for k in range(rows.shape[0]):
            a, b = rows.indptr[k : k + 2]
            columns, values = rows.indices[a:b].tobytes(), rows.data[a:b]
            same, opposite = known.get((columns, values.tobytes())), known.get((columns, (-values).tobytes()))
            if same is None and opposite is None:
                same = known[columns, values.tobytes()] = len(kept)
                kept.append(k)
            place.append(opposite if same is None else same)
            turned.append(same is None)
        flip = np.array(turned, dtype=np.float64)
        gather = pick(np.array(place, dtype=np.intp), len(kept)).T.tocsr()
        straight, crossed = gather @ sp.diags_array(1.0 - flip), gather @ sp.diags_array(flip)
        return rows[kept], straight @ over + crossed @ under, straight @ under + crossed @ over

    def _cost(self, expr: Any, weights: Rows) -> None:
        """Adds ``Σ wᵢ exprᵢ`` to the cost."""
        kind = type(expr).__name__
        if expr.is_affine():
            self._add(self.forms.of(expr), weights, expr)
        elif kind in ("maximum", "minimum") and len(expr.args) == 2:
            # max(a, b) = b + max(a − b, 0) and min(a, b) = b − max(b − a, 0)
            first, last = expr.args if expr.args[1].is_constant() else expr.args[::-1]
            above, base = (self._inside(arg, expr)[spread(arg.shape, expr.shape)] for arg in (first, last))
            self._add(base, weights, expr)
            nothing = self.forms.zeros(expr.size)
            self._hinge(above - base, *((weights, nothing) if kind == "maximum" else (nothing, -weights)))
        elif kind == "abs":
            self._hinge(self._inside(expr.args[0], expr), weights, weights)
        elif kind == "norm1":
            self._cost(_summed(cp.abs(expr.args[0]), expr), weights)
        elif kind == "quad_over_lin":
            self._cost(_summed(cp.square(expr.args[0]), expr) / expr.args[1], weights)
        elif kind in ("power", "Power", "PowerApprox") and _exponent(expr) == 2.0:
            self._square(expr, weights)
        elif kind == "QuadForm":
            F, S = self._inside(expr.args[0], expr), self.forms.of(expr.args[1])
            once = np.zeros(S.shape[0], dtype=np.intp)
            scaled = self.forms.product(weights[once], S, np.arange(S.shape[0]), S.shape[0], expr)
            self.squares.append((F, self.forms.by_parameter(scaled), expr))
        elif isinstance(expr, Atom) and expr.is_atom_convex() and expr.is_atom_concave():
            base, parts = self.forms.weigh(expr, weights)
            self._add(self.forms.constant(base), weights, expr)
            for arg, passed in parts:
                self._cost(arg, passed)
        else:
            raise _stranger(expr)

    def _add(self, rows: Rows, weights: Rows, expr: Any) -> None:
        into = np.zeros(rows.shape[0], dtype=np.intp)
        self.linear = self.linear + self.forms.product(weights, rows, into, 1, expr)

    def _square(self, expr: Any, weights: Rows) -> None:
        inner = expr.args[0]
        kind = type(inner).__name__
        if kind in ("Pnorm", "PnormApprox") and float(inner.p) == 2.0:
            self._cost(_summed(cp.square(inner.args[0]), inner), weights)
            return
        F = self._inside(inner.args[0] if kind == "abs" else inner, expr)
        w = self.forms.by_parameter(weights).tocoo()
        m = expr.size
        diagonal = w.row.astype(np.int64) * (m + 1)
        self.squares.append((F, sp.csr_array((w.data, (diagonal, w.col)), shape=(m * m, w.shape[1])), expr))

    def _inside(self, arg: Any, term: Any) -> Rows:
        if not arg.is_affine():
            raise refuse(
                term, "a function of something that is not affine", f"`{arg}` has to be affine in the variables"
            )
        return self.forms.of(arg)

    def _hinge(self, rows: Rows, over: Rows, under: Rows) -> None:
        paid = np.flatnonzero(abs(over).sum(axis=1) + abs(under).sum(axis=1))
        self._soft.append((rows[paid], over[paid], under[paid]))

    def _constrain(self, constraint: Any) -> None:
        kind = type(constraint).__name__
        if kind not in ("Inequality", "Equality", "NonPos", "NonNeg", "Zero"):
            what, hint = _STRANGERS.get(
                kind, (f"a constraint of the kind {kind}", "only rows and bounds can be constraints")
            )
            raise refuse(constraint, what, hint)
        if kind == "Inequality" and not all(arg.is_affine() for arg in constraint.args):
            above, below = (_pieces(arg, sign) for arg, sign in zip(constraint.args, (1.0, -1.0)))
            if above and below:
                for first in above:
                    for last in below:
                        self._constrain(first <= last)
                return
        for arg in constraint.args:
            if not arg.is_affine():
                what = "an equality" if kind in ("Equality", "Zero") else "a constraint"
                how = "a quadratic" if arg.is_quadratic() else "something that is not affine"
                hint = "write each affine piece as a row" if arg.is_pwl() else "move it into the objective as a cost"
                raise refuse(constraint, f"{what} with {how}", hint)
        first, last = [*constraint.args, None][:2]
        rows = self.forms.of(first if last is None else first - last)
        if kind in ("Equality", "Zero"):
            self._rows["equal"].append(rows)
            return
        for k in range(rows.shape[0]):
            row = -rows[[k]] if kind == "NonNeg" else rows[[k]]
            row.eliminate_zeros()
            level, alone = row[0, 0], not row.indices.any()
            # 1 <= 2 and x + y <= inf say nothing.
            if not np.isneginf(level) and not (alone and level <= 0.0) and not self._bound(row):
                self._rows["at_most"].append(row)

    def _bound(self, row: Rows) -> bool:
        """Takes a row that is about one entry, with a number as its coefficient, as a bound of it.

        An entry has one bound a side: of numbers the tighter one, else the first, and later ones stay rows.
        """
        touched = np.flatnonzero(row.indices % self.forms.width)
        if len(touched) != 1 or row.indices[touched[0]] >= self.forms.width:
            return False
        i, slope = int(row.indices[touched[0]]) - 1, float(row.data[touched[0]])
        rest = row.copy()
        rest.data[touched] = 0.0
        limit = self.forms.by_parameter(rest) * (-1.0 / slope)
        limit.eliminate_zeros()
        if not np.isfinite(limit[0, 0]):
            return bool((limit[0, 0] > 0.0) == (slope > 0.0))
        side = self.bounds["upper" if slope > 0.0 else "lower"]
        if i in side:
            if any(bound.indices.any() for bound in (limit, side[i])):
                return False
            if (limit[0, 0] - side[i][0, 0]) * slope > 0.0:
                return True
        side[i] = limit
        return True


#: Entries of a norm1 that has a limit; each doubles the rows.
_SIGNS = 8


def _pieces(expr: Any, sign: float) -> list[Any]:
    """Affine pieces whose maximum (``sign`` 1) or minimum (−1) is the expression; none if it is not made of such."""
    if expr.is_affine():
        return [expr]
    kind = type(expr).__name__
    if kind == ("maximum" if sign > 0.0 else "minimum"):
        each = [_pieces(arg, sign) for arg in expr.args]
        return [piece for pieces in each for piece in pieces] if all(each) else []
    if kind == "NegExpression":
        return [-piece for piece in _pieces(expr.args[0], -sign)]
    whole = getattr(expr, "axis", None) is None and len(expr.args) == 1 and expr.args[0].is_affine()
    if not whole:
        return []
    inner = expr.args[0]
    if kind == ("max" if sign > 0.0 else "min"):
        return [inner]
    if sign > 0.0 and kind in ("abs", "norm_inf"):
        return [inner, -inner]
    if sign > 0.0 and kind == "norm1" and inner.size <= _SIGNS:
        flat = cp.vec(inner, order="F")
        return [np.array(signs) @ flat for signs in product((1.0, -1.0), repeat=inner.size)]
    return []


def _summed(expr: Any, like: Any) -> Any:
    axis = getattr(like, "axis", None)
    return cp.sum(expr, axis=axis, keepdims=bool(getattr(like, "keepdims", False)))


def _exponent(expr: Any) -> float:
    p = getattr(expr.p, "value", expr.p)
    return float("nan") if p is None else float(p)


def _stranger(expr: Any) -> Exception:
    kind = type(expr).__name__
    if kind in ("maximum", "minimum"):
        return refuse(expr, f"a {kind} of {len(expr.args)} expressions", _EPIGRAPH)
    what, hint = _STRANGERS.get(kind, (f"a term of the kind {kind}", "use a quadratic or a penalty in its place"))
    return refuse(expr, what, hint)


def _attributes(variable: Any) -> list[Any]:
    """A variable's attributes as constraints."""
    a = variable.attributes
    lower, upper = (None, None) if a.get("bounds") is None else a["bounds"]
    out = [variable >= 0] if a["nonneg"] or a["pos"] else []
    out += [variable <= 0] if a["nonpos"] or a["neg"] else []
    return out + [variable >= lower] * (lower is not None) + [variable <= upper] * (upper is not None)


def _check(problem: Any) -> None:
    """Refuses by name what cannot be read: strange variables and problems that are not DCP."""
    if not problem.variables():
        raise refuse(problem.objective, "an objective without a variable", "state at least one cp.Variable")
    for leaf in [*problem.variables(), *problem.parameters()]:
        for name, (what, hint) in _ATTRIBUTES.items():
            wrong = leaf.attributes.get(name) and (leaf.variables() or what == "complex")
            if wrong:
                raise refuse(leaf, what, hint)
    for parameter in problem.parameters():
        if type(parameter).__name__ == "CallbackParam":
            raise refuse(
                parameter, "a Parameter that is computed from others", "compute it outside and use a cp.Parameter"
            )
    for names in ([v.name() for v in problem.variables()], [p.name() for p in problem.parameters()]):
        if twice := [name for name in names if names.count(name) > 1]:
            raise refuse(twice[0], "the name of two variables or Parameters", "give them names of their own")
    hint = "minimise what is convex, maximise what is concave; xᵀx is cp.sum_squares(x) and xᵀPx cp.quad_form(x, P); a Parameter that weighs a term needs nonneg=True, P needs PSD=True"
    for part in [*problem.constraints, problem.objective]:
        if not part.is_dcp():
            raise refuse(_culprit(part), "not DCP, so it is not known to be convex", hint)


def _culprit(part: Any) -> Any:
    """The smallest expression of a part that CVXPY cannot judge, or the part itself."""
    inner = next((arg for arg in part.args if not arg.is_dcp()), None)
    return part if inner is None else _culprit(inner)
