"""Results in one line, and as tables of a notebook."""

from __future__ import annotations

import html
from collections import Counter
from collections.abc import Sequence
from dataclasses import fields
from typing import Any

import numpy as np


class Brief:
    """A dataclass whose ``repr`` is one line: arrays by their shapes."""

    def __repr__(self) -> str:
        shown = ((field.name, getattr(self, field.name)) for field in fields(self))  # type: ignore[arg-type]
        parts = ", ".join(f"{name}={brief(value)}" for name, value in shown if value is not None)
        return f"{type(self).__name__}({parts})"


def brief(value: Any) -> str:
    """A value in a few characters; of words, how often which."""
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, np.ndarray) and value.size > 4:
        if value.dtype.kind == "U":
            counts = Counter(value.ravel().tolist()).most_common(3)
            return f"<{', '.join(f'{count} {word}' for word, count in counts)}>"
        return f"<{' × '.join(map(str, value.shape))} {value.dtype}>"
    if isinstance(value, dict) and len(value) <= 4:
        return "{" + ", ".join(f"{key!r}: {brief(own)}" for key, own in value.items()) + "}"
    if isinstance(value, (dict, list)) and len(value) > 4:
        return f"<{len(value)} {'entries' if isinstance(value, dict) else 'items'}>"
    text = " ".join(repr(value).split())
    return text if len(text) <= 60 else text[:59] + "…"


def listed(names: Sequence[str]) -> str:
    """Names in a cell; more than ten are counted."""
    return ", ".join(names[:10]) + (f" and {len(names) - 10} more" if len(names) > 10 else "")


def table(rows: Sequence[Any]) -> str:
    """Rows as an HTML table; every name and text is escaped."""

    def shown(value: Any) -> str:
        text = "–" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)
        return html.escape(text)

    heads = "".join(f"<th>{shown(key)}</th>" for key in (rows[0] if rows else ()))
    lines = "".join("<tr>" + "".join(f"<td>{shown(v)}</td>" for v in row.values()) + "</tr>" for row in rows)
    return f"<table><thead><tr>{heads}</tr></thead><tbody>{lines}</tbody></table>"
