"""A fit says how far it is where somebody looks, and ends with Ctrl-C."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

pty = pytest.importorskip("pty")

FIT = """
import numpy as np, regretless as rl
rng = np.random.default_rng(0)
X = rng.normal(size=(20_000, 8))
y = np.abs(X @ rng.normal(size=(8, 6)) + 5.0)
plan = rl.Problem(6, A=rng.uniform(size=(3, 6)), b=np.ones(3) * 4.0, upper=4.0)
rl.DecisionRegressor(plan, "spo+", epochs=100_000, patience=100_000{verbose}).fit(X, y)
"""


def seen(script: str, wait: str | None, seconds: float) -> tuple[str, int, float]:
    """What a terminal shows of a script that is stopped by Ctrl-C once ``wait`` is there or the time is up; its code, and how long it took to end."""
    there, here = pty.openpty()
    process = subprocess.Popen([sys.executable, "-c", script], stderr=here, stdin=subprocess.DEVNULL)
    os.close(here)
    os.set_blocking(there, False)
    text, end = "", time.monotonic() + seconds
    while time.monotonic() < end and process.poll() is None and (wait is None or wait not in text):
        time.sleep(0.1)
        text += read(there)
    process.send_signal(signal.SIGINT)
    began = time.monotonic()
    process.wait(60)
    took = time.monotonic() - began
    text += read(there)
    os.close(there)
    return text, process.returncode, took


def read(terminal: int) -> str:
    try:
        return os.read(terminal, 1 << 16).decode(errors="replace")
    except (BlockingIOError, OSError):
        return ""


def test_a_line_in_a_terminal_and_ctrl_c() -> None:
    text, code, took = seen(FIT.format(verbose=""), "epoch", 60.0)
    assert "fit: spo+, epoch" in text and "/100000" in text and " s" in text, text
    assert "KeyboardInterrupt" in text and code != 0
    # Two seconds where nobody else works; here other tests do.
    assert took < 10.0, took
    # The line is gone: what follows begins at the left.
    assert "\r" in text.split("KeyboardInterrupt")[0], text


def test_nothing_where_nobody_wants_it() -> None:
    text, _, _ = seen(FIT.format(verbose=", verbose=False"), None, 6.0)
    assert "fit:" not in text and "epoch" not in text, text
