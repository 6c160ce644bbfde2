//! Prices of electricity for the hours of a day: two peaks, less sun and wind make them higher.

use super::table::{Draw, history_and_new, named};

const FEATURES: [&str; 6] = ["weekend", "temperature", "sun", "wind", "price_yesterday", "stored"];
const ROWS: usize = 500;

pub(super) fn tables() -> Vec<(&'static str, String)> {
    let mut draw = Draw::new(51);
    let prices: Vec<String> = (0..24).map(|h| format!("price_{h}")).collect();
    let (mut temperature, mut wind, mut fuel, mut day, mut yesterday) = (0.0, 0.0, 0.0, 0, 45.0);
    history_and_new("day", ROWS, 2, &named("", &FEATURES), &prices, || {
        let weekend = f64::from(u8::from(day % 7 >= 5));
        day += 1;
        temperature = draw.drift(temperature, 0.8);
        wind = draw.drift(wind, 0.5);
        fuel = draw.drift(fuel, 0.95);
        let sun = draw.uniform(0.0, 1.0);
        let stored = draw.uniform(0.5, 3.5);
        let features = vec![weekend, temperature, sun, wind, yesterday, stored];
        let level = 45.0 + 8.0 * fuel - 9.0 * wind.tanh() - 6.0 * weekend;
        let price = |h: usize, surprise: f64| {
            let bump = |centre: f64, width: f64| (-((h as f64 - centre) / width).powi(2)).exp();
            let peaks = (22.0 * bump(8.0, 2.0) + 34.0 * bump(19.0, 2.5)) * (1.0 - 0.6 * weekend);
            let heating = 5.0 * (-temperature).max(0.0) * bump(19.0, 5.0);
            let noon = -38.0 * sun * bump(13.0, 3.0);
            let night = -9.0 * bump(3.0, 3.0) * (1.0 + 0.7 * wind.tanh());
            level + peaks + heating + noon + night + surprise
        };
        let mut error = 0.0;
        let truth: Vec<f64> = (0..24)
            .map(|h| {
                error = draw.drift(error, 0.7);
                price(h, 6.0 * error)
            })
            .collect();
        yesterday = truth.iter().sum::<f64>() / 24.0;
        (features, truth)
    })
}
