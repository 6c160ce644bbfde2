//! The page of a comparison.

use std::fmt::Write;

use crate::chart::{self, NARROW, WIDE};
use crate::data::{Report, Row, Sheet};
use crate::escape::{html, prose};
use crate::number::{number, percent};
use crate::palette::Palette;
use crate::shell::{self, section};
use crate::{embed, table};

/// How sheets look: as the tables of studies.
const SHEETS: &str = include_str!("sheets.css");

pub(crate) fn render(report: &Report) -> String {
    let palette = Palette::of(report);
    let title = shell::title(&report.title, "regretless report");
    let mut out = header(report, title);
    report.first.iter().for_each(|sheet| self::sheet(&mut out, sheet, &palette));
    if !report.table.rows.is_empty() {
        let body = table::render(&report.table, &palette);
        section(&mut out, "comparison-section", "Comparison", &body);
    }
    report.sheets.iter().for_each(|sheet| self::sheet(&mut out, sheet, &palette));
    let (wide, narrow) = (chart::figures(report, WIDE), chart::figures(report, NARROW));
    for (wide, narrow) in wide.iter().zip(&narrow) {
        shell::figure(&mut out, "", wide, narrow);
    }
    shell::settings(&mut out, &report.settings);
    notes(&mut out, report);
    shell::document(title, SHEETS, &out, &embed::report(report))
}

fn sheet(out: &mut String, sheet: &Sheet, palette: &Palette) {
    let lead = sheet.lead.trim();
    let lead =
        if lead.is_empty() { String::new() } else { format!("<p class=\"how\">{}</p>\n", prose(lead)) };
    let body = lead + &sheet.grid.html(&sheet.title, palette);
    section(out, &shell::name(&sheet.name), &sheet.title, &body);
}

fn header(report: &Report, title: &str) -> String {
    let best = report.table.rows.iter().find(|r| r.best);
    let tiles = if report.headline.is_empty() {
        best.map(|best| tiles(best, report.table.unit.trim()))
    } else {
        let told = |(name, value, after): &(String, String, String)| (html(name), html(value), html(after));
        Some(tiled(report.headline.iter().map(told)))
    };
    shell::header("Decision report", title, &report.summary, &tiles.unwrap_or_default(), &report.problem)
}

/// The method with the lowest regret in a few large figures.
fn tiles(best: &Row, unit: &str) -> String {
    let mut tiles = vec![("Lowest regret", html(&best.method), String::new())];
    tiles.push(("Mean regret", number(best.regret), html(unit)));
    if let Some(ratio) = best.ratio.filter(|r| r.is_finite()) {
        let change = percent(ratio - 1.0);
        let change = if ratio > 1.0 { format!("+{change}") } else { change };
        tiles.push(("Against the best two-stage", change, String::new()));
    } else if let Some(relative) = best.relative.filter(|r| r.is_finite()) {
        tiles.push(("Of the optimal value", percent(relative), String::new()));
    }
    if let Some(worst) = best.cvar90.filter(|c| c.is_finite()) {
        tiles.push(("Worst tenth of the instances", number(worst), html(unit)));
    }
    tiled(tiles.into_iter().map(|(name, value, after)| (name.to_owned(), value, after)))
}

/// Figures side by side: name, value, and what follows it.
fn tiled(tiles: impl Iterator<Item = (String, String, String)>) -> String {
    let mut out = String::from("<dl class=\"tiles\">\n");
    for (name, value, after) in tiles {
        let after = if after.is_empty() { after } else { format!(" <small>{after}</small>") };
        let _ = writeln!(out, "<div><dt>{name}</dt><dd>{value}{after}</dd></div>");
    }
    out.push_str("</dl>\n");
    out
}

fn notes(out: &mut String, report: &Report) {
    let mut body = shell::remarks(report.notes.iter().map(|note| prose(note)));
    let rows = &report.table.rows;
    if !rows.is_empty() && !rows.iter().any(|r| r.method == "constant") {
        body.push_str(
            "<p>There is no constant row: whether the methods beat a fixed prediction is not shown.</p>\n",
        );
    }
    if !rows.is_empty() {
        body.push_str(&table::meanings(&report.table));
    }
    if rows.iter().any(|r| r.p_two_stage.is_some() || r.p_value.is_some() || r.wilcoxon.is_some()) {
        body.push_str(
            "<p>The tests compare the same instances under two methods. They ask whether the difference could be \
             chance on these instances, not whether it is large. They do not correct for the number of methods compared, \
             they take instances as independent, which neighbouring days are not quite, and seeds that share a test \
             set do not make it larger. Read the interval and the ratio first.</p>\n",
        );
    }
    if !body.is_empty() {
        section(out, "notes", "What the numbers mean", &body);
    }
}
