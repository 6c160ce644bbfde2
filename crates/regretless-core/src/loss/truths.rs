//! Truths, solved once: from nothing, so that they do not depend on what was solved before.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{Cause, Side};
use crate::predict::layout::Values;
use crate::problem::{Instance, ProblemError, RowId};
use crate::solve::oracle::Oracle;
use crate::surrogate::Surrogate;
use crate::surrogate::objective::Stage;

/// What the losses need of a solved truth.
#[derive(Debug)]
pub(super) struct Truth {
    /// The optimum.
    pub(super) x: Vec<f64>,
    /// The optimal value as a gain.
    pub(super) value: f64,
    /// Hard rows whose multipliers were too small for it, if it was solved without caps.
    pub(super) uncapped: Option<Vec<RowId>>,
}

impl Truth {
    pub(super) fn is_uncapped(&self) -> bool {
        self.uncapped.is_some()
    }
}

/// A truth, or why it has no optimum.
pub(super) type Known = Arc<Result<Truth, Cause>>;

/// Truths by their own values: an id whose truth changes is solved again.
#[derive(Debug, Default)]
pub(super) struct Truths(BTreeMap<u64, Known>);

impl Truths {
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// The truths of a batch, and how many of them were new.
    fn look_up(
        &mut self,
        truths: &[&[f64]],
        values: &[Values<'_>],
        solve: impl Fn(&[Instance<'_>]) -> Vec<Result<Truth, Cause>>,
    ) -> (Vec<Known>, usize) {
        let keys: Vec<u64> = truths.iter().map(|t| fingerprint(t)).collect();
        let mut seen = BTreeSet::new();
        let new: Vec<usize> =
            (0..keys.len()).filter(|&i| !self.0.contains_key(&keys[i]) && seen.insert(keys[i])).collect();
        let instances: Vec<Instance<'_>> = new.iter().map(|&i| values[i].instance()).collect();
        for (&i, truth) in new.iter().zip(solve(&instances)) {
            self.0.insert(keys[i], Arc::new(truth));
        }
        (keys.iter().map(|key| Arc::clone(&self.0[key])).collect(), new.len())
    }

    /// Truths of the exact problem.
    pub(super) fn exact(
        &mut self,
        oracle: &Oracle,
        sign: f64,
        truths: &[&[f64]],
        values: &[Values<'_>],
    ) -> (Vec<Known>, usize) {
        self.look_up(truths, values, |instances| {
            let solved = oracle.solve_batch(instances).into_iter().map(|optimum| {
                let optimum = optimum.map_err(refused)?;
                match Cause::of_status(Side::Truth, &optimum.status) {
                    Some(cause) => Err(cause),
                    None => Ok(Truth { value: sign * optimum.objective, x: optimum.x, uncapped: None }),
                }
            });
            solved.collect()
        })
    }

    /// Truths of the surrogate.
    pub(super) fn smooth(
        &mut self,
        surrogate: &Surrogate,
        truths: &[&[f64]],
        values: &[Values<'_>],
    ) -> (Vec<Known>, usize) {
        self.look_up(truths, values, |instances| {
            let solved =
                surrogate.solve_batch(instances).into_iter().zip(instances).map(|(solution, instance)| {
                    let solution = solution.map_err(refused)?;
                    if let Some(cause) = Cause::of_surrogate(Side::Truth, &solution.status) {
                        return Err(cause);
                    }
                    let view = surrogate.problem().view(instance).map_err(refused)?;
                    let mut gain = vec![0.0; view.shape.n];
                    view.gain(&mut gain);
                    let value = Stage::of(&solution, gain).value(solution.x());
                    let uncapped = surrogate.uncapped(&solution);
                    Ok(Truth { x: solution.x().to_vec(), value, uncapped })
                });
            solved.collect()
        })
    }
}

fn refused(error: ProblemError) -> Cause {
    Cause::Refused(Side::Truth, error)
}

/// 64 bits of the values' bits, well mixed (the finaliser of SplitMix64 between entries).
pub(crate) fn fingerprint(values: &[f64]) -> u64 {
    values.iter().fold(values.len() as u64, |hash, v| {
        let mut h = (hash ^ v.to_bits()).wrapping_add(0x9e37_79b9_7f4a_7c15);
        h = (h ^ (h >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        h = (h ^ (h >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        h ^ (h >> 31)
    })
}
