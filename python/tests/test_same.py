"""Python and the command line on the same data with the same seed: the same model, to the last bit."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from conftest import call

import regretless as rl

pandas = pytest.importorskip("pandas")


PROBLEM = """
[problem]
sense = "min"
variables = ["wheat", "corn", "rye"]
[objective]
linear = { predict = "cost_*" }
[[soft]]
name = "water"
rows = [[2.0, 1.0, 1.0]]
limit = 3.0
over = 0.5
under = 0.2
[[hard]]
name = "need"
rows = [[-1.0, -1.0, -1.0]]
at_most = -2.0
[bounds]
upper = 2.0
[data]
file = "history.csv"
split = { valid = 0.2, test = 0.0 }
[training]
epochs = 6
seed = 3
"""


@pytest.fixture(scope="module")
def farm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("farm")
    rng = np.random.default_rng(4)
    rows = pandas.DataFrame(rng.normal(size=(160, 2)), columns=["rain", "sun"])
    costs = 3.0 + rows.to_numpy() @ rng.normal(size=(2, 3)) + 0.3 * rng.normal(size=(160, 3))
    # The table's order is not that of the variables.
    for name, column in zip(("cost_rye", "cost_wheat", "cost_corn"), (2, 0, 1)):
        rows[name] = costs[:, column]
    rows.to_csv(folder / "history.csv", index=False)
    (folder / "problem.toml").write_text(PROBLEM)
    return folder


def table(folder: Path):
    rows = pandas.read_csv(folder / "history.csv")
    return rows[["sun", "rain"]], rows[["cost_wheat", "cost_corn", "cost_rye"]]


@pytest.mark.parametrize("method", ["l2", "spo+", "surrogate-smooth+l2", "auto"])
def test_both_train_the_same_model(farm: Path, tmp_path: Path, method: str) -> None:
    call(farm, "train", "problem.toml", "--method", method, "--out", str(tmp_path / "cli"), "--quiet")
    X, y = table(farm)
    model = rl.DecisionRegressor(rl.read_problem(farm / "problem.toml"), method, epochs=6, random_state=3)
    # Columns in the table's order: which weight is whose depends on it.
    model.fit(X[["rain", "sun"]], y)
    model.save(tmp_path / "python")
    theirs, ours = (tmp_path / name for name in ("cli", "python"))
    assert (theirs / "model.safetensors").read_bytes() == (ours / "model.safetensors").read_bytes()
    first, second = rl.Run(theirs), rl.Run(ours)
    assert first.card == second.card and first.method == model.method_
    assert np.array_equal(first.decide(X), second.decide(X)) and np.array_equal(second.decide(X), model.decide(X))
    assert np.array_equal(first.predict(X), model.predict(X))
    for one, other in zip(first.epochs, second.epochs, strict=True):
        assert all(one[key] == other[key] for key in one if not key.startswith("seconds"))
    assert first.result and second.result
    for key in ("method", "kept", "sentence", "seed", "rows", "valid", "test", "constant"):
        assert first.result[key] == second.result[key], key
    assert len(first.history()) == len(model.history_) and first.candidates[0]["valid"] == model.candidates_[0]["valid"]


def test_the_command_line_uses_what_python_saved(farm: Path, tmp_path: Path) -> None:
    X, y = table(farm)
    model = rl.DecisionRegressor(
        rl.Problem(3, soft=rl.Soft([[1.0, 1.0, 1.0]], 3.0, weight=2.0), upper=2.0, variables=["w", "c", "r"]), "l2"
    ).fit(X, y)
    model.save(tmp_path / "run")
    call(farm, "decide", str(tmp_path / "run"), "--features", "history.csv", "--out", str(tmp_path / "x.csv"))
    written = pandas.read_csv(tmp_path / "x.csv")[["w", "c", "r"]].to_numpy()
    # The file has ten significant digits.
    np.testing.assert_allclose(written, model.decide(X), rtol=1e-9, atol=1e-9)
    told = call(farm, "evaluate", str(tmp_path / "run"), "--data", "history.csv", "--format", "json")
    judged = model.evaluate(X, y)
    assert json.loads(told)["regret"] == pytest.approx(judged.mean, rel=1e-12)
    # Trained again from its own settings, with the rows as a table.
    config, history = str(tmp_path / "run" / "config.toml"), str(farm / "history.csv")
    call(farm, "train", config, "--data", history, "--out", str(tmp_path / "again"), "--quiet")
    models = [(tmp_path / name / "model.safetensors").read_bytes() for name in ("run", "again")]
    assert models[0] == models[1]
    call(farm, "report", str(tmp_path / "run"), "--out", str(tmp_path / "theirs"))
    ours = rl.Run(tmp_path / "run").report(tmp_path / "ours")
    assert ours.read_text() == (tmp_path / "theirs" / "report.html").read_text()


@pytest.mark.parametrize(
    ("predicts", "shapes"),
    [("d", 2), (["C", "d"], 4 + 2), (["theta", "under"], 4), ("Q", 4), (["A", "b", "upper"], 5)],
)
def test_everything_that_can_be_predicted_can_be_saved(tmp_path: Path, predicts, shapes: int) -> None:
    rng = np.random.default_rng(8)
    problem = rl.Problem(
        2,
        theta=[1.0, 2.0],
        Q=0.1 * np.eye(2),
        soft=[
            rl.Soft([[1.0, 0.5]], 1.0, weight=3.0, under=0.1, name="first"),
            rl.Soft([[0.5, 1.0]], 1.0, weight=2.0, under=0.1, name="second"),
        ],
        A=[[1.0, 1.0]],
        b=3.0,
        upper=2.0,
    )
    names = [predicts] if isinstance(predicts, str) else predicts
    X = rng.normal(size=(60, 2))
    y = {}
    for name in names:
        base = np.broadcast_to(problem.stated(name), (60, *problem.shapes[name]))
        y[name] = base * (1.0 + 0.1 * rng.uniform(size=(60,) + (1,) * (base.ndim - 1)))
    model = rl.DecisionRegressor(
        problem, "l2", predicts=predicts, epochs=2, embedding=2 if predicts == "Q" else None
    ).fit(X, y)
    model.save(tmp_path / "run")
    run = rl.Run(tmp_path / "run")
    assert len(run.targets) == shapes and np.array_equal(run.decide(X), model.decide(X))
    # Predictions of a run are flat; those of blocks stand one block after the other.
    shaped = model.predict(X)
    given = shaped if isinstance(shaped, dict) else {names[0]: shaped}
    columns = dict(zip(run.targets, run.predict(X).T))
    for name, values in given.items():
        flat = values.reshape(60, -1)
        for k in range(flat.shape[1]):
            n = values.shape[-1]
            entry = f"{name}_{k // n}_{k % n}" if values.ndim == 3 else f"{name}_{k}"
            entry = f"{name}_x{k}" if name in ("theta", "upper") else entry
            assert np.array_equal(columns[entry], flat[:, k]), entry


def test_runs_hold_no_pickles(farm: Path, tmp_path: Path) -> None:
    X, y = table(farm)
    rl.DecisionRegressor(rl.Problem(3, upper=2.0), "l2", epochs=1).fit(X, y).save(tmp_path / "run")
    kinds = {".toml", ".json", ".jsonl", ".safetensors", ".npy", ""}
    for path in (tmp_path / "run").rglob("*"):
        if path.is_dir() or ".tfevents." in path.name:
            continue
        assert path.suffix in kinds, path
        content = path.read_bytes()
        # Neither a pickle (protocol 2 on begins so) nor a ZIP of them.
        assert not content.startswith((b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05", b"PK")), path
        if path.suffix == ".safetensors":
            length = int.from_bytes(content[:8], "little")
            assert json.loads(content[8 : 8 + length])["__metadata__"]
    with pytest.raises(rl.ProjectError, match="not empty: choose another"):
        rl.DecisionRegressor(rl.Problem(3, upper=2.0), "l2", epochs=1).fit(X, y).save(tmp_path / "run")


def test_reading_a_run_executes_nothing(farm: Path, tmp_path: Path) -> None:
    """A run whose model is a pickle that would leave a trace."""
    import pickle

    class Trap:
        def __reduce__(self):
            return (Path(tmp_path / "trace").touch, ())

    X, y = table(farm)
    rl.DecisionRegressor(rl.Problem(3, upper=2.0), "l2", epochs=1).fit(X, y).save(tmp_path / "run")
    (tmp_path / "run" / "model.safetensors").write_bytes(pickle.dumps(Trap()))
    with pytest.raises((rl.ProjectError, rl.TrainingError), match="cannot be used"):
        rl.Run(tmp_path / "run")
    assert not (tmp_path / "trace").exists()


SHOP = """
[problem]
variables = ["make", "store"]
[objective]
linear = [1.0, { predict = "load", factor = 0.2 }]
[[soft]]
name = "load"
rows = [{ make = 1.0, store = 1.0 }]
limit = { predict = "load" }
over = 6.0
[[hard]]
name = "stock"
rows = [{ store = 1.0 }]
at_most = { known = "stock" }
[bounds]
upper = 30.0
[data]
file = "history.csv"
[predictor]
kind = "linear"
[training]
epochs = 3
"""


def test_known_stock_and_tied_load(tmp_path: Path) -> None:
    """A run of the command line decides here as there, with the stock that is known of each row."""
    rng = np.random.default_rng(2)
    rows = pandas.DataFrame({"rain": rng.random(60), "stock": rng.integers(1, 9, 60).astype(float)})
    rows.assign(load=10.0 + 4.0 * rows["rain"] + rng.random(60)).to_csv(tmp_path / "history.csv", index=False)
    rows.to_csv(tmp_path / "new.csv", index=False)
    (tmp_path / "p.toml").write_text(SHOP)
    call(tmp_path, "train", "p.toml", "--method", "surrogate", "--out", "run")
    call(tmp_path, "decide", "run", "--features", "new.csv", "--out", "decided.csv")
    decided = pandas.read_csv(tmp_path / "decided.csv")[["make", "store"]].to_numpy()
    run = rl.Run(tmp_path / "run")
    assert run.known == ["stock"] and run.targets == ["load"]
    own = run.decide(rows)
    assert own == pytest.approx(decided, abs=1e-8)
    assert own[:, 1] == pytest.approx(rows["stock"].to_numpy())
    assert (own == run.decide(rows[["rain", "stock"]].to_numpy(), known=rows["stock"].to_numpy())).all()
    with pytest.raises(rl.ProjectError, match="known by row"):
        run.decide(rows[["rain", "stock"]].to_numpy())
