//! Which series an instance is of, as far as the features tell.
//!
//! A model knows features and no series. But the categories that never change within a series name it: shop and product of a long
//! table. Two series with the same levels are one to the predictor, and are one here.

use std::collections::BTreeMap;

use super::errors::Errors;
use crate::data::encoder::Encoding;
use crate::model::Model;
use crate::task::Task;

/// Rows that a series has on average at least: fewer tell nothing of their errors.
const LEAST: usize = 5;

/// Series by the inputs that name them.
#[derive(Clone, Debug)]
pub(super) struct Named {
    /// The inputs.
    inputs: Vec<usize>,
    /// What they are in each series, in order.
    keys: Vec<Vec<f32>>,
}

impl Named {
    /// The series of rows with errors, and that of each row; `None` if features tell of no more than one.
    pub(super) fn of(
        task: &Task,
        model: &Model,
        errors: &Errors,
        inputs: &[f32],
    ) -> Option<(Self, Vec<usize>)> {
        let series = &task.data().series;
        if series.names().len() < 2 {
            return None;
        }
        let (width, rows) = (model.features.width(), errors.rows.len());
        let mut first = BTreeMap::new();
        for (i, &row) in errors.rows.iter().enumerate() {
            first.entry(series.of(row)).or_insert(i);
        }
        let stays = |j: &usize| {
            let same = |(i, row): (usize, &usize)| {
                let began = first[&series.of(*row)];
                inputs[i * width + j].to_bits() == inputs[began * width + j].to_bits()
            };
            errors.rows.iter().enumerate().all(same)
        };
        let names = model.features.features().into_iter().enumerate();
        let categories = names
            .filter(|(_, j)| matches!(model.features.columns()[*j], Encoding::Category { .. }))
            .map(|(input, _)| input);
        let found: Vec<usize> = categories.filter(stays).collect();
        let key = |i: usize| -> Vec<f32> { found.iter().map(|j| inputs[i * width + j]).collect() };
        let mut keys: Vec<Vec<f32>> = first.values().map(|i| key(*i)).collect();
        keys.sort_by(|a, b| order(a, b));
        keys.dedup_by(|a, b| order(a, b).is_eq());
        if keys.len() < 2 || keys.len() * LEAST > rows {
            return None;
        }
        let own = Self { inputs: found, keys };
        let groups = own.groups(inputs, rows);
        Some((own, groups))
    }

    /// Number of series.
    pub(super) fn count(&self) -> usize {
        self.keys.len()
    }

    /// The series of rows of inputs; [`Named::count`] for one that nobody knows.
    pub(super) fn groups(&self, inputs: &[f32], rows: usize) -> Vec<usize> {
        let width = inputs.len() / rows.max(1);
        let group = |i: usize| {
            let key: Vec<f32> = self.inputs.iter().map(|j| inputs[i * width + j]).collect();
            self.keys.binary_search_by(|own| order(own, &key)).unwrap_or(self.count())
        };
        (0..rows).map(group).collect()
    }

    pub(super) fn numbers(&self) -> [(&'static str, Vec<f64>); 2] {
        let inputs = self.inputs.iter().map(|j| *j as f64).collect();
        [
            ("series.inputs", inputs),
            ("series.keys", self.keys.iter().flatten().map(|v| f64::from(*v)).collect()),
        ]
    }

    /// What a file kept, if it has series; `None` in it if they do not fit `features` inputs.
    #[expect(clippy::option_option, reason = "series that do not fit, and none")]
    pub(super) fn read(features: usize, numbers: &dyn Fn(&str) -> Option<Vec<f64>>) -> Option<Option<Self>> {
        let inputs: Vec<usize> = numbers("series.inputs")?.into_iter().map(|j| j as usize).collect();
        let keys: Vec<f32> = numbers("series.keys")?.into_iter().map(|v| v as f32).collect();
        let fits = !inputs.is_empty()
            && inputs.iter().all(|j| *j < features)
            && !keys.is_empty()
            && keys.len().is_multiple_of(inputs.len());
        let keys: Vec<Vec<f32>> = keys.chunks(inputs.len().max(1)).map(<[f32]>::to_vec).collect();
        Some((fits && keys.is_sorted_by(|a, b| order(a, b).is_lt())).then_some(Self { inputs, keys }))
    }
}

/// Keys in an order that holds for all numbers, those of missing levels included.
fn order(a: &[f32], b: &[f32]) -> std::cmp::Ordering {
    let each = a.iter().zip(b).map(|(a, b)| a.total_cmp(b));
    each.fold(std::cmp::Ordering::Equal, std::cmp::Ordering::then)
}
