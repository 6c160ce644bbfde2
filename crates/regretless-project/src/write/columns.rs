//! Coefficients that hold columns, as they were written.

use super::text::{list, number, string};
use crate::file::{Cell, Factor, Numbers, RowCells, Rows, Selected, Source, Vector, Written};

pub(super) fn written(written: &Written) -> String {
    match written {
        Written::Vector(Vector::Scalar(v)) => number(*v),
        Written::Vector(Vector::List(cells)) | Written::Rows(Rows::Single(cells)) => row(cells),
        Written::Vector(Vector::From(from)) | Written::Rows(Rows::From(from)) => source(from),
        Written::Rows(Rows::List(rows)) => list(rows.iter().map(|cells| match cells {
            RowCells::Dense(cells) => row(cells),
            RowCells::Named(cells) => {
                let entry = |(name, value): &(String, Cell)| format!("{} = {}", string(name), cell(value));
                format!("{{ {} }}", cells.iter().map(entry).collect::<Vec<_>>().join(", "))
            }
        })),
    }
}

fn row(cells: &[Cell]) -> String {
    list(cells.iter().map(cell))
}

fn cell(cell: &Cell) -> String {
    match cell {
        Cell::Number(v) => number(*v),
        Cell::From(from) => selected(from),
    }
}

fn source(from: &Source) -> String {
    match from {
        Source::File(file) => format!("{{ file = {} }}", string(&file.display().to_string())),
        Source::Columns(from) => selected(from),
    }
}

fn selected(from: &Selected) -> String {
    let names = |columns: &[String]| list(columns.iter().map(|column| string(column)));
    let mut keys = vec![format!("{} = {}", from.kind.word(), names(&from.columns))];
    keys.extend(from.factor.as_ref().map(|factor| match factor {
        Factor::Fixed(fixed) => format!("factor = {}", numbers(fixed)),
        Factor::Known(columns) => format!("factor = {{ known = {} }}", names(columns)),
    }));
    keys.extend(from.shift.as_ref().map(|shift| format!("shift = {}", numbers(shift))));
    format!("{{ {} }}", keys.join(", "))
}

fn numbers(written: &Numbers) -> String {
    match written {
        Numbers::One(v) => number(*v),
        Numbers::List(values) => list(values.iter().map(|v| number(*v))),
    }
}
