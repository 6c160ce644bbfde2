"""Figures of a training job, put together from the files of a run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from math import sqrt
from statistics import mean, median, stdev
from typing import Any

from .adapters import BASELINES, HELD, OURS, PEERS, Entry
from .plan import UNUSABLE, Plan


@dataclass(frozen=True)
class Result:
    """What one library did with one job."""

    plan: Plan
    job: str
    peer: str

    @property
    def entry(self) -> Entry:
        return PEERS[self.peer]

    @cached_property
    def raw(self) -> dict[str, Any]:
        return self.plan.training(self.job, self.peer, 0, 1)

    @property
    def there(self) -> bool:
        return "epochs" in self.raw

    @property
    def why_not(self) -> str:
        return str(self.raw.get("cannot") or self.raw.get("failed") or "not run")

    def seconds(self, epoch: int, threads: int = 1, part: str = "") -> float | None:
        """Seconds of solving and differentiating in an epoch, the first being 1; what is built once counts for it."""
        raw = self.raw if threads == 1 else self.plan.training(self.job, self.peer, 0, threads)
        epochs = raw.get("epochs")
        if not epochs:
            return None
        at = epochs[min(epoch, len(epochs)) - 1]
        parts = [part] if part else ["forward", "backward"]
        # Processor seconds of two threads are no measure of what the second one is worth.
        clock = self.plan.clock if threads == 1 else "wall"
        return sum(at[f"{name}_{clock}"] for name in parts) + (raw["built"][clock] if epoch == 1 and not part else 0.0)

    @property
    def steady(self) -> float | None:
        """The median of the epochs from the second on."""
        later = [self.seconds(epoch) for epoch in range(2, len(self.raw.get("epochs", ())) + 1)]
        return median(second for second in later if second is not None) if later else None

    @property
    def useless(self) -> float | None:
        return mean(epoch["useless"] for epoch in self.raw["epochs"][:5]) if self.there else None

    @property
    def usable(self) -> bool:
        return self.useless is not None and self.useless < UNUSABLE

    @property
    def sampled(self) -> int | None:
        return self.raw.get("sampled")

    @property
    def peak(self) -> float | None:
        return self.raw["memory"]["peak"] if self.there else None

    @cached_property
    def regrets(self) -> dict[int, float]:
        found = {seed: self.plan.judged(self.job, seed).get("regret", {}) for seed in range(10)}
        return {seed: by_peer[self.peer] for seed, by_peer in found.items() if self.peer in by_peer}

    @property
    def regret(self) -> str:
        values = list(self.regrets.values())
        if not values:
            return "–"
        spread = f" ± {stdev(values):.2g}" if len(values) > 1 else ""
        return f"{mean(values):.4g}{spread} ({len(values)})"

    def worse_than(self, other: Result) -> tuple[float, float] | None:
        """Mean difference of regrets over the seeds that both have, and its standard error."""
        common = [self.regrets[seed] - other.regrets[seed] for seed in self.regrets if seed in other.regrets]
        if not common:
            return None
        return mean(common), stdev(common) / sqrt(len(common)) if len(common) > 1 else float("nan")


def rivals(there: dict[str, Result]) -> Iterator[tuple[Result, Result]]:
    """Ours, each with every peer of the same kind."""
    for mine in (there[peer] for peer in HELD if peer in there):
        for peer, other in there.items():
            if peer not in (*OURS, *BASELINES) and other.entry.kind == mine.entry.kind:
                yield mine, other


def constants(plan: Plan, job: str) -> list[float]:
    """Regret of predicting the training mean, seed by seed."""
    judged = [plan.judged(job, seed) for seed in range(10)]
    return [one["constant"] for one in judged if "constant" in one]


def results(plan: Plan, job: str) -> dict[str, Result]:
    return {
        peer: Result(plan, job, peer)
        for peer in PEERS
        if (plan.out / "training" / job / f"{peer}-threads1-seed0.json").exists()
    }
