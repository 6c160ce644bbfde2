//! Rolling origins: a model is trained on what was before a moment and judged on what came next, at several moments.
//!
//! ```text
//! |------ training ------|- gap -|- validation -|- gap -|-- test --|      the first origin
//! |------------ training -----------|- gap -|- validation -|- gap -|-- test --|
//! ```
//!
//! Tests follow one another and have as many moments each; together they are the second half of the time, or what follows
//! `test_from`. Validation is what the split says: as long as from `valid_from` to its test, or else the share that it takes of what is
//! before the test.

use super::dataset::Dataset;
use crate::error::LearnError;
use crate::settings::{Split, Timed};

impl Dataset {
    /// The splits of so many origins, the first one first.
    ///
    /// ```
    /// use regretless_learn::{Dataset, Names, Split};
    /// let mut data = Dataset::new((0..40).map(f64::from).collect(), vec![0.0; 40], 40, Names::numbered(1));
    /// data.times = (0..40).map(|row| f64::from(row / 2)).collect();
    /// let splits = data.origins(&Split::default(), 2)?;
    /// let ends: Vec<_> = splits.iter().map(|s| (s.valid_from, s.test_from, s.test_until)).collect();
    /// assert_eq!(ends, [(Some(8.0), Some(10.0), Some(15.0)), (Some(11.0), Some(15.0), None)]);
    /// let [train, valid, test] = data.split(&Split::Timed(splits[0]), 0);
    /// assert_eq!((train.len(), valid.len(), test.len()), (16, 4, 10));
    /// # Ok::<(), regretless_learn::LearnError>(())
    /// ```
    pub fn origins(&self, split: &Split, count: usize) -> Result<Vec<Timed>, LearnError> {
        let given = if let Split::Timed(timed) = split { Some(*timed) } else { None };
        let mut times: Vec<f64> = (0..self.rows()).map(|row| self.time_of(row)).collect();
        times.sort_by(f64::total_cmp);
        let rows = times.clone();
        times.dedup();
        let from = given.and_then(|timed| timed.test_from);
        let first = from.map_or(times.len() / 2, |from| times.partition_point(|time| *time < from));
        let there = times.len() - first;
        let long = there / count.max(1);
        // Where they do not come out even the first test is longer.
        let begins = |k: usize| first + if k == 0 { 0 } else { there - (count - k) * long };
        let validation = self.validation(split);
        let valid_from = |test: f64| match validation {
            Validation::Lasts(time) => Some(test - time),
            Validation::Share(share) => {
                let before = rows.partition_point(|time| *time < test);
                let train = before - ((share * before as f64).round() as usize).min(before);
                // All rows of a moment are in one part.
                times.iter().copied().find(|from| rows.partition_point(|time| time < from) >= train)
            }
        };
        // Something to learn from and something to choose by before the first test.
        let learns = |from: f64| times.first().is_some_and(|begin| *begin < from);
        if long == 0 || first < 2 || !valid_from(times[first]).is_none_or(learns) {
            let what = format!(
                "{count} origins need more time: {} moments, {there} of them to judge by",
                times.len()
            );
            return Err(LearnError::Data { what, hint: "ask for fewer, or give more history".into() });
        }
        let one = |k: usize| Timed {
            valid_from: valid_from(times[begins(k)]).filter(|from| *from < times[begins(k)]),
            valid: 0.0,
            test_from: Some(times[begins(k)]),
            test_until: (k + 1 < count).then(|| times[begins(k + 1)]),
            test: 0.0,
            gap: given.map_or(0.0, |timed| timed.gap),
            dates: self.dates,
        };
        Ok((0..count).map(one).collect())
    }

    /// How much of what is before a test this split takes for validation.
    fn validation(&self, split: &Split) -> Validation {
        let [train, valid, test] = self.split(split, 0);
        let began = test.iter().map(|&row| self.time_of(row)).fold(f64::INFINITY, f64::min);
        match split {
            Split::Timed(Timed { valid_from: Some(from), .. }) if began.is_finite() => {
                Validation::Lasts(began - from)
            }
            _ => Validation::Share(valid.len() as f64 / (train.len() + valid.len()).max(1) as f64),
        }
    }
}

/// How much of what is before a test is for validation.
enum Validation {
    /// So much time.
    Lasts(f64),
    /// This share of the rows.
    Share(f64),
}
