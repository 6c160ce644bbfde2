//! As published, or done properly.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Which of the two ways an application is run; figures of the two are never mixed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Profile {
    /// The settings of the released experiments: to be put beside the paper's tables.
    Published,
    /// The same applications done properly: K and epoch chosen on validation, statistics from the training part only, a
    /// problem of its own for each seed, the noise the paper describes, a predictor that converges.
    #[default]
    Sound,
}

impl Profile {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Published => "published",
            Self::Sound => "sound",
        }
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}
