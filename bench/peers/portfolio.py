"""The portfolio of a day: returns θ are predicted, and in one of the jobs the risk Q as well."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view as windows

from .problem import Array, Job, lookup, problem, thinned

PAST, NEXT = 30, 10


def market(n: int, days: int, seed: int) -> Array:
    """Daily returns: a market factor with waves of volatility, ten sectors with moods that last, surprises partly taken back."""
    rng = np.random.default_rng([seed, 3])
    on_market, on_sector = 0.6 + 0.8 * rng.random(n), 0.6 + 0.6 * rng.random(n)
    own, sector = 0.008 + 0.01 * rng.random(n), np.arange(n) % 10
    mood, surprise, variance = 0.0012 * rng.standard_normal(10), np.zeros(n), 1e-4
    returns = np.empty((days, n))
    for day in returns:
        factor = np.sqrt(variance) * rng.standard_normal()
        variance = 3e-6 + 0.08 * factor**2 + 0.89 * variance
        sectors = mood + 0.007 * rng.standard_normal(10)
        mood = 0.97 * mood + np.sqrt(1 - 0.97**2) * 0.0012 * rng.standard_normal(10)
        fresh = own * rng.standard_normal(n)
        day[:] = np.expm1(0.0003 + on_market * factor + on_sector * sectors[sector] + fresh - 0.08 * surprise)
        surprise = fresh
    return returns


def similarity(vectors: Array) -> Array:
    """0.9 times the cosines between the rows' vectors, plus 0.1 on the diagonal."""
    norms = np.linalg.norm(vectors, axis=-1)
    scale = np.maximum(norms[..., :, None] * norms[..., None, :], 1e-6)
    return 0.9 * (vectors @ np.swapaxes(vectors, -1, -2)) / scale + 0.1 * np.eye(vectors.shape[-2])


def portfolio(n: int, risk: bool, seed: int, rows: int = 1000, test: int = 500) -> Job:
    """``1ᵀx = 1``, ⌊0.4n⌋ soft ceilings on groups of equities; without ``risk`` the Q of one day holds for all."""
    returns = market(n, PAST + rows + test + NEXT, seed)
    past = np.moveaxis(windows(returns, PAST, axis=0), -1, 1)[: rows + test]
    parts = [
        past[:, -11:],
        *(past[:, -k:].sum(1, keepdims=True) for k in (3, 7, 30)),
        past[:, -7:].var(1, keepdims=True),
    ]
    features = np.moveaxis(np.concatenate(parts, axis=1), 1, 2)
    ahead = windows(returns[PAST:], NEXT, axis=0)[: rows + test]
    theta, later = ahead[..., 0], ahead[..., 1:]
    rng = np.random.default_rng([seed, 4])
    soft = 2 * n // 5
    groups = thinned(rng, soft, n, -(-9 * soft // 10), ones=True)
    limit, price = 0.2 * rng.random(soft), 15 / n * rng.random(soft)

    def truths(start: int, ids: Array) -> dict[str, Array]:
        return {"theta": theta[start:][ids], "Q": similarity(later[start:][ids])}

    known = {} if risk else {"Q": similarity(later[0])}
    return Job(
        name=f"portfolio n = {n}" + (", θ and Q predicted" if risk else ", θ predicted"),
        problem=problem(n, groups, limit, price, B=np.ones((1, n)), c=np.ones(1), **known),
        predicts=("theta", "Q") if risk else ("theta",),
        features=features[:rows],
        truths=partial(truths, 0) if risk else lookup(theta=theta[:rows]),
        test_features=features[rows:],
        test_truths=partial(truths, rows) if risk else lookup(theta=theta[rows:]),
        batch=50,
        learning_rate=0.001,
        network=partial(_network, features[:rows], n, risk),
        sharpness=100.0,
    )


def _network(features: Array, n: int, risk: bool):
    from .networks import Equities

    return Equities(features, n, risk)
