//! What every page is built of: one file, nothing loaded, no script needed.

use std::fmt::Write;

use crate::chart::Figure;
use crate::escape::{html, prose};
use crate::svg;

/// The style of every page, after that of the charts.
const STYLE: &str = include_str!("page.css");

/// The title, or what stands in for one that is blank.
pub(crate) fn title<'a>(given: &'a str, otherwise: &'a str) -> &'a str {
    if given.trim().is_empty() { otherwise } else { given }
}

/// The whole file around the content of `<main>`; `style` adds to the style of every page, `json` is embedded.
pub(crate) fn document(title: &str, style: &str, main: &str, json: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <meta name=\"generator\" content=\"regretless {}\">\n<title>{}</title>\n<style>\n{}{STYLE}{style}</style>\n\
         </head>\n<body>\n<main>\n{main}</main>\n\
         <footer>Made with regretless. The numbers behind this page are embedded in it as JSON.</footer>\n\
         <script type=\"application/json\" id=\"regretless-data\">{json}</script>\n</body>\n</html>\n",
        env!("CARGO_PKG_VERSION"),
        html(title),
        svg::STYLE
    )
}

/// Title, summary and facts, with finished markup between the last two.
pub(crate) fn header(
    kind: &str,
    title: &str,
    summary: &str,
    between: &str,
    facts: &[(String, String)],
) -> String {
    let mut out = format!("<header>\n<p class=\"eyebrow\">{kind}</p>\n<h1>{}</h1>\n", html(title));
    if !summary.trim().is_empty() {
        let _ = writeln!(out, "<p class=\"lead\">{}</p>", prose(summary));
    }
    out.push_str(between);
    if !facts.is_empty() {
        let _ = writeln!(out, "<dl class=\"facts\">\n{}</dl>", pairs(facts));
    }
    out.push_str("</header>\n");
    out
}

/// A name for links: what is neither letter, digit nor hyphen is a hyphen.
pub(crate) fn name(given: &str) -> String {
    given.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect()
}

/// A section of finished markup under a heading.
pub(crate) fn section(out: &mut String, id: &str, heading: &str, body: &str) {
    let heading = html(heading);
    let _ = write!(
        out,
        "<section id=\"{id}\" aria-labelledby=\"{id}-h\">\n<h2 id=\"{id}-h\">{heading}</h2>\n{body}</section>\n"
    );
}

/// A section that is a chart, its words beside it: the heading, finished markup, how to read it.
pub(crate) fn figure(out: &mut String, words: &str, wide: &Figure, narrow: &Figure) {
    let (id, heading) = (&wide.name, html(&wide.heading));
    let words = format!("<h2 id=\"{id}-h\">{heading}</h2>\n{words}");
    let _ = write!(
        out,
        "<section id=\"{id}\" class=\"figure\" aria-labelledby=\"{id}-h\">\n{}</section>\n",
        chart(&words, wide, narrow)
    );
}

/// A chart in both widths, after its words and before what was left out of it.
pub(crate) fn chart(words: &str, wide: &Figure, narrow: &Figure) -> String {
    let mut out = format!(
        "<div class=\"words\">\n{words}<p class=\"how\">{}</p>\n</div>\n<div class=\"chart\">\n",
        prose(&wide.caption)
    );
    for (class, figure) in [("wide", wide), ("narrow", narrow)] {
        let id = format!("{}-{class}", figure.name);
        out.push_str(&figure.svg.inline(class, &id, &figure.heading, &figure.description));
    }
    out.push_str("</div>\n<div class=\"left-out\">\n");
    for note in &wide.notes {
        let _ = writeln!(out, "<p class=\"note\">{}</p>", prose(note));
    }
    out.push_str("</div>\n");
    out
}

/// The settings of the runs; no section where there are none.
pub(crate) fn settings(out: &mut String, groups: &[(String, Vec<(String, String)>)]) {
    if groups.is_empty() {
        return;
    }
    let mut body = String::from("<div class=\"groups\">\n");
    for (name, group) in groups {
        let (name, group) = (html(name), pairs(group));
        let _ = writeln!(body, "<div class=\"group\"><h3>{name}</h3>\n<dl>\n{group}</dl></div>");
    }
    body.push_str("</div>\n");
    section(out, "settings", "Run settings", &body);
}

fn pairs(pairs: &[(String, String)]) -> String {
    let pair = |(key, value): &(String, String)| {
        format!("<div><dt>{}</dt><dd>{}</dd></div>\n", html(key), prose(value))
    };
    pairs.iter().map(pair).collect()
}

/// A list of remarks, each finished markup; nothing where there are none.
pub(crate) fn remarks(items: impl Iterator<Item = String>) -> String {
    let items: String = items.map(|item| ["<li>", &item, "</li>\n"].concat()).collect();
    if items.is_empty() { items } else { format!("<ul class=\"remarks\">\n{items}</ul>\n") }
}
