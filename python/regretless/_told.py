"""What a training tells: its epochs, what was tried, what it came to."""

from __future__ import annotations

import json
from typing import Any, TypedDict

__all__ = ["Candidate", "Card", "Epoch", "Measures", "Outcome"]


class Measures(TypedDict):
    """Measures of some rows; ``None`` where nothing was decided."""

    instances: int
    undecided: int
    regret: float | None
    standard_error: float | None
    relative: float | None
    quantiles: list[float | None]
    cvar90: float | None
    violation: float
    violated: float
    mse: float | None
    mae: float | None


#: An epoch: ``stage``, ``epoch``, ``loss``, ``valid_regret``, ``rate``, …; the measures on validation begin with ``valid_``.
Epoch = dict[str, Any]


class Candidate(TypedDict):
    """A predictor that was trained on the way."""

    name: str
    k: float | None
    valid: Measures
    ended: str
    epochs: int
    best: int
    seconds: float


class Card(TypedDict):
    """What a model file says about itself."""

    format: int
    version: str
    method: str
    members: int
    constant: bool
    features: list[str]
    targets: list[str]
    per_variable: list[list[int]] | None


class Outcome(TypedDict):
    """What training came to."""

    method: str
    kept: str
    sentence: str
    ended: str
    interrupted: bool
    seed: int
    rows: list[int]
    valid: Measures
    test: Measures | None
    constant: Measures
    tried: list[Candidate]
    seconds: float
    notes: list[str]
    warnings: list[str]
    exhibit: dict[str, Any]


def flat(epochs: str) -> list[Epoch]:
    """Epochs as rows of a table."""
    return [_flat(epoch) for epoch in json.loads(epochs)]


def _flat(epoch: dict[str, Any]) -> Epoch:
    out: Epoch = {}
    for key, value in epoch.items():
        if isinstance(value, dict):
            out |= {f"{key}_{inner}": number for inner, number in value.items()}
        else:
            out[key] = value
    return out


def one(epoch: str) -> Epoch:
    """An epoch as a row of a table."""
    return _flat(json.loads(epoch))


def learning_curve(epochs: list[Epoch], ax: Any) -> Any:
    """Regret on validation by epoch, a line a stage."""
    for stage in dict.fromkeys(epoch["stage"] for epoch in epochs):
        own = [epoch for epoch in epochs if epoch["stage"] == stage]
        ax.plot(
            [e["epoch"] for e in own], [e["valid_regret"] for e in own], label=stage, marker="." if len(own) < 3 else ""
        )
    ax.set_xlabel("epoch")
    ax.set_ylabel("regret on validation")
    ax.legend()
    return ax
