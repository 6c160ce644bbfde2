//! K where the problem file leaves it open: the rule of [`Sharpness`] on true parameters of training rows.

use regretless_core::{Instance, Parameters, Placement, Problem, Sharpness};

use crate::data::dataset::Dataset;
use crate::task::truth;

/// The sharpness that fits the data; `train` are the rows to look at.
pub(crate) fn sharpness(
    problem: &Problem,
    placement: &Placement,
    data: &Dataset,
    train: &[usize],
) -> Sharpness {
    let step = train.len().div_ceil(Sharpness::PROBES).max(1);
    let truth = |row: &usize| truth(problem, placement, data, *row);
    let truths: Vec<Parameters> = train.iter().step_by(step).map(truth).collect();
    let instances: Vec<Instance<'_>> = truths.iter().map(Parameters::instance).collect();
    Sharpness::fit(problem, &instances)
}
