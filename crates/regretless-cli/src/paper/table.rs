//! The rows of a study as tables.

use std::fmt::Write;
use std::path::Path;

use regretless_paper::{Application, Cell, Profile, Row};

use super::grids;
use crate::learning::{four, p_value};
use crate::output::{table, wrapped};

/// The tables for the terminal, one a cell.
pub(super) fn terminal(application: &dyn Application, rows: &[Row], report: &Path) -> String {
    let mut text = String::new();
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
                r.k.map_or_else(String::new, |k| k.to_string()),
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
    }
    let seeds = rows.first().map_or(0, |r| r.seeds);
    let against = match application.profile() {
        Profile::Published => "one-tailed against surrogate-vertex with its best K, as in the paper",
        Profile::Sound => "two-sided against the best two-stage row",
    };
    let legend = format!("* lowest regret; p: paired t-test over {seeds} seeds, {against}.");
    let _ = writeln!(text, "{}", wrapped(&legend, 0));
    let _ = writeln!(text, "\nreport: {}", report.display());
    text
}

fn title(application: &dyn Application, cell: &Cell) -> String {
    let samples = cell.samples.map_or_else(String::new, |n| format!(", {n} samples"));
    format!(
        "{} ({}{samples}), {} predictor, {} profile",
        application.id().word(),
        cell.size,
        cell.predictor.word(),
        application.profile()
    )
}
