//! Studies on odd data: they are drawn, they say what they left out, and nothing of the caller becomes markup.

use regretless_report::{
    AxisScale, Cell, ChartAxis, Dot, DotChart, DotGroup, Grid, LineChart, Series, StudyChart, StudyReport,
    StudySection,
};

/// A study with a table and both charts on every scale, its values made by `value(k)`.
fn study(
    methods: usize,
    points: usize,
    name: impl Fn(usize) -> String,
    value: fn(usize) -> f64,
) -> StudyReport {
    let values = |from: usize| (from..from + points).map(value).collect::<Vec<f64>>();
    let mut sections = Vec::new();
    for scale in [AxisScale::Auto, AxisScale::Linear, AxisScale::Log] {
        let axis = ChartAxis { label: name(0), scale };
        let series =
            |m: usize| Series { method: name(m), x: values(m), y: values(m + 3), std: values(m + 5) };
        let lines =
            LineChart { x: axis.clone(), y: axis.clone(), series: (0..methods).map(series).collect() };
        let dot = |m: usize| Dot {
            method: name(m),
            value: value(m),
            interval: Some((value(m + 1), value(m + 2))),
            published: Some(value(m + 3)),
        };
        let group = |k: usize| DotGroup { title: name(k), dots: (0..methods).map(dot).collect() };
        let dots = DotChart { axis, whiskers: name(0), groups: (0..points).map(group).collect() };
        let row =
            |m: usize| vec![Cell::from(name(m)), Cell::best(name(m)), Cell::muted(value(m).to_string())];
        let grid = Grid { header: vec![name(0)], labels: 2, rows: (0..methods).map(row).collect() };
        let section = |chart| StudySection { title: name(0), text: name(1), grid: None, chart: Some(chart) };
        sections.push(section(StudyChart::Dots(dots)));
        sections.push(StudySection { grid: Some(grid), ..section(StudyChart::Lines(lines)) });
    }
    let pair = || (name(0), name(1));
    let settings = vec![(name(0), vec![pair()])];
    StudyReport {
        title: name(0),
        summary: name(1),
        facts: vec![pair()],
        sections,
        settings,
        notes: vec![name(2)],
    }
}

fn plain(k: usize) -> String {
    format!("method-{k}")
}

/// What holds for every page and chart.
fn check(study: &StudyReport) -> String {
    let page = study.html();
    for text in study.svgs().iter().map(|s| &s.1).chain([&page]) {
        for path in text.split(" d=\"").skip(1).chain(text.split(" x=\"").skip(1)) {
            let path = path.split('"').next().unwrap_or_default();
            assert!(!path.is_empty() && !path.contains(['N', 'i', 'e']), "{path}");
        }
        assert!(text.len() < 6_000_000, "{} bytes", text.len());
    }
    let json = page.split("id=\"regretless-data\">").nth(1).and_then(|t| t.split("</script>").next());
    let back: StudyReport = serde_json::from_str(json.expect("the embedded data")).expect("a study");
    assert_eq!(back.title, study.title);
    assert_eq!(page.matches("<section").count(), page.matches("</section>").count());
    page
}

#[test]
fn an_empty_study_is_a_page_without_sections() {
    let page = check(&StudyReport::default());
    assert!(
        page.contains("<h1>regretless study</h1>") && !page.contains("<section") && !page.contains("<nav")
    );
    let blank = StudySection { grid: Some(Grid::default()), ..StudySection::default() };
    let page = check(&StudyReport { sections: vec![blank; 4], ..StudyReport::default() });
    assert_eq!(page.matches("<section").count(), 4);
    assert_eq!(page.matches("href=\"#study-").count(), 4);
    check(&study(0, 0, plain, |_| 1.0));
}

#[test]
fn one_point_and_forty_methods() {
    assert_eq!(check(&study(1, 1, plain, |k| k as f64 + 1.0)).matches("<svg").count(), 12);
    check(&study(40, 12, plain, |k| (k as f64).sin() + 1.1));
    assert!(check(&study(3, 70, plain, |k| k as f64 + 1.0)).contains("10 more are left out"));
}

#[test]
fn odd_values_are_left_out_with_a_note() {
    let page = check(&study(3, 6, plain, |k| [f64::NAN, f64::INFINITY, 1.0, 2.0, -3.0, 0.5, 7.0][k % 7]));
    assert!(page.contains("not finite are left out.") && page.contains("not positive are left out"));
    assert!(!check(&study(2, 5, plain, |_| f64::NAN)).contains("<svg"));
    check(&study(2, 5, plain, |_| f64::NEG_INFINITY));
    check(&study(2, 5, plain, |_| 0.0));
    check(&study(2, 5, plain, |_| -4.0));
    check(&study(2, 5, plain, |k| [5e-324, 1e149, -1e149, f64::MAX, f64::MIN_POSITIVE][k % 5]));
}

#[test]
fn lists_of_different_lengths_do_no_harm() {
    let mut study = study(2, 5, plain, |k| k as f64);
    for section in &mut study.sections {
        if let Some(StudyChart::Lines(lines)) = &mut section.chart {
            lines.series[0].y.truncate(2);
            lines.series[1].std.truncate(1);
        }
        section.grid.iter_mut().for_each(|grid| grid.rows[0].truncate(1));
    }
    check(&study);
}

#[test]
fn text_of_the_caller_stays_text() {
    let evil =
        |k: usize| format!("</script><script>alert({k})</script><img src=x onerror=alert(1)>\"'&|\u{1}");
    let study = study(3, 4, evil, |k| k as f64 + 1.0);
    let page = check(&study);
    assert!(!page.contains("<script>") && !page.contains("<img"));
    assert_eq!(page.matches("</script>").count(), 1);
    for (name, svg) in study.svgs() {
        assert!(!svg.contains("<script") && !svg.contains("<img"), "{name}");
        assert!(name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-') && name.len() < 200, "{name}");
    }
    check(&self::study(2, 3, |k| "long".repeat(2_000) + &k.to_string(), |k| k as f64));
}

#[test]
fn a_method_has_one_colour() {
    let study = study(9, 5, plain, |k| k as f64 + 1.0);
    let page = check(&study);
    assert!(
        page.contains("<span class=\"chip m0 d1\"></span><div><span class=\"name short\">method-8</span>")
    );
    assert!(page.contains("<circle class=\"fl m0 d1\""));
}

#[test]
fn charts_of_an_earlier_study_go_and_other_files_stay() -> Result<(), Box<dyn std::error::Error>> {
    let dir = tempfile::tempdir()?;
    let mut study = study(2, 3, plain, |k| k as f64 + 1.0);
    let first = study.write(dir.path())?;
    assert_eq!((first.charts.len(), std::fs::read_to_string(&first.html)?), (6, study.html()));
    let own = ["charts/regret.svg", "charts/study-mine.svg", "charts/study-1-notes.txt"]
        .map(|f| dir.path().join(f));
    own.iter().try_for_each(|path| std::fs::write(path, "mine"))?;
    study.sections.truncate(1);
    assert_eq!(study.write(dir.path())?.charts, first.charts[..1]);
    assert!(own.iter().all(|path| path.exists()));
    assert_eq!(std::fs::read_dir(dir.path().join("charts"))?.count(), 4);
    Ok(())
}
