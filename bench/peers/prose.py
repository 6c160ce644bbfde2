"""Prose of a page in lines of at most 100 columns."""

from __future__ import annotations

import re
import textwrap

COLUMNS = 100
#: What is no prose: tables, headings, fences.
OTHER = ("|", "#", "```", "<", "![")
ITEM = re.compile(r"\s*(?:[-*]|\d+\.) ")


def wrapped(page: str) -> str:
    """The page with its paragraphs and list items wrapped; tables, headings and code stay as they are."""
    lines: list[str] = []
    paragraph: list[str] = []
    code = False

    def close() -> None:
        if paragraph:
            item = ITEM.match(paragraph[0])
            head = item.group() if item else ""
            body = " ".join(line.strip() for line in [paragraph[0][len(head) :], *paragraph[1:]])
            lines.extend(
                textwrap.wrap(
                    body, COLUMNS, initial_indent=head, subsequent_indent=" " * len(head),
                    break_long_words=False, break_on_hyphens=False,
                )
            )  # fmt: skip
            paragraph.clear()

    for line in page.split("\n"):
        fence = line.startswith("```")
        if code or fence or not line.strip() or line.startswith(OTHER):
            close()
            lines.append(line)
            code ^= fence
        else:
            if ITEM.match(line):
                close()
            paragraph.append(line)
    close()
    return "\n".join(lines)
