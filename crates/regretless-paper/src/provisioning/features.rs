//! What the load of an hour is predicted from.

use std::ops::Range;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::load::{Hour, Load, REGIONS};
use super::windows::WINDOW;
use crate::PaperError;
use crate::random::normal;

/// The features of an hour in a region, in their order.
///
/// - `load_prev`: the load 24 hours before; `l0` to `l23`: the loads of the day before, the same all day long;
/// - `year`; one-hot the hour, the day of the week (`dow_0` is Monday) and the month; a flag a holiday;
/// - `temp` and `temp_squared`: the temperature and its square.
///
/// Loads, year and temperatures are z-scores, the rest is 0 or 1.
#[rustfmt::skip]
pub const FEATURES: [&str; 77] = [
    "load_prev",
    "l0", "l1", "l2", "l3", "l4", "l5", "l6", "l7", "l8", "l9", "l10", "l11",
    "l12", "l13", "l14", "l15", "l16", "l17", "l18", "l19", "l20", "l21", "l22", "l23",
    "year",
    "hour_0", "hour_1", "hour_2", "hour_3", "hour_4", "hour_5", "hour_6", "hour_7", "hour_8", "hour_9", "hour_10", "hour_11",
    "hour_12", "hour_13", "hour_14", "hour_15", "hour_16", "hour_17", "hour_18", "hour_19", "hour_20", "hour_21", "hour_22", "hour_23",
    "dow_0", "dow_1", "dow_2", "dow_3", "dow_4", "dow_5", "dow_6",
    "month_1", "month_2", "month_3", "month_4", "month_5", "month_6",
    "month_7", "month_8", "month_9", "month_10", "month_11", "month_12",
    "holiday_new_year", "holiday_memorial", "holiday_independence",
    "holiday_labor", "holiday_thanksgiving", "holiday_christmas",
    "temp", "temp_squared",
];

// Where the groups of features begin.
const YESTERDAY: usize = 1;
const YEAR: usize = 25;
const HOUR: usize = 26;
const WEEKDAY: usize = 50;
const MONTH: usize = 57;
const HOLIDAY: usize = 69;
const TEMPERATURE: usize = 75;

/// Deviation of the temperature's noise in degrees: forecasts are no better.
const NOISE: f64 = 2.5;

/// How features are made of loads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HourlySettings {
    /// The hours whose means and deviations the z-scores take: all as published, those of the training part to be sound.
    pub statistics: Range<usize>,
    /// Seed of the noise on temperatures, normal with a deviation of 2.5 °C; `None` for none.
    pub noise: Option<u64>,
}

/// The [`FEATURES`] of every hour and region.
#[derive(Clone, Debug, PartialEq)]
pub struct Hourly {
    /// Hours × regions × features.
    pub values: Vec<f32>,
}

impl Hourly {
    /// Computes them, each region by itself.
    ///
    /// The first day has no day before and is back-filled as in the original: its `load_prev` is the load of its first
    /// hour, its `l0` to `l23` are its own loads. Sound training leaves out windows that begin in it. The day before 1 March
    /// is 28 February. A z-score whose deviation is 0 is 0.
    pub fn of(load: &Load, settings: &HourlySettings) -> Result<Self, PaperError> {
        let count = load.hours.len();
        let part = &settings.statistics;
        if count < 2 * WINDOW || part.is_empty() || part.end > count {
            return Err(PaperError::Settings {
                what: format!(
                    "features of {count} hours with means over the hours {} to {}",
                    part.start, part.end
                ),
                hint: "take two days or more, and means over some of their hours".to_owned(),
            });
        }
        let temperature = noisy(load, settings.noise);
        let squared: Vec<f64> = temperature.iter().map(|t| t * t).collect();
        let load_scores = scores(&load.load, REGIONS.len(), part);
        let temperature = scores(&temperature, REGIONS.len(), part);
        let squared = scores(&squared, REGIONS.len(), part);
        let years: Vec<f64> = load.hours.iter().map(|h| f64::from(h.year)).collect();
        let years = scores(&years, 1, part);

        let (width, regions) = (FEATURES.len(), REGIONS.len());
        let mut values = vec![0.0; count * regions * width];
        for (i, row) in values.chunks_exact_mut(width).enumerate() {
            let (hour, r) = (i / regions, i % regions);
            let score = |hour: usize| load_scores[hour * regions + r];
            // Within the first day both are those of the second day's first hour.
            row[0] = score(hour.saturating_sub(WINDOW));
            let yesterday = (hour / WINDOW).saturating_sub(1) * WINDOW;
            for k in 0..WINDOW {
                row[YESTERDAY + k] = score(yesterday + k);
            }
            row[YEAR] = years[hour];
            flags(load.hours[hour], row);
            row[TEMPERATURE] = temperature[i];
            row[TEMPERATURE + 1] = squared[i];
        }
        Ok(Self { values })
    }

    /// The features of one hour in one region, by its index in [`REGIONS`].
    pub fn at(&self, hour: usize, region: usize) -> &[f32] {
        let at = hour * REGIONS.len() + region;
        &self.values[at * FEATURES.len()..(at + 1) * FEATURES.len()]
    }

    /// Appends a window's features in one region, hours × features.
    pub fn window(&self, start: usize, region: usize, to: &mut Vec<f32>) {
        for hour in start..start + WINDOW {
            to.extend_from_slice(self.at(hour, region));
        }
    }
}

/// Sets what an hour's place in the calendar says.
fn flags(hour: Hour, row: &mut [f32]) {
    row[HOUR + usize::from(hour.hour)] = 1.0;
    row[MONTH + usize::from(hour.month) - 1] = 1.0;
    let Some(date) = hour.date() else { return };
    row[WEEKDAY + usize::from(date.weekday())] = 1.0;
    for (to, is) in row[HOLIDAY..].iter_mut().zip(date.holidays()) {
        *to = f32::from(is);
    }
}

/// The temperatures as a forecast would give them.
fn noisy(load: &Load, seed: Option<u64>) -> Vec<f64> {
    let Some(seed) = seed else { return load.temperature.clone() };
    let noise = normal(&mut ChaCha8Rng::seed_from_u64(seed), load.temperature.len());
    load.temperature.iter().zip(noise).map(|(t, z)| t + NOISE * z).collect()
}

/// Columns taken to mean 0 and deviation 1 over some of the rows.
fn scores(values: &[f64], width: usize, rows: &Range<usize>) -> Vec<f32> {
    let part = &values[rows.start * width..rows.end * width];
    let count = rows.len() as f64;
    let column = |j: usize| part.iter().skip(j).step_by(width);
    let statistics: Vec<(f64, f64)> = (0..width)
        .map(|j| {
            let mean = column(j).sum::<f64>() / count;
            let deviation = (column(j).map(|v| (v - mean).powi(2)).sum::<f64>() / count).sqrt();
            // What rounding leaves of a constant column is no signal.
            (mean, if deviation > 1e-12 * mean.abs() { deviation } else { f64::INFINITY })
        })
        .collect();
    values
        .iter()
        .enumerate()
        .map(|(i, v)| {
            let (mean, deviation) = statistics[i % width];
            ((v - mean) / deviation) as f32
        })
        .collect()
}
