//! The chain for sparse rows.

use super::{Ended, Solved, Start, finish, follow, settle, start_point};
use crate::engine::capped;
use crate::engine::interior_point;
use crate::engine::newton;
use crate::engine::path::Outcome;
use crate::engine::pieces::Patience;
use crate::engine::pivot::gains_along;
use crate::engine::reference::{self, ReferenceStatus, TIGHT};
use crate::engine::rows::Softened;
use crate::engine::state::State;
use crate::engine::status::Link;
use crate::engine::tolerance::REFUSED;
use crate::engine::workspace::{Work, Workspace};

/// The error of an interior point from which Newton's method needs a step or two.
const INNER: f64 = 1e-10;
/// That of one which a vertex is found from.
const CROSSED: f64 = 1e-7;
/// That of one that did not arrive.
const NEAR: f64 = 1e-4;

/// Where a guess begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Begin {
    /// At an optimum that has moved.
    Saved,
    /// Near the optimum, with pieces that an interior point does not tell.
    Interior,
}

/// A point near the optimum of linear rows, its pieces and their factor, from a state; false, with the state as it was, if nobody
/// knows.
pub(crate) type Guess<'a> = dyn FnMut(&Softened, &mut State, Begin, &mut Work) -> bool + 'a;

/// Sparse rows: a short path, then Newton's method from the saved pieces; from nothing an interior point and Newton's method from
/// there.
pub(super) fn climb(
    rows: &Softened,
    state: &mut State,
    ws: &mut Workspace,
    theta: &[f64],
    start: Start,
    guess: &mut Guess<'_>,
) -> Solved {
    let mut ended = Ended { outcome: Outcome::Stalled, residual: f64::INFINITY, link: Link::Newton };
    let linear = rows.two_q.is_none() && rows.hinges.is_empty();
    if let Start::Warm { fresh } = start {
        let saved = state.light();
        // What has hardly moved stays on its pieces.
        if !fresh && linear && state.factor.is_some() {
            if let Some(ended) = settle(rows, state, ws, theta, false, Patience::AT_HAND) {
                return finish(rows, state, ws, theta, ended);
            }
            *state = saved.light();
        }
        if linear && guess(rows, state, Begin::Saved, &mut ws.work) {
            if let Some(ended) = settle(rows, state, ws, theta, false, Patience::LONG) {
                return finish(rows, state, ws, theta, ended);
            }
            *state = saved.light();
        }
        let outcome = follow(rows, state, ws, theta, start);
        if outcome == Outcome::Arrived {
            ended = Ended { outcome, residual: ws.settle(rows, state, theta), link: Link::Path };
        } else if let Outcome::Unbounded(_) = outcome {
            return finish(rows, state, ws, theta, Ended { outcome, ..ended });
        }
        if ended.residual <= REFUSED {
            return finish(rows, state, ws, theta, ended);
        }
        *state = saved;
        ended = Ended { outcome: Outcome::Stalled, residual: f64::INFINITY, link: Link::Newton };
        if let Some(ended) = settle(rows, state, ws, theta, fresh, Patience::LONG) {
            return finish(rows, state, ws, theta, ended);
        }
    }
    let inner = |goal: f64, work: &mut Work| {
        let inner = interior_point::smooth(rows, theta, goal)?;
        work.factorisations += inner.factorisations;
        Some(inner).filter(|inner| inner.error <= NEAR)
    };
    if linear && let Some(inner) = inner(CROSSED, &mut ws.work) {
        let empty = State::new(rows.n, rows.m());
        let before = std::mem::replace(state, empty);
        state.x.copy_from_slice(&inner.x);
        state.lambda.copy_from_slice(&inner.lambda);
        if guess(rows, state, Begin::Interior, &mut ws.work)
            && let Some(ended) = settle(rows, state, ws, theta, false, Patience::LONG)
        {
            return finish(rows, state, ws, theta, Ended { link: Link::Interior, ..ended });
        }
        *state = before;
    }
    let inner = inner(INNER, &mut ws.work);
    if inner.is_none() {
        // Without the ramps the same rays are free: Clarabel finds one, and here it is proved.
        let law = |i: usize| (rows.laws[i].above, -rows.laws[i].below);
        let answer = capped::solve(rows, theta, law, TIGHT[0]);
        if answer.status == ReferenceStatus::Unbounded {
            let length = ws.kernel.dot(&answer.x, &answer.x).sqrt();
            let ray: Vec<f64> = answer.x.iter().map(|x| x / length).collect();
            if gains_along(rows, ws.kernel, theta, &ray) {
                state.x.iter_mut().filter(|x| !x.is_finite()).for_each(|x| *x = 0.0);
                ended = Ended { outcome: Outcome::Unbounded(ray), link: Link::Reference, ..ended };
                return finish(rows, state, ws, theta, ended);
            }
        }
    }
    let started = match inner {
        Some(inner) => Some((Link::Interior, inner.x)),
        None => reference::solve_softened(rows, theta).map(|x| (Link::Reference, x)),
    };
    match started {
        Some((link, x)) => {
            ended.link = link;
            state.x.copy_from_slice(&x);
        }
        None if matches!(start, Start::Cold) || state.x.iter().any(|x| !x.is_finite()) => {
            start_point(rows, &mut state.x);
        }
        None => {}
    }
    ended.outcome = newton::climb(rows, state, ws, theta);
    if ended.outcome == Outcome::Arrived {
        ended.residual = ws.settle(rows, state, theta);
    }
    finish(rows, state, ws, theta, ended)
}
