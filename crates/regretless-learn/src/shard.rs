//! A share of the work.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

/// The share `3/8`: the third of eight. Jobs are dealt out in turn.
///
/// ```
/// use regretless_learn::Shard;
/// let shard: Shard = "2/3".parse()?;
/// assert_eq!((0..7).filter(|&job| shard.has(job)).collect::<Vec<_>>(), [1, 4]);
/// assert!("3/2".parse::<Shard>().is_err());
/// # Ok::<(), regretless_learn::ShardError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// Which, counted from 1.
    index: usize,
    /// Of how many.
    of: usize,
}

/// Why a text is no shard.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum ShardError {
    /// Not two whole numbers with a stroke between them.
    #[error("a shard is written as 3/8: the third of eight")]
    Form,
    /// No shards at all.
    #[error("there is at least one shard: 1/1 is all of the work")]
    None,
    /// One that is not there.
    #[error("there is no shard {index} of {of}: they count from 1/{of} to {of}/{of}")]
    Beyond {
        /// Which.
        index: usize,
        /// Of how many.
        of: usize,
    },
}

impl Shard {
    /// All of the work.
    pub const WHOLE: Self = Self { index: 1, of: 1 };

    /// Whether a job, counted from 0, is in this share.
    pub fn has(self, job: usize) -> bool {
        job % self.of == self.index - 1
    }

    /// Of how many it is one.
    pub fn of(self) -> usize {
        self.of
    }

    /// Which it is, counted from 1.
    pub fn index(self) -> usize {
        self.index
    }
}

impl FromStr for Shard {
    type Err = ShardError;

    fn from_str(text: &str) -> Result<Self, ShardError> {
        let (index, of) = text.split_once('/').ok_or(ShardError::Form)?;
        let number = |text: &str| text.trim().parse::<usize>().map_err(|_| ShardError::Form);
        match (number(index)?, number(of)?) {
            (_, 0) => Err(ShardError::None),
            (index, of) if (1..=of).contains(&index) => Ok(Self { index, of }),
            (index, of) => Err(ShardError::Beyond { index, of }),
        }
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.of)
    }
}
