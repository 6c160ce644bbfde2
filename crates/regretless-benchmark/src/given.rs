//! Forecasts of others for the same rows: rows are written out for them, and what they forecast is read back.
//!
//! ```text
//! DIR/SUITE/SETTING/DRAW/rows.csv    the rows of a cell
//! DIR/SUITE/SETTING/DRAW/NAME.csv    what NAME predicts for the rows of the test part, in order: a column a quantity
//! ```

use std::fmt::Write;
use std::path::{Path, PathBuf};

use regretless_learn::{Kind, Part, write_whole};

use crate::BenchmarkError;
use crate::contender::{Contender, How};
use crate::plan::Plan;
use crate::record::slug;
use crate::sheet::Sheet;
use crate::suite::{Cell, Question, Suite};

const ROWS: &str = "rows.csv";

/// The folder of a cell.
fn folder(dir: &Path, cell: &Cell) -> PathBuf {
    dir.join(&cell.suite).join(slug(&cell.setting)).join(cell.draw.to_string())
}

/// Writes the rows of every cell of a plan, and says how many cells that were. Cells whose predictor is the task's own have no
/// table of features, and are left out.
pub fn export(suites: &[Box<dyn Suite>], plan: &Plan, dir: &Path) -> Result<usize, BenchmarkError> {
    let mut cells: Vec<(usize, &Cell)> = plan.trials.iter().map(|t| (t.suite, &t.cell)).collect();
    cells.sort_unstable();
    cells.dedup();
    let mut written = 0;
    for (suite, cell) in cells {
        let question = suites[suite].question(cell)?;
        if question.own.is_some() {
            continue;
        }
        let folder = folder(dir, cell);
        let refused = |e: std::io::Error| BenchmarkError::file(&folder, e.to_string(), "free some space");
        std::fs::create_dir_all(&folder).map_err(refused)?;
        write_whole(&folder.join(ROWS), rows(&question).as_bytes())?;
        written += 1;
    }
    Ok(written)
}

/// The rows of a cell: `part`, `series`, `time`, features (`x:` numbers, `c:` codes of categories), quantities (`y:`), what an error costs
/// on its two sides (`over:`, `under:`), and the room that orders share.
fn rows(question: &Question) -> String {
    let (data, width) = (&question.data, question.placement.width());
    let mut text = String::from("part,series,time");
    for (name, kind) in data.names.features.iter().zip(data.kinds_of_features()) {
        let _ = write!(text, ",{}:{name}", if kind == Kind::Number { "x" } else { "c" });
    }
    (0..width).for_each(|k| {
        let _ = write!(text, ",y:{k}");
    });
    (0..question.sides.len()).for_each(|k| {
        let _ = write!(text, ",over:{k},under:{k}");
    });
    let known = !question.room.is_empty();
    text += if known { ",room\n" } else { "\n" };
    for row in 0..data.rows() {
        let part = data.parts[row].unwrap_or(Part::Train);
        let _ = write!(text, "{part},{},{}", data.series.of(row), data.time_of(row));
        let own = &data.features[row * data.width()..(row + 1) * data.width()];
        let targets = &data.targets[row * width..(row + 1) * width];
        let sides = question.sides.iter().flat_map(|s| [s.over, s.under]);
        let room = known.then(|| data.known.values[row]);
        for value in own.iter().chain(targets).copied().chain(sides).chain(room) {
            // A cell without a value is empty.
            let _ = if value.is_nan() { write!(text, ",") } else { write!(text, ",{value}") };
        }
        text.push('\n');
    }
    text
}

/// The forecasters that have a file for every one of these cells.
pub(crate) fn contenders(dir: &Path, cells: &[Cell]) -> Vec<Contender> {
    let Some(first) = cells.first() else { return Vec::new() };
    let names = |cell: &Cell| -> Vec<String> {
        let Ok(entries) = std::fs::read_dir(folder(dir, cell)) else { return Vec::new() };
        let files = entries.flatten().map(|e| e.file_name().to_string_lossy().into_owned());
        let mut names: Vec<String> =
            files.filter(|f| f != ROWS).filter_map(|f| f.strip_suffix(".csv").map(str::to_owned)).collect();
        names.sort();
        names
    };
    let mut all = names(first);
    all.retain(|name| cells.iter().skip(1).all(|cell| names(cell).contains(name)));
    let contender =
        |name: String| Contender { how: How::Given(dir.to_owned()), name: name.into(), two_stage: true };
    all.into_iter().map(contender).collect()
}

/// What somebody forecast for a cell, as it is written: what comes of it changes with every byte.
pub(crate) fn text(dir: &Path, cell: &Cell, name: &str) -> Result<String, BenchmarkError> {
    let path = folder(dir, cell).join(format!("{name}.csv"));
    let hint = "make it of the rows.csv beside it";
    std::fs::read_to_string(&path).map_err(|e| BenchmarkError::file(&path, e.to_string(), hint))
}

/// What somebody forecast for the rows of the test part.
pub(crate) fn predictions(
    dir: &Path,
    cell: &Cell,
    name: &str,
    question: &Question,
) -> Result<Vec<f64>, BenchmarkError> {
    let sheet = Sheet::read(&folder(dir, cell).join(format!("{name}.csv")))?;
    let (rows, width) = (question.worth.len(), question.placement.width());
    if sheet.len() != rows {
        let what = format!("{} rows, and the test part has {rows}", sheet.len());
        return Err(sheet.refused(what, "give a line for each row of the test part, in order"));
    }
    let columns = (0..width).map(|k| sheet.numbers(&format!("y:{k}"))).collect::<Result<Vec<_>, _>>()?;
    Ok((0..rows).flat_map(|row| columns.iter().map(move |column| column[row])).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paths::Paths;
    use crate::plan::{Wanted, plan};

    #[test]
    fn rows_go_out_and_forecasts_come_back() {
        let dir = tempfile::tempdir().unwrap();
        let suites: Vec<Box<dyn Suite>> = vec![Box::new(Paths::default())];
        let only = vec!["n=100 degree=2 noise=0".into()];
        let asked = Wanted { only, draws: Some(2), ..Wanted::default() };
        let first = plan(&suites, &asked).unwrap();
        assert_eq!(export(&suites, &first, dir.path()).unwrap(), 2);
        let cell = first.trials[0].cell.clone();
        let sheet = Sheet::read(&folder(dir.path(), &cell).join(ROWS)).unwrap();
        let question = suites[0].question(&cell).unwrap();
        assert_eq!((sheet.len(), sheet.numbers("x:x4").unwrap()[7]), (1125, question.data.features[39]));
        // The truth as a forecast regrets nothing; with one draw missing it is nobody's column.
        let truths = &question.data.targets[125 * 40..];
        let head: Vec<String> = (0..40).map(|k| format!("y:{k}")).collect();
        let mut text = head.join(",") + "\n";
        for row in truths.chunks(40) {
            text += &(row.iter().map(f64::to_string).collect::<Vec<_>>().join(",") + "\n");
        }
        std::fs::write(folder(dir.path(), &cell).join("oracle.csv"), &text).unwrap();
        let with = Wanted { forecasts: Some(dir.path().to_owned()), ..asked.clone() };
        assert_eq!(plan(&suites, &with).unwrap().trials.len(), first.trials.len());
        let one = Wanted { draws: Some(1), ..with };
        let trials = plan(&suites, &one).unwrap().trials;
        assert_eq!(trials.last().unwrap().contender.name, "oracle");
        assert_eq!(predictions(dir.path(), &cell, "oracle", &question).unwrap(), truths);
        let short = text.lines().take(5).collect::<Vec<_>>().join("\n");
        std::fs::write(folder(dir.path(), &cell).join("oracle.csv"), short).unwrap();
        assert!(predictions(dir.path(), &cell, "oracle", &question).is_err());
    }
}
