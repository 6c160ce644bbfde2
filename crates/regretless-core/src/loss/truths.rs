//! What the losses need of truths: the exact optima that everybody shares, and those of a surrogate of their own.

use super::{Cause, LossError, LossOptions, Side};
use crate::predict::instances::Reading;
use crate::predict::placement::{Numbers, Values};
use crate::predict::truths::{Known, Memory, Truths};
use crate::problem::{Instance, RowId};
use crate::solve::exact_solver::Exact;
use crate::surrogate::Surrogate;
use crate::surrogate::objective::Stage;

/// The truths that were lent, or new ones.
pub(super) fn lent(reading: &Reading, options: &LossOptions<'_>) -> Result<Truths, LossError> {
    let (problem, placement) = (reading.original(), reading.placement());
    match options.truths {
        None => Ok(Truths::new(problem, placement)?),
        Some(truths) if truths.fits(problem, placement) => Ok(truths.clone()),
        Some(_) => Err(LossError::Truths),
    }
}

/// The optimum of a truth, or why it has none.
pub(super) fn optimum(known: &Known) -> Result<&Exact, Cause> {
    let exact = known.as_ref().as_ref().map_err(|e| Cause::Refused(Side::Truth, e.clone()))?;
    Cause::of_status(Side::Truth, &exact.status).map_or(Ok(exact), Err)
}

/// The surrogate's optimum of a truth.
#[derive(Debug)]
pub(super) struct Smooth {
    pub(super) x: Vec<f64>,
    /// F_K(x), as a gain.
    pub(super) value: f64,
    /// Hard rows whose multipliers were too small for it, if it was solved without caps.
    pub(super) uncapped: Option<Vec<RowId>>,
}

/// Truths of a surrogate, while its multipliers and sharpness stay.
pub(super) type SmoothTruths = Memory<Result<Smooth, Cause>>;

/// Solves truths by the surrogate.
pub(super) fn smooth(
    surrogate: &Surrogate,
    reading: &Reading,
    truths: &[Numbers<'_>],
) -> Vec<Result<Smooth, Cause>> {
    let values: Vec<Values<'_>> = truths.iter().map(|truth| reading.truth(*truth)).collect();
    let instances: Vec<Instance<'_>> = values.iter().map(Values::instance).collect();
    let solved = surrogate.solve_batch(&instances).into_iter().map(|solution| {
        let solution = solution.map_err(|e| Cause::Refused(Side::Truth, e))?;
        if let Some(cause) = Cause::of_surrogate(Side::Truth, &solution.status) {
            return Err(cause);
        }
        let value = Stage::of(&solution).value(solution.x());
        Ok(Smooth { x: solution.x().to_vec(), value, uncapped: surrogate.uncapped(&solution) })
    });
    solved.collect()
}
