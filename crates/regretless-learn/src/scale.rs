//! K where the problem file leaves it open: the rule of [`Sharpness`] on true parameters of training rows.

use regretless_core::{Instance, Layout, Parameters, Problem, Sharpness};

/// The sharpness that fits the data; targets are those of all rows, `train` the ones to look at.
pub(crate) fn sharpness(problem: &Problem, layout: &Layout, targets: &[f64], train: &[usize]) -> Sharpness {
    let width = layout.width();
    let step = train.len().div_ceil(Sharpness::PROBES).max(1);
    let truth = |row: &usize| layout.parameters(problem, &targets[row * width..(row + 1) * width]);
    let truths: Vec<Parameters> = train.iter().step_by(step).map(truth).collect();
    let instances: Vec<Instance<'_>> = truths.iter().map(Parameters::instance).collect();
    Sharpness::fit(problem, &instances)
}
