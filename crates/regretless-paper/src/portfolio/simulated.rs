//! A market that never was, for those who have no prices at hand.

use super::calendar::weekdays;
use super::prices::Prices;
use crate::random::{normal, stream, uniform};

const SECTORS: usize = 10;
/// Standard deviation of the market's daily return in the long run; of a day, it moves about this.
const MARKET: f64 = 0.01;
/// Standard deviation of a sector's daily return beside the market's.
const SECTOR: f64 = 0.007;
/// Standard deviation of a sector's mood, the part of its return that lasts, and how much of it lasts from day to day.
const MOOD: f64 = 0.0012;
const MEMORY: f64 = 0.97;
/// How much of an equity's own surprise is taken back the day after.
const REVERSAL: f64 = 0.08;
/// Growth of a day that all equities share.
const GROWTH: f64 = 0.0003;

impl Prices {
    /// Prices of a simulated market: a market factor whose volatility comes in waves, ten sectors, and surprises of each
    /// equity.
    ///
    /// There is a little to learn, as little as in real markets: sectors have a mood that lasts for weeks and shows in past
    /// returns, and an equity's own surprise is partly taken back the day after.
    pub fn simulated(symbols: usize, days: usize, seed: u64) -> Self {
        let mut rng = stream(seed, 0);
        let spread = |draws: Vec<f64>, low: f64, high: f64| -> Vec<f64> {
            draws.into_iter().map(|u| low + (high - low) * u).collect()
        };
        let on_market = spread(uniform(&mut rng, symbols), 0.6, 1.4);
        let on_sector = spread(uniform(&mut rng, symbols), 0.6, 1.2);
        let own = spread(uniform(&mut rng, symbols), 0.008, 0.018);
        let mut level = spread(uniform(&mut rng, symbols), 10f64.ln(), 100f64.ln());
        let mut surprise = vec![0.0; symbols];
        let mut mood: Vec<f64> = normal(&mut rng, SECTORS).into_iter().map(|z| MOOD * z).collect();
        let mut variance = MARKET * MARKET;
        let mut close = Vec::with_capacity(days * symbols);
        for _ in 0..days {
            let market = variance.sqrt() * normal(&mut rng, 1)[0];
            // GARCH(1, 1): a lively day makes the next one lively.
            variance = 0.03 * MARKET * MARKET + 0.08 * market * market + 0.89 * variance;
            let sector: Vec<f64> =
                normal(&mut rng, SECTORS).into_iter().zip(&mood).map(|(z, mood)| mood + SECTOR * z).collect();
            for (mood, z) in mood.iter_mut().zip(normal(&mut rng, SECTORS)) {
                *mood = MEMORY * *mood + (1.0 - MEMORY * MEMORY).sqrt() * MOOD * z;
            }
            for (i, z) in normal(&mut rng, symbols).into_iter().enumerate() {
                let fresh = own[i] * z;
                level[i] += GROWTH + on_market[i] * market + on_sector[i] * sector[i % SECTORS] + fresh
                    - REVERSAL * surprise[i];
                surprise[i] = fresh;
            }
            close.extend(level.iter().map(|level| level.exp()));
        }
        // As many digits as the last number needs: the order of the alphabet is that of the numbers.
        let digits = symbols.saturating_sub(1).to_string().len();
        Self {
            dates: weekdays(days),
            symbols: (0..symbols).map(|i| format!("S{i:0digits$}")).collect(),
            left_out: Vec::new(),
            close,
        }
    }
}
