//! How coefficients are read.
//!
//! By hand and not as untagged enums, because those forget what was wrong and where.

use std::fmt;
use std::path::PathBuf;

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Unexpected, Visitor};

use super::value::{Rows, Selectors, Source, Variables, Vector};

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
                    "a number, a list of numbers, { file = \"name.csv\" } or { predict = \"columns\" }",
                )
            }
            visit_numbers!(Vector::Scalar);
            fn visit_str<E: Error>(self, v: &str) -> Result<Vector, E> {
                infinity(v).map(Vector::Scalar).ok_or_else(|| E::invalid_type(Unexpected::Str(v), &self))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Vector, A::Error> {
                collect(seq).map(|list: Vec<Number>| Vector::List(list.into_iter().map(|v| v.0).collect()))
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Vector, A::Error> {
                Source::deserialize(MapAccessDeserializer::new(map)).map(Vector::From)
            }
        }
        deserializer.deserialize_any(Entries)
    }
}

/// What a list of rows may hold: rows, or the numbers of a single row.
enum Element {
    Number(f64),
    Row(Vec<f64>),
}

impl<'de> Deserialize<'de> for Element {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Row;
        impl<'de> Visitor<'de> for Row {
            type Value = Element;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a row of numbers such as [1.0, 2.0]")
            }
            visit_numbers!(Element::Number);
            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Element, A::Error> {
                collect(seq).map(|row: Vec<Number>| Element::Row(row.into_iter().map(|v| v.0).collect()))
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
                f.write_str("a list of rows, { file = \"name.csv\" } or { predict = \"columns\" }")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Rows, A::Error> {
                let (mut single, mut rows) = (Vec::new(), Vec::new());
                while let Some(element) = seq.next_element()? {
                    match element {
                        Element::Number(v) => single.push(v),
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

impl<'de> Deserialize<'de> for Source {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Written {
            file: Option<PathBuf>,
            predict: Option<Selectors>,
        }
        match Written::deserialize(deserializer)? {
            Written { file: Some(file), predict: None } => Ok(Self::File(file)),
            Written { file: None, predict: Some(Selectors(columns)) } => Ok(Self::Predict(columns)),
            _ => Err(D::Error::custom("give exactly one of `file` and `predict`")),
        }
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
