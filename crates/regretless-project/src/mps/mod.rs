//! MPS, QPS and LP files: linear and convex quadratic programs as other solvers write them.
//!
//! ```text
//! min  constant + costᵀx + ½xᵀQx      s.t.  lower ≤ Ax ≤ upper,  bounds
//! ```
//!
//! Of MPS files free and fixed form are told apart by trying: fields are cut at blanks, and where that gives no model, by column, as
//! names with blanks need. What our problems cannot hold (whole numbers, cones, quadratic rows) is refused at its line.

mod cards;
mod lexer;
mod limits;
mod lp;
mod model;
mod sections;

use std::io::Read;
use std::path::Path;

use crate::Limits;
use crate::data::{inflate, io_error, open};
use crate::error::{Place, Result, SpecError, Trouble};

pub(crate) use model::{Model, Row};

/// True for names that end as those of models do.
pub(crate) fn is_model(path: &Path) -> bool {
    ends(path, &[".mps", ".qps", ".lp"])
}

/// True for names that end so, packed or not.
fn ends(path: &Path, endings: &[&str]) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    endings.iter().any(|ending| name.ends_with(ending))
}

/// Reads a file, packed with gzip or not.
pub(crate) fn read(path: &Path, limits: &Limits) -> Result<Model> {
    let opened = open(path, limits.model_bytes)?;
    let mut reader = inflate(opened.file, limits.model_bytes).map_err(|e| io_error(path, e))?;
    let mut bytes = Vec::new();
    reader.read_to_end(&mut bytes).map_err(|e| io_error(path, e))?;
    let text = String::from_utf8(bytes).map_err(|e| {
        let trouble = Trouble::NotUtf8(e.utf8_error().valid_up_to());
        SpecError::new(Place::File(path.to_owned()), trouble)
    })?;
    parse(&text, path, limits)
}

/// Parses the text of an LP or MPS file, as the name says.
pub(crate) fn parse(text: &str, path: &Path, limits: &Limits) -> Result<Model> {
    let model = if ends(path, &[".lp"]) { lp::model(text, limits) } else { either_form(text, limits) };
    model.map_err(|bad| bad.at(path))
}

/// Parses an MPS file by blanks and then by column.
fn either_form(text: &str, limits: &Limits) -> std::result::Result<Model, Bad> {
    sections::model(text, cards::Form::Free, limits).or_else(|free| {
        // What is refused for good is refused in either form.
        if free.last {
            Err(free)
        } else {
            sections::model(text, cards::Form::Fixed, limits).map_err(|_| free)
        }
    })
}

/// What is wrong at a line.
#[derive(Debug)]
pub(crate) struct Bad {
    line: u64,
    what: String,
    hint: Option<&'static str>,
    /// True if the other form would not help.
    last: bool,
}

impl Bad {
    fn new(line: u64, what: impl Into<String>) -> Self {
        Self { line, what: what.into(), hint: None, last: false }
    }

    fn hint(self, hint: &'static str) -> Self {
        Self { hint: Some(hint), ..self }
    }

    fn for_good(self) -> Self {
        Self { last: true, ..self }
    }

    /// The error, in its file.
    fn at(self, path: &Path) -> Box<SpecError> {
        let place = match self.line {
            0 => Place::File(path.to_owned()),
            line => Place::Cell { file: path.to_owned(), line, column: None },
        };
        let error = SpecError::new(place, Trouble::Syntax(self.what));
        match self.hint {
            Some(hint) => error.hint(hint),
            None => error,
        }
    }
}
