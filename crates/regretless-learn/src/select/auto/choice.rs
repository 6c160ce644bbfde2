//! The choice, and what it is worth, its own search included.
//!
//! A choice takes the simplest candidate whose mean regret is within one standard error of the lowest, paired over the rows out of
//! fold. But a mean that has the lowest is taken at its word: in no row does a mean of decisions cost more than its members on average, nor
//! does a mean of predictions, which scenarios stand around, err more than they do. So among candidates that cannot be told apart it is no
//! gamble, and the simplest is one.
//!
//! Rows of a fold share a training, and neighbours in time share more, so that the standard error of a gap is the larger of
//!
//! ```text
//! s/√n       s the deviation of the gap over n rows
//! s_F/√F     s_F the deviation of its means over F folds
//! ```
//!
//! What a choice is worth is seen where it did not look: for each fold f, choose ĉ₋f, and the best plain forecast r₋f, without it; the
//! gain is the mean over all rows i of all f of regret_i(r₋f) − regret_i(ĉ₋f), and its interval ± t₀.₉₇₅ times its standard error.
//! Folds by which candidates were dropped are left out.

use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::data::suspicions::ENOUGH;
use crate::evaluate::stats::Summary;

/// Rounding that points one way in every row is no gain: so much of a regret is none.
pub(super) const ROUNDING: f64 = 1e-6;

/// Regrets of candidates on the same rows, simplest first.
pub(super) struct Costs {
    /// The fold of each row.
    pub(super) folds: Vec<usize>,
    /// Of each candidate, row by row; NaN where it did not decide.
    pub(super) regrets: Vec<Vec<f64>>,
    /// Which are forecasts and nothing else.
    pub(super) plain: Vec<bool>,
    /// Which are means of decisions, or distributions around a mean of predictions.
    pub(super) means: Vec<bool>,
}

/// A mean gap between two candidates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Gap {
    pub(super) mean: f64,
    pub(super) error: f64,
    /// Degrees of freedom of the error.
    freedom: f64,
}

impl Gap {
    /// Of paired differences, each with its fold; `None` over a handful of rows.
    pub(super) fn of(pairs: &[(usize, f64)]) -> Option<Self> {
        let finite: Vec<(usize, f64)> = pairs.iter().copied().filter(|(_, gap)| gap.is_finite()).collect();
        let gaps: Vec<f64> = finite.iter().map(|(_, gap)| *gap).collect();
        let rows = Summary::of(&gaps).ok().filter(|_| gaps.len() >= ENOUGH)?;
        let by_row = rows.std? / (gaps.len() as f64).sqrt();
        let last = finite.iter().map(|(fold, _)| *fold).max().unwrap_or(0);
        let mean = |fold: usize| {
            let own: Vec<f64> = finite.iter().filter(|(f, _)| *f == fold).map(|(_, gap)| *gap).collect();
            (!own.is_empty()).then(|| own.iter().sum::<f64>() / own.len() as f64)
        };
        let means: Vec<f64> = (0..=last).filter_map(mean).collect();
        let folds = Summary::of(&means).ok().filter(|_| means.len() > 2).and_then(|s| s.std);
        let by_fold = folds.map_or(0.0, |std| std / (means.len() as f64).sqrt());
        let freedom = if by_fold > by_row { means.len() } else { gaps.len() } as f64 - 1.0;
        Some(Self { mean: rows.mean, error: by_row.max(by_fold), freedom })
    }

    /// Its 95 % interval.
    pub(super) fn interval(&self) -> (f64, f64) {
        let t = StudentsT::new(0.0, 1.0, self.freedom).map_or(1.96, |student| student.inverse_cdf(0.975));
        (self.mean - t * self.error, self.mean + t * self.error)
    }
}

impl Costs {
    /// The mean regret of a candidate over some folds, after the number of rows that it did not decide.
    fn rank(&self, idea: usize, used: &dyn Fn(usize) -> bool) -> (usize, f64) {
        let own = || self.regrets[idea].iter().zip(&self.folds).filter(|(_, f)| used(**f)).map(|(r, _)| *r);
        let decided = own().filter(|r| r.is_finite()).count();
        (own().count() - decided, own().filter(|r| r.is_finite()).sum::<f64>() / decided as f64)
    }

    pub(super) fn lowest(&self, among: impl Iterator<Item = usize>, used: &dyn Fn(usize) -> bool) -> usize {
        let ranked = among.map(|idea| (self.rank(idea, used), idea));
        let least = ranked.min_by(|((a, x), i), ((b, y), j)| a.cmp(b).then(x.total_cmp(y)).then(i.cmp(j)));
        least.map_or(0, |(_, idea)| idea)
    }

    /// How much more the first costs, over some folds.
    pub(super) fn gap(&self, a: usize, b: usize, used: &dyn Fn(usize) -> bool) -> Option<Gap> {
        let both = self.regrets[a].iter().zip(&self.regrets[b]).zip(&self.folds);
        let pairs: Vec<(usize, f64)> =
            both.filter(|(_, f)| used(**f)).map(|((a, b), f)| (*f, a - b)).collect();
        Gap::of(&pairs)
    }

    /// The forecast that others are compared with: the best of the plain ones.
    pub(super) fn reference(&self, used: &dyn Fn(usize) -> bool) -> usize {
        self.lowest((0..self.plain.len()).filter(|&idea| self.plain[idea]), used)
    }

    /// The best of all.
    pub(super) fn best(&self, used: &dyn Fn(usize) -> bool) -> usize {
        self.lowest(0..self.regrets.len(), used)
    }

    /// The best if it is a mean, or else the simplest candidate within one standard error of it; the best plain forecast where there are too
    /// few rows to tell.
    pub(super) fn choose(&self, used: &dyn Fn(usize) -> bool) -> usize {
        let best = self.best(used);
        let (undecided, regret) = self.rank(best, used);
        let near = |idea: usize| {
            let decides = self.rank(idea, used).0 <= undecided;
            let rounding = ROUNDING * regret.abs();
            decides && self.gap(idea, best, used).is_some_and(|gap| gap.mean <= gap.error.max(rounding))
        };
        if self.gap(best, best, used).is_none() {
            return self.reference(used);
        }
        if self.means[best] {
            return best;
        }
        (0..self.regrets.len()).find(|&idea| idea == best || near(idea)).unwrap_or(best)
    }

    /// The gain of the choice over the best plain forecast where neither looked, over the folds from `first` on, and the mean regret of
    /// the forecast there.
    pub(super) fn honest(&self, first: usize) -> Option<(Gap, f64)> {
        let count = 1 + self.folds.iter().copied().max()?;
        let (mut pairs, mut regrets) = (Vec::new(), Vec::new());
        for fold in first..count {
            let others = |f: usize| f != fold;
            let (chosen, reference) = (self.choose(&others), self.reference(&others));
            for (row, _) in self.folds.iter().enumerate().filter(|(_, f)| **f == fold) {
                let regret = self.regrets[reference][row];
                pairs.push((fold, regret - self.regrets[chosen][row]));
                regrets.push(regret);
            }
        }
        regrets.retain(|regret| regret.is_finite());
        let mean = regrets.iter().sum::<f64>() / regrets.len() as f64;
        Gap::of(&pairs).map(|gain| (gain, mean))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two folds apart by what s/√n and s_F/√F say, by hand.
    #[test]
    fn the_larger_error_counts() {
        let pairs: Vec<(usize, f64)> = (0..12).map(|i| (i / 4, [1.0, 2.0, 6.0][i / 4])).collect();
        let gap = Gap::of(&pairs).unwrap();
        assert_eq!(gap.mean, 3.0);
        // Means 1, 2, 6: variance ((−2)² + 1 + 9)/2 = 7.
        assert!((gap.error - (7.0_f64 / 3.0).sqrt()).abs() < 1e-12);
        // t of two degrees of freedom at 97.5 % is 4.3027.
        assert!((gap.interval().1 - 3.0 - 4.302_652_73 * gap.error).abs() < 1e-6);
        assert_eq!(Gap::of(&pairs[..5]), None);
    }

    fn costs(regrets: Vec<Vec<f64>>, plain: Vec<bool>) -> Costs {
        let means = vec![false; plain.len()];
        Costs { folds: (0..regrets[0].len()).map(|row| row % 5).collect(), regrets, plain, means }
    }

    #[test]
    fn the_simplest_of_those_that_cannot_be_told_apart() {
        let noise = |row: usize| ((row * 7919) % 101) as f64 / 101.0;
        let base: Vec<f64> = (0..100).map(|row| 3.0 + noise(row)).collect();
        let same: Vec<f64> =
            base.iter().enumerate().map(|(i, r)| r - 0.01 + noise(i + 31) - noise(i + 57)).collect();
        let lower: Vec<f64> = base.iter().map(|r| r - 1.0).collect();
        let all = |_: usize| true;
        let two = costs(vec![base.clone(), same.clone()], vec![true, false]);
        assert_eq!(two.choose(&all), 0);
        let three = costs(vec![base, same, lower], vec![true, false, false]);
        assert_eq!((three.choose(&all), three.reference(&all), three.best(&all)), (2, 0, 2));
        let (gain, _) = three.honest(0).unwrap();
        assert!((gain.mean - 1.0).abs() < 1e-12 && gain.interval().0 > 0.99);
    }

    /// What cannot be told apart decides together, as no row of a mean costs more than its members do on average; a rounding dearer, and the
    /// simplest is kept.
    #[test]
    fn a_mean_needs_no_proof() {
        let noise = |row: usize| ((row * 7919) % 101) as f64 / 101.0 - 0.5;
        let [a, b]: [Vec<f64>; 2] = [1.0, -1.0].map(|s| (0..100).map(|i| 3.0 + s * noise(i)).collect());
        let mean =
            |more: f64| a.iter().zip(&b).map(|(a, b)| 0.5 * (a + b) - 0.01 + more).collect::<Vec<f64>>();
        let among = |more| Costs {
            means: vec![false, false, true],
            ..costs(vec![a.clone(), b.clone(), mean(more)], vec![true, true, false])
        };
        assert_eq!(among(0.0).choose(&|_| true), 2);
        assert_eq!(Costs { means: vec![false; 3], ..among(0.0) }.choose(&|_| true), 0);
        assert_eq!(among(0.1).choose(&|_| true), 0);
    }

    /// Twenty candidates of pure noise: the lowest mean looks better than it is, what is seen out of its choice does not.
    #[test]
    fn a_search_among_noise_gains_nothing() {
        use rand::RngExt;
        let mut within = 0;
        for seed in 0..40 {
            let mut rng = crate::random::stream(seed, 0, 0);
            let mut column = || (0..100).map(|_| rng.random_range(0.0..1.0)).collect::<Vec<f64>>();
            let regrets: Vec<Vec<f64>> = (0..20).map(|_| column()).collect();
            let plain = (0..20).map(|idea| idea == 0).collect();
            let (gain, _) = costs(regrets, plain).honest(0).unwrap();
            let (low, high) = gain.interval();
            within += usize::from(low <= 0.0 && 0.0 <= high);
        }
        assert!(within >= 35, "{within} of 40 intervals hold the truth");
    }

    #[test]
    fn deciding_less_is_never_better() {
        let decided = vec![1.0; 40];
        let mut other = vec![0.1; 40];
        other[3] = f64::NAN;
        assert_eq!(costs(vec![other, decided], vec![true, true]).choose(&|_| true), 1);
    }
}
