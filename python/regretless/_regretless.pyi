from collections.abc import Callable
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Judge",
    "Learner",
    "Loss",
    "Problem",
    "Solutions",
    "Surrogate",
    "__version__",
    "methods",
    "mix",
    "multipliers",
    "read_problem",
    "read_run",
    "sharpness",
]

__version__: str

_Float = NDArray[np.float64]
_Given = list[tuple[str, _Float]]
_Ids = NDArray[np.int64] | NDArray[np.uint64]
_ByKind = tuple[_Float, _Float, _Float, _Float, _Float]

@final
class Problem:
    def __new__(
        cls,
        n: int,
        sense: str,
        variables: list[str] | None,
        theta: _Float | None,
        Q: _Float | None,
        soft: list[tuple[str, _Float, _Float, _Float, _Float]],
        at_most: list[tuple[str, _Float, _Float]],
        equal: list[tuple[str, _Float, _Float]],
        lower: _Float | None,
        upper: _Float | None,
    ) -> Problem: ...
    @property
    def variables(self) -> list[str]: ...
    def stated(self, symbol: str) -> _Float: ...
    def solve(
        self, given: _Given, rows: int, tolerance: float | None, best_effort: bool, threads: int | None
    ) -> dict[str, Any]: ...
    def judge(self, x: _Float, given: _Given) -> list[_Float]: ...

@final
class Surrogate:
    def __new__(
        cls, problem: Problem, multipliers: _ByKind, k: _ByKind, segments: str, smoothing: float, store_bytes: int
    ) -> Surrogate: ...
    def solve(self, given: _Given, rows: int, ids: _Ids | None, threads: int | None) -> Solutions: ...
    def exact_gaps(self, solutions: Solutions, given: _Given, threads: int | None) -> _Float: ...
    @property
    def remembered(self) -> int: ...
    def forget(self) -> None: ...

@final
class Solutions:
    def x(self, best_effort: bool) -> _Float: ...
    def objective(self, best_effort: bool) -> _Float: ...
    def troubled(self) -> list[int]: ...
    def residual(self) -> _Float: ...
    def accuracy(self) -> list[_Float]: ...
    def status(self) -> tuple[list[str], list[list[str]]]: ...
    def segments(self) -> NDArray[np.int8]: ...
    def vjp(
        self, upstream: _Float, symbols: list[str], best_effort: bool, threads: int | None
    ) -> dict[str, _Float]: ...

@final
class Loss:
    def __new__(
        cls,
        problem: Problem,
        method: str,
        predicted: list[str],
        k: float,
        k_rows: _ByKind | None,
        smoothing: float,
        ridge: float,
        over: float,
        under: float,
        multipliers: _ByKind | None,
        scale: _Float | None,
        store_bytes: int,
    ) -> Loss: ...
    def evaluate(self, predictions: _Float, truths: _Float, ids: _Ids, threads: int | None) -> dict[str, Any]: ...
    def end_epoch(self, rows: list[int]) -> list[str]: ...
    def set_k(self, k: float) -> None: ...

@final
class Judge:
    def __new__(cls, problem: Problem, predicted: list[str], prices: _ByKind | None, store_bytes: int) -> Judge: ...
    def evaluate(self, predictions: _Float, truths: _Float, ids: _Ids, threads: int | None) -> dict[str, Any]: ...

@final
class Learner:
    @staticmethod
    def fit(
        problem: Problem,
        predicted: list[str],
        settings: str,
        method: str,
        seed: int,
        features: _Float,
        targets: _Float,
        valid: NDArray[np.bool_],
        per_variable: list[list[int]] | None,
        watch: Callable[[str, int, int, float, float], None] | None,
        threads: int | None,
    ) -> Learner: ...
    @property
    def sentence(self) -> str: ...
    @property
    def kept(self) -> str: ...
    @property
    def warnings(self) -> list[str]: ...
    def to_bytes(self) -> bytes: ...
    @staticmethod
    def from_bytes(
        problem: Problem, predicted: list[str], settings: str, bytes: bytes, sentence: str, kept: str
    ) -> Learner: ...
    def predict(self, features: _Float) -> _Float: ...
    def decide(self, features: _Float, threads: int | None) -> tuple[_Float, list[str]]: ...
    def evaluate(self, features: _Float, truths: _Float, threads: int | None) -> dict[str, Any]: ...

def sharpness(problem: Problem, given: _Given, rows: int) -> tuple[float, list[_Float]]: ...
def methods() -> list[tuple[str, str, str, str, str]]: ...

_Stated = tuple[dict[str, Any], str | None, list[str]]

def read_problem(path: str) -> _Stated: ...
def read_run(path: str) -> tuple[_Stated, Learner, str, str, str]: ...
def mix(gradient: _Float, plain: _Float, weight: float) -> _Float: ...
def multipliers(
    problem: Problem,
    rule: str,
    factor: float | None,
    sqrt_n: bool,
    values: _ByKind | None,
    given: _Given,
    rows: int,
) -> dict[str, Any]: ...
