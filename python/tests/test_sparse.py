"""Problems with sparse matrices of SciPy and PyTorch are the problems of their dense twins."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse as sp

import regretless as rl

N = 6


def twins(kind: type, quadratic: bool = False) -> tuple[rl.Problem, rl.Problem]:
    """The same problem, sparse and dense."""
    r = np.random.default_rng(3)

    def rows(m: int) -> np.ndarray:
        return np.where(r.random((m, N)) < 0.4, r.random((m, N)) + 0.1, 0.0)

    A, B, C, f = rows(5), rows(1), rows(3), rows(N)
    Q = f.T @ f + 0.1 * np.eye(N) if quadratic else None
    sides = {"b": A.sum(axis=1) + 1.0, "c": 0.5 * B.sum(axis=1), "upper": 2.0}

    def build(of: type) -> rl.Problem:
        soft = rl.Soft(of(C), C.sum(axis=1) * 0.5, weight=0.7, under=0.2)
        return rl.Problem(
            N, r.random(N) * 0 + 1.0, A=of(A), B=of(B), Q=None if Q is None else of(Q), soft=soft, **sides
        )

    return build(kind), build(np.asarray)


@pytest.mark.parametrize("kind", [sp.csr_array, sp.coo_matrix, sp.csc_matrix])
@pytest.mark.parametrize("quadratic", [False, True])
def test_optima_and_gradients(kind: type, quadratic: bool) -> None:
    own, dense = twins(kind, quadratic)
    theta = np.random.default_rng(1).random((7, N)) * 2
    a, b = own.solve(theta), dense.solve(theta)
    assert (a.status == "optimal").all()
    np.testing.assert_allclose(a.x, b.x, atol=1e-9)
    np.testing.assert_allclose(a.multipliers.at_most, b.multipliers.at_most, atol=1e-9)
    np.testing.assert_allclose(own.objective(b.x, theta), dense.objective(b.x, theta))

    a, b = (rl.Surrogate(problem, multipliers=5.0, K=2.0).solve(theta) for problem in (own, dense))
    np.testing.assert_allclose(a.x, b.x, atol=1e-9)
    wanted = ("A", "B", "C", "d", *(("Q",) if quadratic else ()))
    a, b = (solution.vjp(np.ones_like(theta), wrt=wanted) for solution in (a, b))
    np.testing.assert_allclose(a.d, b.d, atol=1e-9)
    for symbol in wanted:
        if (places := own.places(symbol)) is not None:
            expected = getattr(b, symbol)[:, places[0], places[1]]
            np.testing.assert_allclose(getattr(a, symbol), expected, atol=1e-9)


def test_sparse_tensors_are_read_as_scipys_matrices() -> None:
    torch = pytest.importorskip("torch")
    dense = torch.tensor([[0.0, 1.5, 2.0], [3.0, 0.0, 0.0]], dtype=torch.float64)
    twice = torch.sparse_coo_tensor([[0, 0, 0, 1], [1, 1, 2, 0]], [1.0, 0.5, 2.0, 3.0], (2, 3), dtype=torch.float64)
    expected = rl.Problem(3, [1.0, 1.0, 1.0], A=sp.csr_array(dense.numpy()), b=[4.0, 6.0])
    for tensor in (dense.to_sparse_csr(), dense.to_sparse_coo(), dense.to_sparse_csc(), twice):
        own = rl.Problem(3, [1.0, 1.0, 1.0], A=tensor, b=[4.0, 6.0])
        assert own.shapes["A"] == (3,)
        np.testing.assert_array_equal(own.places("A"), expected.places("A"))
        np.testing.assert_array_equal(own.stated("A"), expected.stated("A"))
    with pytest.raises(rl.ProblemError, match="shape"):
        rl.Problem(4, A=dense.to_sparse_csr(), b=[4.0, 6.0])


def test_predicted_coefficients_by_finite_differences() -> None:
    own, _ = twins(sp.csr_array)
    stored = own.stated("C")
    assert own.shapes["C"] == stored.shape == own.places("C")[0].shape
    r = np.random.default_rng(5)
    truth = stored * (1 + 0.1 * r.random((1, stored.size)))
    guess = stored * (1 + 0.3 * r.random((1, stored.size)))
    loss = rl.DecisionLoss(own, "surrogate-smooth", predict="C", multipliers=5.0, K=1.0)
    result = loss(guess, truth)
    h = 1e-5
    for k in range(stored.size):
        step = np.zeros_like(guess)
        step[0, k] = h
        slope = (loss(guess + step, truth).value - loss(guess - step, truth).value) / (2 * h)
        np.testing.assert_allclose(result.gradient[0, k], slope, atol=1e-4)


def test_what_is_stored_is_kept() -> None:
    # (0, 0) twice is their sum, a stored zero is a coefficient.
    twice = sp.coo_array(([1.0, 2.0, 0.0], ([0, 0, 1], [0, 0, 1])), shape=(2, 2))
    problem = rl.Problem(2, [1.0, 1.0], A=twice, b=[6.0, 1.0], upper=9.0)
    np.testing.assert_array_equal(problem.stated("A"), [3.0, 0.0])
    np.testing.assert_array_equal(problem.places("A"), [[0, 1], [0, 1]])
    np.testing.assert_allclose(problem.solve().x, [2.0, 9.0])
    np.testing.assert_allclose(problem.solve(A=[[3.0, 0.0], [6.0, 0.5]]).x, [[2.0, 9.0], [1.0, 2.0]])
    again = pickle.loads(pickle.dumps(problem))
    np.testing.assert_allclose(again.solve().x, [2.0, 9.0])
    assert problem.places("Q") is None


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(rl.ProblemError, match=r"A has the shape \(1, 3\), expected \(rows, 2\)"):
        rl.Problem(2, A=sp.csr_array([[1.0, 1.0, 1.0]]), b=1.0)
    with pytest.raises(rl.ProblemError, match="finite"):
        rl.Problem(2, A=sp.csr_array([[np.nan, 1.0]]), b=1.0)
    broken = sp.coo_matrix(([1.0], ([0], [1])), shape=(1, 2))
    broken.col = np.array([-1])
    with pytest.raises((rl.ProblemError, ValueError)):
        rl.Problem(2, A=broken, b=1.0)
    problem = rl.Problem(2, [1.0, 1.0], A=sp.csr_array([[1.0, 0.0]]), b=1.0)
    with pytest.raises(rl.ProblemError, match=r"A has the shape \(1, 2\), expected \(1,\)"):
        problem.solve(A=[[1.0, 0.0]], b=[1.0])


def factors(F: np.ndarray, diagonal: np.ndarray) -> rl.Problem:
    """min xᵀ(D + FFᵀ)x − θᵀx with y = Fᵀx as k variables more: nothing is n × n."""
    n, k = F.shape
    rows = sp.block_array([[sp.csr_array(np.ones((1, n))), None], [sp.csr_array(F.T), -sp.eye_array(k)]])
    return rl.Problem(
        n + k,
        Q=sp.diags_array(np.r_[diagonal, np.ones(k)]),
        B=sp.csr_array(rows),
        c=np.r_[1.0, np.zeros(k)],
        lower=np.r_[np.zeros(n), np.full(k, -np.inf)],
    )


def test_a_factor_model_is_variables_more() -> None:
    rng = np.random.default_rng(4)
    n, k = 300, 6
    F, diagonal, theta = rng.normal(size=(n, k)) / 3, rng.uniform(0.05, 0.2, n), rng.normal(0.05, 0.1, n)
    dense = rl.Problem(n, Q=np.diag(diagonal) + F @ F.T, B=np.ones((1, n)), c=[1.0])
    own, other = factors(F, diagonal).solve(np.r_[theta, np.zeros(k)]), dense.solve(theta)
    np.testing.assert_allclose(own.x[:n], other.x, atol=1e-8)
    np.testing.assert_allclose(own.objective, other.objective, atol=1e-9)

    # What a decision loses by another θ, in D and F: through the diagonal of Q and the rows of B, against differences.
    def lost(F: np.ndarray, diagonal: np.ndarray) -> float:
        return float(
            g @ rl.Surrogate(factors(F, diagonal), multipliers=3.0, K=5000.0).solve(np.r_[theta, np.zeros(k)]).x
        )

    g = np.r_[rng.normal(size=n), np.zeros(k)]
    problem = factors(F, diagonal)
    solved = rl.Surrogate(problem, multipliers=3.0, K=5000.0).solve(np.r_[theta, np.zeros(k)])
    gradients = solved.vjp(g, wrt=("B", "Q"))
    rows, columns = problem.places("B")
    of_f = np.zeros((n, k))
    inside = (rows > 0) & (columns < n)
    of_f[columns[inside], rows[inside] - 1] = np.ravel(gradients.B)[inside]
    of_d = np.ravel(gradients.Q)[np.equal(*problem.places("Q"))][:n]
    to_f, to_d, h = rng.normal(size=F.shape), rng.normal(size=n) * diagonal, 1e-6
    differences = (lost(F + h * to_f, diagonal) - lost(F - h * to_f, diagonal)) / (2 * h)
    assert (of_f * to_f).sum() == pytest.approx(differences, rel=1e-4)
    differences = (lost(F, diagonal + h * to_d) - lost(F, diagonal - h * to_d)) / (2 * h)
    assert of_d @ to_d == pytest.approx(differences, rel=1e-4)
