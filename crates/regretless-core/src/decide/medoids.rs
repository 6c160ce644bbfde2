//! Solved instances that new ones start from: spread over the predictions, so that one of them is always near.

use std::sync::Arc;

use rayon::prelude::*;

use crate::engine::state::State;
use crate::engine::tolerance::CONSTANT;
use crate::linalg::simd::Kernel;
use crate::predict::instances::Reading;
use crate::predict::placement::{Numbers, Values};
use crate::problem::Instance;
use crate::solve::batch;
use crate::solve::oracle::Oracle;

/// Predictions looked at when anchors are chosen; more would not be more different.
const SAMPLE: usize = 512;

#[derive(Debug, Default)]
pub(crate) struct Anchors {
    /// 1/standard deviation of each number.
    weights: Vec<f64>,
    /// The weighted predictions, one after the other.
    points: Vec<f64>,
    /// Their squared lengths.
    norms2: Vec<f64>,
    states: Vec<Arc<State>>,
}

impl Anchors {
    /// Picks medoids of the predictions, with what is known of their rows, and solves them.
    pub(crate) fn choose(
        oracle: &Oracle,
        reading: &Reading,
        predictions: &[Numbers<'_>],
        count: usize,
    ) -> Self {
        let finite = |row: &&Numbers<'_>| row.quantities.iter().chain(row.known).all(|v| v.is_finite());
        let rows: Vec<Numbers<'_>> = predictions.iter().filter(finite).copied().collect();
        let step = rows.len().div_ceil(SAMPLE).max(1);
        let rows: Vec<Numbers<'_>> = rows.iter().step_by(step).copied().collect();
        let mut anchors = Self { weights: weights(&rows), ..Self::default() };
        let weighted: Vec<Vec<f64>> = rows.iter().map(|row| anchors.weigh(*row)).collect();
        let chosen = medoids(&weighted, count);
        let values: Vec<Values<'_>> = chosen.iter().map(|&i| reading.values(rows[i])).collect();
        let instances: Vec<Instance<'_>> = values.iter().map(Values::instance).collect();
        let solved = batch::from(oracle, &instances, vec![None; instances.len()], |solved| solved);
        for (&i, solved) in chosen.iter().zip(solved) {
            if let Ok(solved) = solved
                && solved.answer.is_optimal()
            {
                anchors.norms2.push(Kernel::new().dot(&weighted[i], &weighted[i]));
                anchors.points.extend(&weighted[i]);
                anchors.states.push(solved.state);
            }
        }
        anchors
    }

    pub(crate) fn len(&self) -> usize {
        self.states.len()
    }

    /// The state of the nearest anchor; the first of several as near.
    pub(crate) fn nearest(&self, prediction: Numbers<'_>) -> Option<Arc<State>> {
        if self.states.len() < 2 {
            return self.states.first().cloned();
        }
        let at = self.weigh(prediction);
        // |point − at|² less |at|², which is the same for all.
        let mut along = vec![0.0; self.states.len()];
        Kernel::new().matvec(&self.points, &at, &mut along);
        let mut best = (f64::INFINITY, 0);
        for (i, (along, norm2)) in along.iter().zip(&self.norms2).enumerate() {
            let distance = norm2 - 2.0 * along;
            if distance < best.0 {
                best = (distance, i);
            }
        }
        Some(Arc::clone(&self.states[best.1]))
    }

    fn weigh(&self, row: Numbers<'_>) -> Vec<f64> {
        row.quantities.iter().chain(row.known).zip(&self.weights).map(|(v, w)| v * w).collect()
    }
}

fn weights(rows: &[Numbers<'_>]) -> Vec<f64> {
    let (quantities, known) = rows.first().map_or((0, 0), |row| (row.quantities.len(), row.known.len()));
    let count = rows.len().max(1) as f64;
    let weight = |j: usize| {
        let at = |r: &Numbers<'_>| if j < quantities { r.quantities[j] } else { r.known[j - quantities] };
        let mean = rows.iter().map(at).sum::<f64>() / count;
        let deviation = (rows.iter().map(|r| (at(r) - mean).powi(2)).sum::<f64>() / count).sqrt();
        if deviation.is_finite() && deviation > CONSTANT * mean.abs() { 1.0 / deviation } else { 0.0 }
    };
    (0..quantities + known).map(weight).collect()
}

/// Greedy choice of medoids: always the point that shortens the way from all points to their nearest chosen one most.
/// In few dimensions that spreads out; in many, where all points are as far from each other, it stays near the middle.
fn medoids(points: &[Vec<f64>], count: usize) -> Vec<usize> {
    let apart: Vec<Vec<f64>> =
        points.par_iter().map(|p| points.iter().map(|q| distance2(p, q).sqrt()).collect()).collect();
    let mut way = vec![f64::MAX; points.len()];
    let mut chosen: Vec<usize> = Vec::new();
    while chosen.len() < count.min(points.len()) {
        let total = |d: &Vec<f64>| sum(d, &way, f64::min);
        let totals: Vec<f64> = apart.par_iter().map(total).collect();
        let best = (0..totals.len()).fold(0, |best, i| if totals[i] < totals[best] { i } else { best });
        if !chosen.is_empty() && totals[best] >= way.iter().sum::<f64>() {
            break;
        }
        chosen.push(best);
        way.iter_mut().zip(&apart[best]).for_each(|(w, d)| *w = w.min(*d));
    }
    chosen
}

fn distance2(a: &[f64], b: &[f64]) -> f64 {
    sum(a, b, |a, b| (a - b) * (a - b))
}

/// Σ f(a, b) in eight lanes, so that the compiler may use the whole width of the machine.
fn sum(a: &[f64], b: &[f64], f: impl Fn(f64, f64) -> f64) -> f64 {
    let mut lanes = [0.0; 8];
    let (whole_a, rest_a) = a.as_chunks::<8>();
    let (whole_b, rest_b) = b.as_chunks::<8>();
    for (a, b) in whole_a.iter().zip(whole_b) {
        lanes.iter_mut().zip(a.iter().zip(b)).for_each(|(lane, (a, b))| *lane += f(*a, *b));
    }
    lanes.iter().sum::<f64>() + rest_a.iter().zip(rest_b).map(|(a, b)| f(*a, *b)).sum::<f64>()
}
