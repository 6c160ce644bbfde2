"""How far a training is, for whoever looks."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any

from ._told import Epoch

#: Seconds before anything is shown, and from one time to the next.
PATIENCE, PAUSE = 1.0, 0.5


def shown(verbose: bool | None) -> Bar | Line | None:
    """A bar where one is asked for, a line where nobody says and somebody looks, or nothing."""
    if verbose:
        return Bar()
    looks = (sys.stderr is not None and sys.stderr.isatty()) or "ipykernel" in sys.modules
    return Line() if verbose is None and looks else None


class Line:
    """One line on stderr that is written anew: what is trained, how far it is, and for how long. It is gone in the end."""

    def __init__(self) -> None:
        self.text = "preparing"
        self.width = 0
        self.done = threading.Event()
        self.began = time.monotonic()
        self.thread = threading.Thread(target=self._tick, daemon=True)

    def __enter__(self) -> Callable[[int, Epoch], None]:
        self.thread.start()
        return self.show

    def show(self, epochs: int, epoch: Epoch) -> None:
        """Called after every epoch."""
        regret = epoch["valid_regret"]
        value = "" if regret is None else f", validation regret {regret:.4g}"
        self.text = f"{epoch['stage']}, epoch {epoch['epoch']}/{epochs}{value}"

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.done.set()
        self.thread.join()
        self._write("")

    def _tick(self) -> None:
        if self.done.wait(PATIENCE):
            return
        while True:
            self._write(f"fit: {self.text}  {time.monotonic() - self.began:.0f} s")
            if self.done.wait(PAUSE):
                return

    def _write(self, text: str) -> None:
        """What was longer before is written over; nobody has to read it."""
        if not text and not self.width:
            return
        end = "\r" if not text else ""
        try:
            sys.stderr.write("\r" + text.ljust(self.width) + end)
            sys.stderr.flush()
        except (OSError, ValueError):
            self.done.set()
        self.width = len(text)


class Bar:
    """A tqdm bar over the epochs of each stage."""

    def __init__(self) -> None:
        try:
            from tqdm.auto import tqdm
        except ImportError as error:
            raise ImportError("verbose=True shows a tqdm bar: pip install tqdm") from error
        self.tqdm = tqdm
        self.bar: Any = None
        self.stage: str | None = None

    def __enter__(self) -> Callable[[int, Epoch], None]:
        return self.show

    def show(self, epochs: int, epoch: Epoch) -> None:
        """Called after every epoch."""
        if epoch["stage"] != self.stage:
            self.__exit__()
            self.stage = epoch["stage"]
            self.bar = self.tqdm(total=epochs, desc=self.stage, unit="epoch")
        numbers = {"loss": epoch["loss"], "regret": epoch["valid_regret"]}
        shown = {name: "–" if value is None else f"{value:.4g}" for name, value in numbers.items()}
        self.bar.set_postfix(shown, refresh=False)
        self.bar.update(epoch["epoch"] - self.bar.n)

    def __exit__(self, *_: object) -> None:
        if self.bar is not None:
            self.bar.close()
