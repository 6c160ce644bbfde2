//! What is known of every equity on every date, and the returns to come.

use rayon::prelude::*;

use super::prices::Prices;
use crate::PaperError;
use crate::random::{choose, stream};

/// The features of an equity on a date, in the order of [`Panel::features`].
///
/// Returns are those of a day: `cur_return` of this one, `prev3_return` of three trading days ago. The changes of a year, a
/// quarter, a month and a week are over 365, 120, 30 and 7 trading days, as the paper has them. `return_rolling` is over the
/// returns of 7 days, `rolling_365` and so on over closing prices; variances are those of samples.
#[rustfmt::skip]
pub const FEATURES: [&str; 28] = [
    "cur_return",
    "prev1_return", "prev2_return", "prev3_return", "prev4_return", "prev5_return",
    "prev6_return", "prev7_return", "prev8_return", "prev9_return", "prev10_return",
    "prev_year_return", "prev_qtr_return", "prev_month_return", "prev_week_return",
    "return_rolling_mean", "return_rolling_var",
    "rolling_365_mean", "rolling_365_var", "rolling_120_mean", "rolling_120_var",
    "rolling_30_mean", "rolling_30_var", "rolling_7_mean", "rolling_7_var", "rolling_3_mean", "rolling_3_var",
    "close",
];
/// Returns to come that a panel holds for every equity and date.
pub const NEXT: usize = 10;

const WIDTH: usize = FEATURES.len();
/// Trading days that count as a year, a quarter, a month and a week.
const CHANGES: [usize; 4] = [365, 120, 30, 7];
/// Trading days that rolling means and variances of prices are over.
const WINDOWS: [usize; 5] = [365, 120, 30, 7, 3];
/// Days of the rolling mean and variance of returns.
const RETURNS: usize = 7;
/// Past returns beside that of the day.
const PAST: usize = 10;
/// Dates at the start that lack the change of a year.
const START: usize = CHANGES[0];
/// The fewest dates that can be split into training, validation and test.
const FEWEST: usize = 10;

/// Features and returns to come, by date and equity.
#[derive(Clone, Debug, PartialEq)]
pub struct Panel {
    /// Dates that have all features and all returns to come.
    pub dates: Vec<String>,
    /// Tickers.
    pub symbols: Vec<String>,
    /// Dates × symbols × [`FEATURES`], the last running fastest.
    pub features: Vec<f64>,
    /// Dates × symbols × [`NEXT`]: the returns of the next day, of the day after, and so on.
    pub next: Vec<f64>,
}

impl Panel {
    /// The panel of a price table; the first 365 and the last 10 dates are used up.
    pub fn of(prices: &Prices) -> Result<Self, PaperError> {
        let (days, n) = (prices.dates.len(), prices.symbols.len());
        if days < START + NEXT + FEWEST || n == 0 {
            let what = format!("{days} dates of {n} symbols are too few for a panel");
            let hint = format!("give prices of at least {} common trading days", START + NEXT + FEWEST);
            return Err(PaperError::Settings { what, hint });
        }
        let dates = START..days - NEXT;
        let returns: Vec<f64> = (0..n * days)
            .map(|i| if i < n { f64::NAN } else { prices.close[i] / prices.close[i - n] - 1.0 })
            .collect();
        let mut features = vec![0.0; dates.len() * n * WIDTH];
        features.par_chunks_exact_mut(n * WIDTH).zip(dates.clone().into_par_iter()).for_each(|(out, t)| {
            known(&prices.close, &returns, n, t, out);
        });
        let mut next = Vec::with_capacity(dates.len() * n * NEXT);
        for t in dates.clone() {
            next.extend((0..n).flat_map(|i| (1..=NEXT).map(move |k| (t + k) * n + i)).map(|at| returns[at]));
        }
        Ok(Self { dates: prices.dates[dates].to_vec(), symbols: prices.symbols.clone(), features, next })
    }

    /// The panel of `n` equities, drawn without replacement by `seed`; they keep their order.
    pub fn draw(&self, n: usize, seed: u64) -> Result<Self, PaperError> {
        let there = self.symbols.len();
        if n == 0 || n > there {
            let what = format!("{n} equities are asked for, and there are {there}");
            return Err(PaperError::Settings { what, hint: format!("ask for 1 to {there}") });
        }
        let mut drawn = choose(&mut stream(seed, 1), there, n);
        drawn.sort_unstable();
        let pick = |values: &[f64], width: usize| -> Vec<f64> {
            let dates = values.chunks_exact(there * width);
            dates
                .flat_map(|date| drawn.iter().flat_map(move |i| &date[i * width..][..width]))
                .copied()
                .collect()
        };
        Ok(Self {
            dates: self.dates.clone(),
            symbols: drawn.iter().map(|&i| self.symbols[i].clone()).collect(),
            features: pick(&self.features, WIDTH),
            next: pick(&self.next, NEXT),
        })
    }
}

/// Writes the features of `n` equities on date `t`.
fn known(close: &[f64], returns: &[f64], n: usize, t: usize, out: &mut [f64]) {
    let mut column = 0;
    let mut write = |values: &mut dyn Iterator<Item = f64>| {
        for (cell, value) in out[column..].iter_mut().step_by(WIDTH).zip(values) {
            *cell = value;
        }
        column += 1;
    };
    let day = |values: &'_ [f64], t: usize| values[t * n..(t + 1) * n].to_vec();
    for ago in 0..=PAST {
        write(&mut day(returns, t - ago).into_iter());
    }
    let today = day(close, t);
    for days in CHANGES {
        write(&mut today.iter().zip(day(close, t - days)).map(|(now, then)| now / then - 1.0));
    }
    for (values, window) in [(returns, RETURNS)].into_iter().chain(WINDOWS.map(|window| (close, window))) {
        let (mean, variance) = moments(&values[(t + 1 - window) * n..(t + 1) * n], n);
        write(&mut mean.into_iter());
        write(&mut variance.into_iter());
    }
    write(&mut today.into_iter());
}

/// Mean and sample variance of each of `n` columns.
///
/// In two passes: a price's square is so much larger than its variance that sums of squares would leave little of it. The inner
/// loops run over neighbours in memory, which makes this fast enough to do afresh for every date.
fn moments(rows: &[f64], n: usize) -> (Vec<f64>, Vec<f64>) {
    let count = (rows.len() / n) as f64;
    let mut mean = vec![0.0; n];
    for row in rows.chunks_exact(n) {
        mean.iter_mut().zip(row).for_each(|(mean, value)| *mean += value);
    }
    mean.iter_mut().for_each(|mean| *mean /= count);
    let mut variance = vec![0.0; n];
    for row in rows.chunks_exact(n) {
        for ((variance, mean), value) in variance.iter_mut().zip(&mean).zip(row) {
            *variance += (value - mean) * (value - mean);
        }
    }
    variance.iter_mut().for_each(|variance| *variance /= count - 1.0);
    (mean, variance)
}
