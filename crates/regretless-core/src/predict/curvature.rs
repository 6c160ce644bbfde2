//! How placed numbers enter Q without making it indefinite.
//!
//! ```text
//! Q = P₀ + Σ_k max(0, w_k)·P_k        P_k ⪰ 0, w_k a quantity or known number, by row times another known one
//! ```
//!
//! A weight below 0 is 0 and passes no gradient on, as a price is. A Q whose entries are quantities of their own has no such form: it
//! is an embedding's, which keeps it positive semidefinite, and every instance is checked.

use std::collections::BTreeMap;

use crate::predict::placement::{Numbers, Placement, Source, Term};
use crate::problem::parameter::Parameter;
use crate::problem::{CoefficientsRef, Problem, ProblemError, convex};

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Curvature {
    /// The placed entries with the constant part of each.
    base: Vec<(usize, f64)>,
    groups: Vec<Group>,
}

/// A weight and its matrix.
#[derive(Clone, Debug, PartialEq)]
struct Group {
    source: Source,
    by: Option<usize>,
    entries: Vec<(usize, f64)>,
}

impl Group {
    fn weight(&self, numbers: Numbers<'_>) -> f64 {
        let by = self.by.map_or(1.0, |l| numbers.known[l]);
        match self.source {
            Source::One => by,
            Source::Predicted(j) => by * numbers.quantities[j],
            Source::Known(l) => by * numbers.known[l],
        }
    }
}

/// What a weight is a multiple of, and the known number that is a factor of it.
type Multiple = (Source, Option<usize>);

impl Curvature {
    /// `None` if nothing enters Q, or if its entries are quantities of their own.
    pub(super) fn of(placement: &Placement, problem: &Problem) -> Result<Option<Self>, ProblemError> {
        let slots = placement.slots_of(Parameter::Quadratic);
        let pattern = problem.quadratic_pattern();
        let mut base = Vec::with_capacity(slots.len());
        let mut groups: BTreeMap<Multiple, Vec<(usize, f64)>> = BTreeMap::new();
        for slot in slots {
            let mut constant = 0.0;
            for term in placement.terms_of(slot) {
                match (term.source, term.by) {
                    (Source::One, None) => constant += term.factor,
                    key => groups.entry(key).or_default().push((slot.entry, term.factor)),
                }
            }
            base.push((slot.entry, constant));
        }
        let own = |term: &Term| term.factor == 1.0 && term.by.is_none() && term.source != Source::One;
        let apart = |slot| matches!(placement.terms_of(slot), [term] if own(term));
        let off = |slot: &super::placement::Slot| {
            let (i, j) = pattern.place(slot.entry);
            i != j
        };
        let each_its_own = slots.iter().all(apart) && groups.values().all(|entries| entries.len() == 1);
        if slots.is_empty() || each_its_own && slots.iter().any(off) {
            return Ok(None);
        }
        let check = |values: &[f64], what: String| {
            let q = CoefficientsRef { pattern, values };
            convex::check(q, q).map_err(|e| ProblemError::Curvature { what, why: e.to_string() })
        };
        let mut own = Parameter::Quadratic.of(problem).to_vec();
        own.resize(pattern.entries(), 0.0);
        base.iter().for_each(|&(entry, value)| own[entry] = value);
        check(&own, "the constant part of Q".into())?;
        for ((source, _), entries) in &groups {
            let mut values = vec![0.0; pattern.entries()];
            entries.iter().for_each(|&(entry, factor)| values[entry] += factor);
            check(&values, format!("what {source} is multiplied with in Q"))?;
        }
        let group = |((source, by), entries)| Group { source, by, entries };
        Ok(Some(Self { base, groups: groups.into_iter().map(group).collect() }))
    }

    /// The weights, none below 0.
    pub(super) fn weights(&self, numbers: Numbers<'_>) -> Vec<f64> {
        let cut = |w: f64| if w < 0.0 { 0.0 } else { w };
        self.groups.iter().map(|group| cut(group.weight(numbers))).collect()
    }

    /// How many weights are below 0.
    pub(super) fn cut(&self, numbers: Numbers<'_>) -> usize {
        self.groups.iter().filter(|group| group.weight(numbers) < 0.0).count()
    }

    pub(super) fn place(&self, weights: &[f64], out: &mut [f64]) {
        self.base.iter().for_each(|&(entry, value)| out[entry] = value);
        for (group, weight) in self.groups.iter().zip(weights) {
            group.entries.iter().for_each(|&(entry, factor)| out[entry] += weight * factor);
        }
    }

    /// Adds the gradient in the predicted weights, from that in Q.
    pub(super) fn pull(&self, gradient: &[f64], numbers: Numbers<'_>, out: &mut [f64]) {
        for group in &self.groups {
            if let Source::Predicted(j) = group.source
                && group.weight(numbers) >= 0.0
            {
                let along: f64 = group.entries.iter().map(|&(entry, factor)| factor * gradient[entry]).sum();
                out[j] += group.by.map_or(1.0, |l| numbers.known[l]) * along;
            }
        }
    }
}
