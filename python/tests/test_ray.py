"""`rl.ray` on a cluster of three nodes on this machine: the numbers of one process, whatever dies."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import COMMAND, ROOT, call

import regretless as rl

ray = pytest.importorskip("ray")
arrow = pytest.importorskip("pyarrow")
import pyarrow.parquet as parquet  # noqa: E402
from ray.cluster_utils import Cluster  # noqa: E402

import regretless.ray  # noqa: E402

STORE = 200 * 2**20  # What a million rows need at a time, so that nothing is spilled to a disk that may be full.


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project")
    call(folder, "new", "newsvendor", "shop")
    call(folder, "train", "shop/problem.toml", "--method", "l2", "--out", "run", "--quiet")
    return folder


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """A head and two nodes. The head has a second CPU, in name: where deciders have all there are, nobody reads."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_AUTH_MODE", "disabled")
        patch.setenv("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
        patch.setenv("PYTHONPATH", str(ROOT / "python"))
        made = Cluster(initialize_head=True, head_node_args={"num_cpus": 2, "object_store_memory": STORE})
        for _ in range(2):
            made.add_node(num_cpus=1, object_store_memory=STORE)
        ray.init(address=made.address, log_to_driver=False)
        ray.data.DataContext.get_current().enable_progress_bars = False
        yield made
        ray.shutdown()
        made.shutdown()


WHAT: dict[str, Any] = {"methods": ["l2", "surrogate-smooth", "surrogate-smooth+l2"], "seeds": 3, "epochs": 20}


def timeless(comparison: rl.Comparison) -> Any:
    """Table and records without what a clock says."""

    def without(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: without(v) for key, v in value.items() if not key.startswith("seconds")}
        return [without(v) for v in value] if isinstance(value, list) else value

    return json.dumps([without(comparison.rows), without(comparison.records)])


@pytest.fixture(scope="module")
def local(shop: Path) -> str:
    return timeless(rl.compare(shop / "shop" / "problem.toml", **WHAT))


def results(folder: Path) -> dict[str, int]:
    """When each result was written."""
    return {path.name: path.stat().st_mtime_ns for path in (folder / "results").glob("*.json")}


def test_the_numbers_are_those_of_one_process(cluster: Any, shop: Path, local: str, tmp_path: Path) -> None:
    seen = []
    there = rl.ray.compare(
        shop / "shop" / "problem.toml", **WHAT, folder=tmp_path / "s", progress=lambda *told: seen.append(told)
    )
    assert timeless(there) == local
    assert [done for _, done, *_ in seen] == list(range(1, 13)) and {trials for trials, *_ in seen} == {12}
    # The command line makes the same page of the same folder.
    call(tmp_path, "study", "table", "s", "--out", "cli")
    there.save(tmp_path / "python")
    ours, theirs = (json.loads((tmp_path / name / "comparison.json").read_text()) for name in ("python", "cli"))
    assert ours == theirs
    for chart in (tmp_path / "cli" / "charts").iterdir():
        assert chart.read_bytes() == (tmp_path / "python" / "charts" / chart.name).read_bytes()
    # What is done is not done again.
    before = results(tmp_path / "s")
    again = rl.ray.compare(shop / "shop" / "problem.toml", **WHAT, folder=tmp_path / "s", progress=pytest.fail)
    assert timeless(again) == local and results(tmp_path / "s") == before


def test_rows_in_memory_go_along(cluster: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    y = X @ rng.normal(size=(3, 4)) + 5.0
    plan = rl.Problem(4, A=[[1.0, 2.0, 1.0, 3.0]], b=10.0, upper=4.0)
    what: dict[str, Any] = {"methods": ["l2", "spo+"], "seeds": [3, 5], "predictor": "linear", "epochs": 5}
    there = rl.ray.compare(plan, (X, y), **what, folder=tmp_path / "s")
    assert timeless(there) == timeless(rl.compare(plan, (X, y), **what))
    call(tmp_path, "study", "table", "s")


def test_workers_that_die_are_replaced(
    cluster: Any, shop: Path, local: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    marks = tmp_path / "marks"
    marks.mkdir()
    plain = rl.ray._do

    def dying(folder: str, trial: str) -> float:
        mark = marks / trial
        if trial[0] in "0123456789" and not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return plain(folder, trial)

    monkeypatch.setattr(rl.ray, "_do", dying)
    there = rl.ray.compare(shop / "shop" / "problem.toml", **WHAT, folder=tmp_path / "s")
    assert timeless(there) == local
    assert list(marks.iterdir()), "no worker died"


def test_a_trial_that_always_fails_is_reported(
    cluster: Any, shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = rl.ray._do
    folder = tmp_path / "s"

    def failing(where: str, trial: str) -> float:
        method = next(m for hash, m, *_ in rl._regretless.Study.open(where, 1).trials() if hash == trial)
        if method == "l2":
            raise ValueError("no l2 today")
        if method == "surrogate-smooth":
            os.kill(os.getpid(), signal.SIGKILL)
        return plain(where, trial)

    monkeypatch.setattr(rl.ray, "_do", failing)
    what = WHAT | {"seeds": 2}
    with pytest.warns(rl.RegretlessWarning, match="4 of 8 trials failed") as told:
        there = rl.ray.compare(shop / "shop" / "problem.toml", **what, folder=folder, max_retries=1)
    said = str(told[0].message)
    assert "l2, seed 0: no l2 today" in said and "surrogate-smooth, seed 1" in said
    assert [row["method"] for row in there.rows] == ["constant", "surrogate-smooth+l2"] and len(results(folder)) == 4
    assert any("2 methods" in warning for warning in there.warnings)
    # Mended, only what is missing is done.
    monkeypatch.setattr(rl.ray, "_do", plain)
    seen = []
    mended = rl.ray.compare(
        shop / "shop" / "problem.toml", **what, folder=folder, progress=lambda *t: seen.append(t[2])
    )
    assert sorted(seen) == ["l2", "l2", "surrogate-smooth", "surrogate-smooth"]
    assert timeless(mended) == timeless(rl.compare(shop / "shop" / "problem.toml", **what))


def test_the_scoreboard_on_a_cluster(cluster: Any, tmp_path: Path) -> None:
    board = ["benchmark", "quality", "--only", "paths n=100 degree=1 noise=0 ", "--draws", "1"]
    for folder in ("here", "there"):
        call(tmp_path, "study", "plan", *board, "--contenders", "constant,linear l2", "--out", folder)
    call(tmp_path, "study", "do", "here", "--quiet")
    seen = []
    rl.ray.study(tmp_path / "there", command=str(COMMAND), progress=lambda *told: seen.append(told))
    assert [told[:2] for told in seen] == [(2, 1), (2, 2)] and any("linear l2" in told[2] for told in seen)

    def values(folder: str) -> list[Any]:
        files = sorted((tmp_path / folder / "results").glob("*.json"))
        found = [json.loads(path.read_text()) for path in files]
        return [json.loads(re.sub(r'"seconds": ?[0-9.e-]+', '"seconds": 0', json.dumps(one))) for one in found]

    assert values("here") == values("there") and len(values("here")) == 2
    # What is done is not done again, and a program that is not there is named.
    rl.ray.study(tmp_path / "there", command="no such program", progress=pytest.fail)
    next((tmp_path / "there" / "results").glob("*.json")).unlink()
    with pytest.warns(rl.RegretlessWarning, match="1 of 2 trials failed: .*no such program cannot be run"):
        rl.ray.study(tmp_path / "there", command="no such program")
    with pytest.raises(rl.TrainingError, match="study plan"):
        rl.ray.study(tmp_path / "nowhere")
    for text in ("", '{"format": 1}\n[1]\n', '{"format": 1}\n{"do": {}}\n', "no JSON"):
        (tmp_path / "there" / "plan.jsonl").write_text(text)
        with pytest.raises(rl.TrainingError, match="not the plan of a study"):
            rl.ray.study(tmp_path / "there")


DRIVER = """
import sys, time
import ray
ray.init(address=sys.argv[1], log_to_driver=False)
import regretless as rl
import regretless.ray
plain = rl.ray._do
def slow(folder, trial):
    time.sleep(0.3)
    return plain(folder, trial)
rl.ray._do = slow
rl.ray.compare(sys.argv[2], methods=["l2", "surrogate-smooth", "surrogate-smooth+l2"], seeds=3, epochs=20, folder=sys.argv[3])
"""


def test_a_driver_that_was_killed_goes_on(cluster: Any, shop: Path, local: str, tmp_path: Path) -> None:
    file, folder = shop / "shop" / "problem.toml", tmp_path / "s"
    arguments = [sys.executable, "-c", DRIVER, cluster.address, str(file), str(folder)]
    with subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as driver:
        until = time.monotonic() + 60
        while not (folder / "results").is_dir() or len(results(folder)) < 3:
            assert driver.poll() is None and time.monotonic() < until
            time.sleep(0.02)
        driver.kill()
    time.sleep(1.0)  # Ray ends what the dead driver began.
    before = results(folder)
    assert 3 <= len(before) < 12
    seen = []
    there = rl.ray.compare(file, **WHAT, folder=folder, progress=lambda *told: seen.append(told))
    assert timeless(there) == local
    assert len(seen) == 12 - len(before)
    assert {name: when for name, when in results(folder).items() if name in before} == before


def test_a_million_rows_over_three_nodes(cluster: Any, shop: Path, tmp_path: Path) -> None:
    rows, files = 1_000_000, 8
    model, rng = rl.Run(shop / "run"), np.random.default_rng(0)
    columns = {name: rng.normal(size=rows) for name in model.features}
    table = arrow.table({"day": np.arange(rows), **columns})
    (tmp_path / "new").mkdir()
    for i in range(files):
        parquet.write_table(table.slice(i * rows // files, rows // files), tmp_path / "new" / f"{i}.parquet")
    parquet.write_table(table, tmp_path / "new.parquet", row_group_size=100_000)
    decided = ray.data.read_parquet(str(tmp_path / "new")).map_batches(
        rl.ray.Decider,
        fn_constructor_args=[str(shop / "run")],
        fn_constructor_kwargs={"keep": ["day"]},
        batch_format="pyarrow",
        batch_size=20_000,
        num_cpus=1,
        compute=ray.data.ActorPoolStrategy(size=3),
    )
    decided.write_parquet(str(tmp_path / "ours"))
    call(tmp_path, "decide", str(shop / "run"), "--features", "new.parquet", "--out", "theirs")
    ours = parquet.read_table(tmp_path / "ours").sort_by("day")
    theirs = [parquet.read_table(path) for path in sorted((tmp_path / "theirs").glob("group-*"))]
    theirs = arrow.concat_tables(theirs)
    assert ours["day"].to_pylist() == list(range(rows)) == [int(row) for row in theirs["day"].to_pylist()]
    assert set(ours.column_names) - {"day"} == set(theirs.column_names) - {"day"}
    for name in theirs.column_names[1:]:
        assert ours[name].cast(theirs[name].type).combine_chunks().equals(theirs[name].combine_chunks()), name


def test_a_node_that_goes_takes_nothing_along(
    cluster: Any, shop: Path, local: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = rl.ray._do

    def slow(folder: str, trial: str) -> float:
        time.sleep(0.3)
        return plain(folder, trial)

    monkeypatch.setattr(rl.ray, "_do", slow)
    node = cluster.add_node(num_cpus=1, object_store_memory=STORE)
    gone = []

    def remove(trials: int, done: int, *_: Any) -> None:
        if done == 3 and not gone:
            gone.append(done)
            cluster.remove_node(node, allow_graceful=False)

    there = rl.ray.compare(shop / "shop" / "problem.toml", **WHAT, folder=tmp_path / "s", progress=remove)
    assert gone and timeless(there) == local


def test_batches_of_every_form(shop: Path) -> None:
    model = rl.Run(shop / "run")
    decider = rl.ray.Decider(shop / "run", keep=["day"], predictions=True)
    X = np.random.default_rng(1).normal(size=(50, len(model.features)))
    batch = {"day": np.arange(50), **dict(zip(model.features, X.T))}
    found = decider(batch)
    assert list(found)[:3] == ["day", "status", "objective_if_predicted"] and set(found["status"]) == {"optimal"}
    x = np.column_stack([found[name] for name in model.problem.variables])
    np.testing.assert_allclose(x, model.decide(X), rtol=1e-9)
    predicted = np.column_stack([found[f"predicted_{name}"] for name in model.targets])
    np.testing.assert_allclose(predicted, model.predict(X), rtol=1e-9)
    as_table = decider(arrow.table(batch))
    assert all(np.array_equal(as_table[name].to_numpy(), found[name]) for name in found)
    pandas = pytest.importorskip("pandas")
    as_frame = decider(pandas.DataFrame(batch))
    assert all(np.array_equal(as_frame[name].to_numpy(), found[name]) for name in found)
    with pytest.raises(rl.ProjectError, match="lacks"):
        decider({"day": np.arange(3)})


def test_regretless_does_not_need_ray() -> None:
    code = "import sys; sys.modules['ray'] = None; import regretless; print('ray' in regretless.__dict__)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT / "python")},
    )
    assert done.stdout.strip() == "False", done.stderr
