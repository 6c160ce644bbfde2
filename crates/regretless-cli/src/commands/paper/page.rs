//! The report of a study.

use regretless_paper::{Application, Profile, Row};
use regretless_report::{
    AxisScale, ChartAxis, Dot, DotChart, DotGroup, Grid, LineChart, Series, StudyChart, StudyReport,
    StudySection,
};

use super::{grids, hours, table};
use crate::learning::four;

/// Curves of more cells than these would make the page long and say little.
const CURVES: usize = 8;

pub(super) fn page(
    application: &dyn Application,
    rows: &[Row],
    planned: usize,
    command: &str,
) -> StudyReport {
    let published = application.profile() == Profile::Published;
    let name = application.id().word();
    let unit = if application.unit() == 1.0 { "" } else { " (%)" };
    let seeds = table::seeds(rows);
    let mut facts: Vec<(String, String)> = vec![
        ("Profile".into(), application.profile().word().into()),
        ("Seeds".into(), if seeds == planned.to_string() { seeds } else { format!("{seeds} of {planned}") }),
    ];
    facts.extend(application.settings().into_iter().map(|(key, value)| (capital(&key), value)));
    facts.push(("Command".into(), command.to_owned()));
    let against = if published {
        "t and p of a paired test over seeds against surrogate-vertex with the K that was best on test, one-tailed, as in the \
         paper. A positive t means a higher regret than the paper's method."
    } else {
        "t and p of a paired test over seeds against the best two-stage row of the cell, two-sided. A positive t means a higher \
         regret than that row's."
    };
    let how = if published {
        "The K of a row is the best on the test set, as in the paper: too kind to these methods."
    } else {
        "K is chosen on validation, seed by seed."
    };
    let mut sections = vec![
        section(
            "Regret",
            &format!("Mean over seeds ± standard deviation; the lowest of a cell is bold. {how}"),
            grids::regret(rows),
        ),
        StudySection {
            title: "Regret, drawn".into(),
            text: String::new(),
            grid: None,
            chart: Some(dots(rows, unit)),
        },
        section("Paired tests", against, grids::tests(rows)),
        section("Every K", "Regret with each sharpness K.", grids::sharpness(rows)),
        section(
            "Prediction error",
            "Mean squared error of the predictions on the test set.",
            grids::error(rows),
        ),
        section("Epochs", "Epochs run, mean over seeds.", grids::epochs(rows)),
        section(
            "Work",
            "What the trainings took, each on one thread; it includes judging them on test.",
            hours::grid(&hours::work(rows)),
        ),
    ];
    sections.retain(|section| section.grid.as_ref().is_none_or(|grid| !grid.rows.is_empty()));
    let part = if application.follows_test() { "test" } else { "validation" };
    for cell in grids::cells(rows).iter().take(CURVES) {
        let of_cell: Vec<&Row> = grids::chosen(rows)
            .into_iter()
            .filter(|row| row.cell() == *cell && row.curve.len() > 1)
            .collect();
        if !of_cell.is_empty() {
            sections.push(StudySection {
                title: format!("Regret by epoch, {}", grids::name(cell)),
                text: format!(
                    "On the {part} part; mean over the seeds that ran so far, with one standard deviation."
                ),
                grid: None,
                chart: Some(curves(&of_cell, part, unit)),
            });
        }
    }
    StudyReport {
        title: format!("The paper's {name} experiment, {} profile", application.profile()),
        summary: summary(rows),
        facts,
        sections,
        settings: Vec::new(),
        notes: notes(rows),
    }
}

fn section(title: &str, text: &str, grid: Grid) -> StudySection {
    StudySection { title: title.into(), text: text.into(), grid: Some(grid), chart: None }
}

fn dots(rows: &[Row], unit: &str) -> StudyChart {
    let group = |cell: &regretless_paper::Cell| DotGroup {
        title: grids::name(cell),
        dots: grids::chosen(rows)
            .into_iter()
            .filter(|row| row.cell() == *cell)
            .map(|row| Dot {
                method: row.method.clone(),
                value: row.regret,
                interval: row.std.map(|std| {
                    let half = std / (row.seeds.max(1) as f64).sqrt();
                    (row.regret - half, row.regret + half)
                }),
                published: row.published,
            })
            .collect(),
    };
    StudyChart::Dots(DotChart {
        axis: ChartAxis { label: format!("regret{unit}"), scale: AxisScale::Auto },
        whiskers: "± one standard error over seeds".into(),
        groups: grids::cells(rows).iter().map(group).collect(),
    })
}

fn curves(rows: &[&Row], part: &str, unit: &str) -> StudyChart {
    let series = |row: &&Row| Series {
        method: row.method.clone(),
        x: (0..row.curve.len()).map(|epoch| epoch as f64).collect(),
        y: row.curve.iter().map(|(mean, _)| *mean).collect(),
        std: row.curve.iter().map(|(_, std)| *std).collect(),
    };
    StudyChart::Lines(LineChart {
        x: ChartAxis { label: "epoch".into(), scale: AxisScale::Linear },
        y: ChartAxis { label: format!("{part} regret{unit}"), scale: AxisScale::Auto },
        series: rows.iter().map(series).collect(),
    })
}

/// Who won where, in words.
pub(super) fn summary(rows: &[Row]) -> String {
    let mut sentences = Vec::new();
    for cell in grids::cells(rows) {
        let of_cell: Vec<&Row> = grids::chosen(rows).into_iter().filter(|row| row.cell() == cell).collect();
        let Some(best) = of_cell.iter().find(|row| row.best) else { continue };
        let against = match (best.ratio, best.p, &best.against) {
            (Some(ratio), Some(p), Some(against)) if ratio < 1.0 && against != &best.method => {
                format!(
                    ", {:.1} % less than the best two-stage row (p {} against {against})",
                    100.0 * (1.0 - ratio),
                    less(p)
                )
            }
            _ => String::new(),
        };
        sentences.push(format!(
            "{}: {} has the lowest regret, {}{against}.",
            grids::name(&cell),
            best.label(),
            four(best.regret)
        ));
    }
    sentences.join(" ")
}

fn less(p: f64) -> String {
    if p < 0.001 { "< 0.001".into() } else { format!("= {p:.3}") }
}

fn notes(rows: &[Row]) -> Vec<String> {
    let noted = rows.iter().filter_map(|row| {
        let note = row.note.as_ref()?;
        Some(format!("{}, {}: {note}.", grids::name(&row.cell()), row.label()))
    });
    noted.collect()
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
