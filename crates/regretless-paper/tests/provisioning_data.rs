//! Provisioning's features, windows, simulated load and problem, against figures worked out by hand.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::collections::BTreeMap;

use regretless_paper::PaperError;
use regretless_paper::provisioning::{
    Date, FEATURES, Hour, Hourly, HourlySettings, Load, Parts, RATIOS, REGIONS, hours_of, limits, loads,
    problem, windows,
};

/// Days from a date on, with a load of `1000 r + hours since the start` and a temperature of `10 r + hour of the day`.
fn counted(from: (i32, u8, u8), days: usize) -> Load {
    let mut load = Load::default();
    let mut date = Date::new(from.0, from.1, from.2).unwrap();
    for day in 0..days {
        for hour in 0..24 {
            load.hours.push(Hour::of(date, hour));
            for r in 0..REGIONS.len() {
                load.load.push((1000 * r + 24 * day) as f64 + f64::from(hour));
                load.temperature.push(10.0 * r as f64 + f64::from(hour));
            }
        }
        date = date.next();
        if date.is_leap_day() {
            date = date.next();
        }
    }
    load
}

fn all(load: &Load) -> HourlySettings {
    HourlySettings { statistics: 0..load.hours.len(), noise: None }
}

/// The features of an hour that are not 0, by name.
fn named(hourly: &Hourly, hour: usize, region: usize) -> BTreeMap<&'static str, f32> {
    FEATURES.into_iter().zip(hourly.at(hour, region).iter().copied()).filter(|(_, v)| *v != 0.0).collect()
}

#[test]
fn every_feature_of_an_hour() {
    // Saturday to Monday; Christmas Day is the Sunday and observed on Monday.
    let load = counted((2016, 12, 24), 3);
    let hourly = Hourly::of(&load, &all(&load)).unwrap();
    assert_eq!(hourly.values.len(), 72 * 8 * 77);
    // Of 0 to 71: mean 35.5, variance (72² − 1) / 12; a shift by 1000 r is the same z-score.
    let score = |v: f64| ((v - 35.5) / ((72.0 * 72.0 - 1.0) / 12.0_f64).sqrt()) as f32;
    let r = 3;
    // Temperatures 30 to 53, each three times.
    let squares: Vec<f64> = (30..54).map(|t| f64::from(t * t)).collect();
    let mean = squares.iter().sum::<f64>() / 24.0;
    let deviation = (squares.iter().map(|s| (s - mean).powi(2)).sum::<f64>() / 24.0).sqrt();
    let mut wanted = BTreeMap::from([
        ("load_prev".to_owned(), score(29.0)),
        ("hour_5".to_owned(), 1.0),
        ("dow_0".to_owned(), 1.0),
        ("month_12".to_owned(), 1.0),
        ("holiday_christmas".to_owned(), 1.0),
        ("temp".to_owned(), ((5.0 - 11.5) / ((24.0 * 24.0 - 1.0) / 12.0_f64).sqrt()) as f32),
        ("temp_squared".to_owned(), ((35.0 * 35.0 - mean) / deviation) as f32),
    ]);
    wanted.extend((0..24).map(|k| (format!("l{k}"), score(f64::from(24 + k)))));
    let found = named(&hourly, 53, r);
    assert_eq!(found.keys().collect::<Vec<_>>(), wanted.keys().collect::<Vec<_>>());
    for (name, value) in found {
        assert!((value - wanted[name]).abs() < 1e-5, "{name}: {value} and not {}", wanted[name]);
    }
}

#[test]
fn every_flag_is_in_its_place() {
    let load = Load::simulated(730, 1);
    let hourly = Hourly::of(&load, &all(&load)).unwrap();
    let mut seen = BTreeMap::new();
    for (i, hour) in load.hours.iter().enumerate() {
        let date = hour.date().unwrap();
        let mut wanted = vec![
            format!("hour_{}", hour.hour),
            format!("dow_{}", date.weekday()),
            format!("month_{}", hour.month),
        ];
        let holidays = ["new_year", "memorial", "independence", "labor", "thanksgiving", "christmas"];
        wanted.extend((0..6).filter(|&k| date.holidays()[k]).map(|k| format!("holiday_{}", holidays[k])));
        let found = named(&hourly, i, i % 8);
        let flags: Vec<&str> = found.keys().copied().filter(|n| n.contains(['_']) && !scored(n)).collect();
        wanted.sort();
        assert_eq!(flags, wanted, "{hour}");
        for flag in flags {
            assert_eq!(found[flag], 1.0);
            *seen.entry(flag).or_insert(0) += 1;
        }
    }
    assert_eq!(seen.len(), 24 + 7 + 12 + 6);
    assert_eq!(seen["holiday_thanksgiving"], 48);
}

fn scored(name: &str) -> bool {
    ["load_prev", "temp_squared"].contains(&name)
}

#[test]
fn names_are_distinct() {
    let distinct: std::collections::BTreeSet<&str> = FEATURES.into_iter().collect();
    assert_eq!(distinct.len(), 77);
    assert_eq!((FEATURES[0], FEATURES[25], FEATURES[76]), ("load_prev", "year", "temp_squared"));
}

#[test]
fn the_first_day_is_back_filled() {
    let load = counted((2013, 1, 1), 3);
    let hourly = Hourly::of(&load, &all(&load)).unwrap();
    for hour in 0..24 {
        assert_eq!(hourly.at(hour, 2)[..25], hourly.at(24, 2)[..25]);
    }
    assert_ne!(hourly.at(24, 2)[0], hourly.at(25, 2)[0]);
    assert_eq!(hourly.at(24, 2)[1..25], hourly.at(47, 2)[1..25]);
    let mut window = Vec::new();
    hourly.window(7, 2, &mut window);
    assert_eq!(window.len(), 24 * 77);
    assert_eq!(window[23 * 77..], *hourly.at(30, 2));
}

#[test]
fn the_day_before_march_is_the_28th_of_february() {
    let load = counted((2016, 2, 27), 3);
    assert_eq!((load.hours[48].month, load.hours[48].day), (3, 1));
    let hourly = Hourly::of(&load, &all(&load)).unwrap();
    let found = named(&hourly, 48, 0);
    assert!(found.contains_key("month_3") && found.contains_key("dow_1"));
    // The loads 24 to 47 of the kept day before, from the scores that the 28th has for the 27th.
    let step = found["l1"] - found["l0"];
    assert!((found["l0"] - named(&hourly, 24, 0)["l0"] - 24.0 * step).abs() < 1e-5);
    assert_eq!(found["load_prev"], found["l0"]);
}

#[test]
fn z_scores_take_the_hours_they_are_told_to() {
    let load = counted((2013, 12, 31), 4);
    let hourly = Hourly::of(&load, &HourlySettings { statistics: 24..48, noise: None }).unwrap();
    // The loads 24 to 47 of the second day have mean 0 there, and so have their features on the third.
    let row = hourly.at(48, 5);
    assert!(row[1..25].iter().sum::<f32>().abs() < 1e-5);
    assert!((row[1..25].iter().map(|v| v * v).sum::<f32>() / 24.0 - 1.0).abs() < 1e-5);
    // One year only in that part: no z-score of it.
    assert!((0..96).all(|hour| hourly.at(hour, 0)[25] == 0.0));
    let hourly = Hourly::of(&load, &all(&load)).unwrap();
    // 2013 for one day of four: mean 0.75 after it, deviation √(3/16).
    assert!((hourly.at(0, 0)[25] + 3.0_f32.sqrt()).abs() < 1e-5);
    assert!((hourly.at(30, 0)[25] - 1.0 / 3.0_f32.sqrt()).abs() < 1e-5);
    for bad in [0..97, 5..5] {
        let error = Hourly::of(&load, &HourlySettings { statistics: bad, noise: None }).unwrap_err();
        assert!(matches!(error, PaperError::Settings { .. }));
    }
    assert!(
        Hourly::of(&counted((2013, 1, 1), 1), &HourlySettings { statistics: 0..24, noise: None }).is_err()
    );
}

#[test]
fn temperatures_are_noisy_by_seed() {
    let load = Load::simulated(60, 4);
    let of = |noise| Hourly::of(&load, &HourlySettings { noise, ..all(&load) }).unwrap();
    assert_eq!(of(Some(1)), of(Some(1)));
    assert_ne!(of(Some(1)), of(Some(2)));
    let mut constant = load.clone();
    constant.temperature.fill(20.0);
    let noise = Hourly::of(&constant, &HourlySettings { noise: Some(3), ..all(&load) }).unwrap();
    // temp = (20 + 2.5 z − mean) / deviation: the score is z, and 20 + 2.5 z squared is 400 + 100 z + 6.25 z², whose
    // deviation for normal z is √(100² + 2 · 6.25²).
    let rows = || (0..60 * 24).flat_map(|h| (0..8).map(move |r| (h, r))).map(|(h, r)| noise.at(h, r));
    let slope = rows().map(|row| row[75] * row[76]).sum::<f32>() / (60.0 * 24.0 * 8.0);
    assert!((slope - 100.0 / (1e4_f32 + 2.0 * 6.25 * 6.25).sqrt()).abs() < 0.01, "{slope}");
    // Nothing but the temperature's features changes.
    let (quiet, loud) = (of(None), of(Some(1)));
    assert_eq!(quiet.at(700, 3)[..75], loud.at(700, 3)[..75]);
    assert_ne!(quiet.at(700, 3)[75..], loud.at(700, 3)[75..]);
}

#[test]
fn windows_and_parts_are_the_published_ones() {
    let starts = windows(52_560, 1);
    assert_eq!((starts.len(), starts[0], starts[52_534]), (52_535, 0, 52_534));
    let parts = Parts::published(starts.len());
    assert_eq!((parts.train.len(), parts.valid.len(), parts.test.len()), (36_774, 5254, 10_507));
    assert_eq!((parts.train.end, parts.valid.end), (parts.valid.start, parts.test.start));

    let sound = Parts::sound(starts.len());
    assert_eq!((sound.train, sound.valid, sound.test), (0..36_774, 36_798..42_028, 42_052..52_535));
    for count in [0, 1, 9, 25, 100, 500] {
        let parts = Parts::sound(count);
        let starts = windows(count + 25, 1);
        let hours = [&parts.train, &parts.valid, &parts.test].map(|part| hours_of(&starts, part));
        for pair in [(0, 1), (1, 2), (0, 2)].map(|(a, b)| (&hours[a], &hours[b])) {
            assert!(
                pair.0.is_empty() || pair.1.is_empty() || pair.0.end <= pair.1.start,
                "{count}: {hours:?}"
            );
        }
    }
    assert_eq!(hours_of(&starts, &(0..36_774)), 0..36_797);
    assert_eq!((windows(25, 1).len(), windows(3, 1).len(), windows(26, 0)), (0, 0, vec![0]));
}

#[test]
fn matrices_are_hours_by_regions() {
    let c = loads(&counted((2013, 1, 1), 2), 5);
    assert_eq!(c.len(), 24 * 8);
    assert_eq!((c[0], c[3], c[23 * 8 + 7]), (0.0005, 0.3005, 0.7028));
}

#[test]
fn simulated_load_is_like_load() {
    let load = Load::simulated(730, 7);
    assert_eq!(load, Load::simulated(730, 7));
    assert_ne!(load, Load::simulated(730, 8));
    assert_eq!((load.hours.len(), load.load.len(), load.temperature.len()), (17_520, 17_520 * 8, 17_520 * 8));
    assert_eq!(load.hours[0], Hour { year: 2013, month: 1, day: 1, hour: 0 });
    assert!(load.load.iter().all(|l| *l > 0.0));
    let mean = |values: &[f64], r: usize, keep: &dyn Fn(Hour) -> bool| {
        let kept: Vec<f64> =
            (0..load.hours.len()).filter(|&i| keep(load.hours[i])).map(|i| values[i * 8 + r]).collect();
        kept.iter().sum::<f64>() / kept.len() as f64
    };
    let means: Vec<f64> = (0..8).map(|r| mean(&load.load, r, &|_| true)).collect();
    assert!(means[1] > 11_000.0 && means[2] < 1000.0, "{means:?}");
    for (r, region) in REGIONS.into_iter().enumerate() {
        let summer: Vec<f64> =
            (0..24).map(|k| mean(&load.load, r, &|h| matches!(h.month, 6..=8) && h.hour == k)).collect();
        let peak = (0..24).max_by(|&a, &b| summer[a].total_cmp(&summer[b])).unwrap();
        assert!((13..=18).contains(&peak), "{region} peaks at {peak}");
        let weekend = |h: Hour| h.date().unwrap().weekday() >= 5;
        assert!(mean(&load.load, r, &weekend) < 0.97 * mean(&load.load, r, &|h| !weekend(h)), "{region}");
        let month = |values: &[f64], m: u8| mean(values, r, &|h| h.month == m);
        assert!(month(&load.temperature, 7) > month(&load.temperature, 1) + 10.0, "{region}");
        // More load in the heat and in the cold than between.
        let (winter, spring, summer) = (month(&load.load, 1), month(&load.load, 4), month(&load.load, 7));
        assert!(summer > spring, "{region}: {spring} {summer}");
        assert!(
            winter > spring || !["NCENT", "NORTH", "WEST"].contains(&region),
            "{region}: {winter} {spring}"
        );
    }
    // The leap day of 2016 is left out, as when reading.
    let later = Load::simulated(3 * 365 + 60, 0);
    assert!(later.hours.iter().all(|h| (h.month, h.day) != (2, 29)));
    assert_eq!((later.hours.last().unwrap().year, later.hours.last().unwrap().month), (2016, 3));
    assert!(Load::simulated(0, 0).hours.is_empty());
}

#[test]
fn the_problem_takes_loads() {
    let d = limits(5);
    assert_eq!((d.len(), &d), (24, &limits(5)));
    assert_ne!(d, limits(6));
    let many: Vec<f64> = (0..200).flat_map(limits).collect();
    let mean = many.iter().sum::<f64>() / many.len() as f64;
    let deviation = (many.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / many.len() as f64).sqrt();
    assert!((mean - 0.5).abs() < 0.01 && (deviation - 0.1).abs() < 0.005);

    let c = loads(&Load::simulated(2, 0), 3);
    for (over, under) in RATIOS {
        let (problem, placement) = problem(&d, over, under).unwrap();
        assert_eq!((problem.n(), placement.width()), (8, c.len()));
        let view = placement.parameters(&problem, &c, &[]);
        let share = [1.0 / 8.0; 8];
        // By hand: what an hour serves with equal shares, above and below what is wanted.
        let cost: f64 = c
            .chunks_exact(8)
            .zip(&d)
            .map(|(row, d)| row.iter().sum::<f64>() / 8.0 - d)
            .map(|z| over * z.max(0.0) + under * (-z).max(0.0))
            .sum();
        let objective = problem.view(&view.instance()).unwrap().objective(&share);
        assert!((objective - cost).abs() < 1e-9 * cost.max(1.0), "{objective} {cost}");
    }
}
