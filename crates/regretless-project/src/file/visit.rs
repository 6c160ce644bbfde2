//! How coefficients are read.
//!
//! By hand and not as untagged enums, because those forget what was wrong and where.

use std::fmt;
use std::path::PathBuf;

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Unexpected, Visitor};

use super::dataset::{KindName, KindSetting};
use super::value::{Cell, Factor, Numbers, RowCells, Rows, Selected, Selectors, Source, Variables, Vector};
use crate::selection::Kind;

/// The visitor's methods for the three kinds of number that serde knows.
macro_rules! visit_numbers {
    ($make:expr) => {
        fn visit_f64<E: Error>(self, v: f64) -> Result<Self::Value, E> {
            Ok($make(v))
        }
        fn visit_i64<E: Error>(self, v: i64) -> Result<Self::Value, E> {
            Ok($make(v as f64))
        }
        fn visit_u64<E: Error>(self, v: u64) -> Result<Self::Value, E> {
            Ok($make(v as f64))
        }
    };
}

/// A number, or the text `inf` / `-inf`.
struct Number(f64);

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Digits;
        impl Visitor<'_> for Digits {
            type Value = Number;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number")
            }
            visit_numbers!(Number);
            fn visit_str<E: Error>(self, v: &str) -> Result<Number, E> {
                infinity(v).map(Number).ok_or_else(|| E::invalid_type(Unexpected::Str(v), &self))
            }
        }
        deserializer.deserialize_any(Digits)
    }
}

/// All elements; no room is reserved on the word of a length hint.
pub(super) fn collect<'de, T: Deserialize<'de>, A: SeqAccess<'de>>(mut seq: A) -> Result<Vec<T>, A::Error> {
    let mut all = Vec::new();
    while let Some(element) = seq.next_element()? {
        all.push(element);
    }
    Ok(all)
}

fn infinity(text: &str) -> Option<f64> {
    match text {
        "inf" | "+inf" => Some(f64::INFINITY),
        "-inf" => Some(f64::NEG_INFINITY),
        _ => None,
    }
}

impl<'de> Deserialize<'de> for Vector {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries;
        impl<'de> Visitor<'de> for Entries {
            type Value = Vector;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(
                    "a number, a list of numbers, { file = \"name.csv\" }, { predict = \"columns\" } or { known = \"columns\" }",
                )
            }
            visit_numbers!(Vector::Scalar);
            fn visit_str<E: Error>(self, v: &str) -> Result<Vector, E> {
                infinity(v).map(Vector::Scalar).ok_or_else(|| E::invalid_type(Unexpected::Str(v), &self))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Vector, A::Error> {
                collect(seq).map(Vector::List)
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Vector, A::Error> {
                Source::deserialize(MapAccessDeserializer::new(map)).map(Vector::From)
            }
        }
        deserializer.deserialize_any(Entries)
    }
}

impl<'de> Deserialize<'de> for Cell {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct One;
        impl<'de> Visitor<'de> for One {
            type Value = Cell;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number")
            }
            visit_numbers!(Cell::Number);
            fn visit_str<E: Error>(self, v: &str) -> Result<Cell, E> {
                infinity(v).map(Cell::Number).ok_or_else(|| E::invalid_type(Unexpected::Str(v), &self))
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Cell, A::Error> {
                Selected::deserialize(MapAccessDeserializer::new(map)).map(Cell::From)
            }
        }
        deserializer.deserialize_any(One)
    }
}

/// What a list of rows may hold: rows, or the entries of a single row.
enum Element {
    Cell(Cell),
    Row(RowCells),
}

/// A value of a table that is a row by names, or columns.
enum Named {
    Cell(Cell),
    Texts(Vec<String>),
}

impl<'de> Deserialize<'de> for Named {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Value;
        impl<'de> Visitor<'de> for Value {
            type Value = Named;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number, or { predict = \"column\" }")
            }
            visit_numbers!(|v| Named::Cell(Cell::Number(v)));
            fn visit_str<E: Error>(self, v: &str) -> Result<Named, E> {
                Ok(Named::Texts(vec![v.to_owned()]))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Named, A::Error> {
                collect(seq).map(Named::Texts)
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Named, A::Error> {
                element(&mut map).and_then(|element| match element {
                    Element::Cell(cell) => Ok(Named::Cell(cell)),
                    Element::Row(_) => Err(A::Error::custom("a row within a row")),
                })
            }
        }
        deserializer.deserialize_any(Value)
    }
}

/// A table within a list of rows: columns if it has `predict` or `known` with a text, else entries by the names of variables.
fn element<'de, A: MapAccess<'de>>(map: &mut A) -> Result<Element, A::Error> {
    let (mut columns, mut cells) = (None, Vec::new());
    let (mut factor, mut shift) = (None, None);
    while let Some(key) = map.next_key::<String>()? {
        match key.as_str() {
            "factor" if columns.is_some() => factor = Some(map.next_value()?),
            "shift" if columns.is_some() => shift = Some(map.next_value()?),
            _ => match (key.as_str(), map.next_value::<Named>()?) {
                ("predict", Named::Texts(names)) if columns.is_none() => {
                    columns = Some((Kind::Predicted, names));
                }
                ("known", Named::Texts(names)) if columns.is_none() => columns = Some((Kind::Known, names)),
                (_, Named::Cell(cell)) => cells.push((key, cell)),
                (_, Named::Texts(_)) => {
                    return Err(A::Error::custom(format!("`{key}` is a text and not a number")));
                }
            },
        }
    }
    let scaled = |name: &str| cells.iter().position(|(key, _)| key == name);
    let mut taken = Vec::new();
    if columns.is_some() {
        // They may stand before the columns.
        for (name, place) in [("factor", scaled("factor")), ("shift", scaled("shift"))] {
            taken.extend(place.map(|at| (name, at)));
        }
    }
    taken.sort_by_key(|(_, at)| std::cmp::Reverse(*at));
    for (name, at) in taken {
        let (_, Cell::Number(value)) = cells.remove(at) else {
            return Err(A::Error::custom(format!("`{name}` stands after `predict` or `known`")));
        };
        match name {
            "factor" => factor = Some(Factor::Fixed(Numbers::One(value))),
            _ => shift = Some(Numbers::One(value)),
        }
    }
    match columns {
        None => Ok(Element::Row(RowCells::Named(cells))),
        Some((kind, columns)) if cells.is_empty() => {
            Ok(Element::Cell(Cell::From(Selected { kind, columns, factor, shift })))
        }
        Some(_) => Err(A::Error::custom(format!("unknown key `{}` beside the columns", cells[0].0))),
    }
}

impl<'de> Deserialize<'de> for Element {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Row;
        impl<'de> Visitor<'de> for Row {
            type Value = Element;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a row of numbers such as [1.0, 2.0]")
            }
            visit_numbers!(|v| Element::Cell(Cell::Number(v)));
            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Element, A::Error> {
                collect(seq).map(|row| Element::Row(RowCells::Dense(row)))
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Element, A::Error> {
                element(&mut map)
            }
        }
        deserializer.deserialize_any(Row)
    }
}

impl<'de> Deserialize<'de> for Rows {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Table;
        impl<'de> Visitor<'de> for Table {
            type Value = Rows;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(
                    "a list of rows, { file = \"name.csv\" }, { predict = \"columns\" } or { known = \"columns\" }",
                )
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Rows, A::Error> {
                let (mut single, mut rows) = (Vec::new(), Vec::new());
                while let Some(element) = seq.next_element()? {
                    match element {
                        Element::Cell(v) => single.push(v),
                        Element::Row(row) => rows.push(row),
                    }
                    if !single.is_empty() && !rows.is_empty() {
                        return Err(A::Error::custom("rows and single numbers are mixed in one list"));
                    }
                }
                Ok(if single.is_empty() { Rows::List(rows) } else { Rows::Single(single) })
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Rows, A::Error> {
                Source::deserialize(MapAccessDeserializer::new(map)).map(Rows::From)
            }
        }
        deserializer.deserialize_any(Table)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    file: Option<PathBuf>,
    predict: Option<Selectors>,
    known: Option<Selectors>,
    factor: Option<Factor>,
    shift: Option<Numbers>,
}

impl<'de> Deserialize<'de> for Source {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Table::deserialize(deserializer)? {
            Table { file: Some(file), predict: None, known: None, factor: None, shift: None } => {
                Ok(Self::File(file))
            }
            Table { file: None, predict: Some(Selectors(columns)), known: None, factor, shift } => {
                Ok(Self::Columns(Selected { kind: Kind::Predicted, columns, factor, shift }))
            }
            Table { file: None, predict: None, known: Some(Selectors(columns)), factor, shift } => {
                Ok(Self::Columns(Selected { kind: Kind::Known, columns, factor, shift }))
            }
            Table { file: Some(_), predict: None, known: None, .. } => {
                Err(D::Error::custom("`factor` and `shift` belong to `predict` and `known`"))
            }
            _ => Err(D::Error::custom("give exactly one of `file`, `predict` and `known`")),
        }
    }
}

impl<'de> Deserialize<'de> for Selected {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Source::deserialize(deserializer)? {
            Source::Columns(selected) => Ok(selected),
            Source::File(_) => Err(D::Error::custom("an entry is a number, `predict` or `known`")),
        }
    }
}

impl<'de> Deserialize<'de> for Numbers {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Some;
        impl<'de> Visitor<'de> for Some {
            type Value = Numbers;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number or a list of numbers")
            }
            visit_numbers!(Numbers::One);
            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Numbers, A::Error> {
                collect(seq).map(|list: Vec<Number>| Numbers::List(list.into_iter().map(|v| v.0).collect()))
            }
        }
        deserializer.deserialize_any(Some)
    }
}

impl<'de> Deserialize<'de> for Factor {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = Factor;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number, a list of numbers or { known = \"column\" }")
            }
            visit_numbers!(|v| Factor::Fixed(Numbers::One(v)));
            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Factor, A::Error> {
                let list = |list: Vec<Number>| list.into_iter().map(|v| v.0).collect();
                collect(seq).map(|all| Factor::Fixed(Numbers::List(list(all))))
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Factor, A::Error> {
                match Source::deserialize(MapAccessDeserializer::new(map))? {
                    Source::Columns(Selected { kind: Kind::Known, columns, factor: None, shift: None }) => {
                        Ok(Factor::Known(columns))
                    }
                    Source::Columns(Selected { kind: Kind::Predicted, .. }) => Err(A::Error::custom(
                        "a factor is fixed or known: predicted times predicted is no linear problem",
                    )),
                    _ => Err(A::Error::custom(
                        "a factor is a number, or { known = \"column\" } and nothing more",
                    )),
                }
            }
        }
        deserializer.deserialize_any(Either)
    }
}

impl<'de> Deserialize<'de> for Selectors {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Names;
        impl<'de> Visitor<'de> for Names {
            type Value = Selectors;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a column name, a pattern such as \"price_*\", or a list of them")
            }
            fn visit_str<E: Error>(self, v: &str) -> Result<Selectors, E> {
                Ok(Selectors(vec![v.to_owned()]))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Selectors, A::Error> {
                collect(seq).map(Selectors)
            }
        }
        deserializer.deserialize_any(Names)
    }
}

impl<'de> Deserialize<'de> for KindSetting {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = KindSetting;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("\"number\", \"category\", \"date\", or a list of the parts of a date")
            }
            fn visit_str<E: Error>(self, v: &str) -> Result<KindSetting, E> {
                let name = KindName::ALL.iter().copied().find(|name| name.word() == v);
                name.map(KindSetting::Word).ok_or_else(|| E::invalid_value(Unexpected::Str(v), &self))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<KindSetting, A::Error> {
                collect(seq).map(KindSetting::Parts)
            }
        }
        deserializer.deserialize_any(Either)
    }
}

impl<'de> Deserialize<'de> for Variables {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = Variables;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of names or the number of variables")
            }
            fn visit_u64<E: Error>(self, v: u64) -> Result<Variables, E> {
                Ok(Variables::Count(v))
            }
            fn visit_i64<E: Error>(self, v: i64) -> Result<Variables, E> {
                let count = u64::try_from(v);
                count
                    .map(Variables::Count)
                    .map_err(|_| E::custom(format!("{v} is not a number of variables")))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Variables, A::Error> {
                collect(seq).map(Variables::Names)
            }
        }
        deserializer.deserialize_any(Either)
    }
}
