//! The rows of a study as the paper's tables: a line of ours and one of the paper's for every cell.

use regretless_paper::{Cell as Where, Row};
use regretless_report::{Cell, Emphasis, Grid};

use crate::learning::{four, p_value};

/// The cells of a study, in order.
pub(super) fn cells<'a>(rows: impl IntoIterator<Item = &'a Row>) -> Vec<Where> {
    let mut cells: Vec<Where> = Vec::new();
    for row in rows {
        if !cells.contains(&row.cell()) {
            cells.push(row.cell());
        }
    }
    cells
}

/// What a cell is called.
pub(super) fn name(cell: &Where) -> String {
    let samples = cell.samples.map_or_else(String::new, |n| format!(", N = {n}"));
    let predictor = if cell.predictor == regretless_paper::Predictor::Mlp { "" } else { ", linear" };
    format!("({}){samples}{predictor}", cell.size)
}

/// Rows whose K is fixed by the method or was chosen: one a method.
pub(super) fn chosen(rows: &[Row]) -> Vec<&Row> {
    let several =
        |row: &Row| rows.iter().any(|r| r.cell() == row.cell() && r.method == row.method && r.k.is_none());
    rows.iter().filter(|row| row.k.is_none() || !several(row)).collect()
}

/// A figure of ours, and the paper's where it has one.
type Figures = (String, Option<String>);

/// One line of ours and one of the paper's for every cell, a column a method.
fn wide(rows: &[&Row], labels: &dyn Fn(&Row) -> String, figures: &dyn Fn(&Row) -> Option<Figures>) -> Grid {
    let mut columns: Vec<String> = Vec::new();
    for row in rows {
        if !columns.contains(&labels(row)) && figures(row).is_some() {
            columns.push(labels(row));
        }
    }
    let mut grid = Grid { header: vec!["cell".into(), "figure".into()], labels: 2, rows: Vec::new() };
    grid.header.extend(columns.iter().cloned());
    for cell in cells(rows.iter().copied()) {
        let of = |column: &String| rows.iter().find(|row| row.cell() == cell && labels(row) == *column);
        let mut ours: Vec<Cell> = vec![name(&cell).into(), "ours".into()];
        let mut paper: Vec<Cell> = vec![name(&cell).into(), Cell::muted("paper")];
        for column in &columns {
            let found = of(column).and_then(|row| Some((row, figures(row)?)));
            ours.push(found.as_ref().map_or_else(Cell::default, |(_, (own, _))| own.clone().into()));
            let published = found.and_then(|(_, (_, published))| published);
            paper.push(published.map_or_else(Cell::default, Cell::muted));
        }
        let any = paper.iter().skip(2).any(|cell| !cell.text.is_empty());
        grid.rows.push(ours);
        if any {
            grid.rows.push(paper);
        }
    }
    grid
}

fn spread(mean: f64, std: Option<f64>) -> String {
    std.map_or_else(|| four(mean), |std| format!("{} ± {}", four(mean), four(std)))
}

fn method(row: &Row) -> String {
    row.method.clone()
}

/// Regret: Tables 1, 2 and 3.
pub(super) fn regret(rows: &[Row]) -> Grid {
    let mut grid = wide(&chosen(rows), &method, &|row| {
        let paper = row.published.map(|value| spread(value, row.published_std));
        Some((spread(row.regret, row.std), paper))
    });
    for row in rows.iter().filter(|row| row.best) {
        let column = grid.header.iter().position(|head| *head == row.method);
        let line = grid.rows.iter_mut().find(|line| line[0].text == name(&row.cell()));
        if let (Some(column), Some(line)) = (column, line) {
            line[column].emphasis = Emphasis::Best;
        }
    }
    grid
}

/// Regret for every K.
pub(super) fn sharpness(rows: &[Row]) -> Grid {
    let sharp: Vec<&Row> = rows.iter().filter(|row| row.k.is_some()).collect();
    wide(&sharp, &Row::label, &|row| {
        let paper = row.published.map(|value| spread(value, row.published_std));
        Some((spread(row.regret, row.std), paper))
    })
}

/// Mean squared error of the predictions.
pub(super) fn error(rows: &[Row]) -> Grid {
    let all: Vec<&Row> = rows.iter().collect();
    wide(&all, &Row::label, &|row| Some((four(row.mse), row.published_mse.map(four))))
}

/// Epochs run.
pub(super) fn epochs(rows: &[Row]) -> Grid {
    let all: Vec<&Row> = rows.iter().filter(|row| row.epochs > 0.0).collect();
    wide(&all, &Row::label, &|row| {
        Some((format!("{:.1}", row.epochs), row.published_epochs.map(|e| format!("{e:.1}"))))
    })
}

/// Paired tests.
pub(super) fn tests(rows: &[Row]) -> Grid {
    wide(&chosen(rows), &method, &|row| {
        let ours = row.t.map(|t| format!("{t:+.2} ({})", p_value(row.p)))?;
        let paper = row.published_t.map(|t| format!("{t:+.2} ({})", p_value(row.published_p)));
        Some((ours, paper))
    })
}

/// Everything, a line a row.
pub(super) fn all(rows: &[Row]) -> Grid {
    let header = [
        "size",
        "samples",
        "predictor",
        "method",
        "k",
        "regret",
        "std",
        "paper",
        "paper std",
        "difference",
        "relative",
        "ratio to two-stage",
        "against",
        "t",
        "p",
        "mse",
        "paper mse",
        "epochs",
        "paper epochs",
        "seconds",
        "seeds",
        "note",
    ];
    let number = |v: Option<f64>| v.map_or_else(String::new, |v| format!("{v:.6}"));
    let line = |r: &Row| -> Vec<Cell> {
        let exact = |v: Option<f64>| v.map_or_else(String::new, |v| format!("{v:.3e}"));
        vec![
            r.size.clone().into(),
            r.samples.map_or_else(String::new, |n| n.to_string()).into(),
            r.predictor.word().into(),
            r.method.clone().into(),
            r.k.map_or_else(String::new, |k| k.to_string()).into(),
            number(Some(r.regret)).into(),
            number(r.std).into(),
            number(r.published).into(),
            number(r.published_std).into(),
            number(r.difference).into(),
            number(Some(r.relative)).into(),
            number(r.ratio).into(),
            r.against.clone().unwrap_or_default().into(),
            number(r.t).into(),
            exact(r.p).into(),
            exact(Some(r.mse)).into(),
            exact(r.published_mse).into(),
            format!("{:.2}", r.epochs).into(),
            number(r.published_epochs).into(),
            format!("{:.2}", r.seconds).into(),
            r.seeds.to_string().into(),
            r.note.clone().unwrap_or_default().into(),
        ]
    };
    Grid { header: header.map(String::from).to_vec(), labels: 4, rows: rows.iter().map(line).collect() }
}
