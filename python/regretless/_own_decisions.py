"""Predictors of others that learn from decisions: boosters by our objective, PyTorch modules by our loss."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ._arrays import Float
from ._own import Part, name_of
from ._predicted import Predicted
from .errors import TrainingError
from .losses import METHODS

#: Losses of the forecast: what an object does by itself.
FORECASTS = ("l1", "l2", "weighted-l1")

#: Of our settings, those that a decision loss has.
OF_LOSSES = ("K", "smoothing", "multipliers")


def decision_method(method: str) -> str | None:
    """The decision loss of a method; ``None`` where an object is fitted as it is."""
    base = method.split("+")[0] if not method.startswith("spo+") else "spo+" + method[4:].split("+")[0]
    if base not in METHODS or base in FORECASTS:
        return None
    if base != method:
        raise TrainingError(
            f"method is {method!r}: an object of yours learns from {base!r} alone, without what follows it"
        )
    return base


def learner(
    predictor: Any, layout: Predicted, settings: Mapping[str, Any], seed: int
) -> Callable[[Any, Part, Part], Any] | None:
    """What trains an object on decisions; ``None`` where its own ``fit`` is called. Refuses before anything is fitted."""
    method = decision_method(str(settings.get("method") or "auto"))
    library = type(predictor).__module__.split(".")[0]
    if is_module(predictor):
        from ._own_torch import learn

        return lambda module, part, held: learn(module, part, held, layout, method or "l2", settings, seed)
    if method is None:
        return None
    if library in ("lightgbm", "xgboost") and hasattr(predictor, "get_params"):
        return lambda wrapper, part, _: boosted(library, wrapper, part, layout, method, settings)
    raise TrainingError(
        f"{name_of(predictor)} is fitted as it is: {method!r} finds nothing to train. Give 'l2', 'l2+scenarios' or 'auto'; or what takes "
        "gradients: LGBMRegressor, XGBRegressor or a torch.nn.Module here, other training with regretless.lightgbm.objective, "
        "regretless.xgboost.objective and regretless.torch.DecisionLoss"
    )


def is_module(predictor: Any) -> bool:
    """True for a ``torch.nn.Module``; asks nobody to have PyTorch."""
    return any(
        f"{kind.__module__}.{kind.__qualname__}" == "torch.nn.modules.module.Module" for kind in type(predictor).__mro__
    )


def loss_settings(layout: Predicted, settings: Mapping[str, Any]) -> dict[str, Any]:
    """What a decision loss is told."""
    told = {name: settings[name] for name in OF_LOSSES if settings.get(name) is not None}
    if np.ndim(told.get("K", 0.0)) > 0:
        raise TrainingError("several K are for predictors of our own: give an object one, or 'auto'")
    return {"predict": layout.quantities or layout.names, **told}


class Boosted:
    """A booster that was trained on decisions: predictions in the units of the truths, side by side."""

    def __init__(self, booster: Any, objective: Any, matrix: Callable[[Any], Any] | None) -> None:
        self.booster = booster
        self._mean, self._deviation = objective._mean, objective._deviation
        self._matrix = matrix

    def predict(self, X: Any) -> Float:
        """Predictions for rows of features."""
        if self._matrix is None:
            raw = self.booster.predict(X, raw_score=True)
        else:
            raw = self.booster.predict(self._matrix(X), output_margin=True)
        return np.asarray(self._mean + self._deviation * np.reshape(raw, (-1, len(self._mean))))


def boosted(
    library: str, wrapper: Any, part: Part, layout: Predicted, method: str, settings: Mapping[str, Any]
) -> Boosted:
    """The booster of a scikit-learn wrapper, with its parameters and our objective."""
    warmup = settings.get("warmup") or 0
    if not isinstance(warmup, int):
        raise TrainingError(
            f"warmup is {warmup!r}: the rounds of squared errors before an object's decision loss, a number"
        )
    told = {**loss_settings(layout, settings), "warmup": warmup, "known": part.known}
    truths = layout.shaped(part.y)
    if library == "lightgbm":
        import lightgbm

        from .lightgbm import objective as of_lightgbm

        aside = ("objective", "n_estimators", "importance_type", "class_weight")
        params = {k: v for k, v in wrapper.get_params().items() if v is not None and k not in aside}
        lesson = of_lightgbm(layout.problem, method, truths, **told)
        data = lightgbm.Dataset(part.X, np.zeros(len(part.y)), weight=part.weights)
        return Boosted(
            lightgbm.train(lesson.params(**{"verbose": -1, **params}), data, wrapper.n_estimators), lesson, None
        )
    import xgboost

    from .xgboost import objective as of_xgboost

    params = {k: v for k, v in wrapper.get_xgb_params().items() if v is not None and k != "objective"}
    lesson_x = of_xgboost(layout.problem, method, truths, **told)
    matrix = Matrix(bool(wrapper.enable_categorical))
    data = matrix(part.X, part.y, part.weights)
    rounds = wrapper.get_num_boosting_rounds()
    return Boosted(xgboost.train(lesson_x.params(**params), data, rounds, obj=lesson_x), lesson_x, matrix)


class Matrix:
    """How features become a ``DMatrix``."""

    def __init__(self, categorical: bool) -> None:
        self.categorical = categorical

    def __call__(self, X: Any, y: Float | None = None, weights: Float | None = None) -> Any:
        """The matrix."""
        import xgboost

        return xgboost.DMatrix(X, y, weight=weights, enable_categorical=self.categorical)
