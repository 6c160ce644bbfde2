//! Findings as tables for people.

use std::fmt::Write;

use regretless_learn::order;
use regretless_project::check::{Report, Verdict};

use crate::output::{count, number, table, wrapped};

/// Longer lists of penalties are left to JSON.
const MOST: usize = 20;

pub(super) fn render(report: &Report) -> String {
    let mut out = String::new();
    let name = report.problem.as_deref().unwrap_or("problem");
    let instances = match report.instances {
        0 => "no data".to_owned(),
        n => count(n, "instance"),
    };
    let _ = writeln!(out, "{name}: {} ({}), {instances}\n", report.class, report.sense);
    let width = report.checks.iter().map(|f| f.check.len()).max().unwrap_or(0);
    for finding in &report.checks {
        let verdict = match finding.verdict {
            Verdict::Ok => "ok",
            Verdict::Warning => "WARNING",
            Verdict::Failed => "FAILED",
            Verdict::Skipped => "skipped",
        };
        let _ =
            writeln!(out, "{:width$}  {verdict:7}  {}", finding.check, wrapped(&finding.detail, width + 11));
    }
    if let Some(multipliers) = report.multipliers.as_ref().filter(|m| !m.rows.is_empty()) {
        out.push_str("\nPenalties that stand in for hard rows and bounds\n");
        let shown = multipliers.rows.iter().take(MOST);
        out.push_str(&table(&["row", "penalty"], 1, shown.map(|p| vec![p.row.clone(), number(p.value)])));
        if multipliers.rows.len() > MOST {
            let _ = writeln!(out, "and {} more, see --format json", multipliers.rows.len() - MOST);
        }
    }
    if !report.gradients.is_empty() {
        out.push_str("\nGradients of the surrogate against central differences\n");
        let rows = report.gradients.iter().map(|g| {
            let error = g.relative_error.map_or("–".to_owned(), |e| format!("≤ {}", order(e)));
            let verdict = if g.compared == 0 {
                "not comparable"
            } else if g.passed {
                "ok"
            } else {
                "FAILED"
            };
            vec![
                g.parameter.to_owned(),
                g.entries.to_string(),
                g.compared.to_string(),
                error,
                verdict.to_owned(),
            ]
        });
        out.push_str(&table(&["parameter", "entries", "directions", "relative error", ""], 1, rows));
    }
    let of = |verdict| report.checks.iter().filter(|f| f.verdict == verdict).count();
    let mut verdict = match (of(Verdict::Failed), of(Verdict::Skipped)) {
        (0, 0) => "All checks passed.".to_owned(),
        (0, skipped) => format!("All checks passed that could be made, {skipped} skipped."),
        (failed, _) => format!("{} failed.", count(failed, "check")),
    };
    if report.instances == 0 && of(Verdict::Skipped) > 0 {
        verdict.push_str(" Give --data FILE for the others.");
    }
    if of(Verdict::Warning) > 0 {
        let _ = write!(verdict, " {}.", count(of(Verdict::Warning), "warning"));
    }
    let _ = writeln!(out, "\n{verdict}");
    out
}
