//! Solved instances that new ones start from: spread over the predictions, so that one of them is always near.

use std::sync::Arc;

use crate::layout::Values;
use crate::oracle::Oracle;
use crate::problem::Instance;
use crate::reading::Reading;
use crate::workspace::State;

/// Predictions looked at when anchors are chosen; more would not be more different.
const SAMPLE: usize = 2048;

#[derive(Debug, Default)]
pub(crate) struct Anchors {
    /// 1/standard deviation of each entry.
    weights: Vec<f64>,
    /// The weighted predictions, one after the other.
    points: Vec<f64>,
    states: Vec<Arc<State>>,
}

impl Anchors {
    /// Farthest-point choice: first the prediction nearest to the mean, then always the one farthest from all chosen.
    pub(crate) fn choose(oracle: &Oracle, reading: &Reading, predictions: &[f64], count: usize) -> Self {
        let width = reading.width();
        let finite = |row: &&[f64]| row.iter().all(|v| v.is_finite());
        let rows: Vec<&[f64]> = predictions.chunks_exact(width).filter(finite).collect();
        let rows: Vec<&[f64]> = rows.iter().step_by(rows.len().div_ceil(SAMPLE).max(1)).copied().collect();
        let mut anchors = Self { weights: weights(&rows, width), ..Self::default() };
        let weighted: Vec<Vec<f64>> = rows.iter().map(|row| anchors.weigh(row)).collect();
        let chosen = farthest(&weighted, width, count);
        let values: Vec<Values<'_>> = chosen.iter().map(|&i| reading.values(rows[i])).collect();
        let instances: Vec<Instance<'_>> = values.iter().map(Values::instance).collect();
        let solved = oracle.solve_batch_from(&instances, vec![None; instances.len()]);
        for (&i, solved) in chosen.iter().zip(solved) {
            if let Ok((optimum, state)) = solved
                && optimum.is_optimal()
            {
                anchors.points.extend(&weighted[i]);
                anchors.states.push(state);
            }
        }
        anchors
    }

    pub(crate) fn len(&self) -> usize {
        self.states.len()
    }

    /// The state of the nearest anchor; the first of several as near.
    pub(crate) fn nearest(&self, prediction: &[f64]) -> Option<Arc<State>> {
        if self.states.len() < 2 {
            return self.states.first().cloned();
        }
        let at = self.weigh(prediction);
        let mut best = (f64::INFINITY, 0);
        for (i, point) in self.points.chunks_exact(at.len()).enumerate() {
            let distance = distance2(point, &at);
            if distance < best.0 {
                best = (distance, i);
            }
        }
        Some(Arc::clone(&self.states[best.1]))
    }

    fn weigh(&self, row: &[f64]) -> Vec<f64> {
        row.iter().zip(&self.weights).map(|(v, w)| v * w).collect()
    }
}

fn weights(rows: &[&[f64]], width: usize) -> Vec<f64> {
    let count = rows.len().max(1) as f64;
    let weight = |j: usize| {
        let mean = rows.iter().map(|r| r[j]).sum::<f64>() / count;
        let deviation = (rows.iter().map(|r| (r[j] - mean).powi(2)).sum::<f64>() / count).sqrt();
        if deviation.is_finite() && deviation > 1e-12 * mean.abs() { 1.0 / deviation } else { 0.0 }
    };
    (0..width).map(weight).collect()
}

fn farthest(points: &[Vec<f64>], width: usize, count: usize) -> Vec<usize> {
    let mut mean = vec![0.0; width];
    for point in points {
        mean.iter_mut().zip(point).for_each(|(m, p)| *m += p / points.len() as f64);
    }
    let mut distances: Vec<f64> = points.iter().map(|p| -distance2(p, &mean)).collect();
    let mut chosen: Vec<usize> = Vec::new();
    while chosen.len() < count.min(points.len()) {
        let mut best = 0;
        for i in 1..points.len() {
            if distances[i] > distances[best] {
                best = i;
            }
        }
        if !chosen.is_empty() && distances[best] <= 0.0 {
            break;
        }
        let first = chosen.is_empty();
        chosen.push(best);
        for (d, p) in distances.iter_mut().zip(points) {
            let new = distance2(p, &points[best]);
            *d = if first { new } else { d.min(new) };
        }
    }
    chosen
}

fn distance2(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum()
}
