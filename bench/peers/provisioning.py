"""A unit of supply shared among eight regions: the loads C of the next 24 hours are predicted."""

from __future__ import annotations

from functools import partial

import numpy as np

from .problem import Array, Job, lookup, problem

#: MW in mild weather, mean temperature, its swing over the year, shares of load that a degree of heat and of cold add.
REGIONS = np.array([
    [9500, 21.0, 8.7, 0.030, 0.010], [10200, 19.5, 11.4, 0.040, 0.030], [680, 17.5, 11.8, 0.033, 0.022],
    [5200, 20.0, 10.0, 0.037, 0.020], [2700, 22.5, 8.4, 0.027, 0.010], [920, 18.5, 11.2, 0.031, 0.025],
    [1170, 19.0, 10.4, 0.030, 0.018], [1750, 18.5, 11.4, 0.014, 0.006],
])  # fmt: skip
#: The price of a unit too much and of one too little.
OVER, UNDER = 50.0, 0.5


def loads(days: int, seed: int) -> tuple[Array, Array]:
    """Hourly load in 10⁴ MW and temperature, hours × 8: days, weekends, seasons, weather that lasts, noise."""
    rng = np.random.default_rng([seed, 5])
    mild, mean, swing, cooling, heating = REGIONS.T
    common, own, noise = 0.0, np.zeros(8), np.zeros(8)
    load, temperature = np.empty((2, 24 * days, 8))
    for t in range(24 * days):
        day, hour = divmod(t, 24)
        common = 0.98 * common + 3.5 * np.sqrt(1 - 0.98**2) * rng.standard_normal()
        own = 0.97 * own + 1.2 * np.sqrt(1 - 0.97**2) * rng.standard_normal(8)
        noise = 0.9 * noise + 0.02 * np.sqrt(1 - 0.9**2) * rng.standard_normal(8)
        year, clock = 2 * np.pi * (day % 365 - 205) / 365, 2 * np.pi * (hour - 15) / 24
        warmth = mean + swing * np.cos(year) + 5.0 * np.cos(clock) + common + own
        weather = cooling * (warmth - 19.0).clip(0.0) + heating * (13.0 - warmth).clip(0.0)
        level = (1.0 + 0.015 * day / 365) * (0.94 if day % 7 >= 5 else 1.0)
        temperature[t] = warmth
        load[t] = level * mild * (1.0 + 0.1 * np.cos(clock - 2 * np.pi / 24) + weather) * (1.0 + noise) / 1e4
    return load, temperature


def provisioning(seed: int, rows: int = 1000, test: int = 400) -> Job:
    """``min over·max(Cx − d, 0) + under·max(d − Cx, 0)``, ``1ᵀx = 1``: one sample a day, known are the day before, the forecast and the date."""
    load, temperature = loads(rows + test + 1, seed)
    C, warmth = load.reshape(-1, 24, 8), temperature.reshape(-1, 24, 8)
    rng = np.random.default_rng([seed, 6])
    forecast = warmth + 2.5 * rng.standard_normal(warmth.shape)
    day = np.arange(len(C))
    season = np.stack([np.cos(2 * np.pi * day / 365), np.sin(2 * np.pi * day / 365), day / 365.0], axis=1)
    parts = [C[:-1], forecast[1:], np.eye(7)[day[1:] % 7], season[1:]]
    features = np.concatenate([part.reshape(len(C) - 1, -1) for part in parts], axis=1)
    C = C[1:]
    d = (0.5 + 0.1 * rng.standard_normal(24)).clip(0.0)
    prices = {"over": np.full(24, OVER), "under": np.full(24, UNDER)}
    return Job(
        name="provisioning, C predicted",
        problem=problem(8, C[:rows].mean(0), d, B=np.ones((1, 8)), c=np.ones(1), **prices),
        predicts=("C",),
        features=features[:rows],
        truths=lookup(C=C[:rows]),
        test_features=features[rows:],
        test_truths=lookup(C=C[rows:]),
        batch=50,
        learning_rate=0.001,
        network=partial(_network, features[:rows], C[:rows]),
        violation=5.0,
        sharpness=100.0,
    )


def _network(features: Array, C: Array):
    from .networks import Plain

    return Plain(features, {"C": C}, hidden=(128, 128))
