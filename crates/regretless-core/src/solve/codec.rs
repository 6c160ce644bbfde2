//! Saved state as bytes: little-endian, versioned, read with every length checked against what is there.

use thiserror::Error;

/// Why saved bytes were refused.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum SavedError {
    /// The bytes end too early.
    #[error("the saved state ends after {0} bytes, in the middle of a value: the file is cut off")]
    Truncated(usize),
    /// Not what was expected, or of another version.
    #[error("the saved state is not a {expected} of this version")]
    Kind {
        /// What was expected.
        expected: &'static str,
    },
    /// A value that cannot have been written.
    #[error("the saved state is damaged: {0}")]
    Damaged(&'static str),
    /// Written for something else.
    #[error("the saved state belongs to another {0}")]
    Mismatch(&'static str),
}

/// Bytes being written.
#[derive(Default)]
pub(crate) struct Writer(pub(crate) Vec<u8>);

impl Writer {
    pub(crate) fn tag(&mut self, tag: [u8; 4], version: u32) {
        self.0.extend(tag);
        self.0.extend(version.to_le_bytes());
    }

    pub(crate) fn u64(&mut self, v: u64) {
        self.0.extend(v.to_le_bytes());
    }

    pub(crate) fn f64(&mut self, v: f64) {
        self.u64(v.to_bits());
    }

    pub(crate) fn f64s(&mut self, v: &[f64]) {
        v.iter().for_each(|v| self.f64(*v));
    }

    /// A length and that many bytes.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.u64(bytes.len() as u64);
        self.0.extend(bytes);
    }
}

/// Bytes being read.
pub(crate) struct Reader<'a> {
    bytes: &'a [u8],
    total: usize,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, total: bytes.len() }
    }

    pub(crate) fn take(&mut self, len: usize) -> Result<&'a [u8], SavedError> {
        let (taken, rest) = self.bytes.split_at_checked(len).ok_or(SavedError::Truncated(self.total))?;
        self.bytes = rest;
        Ok(taken)
    }

    pub(crate) fn tag(
        &mut self,
        tag: [u8; 4],
        version: u32,
        expected: &'static str,
    ) -> Result<(), SavedError> {
        let found = self.take(8).map_err(|_| SavedError::Kind { expected })?;
        let same = found[..4] == tag && found[4..] == version.to_le_bytes();
        if same { Ok(()) } else { Err(SavedError::Kind { expected }) }
    }

    pub(crate) fn u64(&mut self) -> Result<u64, SavedError> {
        let mut raw = [0; 8];
        raw.copy_from_slice(self.take(8)?);
        Ok(u64::from_le_bytes(raw))
    }

    /// A count of things that take at least `each` bytes: never more than the bytes that are left can hold.
    pub(crate) fn count(&mut self, each: usize) -> Result<usize, SavedError> {
        let count = usize::try_from(self.u64()?).map_err(|_| SavedError::Truncated(self.total))?;
        match count.checked_mul(each) {
            Some(bytes) if bytes <= self.bytes.len() => Ok(count),
            _ => Err(SavedError::Truncated(self.total)),
        }
    }

    pub(crate) fn f64(&mut self) -> Result<f64, SavedError> {
        self.u64().map(f64::from_bits)
    }

    pub(crate) fn f64s(&mut self, len: usize) -> Result<Vec<f64>, SavedError> {
        let raw = self.take(len.checked_mul(8).ok_or(SavedError::Truncated(self.total))?)?;
        Ok(raw.chunks_exact(8).map(|c| f64::from_le_bytes(c.try_into().unwrap_or_default())).collect())
    }

    /// What [`Writer::bytes`] wrote.
    pub(crate) fn bytes(&mut self) -> Result<&'a [u8], SavedError> {
        let len = self.count(1)?;
        self.take(len)
    }

    pub(crate) fn end(&self) -> Result<(), SavedError> {
        if self.bytes.is_empty() {
            Ok(())
        } else {
            Err(SavedError::Damaged("bytes are left over at its end"))
        }
    }
}
