//! Cells of a Parquet column, and what their type makes of them.

use std::fmt::Write;

use parquet::basic::{ConvertedType, LogicalType, TimeUnit, Type};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, DataType};
use parquet::errors::{ParquetError, Result};
use parquet::schema::types::ColumnDescriptor;
use regretless_learn::civil;

use crate::data::cell::{Guess, value};
use crate::data::chunk::{Reads, Wanted};
use crate::data::levels::{Later, Levels};
use crate::error::Trouble;

/// A cell as it is stored.
pub(super) enum Cell {
    Null,
    Float(f64),
    Whole(i64),
    Bytes(ByteArray),
}

/// What the stored cells of a column stand for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Meaning {
    Plain,
    Text,
    Unsigned(u32),
    /// So many digits behind the point; whole numbers, or bytes with the highest first.
    Decimal(i32),
    /// Numbers of 16 bits.
    Half,
    /// Days since 1970-01-01.
    Date,
    /// So many to a second since 1970-01-01.
    Timestamp(i64),
}

impl Meaning {
    pub(super) fn of(column: &ColumnDescriptor) -> Self {
        let bits = if column.physical_type() == Type::INT32 { 32 } else { 64 };
        match column.physical_type() {
            _ if column.max_rep_level() > 0 => return Self::Text,
            Type::INT32 | Type::INT64 => {}
            Type::BOOLEAN | Type::FLOAT | Type::DOUBLE => return Self::Plain,
            _ if column.converted_type() == ConvertedType::DECIMAL => {
                return Self::Decimal(column.type_scale());
            }
            _ if matches!(column.logical_type_ref(), Some(LogicalType::Float16)) => return Self::Half,
            _ => return Self::Text,
        }
        match column.logical_type_ref() {
            Some(LogicalType::Timestamp(stamp)) => {
                return Self::Timestamp(match stamp.unit {
                    TimeUnit::MILLIS => 1_000,
                    TimeUnit::MICROS => 1_000_000,
                    TimeUnit::NANOS => 1_000_000_000,
                });
            }
            Some(LogicalType::Date) => return Self::Date,
            Some(LogicalType::Integer(kind)) if !kind.is_signed => return Self::Unsigned(bits),
            _ => {}
        }
        match column.converted_type() {
            ConvertedType::DECIMAL => Self::Decimal(column.type_scale()),
            ConvertedType::DATE => Self::Date,
            ConvertedType::TIMESTAMP_MILLIS => Self::Timestamp(1_000),
            ConvertedType::TIMESTAMP_MICROS => Self::Timestamp(1_000_000),
            ConvertedType::UINT_8
            | ConvertedType::UINT_16
            | ConvertedType::UINT_32
            | ConvertedType::UINT_64 => Self::Unsigned(bits),
            _ => Self::Plain,
        }
    }

    /// What a predictor can make of the cells.
    pub(super) fn guess(self) -> Guess {
        match self {
            Self::Plain | Self::Unsigned(_) | Self::Decimal(_) | Self::Half => Guess::Number,
            Self::Date | Self::Timestamp(_) => Guess::Date,
            Self::Text => Guess::Text,
        }
    }

    /// A cell as its column is read.
    pub(super) fn read(
        self,
        cell: &Cell,
        wanted: Wanted,
        levels: &[Levels],
        later: &mut [Later],
    ) -> std::result::Result<f64, Trouble> {
        match (cell, self, wanted.reads) {
            (Cell::Null, _, Reads::Level(_) | Reads::Moment) => Ok(f64::NAN),
            (Cell::Whole(days), Self::Date, Reads::Moment) => Ok(*days as f64 * 86_400.0),
            (Cell::Whole(v), Self::Timestamp(unit), Reads::Moment) => Ok(*v as f64 / unit as f64),
            (Cell::Bytes(bytes), Self::Text, _) => wanted.text(bytes.data(), false, levels, later),
            (_, Self::Date | Self::Timestamp(_), Reads::Level(_)) => {
                wanted.text(self.text(cell).as_bytes(), false, levels, later)
            }
            (_, _, Reads::Number { .. }) => wanted.check(self.number(cell)),
            _ => wanted.of_number(self.number(cell)?, levels, later),
        }
    }

    /// Days and seconds for dates and times, text as in a CSV file.
    pub(super) fn number(self, cell: &Cell) -> std::result::Result<f64, Trouble> {
        match (cell, self) {
            (Cell::Null, _) => Err(Trouble::EmptyCell),
            (Cell::Float(v), _) => Ok(*v),
            (Cell::Whole(v), Self::Unsigned(32)) => Ok(f64::from(*v as u32)),
            (Cell::Whole(v), Self::Unsigned(_)) => Ok(*v as u64 as f64),
            (Cell::Whole(v), Self::Decimal(scale)) => Ok(*v as f64 / 10_f64.powi(scale)),
            (Cell::Whole(v), Self::Timestamp(unit)) => Ok(*v as f64 / unit as f64),
            (Cell::Whole(v), _) => Ok(*v as f64),
            (Cell::Bytes(bytes), Self::Decimal(scale)) => Ok(whole(bytes.data()) / 10_f64.powi(scale)),
            (Cell::Bytes(bytes), Self::Half) => Ok(half(bytes.data())),
            (Cell::Bytes(bytes), _) => value(bytes.data(), false),
        }
    }

    pub(super) fn text(self, cell: &Cell) -> String {
        match (cell, self) {
            (Cell::Null, _) => String::new(),
            (Cell::Bytes(bytes), Self::Text) => String::from_utf8_lossy(bytes.data()).into_owned(),
            (Cell::Whole(v), Self::Date) => day(*v),
            (Cell::Whole(v), Self::Timestamp(unit)) => {
                let (seconds, rest) = (v.div_euclid(unit), v.rem_euclid(unit));
                let clock = seconds.rem_euclid(86_400);
                let mut text = day(seconds.div_euclid(86_400));
                let _ = write!(text, "T{:02}:{:02}:{:02}", clock / 3600, clock / 60 % 60, clock % 60);
                if rest != 0 {
                    let _ = write!(text, ".{rest:0digits$}", digits = unit.ilog10() as usize);
                }
                text
            }
            (Cell::Whole(v), Self::Plain) => v.to_string(),
            (cell, _) => self.number(cell).map_or_else(|_| String::new(), |v| v.to_string()),
        }
    }
}

/// A whole number in two's complement, highest byte first.
fn whole(bytes: &[u8]) -> f64 {
    let negative = bytes.first().is_some_and(|&b| b >= 0x80);
    let size = |flip: u8| bytes.iter().fold(0.0, |sum, &b| sum * 256.0 + f64::from(b ^ flip));
    if negative { -1.0 - size(0xFF) } else { size(0) }
}

/// A number of 16 bits, lowest byte first: a sign, 5 bits of exponent, 10 of fraction.
fn half(bytes: &[u8]) -> f64 {
    let Ok(bytes) = bytes.try_into() else { return f64::NAN };
    let bits = u16::from_le_bytes(bytes);
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 1023) / 1024.0);
    let size = match exponent {
        0 => fraction * 2_f64.powi(-14),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1.0 + fraction) * 2_f64.powi(exponent - 15),
    };
    if bits >> 15 == 1 { -size } else { size }
}

/// The date that is so many days after 1970-01-01, in the Gregorian calendar.
fn day(days: i64) -> String {
    let (year, month, day) = civil(days);
    format!("{year:04}-{month:02}-{day:02}")
}

/// The next `rows` cells of a column; an error if there are fewer.
pub(super) fn cells(reader: &mut ColumnReader, full: i16, rows: usize) -> Result<Vec<Cell>> {
    use ColumnReader as R;
    match reader {
        R::BoolColumnReader(r) => read(r, full, rows, |v| Cell::Whole(i64::from(v))),
        R::Int32ColumnReader(r) => read(r, full, rows, |v| Cell::Whole(i64::from(v))),
        R::Int64ColumnReader(r) => read(r, full, rows, Cell::Whole),
        R::FloatColumnReader(r) => read(r, full, rows, |v| Cell::Float(f64::from(v))),
        R::DoubleColumnReader(r) => read(r, full, rows, Cell::Float),
        R::ByteArrayColumnReader(r) => read(r, full, rows, Cell::Bytes),
        R::FixedLenByteArrayColumnReader(r) => read(r, full, rows, |v| Cell::Bytes(v.into())),
        R::Int96ColumnReader(_) => Err(ParquetError::NYI(
            "times in the old INT96 form are not read, 64-bit timestamps are".to_owned(),
        )),
    }
}

/// Values are stored without the nulls between them; a level below `full` marks a null.
fn read<T: DataType>(
    reader: &mut ColumnReaderImpl<T>,
    full: i16,
    rows: usize,
    cell: impl Fn(T::T) -> Cell,
) -> Result<Vec<Cell>> {
    let (mut values, mut levels) = (Vec::new(), Vec::new());
    let (found, ..) = reader.read_records(rows, Some(&mut levels), None, &mut values)?;
    if found != rows {
        return Err(ParquetError::EOF(format!("a column has {found} values where {rows} are announced")));
    }
    let mut values = values.into_iter().map(cell);
    if full == 0 {
        return Ok(values.collect());
    }
    Ok(levels
        .iter()
        .map(|&l| if l < full { Cell::Null } else { values.next().unwrap_or(Cell::Null) })
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_and_times() {
        assert_eq!(day(0), "1970-01-01");
        assert_eq!(day(19_782), "2024-02-29");
        assert_eq!(day(-1), "1969-12-31");
        let stamp = Meaning::Timestamp(1_000);
        assert_eq!(stamp.text(&Cell::Whole(86_400_000 + 3_661_007)), "1970-01-02T01:01:01.007");
        assert_eq!(Meaning::Decimal(2).number(&Cell::Whole(1_250)).unwrap(), 12.5);
        assert_eq!(Meaning::Decimal(2).number(&Cell::Bytes(vec![0xFF, 0xFB].into())).unwrap(), -0.05);
        assert_eq!([whole(&[]), whole(&[1, 0]), whole(&[0x80]), whole(&[0xFF])], [0.0, 256.0, -128.0, -1.0]);
        let halves = [0x3C00, 0xC000, 0x0001, 0x7C00, 0x3555].map(|bits: u16| half(&bits.to_le_bytes()));
        assert_eq!(halves, [1.0, -2.0, 2_f64.powi(-24), f64::INFINITY, 0.333_251_953_125]);
        assert_eq!(Meaning::Unsigned(32).number(&Cell::Whole(-1)).unwrap(), f64::from(u32::MAX));
    }
}
