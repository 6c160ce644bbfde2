"""Measurements in processes of their own, kept as files: a run that is begun again takes up where it was."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

#: Variables by which the libraries and what they stand on take their number of threads.
THREADS = (
    "OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "RAYON_NUM_THREADS", "NUMEXPR_NUM_THREADS", "VECLIB_MAXIMUM_THREADS",
)  # fmt: skip


def measured(out: Path, task: str, *, threads: int = 1, timeout: float, **settings: Any) -> dict[str, Any]:
    """The result in ``out``, made now unless it is there. A process that fails or takes too long is a result as well."""
    if out.exists():
        found: dict[str, Any] = json.loads(out.read_text())
        if found.get("made with") == settings:
            return found
    out.parent.mkdir(parents=True, exist_ok=True)
    out.unlink(missing_ok=True)
    _run(out, task, threads, timeout, settings)
    result = json.loads(out.read_text())
    out.write_text(json.dumps({**result, "made with": settings}, indent=1, ensure_ascii=False) + "\n")
    return json.loads(out.read_text())


def _run(out: Path, task: str, threads: int, timeout: float, settings: dict[str, Any]) -> None:
    environment = {**os.environ, **dict.fromkeys(THREADS, str(threads)), "PYTHONWARNINGS": "ignore"}
    command = [sys.executable, "-m", f"{__package__}.child", task, str(out.resolve())]
    where = Path(__file__).resolve().parent.parent
    try:
        done = subprocess.run(
            command, input=json.dumps({**settings, "threads": threads} if task == "training" else settings), env=environment, cwd=where, timeout=timeout, text=True, capture_output=True,
            check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        out.write_text(json.dumps({"failed": f"not done after {timeout:.0f} s"}))
        return
    # A process may crash after its work is done; what it wrote counts.
    if not out.exists():
        last = ([line for line in done.stderr.splitlines() if line.strip()] or ["no message"])[-1]
        cause = f"died of {signal.Signals(-done.returncode).name}" if done.returncode < 0 else last
        out.write_text(json.dumps({"failed": cause}))
