//! A table of preformatted cells: as HTML, as Markdown, as CSV.

use std::fmt::Write;

use serde::{Deserialize, Serialize};

use crate::escape::html;
use crate::palette::Palette;
use crate::table::who;

/// A table. Rows may be shorter than the header or longer; what is missing is empty.
///
/// With two or more label columns, neighbouring rows with the same first label form a group and show it once.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Grid {
    /// The heads of the columns.
    pub header: Vec<String>,
    /// How many columns, from the left, are text; the others are numbers and stand at the right of their column.
    pub labels: usize,
    /// The rows.
    pub rows: Vec<Vec<Cell>>,
}

/// A cell, formatted by the caller.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Cell {
    /// What it says.
    pub text: String,
    /// How loudly.
    pub emphasis: Emphasis,
}

/// How a cell stands out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Emphasis {
    /// Like its neighbours.
    #[default]
    None,
    /// The best of its group: bold.
    Best,
    /// Of less interest, such as a published figure beside ours: paler.
    Muted,
}

impl Cell {
    /// A cell that is the best of its group.
    pub fn best(text: impl Into<String>) -> Self {
        Self { text: text.into(), emphasis: Emphasis::Best }
    }

    /// A cell of less interest.
    pub fn muted(text: impl Into<String>) -> Self {
        Self { text: text.into(), emphasis: Emphasis::Muted }
    }
}

impl<T: Into<String>> From<T> for Cell {
    fn from(text: T) -> Self {
        Self { text: text.into(), emphasis: Emphasis::None }
    }
}

impl Grid {
    fn columns(&self) -> usize {
        self.rows.iter().map(Vec::len).fold(self.header.len(), usize::max)
    }

    /// The table in Markdown, the best cells in bold; empty when there are no columns.
    pub fn markdown(&self) -> String {
        let columns = self.columns();
        if columns == 0 {
            return String::new();
        }
        let mut out = line((0..columns).map(|k| markdown(self.header.get(k).map_or("", String::as_str))));
        out += &line((0..columns).map(|k| if k < self.labels { ":--" } else { "--:" }.to_owned()));
        let cell = |cell: &Cell| match (markdown(&cell.text), cell.emphasis) {
            (text, Emphasis::Best) if !text.is_empty() => format!("**{text}**"),
            (text, _) => text,
        };
        for row in &self.rows {
            out += &line((0..columns).map(|k| row.get(k).map(cell).unwrap_or_default()));
        }
        out
    }

    /// The table as CSV (RFC 4180), without emphasis. Columns of numbers are for machines: a hyphen for the minus sign,
    /// no space between thousands.
    pub fn csv(&self) -> String {
        let columns = self.columns();
        let record = |mut cells: Vec<String>| {
            cells.resize(columns, String::new());
            // An empty line would be no record.
            let text = if cells == [""] { "\"\"".to_owned() } else { cells.join(",") };
            text + "\r\n"
        };
        let cell = |(k, cell): (usize, &Cell)| {
            if k < self.labels { quoted(&cell.text) } else { quoted(&machine(&cell.text)) }
        };
        let heads = self.header.iter().map(|text| quoted(text)).collect();
        let rows = self.rows.iter().map(|row| row.iter().enumerate().map(cell).collect());
        std::iter::once(heads).chain(rows).filter(|_| columns > 0).map(record).collect()
    }

    /// The table in a box of its own, which scrolls where it is too narrow; the colour of a method before its name.
    pub(crate) fn html(&self, title: &str, palette: &Palette) -> String {
        let columns = self.columns();
        if columns == 0 {
            return String::new();
        }
        let title = html(title);
        let mut out = format!(
            "<div class=\"scroll fit\" role=\"region\" tabindex=\"0\" aria-label=\"{title}\">\n<table class=\"grid\">\n\
             <caption class=\"hidden\">{title}</caption>\n<thead><tr>"
        );
        for k in 0..columns {
            let class = if k < self.labels { " class=\"l\"" } else { "" };
            let head = self.header.get(k).map(|head| html(head)).unwrap_or_default();
            let _ = write!(out, "<th scope=\"col\"{class}>{head}</th>");
        }
        out.push_str("</tr></thead>\n");
        let grouped = self.labels > 1;
        for group in self.rows.chunk_by(|a, b| !grouped || label(a) == label(b)) {
            out.push_str("<tbody>\n");
            for (place, row) in group.iter().enumerate() {
                out.push_str("<tr>");
                let span = if grouped { group.len() } else { 1 };
                let from = usize::from(grouped && place > 0);
                (from..columns).for_each(|k| self.cell(&mut out, row.get(k), k, span, palette));
                out.push_str("</tr>\n");
            }
            out.push_str("</tbody>\n");
        }
        out.push_str("</table></div>\n");
        out
    }

    fn cell(&self, out: &mut String, cell: Option<&Cell>, column: usize, span: usize, palette: &Palette) {
        let (text, emphasis) = cell.map_or(("", Emphasis::None), |cell| (&cell.text, cell.emphasis));
        let emphasis = match emphasis {
            Emphasis::None => "",
            Emphasis::Best => " best",
            Emphasis::Muted => " muted",
        };
        if column >= self.labels {
            let _ = write!(out, "<td class=\"n{emphasis}\">{}</td>", html(text));
            return;
        }
        let colour = palette.knows(text).then(|| palette.class(text));
        let who = who(text, colour.as_deref(), "");
        let _ = if column > 0 {
            write!(out, "<td class=\"l{emphasis}\">{who}</td>")
        } else if span > 1 {
            write!(out, "<th scope=\"rowgroup\" rowspan=\"{span}\" class=\"l{emphasis}\">{who}</th>")
        } else {
            write!(out, "<th scope=\"row\" class=\"l{emphasis}\">{who}</th>")
        };
    }
}

fn label(row: &[Cell]) -> &str {
    row.first().map_or("", |cell| &cell.text)
}

/// A line of a Markdown table.
fn line(cells: impl Iterator<Item = String>) -> String {
    let cells: Vec<String> = cells.collect();
    format!("| {} |\n", cells.join(" | "))
}

/// Text that Markdown takes as text, on one line.
fn markdown(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.trim().chars() {
        if r"\|<&*`[~".contains(c) {
            out.push('\\');
        }
        out.push(if c.is_control() { ' ' } else { c });
    }
    out
}

/// A field of a CSV record.
fn quoted(text: &str) -> String {
    if text.contains(['"', ',', '\r', '\n']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

/// A number as programs write it.
fn machine(text: &str) -> String {
    text.replace('\u{2212}', "-").replace('\u{202f}', "")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid() -> Grid {
        Grid {
            header: vec!["Cell".into(), "a|b".into(), "says \"x\", y".into()],
            labels: 1,
            rows: vec![
                vec!["p\\|q\nr".into(), Cell::best("\u{2212}12\u{202f}345.6"), Cell::muted("<b>")],
                vec!["short".into()],
                vec!["long".into(), "1".into(), "2".into(), Cell::best("")],
            ],
        }
    }

    #[test]
    fn markdown_escapes_what_would_be_markup() {
        let text = grid().markdown();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], r#"| Cell | a\|b | says "x", y |  |"#);
        assert_eq!(lines[1], "| :-- | --: | --: | --: |");
        assert_eq!(lines[2], "| p\\\\\\|q r | **\u{2212}12\u{202f}345.6** | \\<b> |  |");
        assert_eq!(lines[3..], ["| short |  |  |  |", "| long | 1 | 2 |  |"]);
        assert_eq!(Grid::default().markdown(), "");
    }

    #[test]
    fn csv_quotes_what_it_must_and_writes_numbers_for_machines() {
        let text = grid().csv();
        let expected =
            "Cell,a|b,\"says \"\"x\"\", y\",\r\n\"p\\|q\nr\",-12345.6,<b>,\r\nshort,,,\r\nlong,1,2,\r\n";
        assert_eq!(text, expected);
        assert_eq!(Grid::default().csv(), "");
        let one = Grid { header: vec!["a".into()], labels: 1, rows: vec![vec![]] };
        assert_eq!(one.csv(), "a\r\n\"\"\r\n");
    }

    #[test]
    fn groups_show_their_label_once() {
        let rows = [["x", "a"], ["x", "b"], ["y", "a"]].map(|row| row.map(Cell::from).to_vec()).to_vec();
        let grid = Grid { header: vec!["Cell".into(), "Method".into()], labels: 2, rows };
        let text = grid.html("T", &Palette::study(&crate::StudyReport::default()));
        assert_eq!(text.matches("<tbody>").count(), 2);
        assert_eq!(text.matches(">x</span>").count(), 1);
        assert!(text.contains("rowspan=\"2\"") && !text.contains("chip"), "{text}");
    }
}
