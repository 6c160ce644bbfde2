"""What scikit-learn expects of an estimator, and what training leaves behind."""

from __future__ import annotations

import json
from typing import get_args, get_origin, get_type_hints, is_typeddict

import numpy as np
import pytest

import regretless as rl
from regretless._told import Candidate, Card, Epoch, Outcome, Record
from regretless.compare import Row

checks = pytest.importorskip("sklearn.utils.estimator_checks")
from sklearn.linear_model import LinearRegression, QuantileRegressor  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402

#: What scikit-learn checks and why it does not hold here.
EXPECTED = {
    "check_dtype_object": "what is no number is a ProblemError, which is a ValueError and no TypeError",
    "check_regressor_multioutput": "how many numbers are predicted is the problem's to say",
    "check_sample_weight_equivalence_on_dense_data": "a share of the rows is held out, and other rows if some are repeated",
}


def shop() -> rl.Problem:
    return rl.Problem(1, theta=0.0, soft=rl.Soft([[1.0]], 0.0, weight=1.0, under=3.0), lower=None)


def plan() -> rl.Problem:
    return rl.Problem(4, A=[[1.0, 2.0, 1.0, 3.0]], b=10.0, upper=4.0)


@pytest.fixture
def data(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    X = rng.normal(size=(200, 3))
    return X, X @ rng.normal(size=(3, 4)) + 5.0 + 0.3 * rng.normal(size=(200, 4))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "settings", [{"method": "l2", "predictor": "linear"}, {"method": "surrogate-smooth", "epochs": 2}]
)
def test_scikit_learn_checks_it(settings: dict[str, object]) -> None:
    model = rl.DecisionRegressor(shop(), predicts="d", **settings)
    found = checks.check_estimator(model, expected_failed_checks=EXPECTED, on_fail=None, on_skip=None)
    assert [result["check_name"] for result in found if result["status"] == "failed"] == []
    assert sum(result["status"] == "passed" for result in found) > 50


def test_what_training_leaves_behind(data) -> None:
    pandas = pytest.importorskip("pandas")
    X, y = data
    model = rl.DecisionRegressor(plan(), predictor="linear", epochs=4).fit(X, y)
    assert {"l2", "constant"} <= {tried["name"] for tried in model.candidates_}
    kept = next(tried for tried in model.candidates_ if tried["name"] == model.method_)
    assert model.n_iter_ == kept["epochs"]
    history = pandas.DataFrame(model.history_)
    assert {"stage", "epoch", "loss", "valid_regret", "rate"} <= set(history.columns)
    # Each candidate on each fold, and what was kept on all rows.
    folds = {f"{tried['name']}, fold {f + 1}/5" for tried in model.candidates_ for f in range(tried["folds"])}
    assert set(history["stage"]) >= folds | {model.method_}
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    assert len(model.plot().get_lines()) == len({stage for stage in history["stage"] if ", fold " not in stage})


def test_what_is_told_has_the_keys_of_its_type(data) -> None:
    def fits(value, kind) -> None:
        """Keys of dicts as their types say, down to the leaves."""
        if get_origin(kind) is list:
            assert isinstance(value, list)
            for item in value[:2]:
                fits(item, get_args(kind)[0])
        elif is_typeddict(kind):
            assert kind.__required_keys__ <= set(value) <= kind.__required_keys__ | kind.__optional_keys__
            for key, inner in get_type_hints(kind).items():
                if key in value:
                    fits(value[key], inner)
        elif kind in (str, int, float, bool):
            assert isinstance(value, kind) or (kind is float and isinstance(value, int)), (value, kind)

    model = rl.DecisionRegressor(plan(), predictor="linear", epochs=2).fit(*data)
    found = rl.compare(plan(), data, ["l2", "spo+"], seeds=1, epochs=2)
    fits(model.history_, list[Epoch])
    fits(model.candidates_, list[Candidate])
    fits(json.loads(model._learner.outcome()), Outcome)
    fits(json.loads(model._learner.card()), Card)
    fits(found.records, list[Record])
    fits(found.rows, list[Row])


def test_callbacks_see_epochs_and_end_the_training(data) -> None:
    X, y = data
    seen: list[dict[str, object]] = []

    def enough(epoch: dict[str, object]) -> bool:
        seen.append(epoch)
        return epoch["epoch"] == 3

    model = rl.DecisionRegressor(plan(), "surrogate-smooth", epochs=50).fit(X, y, callbacks=enough)
    assert [epoch["epoch"] for epoch in seen] == [0, 1, 2, 3] and model.history_ == seen and model.n_iter_ == 3
    assert model.candidates_[0]["ended"] == "interrupted"
    short = rl.DecisionRegressor(plan(), "surrogate-smooth", epochs=3).fit(X, y, callbacks=[lambda epoch: None])
    assert np.array_equal(short.predict(X), model.predict(X))
    with pytest.raises(ZeroDivisionError):
        rl.DecisionRegressor(plan(), "l2", epochs=2).fit(X, y, callbacks=[lambda epoch: 1 / 0])


def test_rows_to_choose_by(data) -> None:
    X, y = data
    held = rl.DecisionRegressor(plan(), "l2", epochs=5, shuffle=False, validation=0.25).fit(X, y)
    given = rl.DecisionRegressor(plan(), "l2", epochs=5).fit(X[:150], y[:150], validation=(X[150:], y[150:]))
    assert np.array_equal(held.predict(X), given.predict(X))
    assert given.candidates_[0]["valid"]["instances"] == 50
    with pytest.raises(rl.TrainingError, match="validation has 50 rows of X and 49 of y"):
        rl.DecisionRegressor(plan(), "l2").fit(X[:150], y[:150], validation=(X[150:], y[151:]))


def ridge_by_hand(X: np.ndarray, y: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Weighted ridge regression on standardised features, its λ by fits without each row in turn: level and coefficients."""
    n = len(X)
    weights = weights * n / weights.sum()
    deviation = np.sqrt(np.average((X - np.average(X, axis=0, weights=weights)) ** 2, axis=0, weights=weights))
    Z = np.column_stack([np.ones(n), X])

    def fit(share: float, w: np.ndarray) -> np.ndarray:
        penalty = np.diag([0.0, *(share * n * deviation**2)])
        return np.linalg.solve(Z.T @ (w[:, np.newaxis] * Z) + penalty, Z.T @ (w * y))

    def error(share: float) -> float:
        without = (fit(share, np.where(np.arange(n) == i, 0.0, weights)) for i in range(n))
        return sum(weights[i] * (y[i] - Z[i] @ found) ** 2 for i, found in enumerate(without))

    return fit(min((10.0 ** (k / 2) for k in range(-12, 7)), key=error), weights)


def test_weights_of_least_squares_are_those_of_the_closed_form(data, rng: np.random.Generator) -> None:
    X, y = data
    y = y + 0.5 * X[:, :1] ** 2  # so that weights matter
    weights = rng.uniform(0.1, 3.0, 150)
    held = {"validation": (X[150:], y[150:])}
    model = rl.DecisionRegressor(plan(), "l2", predictor="linear")
    ours = model.fit(X[:150], y[:150], sample_weight=weights, **held).predict(X)
    found = [ridge_by_hand(X[:150], y[:150, k], weights) for k in range(4)]
    # A model keeps its weights with 32 bits.
    assert np.allclose(
        ours, np.column_stack([np.column_stack([np.ones(200), X]) @ f for f in found]), rtol=0.0, atol=2e-6
    )
    plain = LinearRegression().fit(X[:150], y[:150]).predict(X)
    assert np.abs(ours - plain).max() > 0.05
    # Rows without weight are none.
    with_zeros = np.concatenate([weights, np.zeros(20)])
    X_more, y_more = np.concatenate([X[:150], X[:20]]), np.concatenate([y[:150], 100.0 + y[:20]])
    again = model.fit(X_more, y_more, sample_weight=with_zeros, **held).predict(X)
    assert np.array_equal(again, ours)


def test_weights_of_medians_are_those_of_scikit_learn(rng: np.random.Generator) -> None:
    X = rng.normal(size=(120, 2))
    y = 4.0 + X @ [1.0, -0.5] + 0.4 * rng.standard_exponential(120) * (1 + X[:, 0] ** 2)
    weights = rng.uniform(0.1, 3.0, 90)
    model = rl.DecisionRegressor(shop(), "l1", predicts="d", predictor="linear").fit(
        X[:90], y[:90], sample_weight=weights, validation=(X[90:], y[90:])
    )
    fits = [
        QuantileRegressor(alpha=0.0, quantile=0.5).fit(X[:90], y[:90], sample_weight=given).predict(X)
        for given in (weights, None)
    ]
    # The plain fit or one with a ridge, whichever forecasts the validation rows better.
    loss = lambda p: (weights * np.abs(y[:90] - p[:90])).sum()  # noqa: E731
    assert loss(model.predict(X)) < 1.01 * loss(fits[0])
    assert np.abs(model.predict(X) - fits[0]).max() < np.abs(fits[1] - fits[0]).max()


@pytest.mark.parametrize("method", ["l2", "spo+", "surrogate-smooth+l2"])
def test_gradients_follow_the_weights(rng: np.random.Generator, method: str) -> None:
    """Half of the rows say the opposite of the others: those that count are learned from."""
    X = rng.normal(size=(400, 1))
    law = X * [[1.0, -1.0]]
    y = 3.0 + np.where(np.arange(400)[:, np.newaxis] % 2 == 0, law, -law)
    pick = rl.Problem(2, A=[[1.0, 1.0]], b=1.0)
    settings = {"layers": [4], "epochs": 30, "learning_rate": 0.02, "K": 3.0}
    for heavy, sign in ((0, 1.0), (1, -1.0)):
        weights = np.where(np.arange(300) % 2 == heavy, 3.0, 0.01)
        held = np.arange(300, 400)[heavy::2]
        model = rl.DecisionRegressor(pick, method, **settings).fit(
            X[:300], y[:300], sample_weight=weights, validation=(X[held], y[held])
        )
        predicted = model.predict(X)
        assert np.corrcoef(predicted[:, 0] - predicted[:, 1], sign * X[:, 0])[0, 1] > 0.8


def test_equal_weights_are_none(data) -> None:
    """To the last bit: where decisions of two epochs cost the same, rounding would say which one is kept."""
    X, y = data
    for method, settings in [("spo+", {"epochs": 3}), ("l2", {"predictor": "linear"}), ("l2", {"epochs": 3})]:
        models = [
            rl.DecisionRegressor(plan(), method, **settings).fit(X, y, weights)
            for weights in (None, np.full(200, 7.3), np.ones(200))
        ]
        assert np.array_equal(models[0].predict(X), models[1].predict(X))
        assert np.array_equal(models[0].predict(X), models[2].predict(X))
    weights = np.arange(1.0, 151.0)
    constant = rl.DecisionRegressor(plan(), "constant").fit(X[:150], y[:150], weights, validation=(X[150:], y[150:]))
    assert np.allclose(constant.predict(X)[0], np.average(y[:150], axis=0, weights=weights))


def test_what_cannot_be_weighted_is_refused(rng: np.random.Generator, data) -> None:
    X = rng.normal(size=(60, 2))
    y = 5.0 + X[:, 0]
    # A row that counts for nothing is no scenario either: what came true there does not matter.
    weights, wild = np.where(np.arange(60) < 6, 0.0, 1.0), np.where(np.arange(60) < 6, 1e3, y)
    decided = []
    for truths in (y, wild):
        model = rl.DecisionRegressor(shop(), "l2+scenarios", predicts="d", predictor="linear")
        decided.append(model.fit(X, truths, sample_weight=weights, validation=(X, y)).decide(X))
    assert np.allclose(*decided, atol=1e-6)
    for weights, says in [
        (-np.ones(60), "from 0 on"),
        (np.ones(59), "one number for each row"),
        (np.zeros(60), "zero"),
    ]:
        with pytest.raises(rl.TrainingError, match=says):
            rl.DecisionRegressor(shop(), "l2", predicts="d").fit(X, y, sample_weight=weights)
    # Judged unweighted, unless said.
    model = rl.DecisionRegressor(plan(), "l2", predictor="linear").fit(*data)
    weights = rng.uniform(size=200)
    regret = model.evaluate(*data).regret
    assert model.score(*data) == pytest.approx(-regret.mean())
    with pytest.raises(rl.TrainingError, match=r"sample_weight\[3\] is -1.0: a number from 0 on"):
        model.score(*data, sample_weight=np.where(np.arange(200) == 3, -1.0, 1.0))
    assert model.score(*data, sample_weight=weights) == pytest.approx(-np.average(regret, weights=weights))


def test_deciding_through_a_pipeline(data) -> None:
    X, y = data
    pipe = make_pipeline(StandardScaler(), rl.DecisionRegressor(plan(), "l2", predictor="linear")).fit(X, y)
    decisions = pipe[-1].decide(pipe[:-1].transform(X))
    assert np.allclose(decisions, plan().solve(pipe.predict(X)).x, atol=1e-9)


def test_reprs_are_short_and_escaped(data) -> None:
    X, y = data
    named = rl.Problem(4, upper=1.0, variables=["<b>", "b", "c", "d"])
    model = rl.DecisionRegressor(named, "spo+", epochs=3, layers=[4] * 50).fit(X, y)
    for thing in (model, named, model.evaluate(X, y), named.solve(y[0]), rl.DecisionLoss(named)(y, y)):
        assert "\n" not in repr(thing) and len(repr(thing)) < 300
    assert repr(model) == "DecisionRegressor(Problem(max, n=4), method='spo+', layers=<50 items>, epochs=3)"
    for thing in (model, named, rl.compare(named, (X, y), ["l2"], seeds=1, epochs=1)):
        assert "<b>" not in thing._repr_html_()
    assert "&lt;b&gt;" in named._repr_html_()
    assert repr(rl.DecisionLoss(named, "spo+")) == "DecisionLoss(Problem(max, n=4), 'spo+', predict=['theta'])"
    several = named.solve(np.vstack([y[:5], np.full((1, 4), np.nan)]))
    assert "status=<5 optimal, 1 refused>" in repr(several)


def test_dir_is_complete() -> None:
    assert set(rl.__all__) <= set(dir(rl)) and "DecisionRegressor" in dir(rl)


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"epochs": -1}, "epochs: invalid value: integer `-1`, expected a whole number from 0 on"),
        (
            {"predictor": "forest"},
            "predictor: unknown value `forest`, expected one of `auto`, `constant`, `linear`, `mlp`, `trees`, `given`",
        ),
        ({"dropout": "half"}, 'dropout: invalid type: string "half", expected a number'),
    ],
)
def test_values_are_refused_in_words(data, settings: dict[str, object], says: str) -> None:
    with pytest.raises(rl.TrainingError) as caught:
        rl.DecisionRegressor(plan(), "spo+", **settings).fit(*data)
    assert str(caught.value) == says
