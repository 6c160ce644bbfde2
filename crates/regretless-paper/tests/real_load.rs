//! The real load, where `REGRETLESS_DATA` names a folder that holds it as `ercot/`.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::path::PathBuf;

use regretless_paper::provisioning::{Hourly, HourlySettings, Load, Parts, REGIONS, hours_of, windows};

/// Means over 2013-01-01 to 2016-08-14 without the leap day, in MW.
const MEANS: [f64; 8] = [11_177.23, 12_962.51, 837.87, 6401.28, 3207.66, 1113.61, 1397.05, 1927.63];

#[test]
fn the_real_load_has_its_known_figures() {
    let Some(dir) = std::env::var_os("REGRETLESS_DATA").map(|dir| PathBuf::from(dir).join("ercot")) else {
        return;
    };
    let load = Load::read(&dir, 2013).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(load.hours.len(), 31_704);
    assert_eq!(load.hours[0].to_string(), "2013-01-01 00:00");
    assert_eq!(load.hours[31_703].to_string(), "2016-08-14 23:00");
    let starts = windows(load.hours.len(), 1);
    assert_eq!(starts.len(), 31_679);
    let count = load.hours.len() as f64;
    let means: Vec<f64> = (0..8).map(|r| load.load.iter().skip(r).step_by(8).sum::<f64>() / count).collect();
    for (r, region) in REGIONS.into_iter().enumerate() {
        assert!((means[r] - MEANS[r]).abs() < 0.1, "{region}: {means:?}");
    }

    let parts = Parts::sound(starts.len());
    let statistics = hours_of(&starts, &parts.train);
    let hourly =
        Hourly::of(&load, &HourlySettings { statistics: statistics.clone(), noise: Some(1) }).unwrap();
    assert!(hourly.values.iter().all(|v| v.is_finite() && v.abs() < 10.0));
    // Over the training part the temperature's z-scores have mean 0 and deviation 1.
    for r in 0..8 {
        let scores = || statistics.clone().map(|hour| f64::from(hourly.at(hour, r)[75]));
        let count = statistics.len() as f64;
        assert!((scores().sum::<f64>() / count).abs() < 1e-4);
        assert!((scores().map(|v| v * v).sum::<f64>() / count - 1.0).abs() < 1e-4);
    }
}
