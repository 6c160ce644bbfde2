//! The comparison as an HTML table, and the words that explain its columns.

use std::fmt::Write;

use crate::data::{Comparison, Row};
use crate::escape::{html, prose};
use crate::number::{self, DASH, number, p_value, percent};
use crate::palette::Palette;
use crate::shell;

/// A column: heading, key, what it means, how a row fills it (`None` where it has no value).
struct Column {
    key: &'static str,
    heading: &'static str,
    meaning: &'static str,
    cell: fn(&Row) -> Option<String>,
}

const COLUMNS: [Column; 16] = [
    Column {
        key: "regret",
        heading: "Regret",
        meaning: "what the decisions cost over those taken with perfect foresight, as a mean over the instances judged; \
                  after ± the standard deviation over seeds. Lower is better, 0 cannot be beaten.",
        cell: |r| Some(regret(r)),
    },
    Column {
        key: "interval",
        heading: "95\u{a0}% interval",
        meaning: "bootstrap interval of the mean regret.",
        cell: |r| r.interval.map(interval),
    },
    Column {
        key: "relative",
        heading: "Relative",
        meaning: "regret divided by the absolute optimal value.",
        cell: |r| r.relative.map(percent),
    },
    Column {
        key: "ratio",
        heading: "To two-stage",
        meaning: "regret divided by that of the best two-stage method (first predict, then optimise); below 1 is better.",
        cell: |r| r.ratio.map(three),
    },
    Column {
        key: "p_two_stage",
        heading: "p, two-stage",
        meaning: "t-test of the regrets: paired, two-sided, against the best two-stage method.",
        cell: |r| r.p_two_stage.map(p_value),
    },
    Column {
        key: "p_value",
        heading: "p, next",
        meaning: "t-test of the regrets: paired, two-sided, against the best other method.",
        cell: |r| r.p_value.map(p_value),
    },
    Column {
        key: "wilcoxon",
        heading: "Wilcoxon, next",
        meaning: "signed-rank test of the regrets: paired, two-sided, against the best other method; asks less of the distribution than the t-test.",
        cell: |r| r.wilcoxon.map(p_value),
    },
    Column {
        key: "cvar90",
        heading: "Worst tenth",
        meaning: "mean regret of the worst tenth of the instances (CVaR 90\u{a0}%).",
        cell: |r| r.cvar90.map(number),
    },
    Column {
        key: "at_risk",
        heading: "At risk",
        meaning: "what a decision at risk and its threshold come to together, in units of the objective; its mean is what the risk \
                  makes as good as it can. Methods that decide without a risk have none.",
        cell: |r| r.at_risk.map(|(score, _)| number(score)),
    },
    Column {
        key: "beyond",
        heading: "Beyond",
        meaning: "share of the decisions at risk whose objective was worse than their threshold; 1 less the level of the CVaR is right.",
        cell: |r| r.at_risk.map(|(_, beyond)| percent(beyond)),
    },
    Column {
        key: "violation",
        heading: "Violation",
        meaning: "largest violation of a hard constraint by a decision; 0 means all were kept.",
        cell: |r| r.violation.map(three),
    },
    Column {
        key: "mse",
        heading: "MSE",
        meaning: "mean squared error of the predictions.",
        cell: |r| r.mse.map(three),
    },
    Column {
        key: "mae",
        heading: "MAE",
        meaning: "mean absolute error of the predictions.",
        cell: |r| r.mae.map(three),
    },
    Column {
        key: "zero_gradients",
        heading: "Zero gradients",
        meaning: "share of training steps whose gradient was exactly zero: nothing was learnt in them.",
        cell: |r| r.zero_gradients.map(percent),
    },
    Column {
        key: "seconds",
        heading: "Time",
        meaning: "wall-clock training time of one seed.",
        cell: |r| Some(number::seconds(r.seconds)),
    },
    Column {
        key: "seeds",
        heading: "Seeds",
        meaning: "how many independent runs the row is made of.",
        cell: |r| Some(number::count(r.seeds)),
    },
];

/// The columns at least one row has a value for. A number of seeds that is the same for all rows says nothing there.
fn shown(table: &Comparison) -> impl Iterator<Item = &'static Column> {
    let alike = table.rows.windows(2).all(|pair| pair[0].seeds == pair[1].seeds);
    COLUMNS
        .iter()
        .filter(move |c| c.key != "seeds" || !alike)
        .filter(|c| table.rows.iter().any(|r| (c.cell)(r).is_some()))
}

/// The table with the remarks on its rows.
pub(crate) fn render(table: &Comparison, palette: &Palette) -> String {
    let unit = table.unit.trim();
    let mut out = String::from(
        "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"Comparison of the methods\">\n\
         <table id=\"comparison\">\n<caption class=\"hidden\">Comparison of the methods</caption>\n\
         <thead><tr><th scope=\"col\">Method</th>",
    );
    for column in shown(table) {
        let unit = if column.key == "regret" && !unit.is_empty() {
            format!("<span class=\"unit\">{}</span>", html(unit))
        } else {
            String::new()
        };
        let _ = write!(out, "<th scope=\"col\" class=\"c-{}\">{}{unit}</th>", column.key, column.heading);
    }
    out.push_str("</tr></thead>\n<tbody>\n");
    for row in &table.rows {
        let (class, badge) =
            if row.best { (" class=\"best\"", " <span class=\"badge\">best</span>") } else { ("", "") };
        let who = who(&row.method, Some(&palette.class(&row.method)), badge);
        let _ = write!(out, "<tr{class}><th scope=\"row\">{who}</th>");
        for column in shown(table) {
            let cell = (column.cell)(row).unwrap_or_else(|| DASH.to_owned());
            let cell = if column.key == "regret" { cell } else { html(&cell) };
            let _ = write!(out, "<td data-key=\"{}\">{cell}</td>", column.key);
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody></table></div>\n");
    let remark = |r: &Row| Some(format!("<b>{}</b>: {}", html(&r.method), prose(r.note.as_deref()?)));
    let remarks = table.rows.iter().filter_map(remark);
    out.push_str(&shell::remarks(remarks));
    out
}

/// A name with the colour of its method, where it is one, before it and finished markup after it.
pub(crate) fn who(name: &str, colour: Option<&str>, after: &str) -> String {
    let chip = colour.map(|c| format!("<span class=\"chip {c}\"></span>")).unwrap_or_default();
    let short = if name.chars().count() <= 20 { " short" } else { "" };
    let name = html(name);
    format!("<div class=\"who\">{chip}<div><span class=\"name{short}\">{name}</span>{after}</div></div>")
}

/// What the shown columns mean, as a definition list.
pub(crate) fn meanings(table: &Comparison) -> String {
    let mut out = String::from("<dl class=\"meanings\">\n");
    for column in shown(table) {
        let _ = writeln!(out, "<dt>{}</dt><dd>{}</dd>", column.heading, column.meaning);
    }
    out.push_str("</dl>\n");
    out
}

/// Three digits for what stands beside the regret: the table is wide.
fn three(value: f64) -> String {
    number::significant(value, 3)
}

/// Both ends around a dash, set apart where it could be read as a minus.
fn interval((low, high): (f64, f64)) -> String {
    let gap = if low < 0.0 || high < 0.0 { "\u{202f}" } else { "" };
    format!("{}{gap}–{gap}{}", number(low), number(high))
}

/// The regret with its standard deviation. All of it is ours: numbers and one `<span>`.
fn regret(row: &Row) -> String {
    let regret = number(row.regret);
    let std = row.std.filter(|s| s.is_finite()).map(|s| number::like(s, &regret));
    let std = std.map(|s| format!(" <span class=\"pm\">± {s}</span>")).unwrap_or_default();
    format!("<span class=\"v\">{regret}</span>{std}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Report;

    #[test]
    fn columns_without_values_are_left_out_and_names_are_escaped() {
        let row =
            Row { method: "<b>x</b>".into(), regret: 1.5, p_value: Some(1e-9), best: true, ..Row::default() };
        let table = Comparison { rows: vec![row], unit: "€ & more".into() };
        let text = render(&table, &Palette::of(&Report { table: table.clone(), ..Default::default() }));
        assert!(
            text.contains("&lt;b&gt;x") && text.contains("€ &amp; more") && text.contains("badge"),
            "{text}"
        );
        assert!(text.contains("&lt;0.001") && !text.contains("MSE"), "{text}");
        assert!(meanings(&table).contains("t-test") && !meanings(&table).contains("bootstrap"));
    }
}
