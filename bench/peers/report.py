"""BENCHMARKS.md, written from the files of a run."""

from __future__ import annotations

import os
import platform
from datetime import datetime, timezone

from .adapters import BASELINES, PEERS
from .plan import ENTRANTS, TRAINED, Plan
from .prose import wrapped
from .results import results
from .shortfalls import lost
from .tables import Table, tables
from .targets import table, targets

HEADINGS = {
    1: "Synthetic LP, θ predicted", 2: "Portfolio QP", 3: "Provisioning, C predicted", 4: "One bad instance in a batch",
    5: "Growth", 6: "The border between Python and the engine", 7: "Shortest path, SPO+ with a linear predictor",
}  # fmt: skip
CORES = {1: "one core", 2: "two cores", 4: "four cores", 8: "eight cores"}

INTRODUCTION = """\
# regretless beside its peers

Made on {date} on {machine}, Python {python}, by

```sh
{command}
```

An LP (n, m, s) has n variables, m hard and s soft rows. Read ratios, not times. Every library trains the same torch network from the same start on the same batches
with the same Adam in double precision, in a process of its own, with one thread (two where the table says so). Timed is what a library
does and nothing else: from predictions to decisions or a loss (forward) and back to the gradient in the predictions (backward). Layers are
trained on minus the true objective at their decision, with a price on violated hard rows (only ours may violate some: it is a softened
problem's optimum); losses on their own loss. Regret is that of exact decisions with the trained network on {test} rows it has not seen, judged
by one oracle for all. A gradient is useless if it has a NaN, is shorter than a millionth of its batch's median, or belongs to a decision that moves by
less than 0.03 % of itself when the prediction moves by all of itself (an LP's own gradient is 0 nearly everywhere); a library with half
of them useless over five epochs has no usable gradient. † marks libraries too slow for whole epochs. What is aimed at compares medians over the
epochs from the second on; the tables below show the fifth. A job is given up after twice the cap and a minute.
"""


def render(plan: Plan, note: str = "") -> str:
    reached = targets(plan)
    parts = [introduction(plan), *filter(None, [note]), "## Summary", table(reached).markdown(), lost(plan, reached)]
    for work, heading in HEADINGS.items():
        found = [one for one in tables(plan, work) if one.rows]
        if found:
            parts += [f"## {heading}", *(one.markdown() for one in found)]
    return wrapped("\n\n".join([*parts, used(plan), missing(plan)]).rstrip() + "\n")


def introduction(plan: Plan) -> str:
    """What was done, where and how."""
    cores = os.cpu_count() or 1
    machine = f"{CORES.get(cores, f'{cores} cores')} of a shared {platform.machine().replace('_', '-')} machine"
    command = "bench/peers/run" + (" --quick" if plan.quick else "") + f" --cap {plan.cap:g}"
    command += (" --clock cpu" if plan.clock == "cpu" else "") + " --report BENCHMARKS.md"
    date = datetime.now(timezone.utc).date().isoformat()
    return INTRODUCTION.format(
        date=date, machine=machine, python=platform.python_version(), command=command, test="400 to 1,000"
    )


def used(plan: Plan) -> str:
    """How each library was used, and its versions."""
    rows = []
    for peer, entry in PEERS.items():
        raws = [result.raw for job in _jobs(plan) if (result := results(plan, job).get(peer))]
        if raw := next((raw for raw in raws if "settings" in raw), None):
            versions = ", ".join(f"{name} {version}" for name, version in raw["versions"].items() if name != "torch")
            rows.append([entry.label, raw["settings"], versions or "–"])
    torch = next(
        (
            raw["versions"]["torch"]
            for job in _jobs(plan)
            for r in results(plan, job).values()
            if "versions" in (raw := r.raw)
        ),
        "–",
    )
    return "## How each was used\n\n" + Table(f"With torch {torch}", ["library", "how", "versions"], rows).markdown()


def missing(plan: Plan) -> str:
    """What could not be measured, and why."""
    reasons: dict[tuple[str, str], list[str]] = {}
    for job in _jobs(plan):
        for peer, result in results(plan, job).items():
            if not result.there and peer not in BASELINES:
                reasons.setdefault((result.entry.label, result.why_not), []).append(job)
        work = next(work for work, jobs in TRAINED.items() if job in jobs)
        for peer in (peer for peer in ENTRANTS.get(work, PEERS) if peer not in results(plan, job)):
            reasons.setdefault((PEERS[peer].label, "left out of this run"), []).append(job)
    lines = [f"- {label} ({', '.join(jobs)}): {why}" for (label, why), jobs in reasons.items()]
    fixed = [
        "- PyEPO over COPT, Pyomo and MPAX: not tried. Gurobi and GLOP stand for its solvers.",
        "- Gurobi: only within the size-limited licence of its wheel (2,000 variables and rows).",
    ]
    return "\n".join(["## Not measured, and why", "", *lines, *fixed])


def _jobs(plan: Plan) -> list[str]:
    folder = plan.out / "training"
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []
