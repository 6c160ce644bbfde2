//! Weekly returns of twelve shares in per cent: a little of them follows from momentum, value and volatility, most is noise
//! with the covariance that the problem charges for.

use std::fmt::Write;

use super::table::{Draw, history_and_new, named};

const ASSETS: [&str; 12] = [
    "alder", "birch", "cedar", "dahlia", "elm", "fern", "ginkgo", "hazel", "iris", "juniper", "kelp", "lotus",
];
const COMMON: [&str; 2] = ["rate", "fear"];
const ROWS: usize = 600;
/// Price of a unit of variance.
const AVERSION: f64 = 0.04;

/// Loading on the market, loading on the asset's sector (four of three assets each) and own deviation, in per cent a week.
fn loadings(asset: usize) -> (f64, f64, f64) {
    (0.9 + 0.08 * (asset % 5) as f64, 0.8 + 0.1 * (asset % 3) as f64, 1.2 + 0.1 * (asset % 4) as f64)
}

fn covariance() -> String {
    let mut text = String::new();
    for i in 0..ASSETS.len() {
        let row: Vec<String> = (0..ASSETS.len())
            .map(|j| {
                let ((m, s, own), (n, t, _)) = (loadings(i), loadings(j));
                let sector = if i / 3 == j / 3 { s * t } else { 0.0 };
                let own = if i == j { own * own } else { 0.0 };
                format!("{:.5}", AVERSION * (m * n + sector + own))
            })
            .collect();
        let _ = writeln!(text, "{}", row.join(","));
    }
    text
}

pub(super) fn tables() -> Vec<(&'static str, String)> {
    let mut draw = Draw::new(23);
    let mut features = named("", &COMMON);
    for kind in ["momentum_", "value_", "volatility_"] {
        features.extend(named(kind, &ASSETS));
    }
    let (mut rate, mut fear) = (0.0, 0.0);
    let mut own = [[0.0; 12]; 3];
    let mut files = history_and_new("week", ROWS, 4, &features, &named("return_", &ASSETS), || {
        rate = draw.drift(rate, 0.9);
        fear = draw.drift(fear, 0.8);
        for (kind, memory) in own.iter_mut().zip([0.6, 0.9, 0.8]) {
            for value in kind {
                *value = draw.drift(*value, memory);
            }
        }
        let market = draw.normal();
        let sectors: [f64; 4] = std::array::from_fn(|_| draw.normal());
        let returns = (0..ASSETS.len()).map(|i| {
            let [momentum, value, volatility] = [own[0][i], own[1][i], own[2][i]];
            // Momentum works in calm markets, value in anxious ones; lively shares return less.
            let calm = 1.0 / (1.0 + (2.0 * fear).exp());
            let signal =
                0.9 * calm * momentum + 0.7 * (1.0 - calm) * value - 0.2 * volatility.max(0.0) - 0.1 * rate;
            let (m, s, deviation) = loadings(i);
            0.15 + signal + m * market + s * sectors[i / 3] + deviation * draw.normal()
        });
        let returns = returns.collect();
        ([rate, fear].into_iter().chain(own.into_iter().flatten()).collect(), returns)
    });
    files.push(("covariance.csv", covariance()));
    files
}
