//! Bad input, for people.

use std::io::IsTerminal;

use miette::{
    Diagnostic, GraphicalReportHandler, GraphicalTheme, LabeledSpan, NamedSource, Severity, SourceCode,
};
use regretless_core::ProblemError;
use regretless_spec::{Place, Spec, SpecError};
use thiserror::Error;

/// Why a command did nothing.
#[derive(Debug, Error)]
pub(crate) enum CliError {
    /// A problem file or a table.
    #[error("{0}")]
    Spec(#[from] Box<SpecError>),
    /// Predicted parts and no table.
    #[error("{file} predicts {parts}, and no values are given")]
    NeedsParameters { file: String, parts: String, needs: String, option: &'static str },
    /// A table and nothing that is predicted.
    #[error("{file} predicts nothing, so the table would not be used")]
    NothingPredicted { file: String, option: &'static str },
    /// A row that the table does not have.
    #[error("row {row} does not exist: {file} has {rows}, counted from 0")]
    NoSuchRow { row: usize, file: String, rows: String },
    /// What the engine refused.
    #[error("{file}: {source}")]
    Problem { file: String, source: ProblemError },
    /// Stdout cannot be written.
    #[error("cannot write the result: {0}")]
    Output(std::io::Error),
}

impl CliError {
    pub(crate) fn needs_parameters(spec: &Spec, option: &'static str) -> Self {
        let parts: Vec<_> = spec.predicted().iter().map(|p| format!("`{}`", p.key)).collect();
        let needs: Vec<_> = spec.predicted().iter().map(|p| format!("  {}", p.needs())).collect();
        Self::NeedsParameters {
            file: spec.file().display().to_string(),
            parts: parts.join(", "),
            needs: needs.join("\n"),
            option,
        }
    }

    fn help(&self) -> Option<String> {
        match self {
            Self::Spec(e) => e.hint.clone(),
            Self::NeedsParameters { needs, option, .. } => {
                Some(format!("give a CSV file with a header and one row an instance: {option} FILE\n{needs}"))
            }
            Self::NothingPredicted { option, .. } => Some(format!(
                "leave {option} out, or mark what the table holds with {{ predict = \"columns\" }}"
            )),
            _ => None,
        }
    }

    /// The message with a quotation of the place, if there is one.
    pub(crate) fn render(&self) -> String {
        let colour =
            std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty());
        let theme = if colour { GraphicalTheme::unicode() } else { GraphicalTheme::unicode_nocolor() };
        let handler = GraphicalReportHandler::new_themed(theme).with_width(110).with_links(false);
        let mut text = String::new();
        match handler.render_report(&mut text, &Report::new(self)) {
            Ok(()) => text,
            Err(_) => format!("error: {self}\n"),
        }
    }
}

/// The error in the form that miette draws.
#[derive(Debug, Error)]
#[error("{message}")]
struct Report {
    message: String,
    help: Option<String>,
    quote: Option<(NamedSource<String>, LabeledSpan)>,
}

impl Report {
    fn new(error: &CliError) -> Self {
        let quote = match error {
            CliError::Spec(e) => quote(&e.place),
            _ => None,
        };
        let message = match error {
            CliError::Spec(e) if quote.is_some() => match e.place.key() {
                Some(key) => format!("{key}: {}", e.problem),
                None => e.problem.to_string(),
            },
            _ => error.to_string(),
        };
        Self { message, help: error.help(), quote }
    }
}

/// The lines around a place in a problem file; none if a line is too long to be looked at.
fn quote(place: &Place) -> Option<(NamedSource<String>, LabeledSpan)> {
    const LONGEST: usize = 160;
    let Place::Key { file, span: Some(span), text, .. } = place else { return None };
    let (before, after) = text.split_at_checked(span.start)?;
    let start = before.rfind('\n').map_or(0, |i| i + 1);
    let mut around = text[..start].lines().rev().take(2).chain(text[start..].lines().take(3));
    if around.any(|line| line.len() > LONGEST) {
        return None;
    }
    // A value over several lines is marked by its first.
    let end = after.find('\n').map_or(text.len(), |i| span.start + i).min(span.end);
    // Characters that command a terminal are replaced, byte for byte, so that the span stays right.
    let visible = |c: char| {
        if c.is_control() && !matches!(c, '\n' | '\t') { "?".repeat(c.len_utf8()) } else { c.into() }
    };
    let source = NamedSource::new(file.display().to_string(), text.chars().map(visible).collect::<String>());
    Some((source, LabeledSpan::new(None, span.start, end.saturating_sub(span.start))))
}

impl Diagnostic for Report {
    fn help(&self) -> Option<Box<dyn std::fmt::Display + '_>> {
        self.help.as_ref().map(|help| Box::new(help) as _)
    }

    fn severity(&self) -> Option<Severity> {
        Some(Severity::Error)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.quote.as_ref().map(|(source, _)| source as _)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        self.quote.as_ref().map(|(_, label)| Box::new(std::iter::once(label.clone())) as _)
    }
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
                    let spec = Spec::parse(broken, "p.toml", &regretless_spec::Limits::default());
                    let Err(error) = spec else { continue };
                    let message = CliError::from(error).render();
                    assert!(!message.contains('\u{1b}'), "{message}");
                }
            }
        }
    }
}
