//! Load that is made up, for trying things out without the real files.

use std::f64::consts::TAU;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::calendar::Date;
use super::load::{Hour, Load, REGIONS};
use crate::random::normal;

/// What a region is like.
struct Region {
    /// Load in MW in mild weather.
    mild: f64,
    /// Mean temperature of the year, and how far summer and winter are from it.
    mean: f64,
    swing: f64,
    /// Share of the mild load that a degree of heat and one of cold add.
    cooling: f64,
    heating: f64,
}

const fn region(mild: f64, mean: f64, swing: f64, cooling: f64, heating: f64) -> Region {
    Region { mild, mean, swing, cooling, heating }
}

/// In the order of [`REGIONS`]; sizes and climates are roughly those of the Texan regions of the same names.
const CHARACTER: [Region; REGIONS.len()] = [
    region(9500.0, 21.0, 8.7, 0.030, 0.010),
    region(10_200.0, 19.5, 11.4, 0.040, 0.030),
    region(680.0, 17.5, 11.8, 0.033, 0.022),
    region(5200.0, 20.0, 10.0, 0.037, 0.020),
    region(2700.0, 22.5, 8.4, 0.027, 0.010),
    region(920.0, 18.5, 11.2, 0.031, 0.025),
    region(1170.0, 19.0, 10.4, 0.030, 0.018),
    // Oil fields: the weather moves little.
    region(1750.0, 18.5, 11.4, 0.014, 0.006),
];

/// A series that forgets a part of itself every hour.
#[derive(Clone, Copy, Default)]
struct Drift(f64);

impl Drift {
    /// Its next value, with the given deviation in the long run.
    fn step(&mut self, keep: f64, deviation: f64, normal: f64) -> f64 {
        self.0 = keep * self.0 + deviation * (1.0 - keep * keep).sqrt() * normal;
        self.0
    }
}

impl Load {
    /// Load from 2013 on that has what the real one has: hours of the day, weekends, holidays, seasons, weather that lasts
    /// for days and is much the same everywhere, heating and cooling, growth, and noise. The same seed gives the same.
    pub fn simulated(days: usize, seed: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut made = Self::default();
        let mut weather = Drift::default();
        let mut own = [(Drift::default(), Drift::default()); REGIONS.len()];
        let mut dates =
            std::iter::successors(Date::new(2013, 1, 1), |d| Some(d.next())).filter(|d| !d.is_leap_day());
        for day in 0..days {
            let Some(date) = dates.next() else { break };
            let growth = 1.0 + 0.015 * day as f64 / 365.0;
            let free = if date.weekday() >= 5 { 0.94 } else { 1.0 };
            let level = growth * if date.holidays().contains(&true) { 0.90 } else { free };
            for hour in 0..24 {
                let draws = normal(&mut rng, 1 + 2 * REGIONS.len());
                let common = weather.step(0.98, 3.5, draws[0]);
                for (r, (warmth, noise)) in own.iter_mut().enumerate() {
                    let warmth = common + warmth.step(0.97, 1.2, draws[1 + 2 * r]);
                    let noise = noise.step(0.9, 0.02, draws[2 + 2 * r]);
                    let temperature = climate(&CHARACTER[r], date, hour) + warmth;
                    made.temperature.push(temperature);
                    made.load.push(level * demand(&CHARACTER[r], hour, temperature) * (1.0 + noise));
                }
                made.hours.push(Hour::of(date, hour));
            }
        }
        made
    }
}

/// Temperature to be expected: warmest in late July, and at three in the afternoon.
fn climate(region: &Region, date: Date, hour: u8) -> f64 {
    let year = TAU * (f64::from(date.day_of_year()) - 205.0) / 365.0;
    let day = TAU * (f64::from(hour) - 15.0) / 24.0;
    region.mean + region.swing * year.cos() + 5.0 * day.cos()
}

/// Load of a working day in MW: least at night, more with heat and with cold.
fn demand(region: &Region, hour: u8, temperature: f64) -> f64 {
    let day = TAU * (f64::from(hour) - 16.0) / 24.0;
    let weather =
        region.cooling * (temperature - 19.0).max(0.0) + region.heating * (13.0 - temperature).max(0.0);
    region.mild * (1.0 + 0.10 * day.cos() + weather)
}
