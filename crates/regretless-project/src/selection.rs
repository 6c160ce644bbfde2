//! Columns of a table by name or pattern.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::error::{Place, Result, SpecError, Trouble, count, shorten};
use crate::suggest;
use regretless_core::problem::Named;
use regretless_core::{Parameter, Problem};

/// Whether a column is there when the decision is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// It is not: a predictor stands in for it.
    Predicted,
    /// It is.
    Known,
}

impl Kind {
    /// The key that says so.
    pub fn word(self) -> &'static str {
        match self {
            Self::Predicted => "predict",
            Self::Known => "known",
        }
    }
}

/// Columns of a table, one row an instance, that numbers of a problem are taken from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    /// The key that says so, such as `soft[0].rows`.
    pub key: String,
    /// Predicted or known.
    pub kind: Kind,
    /// Column names and patterns, in the order written.
    pub columns: Vec<String>,
    /// How many columns they have to come to.
    pub count: usize,
    /// Rows and columns of a dense matrix that they are, row by row; `None` for anything else.
    pub matrix: Option<(usize, usize)>,
    /// What they are as a whole, and its rows (the entries of a vector) among all stacked ones: names beat the order of the table.
    pub home: Option<(Parameter, Range<usize>)>,
}

impl Selection {
    /// The columns of `header` that are meant, in order: selectors as written, and the columns of a
    /// pattern in the table's order. `table` is the place that messages name.
    pub fn select(&self, header: &[String], table: &Place) -> Result<Vec<usize>> {
        let mut chosen = Vec::new();
        for selector in &self.columns {
            let found = pick(selector, header);
            if found.is_empty() {
                let needs = format!("`{}` needs {} here", self.key, count(self.count, "column"));
                return Err(no_column(selector, header, table, &needs));
            }
            chosen.extend(found);
        }
        if let Some(twice) = repeated(chosen.iter().map(|&i| &header[i])) {
            let trouble = Trouble::AmbiguousColumn(shorten(twice));
            let same_column =
                chosen.iter().filter(|&&i| header[i] == *twice).collect::<BTreeSet<_>>().len() == 1;
            let trouble = if same_column { Trouble::RepeatedColumn(shorten(twice)) } else { trouble };
            return Err(self.fail(table, trouble));
        }
        if chosen.len() != self.count {
            let trouble = Trouble::ColumnCount {
                key: self.key.clone(),
                expected: self.count,
                found: chosen.len(),
                shape: self.shape(),
                selectors: self.selectors(),
            };
            let first = chosen.iter().take(8).map(|&i| shorten(&header[i])).collect::<Vec<_>>().join(", ");
            let more = if chosen.len() > 8 { ", …" } else { "" };
            return Err(SpecError::new(table.clone(), trouble).hint(format!("selected: {first}{more}")));
        }
        Ok(chosen)
    }

    /// Puts the columns that a pattern found in order where their names tell which is whose: what a pattern finds comes in the order of
    /// the table, a list is meant as it is written. See [`Problem::named`](regretless_core::Problem::named).
    pub(crate) fn ordered(&self, chosen: Vec<usize>, header: &[String], problem: &Problem) -> Vec<usize> {
        let ([_pattern], Some((parameter, rows))) = (self.columns.as_slice(), &self.home) else {
            return chosen;
        };
        let entries = parameter.pattern(problem).map_or(rows.clone(), |pattern| pattern.range(rows.clone()));
        let names: Vec<String> = chosen.iter().map(|&i| header[i].clone()).collect();
        match problem.named(*parameter, entries, &names) {
            Named::All(order) => order.into_iter().map(|k| chosen[k]).collect(),
            _ => chosen,
        }
    }

    fn fail(&self, table: &Place, trouble: Trouble) -> Box<SpecError> {
        SpecError::new(table.clone(), trouble).hint(format!("the columns are selected by `{}`", self.key))
    }

    /// What a bad cell is, for hints.
    pub(crate) fn cell_hint(&self) -> String {
        let how = if self.kind == Kind::Predicted { "predicted" } else { "known" };
        format!("the column is an entry of the {how} `{}`", self.key)
    }

    /// The shape in words: `2 × 3, row by row` or `one an entry`.
    pub fn shape(&self) -> String {
        match self.matrix {
            Some((rows, cols)) => format!("{rows} × {cols}, row by row"),
            None => "one an entry".to_owned(),
        }
    }

    /// The selectors in words.
    pub fn selectors(&self) -> String {
        let quoted: Vec<_> = self.columns.iter().map(|c| format!("`{}`", shorten(c))).collect();
        quoted.join(", ")
    }

    /// What the part needs, in words.
    pub fn needs(&self) -> String {
        format!(
            "`{}` needs {} ({}) from {}",
            self.key,
            count(self.count, "column"),
            self.shape(),
            self.selectors()
        )
    }
}

/// The columns that a name or a pattern stands for.
pub(crate) fn pick(selector: &str, header: &[String]) -> Vec<usize> {
    // A name that is there is meant, even if it could be read as a pattern.
    let exact = header.iter().any(|name| name == selector);
    let fits = |name: &str| if exact { name == selector } else { matches(selector, name) };
    (0..header.len()).filter(|&i| fits(&header[i])).collect()
}

/// A selector that no column fits; `needs` says who needs it.
pub(crate) fn no_column(selector: &str, header: &[String], table: &Place, needs: &str) -> Box<SpecError> {
    let near = suggest::pattern(selector, header)
        .or_else(|| suggest::nearest(selector, header).map(ToOwned::to_owned));
    let near = near.map_or_else(|| ".".to_owned(), |name| format!("; did you mean `{}`?", shorten(&name)));
    let trouble = Trouble::NoColumn(shorten(selector));
    // A table that fits is shown as it is, of a wide one what comes nearest.
    let shown: Vec<&str> = if header.len() > 8 {
        suggest::similar(selector, header, 8)
    } else {
        header.iter().map(String::as_str).collect()
    };
    let found = shown.into_iter().map(shorten).collect::<Vec<_>>().join(", ");
    let more = if header.len() > 8 { ", …" } else { "" };
    // One column with another separator in its name is a whole line.
    let commas = match header {
        [line] if line.contains([';', '\t', '|']) => ". Columns are separated by commas",
        _ => "",
    };
    SpecError::new(table.clone(), trouble).hint(format!("{needs}{near} The table has: {found}{more}{commas}"))
}

/// The first name that comes a second time.
pub(crate) fn repeated<'a>(names: impl Iterator<Item = &'a String>) -> Option<&'a String> {
    let mut seen = BTreeSet::new();
    names.into_iter().find(|name| !seen.insert(*name))
}

/// True if `name` fits `pattern`, in which `*` stands for any text and `?` for any one character.
pub(crate) fn matches(pattern: &str, name: &str) -> bool {
    // Two pointers and the place after the last star: linear in practice, never worse than the product.
    let (pattern, name): (Vec<char>, Vec<char>) = (pattern.chars().collect(), name.chars().collect());
    let (mut p, mut i) = (0, 0);
    let mut star = None;
    while i < name.len() {
        match pattern.get(p) {
            Some('*') => {
                star = Some((p + 1, i));
                p += 1;
            }
            Some(&c) if c == '?' || c == name[i] => {
                p += 1;
                i += 1;
            }
            _ => {
                let Some((after, from)) = star else { return false };
                star = Some((after, from + 1));
                (p, i) = (after, from + 1);
            }
        }
    }
    pattern[p..].iter().all(|&c| c == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns() {
        for (pattern, name, fits) in [
            ("price_*", "price_wheat", true),
            ("price_*", "price_", true),
            ("price_*", "prices", false),
            ("*", "", true),
            ("", "", true),
            ("", "x", false),
            ("c_?_*_z", "c_1_a_z_z", true),
            ("c_?_*_z", "c_12_a_z", false),
            ("*a*b*c", "xxaxbxbxc", true),
            ("θ?", "θ₁", true),
        ] {
            assert_eq!(matches(pattern, name), fits, "{pattern} {name}");
        }
    }

    fn part(columns: &[&str], count: usize) -> Selection {
        Selection {
            key: "objective.linear".into(),
            kind: Kind::Predicted,
            columns: columns.iter().map(|&c| c.to_owned()).collect(),
            count,
            matrix: None,
            home: None,
        }
    }

    fn select(columns: &[&str], entries: usize) -> std::result::Result<Vec<usize>, String> {
        let header = ["day", "p_2", "p_1", "q", "p*", "q2", "q2"].map(str::to_owned);
        let place = Place::File("t.csv".into());
        part(columns, entries).select(&header, &place).map_err(|e| e.to_string())
    }

    #[test]
    fn columns_come_in_the_order_asked_for() {
        assert_eq!(select(&["p_*"], 2).unwrap(), [1, 2]);
        assert_eq!(select(&["q", "p_1", "p_2"], 3).unwrap(), [3, 2, 1]);
        assert_eq!(select(&["p*"], 1).unwrap(), [4]);
    }

    #[test]
    fn bad_selections_say_why() {
        assert_eq!(select(&["q2"], 1).unwrap_err(), "t.csv: the table has the column `q2` twice");
        assert_eq!(select(&["r"], 1).unwrap_err(), "t.csv: no column of the table fits `r`");
        assert_eq!(select(&["p_*", "p_1"], 3).unwrap_err(), "t.csv: the column `p_1` is selected twice");
        let count = "t.csv: `objective.linear` needs 3 columns (one an entry), but `p_*` selects 2";
        assert_eq!(select(&["p_*"], 3).unwrap_err(), count);
    }
}
