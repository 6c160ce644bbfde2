"""``python -m peers``: measures, prints one table a work item, writes BENCHMARKS.md on demand."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path

from .adapters import OURS, PEERS
from .plan import Plan
from .report import render
from .tables import tables

WORKS = {
    1: "synthetic LP, θ predicted", 2: "portfolio QP, θ predicted, then Q too", 3: "provisioning, C predicted",
    4: "one bad instance in a batch of 64", 5: "growth with n and with the batch", 6: "the border between Python and the engine",
    7: "shortest path, SPO+ with a linear predictor",
}  # fmt: skip


def arguments() -> argparse.Namespace:
    listed = "; ".join(f"{number} {what}" for number, what in WORKS.items())
    parser = argparse.ArgumentParser(prog="bench/peers/run", description="regretless beside its peers.")
    parser.add_argument("--work", default=",".join(map(str, WORKS)), help=f"numbers, such as 1,3 ({listed})")
    parser.add_argument(
        "--peers", default=",".join(PEERS), help="names, such as highs,qpth; ours are always among them"
    )
    parser.add_argument(
        "--quick", action="store_true", help="minutes instead of hours: small sizes, one seed, four epochs"
    )
    parser.add_argument(
        "--cap", type=float, help="seconds of solving that a training may take before it is sampled (300; quick 30)"
    )
    parser.add_argument(
        "--seeds", type=int, default=10, help="the most seeds that regret is judged over (times are those of the first)"
    )
    parser.add_argument("--threads", default="1,2", help="1, or 1,2: what trainings are timed with")
    parser.add_argument(
        "--out",
        type=Path,
        help="where results are kept and taken up from (target/comparison, or target/comparison-quick)",
    )
    parser.add_argument(
        "--report", type=Path, metavar="FILE", help="write the tables as Markdown, such as BENCHMARKS.md"
    )
    parser.add_argument("--note", default="", help="a sentence for the report, such as what else the machine had to do")
    clocks = "seconds of the wall, or of the processor where others use the machine too (one thread)"
    parser.add_argument("--clock", choices=("wall", "cpu"), default="wall", help=clocks)
    parser.add_argument("--tables", action="store_true", help="measure nothing, print what is there")
    return parser.parse_args()


def show(line: str) -> None:
    """What is being measured, where someone is looking."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{line}", end="", file=sys.stderr, flush=True)


def main() -> None:
    given = arguments()
    works = tuple(int(number) for number in given.work.split(","))
    named = given.peers.split(",")
    if unknown := [*(str(w) for w in works if w not in WORKS), *(p for p in named if p not in PEERS)]:
        sys.exit(
            f"there is no {', '.join(unknown)}: work is {', '.join(map(str, WORKS))}, peers are {', '.join(PEERS)}"
        )
    out = given.out or Path("target/comparison-quick" if given.quick else "target/comparison")
    cap = given.cap or (30.0 if given.quick else 300.0)
    peers = tuple(peer for peer in PEERS if peer in named or peer in OURS)
    threads = tuple(int(number) for number in given.threads.split(","))
    plan = Plan(out, works, peers, given.quick, cap, given.seeds, threads, given.clock)
    for work in works:
        for at in () if given.tables else plan.run(work):
            show(f"{work}. {at}")
        show("")
        for table in (one for one in tables(replace(plan, look=True), work) if one.rows):
            print(table.text(), end="\n\n", flush=True)
    if given.report:
        given.report.write_text(render(replace(plan, look=True), given.note))


if __name__ == "__main__":
    main()
