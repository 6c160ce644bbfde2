"""One bad instance inside a batch of 64: what a library does with it, and with the others."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import torch

from .adapters import PEERS
from .adapters.base import Adapter, CannotError, Tensors
from .faults import FAULTS
from .problem import Array, Job, lookup, problem, thinned

BATCH, AT = 64, 17


def job(fault: str, loss: bool) -> Job:
    """A small problem with a definite Q; for losses, which want linear objectives, without."""
    n, rng = 10, np.random.default_rng(7)
    A, C = thinned(rng, 10, n, 5), thinned(rng, 5, n, 3)
    root = rng.standard_normal((BATCH, n, n)) / n
    Q = root @ np.swapaxes(root, 1, 2) + 0.1 * np.eye(n)
    truths = {"theta": rng.random((BATCH, n)), "b": np.tile(0.5 * A.sum(1), (BATCH, 1)), "Q": Q}
    fixed = {} if loss or fault == "indefinite Q" else {"Q": Q[0]}
    given = {name: truths[name] for name in FAULTS[fault]}
    rows = lookup(**given)
    return Job(
        name=fault, problem=problem(n, C, 0.25 * C.sum(1), 0.2 * rng.random(5), A=A, b=truths["b"][0], **fixed),
        predicts=FAULTS[fault], features=np.zeros((BATCH, 1)), truths=rows, test_features=np.zeros((0, 1)),
        test_truths=rows, batch=BATCH, learning_rate=0.0, network=partial(torch.nn.Linear, 1, 1),
    )  # fmt: skip


def spoil(fault: str, given: dict[str, Array]) -> dict[str, Array]:
    given = {name: value.copy() for name, value in given.items()}
    if fault == "infeasible":
        given["b"][AT, 0] = -1.0
    elif fault == "NaN":
        given["theta"][AT, 3] = np.nan
    else:
        values, vectors = np.linalg.eigh(given["Q"][AT])
        values[0] = -1e-3
        given["Q"][AT] = vectors @ np.diag(values) @ vectors.T
    return given


def run(peer: str, fault: str) -> dict[str, Any]:
    torch.set_num_threads(1)
    torch.set_default_dtype(torch.float64)
    loss = PEERS[peer].kind == "loss"
    made = job(fault, loss)
    if loss and fault != "NaN":
        return {"cannot": "takes one θ an instance and nothing else"}
    good = made.truths(np.arange(BATCH))
    try:
        sound = _answer(PEERS[peer].load()(made, 1), good, good)
        adapter = PEERS[peer].load()(made, 1)
    except CannotError as reason:
        return {"cannot": str(reason)}
    try:
        found = _answer(adapter, spoil(fault, good), good)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # what is raised is the answer, panics of extensions included
        words = str(error).strip() or "without a message"
        return {"exception": f"{type(error).__name__}: {words.splitlines()[0].split('. ')[0][:80]}"}
    statuses = adapter.statuses()
    answer = {"status": None if statuses is None else statuses[AT]}
    others = np.delete(np.arange(BATCH), AT)
    for what, now, before in zip(("x", "gradient"), found, sound):
        if now is None or before is None:
            continue
        answer[f"{what} of others"] = _compare(now[others], before[others])
        own = now[AT]
        answer[f"{what} of it"] = "NaN" if np.isnan(own).any() else "zero" if not own.any() else "finite"
    return answer


def _answer(adapter: Adapter, given: dict[str, Array], true: dict[str, Array]) -> tuple[Array | None, Array]:
    """Decisions and gradients in θ of their sum, or of the loss."""
    leaves: Tensors = {name: torch.tensor(value, requires_grad=True) for name, value in given.items()}
    ids = np.arange(BATCH)
    if adapter.is_layer:
        x = adapter.decide(leaves, ids)
        x.backward(torch.linspace(-1.0, 1.0, x.shape[1]).expand(x.shape))
    else:
        x = None
        adapter.lose(leaves, {name: torch.as_tensor(value) for name, value in true.items()}, ids).backward()
    gradient = leaves["theta"].grad
    assert gradient is not None
    return None if x is None else x.detach().numpy(), gradient.numpy()


def _compare(now: Array, before: Array) -> str:
    if np.isnan(now).all():
        return "NaN"
    if np.isnan(now).any():
        return "some NaN"
    return "same" if np.allclose(now, before, rtol=1e-3, atol=1e-3 * np.abs(before).max()) else "changed"
