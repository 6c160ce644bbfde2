//! The data behind the page, embedded in it: long series thinned, numbers to six digits.

use serde::Serialize;

use crate::data::Report;
use crate::escape;
use crate::study::{Series, StudyChart, StudyReport};
use crate::thin::{even, sample};

/// Values of one kind embedded at most, over all methods.
const BUDGET: usize = 12_000;

/// The report as JSON that is safe inside `<script>`; it reads back as a [`Report`].
pub(crate) fn report(report: &Report) -> String {
    json(&thinned(report))
}

/// The study as JSON that is safe inside `<script>`; it reads back as a [`StudyReport`].
pub(crate) fn study(report: &StudyReport) -> String {
    let mut report = report.clone();
    let charts = report.sections.iter_mut().filter_map(|s| s.chart.as_mut());
    let mut series: Vec<&mut Series> = charts
        .filter_map(|chart| if let StudyChart::Lines(lines) = chart { Some(&mut lines.series) } else { None })
        .flatten()
        .collect();
    let cap = (4 * BUDGET / series.len().max(1)).max(4);
    for s in &mut series {
        let kept = even(s.x.len(), cap);
        for list in [&mut s.x, &mut s.y, &mut s.std] {
            pick(list, &kept);
        }
    }
    json(&report)
}

fn json(data: &impl Serialize) -> String {
    escape::script_json(&serde_json::to_string(data).unwrap_or_else(|_| "null".to_owned()))
}

fn thinned(report: &Report) -> Report {
    let mut report = report.clone();
    let charts = &mut report.charts;
    let share = |lists: usize| (BUDGET / lists.max(1)).max(4);
    let cap = share(charts.curves.len());
    for c in &mut charts.curves {
        let kept = even(c.epochs.len(), cap);
        for list in [&mut c.epochs, &mut c.train, &mut c.valid] {
            pick(list, &kept);
        }
    }
    let cap = share(charts.distributions.len());
    for d in &mut charts.distributions {
        let kept = sample(d.regrets.len(), cap);
        pick(&mut d.regrets, &kept);
    }
    let cap = share(charts.scatters.len());
    for s in &mut charts.scatters {
        let kept = sample(s.predicted.len(), cap);
        for list in [&mut s.predicted, &mut s.realised, &mut s.cost] {
            pick(list, &kept);
        }
    }
    let cap = share(charts.calibration.len());
    for c in &mut charts.calibration {
        let kept = even(c.level.len(), cap);
        for list in [&mut c.level, &mut c.share] {
            pick(list, &kept);
        }
    }
    let cap = share(charts.sharpness.len());
    for s in &mut charts.sharpness {
        let kept = even(s.k.len(), cap);
        for list in [&mut s.k, &mut s.regret, &mut s.std] {
            pick(list, &kept);
        }
    }
    let cap = share(charts.activity.len() * 4);
    for a in &mut charts.activity {
        a.rows.truncate(cap);
    }
    report
}

/// Keeps the values at these places, to six significant digits.
fn pick(list: &mut Vec<f64>, kept: &[usize]) {
    *list =
        kept.iter().filter_map(|&i| list.get(i)).map(|v| format!("{v:.5e}").parse().unwrap_or(*v)).collect();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Charts, Distribution, Row};

    #[test]
    fn embedded_data_reads_back() {
        let mut report = Report { title: "</script>".into(), ..Report::default() };
        report.table.rows = vec![Row { regret: f64::NAN, interval: Some((f64::NAN, 1.0)), ..Row::default() }];
        let regrets = vec![f64::NAN, 1.0 / 3.0];
        report.charts =
            Charts { distributions: vec![Distribution { method: "a".into(), regrets }], ..Charts::default() };
        let text = super::report(&report);
        assert!(!text.contains('<'));
        let back: Report = serde_json::from_str(&text).expect("a report");
        assert_eq!(back.title, "</script>");
        assert!(back.table.rows[0].regret.is_nan());
        assert_eq!(back.charts.distributions[0].regrets[1], 0.333_333);
    }

    #[test]
    fn long_series_are_cut_to_size() {
        let regrets: Vec<f64> = (0..100_000).map(|k| f64::from(k) * 1.234_567_8).collect();
        let distributions = vec![Distribution { method: "a".into(), regrets }; 12];
        let report = Report { charts: Charts { distributions, ..Charts::default() }, ..Report::default() };
        assert!(super::report(&report).len() < 200_000);
    }
}
