"""The examples run, print their table and draw their figure."""

from __future__ import annotations

import os
import struct
import subprocess
import sys
from pathlib import Path

import pytest

for needed in ("matplotlib", "torch"):
    pytest.importorskip(needed)

ROOT = Path(__file__).parents[2]

#: Rows of each table.
EXAMPLES = {
    "dispatch": ["constant", "l2", "surrogate", "l2+scenarios"],
    "logistics": ["constant", "linear, l2", "linear, spo+", "linear, auto", "network, spo+", "product, spo+"],
    "portfolio": ["constant", "embedding, l2", "embedding, surrogate", "embedding, auto", "network, decisions"],
    "provisioning": ["constant", "l1", "l2", "df", "surrogate", "l2+scenarios", "auto"],
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_example(name: str, tmp_path: Path) -> None:
    # Where it is told, or beside the caller under its own name.
    told = [] if name == "logistics" else ["--figure", "drawn.png"]
    path = os.pathsep.join([str(ROOT / "python"), os.environ.get("PYTHONPATH", "")])
    out = subprocess.run(
        [sys.executable, str(ROOT / "examples" / "python" / f"{name}.py"), "--quick", *told],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": path, "MPLBACKEND": "agg"},
        capture_output=True,
        text=True,
    )
    assert out.returncode == 0, out.stdout + out.stderr

    # A row is the method, padded, its regret, the deviation over seeds and the ratio to a two-stage method.
    rows = {line[:24].strip(): line[24:].split() for line in out.stdout.splitlines()}
    for method in EXAMPLES[name]:
        regret, deviation, ratio = (float(cell.replace(",", "")) for cell in rows[method][:3])
        assert regret > 0 and deviation >= 0 and ratio > 0
    assert "too few seeds to tell" in out.stdout

    drawn = (tmp_path / ("drawn.png" if told else f"{name}.png")).read_bytes()
    assert drawn.startswith(b"\x89PNG") and 20_000 < len(drawn) < 500_000
    width, height = struct.unpack(">II", drawn[16:24])
    assert 1000 < width < 2000 and 400 < height < 1000
