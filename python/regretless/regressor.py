"""A predictor in the manner of scikit-learn that is trained on decisions."""

from __future__ import annotations

import html
import inspect
import json
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from . import _regretless
from ._arrays import Float, floats
from ._beside import beside, given_rows
from ._decide import decided, judged, predicted, scenarios
from ._frames import header, some_columns
from ._own import Own, is_own
from ._own import write as write_own
from ._own_rows import forecast
from ._predicted import Predicted, Shaped, Values
from ._progress import shown
from ._project import SETTINGS, Features, Predicts, Rows, Targets, came_true, known_rows
from ._shown import brief
from ._told import Candidate, Epoch, Outcome, flat, learning_curve, one
from .compare import axes
from .errors import RegretlessWarning, TrainingError
from .forecast import Forecast, Risk
from .measures import Decisions
from .problem import Problem, stated_problem

if TYPE_CHECKING:
    import pandas
    import polars
    from matplotlib.axes import Axes

    Frame: TypeAlias = pandas.DataFrame | polars.DataFrame

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

    ``predicts`` names one parameter or several; θ, if the problem states none, need not be named. ``method`` is ``"auto"`` (compares forecasts, scenarios and decision losses by what their decisions cost out of fold, keeps the simplest of
    those that cannot be told from the best, and trains it on all rows), one of ``regretless.METHODS``, or one of them with ``+l2``, ``+stopped`` and ``+scenarios`` (or where these come from: ``+scaled``, ``+neighbours``, ``+forest``). ``K`` is ``"auto"``, a number, or
    several to choose from. ``predictor`` is ``"linear"``, ``"mlp"``, ``"trees"``, ``"given"`` (the features are the forecasts; columns of a frame go by their names), or ``"auto"``: the method ``"auto"`` tries the first three, other methods train an ``"mlp"``. Trees are boosted, with keys of ``[predictor]`` in ``trees``, such as
    ``{"depth": 4}``. ``base="linear"`` puts trees on a ridge regression, and one beside the hidden layers of a network. ``target_transform`` is the scale on which positive targets are predicted: ``"log"``, ``"root"``, ``"none"``, or chosen by
    decisions (``"auto"``); ``warmup`` is what of ``l2`` comes before a decision loss: epochs, or all of it (``"auto"``). ``weights`` are those of ``weighted-l1``: with
    ``{"over": 0.1, "under": 0.9}`` it predicts the quantile of level 0.9. ``schedule`` is how the learning rate changes: ``"constant"``, ``"auto"`` or
    ``{"kind": "plateau", "factor": 0.5, "patience": 10, "back": True}``. The other settings are those of problem files (``docs/problem-file.md``); ``None`` is their default.

    ``predictor`` may also be an object with ``fit`` and ``predict``: a scikit-learn pipeline, LightGBM, a table of a planner. It is fitted as it is; ``method`` is then
    ``"l2"`` (its forecasts as they are), ``"l2+scenarios"`` (with its errors on rows that it did not see, by five-fold cross-fitting) or ``"auto"``. What takes
    gradients learns from decisions too: with a decision loss as ``method``, ``LGBMRegressor`` and ``XGBRegressor`` give their parameters to a booster with our
    objective, and a ``torch.nn.Module`` from features to predicted numbers is trained by Adam (``epochs``, ``batch``, ``learning_rate``, ``weight_decay``,
    ``patience``), features and truths standardised, and stopped by the regret on validation. ``warmup`` rounds or epochs of squared errors come first.

    ``fit(X, y)`` takes arrays or frames (pandas, polars, Arrow): for one predicted parameter its entries, or a dict with several parameters, or for
    a search one array with their entries side by side, in the order of ``predicts``. For one quantity y may have one axis. Columns of frames are
    found by name, whatever their order. X with three axes, (rows, variables, features), trains one network that all variables share. Of the rows a
    share of ``validation`` is held out to choose by: rows drawn by the seed as the command line draws them, or with ``shuffle=False`` the last ones. A predicted Q is
    made of embeddings of the variables; ``embedding`` is their length, or a dict such as ``{"embedding": 8, "form": "cosine"}``. Rows
    that have no optimum under what came true are an error, with ``infeasible="skip"`` left out.

    ``series`` and ``time`` name the columns of the frame X that say of what a row is and when: validation is then the last rows, unless
    ``shuffle`` is true. ``features`` are the columns to learn from, all of X unless said, and of the past ``"lag(demand, 1, 7)"`` and
    ``"mean(demand, 28)"`` with a column of X or y, which look back ``delay`` periods at least. Of a problem that was read from a file, and a
    frame X, what ``[data]`` says of columns holds where these arguments say nothing: ``features``, ``exclude``, ``key``, ``kinds``,
    ``missing``, ``series``, ``time``, ``period``, ``delay``, ``groups``, ``baseline``. Its tables and its split are not looked at. ``history=`` of ``decide`` brings what came true
    since.

    A fit that takes longer than a second says on stderr how far it is, in a terminal or a notebook only; ``verbose=True`` shows a tqdm bar
    everywhere, ``verbose=False`` nothing.

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

    #: An object of the caller's in place of a predictor of ours.
    _own: Own | None = None

    def __init__(
        self,
        problem: Problem,
        method: str = "auto",
        *,
        predicts: Predicts = None,
        predictor: Any = "auto",
        layers: Sequence[int] | None = None,
        base: str | None = None,
        trees: Mapping[str, Any] | None = None,
        target_transform: str | None = None,
        K: float | Sequence[float] | str = "auto",
        smoothing: float = 0.0,
        multipliers: str | float = "dual",
        mix: float | None = None,
        warmup: int | str | None = None,
        weights: Mapping[str, float] | None = None,
        epochs: int | None = None,
        batch: int | None = None,
        learning_rate: float | None = None,
        schedule: str | Mapping[str, Any] | None = None,
        patience: int | None = None,
        dropout: float | None = None,
        weight_decay: float | None = None,
        scenarios: int | None = None,
        risk: Risk | None = None,
        embedding: int | Mapping[str, Any] | None = None,
        infeasible: str = "fail",
        kinds: Mapping[str, str | Sequence[str]] | None = None,
        features: Sequence[str] | None = None,
        series: str | Sequence[str] | None = None,
        time: str | None = None,
        period: float | None = None,
        delay: int | None = None,
        validation: float = 0.2,
        shuffle: bool | None = None,
        random_state: int | None = 0,
        verbose: bool | None = None,
        threads: int | None = None,
    ) -> None:
        self.problem = problem
        self.method = method
        self.predicts = predicts
        self.predictor = predictor
        self.layers = layers
        self.base = base
        self.trees = trees
        self.target_transform = target_transform
        self.K = K
        self.smoothing = smoothing
        self.multipliers = multipliers
        self.mix = mix
        self.warmup = warmup
        self.weights = weights
        self.epochs = epochs
        self.batch = batch
        self.learning_rate = learning_rate
        self.schedule = schedule
        self.patience = patience
        self.dropout = dropout
        self.weight_decay = weight_decay
        self.scenarios = scenarios
        self.risk = risk
        self.embedding = embedding
        self.infeasible = infeasible
        self.kinds = kinds
        self.features = features
        self.series = series
        self.time = time
        self.period = period
        self.delay = delay
        self.validation = validation
        self.shuffle = shuffle
        self.random_state = random_state
        self.verbose = verbose
        self.threads = threads

    # Fitting.

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: ArrayLike | None = None,
        *,
        known: Any = None,
        validation: Sequence[Any] | None = None,
        forecasts: Any = None,
        callbacks: Sequence[Callable[[Epoch], Any]] | Callable[[Epoch], Any] = (),
    ) -> DecisionRegressor:
        """Trains on rows of features and the parameters that came true.

        ``sample_weight`` says how much each row counts in training. ``validation=(X, y)`` are rows to choose by, in place of a share of the
        others. What ``Quantities`` say is known by row is in ``known``, or in the frame X, where it is a feature too; of validation rows
        it is a third member. ``callbacks`` are called after every epoch with its row of ``history_``; one that returns ``True`` ends the training with
        what it has. ``forecasts`` are made elsewhere and take the place of a predictor: a file or a frame with a line for each row, in the
        format of ``regretless train --forecasts`` (``docs/forecasts.md``); X is then ``None``, or a frame with what else is known. For rows that
        are learned from they must be out of fold.
        """
        if self.infeasible not in ("fail", "skip"):
            raise TrainingError(f"infeasible is {self.infeasible!r}: 'fail' or 'skip'")
        problem = stated_problem(self.problem)
        seed = self._seed()
        if is_own(self.predictor):
            if forecasts is not None:
                raise TrainingError("forecasts made elsewhere take the place of a predictor: give one of the two")
            return self._fit_own(X, y, sample_weight, known, validation, callbacks, seed)
        split = None if validation is not None else self._split
        settings = self._settings()
        if forecasts is not None:
            X, settings = self._given(X, forecasts, settings, validation)
        rows = Rows(problem, self.predicts, X, y, settings, known=known, seed=seed, split=split, validation=validation)
        data = rows.data
        if sample_weight is not None:
            weights = self._weights(sample_weight, rows.features.rows)
            # Rows to choose by count once.
            data = data.with_weights(np.concatenate([weights, np.ones(len(data) - len(weights))]))
        return self._train(rows, data, callbacks)

    def _fit_own(
        self,
        X: Any,
        y: Any,
        sample_weight: ArrayLike | None,
        known: Any,
        validation: Sequence[Any] | None,
        callbacks: Sequence[Callable[[Epoch], Any]] | Callable[[Epoch], Any],
        seed: int,
    ) -> DecisionRegressor:
        """Fits an object of the caller's, and learns what to do with its forecasts of rows that it did not see."""
        weigh = None if sample_weight is None else lambda rows: self._weights(sample_weight, rows)
        settings, split = self._settings(), self._split
        made = forecast(
            self.problem,
            self.predicts,
            X,
            y,
            settings,
            seed,
            self._shuffles,
            split,
            known=known,
            weigh=weigh,
            validation=validation,
        )
        rows, data, own = made.rows, made.data, made.own
        self._train(rows, data, callbacks)
        #: The object that was fitted, where one was given.
        self.predictor_ = own.fitted
        self._own = own
        self._seen = (made.forecasts, made.parts)
        there = header(X) if own.columns is None else own.columns
        # Texts, for a pipeline that takes some, have one axis.
        self.n_features_in_ = len(there) if there is not None else (*np.shape(X), 1)[1]
        if hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        return self

    def _train(
        self, rows: Rows, data: Any, callbacks: Sequence[Callable[[Epoch], Any]] | Callable[[Epoch], Any]
    ) -> DecisionRegressor:
        self._own = None
        called = [callbacks] if callable(callbacks) else list(callbacks)
        with shown(self.verbose) or nullcontext() as bar:
            learner = _regretless.Learner.fit(rows.project, data, _watcher(bar, called), self.threads)
        outcome: Outcome = json.loads(learner.outcome())
        for warning in (*outcome["warnings"], *outcome["notes"]):
            warnings.warn(warning, RegretlessWarning, stacklevel=3)
        # All at once: a fit that fails leaves the one before. Settings may change afterwards, what was fitted does not.
        self._learner: _regretless.Learner | None = learner
        self._rows = rows.forget(learner)
        #: Number of features.
        self.n_features_in_ = len(rows.features.names)
        if rows.features.named:
            #: Names of the features, where X was a frame.
            self.feature_names_in_ = np.array(rows.features.names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        #: The method that was kept: with `auto` or several K, the best on validation.
        self.method_ = outcome["kept"]
        #: What was chosen, over what, by how much.
        self.summary_ = outcome["sentence"]
        #: Every epoch of every stage; `pandas.DataFrame(model.history_)` is a frame of it.
        self.history_: list[Epoch] = flat(learner.epochs())
        #: Everything that was trained on the way, with its measures on validation.
        self.candidates_: list[Candidate] = outcome["tried"]
        kept = next((tried for tried in self.candidates_ if tried["name"] == self.method_), None)
        #: Epochs of what was kept.
        self.n_iter_ = kept["epochs"] if kept else 0
        return self

    @property
    def feature_importances_(self) -> Float:
        """The share of each feature in what the splits of trees gained; other predictors have none.

        What a feature is worth to decisions is another thing: ``evaluate(X, y, importance=True).account["importance"]``.
        """
        found = json.loads(self._fitted().card()).get("importance", [])
        if not found:
            kept = (
                f"{self.method_!r} was kept, which has none"
                if self.predictor == "trees"
                else "fit with predictor='trees'"
            )
            raise AttributeError(f"feature_importances_ are those of trees: {kept}")
        return np.array(found)

    def predict(self, X: Any = None, *, forecasts: Any = None, history: Any = None) -> Shaped | Frame:
        """Parameters for rows of features: an array, or a dict of arrays for several. ``forecasts`` and ``history`` are those of :meth:`decide`."""
        learner, layout = self._fitted(), self._layout()
        rows = predicted(learner, *self._features(self._beside(X, forecasts), history))
        out = np.empty_like(rows)
        out[:, self._rows.take] = rows
        if self._rows.one_axis:
            return out[:, 0]
        shaped = layout.shaped(out)
        if isinstance(shaped, dict):
            return shaped
        return self._framed(shaped, self._rows.names.get(layout.names[0]))

    def forecast(self, X: Any = None, *, forecasts: Any = None, history: Any = None) -> Forecast:
        """What is predicted for rows of features as weighted scenarios: those that ``decide`` decides for, or the prediction alone where
        there are none. :func:`calibrate` moves them, :func:`regret` judges them. ``forecasts`` and ``history`` are those of
        :meth:`decide`."""
        learner, layout = self._fitted(), self._layout()
        features, beyond = self._features(self._beside(X, forecasts), history)
        points, weights = scenarios(learner, features, beyond)
        rows, count = weights.shape
        flat = points.reshape(rows * count, -1 if points.size else layout.width)
        out = np.empty_like(flat)
        out[:, self._rows.take] = flat
        parts = {name: part.reshape(rows, count, *part.shape[1:]) for name, part in layout.parts(out).items()}
        return Forecast(parts[layout.names[0]] if len(parts) == 1 else parts, weights)

    def decide(self, X: Any = None, *, forecasts: Any = None, known: Any = None, history: Any = None) -> Float | Frame:
        """Exact decisions for rows of features; a row whose prediction has no optimum is NaN, and one warning counts them. What is known
        of the rows is in ``known``, or in the frame X. Where features are made of the past, ``history`` is a frame with what came true since
        ``fit``: time, series and what is looked back at; a row that needs more than is known is NaN. A model that was fitted with
        ``forecasts`` decides for those of the new rows, a file or a frame; X may be ``None`` then."""
        X = self._beside(X, forecasts)
        features, beyond = self._features(X, history)
        x = decided(self._fitted(), features, self._known(known, X, len(features)), self.threads, beyond)
        return self._framed(x, self._rows.problem.variables)

    def evaluate(
        self,
        X: Any,
        y: Values,
        *,
        forecasts: Any = None,
        known: Any = None,
        baseline: Any = None,
        history: Any = None,
        groups: str | Sequence[str] | None = None,
        importance: bool = False,
    ) -> Decisions:
        """Decisions for rows of features, judged by the parameters that came true. ``baseline`` are decisions that were taken, a row each in
        the order of the variables, by default the columns of X or y that ``data.baseline`` of the problem's file names: ``account`` of
        what comes back compares with them. Features of the past are made of what came true before each row, here and in ``history``;
        a row that looks back further has no decision. ``groups`` are columns of X by which ``account`` is told apart, such as a region. With
        ``importance`` it says what each feature is worth, too: how much dearer decisions get with its column shuffled."""
        learner, truths = self._fitted(), self._truths(y)
        X = self._beside(X, forecasts)
        if learner.looked_back():
            names = json.loads(learner.card())["targets"]
            came = list(zip(names, np.ascontiguousarray(truths.T)))
            history = came_true(learner, some_columns(X), came, history)
        features, beyond = self._features(X, history)
        if len(truths) != len(features):
            raise TrainingError(f"inconsistent numbers of samples: X has {len(features)} rows, y {len(truths)}")
        there = self._known(known, X, len(features))
        variables = self._rows.problem.n
        columns = some_columns(y) + some_columns(X)
        return judged(
            learner, features, truths, there, columns, baseline, variables, self.threads, beyond, groups, importance
        )

    def score(self, X: Any, y: Values, sample_weight: ArrayLike | None = None, *, known: Any = None) -> float:
        """Minus the mean regret: higher is better, 0 is best. NaN if a prediction cannot be decided with, so that a search ranks it last."""
        found = self.evaluate(X, y, known=known)
        if found.undecided:
            return float("nan")
        if sample_weight is None:
            return -found.mean
        weights = self._weights(sample_weight, len(found.regret))
        there = ~np.isnan(found.regret)
        return -float(np.average(found.regret[there], weights=weights[there]))

    def set_output(self, *, transform: Literal["default", "pandas", "polars"] | None = None) -> DecisionRegressor:
        """What ``decide`` and ``predict`` of one parameter give: arrays, or frames with the names of variables and targets."""
        if transform not in (None, "default", "pandas", "polars"):
            raise TrainingError(f"transform is {transform!r}: 'default', 'pandas' or 'polars'")
        if transform is not None:
            self._output = transform
        return self

    def save(self, directory: str | PathLike[str]) -> None:
        """Writes a run as ``regretless train`` does: ``regretless decide`` uses it, and :class:`Run` opens it.

        It holds text, JSON and numbers; no pickles. Of an object that was given as ``predictor`` it holds the name and what it forecast
        for rows that it had not seen (``forecasts.csv``): ``Run(directory, predictor=object)`` asks for the object again.
        """
        self._fitted().save(self._rows.project(), fspath(directory))
        if self._own is not None:
            forecasts, parts = self._seen
            names = [column for *_, columns in self._rows.project().parts() for column in columns]
            write_own(Path(directory), self._own, forecasts, self._rows.take, parts, names)

    def plot(self, ax: Axes | None = None) -> Axes:
        """The regret on validation by epoch, a line a stage, with matplotlib."""
        self._fitted()
        drawn: Axes = learning_curve(self.history_, axes(ax))
        return drawn

    # Details.

    def _layout(self) -> Predicted:
        quantities = self._rows.quantities
        return Predicted(self._rows.problem, self._rows.predicted if quantities is None else quantities)

    def _given(
        self, X: Any, forecasts: Any, settings: dict[str, Any], validation: Sequence[Any] | None
    ) -> tuple[Any, dict[str, Any]]:
        """X with the forecasts behind it, and settings that take them."""
        if self.predictor not in ("auto", "given") or self.features is not None:
            what = "features" if self.features is not None else f"predictor={self.predictor!r}"
            raise TrainingError(
                f"forecasts made elsewhere take the place of a predictor and of features: leave {what} out"
            )
        if validation is not None:
            raise TrainingError(
                "rows to choose by have forecasts, too: put them among the others, and say the share as `validation`"
            )
        where = fspath(forecasts) if isinstance(forecasts, (str, PathLike)) else "forecasts"
        return beside(X, forecasts, TrainingError), settings | {"predictor": "given", "forecasts": where}

    def _beside(self, X: Any, forecasts: Any) -> Any:
        """X, with the forecasts behind it where the model was fitted with some."""
        self._fitted()
        known = self._rows.features
        return given_rows(X, forecasts, known.names if known is not None else [], TrainingError)

    def _known(self, known: Any, X: Any, rows: int) -> Float:
        """What is known of rows, in the order of the model."""
        quantities = self._rows.quantities
        array = known_rows(quantities, known, X, rows)
        if quantities is None:
            return array
        own = quantities.known_columns
        order = json.loads(self._fitted().card()).get("known", [])
        return np.ascontiguousarray(array[:, [own.index(name) for name in order]])

    def _features(self, X: Any, history: Any = None) -> tuple[Float, dict[int, str]]:
        learner = self._fitted()
        if self._own is not None:
            return np.ascontiguousarray(self._own.predict(X)[:, self._rows.take]), {}
        return Features(X, self._rows.problem, self._rows.features).coded(learner, history)

    def _truths(self, y: Any) -> Float:
        truths = Targets(y, self._layout(), self._rows.order, self._rows.names).array
        return np.ascontiguousarray(truths[:, self._rows.take])

    def _framed(self, array: Float, columns: list[str] | None) -> Float | Frame:
        """The array, or a frame of the kind that was asked for."""
        kind = getattr(self, "_output", "default")
        if kind == "default" or array.ndim != 2:
            return array
        names = columns or [f"y{j}" for j in range(array.shape[1])]
        if kind == "pandas":
            import pandas

            return pandas.DataFrame(array, columns=names)
        import polars

        return polars.DataFrame(array, schema=names)

    def _seed(self) -> int:
        state = self.random_state
        if state is None:
            return int(np.random.default_rng().integers(2**32))
        if isinstance(state, np.random.RandomState):
            return int(state.randint(2**31))
        if not isinstance(state, (int, np.integer)) or state < 0:
            raise TrainingError(f"random_state is {state!r}: a whole number from 0 on, or None")
        return int(state)

    def _shuffles(self, timed: bool = False) -> bool:
        """Whether validation is drawn; with times it is what comes last."""
        return self.time is None and not timed if self.shuffle is None else self.shuffle

    def _split(self, rows: int, timed: bool = False) -> dict[str, Any]:
        """The share that is held out: at least one row of two."""
        if not 0.0 < self.validation < 1.0:
            raise TrainingError(f"validation is {self.validation}: a share between 0 and 1")
        count = min(max(round(self.validation * rows), 1), rows - 1)
        share = self.validation if round(self.validation * rows) == count else count / rows
        return {"kind": "random" if self._shuffles(timed) else "chronological", "valid": share, "test": 0.0}

    @staticmethod
    def _weights(given: ArrayLike, rows: int) -> Float:
        weights = floats("sample_weight", given)
        weights = np.full(rows, float(weights)) if weights.ndim == 0 else weights
        if weights.shape != (rows,):
            raise TrainingError(f"sample_weight.shape == {weights.shape}, expected ({rows},): one number for each row")
        if not (np.isfinite(weights) & (weights >= 0.0)).all():
            row = int(np.argmin(np.isfinite(weights) & (weights >= 0.0)))
            raise TrainingError(f"sample_weight[{row}] is {weights[row]}: a number from 0 on")
        if not weights.any():
            raise TrainingError("every sample_weight is zero: there is nothing to learn from")
        return np.ascontiguousarray(weights)

    def _fitted(self) -> _regretless.Learner:
        learner = getattr(self, "_learner", None)
        if learner is None:
            raise _NotFitted("this DecisionRegressor is not fitted yet: call fit(X, y) first")
        return learner  # type: ignore[no-any-return]

    def _settings(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in SETTINGS if hasattr(self, name)}

    def __getstate__(self) -> dict[str, Any]:
        state = dict(self.__dict__)
        learner = state.pop("_learner", None)
        if learner is not None:
            state["_model"] = (learner.to_bytes(), learner.outcome(), learner.epochs(), learner.rivals())
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        model = state.pop("_model", None)
        self.__dict__.update(state)
        if model is not None:
            self._learner = _regretless.Learner.from_bytes(self._rows.project(), *model)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        tags.input_tags.allow_nan = not is_own(self.predictor)
        tags.input_tags.categorical = not is_own(self.predictor)
        # Its score is minus a regret: 0 at best.
        tags.regressor_tags.poor_score = True
        return tags

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        """One line: the problem and what differs from the defaults."""
        defaults = inspect.signature(type(self).__init__).parameters
        given = self.get_params(deep=False)
        changed = {
            name: given[name]
            for name, parameter in defaults.items()
            if name in given and name != "problem" and repr(given[name]) != repr(parameter.default)
        }
        shown = ", ".join([repr(self.problem), *(f"{name}={brief(value)}" for name, value in changed.items())])
        return f"{type(self).__name__}({shown})"

    def _repr_html_(self) -> str:
        fitted = f"<br>{html.escape(self.summary_)}" if hasattr(self, "summary_") else ""
        return f"<pre>{html.escape(repr(self))}</pre>{fitted}"


def _watcher(
    shown: Callable[[int, Epoch], None] | None, callbacks: Sequence[Callable[[Epoch], Any]]
) -> Callable[[int, str], bool] | None:
    """All who watch as one; true if one of them has seen enough."""
    if shown is None and not callbacks:
        return None

    def called(epochs: int, epoch: str) -> bool:
        row = one(epoch)
        if shown is not None:
            shown(epochs, row)
        # Each of them is called.
        return any([callback(row) is True for callback in callbacks])

    return called
