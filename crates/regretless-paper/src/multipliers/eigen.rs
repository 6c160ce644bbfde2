//! The eigenvalues behind Theorem 6, as the paper's experiment measured them and as the theorem means them.
//!
//! The theorem's λ_max is the largest eigenvalue of PᵀP, where P takes n unit rows A to an orthonormal basis: PᵀP has
//! the eigenvalues of (AᵀA)⁻¹, so λ_max = 1/σ_min(A)². The paper's experiment takes A = RQ and looks at RᵀR, whose
//! eigenvalues are those of AAᵀ. With unit rows these add up to n, so none exceeds n; what grew like n² were the rows
//! that the experiment gave up on and left un-normalised ([`Draw::given_up`]).

use std::path::Path;

use faer::diag::Diag;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::svd::{ComputeSvdVectors, svd, svd_scratch};
use faer::{MatRef, Par, Spec};
use rayon::prelude::*;
use regretless_learn::Journal;
use serde::{Deserialize, Serialize};

use super::table::median;
use super::{Distribution, Draw, Quadratic};
use crate::PaperError;

/// The seed of the released study.
pub const SEED: u64 = 29_489_138;

/// Trials for each size in the paper.
pub const TRIALS: usize = 1000;

/// The paper's sizes: 5, 10, …, 300.
pub fn sizes() -> Vec<usize> {
    (1..=60).map(|i| 5 * i).collect()
}

/// A few sizes for a first look; 100 trials of each are a matter of seconds.
pub fn quick_sizes() -> Vec<usize> {
    vec![5, 10, 20, 40, 60, 80, 100]
}

/// How a quantity spreads over trials.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// Mean.
    #[serde(with = "regretless_learn::unknown")]
    pub mean: f64,
    /// Standard deviation of the sample; 0 for a single trial.
    #[serde(with = "regretless_learn::unknown")]
    pub std: f64,
    /// Median.
    #[serde(with = "regretless_learn::unknown")]
    pub median: f64,
    /// Largest.
    #[serde(with = "regretless_learn::unknown")]
    pub max: f64,
}

impl Spread {
    /// Of some numbers; NaN throughout if there are none.
    pub fn of(mut values: Vec<f64>) -> Self {
        values.sort_by(f64::total_cmp);
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let square: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
        Self {
            mean,
            std: if values.len() == 1 { 0.0 } else { (square / (count - 1.0)).sqrt() },
            median: median(&values).unwrap_or(f64::NAN),
            max: values.last().copied().unwrap_or(f64::NAN),
        }
    }
}

/// The study for one size and distribution.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Eigenvalues {
    /// Number of rows, and of entries of each.
    pub n: usize,
    /// Distribution of the entries.
    pub distribution: Distribution,
    /// Trials.
    pub trials: usize,
    /// The largest eigenvalue of AAᵀ with the rows as the paper's experiment left them. The experiment took the first
    /// eigenvalue that a general solver returned, so this is an upper bound of its figure.
    pub published: Spread,
    /// The same with all rows at unit length; never more than n.
    pub unit_rows: Spread,
    /// The theorem's own quantity 1/σ_min(A)², rows at unit length. Its tail is so heavy that only the median tells.
    pub theorem: Spread,
    /// Share of trials with at least one un-normalised row.
    pub unnormalised_share: f64,
}

/// Runs the trials of one size, in parallel; the result depends on the arguments only.
///
/// ```
/// use regretless_paper::multipliers::{Distribution, eigen};
/// let found = eigen::study(10, 20, Distribution::Uniform, 1);
/// assert!(found.unit_rows.max <= 10.0 + 1e-9);
/// assert!(found.theorem.median >= 1.0);
/// ```
pub fn study(n: usize, trials: usize, distribution: Distribution, seed: u64) -> Eigenvalues {
    let trial = |trial: u64| {
        let draw = Draw::new(n, distribution, seed, trial);
        let (largest, smallest) = extremes(&draw.unit, n);
        let published = if draw.given_up.is_empty() { largest } else { extremes(&draw.published(), n).0 };
        (published.powi(2), largest.powi(2), smallest.powi(-2), !draw.given_up.is_empty())
    };
    let each: Vec<(f64, f64, f64, bool)> = (0..trials as u64).into_par_iter().map(trial).collect();
    Eigenvalues {
        n,
        distribution,
        trials,
        published: Spread::of(each.iter().map(|t| t.0).collect()),
        unit_rows: Spread::of(each.iter().map(|t| t.1).collect()),
        theorem: Spread::of(each.iter().map(|t| t.2).collect()),
        unnormalised_share: each.iter().filter(|t| t.3).count() as f64 / trials as f64,
    }
}

/// The sizes that are done, in a folder: what is there is not done again.
#[derive(Debug)]
pub struct Known {
    journal: Journal,
    found: Vec<Eigenvalues>,
}

/// Its file.
pub const KNOWN: &str = "eigenvalues.jsonl";

impl Known {
    /// Opens or begins a folder.
    pub fn open(dir: &Path) -> Result<Self, PaperError> {
        let journal = Journal::open(dir, KNOWN)?;
        let found = journal.read()?;
        Ok(Self { journal, found })
    }

    /// [`study`] of the released experiment's seed, looked up or done and written down.
    pub fn study(
        &mut self,
        n: usize,
        trials: usize,
        distribution: Distribution,
    ) -> Result<Eigenvalues, PaperError> {
        let wanted = |s: &&Eigenvalues| (s.n, s.trials, s.distribution) == (n, trials, distribution);
        if let Some(found) = self.found.iter().find(wanted) {
            return Ok(found.clone());
        }
        let done = study(n, trials, distribution, SEED);
        self.journal.add(&done)?;
        self.found.push(done.clone());
        Ok(done)
    }
}

/// The parabola through the largest eigenvalues as the paper's experiment has them: its evidence for "O(n²)".
pub fn growth(studies: &[Eigenvalues]) -> Option<Quadratic> {
    let points: Vec<(f64, f64)> = studies.iter().map(|s| (s.n as f64, s.published.max)).collect();
    Quadratic::fit(&points)
}

/// The largest and the smallest singular value of an n × n matrix; NaN if they cannot be computed.
fn extremes(rows: &[f64], n: usize) -> (f64, f64) {
    if n == 0 {
        return (f64::NAN, f64::NAN);
    }
    let no = ComputeSvdVectors::No;
    let mut memory = MemBuffer::new(svd_scratch::<f64>(n, n, no, no, Par::Seq, Spec::default()));
    let mut values = Diag::<f64>::zeros(n);
    let matrix = MatRef::from_row_major_slice(rows, n, n);
    let stack = MemStack::new(&mut memory);
    match svd(matrix, values.as_mut(), None, None, Par::Seq, stack, Spec::default()) {
        Ok(()) => (values[0], values[n - 1]),
        Err(_) => (f64::NAN, f64::NAN),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use regretless_core::solve::Par;

    use super::*;

    #[test]
    fn two_rows_by_hand() {
        // Unit rows at an angle of 60°: AAᵀ = [1 ½; ½ 1] has the eigenvalues 1.5 and 0.5.
        let (largest, smallest) = extremes(&[1.0, 0.0, 0.5, 0.75f64.sqrt()], 2);
        assert!((largest.powi(2) - 1.5).abs() < 1e-12 && (smallest.powi(-2) - 2.0).abs() < 1e-12);
        let spread = Spread::of(vec![4.0, 1.0, 1.0, 2.0]);
        assert_eq!(spread, Spread { mean: 2.0, std: 2f64.sqrt(), median: 1.5, max: 4.0 });
    }

    #[test]
    fn two_random_rows() {
        for trial in 0..20 {
            let draw = Draw::new(2, Distribution::Uniform, 3, trial);
            let cosine: f64 = (0..2).map(|j| draw.unit[j] * draw.unit[2 + j]).sum();
            let (largest, smallest) = extremes(&draw.unit, 2);
            assert!((largest.powi(2) - (1.0 + cosine.abs())).abs() < 1e-9);
            assert!((smallest.powi(2) - (1.0 - cosine.abs())).abs() < 1e-9);
        }
    }

    #[test]
    fn unit_rows_bound_the_one_and_not_the_other() {
        for distribution in Distribution::ALL {
            for n in [1, 2, 5, 12] {
                let found = study(n, 40, distribution, 5);
                assert!(found.unit_rows.max <= n as f64 + 1e-9, "{found:?}");
                assert!(found.published.max >= found.unit_rows.max - 1e-9 || found.unnormalised_share > 0.0);
                assert!(found.theorem.median >= 1.0 - 1e-9 && found.theorem.mean >= 1.0 - 1e-9, "{found:?}");
            }
        }
    }

    #[test]
    fn forty_uniform_rows_are_as_measured_before() {
        let found = study(40, 60, Distribution::Uniform, 29_489_138);
        assert!((found.unit_rows.mean - 30.3).abs() < 0.6 && found.unit_rows.max < 32.0, "{found:?}");
        assert!((4e3..1e5).contains(&found.theorem.median), "{found:?}");
        assert!(found.unnormalised_share < 0.25, "{found:?}");
    }

    #[test]
    fn the_theorems_quantity_is_at_least_one() {
        for trial in 0..40 {
            let draw = Draw::new(6, Distribution::Uniform, 2, trial);
            assert!(extremes(&draw.unit, 6).1 <= 1.0 + 1e-12);
        }
        assert!(study(0, 2, Distribution::Uniform, 1).theorem.mean.is_nan());
    }

    #[test]
    fn what_is_written_down_is_not_done_again() {
        let folder = tempfile::tempdir().unwrap();
        let first = Known::open(folder.path()).unwrap().study(6, 10, Distribution::Beta).unwrap();
        assert_eq!(first, study(6, 10, Distribution::Beta, SEED));
        // A line of other figures is believed, and one cut short is not.
        let path = folder.path().join(KNOWN);
        let line =
            fs::read_to_string(&path).unwrap().replace("\"unnormalised_share\":", "\"unnormalised_share\":7");
        fs::write(&path, format!("{line}{}", &line[..20])).unwrap();
        let mut known = Known::open(folder.path()).unwrap();
        assert!(known.study(6, 10, Distribution::Beta).unwrap().unnormalised_share >= 7.0);
        assert_eq!(known.study(6, 11, Distribution::Beta).unwrap().trials, 11);
        drop(known);
        assert_eq!(fs::read_to_string(&path).unwrap().lines().count(), 2);
        fs::write(&path, "{}\n").unwrap();
        assert!(Known::open(folder.path()).unwrap_err().to_string().contains("line 1"));
    }

    #[test]
    fn threads_do_not_matter() {
        let with = |threads| Par::new(threads).unwrap().run(|| study(8, 30, Distribution::Normal, 11));
        assert_eq!(with(1), with(2));
    }

    #[test]
    fn the_paper_has_sixty_sizes() {
        assert_eq!((sizes().len(), sizes()[0], sizes()[59]), (60, 5, 300));
        assert!(quick_sizes().iter().all(|n| sizes().contains(n)));
        let studies: Vec<_> = [5, 10, 15].map(|n| study(n, 5, Distribution::Beta, 1)).into();
        assert!(growth(&studies).is_some() && growth(&studies[..2]).is_none());
    }
}
