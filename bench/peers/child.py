"""One measurement in a process of its own: ``python -m peers.child TASK FILE``, settings as JSON on standard input."""

from __future__ import annotations

import json
import platform
import resource
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any


def peak() -> float:
    """The most memory this process has held, in MB."""
    if platform.system() == "Linux":
        # Unlike ru_maxrss this knows nothing of the process that started this one.
        lines = Path("/proc/self/status").read_text().splitlines()
        return next(float(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def versions(packages: tuple[str, ...]) -> dict[str, str]:
    found = {}
    for package in ("torch", *packages):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "as built here"
    return found


def training(peer: str, job: str, seed: int, threads: int, epochs: int, cap: float, rows: int | None, out: str) -> Any:
    """Trains; what was measured, versions and memory. Predictions go beside ``out``."""
    import torch

    from . import measure
    from .adapters import PEERS
    from .work import JOBS

    torch.set_num_threads(threads)
    torch.set_default_dtype(torch.float64)
    made = JOBS[job](seed=seed, **({} if rows is None else {"rows": rows}))
    measure.warm_up()
    before = peak()
    adapter_type = PEERS[peer].load()
    from .adapters.base import CannotError

    about = {"settings": adapter_type.settings, "versions": versions(adapter_type.packages)}
    try:
        built = measure.Clock()
        with built:
            adapter = adapter_type(made, threads)
        network, found = measure.train(adapter, seed, epochs, cap)
    except CannotError as reason:
        return {**about, "cannot": str(reason)}
    found |= {
        **about,
        "built": {"wall": built.wall, "cpu": built.cpu},
        "memory": {"before": before, "peak": peak()},
        "job": made.name,
    }
    if found["sampled"] is None:
        measure.predict(network, made.test_features, Path(out).with_suffix(".npz"))
    return found


def main() -> None:
    task, out = sys.argv[1:]
    settings = json.load(sys.stdin)
    if task == "training":
        result = training(**settings, out=out)
    else:
        from importlib import import_module

        module = import_module(f".{task}", __package__)
        result = module.run(**settings)
    Path(out).write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
