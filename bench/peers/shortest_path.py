"""The field's standard benchmark: the shortest path through a grid (Elmachtoub & Grigas 2022), θ = −costs predicted by a linear model."""

from __future__ import annotations

from functools import partial

import numpy as np

from .problem import Array, Job, Problem, lookup, problem

FEATURES = 5
#: Half-width w of the noise U(1 − w, 1 + w).
NOISE = 0.5
TEST = 1000


def grid(side: int) -> Problem:
    """Arcs right and down, each used at most once; a flow row for every node, of which one is redundant."""
    nodes = np.arange(side * side).reshape(side, side)
    tails = np.concatenate([nodes[:, :-1].ravel(), nodes[:-1].ravel()])
    heads = np.concatenate([nodes[:, 1:].ravel(), nodes[1:].ravel()])
    n, arcs = len(tails), np.arange(len(tails))
    flow, ends = np.zeros((nodes.size, n)), np.zeros(nodes.size)
    flow[tails, arcs], flow[heads, arcs] = -1.0, 1.0
    ends[0], ends[-1] = -1.0, 1.0
    return problem(n, np.zeros((0, n)), np.zeros(0), np.zeros(0), B=flow, c=ends, upper=np.ones(n))


def history(n: int, degree: int, rows: int, seed: int) -> tuple[Array, Array]:
    """Features ξ ~ N(0, I) and costs ``[((Bξ)/√5 + 3)^degree + 1]·U(1 − w, 1 + w)``, entries of B 0 or 1 with even chances."""
    rng = np.random.default_rng([seed, 3])
    coins = rng.integers(0, 2, (n, FEATURES)).astype(float)
    features = rng.standard_normal((rows, FEATURES))
    costs = (features @ coins.T / np.sqrt(FEATURES) + 3.0) ** degree + 1.0
    return features, costs * rng.uniform(1.0 - NOISE, 1.0 + NOISE, costs.shape)


def shortest_path(side: int, degree: int, seed: int, rows: int = 1000) -> Job:
    """The grid with the data of one seed."""
    stated = grid(side)
    features, costs = history(stated.n, degree, rows + TEST, seed)
    return Job(
        name=f"shortest path {side} × {side}, degree {degree}",
        problem=stated,
        predicts=("theta",),
        features=features[:rows],
        truths=lookup(theta=-costs[:rows]),
        test_features=features[rows:],
        test_truths=lookup(theta=-costs[rows:]),
        batch=32,
        learning_rate=0.01,
        network=partial(_network, features[:rows], -costs[:rows]),
    )


def _network(features: Array, theta: Array):
    from .networks import Plain

    return Plain(features, {"theta": theta}, hidden=())
