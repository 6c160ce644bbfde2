"""Samples without an answer: NaN and one warning for all of them, or an error."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Literal

from .errors import LossError, RegretlessWarning

#: What becomes of samples without a loss: NaN, nothing, or an error.
Infeasible = Literal["mark", "skip", "fail"]

WORDS = ("mark", "skip", "fail")

#: Reasons and samples that a message names.
NAMED = 3


def checked(infeasible: str) -> Infeasible:
    """The setting, if it is one of its words."""
    if infeasible not in WORDS:
        raise LossError(f'infeasible is {infeasible!r}: "mark" (NaN), "skip" or "fail"')
    return infeasible  # type: ignore[return-value]


def summary(troubles: Mapping[int, str], rows: int, lack: str) -> str:
    """How many, and why: ``3 of 8 samples have no loss: … (samples 0, 4, …)``."""
    by_reason: dict[str, list[int]] = {}
    for sample, reason in troubles.items():
        by_reason.setdefault(reason, []).append(sample)
    most = sorted(by_reason.items(), key=lambda item: -len(item[1]))
    parts = []
    for reason, samples in most[:NAMED]:
        more = ", …" if len(samples) > NAMED else ""
        which = "sample" if len(samples) == 1 else "samples"
        parts.append(f"{reason} ({which} {', '.join(map(str, samples[:NAMED]))}{more})")
    if len(most) > NAMED:
        parts.append(f"and {len(most) - NAMED} reasons more")
    verb = "has" if len(troubles) == 1 else "have"
    return f"{len(troubles)} of {rows} samples {verb} no {lack}: {'; '.join(parts)}"


def tell(troubles: Mapping[int, str], rows: int, lack: str, infeasible: str, hint: str, stacklevel: int = 3) -> None:
    """One warning for all samples of a batch that lack something; with ``fail`` an error."""
    if not troubles:
        return
    message = summary(troubles, rows, lack)
    if infeasible == "fail":
        raise LossError(message)
    warnings.warn(f"{message}. {hint}", RegretlessWarning, stacklevel=stacklevel)
