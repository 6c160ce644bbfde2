//! Bad input, for people.

use std::fmt::Write;
use std::io::IsTerminal;
use std::path::Path;

use regretless_benchmark::BenchmarkError;
use regretless_learn::{Base, LearnError, MethodError, Setting};
use regretless_paper::PaperError;
use regretless_project::{Place, ProjectError, RunTrouble, SpecError};
use regretless_report::ReportError;
use thiserror::Error;

use crate::output::{Exit, wrapped};

/// Why a command did nothing.
#[derive(Debug, Error)]
pub(crate) enum CliError {
    /// A problem file or a table.
    #[error("{0}")]
    Spec(#[from] Box<SpecError>),
    /// Predicted parts without a table, or a table and nothing that is predicted; the option that names the table.
    #[error("{error}")]
    Table { error: ProjectError, option: &'static str },
    /// Learning.
    #[error("{0}")]
    Learn(#[from] LearnError),
    /// A run directory, a row that is not there, what the engine refused.
    #[error("{0}")]
    Project(ProjectError),
    /// A problem file without a table.
    #[error("{file} names no data to learn from")]
    NoData { file: String },
    /// The paper's applications.
    #[error("{0}")]
    Paper(#[from] PaperError),
    /// The scoreboard.
    #[error("{0}")]
    Benchmark(#[from] BenchmarkError),
    /// A report that cannot be written.
    #[error("{0}")]
    Report(#[from] ReportError),
    /// A directory that has something in it.
    #[error("{path} is not empty")]
    NotEmpty { path: String },
    /// A file that cannot be written.
    #[error("{path}: {source}")]
    Write { path: String, source: std::io::Error },
    /// A method's name.
    #[error("{0}")]
    Method(#[from] MethodError),
    /// Nothing is predicted, so nothing can be learned.
    #[error("{file} predicts nothing, so there is nothing to learn")]
    NothingToLearn { file: String },
    /// A problem of matrices, asked for its expansion.
    #[error("{file} states matrices: there is nothing to expand")]
    NoAlgebra { file: String },
    /// Ctrl-C before anything was finished.
    #[error("stopped before anything was finished: there is nothing to show")]
    Interrupted,
    /// A part of the paper that trains nothing.
    #[error("`paper multipliers` has no trainings that could be planned")]
    NoTrials,
    /// A study without a whole seed.
    #[error("{path}: no seed has all its trials yet, so there is no table")]
    NothingDone { path: String },
    /// Decisions that would be written over what they are made of.
    #[error("{path} is the table that is decided for: decisions would be written over it")]
    OverInput { path: String },
    /// A kind of file that decisions cannot be written to.
    #[error("{path}: decisions are written as .csv, .jsonl or .parquet")]
    OutputKind { path: String },
    /// A file that another command is writing.
    #[error("{path}: another command is writing this file")]
    Busy { path: String },
    /// A history for a model that does not look back.
    #[error("--history: no feature of this model looks back at one")]
    NoLags,
    /// Forecasts for a model that makes its own, or takes them from columns of its table.
    #[error("--forecasts: the run was not trained with forecasts from a file")]
    NoForecasts,
    /// A part of the work and no folder for it.
    #[error("{option} needs a folder for its files")]
    NeedsFolder { option: &'static str },
    /// A folder with other decisions.
    #[error("{path}: {what}")]
    OtherDecisions { path: String, what: String },
    /// A row without a decision, where the user wants none.
    #[error("{place} has no decision: {why}")]
    Undecided { place: String, why: String },
    /// Stdout cannot be written.
    #[error("cannot write the result: {0}")]
    Output(std::io::Error),
}

impl From<ProjectError> for CliError {
    fn from(error: ProjectError) -> Self {
        match error {
            ProjectError::Spec(error) => Self::Spec(error),
            ProjectError::Learn(error) => Self::Learn(error),
            ProjectError::Report(error) => Self::Report(error),
            other => Self::Project(other),
        }
    }
}

/// How a setting is set in a problem file.
fn in_a_file(setting: &Setting) -> String {
    let Setting { section, key, value } = setting;
    format!("`{key} = {value}` in the section [{section}]")
}

/// What to do about a run directory.
fn about(trouble: &RunTrouble, path: &Path) -> Option<String> {
    Some(match trouble {
        RunTrouble::NotEmpty { resumable: true } => {
            "take it up again with --resume, or choose another directory with --out".into()
        }
        RunTrouble::NotEmpty { resumable: false } => "choose another directory with --out".into(),
        RunTrouble::NotARun | RunTrouble::NoDirectory => "`regretless train` makes one".into(),
        RunTrouble::Format { .. } => "use the version that made it, or train again".into(),
        RunTrouble::NoModel => format!("finish the training: regretless train --resume {}", path.display()),
        RunTrouble::Busy => "wait for it, or stop it".into(),
        RunTrouble::Unreadable(_) => "train again".into(),
        _ => return None,
    })
}

impl CliError {
    /// Names the option that a table is given with.
    pub(crate) fn of_table(option: &'static str) -> impl Fn(ProjectError) -> Self {
        move |error| match error {
            ProjectError::NeedsParameters { .. } | ProjectError::NothingPredicted { .. } => {
                Self::Table { error, option }
            }
            other => other.into(),
        }
    }

    /// How a command ends with it.
    pub(crate) fn exit(&self) -> Exit {
        match self {
            Self::Learn(LearnError::Diverged { .. })
            | Self::Undecided { .. }
            | Self::Interrupted
            | Self::NothingDone { .. } => Exit::Failure,
            _ => Exit::BadInput,
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::Spec(e) => e.hint.clone(),
            Self::Learn(e) => e.hint().map(|hint| hint.tell(in_a_file)),
            Self::Project(ProjectError::Run { path, trouble }) => about(trouble, path),
            Self::NoData { .. } => Some(
                "add a section\n  [data]\n  file = \"history.csv\"\nwith a table that holds the features and the \
                 true values of what is predicted, or name the table with --data"
                    .into(),
            ),
            Self::Paper(e) => e.hint().filter(|hint| !hint.is_empty()),
            Self::Benchmark(e) => e.hint().filter(|hint| !hint.is_empty()),
            Self::Method(_) => {
                Some(format!("methods: {}, some with +l2 or +stopped, each with +scenarios or +scaled", Base::words()))
            }
            Self::NothingToLearn { .. } => {
                Some("mark what is not known when deciding with { predict = \"columns\" }".into())
            }
            Self::NoAlgebra { .. } => {
                Some("problems in algebra declare [variables], see docs/algebra.md; `regretless new battery` writes one".into())
            }
            Self::Busy { .. } => Some("wait for it, or choose another --out or --shard".into()),
            Self::NeedsFolder { .. } => Some("name one with --out, such as --out plans".into()),
            Self::OtherDecisions { .. } => Some("choose another folder with --out".into()),
            Self::NoTrials => Some("run it as it is: regretless paper multipliers".into()),
            Self::NothingDone { path } => Some(format!("`regretless study do {path}` does what is missing")),
            Self::NotEmpty { .. } => Some("choose another directory".into()),
            Self::Undecided { .. } => Some(
                "its file was not written; with --infeasible mark such rows are marked and the others decided"
                    .into(),
            ),
            Self::Table { error: ProjectError::NeedsParameters { needs, .. }, option } => {
                Some(format!("give a CSV file with a header and one row an instance: {option} FILE\n{needs}"))
            }
            Self::Table { option, .. } => Some(format!(
                "leave {option} out, or mark what the table holds with {{ predict = \"columns\" }}"
            )),
            _ => None,
        }
    }

    /// The message with a quotation of the place, if there is one.
    pub(crate) fn render(&self) -> String {
        let colour =
            std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty());
        let paint = |code: &str, text: &str| {
            if colour { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
        };
        let spec = match self {
            Self::Spec(e) => Some(e),
            _ => None,
        };
        let quote = spec.and_then(|e| quote(&e.place));
        let message = match spec {
            // The quotation names the file and the line.
            Some(e) if quote.is_some() => match e.place.key() {
                Some(key) => format!("{key}: {}", e.problem),
                None => e.problem.to_string(),
            },
            _ => self.to_string(),
        };
        let mut out = format!("{}: {}\n", paint("1;31", "error"), wrapped(&message, 7));
        out.extend(quote.iter().map(String::as_str));
        for (i, line) in self.hint().iter().flat_map(|hint| hint.lines()).enumerate() {
            let head = if i == 0 { format!("{}: ", paint("36", "hint")) } else { " ".repeat(6) };
            let _ = writeln!(out, "{head}{}", wrapped(line, 6));
        }
        out
    }
}

/// The lines around a place in a problem file, with the place marked; none if a line is too long to be looked at.
fn quote(place: &Place) -> Option<String> {
    const LONGEST: usize = 160;
    let Place::Key { file, span: Some(span), text, .. } = place else { return None };
    let (line, column) = place.position()?;
    let (before, after) = text.split_at_checked(span.start)?;
    let start = before.rfind('\n').map_or(0, |i| i + 1);
    let above = text[..start].lines().last();
    let here = text[start..].lines().next().unwrap_or("");
    if here.len() > LONGEST || above.is_some_and(|line| line.len() > LONGEST) {
        return None;
    }
    // A value over several lines is marked on its first; a place at the end of a line is marked behind it.
    let end = after.find('\n').unwrap_or(after.len()).min(span.len());
    let marks = after.get(..end).map_or(1, |marked| marked.trim_end().chars().count().max(1));
    // One column a character, and nothing that commands a terminal.
    let visible =
        |line: &str| -> String { line.chars().map(|c| if c.is_control() { ' ' } else { c }).collect() };
    let gutter = line.to_string().len();
    let mut out = format!("{:gutter$}--> {}:{line}:{column}\n", "", file.display());
    let _ = writeln!(out, "{:gutter$} |", "");
    if let Some(above) = above {
        let _ = writeln!(out, "{:gutter$} | {}", line - 1, visible(above));
    }
    let _ = writeln!(out, "{line} | {}", visible(here));
    let _ = writeln!(out, "{:gutter$} | {:skip$}{}", "", "", "^".repeat(marks), skip = column - 1);
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_broken_file_can_be_quoted() {
        let text =
            "[problem]\r\nname = \"θ\t\u{85}\"\nvariables = [\"ä\", \"b\"]\n[objective]\nlinear = [1, 2]\n";
        for (cut, _) in text.char_indices() {
            for piece in ["", "\u{1b}[31m", "é", "=", "\"", "[[soft]]\nrows = 'é'"] {
                let broken = format!("{}{piece}{}", &text[..cut], &text[cut..]);
                for broken in [broken.as_str(), &broken[..cut + piece.len()]] {
                    let spec = regretless_project::Spec::parse(
                        broken,
                        "p.toml",
                        &regretless_project::Limits::default(),
                    );
                    let Err(error) = spec else { continue };
                    let message = CliError::from(error).render();
                    assert!(!message.contains('\u{1b}'), "{message}");
                }
            }
        }
    }
}
