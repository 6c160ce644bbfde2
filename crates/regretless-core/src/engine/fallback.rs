//! The smooth mode: the surrogate solved for its own optimum, by a chain of solvers that never ends in silence.

use std::sync::Arc;

use crate::engine::newton;
use crate::engine::path::{self, Origin, Outcome};
use crate::engine::pieces::{self, Patience};
use crate::engine::pinv::Pseudo;
use crate::engine::reference;
use crate::engine::rows::{Piece, Softened};
use crate::engine::state::State;
use crate::engine::status::{Link, SurrogateStatus};
use crate::engine::tolerance::{REFINED, REFUSED};
use crate::engine::workspace::Workspace;
use crate::problem::RowId;

mod sparse;

pub(crate) use sparse::{Begin, Guess};

/// What a solve hands to its [`Solution`].
pub(crate) struct Solved {
    pub(crate) status: SurrogateStatus,
    pub(crate) link: Link,
    pub(crate) residual: f64,
    /// Where the next solve of this sample starts.
    pub(crate) start: Option<Arc<State>>,
    /// The state gradients use, if it is not the start.
    pub(crate) state: Option<Arc<State>>,
    /// The rows gradients use, if they are not the surrogate's.
    pub(crate) rows: Option<Arc<Softened>>,
    /// Stands in for the factor where H is singular.
    pub(crate) pseudo: Option<Arc<Pseudo>>,
}

impl Solved {
    pub(crate) fn new(status: SurrogateStatus, link: Link) -> Self {
        Self { status, link, residual: 0.0, start: None, state: None, rows: None, pseudo: None }
    }
}

/// The surrogate's own optimum.
pub(crate) fn smooth(
    rows: &Arc<Softened>,
    ws: &mut Workspace,
    theta: &[f64],
    fresh: bool,
    start: Option<Arc<State>>,
    guess: &mut Guess<'_>,
) -> Solved {
    let (mut state, warm) = ws.adopt(start, rows.n, rows.m());
    let mut solved =
        climb(rows, &mut state, ws, theta, if warm { Start::Warm { fresh } } else { Start::Cold }, guess);
    let saturated = saturated_rows(rows, &state);
    if !saturated.is_empty() || solved.status == SurrogateStatus::Unbounded {
        // A multiplier was too small for this instance: solve it with the hard rows uncapped.
        let mut uncapped = (**rows).clone();
        uncapped.uncap();
        let mut retried = state.clone();
        let start = if solved.status == SurrogateStatus::Optimal {
            // From where its rows stand at their caps, which is the beginning of what lies beyond them.
            for i in (0..rows.m()).filter(|&i| at_cap(rows, &state, i)) {
                retried.piece[i] = Piece::On;
            }
            ws.give_up_factor(&mut retried);
            Start::Warm { fresh: true }
        } else {
            Start::Cold
        };
        let again = climb(&uncapped, &mut retried, ws, theta, start, guess);
        if again.status == SurrogateStatus::Optimal {
            (state, solved) = (retried, again);
            solved.rows = Some(Arc::new(uncapped));
            solved.status = SurrogateStatus::Uncapped { rows: saturated };
        }
    }
    if fresh || solved.rows.is_some() {
        state.disown_factor();
    }
    solved.start = Some(Arc::new(state));
    solved
}

#[derive(Clone, Copy)]
enum Start {
    Cold,
    Warm { fresh: bool },
}

/// Path, then Newton, then Clarabel: the first that reaches the accuracy answers.
fn climb(
    rows: &Softened,
    state: &mut State,
    ws: &mut Workspace,
    theta: &[f64],
    start: Start,
    guess: &mut Guess<'_>,
) -> Solved {
    if rows.analysis.is_some() {
        return sparse::climb(rows, state, ws, theta, start, guess);
    }
    let unbounded = |outcome: &Outcome| matches!(outcome, Outcome::Unbounded(_));
    if is_crowded(rows, start)
        && let Some(residual) = jump(rows, state, ws, theta, start)
    {
        let ended = Ended { outcome: Outcome::Arrived, residual, link: Link::Newton };
        return finish(rows, state, ws, theta, ended);
    }
    let start = if rows.hinges.is_empty() { start } else { approach(rows, state, ws, theta, start) };
    let mut outcome = follow(rows, state, ws, theta, start);
    let mut residual = f64::INFINITY;
    if outcome == Outcome::Arrived {
        residual = ws.settle(rows, state, theta);
    }
    if residual > REFUSED && matches!(start, Start::Warm { .. }) && !unbounded(&outcome) {
        outcome = follow(rows, state, ws, theta, Start::Cold);
        residual = if outcome == Outcome::Arrived { ws.settle(rows, state, theta) } else { f64::INFINITY };
    }
    let mut link = Link::Path;
    if !unbounded(&outcome) && residual > REFUSED {
        link = Link::Newton;
        if state.x.iter().any(|x| !x.is_finite()) {
            state.x.fill(0.0);
        }
        outcome = newton::climb(rows, state, ws, theta);
        if outcome == Outcome::Arrived {
            residual = ws.settle(rows, state, theta);
        }
    }
    if !unbounded(&outcome)
        && residual > REFUSED
        && let Some(x) = reference::solve_softened(rows, theta)
    {
        link = Link::Reference;
        state.x.copy_from_slice(&x);
        outcome = newton::climb(rows, state, ws, theta);
        residual = ws.settle(rows, state, theta);
    }
    finish(rows, state, ws, theta, Ended { outcome, residual, link })
}

/// How a chain ended.
struct Ended {
    outcome: Outcome,
    residual: f64,
    link: Link,
}

/// Newton's method on pieces, from those of the state and with its factor; `None` if it does not arrive.
fn settle(
    rows: &Softened,
    state: &mut State,
    ws: &mut Workspace,
    theta: &[f64],
    fresh: bool,
    patience: Patience,
) -> Option<Ended> {
    let mut residual = pieces::settle(rows, state, ws, theta, fresh, patience)?;
    if residual > REFINED {
        residual = ws.settle(rows, state, theta);
    }
    let ended = Ended { outcome: Outcome::Arrived, residual, link: Link::Newton };
    (residual <= REFUSED).then_some(ended)
}

fn finish(rows: &Softened, state: &mut State, ws: &mut Workspace, theta: &[f64], ended: Ended) -> Solved {
    let Ended { outcome, mut residual, link } = ended;
    let status = match outcome {
        Outcome::Unbounded(_) => SurrogateStatus::Unbounded,
        _ if residual <= REFUSED => SurrogateStatus::Optimal,
        _ => SurrogateStatus::NumericalTrouble,
    };
    if state.x.iter().any(|x| !x.is_finite()) {
        state.x.fill(0.0);
    }
    if status != SurrogateStatus::Optimal {
        residual = ws.balance.measure(ws.kernel, rows, &state.x, theta).min(f64::MAX);
    }
    state.lambda.copy_from_slice(&ws.balance.lambda);
    state.z.copy_from_slice(&ws.balance.z);
    state.theta.copy_from_slice(theta);
    let mut solved = Solved::new(status, link);
    solved.residual = residual;
    if rows.analysis.is_some() {
        // A sparse factor is its own pseudo-inverse.
        if !std::mem::take(&mut state.springs).is_empty() || state.factor.is_none() {
            ws.factorise(rows, state, 0.0);
        }
    } else if state.factor.is_none() || !state.springs.is_empty() {
        solved.pseudo = Some(Arc::new(Pseudo::new(rows, state)));
        if solved.status == SurrogateStatus::Optimal {
            solved.pseudo.iter().for_each(|p| p.minimum_norm(rows, state));
        }
    }
    solved
}

/// Rows for each variable from which many change their pieces at a time: copies of predicted rows, one for each scenario.
const CROWD: usize = 20;

/// True if there are so many rows that a path would pass most of its time at their breakpoints, and no factor to begin it with.
fn is_crowded(rows: &Softened, start: Start) -> bool {
    rows.hinges.is_empty() && rows.m() >= CROWD * rows.n && !matches!(start, Start::Warm { fresh: false })
}

/// Newton's method in place of a path: its steps pass all breakpoints at once, and are few whatever the number of rows. `None`, and
/// the state as it was, where that does not end at a regular H.
fn jump(rows: &Softened, state: &mut State, ws: &mut Workspace, theta: &[f64], start: Start) -> Option<f64> {
    let (x, piece, springs) = (state.x.clone(), state.piece.clone(), state.springs.clone());
    match start {
        Start::Cold => start_point(rows, &mut state.x),
        Start::Warm { .. } => {
            if let Some(ended) = settle(rows, state, ws, theta, true, Patience::SHORT) {
                return Some(ended.residual);
            }
            state.x.copy_from_slice(&x);
        }
    }
    if newton::climb(rows, state, ws, theta) == Outcome::Arrived && state.factor.is_some() {
        let residual = ws.settle(rows, state, theta);
        if residual <= REFUSED {
            return Some(residual);
        }
    }
    ws.give_up_factor(state);
    (state.x, state.piece, state.springs) = (x, piece, springs);
    None
}

/// A path from a corner would pass every breakpoint of the rows that have many; Newton's method jumps over them. The path goes
/// on from where that arrives.
fn approach(rows: &Softened, state: &mut State, ws: &mut Workspace, theta: &[f64], start: Start) -> Start {
    if matches!(start, Start::Warm { .. }) {
        return start;
    }
    start_point(rows, &mut state.x);
    if newton::climb(rows, state, ws, theta) != Outcome::Arrived {
        return start;
    }
    state.lambda.copy_from_slice(&ws.balance.lambda);
    Start::Warm { fresh: true }
}

/// The path from where the start says.
fn follow(rows: &Softened, state: &mut State, ws: &mut Workspace, theta: &[f64], start: Start) -> Outcome {
    let limit = match rows.analysis {
        None => ws.limit(rows, PATIENCE),
        Some(_) => ws.work.breakpoints + SHORT,
    };
    let placed = state.segments.len() == rows.hinges.len();
    if matches!(start, Start::Warm { fresh: false }) && state.factor.is_some() && placed {
        return path::walk(rows, state, ws, theta, Origin::Optimum, limit);
    }
    let cold = matches!(start, Start::Cold);
    if cold {
        start_point(rows, &mut state.x);
    }
    rows.excess(ws.kernel, &state.x, &mut ws.balance.z);
    state.z.copy_from_slice(&ws.balance.z);
    let many: Vec<Piece> = rows.hinges.iter().map(|h| state.piece[h.row]).collect();
    for ((law, z), (piece, lambda)) in
        rows.laws.iter().zip(&mut state.z).zip(state.piece.iter_mut().zip(&state.lambda))
    {
        // Other rows, same pieces and multipliers: the limits are shifted to where these are optimal.
        match piece {
            _ if cold => *piece = law.piece(*z),
            _ if law.slope == 0.0 => *piece = Piece::Below,
            Piece::Below => *z = z.min(law.lo),
            Piece::Above => *z = z.max(law.hi),
            Piece::On => *z = ((lambda - law.anchor) / law.slope).clamp(law.lo, law.hi),
        }
    }
    if cold {
        rows.locate(&state.z, &mut state.segments, &mut state.piece);
    } else {
        state.segments.clear();
        for (hinges, piece) in rows.hinges.iter().zip(many) {
            let i = hinges.row;
            let (at, z) = hinges.with_multiplier(state.lambda[i], piece, state.z[i]);
            (state.z[i], state.piece[i]) = (z, at.piece());
            state.segments.push(at);
        }
    }
    if !ws.hold(rows, state) {
        return Outcome::Stalled;
    }
    path::walk(rows, state, ws, theta, Origin::Pieces, limit)
}

/// Breakpoints a path may take, in units of n + m.
const PATIENCE: usize = 20;
/// Breakpoints of a path with sparse factors: each costs some solves, and Newton's method some factorisations whatever their number.
pub(crate) const SHORT: usize = 64;

/// The corner every cold start begins at: each variable at a bound if it has one.
fn start_point(rows: &Softened, x: &mut [f64]) {
    x.fill(0.0);
    for (u, d) in rows.unit.iter().zip(&rows.d[rows.m_general..]).rev() {
        x[u.var] = u.sign * d;
    }
}

/// Hard rows whose multiplier stands at its cap: the penalty is too small for this instance.
fn saturated_rows(rows: &Softened, state: &State) -> Vec<RowId> {
    (0..rows.m()).filter(|&i| at_cap(rows, state, i)).map(|i| rows.ids[i]).collect()
}

/// True if row `i` is a hard one and its multiplier stands at a cap.
fn at_cap(rows: &Softened, state: &State, i: usize) -> bool {
    if matches!(rows.ids[i], RowId::Soft(_)) {
        return false;
    }
    match state.piece[i] {
        Piece::Above => rows.laws[i].above > 0.0,
        Piece::Below => rows.laws[i].below < 0.0,
        Piece::On => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Matrix;
    use crate::engine::hinges::Groups;
    use crate::engine::rows::Law;
    use crate::engine::state::Owner;
    use crate::problem::{Instance, Problem, Soft};

    /// A softened problem with every kind of row, from a small linear congruential sequence.
    fn random(seed: u64, uncapped: bool) -> (Softened, Vec<f64>) {
        let mut state = seed.wrapping_mul(2_862_933_555_777_941_757).wrapping_add(3_037_000_493);
        let mut next = move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1u64 << 53) as f64 - 0.5
        };
        let n = 6;
        let mut matrix = |rows: usize| Matrix::from_fn(rows, n, |_, _| next());
        let (mut c, a, b) = (matrix(4), matrix(3), matrix(1));
        if seed.is_multiple_of(3) {
            // Three of the soft rows are one.
            (0..n).for_each(|j| (c[(1, j)], c[(2, j)]) = (c[(0, j)], c[(0, j)]));
        }
        let problem = Problem::maximize(n)
            .soft("s", Soft::both(c, [0.1, -0.1, 0.2, 0.0], [0.5, 0.4, 0.3, 0.2], [0.0, 0.2, 0.0, 0.1]))
            .at_most("a", a, [0.3, 0.2, 0.4])
            .equal("b", b, [0.1])
            .lower([-1.0; 6])
            .upper([1.0; 6])
            .build()
            .unwrap();
        let view = problem.view(&Instance::default()).unwrap();
        let mut rows = Softened::new(&view, &Groups::of(&view, None));
        rows.hinges.iter_mut().for_each(|hinges| hinges.smooth(2.0));
        for i in (0..rows.m()).filter(|&i| rows.hinges_of(i).is_none()).collect::<Vec<_>>() {
            let law = match rows.ids[i] {
                RowId::Soft(k) => Law::smooth(view.alpha[k], view.under[k], 2.0),
                RowId::Equal(_) => Law::smooth(5.0, 5.0, 2.0),
                _ => Law::smooth(5.0, 0.0, 2.0),
            };
            let soft = matches!(rows.ids[i], RowId::Soft(_));
            rows.laws[i] = if uncapped && !soft { law.uncapped() } else { law };
        }
        let theta = (0..n).map(|_| next()).collect();
        (rows, theta)
    }

    /// Each link on its own lands on the same optimum; Clarabel to its own tolerance.
    #[test]
    fn the_links_agree() {
        for seed in 0..200 {
            let (rows, theta) = random(seed, seed % 2 == 0);
            let mut ws = Workspace::new(Owner::new(), rows.n, rows.m());
            let mut by_path = State::new(rows.n, rows.m());
            assert_eq!(follow(&rows, &mut by_path, &mut ws, &theta, Start::Cold), Outcome::Arrived);
            assert!(ws.settle(&rows, &mut by_path, &theta) <= 1e-10);
            let mut by_newton = State::new(rows.n, rows.m());
            assert_eq!(newton::climb(&rows, &mut by_newton, &mut ws, &theta), Outcome::Arrived);
            assert!(ws.settle(&rows, &mut by_newton, &theta) <= 1e-10);
            let by_reference = reference::solve_softened(&rows, &theta).unwrap();
            for j in 0..rows.n {
                assert!((by_path.x[j] - by_newton.x[j]).abs() < 1e-8, "newton, seed {seed}");
                assert!((by_path.x[j] - by_reference[j]).abs() < 1e-4, "reference, seed {seed}");
            }
        }
    }
}
