//! The optimum of a guessed active set, from the KKT equations themselves.
//!
//! The path keeps H = 2Q + C'ᵀWC', which squares the conditioning of the active rows. Where that is too much, the equations
//! of the active set are solved as they stand, with the multipliers as unknowns; F are the variables that no active bound
//! fixes, W the other active rows:
//!
//! ```text
//! [ 2Q_FF + δ   A_WFᵀ ] [dx]   [ θ − 2Qx − C'ᵀλ ]_F
//! [ A_WF         −δ   ] [dλ] = [ d − Ax         ]_W
//! ```
//!
//! δ only keeps the matrix regular (dependent rows, many optima); refinement against the equations without δ takes its
//! effect away. Rows that turn out violated, or whose multiplier leaves its caps, change their piece and the equations are
//! solved again: a primal-dual active-set method, which is a semismooth Newton method on the KKT conditions
//! (Hintermüller, Ito & Kunisch 2002). It is fast near an optimum and promises nothing far from one.

use std::sync::Arc;

use faer::linalg::solvers::{Lblt, Solve};
use faer::{Mat, MatMut, Side};

use crate::engine::rows::Piece;
use crate::engine::state::State;
use crate::engine::stop::Stop;
use crate::engine::tolerance::{REFINEMENT, REGULAR, WRONG_PIECE};
use crate::engine::workspace::curve;
use crate::linalg::sparse_ldl::{Analysis, SparseLdl};
use crate::solve::exact::ExactWorker;

/// How far a unit ray of an interior point may be from a row that it keeps.
const KEPT: f64 = 1e-6;
/// What one solution may leave; refinement goes on from there.
const SOLVED: f64 = 1e-12;
/// Refinements of one solution of the equations.
const REFINEMENTS: usize = 40;

/// Solves the equations of the state's active set. False if they have no finite solution.
pub(crate) fn solve(exact: &mut ExactWorker, state: &mut State) -> bool {
    exact.ws.work.newton += 1;
    let (n, m_general) = (exact.s.n, exact.s.m_general);
    let mut fixed = vec![None; n];
    for (i, u) in (m_general..).zip(&exact.s.unit) {
        if state.piece[i] == Piece::On {
            fixed[u.var] = Some(i);
            state.x[u.var] = u.sign * exact.s.d[i];
        } else {
            state.lambda[i] = exact.resting(state, i);
        }
    }
    for i in 0..m_general {
        if state.piece[i] != Piece::On {
            state.lambda[i] = exact.resting(state, i);
        }
    }
    let free: Vec<usize> = (0..n).filter(|&j| fixed[j].is_none()).collect();
    let rows: Vec<usize> = (0..m_general).filter(|&i| state.piece[i] == Piece::On).collect();
    if Stop::requested() {
        return false;
    }
    exact.ws.work.factorisations += 1;
    let Some(equations) = Equations::new(exact, &free, &rows) else { return false };
    let (at_free, at_rows, size) = equations.places(n, &free, &rows);
    let mut step = vec![0.0; size];
    let (mut last, mut kept) = (f64::INFINITY, (state.x.clone(), state.lambda.clone()));
    for _ in 0..REFINEMENTS {
        balance(exact, state, &fixed);
        let mut size = 0.0_f64;
        step.fill(0.0);
        for (&at, &j) in at_free.iter().zip(&free) {
            step[at] = exact.ws.balance.residual[j];
        }
        for (&at, &i) in at_rows.iter().zip(&rows) {
            step[at] = exact.kink(state, i) - exact.ws.balance.z[i];
        }
        for r in &step {
            size = if r.is_nan() { f64::NAN } else { size.max(r.abs()) };
        }
        let better = size < last;
        if better {
            kept.0.copy_from_slice(&state.x);
            kept.1.copy_from_slice(&state.lambda);
        }
        if !better || size == 0.0 || size > REFINEMENT * last {
            break;
        }
        last = size;
        equations.solve(&mut step);
        for (&at, &j) in at_free.iter().zip(&free) {
            state.x[j] += step[at];
        }
        for (&at, &i) in at_rows.iter().zip(&rows) {
            state.lambda[i] += step[at];
        }
    }
    (state.x, state.lambda) = kept;
    exact.ws.give_up_factor(state);
    state.springs.clear();
    balance(exact, state, &fixed);
    state.x.iter().chain(&state.lambda).all(|v| v.is_finite())
}

/// Brings the balance to the state, with the state's multipliers; what is left of it at a fixed variable is the multiplier of
/// its bound.
fn balance(exact: &mut ExactWorker, state: &mut State, fixed: &[Option<usize>]) {
    let (s, k, at) = (&exact.s, exact.ws.kernel, &mut exact.ws.balance);
    for i in fixed.iter().flatten() {
        state.lambda[*i] = 0.0;
    }
    s.excess(k, &state.x, &mut at.z);
    at.lambda.copy_from_slice(&state.lambda);
    at.weigh(k, s, &state.x, &exact.theta);
    for (r, i) in at.residual.iter().zip(fixed) {
        if let Some(i) = *i {
            state.lambda[i] = s.unit[i - s.m_general].sign * r;
        }
    }
}

/// The equations of an active set, factored.
enum Equations {
    /// Free variables, then active rows.
    Dense(Lblt<f64>),
    /// All variables, then all general rows, those that take no part decoupled.
    Sparse(SparseLdl),
}

impl Equations {
    fn new(exact: &ExactWorker, free: &[usize], rows: &[usize]) -> Option<Self> {
        match &exact.s.analysis {
            None => Some(Self::Dense(dense(exact, free, rows).lblt(Side::Lower))),
            Some(analysis) => sparse(exact, analysis, free, rows).map(Self::Sparse),
        }
    }

    /// Where free variables and active rows are in a solution, and its length.
    fn places(&self, n: usize, free: &[usize], rows: &[usize]) -> (Vec<usize>, Vec<usize>, usize) {
        match self {
            Self::Dense(_) => {
                let size = free.len() + rows.len();
                ((0..free.len()).collect(), (free.len()..size).collect(), size)
            }
            Self::Sparse(factor) => (free.to_vec(), rows.iter().map(|i| n + i).collect(), factor.size()),
        }
    }

    fn solve(&self, step: &mut [f64]) {
        match self {
            Self::Dense(factor) => {
                let size = step.len();
                factor.solve_in_place(MatMut::from_column_major_slice_mut(step, size, 1));
            }
            Self::Sparse(factor) => {
                factor.solve_to(step, SOLVED);
            }
        }
    }
}

fn sparse(
    exact: &ExactWorker,
    analysis: &Arc<Analysis>,
    free: &[usize],
    rows: &[usize],
) -> Option<SparseLdl> {
    let s = &exact.s;
    let mut k = analysis.zeros();
    curve(&mut k, s, |_| 0.0);
    let (mut active, mut fixed) = (vec![false; s.m_general], vec![true; s.n]);
    rows.iter().for_each(|&i| active[i] = true);
    free.iter().for_each(|&j| fixed[j] = false);
    for (i, active) in active.into_iter().enumerate() {
        if let Some((diagonal, entries)) = k.row(i).split_last_mut() {
            if active {
                entries.copy_from_slice(s.general.row(i).values());
            } else {
                *diagonal = -1.0;
            }
        }
    }
    k.fix(|j| fixed[j]);
    k.factor()
}

fn dense(exact: &ExactWorker, free: &[usize], rows: &[usize]) -> Mat<f64> {
    let (s, f) = (&exact.s, free.len());
    let size = f + rows.len();
    let delta = REGULAR * s.curvature.max(1.0);
    let mut matrix = Mat::zeros(size, size);
    for (a, &j) in free.iter().enumerate() {
        if let Some(two_q) = &s.two_q {
            let row = two_q.row(j).values();
            for (b, &k) in free[..=a].iter().enumerate() {
                matrix[(a, b)] = row[k];
            }
        }
        matrix[(a, a)] += delta;
    }
    for (a, &i) in (f..).zip(rows) {
        let row = s.general.row(i).values();
        for (b, &j) in free.iter().enumerate() {
            matrix[(a, b)] = row[j];
        }
        matrix[(a, a)] = -delta.min(REGULAR);
    }
    matrix
}

/// Of a sparse problem: takes out of a unit ray what is left of it on the hard rows that it keeps up to rounding, and what Q
/// sees of it.
///
/// ```text
/// min ‖r − ray‖² + σ rᵀ2Qr   over   Ar = 0 on these rows
/// ```
pub(crate) fn keep_rows(exact: &ExactWorker, ray: &mut [f64]) {
    let s = &exact.s;
    let Some(analysis) = &s.analysis else { return };
    let mut dz = vec![0.0; s.m()];
    s.apply(exact.ws.kernel, ray, &mut dz);
    let kept = |i: usize| exact.hard(i) && dz[i].abs() <= KEPT;
    let mut fixed = vec![false; s.n];
    for (i, u) in (s.m_general..).zip(&s.unit) {
        if kept(i) {
            (fixed[u.var], ray[u.var]) = (true, 0.0);
        }
    }
    let stiff = if s.curvature > 0.0 { 1.0 / (KEPT * s.curvature) } else { 0.0 };
    let mut k = analysis.zeros();
    curve(&mut k, s, |_| 0.0);
    for j in 0..s.n {
        let entries = k.variable(j);
        entries.iter_mut().for_each(|q| *q *= stiff);
        entries.iter_mut().last().into_iter().for_each(|q| *q += 1.0);
    }
    for i in 0..s.m_general {
        if let Some((diagonal, entries)) = k.row(i).split_last_mut() {
            if kept(i) {
                entries.copy_from_slice(s.general.row(i).values());
            } else {
                *diagonal = -1.0;
            }
        }
    }
    k.fix(|j| fixed[j]);
    let Some(factor) = k.factor() else { return };
    let mut step = vec![0.0; factor.size()];
    for (step, (r, fixed)) in step.iter_mut().zip(ray.iter().zip(&fixed)) {
        *step = if *fixed { 0.0 } else { *r };
    }
    factor.solve_augmented(&mut step);
    ray.copy_from_slice(&step[..s.n]);
}

/// Moves the rows that are on the wrong piece at the state's x and λ; the number of rows moved.
pub(crate) fn correct(exact: &ExactWorker, state: &mut State) -> usize {
    let (s, z) = (&exact.s, &exact.ws.balance.z);
    let far = exact.ws.kernel.largest(&state.x);
    let pull = state.lambda.iter().chain(&exact.theta).fold(0.0_f64, |m, l| m.max(l.abs()));
    let mut moved = 0;
    for i in 0..s.m() {
        let caps = exact.caps[i];
        if caps.over + caps.under <= 0.0 {
            continue;
        }
        let (out, slack) = (WRONG_PIECE * pull, WRONG_PIECE * (far * s.reach[i]).max(s.d[i].abs()));
        if let Some((at, hinges)) = s.hinges_of(i) {
            let next = hinges.exact_next(state.segments[at], (state.lambda[i], out), (z[i], slack));
            moved += usize::from(next != state.segments[at]);
            (state.segments[at], state.piece[i]) = (next, next.piece());
            continue;
        }
        let piece = match state.piece[i] {
            Piece::On if state.lambda[i] > caps.over + out => Piece::Above,
            Piece::On if state.lambda[i] < -caps.under - out => Piece::Below,
            Piece::Below if z[i] > slack => Piece::On,
            Piece::Above if z[i] < -slack => Piece::On,
            piece => piece,
        };
        moved += usize::from(piece != state.piece[i]);
        state.piece[i] = piece;
    }
    moved
}
