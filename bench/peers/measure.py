"""Trains the network of a job through a library and takes the time of solving and differentiating, nothing else."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from .adapters.base import Adapter, Tensors, layer_loss, objective
from .problem import Job

#: A gradient this much shorter than the median of its batch is useless.
SHORT = 1e-6
#: So is one of a decision that moves by less than this share of itself when the prediction moves by all of itself.
RIGID = 3e-4
#: Batches an epoch of a library that is too slow for whole ones, and epochs.
SAMPLED, SAMPLED_EPOCHS = 3, 5


@dataclass
class Clock:
    """Wall and processor seconds."""

    wall: float = 0.0
    cpu: float = 0.0

    def __enter__(self) -> None:
        self._start = (time.perf_counter(), time.process_time())

    def __exit__(self, *_: Any) -> None:
        self.wall += time.perf_counter() - self._start[0]
        self.cpu += time.process_time() - self._start[1]


@dataclass
class Epoch:
    """Seconds of all batches together; ``scale`` of them make a whole epoch."""

    forward: Clock = field(default_factory=Clock)
    backward: Clock = field(default_factory=Clock)
    samples: int = 0
    useless: int = 0
    loss: float = 0.0

    def record(self, rows: int) -> dict[str, float]:
        scale = rows / max(self.samples, 1)
        parts = {"forward": self.forward, "backward": self.backward}
        times = {f"{k}_{unit}": v * scale for k, clock in parts.items() for unit, v in asdict(clock).items()}
        return {**times, "useless": self.useless / max(self.samples, 1), "loss": self.loss}


def step(adapter: Adapter, predicted: Tensors, true: Tensors, ids: np.ndarray, epoch: Epoch) -> Tensors:
    """Gradients of the mean loss in what is predicted. Of a layer only the decisions and the way back through it are timed."""
    leaves = {name: tensor.detach().requires_grad_() for name, tensor in predicted.items()}
    if adapter.is_layer:
        with epoch.forward:
            x = adapter.decide(leaves, ids)
        at = x.detach().requires_grad_()
        loss = layer_loss(adapter.job, at, true)
        loss.backward()
        with epoch.backward:
            x.backward(at.grad)
        (slope,) = torch.autograd.grad(objective(adapter.job.problem, at, true).mean(), at)
        steepness = _norms(slope) * _norms(at.detach())
    else:
        with epoch.forward:
            loss = adapter.lose(leaves, true, ids)
        with epoch.backward:
            loss.backward()
        steepness = None
    first = adapter.job.predicts[0]
    norms, size = _norms(leaves[first].grad), _norms(leaves[first].detach())
    epoch.samples += len(ids)
    epoch.loss = float(loss.detach())
    epoch.useless += _useless(norms, size, steepness)
    return {name: leaf.grad for name, leaf in leaves.items()}


def _norms(rows: Tensor | None) -> Tensor:
    assert rows is not None
    return rows.flatten(1).norm(dim=1)


def _useless(norms: Tensor, size: Tensor, steepness: Tensor | None) -> int:
    bad = ~norms.isfinite() | ~(norms >= SHORT * norms[norms.isfinite()].median())
    if steepness is not None:
        bad |= ~(norms * size >= RIGID * steepness)
    return int(bad.sum())


def batches(job: Job, seed: int, epoch: int, rows: int) -> Iterator[np.ndarray]:
    order = np.random.default_rng([seed, epoch]).permutation(rows)
    return (order[i : i + job.batch] for i in range(0, rows, job.batch))


def warm_up() -> None:
    """What torch loads at its first backward pass and optimiser step is no library's fault."""
    leaf = torch.zeros(2, requires_grad=True)
    (2.0 * leaf).backward(torch.ones(2))
    torch.optim.Adam([leaf]).step()


def visits(adapter_type: type[Adapter], job: Job, predictions: list[np.ndarray], size: int) -> list[Clock]:
    """Microseconds a sample of visiting all of a job's in batches, for one prediction of θ after another; the first builds the adapter."""
    times, adapter = [], None
    for prediction in predictions:
        clock = Epoch()
        with clock.forward:
            adapter = adapter or adapter_type(job, 1)
        for ids in (np.arange(job.rows)[i : i + size] for i in range(0, job.rows, size)):
            true = {"theta": torch.as_tensor(job.truths(ids)["theta"])}
            step(adapter, {"theta": torch.as_tensor(prediction[ids])}, true, ids, clock)
        ways, scale = (clock.forward, clock.backward), 1e6 / job.rows
        times.append(Clock(scale * sum(way.wall for way in ways), scale * sum(way.cpu for way in ways)))
    return times


def train(adapter: Adapter, seed: int, epochs: int, cap: float) -> tuple[torch.nn.Module, dict[str, Any]]:
    """The trained network and what was measured; over ``cap`` seconds in all, epochs are of some batches only."""
    job = adapter.job
    torch.manual_seed(seed)
    network = job.network()
    features = torch.as_tensor(job.features)
    optimizer = torch.optim.Adam(network.parameters(), lr=job.learning_rate)
    rows, records = job.rows, []
    for number in range(epochs):
        if rows < job.rows and number == SAMPLED_EPOCHS:
            break
        epoch = Epoch()
        for done, ids in enumerate(batches(job, seed, number, rows), start=1):
            true = {name: torch.as_tensor(value) for name, value in job.truths(ids).items()}
            predicted = network(features[ids])
            gradients = step(adapter, predicted, true, ids, epoch)
            optimizer.zero_grad()
            usable = {k: torch.nan_to_num(g, 0.0, 0.0, 0.0) for k, g in gradients.items()}
            torch.autograd.backward([predicted[k] for k in usable], list(usable.values()))
            optimizer.step()
            seconds = epoch.forward.wall + epoch.backward.wall
            if number == 0 and done == SAMPLED and seconds / done * (job.rows / job.batch) * epochs > cap:
                rows = SAMPLED * job.batch
                break
        records.append(epoch.record(job.rows))
    return network, {"epochs": records, "sampled": rows if rows < job.rows else None}


def predict(network: torch.nn.Module, features: np.ndarray, into: Path) -> None:
    """Predictions for the rows that are judged on, to a file."""
    with torch.no_grad():
        np.savez(into, **{name: value.numpy() for name, value in network(torch.as_tensor(features)).items()})
