"""Problems read from CVXPY: the same optima as CVXPY's own, for every value of the Parameters, and refusals by name."""

from __future__ import annotations

import pickle
import subprocess
import sys

import numpy as np
import pytest

import regretless as rl

cp = pytest.importorskip("cvxpy")

Values = dict[str, np.ndarray]


def agrees(problem: cp.Problem, draws: list[Values], *, unique: bool = False, tol: float = 1e-5) -> rl.CvxpyProblem:
    """Solves all draws as a batch, and each as CVXPY does."""
    rng = np.random.default_rng(0)
    ours = rl.from_cvxpy(problem)
    batch = {name: np.array([draw[name] for draw in draws]) for name in draws[0]} if draws[0] else {}
    given = ours.given(batch)
    optimum, offset = ours.solve(**given), ours.offset(batch)
    parameters = {p.name(): p for p in problem.parameters()}
    for k, draw in enumerate(draws):
        for name, value in draw.items():
            parameters[name].value = value
        problem.solve(solver=cp.CLARABEL, ignore_dpp=True, tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10)
        assert problem.status == "optimal"
        x, objective = (np.atleast_1d(value)[k] if draw else value for value in (optimum.x, optimum.objective))
        assert (np.atleast_1d(optimum.status) == "optimal").all()
        constant = offset[k] if np.ndim(offset) else offset
        total = objective + constant
        assert total == pytest.approx(problem.value, rel=tol, abs=tol)
        anywhere, alone = rng.normal(size=ours.n), ours.given(draw)
        for variable in problem.variables():
            value = ours.split(x)[variable.name()]
            assert value.shape == variable.shape
            if unique:
                assert np.allclose(value, variable.value, atol=3e-4)
            variable.value = value
        # Our decision, judged by CVXPY.
        assert problem.objective.value == pytest.approx(problem.value, rel=tol, abs=tol)
        assert all(np.max(constraint.violation()) < 1e-6 for constraint in problem.constraints)
        # And not only there are the two the same function.
        for variable in problem.variables():
            variable.project_and_assign(ours.split(anywhere)[variable.name()])
        x = np.zeros(ours.n)
        for variable, places in zip(problem.variables(), ours.split(np.arange(ours.n)).values()):
            x[places] = variable.value
        assert ours.objective(x, **alone) + constant == pytest.approx(problem.objective.value, rel=1e-9, abs=1e-9)
    return ours


def test_limits_of_what_is_piecewise_affine(rng: np.random.Generator) -> None:
    x, p, most = cp.Variable(3, name="x"), cp.Parameter(3, name="p"), cp.Parameter(name="most", nonneg=True)
    C = rng.normal(size=(2, 3))
    problem = cp.Problem(
        cp.Minimize(cp.sum_squares(x - p)),
        [
            cp.norm1(C @ x) <= most,
            cp.norm_inf(x) <= 2 * most,
            cp.max(x - p) <= 1,
            cp.maximum(x[0], x[1] + p[2], -x[2]) <= most,
            cp.minimum(x[0], x[1]) >= -most,
            cp.abs(x[:2]) <= 2,
            -cp.max(x) >= -2,
        ],
    )
    draws = [{"p": 1.5 * rng.normal(size=3), "most": rng.uniform(0.2, 2.0)} for _ in range(30)]
    # Some of them contradict themselves: CVXPY says so of the same ones.
    feasible = []
    for draw in draws:
        p.value, most.value = draw["p"], draw["most"]
        problem.solve(solver=cp.CLARABEL)
        feasible.append(problem.status == "optimal")
        assert feasible[-1] or problem.status == "infeasible"
    ours = agrees(problem, [draw for draw, there in zip(draws, feasible) if there], unique=True)
    found = ours.solve(**ours.given({name: np.array([draw[name] for draw in draws]) for name in ("p", "most")}))
    assert [status == "optimal" for status in found.status] == feasible and 5 < sum(feasible) < 25
    assert {status for status, there in zip(found.status, feasible) if not there} == {"infeasible"}
    assert ours.n == 3 and "A" in ours.shapes


def test_products_that_cvxpy_reads_as_quadratic_forms(rng: np.random.Generator) -> None:
    x, price = cp.Variable(2, name="x"), cp.Parameter(2, name="price")
    problem = cp.Problem(cp.Maximize(price @ x - x.T @ np.array([[2.0, 1.0], [1.0, 3.0]]) @ x), [cp.sum(x) <= 1])
    agrees(problem, [{"price": rng.normal(size=2)} for _ in range(3)], unique=True)


def test_lp(rng: np.random.Generator) -> None:
    x = cp.Variable(5, name="x", nonneg=True)
    A = rng.uniform(0.1, 1, (3, 5))
    price, b = cp.Parameter(5, name="price"), cp.Parameter(3, name="b")
    problem = cp.Problem(cp.Maximize(price @ x + 3), [A @ x <= b, x <= 4, cp.sum(x) >= 0.1])
    ours = agrees(problem, [{"price": rng.normal(size=5), "b": rng.uniform(1, 3, 3)} for _ in range(5)])
    assert ours.sense == "max" and not ours.quadratic and ours.offset() == 3.0
    assert np.array_equal(ours.stated("lower"), np.zeros(5)) and np.array_equal(ours.stated("upper"), np.full(5, 4.0))
    assert ours.shapes["A"] == (4, 5)


def test_qp_with_risk_and_covariance(rng: np.random.Generator) -> None:
    n = 4
    x, mean = cp.Variable(n, name="x"), cp.Parameter(n, name="mean")
    gamma, cov = cp.Parameter(nonneg=True, name="gamma"), cp.Parameter((n, n), PSD=True, name="cov")
    factor = rng.normal(size=(n, n))

    def draw() -> Values:
        root = rng.normal(size=(n, n))
        return {
            "mean": rng.normal(size=n),
            "gamma": np.array(rng.uniform(0.1, 2)),
            "cov": root @ root.T + 0.1 * np.eye(n),
        }

    cost = cp.quad_form(x, cov) + gamma * cp.sum_squares(factor @ x - 1) + 0.1 * cp.norm(x) ** 2
    problem = cp.Problem(cp.Maximize(mean @ x - cost), [cp.sum(x) == 1, x >= 0])
    ours = agrees(problem, [draw() for _ in range(4)], unique=True)
    assert ours.quadratic and set(ours.given(gamma=1.0, cov=np.eye(n), mean=np.zeros(n))) == {"theta", "Q"}


def test_targets_inside_squares(rng: np.random.Generator) -> None:
    x, y = cp.Variable(3, name="x"), cp.Variable(name="y")
    target, shift = cp.Parameter(3, name="target"), cp.Parameter(name="shift")
    S = np.diag([1.0, 2.0, 3.0]) + 0.5
    cost = cp.quad_form(x - target, S) + cp.quad_over_lin(x + y - shift, 4.0) + 2 * cp.square(y - 1) + shift
    problem = cp.Problem(cp.Minimize(cost), [x <= target + 1, x[0] + y == shift])
    agrees(problem, [{"target": rng.normal(size=3), "shift": np.array(rng.normal())} for _ in range(4)], unique=True)


def test_penalties_of_every_form(rng: np.random.Generator) -> None:
    n, m = 4, 3
    x = cp.Variable(n, name="x", bounds=[-1.0, 2.0])
    C = [rng.normal(size=(m, n)) for _ in range(8)]
    d, alpha = cp.Parameter(m, name="d"), cp.Parameter(m, nonneg=True, name="alpha")
    one = cp.Parameter(nonneg=True, name="one")
    cost = (
        alpha @ cp.pos(C[0] @ x - d)
        + cp.sum(cp.multiply(alpha, cp.neg(C[1] @ x + d)))
        + 0.5 * cp.sum(cp.maximum(C[2] @ x, 0))
        + one * cp.sum(cp.maximum(0, C[3] @ x - 1))
        + cp.norm1(C[4] @ x - d) / 2
        + cp.sum(alpha / 3 @ cp.abs(C[5] @ x))
        + cp.maximum(x[0] + d[0], 2 * x[1])
        - cp.sum(cp.minimum(C[6] @ x, d))
        - 2 * cp.sum(-cp.vstack([cp.pos(x[0] - x[1]), 3.0]))
        + cp.tv(C[7] @ x)
    )
    draws = [
        {"d": rng.normal(size=m), "alpha": rng.uniform(0, 2, m), "one": np.array(rng.uniform(0, 1))} for _ in range(5)
    ]
    agrees(cp.Problem(cp.Minimize(rng.normal(size=n) @ x + cost)), draws)
    agrees(cp.Problem(cp.Maximize(-cp.sum(x) - cost - cp.sum_squares(x)), [cp.sum(x) <= 1]), draws, unique=True)


def test_both_sides_of_a_row_are_one_row() -> None:
    x, d = cp.Variable(2, name="x"), cp.Parameter(2, name="d", value=[1, 2])
    h, b = cp.Parameter(nonneg=True, name="h", value=1), cp.Parameter(2, nonneg=True, name="b", value=[3, 4])
    ours = rl.from_cvxpy(cp.Problem(cp.Minimize(h * cp.sum(cp.pos(x - d)) + b @ cp.pos(d - x) + 0 * cp.sum(cp.abs(x)))))
    assert ours.shapes["C"] == (2, 2) and np.array_equal(ours.stated("C"), np.eye(2))
    assert np.array_equal(ours.stated("alpha"), [1, 1]) and np.array_equal(ours.stated("under"), [3, 4])
    assert np.array_equal(ours.given(b=[5, 6])["under"], [5, 6]) and set(ours.given(b=[5, 6])) == {"under"}


def test_parameters_everywhere(rng: np.random.Generator) -> None:
    n, inside = 3, rng.uniform(0.3, 0.7, 3)
    x = cp.Variable(n, name="x")
    shapes = {
        "theta": (n,),
        "C": (2, n),
        "d": (2,),
        "A": (2, n),
        "b": (2,),
        "B": (1, n),
        "c": (1,),
        "l": (n,),
        "u": (n,),
    }
    p = {name: cp.Parameter(shape, name=name) for name, shape in shapes.items()}
    alpha = cp.Parameter(2, nonneg=True, name="alpha")
    cost = alpha @ cp.pos(2 * p["C"] @ x - p["d"]) + cp.sum_squares(x)
    constraints = [p["A"] @ x <= p["b"], p["B"] @ x == p["c"], x >= p["l"], p["u"] >= x, x <= 3]

    def draw() -> Values:
        v = {name: rng.normal(size=shape) for name, shape in shapes.items()}
        v |= {"b": v["A"] @ inside + 0.1, "c": v["B"] @ inside, "l": inside - 1, "u": inside + 0.4}
        return {**v, "alpha": rng.uniform(0, 2, 2)}

    ours = agrees(cp.Problem(cp.Maximize(p["theta"] @ x - cost), constraints), [draw() for _ in range(5)], unique=True)
    # Of two bounds that depend on Parameters, the later one is a row.
    assert ours.shapes["A"] == (2 + n, n) and set(ours.given(draw())) == set(ours.shapes) - {"under", "Q"}


def test_several_variables_with_shapes(rng: np.random.Generator) -> None:
    X, y, z = (
        cp.Variable((2, 3), name="X", nonneg=True),
        cp.Variable(name="y"),
        cp.Variable((2, 1), name="z", nonpos=True),
    )
    W, L, r = cp.Parameter((2, 3), name="W"), cp.Parameter((4, 2), name="L"), cp.Parameter((3, 2), name="r")
    R = rng.normal(size=(3, 2))
    objective = (
        cp.sum(cp.multiply(W, X))
        + cp.trace(R @ X)
        - cp.sum_squares(L @ X)
        - cp.sum_squares(X - r.T + 1)
        - y**2
        - cp.sum(cp.pos(cp.hstack([X[:, 0], cp.vec(z, order="F")]) - y))
        - cp.sum_squares(z + 1)
    )
    constraints = [
        cp.sum(X, axis=0) <= 1,
        X @ np.ones((3, 1)) + z >= y,
        X[1, 2] == 0.1,
        cp.kron(np.ones((2, 1)), z) >= -3,
    ]
    # L times X inside a square is not affine in L.
    with pytest.raises(rl.ProblemError, match="square of a Parameter times a variable"):
        rl.from_cvxpy(cp.Problem(cp.Maximize(objective), constraints))
    fixed = sum(a for a in objective.args if all(q is not L for q in a.parameters())) - cp.sum_squares(
        rng.normal(size=(4, 2)) @ X
    )
    draws = [{"W": rng.normal(size=(2, 3)), "r": rng.normal(size=(3, 2))} for _ in range(4)]
    ours = agrees(cp.Problem(cp.Maximize(fixed), constraints), draws, unique=True)
    assert (
        ours.variables[:3] == ["X[0, 0]", "X[1, 0]", "X[0, 1]"]
        and "y" in ours.variables
        and "z[1, 0]" in ours.variables
    )
    assert {name: value.shape for name, value in ours.split(np.zeros((7, ours.n))).items()} == {
        "X": (7, 2, 3), "y": (7,), "z": (7, 2, 1),
    }  # fmt: skip


def test_without_parameters(rng: np.random.Generator) -> None:
    x = cp.Variable(3, name="x", bounds=[np.array([0.0, -np.inf, -1.0]), np.array([np.inf, 2.0, 1.0])])
    problem = cp.Problem(cp.Minimize(cp.sum_squares(x - 3) + cp.norm1(x)), [x[0] <= 2.5, x[0] <= 1.5, x >= -9, 1 <= 2])
    ours = agrees(problem, [{}], unique=True)
    assert ours.given() == {} and ours.parameters == {}
    assert np.array_equal(ours.stated("lower"), [0, -9, -1]) and np.array_equal(ours.stated("upper"), [1.5, 2, 1])


def test_bounds_that_are_parameters(rng: np.random.Generator) -> None:
    cap = cp.Parameter(3, name="cap")
    x = cp.Variable(3, name="x", bounds=[-1.0, 2 * cap])
    draws = [{"cap": rng.uniform(-0.4, 2, 3)} for _ in range(3)]
    ours = agrees(cp.Problem(cp.Maximize(cp.sum(x) - 0.3 * cp.sum_squares(x))), draws, unique=True)
    assert set(ours.given(draws[0])) == {"upper"}
    # What says nothing is no row.
    assert (
        "A" not in rl.from_cvxpy(cp.Problem(cp.Minimize(cp.sum(x)), [cp.Constant(1) <= 2, cp.sum(x) <= np.inf])).shapes
    )


def test_values_that_are_missing_or_kept() -> None:
    x = cp.Variable(2, name="x", nonneg=True)
    p, q, cap = cp.Parameter(2, name="p"), cp.Parameter(2, name="q", value=[1, 1]), cp.Parameter(pos=True, name="cap")
    P = cp.Parameter((2, 2), PSD=True, name="P")
    ours = rl.from_cvxpy(cp.Problem(cp.Maximize((p + q) @ x - cp.quad_form(x, P)), [x >= 1, x <= cap]))
    assert np.array_equal(ours.stated("Q"), np.eye(2)) and (ours.stated("upper") >= 1).all()
    with pytest.raises(rl.ProblemError, match="Parameter `p` has no value"):
        ours.given(cap=3.0, P=np.eye(2))
    given = ours.given({p: [1.0, 2.0], "P": np.eye(2)}, cap=[3.0, 4.0])
    assert np.array_equal(given["theta"], [2.0, 3.0]) and given["upper"].shape == (2, 2) and given["Q"].shape == (2, 2)
    assert p.value is None


def test_wrong_values() -> None:
    x, p, q = cp.Variable(2, name="x"), cp.Parameter(2, name="p"), cp.Parameter(name="q")
    ours = rl.from_cvxpy(cp.Problem(cp.Minimize(p @ x + cp.sum_squares(x) + q)))
    for call, says in (
        (lambda: ours.given(r=1.0), "no Parameter `r`: it has p, q"),
        (lambda: ours.given(p=[1.0], q=0.0), r"p has the shape \(1,\), expected \(2,\), or \(batch, 2\)"),
        (lambda: ours.given(p=np.zeros((3, 2)), q=np.zeros(2)), "different sizes: p has 3, q has 2"),
        (lambda: ours.given(p="ab", q=0.0), "not an array of numbers"),
        (lambda: ours.split(np.zeros(3)), "x has the shape"),
        (lambda: rl.from_cvxpy(3), "takes a cvxpy.Problem, not a int"),
    ):
        with pytest.raises(rl.ProblemError, match=says):
            call()
    assert np.array_equal(ours.offset(q=[1.0, 2.0], p=np.zeros(2)), [1, 2])
    assert ours.solve(**ours.given(p=np.zeros((0, 2)), q=0.0)).x.shape == (0, 2)


x, X, i = cp.Variable(2, name="x"), cp.Variable((2, 2), name="X"), cp.Variable(2, name="i", integer=True)
p, q, w = cp.Parameter(2, name="p"), cp.Parameter(2, name="q"), cp.Parameter(2, nonneg=True, name="w")


@pytest.mark.parametrize(
    ("objective", "constraints", "says"),
    [
        (cp.sum(i), [], "`i` is an integer variable"),
        (cp.sum(cp.Variable(2, boolean=True, name="on")), [], "`on` is an integer variable"),
        (cp.real(cp.sum(cp.Variable(2, complex=True, name="z"))), [], "`z` is complex"),
        (cp.trace(cp.Variable((2, 2), PSD=True, name="S")), [], "`S` is a semidefinite variable"),
        (cp.trace(cp.Variable((2, 2), symmetric=True, name="S")), [], "entries tied to others"),
        (cp.norm(x), [], r"Pnorm.*is a norm, a second-order cone"),
        (cp.sum(x) - cp.sum(cp.log(x)), [], r"`log\(x\)` is an exponential cone"),
        (cp.sum(cp.exp(x)), [], r"`exp\(x\)` is an exponential cone"),
        (cp.sum(cp.huber(x)), [], "`huber.*is a Huber function"),
        (cp.max(x), [], "not a sum of penalties.*Hint: bound its entries by a variable t"),
        (cp.norm_inf(x), [], "not a sum of penalties"),
        (cp.sum(cp.maximum(x, 0, 1)), [], "a maximum of 3 expressions"),
        (cp.sum(cp.pos(cp.square(x))), [], "a function of something that is not affine"),
        (cp.sum(cp.power(x, 4)), [], "a term of the kind Power"),
        (cp.sum(cp.sqrt(x)), [], "not DCP"),
        (x[0] * x[1], [], r"not DCP.*cp.quad_form\(x, P\)"),
        (p @ cp.pos(x), [], "`p @ maximum.*not DCP.*nonneg=True"),
        (p @ cp.multiply(q, x), [], "product of two Parameters: not DPP"),
        (w @ cp.square(x - q), [], "product of two Parameters: not DPP"),
        (cp.sum(x / w), [], "a division by a Parameter"),
        (cp.sum(x) + cp.sum(cp.abs(p)), [], r"`abs\(p\)` is not affine in the Parameters"),
        (cp.sum(cp.convolve(p, x)), [], "not affine in the arguments of convolve"),
        (cp.sum_squares(cp.multiply(p, x)), [], "square of a Parameter times a variable"),
        (cp.Constant(3), [], "without a variable"),
        (cp.sum(x) + cp.sum(cp.Variable(2, name="x")), [], "`x` is the name of two"),
        (cp.sum(x) + cp.transforms.indicator([x >= 0]), [], "a set of constraints as a cost"),
        (-cp.sum_squares(x), [], "not DCP.*minimise what is convex"),
        (cp.sum(x), [cp.SOC(x[0], x)], "`SOC.*is a second-order cone"),
        (cp.sum(x), [cp.norm(x) <= 1], "a constraint with something that is not affine"),
        (cp.sum(x), [cp.sum_squares(x) <= 1], "a constraint with a quadratic.*objective as a cost"),
        (cp.sum(x), [cp.max(x) + cp.sum(cp.pos(x)) <= 1], "not affine.*each affine piece as a row"),
        (cp.sum(x), [cp.square(x) == 1], "not DCP"),
        (cp.trace(X), [X >> 0], "a semidefinite constraint"),
        (cp.sum(x), [x >= 1, x <= 0], "lower bound 1 above its upper bound 0"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(objective: cp.Expression, constraints: list, says: str) -> None:
    with pytest.raises(rl.ProblemError, match=says):
        rl.from_cvxpy(cp.Problem(cp.Minimize(objective), constraints))


def draw_qp(rng: np.random.Generator, n: int = 4) -> tuple[cp.Problem, list[cp.Parameter], cp.Variable]:
    x = cp.Variable(n, name="x")
    price, limit, shift = cp.Parameter(n, name="price"), cp.Parameter(2, name="limit"), cp.Parameter(n, name="shift")
    root, A = rng.normal(size=(n, n)) + np.eye(n), np.abs(rng.normal(size=(2, n)))
    cost = cp.sum_squares(root @ x) + cp.sum_squares(x - shift) + 0.5 * cp.sum(cp.pos(x - 2 * shift))
    return cp.Problem(cp.Maximize(price @ x - cost), [A @ x <= limit, x >= 0]), [price, limit, shift], x


def test_gradients_agree_with_cvxpylayers() -> None:
    torch, layers = pytest.importorskip("torch"), pytest.importorskip("cvxpylayers.torch")
    import regretless.torch

    rng = np.random.default_rng(4)
    problem, parameters, variable = draw_qp(rng)
    other = layers.CvxpyLayer(problem, parameters=parameters, variables=[variable])
    ours = rl.from_cvxpy(problem)
    surrogate = rl.Surrogate(ours, K=1e6, multipliers=50.0)
    layer = regretless.torch.DecisionLayer(surrogate)
    checked = 0
    for _ in range(8):
        values = [torch.tensor(v) for v in (rng.normal(size=4) + 3, rng.uniform(0.3, 1, 2), rng.uniform(0.02, 0.3, 4))]
        g = torch.tensor(rng.normal(size=4))
        answers = []
        for decide in (
            lambda *v: other(*v, solver_args={"eps": 1e-12})[0],
            lambda *v: layer(**ours.given({p: value for p, value in zip(parameters, v)})),
        ):
            given = [v.clone().requires_grad_() for v in values]
            x = decide(*given)
            (x * g).sum().backward()
            answers.append([x.detach(), *(v.grad for v in given)])
        # Where a limit is just about to bind, both derivatives are one-sided.
        x0, shift = answers[0][0].numpy(), values[2].numpy()
        slack = values[1].numpy() - ours.stated("A") @ x0
        near = np.concatenate([np.abs(slack), np.abs(x0), np.abs(x0 - 2 * shift)])
        if ((near > 1e-6) & (near < 1e-3)).any():
            continue
        for a, b in zip(*answers):
            assert torch.allclose(a, b, atol=5e-4)
        # The same without PyTorch.
        numbers = {p: v.numpy() for p, v in zip(parameters, values)}
        pulled = ours.pull(surrogate.solve(**ours.given(numbers)).vjp(g.numpy()))
        assert all(np.allclose(pulled[p.name()], b.numpy()) for p, b in zip(parameters, answers[1][1:]))
        checked += 1
    assert checked >= 3


def test_tensors_in_batches() -> None:
    torch = pytest.importorskip("torch")
    problem, _, _ = draw_qp(np.random.default_rng(0))
    ours = rl.from_cvxpy(problem)
    values = {"price": torch.ones(3, 4), "limit": torch.ones(2, requires_grad=True), "shift": np.ones(4)}
    given, offset = ours.given(values), ours.offset(values)
    assert given["theta"].shape == (3, 4) and given["b"].shape == (2,) and given["theta"].dtype == torch.float32
    given["b"].sum().backward()
    assert torch.equal(values["limit"].grad, torch.ones(2)) and float(offset) == -4.0


def test_works_where_a_problem_does(rng: np.random.Generator) -> None:
    problem, _, _ = draw_qp(rng)
    ours = rl.from_cvxpy(problem)
    batch = {"price": rng.normal(size=(40, 4)) + 3, "limit": np.ones(2), "shift": np.full(4, 0.1)}
    again = pickle.loads(pickle.dumps(ours))
    given = again.given(batch)
    assert np.array_equal(again.solve(**given).x, ours.solve(**ours.given(batch)).x) and again.offset(
        batch
    ) == ours.offset(batch)
    assert isinstance(again, rl.CvxpyProblem) and again.split(np.arange(4))["x"].tolist() == [0, 1, 2, 3]
    for parameter in problem.parameters():
        if parameter.name() != "price":
            parameter.value = batch[parameter.name()]
    here = rl.from_cvxpy(problem)
    theta = here.given(price=batch["price"])["theta"]
    assert (rl.DecisionLoss(here, predict="theta")(theta + 0.1, theta).value > -1e-9).all()
    model = rl.DecisionRegressor(here, predicts="theta", method="l2").fit(rng.normal(size=(40, 3)), theta)
    assert model.decide(rng.normal(size=(2, 3))).shape == (2, 4)


def test_nothing_is_decided_by_placeholders(rng: np.random.Generator) -> None:
    """A Parameter that never had a value is predicted, known or told; it is not quietly 0."""
    bake, oven = cp.Variable(2, name="bake", nonneg=True), cp.Parameter(name="oven", nonneg=True)
    demand = cp.Parameter(2, name="demand")
    shop = rl.from_cvxpy(cp.Problem(cp.Minimize(cp.sum(cp.abs(bake - demand))), [cp.sum(bake) <= oven]))
    X, y = rng.normal(size=(40, 2)), rng.uniform(1, 2, (40, 2))
    for predicts in ("demand", "d"):
        with pytest.raises(rl.ProblemError, match="`b` depends on the Parameter `oven`, which had no value"):
            rl.DecisionRegressor(shop, "l2", predicts=predicts).fit(X, y)
    with pytest.raises(rl.ProblemError, match=r"`b` depends on the Parameter `oven`.*problem.given"):
        shop.solve(d=[1.0, 2.0])
    assert np.allclose(shop.solve(**shop.given(demand=[1.0, 2.0], oven=9.0)).x, [1.0, 2.0])
    known = rl.Quantities(shop, "demand", known="oven")
    model = rl.DecisionRegressor(shop, "l2", predicts=known, predictor="linear").fit(X, y, known=np.full(40, 1.5))
    assert np.allclose(model.decide(X, known=np.full(40, 1.5)).sum(axis=1), 1.5)
    oven.value = 1.0
    again = rl.from_cvxpy(cp.Problem(cp.Minimize(cp.sum(cp.abs(bake - demand))), [cp.sum(bake) <= oven]))
    assert np.allclose(rl.DecisionRegressor(again, "l2", predicts="demand").fit(X, y).decide(X).sum(axis=1), 1.0)


def test_pickles_need_no_cvxpy() -> None:
    problem, parameters, _ = draw_qp(np.random.default_rng(0))
    for parameter in parameters:
        parameter.value = np.ones(parameter.shape)
    data = pickle.dumps(rl.from_cvxpy(problem))
    program = (
        "import pickle, sys\n"
        "sys.modules['cvxpy'] = sys.modules['scipy'] = None\n"
        f"problem = pickle.loads({data!r})\n"
        "print(problem.solve(**problem.given(limit=[1.0, 2.0])).status)\n"
    )
    out = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert out.stdout == "optimal\n"


def test_import_without_cvxpy() -> None:
    program = (
        "import sys\n"
        "sys.modules['cvxpy'] = None\n"
        "import regretless\n"
        "try:\n"
        "    regretless.from_cvxpy(None)\n"
        "except ImportError as error:\n"
        "    print(error)\n"
    )
    out = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "pip install cvxpy, or pip install 'regretless[cvxpy]'" in out.stdout


def test_computed_parameters_are_refused() -> None:
    v, p = cp.Variable(2, name="v"), cp.Parameter(2, name="p", value=[1.0, 2.0])
    computed = cp.CallbackParam(lambda: p.value**2, 2, name="computed")
    with pytest.raises(rl.ProblemError, match="computed from others"):
        rl.from_cvxpy(cp.Problem(cp.Minimize(cp.sum_squares(v - computed) + p @ v)))
