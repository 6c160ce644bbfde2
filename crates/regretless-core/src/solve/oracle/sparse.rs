//! Exact solves with sparse factors.
//!
//! Warm: from vertex to vertex, a short path from the last solve, then Newton steps on its active set. Cold: an interior point gives the active set, Newton steps make its
//! answer exact, and where they do not arrive the interior point's own answer is measured like any other. What is said of an
//! answer, and what proves that there is none, is the same as with dense factors.

use super::{Best, NEWTON_STEPS, Oracle, irreducible};
use crate::engine::capped::{self, Answer};
use crate::engine::interior_point::{self, Inner};
use crate::engine::pivot::gains_along;
use crate::engine::reference::{ReferenceStatus, TIGHT};
use crate::engine::rows::Law;
use crate::engine::state::State;
use crate::engine::status::Link;
use crate::engine::stop::{Progress, Stop};
use crate::problem::{Tolerances, View};
use crate::solve::active_set;
use crate::solve::crossover;
use crate::solve::exact::{ExactWorker, Verdict};
use crate::solve::optimum::Optimum;

/// An interior point that got no nearer has no answer.
const NEAR: f64 = 1e-3;
/// The relative error at which an interior point is near enough.
const INNER: f64 = 1e-11;
/// The figures of an answer that is near enough are so many times larger.
const JUDGED: f64 = 1e-2;

impl Oracle {
    pub(super) fn sparse_chain(
        &self,
        view: &View<'_>,
        exact: &mut ExactWorker,
        state: &mut State,
        warm: bool,
    ) -> Optimum {
        // What has not moved is where it was; the measurement is made all the same.
        if warm && state.factor.is_some() && state.theta == exact.theta {
            let optimum = self.answer(view, exact, state, Link::Path);
            if optimum.is_optimal() {
                return optimum;
            }
        }
        let mut best = Best { tolerances: self.tolerances, found: None };
        if warm && exact.follow_vertices(state) {
            let optimum = self.answer(view, exact, state, Link::Path);
            if optimum.is_optimal() {
                return optimum;
            }
            best.offer(optimum, state);
        }
        if warm {
            let saved = state.light();
            match exact.solve(state, true) {
                Verdict::Stalled => {}
                Verdict::Optimal => {
                    let optimum = self.answer(view, exact, state, Link::Path);
                    if optimum.is_optimal() {
                        state.theta.copy_from_slice(&exact.theta);
                        return optimum;
                    }
                    best.offer(optimum, state);
                }
                proof => return self.without_optimum(view, exact, state, proof, Link::Path),
            }
            *state = saved;
            if state.segments.len() != exact.s.hinges.len() {
                let each = exact.s.hinges.iter();
                state.segments =
                    each.map(|h| h.exact_with(state.lambda[h.row], state.piece[h.row])).collect();
                exact.set_pieces(state);
            }
            if self.polish(view, exact, state, Link::Newton, &mut best) {
                return best.take(state);
            }
        }
        let inner = self.interior_point(view, exact);
        if let Some(Inner { x, lambda, .. }) = inner.filter(|inner| inner.error <= NEAR)
            && self.crossed(view, exact, state, (Link::Interior, x, lambda), &mut best)
        {
            return best.take(state);
        }
        for &effort in TIGHT {
            let Answer { status, x, lambda } =
                capped::solve(&exact.s, &exact.theta, |i| caps(exact, i), effort);
            let proof = match status {
                ReferenceStatus::Solved => {
                    if self.crossed(view, exact, state, (Link::Reference, x, lambda), &mut best) {
                        return best.take(state);
                    }
                    None
                }
                ReferenceStatus::Infeasible => irreducible::proved(exact, &lambda).map(Verdict::Infeasible),
                ReferenceStatus::Unbounded => proved_ray(exact, x).map(Verdict::Unbounded),
                ReferenceStatus::Failed => None,
            };
            if let Some(proof) = proof {
                return self.without_optimum(view, exact, state, proof, Link::Reference);
            }
        }
        if best.found.is_none() {
            best.offer(self.answer(view, exact, state, Link::Interior), state);
        }
        best.take(state)
    }

    /// Newton steps on the active set from the state, until no row changes its piece: an answer may keep the tolerances before
    /// that, and be some digits off all the same. True if the best answer keeps them.
    fn polish(
        &self,
        view: &View<'_>,
        exact: &mut ExactWorker,
        state: &mut State,
        link: Link,
        best: &mut Best,
    ) -> bool {
        let (mut right, mut last, mut worse) = (false, usize::MAX, 0);
        for _ in 0..NEWTON_STEPS {
            if !active_set::solve(exact, state) {
                break;
            }
            right = best.offer(self.answer(view, exact, state, link), state);
            let moved = active_set::correct(exact, state);
            worse += usize::from(moved >= last);
            if moved == 0 || worse > 1 {
                break;
            }
            last = moved;
        }
        right
    }

    /// An interior point that goes on until its answer, measured like any other, is well within what is asked for.
    fn interior_point(&self, view: &View<'_>, exact: &mut ExactWorker) -> Option<Inner> {
        let caps: Vec<(f64, f64)> = (0..exact.s.m()).map(|i| caps(exact, i)).collect();
        let (rows, theta) = (exact.s.clone(), exact.theta.clone());
        let mut trial = State::new(rows.n, rows.m());
        let mut iterations = 0;
        let judge = |x: &[f64], lambda: &[f64]| {
            if !rows.hinges.is_empty() {
                return 0.0;
            }
            trial.lambda.copy_from_slice(lambda);
            let own = self.own_answer(view, exact, &mut trial, Link::Interior, x);
            Stop::report(&Progress { link: Link::Interior, iterations, accuracy: Some(own.accuracy) });
            iterations += 1;
            JUDGED * own.accuracy.excess(&Tolerances::all(1.0))
        };
        let inner = interior_point::exact(&rows, &theta, |i| caps[i], INNER, judge);
        exact.ws.work.factorisations += inner.as_ref().map_or(0, |inner| inner.factorisations);
        inner
    }

    /// The point x with the state's multipliers, where bounds take up what is left of stationarity.
    fn own_answer(
        &self,
        view: &View<'_>,
        exact: &mut ExactWorker,
        state: &mut State,
        link: Link,
        x: &[f64],
    ) -> Optimum {
        let s = &exact.s;
        let mut left = vec![0.0; s.n];
        s.force(exact.ws.kernel, x, &state.lambda, &mut left);
        left.iter_mut().zip(&exact.theta).for_each(|(r, t)| *r = t - *r);
        // Less on one bound, or more on the other.
        for (i, u) in (s.m_general..).zip(&s.unit) {
            let (wanted, lambda) = (u.sign * left[u.var], &mut state.lambda[i]);
            let next = (*lambda + wanted).clamp(-exact.caps[i].under, exact.caps[i].over);
            left[u.var] -= u.sign * (next - *lambda);
            *lambda = next;
        }
        let mut x = x.to_vec();
        exact.columns.multiply(&mut x);
        self.with_multipliers(view, exact, state, link, x)
    }

    /// Newton steps on the active set of an interior point, and its own answer; true if the best keeps the tolerances.
    fn crossed(
        &self,
        view: &View<'_>,
        exact: &mut ExactWorker,
        state: &mut State,
        (link, x, lambda): (Link, Vec<f64>, Vec<f64>),
        best: &mut Best,
    ) -> bool {
        state.x.copy_from_slice(&x);
        crossover::read(exact, state, &lambda);
        let mut interior = state.clone();
        let own = self.own_answer(view, exact, &mut interior, link, &x);
        self.polish(view, exact, state, link, best) || best.offer(own, &interior)
    }
}

fn caps(exact: &ExactWorker, i: usize) -> (f64, f64) {
    (exact.caps[i].over, exact.caps[i].under)
}

/// A direction as a unit ray along which the objective gains, if it is one. The rows that it keeps are taken out of it first:
/// an interior point keeps them to a few digits only.
fn proved_ray(exact: &mut ExactWorker, mut ray: Vec<f64>) -> Option<Vec<f64>> {
    let kernel = exact.ws.kernel;
    for i in 0..exact.s.m() {
        let (over, under) = caps(exact, i);
        exact.s.laws[i] = Law::exact(over, under, 0.0, 1.0);
    }
    // What rows with many breakpoints cost along a ray is added to that of laws.
    for hinges in &exact.s.hinges {
        exact.s.laws[hinges.row] = Law::IDLE;
    }
    let unit = |ray: &mut [f64]| {
        let length = kernel.dot(ray, ray).sqrt();
        ray.iter_mut().for_each(|x| *x /= length);
    };
    unit(&mut ray);
    active_set::keep_rows(exact, &mut ray);
    unit(&mut ray);
    gains_along(&exact.s, kernel, &exact.theta, &ray).then_some(ray)
}
