"""What was aimed at, and whether it was reached: ratios within one run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from .adapters import BASELINES, HELD, OURS, PEERS
from .plan import TRAINED, Plan
from .results import Result, results, rivals
from .tables import Table, number

#: Times faster than the fastest peer with a usable gradient, from the second epoch on.
FASTER = {"lp-40": 10.0, "lp-80": 10.0, "portfolio-50": 5.0, "portfolio-250": 5.0, "provisioning": 10.0}
CVXPYLAYERS = {"lp-40": 100.0, "lp-80": 100.0}


@dataclass(frozen=True)
class Target:
    job: str
    what: str
    found: str
    wanted: str
    met: bool

    def row(self) -> list[str]:
        return [self.job, self.what, self.found, self.wanted, "yes" if self.met else "**no**"]


def targets(plan: Plan) -> list[Target]:
    found: list[Target] = []
    for job in (job for jobs in TRAINED.values() for job in jobs):
        there = {peer: r for peer, r in results(plan, job).items() if r.there and peer not in BASELINES}
        if any(peer in HELD for peer in there) and any(peer not in OURS for peer in there):
            found += [*_layer(job, there), *_loss(there), *_memory(there), *_regret(there)]
    return [*found, *_border(plan)]


def _ratio(what: str, wanted: float, pool: list[Result], own: Result, epoch: str) -> Iterator[Target]:
    seconds = {r.peer: r.seconds(1) if epoch == "first" else r.steady for r in pool}
    mine = own.seconds(1) if epoch == "first" else own.steady
    if known := {peer: s for peer, s in seconds.items() if s}:
        fastest = min(known, key=lambda peer: known[peer])
        times, words = known[fastest] / mine if mine else 0.0, f"{what}: {PEERS[fastest].label}"
        yield Target(own.raw["job"], words, f"{number(times)}×", f"≥ {wanted:g}×", times >= wanted)


def _others(there: dict[str, Result]) -> list[Result]:
    return [r for peer, r in there.items() if peer not in OURS and r.usable]


def _layer(job: str, there: dict[str, Result]) -> Iterator[Target]:
    if "ours" not in there:
        return
    ours, others = there["ours"], _others(there)
    yield from _ratio(
        "our layer, epochs from the second on, against the fastest peer", FASTER.get(job, 1.0), others, ours, "later"
    )
    yield from _ratio("our layer, first epoch, against the fastest peer", 1.0, others, ours, "first")
    diffcp, wanted = {p: r for p, r in there.items() if p.startswith("cvxpylayers")}, CVXPYLAYERS.get(job, 1.0)
    plain = [r for peer, r in diffcp.items() if peer == "cvxpylayers"]
    yield from _ratio(
        "our layer, epochs from the second on, against cvxpylayers as it comes", wanted, plain, ours, "later"
    )
    every = list(diffcp.values())
    yield from _ratio("our layer, epochs from the second on, against its fastest variant", wanted, every, ours, "later")


def _loss(there: dict[str, Result]) -> Iterator[Target]:
    if "ours-spo" in there:
        losses = [r for r in _others(there) if r.entry.kind == "loss"]
        yield from _ratio(
            "our spo+, epochs from the second on, against the fastest loss", 1.0, losses, there["ours-spo"], "later"
        )
        yield from _ratio("our spo+, first epoch, against the fastest loss", 1.0, losses, there["ours-spo"], "first")


def _memory(there: dict[str, Result]) -> Iterator[Target]:
    peaks = {peer: r.peak for peer, r in there.items() if r.peak and peer not in OURS}
    if peaks and "ours" in there and (own := there["ours"].peak):
        leanest = min(peaks, key=lambda peer: peaks[peer])
        share = own / peaks[leanest]
        words = f"our layer's peak memory against the leanest: {PEERS[leanest].label}"
        yield Target(there["ours"].raw["job"], words, f"{share:.2f}", "≤ 1.20", share <= 1.2)


def _regret(there: dict[str, Result]) -> Iterator[Target]:
    """Regret is worse where the mean difference over common seeds exceeds twice its standard error; one seed says nothing."""
    for mine, other in rivals(there):
        if (difference := mine.worse_than(other)) is None or difference[1] != difference[1]:
            continue
        by, error = difference
        words = f"{mine.entry.label}: regret less that of {other.entry.label}"
        yield Target(other.raw["job"], words, f"{by:+.3g} ± {error:.2g}", "≤ 2 s.e.", by <= 2 * error)


def _border(plan: Plan) -> Iterator[Target]:
    if found := plan.border():
        torch, all_ = (100 * found[part] for part in ("torch", "overhead"))
        words = "our layer less bare calls less a torch function that does nothing, of the bare calls' time"
        share = f"{all_ - torch:.0f} % ({all_:.0f} % with torch's own {torch:.0f} %)"
        yield Target("LP (40,40,20)", words, share, "< 10 %", all_ - torch < 10)


def table(found: list[Target]) -> Table:
    return Table("What was aimed at", ["job", "what", "found", "wanted", "met"], [target.row() for target in found])
