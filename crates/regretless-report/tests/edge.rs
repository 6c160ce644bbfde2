//! Reports on odd data: they are drawn, they say what they left out, and they stay small.

use regretless_report::{
    Activity, Calibrated, Candidate, Charts, Comparison, Curve, Distribution, Report, Row, RowActivity,
    Scatter, Sharpness,
};

/// Deterministic values that look random, from 0 to 1.
fn noise(n: usize, seed: u64) -> Vec<f64> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    (0..n).map(|_| next()).collect()
}

/// A report with every chart, the values of each method made by `values(n, seed)`.
fn report(
    methods: usize,
    seeds: u64,
    epochs: usize,
    points: usize,
    values: fn(usize, u64) -> Vec<f64>,
) -> Report {
    let names: Vec<String> = (0..methods).map(|k| format!("method-{k}")).collect();
    let mut report = Report { title: "Odd data".into(), ..Report::default() };
    for (k, name) in names.iter().enumerate() {
        let (method, k) = (name.clone(), k as u64);
        let regret = values(1, k)[0];
        report.table.rows.push(Row {
            method: method.clone(),
            regret,
            seeds: seeds as usize,
            ..Row::default()
        });
        for seed in 0..seeds {
            let (train, valid) = (values(epochs, seed + k), values(epochs, seed + k + 99));
            let epochs = (0..epochs).map(|e| e as f64).collect();
            report.charts.curves.push(Curve { method: method.clone(), seed, epochs, train, valid });
        }
        report.charts.distributions.push(Distribution { method: method.clone(), regrets: values(points, k) });
        report.charts.scatters.push(Scatter {
            method: method.clone(),
            predicted: values(points, k + 1),
            realised: values(points, k + 2),
            cost: values(points, k + 3),
            label: "price".into(),
        });
        let (level, share) = (values(9, k), values(9, k + 1));
        report.charts.calibration.push(Calibrated { method: method.clone(), level, share });
        let (regret, std) = (values(6, k), values(6, k + 1));
        report.charts.sharpness.push(Sharpness { method: method.clone(), k: values(6, k + 2), regret, std });
        let rows = (values(30, k).into_iter().enumerate())
            .map(|(i, v)| RowActivity {
                name: format!("row {i}"),
                slack: v,
                limit: 1.0 - v,
                violated: 0.0,
                short: 0.0,
            })
            .collect();
        report.charts.activity.push(Activity { method, rows });
    }
    report
}

/// What holds for every page and chart.
fn check(report: &Report) -> String {
    let page = report.html();
    for text in report.svgs().iter().map(|s| &s.1).chain([&page]) {
        let markup = text.split("<script").next().unwrap_or_default();
        assert!(!markup.contains("NaN") && !markup.contains("inf\"") && !markup.contains("inf "));
        assert!(text.len() < 2_000_000, "{} bytes", text.len());
    }
    assert_eq!(report.html(), page, "the same report twice");
    page
}

#[test]
fn an_empty_report_is_a_page_without_sections() {
    let page = check(&Report::default());
    assert!(page.contains("<h1>regretless report</h1>") && !page.contains("<section"));
    assert!(Report::default().svgs().is_empty());
}

#[test]
fn one_method_one_epoch_one_point() {
    let page = check(&report(1, 1, 1, 1, noise));
    assert_eq!(page.matches("<svg").count(), 14);
}

#[test]
fn twelve_methods_twenty_seeds_and_very_many_points() {
    let report = report(12, 20, 300, 100_000, noise);
    let page = check(&report);
    assert!(page.contains("A sample of"));
    assert_eq!(report.svgs().len(), 7);
}

#[test]
fn equal_values_zeros_and_constants() {
    check(&report(3, 2, 10, 50, |n, _| vec![1.0; n]));
    check(&report(3, 2, 10, 50, |n, _| vec![0.0; n]));
    check(&report(2, 2, 10, 50, |n, _| vec![-3.5; n]));
}

#[test]
fn values_that_are_not_finite_are_left_out_with_a_note() {
    let some = |n: usize, seed: u64| {
        let mut values = noise(n, seed);
        values.iter_mut().step_by(3).for_each(|v| *v = f64::NAN);
        values.iter_mut().skip(1).step_by(5).for_each(|v| *v = f64::INFINITY);
        values
    };
    let page = check(&report(3, 2, 10, 50, some));
    assert!(page.contains("values that are not finite are left out."), "{page}");
    let page = check(&report(3, 2, 10, 50, |n, _| vec![f64::NAN; n]));
    assert!(!page.contains("<svg"));
}

#[test]
fn wide_spreads_and_extreme_sizes() {
    let spread =
        |n: usize, seed: u64| noise(n, seed).into_iter().map(|v| 10f64.powf(v * 12.0 - 6.0)).collect();
    assert!(check(&report(3, 2, 10, 500, spread)).contains("logarithmic"));
    check(&report(2, 1, 5, 20, |n, seed| noise(n, seed).into_iter().map(|v| (v - 0.5) * 1e140).collect()));
    check(&report(2, 1, 5, 20, |n, seed| noise(n, seed).into_iter().map(|v| v * 1e-200).collect()));
    check(&report(2, 1, 5, 20, |n, seed| noise(n, seed).into_iter().map(|v| 1e12 + v).collect()));
}

#[test]
fn lists_of_different_lengths_do_no_harm() {
    let mut report = report(1, 1, 5, 10, noise);
    report.charts.curves[0].valid.truncate(2);
    report.charts.curves[0].train.clear();
    report.charts.scatters[0].cost.truncate(3);
    report.charts.sharpness[0].std.truncate(1);
    report.charts.calibration[0].share.truncate(4);
    report.charts.activity[0].rows.truncate(1);
    check(&report);
}

#[test]
fn text_of_the_caller_stays_text() {
    let evil = "</script><script>alert(1)</script><img src=x onerror=alert(1)>\"'&";
    let mut report = report(1, 2, 5, 10, noise);
    report.title = evil.into();
    report.summary = evil.into();
    report.problem = vec![(evil.into(), evil.into())];
    report.settings = vec![(evil.into(), vec![(evil.into(), evil.into())])];
    report.notes = vec![evil.into()];
    report.table = Comparison {
        unit: evil.into(),
        rows: vec![Row {
            method: evil.into(),
            regret: 1.0,
            best: true,
            note: Some(evil.into()),
            ..Row::default()
        }],
    };
    let Charts { search, curves, distributions, scatters, calibration, sharpness, activity } =
        &mut report.charts;
    search.extend((0..2).map(|k| Candidate {
        name: evil.into(),
        regret: f64::from(k),
        ..Candidate::default()
    }));
    curves.iter_mut().for_each(|c| c.method = evil.into());
    distributions[0].method = evil.into();
    (scatters[0].method, scatters[0].label) = (evil.into(), evil.into());
    calibration[0].method = evil.into();
    sharpness[0].method = evil.into();
    activity[0].rows[0].name = evil.into();
    let page = check(&report);
    assert!(!page.contains("<script>") && !page.contains("<img"));
    assert_eq!(page.matches("</script>").count(), 1);
    for (name, svg) in report.svgs() {
        assert!(!svg.contains("<script") && !svg.contains("<img"), "{name}");
    }
}

/// Dots where work and regret say, whatever is unknown; one candidate is no search.
#[test]
fn a_search_is_drawn_from_two_candidates_on() {
    let one = |work: f64, regret: f64| Candidate {
        name: format!("c{work}"),
        work,
        regret,
        error: 0.1,
        kept: regret < 2.5,
    };
    let mut report = report(2, 1, 3, 8, noise);
    let drawn =
        |report: &Report| report.svgs().into_iter().find(|(name, _)| name == "search").map(|(_, svg)| svg);
    report.charts.search = vec![one(1.0, 3.0), one(1.0, f64::NAN)];
    assert_eq!(drawn(&report), None);
    report.charts.search = vec![one(1.0, 3.0), one(f64::NAN, 2.5), one(3.0, 2.0), one(1.0, f64::INFINITY)];
    let svg = drawn(&report).unwrap_or_default();
    // Work adds up, unknown work counts for nothing, and the last one has no regret.
    for told in ["1. c1: 3.000 after work of 1.000", "3. c3: 2.000 after work of 4.000"] {
        assert!(svg.contains(told), "{told}: {svg}");
    }
    assert_eq!(svg.matches("<circle").count(), 5, "three dots, two in the legend");
    assert!(svg.contains("not finite"));
}

#[test]
fn files_are_written_whole_and_nothing_else_is() -> Result<(), Box<dyn std::error::Error>> {
    let dir = tempfile::tempdir()?;
    let report = report(2, 2, 5, 10, noise);
    let paths = report.write(dir.path().join("a/b"))?;
    report.write(dir.path().join("a/b"))?;
    assert_eq!(std::fs::read_to_string(&paths.html)?, report.html());
    assert_eq!(paths.charts.len(), 7);
    let names = |dir: &std::path::Path| -> std::io::Result<usize> { Ok(std::fs::read_dir(dir)?.count()) };
    assert_eq!(names(&dir.path().join("a/b"))?, 2);
    assert_eq!(names(&dir.path().join("a/b/charts"))?, 7);

    std::fs::write(dir.path().join("file"), "")?;
    let error = report.write(dir.path().join("file")).expect_err("a file is no folder").to_string();
    assert!(error.starts_with("could not create "), "{error}");
    Ok(())
}

#[test]
fn charts_of_an_earlier_report_go_and_other_files_stay() -> Result<(), Box<dyn std::error::Error>> {
    let dir = tempfile::tempdir()?;
    let mut report = report(2, 2, 5, 10, noise);
    let first = report.write(dir.path())?;
    assert_eq!(first.charts.len(), 7);
    let own = dir.path().join("charts/own.svg");
    std::fs::write(&own, "mine")?;

    report.charts = Charts::default();
    let second = report.write(dir.path())?;
    assert_eq!(second.charts, first.charts[..1]);
    let kept: Vec<_> = first.charts.iter().filter(|c| c.exists()).collect();
    assert_eq!(kept, [&first.charts[0]]);

    Report::default().write(dir.path())?;
    assert_eq!(std::fs::read_dir(dir.path().join("charts"))?.count(), 1);
    assert_eq!(std::fs::read_to_string(own)?, "mine");
    Ok(())
}

#[test]
fn the_tests_say_what_they_are_against() {
    let mut report = report(1, 1, 5, 10, noise);
    let row = &mut report.table.rows[0];
    (row.ratio, row.p_value, row.wilcoxon) = (Some(0.9), Some(0.01), Some(0.02));
    row.p_two_stage = Some(0.03);
    let page = check(&report);
    assert_eq!(page.matches("paired, two-sided, against the best other method").count(), 2);
    assert_eq!(page.matches("paired, two-sided, against the best two-stage method").count(), 1);
    let at = |key: &str| page.find(&format!("data-key=\"{key}\"")).expect(key);
    assert!(at("ratio") < at("p_two_stage") && at("p_two_stage") < at("p_value"));
    assert!(page.contains("divided by that of the best two-stage method"));
}
