//! The rows of a study as tables.

use std::fmt::Write;
use std::path::Path;

use regretless_paper::published::Application as Which;
use regretless_paper::{Application, Cell, Profile, Row};

use super::{grids, hours};
use crate::learning::{four, p_value};
use crate::output::{table, wrapped};

/// The tables for the terminal, one a cell.
pub(super) fn terminal(application: &dyn Application, rows: &[Row], report: &Path) -> String {
    let mut text = String::new();
    let work = hours::work(rows);
    for cell in &grids::cells(rows) {
        let of_cell: Vec<&Row> = rows.iter().filter(|r| r.cell() == *cell).collect();
        let _ = writeln!(text, "{}\n", title(application, cell));
        let header = [
            "method",
            "K",
            "regret",
            "± std",
            "paper",
            "difference",
            "vs two-stage",
            "p",
            "MSE",
            "epochs",
            "s",
        ];
        let dash = || "–".to_owned();
        let lines = of_cell.iter().map(|r| {
            vec![
                format!("{} {}", if r.best { "*" } else { " " }, r.method),
                sharpness(r, rows),
                four(r.regret),
                r.std.map_or_else(dash, four),
                r.published.map_or_else(dash, four),
                r.difference.map_or_else(dash, |d| format!("{d:+.3}")),
                r.ratio.map_or_else(dash, |ratio| format!("{ratio:.3}")),
                p_value(r.p),
                four(r.mse),
                format!("{:.1}", r.epochs),
                format!("{:.1}", r.seconds),
            ]
        });
        text += &table(&header, 2, lines);
        text.push('\n');
        for work in work.iter().filter(|work| work.is_of(cell)) {
            let _ = writeln!(text, "{}\n", work.line());
        }
    }
    let against = match application.profile() {
        Profile::Published => "one-tailed against surrogate-vertex with its best K, as in the paper",
        Profile::Sound => "two-sided against the best two-stage row (`constant` is one)",
    };
    let over = format!("{} seed{}", seeds(rows), if seeds(rows) == "1" { "" } else { "s" });
    let fixed = "* lowest regret, rows of one K among several not counted";
    let legend = format!("{fixed}; s: seconds a training; p: paired t-test over {over}, {against}.");
    let _ = writeln!(text, "{}", wrapped(&legend, 0));
    if application.profile() == Profile::Sound && rows.iter().any(|row| row.published.is_some()) {
        let apart = "paper: its figure, for its own data and settings; this profile has others, so compare who wins, not figures.";
        let _ = writeln!(text, "{}", wrapped(apart, 0));
    }
    for row in rows.iter().filter(|row| row.note.as_deref().is_some_and(|note| note.contains("diverged"))) {
        let note = row.note.as_deref().unwrap_or_default();
        let _ = writeln!(text, "note: {}, {}: {note}", grids::name(&row.cell()), row.label());
    }
    let _ = writeln!(text, "\nreport: {}", report.display());
    text
}

/// How many seeds the rows rest on; after an interrupt cells may differ.
pub(super) fn seeds(rows: &[Row]) -> String {
    let (fewest, most) = (rows.iter().map(|r| r.seeds).min(), rows.iter().map(|r| r.seeds).max());
    match (fewest, most) {
        (Some(fewest), Some(most)) if fewest < most => format!("{fewest} to {most}"),
        (_, most) => most.unwrap_or(0).to_string(),
    }
}

/// K as it is given, how it was chosen, or nothing.
fn sharpness(row: &Row, rows: &[Row]) -> String {
    let several = rows.iter().any(|r| r.method == row.method && r.k.is_some());
    row.k.map_or_else(|| if several { "chosen".into() } else { String::new() }, |k| k.to_string())
}

fn title(application: &dyn Application, cell: &Cell) -> String {
    let samples = cell.samples.map_or_else(String::new, |n| format!(", {n} samples"));
    let what = match application.id() {
        Which::Synthetic => format!("synthetic LP ({}){samples}", cell.size),
        Which::Portfolio => format!("portfolio of {} equities, regret in percent", cell.size),
        Which::Provisioning => format!("provisioning, ratio of prices {}", cell.size),
    };
    let data = application.settings().into_iter().find(|(key, _)| key == "data").map(|(_, data)| data);
    let data = data.map_or_else(String::new, |data| format!("\ndata: {data}"));
    format!("{what}; {} predictor, {} profile{data}", cell.predictor.word(), application.profile())
}
