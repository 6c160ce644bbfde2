//! From step to step: a predictor, a corrector, and more correctors while steps are short.

use super::newton::{Step, Targets};
use super::{Inner, Iterate};
use crate::engine::stop::Stop;

/// Iterations; those that arrive need 10 to 60.
const ITERATIONS: usize = 150;
/// Iterations without progress after which the best point is what there is.
const PATIENCE: usize = 12;
/// How near to the end of its range a step goes.
const NEAR: f64 = 0.995;

/// An error of this share of the one before is progress.
const LESS: f64 = 0.9;
/// Correctors after Mehrotra's: while steps are shorter than this, and each one makes them longer by so much.
const CORRECTORS: usize = 2;
const LONG: f64 = 0.9;
const LONGER: f64 = 0.02;
/// They aim at a longer step, and bring products that would be off the centre by more than this factor back to it.
const FURTHER: f64 = 0.1;
const OFF: f64 = 10.0;

impl Iterate<'_> {
    /// Iterates until the error, and that of the judge, is at most `goal` or nothing helps.
    pub(super) fn run(mut self, goal: f64, mut judge: impl FnMut(&[f64], &[f64]) -> f64) -> Option<Inner> {
        // With Q or slopes x and λ meet in one equation, and go the same way.
        let joint = self.s.two_q.is_some() || self.parts.iter().any(|p| p.soft > 0.0);
        let reach = |at: &Self, step: &Step| {
            let (primal, dual) = at.longest(step);
            if joint { (primal.min(dual), primal.min(dual)) } else { (primal, dual) }
        };
        let mut best = (f64::INFINITY, Vec::new(), Vec::new());
        let (mut mark, mut since) = (f64::INFINITY, 0);
        // The start took one.
        let mut factorisations = 1;
        for _ in 0..ITERATIONS {
            let error = self.error().max(judge(&self.x, &self.sums));
            if error < best.0 {
                best = (error, self.x.clone(), self.sums.clone());
            }
            (mark, since) = if error < LESS * mark { (error, 0) } else { (mark, since + 1) };
            if error <= goal || since > PATIENCE || !error.is_finite() || Stop::requested() {
                break;
            }
            let e = self.stiffness();
            factorisations += 1;
            let Some(factor) = self.matrix(&e).and_then(|k| k.shifted(self.shift)) else { break };
            // What would end all complementarity.
            let affine = self.step(&factor, &e, &self.centred(0.0, None));
            let (sum, pairs) = self.complementarity();
            let left = self.complementarity_after(&affine, reach(&self, &affine));
            let share = (left / sum.max(f64::MIN_POSITIVE)).clamp(0.0, 1.0);
            let centre = share.powi(3) * sum / pairs.max(1.0);
            let mut targets = self.centred(centre, Some(&affine));
            let mut step = self.step(&factor, &e, &targets);
            let mut lengths = reach(&self, &step);
            for _ in 0..CORRECTORS {
                if lengths.0.min(lengths.1) > LONG {
                    break;
                }
                let more = self.corrected(&targets, &step, lengths, centre);
                let next = self.step(&factor, &e, &more);
                let longer = reach(&self, &next);
                if longer.0 + longer.1 < lengths.0 + lengths.1 + LONGER {
                    break;
                }
                (targets, step, lengths) = (more, next, longer);
            }
            self.advance(&step, lengths);
        }
        let (error, x, lambda) = best;
        error.is_finite().then_some(Inner { x, lambda, error, factorisations })
    }

    /// E of each part.
    fn stiffness(&self) -> Vec<f64> {
        let mut e: Vec<f64> = self.parts.iter().map(|p| p.soft).collect();
        for (k, p) in self.parts.iter().enumerate() {
            if p.over.is_finite() {
                e[k] += self.above[k] / (p.over - self.lambda[k]);
            }
            if p.under.is_finite() {
                e[k] += self.below[k] / (self.lambda[k] + p.under);
            }
        }
        e
    }

    /// Σ ps once a step of these lengths (of x with s, and of λ) is made.
    fn complementarity_after(&self, step: &Step, (primal, dual): (f64, f64)) -> f64 {
        let mut sum = 0.0;
        self.products_after(step, (primal, dual), |_, _, product| sum += product);
        sum
    }

    /// The product of each pair once a step is made, with its part; true for the upper cap.
    fn products_after(
        &self,
        step: &Step,
        (primal, dual): (f64, f64),
        mut each: impl FnMut(usize, bool, f64),
    ) {
        for (k, p) in self.parts.iter().enumerate() {
            let lambda = self.lambda[k] + dual * step.lambda[k];
            if p.over.is_finite() {
                each(k, true, (p.over - lambda) * (self.above[k] + primal * step.above[k]));
            }
            if p.under.is_finite() {
                each(k, false, (lambda + p.under) * (self.below[k] + primal * step.below[k]));
            }
        }
    }

    /// Products to the centre, with what the predictor shows of the second order.
    fn centred(&self, centre: f64, affine: Option<&Step>) -> Targets {
        let none = vec![0.0; self.parts.len()];
        let mut targets = Targets { above: none.clone(), below: none };
        for (k, p) in self.parts.iter().enumerate() {
            let (up, down) =
                affine.map_or((0.0, 0.0), |a| (-a.lambda[k] * a.above[k], a.lambda[k] * a.below[k]));
            if p.over.is_finite() {
                targets.above[k] = centre - (p.over - self.lambda[k]) * self.above[k] - up;
            }
            if p.under.is_finite() {
                targets.below[k] = centre - (self.lambda[k] + p.under) * self.below[k] - down;
            }
        }
        targets
    }

    /// The targets, with products that a longer step would leave far off the centre brought back to it (Gondzio 1996).
    fn corrected(&self, of: &Targets, step: &Step, lengths: (f64, f64), centre: f64) -> Targets {
        let further = |length: f64| ((1.0 + FURTHER) * length + FURTHER).min(1.0);
        let mut targets = of.clone();
        self.products_after(step, (further(lengths.0), further(lengths.1)), |k, above, product| {
            let back = product.clamp(centre / OFF, OFF * centre) - product;
            let target = if above { &mut targets.above[k] } else { &mut targets.below[k] };
            *target += back.max(-OFF * centre);
        });
        targets
    }

    /// Makes a step, short of the end of its range.
    fn advance(&mut self, step: &Step, (primal, dual): (f64, f64)) {
        let (primal, dual) = ((NEAR * primal).min(1.0), (NEAR * dual).min(1.0));
        self.kernel.axpy(primal, &step.x, &mut self.x);
        self.kernel.axpy(primal, &step.above, &mut self.above);
        self.kernel.axpy(primal, &step.below, &mut self.below);
        self.kernel.axpy(dual, &step.lambda, &mut self.lambda);
        self.measure();
    }
}
