"""Decision losses as objectives of XGBoost.

>>> import xgboost, numpy as np, regretless as rl
>>> rng = np.random.default_rng(0)
>>> X = rng.normal(size=(300, 3))
>>> y = X @ rng.normal(size=(3, 4)) + 5.0
>>> plan = rl.Problem(4, A=[[1.0, 2.0, 1.0, 3.0]], b=10.0, upper=4.0)
>>> objective = rl.xgboost.objective(plan, "spo+", y, warmup=10)
>>> booster = xgboost.train(objective.params(), xgboost.DMatrix(X, y), 20, obj=objective)
>>> objective.predict(booster, xgboost.DMatrix(X)).shape
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

__all__ = ["XGBoostObjective", "objective"]


class XGBoostObjective(Objective):
    """An objective for ``xgboost.train``: one tree for each predicted number and round, or with ``multi_strategy="multi_output_tree"`` one
    tree for all.

    The label of the training matrix has a column for each predicted number; the truths that are learned from are those given here.
    """

    _train = "xgboost.train(objective.params(), data, obj=objective)"

    def __call__(self, raw: Float, data: Any = None) -> tuple[Float, Float]:
        """Gradient and curvature of raw scores; the rows of ``data`` count as its weights say."""
        return self._of(raw, data)

    def params(self, **others: Any) -> dict[str, Any]:
        """Parameters of ``xgboost.train``: scores start at 0, no metric of its own, and others."""
        return {"base_score": 0.0, "disable_default_eval_metric": True, **others}

    def regret(self, truths: Values, known: Values | None = None) -> Callable[[Float, Any], tuple[str, float]]:
        """A ``custom_metric`` for early stopping: the mean regret on rows with these truths, and with what is known of them."""

        def evaluated(raw: Float, _: Any) -> tuple[str, float]:
            return "regret", self.mean_regret(raw, truths, known)

        return evaluated

    def predict(self, booster: Any, matrix: Any, **others: Any) -> Any:
        """Predictions of a trained booster for a ``DMatrix``, in the units and the shape of the truths."""
        return self.restore(booster.predict(matrix, output_margin=True, **others))


def objective(
    problem: Problem,
    method: str,
    truths: Values,
    *,
    predict: str | Sequence[str] | Quantities | None = None,
    known: Values | None = None,
    warmup: int = 0,
    **settings: Any,
) -> XGBoostObjective:
    """A decision loss as an objective of XGBoost.

    ``method``, ``predict`` and ``settings`` are those of :class:`regretless.DecisionLoss`, ``truths`` what came true in the training rows, in their
    order. The first ``warmup`` rounds are squared errors.
    """
    return XGBoostObjective(problem, method, truths, predict=predict, known=known, warmup=warmup, **settings)
