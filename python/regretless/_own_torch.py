"""Training of a PyTorch module of the user's: Adam on minibatches, stopped by what decisions on validation cost."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from ._arrays import Float
from ._own import Part
from ._own_decisions import loss_settings
from ._predicted import Predicted
from .errors import TrainingError
from .measures import regret
from .torch import DecisionLoss

#: Epochs, rows of a batch, step size and epochs without a better regret, where the settings say nothing.
EPOCHS, BATCH, RATE, PATIENCE = 100, 32, 1e-3, 10


def numbers(X: Any) -> Float:
    """Features as an array; frames of numbers too."""
    try:
        found = np.asarray(X.to_numpy() if hasattr(X, "to_numpy") else X, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise TrainingError(f"a module takes features that are numbers: {error}") from error
    if not np.isfinite(found).all():
        raise TrainingError("a module takes features that are finite: fill what is missing")
    return found


class Trained:
    """A module that was trained: features standardised on the way in, predictions in the units of the truths."""

    def __init__(self, module: torch.nn.Module, X: Float, y: Float) -> None:
        self.module = module
        self._centre, self._unit = X.mean(axis=0), _unit(X)
        self._mean, self._deviation = y.mean(axis=0), _unit(y)

    def inputs(self, X: Any) -> torch.Tensor:
        """Standardised features, in the module's own precision."""
        first = next(self.module.parameters(), None)
        rows = torch.as_tensor((numbers(X) - self._centre) / self._unit)
        return rows if first is None else rows.to(first)

    def restored(self, outputs: torch.Tensor) -> torch.Tensor:
        """Predictions behind outputs, rows × width."""
        width = len(self._mean)
        rows = outputs.shape[0] if outputs.ndim else 0
        if outputs.numel() != rows * width:
            raise TrainingError(f"the module gives the shape {tuple(outputs.shape)}, expected ({rows}, {width})")
        flat = outputs.reshape(rows, width).double()
        return torch.as_tensor(self._mean) + torch.as_tensor(self._deviation) * flat.cpu()

    def predict(self, X: Any) -> Float:
        """Predictions for rows of features."""
        self.module.eval()
        with torch.no_grad():
            return self.restored(self.module(self.inputs(X))).numpy()


def _unit(table: Float) -> Float:
    deviation = table.std(axis=0)
    return np.asarray(np.where(deviation > 0.0, deviation, 1.0))


def learn(
    module: torch.nn.Module,
    part: Part,
    held: Part,
    layout: Predicted,
    method: str,
    settings: Mapping[str, Any],
    seed: int,
) -> Trained:
    """Trains a module on decisions, or with ``l2`` on squared errors, and keeps its state with the lowest regret on ``held``."""
    trained = Trained(module, numbers(part.X), part.y)
    told = loss_settings(layout, settings)
    warmup = settings.get("warmup") or 0
    if not isinstance(warmup, int):
        raise TrainingError(
            f"warmup is {warmup!r}: the epochs of squared errors before a module's decision loss, a number"
        )
    loss = None
    if method != "l2":
        loss = DecisionLoss(layout.problem, method, infeasible="skip", reduction="none", **told)
    optimizer = torch.optim.Adam(
        module.parameters(),
        lr=settings.get("learning_rate") or RATE,
        weight_decay=settings.get("weight_decay") or 0.0,
    )
    inputs, truths = trained.inputs(part.X), torch.as_tensor(part.y)
    weights = torch.ones(len(part.y), dtype=torch.double) if part.weights is None else torch.as_tensor(part.weights)
    weights = weights / weights.mean()
    unit = torch.as_tensor(trained._deviation)

    def step(at: torch.Tensor, number: int) -> None:
        predicted = trained.restored(module(inputs[at]))
        if loss is None or number < warmup:
            each = (((predicted - truths[at]) / unit) ** 2).mean(dim=1) / 2
        else:
            rows = at.numpy()
            known = None if part.known is None else {name: values[rows] for name, values in part.known.items()}
            given = _by_name(layout, predicted)
            true = _by_name(layout, truths[at])
            each = loss(given, true, known=known, ids=rows)
            each = torch.where(torch.isfinite(each), each, torch.zeros_like(each))
        optimizer.zero_grad()
        torch.autograd.backward((weights[at] * each.reshape(len(at), -1).mean(dim=1)).mean())
        optimizer.step()

    def cost() -> float:
        if not len(held.y):
            return float("nan")
        judged = regret(
            layout.problem,
            layout.shaped(trained.predict(held.X)),
            layout.shaped(held.y),
            predict=told["predict"],
            known=held.known,
        )
        return float("nan") if judged.undecided else float(judged.mean)

    order = torch.Generator().manual_seed(seed)
    batch = settings.get("batch") or BATCH
    best, state, waited = cost(), copy.deepcopy(module.state_dict()), 0
    # Drop-out draws from the one generator that all share.
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        for number in range(settings.get("epochs") or EPOCHS):
            module.train()
            for at in torch.split(torch.randperm(len(part.y), generator=order), batch):
                step(at, number)
            if loss is not None:
                loss.loss.end_epoch()
            found = cost()
            # Without rows to choose by the last epoch is kept.
            if not found >= best:
                best, state, waited = found, copy.deepcopy(module.state_dict()), 0
            elif number >= warmup:
                waited += 1
            if waited >= (settings.get("patience") or PATIENCE):
                break
    module.load_state_dict(state)
    return trained


def _by_name(layout: Predicted, rows: torch.Tensor) -> Any:
    """A tensor for one parameter, a dict for several."""
    out, start = {}, 0
    for name, shape in layout.shapes.items():
        width = int(np.prod(shape))
        out[name] = rows[:, start : start + width].reshape(len(rows), *shape)
        start += width
    return out[layout.names[0]] if len(out) == 1 else out
