//! What is said of a solve: the state as an answer in the user's units, with its accuracy and status.

use super::{Oracle, irreducible};
use crate::engine::accuracy::Accuracy;
use crate::engine::rows::Piece;
use crate::engine::state::State;
use crate::engine::status::Link;
use crate::engine::tolerance::NO_EIGENVALUE;
use crate::linalg::dense;
use crate::problem::{RowId, RowValues, View};
use crate::solve::crossover::{self, Crossed};
use crate::solve::exact::{ExactWorker, Verdict};
use crate::solve::optimum::{Optimum, Status};

impl Oracle {
    /// The state as an answer in the user's units, measured there.
    pub(super) fn answer(
        &self,
        view: &View<'_>,
        exact: &mut ExactWorker,
        state: &mut State,
        link: Link,
    ) -> Optimum {
        if state.x.iter().any(|x| !x.is_finite()) {
            state.x.fill(0.0);
        }
        let mut x = state.x.clone();
        exact.columns.multiply(&mut x);
        if !state.springs.is_empty() && exact.s.analysis.is_none() {
            minimum_norm(exact, &mut x);
            state.x.copy_from_slice(&x);
            exact.columns.divide(&mut state.x);
        }
        // A variable at its bound is there exactly.
        for (i, u) in (exact.s.m_general..).zip(&exact.s.unit) {
            if state.piece[i] == Piece::On {
                state.x[u.var] = u.sign * exact.s.d[i];
                x[u.var] = if u.sign < 0.0 { view.lower[u.var] } else { view.upper[u.var] };
            }
        }
        self.with_multipliers(view, exact, state, link, x)
    }

    /// The point x with the state's multipliers as an answer.
    pub(super) fn with_multipliers(
        &self,
        view: &View<'_>,
        exact: &mut ExactWorker,
        state: &State,
        link: Link,
        x: Vec<f64>,
    ) -> Optimum {
        let mut multipliers = RowValues::constant(view.shape, 0.0);
        // The engine's rows are in the order of the kinds.
        let RowValues { soft, at_most, equal, lower, upper } = &mut multipliers;
        let mut hard = exact.soft_multipliers(state, soft)..;
        for kind in [at_most, equal] {
            for (out, i) in kind.iter_mut().zip(&mut hard) {
                *out = exact.multiplier(state, i);
            }
        }
        for (i, u) in (exact.s.m_general..).zip(&exact.s.unit) {
            let lambda = exact.multiplier(state, i);
            // A zero-width box is one row: its negative side is the lower bound's.
            match u.sign {
                sign if sign < 0.0 => lower[u.var] = lambda,
                _ if lambda < 0.0 => lower[u.var] = -lambda,
                _ => upper[u.var] = lambda,
            }
        }
        self.measured(view, exact, state, link, x, multipliers)
    }

    /// An answer with its accuracy, and the status that follows from it.
    pub(super) fn measured(
        &self,
        view: &View<'_>,
        exact: &mut ExactWorker,
        state: &State,
        link: Link,
        x: Vec<f64>,
        multipliers: RowValues,
    ) -> Optimum {
        let (accuracy, objective) = exact.gauge.measure(view, &x, &multipliers, self.penalties.as_deref());
        let right = accuracy.within(&self.tolerances);
        let mut active = Vec::with_capacity(state.on());
        for i in (0..exact.s.m()).rev().filter(|&i| state.piece[i] == Piece::On) {
            match exact.s.hinges_of(i) {
                Some((at, hinges)) => active.extend(hinges.at_kink(state.segments[at]).map(RowId::Soft)),
                None => active.push(exact.s.ids[i]),
            }
        }
        Optimum {
            status: if right { Status::Optimal } else { Status::NumericalTrouble },
            active,
            x,
            objective,
            multipliers,
            accuracy,
            rank_deficient: !state.springs.is_empty(),
            link,
            work: exact.ws.work,
        }
    }

    /// What is said of an instance that was proved to have no optimum.
    pub(super) fn without_optimum(
        &self,
        view: &View<'_>,
        exact: &mut ExactWorker,
        state: &mut State,
        proof: Verdict,
        link: Link,
    ) -> Optimum {
        let sign = self.problem.sign();
        let named =
            |exact: &ExactWorker, rows: Vec<usize>| rows.into_iter().map(|i| exact.s.ids[i]).collect();
        let (infeasible, mut ray) = match proof {
            Verdict::Infeasible(rows) if exact.s.analysis.is_some() => {
                (Some(irreducible::irreducible(exact, rows)), Vec::new())
            }
            Verdict::Infeasible(rows) => (Some(exact.irreducible(rows)), Vec::new()),
            // An unbounded objective means nothing if there is no feasible point.
            Verdict::Unbounded(ray) => (self.infeasible_rows(view, exact), ray),
            Verdict::Optimal | Verdict::Stalled => (self.infeasible_rows(view, exact), Vec::new()),
        };
        exact.columns.multiply(&mut ray);
        let (status, objective) = match infeasible {
            Some(rows) => (Status::Infeasible { rows: named(exact, rows) }, -sign * f64::INFINITY),
            None => (Status::Unbounded { ray }, sign * f64::INFINITY),
        };
        if state.x.iter().any(|x| !x.is_finite()) {
            state.x.fill(0.0);
        }
        let mut x = state.x.clone();
        exact.columns.multiply(&mut x);
        Optimum {
            status,
            x,
            objective,
            multipliers: RowValues::constant(view.shape, 0.0),
            active: Vec::new(),
            accuracy: Accuracy::NONE,
            rank_deficient: false,
            link,
            work: exact.ws.work,
        }
    }

    /// Rows without a feasible point, asked for with θ = 0; `None` if there is one.
    fn infeasible_rows(&self, view: &View<'_>, exact: &mut ExactWorker) -> Option<Vec<usize>> {
        exact.theta.fill(0.0);
        if exact.s.analysis.is_some() {
            let all: Vec<usize> = (0..exact.s.m()).collect();
            let rows = irreducible::infeasible_among(exact, &all);
            exact.set_gain(view);
            return rows.map(|rows| irreducible::irreducible(exact, rows));
        }
        let mut state = State::new(exact.s.n, exact.s.m());
        let mut verdict = exact.solve(&mut state, false);
        if verdict == Verdict::Stalled && self.penalties.is_none() {
            let rest = vec![0.0; view.shape.n];
            let at_rest = view.with_theta(&rest);
            if let Crossed::Proved(proof) = crossover::ask(&at_rest, exact, &mut state) {
                verdict = proof;
            }
        }
        exact.set_gain(view);
        match verdict {
            Verdict::Infeasible(rows) => Some(exact.irreducible(rows)),
            _ => None,
        }
    }
}

/// Takes out of x what no row and no Q sees.
fn minimum_norm(exact: &ExactWorker, x: &mut [f64]) {
    let (s, n) = (&exact.s, exact.s.n);
    let mut gram = s.two_q.as_ref().map_or_else(|| vec![0.0; n * n], |q| q.view().dense().into_owned());
    for (row, i) in gram.chunks_exact_mut(n).zip(0..) {
        exact.columns.divide(row);
        row.iter_mut().for_each(|q| *q /= exact.columns.get(i));
    }
    let mut row = vec![0.0; n];
    for i in 0..s.m() {
        s.write_row(i, &mut row);
        exact.columns.divide(&mut row);
        for (a, out) in row.iter().zip(gram.chunks_exact_mut(n)) {
            exact.ws.kernel.axpy(*a, &row, out);
        }
    }
    let Some((values, vectors)) = dense::eigen(&gram, n) else { return };
    let largest = values.last().copied().unwrap_or(0.0);
    for (i, value) in values.iter().enumerate() {
        if *value <= NO_EIGENVALUE * largest {
            let along = exact.ws.kernel.dot(vectors.row(i), x);
            exact.ws.kernel.axpy(-along, vectors.row(i), x);
        }
    }
}
