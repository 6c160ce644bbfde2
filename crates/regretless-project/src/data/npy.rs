//! NPY files: the subset that numpy writes for real vectors and matrices, read strictly.
//!
//! The header's shape must fit the length of the file exactly, so no header can make us reserve more than the file
//! itself is worth.

use std::io::Read;

use super::Array;
use crate::error::Trouble;

const MAGIC: &[u8; 6] = b"\x93NUMPY";
/// numpy pads headers to 64 bytes; only structured types need long ones, and those are not read.
const LONGEST_HEADER: u64 = 1 << 16;

fn bad(what: impl Into<String>) -> Trouble {
    Trouble::Npy(what.into())
}

/// Reads an array of which `length` bytes are there.
pub(super) fn read(mut reader: impl Read, length: u64, most: usize) -> Result<Array, Trouble> {
    let mut start = [0; 8];
    fill(&mut reader, &mut start)?;
    if &start[..6] != MAGIC {
        return Err(bad("it does not begin as NPY files do"));
    }
    let (header_length, width) = match start[6] {
        1 => {
            let mut bytes = [0; 2];
            fill(&mut reader, &mut bytes)?;
            (u64::from(u16::from_le_bytes(bytes)), 2)
        }
        2 | 3 => {
            let mut bytes = [0; 4];
            fill(&mut reader, &mut bytes)?;
            (u64::from(u32::from_le_bytes(bytes)), 4)
        }
        version => return Err(bad(format!("format version {version} is not known"))),
    };
    if header_length > LONGEST_HEADER || header_length > length {
        return Err(bad(format!("its header claims {header_length} bytes")));
    }
    let mut header = vec![0; header_length as usize];
    fill(&mut reader, &mut header)?;
    let header = Header::parse(&header)?;

    let (rows, cols) = match *header.shape {
        [cols] => (1, cols),
        [rows, cols] => (rows, cols),
        _ => return Err(bad(format!("it has {} dimensions, and only 1 and 2 are read", header.shape.len()))),
    };
    let entries = rows.saturating_mul(cols);
    if entries > most as u64 {
        return Err(Trouble::TooManyEntries {
            found: usize::try_from(entries).unwrap_or(usize::MAX),
            limit: most,
        });
    }
    if entries == 0 {
        return Err(Trouble::Empty("the array has no entries"));
    }
    let there = length - (8 + width + header_length).min(length);
    if entries * header.kind.width() as u64 != there {
        return Err(bad(format!(
            "{rows} × {cols} entries of {} bytes are announced, {there} bytes are there",
            header.kind.width()
        )));
    }
    let (rows, cols) = (rows as usize, cols as usize);
    let values = header.kind.values(&mut reader, rows * cols)?;
    let values =
        if header.fortran_order && rows > 1 && cols > 1 { transpose(&values, cols, rows) } else { values };
    Ok(Array { rows, cols, values })
}

fn fill(reader: &mut impl Read, bytes: &mut [u8]) -> Result<(), Trouble> {
    reader.read_exact(bytes).map_err(|e| match e.kind() {
        std::io::ErrorKind::UnexpectedEof => bad("it is cut off"),
        _ => Trouble::Unreadable(e),
    })
}

/// The transpose of a row-major matrix.
fn transpose(values: &[f64], rows: usize, cols: usize) -> Vec<f64> {
    let mut out = Vec::with_capacity(values.len());
    for j in 0..cols {
        out.extend((0..rows).map(|i| values[i * cols + j]));
    }
    out
}

#[derive(Clone, Copy)]
enum Kind {
    F8,
    F4,
    I8,
    I4,
}

impl Kind {
    fn width(self) -> usize {
        match self {
            Self::F8 | Self::I8 => 8,
            Self::F4 | Self::I4 => 4,
        }
    }

    fn values(self, reader: &mut impl Read, count: usize) -> Result<Vec<f64>, Trouble> {
        // A piece at a time: the bytes of a large file need not be held beside its numbers.
        const PIECE: usize = 8192;
        let mut values = Vec::with_capacity(count);
        let mut bytes = [0; PIECE];
        while values.len() < count {
            let take = (count - values.len()).min(PIECE / self.width());
            let bytes = &mut bytes[..take * self.width()];
            fill(reader, bytes)?;
            match self {
                Self::F8 => extend(&mut values, bytes, f64::from_le_bytes),
                Self::F4 => extend(&mut values, bytes, |b| f64::from(f32::from_le_bytes(b))),
                Self::I8 => extend(&mut values, bytes, |b| i64::from_le_bytes(b) as f64),
                Self::I4 => extend(&mut values, bytes, |b| f64::from(i32::from_le_bytes(b))),
            }
        }
        Ok(values)
    }
}

fn extend<const N: usize>(values: &mut Vec<f64>, bytes: &[u8], number: impl Fn([u8; N]) -> f64) {
    values.extend(bytes.as_chunks().0.iter().map(|b| number(*b)));
}

struct Header {
    kind: Kind,
    fortran_order: bool,
    shape: Vec<u64>,
}

impl Header {
    /// Reads the Python dictionary `{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }`.
    fn parse(bytes: &[u8]) -> Result<Self, Trouble> {
        let text = std::str::from_utf8(bytes).map_err(|_| bad("its header is not text"))?;
        let inner = text.trim().strip_prefix('{').and_then(|t| t.strip_suffix('}'));
        let mut rest = inner.ok_or_else(|| bad("its header is not a dictionary"))?.trim();
        let (mut kind, mut fortran_order, mut shape) = (None, None, None);
        while !rest.is_empty() {
            let (key, after) = quoted(rest)?;
            let value =
                after.trim_start().strip_prefix(':').ok_or_else(|| bad("its header lacks a colon"))?;
            let value = value.trim_start();
            rest = match key {
                "descr" => {
                    let (descr, after) = quoted(value)?;
                    kind = Some(Self::kind(descr)?);
                    after
                }
                "fortran_order" => {
                    let known = [("True", true), ("False", false)];
                    let found =
                        known.iter().find_map(|(word, v)| value.strip_prefix(word).map(|after| (*v, after)));
                    let (order, after) =
                        found.ok_or_else(|| bad("fortran_order is neither True nor False"))?;
                    fortran_order = Some(order);
                    after
                }
                "shape" => {
                    let (inside, after) = value
                        .strip_prefix('(')
                        .and_then(|v| v.split_once(')'))
                        .ok_or_else(|| bad("shape is not a tuple"))?;
                    shape = Some(Self::shape(inside)?);
                    after
                }
                _ => {
                    return Err(bad(format!(
                        "its header has the unknown key `{}`",
                        crate::error::shorten(key)
                    )));
                }
            }
            .trim_start();
            rest = match rest.strip_prefix(',') {
                Some(after) => after.trim_start(),
                None if rest.is_empty() => rest,
                None => return Err(bad("its header lacks a comma")),
            };
        }
        let missing = |key: &str| bad(format!("its header lacks `{key}`"));
        Ok(Self {
            kind: kind.ok_or_else(|| missing("descr"))?,
            fortran_order: fortran_order.ok_or_else(|| missing("fortran_order"))?,
            shape: shape.ok_or_else(|| missing("shape"))?,
        })
    }

    fn kind(descr: &str) -> Result<Kind, Trouble> {
        match descr {
            "<f8" => Ok(Kind::F8),
            "<f4" => Ok(Kind::F4),
            "<i8" => Ok(Kind::I8),
            "<i4" => Ok(Kind::I4),
            _ => Err(bad(format!(
                "entries of type `{}` are not read, only <f8, <f4, <i8 and <i4",
                crate::error::shorten(descr)
            ))),
        }
    }

    fn shape(inside: &str) -> Result<Vec<u64>, Trouble> {
        let parts = inside.trim().trim_end_matches(',').split(',').map(str::trim);
        let sizes = parts
            .filter(|p| !p.is_empty())
            .map(|p| p.parse().map_err(|_| bad("shape is not a tuple of sizes")));
        sizes.collect()
    }
}

/// A Python string at the beginning of `text`, and what follows it.
fn quoted(text: &str) -> Result<(&str, &str), Trouble> {
    let mark = text.chars().next().filter(|c| matches!(c, '\'' | '"'));
    let inside = mark.and_then(|mark| text[1..].split_once(mark));
    inside.ok_or_else(|| bad("its header is not a dictionary with text keys, or its type is structured"))
}

#[cfg(test)]
mod tests;
