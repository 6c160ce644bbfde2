//! TFRecord framing: length (u64), its masked CRC (u32), payload, its masked CRC (u32), all little-endian.

use super::crc32c::masked;

/// Bytes before the payload.
const HEAD: usize = 12;
/// Bytes after the payload.
const FOOT: usize = 4;

/// The record that carries `payload`.
pub(super) fn frame(payload: &[u8]) -> Vec<u8> {
    let length = (payload.len() as u64).to_le_bytes();
    let mut record = Vec::with_capacity(HEAD + payload.len() + FOOT);
    record.extend_from_slice(&length);
    record.extend_from_slice(&masked(&length).to_le_bytes());
    record.extend_from_slice(payload);
    record.extend_from_slice(&masked(payload).to_le_bytes());
    record
}

/// The whole records at the start of a file. It ends at the first that is cut short or fails its checksum:
/// where the next one would begin is then unknown, and TensorBoard reads no further either.
pub(super) struct Records<'a> {
    rest: &'a [u8],
}

/// One record.
pub(super) struct Record<'a> {
    /// The record with its frame.
    pub(super) whole: &'a [u8],
    /// What it carries.
    pub(super) payload: &'a [u8],
}

impl<'a> Records<'a> {
    pub(super) fn of(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }
}

impl<'a> Iterator for Records<'a> {
    type Item = Record<'a>;

    fn next(&mut self) -> Option<Record<'a>> {
        let (length, after) = self.rest.split_first_chunk::<8>()?;
        let (check, after) = after.split_first_chunk::<4>()?;
        if masked(length) != u32::from_le_bytes(*check) {
            return None;
        }
        let (payload, after) = after.split_at_checked(usize::try_from(u64::from_le_bytes(*length)).ok()?)?;
        let (check, after) = after.split_first_chunk::<4>()?;
        if masked(payload) != u32::from_le_bytes(*check) {
            return None;
        }
        let whole = &self.rest[..HEAD + payload.len() + FOOT];
        self.rest = after;
        Some(Record { whole, payload })
    }
}
