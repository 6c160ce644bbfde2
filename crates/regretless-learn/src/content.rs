//! What decides a result, as a short text.

use std::fmt::Debug;

use twox_hash::xxhash3_128::Hasher;

/// A hash of all that is put in, in order: 128 bits of XXH3. It tells contents apart; it is no seal against forgers.
///
/// ```
/// use regretless_learn::Content;
/// let one = Content::default().text("l2").numbers(&[0.5, -1.0]).hash();
/// let other = Content::default().text("l2").numbers(&[-0.5, 1.0]).hash();
/// assert!(one != other && one.len() == 32);
/// ```
#[derive(Default)]
pub struct Content(Hasher);

impl Content {
    /// Bytes as they are, with their number, so that nothing runs into what follows.
    pub fn bytes(mut self, bytes: &[u8]) -> Self {
        self.0.write(&(bytes.len() as u64).to_le_bytes());
        self.0.write(bytes);
        self
    }

    /// A text.
    pub fn text(self, text: &str) -> Self {
        self.bytes(text.as_bytes())
    }

    /// What has a form for debugging that spells everything out, such as settings.
    pub fn spelled(self, value: &impl Debug) -> Self {
        self.text(&format!("{value:?}"))
    }

    /// Numbers, to the last bit.
    pub fn numbers(mut self, values: &[f64]) -> Self {
        self.0.write(&(values.len() as u64).to_le_bytes());
        for value in values {
            self.0.write(&value.to_bits().to_le_bytes());
        }
        self
    }

    /// The hash in 32 hexadecimal digits.
    pub fn hash(self) -> String {
        format!("{:032x}", self.0.finish_128())
    }
}
