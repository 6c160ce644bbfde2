//! Clarabel on the same problems: the reference the engine is tested against and the last link of its chains.
//!
//! Settings: `static_regularization_constant = 1e-7` (with the default, half of small dense LPs end `AlmostSolved`), Clarabel's
//! own tolerances. The chain asks for more: what it gets is measured against 1e-7 in the user's units.
//! `AlmostSolved` counts as solved.

use clarabel::algebra::CscMatrix;
use clarabel::solver::{DefaultInfo, DefaultSettings, DefaultSolver, IPSolver, SolverStatus, SupportedConeT};

use crate::engine::accuracy::Accuracy;
use crate::engine::hinges::Hinges;
use crate::engine::rows::Softened;
use crate::engine::status::Link;
use crate::engine::stop::{Progress, Stop};
use crate::problem::View;

/// What Clarabel said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReferenceStatus {
    /// Solved, or almost.
    Solved,
    /// No feasible point.
    Infeasible,
    /// No bound on the objective.
    Unbounded,
    /// Anything else.
    Failed,
}

/// Clarabel's answer.
#[derive(Clone, Debug)]
pub struct Reference {
    /// How it ended.
    pub status: ReferenceStatus,
    /// The decision; meaningful when solved.
    pub x: Vec<f64>,
    /// Multipliers of the stacked rows (soft, at most, equal, lower, upper); of a certificate when infeasible.
    pub rows: Vec<f64>,
    /// Interior-point iterations.
    pub iterations: u32,
}

/// A sparse matrix under construction: (row, column, value).
#[derive(Default)]
pub(super) struct Entries(Vec<(usize, usize, f64)>);

impl Entries {
    pub(super) fn push(&mut self, row: usize, col: usize, value: f64) {
        if value != 0.0 {
            self.0.push((row, col, value));
        }
    }

    pub(super) fn build(self, rows: usize, cols: usize) -> CscMatrix<f64> {
        let (mut i, mut j, mut v) = (Vec::new(), Vec::new(), Vec::new());
        for (row, col, value) in self.0 {
            i.push(row);
            j.push(col);
            v.push(value);
        }
        CscMatrix::new_from_triplets(rows, cols, i, j, v)
    }
}

/// How hard Clarabel tries: tolerance and static regularisation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effort {
    tolerance: f64,
    regularisation: f64,
}

/// Clarabel's own tolerance.
const USUAL: &[Effort] = &[Effort { tolerance: 1e-8, regularisation: 1e-7 }];
/// What the chain asks for; where the first is not reached, the second may be.
pub(crate) const TIGHT: &[Effort] =
    &[Effort { tolerance: 1e-10, regularisation: 1e-8 }, Effort { tolerance: 1e-10, regularisation: 1e-7 }];

fn settings(effort: Effort) -> DefaultSettings<f64> {
    DefaultSettings {
        verbose: false,
        max_threads: 1,
        static_regularization_constant: effort.regularisation,
        tol_gap_abs: effort.tolerance,
        tol_gap_rel: effort.tolerance,
        tol_feas: effort.tolerance,
        ..DefaultSettings::default()
    }
}

/// Solves the original problem to Clarabel's own tolerances.
pub fn solve(view: &View<'_>) -> Reference {
    solve_with(view, USUAL)
}

/// Solves the original problem as well as Clarabel can.
pub(crate) fn solve_tightly(view: &View<'_>) -> Reference {
    solve_with(view, TIGHT)
}

/// Solves the original problem in epigraph form: one slack for every side of a soft row that has a price.
fn solve_with(view: &View<'_>, efforts: &[Effort]) -> Reference {
    let s = view.shape;
    let n = s.n;
    let sides: Vec<(usize, f64, f64)> = (0..s.soft)
        .flat_map(|k| [(k, 1.0, view.alpha[k]), (k, -1.0, view.under[k])])
        .filter(|(.., price)| *price > 0.0)
        .collect();
    let width = n + sides.len();
    let mut q = vec![0.0; width];
    view.gain(&mut q[..n]);
    q[..n].iter_mut().for_each(|t| *t = -*t);
    for (e, (.., price)) in sides.iter().enumerate() {
        q[n + e] = *price;
    }
    let mut p = Entries::default();
    if let Some(quadratic) = view.quadratic() {
        for (i, row) in quadratic.iter().enumerate() {
            let upper = row.iter().filter(|(j, _)| *j >= i);
            upper.for_each(|(j, q)| p.push(i, j, q + quadratic.row(j).get(i)));
        }
    }
    let [(soft, _), (at_most, _), (equal, _)] = view.rows();
    let (mut a, mut b) = (Entries::default(), Vec::new());
    // Equalities first, then everything ≤.
    for (i, c) in view.c.iter().enumerate() {
        equal.row(i).iter().for_each(|(j, v)| a.push(i, j, v));
        b.push(*c);
    }
    let mut bounds = Vec::new();
    // A zero-width box is an equality.
    let fixed = |j: usize| view.lower[j] == view.upper[j];
    for j in (0..n).filter(|&j| fixed(j)) {
        a.push(b.len(), j, 1.0);
        bounds.push((j, 1.0, b.len()));
        b.push(view.upper[j]);
    }
    let equalities = b.len();
    for (e, &(k, sign, _)) in sides.iter().enumerate() {
        soft.row(k).iter().for_each(|(j, v)| a.push(b.len(), j, sign * v));
        a.push(b.len(), n + e, -1.0);
        b.push(sign * view.d[k]);
        a.push(b.len(), n + e, -1.0);
        b.push(0.0);
    }
    let first_at_most = b.len();
    for (i, rhs) in view.b.iter().enumerate() {
        at_most.row(i).iter().for_each(|(j, v)| a.push(b.len(), j, v));
        b.push(*rhs);
    }
    for j in (0..n).filter(|&j| !fixed(j)) {
        for (sign, limit) in [(-1.0, view.lower[j]), (1.0, view.upper[j])] {
            if limit.is_finite() {
                a.push(b.len(), j, sign);
                bounds.push((j, sign, b.len()));
                b.push(sign * limit);
            }
        }
    }
    let cones =
        [SupportedConeT::ZeroConeT(equalities), SupportedConeT::NonnegativeConeT(b.len() - equalities)];
    let (status, solution, z, iterations) =
        run(&p.build(width, width), &q, &a.build(b.len(), width), &b, &cones, efforts);
    let mut rows = vec![0.0; s.rows()];
    for (e, (k, sign, _)) in sides.iter().enumerate() {
        rows[*k] += sign * z[equalities + 2 * e];
    }
    rows[s.soft..s.soft + s.at_most].copy_from_slice(&z[first_at_most..first_at_most + s.at_most]);
    rows[s.soft + s.at_most..s.general()].copy_from_slice(&z[..s.equal]);
    for (j, sign, at) in bounds {
        // Lower bounds first; a negative multiplier of a zero-width box is that of its lower bound.
        let pull = sign * z[at];
        let (lower, upper) = (s.general() + j, s.general() + n + j);
        rows[if pull < 0.0 { lower } else { upper }] = pull.abs();
    }
    Reference { status, x: solution[..n].to_vec(), rows, iterations }
}

/// Solves the smoothed problem: `γS(z) = min { γ(s + K r²) : r + s ≥ z + 1/4K, s ≥ 0, r ≥ 0 }` for every priced side.
pub(crate) fn solve_softened(s: &Softened, theta: &[f64]) -> Option<Vec<f64>> {
    let n = s.n;
    let mut sides = Vec::new();
    let hinges = |h: &Hinges| h.laws().map(|(limit, law)| (h.row, limit, law)).collect::<Vec<_>>();
    let laws = s.laws.iter().enumerate().map(|(i, law)| (i, 0.0, *law));
    for (i, limit, law) in laws.chain(s.hinges.iter().flat_map(hinges)) {
        // Without caps on both sides the law is one line: each side starts where it crosses zero.
        let zero = -law.anchor / law.slope;
        let free = law.above.is_infinite() && law.below.is_infinite();
        let (lo, hi) = if free { (zero, zero) } else { (law.lo, law.hi) };
        for (sign, cap, end) in [(1.0, law.above, lo), (-1.0, -law.below, -hi)] {
            if cap > 0.0 && law.slope > 0.0 {
                // The side's own share of the slope; an uncapped side keeps the whole of it.
                let total = law.above - law.below;
                let slope = if total.is_finite() { law.slope * cap / total } else { law.slope };
                sides.push((i, sign, cap, slope, sign * limit + end));
            }
        }
    }
    let width = n + 2 * sides.len();
    let mut q: Vec<f64> = theta.iter().map(|t| -t).collect();
    let mut p = Entries::default();
    if let Some(two_q) = &s.two_q {
        for (i, row) in two_q.view().iter().enumerate() {
            row.iter().filter(|(j, _)| *j >= i).for_each(|(j, q)| p.push(i, j, q));
        }
    }
    let (mut a, mut b) = (Entries::default(), Vec::new());
    for &(i, sign, cap, slope, end) in &sides {
        // Columns: r (quadratic part), s (linear part).
        let r = q.len();
        p.push(r, r, slope);
        q.extend([0.0, if cap.is_finite() { cap } else { 0.0 }]);
        s.entries(i).for_each(|(j, v)| a.push(b.len(), j, sign * v));
        a.push(b.len(), r, -1.0);
        if cap.is_finite() {
            a.push(b.len(), r + 1, -1.0);
        }
        b.push(sign * s.d[i] + end);
        a.push(b.len(), r, -1.0);
        b.push(0.0);
        a.push(b.len(), r + 1, -1.0);
        b.push(0.0);
    }
    let cones = [SupportedConeT::NonnegativeConeT(b.len())];
    let (status, x, ..) = run(&p.build(width, width), &q, &a.build(b.len(), width), &b, &cones, USUAL);
    (status == ReferenceStatus::Solved).then(|| x[..n].to_vec())
}

pub(super) type Raw = (ReferenceStatus, Vec<f64>, Vec<f64>, u32);

pub(super) fn run(
    p: &CscMatrix<f64>,
    q: &[f64],
    a: &CscMatrix<f64>,
    b: &[f64],
    cones: &[SupportedConeT<f64>],
    efforts: &[Effort],
) -> Raw {
    let mut best = (ReferenceStatus::Failed, vec![0.0; q.len()], vec![0.0; b.len()], 0);
    for &effort in efforts {
        if Stop::requested() {
            break;
        }
        let Ok(mut solver) = DefaultSolver::new(p, q, a, b, cones, settings(effort)) else { break };
        if let Some(stop) = Stop::current() {
            solver.set_termination_callback(move |info: &DefaultInfo<f64>| {
                let (primal, dual, gap) = (info.res_primal, info.res_dual, info.gap_rel);
                stop.tell(&Progress {
                    link: Link::Reference,
                    iterations: info.iterations as usize,
                    accuracy: Some(Accuracy { primal, dual, gap }),
                });
                stop.is_requested()
            });
        }
        solver.solve();
        let solution = solver.solution;
        let (status, sure) = match solution.status {
            SolverStatus::Solved => (ReferenceStatus::Solved, true),
            SolverStatus::AlmostSolved => (ReferenceStatus::Solved, false),
            SolverStatus::PrimalInfeasible | SolverStatus::AlmostPrimalInfeasible => {
                (ReferenceStatus::Infeasible, true)
            }
            SolverStatus::DualInfeasible | SolverStatus::AlmostDualInfeasible => {
                (ReferenceStatus::Unbounded, true)
            }
            _ => (ReferenceStatus::Failed, false),
        };
        if sure || best.0 == ReferenceStatus::Failed {
            best = (status, solution.x, solution.z, solution.iterations);
        }
        if sure {
            break;
        }
    }
    best
}
