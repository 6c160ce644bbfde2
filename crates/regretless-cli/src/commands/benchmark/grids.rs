//! The scoreboard as tables.

use regretless_benchmark::{Board, Row, Suite};
use regretless_report::{Cell, Grid};

use crate::learning::{four, p_value};
use crate::output::table;

/// The settings that a suite has rows of, in order.
pub(super) fn settings(board: &Board, suite: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for row in board.rows.iter().filter(|row| row.suite == suite) {
        if !found.contains(&row.setting) {
            found.push(row.setting.clone());
        }
    }
    found
}

/// The rows of a setting.
pub(super) fn of<'a>(board: &'a Board, suite: &str, setting: &str) -> Vec<&'a Row> {
    board.rows.iter().filter(|row| row.suite == suite && row.setting == setting).collect()
}

/// The contenders of a suite, in order, and the columns of others.
fn columns(board: &Board, suite: &str) -> (Vec<String>, Vec<String>) {
    let (mut ours, mut theirs): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    for row in board.rows.iter().filter(|row| row.suite == suite) {
        if !ours.contains(&row.contender) {
            ours.push(row.contender.clone());
        }
        for published in board.published_for(suite, &row.setting) {
            if !theirs.contains(&published.name) {
                theirs.push(published.name.clone());
            }
        }
    }
    (ours, theirs)
}

fn spread(mean: f64, error: Option<f64>) -> String {
    error.map_or_else(|| four(mean), |error| format!("{} ± {}", four(mean), two(error)))
}

/// Two digits are enough for an error.
fn two(error: f64) -> String {
    let digits = if error > 0.0 { (1.0 - error.log10().floor()).clamp(0.0, 6.0) as usize } else { 0 };
    format!("{error:.digits$}")
}

/// A line a setting and a column a contender, with figures of others at the right.
pub(super) fn means(board: &Board, suite: &str) -> Grid {
    let (ours, theirs) = columns(board, suite);
    let mut header = vec!["setting".to_owned(), "paired".to_owned()];
    header.extend(ours.iter().chain(&theirs).cloned());
    let line = |setting: String| {
        let rows = of(board, suite, &setting);
        let paired = rows.first().map_or(0, |row| row.paired);
        let mut cells: Vec<Cell> = vec![setting.clone().into(), paired.to_string().into()];
        cells.extend(ours.iter().map(|name| {
            let Some(row) = rows.iter().find(|row| row.contender == *name) else { return Cell::default() };
            let text = spread(row.mean, row.error);
            if row.best { Cell::best(text) } else { text.into() }
        }));
        cells.extend(theirs.iter().map(|name| {
            let found = board.published_for(suite, &setting).iter().find(|p| p.name == *name);
            found.map_or_else(Cell::default, |p| Cell::muted(spread(p.mean, p.error)))
        }));
        cells
    };
    let rows = settings(board, suite).into_iter().map(line).collect();
    Grid { header, labels: 1, rows }
}

/// Differences to the best two-stage contender of each setting.
pub(super) fn differences(board: &Board, suite: &str) -> Grid {
    let (ours, _) = columns(board, suite);
    let mut header = vec!["setting".to_owned(), "best two-stage".to_owned()];
    header.extend(ours.iter().cloned());
    let line = |setting: String| {
        let rows = of(board, suite, &setting);
        let against = rows.iter().find_map(|row| row.against.clone()).unwrap_or_default();
        let mut cells: Vec<Cell> = vec![setting.into(), against.into()];
        cells.extend(ours.iter().map(|name| {
            let row = rows.iter().find(|row| row.contender == *name);
            let Some((row, difference)) = row.and_then(|row| Some((row, row.difference?))) else {
                return Cell::default();
            };
            let p = row.holm.map_or_else(String::new, |p| format!(" ({})", p_value(Some(p))));
            let error = row.difference_error.map_or_else(String::new, |e| format!(" ± {}", two(e)));
            format!("{difference:+.3}{error}{p}").into()
        }));
        cells
    };
    let rows = settings(board, suite).into_iter().map(line).collect();
    Grid { header, labels: 2, rows }
}

/// `auto` beside the best of the others.
pub(super) fn verdicts(board: &Board) -> Grid {
    let header = ["suite", "setting", "best other", "auto", "its mean", "difference", "± error"];
    let line = |v: &regretless_benchmark::Verdict| -> Vec<Cell> {
        vec![
            v.suite.clone().into(),
            v.setting.clone().into(),
            v.best.clone().into(),
            four(v.auto).into(),
            four(v.mean).into(),
            format!("{:+.3}", v.difference).into(),
            v.error.map_or_else(String::new, two).into(),
        ]
    };
    let rows = board.verdicts.iter().map(line).collect();
    Grid { header: header.map(String::from).to_vec(), labels: 3, rows }
}

/// Everything, a line a row.
pub(super) fn all(board: &Board) -> Grid {
    let header = [
        "suite",
        "setting",
        "contender",
        "two-stage",
        "against",
        "mean",
        "standard error",
        "paired",
        "difference",
        "difference error",
        "p",
        "holm p",
        "undecided",
        "seconds",
        "best",
    ];
    let number = |v: Option<f64>| v.filter(|v| v.is_finite()).map_or_else(String::new, |v| format!("{v:.6}"));
    let exact = |v: Option<f64>| v.map_or_else(String::new, |v| format!("{v:.3e}"));
    let word = |yes: bool| if yes { "yes" } else { "no" };
    let line = |r: &Row| -> Vec<Cell> {
        vec![
            r.suite.clone().into(),
            r.setting.clone().into(),
            r.contender.clone().into(),
            word(r.two_stage).into(),
            r.against.clone().unwrap_or_default().into(),
            number(Some(r.mean)).into(),
            number(r.error).into(),
            r.paired.to_string().into(),
            number(r.difference).into(),
            number(r.difference_error).into(),
            exact(r.p).into(),
            exact(r.holm).into(),
            r.undecided.to_string().into(),
            format!("{:.2}", r.seconds).into(),
            word(r.best).into(),
        ]
    };
    Grid { header: header.map(String::from).to_vec(), labels: 5, rows: board.rows.iter().map(line).collect() }
}

/// The table of a suite for a terminal: a line a contender, setting by setting; differences are to the best two-stage one.
pub(super) fn terminal(suite: &dyn Suite, board: &Board) -> Option<String> {
    let id = suite.id();
    let settings = settings(board, id);
    if settings.is_empty() {
        return None;
    }
    let header = ["setting", "contender", "mean", "difference", "p", "Holm's p", "s"];
    let mut lines = Vec::new();
    for setting in &settings {
        for (i, row) in of(board, id, setting).into_iter().enumerate() {
            lines.push(vec![
                if i == 0 { setting.clone() } else { String::new() },
                format!("{} {}", if row.best { "*" } else { " " }, row.contender),
                spread(row.mean, row.error),
                row.difference.map_or_else(|| "–".to_owned(), |d| format!("{d:+.3}")),
                p_value(row.p),
                p_value(row.holm),
                format!("{:.1}", row.seconds),
            ]);
        }
        for published in board.published_for(id, setting) {
            let name = format!("  {}", published.name);
            let figure = spread(published.mean, published.error);
            lines.push(vec![
                String::new(),
                name,
                figure,
                String::new(),
                String::new(),
                String::new(),
                String::new(),
            ]);
        }
    }
    Some(table(&header, 2, lines))
}
