"""Decision losses as objectives of boosting libraries: gradient and curvature of raw scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ._arrays import Float
from ._predicted import Values
from .errors import LossError
from .losses import DecisionLoss
from .measures import regret
from .problem import Problem
from .quantities import Quantities


class Objective:
    """What LightGBM and XGBoost ask of an objective, for all predicted numbers of a row at once.

    Raw scores are in deviations from the mean of the truths, so that 0, where boosting starts, is the constant predictor, and a learning
    rate means the same in any unit. Squared errors have their curvature. Losses of the decision are made of pieces without one: their
    gradients are divided by their mean length so far, and the curvature is 1. Weights of rows multiply both.
    """

    #: How it is used.
    _train = ""

    def __init__(
        self,
        problem: Problem,
        method: str,
        truths: Values,
        *,
        predict: str | Sequence[str] | Quantities | None = None,
        known: Values | None = None,
        warmup: int = 0,
        **settings: Any,
    ) -> None:
        self._loss = DecisionLoss(problem, method, predict=predict, infeasible="skip", **settings)
        self._layout = self._loss._predicted
        self._truths = self._layout.flat("truths", truths)
        if not len(self._truths):
            raise LossError("there are no truths to learn from")
        if not np.isfinite(self._truths).all():
            raise LossError(f"the truths of row {np.argwhere(~np.isfinite(self._truths))[0][0]} are no numbers")
        #: What is known of the training rows.
        self._known = known
        self._layout.known(known, len(self._truths))
        self._mean = self._truths.mean(axis=0)
        deviation = self._truths.std(axis=0)
        self._deviation = np.where(deviation > 0.0, deviation, 1.0)
        self._warmup = warmup
        self._start()

    def _start(self) -> None:
        """Before the first round."""
        self._rounds = 0
        #: Sum of the lengths of gradients and their number, with Adam's memory.
        self._pace = 0.0
        self._time = 0
        #: Whether a tree has moved a score.
        self._grown = False

    @property
    def outputs(self) -> int:
        """Predicted numbers of a row: LightGBM's ``num_class``."""
        return self._layout.width

    def restore(self, raw: Any) -> Any:
        """Predictions behind raw scores, in the units and the shape of the truths."""
        return self._layout.shaped(self._restored(raw))

    def _restored(self, raw: Any) -> Float:
        scores = np.asarray(raw, dtype=np.float64)
        width = self.outputs
        if scores.size % width or (scores.ndim == 2 and scores.shape[1] != width):
            raise LossError(f"raw scores have the shape {scores.shape}, expected (rows, {width})")
        return np.asarray(self._mean + self._deviation * scores.reshape(-1, width))

    def slopes(self, raw: Any, weights: Any = None) -> tuple[Float, Float]:
        """Gradient and curvature of the loss of each training row, both rows × outputs, times the weights of rows.

        Scores of 0 are where boosting starts: an object that has seen others begins anew, with its warm-up and its pace.
        """
        moved = bool(np.any(raw))
        if self._grown and not moved:
            self._start()
        self._grown = self._grown or moved
        predicted = self._restored(raw)
        if len(predicted) != len(self._truths):
            raise LossError(
                f"there are raw scores of {len(predicted)} rows and truths of {len(self._truths)}: "
                "give the truths of the training rows, in their order"
            )
        weight = self._weight(weights)
        curvature = np.ascontiguousarray(np.broadcast_to(weight, predicted.shape))
        self._rounds += 1
        if self._rounds <= self._warmup or self._loss.method == "l2":
            return np.asarray(weight * (predicted - self._truths) / self._deviation), curvature
        shaped = self._layout.shaped
        rows = np.arange(len(predicted))
        result = self._loss(shaped(predicted), shaped(self._truths), known=self._known, ids=rows)
        self._loss.end_epoch()
        gradient = self._layout.flat("gradient", result.gradient) * self._deviation
        length = float(np.sqrt(np.sum(weight * gradient**2) / np.sum(curvature)))
        self._time += 1
        self._pace = 0.999 * self._pace + 0.001 * length
        unit = self._pace / (1.0 - 0.999**self._time)
        return np.asarray(weight * (gradient / unit if unit > 0.0 else gradient)), curvature

    def _weight(self, given: Any) -> Float:
        """A column with what each training row counts."""
        rows = len(self._truths)
        if given is None or not np.size(given):
            return np.ones((rows, 1))
        weights = np.asarray(given, dtype=np.float64)
        if weights.shape != (rows,) or not weights.sum() > 0.0:
            raise LossError(
                f"weights of rows have the shape {weights.shape} and the sum {weights.sum()}, expected ({rows},) and a sum above 0"
            )
        return weights[:, np.newaxis]

    def _of(self, raw: Any, data: Any) -> tuple[Float, Float]:
        """The slopes that ``train`` asks for: its ``data`` know what rows count."""
        if data is not None and not hasattr(data, "get_weight"):
            raise LossError(
                f"the second argument is a {type(data).__name__}: scikit-learn's wrappers call objective(truths, scores), and predict raw "
                f"scores. Give the objective to {self._train}, or the wrapper to DecisionRegressor(problem, "
                f"{self._loss.method!r}, predictor=…), which makes the objective itself"
            )
        return self.slopes(raw, None if data is None else data.get_weight())

    def mean_regret(self, raw: Any, truths: Values, known: Values | None = None) -> float:
        """Mean regret of the decisions for raw scores of rows; NaN if one has no decision, so that it does not stop a training."""
        shaped = self._layout.shaped
        true = self._layout.flat("truths", truths)
        found = regret(
            self._loss.problem,
            shaped(self._restored(raw)),
            shaped(true),
            predict=self._layout.quantities or self._layout.names,
            known=known,
        )
        return float("nan") if found.undecided else float(found.mean)
