//! Large sparse problems against Clarabel: cold, and along sequences of small moves.
//!
//! `REGRETLESS_DATA=DIR cargo run --release -p regretless-bench -- sparse [NAME]`; grids are those of PGLib in `DIR/pglib`.

use std::path::Path;
use std::time::Instant;

use rand::{Rng, RngExt};
use regretless_core::engine::{Link, reference};
use regretless_core::problem::FactorCost;
use regretless_core::{
    Coefficients, Instance, Multipliers, Oracle, Problem, Rule, Soft, Store, Surrogate, SurrogateOptions,
};

use crate::grid::Grid;
use crate::mps;
use crate::problems::rng;

/// Steps of a sequence; each step of Clarabel's is timed every so many.
const STEPS: usize = 200;
const EVERY: usize = 40;
const STORE: usize = 1 << 30;

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

fn timed<T>(f: impl FnOnce() -> T) -> (T, f64) {
    let start = Instant::now();
    let out = f();
    (out, 1e3 * start.elapsed().as_secs_f64())
}

/// What moves: prices, or the right-hand sides of equalities too.
#[derive(Clone, Copy, PartialEq)]
enum Moves {
    Prices,
    Demands,
}

struct Case {
    name: &'static str,
    problem: Problem,
    moves: Moves,
}

/// 50 products over 12 periods on 5 machines: make, overtime, buy, stock, backlog, sell and waste.
fn production() -> Problem {
    let (products, periods, machines) = (50, 12, 5);
    let mut r = rng(50);
    let n = 7 * products * periods;
    let at = |what: usize, p: usize, t: usize| (what * products + p) * periods + t;
    let (mut balance, mut rhs, mut load, mut most) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let (mut price, mut upper) = (vec![0.0; n], vec![f64::INFINITY; n]);
    for p in 0..products {
        let base = 5.0 + 10.0 * r.random::<f64>();
        for t in 0..periods {
            let row = rhs.len();
            let demand = 10.0 * r.random::<f64>();
            for (what, sign, cost) in [
                (0, 1.0, 1.0),
                (1, 1.0, 1.4),
                (2, 1.0, 2.5),
                (3, -1.0, 0.02),
                (4, 1.0, 0.3),
                (5, -1.0, -3.0),
                (6, -1.0, 0.1),
            ] {
                balance.push((row, at(what, p, t), sign));
                price[at(what, p, t)] = base * cost * (1.0 + 0.1 * r.random::<f64>());
            }
            upper[at(5, p, t)] = demand;
            upper[at(1, p, t)] = 3.0;
            if t > 0 {
                balance.extend([(row, at(3, p, t - 1), 1.0), (row, at(4, p, t - 1), -1.0)]);
            }
            rhs.push(0.1 * demand);
        }
    }
    for machine in 0..machines {
        for t in 0..periods {
            for p in (0..products).filter(|p| (p + machine) % 2 == 0) {
                let hours = 0.5 + r.random::<f64>();
                load.extend([(most.len(), at(0, p, t), hours), (most.len(), at(1, p, t), hours)]);
            }
            most.push(60.0);
        }
    }
    let rows = |count: usize, entries| Coefficients::sparse(count, n, entries).unwrap();
    Problem::minimize(n)
        .linear(price)
        .at_most("machines", rows(most.len(), load), most)
        .equal("balance", rows(rhs.len(), balance), rhs)
        .upper(upper)
        .build()
        .unwrap()
}

/// A portfolio of n assets with risk by k factors: y = Fᵀx, Q diagonal.
fn portfolio(n: usize, k: usize) -> Problem {
    let mut r = rng(2000);
    let all = n + k;
    let mut equal: Vec<(usize, usize, f64)> = (0..n).map(|j| (0, j, 1.0)).collect();
    for f in 0..k {
        equal.extend((0..n).map(|j| (1 + f, j, r.random::<f64>() - 0.3)));
        equal.push((1 + f, n + f, -1.0));
    }
    let mut c = vec![0.0; 1 + k];
    c[0] = 1.0;
    let q: Vec<_> =
        (0..all).map(|j| (j, j, if j < n { 0.02 + 0.05 * r.random::<f64>() } else { 1.0 })).collect();
    let theta: Vec<f64> = (0..all).map(|j| if j < n { 0.1 * r.random::<f64>() } else { 0.0 }).collect();
    let groups = 20;
    let soft = (0..n).map(|j| (j % groups, j, 1.0));
    let lower: Vec<f64> = (0..all).map(|j| if j < n { 0.0 } else { f64::NEG_INFINITY }).collect();
    Problem::maximize(all)
        .linear(theta)
        .quadratic(Coefficients::sparse(all, all, q).unwrap())
        .soft(
            "groups",
            Soft::over(
                Coefficients::sparse(groups, all, soft).unwrap(),
                vec![0.08; groups],
                vec![0.05; groups],
            ),
        )
        .equal("factors", Coefficients::sparse(1 + k, all, equal).unwrap(), c)
        .lower(lower)
        .build()
        .unwrap()
}

/// Flow of least cost on a grid of streets with diagonals, with sources and sinks.
fn network(side: usize) -> Problem {
    let mut r = rng(side as u64);
    let node = |i: usize, j: usize| i * side + j;
    let mut arcs = Vec::new();
    for i in 0..side {
        for j in 0..side {
            for (a, b) in [(i + 1, j), (i, j + 1), (i + 1, j + 1)] {
                if a < side && b < side {
                    arcs.push((node(i, j), node(a, b)));
                }
            }
        }
    }
    let (n, nodes) = (2 * arcs.len(), side * side);
    let entries = arcs.iter().enumerate().flat_map(|(k, &(from, to))| {
        let back = arcs.len() + k;
        [(from, k, -1.0), (to, k, 1.0), (from, back, 1.0), (to, back, -1.0)]
    });
    let price: Vec<f64> = (0..n).map(|_| 0.5 + r.random::<f64>()).collect();
    let mut demand: Vec<f64> = (0..nodes).map(|_| r.random::<f64>() - 0.5).collect();
    let mean = demand.iter().sum::<f64>() / nodes as f64;
    demand.iter_mut().for_each(|d| *d -= mean);
    Problem::minimize(n)
        .linear(price)
        .equal("nodes", Coefficients::sparse(nodes, n, entries).unwrap(), demand)
        .upper(vec![20.0; n])
        .build()
        .unwrap()
}

/// A shortest path from corner to corner, as people state it: every flow row, upper bounds.
fn path(side: usize) -> Problem {
    let mut r = rng(77 + side as u64);
    let node = |i: usize, j: usize| i * side + j;
    let mut arcs = Vec::new();
    for i in 0..side {
        for j in 0..side {
            for (a, b) in [(i, j + 1), (i + 1, j)] {
                if a < side && b < side {
                    arcs.push((node(i, j), node(a, b)));
                }
            }
        }
    }
    let n = arcs.len();
    let entries = arcs.iter().enumerate().flat_map(|(k, &(from, to))| [(from, k, -1.0), (to, k, 1.0)]);
    let mut demand = vec![0.0; side * side];
    (demand[0], demand[side * side - 1]) = (-1.0, 1.0);
    Problem::minimize(n)
        .linear((0..n).map(|_| 0.5 + r.random::<f64>()).collect::<Vec<_>>())
        .equal("flow", Coefficients::sparse(side * side, n, entries).unwrap(), demand)
        .upper(vec![1.0; n])
        .build()
        .unwrap()
}

fn moved(values: &[f64], share: f64, r: &mut impl Rng) -> Vec<f64> {
    values.iter().map(|v| v * (1.0 + share * (2.0 * r.random::<f64>() - 1.0))).collect()
}

fn cases() -> Vec<Case> {
    let mut all = vec![
        Case { name: "path 20 × 20", problem: path(20), moves: Moves::Prices },
        Case { name: "production", problem: production(), moves: Moves::Demands },
        Case { name: "portfolio 2,000 k = 50", problem: portfolio(2000, 50), moves: Moves::Prices },
        Case { name: "network 30,000", problem: network(72), moves: Moves::Prices },
    ];
    for (name, case, hours) in [
        ("grid 118", "case118_ieee", 1),
        ("grid 500", "case500_goc", 1),
        ("grid 1,354", "case1354_pegase", 1),
        ("grid 2,869", "case2869_pegase", 1),
        ("grid 10,000", "case10000_goc", 1),
        ("grid 118, 24 h", "case118_ieee", 24),
    ] {
        if let Some(grid) = Grid::read(case) {
            all.push(Case { name, problem: grid.dispatch(hours), moves: Moves::Demands });
        }
    }
    all
}

/// Who answered: path, Newton, interior point, Clarabel.
#[derive(Default)]
struct Links([usize; 4]);

impl Links {
    fn count(&mut self, link: Link) {
        let at = match link {
            Link::Path => 0,
            Link::Newton => 1,
            Link::Interior => 2,
            Link::Reference => 3,
        };
        self.0[at] += 1;
    }
}

impl std::fmt::Display for Links {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [path, newton, interior, clarabel] = self.0;
        write!(f, "{path}/{newton}/{interior}/{clarabel}")
    }
}

/// Writes the linear programs as MPS files, for `bench/highs.py`.
pub(crate) fn export(folder: &Path) {
    for case in cases().iter().filter(|case| case.problem.Q().is_none()) {
        let demands = if case.moves == Moves::Demands { "demands" } else { "prices" };
        let name = case.name.replace([',', '×'], "").split_whitespace().collect::<Vec<_>>().join("-");
        mps::write(&case.problem, &folder.join(format!("{name}.{demands}.mps")));
    }
}

pub(crate) fn run(only: Option<&str>) {
    println!("\n## Sparse problems\n");
    println!(
        "Cold: exact solve from nothing. Warm: exact re-solve after a move of every price (grids and production: demand too). Surrogate: \
         softened solve + gradient in θ after the same move; cold from nothing. Clarabel: set-up + solve of the exact problem. Links: \
         path/Newton/interior/Clarabel.\n"
    );
    println!(
        "| problem | n | rows | form | cold ms | Clarabel ms | cold ÷ Clarabel | move | warm ms | Clarabel ÷ warm | factorisations median (most) | links | wrong | surrogate cold ms | ÷ Clarabel | surrogate ms | Clarabel ÷ it | factorisations median (most) | links | wrong |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|");
    for case in cases() {
        if only.is_none_or(|only| case.name.contains(only)) {
            row(&case);
        }
    }
}

fn row(case: &Case) {
    let Case { name, problem, moves } = case;
    let shape = problem.shape();
    let FactorCost { entries, .. } = problem.factor_cost();
    let oracle = Oracle::new(problem);
    let (optimum, cold) = timed(|| oracle.solve(&Instance::default()).unwrap());
    let reference = |instance: &Instance<'_>| timed(|| reference::solve(&problem.view(instance).unwrap())).1;
    let clarabel = median((0..3).map(|_| reference(&Instance::default())).collect());
    let begin = format!(
        "| {name} | {} | {} | {} ({entries:.0}) | {cold:.1} ({}) | {clarabel:.1} | {:.2} |",
        shape.n,
        shape.general(),
        problem.form().word(),
        if optimum.is_optimal() { format!("{:?}", optimum.link) } else { format!("{:?}", optimum.status) },
        cold / clarabel
    );
    let multipliers = Multipliers::choose(problem, &Rule::Constant(2e4), &[Instance::default()]);
    let surrogate =
        multipliers.ok().and_then(|m| Surrogate::new(problem, &m, &SurrogateOptions::with_k(20.0)).ok());
    for share in [0.001, 0.01] {
        let mut r = rng(1);
        let (mut store, mut soft_store) = (Store::with_budget(STORE), Store::with_budget(STORE));
        let (mut times, mut counts, mut links, mut wrong) = (Vec::new(), Vec::new(), Links::default(), 0);
        let (mut soft_times, mut soft_counts, mut soft_links) = (Vec::new(), Vec::new(), Links::default());
        let (mut soft_cold, mut soft_wrong) = (f64::NAN, 0);
        let mut by_clarabel = Vec::new();
        let started = Instant::now();
        for step in 0..=STEPS {
            // Moves of what is stated, not a walk: the problem stays what it is.
            let theta = moved(problem.theta(), share, &mut r);
            let c = moved(&problem.equal().rhs, share, &mut r);
            let demands = (*moves == Moves::Demands).then_some(&c[..]);
            let instance = [Instance { c: demands, ..Instance::theta(&theta) }];
            let (answer, took) =
                timed(|| oracle.solve_batch_warm(&instance, &[0], &mut store).remove(0).unwrap());
            let g = vec![1.0; shape.n];
            let soft = surrogate.as_ref().map(|s| {
                timed(|| {
                    let solution = s.solve_batch_warm(&instance, &[0], &mut soft_store).remove(0).unwrap();
                    let mut v = g.clone();
                    solution.vjp_theta(&mut v);
                    (solution.is_optimal(), solution.work, solution.link)
                })
            });
            if step > 0 {
                times.push(took);
                counts.push(answer.work.factorisations as f64);
                links.count(answer.link);
                wrong += usize::from(!answer.is_optimal());
            }
            match soft {
                Some((_, took)) if step == 0 => soft_cold = took,
                Some(((optimal, work, link), took)) => {
                    soft_times.push(took);
                    soft_counts.push(work.factorisations as f64);
                    soft_links.count(link);
                    soft_wrong += usize::from(!optimal);
                }
                None => {}
            }
            if step % EVERY == 1 {
                by_clarabel.push(reference(&instance[0]));
            }
            if started.elapsed().as_secs() > 120 {
                break;
            }
        }
        let clarabel = median(by_clarabel);
        let most = |counts: &[f64]| counts.iter().copied().fold(0.0, f64::max);
        let (most, soft_most) = (most(&counts), most(&soft_counts));
        let (warm, soft) = (median(times), median(soft_times));
        println!(
            "{begin} ±{}% | {warm:.2} | {:.1}× | {:.0} ({most:.0}) | {links} | {wrong} | {soft_cold:.1} | {:.2} | {soft:.2} | {:.1}× | {:.0} ({soft_most:.0}) | {soft_links} | {soft_wrong} |",
            100.0 * share,
            clarabel / warm,
            median(counts),
            soft_cold / clarabel,
            clarabel / soft,
            median(soft_counts)
        );
    }
}
