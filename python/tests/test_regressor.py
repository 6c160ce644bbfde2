"""The scikit-learn face."""

from __future__ import annotations

import pickle
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import regretless as rl

base = pytest.importorskip("sklearn.base")
from sklearn.linear_model import LinearRegression  # noqa: E402
from sklearn.model_selection import GridSearchCV  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402


@pytest.fixture
def plan() -> rl.Problem:
    return rl.Problem(4, A=[[1.0, 2.0, 1.0, 3.0]], b=10.0, upper=4.0)


@pytest.fixture
def data(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    X = rng.normal(size=(200, 3))
    return X, np.abs(X @ rng.normal(size=(3, 4)) + 5.0)


def test_l2_finds_what_least_squares_finds(plan: rl.Problem, data) -> None:
    X, y = data
    ours = rl.DecisionRegressor(plan, "l2", predictor="linear", epochs=300, patience=300, random_state=1).fit(X, y)
    theirs = LinearRegression().fit(X, y)
    # Not the same: there is a ridge, and the targets may be on another scale. `test_baselines.py` has the details.
    assert np.corrcoef(ours.predict(X).ravel(), theirs.predict(X).ravel())[0, 1] > 0.98
    assert ours.method_ == "l2" and ours.n_features_in_ == 3


def test_decisions_and_score(plan: rl.Problem, data) -> None:
    X, y = data
    model = rl.DecisionRegressor(plan, "spo+", predictor="linear", epochs=30).fit(X, y)
    assert np.allclose(model.decide(X), plan.solve(model.predict(X)).x, atol=1e-9)
    judged = rl.regret(plan, model.predict(X), y)
    assert model.score(X, y) == pytest.approx(-judged.mean)
    assert model.evaluate(X, y).regret == pytest.approx(judged.regret)
    constant = rl.DecisionRegressor(plan, "constant").fit(X, y)
    assert model.score(X, y) > constant.score(X, y)


def test_auto_says_what_it_chose(plan: rl.Problem, data) -> None:
    model = rl.DecisionRegressor(plan, predictor="linear", epochs=10, K=2.0).fit(*data)
    assert "regret" in model.summary_ and model.method_ in model.summary_
    searched = rl.DecisionRegressor(plan, epochs=5, K=2.0).fit(*data)
    assert {"linear l2", "trees l2", "mlp l2"} <= {tried["name"] for tried in searched.candidates_}
    assert pickle.loads(pickle.dumps(searched)).predict(data[0]).shape == searched.predict(data[0]).shape


def test_several_parameters_and_scenarios(rng: np.random.Generator) -> None:
    p = rl.Problem(3, soft=rl.Soft(np.eye(3), np.ones(3), weight=4.0, under=1.0), upper=5.0)
    X = rng.normal(size=(150, 2))
    y = {
        "d": 2.0 + 0.3 * X @ rng.normal(size=(2, 3)) + 0.2 * rng.normal(size=(150, 3)),
        "theta": np.tile(p.stated("theta"), (150, 1)),
    }
    model = rl.DecisionRegressor(
        p, "l2+scenarios", predicts=["d", "theta"], predictor="linear", epochs=30, scenarios=20
    ).fit(X, y)
    assert set(model.predict(X)) == {"theta", "d"}
    plain = rl.DecisionRegressor(p, "l2", predicts=["d", "theta"], predictor="linear", epochs=30).fit(X, y)
    assert model.score(X, y) > plain.score(X, y)
    flat = np.hstack([y["d"], y["theta"]])
    assert model.score(X, flat) == pytest.approx(model.score(X, y))


def test_one_network_for_all_variables(rng: np.random.Generator) -> None:
    p = rl.Problem(5, A=np.ones((1, 5)), b=2.0, upper=1.0)
    rows = rng.normal(size=(200, 2))
    # Every variable has the same rows in another order, so that all have the same mean and deviation.
    X = np.stack([np.concatenate([rng.permutation(rows[:160]), rows[160:]]) for _ in range(5)], axis=1)
    y = 3.0 + X @ np.array([1.0, -0.5])
    model = rl.DecisionRegressor(p, "l2", predictor="linear", epochs=200, shuffle=False).fit(X, y)
    # One network: exchanging the variables exchanges the predictions.
    assert np.allclose(model.predict(X[:, ::-1]), model.predict(X)[:, ::-1], atol=1e-4)
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.predict(X), model.predict(X))
    with pytest.raises(rl.TrainingError, match="rows, 5, features"):
        model.predict(X[:, :3])


def test_a_predicted_q_of_cosines(rng: np.random.Generator) -> None:
    p = rl.Problem(3, np.ones(3), Q=np.eye(3), upper=1.0)
    X = rng.normal(size=(60, 2))
    embedded = rng.normal(size=(60, 3, 2))
    embedded /= np.linalg.norm(embedded, axis=2, keepdims=True)
    y = 0.9 * embedded @ embedded.transpose(0, 2, 1) + 0.1 * np.eye(3)
    model = rl.DecisionRegressor(
        p, "l2", predicts="Q", epochs=5, embedding={"embedding": 2, "form": "cosine", "ridge": 0.1}
    ).fit(X, y)
    assert np.allclose(np.diagonal(model.predict(X), axis1=1, axis2=2), 1.0, atol=1e-5)


def test_conventions(plan: rl.Problem, data) -> None:
    X, y = data
    model = rl.DecisionRegressor(plan, "spo+", predictor="linear", epochs=5, K=3.0)
    twin = base.clone(model)
    assert twin.get_params()["K"] == 3.0 and twin.get_params()["method"] == "spo+"
    assert np.array_equal(model.fit(X, y).predict(X), twin.fit(X, y).predict(X))
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.predict(X), model.predict(X)) and np.array_equal(again.decide(X), model.decide(X))
    with pytest.raises(rl.TrainingError, match="not fitted"):
        base.clone(model).predict(X)
    piped = make_pipeline(StandardScaler(), twin).fit(X, y)
    assert piped.score(X, y) <= 0.0


def test_a_search_over_methods_and_k(plan: rl.Problem, data) -> None:
    X, y = data
    search = GridSearchCV(
        rl.DecisionRegressor(plan, predictor="linear", epochs=5),
        {"method": ["l2", "surrogate-smooth"], "K": [1.0, 5.0]},
        cv=2,
        n_jobs=2,
    ).fit(X, y)
    assert search.best_params_["method"] in ("l2", "surrogate-smooth") and len(search.cv_results_["params"]) == 4


def test_what_is_wrong_is_said(plan: rl.Problem, data) -> None:
    X, y = data
    for settings, says in [
        ({"method": "magic"}, "magic"),
        ({"predictor": "tree"}, "tree"),
        ({"epochs": -1}, "epochs|-1"),
        ({"validation": 2.0}, "between 0 and 1"),
        ({"method": "l2+scenarios"}, "scenarios"),
    ]:
        with pytest.raises(rl.TrainingError, match=says):
            rl.DecisionRegressor(plan, **{"epochs": 2, **settings}).fit(X, y)
    with pytest.raises(rl.TrainingError, match="rows"):
        rl.DecisionRegressor(plan, "l2").fit(X, y[:-1])
    with pytest.raises(rl.TrainingError, match="trained on 3"):
        rl.DecisionRegressor(plan, "l2", epochs=1).fit(X, y).predict(X[:, :2])


def test_settings_are_refused_by_the_name_of_their_argument(plan: rl.Problem, data) -> None:
    X, y = data
    for settings, says in [
        ({"epochs": -1}, "^epochs: "),
        ({"epochs": "many"}, "^epochs: "),
        ({"K": -2.0}, "^K: "),
        ({"K": [1.0, 0.0]}, "^k"),
        ({"predictor": "tree"}, "^predictor: "),
        ({"patience": 0}, "^patience: "),
        ({"learning_rate": float("nan")}, "not finite"),
        ({"layers": object()}, "no value of a setting"),
    ]:
        with pytest.raises(rl.TrainingError, match=says) as caught:
            rl.DecisionRegressor(plan, **settings).fit(X, y)
        assert "toml" not in str(caught.value) and "[training]" not in str(caught.value)


def test_names_may_hold_whatever_a_spreadsheet_does(rng: np.random.Generator) -> None:
    """A no-break space, quotes, backslashes and other scripts."""
    names = ["Crude\u00a0Oil", 'the "other"', "C:\\gas", "Öl 油", "tab\u2003wide"]
    p = rl.Problem(5, upper=1.0, variables=names)
    X = rng.normal(size=(60, 2))
    y = 1.0 + 0.1 * X @ rng.normal(size=(2, 5))
    model = rl.DecisionRegressor(p, "l2", predictor="linear").fit(X, y)
    assert model.decide(X[:3]).shape == (3, 5)


def test_y_side_by_side_is_in_the_order_of_predicts(rng: np.random.Generator) -> None:
    p = rl.Problem(2, A=[[1.0, 1.0]], b=8.0, upper=9.0)
    X = rng.normal(size=(80, 2))
    y = {"b": 8.0 + 0.1 * X[:, :1], "theta": 2.0 + 0.1 * X}
    models = [
        rl.DecisionRegressor(p, "l2", predicts=["b", "theta"], predictor="linear", epochs=20).fit(X, given)
        for given in (y, np.hstack([y["b"], y["theta"]]))
    ]
    assert np.array_equal(*(model.predict(X)["theta"] for model in models))


def test_what_was_fitted_stays(plan: rl.Problem, data) -> None:
    X, y = data
    model = rl.DecisionRegressor(plan, "l2", predictor="linear", epochs=5).fit(X, y)
    expected = model.decide(X)
    model.set_params(problem=rl.Problem(4, upper=1.0), predictor="mlp", layers=[7])
    with pytest.raises(rl.TrainingError):
        model.fit(X, y * np.nan)
    assert np.array_equal(model.decide(X), expected)
    assert np.array_equal(pickle.loads(pickle.dumps(model)).decide(X), expected)


def test_undecided_rows_do_not_win_a_search(rng: np.random.Generator) -> None:
    p = rl.Problem(2, [3.0, 2.0], A=[[1.0, 1.0]], b=8.0)
    X = rng.normal(size=(40, 1))
    model = rl.DecisionRegressor(p, "l2", predicts="b", predictor="linear", epochs=30).fit(X, 5.0 + X)
    assert np.isnan(model.score(np.full((3, 1), -1e4), np.ones((3, 1))))


def test_rows_without_an_optimum_fail_or_are_left_out(rng: np.random.Generator) -> None:
    problem = rl.Problem(1, theta=1.0, A=[[1.0]], b=1.0)
    X = rng.normal(size=(60, 2))
    y = np.abs(rng.normal(size=(60, 1))) + 0.5
    y[7] = -1.0  # x ≥ 0 and x ≤ −1
    with pytest.raises(rl.TrainingError, match="1 of 60 instances have no optimum"):
        rl.DecisionRegressor(problem, "l2", predicts="b", predictor="linear").fit(X, y)
    model = rl.DecisionRegressor(problem, "l2", predicts="b", predictor="linear", infeasible="skip").fit(X, y)
    kept = np.delete(np.arange(60), 7)
    assert np.isfinite(model.predict(X)).all() and model.evaluate(X[kept], y[kept]).undecided == 0
    with pytest.raises(rl.TrainingError, match="'fail' or 'skip'"):
        rl.DecisionRegressor(problem, "l2", predicts="b", infeasible="mark").fit(X, y)


def test_missing_features_are_named(plan: rl.Problem, data) -> None:
    X, y = data
    X = X.copy()
    X[3, 1] = np.nan
    with pytest.warns(rl.RegretlessWarning, match=r"rows without a value, taken as missing: x1 \(1\)"):
        model = rl.DecisionRegressor(plan, "l2", predictor="linear").fit(X, y)
    assert np.isfinite(model.predict(X[3:4])).all()
    X[3, 1] = np.inf
    with pytest.raises(rl.TrainingError, match=r"X\[3, 1\] is inf"):
        rl.DecisionRegressor(plan, "l2").fit(X, y)


def test_scikit_learn_knows_it(plan: rl.Problem, data) -> None:
    from sklearn.exceptions import NotFittedError

    model = rl.DecisionRegressor(plan, "l2", epochs=1, random_state=None)
    assert base.is_regressor(model)
    with pytest.raises(NotFittedError):
        model.predict(data[0])
    model.fit(*data)
    with pytest.raises(rl.TrainingError, match="random_state"):
        model.set_params(random_state=-1).fit(*data)


def test_progress(plan: rl.Problem, data, capsys: pytest.CaptureFixture[str]) -> None:
    rl.DecisionRegressor(plan, "l2", epochs=3, verbose=True).fit(*data)
    assert "l2: 100%" in capsys.readouterr().err


@pytest.mark.parametrize("threads", [None, 1, 2])
def test_ctrl_c_interrupts_training(threads: int | None) -> None:
    program = (
        "import signal, numpy as np, regretless as rl\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # who starts the tests may have it ignored
        "X = np.random.default_rng(0).normal(size=(2000, 10))\n"
        "plan = rl.Problem(10, A=np.ones((1, 10)), b=3.0, upper=1.0)\n"
        "print('ready', flush=True)\n"
        "rl.DecisionRegressor(plan, 'spo+', epochs=100000, patience=100000, threads=%s).fit(X, X)\n"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", program % threads], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert child.stdout is not None and child.stdout.readline() == "ready\n"
    time.sleep(2.0)
    child.send_signal(signal.SIGINT)
    try:
        _, errors = child.communicate(timeout=30)
    finally:
        child.kill()
    assert "KeyboardInterrupt" in errors


def test_without_scikit_learn() -> None:
    program = (
        "import sys\n"
        "sys.modules['sklearn'] = sys.modules['sklearn.base'] = None\n"
        "import numpy as np, regretless as rl\n"
        "m = rl.DecisionRegressor(rl.Problem(2, upper=1.0), 'l2', epochs=2).set_params(epochs=3)\n"
        "print(m.get_params()['epochs'], m.fit(np.eye(9)[:, :2], np.ones((9, 2))).decide(np.zeros((1, 2))))\n"
    )
    out = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert out.stdout == "3 [[1. 1.]]\n"
