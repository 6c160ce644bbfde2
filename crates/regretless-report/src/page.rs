//! The page: one file, nothing loaded, no script needed.

use std::fmt::Write;

use crate::chart::{self, Figure, NARROW, WIDE};
use crate::data::{Report, Row};
use crate::escape::{html, prose};
use crate::number::{number, percent};
use crate::palette::Palette;
use crate::{embed, svg, table};

/// The style of the page, after that of the charts.
const STYLE: &str = include_str!("page.css");

pub(crate) fn render(report: &Report) -> String {
    let palette = Palette::of(report);
    let title = title(report);
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <meta name=\"generator\" content=\"regretless {}\">\n<title>{}</title>\n<style>\n{}{STYLE}</style>\n</head>\n\
         <body>\n<main>\n",
        env!("CARGO_PKG_VERSION"),
        html(title),
        svg::STYLE
    );
    header(&mut out, report, title);
    if !report.table.rows.is_empty() {
        let body = table::render(&report.table, &palette);
        section(&mut out, "comparison-section", "Comparison", &body);
    }
    let (wide, narrow) = (chart::figures(report, WIDE), chart::figures(report, NARROW));
    for (wide, narrow) in wide.iter().zip(&narrow) {
        figure(&mut out, wide, narrow);
    }
    settings(&mut out, report);
    notes(&mut out, report);
    out.push_str("</main>\n<footer>Made with regretless. The numbers behind this page are embedded in it as JSON.</footer>\n");
    let _ = write!(
        out,
        "<script type=\"application/json\" id=\"regretless-data\">{}</script>\n</body>\n</html>\n",
        embed::json(report)
    );
    out
}

fn title(report: &Report) -> &str {
    if report.title.trim().is_empty() { "regretless report" } else { &report.title }
}

fn header(out: &mut String, report: &Report, title: &str) {
    let _ = writeln!(out, "<header>\n<p class=\"eyebrow\">Decision report</p>\n<h1>{}</h1>", html(title));
    if !report.summary.trim().is_empty() {
        let _ = writeln!(out, "<p class=\"lead\">{}</p>", prose(&report.summary));
    }
    if let Some(best) = report.table.rows.iter().find(|r| r.best) {
        tiles(out, best, report.table.unit.trim());
    }
    if !report.problem.is_empty() {
        out.push_str("<dl class=\"facts\">\n");
        pairs(out, &report.problem);
        out.push_str("</dl>\n");
    }
    out.push_str("</header>\n");
}

/// The method with the lowest regret in a few large figures.
fn tiles(out: &mut String, best: &Row, unit: &str) {
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
    out.push_str("<dl class=\"tiles\">\n");
    for (name, value, after) in tiles {
        let after = if after.is_empty() { after } else { format!(" <small>{after}</small>") };
        let _ = writeln!(out, "<div><dt>{name}</dt><dd>{value}{after}</dd></div>");
    }
    out.push_str("</dl>\n");
}

fn section(out: &mut String, id: &str, heading: &str, body: &str) {
    let _ = write!(
        out,
        "<section id=\"{id}\" aria-labelledby=\"{id}-h\">\n<h2 id=\"{id}-h\">{heading}</h2>\n{body}</section>\n"
    );
}

fn figure(out: &mut String, wide: &Figure, narrow: &Figure) {
    let mut body = String::from("<div class=\"chart\">\n");
    for (class, figure) in [("wide", wide), ("narrow", narrow)] {
        let id = format!("{}-{class}", figure.name);
        body.push_str(&figure.svg.inline(class, &id, figure.heading, &figure.description));
    }
    body.push_str("</div>\n");
    let mut notes = String::new();
    for note in &wide.notes {
        let _ = writeln!(notes, "<p class=\"note\">{}</p>", prose(note));
    }
    let (id, heading, how) = (wide.name, wide.heading, prose(&wide.caption));
    let _ = write!(
        out,
        "<section id=\"{id}\" class=\"figure\" aria-labelledby=\"{id}-h\">\n<div class=\"words\">\n\
         <h2 id=\"{id}-h\">{heading}</h2>\n<p class=\"how\">{how}</p>\n</div>\n{body}<div class=\"left-out\">\n{notes}</div>\n</section>\n"
    );
}

fn settings(out: &mut String, report: &Report) {
    if report.settings.is_empty() {
        return;
    }
    let mut body = String::from("<div class=\"groups\">\n");
    for (name, group) in &report.settings {
        let _ = writeln!(body, "<div class=\"group\"><h3>{}</h3>\n<dl>", html(name));
        pairs(&mut body, group);
        body.push_str("</dl></div>\n");
    }
    body.push_str("</div>\n");
    section(out, "settings", "Run settings", &body);
}

fn pairs(out: &mut String, pairs: &[(String, String)]) {
    for (key, value) in pairs {
        let _ = writeln!(out, "<div><dt>{}</dt><dd>{}</dd></div>", html(key), prose(value));
    }
}

fn notes(out: &mut String, report: &Report) {
    let mut body = String::new();
    if !report.notes.is_empty() {
        body.push_str("<ul class=\"remarks\">\n");
        for note in &report.notes {
            let _ = writeln!(body, "<li>{}</li>", prose(note));
        }
        body.push_str("</ul>\n");
    }
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
             chance on this test set, not whether it is large. They do not correct for the number of methods compared, \
             they take instances as independent, which neighbouring days are not quite, and seeds that share a test \
             set do not make it larger. Read the interval and the ratio first.</p>\n",
        );
    }
    if !body.is_empty() {
        section(out, "notes", "What the numbers mean", &body);
    }
}
