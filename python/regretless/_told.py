"""What a training tells: its epochs, what was tried, what it came to."""

from __future__ import annotations

import json
from typing import Any, TypedDict, cast

__all__ = ["Activity", "Candidate", "Card", "Epoch", "Exhibit", "Measures", "Outcome", "Record"]


class Measures(TypedDict):
    """Measures of some rows; ``None`` where nothing was decided."""

    instances: int
    undecided: int
    regret: float | None
    standard_error: float | None
    relative: float | None
    quantiles: list[float | None]
    cvar90: float | None
    violation: float | None
    violated: float | None
    mse: float | None
    mae: float | None


class _Sometimes(TypedDict, total=False):
    """What some epochs have: the loss on validation of forecasts, and whether predictions ran away."""

    valid_loss: float
    ran_away: bool


class Epoch(_Sometimes):
    """An epoch as a row of a table; the measures on validation begin with ``valid_``, times with ``seconds_``."""

    stage: str
    epoch: int
    loss: float | None
    valid_instances: int
    valid_undecided: int
    valid_regret: float | None
    valid_standard_error: float | None
    valid_relative: float | None
    valid_quantiles: list[float | None]
    valid_cvar90: float | None
    valid_violation: float | None
    valid_violated: float | None
    valid_mse: float | None
    valid_mae: float | None
    best: bool
    rate: float
    k: float
    mix: float
    gradient: float | None
    zero_gradients: float | None
    troubles: int
    raised: int
    breakpoints: float | None
    seconds_network: float
    seconds_solve: float
    seconds_gradient: float
    seconds_validation: float


class Gap(TypedDict):
    """A mean gap with its 95 % interval."""

    mean: float
    interval: list[float]


class _Candidate(TypedDict):
    name: str
    k: float | None
    valid: Measures
    ended: str
    epochs: int
    best: int
    seconds: float
    folds: int
    work: float


class Candidate(_Candidate, total=False):
    """A predictor that was trained on the way."""

    #: Of candidates of `auto`: the mean regret on each fold, and how much more they cost than what was kept.
    by_fold: list[float | None]
    gap: Gap


class _Card(TypedDict):
    format: int
    version: str
    method: str
    members: int
    constant: bool
    features: list[str]
    targets: list[str]
    per_variable: list[list[int]] | None


class Card(_Card, total=False):
    """What a model file says about itself."""

    #: Columns that are known by row, if there are any.
    known: list[str]


class Activity(TypedDict):
    """Shares of instances in which a row had slack, was at its limit or was violated."""

    name: str
    slack: float
    limit: float
    violated: float
    short: float


class Exhibit(TypedDict):
    """What pages show of decisions: regrets, some predicted numbers with what came true of them, what the rows did."""

    regrets: list[float]
    predicted: list[float | None]
    realised: list[float | None]
    cost: list[float | None]
    activity: list[Activity]


class _OfRows(TypedDict, total=False):
    """What older records lack."""

    account: Account | None


class Record(_OfRows):
    """One training of a comparison: ``measures`` and ``regrets`` are of the rows that methods are judged on."""

    method: str
    seed: int
    tried: list[Candidate]
    sentence: str
    history: list[Epoch]
    ended: str
    measures: Measures
    regrets: list[float | None]
    exhibit: Exhibit
    sharpness: list[tuple[float, float | None]]
    seconds: float


class Money(TypedDict):
    """Sums over the rows with a decision, in the objective's units."""

    decisions: int
    mean: float | None
    total: float
    optimal: float
    regret: float


class Rival(TypedDict):
    """Another who decided the same rows: above 0 ``advantage`` says that the model is better, on average and in ``total``."""

    name: str
    decisions: int
    mean: float | None
    own: float | None
    advantage: float | None
    standard_error: float | None
    total: float
    violated: float | None


class Group(TypedDict):
    """What decisions of a period or a series came to."""

    name: str
    decisions: int
    total: float
    regret: float
    advantage: list[float]


class Grouping(TypedDict):
    """The groups of the column ``by``."""

    by: str
    groups: list[Group]


class Side(TypedDict):
    """One side of a soft row: the share of decisions there, how far they were, what it cost a decision."""

    priced: bool
    share: float
    amount: float
    cost: float


class SoftRow(TypedDict):
    """A soft row."""

    name: str
    rows: int
    over: Side
    short: Side


class HardRow(TypedDict):
    """A hard row: how often it was at its limit, or broken."""

    name: str
    equation: bool
    limit: float
    violated: float


class Bound(TypedDict):
    """How often a variable was at its bounds."""

    name: str
    lower: float
    upper: float


class QuantityError(TypedDict):
    """How far predictions of a quantity were off."""

    name: str
    mean: float | None
    bias: float | None
    mae: float | None
    rmse: float | None


class _Dated(TypedDict, total=False):
    """Where rows have dates, and where the user names columns to tell them apart by."""

    period: str
    groups: list[Grouping]


class Worth(TypedDict):
    """What a feature is worth to decisions."""

    name: str
    regret: float | None
    standard_error: float | None
    moved: float


class Importance(TypedDict):
    """What the features of a model are worth to decisions, those that are worth most first."""

    rows: int
    shuffles: int
    regret: float | None
    features: list[Worth]


class _Asked(_Dated, total=False):
    """What is there if somebody asked."""

    importance: Importance


class Account(_Asked):
    """What decisions brought or cost: ``docs/outputs.md`` says what is what."""

    objective: str
    achieved: Money
    against: list[Rival]
    periods: list[Group]
    series: list[Group]
    soft: list[SoftRow]
    hard: list[HardRow]
    bounds: list[Bound]
    errors: list[QuantityError]


class _Newer(TypedDict, total=False):
    """What older runs lack."""

    account: Account
    features: list[str]
    unused: list[str]
    #: Of `auto`, where its time was up: after how many rungs it was cut.
    cut: int


class Outcome(_Newer):
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
    exhibit: Exhibit


def flat(epochs: str) -> list[Epoch]:
    """Epochs as rows of a table."""
    return [_flat(epoch) for epoch in json.loads(epochs)]


def _flat(epoch: dict[str, Any]) -> Epoch:
    out: dict[str, Any] = {}
    for key, value in epoch.items():
        if isinstance(value, dict):
            out |= {f"{key}_{inner}": number for inner, number in value.items()}
        else:
            out[key] = value
    return cast(Epoch, out)


def records(told: str) -> list[Record]:
    """Trainings, their epochs as rows of a table."""
    return [found | {"history": [_flat(epoch) for epoch in found["history"]]} for found in json.loads(told)]


def one(epoch: str) -> Epoch:
    """An epoch as a row of a table."""
    return _flat(json.loads(epoch))


def learning_curve(epochs: list[Epoch], ax: Any) -> Any:
    """Regret on validation by epoch, a line a stage; the folds of a search are left out."""
    for stage in dict.fromkeys(epoch["stage"] for epoch in epochs):
        if ", fold " in stage:
            continue
        own = [epoch for epoch in epochs if epoch["stage"] == stage]
        ax.plot(
            [e["epoch"] for e in own], [e["valid_regret"] for e in own], label=stage, marker="." if len(own) < 3 else ""
        )
    ax.set_xlabel("epoch")
    ax.set_ylabel("regret on validation")
    ax.legend()
    return ax
