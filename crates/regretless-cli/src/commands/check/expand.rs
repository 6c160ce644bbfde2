//! `regretless check --expand`: a problem in algebra as rows.

use std::fmt::Write;

use regretless_project::{Expansion, Family, Instances, Spec};

use crate::args::{CheckArgs, Format};
use crate::error::CliError;
use crate::output::{Exit, Outcome, count, json, table, wrapped};

pub(super) fn run(args: &CheckArgs, spec: &Spec) -> Result<Outcome, CliError> {
    let instances = match &args.data {
        Some(path) => Some(Instances::new(spec, Some(path)).map_err(CliError::of_table("--data"))?),
        None if spec.history().is_some() => Instances::history(spec)?,
        None => Instances::new(spec, None).ok(),
    };
    let Some(expansion) = spec.expansion(instances.as_ref()) else {
        return Err(CliError::NoAlgebra { file: spec.file().display().to_string() });
    };
    let text = match args.format {
        Format::Json => json(&expansion),
        Format::Table => render(&expansion),
    };
    Ok(Outcome::new(text, Exit::Success))
}

fn render(expansion: &Expansion) -> String {
    let mut out = String::new();
    let total = |families: &[Family]| families.iter().map(|f| f.count).sum::<usize>();
    let rows = expansion.rows.iter().map(|rows| rows.count).sum();
    let _ = writeln!(out, "{}, {}\n", count(total(&expansion.variables), "variable"), count(rows, "row"));
    let families = expansion.variables.iter().chain(&expansion.quantities);
    let line = |f: &Family| {
        let range = if f.count == 1 { f.first.clone() } else { format!("{} … {}", f.first, f.last) };
        vec![f.name.clone(), f.kind.to_owned(), f.over.clone(), f.count.to_string(), range]
    };
    out.push_str(&table(&["name", "kind", "for", "count", "from … to"], 1, families.map(line)));
    let mut written = |head: &str, lines: &[&str]| {
        let _ = writeln!(out, "\n{head}");
        for line in lines {
            let _ = writeln!(out, "  {}", wrapped(line, 4));
        }
    };
    let instance = expansion.instance.as_deref().unwrap_or_default();
    let goal = &expansion.objective;
    let head = format!(
        "{}: {}, {}",
        if goal.sense == "max" { "maximize" } else { "minimize" },
        count(goal.linear, "linear term"),
        count(goal.quadratic, "quadratic term")
    );
    let lines: Vec<&str> = lines(&goal.symbols, goal.numbers.as_deref());
    written(&head, &lines);
    for rows in &expansion.rows {
        let over = rows.over.as_ref().map_or(String::new(), |over| format!(" for {over}"));
        let head = format!("{} ({}): {}{over}, {}", rows.name, rows.kind, rows.row, count(rows.count, "row"));
        let shown: Vec<_> = std::iter::once(&rows.first).chain(&rows.last).collect();
        let named: Vec<String> = shown.iter().map(|row| format!("{}: {}", row.name, row.symbols)).collect();
        let each = named.iter().zip(&shown).flat_map(|(text, row)| self::lines(text, row.numbers.as_deref()));
        written(&head, &each.collect::<Vec<_>>());
    }
    if !instance.is_empty() {
        let _ = writeln!(out, "\nNumbers: {instance}.");
    }
    out
}

/// What is written, and with numbers where that says more.
fn lines<'a>(symbols: &'a str, numbers: Option<&'a str>) -> Vec<&'a str> {
    let numbers = numbers.filter(|numbers| !symbols.ends_with(numbers));
    std::iter::once(symbols).chain(numbers).collect()
}
