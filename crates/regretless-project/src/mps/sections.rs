//! The sections of an MPS file, one after the other.

use std::collections::HashMap;

use super::cards::{Card, Form, cards};
use super::{Bad, Model, Row};
use crate::Limits;
use crate::error::shorten;

pub(super) type Parsed<T> = Result<T, Bad>;

pub(super) const WHOLE: &str = "variables are continuous here: drop the markers to solve the relaxation";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Section {
    Start,
    Sense,
    Objective,
    Rows,
    Columns,
    Rhs,
    Ranges,
    Bounds,
    /// One triangle of the Hessian, or both.
    Quadratic {
        both: bool,
    },
}

/// What a name in `ROWS` stands for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Target {
    Objective,
    /// A row without a limit that is not the objective.
    Free,
    Row(usize),
}

/// Reads the sections into a model.
pub(super) fn model(text: &str, form: Form, limits: &Limits) -> Parsed<Model> {
    let mut reader = Reader { limits: *limits, ..Reader::default() };
    let mut section = Section::Start;
    for card in cards(text, form) {
        let (line, card) = card?;
        reader.line = line;
        match card {
            Card::Section("ENDATA", _) => return reader.finish(),
            Card::Section(word, rest) => section = reader.section(word, &rest)?,
            Card::Data(fields) => reader.data(section, &fields)?,
        }
    }
    let missing = if section == Section::Start { "this is not an MPS file" } else { "the file is cut off" };
    Err(Bad::new(0, format!("{missing}: it has no ENDATA")))
}

#[derive(Default)]
pub(super) struct Reader<'a> {
    limits: Limits,
    pub(super) line: u64,
    pub(super) model: Model,
    objective: Option<&'a str>,
    rows: HashMap<&'a str, Target>,
    columns: HashMap<&'a str, usize>,
    /// Row kinds, for ranges: `E`, `L` or `G`.
    pub(super) kinds: Vec<u8>,
    /// Rows whose right-hand side is stated, and those whose range is.
    pub(super) limited: Vec<bool>,
    pub(super) ranged: Vec<bool>,
    /// Which bounds were stated, lower and upper. A negative upper one leaves a lower one alone.
    pub(super) bounded: Vec<[bool; 2]>,
    /// The one set of each section that may hold several.
    sets: HashMap<&'static str, &'a str>,
}

impl<'a> Reader<'a> {
    pub(super) fn bad(&self, what: impl Into<String>) -> Bad {
        Bad::new(self.line, what)
    }

    fn section(&mut self, word: &'a str, rest: &[&'a str]) -> Parsed<Section> {
        Ok(match word.to_ascii_uppercase().as_str() {
            "NAME" => {
                rest.first().copied().unwrap_or_default().clone_into(&mut self.model.name);
                Section::Start
            }
            "OBJSENSE" => {
                if let Some(sense) = rest.first() {
                    self.sense(sense)?;
                }
                Section::Sense
            }
            "OBJNAME" => {
                self.objective = rest.first().copied();
                Section::Objective
            }
            "ROWS" => Section::Rows,
            "COLUMNS" => Section::Columns,
            "RHS" => Section::Rhs,
            "RANGES" => Section::Ranges,
            "BOUNDS" => Section::Bounds,
            "QUADOBJ" | "QSECTION" => Section::Quadratic { both: false },
            "QMATRIX" => Section::Quadratic { both: true },
            "QCMATRIX" => {
                return Err(self
                    .bad("quadratic rows are not supported, only a quadratic objective")
                    .for_good());
            }
            "CSECTION" => return Err(self.bad("cones are not supported").for_good()),
            "SOS" | "SOS1" | "SOS2" | "INDICATORS" => {
                let what =
                    format!("the section {word} is about whole-number choices, which are not supported");
                return Err(self.bad(what).for_good());
            }
            _ => {
                let what = format!("`{}` is no section of an MPS file", shorten(word));
                return Err(self.bad(what).hint("lines within a section begin with a blank"));
            }
        })
    }

    fn data(&mut self, section: Section, fields: &[&'a str]) -> Parsed<()> {
        match section {
            Section::Start => Err(self.bad("this line stands before the section ROWS")),
            Section::Sense => self.sense(fields[0]),
            Section::Objective => {
                self.objective = Some(fields[0]);
                Ok(())
            }
            Section::Rows => self.row(fields),
            Section::Columns => self.column(fields),
            Section::Rhs => {
                let pairs = self.of_set("RHS", fields)?;
                self.pairs(&pairs, Self::rhs)
            }
            Section::Ranges => {
                let pairs = self.of_set("RANGES", fields)?;
                self.pairs(&pairs, Self::range)
            }
            Section::Bounds => self.bound(fields),
            Section::Quadratic { both } => self.quadratic(fields, both),
        }
    }

    fn sense(&mut self, word: &str) -> Parsed<()> {
        self.model.maximise = match word.to_ascii_uppercase().as_str() {
            "MAX" | "MAXIMIZE" | "MAXIMISE" => true,
            "MIN" | "MINIMIZE" | "MINIMISE" => false,
            _ => return Err(self.bad(format!("`{}` is neither MAX nor MIN", shorten(word)))),
        };
        Ok(())
    }

    fn row(&mut self, fields: &[&'a str]) -> Parsed<()> {
        let [kind, name] = *fields else {
            return Err(self.bad("a row has a kind (N, E, L or G) and a name"));
        };
        let (lower, upper) = match kind.to_ascii_uppercase().as_str() {
            "N" => {
                let wanted = self.objective.is_none_or(|o| o == name);
                let target = if wanted { Target::Objective } else { Target::Free };
                self.objective.get_or_insert(name);
                return self.name_row(name, target);
            }
            "E" => (0.0, 0.0),
            "L" => (f64::NEG_INFINITY, 0.0),
            "G" => (0.0, f64::INFINITY),
            _ => return Err(self.bad(format!("`{}` is no kind of row: N, E, L or G", shorten(kind)))),
        };
        self.name_row(name, Target::Row(self.model.rows.len()))?;
        self.kinds.push(kind.as_bytes()[0].to_ascii_uppercase());
        self.limited.push(false);
        self.ranged.push(false);
        self.model.rows.push(Row { name: name.to_owned(), lower, upper, entries: Vec::new() });
        Ok(())
    }

    fn name_row(&mut self, name: &'a str, target: Target) -> Parsed<()> {
        match self.rows.insert(name, target) {
            None => Ok(()),
            Some(_) => Err(self.bad(format!("the row `{}` is stated twice", shorten(name)))),
        }
    }

    fn column(&mut self, fields: &[&'a str]) -> Parsed<()> {
        if fields.get(1) == Some(&"'MARKER'") {
            return match fields.get(2) {
                Some(&"'INTEND'") => Ok(()),
                _ => Err(self.bad("whole-number variables are not supported").hint(WHOLE).for_good()),
            };
        }
        let (name, pairs) = fields.split_first().ok_or_else(|| self.bad("the line is empty"))?;
        if self.model.columns.last().is_none_or(|last| last != name) {
            if self.columns.insert(name, self.model.columns.len()).is_some() {
                let what = format!("the column `{}` is stated in two places", shorten(name));
                return Err(self.bad(what));
            }
            let limit = self.limits.variables;
            if self.model.columns.len() == limit {
                return Err(self
                    .bad(format!("the model has more than {limit} variables, which is the limit"))
                    .for_good());
            }
            self.model.columns.push((*name).to_owned());
            self.model.cost.push(0.0);
        }
        self.pairs(pairs, Self::coefficient)
    }

    fn coefficient(&mut self, target: Target, value: f64) -> Parsed<()> {
        let column = self.model.columns.len() - 1;
        match target {
            Target::Free => Ok(()),
            Target::Objective if self.model.cost[column] != 0.0 => {
                Err(self.bad("this coefficient is stated twice"))
            }
            Target::Objective => {
                self.model.cost[column] = value;
                Ok(())
            }
            Target::Row(i) => {
                let entries = &mut self.model.rows[i].entries;
                if entries.last().is_some_and(|(last, _)| *last == column) {
                    return Err(self.bad("this coefficient is stated twice"));
                }
                entries.push((column, value));
                Ok(())
            }
        }
    }

    /// ½xᵀQx as stated is xᵀ(Q/2)x here.
    fn quadratic(&mut self, fields: &[&'a str], both: bool) -> Parsed<()> {
        let [a, b, value] = *fields else {
            return Err(self.bad("a quadratic term has two variables and a coefficient"));
        };
        let (i, j) = (self.variable(a)?, self.variable(b)?);
        let half = 0.5 * self.number(value)?;
        self.model.quadratic.push((i, j, half));
        if !both && i != j {
            self.model.quadratic.push((j, i, half));
        }
        Ok(())
    }

    pub(super) fn variable(&self, name: &str) -> Parsed<usize> {
        let found = self.columns.get(name).copied();
        found.ok_or_else(|| self.bad(format!("there is no column `{}`", shorten(name))))
    }

    /// Row and number, once or twice a line.
    fn pairs(&mut self, pairs: &[&'a str], take: fn(&mut Self, Target, f64) -> Parsed<()>) -> Parsed<()> {
        if pairs.is_empty() || !pairs.len().is_multiple_of(2) {
            return Err(self.bad("a name here is followed by rows and numbers in turn"));
        }
        for pair in pairs.chunks_exact(2) {
            let Some(target) = self.rows.get(pair[0]).copied() else {
                return Err(self.bad(format!("there is no row `{}`", shorten(pair[0]))));
            };
            let value = self.number(pair[1])?;
            take(self, target, value)?;
        }
        Ok(())
    }

    /// The pairs of a line whose first field may be the name of a set.
    fn of_set(&mut self, section: &'static str, fields: &[&'a str]) -> Parsed<Vec<&'a str>> {
        let named = fields.len() % 2;
        self.one_set(section, if named == 1 { fields[0] } else { "" })?;
        Ok(fields[named..].to_vec())
    }

    /// A section may hold several sets to choose from; a model is one of them.
    pub(super) fn one_set(&mut self, section: &'static str, set: &'a str) -> Parsed<()> {
        let first = *self.sets.entry(section).or_insert(set);
        if first == set {
            return Ok(());
        }
        let what = format!("a second set `{}` in {section}, after `{}`", shorten(set), shorten(first));
        Err(self.bad(what).hint("keep the lines of one set"))
    }

    fn number(&self, text: &str) -> Parsed<f64> {
        let value = number(text).filter(|v| v.is_finite());
        value.ok_or_else(|| self.bad(not_a_number(text)))
    }

    fn finish(mut self) -> Parsed<Model> {
        let n = self.model.columns.len();
        if n == 0 {
            return Err(self.bad("the model has no columns"));
        }
        if let Some(name) = self.objective.filter(|o| !matches!(self.rows.get(o), Some(Target::Objective))) {
            return Err(self.bad(format!("the objective `{}` is no row of kind N", shorten(name))));
        }
        self.model.lower.resize(n, 0.0);
        self.model.upper.resize(n, f64::INFINITY);
        self.drop_infinite()?;
        // Coefficients of one pair, whichever order they came in, are one entry.
        self.model.quadratic.sort_by_key(|(i, j, _)| (*i, *j));
        if let Some(twice) = self.model.quadratic.windows(2).find(|w| (w[0].0, w[0].1) == (w[1].0, w[1].1)) {
            let (a, b) = (&self.model.columns[twice[0].0], &self.model.columns[twice[0].1]);
            let what = format!("the quadratic term of `{}` and `{}` is stated twice", shorten(a), shorten(b));
            return Err(Bad::new(0, what));
        }
        Ok(self.model)
    }
}

/// A number, with Fortran's D for an exponent too.
pub(super) fn number(text: &str) -> Option<f64> {
    let parsed = text.parse().or_else(|_| text.replace(['d', 'D'], "e").parse());
    parsed.ok().filter(|v: &f64| !v.is_nan())
}

pub(super) fn not_a_number(text: &str) -> String {
    format!("`{}` is not a number", shorten(text))
}
