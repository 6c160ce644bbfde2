//! Statistics against NumPy and SciPy (`fixtures/make_stats.py`), and their corners by hand.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use regretless_learn::stats::{
    PairedTest, StatsError, Summary, bootstrap_mean, cvar, holm, paired_t, quantile, wilcoxon,
};
use serde::Deserialize;

#[derive(Deserialize)]
struct Fixture {
    descriptions: Vec<Description>,
    pairs: Vec<Pair>,
    holm: Vec<Adjustment>,
    bootstrap: Vec<Interval>,
}

#[derive(Deserialize)]
struct Description {
    name: String,
    values: Vec<f64>,
    mean: f64,
    std: Option<f64>,
    min: f64,
    max: f64,
    quantiles: Vec<(f64, f64)>,
    cvar: Vec<(f64, f64)>,
}

#[derive(Deserialize)]
struct Pair {
    name: String,
    a: Vec<f64>,
    b: Vec<f64>,
    mean_difference: f64,
    t: Outcome,
    wilcoxon: Outcome,
}

#[derive(Deserialize)]
struct Outcome {
    statistic: Option<f64>,
    p_value: Option<f64>,
}

#[derive(Deserialize)]
struct Adjustment {
    p: Vec<f64>,
    adjusted: Vec<f64>,
}

#[derive(Deserialize)]
struct Interval {
    name: String,
    values: Vec<f64>,
    level: f64,
    low: f64,
    high: f64,
}

fn fixture() -> Fixture {
    serde_json::from_str(include_str!("fixtures/stats.json")).unwrap()
}

/// Equal to 1e-10 of `want`, or of `scale` where rounding is of the size of the data and not of the answer.
#[track_caller]
fn close(what: &str, got: f64, want: f64, scale: f64) {
    let bound = 1e-10 * want.abs() + 1e-15 * scale;
    assert!(got == want || (got - want).abs() <= bound, "{what}: got {got:e}, want {want:e}");
}

fn size(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |m, v| f64::max(m, v.abs()))
}

#[test]
fn descriptions_are_numpys() {
    for case in fixture().descriptions {
        let (name, scale) = (&case.name, size(&case.values));
        let summary = Summary::of(&case.values).unwrap();
        assert_eq!(summary.count, case.values.len(), "{name}");
        assert_eq!((summary.min, summary.max), (case.min, case.max), "{name}");
        close(name, summary.mean, case.mean, scale);
        assert_eq!(summary.std.is_some(), case.std.is_some(), "{name}");
        close(name, summary.std.unwrap_or(0.0), case.std.unwrap_or(0.0), scale);
        for (q, want) in case.quantiles {
            close(&format!("{name}, quantile {q}"), quantile(&case.values, q).unwrap(), want, scale);
        }
        for (own, q) in [
            (summary.q05, 0.05),
            (summary.q25, 0.25),
            (summary.median, 0.5),
            (summary.q75, 0.75),
            (summary.q95, 0.95),
        ] {
            assert_eq!(own, quantile(&case.values, q).unwrap(), "{name}, quantile {q}");
        }
        for (alpha, want) in case.cvar {
            close(&format!("{name}, CVaR {alpha}"), cvar(&case.values, alpha).unwrap(), want, scale);
        }
    }
}

#[test]
fn cvar_weighs_the_boundary_observation() {
    // The worst 10 % of 15 values are one and a half observations.
    let values: Vec<f64> = (1..=15).map(f64::from).collect();
    close("CVaR", cvar(&values, 0.9).unwrap(), (15.0 + 0.5 * 14.0) / 1.5, 1.0);
    assert_eq!(cvar(&[1.0, 7.0, 3.0], 0.9).unwrap(), 7.0);
}

#[test]
fn bad_lists_are_refused() {
    assert_eq!(Summary::of(&[]), Err(StatsError::Empty));
    assert_eq!(cvar(&[], 0.9), Err(StatsError::Empty));
    assert_eq!(bootstrap_mean(&[], 0.95, 10, 0), Err(StatsError::Empty));
    let error = Summary::of(&[1.0, f64::NAN]).unwrap_err();
    assert_eq!(error.to_string(), "value 1 is NaN; statistics need finite values");
    assert!(cvar(&[f64::INFINITY], 0.9).is_err());
    assert!(bootstrap_mean(&[f64::NAN], 0.95, 10, 0).is_err());
    for level in [-0.1, 1.0, f64::NAN] {
        assert!(matches!(cvar(&[1.0], level), Err(StatsError::Level { .. })), "{level}");
        assert!(matches!(bootstrap_mean(&[1.0], level, 10, 0), Err(StatsError::Level { .. })), "{level}");
    }
    assert!(matches!(quantile(&[1.0], 1.1), Err(StatsError::Level { .. })));
    assert_eq!(bootstrap_mean(&[1.0], 0.95, 0, 0), Err(StatsError::NoResamples));
}

/// Compares with SciPy. It has no p-value for identical samples (NaN), where 1 is wanted, and JSON no number for
/// the infinite t of differences that are all the same.
#[track_caller]
fn agrees(name: &str, got: &PairedTest, case: &Pair, want: &Outcome) {
    let p_value = want.p_value.unwrap_or(1.0);
    let unwritten = if p_value == 0.0 { f64::INFINITY.copysign(case.mean_difference) } else { 0.0 };
    assert_eq!(got.n, case.a.len(), "{name}");
    close(name, got.mean_difference, case.mean_difference, size(&case.a) + size(&case.b));
    // A p of 1e-200 must be right in its own digits as well: no absolute allowance here.
    close(name, got.statistic, want.statistic.unwrap_or(unwritten), 0.0);
    close(name, got.p_value, p_value, 0.0);
}

#[test]
fn paired_t_is_scipys() {
    for case in fixture().pairs {
        let name = format!("t, {}", case.name);
        agrees(&name, &paired_t(&case.a, &case.b).unwrap(), &case, &case.t);
        let turned = paired_t(&case.b, &case.a).unwrap();
        close(&name, turned.p_value, case.t.p_value.unwrap_or(1.0), 0.0);
    }
}

#[test]
fn wilcoxon_is_scipys() {
    for case in fixture().pairs {
        let name = format!("Wilcoxon, {}", case.name);
        agrees(&name, &wilcoxon(&case.a, &case.b).unwrap(), &case, &case.wilcoxon);
        let turned = wilcoxon(&case.b, &case.a).unwrap();
        close(&name, turned.p_value, case.wilcoxon.p_value.unwrap_or(1.0), 0.0);
    }
}

#[test]
fn wilcoxon_by_hand() {
    // Five differences of one sign: the smaller sum is 0, one of the 32 sign patterns reaches it.
    let test = wilcoxon(&[1.0, 2.0, 3.0, 4.0, 5.0], &[0.0; 5]).unwrap();
    assert_eq!((test.statistic, test.p_value, test.n), (0.0, 2.0 / 32.0, 5));
    assert_eq!(wilcoxon(&[1.0], &[0.0]).unwrap().p_value, 1.0);
}

#[test]
fn tests_without_an_answer() {
    for test in [paired_t, wilcoxon] {
        assert_eq!(test(&[], &[]), None);
        assert_eq!(test(&[1.0, 2.0], &[1.0]), None);
        assert_eq!(test(&[1.0, f64::NAN], &[1.0, 2.0]), None);
        assert_eq!(test(&[0.25; 40], &[0.25; 40]).unwrap().p_value, 1.0);
    }
    assert_eq!(paired_t(&[1.0], &[0.0]), None);
    // 0.3 − 0.1 ten times over has the variance 0, whatever rounding makes of its mean.
    let constant = paired_t(&[0.1; 10], &[0.3; 10]).unwrap();
    assert_eq!((constant.statistic, constant.p_value), (f64::NEG_INFINITY, 0.0));
}

#[test]
fn holm_follows_its_definition() {
    for case in fixture().holm {
        let adjusted = holm(&case.p);
        assert_eq!(adjusted.len(), case.p.len());
        for (got, want) in adjusted.iter().zip(&case.adjusted) {
            close(&format!("Holm of {:?}", case.p), *got, *want, 0.0);
        }
    }
    assert!(holm(&[]).is_empty());
    let missing = holm(&[0.02, f64::NAN, 0.01]);
    assert!(missing[1].is_nan());
    assert_eq!((missing[0], missing[2]), (0.02, 0.02));
}

#[test]
fn bootstrap_is_scipys_up_to_chance() {
    for case in fixture().bootstrap {
        let (low, high) = bootstrap_mean(&case.values, case.level, 50_000, 7).unwrap();
        // The ends of both intervals are quantiles of samples: a third of a per cent of the width is
        // their standard error.
        let allowed = 0.02 * (case.high - case.low);
        let off = (low - case.low).abs().max((high - case.high).abs());
        assert!(off < allowed, "{} {}: off by {off:e}, allowed {allowed:e}", case.name, case.level);
    }
}

#[test]
fn bootstrap_depends_on_the_seed_alone() {
    let values = [0.5, 1.5, 0.0, 4.0, 2.5, 1.0];
    let interval = |seed| bootstrap_mean(&values, 0.9, 1000, seed).unwrap();
    assert_eq!(interval(3), interval(3));
    let means = |seed| bootstrap_mean(&values, 0.123, 17, seed).unwrap();
    assert_ne!(means(3), means(4));
    assert_eq!(bootstrap_mean(&[2.0; 5], 0.95, 100, 1).unwrap(), (2.0, 2.0));
}
