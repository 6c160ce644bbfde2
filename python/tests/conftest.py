"""Problems that several tests share, and the command line."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest

import regretless as rl

ROOT = Path(__file__).parents[2]
COMMAND = ROOT / "target" / "debug" / "regretless"


def call(folder: Path, *arguments: str, code: int = 0) -> str:
    """What the command line says, called in a folder; where it is not built there is nothing to test."""
    if not COMMAND.exists():
        pytest.skip("the command line is not built")
    done = subprocess.run([COMMAND, *arguments], cwd=folder, capture_output=True, text=True)
    assert done.returncode == code, done.stderr
    return done.stdout


def draw(
    rng: np.random.Generator, n: int, *, quadratic: bool, soft: int = 3, hard: int = 3, equal: int = 0
) -> rl.Problem:
    """A feasible, bounded problem with rows of every kind."""
    inside = rng.uniform(0.2, 0.8, n)
    A, C, B = rng.normal(size=(hard, n)), rng.normal(size=(soft, n)), rng.normal(size=(equal, n))
    root = rng.normal(size=(n, n)) / np.sqrt(n)
    return rl.Problem(
        n,
        rng.normal(size=n),
        Q=root @ root.T + 0.1 * np.eye(n) if quadratic else None,
        soft=rl.Soft(
            C,
            C @ inside + 0.1 * rng.normal(size=soft),
            weight=rng.uniform(0.2, 2, soft),
            under=rng.uniform(0, 0.5, soft),
        ),
        A=A if hard else None,
        b=A @ inside + rng.uniform(0.05, 0.3, hard) if hard else None,
        B=B if equal else None,
        c=B @ inside if equal else None,
        lower=0.0,
        upper=1.0,
        sense="max" if rng.random() < 0.5 else "min",
    )


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(7)


@pytest.fixture
def farm() -> rl.Problem:
    return rl.Problem(2, A=[[1.0, 1.0]], b=8.0, soft=rl.Soft([[2.0, 1.0]], 10.0, weight=0.5))
