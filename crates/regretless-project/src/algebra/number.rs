//! Coefficients: fixed, or affine in numbers that a table brings.

use std::collections::BTreeMap;

/// What a coefficient is multiplied with: one or two columns of the table, of which at most one is predicted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Factors {
    /// A column that is predicted, and one that is known when the decision is taken.
    Predicted(usize, Option<usize>),
    /// Columns that are known, the smaller number first.
    Known(usize, Option<usize>),
}

/// `fixed + Σ coefficient · factors`
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Number {
    pub(crate) fixed: f64,
    pub(crate) terms: BTreeMap<Factors, f64>,
}

/// A product that no coefficient can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Clash {
    /// Two predicted columns.
    Predicted(usize, usize),
    /// More than two columns, of which one is this.
    Three(usize),
}

impl Factors {
    fn times(self, other: Self) -> Result<Self, Clash> {
        match (self, other) {
            (Self::Predicted(l, _), Self::Predicted(r, _)) => Err(Clash::Predicted(l, r)),
            (Self::Predicted(p, None), Self::Known(k, None))
            | (Self::Known(k, None), Self::Predicted(p, None)) => Ok(Self::Predicted(p, Some(k))),
            (Self::Known(l, None), Self::Known(r, None)) => Ok(Self::Known(l.min(r), Some(l.max(r)))),
            (Self::Predicted(l, _) | Self::Known(l, _), _) => Err(Clash::Three(l)),
        }
    }

    /// The columns.
    pub(crate) fn columns(self) -> impl Iterator<Item = usize> {
        let (Self::Predicted(first, second) | Self::Known(first, second)) = self;
        std::iter::once(first).chain(second)
    }
}

impl From<f64> for Number {
    fn from(fixed: f64) -> Self {
        Self { fixed, terms: BTreeMap::new() }
    }
}

impl Number {
    pub(crate) fn of(factors: Factors) -> Self {
        Self { fixed: 0.0, terms: BTreeMap::from([(factors, 1.0)]) }
    }

    /// True if no table is needed to tell it.
    pub(crate) fn is_fixed(&self) -> bool {
        self.terms.is_empty()
    }

    pub(crate) fn is_zero(&self) -> bool {
        self.fixed == 0.0 && self.is_fixed()
    }

    pub(crate) fn is_finite(&self) -> bool {
        self.fixed.is_finite() && self.terms.values().all(|c| c.is_finite())
    }

    /// self + scale · other
    pub(crate) fn add(&mut self, other: &Self, scale: f64) {
        self.fixed += scale * other.fixed;
        for (&factors, &coefficient) in &other.terms {
            let sum = self.terms.entry(factors).or_insert(0.0);
            *sum += scale * coefficient;
            if *sum == 0.0 {
                self.terms.remove(&factors);
            }
        }
    }

    pub(crate) fn scaled(&self, scale: f64) -> Self {
        let mut out = Self::default();
        out.add(self, scale);
        out
    }

    pub(crate) fn times(&self, other: &Self) -> Result<Self, Clash> {
        let mut out = other.scaled(self.fixed);
        for (&left, &a) in &self.terms {
            if other.fixed != 0.0 {
                out.add(&Self::of(left), a * other.fixed);
            }
            for (&right, &b) in &other.terms {
                out.add(&Self::of(left.times(right)?), a * b);
            }
        }
        Ok(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Its value where the columns have these values.
    fn at(number: &Number, values: &[f64]) -> f64 {
        let terms = number.terms.iter().map(|(factors, c)| factors.columns().fold(*c, |c, i| c * values[i]));
        number.fixed + terms.sum::<f64>()
    }

    #[test]
    fn products_are_affine_or_refused() {
        let p = |i| Number::of(Factors::Predicted(i, None));
        let k = |i| Number::of(Factors::Known(i, None));
        let mut sum = p(0).scaled(2.0);
        sum.add(&Number::from(3.0), 1.0);
        let product = sum.times(&k(1)).unwrap();
        assert_eq!(at(&product, &[5.0, 7.0]), (2.0 * 5.0 + 3.0) * 7.0);
        assert_eq!(product.times(&p(2)), Err(Clash::Predicted(0, 2)));
        assert_eq!(k(1).times(&product), Err(Clash::Three(1)));
        assert_eq!(at(&k(1).times(&k(0)).unwrap(), &[5.0, 7.0]), 35.0);
        let mut nothing = p(0);
        nothing.add(&p(0), -1.0);
        assert!(nothing.is_zero());
    }
}
