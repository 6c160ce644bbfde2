//! What a surrogate solve returns.

use std::sync::{Arc, OnceLock};

use crate::engine::accuracy::{self, Accuracy};
use crate::engine::fallback::Solved;
use crate::engine::pinv::Pseudo;
use crate::engine::rows::{Piece, Softened};
use crate::engine::state::State;
use crate::engine::status::{Link, SurrogateStatus};
use crate::engine::workspace::Work;
use crate::problem::{Problem, RowId, Shape, View};
use crate::surrogate::Surrogate;
use crate::surrogate::interior::Interior;

/// The optimum of a surrogate, with the factor its gradients need.
#[derive(Clone, Debug)]
pub struct Solution {
    /// How the solve ended.
    pub status: SurrogateStatus,
    /// Objective of the *original* problem at x, in the problem's own sense.
    pub objective: f64,
    /// Stationarity residual over the size of its terms.
    pub residual: f64,
    /// Who answered.
    pub link: Link,
    /// What it took.
    pub work: Work,
    pub(crate) problem: Problem,
    pub(crate) rows: Arc<Softened>,
    pub(crate) state: Arc<State>,
    pub(crate) pseudo: Option<Arc<Pseudo>>,
    /// Sharpness of each engine row.
    pub(crate) sharpness: Arc<Vec<f64>>,
    /// Relative gap of smoothed gradients; 0 for the derivative itself.
    smoothing: f64,
    interior: OnceLock<Option<Box<Interior>>>,
    start: Arc<State>,
}

impl Solution {
    pub(crate) fn new(
        surrogate: &Surrogate,
        view: &View<'_>,
        rows: Arc<Softened>,
        solved: Solved,
        work: Work,
    ) -> Self {
        let start = solved.start.unwrap_or_default();
        let state = solved.state.unwrap_or_else(|| Arc::clone(&start));
        Self {
            status: solved.status,
            objective: rows.objective(view, &state.x, &state.z),
            residual: solved.residual,
            link: solved.link,
            work,
            problem: surrogate.problem().clone(),
            sharpness: surrogate.sharpness_of(&rows),
            rows: solved.rows.unwrap_or(rows),
            state,
            pseudo: solved.pseudo,
            smoothing: surrogate.smoothing(),
            interior: OnceLock::new(),
            start,
        }
    }

    /// The point.
    pub fn x(&self) -> &[f64] {
        &self.state.x
    }

    /// True if the status is [`SurrogateStatus::Optimal`] or [`SurrogateStatus::Uncapped`].
    pub fn is_optimal(&self) -> bool {
        matches!(self.status, SurrogateStatus::Optimal | SurrogateStatus::Uncapped { .. })
    }

    /// How right the point is for the problem without smoothing, hard rows at their penalties: `gap` bounds how far it is from
    /// the exact optimum, `primal` is the violation of hard rows, `dual` the residual of stationarity. All as
    /// [`Accuracy`] says; computed when asked for.
    pub fn accuracy(&self) -> Accuracy {
        accuracy::of_surrogate(&self.rows, &self.state.x, &self.state.theta, self.objective)
    }

    /// True if H is singular here: gradients are then the minimum-norm ones.
    pub fn is_singular(&self) -> bool {
        self.pseudo.is_some()
    }

    /// The piece of every row that has one; rows without a price and absent bounds have none.
    pub fn pieces(&self) -> impl Iterator<Item = (RowId, Piece)> + '_ {
        let priced = self.rows.laws.iter().map(|l| l.slope > 0.0);
        let rows = self.rows.ids.iter().zip(&self.state.piece).zip(priced);
        let rows = rows.filter(|(_, priced)| *priced).map(|((id, piece), _)| (*id, *piece));
        let many = self.rows.hinges.iter().zip(&self.state.segments).flat_map(|(hinges, at)| {
            let priced = hinges.each().filter(|hinge| hinge.over + hinge.under > 0.0);
            priced.map(|hinge| (RowId::Soft(hinge.soft), at.piece_of(hinge.rank)))
        });
        rows.chain(many)
    }

    /// What smoothed gradients need, made when the first one is asked for; `None` where gradients are derivatives. Where the
    /// optimum is nowhere there is no gap to measure.
    pub(crate) fn interior(&self) -> Option<&Interior> {
        if self.smoothing == 0.0 || self.status == SurrogateStatus::Unbounded {
            return None;
        }
        self.interior.get_or_init(|| Interior::of(self, self.smoothing)).as_deref()
    }

    pub(crate) fn shape(&self) -> Shape {
        self.problem.shape()
    }

    pub(crate) fn start(&self) -> &Arc<State> {
        &self.start
    }
}
