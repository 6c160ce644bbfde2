"""Quantities: tied, known by row, by index and by the names of CVXPY's Parameters; against a problem per row and differences."""

from __future__ import annotations

import numpy as np
import pytest

import regretless as rl

METHODS = ("l2", "df", "surrogate-smooth")


def shop() -> rl.Problem:
    return rl.Problem(
        2,
        theta=[1.0, 0.0],
        soft=rl.Soft([[1.0, 1.0]], [0.0], weight=[6.0]),
        A=[[0.0, 1.0], [1.0, 0.0]],
        b=[0.0, 30.0],
        upper=[30.0, 30.0],
    )


def load(problem: rl.Problem) -> rl.Quantities:
    return rl.Quantities(
        problem,
        {"load": ["d", rl.At("theta[1]", factor=0.2, shift=0.1)]},
        known={"stock": "b[0]"},
    )


def test_known_is_a_problem_per_row() -> None:
    problem = shop()
    quantities = load(problem)
    predicted, true, stock = np.array([[9.0], [12.0]]), np.array([[10.0], [11.0]]), np.array([[3.0], [7.0]])
    found = rl.regret(problem, predicted, true, predict=quantities, known={"stock": stock})
    for i in range(2):
        own = problem.solve(theta=[1.0, 0.2 * predicted[i, 0] + 0.1], d=predicted[i], b=[stock[i, 0], 30.0])
        assert found.x[i] == pytest.approx(own.x, abs=1e-7)
        best = problem.solve(theta=[1.0, 0.2 * true[i, 0] + 0.1], d=true[i], b=[stock[i, 0], 30.0])
        assert found.optimal[i] == pytest.approx(best.objective)
    assert found.x[:, 1] == pytest.approx(stock[:, 0], abs=1e-7)


@pytest.mark.parametrize("method", METHODS)
def test_a_tied_gradient_agrees_with_differences(method: str) -> None:
    problem = shop()
    loss = rl.DecisionLoss(problem, method, predict=load(problem), K=0.7, ridge=0.3)
    true, known = np.array([[10.0]]), np.array([[3.0]])
    at = lambda q: loss([[q]], true, known=known)  # noqa: E731
    step = 1e-5
    difference = (at(9.3 + step).value - at(9.3 - step).value) / (2 * step)
    assert at(9.3).gradient[:, 0] == pytest.approx(difference, abs=1e-4)


def test_by_index_and_as_rows() -> None:
    problem = shop()
    row = rl.Quantities(problem, ["C[0]", "b[1]"])
    assert row.shapes == {"C[0]": (2,), "b[1]": (1,)}
    by_name = rl.Quantities(problem, {"one": "theta[x1]", "two": "C[0, x1]"})
    assert [term[:2] for term in by_name.terms] == [("theta", 1), ("C", 1)]
    with pytest.raises(rl.ProblemError, match="no `b\\[7\\]`"):
        rl.Quantities(problem, ["b[7]"])
    with pytest.raises(rl.ProblemError, match="fixed or known"):
        rl.Quantities(problem, {"a": rl.At("d", factor="c"), "c": "b[0]"})
    loss = rl.DecisionLoss(problem, "l2", predict=load(problem))
    with pytest.raises(rl.ProblemError, match="known by row"):
        loss([[1.0]], [[1.0]])


def test_negative_prices_count_as_nothing() -> None:
    problem = shop()
    price = rl.Quantities(problem, {"price": "alpha"})
    loss = rl.DecisionLoss(problem, "df", predict=price, ridge=0.3)
    below, zero = loss([[-2.0]], [[6.0]]), loss([[0.0]], [[6.0]])
    assert (below.cut, zero.cut) == (1, 0)
    assert below.value == pytest.approx(zero.value) and below.gradient == pytest.approx(0.0)


def test_parameters_of_cvxpy_by_name() -> None:
    cp = pytest.importorskip("cvxpy")
    make, price = cp.Variable(2, nonneg=True, name="make"), cp.Parameter(2, name="price")
    demand, room = cp.Parameter(2, name="demand"), cp.Parameter(name="room", value=8.0)
    profit = price @ make - 0.5 * cp.sum(cp.pos(make - demand)) - 0.1 * cp.sum(cp.multiply(price, make))
    problem = rl.from_cvxpy(cp.Problem(cp.Maximize(profit), [cp.sum(make) <= room, make <= 7]))
    quantities = rl.Quantities(problem, "price", known=["demand"])
    assert quantities.shapes == {"price": (2,)} and quantities.known == {"demand": (2,)}
    rng = np.random.default_rng(0)
    p, t, d = rng.uniform(1, 3, (4, 2)), rng.uniform(1, 3, (4, 2)), rng.uniform(1, 5, (4, 2))
    found = rl.regret(problem, p, t, predict=quantities, known=d)
    for i in range(4):
        own = problem.solve(**problem.given(price=p[i], demand=d[i], room=8.0))
        best = problem.solve(**problem.given(price=t[i], demand=d[i], room=8.0))
        assert found.predicted_objective[i] == pytest.approx(own.objective)
        assert found.optimal[i] == pytest.approx(best.objective)
