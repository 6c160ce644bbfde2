"""The synthetic LP with a phase that can be learned: θ is predicted."""

from __future__ import annotations

from functools import partial

import numpy as np
from scipy.stats import norm

from .problem import Array, Job, Problem, lookup, problem, thinned

#: Deviation of the phase in periods at which there is something to learn.
PHASE = 0.25
TEST = 1000


def linear_program(n: int, hard: int, soft: int, seed: int) -> Problem:
    """Entries of A and C uniform, half of every column zero, b = ½A1, d = ¼C1, prices uniform on (0, 0.2)."""
    rng = np.random.default_rng([seed, 1])
    A, C = thinned(rng, hard, n, -(-hard // 2)), thinned(rng, soft, n, -(-soft // 2))
    return problem(n, C, 0.25 * C.sum(1), 0.2 * rng.random(soft), A=A, b=0.5 * A.sum(1))


def history(n: int, rows: int, seed: int) -> tuple[Array, Array]:
    """Features ξ ~ N(0, FFᵀ + I) and θ = h(sin 2πξB), h a frozen network, each entry stretched to [0, 1]; a little noise on both."""
    rng = np.random.default_rng([seed, 2])
    spread, coins = rng.random((2 * n, n)), rng.integers(0, 2, (2 * n, n)).astype(float)
    features = rng.standard_normal((rows, 2 * n)) + rng.standard_normal((rows, n)) @ spread.T
    deviation = np.sqrt(((coins.T @ spread) ** 2).sum(1) + coins.sum(0)).clip(1.0)
    z = np.sin(2 * np.pi * PHASE * (features @ coins) / deviation)
    for units, last in ((-(-3 * n // 2), False), (128, False), (n, True)):
        weights = 0.01 * rng.standard_normal((units, z.shape[1]))
        for column in weights.T:
            column[rng.permutation(units)[: -(-units // 2)]] = 0.0
        z = z @ weights.T + 0.1 * rng.standard_normal(units)
        z = z if last else z.clip(0.0)
    low, high = z.min(0), z.max(0)
    theta = (z - low) / np.where(high > low, high - low, 1.0)
    features = features + 0.01 * rng.standard_normal(features.shape)
    # Normal noise within [0, 1.5].
    noise = norm.ppf(0.5 + (norm.cdf(1.5) - 0.5) * rng.random(theta.shape))
    return features, theta + 0.01 * noise


def synthetic(n: int, hard: int, soft: int, seed: int, rows: int = 1000) -> Job:
    """The LP of one seed with its data: a problem of its own for each seed."""
    features, theta = history(n, rows + TEST, seed)
    return Job(
        name=f"LP ({n},{hard},{soft})",
        problem=linear_program(n, hard, soft, seed),
        predicts=("theta",),
        features=features[:rows],
        truths=lookup(theta=theta[:rows]),
        test_features=features[rows:],
        test_truths=lookup(theta=theta[rows:]),
        batch=50,
        learning_rate=0.003,
        network=partial(_network, features[:rows], theta[:rows]),
        violation=2.0,
        smoothing=0.3,
        mu=1e-2,
    )


def _network(features: Array, theta: Array):
    from .networks import Plain

    return Plain(features, {"theta": theta}, hidden=(128, 128))
