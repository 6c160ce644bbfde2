//! Sizes of the synthetic LP.

use std::fmt;
use std::str::FromStr;

use crate::PaperError;

/// Decision variables, hard rows and soft rows, written `80,80,40`.
///
/// ```
/// use regretless_paper::synthetic::Size;
/// let size: Size = "80,80,40".parse()?;
/// assert_eq!((size.n, size.hard, size.soft), (80, 80, 40));
/// # Ok::<(), regretless_paper::PaperError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Decision variables.
    pub n: usize,
    /// Hard rows Ax ≤ b.
    pub hard: usize,
    /// Soft rows.
    pub soft: usize,
}

impl Size {
    /// The paper's four, in its order.
    pub const PAPER: [Self; 4] = [
        Self { n: 40, hard: 40, soft: 0 },
        Self { n: 40, hard: 40, soft: 20 },
        Self { n: 80, hard: 80, soft: 0 },
        Self { n: 80, hard: 80, soft: 40 },
    ];
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{},{},{}", self.n, self.hard, self.soft)
    }
}

impl FromStr for Size {
    type Err = PaperError;

    fn from_str(text: &str) -> Result<Self, PaperError> {
        let numbers: Option<Vec<usize>> =
            text.trim_matches(['(', ')']).split(',').map(|part| part.trim().parse().ok()).collect();
        match numbers.as_deref() {
            // Larger problems could be solved, but their study would never be finished.
            Some(&[n @ 1..=600, hard @ 1..=600, soft @ 0..=600]) if n * (hard + soft) <= 360_000 => {
                Ok(Self { n, hard, soft })
            }
            _ => Err(PaperError::settings(
                format!("`{text}` is no size of the synthetic LP"),
                "give variables, hard rows and soft rows, such as --sizes 80,80,40; at most 600 each and 360,000 coefficients",
            )),
        }
    }
}
