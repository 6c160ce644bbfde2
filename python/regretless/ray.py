"""Comparisons, studies and decisions on a Ray cluster: ``import regretless.ray``, with Ray from ``pip install 'regretless[ray]'``.

A training is the unit of work, on one CPU. What is passed to workers are paths: the folder of a study, a run directory. All nodes must
see them, and the tables of a problem file, under the same name.
"""

from __future__ import annotations

import json
import os
import subprocess
import warnings
from collections.abc import Callable, Sequence
from functools import lru_cache
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np
import ray

from . import _regretless
from .compare import Comparison, named, prepared
from .errors import RegretlessWarning, TrainingError
from .problem import Problem
from .run import Run, features_of

__all__ = ["Decider", "compare", "study"]


def compare(
    problem: Problem | str | PathLike[str],
    data: Any = None,
    methods: str | Sequence[str] | None = None,
    seeds: int | Sequence[int] | None = None,
    *,
    folder: str | PathLike[str],
    address: str | None = None,
    max_retries: int = 3,
    predicts: str | Sequence[str] | None = None,
    validation: float = 0.2,
    test: float = 0.2,
    shuffle: bool = True,
    progress: Callable[[int, int, str, int, float], Any] | None = None,
    **settings: Any,
) -> Comparison:
    """:func:`regretless.compare` with the trainings on a Ray cluster: the same table, page and bits.

    ``folder`` is where trials and results go, one file each; all nodes see it. A trial that has a result there is not done again, so that the
    same call goes on where a driver was stopped; ``regretless study`` works on the same folder. ``address`` is that of a cluster, as
    ``ray.init`` takes it; a cluster that is connected already is used.

    A trial whose worker or node dies is begun again, up to ``max_retries`` times. One that fails is reported in a warning, and the others
    are done; seeds that lack it are left out of the table, and so are methods that have none.
    """
    directory = Path(folder).absolute()
    project, known, in_memory, chosen = prepared(problem, data, seeds, predicts, validation, test, shuffle, settings)
    study = _regretless.Study.plan(fspath(directory), project, known, in_memory, named(methods), chosen)
    trials = study.trials()
    missing = {hash: (method, seed) for hash, method, seed, done in trials if not done}
    count = len(trials) - len(missing)

    def told(hash: str, regret: float) -> None:
        nonlocal count
        count += 1
        if progress is not None:
            progress(len(trials), count, *missing[hash], regret)

    names = {hash: f"{method}, seed {seed}" for hash, (method, seed) in missing.items()}
    failed = _spread(_do, fspath(directory), names, told, address, max_retries)
    found = study.table()
    listed = f"{len(failed)} of {len(trials)} trials failed: " + "; ".join(failed[:10]) + ("; …" if failed[10:] else "")
    if found is None:
        raise TrainingError(listed if failed else f"{directory} has no seed with all its trials")
    if failed:
        warnings.warn(listed, RegretlessWarning, stacklevel=2)
    return Comparison(found)


def study(
    folder: str | PathLike[str],
    *,
    command: str = "regretless",
    address: str | None = None,
    max_retries: int = 3,
    progress: Callable[[int, int, str], Any] | None = None,
) -> None:
    """Does what is missing of a study that ``regretless study plan`` wrote down: a comparison, the paper's experiments or the scoreboard.

    A task for each trial runs ``command``, the program ``regretless`` as the workers find it. What is done is not done again; trials that die
    are begun again, those that fail are named in a warning. ``progress`` is called with the number of trials, how many are done, and the one
    that was. ``regretless study table`` makes the tables.
    """
    directory = Path(folder).absolute()
    plan = directory / "plan.jsonl"
    if not plan.is_file():
        raise TrainingError(f"{plan} is not there: write a study down with `regretless study plan`")
    try:
        _, *planned = [json.loads(line) for line in plan.read_text(encoding="utf-8").splitlines()]
        trials = {line["trial"]: ", ".join(str(value) for value in line["do"].values()) for line in planned}
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise TrainingError(f"{plan} is not the plan of a study: {error}") from None
    missing = {hash: name for hash, name in trials.items() if not (directory / "results" / f"{hash}.json").is_file()}
    count = len(trials) - len(missing)

    def told(hash: str, _: float) -> None:
        nonlocal count
        count += 1
        if progress is not None:
            progress(len(trials), count, trials[hash])

    def work(folder: str, trial: str) -> float:
        return _run(command, folder, trial)

    failed = _spread(work, fspath(directory), missing, told, address, max_retries)
    if failed:
        listed = f"{len(failed)} of {len(trials)} trials failed: " + "; ".join(failed[:10])
        warnings.warn(listed + ("; …" if failed[10:] else ""), RegretlessWarning, stacklevel=2)


def _spread(
    do: Callable[[str, str], float],
    folder: str,
    missing: dict[str, str],
    told: Callable[[str, float], None],
    address: str | None,
    max_retries: int,
) -> list[str]:
    """Does trials on the cluster, which are told by their hash; what failed, in words."""
    if not missing:
        return []
    own = not ray.is_initialized()
    if own:
        ray.init(address=address, log_to_driver=False)
    failed = []
    pending: dict[Any, str] = {}
    try:
        work = ray.remote(num_cpus=1, max_retries=max_retries, retry_exceptions=False)(do)
        pending = {work.remote(folder, hash): hash for hash in missing}
        while pending:
            (ready,), _ = ray.wait(list(pending), num_returns=1)
            hash = pending.pop(ready)
            try:
                result = ray.get(ready)
            except ray.exceptions.RayError as error:
                failed.append(f"{missing[hash]}: {_reason(error)}")
            else:
                told(hash, result)
    finally:
        # Ctrl-C, or an exception in `progress`.
        for reference in pending:
            ray.cancel(reference)
        if own:
            ray.shutdown()
    return failed


def _run(command: str, folder: str, trial: str) -> float:
    """One trial by the program, on a worker."""
    try:
        done = subprocess.run(
            [command, "study", "do", folder, trial, "--threads", "1", "--quiet"], capture_output=True, text=True
        )
    except OSError as error:
        raise RuntimeError(f"{command} cannot be run: {error.strerror}; say where it is with command=") from None
    if done.returncode != 0:
        said = (done.stderr or done.stdout).strip().splitlines() or [f"exit code {done.returncode}"]
        raise RuntimeError(next((line for line in said if line.startswith("error")), said[-1]))
    return 0.0


def _reason(error: Exception) -> str:
    """What went wrong on a worker, in a line."""
    cause = error.cause if isinstance(error, ray.exceptions.RayTaskError) else error
    text = str(cause).strip() or type(cause).__name__
    return text.splitlines()[0]


def _do(folder: str, trial: str) -> float:
    """One trial, on a worker."""
    plan = os.stat(Path(folder) / "plan.jsonl")
    regret = _opened(folder, plan.st_mtime_ns, plan.st_size).do(trial)
    return float("nan") if regret is None else regret


@lru_cache(maxsize=1)
def _opened(folder: str, modified: int, size: int) -> _regretless.Study:
    """A study, read once a worker as long as its plan is the same."""
    return _regretless.Study.open(folder, 1)


class Decider:
    """A run that decides for batches, as ``Dataset.map_batches`` hands them out: what ``regretless decide`` writes, to the last digit.

    ``run`` is a run directory that all nodes see. The batch is an Arrow table, a pandas frame or a dict of arrays with the model's features among
    its columns; so is what comes back: the columns to ``keep``, ``status``, the objective if the prediction comes true, the decision and, with
    ``predictions``, what is predicted. ``threads`` is for each decider: one, as Ray gives an actor one CPU.

    On a cluster ``table.map_batches(rl.ray.Decider, fn_constructor_args=[run], batch_format="pyarrow", num_cpus=1,
    compute=ray.data.ActorPoolStrategy(size=8))`` decides for a ``ray.data`` table; leave a CPU for those who read and write.

    >>> import tempfile
    >>> import numpy as np
    >>> import regretless as rl
    >>> import regretless.ray
    >>> X = np.linspace(0.0, 1.0, 50).reshape(-1, 1)
    >>> farm = rl.Problem(2, A=[[1.0, 1.0]], b=8.0, variables=["wheat", "corn"])
    >>> model = rl.DecisionRegressor(farm, "l2", predictor="linear").fit(X, np.hstack([1.0 + X, 2.0 - X]))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(folder + "/run")
    ...     decider = rl.ray.Decider(folder + "/run")
    >>> found = decider({"x0": np.array([0.1, 0.9])})
    >>> found["status"], found["wheat"], found["corn"]
    (array(['optimal', 'optimal'], dtype=object), array([0., 8.]), array([8., 0.]))
    """

    def __init__(
        self, run: str | PathLike[str], *, keep: Sequence[str] = (), predictions: bool = False, threads: int = 1
    ) -> None:
        self._run, self._keep = Run(run), list(keep)
        self._predictions, self._threads = predictions, threads

    def __call__(self, batch: Any) -> Any:
        features, beyond = features_of("the batch", batch, self._run)
        known = self._run._known(batch, batch, len(features))
        learner = self._run._learner
        status, names, numbers = learner.decided(
            features, known, ["row", *self._keep], self._predictions, self._threads
        )
        for row, why in beyond.items():
            status[row], numbers[row] = why, np.nan
        columns = {name: batch[name] for name in self._keep}
        columns |= {"status": np.array(status, dtype=object)}
        columns |= dict(zip(names, np.ascontiguousarray(numbers.T)))
        if isinstance(batch, dict):
            return {name: np.asarray(values) for name, values in columns.items()}
        if hasattr(batch, "column_names"):
            import pyarrow

            return pyarrow.table(columns)
        import pandas

        return pandas.DataFrame({name: np.asarray(values) for name, values in columns.items()})
