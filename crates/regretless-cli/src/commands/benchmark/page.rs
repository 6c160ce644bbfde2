//! The page of the scoreboard.

use regretless_benchmark::{Board, Suite};
use regretless_report::{
    AxisScale, ChartAxis, Dot, DotChart, DotGroup, Grid, StudyChart, StudyReport, StudySection,
};

use super::grids;

/// Charts of more settings than these would make the page long.
const DRAWN: usize = 12;

pub(super) fn page(suites: &[Box<dyn Suite>], board: &Board, command: &str) -> StudyReport {
    let mut sections = Vec::new();
    if !board.verdicts.is_empty() {
        let text = "The best of our other contenders is picked on the rows that are judged, which is kind to it. Below 0 auto is better.";
        sections.push(section("auto beside the best of the others", text, grids::verdicts(board)));
    }
    for suite in suites {
        let (id, title) = (suite.id(), suite.title());
        let settings = grids::settings(board, id);
        if settings.is_empty() {
            continue;
        }
        let text =
            format!("{}. Mean ± standard error; the lowest of a setting is bold.", capital(suite.unit()));
        sections.push(section(title, &text, grids::means(board, id)));
        let text = "The mean difference to the best two-stage contender of the setting ± its standard error, paired; in brackets the p \
                    of a two-sided paired t-test by Holm's rule over all settings of the contender. Below 0 is less regret.";
        sections.push(section(&format!("{title}: differences"), text, grids::differences(board, id)));
        sections.push(StudySection {
            title: format!("{title}, drawn"),
            text: String::new(),
            grid: None,
            chart: Some(dots(suite.as_ref(), board, &settings)),
        });
    }
    let all: Vec<usize> = board.rows.iter().map(|row| row.paired).collect();
    let (fewest, most) = (all.iter().min().unwrap_or(&0), all.iter().max().unwrap_or(&0));
    let paired = if fewest == most { most.to_string() } else { format!("{fewest} to {most}") };
    StudyReport {
        title: "How good decisions are".into(),
        summary: board.sentences().unwrap_or_default(),
        facts: vec![
            ("Version".into(), env!("CARGO_PKG_VERSION").into()),
            ("Draws or days a setting".into(), paired),
            ("Trials left".into(), board.left.to_string()),
            ("Command".into(), command.to_owned()),
        ],
        sections,
        settings: Vec::new(),
        notes: Vec::new(),
    }
}

fn section(title: &str, text: &str, grid: Grid) -> StudySection {
    StudySection { title: title.into(), text: text.into(), grid: Some(grid), chart: None }
}

fn dots(suite: &dyn Suite, board: &Board, settings: &[String]) -> StudyChart {
    let group = |setting: &String| {
        let ours = grids::of(board, suite.id(), setting).into_iter().map(|row| Dot {
            method: row.contender.clone(),
            value: row.mean,
            interval: row.error.map(|error| (row.mean - error, row.mean + error)),
            published: None,
        });
        let theirs = board.published_for(suite.id(), setting).iter().map(|p| Dot {
            method: p.name.clone(),
            value: p.mean,
            interval: p.error.map(|error| (p.mean - error, p.mean + error)),
            published: None,
        });
        DotGroup { title: setting.clone(), dots: ours.chain(theirs).collect() }
    };
    StudyChart::Dots(DotChart {
        axis: ChartAxis { label: suite.unit().into(), scale: AxisScale::Auto },
        whiskers: "± one standard error".into(),
        groups: settings.iter().take(DRAWN).map(group).collect(),
    })
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
