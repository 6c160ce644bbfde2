//! Answers as tables for people.

use std::fmt::Write;

use regretless_core::Status;

use super::answer::{Answer, Report, sense};
use crate::output::{count, number, table};

/// More variables than this do not fit beside each other.
const WIDE: usize = 8;

pub(crate) fn render(report: &Report<'_>) -> String {
    match &report.answers[..] {
        [answer] => single(report, answer),
        _ => many(report),
    }
}

/// Remarks on what the table leaves out.
pub(crate) fn remarks(report: &Report<'_>) -> String {
    let mut out = String::new();
    let n = report.problem.n();
    if report.answers.len() > 1 && n > WIDE {
        let _ =
            writeln!(out, "note: {n} variables are too many for the table; --row N or --format json shows x");
    }
    let failed = report.answers.iter().filter(|a| !a.is_optimal()).count();
    if report.answers.len() > 1 && failed > 0 {
        let _ = writeln!(
            out,
            "note: {failed} of {} have no optimum; --row N says why",
            count(report.answers.len(), "instance")
        );
    }
    out
}

fn single(report: &Report<'_>, answer: &Answer) -> String {
    let mut out = String::new();
    let name = report.name.unwrap_or("problem");
    let row = answer.row.map_or_else(String::new, |row| format!(", row {row}"));
    let _ = write!(out, "{name} ({}){row}: {}", sense(report.problem), answer.status());
    match &answer.optimum.status {
        Status::NumericalTrouble if !report.shows(answer) => {
            let _ = writeln!(out, "\n{}, and --best-effort shows it.", figures(answer));
        }
        Status::Optimal | Status::NumericalTrouble => {
            let _ = writeln!(out, ", objective {}", number(answer.optimum.objective));
            if !answer.is_optimal() {
                let _ = writeln!(out, "{}.", figures(answer));
            }
            if answer.optimum.rank_deficient {
                out.push_str("The optimum is not unique: rows and Q leave directions free. This is the shortest one.\n");
            }
            out.push('\n');
            out.push_str(&decision(report, answer));
            if !answer.rows.is_empty() {
                out.push('\n');
                out.push_str(&rows(answer));
            }
        }
        Status::Infeasible { .. } => {
            out.push_str("\nThese cannot hold together; relax one of them or make it soft:\n");
            for name in &answer.conflict {
                let _ = writeln!(out, "  {name}");
            }
        }
        Status::Unbounded { ray } => {
            out.push_str(
                "\nAlong this direction every hard row keeps holding and the objective improves for ever; \
                 add a bound or a row against it:\n\n",
            );
            let moving = report.problem.variables().iter().zip(ray).filter(|(_, d)| d.abs() > 1e-12);
            let moving = moving.map(|(name, d)| vec![name.clone(), number(*d)]);
            out.push_str(&table(&["variable", "direction"], 1, moving));
        }
    }
    out
}

/// What the best point misses.
fn figures(answer: &Answer) -> String {
    let figures = &answer.optimum.accuracy;
    format!(
        "No point was found that keeps the tolerance. The best one has a violation of {:.0e}, a residual of {:.0e} and a gap of \
         {:.0e}, each relative",
        figures.primal, figures.dual, figures.gap
    )
}

fn decision(report: &Report<'_>, answer: &Answer) -> String {
    let optimum = &answer.optimum;
    let rows = report.problem.variables().iter().enumerate().map(|(j, name)| {
        // At most one of the two is not 0: the price of moving the bound that holds.
        let multiplier = optimum.multipliers.lower[j] - optimum.multipliers.upper[j];
        let cells = [optimum.x[j], answer.lower[j], answer.upper[j], multiplier.abs()];
        std::iter::once(name.clone()).chain(cells.into_iter().map(number)).collect()
    });
    table(&["variable", "value", "lower", "upper", "multiplier"], 1, rows)
}

fn rows(answer: &Answer) -> String {
    let rows = answer.rows.iter().map(|row| {
        let kind = match row.kind {
            "at_most" => "≤",
            "equals" => "=",
            kind => kind,
        };
        let cells = [row.activity, row.limit, row.multiplier].map(number);
        [row.name.clone(), kind.to_owned()].into_iter().chain(cells).collect()
    });
    table(&["row", "kind", "activity", "limit", "multiplier"], 2, rows)
}

fn many(report: &Report<'_>) -> String {
    let narrow = report.problem.n() <= WIDE;
    let names = report.problem.variables().iter().filter(|_| narrow).cloned();
    let header: Vec<String> =
        ["row", "status", "objective"].map(str::to_owned).into_iter().chain(names).collect();
    let rows = report.answers.iter().map(|answer| {
        let row = answer.row.map_or_else(String::new, |row| row.to_string());
        let shown = report.shows(answer);
        let objective = answer.optimum.objective;
        let objective = if shown || objective.is_infinite() { number(objective) } else { "–".to_owned() };
        let mut cells = vec![row, answer.status().to_owned(), objective];
        if narrow {
            let x = answer.optimum.x.iter();
            cells.extend(x.map(|&x| if shown { number(x) } else { "–".to_owned() }));
        }
        cells
    });
    table(&header, 2, rows)
}
