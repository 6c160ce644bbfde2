"""Decision losses as objectives of LightGBM.

>>> import lightgbm, numpy as np, regretless as rl
>>> rng = np.random.default_rng(0)
>>> X = rng.normal(size=(300, 3))
>>> y = X @ rng.normal(size=(3, 4)) + 5.0
>>> plan = rl.Problem(4, A=[[1.0, 2.0, 1.0, 3.0]], b=10.0, upper=4.0)
>>> objective = rl.lightgbm.objective(plan, "spo+", y, warmup=10)
>>> booster = lightgbm.train(objective.params(verbose=-1), lightgbm.Dataset(X, np.zeros(300)), 20)
>>> objective.predict(booster, X).shape
(300, 4)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ._arrays import Float
from ._boosting import Objective
from ._predicted import Values
from .problem import Problem
from .quantities import Quantities

__all__ = ["LightGBMObjective", "objective"]


class LightGBMObjective(Objective):
    """An objective for ``lightgbm.train``: one tree for each predicted number and round.

    LightGBM's labels have one axis, so the truths are given here, in the order of the training rows; the ``label`` of the dataset is not
    looked at.
    """

    _train = "lightgbm.train(objective.params(), data)"

    def __call__(self, raw: Float, data: Any = None) -> tuple[Float, Float]:
        """Gradient and curvature of raw scores; the rows of ``data`` count as its weights say."""
        gradient, curvature = self._of(raw, data)
        return (gradient[:, 0], curvature[:, 0]) if self.outputs == 1 else (gradient, curvature)

    def params(self, **others: Any) -> dict[str, Any]:
        """Parameters of ``lightgbm.train``: this objective, its number of outputs, and others."""
        return {"objective": self, "num_class": self.outputs, "metric": "None", **others}

    def regret(self, truths: Values, known: Values | None = None) -> Callable[[Float, Any], tuple[str, float, bool]]:
        """A ``feval`` for early stopping: the mean regret on rows with these truths, and with what is known of them."""

        def evaluated(raw: Float, _: Any) -> tuple[str, float, bool]:
            return "regret", self.mean_regret(raw, truths, known), False

        return evaluated

    def predict(self, booster: Any, X: Any, **others: Any) -> Any:
        """Predictions of a trained booster, in the units and the shape of the truths."""
        return self.restore(booster.predict(X, raw_score=True, **others))


def objective(
    problem: Problem,
    method: str,
    truths: Values,
    *,
    predict: str | Sequence[str] | Quantities | None = None,
    known: Values | None = None,
    warmup: int = 0,
    **settings: Any,
) -> LightGBMObjective:
    """A decision loss as an objective of LightGBM.

    ``method``, ``predict`` and ``settings`` are those of :class:`regretless.DecisionLoss`, ``truths`` what came true in the training rows, in their
    order. The first ``warmup`` rounds are squared errors.
    """
    return LightGBMObjective(problem, method, truths, predict=predict, known=known, warmup=warmup, **settings)
