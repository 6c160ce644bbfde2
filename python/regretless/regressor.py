"""A predictor in the manner of scikit-learn that is trained on decisions."""

from __future__ import annotations

import inspect
import json
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _regretless
from ._arrays import SYMBOLS, Float, floats
from ._decide import decided
from ._predicted import Predicted, Values, names
from .errors import RegretlessWarning, TrainingError
from .measures import Decisions, told
from .problem import Problem, stated_problem

__all__ = ["DecisionRegressor"]

try:
    from sklearn.base import BaseEstimator, RegressorMixin
    from sklearn.exceptions import NotFittedError

    class _Base(RegressorMixin, BaseEstimator):  # type: ignore[misc,unused-ignore]
        """A regressor, for scikit-learn."""

    class _NotFitted(TrainingError, NotFittedError):  # type: ignore[misc,unused-ignore]
        """Both ours and scikit-learn's."""

except ImportError:
    _NotFitted = TrainingError  # type: ignore[misc,assignment]

    class _Base:  # type: ignore[no-redef]
        """What scikit-learn's base class gives, where it is not installed."""

        def get_params(self, deep: bool = True) -> dict[str, Any]:
            """The settings."""
            return {
                name: getattr(self, name)
                for name in inspect.signature(type(self).__init__).parameters
                if name != "self"
            }

        def set_params(self, **params: Any) -> Any:
            """Changes settings."""
            for name, value in params.items():
                if name not in self.get_params():
                    raise ValueError(f"there is no setting `{name}`: {', '.join(self.get_params())}")
                setattr(self, name, value)
            return self


class DecisionRegressor(_Base):  # type: ignore[misc,unused-ignore]
    """Predicts parameters of a problem from features, trained on what the decisions cost.

    ``predicts`` names one parameter or several; θ, if the problem states none, need not be named. ``method`` is ``"auto"`` (trains two-stage predictors, fine-tunes them with every decision loss that fits, tries scenarios, and keeps what
    is best on validation), one of ``regretless.METHODS``, or one of them with ``+l2``, ``+stopped`` and ``+scenarios``. ``K`` is ``"auto"``, a number, or
    several to choose from. The other settings are those of problem files (``docs/problem-file.md``); ``None`` is their default.

    ``fit(X, y)`` takes an array for one predicted parameter, or a dict of arrays, or for several parameters in a search one array with their
    entries side by side, in the order of ``predicts``. X with three axes, (rows, variables, features), trains one network that all variables share. Of the rows a
    share of ``validation`` is held out to choose by: rows drawn by the seed, or with ``shuffle=False`` the last ones. A predicted Q is
    made of embeddings of the variables; ``embedding`` is their length, or a dict such as ``{"embedding": 8, "form": "cosine"}``. Rows
    that have no optimum under what came true are an error, with ``infeasible="skip"`` left out.

    >>> import numpy as np, regretless as rl
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(120, 3))
    >>> y = X @ rng.normal(size=(3, 4)) + 5.0                  # margins of four products
    >>> plan = rl.Problem(4, A=[[1.0, 2.0, 1.0, 3.0]], b=10.0, upper=4.0)
    >>> model = rl.DecisionRegressor(plan, method="spo+", predictor="linear", epochs=40).fit(X, y)
    >>> model.predict(X).shape, model.decide(X).shape
    ((120, 4), (120, 4))
    >>> constant = rl.DecisionRegressor(plan, method="constant").fit(X, y)
    >>> model.score(X, y) > constant.score(X, y)               # minus the mean regret
    True
    """

    def __init__(
        self,
        problem: Problem,
        method: str = "auto",
        *,
        predicts: str | Sequence[str] | None = None,
        predictor: str = "mlp",
        layers: Sequence[int] | None = None,
        K: float | Sequence[float] | str = "auto",
        smoothing: float = 0.0,
        multipliers: str | float = "dual",
        mix: float | None = None,
        epochs: int | None = None,
        batch: int | None = None,
        learning_rate: float | None = None,
        patience: int | None = None,
        dropout: float | None = None,
        weight_decay: float | None = None,
        scenarios: int | None = None,
        embedding: int | Mapping[str, Any] | None = None,
        infeasible: str = "fail",
        validation: float = 0.2,
        shuffle: bool = True,
        random_state: int | None = 0,
        verbose: bool = False,
        threads: int | None = None,
    ) -> None:
        self.problem = problem
        self.method = method
        self.predicts = predicts
        self.predictor = predictor
        self.layers = layers
        self.K = K
        self.smoothing = smoothing
        self.multipliers = multipliers
        self.mix = mix
        self.epochs = epochs
        self.batch = batch
        self.learning_rate = learning_rate
        self.patience = patience
        self.dropout = dropout
        self.weight_decay = weight_decay
        self.scenarios = scenarios
        self.embedding = embedding
        self.infeasible = infeasible
        self.validation = validation
        self.shuffle = shuffle
        self.random_state = random_state
        self.verbose = verbose
        self.threads = threads

    # Fitting.

    def fit(self, X: ArrayLike, y: Values) -> DecisionRegressor:
        """Trains on rows of features and the parameters that came true."""
        features, layout = self._features(X, stated_problem(self.problem)), self._layout()
        targets = layout.flat("y", self._parts(y, layout, self._names()))
        rows = len(features)
        each = None if np.ndim(X) == 2 else np.arange(features.shape[1]).reshape(self.problem.n, -1).tolist()
        if len(targets) != rows:
            raise TrainingError(f"X has {rows} rows, y {len(targets)}")
        held = self._held_out(rows)
        if self.infeasible not in ("fail", "skip"):
            raise TrainingError(f"infeasible is {self.infeasible!r}: 'fail' or 'skip'")
        settings = self._settings(shared=each is not None)
        with _Bar(self.verbose) as watch:
            learner = _regretless.Learner.fit(
                self.problem._inner, layout.names, settings, self.method, self._seed(),
                features, targets, held, each, watch, self.threads,
            )  # fmt: skip
        for warning in learner.warnings:
            warnings.warn(warning, RegretlessWarning, stacklevel=2)
        # All at once: a fit that fails leaves the one before. Settings may change afterwards, what was fitted does not.
        self._learner: _regretless.Learner | None = learner
        self._fitted_with = (self.problem, list(self._names()), settings)
        #: Number of features.
        self.n_features_in_ = features.shape[1]
        #: The method that was kept: with `auto` or several K, the best on validation.
        self.method_ = learner.kept
        #: What was chosen, over what, by how much.
        self.summary_ = learner.sentence
        return self

    def predict(self, X: ArrayLike) -> Any:
        """Parameters for rows of features: an array, or a dict of arrays for several."""
        learner = self._fitted()
        return self._layout(fitted=True).shaped(learner.predict(self._known_features(X)))

    def decide(self, X: ArrayLike) -> Float:
        """Exact decisions for rows of features; a row whose prediction has no optimum is NaN, and one warning counts them."""
        return decided(self._fitted(), self._known_features(X), self.threads)

    def evaluate(self, X: ArrayLike, y: Values) -> Decisions:
        """Decisions for rows of features, judged by the parameters that came true."""
        learner = self._fitted()
        features, layout = self._known_features(X), self._layout(fitted=True)
        truths = layout.flat("y", self._parts(y, layout, self._fitted_with[1]))
        if len(truths) != len(features):
            raise TrainingError(f"X has {len(features)} rows, y {len(truths)}")
        return told(Decisions(**learner.evaluate(features, truths, self.threads)), stacklevel=4)

    def score(self, X: ArrayLike, y: Values) -> float:
        """Minus the mean regret: higher is better, 0 is best. NaN if a prediction cannot be decided with, so that a search ranks it last."""
        judged = self.evaluate(X, y)
        return float("nan") if judged.undecided else -judged.mean

    # Details.

    def _names(self) -> list[str]:
        return names(stated_problem(self.problem), self.predicts, "predicts")

    def _layout(self, *, fitted: bool = False) -> Predicted:
        problem, own = self._fitted_with[:2] if fitted else (stated_problem(self.problem), self._names())
        # The order of problem files.
        return Predicted(problem, sorted(own, key=lambda name: SYMBOLS.index(name) if name in SYMBOLS else 0))

    def _parts(self, y: Values, layout: Predicted, order: list[str]) -> Values:
        if isinstance(y, Mapping):
            return y
        array = floats("y", y)
        if array.ndim == 2 and array.shape[1] == layout.width:
            # Side by side, in the order of `predicts`.
            shaped: Values = Predicted(layout.problem, order).shaped(array)
            return shaped
        return array

    def _seed(self) -> int:
        if self.random_state is None:
            return int(np.random.default_rng().integers(2**32))
        if not isinstance(self.random_state, (int, np.integer)) or self.random_state < 0:
            raise TrainingError(f"random_state is {self.random_state!r}: a whole number from 0 on, or None")
        return int(self.random_state)

    def _features(self, X: ArrayLike, problem: Problem) -> Float:
        features, n = floats("X", X), problem.n
        bad = np.argwhere(~np.isfinite(features))
        if len(bad):
            raise TrainingError(f"X{bad[0].tolist()} is {features[tuple(bad[0])]}: fill in what is missing first")
        if features.ndim == 3 and features.shape[1] == n:
            return features.reshape(len(features), -1)
        if features.ndim != 2:
            wanted = f"(rows, features), or (rows, {n}, features) for a network shared by all variables"
            raise TrainingError(f"X has the shape {features.shape}, expected {wanted}")
        return features

    def _known_features(self, X: ArrayLike) -> Float:
        self._fitted()
        features = self._features(X, self._fitted_with[0])
        if features.shape[1] != self.n_features_in_:
            raise TrainingError(f"X has {features.shape[1]} features, the model was trained on {self.n_features_in_}")
        return features

    def _held_out(self, rows: int) -> NDArray[np.bool_]:
        if not 0.0 < self.validation < 1.0:
            raise TrainingError(f"validation is {self.validation}: a share between 0 and 1")
        count = min(max(round(self.validation * rows), 1), max(rows - 1, 0))
        held = np.zeros(rows, dtype=np.bool_)
        order = np.random.default_rng(self._seed()).permutation(rows) if self.shuffle else np.arange(rows)
        held[order[rows - count :]] = True
        return held

    def _fitted(self) -> _regretless.Learner:
        learner = getattr(self, "_learner", None)
        if learner is None:
            raise _NotFitted("this DecisionRegressor is not fitted yet: call fit(X, y) first")
        return learner  # type: ignore[no-any-return]

    def _settings(self, *, shared: bool) -> str:
        """The settings in the words of problem files."""
        surrogate = {"k": self.K, "smoothing": self.smoothing, "multipliers": self.multipliers}
        predictor: dict[str, Any] = {"kind": self.predictor, "layers": self.layers, "dropout": self.dropout}
        if shared:
            predictor["shared"] = True
        if self.embedding is not None:
            whole = isinstance(self.embedding, Mapping)
            predictor["quadratic"] = self.embedding if whole else {"embedding": self.embedding}
        training = {
            "epochs": self.epochs,
            "batch": self.batch,
            "learning_rate": self.learning_rate,
            "weight_decay": self.weight_decay,
            "mix": self.mix,
            "stop": None if self.patience is None else {"patience": self.patience},
            "scenarios": None if self.scenarios is None else {"count": self.scenarios},
            "infeasible": self.infeasible,
        }
        sections = {"surrogate": surrogate, "predictor": predictor, "training": training}
        given = {
            name: {key: value for key, value in section.items() if value is not None}
            for name, section in sections.items()
        }
        try:
            return json.dumps(given, default=_plain, allow_nan=False)
        except ValueError as error:
            raise TrainingError(f"a setting is not finite: {error}") from None

    def __getstate__(self) -> dict[str, Any]:
        state = dict(self.__dict__)
        learner = state.pop("_learner", None)
        if learner is not None:
            state["_model"] = (learner.to_bytes(), learner.sentence, learner.kept)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        model = state.pop("_model", None)
        self.__dict__.update(state)
        if model is not None:
            problem, _, settings = self._fitted_with
            predicted = self._layout(fitted=True).names
            self._learner = _regretless.Learner.from_bytes(problem._inner, predicted, settings, *model)


def _plain(value: Any) -> Any:
    """Numbers and arrays of NumPy, and other mappings, as JSON knows them."""
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    if isinstance(value, Mapping):
        return dict(value)
    raise TrainingError(f"{value!r} of type {type(value).__name__} is no value of a setting")


class _Bar:
    """A tqdm bar over the epochs of each stage, or nothing."""

    def __init__(self, verbose: bool) -> None:
        self.verbose = verbose
        self.bar: Any = None
        self.stage: str | None = None

    def __enter__(self) -> Any:
        if not self.verbose:
            return None
        try:
            from tqdm.auto import tqdm
        except ImportError as error:
            raise ImportError("verbose=True shows a tqdm bar: pip install tqdm") from error
        self.tqdm = tqdm
        return self.show

    def show(self, stage: str, epochs: int, epoch: int, loss: float, regret: float) -> None:
        """Called after every epoch."""
        if stage != self.stage:
            self.__exit__()
            self.stage = stage
            self.bar = self.tqdm(total=epochs, desc=stage, unit="epoch")
        self.bar.set_postfix(loss=f"{loss:.4g}", regret=f"{regret:.4g}", refresh=False)
        self.bar.update(epoch - self.bar.n)

    def __exit__(self, *_: object) -> None:
        if self.bar is not None:
            self.bar.close()
