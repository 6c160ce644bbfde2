//! Random problems in algebra against the same matrices put together by hand, row of a table by row, and against MPS.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::fmt::Write;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use regretless_core::problem::RowId;
use regretless_core::{Instance, Matrix, Oracle, Problem, Soft};
use regretless_project::{Limits, ParameterTable, Spec};

/// Sizes and numbers of one problem: c over a, d over a × b; p, q predicted, k, m known.
struct Case {
    a: usize,
    b: usize,
    c: Vec<f64>,
    d: Vec<Vec<f64>>,
    p: Vec<f64>,
    q: f64,
    k: Vec<f64>,
    m: f64,
    /// Coefficients of the text.
    s: [f64; 4],
}

impl Case {
    fn draw(rng: &mut ChaCha8Rng) -> Self {
        let (a, b) = (rng.random_range(1..5), rng.random_range(1..4));
        let mut some =
            |n: usize| -> Vec<f64> { (0..n).map(|_| f64::from(rng.random_range(-40..40)) / 8.0).collect() };
        let (c, p) = (some(a), some(a));
        let d = (0..a).map(|_| some(b)).collect();
        let positive = |v: Vec<f64>| -> Vec<f64> { v.into_iter().map(|v| v.abs() + 0.25).collect() };
        let (k, m, q) = (positive(some(a)), some(1)[0].abs() + 0.25, some(1)[0].abs());
        let s = some(4);
        Self { a, b, c, d, p, q, k, m, s: [s[0], s[1], s[2], s[3]] }
    }

    fn n(&self) -> usize {
        self.a + self.a * self.b + 1
    }

    fn y(&self, i: usize, j: usize) -> usize {
        self.a + i * self.b + j
    }

    fn z(&self) -> usize {
        self.n() - 1
    }

    fn row(&self, entries: &[(usize, f64)]) -> Vec<f64> {
        let mut row = vec![0.0; self.n()];
        entries.iter().for_each(|&(j, v)| row[j] += v);
        row
    }
}

/// A section in algebra, and the rows it stands for.
struct Section {
    soft: bool,
    text: String,
    /// `row ≤ limit` (hard), `= limit` (equal), or soft with prices over and under.
    rows: Vec<(Vec<f64>, f64)>,
    equal: bool,
    prices: Vec<(f64, f64)>,
}

fn hard(text: &str, rows: Vec<(Vec<f64>, f64)>, equal: bool) -> Section {
    Section { soft: false, text: format!("[[hard]]\n{text}\n"), rows, equal, prices: Vec::new() }
}

/// All sections there are; each is in a problem or not.
fn sections(c: &Case) -> Vec<Section> {
    let [s0, s1, s2, s3] = c.s;
    let capacity = (0..c.a).map(|i| {
        let mut entries = vec![(i, s0)];
        entries.extend((0..c.b).map(|j| (c.y(i, j), c.d[i][j])));
        (c.row(&entries), c.k[i] + s1)
    });
    let capacity = capacity.collect();
    let mut total: Vec<_> = (0..c.a).map(|i| (i, c.p[i] * c.m)).collect();
    total.push((c.z(), -s2));
    let pairs = (0..c.a).flat_map(|i| (0..c.a).map(move |j| (i, j))).filter(|(i, j)| i != j);
    // x[i] − c[j]x[j] ≥ −m, negated.
    let pairs: Vec<_> = pairs.map(|(i, j)| (c.row(&[(i, -1.0), (j, c.c[j])]), c.m)).collect();
    let chain = (0..c.a).map(|i| {
        let mut entries = vec![(i, 1.0), (c.z(), -0.5)];
        let mut limit = c.k[i];
        if i > 0 {
            entries.push((i - 1, -c.c[i]));
        } else {
            limit += c.c[0] * (c.m + 1.0);
        }
        (c.row(&entries), limit)
    });
    let chain = chain.collect();
    let mut range = Vec::new();
    for i in 0..c.a {
        // −m ≤ x[i] − z and x[i] − z ≤ 2p[i] + 20, in this order.
        range.push((c.row(&[(i, -1.0), (c.z(), 1.0)]), c.m));
        range.push((c.row(&[(i, 1.0), (c.z(), -1.0)]), 2.0 * c.p[i] + 20.0));
    }
    let members = (0..c.a).flat_map(|i| (0..c.b).map(move |j| (i, j)));
    let goals: Vec<_> =
        members.map(|(i, j)| (c.row(&[(c.y(i, j), 2.0), (c.z(), -1.0 / 4.0)]), c.d[i][j] * c.q)).collect();
    let prices = (0..c.a).flat_map(|i| (0..c.b).map(move |_| (c.k[i] * c.m, 1.0 + c.q))).collect();
    let mut all = vec![
        hard(&format!("for = \"i in a\"\nrow = \"{s0} * x[i] + sum(j in b: d[i, j] * y[i, j]) <= k[i] + {s1}\""), capacity, false),
        hard(&format!("row = \"sum(i in a: p[i] * m * x[i]) - q <= z * {s2} + {s3}\""), vec![(c.row(&total), c.q + s3)], false),
        hard("for = \"i in a\"\nrow = \"x[i] = x[i-1] * c[i] + k[i] + z / 2\"", chain, true),
        hard("for = \"i in a\"\nrow = \"-m <= x[i] - z <= 2 * (p[i] + 10)\"", range, false),
        Section {
            soft: true,
            text: "[[soft]]\nfor = \"i in a, j in b\"\nrow = \"2 * y[i, j] - z / 4 = d[i, j] * q\"\nover = \"k[i] * m\"\nunder = \"1 + q\"\n".into(),
            rows: goals,
            equal: false,
            prices,
        },
    ];
    if !pairs.is_empty() {
        all.push(hard(
            "for = \"i in a, j in a if i != j\"\nrow = \"x[i] - c[j] * x[j] >= -m\"",
            pairs,
            false,
        ));
    }
    all
}

fn list(values: &[f64]) -> String {
    format!("{values:?}")
}

/// The problem in algebra, and its table.
fn algebra(c: &Case, chosen: &[&Section]) -> (String, String) {
    let d: Vec<String> = c.d.iter().map(|row| list(row)).collect();
    let mut text = format!(
        "[sets]\na = {}\nb = \"1..{}\"\n[quantities]\nc = {{ for = \"a\", value = {} }}\nd = {{ for = \"a, b\", value = [{}] }}\n\
         p = {{ for = \"a\", predict = \"p_*\" }}\nq = {{ predict = \"q\" }}\nk = {{ for = \"a\", known = \"k_*\" }}\nm = {{ known = \"m\" }}\n\
         [variables]\nx = {{ for = \"a\", before = \"m + 1\", lower = -9.0 }}\ny = {{ for = \"i in a, j in b\", upper = \"k[i] * 2 + m\" }}\n\
         z = {{ lower = \"-q\", upper = \"q + 7\" }}\n\
         [objective]\nminimize = \"\"\"sum(i in a: p[i] * c[i] * x[i] + (x[i] - 0.5 * z)^2) + m * q * z\n  + sum(i in a, j in b: d[i, j] * y[i, j] - 3) + m * z^2\"\"\"\n",
        c.a,
        c.b,
        list(&c.c),
        d.join(", ")
    );
    chosen.iter().for_each(|section| text.push_str(&section.text));
    let names = |name: &str| (0..c.a).map(|i| format!("{name}_{i}")).collect::<Vec<_>>().join(",");
    let numbers = |values: &[f64]| values.iter().map(f64::to_string).collect::<Vec<_>>().join(",");
    let table =
        format!("m,{},q,{}\n{},{},{},{}\n", names("k"), names("p"), c.m, numbers(&c.k), c.q, numbers(&c.p));
    (text, table)
}

/// The same by hand: θ, Q, bounds.
fn objective(c: &Case) -> (Vec<f64>, Matrix) {
    let mut theta = vec![0.0; c.n()];
    let mut q = Matrix::zeros(c.n(), c.n());
    for i in 0..c.a {
        theta[i] = c.p[i] * c.c[i];
        (0..c.b).for_each(|j| theta[c.y(i, j)] = c.d[i][j]);
        q[(i, i)] = 1.0;
        q[(i, c.z())] = -0.5;
        q[(c.z(), i)] = -0.5;
    }
    theta[c.z()] = c.m * c.q;
    q[(c.z(), c.z())] = 0.25 * c.a as f64 + c.m;
    (theta, q)
}

fn by_hand(c: &Case, chosen: &[&Section], with_soft: bool) -> Problem {
    let n = c.n();
    let (theta, q) = objective(c);
    let (mut lower, mut upper) = (vec![0.0; n], vec![f64::INFINITY; n]);
    for i in 0..c.a {
        lower[i] = -9.0;
        (0..c.b).for_each(|j| upper[c.y(i, j)] = 2.0 * c.k[i] + c.m);
    }
    (lower[c.z()], upper[c.z()]) = (-c.q, c.q + 7.0);
    let mut builder = Problem::minimize(n).linear(theta).quadratic(q).lower(lower).upper(upper);
    for (i, section) in chosen.iter().enumerate().filter(|(_, section)| with_soft || !section.soft) {
        let entries = section.rows.iter().flat_map(|(row, _)| row.clone()).collect();
        let matrix = Matrix::from_vec(section.rows.len(), n, entries).unwrap();
        let limits: Vec<f64> = section.rows.iter().map(|(_, limit)| *limit).collect();
        let name = format!("s{i}");
        builder = if section.soft {
            let (over, under): (Vec<f64>, Vec<f64>) = section.prices.iter().copied().unzip();
            builder.soft(name, Soft::both(matrix, limits, over, under))
        } else if section.equal {
            builder.equal(name, matrix, limits)
        } else {
            builder.at_most(name, matrix, limits)
        };
    }
    builder.build().unwrap()
}

fn close(a: &[f64], b: &[f64], what: &str, text: &str) {
    assert_eq!(a.len(), b.len(), "{what}\n{text}");
    for (a, b) in a.iter().zip(b) {
        assert!(a == b || (a - b).abs() <= 1e-12 * (1.0 + b.abs()), "{what}: {a} and {b}\n{text}");
    }
}

/// Every number of one instance is that of the problem by hand.
fn same(spec: &Spec, instance: &Instance<'_>, hand: &Problem, text: &str) {
    let (own, other) = (spec.problem().view(instance).unwrap(), hand.view(&Instance::default()).unwrap());
    let n = hand.n();
    assert_eq!(own.shape, other.shape, "{text}");
    close(own.theta, other.theta, "theta", text);
    close(own.lower, other.lower, "lower", text);
    close(own.upper, other.upper, "upper", text);
    close(own.b, other.b, "b", text);
    close(own.c, other.c, "c", text);
    close(own.d, other.d, "d", text);
    close(own.alpha, other.alpha, "over", text);
    close(own.under, other.under, "under", text);
    let rows = (0..own.shape.soft).map(RowId::Soft);
    let rows =
        rows.chain((0..own.shape.at_most).map(RowId::AtMost)).chain((0..own.shape.equal).map(RowId::Equal));
    rows.for_each(|id| close(&own.row(id).to_vec(n), &other.row(id).to_vec(n), "row", text));
    // Q through what it does: it may be stored in any pattern.
    let quadratic = |problem: &Problem, values: &[f64]| -> Vec<f64> {
        let pattern = problem.Q().unwrap().pattern();
        let mut dense = vec![0.0; n * n];
        values.iter().enumerate().for_each(|(entry, value)| {
            let (i, j) = pattern.place(entry);
            dense[i * n + j] = *value;
        });
        dense
    };
    close(&quadratic(spec.problem(), own.Q), &quadratic(hand, other.Q), "Q", text);
}

/// The hard rows and the objective as MPS; ½xᵀHx with H = 2Q.
fn mps(c: &Case, problem: &Problem) -> String {
    let n = problem.n();
    let mut rows = " N cost\n".to_owned();
    let mut limits = String::new();
    let mut columns: Vec<String> =
        problem.theta().iter().enumerate().map(|(j, v)| format!(" x{j} cost {v}\n")).collect();
    for (kind, hard) in [("L", problem.at_most()), ("E", problem.equal())] {
        for (i, limit) in hard.rhs.iter().enumerate() {
            let _ = writeln!(rows, " {kind} {kind}{i}");
            let _ = writeln!(limits, " rhs {kind}{i} {limit}");
            for (j, v) in hard.rows.row(i).iter().filter(|(_, v)| *v != 0.0) {
                let _ = writeln!(columns[j], " x{j} {kind}{i} {v}");
            }
        }
    }
    let mut bounds = String::new();
    for j in 0..n {
        let _ = writeln!(bounds, " LO b x{j} {}", problem.lower()[j]);
        if problem.upper()[j].is_finite() {
            let _ = writeln!(bounds, " UP b x{j} {}", problem.upper()[j]);
        }
    }
    let (_, q) = objective(c);
    let mut hessian = String::new();
    for i in 0..n {
        for j in 0..=i {
            if q[(i, j)] != 0.0 {
                let _ = writeln!(hessian, " x{i} x{j} {}", 2.0 * q[(i, j)]);
            }
        }
    }
    let columns = columns.concat();
    format!(
        "NAME random\nROWS\n{rows}COLUMNS\n{columns}RHS\n{limits}BOUNDS\n{bounds}QUADOBJ\n{hessian}ENDATA\n"
    )
}

fn optimum(problem: &Problem, instance: &Instance<'_>) -> Option<f64> {
    let answer = Oracle::new(problem).solve(instance).unwrap();
    answer.is_optimal().then_some(answer.objective)
}

#[test]
fn random_problems_are_the_same_as_matrices_and_as_mps() {
    let limits = Limits::default();
    let (mut solved, mut compared) = (0, 0);
    for seed in 0..200 {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let case = Case::draw(&mut rng);
        let all = sections(&case);
        let chosen: Vec<&Section> = all.iter().filter(|_| rng.random_range(0..2) == 0).collect();
        // Soft sections come first, whatever the order of the file.
        let (text, table) = algebra(&case, &chosen);
        let spec = Spec::parse(text.as_str(), "p.toml", &limits)
            .unwrap_or_else(|e| panic!("{e} {:?}\n{text}", e.hint));
        let table = ParameterTable::from_csv(table.as_bytes(), "t.csv".as_ref(), &spec, &limits)
            .unwrap_or_else(|e| panic!("{e}\n{text}"));
        let parameters = table.row(0).unwrap();
        let hand = by_hand(&case, &chosen, true);
        same(&spec, &parameters.instance(), &hand, &text);

        let (own, other) =
            (optimum(spec.problem(), &parameters.instance()), optimum(&hand, &Instance::default()));
        assert_eq!(own.is_some(), other.is_some(), "{text}");
        if let (Some(own), Some(other)) = (own, other) {
            assert!((own - other).abs() <= 1e-6 * (1.0 + other.abs()), "{own} and {other}\n{text}");
            solved += 1;
        }
        // MPS has no soft rows.
        let hard = by_hand(&case, &chosen, false);
        let read = Spec::parse(mps(&case, &hard), "p.mps", &limits).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let (own, other) =
            (optimum(read.problem(), &Instance::default()), optimum(&hard, &Instance::default()));
        assert_eq!(own.is_some(), other.is_some(), "{text}");
        if let (Some(own), Some(other)) = (own, other) {
            assert!((own - other).abs() <= 1e-6 * (1.0 + other.abs()), "{own} and {other}\n{text}");
            compared += 1;
        }
    }
    assert!(solved > 60 && compared > 60, "{solved} and {compared}");
}
