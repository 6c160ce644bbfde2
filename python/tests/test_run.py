"""Runs of the command line in Python: the same model, the same decisions."""

from __future__ import annotations

import csv
import json
import pickle
from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT, call

import regretless as rl


class Frame:
    """As much of a data frame as is asked for."""

    def __init__(self, columns: dict[str, list[float]]) -> None:
        self._columns = columns
        self.columns = list(columns)

    def __getitem__(self, name: str) -> list[float]:
        return self._columns[name]


def read(path: Path) -> dict[str, list[str]]:
    with path.open() as file:
        rows = list(csv.DictReader(file))
    return {name: [row[name] for row in rows] for name in rows[0]}


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project that the command line trained and decided for."""
    folder = tmp_path_factory.mktemp("project")
    for arguments in (
        ["new", "newsvendor", "shop"],
        ["train", "shop/problem.toml", "--method", "l2", "--epochs", "5", "--out", "run", "--quiet"],
        ["decide", "run", "--features", "shop/new.csv", "--out", "decisions.csv"],
        ["evaluate", "run", "--data", "shop/history.csv", "--format", "json"],
    ):
        said = call(folder, *arguments)
    (folder / "evaluated.json").write_text(said)
    return folder


def test_a_run_decides_as_on_the_command_line(shop: Path) -> None:
    run = rl.Run(shop / "run")
    assert run.result and (run.method, run.result["method"]) == ("l2", "l2") and run.summary.startswith("trained l2")
    new, written = read(shop / "shop" / "new.csv"), read(shop / "decisions.csv")
    frame = Frame({name: [float(v) for v in new[name]] for name in reversed(run.features)})
    decisions = run.decide(frame)
    expected = np.array([[float(v) for v in written[name]] for name in run.problem.variables]).T
    # The file has ten significant digits.
    np.testing.assert_allclose(decisions, expected, rtol=1e-9, atol=1e-9)
    array = np.column_stack([frame[name] for name in run.features])
    assert np.array_equal(run.decide(array, threads=1), decisions)
    assert run.predict(array).shape == (len(array), len(run.targets))
    history = read(shop / "shop" / "history.csv")
    X, y = (Frame({n: [float(v) for v in history[n]] for n in names}) for names in (run.features, run.targets))
    wanted = json.loads((shop / "evaluated.json").read_text())
    assert run.evaluate(X, y).mean == pytest.approx(wanted["regret"], rel=1e-12)


def test_the_problem_of_a_file_is_a_problem(shop: Path) -> None:
    stated, run = rl.read_problem(shop / "shop" / "problem.toml"), rl.Run(shop / "run")
    assert stated.shapes == run.problem.shapes and stated.variables == run.problem.variables
    for symbol in stated.shapes:
        assert np.array_equal(stated.stated(symbol), run.problem.stated(symbol), equal_nan=True)
    assert "Run(" in repr(run) and len(run.history()) >= 1


def test_the_file_says_what_is_predicted(shop: Path, tmp_path: Path) -> None:
    stated = rl.read_problem(shop / "shop" / "problem.toml")
    assert stated.predicts == ["d"] and pickle.loads(pickle.dumps(stated)).predicts == ["d"]
    assert rl.Problem(2).predicts is None
    history = read(shop / "shop" / "history.csv")
    run = rl.Run(shop / "run")
    X, y = ({n: np.array([float(v) for v in history[n]]) for n in names} for names in (run.features, run.targets))
    turned = {name: y[name] for name in reversed(y)}
    model = rl.DecisionRegressor(stated, "l2", predictor="linear").fit(X, turned)
    named = rl.DecisionRegressor(stated, "l2", predictor="linear", predicts="d").fit(X, y)
    assert np.array_equal(model.predict(X), named.predict(X))
    # Columns that the file lists, though their names say nothing; of some rows alone nothing is said.
    text = (shop / "shop" / "problem.toml").read_text()
    for i, name in enumerate(run.targets):
        text = text.replace(f'"{name}"', f'"q{"caebd"[i]}"')
    (tmp_path / "problem.toml").write_text(text)
    renamed = {f"q{'caebd'[i]}": y[name] for i, name in enumerate(run.targets)}
    other = rl.DecisionRegressor(rl.read_problem(tmp_path / "problem.toml"), "l2", predictor="linear")
    assert np.array_equal(other.fit(X, dict(sorted(renamed.items()))).predict(X), named.predict(X))
    more = '[[soft]]\nname = "all"\nrows = [[1, 1, 1, 1, 1]]\nlimit = 500\nover = 1\n[bounds]'
    (tmp_path / "problem.toml").write_text(text.replace("[bounds]", more, 1))
    assert rl.read_problem(tmp_path / "problem.toml").predicts is None


def test_a_run_pickles_by_its_path(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(shop)
    pickled = pickle.dumps(rl.Run("run"))
    assert len(pickled) < 500
    monkeypatch.chdir("/")
    X = np.ones((3, 6))
    assert np.array_equal(pickle.loads(pickled).decide(X), rl.Run(shop / "run").decide(X))


def test_a_run_finds_the_columns_it_was_trained_on(shop: Path, tmp_path: Path) -> None:
    """A pattern whose names say nothing, and a table with another order."""
    text = (shop / "shop" / "problem.toml").read_text()
    listed = text[text.index("limit = {") : text.index("over =")]
    (tmp_path / "problem.toml").write_text(text.replace(listed, 'limit = { predict = "q_*" }\n'))
    history = read(shop / "shop" / "history.csv")
    renamed = {name.replace("demand_", "q_x"): values for name, values in history.items()}
    for file, names in (("history.csv", list(renamed)), ("turned.csv", list(renamed)[::-1])):
        lines = [names, *zip(*(renamed[name] for name in names))]
        (tmp_path / file).write_text("\n".join(",".join(line) for line in lines) + "\n")
    found = []
    for arguments in (
        ["train", "problem.toml", "--method", "l2", "--epochs", "3", "--out", "run", "--quiet"],
        ["evaluate", "run", "--data", "history.csv", "--format", "json"],
        ["evaluate", "run", "--data", "turned.csv", "--format", "json"],
    ):
        found.append(call(tmp_path, *arguments))
    assert found[1] == found[2]


def test_what_does_not_fit_is_named(shop: Path, tmp_path: Path) -> None:
    run = rl.Run(shop / "run")
    first, *others = run.features
    for table, says in [
        (Frame({name: [1.0] for name in others}), f"X lacks `{first}`"),
        (np.ones((2, len(run.features) + 1)), "expected"),
        (Frame({name: [float("inf")] for name in run.features}), f"no number for `{first}` in row 0"),
    ]:
        with pytest.raises(rl.ProjectError, match=says):
            run.decide(table)
    for path, says in [(tmp_path, "not a run directory"), (tmp_path / "nothing", "no such directory")]:
        with pytest.raises(rl.ProjectError, match=says) as caught:
            rl.Run(path)
        assert "--" not in str(caught.value)
    (tmp_path / "bad.toml").write_text("[problem]\nvariables = 2\n[objective]\nlinear = [1.0]\n")
    with pytest.raises(rl.ProjectError, match=r"objective\.linear"):
        rl.read_problem(tmp_path / "bad.toml")


def test_an_older_run_decides_as_it_did() -> None:
    folder = ROOT / "crates" / "regretless-learn" / "tests" / "fixtures" / "burn-run"
    run, rows, then = rl.Run(folder / "run"), read(folder / "history.csv"), read(folder / "predictions.csv")
    assert run.result is None and run.summary == ""
    X = Frame({name: [float(v) for v in rows[name]] for name in run.features})
    expected = np.array([[float(v) for v in then[f"predicted_{name}"]] for name in run.targets]).T
    np.testing.assert_allclose(run.predict(X), expected, atol=2e-6)
    expected = np.array([[float(v) for v in then[name]] for name in run.problem.variables]).T
    np.testing.assert_allclose(run.decide(X), expected, atol=1e-6)
