"""What is measured: the work items, how long, how often."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .adapters import BASELINES, HELD, OURS, PEERS
from .children import measured
from .faults import FAULTS

#: Jobs of the work items that train, with the number of seeds that regret is judged over.
TRAINED = {
    1: {"lp-40": 5, "lp-80": 5},
    2: {"portfolio-50": 3, "portfolio-250": 1, "portfolio-50-q": 1, "portfolio-250-q": 1},
    3: {"provisioning": 5},
    7: {"path-5-degree-4": 5, "path-5-degree-8": 5},
}
QUICK = {1: {"lp-40": 1}, 2: {"portfolio-50": 1}, 3: {"provisioning": 1}, 7: {"path-5-degree-4": 1}}
#: Work items that are not for every library: SPO+ is trained by those that have it.
ENTRANTS = {7: ("ours-spo", "highs", "pyepo-gurobi", "pyepo-glop", "l2")}
SIZES, BATCHES = (20, 40, 80, 160, 320), (1, 4, 16, 64, 256, 1024, 4096)
QUICK_SIZES, QUICK_BATCHES = (20, 40, 80), (1, 64, 512)
#: The batch at which n grows, and the n at which the batch grows.
FIXED_BATCH, FIXED_SIZE = 64, 40
#: A library whose share of useless gradients is this or more has no usable one.
UNUSABLE = 0.5


@dataclass(frozen=True)
class Plan:
    """The choices of one run."""

    out: Path
    works: tuple[int, ...]
    peers: tuple[str, ...]
    quick: bool
    cap: float
    #: The most seeds, and the numbers of threads that trainings are timed with.
    seeds: int = 10
    threads: tuple[int, ...] = (1, 2)
    #: The seconds that tables of one thread show: wall or cpu.
    clock: str = "wall"
    #: Nothing is measured any more; what is not there is empty.
    look: bool = False

    @property
    def epochs(self) -> int:
        return 4 if self.quick else 10

    @property
    def rows(self) -> int | None:
        return 200 if self.quick else None

    def jobs(self, work: int) -> dict[str, int]:
        return (QUICK if self.quick else TRAINED)[work]

    def entrants(self, work: int) -> tuple[str, ...]:
        return tuple(peer for peer in self.peers if peer in ENTRANTS.get(work, PEERS))

    def _measured(self, file: Path, task: str, **settings: Any) -> dict[str, Any]:
        if self.look:
            return json.loads(file.read_text()) if file.exists() else {}
        return measured(file, task, **settings)

    def training(self, job: str, peer: str, seed: int, threads: int) -> dict[str, Any]:
        file = self.out / "training" / job / f"{peer}-threads{threads}-seed{seed}.json"
        epochs = self.epochs if threads == 1 else min(5, self.epochs)
        return self._measured(
            file, "training", threads=threads, timeout=2 * self.cap + 60, peer=peer, job=job, seed=seed, cap=self.cap,
            epochs=epochs, rows=self.rows,
        )  # fmt: skip

    def trained(self, work: int) -> Iterator[str]:
        """Does the training of a work item; says what it is at."""
        for job, seeds in self.jobs(work).items():
            seeds = min(seeds, self.seeds)
            for peer in self.entrants(work):
                yield f"{job}: {PEERS[peer].label}"
                first = self.training(job, peer, 0, 1)
                if peer in BASELINES or "epochs" in first:
                    for seed in range(1, seeds):
                        if first.get("sampled") is None:
                            self.training(job, peer, seed, 1)
                if peer not in BASELINES and "epochs" in first and 2 in self.threads:
                    self.training(job, peer, 0, 2)
            yield f"{job}: regrets"
            for seed in range(seeds):
                self.judged(job, seed)

    def judged(self, job: str, seed: int) -> dict[str, Any]:
        folder = self.out / "training" / job
        files = {peer: (folder / f"{peer}-threads1-seed{seed}.npz").resolve() for peer in PEERS}
        there = {peer: str(file) for peer, file in files.items() if file.exists()}
        file = self.out / "regret" / job / f"seed{seed}.json"
        return self._measured(file, "judge", timeout=1800, job=job, seed=seed, rows=self.rows, predictions=there)

    def again(self, job: str, peer: str) -> dict[str, Any]:
        file = self.out / "again" / job / f"{peer}.json"
        return self._measured(file, "again", timeout=2 * self.cap + 60, peer=peer, job=job, rows=self.rows)

    def visited(self, work: int) -> Iterator[str]:
        """Training, then the kinds of visits by themselves."""
        yield from self.trained(work)
        for job, peer in itertools.product(self.jobs(work), self.entrants(work)):
            if peer not in BASELINES:
                yield f"{job}, visits: {PEERS[peer].label}"
                self.again(job, peer)

    def bad(self, peer: str, fault: str) -> dict[str, Any]:
        file = self.out / "bad" / f"{peer}-{fault.replace(' ', '-')}.json"
        return self._measured(file, "bad", timeout=120, peer=peer, fault=fault)

    def behaved(self) -> Iterator[str]:
        for peer, fault in itertools.product(self.peers, FAULTS):
            if peer not in BASELINES:
                yield f"{fault}: {PEERS[peer].label}"
                self.bad(peer, fault)

    @property
    def growing(self) -> tuple[str, ...]:
        """Ours and the two fastest of the others on the LP; before that is known, those that were."""
        speed = {}
        for peer in PEERS:
            file = self.out / "training" / "lp-40" / f"{peer}-threads1-seed0.json"
            if peer not in (*OURS, *BASELINES) and file.exists():
                found = self.training("lp-40", peer, 0, 1)
                if "epochs" in found and found["epochs"][-1]["useless"] < UNUSABLE:
                    speed[peer] = sum(found["epochs"][-1][f"{way}_cpu"] for way in ("forward", "backward"))
        fastest = sorted(speed, key=lambda peer: speed[peer])[:2] or ["moreau-active", "highs"]
        return (*HELD, *fastest)

    @property
    def cells(self) -> list[tuple[int, int]]:
        sizes, batches = (QUICK_SIZES, QUICK_BATCHES) if self.quick else (SIZES, BATCHES)
        return [*((n, FIXED_BATCH) for n in sizes), *((FIXED_SIZE, batch) for batch in batches if batch != FIXED_BATCH)]

    def cell(self, peer: str, n: int, batch: int) -> dict[str, Any]:
        file = self.out / "growth" / f"{peer}-n{n}-batch{batch}.json"
        return self._measured(file, "growth", timeout=self.cap, peer=peer, n=n, batch=batch)

    def grown(self) -> Iterator[str]:
        for peer, (n, batch) in itertools.product(self.growing, self.cells):
            yield f"n = {n}, batch {batch}: {PEERS[peer].label}"
            self.cell(peer, n, batch)

    def border(self) -> dict[str, Any]:
        return self._measured(self.out / "border.json", "border", timeout=300, job="lp-40")

    def crossed(self) -> Iterator[str]:
        yield "border"
        self.border()

    def run(self, work: int) -> Iterator[str]:
        others = {4: self.behaved, 5: self.grown, 6: self.crossed, 7: lambda: self.visited(work)}
        return others.get(work, lambda: self.trained(work))()
