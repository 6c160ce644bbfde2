//! One cell of a CSV file.

use regretless_core::Parameter;

use crate::error::{Trouble, shorten};

/// Which numbers a cell may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Allowed {
    /// Finite numbers.
    Finite,
    /// Finite numbers that are not negative: prices of soft rows.
    Price,
    /// Lower bounds: −∞ is allowed.
    Lower,
    /// Upper bounds: +∞ is allowed.
    Upper,
}

impl Allowed {
    /// Which numbers an entry of a parameter may be.
    pub(crate) fn of(parameter: Parameter) -> Self {
        match parameter {
            Parameter::Over | Parameter::Under => Self::Price,
            Parameter::Lower => Self::Lower,
            Parameter::Upper => Self::Upper,
            _ => Self::Finite,
        }
    }

    /// What is wrong with `v`, if anything is.
    pub(crate) fn check(self, v: f64) -> Result<(), Trouble> {
        match self {
            Self::Finite | Self::Price if !v.is_finite() => Err(Trouble::NotFinite(v)),
            Self::Lower | Self::Upper if v.is_nan() => Err(Trouble::NotFinite(v)),
            Self::Lower if v == f64::INFINITY => Err(Trouble::WrongInfinity(v)),
            Self::Upper if v == f64::NEG_INFINITY => Err(Trouble::WrongInfinity(v)),
            Self::Price if v < 0.0 => Err(Trouble::Negative(v)),
            _ => Ok(()),
        }
    }
}

/// The number in a cell; spaces around it do not matter.
pub(crate) fn number(cell: &[u8]) -> Result<f64, Trouble> {
    let cell = cell.trim_ascii();
    if cell.is_empty() {
        return Err(Trouble::EmptyCell);
    }
    let parsed = std::str::from_utf8(cell).ok().and_then(|text| text.parse().ok());
    parsed.ok_or_else(|| Trouble::NotANumber(shorten(&String::from_utf8_lossy(cell))))
}

/// The number in a cell of a table with named columns: `true` and `false` count as 1 and 0, as booleans of Parquet do.
pub(crate) fn value(cell: &[u8]) -> Result<f64, Trouble> {
    number(cell).or_else(|trouble| match cell.trim_ascii() {
        b"true" | b"True" | b"TRUE" => Ok(1.0),
        b"false" | b"False" | b"FALSE" => Ok(0.0),
        _ => Err(trouble),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn booleans_are_numbers_in_tables() {
        for (cell, number) in [("true", 1.0), (" False ", 0.0), ("TRUE", 1.0), ("FALSE", 0.0), ("2", 2.0)] {
            assert_eq!(value(cell.as_bytes()).unwrap(), number, "{cell}");
        }
        assert!(matches!(value(b"truth"), Err(Trouble::NotANumber(_))));
        assert!(matches!(value(b""), Err(Trouble::EmptyCell)));
        assert!(number(b"true").is_err());
    }

    #[test]
    fn cells() {
        assert_eq!(number(b" -1.5e3 ").unwrap(), -1500.0);
        assert_eq!(number(b"inf").unwrap(), f64::INFINITY);
        assert!(matches!(number(b"  "), Err(Trouble::EmptyCell)));
        assert!(matches!(number(b"1,5"), Err(Trouble::NotANumber(_))));
        assert!(matches!(number(b"\xff"), Err(Trouble::NotANumber(_))));
    }

    #[test]
    fn what_is_allowed() {
        assert!(Allowed::Lower.check(f64::NEG_INFINITY).is_ok());
        assert!(Allowed::Lower.check(f64::INFINITY).is_err());
        assert!(Allowed::Upper.check(f64::NAN).is_err());
        assert!(Allowed::Finite.check(f64::INFINITY).is_err());
        assert!(matches!(Allowed::Price.check(-1e-300), Err(Trouble::Negative(_))));
        assert!(Allowed::Price.check(-0.0).is_ok());
    }
}
