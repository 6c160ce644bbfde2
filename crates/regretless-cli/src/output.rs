//! What a command hands back, and how numbers and tables look.

use std::fmt::{Display, Write};
use std::process::ExitCode;

use comfy_table::{Cell, CellAlignment, ContentArrangement, LineStyle, Table, TableStyle};
pub(crate) use regretless_learn::{count, six as number};
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// It worked.
    Success,
    /// No optimum, or a check failed.
    Failure,
    /// Bad input or usage.
    BadInput,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Success => 0,
            Exit::Failure => 1,
            Exit::BadInput => 2,
        })
    }
}

/// What a command hands back.
pub(crate) struct Outcome {
    /// For stdout.
    pub(crate) text: String,
    /// For stderr.
    pub(crate) remarks: String,
    pub(crate) exit: Exit,
}

impl Outcome {
    pub(crate) fn new(text: String, exit: Exit) -> Self {
        Self { text, remarks: String::new(), exit }
    }
}

/// Pretty JSON with a line break at the end. Numbers that JSON has not (infinities) become null.
pub(crate) fn json(value: &impl Serialize) -> String {
    // Our types have text keys and no failing parts.
    let mut text = serde_json::to_string_pretty(value).unwrap_or_default();
    text.push('\n');
    text
}

/// Says what of a table a model took otherwise than one may think.
pub(crate) fn about(table: &regretless_project::DataReader<'_>) -> String {
    let lines = table.remark().map(str::to_owned).into_iter().chain(table.gaps()).chain(table.strangers());
    lines.map(|line| line + "\n").collect()
}

/// Says how many rows were left out.
pub(crate) fn left_out(dropped: usize) -> String {
    if dropped == 0 {
        String::new()
    } else {
        format!("left out {} with a missing value\n", count(dropped, "row"))
    }
}

/// Says how many prices came out negative.
pub(crate) fn cut(prices: usize) -> String {
    match prices {
        0 => String::new(),
        1 => "1 price came out negative and counts as 0\n".to_owned(),
        _ => format!("{prices} prices came out negative and count as 0\n"),
    }
}

/// What went wrong with some of many: the first few by name, the others counted.
#[derive(Default)]
pub(crate) struct Listed {
    first: Vec<String>,
    count: usize,
}

impl Listed {
    pub(crate) fn add(&mut self, line: impl FnOnce() -> String) {
        const SHOWN: usize = 10;
        self.count += 1;
        if self.first.len() < SHOWN {
            self.first.push(line());
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// [`Self::render`], with what to do where rows look back at `lags` that nobody knows.
    pub(crate) fn with_history(&self, what: &str, lags: &[String]) -> String {
        let looks = |line: &String| {
            let names = line.split_once(": missing ").map(|(_, names)| names);
            names.is_some_and(|names| lags.iter().any(|name| names.starts_with(name.as_str())))
        };
        let hint =
            if self.first.iter().any(looks) { "give what came true since with --history FILE\n" } else { "" };
        self.render(what) + hint
    }

    pub(crate) fn render(&self, what: &str) -> String {
        if self.is_empty() {
            return String::new();
        }
        let mut out = format!("{} {what}:\n", self.count);
        for line in &self.first {
            let _ = writeln!(out, "  {line}");
        }
        if self.count > self.first.len() {
            let _ = writeln!(out, "  and {} more", self.count - self.first.len());
        }
        out
    }
}

/// A table with a header; the columns from `numeric` on are aligned to the right.
pub(crate) fn table<C: Display>(
    header: &[C],
    numeric: usize,
    rows: impl IntoIterator<Item = Vec<String>>,
) -> String {
    let mut table = Table::new();
    // A line under the header and nothing else: easy to read, easy to cut.
    table.load_style(TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─')));
    table.set_content_arrangement(ContentArrangement::Disabled);
    let align = |i: usize| if i >= numeric { CellAlignment::Right } else { CellAlignment::Left };
    let cell = |(i, text): (usize, String)| Cell::new(text).set_alignment(align(i));
    table.set_header(header.iter().map(ToString::to_string).enumerate().map(cell));
    for row in rows {
        table.add_row(row.into_iter().enumerate().map(cell));
    }
    format!("{}\n", table.trim_fmt())
}

/// Breaks a text at blanks into lines that fit beside an indent.
pub(crate) fn wrapped(text: &str, indent: usize) -> String {
    const WIDTH: usize = 110;
    let mut out = String::new();
    let mut used = 0;
    for word in text.split(' ') {
        let len = word.chars().count();
        if used > 0 && used + 1 + len > WIDTH - indent {
            let _ = write!(out, "\n{:indent$}", "");
            used = 0;
        } else if used > 0 {
            out.push(' ');
            used += 1;
        }
        out.push_str(word);
        used += len;
    }
    out
}

/// Values by name, as a JSON object in the order of the names.
pub(crate) struct Named<'a> {
    pub(crate) names: &'a [String],
    pub(crate) values: &'a [f64],
}

impl Serialize for Named<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.names.len()))?;
        for (name, value) in self.names.iter().zip(self.values) {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        for (v, text) in [
            (0.0, "0"),
            (-1e-15, "0"),
            (1.0, "1"),
            (0.1 + 0.2, "0.3"),
            (-1234.5678, "-1234.57"),
            (1_234_567.8, "1234568"),
            (1e7, "1.00000e7"),
            (0.000_123_456_789, "0.000123457"),
            (2.5e-9, "2.50000e-9"),
            (f64::INFINITY, "inf"),
            (f64::NEG_INFINITY, "-inf"),
            (100.0, "100"),
        ] {
            assert_eq!(number(v), text);
        }
    }

    #[test]
    fn named_values_keep_their_order() {
        let names = ["z".to_owned(), "a".to_owned()];
        let named = Named { names: &names, values: &[1.0, f64::INFINITY] };
        assert_eq!(serde_json::to_string(&named).unwrap(), r#"{"z":1.0,"a":null}"#);
    }
}
