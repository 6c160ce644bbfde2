//! What a training step descends: a decision loss, alone or mixed with L2.

use std::collections::BTreeSet;

use crate::settings::{Mix, Sharpness};
use regretless_core::loss::{LossTrouble, LossWork};
use regretless_core::{Batch, DecisionLoss, LossOptions, Losses, Method, RowId, Scenarios, build_loss, mix};

use crate::error::LearnError;
use crate::select::recipe::Recipe;
use crate::task::Task;

/// The losses of a run and how they are combined epoch by epoch.
pub struct Objective {
    /// The method's loss.
    pub main: Box<dyn DecisionLoss>,
    /// The prediction loss that is mixed in and warms up.
    pub l2: Box<dyn DecisionLoss>,
    /// Weight of L2; `None` for the method alone.
    pub mix: Option<Mix>,
    /// How many times the batch's median an instance's gradient may be.
    pub bound: f64,
    /// Epochs of L2 alone before the method.
    pub warmup: usize,
    /// K by epoch, counted from the end of the warm-up.
    pub sharpness: Sharpness,
}

/// What one batch gave.
#[derive(Debug, Default)]
pub struct Step {
    /// Sum of the method's losses over the instances that have one, each as often as it counts.
    pub value: f64,
    /// How much they count.
    pub known: f64,
    /// Gradient of the mean over the batch, with respect to the predictor's outputs.
    pub gradient: Vec<f32>,
    /// Instances whose gradient is zero.
    pub zeros: usize,
    /// Instances without a loss.
    pub troubles: Vec<LossTrouble>,
    /// Hard rows whose multiplier was too small.
    pub uncapped: BTreeSet<RowId>,
    /// What the engine did.
    pub work: LossWork,
}

impl Objective {
    /// The sharpness used in an epoch.
    pub fn k(&self, epoch: usize) -> f64 {
        self.sharpness.at(epoch.saturating_sub(self.warmup))
    }

    /// The weight of L2 in an epoch.
    pub fn weight(&self, epoch: usize) -> f64 {
        if epoch < self.warmup {
            return 1.0;
        }
        self.mix.map_or(0.0, |mix| mix.at(epoch - self.warmup))
    }

    /// The second derivative of an instance's loss in each of its outputs: that of L2, the mean of squares of standardised errors, and
    /// of what is mixed with it, which has its length. Other losses have none.
    pub(crate) fn curvature(&self, epoch: usize, width: usize) -> Option<f64> {
        let squares = self.weight(epoch) > 0.0 || self.main.method() == Method::L2;
        squares.then(|| 2.0 / width as f64)
    }

    /// Prepares the losses for an epoch.
    pub fn start(&mut self, epoch: usize) -> Result<(), LearnError> {
        let k = self.k(epoch);
        self.main.set_k(k)?;
        Ok(())
    }

    /// Values and gradients of a batch. `slopes`, the derivatives of predictions by outputs, take gradients from the
    /// parameters' units to the outputs'; `weights` say how much each instance counts, 1 on average.
    ///
    /// Mixed with L2 as [`mix`] says. `aside` is what L2 sees, with slopes of its own, where that is another scale.
    pub fn step(
        &mut self,
        batch: &Batch<'_>,
        slopes: &[f64],
        aside: Option<(Batch<'_>, &[f64])>,
        weights: &[f64],
        epoch: usize,
    ) -> Result<Step, LearnError> {
        let weight = self.weight(epoch);
        let rows = batch.ids.len();
        let width = (slopes.len() / rows.max(1)).max(1);
        let mut step = Step::default();
        let mut gradient = vec![0.0; slopes.len()];
        if weight < 1.0 {
            let losses = self.main.evaluate(batch)?;
            gradient = outputs(&losses, slopes);
            step.zeros = gradient.chunks_exact(width).filter(|g| norm(g) == 0.0).count();
            bound(&mut gradient, width, self.bound);
            weigh(&mut gradient, width, weights);
            (step.value, step.known) = known(&losses, weights);
            step.troubles = losses.troubles;
            step.uncapped = losses.uncapped;
            step.work = losses.work;
        }
        if weight > 0.0 {
            let (batch, slopes) = aside.as_ref().map_or((batch, slopes), |(batch, slopes)| (batch, slopes));
            let losses = self.l2.evaluate(batch)?;
            let mut plain = outputs(&losses, slopes);
            if plain.len() < gradient.len() {
                // Squared errors say nothing of what stands behind the quantities of each row.
                let own = plain.len() / rows;
                let none = vec![0.0; width - own];
                plain = plain.chunks_exact(own).flat_map(|own| own.iter().chain(&none)).copied().collect();
            }
            weigh(&mut plain, width, weights);
            mix(&mut gradient, &plain, weight);
            if weight >= 1.0 {
                (step.value, step.known) = known(&losses, weights);
                step.troubles = losses.troubles;
                step.zeros = plain.chunks_exact(width).filter(|g| norm(g) == 0.0).count();
            }
        }
        step.gradient = gradient.iter().map(|g| (g / rows as f64) as f32).collect();
        Ok(step)
    }
}

/// The losses of a recipe; `units` are those in which losses of the forecast measure each entry, the second those of L2 beside them.
pub(crate) fn objective(
    task: &Task,
    recipe: &Recipe,
    method: Method,
    [units, aside]: [Vec<f64>; 2],
    scenarios: Option<Scenarios>,
) -> Result<Objective, LearnError> {
    let training = &recipe.training;
    let options = LossOptions {
        k: recipe.k.at(0),
        k_rows: task.sharpness().map(|s| s.rows.clone()),
        smoothing: task.settings().surrogate.options.smoothing,
        ridge: training.ridge,
        over: training.weights.over,
        under: training.weights.under,
        multipliers: if method.uses_surrogate() { Some(task.multipliers()?) } else { None },
        scale: Some(units),
        scenarios,
        truths: Some(task.truths()),
        ..LossOptions::default()
    };
    let plain = LossOptions { scale: Some(aside), ..LossOptions::default() };
    Ok(Objective {
        main: build_loss(method, task.problem(), task.placement(), &options)?,
        l2: build_loss(Method::L2, task.problem(), task.placement(), &plain)?,
        mix: recipe.mixed.then_some(training.mix),
        bound: training.bound,
        warmup: training.warmup.epochs(),
        sharpness: recipe.k.clone(),
    })
}

/// Gradients with respect to the outputs, by the chain rule.
fn outputs(losses: &Losses, slopes: &[f64]) -> Vec<f64> {
    losses.gradients.iter().zip(slopes).map(|(g, s)| g * s).collect()
}

/// Every instance's gradient as often as it counts.
fn weigh(gradient: &mut [f64], width: usize, weights: &[f64]) {
    for (row, weight) in gradient.chunks_exact_mut(width).zip(weights) {
        row.iter_mut().for_each(|g| *g *= weight);
    }
}

/// Sum of the losses that there are, each as often as it counts, and how much they count.
fn known(losses: &Losses, weights: &[f64]) -> (f64, f64) {
    let there = losses.values.iter().zip(weights).filter(|(value, _)| value.is_finite());
    there.fold((0.0, 0.0), |(sum, count), (value, weight)| (sum + weight * value, count + weight))
}

/// Below this share of the batch's longest a gradient is rounding.
const ROUNDING: f64 = 1e-9;

/// Shortens gradients that are far longer than the batch's median. The derivative of a decision can be huge where H is
/// nearly singular, and one such instance would otherwise decide the step for all. Instances whose gradient is rounding
/// (SPO+ where the decision is right, say) are no measure of the others.
fn bound(gradient: &mut [f64], width: usize, largest: f64) {
    let mut lengths: Vec<f64> = gradient.chunks_exact(width).map(norm).collect();
    let longest = lengths.iter().fold(0.0, |m: f64, l| m.max(*l));
    lengths.retain(|l| *l > ROUNDING * longest);
    if lengths.is_empty() || largest.is_infinite() {
        return;
    }
    let middle = lengths.len() / 2;
    let (_, median, _) = lengths.select_nth_unstable_by(middle, f64::total_cmp);
    let most = largest * *median;
    for row in gradient.chunks_exact_mut(width) {
        let length = norm(row);
        if length > most {
            row.iter_mut().for_each(|g| *g *= most / length);
        }
    }
}

fn norm(values: &[f64]) -> f64 {
    values.iter().map(|v| v * v).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_instance_does_not_decide_for_all() {
        let mut gradient = vec![1.0, 0.0, 0.0, 1.0, 300.0, 400.0];
        bound(&mut gradient, 2, f64::INFINITY);
        assert_eq!(gradient[4], 300.0);
        bound(&mut gradient, 2, 10.0);
        assert_eq!(gradient, [1.0, 0.0, 0.0, 1.0, 6.0, 8.0]);
    }

    #[test]
    fn rounding_is_no_measure() {
        let mut gradient = vec![1e-15, 0.0, 0.0, 2e-16, 0.0, 0.0, 3.0, 4.0];
        bound(&mut gradient, 2, 10.0);
        assert_eq!(gradient[6..], [3.0, 4.0]);
    }
}
