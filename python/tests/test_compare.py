"""`rl.compare` and `rl.check`: what the command line says, from a file or from memory."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from conftest import call

import regretless as rl


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project")
    call(folder, "new", "newsvendor", "shop")
    return folder


def frame(path: Path):
    pandas = pytest.importorskip("pandas")
    return pandas.read_csv(path)


def test_a_comparison_is_that_of_the_command_line(shop: Path) -> None:
    options = ["--methods", "l2,surrogate-smooth", "--seeds", "2", "--epochs", "3", "--quiet", "--out", "out"]
    theirs = json.loads(call(shop, "compare", "shop/problem.toml", *options, "--format", "json"))
    file = shop / "shop" / "problem.toml"
    seen = []
    for problem, data in [
        (file, None),
        (rl.read_problem(file), shop / "shop" / "history.csv"),
        (str(file), frame(shop / "shop" / "history.csv")),
    ]:
        ours = rl.compare(
            problem, data, ["l2", "surrogate-smooth"], seeds=2, epochs=3, progress=lambda *told: seen.append(told)
        )
        for row, wanted in zip(ours.rows, theirs["rows"], strict=True):
            apart = {key for key in wanted if row[key] != wanted[key]} - {"seconds"}
            assert not apart, (row["method"], apart)
        assert ours.paired_over == theirs["paired_over"] and ours.judged_on == theirs["judged_on"]
    assert len(seen) == 3 * 6 and {(t, m, s) for t, _, m, s, _ in seen} >= {(6, "l2", 0), (6, "constant", 1)}
    page = ours.save(shop / "saved")
    kept = json.loads((shop / "saved" / "comparison.json").read_text())
    assert page.exists() and page.name == "report.html" and len(kept["rows"]) == 3
    assert {path.name for path in (shop / "saved").iterdir()} == {path.name for path in (shop / "out").iterdir()}


def test_a_comparison_in_memory() -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(150, 3))
    y = X @ rng.normal(size=(3, 4)) + 5.0 + rng.normal(size=(150, 4))
    plan = rl.Problem(4, A=[[1.0, 2.0, 1.0, 3.0]], b=10.0, upper=4.0, variables=["<b>", "b&c", "c", "d"])
    found = rl.compare(plan, (X, y), ["l2", "spo+"], seeds=[5, 7], predictor="linear", epochs=3)
    assert [row["method"] for row in found.rows] == ["constant", "l2", "spo+"] and found.rows[0]["seeds"] == 2
    assert {record["seed"] for record in found.records} == {5, 7}
    # The regrets of the records are those of the table.
    for row in found.rows:
        own = [record["measures"]["regret"] for record in found.records if record["method"] == row["method"]]
        assert row["regret"] == pytest.approx(np.mean(own), rel=1e-12)
    assert found.best in ("l2", "spo+") and [t.method for t in found.tests] == ["constant", "l2", "spo+"]
    assert "\n" not in repr(found) and "spo+" in found._repr_html_()
    pandas = pytest.importorskip("pandas")
    assert isinstance(found.frame(), pandas.DataFrame) and list(found.frame().index) == ["constant", "l2", "spo+"]
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    axes = found.plot()
    assert [label.get_text() for label in axes.get_yticklabels()] == ["spo+", "l2", "constant"]
    by_default = rl.compare(plan, (X, y), seeds=1, predictor="linear", epochs=1)
    assert {"constant", "l1", "l2", "spo+", "auto"} <= {row["method"] for row in by_default.rows}


def test_what_cannot_be_compared_is_said(shop: Path) -> None:
    plan = rl.Problem(2, upper=1.0)
    X, y = np.ones((30, 1)), np.ones((30, 2))
    for refused, says in [
        (lambda: rl.compare(plan, X), "pair"),
        (lambda: rl.compare(plan, (X, y), ["magic"]), "magic"),
        (lambda: rl.compare(plan, (X, y), epoch=3), "no setting `epoch`: K, base, batch"),
        (lambda: rl.compare(shop / "shop" / "problem.toml", predictor="linear"), "write it there; here go K, batch"),
        (lambda: rl.compare(plan, (X, y), ["spo_plus"]), "spo\\+"),
        (lambda: rl.compare(plan, (X, y), seeds=[]), "seed"),
    ]:
        with pytest.raises(rl.TrainingError, match=says) as caught:
            refused()
        assert "toml" not in str(caught.value) and "--" not in str(caught.value)
    with pytest.raises(ZeroDivisionError):
        rl.compare(plan, (X + np.arange(30).reshape(-1, 1), y), ["l2"], seeds=1, progress=lambda *_: 1 / 0)


def test_checks_are_those_of_the_command_line(shop: Path) -> None:
    theirs = json.loads(call(shop, "check", "shop/problem.toml", "--data", "shop/history.csv", "--format", "json"))
    found = rl.check(shop / "shop" / "problem.toml", frame(shop / "shop" / "history.csv"))
    assert found.passed and bool(found) and found.instances == theirs["instances"]
    assert found.checks == theirs["checks"] and found.details["multipliers"] == theirs["multipliers"]
    assert "\n" not in repr(found) and "ok" in str(found) and "<table>" in found._repr_html_()


def test_a_check_finds_a_feature_that_knows_the_truth() -> None:
    rng = np.random.default_rng(0)
    y = rng.uniform(1.0, 2.0, (60, 2))
    X = np.column_stack([rng.normal(size=60), y[:, 0]])
    found = rl.check(rl.Problem(2, A=[[1.0, 1.0]], b=1.0), (X, y))
    assert any("x1" in finding["detail"] for finding in found.troubles)


def test_folds_are_those_of_the_command_line(tmp_path) -> None:
    """Rolling origins: the same moments, seeds and numbers, from a file, from a frame, and from arrays in the order of time."""
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(3)
    rows = pandas.DataFrame(rng.normal(size=(120, 2)).round(6), columns=["rain", "sun"])
    rows["need"] = (4.0 + rows["rain"] + 0.5 * rows["sun"] + 0.2 * rng.normal(size=120)).round(6)
    rows.insert(0, "day", pandas.date_range("2020-01-01", periods=120).strftime("%Y-%m-%d"))
    rows.to_csv(tmp_path / "h.csv", index=False)
    (tmp_path / "p.toml").write_text(
        """
[problem]
sense = "min"
variables = ["order"]
[[soft]]
name = "need"
rows = [[1.0]]
limit = { predict = "need" }
over = 1.0
under = 3.0
[bounds]
upper = 100.0
[data]
file = "h.csv"
time = "day"
features = ["rain", "sun"]
[predictor]
kind = "linear"
"""
    )
    told = call(tmp_path, "compare", "p.toml", "--folds", "4", "--methods", "l2,l1", "--out", "c", "--format", "json")
    theirs = json.loads(told)
    assert theirs["paired_over"] == "origins"
    for data in (None, rows):
        ours = rl.compare(tmp_path / "p.toml", data, ["l2", "l1"], folds=4)
        assert ours.paired_over == "origins"
        for one, other in zip(ours.rows, theirs["rows"], strict=True):
            assert {k: v for k, v in one.items() if k != "seconds"} == {
                k: v for k, v in other.items() if k != "seconds"
            }
    stock = rl.Problem(
        1, theta=[0.0], sense="min", soft=rl.Soft([[1.0]], [0.0], weight=[1.0], under=[3.0]), upper=100.0
    )
    X, y = rows[["rain", "sun"]].to_numpy(), rows[["need"]].to_numpy()
    ours = rl.compare(stock, (X, y), ["l2", "l1"], folds=4, predicts="d", predictor="linear")
    for one, other in zip(ours.rows, theirs["rows"], strict=True):
        assert one["regret"] == pytest.approx(other["regret"], rel=1e-9)
        assert one["achieved"] == pytest.approx(other["achieved"], rel=1e-9)
    for wrong in ({"folds": 2}, {"folds": 4, "seeds": 2}):
        with pytest.raises(rl.RegretlessError, match="folds"):
            rl.compare(stock, (X, y), ["l2"], predicts="d", **wrong)
