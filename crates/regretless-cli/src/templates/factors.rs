//! Weekly returns of twelve shares that three factors move, in percent.

use std::fmt::Write;

use super::table::{Draw, history_and_new};

const SHARES: [&str; 12] = [
    "ada", "bell", "curie", "darwin", "euler", "fermi", "gauss", "hertz", "joule", "kepler", "laplace",
    "maxwell",
];
const FACTORS: [(&str, f64); 3] = [("market", 5.0), ("value", 1.5), ("size", 1.0)];
const SIGNALS: [&str; 4] = ["rates", "momentum", "spread", "mood"];
const ROWS: usize = 600;
/// By how much the signals move the factors' expected returns.
const FORESEEN: [[f64; 4]; 3] = [[-0.3, 0.5, -0.4, 0.3], [0.4, -0.2, 0.3, 0.0], [0.1, 0.2, -0.3, 0.3]];

pub(super) fn tables() -> Vec<(&'static str, String)> {
    let mut draw = Draw::new(61);
    let beta: Vec<[f64; 3]> = SHARES
        .iter()
        .map(|_| {
            [draw.uniform(0.6, 1.4), draw.uniform(-0.8, 0.8), draw.uniform(-0.8, 0.8)]
                .map(|b| (b * 100.0).round() / 100.0)
        })
        .collect();
    let own: Vec<f64> = SHARES.iter().map(|_| (draw.uniform(1.0, 4.0) * 10.0).round() / 10.0).collect();
    let mut betas = "share,factor,beta\n".to_owned();
    let mut shares = "share,own\n".to_owned();
    for (share, (beta, own)) in SHARES.iter().zip(beta.iter().zip(&own)) {
        let _ = writeln!(shares, "{share},{own}");
        for ((factor, _), beta) in FACTORS.iter().zip(beta) {
            let _ = writeln!(betas, "{share},{factor},{beta}");
        }
    }
    let held = SHARES.iter().map(|share| format!("held_{share}"));
    let features: Vec<String> = SIGNALS.iter().map(|&name| name.to_owned()).chain(held).collect();
    let returns: Vec<String> = SHARES.iter().map(|share| format!("return_{share}")).collect();
    let mut signals = [0.0; 4];
    let mut files = vec![("shares.csv", shares), ("betas.csv", betas)];
    files.extend(history_and_new("week", ROWS, 4, &features, &returns, || {
        signals = signals.map(|signal| draw.drift(signal, 0.7));
        let moves: Vec<f64> = FACTORS
            .iter()
            .zip(FORESEEN)
            .map(|((_, variance), foreseen)| {
                let expected: f64 =
                    foreseen.iter().zip(signals).map(|(a, s)| a * (s + 0.4 * s * s.abs())).sum();
                0.3 + expected + variance.sqrt() * draw.normal()
            })
            .collect();
        let raw: Vec<f64> = SHARES.iter().map(|_| draw.uniform(0.2, 1.0)).collect();
        let total: f64 = raw.iter().sum();
        let truth = beta.iter().zip(&own).map(|(beta, own)| {
            let common: f64 = beta.iter().zip(&moves).map(|(b, m)| b * m).sum();
            common + own.sqrt() * draw.normal()
        });
        let truth = truth.collect();
        (signals.into_iter().chain(raw.iter().map(|w| w / total)).collect(), truth)
    }));
    files
}
