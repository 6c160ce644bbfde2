//! One cell of a CSV file.

use regretless_core::Parameter;

use super::moment::moment;
use crate::error::{Trouble, shorten};

/// What a column seems to hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guess {
    /// Numbers, booleans among them.
    Number,
    /// Text.
    Text,
    /// Dates, with or without a time.
    Date,
}

impl Guess {
    /// From some cells: text if one of them is neither a number nor missing, and dates if all such are.
    pub(super) fn of<'a>(cells: impl Iterator<Item = &'a [u8]>, comma: bool) -> Self {
        let mut guess = Self::Number;
        for cell in cells.filter(|cell| !is_missing(cell) && value(cell, comma).is_err()) {
            if moment(cell).is_none() {
                return Self::Text;
            }
            guess = Self::Date;
        }
        guess
    }

    /// The first cell that is neither a number nor a date where more than half of those that hold something are: it makes a text of the
    /// column.
    pub(super) fn odd<'a>(cells: &(impl Iterator<Item = &'a [u8]> + Clone), comma: bool) -> Option<usize> {
        let odd = |cell: &[u8]| value(cell, comma).is_err() && moment(cell).is_none();
        let there = || cells.clone().enumerate().filter(|(_, cell)| !is_missing(cell));
        let (all, others) = (there().count(), there().filter(|(_, cell)| odd(cell)).count());
        if 2 * others >= all {
            return None;
        }
        there().find(|(_, cell)| odd(cell)).map(|(i, _)| i)
    }
}

/// What stands in cells that hold no value, in small letters: one list for numbers, texts and dates.
const MISSING: [&[u8]; 11] =
    [b"", b"na", b"n/a", b"#n/a", b"<na>", b"nan", b"null", b"none", b"nat", b"-", b"#value!"];

/// True if a cell holds no value.
pub(super) fn is_missing(cell: &[u8]) -> bool {
    let cell = cell.trim_ascii();
    cell.len() <= 7 && MISSING.iter().any(|word| cell.eq_ignore_ascii_case(word))
}

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
    let parsed = || std::str::from_utf8(cell).ok().and_then(|text| text.parse().ok());
    short(cell).or_else(parsed).ok_or_else(|| Trouble::NotANumber(shorten(&String::from_utf8_lossy(cell))))
}

/// A number as most are written, `-12.375`, to the last bit: digits and powers of ten that are exact in double precision have one
/// rounding together, that of the division.
fn short(cell: &[u8]) -> Option<f64> {
    let (negative, digits) = match cell {
        [b'-', rest @ ..] => (true, rest),
        _ => (false, cell),
    };
    if digits.len() > 16 {
        return None;
    }
    let (mut whole, mut point) = (0_u64, None);
    for (i, &b) in digits.iter().enumerate() {
        match b {
            b'0'..=b'9' => whole = 10 * whole + u64::from(b - b'0'),
            b'.' if point.is_none() => point = Some(i),
            _ => return None,
        }
    }
    let behind = point.map_or(0, |point| digits.len() - 1 - point);
    // 15 digits are below 2⁵³, and 10²² is the last power of ten without rounding.
    let count = digits.len() - usize::from(point.is_some());
    if !(1..=15).contains(&count) {
        return None;
    }
    let value = whole as f64 / POWERS[behind];
    Some(if negative { -value } else { value })
}

const POWERS: [f64; 16] =
    [1.0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];

/// The number in a cell of a table with named columns: `true` and `false` count as 1 and 0, as booleans of Parquet do. With `comma` it
/// stands where others have a point.
pub(crate) fn value(cell: &[u8], comma: bool) -> Result<f64, Trouble> {
    if comma && cell.iter().any(|b| matches!(b, b',' | b'.')) {
        // A point among commas may stand between thousands: it is not guessed.
        let odd = || Trouble::NotANumber(shorten(&String::from_utf8_lossy(cell)));
        let point: Vec<u8> = cell.iter().map(|&b| if b == b',' { b'.' } else { b }).collect();
        return if cell.contains(&b'.') { Err(odd()) } else { number(&point).map_err(|_| odd()) };
    }
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
            assert_eq!(value(cell.as_bytes(), false).unwrap(), number, "{cell}");
        }
        assert!(matches!(value(b"truth", false), Err(Trouble::NotANumber(_))));
        assert!(matches!(value(b"", false), Err(Trouble::EmptyCell)));
        assert!(number(b"true").is_err());
    }

    #[test]
    fn commas_for_points() {
        for (cell, number) in [("1,5", 1.5), ("-0,25", -0.25), ("7", 7.0), ("true", 1.0), ("1,5e3", 1500.0)] {
            assert_eq!(value(cell.as_bytes(), true).unwrap(), number, "{cell}");
        }
        for cell in ["1.5", "1.234,5", "1,2,3", "x,y"] {
            assert!(value(cell.as_bytes(), true).is_err(), "{cell}");
        }
    }

    /// What is quick has the bits of what is right: the standard library's.
    #[test]
    fn short_numbers_are_read_to_the_last_bit() {
        let mut state = 1_u64;
        for _ in 0..20_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let digits = (state >> 20) % 10_u64.pow((state >> 60) as u32 + 1);
            let (sign, at) = (if state & 1 == 1 { "-" } else { "" }, (state >> 8) as usize % 17);
            let mut text = digits.to_string();
            text.insert(at.min(text.len()), '.');
            for text in [format!("{sign}{text}"), format!("{sign}{digits}")] {
                let wanted: f64 = text.parse().unwrap();
                assert_eq!(number(text.as_bytes()).unwrap().to_bits(), wanted.to_bits(), "{text}");
            }
        }
        for text in ["-", ".", "", "1.2.3", "+", "--1"] {
            assert!(number(text.as_bytes()).is_err(), "{text}");
        }
    }

    #[test]
    fn guesses() {
        let guess = |cells: &[&str]| Guess::of(cells.iter().map(|cell| cell.as_bytes()), false);
        assert_eq!(guess(&["1", "", "NA", "true"]), Guess::Number);
        assert_eq!(guess(&["n/a", "NULL", "None", "#N/A", "NaT", "<NA>", "-", "2"]), Guess::Number);
        assert_eq!(guess(&["-", "NaT", "2018-06-01"]), Guess::Date);
        assert_eq!(guess(&["1", "a"]), Guess::Text);
        assert_eq!(guess(&["2018-06-01", "", "2018-06-02 12:00"]), Guess::Date);
        assert_eq!(guess(&["2018-06-01", "soon"]), Guess::Text);
        let odd = |cells: &[&str]| Guess::odd(&cells.iter().map(|cell| cell.as_bytes()), false);
        assert_eq!(odd(&["1", "NA", "12 €", "3"]), Some(2));
        assert_eq!((odd(&["a", "1"]), odd(&["1", "2"]), odd(&[])), (None, None, None));
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
