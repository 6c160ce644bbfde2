//! What the trainings of a study cost: core-hours by cell.

use regretless_paper::{Cell as Where, Row};
use regretless_report::Grid;

use super::grids;
use crate::learning::four;

/// What the trainings of a cell took.
pub(super) struct Work {
    cell: Where,
    trainings: usize,
    /// A training has one thread: these are hours of a core.
    hours: f64,
    /// The dearest row, and its part of the hours.
    dearest: (String, f64),
}

/// The work of every cell. A row of the K that was chosen trained nothing of its own.
pub(super) fn work(rows: &[Row]) -> Vec<Work> {
    let sharp =
        |row: &Row| rows.iter().any(|r| r.cell() == row.cell() && r.method == row.method && r.k.is_some());
    let hours = |row: &Row| row.seconds * row.seeds as f64 / 3600.0;
    let of_cell = |cell: Where| {
        let trained: Vec<&Row> =
            rows.iter().filter(|row| row.cell() == cell && (row.k.is_some() || !sharp(row))).collect();
        let all: f64 = trained.iter().map(|row| hours(row)).sum();
        let dearest = trained.iter().max_by(|a, b| hours(a).total_cmp(&hours(b)));
        let dearest = dearest.map_or_else(|| (String::new(), 0.0), |row| (row.label(), hours(row) / all));
        Work { cell, trainings: trained.iter().map(|row| row.seeds).sum(), hours: all, dearest }
    };
    grids::cells(rows).into_iter().map(of_cell).collect()
}

impl Work {
    /// One line for the terminal.
    pub(super) fn line(&self) -> String {
        let (label, part) = &self.dearest;
        format!(
            "{} trainings, {} core-hours, {:.0} % of them {label}",
            self.trainings,
            four(self.hours),
            100.0 * part
        )
    }

    pub(super) fn is_of(&self, cell: &Where) -> bool {
        self.cell == *cell
    }
}

/// All cells as a table, with their sum.
pub(super) fn grid(work: &[Work]) -> Grid {
    let header = ["cell", "trainings", "core-hours", "dearest row", "its part"];
    let line = |w: &Work| {
        let part = format!("{:.0} %", 100.0 * w.dearest.1);
        vec![
            grids::name(&w.cell).into(),
            w.trainings.to_string().into(),
            four(w.hours).into(),
            w.dearest.0.clone().into(),
            part.into(),
        ]
    };
    let mut rows: Vec<_> = work.iter().map(line).collect();
    if work.len() > 1 {
        let trainings: usize = work.iter().map(|w| w.trainings).sum();
        let all: f64 = work.iter().map(|w| w.hours).sum();
        let sum = ["all".into(), trainings.to_string(), four(all), String::new(), String::new()];
        rows.push(sum.map(Into::into).to_vec());
    }
    Grid { header: header.map(String::from).to_vec(), labels: 1, rows }
}
