"""The jobs by name."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from .portfolio import portfolio
from .problem import Job
from .provisioning import provisioning
from .shortest_path import shortest_path
from .synthetic import synthetic

#: Every job takes a seed and, to be quick, a number of rows.
JOBS: dict[str, Callable[..., Job]] = {
    "lp-40": partial(synthetic, 40, 40, 20),
    "lp-80": partial(synthetic, 80, 80, 40),
    "portfolio-50": partial(portfolio, 50, False),
    "portfolio-250": partial(portfolio, 250, False),
    "portfolio-50-q": partial(portfolio, 50, True),
    "portfolio-250-q": partial(portfolio, 250, True),
    "provisioning": provisioning,
    "path-5-degree-4": partial(shortest_path, 5, 4),
    "path-5-degree-8": partial(shortest_path, 5, 8),
}


def growing(n: int, seed: int, rows: int) -> Job:
    """The LP with n hard and n/2 soft rows."""
    return synthetic(n, n, n // 2, seed, rows)
