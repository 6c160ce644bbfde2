//! What an expression comes to: a constant, a linear and a quadratic part in the variables.

use std::collections::BTreeMap;

use super::number::{Clash, Number};

/// `constant + Σ linear[j] xⱼ + Σ quadratic[i, j] xᵢxⱼ` with i ≤ j.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Form {
    pub(super) constant: Number,
    pub(super) linear: BTreeMap<usize, Number>,
    pub(super) quadratic: BTreeMap<(usize, usize), Number>,
}

/// A product that is no form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Beyond {
    /// More than two variables multiplied.
    Cubic,
    /// Two columns multiplied.
    Columns(Clash),
}

impl From<Number> for Form {
    fn from(constant: Number) -> Self {
        Self { constant, ..Self::default() }
    }
}

impl Form {
    pub(super) fn variable(j: usize) -> Self {
        Self { linear: BTreeMap::from([(j, Number::from(1.0))]), ..Self::default() }
    }

    /// 0 for a number, 1 with variables, 2 with products of two.
    pub(super) fn degree(&self) -> usize {
        if self.quadratic.is_empty() { usize::from(!self.linear.is_empty()) } else { 2 }
    }

    /// Numbers that are kept: coefficients, and columns within them.
    pub(super) fn terms(&self) -> usize {
        let numbers = self.linear.values().chain(self.quadratic.values());
        numbers.map(|number| 1 + number.terms.len()).sum::<usize>() + 1 + self.constant.terms.len()
    }

    /// self + scale · other
    pub(super) fn add(&mut self, other: &Self, scale: f64) {
        self.constant.add(&other.constant, scale);
        for (&j, number) in &other.linear {
            self.linear.entry(j).or_default().add(number, scale);
        }
        for (&pair, number) in &other.quadratic {
            self.quadratic.entry(pair).or_default().add(number, scale);
        }
    }

    pub(super) fn times(&self, other: &Self) -> Result<Self, Beyond> {
        if self.degree() + other.degree() > 2 {
            return Err(Beyond::Cubic);
        }
        let mut out = Self::default();
        for (left, right) in [(self, other), (other, self)] {
            let by = |number: &Number| number.times(&right.constant).map_err(Beyond::Columns);
            for (&j, number) in &left.linear {
                out.linear.entry(j).or_default().add(&by(number)?, 1.0);
            }
            for (&pair, number) in &left.quadratic {
                out.quadratic.entry(pair).or_default().add(&by(number)?, 1.0);
            }
        }
        out.constant = self.constant.times(&other.constant).map_err(Beyond::Columns)?;
        for (&i, left) in &self.linear {
            for (&j, right) in &other.linear {
                let product = left.times(right).map_err(Beyond::Columns)?;
                out.quadratic.entry((i.min(j), i.max(j))).or_default().add(&product, 1.0);
            }
        }
        Ok(out)
    }

    /// Leaves out what has cancelled.
    pub(super) fn tidy(&mut self) {
        self.linear.retain(|_, number| !number.is_zero());
        self.quadratic.retain(|_, number| !number.is_zero());
    }

    pub(super) fn is_finite(&self) -> bool {
        let mut parts = self.linear.values().chain(self.quadratic.values());
        self.constant.is_finite() && parts.all(Number::is_finite)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_multiply_out() {
        // (1 + 2x)(3 − y) = 3 + 6x − y − 2xy
        let mut left = Form::from(Number::from(1.0));
        left.add(&Form::variable(0), 2.0);
        let mut right = Form::from(Number::from(3.0));
        right.add(&Form::variable(1), -1.0);
        let product = left.times(&right).unwrap();
        assert_eq!(product.constant.fixed, 3.0);
        assert_eq!(product.linear.values().map(|n| n.fixed).collect::<Vec<_>>(), [6.0, -1.0]);
        assert_eq!(product.quadratic[&(0, 1)].fixed, -2.0);
        assert_eq!(product.times(&right), Err(Beyond::Cubic));
    }
}
