"""Where we lose, whether it was aimed at or not: targets missed, regret below ours, a second thread that costs."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import mean

from .adapters import BASELINES, HELD
from .plan import TRAINED, Plan
from .results import Result, constants, results, rivals
from .tables import number
from .targets import Target


def lost(plan: Plan, reached: list[Target]) -> str:
    lines = [f"- {t.job}: {t.what}: {t.found} (wanted {t.wanted})" for t in reached if not t.met]
    for job in (job for jobs in TRAINED.values() for job in jobs):
        there = {peer: result for peer, result in results(plan, job).items() if result.there}
        if held := [there[peer] for peer in HELD if peer in there]:
            name = held[0].raw["job"]
            found = [*_simpler(plan, job, there), *_lower(there), *_threads(there)]
            lines += [f"- {name}: {line}" for line in found]
    return "\n".join(["## Where we lose", "", *(lines or ["Nowhere in this run."])])


def _simpler(plan: Plan, job: str, there: dict[str, Result]) -> Iterator[str]:
    """Predictors that are trained without any solver, and decide better."""
    without = {there[peer].entry.label: list(there[peer].regrets.values()) for peer in BASELINES if peer in there}
    without["constant (training mean)"] = constants(plan, job)
    for label, regrets in without.items():
        beaten = {peer: mean(there[peer].regrets.values()) for peer in HELD if peer in there and there[peer].regrets}
        beaten = {peer: own for peer, own in beaten.items() if regrets and mean(regrets) < own}
        if beaten:
            ours = " and ".join(f"{there[peer].entry.label} {own:.4g}" for peer, own in beaten.items())
            yield f"{label} decides better than what was trained through a problem: regret {mean(regrets):.4g}, {ours}"


def _lower(there: dict[str, Result]) -> Iterator[str]:
    """Peers of the same kind whose regret is lower on the seeds both have."""
    for mine, other in rivals(there):
        if (difference := mine.worse_than(other)) and difference[0] > 1e-9:
            by, error = difference
            spread = "one seed" if error != error else f"± {error:.2g}"
            yield f"{other.entry.label} has {by:.3g} less regret than {mine.entry.label} ({spread})"


def _threads(there: dict[str, Result]) -> Iterator[str]:
    for mine in (peer for peer in HELD if peer in there):
        one, two = (there[mine].seconds(5, threads) for threads in (1, 2))
        if one and two and two > one:
            label = there[mine].entry.label
            yield f"two threads make {label} slower: {number(two)} s an epoch, {number(one)} s with one"
