"""One table a work item, as text and as Markdown."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from statistics import mean

from .adapters import BASELINES, PEERS
from .faults import FAULTS
from .plan import FIXED_BATCH, FIXED_SIZE, Plan
from .results import Result, constants, results

WORDS = {"wall": "seconds", "cpu": "processor seconds"}


@dataclass
class Table:
    title: str
    header: list[str]
    rows: list[list[str]]
    notes: list[str] = field(default_factory=list)

    def text(self) -> str:
        cells = [[cell.replace("**", "") for cell in row] for row in [self.header, *self.rows]]
        widths = [max(len(row[i]) for row in cells) for i in range(len(self.header))]
        lines = [
            "  ".join(c.ljust(w) if i == 0 else c.rjust(w) for i, (c, w) in enumerate(zip(row, widths)))
            for row in cells
        ]
        return "\n".join(
            [self.title, "", lines[0], "─" * len(lines[0]), *lines[1:], *(f"· {note}" for note in self.notes)]
        )

    def markdown(self) -> str:
        rows = [self.header, ["---"] * len(self.header), *self.rows]
        lines = ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
        notes = ["", *(f"- {note}" for note in self.notes)] if self.notes else []
        return "\n".join([f"### {self.title}", "", *lines, *notes])


def tables(plan: Plan, work: int) -> Iterator[Table]:
    if work <= 3:
        yield from (trained(plan, job) for job in plan.jobs(work) if results(plan, job))
    else:
        yield {4: behaviours, 5: growth, 6: border, 7: paths}[work](plan)


def number(value: float | None, digits: int = 3) -> str:
    return "–" if value is None else f"{value:.{digits}g}" if value < 999.5 else f"{value:.0f}"


def times(value: float | None, ours: float | None) -> str:
    return "–" if value is None or not ours else f"{number(value / ours)}×"


def trained(plan: Plan, job: str) -> Table:
    found = results(plan, job)
    epochs = len(found["ours"].raw.get("epochs", ())) if "ours" in found else plan.epochs
    last = min(5, epochs)
    header = [
        "library", "epoch 1, s", "× ours", f"epoch {last}, s", "× ours", "forward", "backward", f"two threads, epoch {last}, s",
        "peak MB", "useless gradients", f"regret after {epochs} epochs (seeds)",
    ]  # fmt: skip
    rows, notes = [], []
    for peer, result in found.items():
        own = found.get("ours" if result.entry.kind == "layer" else "ours-spo")
        if result.there and peer in BASELINES:
            rows.append([result.entry.label, *["–"] * (len(header) - 2), result.regret])
        elif result.there and own:
            rows.append(_row(result, own, last))
        if not result.there:
            notes.append(f"{result.entry.label}: not measured. {result.why_not}")
        elif result.sampled:
            notes.append(f"{result.entry.label}: epochs of {result.sampled} samples, scaled up; too slow for a regret.")
    judged = [plan.judged(job, seed) for seed in range(10)]
    if constant := constants(plan, job):
        rows.append(["constant (training mean)", *["–"] * (len(header) - 2), f"{mean(constant):.4g} ({len(constant)})"])
        checked = max(one["worst_difference_to_clarabel"] for one in judged if one)
        notes.append(f"The oracle that judges regret differs from Clarabel by at most {checked:.0e} of 1 + |optimum|.")
    name = next((r.raw["job"] for r in found.values() if r.there), job)
    samples = f", {plan.rows} samples" if plan.rows else ""
    notes.append("× ours: layers against our layer, losses against our spo+. Epoch 1 includes what is built once.")
    return Table(f"{name}{samples}: {WORDS[plan.clock]} of solve + gradient an epoch", header, rows, notes)


def _row(result: Result, own: Result, last: int) -> list[str]:
    first, later, useless = result.seconds(1), result.seconds(last), result.useless
    return [
        result.entry.label + (" †" if result.sampled else ""),
        number(first), times(first, own.seconds(1)), number(later), times(later, own.seconds(last)),
        number(result.seconds(last, part="forward")), number(result.seconds(last, part="backward")),
        number(result.seconds(last, threads=2)), number(result.peak),
        "–" if useless is None else f"{100 * useless:.0f} %", result.regret,
    ]  # fmt: skip


def behaviours(plan: Plan) -> Table:
    rows = []
    for peer in PEERS:
        found = {fault: plan.bad(peer, fault) for fault in FAULTS}
        if any(found.values()):
            rows.append([PEERS[peer].label, *(behaviour(answer) for answer in found.values())])
    notes = [
        "Found out by running it, each in a process of its own; “others” are the 63 sound instances, compared with a batch of 64 sound ones."
    ]
    return Table("One bad instance in a batch of 64", ["library", *FAULTS], rows, notes)


def behaviour(answer: dict[str, str]) -> str:
    """In words: what became of the others, what came out for the bad one, and whether anything says so."""
    if not answer:
        return "–"
    for key, words in (("cannot", "cannot be asked: "), ("exception", "exception, batch lost: "), ("failed", "")):
        if key in answer:
            return words + answer[key]
    others = {answer.get("x of others", "same"), answer["gradient of others"]}
    rest = (
        "others fine"
        if others == {"same"}
        else f"others: x {answer.get('x of others', '–')}, gradient {answer['gradient of others']}"
    )
    own = f"its x {answer['x of it']}, " if "x of it" in answer else ""
    status = answer["status"]
    said = f"status {status}" if status else "no status"
    return f"{rest}; {own}gradient {answer['gradient of it']}; {said}"


def growth(plan: Plan) -> Table:
    peers = [peer for peer in PEERS if any(plan.cell(peer, *cell) for cell in plan.cells)]
    header = ["n", "batch", *(f"{PEERS[peer].label}, {kind}" for peer in peers for kind in ("cold", "warm"))]
    rows = []
    for n, batch in plan.cells if peers else ():
        cells = [plan.cell(peer, n, batch) for peer in peers]
        parts = [
            number(cell[kind]) if kind in cell else cell.get("failed", "–")
            for cell in cells
            for kind in ("cold", "warm")
        ]
        rows.append([str(n), str(batch), *parts])
    notes = [
        "Cold: the first call, with what is built once; warm: the same samples with every entry of θ moved by at most 0.01, median of three.",
        "Losses solve the truths too when cold.",
    ]
    title = f"Growth: µs an instance of solve + gradient, LP with n hard and n/2 soft rows; batch {FIXED_BATCH}, then n = {FIXED_SIZE}"
    return Table(title, header, rows, notes)


def border(plan: Plan) -> Table:
    rows = []
    if found := plan.border():
        for who, words in (
            ("layer", "our torch layer"),
            ("bare", "bare calls"),
            ("torch", "a torch function that does nothing"),
        ):
            ways = [found[f"{who}_{way}"] for way in ("forward", "backward")]
            share = {"layer": f"{100 * found['overhead']:.0f} %", "torch": f"{100 * found['torch']:.0f} %"}.get(
                who, "–"
            )
            rows.append([words, *map(number, [*ways, sum(ways)]), share])
    header = ["", "forward", "backward", "together", "overhead"]
    notes = [
        "Bare calls: the extension's own solve and vjp on arrays that are ready. Overhead: what the layer takes more, and what torch itself takes, of the bare calls' time."
    ]
    return Table(
        "µs a batch of 50 while LP (40,40,20) is trained, one thread, medians of epochs 2 to 10", header, rows, notes
    )


def paths(plan: Plan) -> Table:
    rows, kinds = [], []
    for job in plan.jobs(7):
        found = {peer: result for peer, result in results(plan, job).items() if result.there}
        costs = {peer: {} if peer in BASELINES else _costs(plan, job, result) for peer, result in found.items()}
        own = costs.get("ours-spo", {})
        kinds = kinds or list(own)
        for peer, result in found.items():
            cells = [_beside(costs[peer].get(kind), own.get(kind)) for kind in kinds]
            rows.append([f"{result.entry.label}, {result.raw['job']}", *cells, _share(plan, job, result)])
    header = ["library, job", *kinds, f"regret after {plan.epochs} epochs, % of the optimum (seeds)"]
    notes = [
        "µs a sample of loss and gradient, seconds an epoch of them (median from the second on), in brackets how many times ours.",
        "First: truth and prediction are solved for, and what is built once is built. Moved: every entry of the prediction by at most 2 %, and so what SPO+ solves for by about twice that; median of five.",
    ]
    samples = f", {plan.rows} samples" if plan.rows else ""
    return Table(f"SPO+{samples}: {WORDS[plan.clock]} of one thread", header, rows, notes)


def _costs(plan: Plan, job: str, result: Result) -> dict[str, float | None]:
    visits = plan.again(job, result.peer).get("visits", {})
    return {**{f"{visit}, µs": clock[plan.clock] for visit, clock in visits.items()}, "epoch, s": result.steady}


def _beside(value: float | None, ours: float | None) -> str:
    return "–" if value is None else f"{number(value)} ({times(value, ours)})"


def _share(plan: Plan, job: str, result: Result) -> str:
    """Mean regret in shares of the mean optimum, over seeds."""
    shares = [100 * regret / abs(plan.judged(job, seed)["optimum"]) for seed, regret in result.regrets.items()]
    return f"{mean(shares):.4g} ({len(shares)})" if shares else "–"
