//! What the surrogate's losses share: the surrogate, its multipliers and sharpness, and where samples were solved last.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{Cause, LossError, LossOptions, Method, header, positive, read_header};
use crate::engine::tolerance::LARGEST_PENALTY;
use crate::gradient::Gradients;
use crate::multipliers::Multipliers;
use crate::predict::instances::Reading;
use crate::predict::placement::{Numbers, Values};
use crate::problem::{Instance, ProblemError, RowId, RowValues};
use crate::solve::codec::SavedError;
use crate::solve::store::Store;
use crate::surrogate::solution::Solution;
use crate::surrogate::{Segments, Surrogate, SurrogateOptions};

use super::truths::{self, Smooth, SmoothTruths};

/// A truth solved by the surrogate, or why it has no optimum.
pub(super) type Known = Arc<Result<Smooth, Cause>>;

pub(super) struct Softening {
    pub(super) method: Method,
    pub(super) reading: Arc<Reading>,
    /// Solves predictions: the average problem where there are scenarios.
    pub(super) surrogate: Surrogate,
    /// Solves and evaluates truths: the original problem.
    pub(super) original: Surrogate,
    truths: SmoothTruths,
    /// Of the surrogate that is differentiated.
    options: SurrogateOptions,
    values: RowValues,
    store: Store,
}

impl Softening {
    pub(super) fn new(
        method: Method,
        reading: Reading,
        options: &LossOptions<'_>,
        segments: Segments,
    ) -> Result<Self, LossError> {
        positive("K", options.k)?;
        let Some(multipliers) = options.multipliers else {
            let alternatives = Method::ALL.into_iter().filter(|m| !m.uses_surrogate());
            let alternatives = alternatives
                .filter(|m| m.supports(reading.original(), reading.placement()).is_ok())
                .collect();
            let reason = "it softens hard rows and was given no multipliers for them".into();
            return Err(LossError::Unsupported { method, reason, alternatives });
        };
        let values = multipliers.values.clone();
        let smoothing = if method == Method::SurrogateSmooth { options.smoothing } else { 0.0 };
        if let Some(rows) = &options.k_rows {
            rows.checked("K", reading.original().shape())?;
        }
        let k_rows = options.k_rows.clone();
        let own = SurrogateOptions { k: options.k, k_rows, segments, smoothing };
        let (surrogate, original) = soften(&reading, &values, &own)?;
        let store = Store::with_budget(options.store_bytes);
        let truths = SmoothTruths::default();
        let reading = Arc::new(reading);
        Ok(Self { method, reading, surrogate, original, truths, options: own, values, store })
    }

    /// Solves at the given flat vectors, each from where its id was solved last.
    pub(super) fn solve(
        &mut self,
        values: &[Values<'_>],
        ids: &[u64],
    ) -> Vec<Result<Solution, ProblemError>> {
        let instances: Vec<Instance<'_>> = values.iter().map(Values::instance).collect();
        self.surrogate.solve_batch_warm(&instances, ids, &mut self.store)
    }

    /// What the surrogate makes of truths, and how many of them were new.
    pub(super) fn known(&self, truths: &[Numbers<'_>]) -> (Vec<Known>, usize) {
        self.truths.look_up(truths, |new| truths::smooth(&self.original, &self.reading, new))
    }

    /// Hard rows whose multipliers were too small for a prediction or a truth.
    pub(super) fn uncapped(
        &self,
        solutions: &[Result<Solution, ProblemError>],
        known: &[Known],
    ) -> BTreeSet<RowId> {
        let mut rows: BTreeSet<RowId> = BTreeSet::new();
        solutions
            .iter()
            .flatten()
            .filter_map(|s| self.surrogate.uncapped(s))
            .for_each(|found| rows.extend(found));
        let truths = known.iter().filter_map(|known| known.as_ref().as_ref().ok());
        truths.for_each(|truth| rows.extend(truth.uncapped.iter().flatten()));
        rows.retain(|row| self.states(*row));
        rows
    }

    /// False for soft rows, and for what a problem at risk has behind the rows and variables that were stated.
    fn states(&self, row: RowId) -> bool {
        let shape = self.reading.original().shape();
        match row {
            RowId::Soft(_) => false,
            RowId::AtMost(i) => i < shape.at_most,
            RowId::Equal(i) => i < shape.equal,
            RowId::Lower(j) | RowId::Upper(j) => j < shape.n,
        }
    }

    /// Gathers gradients of the problem that decides.
    pub(super) fn gather(&self, gradients: &Gradients, prediction: Numbers<'_>) -> Vec<f64> {
        let mut out = vec![0.0; self.reading.width()];
        self.reading.gather(gradients, prediction, &mut out);
        out
    }

    pub(super) fn raise(&mut self, uncapped: &BTreeSet<RowId>) -> Vec<RowId> {
        let mut values = self.values.clone();
        let mut raised = Vec::new();
        for row in uncapped.iter().copied().filter(|row| self.states(*row)) {
            if let Some(value) = values.get_mut(row) {
                // A penalty that would overflow stays: no multiplier will do for that row.
                if *value < LARGEST_PENALTY {
                    *value *= 2.0;
                    raised.push(row);
                }
            }
        }
        if raised.is_empty() || self.rebuild(values, self.options.k).is_err() {
            return Vec::new();
        }
        raised
    }

    pub(super) fn set_k(&mut self, k: f64) -> Result<(), LossError> {
        positive("K", k)?;
        if k != self.options.k {
            self.rebuild(self.values.clone(), k)?;
        }
        Ok(())
    }

    /// K of each row for another K: their ratios stay.
    fn sharpness(&self, k: f64) -> Option<RowValues> {
        let rows = self.options.k_rows.as_ref()?;
        let stacked: Vec<f64> = rows.stacked().iter().map(|own| own * (k / self.options.k)).collect();
        Some(RowValues::from_stacked(self.reading.original().shape(), &stacked))
    }

    fn rebuild(&mut self, values: RowValues, k: f64) -> Result<(), LossError> {
        let options = SurrogateOptions { k, k_rows: self.sharpness(k), ..self.options.clone() };
        (self.surrogate, self.original) = soften(&self.reading, &values, &options)?;
        (self.values, self.options) = (values, options);
        self.truths.clear();
        Ok(())
    }

    pub(super) fn checkpoint(&mut self) -> Vec<u8> {
        self.store.drop_factors();
        let mut w = header(self.method);
        w.f64(self.options.k);
        let stacked = self.values.stacked();
        w.u64(stacked.len() as u64);
        w.f64s(&stacked);
        w.bytes(&self.store.to_bytes());
        w.0
    }

    pub(super) fn restore(&mut self, bytes: &[u8]) -> Result<(), LossError> {
        let mut r = read_header(self.method, bytes)?;
        let k = r.f64()?;
        let shape = self.reading.original().shape();
        if r.count(8)? != shape.rows() {
            return Err(SavedError::Mismatch("problem").into());
        }
        let values = RowValues::from_stacked(shape, &r.f64s(shape.rows())?);
        let store = Store::from_bytes(r.bytes()?)?;
        r.end()?;
        positive("K", k)?;
        self.rebuild(values, k)?;
        self.store = store;
        Ok(())
    }
}

/// The surrogates of the problem that decides and of the problem of the truth.
fn soften(
    reading: &Reading,
    values: &RowValues,
    options: &SurrogateOptions,
) -> Result<(Surrogate, Surrogate), ProblemError> {
    let original = reading.original();
    let own = RowValues { soft: vec![1.0; original.shape().soft], ..values.clone() };
    let (k, k_rows) = (options.k, options.k_rows.clone());
    let plain = SurrogateOptions { k_rows, ..SurrogateOptions::with_k(k) };
    let mut options = options.clone();
    // At risk what one K is for all rows as stated is not one for those that scenarios add.
    let one = || reading.at_risk().map(|_| RowValues::constant(original.shape(), k));
    options.k_rows = options.k_rows.or_else(one).map(|rows| reading.sharpness(&rows));
    let deciding = Multipliers::given(reading.penalties(&own));
    let deciding = Surrogate::new(reading.problem(), &deciding, &options)?;
    Ok((deciding, Surrogate::new(original, &Multipliers::given(own), &plain)?))
}
