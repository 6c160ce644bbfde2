//! Numbers of rows: multipliers, penalties, sharpness.

use super::{ProblemError, RowId, Shape};

/// A number for every row, by kind.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RowValues {
    /// Soft rows.
    pub soft: Vec<f64>,
    /// Rows of `Ax ≤ b`.
    pub at_most: Vec<f64>,
    /// Rows of `Bx = c`.
    pub equal: Vec<f64>,
    /// Lower bounds.
    pub lower: Vec<f64>,
    /// Upper bounds.
    pub upper: Vec<f64>,
}

impl RowValues {
    /// The same value everywhere.
    pub fn constant(shape: Shape, value: f64) -> Self {
        Self {
            soft: vec![value; shape.soft],
            at_most: vec![value; shape.at_most],
            equal: vec![value; shape.equal],
            lower: vec![value; shape.n],
            upper: vec![value; shape.n],
        }
    }

    /// From stacked values: soft, at most, equal, lower, upper.
    pub(crate) fn from_stacked(shape: Shape, values: &[f64]) -> Self {
        let mut at = 0;
        let mut next = |len: usize| {
            at += len;
            values[at - len..at].to_vec()
        };
        Self {
            soft: next(shape.soft),
            at_most: next(shape.at_most),
            equal: next(shape.equal),
            lower: next(shape.n),
            upper: next(shape.n),
        }
    }

    /// Stacked: soft, at most, equal, lower, upper.
    pub(crate) fn stacked(&self) -> Vec<f64> {
        [&self.soft, &self.at_most, &self.equal, &self.lower, &self.upper]
            .into_iter()
            .flatten()
            .copied()
            .collect()
    }

    /// Refuses values that are not one for each row of their kind.
    pub(crate) fn checked(&self, what: &str, shape: Shape) -> Result<&Self, ProblemError> {
        let kinds = [
            ("soft rows", shape.soft, &self.soft),
            ("rows `at most`", shape.at_most, &self.at_most),
            ("rows `equal`", shape.equal, &self.equal),
            ("lower bounds", shape.n, &self.lower),
            ("upper bounds", shape.n, &self.upper),
        ];
        for (kind, expected, values) in kinds {
            if values.len() != expected {
                let what = format!("{what} of the {kind}");
                return Err(ProblemError::Length { what, expected, found: values.len() });
            }
        }
        Ok(self)
    }

    /// The value of one row, to change; `None` if there is no such row.
    pub(crate) fn get_mut(&mut self, row: RowId) -> Option<&mut f64> {
        match row {
            RowId::Soft(i) => self.soft.get_mut(i),
            RowId::AtMost(i) => self.at_most.get_mut(i),
            RowId::Equal(i) => self.equal.get_mut(i),
            RowId::Lower(j) => self.lower.get_mut(j),
            RowId::Upper(j) => self.upper.get_mut(j),
        }
    }

    /// The value of one row.
    pub fn get(&self, row: RowId) -> f64 {
        match row {
            RowId::Soft(i) => self.soft[i],
            RowId::AtMost(i) => self.at_most[i],
            RowId::Equal(i) => self.equal[i],
            RowId::Lower(j) => self.lower[j],
            RowId::Upper(j) => self.upper[j],
        }
    }
}
