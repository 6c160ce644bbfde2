"""What crosses the border between Python and Rust: shapes, types, threads, pickles, signals, memory."""

from __future__ import annotations

import os
import pickle
import resource
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from conftest import draw

import regretless as rl


def test_other_types_and_layouts(rng: np.random.Generator) -> None:
    p = draw(rng, 4, quadratic=True)
    theta = rng.normal(size=(6, 4))
    expected = p.solve(theta).x
    for other in (
        theta.tolist(),
        np.asfortranarray(theta),
        np.repeat(theta, 2, axis=0)[::2],
        np.flip(np.flip(theta, 1), 1),
    ):
        assert np.array_equal(p.solve(other).x, expected)
    assert np.allclose(p.solve(theta.astype(np.float32)).x, expected, atol=1e-5)
    assert np.array_equal(p.solve(theta[0]).x, expected[0])


def test_contiguous_arrays_are_not_copied() -> None:
    from regretless._arrays import Batch, floats

    theta = np.zeros((3, 2))
    assert np.shares_memory(floats("theta", theta), theta)
    assert np.shares_memory(Batch({"theta": (2,)}, {"theta": theta}).parts[0][1], theta)


def test_empty_batches(farm: rl.Problem) -> None:
    nothing = np.zeros((0, 2))
    assert farm.solve(nothing).x.shape == (0, 2) and farm.solve(nothing).objective.shape == (0,)
    out = rl.Surrogate(farm).solve(nothing, b=[8.0])
    assert out.x.shape == (0, 2) and out.vjp(nothing).theta.shape == (0, 2)
    assert rl.DecisionLoss(farm)(nothing, nothing).value.shape == (0,)
    assert rl.regret(farm, nothing, nothing).x.shape == (0, 2)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda p: p.solve([1.0]), r"theta has the shape \(1,\), expected \(2,\)"),
        (lambda p: p.solve(np.zeros((2, 3, 2))), "theta has the shape"),
        (lambda p: p.solve([1.0, 2.0], B=[[1.0, 1.0]]), "no parameter `B`"),
        (lambda p: p.solve(["a", "b"]), "not an array of numbers"),
        (lambda p: p.solve(np.zeros((2, 2)), b=np.zeros((3, 1))), "different sizes"),
        (lambda p: p.solve([1.0, 2.0], threads=0), "threads is 0"),
        (lambda p: p.solve([1.0, 2.0], alpha=-1.0), "negative price"),
        (lambda p: p.solve([1.0, 2.0], lower=2.0, upper=1.0), "lower bound 2 above its upper bound 1"),
        (lambda p: p.solve([1.0, 2.0], Q=[[-1.0, 0.0], [0.0, 1.0]]), "semidefinite|negative"),
        (lambda p: rl.Surrogate(p).solve([1.0, 2.0], ids=[0, 1]), "ids have the shape"),
        (lambda p: rl.Surrogate(p).solve([1.0, 2.0], ids=[-1]), "from 0 on"),
        (lambda p: rl.Surrogate(p, K=-1.0).solve([1.0, 2.0]), "K"),
        (lambda p: rl.Surrogate(p).solve([1.0, 2.0]).vjp([1.0]), "grad_x has the shape"),
        (lambda p: rl.Problem(0), "at least 1"),
        (lambda p: rl.Problem(2, A=[[1.0, 1.0]]), "A is given without b"),
        (lambda p: rl.Problem(2, A=[[1.0, 1.0, 1.0]], b=1.0), "A has the shape"),
        (lambda p: rl.Problem(2, sense="most"), "max"),
        (lambda p: rl.Problem(2, soft=[3.0]), "regretless.Soft"),
        (lambda p: p.objective([1.0]), "x has the shape"),
    ],
)
def test_what_is_wrong_is_said(farm: rl.Problem, call, says: str) -> None:
    with pytest.raises(rl.ProblemError, match=says):
        call(farm)


def test_errors_are_values_errors_too(farm: rl.Problem) -> None:
    assert issubclass(rl.ProblemError, ValueError) and issubclass(rl.ProblemError, rl.RegretlessError)


def test_pickles(rng: np.random.Generator) -> None:
    p = draw(rng, 4, quadratic=True, equal=1)
    theta = rng.normal(size=(5, 4))
    again = pickle.loads(pickle.dumps(p))
    assert np.array_equal(again.solve(theta).x, p.solve(theta).x) and repr(again) == repr(p)
    surrogate = rl.Surrogate(p, K=3.0)
    unused = pickle.loads(pickle.dumps(surrogate))
    expected = surrogate.solve(theta).x
    assert np.array_equal(pickle.loads(pickle.dumps(surrogate)).solve(theta).x, expected)
    assert np.array_equal(unused.solve(theta).x, expected)
    loss = rl.DecisionLoss(p, "surrogate", predict="theta", mix=0.5)
    assert np.array_equal(pickle.loads(pickle.dumps(loss))(theta, theta + 1).gradient, loss(theta, theta + 1).gradient)


def test_joblib(rng: np.random.Generator) -> None:
    joblib = pytest.importorskip("joblib")
    p = draw(rng, 4, quadratic=True)
    theta = rng.normal(size=(4, 4))
    several = joblib.Parallel(n_jobs=2)(joblib.delayed(p.solve)(t) for t in theta)
    assert np.array_equal([s.x for s in several], p.solve(theta).x)


@pytest.mark.parametrize("workers", [None, 1, 2])
def test_two_threads_on_one_surrogate(rng: np.random.Generator, workers: int | None) -> None:
    p = draw(rng, 8, quadratic=True)
    surrogate, theta = rl.Surrogate(p), rng.normal(size=(300, 8))
    expected = surrogate.solve(theta)
    g = np.ones_like(theta)
    failures = []

    def work(ids: np.ndarray) -> None:
        for _ in range(5):
            out = surrogate.solve(theta, ids=ids, threads=workers)
            if not np.allclose(out.x, expected.x, atol=1e-7) or not np.allclose(
                out.vjp(g, threads=workers).theta, expected.vjp(g).theta, atol=1e-6
            ):
                failures.append(1)

    threads = [threading.Thread(target=work, args=(np.arange(300) + k,)) for k in (0, 100)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not failures


def test_the_lock_is_released(rng: np.random.Generator) -> None:
    p = draw(rng, 30, quadratic=False, soft=20, hard=20)
    theta = rng.normal(size=(4000, 30))
    ticks = []
    done = threading.Event()

    def tick() -> None:
        while not done.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.001)

    watcher = threading.Thread(target=tick)
    watcher.start()
    started = time.perf_counter()
    p.solve(theta, threads=1)
    took = time.perf_counter() - started
    done.set()
    watcher.join()
    # A thread that holds the lock would have kept the other from ticking at all.
    assert len([t for t in ticks if t > started]) > 10 * min(took, 0.1)


def test_numbers_do_not_depend_on_threads(rng: np.random.Generator) -> None:
    p = draw(rng, 10, quadratic=True)
    theta = rng.normal(size=(600, 10))
    one, two, all_ = (rl.Surrogate(p).solve(theta, threads=t).x for t in (1, 2, None))
    assert np.array_equal(one, two) and np.array_equal(one, all_)


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_ctrl_c_interrupts_a_batch() -> None:
    program = (
        "import signal, numpy as np, regretless as rl\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # who starts the tests may have it ignored
        "rng = np.random.default_rng(0)\n"
        "A = np.abs(rng.normal(size=(60, 60)))\n"
        "p = rl.Problem(60, A=A, b=np.ones(60))\n"
        "print('ready', flush=True)\n"
        "p.solve(rng.uniform(size=(2_000_000, 60)))\n"
        "print('finished')\n"
    )
    child = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert child.stdout is not None and child.stdout.readline() == "ready\n"
    time.sleep(2.0)
    child.send_signal(signal.SIGINT)
    started = time.perf_counter()
    try:
        out, errors = child.communicate(timeout=30)
    finally:
        child.kill()
    assert time.perf_counter() - started < 10 and "KeyboardInterrupt" in errors and "finished" not in out


@pytest.mark.skipif(os.name != "posix", reason="signals")
@pytest.mark.parametrize(
    "solve",
    [
        "p.solve()",
        "rl.Surrogate(p, multipliers=5.0, K=50.0).solve()",
        "rl.regret(p, t[None], t[None], predict='theta')",
    ],
)
def test_ctrl_c_interrupts_one_long_solve(solve: str) -> None:
    program = (
        "import signal, numpy as np, regretless as rl\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "rng = np.random.default_rng(0)\n"
        "n = 1500\n"  # a dense one: minutes from nothing
        "A, t = np.abs(rng.normal(size=(n, n))), rng.uniform(1, 2, size=n)\n"
        "p = rl.Problem(n, theta=t, A=A, b=A.sum(axis=1), upper=3.0)\n"
        "print('ready', flush=True)\n"
        f"{solve}\n"
        "print('finished')\n"
    )
    child = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert child.stdout is not None and child.stdout.readline() == "ready\n"
    time.sleep(1.5)
    child.send_signal(signal.SIGINT)
    started = time.perf_counter()
    try:
        out, errors = child.communicate(timeout=30)
    finally:
        child.kill()
    assert time.perf_counter() - started < 10 and "KeyboardInterrupt" in errors and "finished" not in out, errors


def test_memory_does_not_grow(farm: rl.Problem) -> None:
    surrogate = rl.Surrogate(farm)
    theta, g = np.array([[3.0, 2.0], [1.0, 2.0]]), np.ones((2, 2))

    def work(times: int) -> int:
        for _ in range(times):
            surrogate.solve(theta, ids=[0, 1]).vjp(g)
            farm.solve(theta)
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    before = work(1_000)
    assert work(10_000) - before < 4_096  # kilobytes


def test_import_without_torch() -> None:
    program = (
        "import sys\n"
        "sys.modules['torch'] = None\n"
        "import regretless\n"
        "try:\n"
        "    import regretless.torch\n"
        "except ImportError as error:\n"
        "    print(error)\n"
    )
    out = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "pip install torch" in out.stdout


@pytest.mark.skipif(not hasattr(os, "fork"), reason="fork")
def test_a_forked_process_is_told() -> None:
    program = (
        "import os, sys, numpy as np, regretless as rl\n"
        "p = rl.Problem(2, A=[[1.0, 1.0]], b=1.0)\n"
        "p.solve(np.ones((9, 2)))\n"
        "if os.fork() == 0:\n"
        "    try:\n"
        "        p.solve(np.ones((9, 2)))\n"
        "    except rl.RegretlessError as error:\n"
        "        print(error, flush=True)\n"
        "    os._exit(0)\n"
        "os.wait()\n"
    )
    out = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert "spawn" in out.stdout


def test_a_problem_is_what_it_was(rng: np.random.Generator) -> None:
    A = np.array([[1.0, 1.0]])
    p = rl.Problem(2, A=A, b=8.0)
    A[0, 0] = 100.0
    assert np.array_equal(pickle.loads(pickle.dumps(p)).solve([3.0, 2.0]).x, p.solve([3.0, 2.0]).x)


def test_a_bad_first_batch_is_a_status(farm: rl.Problem) -> None:
    out = rl.Surrogate(farm).solve([[3.0, 2.0], [np.nan, 1.0]])
    assert list(out.status) == ["optimal", "refused"]
    surrogate = rl.Surrogate(farm)
    assert list(surrogate.solve([[3.0, 2.0]], b=[[-1.0]]).status) == ["infeasible"]
    # Penalties were not chosen by it.
    assert surrogate.multipliers is None and surrogate.solve([[3.0, 2.0]]).status[0] == "optimal"
    loss = rl.DecisionLoss(farm)([[1.0, 2.0], [1.0, 2.0]], [[np.nan, 1.0], [2.0, 1.0]])
    assert list(loss.troubles) == [0] and loss.value[1] > 0.0


def test_missing_decisions_are_not_feasible(farm: rl.Problem) -> None:
    assert np.isnan(farm.violation([np.nan, 1.0]))
    assert np.isnan(farm.violation([[np.nan, 1.0], [1.0, 1.0]])).tolist() == [True, False]


def test_more_threads_than_cores(farm: rl.Problem) -> None:
    assert farm.solve([[3.0, 2.0]] * 3, threads=10**6).objective.tolist() == [21.0] * 3


@pytest.mark.parametrize(
    "call",
    [
        lambda p: p.solve(np.array([1.0 + 2j, 0.0])),
        lambda p: p.solve(np.ma.array([1.0, 2.0], mask=[True, False])),
        lambda p: p.solve([[1.0, 2.0], [1.0]]),
        lambda p: rl.Surrogate(p, K=None),
        lambda p: rl.Surrogate(None),
        lambda p: rl.DecisionLoss(None),
        lambda p: rl.DecisionLoss(p, ridge="much"),
        lambda p: rl.regret(None, [[1.0]], [[1.0]]),
    ],
)
def test_no_error_comes_from_inside(farm: rl.Problem, call) -> None:
    with pytest.raises(rl.ProblemError):
        call(farm)
