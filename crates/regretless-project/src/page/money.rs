//! What the decisions of methods side by side cost or gained, as tables.

use regretless_core::Sense;
use regretless_learn::{Comparison, Record, Row, is_two_stage};
use regretless_report::{Cell, Grid, Sheet};

use super::account::{sheets, signed};
use crate::Spec;
use regretless_learn::four;

/// Every method with what a decision of it cost or gained, and what it is worth in place of others; none if nothing is known of it.
pub(super) fn beside(spec: &Spec, comparison: &Comparison) -> Option<Sheet> {
    let what = if spec.problem().sense() == Sense::Max { "gain" } else { "cost" };
    let rows = &comparison.rows;
    if rows.iter().all(|row| row.achieved.is_none()) {
        return None;
    }
    let whole = |row: &&Row| row.undecided == 0;
    let constant = rows.iter().find(|row| row.method == "constant").filter(whole);
    let forecasts = rows.iter().filter(|row| is_two_stage(&row.method) && row.method != "constant");
    let forecast = forecasts.filter(whole).min_by(|a, b| a.regret.total_cmp(&b.regret));
    let baseline = comparison.records.iter().find_map(|record| record.account.as_ref()?.against.first());
    let mut header = vec!["decided by".to_owned(), format!("{what} a decision")];
    header.extend(baseline.map(|rival| format!("better than {} by", rival.name)));
    let others: Vec<&Row> = [constant, forecast].into_iter().flatten().collect();
    header.extend(others.iter().map(|other| format!("better than {} by", other.method)));
    header.push("worse than the best possible by".to_owned());
    let number = |v: Option<f64>| v.map_or_else(|| "–".to_owned(), four);
    let more = |v: Option<f64>| v.map_or_else(|| "–".to_owned(), signed);
    let line = |row: &Row| -> Vec<Cell> {
        let name = if row.best { Cell::best(row.method.clone()) } else { row.method.clone().into() };
        let mut cells = vec![name, number(row.achieved).into()];
        cells.extend(baseline.map(|_| Cell::from(more(row.advantage))));
        // On the same rows what one costs less is what it regrets less.
        let less = |other: &&Row| {
            let own = row.method == other.method;
            if own {
                "".into()
            } else {
                Cell::from(more((row.undecided == 0).then_some(other.regret - row.regret)))
            }
        };
        cells.extend(others.iter().map(less));
        cells.push(four(row.regret).into());
        cells
    };
    let lead = format!(
        "Means over the decisions{}, in the units of the objective. Above 0 the method of the row is the better one.",
        if rows.iter().any(|row| row.seeds > 1) { " and the seeds" } else { "" }
    );
    let rows = rows.iter().map(line).collect();
    let title = format!("What the decisions {}", if what == "cost" { "cost" } else { "gained" });
    Some(Sheet { name: "money".into(), title, lead, grid: Grid { header, labels: 1, rows } })
}

/// The account of the best method with its first seed, but for the totals.
pub(super) fn of_best(comparison: &Comparison) -> Vec<Sheet> {
    let Some(best) = comparison.rows.iter().find(|row| row.best) else { return Vec::new() };
    let own = |record: &&Record| record.method == best.method;
    let Some(record) = comparison.records.iter().find(own) else { return Vec::new() };
    let all = record.account.iter().flat_map(sheets).filter(|sheet| sheet.name != "money");
    let seed = if best.seeds > 1 { format!(", seed {}", record.seed) } else { String::new() };
    all.map(|sheet| Sheet { title: format!("{}: {}{seed}", sheet.title, best.method), ..sheet }).collect()
}
