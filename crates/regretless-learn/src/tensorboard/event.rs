//! The few fields of TensorFlow's `Event` message that scalars need, in protobuf's wire format.
//!
//! `Event`: wall_time (1, double), step (2, int64), file_version (3, string), summary (5, `Summary`).
//! `Summary`: value (1, repeated `Value`). `Value`: tag (1, string), simple_value (2, float).

/// The file version that TensorBoard expects in the first record.
const VERSION: &str = "brain.Event:2";

// Wire types.
const VARINT: u64 = 0;
const FIXED64: u64 = 1;
const BYTES: u64 = 2;
const FIXED32: u64 = 5;

/// The event at the start of a file.
pub(super) fn version(wall_time: f64) -> Vec<u8> {
    let mut event = Vec::new();
    put_double(&mut event, 1, wall_time);
    put_bytes(&mut event, 3, VERSION.as_bytes());
    event
}

/// The event of one scalar.
pub(super) fn scalar(tag: &str, step: u64, value: f32, wall_time: f64) -> Vec<u8> {
    let mut entry = Vec::new();
    put_bytes(&mut entry, 1, tag.as_bytes());
    put_key(&mut entry, 2, FIXED32);
    entry.extend_from_slice(&value.to_le_bytes());
    let mut summary = Vec::new();
    put_bytes(&mut summary, 1, &entry);
    let mut event = Vec::new();
    put_double(&mut event, 1, wall_time);
    put_key(&mut event, 2, VARINT);
    put_varint(&mut event, step);
    put_bytes(&mut event, 5, &summary);
    event
}

fn put_key(out: &mut Vec<u8>, field: u64, wire: u64) {
    put_varint(out, field << 3 | wire);
}

fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn put_double(out: &mut Vec<u8>, field: u64, value: f64) {
    put_key(out, field, FIXED64);
    out.extend_from_slice(&value.to_le_bytes());
}

fn put_bytes(out: &mut Vec<u8>, field: u64, bytes: &[u8]) {
    put_key(out, field, BYTES);
    put_varint(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// What resuming needs to know of an event.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Head {
    /// Its step; 0 where it has none, as protobuf has it.
    pub(super) step: i64,
    /// Whether it is the event at the start of a file.
    pub(super) version: bool,
}

/// Reads an event's head and steps over all other fields; none if the message is malformed.
pub(super) fn head(mut event: &[u8]) -> Option<Head> {
    let mut head = Head::default();
    while !event.is_empty() {
        let key = take_varint(&mut event)?;
        match (key >> 3, key & 7) {
            (2, VARINT) => head.step = take_varint(&mut event)?.cast_signed(),
            (_, VARINT) => {
                take_varint(&mut event)?;
            }
            (_, FIXED64) => event = event.get(8..)?,
            (_, FIXED32) => event = event.get(4..)?,
            (field, BYTES) => {
                let length = usize::try_from(take_varint(&mut event)?).ok()?;
                let (content, rest) = event.split_at_checked(length)?;
                head.version |= field == 3 && content == VERSION.as_bytes();
                event = rest;
            }
            _ => return None,
        }
    }
    Some(head)
}

fn take_varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(byte & 0x7F) << shift;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{Head, head, scalar, version};

    #[test]
    fn heads_come_back() {
        assert_eq!(head(&version(1.5)), Some(Head { step: 0, version: true }));
        for step in [0, 1, 127, 128, 300, 1 << 40, i64::MAX] {
            let event = scalar("regret", step.cast_unsigned(), 0.25, 2.5);
            assert_eq!(head(&event), Some(Head { step, version: false }));
            for cut in 1..event.len() {
                // A cut between two fields is a shorter message; elsewhere it is malformed. Never a panic.
                let _ = head(&event[..cut]);
            }
        }
        assert_eq!(head(&[0xFF; 30]), None);
    }
}
