"""PyTorch: a layer that decides, and losses on decisions.

>>> import torch, regretless as rl, regretless.torch
>>> farm = rl.Problem(2, A=[[1.0, 1.0]], b=8.0, soft=rl.Soft([[2.0, 1.0]], 10.0, weight=0.5))
>>> layer = rl.torch.DecisionLayer(rl.Surrogate(farm))
>>> theta = torch.tensor([[3.0, 2.0], [1.0, 2.0]], requires_grad=True)
>>> x = layer(theta)
>>> x.sum().backward()
>>> theta.grad.shape
torch.Size([2, 2])
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

try:
    import torch
    from torch.autograd.function import once_differentiable
except ImportError as error:
    raise ImportError(
        "regretless.torch needs PyTorch: pip install torch, or pip install 'regretless[torch]'"
    ) from error

from .cvxpy import CvxpyProblem, from_cvxpy
from .errors import ProblemError, RegretlessWarning
from .losses import DecisionLoss as NumpyLoss
from .losses import Method
from .multipliers import MultiplierRule
from .problem import Problem
from .surrogate import Solution, Surrogate

if TYPE_CHECKING:
    import cvxpy as cp

__all__ = ["CvxpyLayer", "DecisionLayer", "DecisionLoss"]

Tensor = torch.Tensor


def _check(what: str, value: Any) -> None:
    """Refuses what has no gradient and would be cut to whole numbers."""
    if not isinstance(value, Tensor):
        raise TypeError(f"{what} is a {type(value).__name__}: a tensor is expected")
    if not value.is_floating_point():
        raise TypeError(
            f"{what} is a tensor of {value.dtype}: a floating-point one is expected, such as {what}.double()"
        )


def _array(tensor: Tensor) -> np.ndarray[Any, Any]:
    return tensor.numpy(force=True)


class _Remembering(torch.nn.Module):
    """Keeps what was fitted, K and penalties, in ``state_dict``; states without it leave it as it is."""

    def _fitted(self) -> Any:
        raise NotImplementedError

    def get_extra_state(self) -> dict[str, Tensor]:
        """K and penalties of the stacked rows; empty until they are chosen."""
        return {name: torch.tensor(values, dtype=torch.float64) for name, values in self._fitted()._chosen().items()}

    def set_extra_state(self, state: Any) -> None:
        """Takes over what :meth:`get_extra_state` told."""
        self._fitted()._choose_again({name: values.tolist() for name, values in state.items()})

    def _load_from_state_dict(self, state: Any, prefix: str, *rest: Any) -> None:
        # States of before K could be fitted.
        state.setdefault(f"{prefix}_extra_state", self.get_extra_state())
        super()._load_from_state_dict(state, prefix, *rest)


def _decide(layer: DecisionLayer, ids: Any, names: tuple[str, ...], *tensors: Tensor) -> Tensor:
    given = {name: _array(tensor) for name, tensor in zip(names, tensors)}
    solution = layer.surrogate._solve(given, ids, layer.threads, layer.best_effort)
    # Past torch.nn.Module, which looks for parameters and buffers in whatever is set.
    layer.__dict__["solution"] = solution
    return torch.from_numpy(solution.x).to(tensors[0])


def _remember(ctx: Any, inputs: Any) -> None:
    layer, _, names, *tensors = inputs
    ctx.solution, ctx.names, ctx.threads = layer.solution, names, layer.threads
    ctx.devices = [tensor.device for tensor in tensors]


class _Decide(torch.autograd.Function):
    """x of the surrogate; backward is one call for all parameters that want a gradient."""

    @staticmethod
    def forward(ctx: Any, *inputs: Any) -> Tensor:
        x = _decide(*inputs)
        _remember(ctx, inputs)
        return x

    @staticmethod
    def backward(ctx: Any, *outputs: Tensor) -> Any:
        wanted = [name for name, need in zip(ctx.names, ctx.needs_input_grad[3:]) if need]
        # Only those who want a graph of the gradients, or transform them, pay for it.
        pull = _Pull.apply if torch.is_grad_enabled() else _Pull.forward
        found = dict(zip(wanted, pull(ctx.solution, tuple(wanted), ctx.threads, outputs[0])))
        # Torch sums what holds for all instances to its shape, and gives every gradient the dtype of its tensor.
        grads = (found[name].to(device) if name in found else None for name, device in zip(ctx.names, ctx.devices))
        return (None, None, None, *grads)


class _Transformed(_Decide):
    """The same for ``torch.func``: calls take half as long again, so that only transforms make them."""

    forward = staticmethod(_decide)  # type: ignore[assignment]

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        _remember(ctx, inputs)

    @staticmethod
    def vmap(info: Any, in_dims: Any, layer: DecisionLayer, ids: Any, names: tuple[str, ...], *tensors: Tensor) -> Any:
        """All instances of ``torch.func.vmap`` as one batch."""
        if ids is not None:
            raise TypeError("ids are for batches, and vmap makes one of its own: leave them out")
        shapes = layer.surrogate._problem.shapes
        parts = [tensor if dim is None else tensor.movedim(dim, 0) for tensor, dim in zip(tensors, in_dims[3:])]
        # What has a batch axis of its own besides.
        own = [
            tensor.dim() - (dim is not None) > len(shapes[name])
            for name, tensor, dim in zip(names, tensors, in_dims[3:])
        ]
        rows = next((part.shape[dim is not None] for part, dim, has in zip(parts, in_dims[3:], own) if has), None)
        flat = []
        for name, part, dim, has in zip(names, parts, in_dims[3:], own):
            if dim is None and not has:
                flat.append(part)
                continue
            wide = part if dim is not None else part.unsqueeze(0)
            wide = wide if has or rows is None else wide.unsqueeze(1)
            lead = (info.batch_size,) if rows is None else (info.batch_size, rows)
            flat.append(wide.expand(*lead, *shapes[name]).reshape(-1, *shapes[name]))
        x = _decided(layer, None, names, *flat)
        return (x if rows is None else x.reshape(info.batch_size, rows, -1)), 0


def _decided(*inputs: Any) -> Tensor:
    transformed = torch._C._are_functorch_transforms_active()
    x: Tensor = (_Transformed if transformed else _Decide).apply(*inputs)
    return x


class _Pull(torch.autograd.Function):
    """Gradients of a solution; no further derivatives."""

    @staticmethod
    def forward(
        solution: Solution, wanted: tuple[str, ...], threads: int | None, upstream: Tensor
    ) -> tuple[Tensor, ...]:
        found = solution._pull(_array(upstream), list(wanted), threads)
        return tuple(torch.as_tensor(found[name]) for name in wanted)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        pass

    @staticmethod
    def backward(ctx: Any, *outputs: Tensor) -> Any:
        raise RuntimeError("trying to differentiate twice: decisions have first derivatives only")

    @staticmethod
    def vmap(
        info: Any, in_dims: Any, solution: Solution, wanted: tuple[str, ...], threads: Any, upstream: Tensor
    ) -> Any:
        """Of many upstreams one after the other, two triangular solves each; of instances that ``vmap`` made a batch of, at once."""
        rows = upstream.movedim(in_dims[3], 0)
        if rows.shape[1:] == solution.x.shape:
            each = [_Pull.apply(solution, wanted, threads, row) for row in rows]
            return tuple(torch.stack(part) for part in zip(*each)), (0,) * len(wanted)
        found = _Pull.apply(solution, wanted, threads, rows.reshape(solution.x.shape))
        lead = rows.shape[:-1]
        return tuple(part.unflatten(0, lead) for part in found), (0,) * len(wanted)


class DecisionLayer(_Remembering):
    """``x = layer(theta)`` or ``layer(theta=…, C=…, d=…)``: the surrogate's optimum, differentiable in every tensor.

    ``parameters`` names what tensors without a name are, in their order: with ``parameters=["theta", "b"]`` it is ``layer(theta, b)``.
    Tensors with one axis more than the parameter are batches. ``ids`` name the samples, so that each starts where it was solved
    last. ``layer.solution`` holds what the last call found, statuses among it. Instances without an optimum have x NaN, a gradient of
    NaN (0 where no gradient comes in) and a warning; with ``best_effort`` x and gradient of the point that was reached.
    """

    def __init__(
        self,
        surrogate: Surrogate,
        *,
        parameters: Sequence[str] = ("theta",),
        best_effort: bool = False,
        threads: int | None = None,
    ) -> None:
        super().__init__()
        if not isinstance(surrogate, Surrogate):
            raise TypeError(f"a regretless.Surrogate is expected, such as Surrogate(problem), not {surrogate!r}")
        shapes = surrogate._problem.shapes
        if unknown := [name for name in parameters if name not in shapes]:
            raise ProblemError(f"the problem has no parameter `{unknown[0]}`: it has {', '.join(shapes)}")
        self.surrogate = surrogate
        self.parameters_in_order = list(parameters)
        self.best_effort = best_effort
        self.threads = threads
        self.solution: Solution | None = None

    def forward(self, *tensors: Tensor | None, ids: Any = None, **parameters: Tensor) -> Tensor:
        """The decisions."""
        order = self.parameters_in_order
        if len(tensors) > len(order):
            raise TypeError(f"{len(tensors)} tensors for {', '.join(order)}: name the others, or give `parameters`")
        given = dict(zip(order, tensors))
        if twice := [name for name in given if name in parameters]:
            raise TypeError(f"{twice[0]} is given twice")
        given |= parameters
        named = {name: value for name, value in given.items() if value is not None}
        if not named:
            raise TypeError("give at least one parameter as a tensor")
        for name, value in named.items():
            _check(name, value)
        known = _array(ids) if isinstance(ids, Tensor) else ids
        return _decided(self, known, tuple(named), *named.values())

    def __getstate__(self) -> dict[str, Any]:
        # What the last call found is no part of the layer.
        return {**self.__dict__, "solution": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__({"best_effort": False, "parameters_in_order": ["theta"]} | state)  # type: ignore[no-untyped-call]

    def _fitted(self) -> Surrogate:
        return self.surrogate

    def extra_repr(self) -> str:
        return repr(self.surrogate)


class CvxpyLayer(torch.nn.Module):
    """A CVXPY problem as a layer, in the shape of ``cvxpylayers.torch.CvxpyLayer``: tensors for the Parameters in their order, a tuple of
    tensors for the variables in theirs. ``options`` are those of :class:`regretless.Surrogate`, such as ``K`` and ``smoothing``.

    The answer is that of the softened and smoothed problem; ``layer.problem.solve`` is exact.

    >>> import cvxpy as cp, torch, regretless.torch
    >>> x, p = cp.Variable(2, name="x"), cp.Parameter(2, name="p")
    >>> problem = cp.Problem(cp.Minimize(cp.sum_squares(x - p)), [cp.sum(x) == 1])
    >>> layer = regretless.torch.CvxpyLayer(problem, parameters=[p], variables=[x])
    >>> (nearest,) = layer(torch.tensor([[1.0, 1.0], [2.0, 0.0]], dtype=torch.float64))
    >>> nearest.round(decimals=2).tolist()
    [[0.5, 0.5], [1.5, -0.5]]
    """

    def __init__(
        self,
        problem: cp.Problem | CvxpyProblem,
        parameters: Sequence[Any],
        variables: Sequence[Any],
        *,
        threads: int | None = None,
        **options: Any,
    ) -> None:
        super().__init__()
        #: The problem as it was read.
        self.problem = problem if isinstance(problem, CvxpyProblem) else from_cvxpy(problem)
        self.parameter_names = self._known("Parameter", parameters, list(self.problem.parameters))
        self.variable_names = self._known("variable", variables, self.problem.variable_names)
        self.layer = DecisionLayer(Surrogate(self.problem, **options), threads=threads)

    @staticmethod
    def _known(what: str, given: Sequence[Any], known: list[str]) -> list[str]:
        names = [item if isinstance(item, str) else item.name() for item in given]
        if unknown := [name for name in names if name not in known]:
            raise ProblemError(f"the problem has no {what} `{unknown[0]}`: it has {', '.join(known)}")
        return names

    def forward(
        self, *tensors: Tensor, solver_args: Mapping[str, Any] | None = None, ids: Any = None
    ) -> tuple[Tensor, ...]:
        """The variables' optimal values."""
        if len(tensors) != len(self.parameter_names):
            raise TypeError(f"{len(tensors)} tensors, expected one for each of {', '.join(self.parameter_names)}")
        if solver_args:
            message = "solver_args are for other solvers and do nothing here"
            warnings.warn(message, RegretlessWarning, stacklevel=2)
        given = self.problem.given(dict(zip(self.parameter_names, tensors)))
        parts = self.problem.split(self.layer(ids=ids, **given))
        return tuple(parts[name] for name in self.variable_names)


def _plain(values: Any) -> Any:
    if isinstance(values, Mapping):
        return {name: _plain(value) for name, value in values.items()}
    return _array(values) if isinstance(values, Tensor) else values


def _lose(module: DecisionLoss, truths: Any, known: Any, ids: Any, names: tuple[str, ...], *tensors: Tensor) -> Tensor:
    # Here and not before: a transform of torch.func would wrap what is made of tensors outside.
    truths, known, ids = _plain(truths), _plain(known), _plain(ids)
    given = {name: _array(tensor) for name, tensor in zip(names, tensors)}
    one = len(names) == 1
    shown = given[names[0]] if one else given
    result = module.loss(shown, truths, known=known, ids=ids, threads=module.threads)
    module.troubles = result.troubles
    values = result.value
    # Those that are left out are no part of the mean; those that are marked make it NaN, as in any other loss.
    skipped = len(result.troubles) if module.loss.infeasible == "skip" else 0
    judged = len(values) - skipped
    rows = max(judged, 1) if module.reduction == "mean" else 1
    found = result.gradient
    gradients = found if isinstance(found, dict) else {names[0]: found}
    module.__dict__["_slopes"] = [
        torch.as_tensor(gradients[name] / rows, dtype=tensor.dtype, device=tensor.device)
        for name, tensor in zip(names, tensors)
    ]
    if module.reduction != "none":
        total = float(np.nansum(values) if skipped else values.sum())
        # A batch without a single loss has no mean.
        values = np.asarray(float("nan") if skipped and not judged else total / rows)
    return torch.as_tensor(values, dtype=tensors[0].dtype, device=tensors[0].device)


def _slopes(ctx: Any, module: DecisionLoss) -> None:
    """Puts the gradients of the last call to where its backward pass finds them; each level of torch.func asks."""
    ctx.each, ctx.grads = module.reduction == "none", module.__dict__["_slopes"]


def _times(ctx: Any, upstream: Tensor, grad: Tensor) -> Tensor:
    return (upstream.reshape(-1, *[1] * (grad.dim() - 1)) if ctx.each else upstream) * grad


class _Lose(torch.autograd.Function):
    """Losses of a batch, reduced as asked, with the gradients that came with the values."""

    @staticmethod
    def forward(ctx: Any, *inputs: Any) -> Tensor:
        value = _lose(*inputs)
        _slopes(ctx, inputs[0])
        return value

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *outputs: Tensor) -> Any:
        return (None,) * 5 + tuple(_times(ctx, outputs[0], grad) for grad in ctx.grads)


class _Lost(torch.autograd.Function):
    """The same for ``torch.func``, of predictions that it transforms."""

    forward = staticmethod(_lose)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        _slopes(ctx, inputs[0])
        ctx.save_for_backward(*inputs[5:])

    @staticmethod
    def backward(ctx: Any, *outputs: Tensor) -> Any:
        found = (_times(ctx, outputs[0], grad) for grad in ctx.grads)
        return (None,) * 5 + tuple(_Once.apply(grad, *ctx.saved_tensors) for grad in found)


class _Once(torch.autograd.Function):
    """A gradient at some predictions, which has no further derivatives."""

    @staticmethod
    def forward(gradient: Tensor, *at: Tensor) -> Tensor:
        return gradient.clone()

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        pass

    @staticmethod
    def backward(ctx: Any, *outputs: Tensor) -> Any:
        raise RuntimeError("trying to differentiate twice: decision losses have first derivatives only")


class DecisionLoss(_Remembering):
    """``loss(predicted, true)``: the decision loss of a batch, see :class:`regretless.DecisionLoss`.

    ``reduction`` is ``"mean"``, ``"sum"`` or ``"none"``: a loss for each sample.

    >>> import torch, regretless as rl, regretless.torch
    >>> machine = rl.Problem(2, A=[[1.0, 1.0]], b=1.0)
    >>> loss = rl.torch.DecisionLoss(machine, method="spo+")
    >>> predicted = torch.tensor([[1.0, 2.0]], requires_grad=True)
    >>> loss(predicted, torch.tensor([[2.0, 1.5]])).backward()
    >>> predicted.grad
    tensor([[-2.,  2.]])
    """

    def __init__(
        self,
        problem: Problem,
        method: Method | str = "surrogate",
        *,
        predict: str | Sequence[str] | None = None,
        K: float | Mapping[str, Any] | Literal["auto"] = "auto",
        multipliers: MultiplierRule = "dual",
        mix: float | None = None,
        reduction: Literal["mean", "sum", "none"] = "mean",
        threads: int | None = None,
        **options: Any,
    ) -> None:
        super().__init__()
        if reduction not in ("mean", "sum", "none"):
            raise ValueError(f"reduction is {reduction!r}: 'mean', 'sum' or 'none'")
        self.reduction = reduction
        self.loss = NumpyLoss(problem, method, predict=predict, K=K, multipliers=multipliers, mix=mix, **options)
        self.threads = threads
        #: Samples of the last batch that had no loss.
        self.troubles: dict[int, str] = {}

    def forward(
        self,
        predicted: Tensor | Mapping[str, Tensor],
        true: Tensor | Mapping[str, Tensor],
        *,
        known: Any = None,
        ids: Any = None,
    ) -> Tensor:
        """The loss, reduced as asked; ``known`` is what is known of the rows, see :class:`regretless.Quantities`."""
        names = self.loss._predicted.names
        given = predicted if isinstance(predicted, Mapping) else {names[0]: predicted}
        if set(given) != set(names):
            raise TypeError(f"predictions are of {', '.join(given)}, expected {', '.join(names)}")
        for what, value in (("predictions", given), ("truths", true if isinstance(true, Mapping) else {"": true})):
            for name, tensor in value.items():
                _check(f"{what} of {name}" if name else what, tensor)
        tensors = [given[name] for name in names]
        lose = _Lost if torch._C._are_functorch_transforms_active() else _Lose
        try:
            return lose.apply(self, true, known, ids, tuple(names), *tensors)  # type: ignore[no-any-return]
        finally:
            self.__dict__.pop("_slopes", None)

    def _fitted(self) -> NumpyLoss:
        return self.loss

    def extra_repr(self) -> str:
        return f"method={self.loss.method!r}, K={self.loss._K!r}"
