"""What the wheel gives in an environment with nothing but NumPy: run by the script `wheel` beside it."""

import importlib.util
import sys
from pathlib import Path

import numpy as np

import regretless as rl

# The installed package and not the checkout; nothing else that would help it.
assert Path(sys.prefix) in Path(rl.__file__).parents, rl.__file__
for absent in ("torch", "sklearn", "cvxpy", "scipy", "tqdm"):
    assert importlib.util.find_spec(absent) is None, absent

farm = rl.Problem(2, A=[[1.0, 1.0]], b=8.0, soft=rl.Soft([[2.0, 1.0]], 10.0, weight=0.5))
assert np.allclose(farm.solve([3.0, 2.0]).x, [8.0, 0.0])
assert rl.Surrogate(farm).solve([3.0, 2.0]).vjp([1.0, 0.0]).C.shape == (1, 2)
X = np.random.default_rng(0).normal(size=(60, 2))
model = rl.DecisionRegressor(farm, "spo+", predictor="linear", epochs=5).fit(X, X + 3.0)
assert model.score(X, X + 3.0) <= 0.0

for call, package in ((lambda: rl.from_cvxpy(None), "cvxpy"), (lambda: __import__("regretless.torch"), "torch")):
    try:
        call()
    except ImportError as error:
        assert f"pip install {package}" in str(error)
    else:
        raise AssertionError(f"{package} should be missing")
print("1 passed, 0 failed")
