//! How often each constraint has room left, is at its limit, or is violated: a bar a method, grouped by constraint.

use super::frame::legend;
use super::{Canvas, Figure, listed};
use crate::data::{Activity, RowActivity};
use crate::number::percent;
use crate::svg::{Anchor, Svg, text_width};

/// Bars drawn at most; the constraints that bind most are kept.
const BARS: usize = 96;
/// Height of a bar with its gap, and of a constraint's name.
const BAR: f64 = 17.0;
const HEAD: f64 = 24.0;

pub(crate) fn draw(canvas: Canvas, activity: &[Activity]) -> Option<Figure> {
    let methods: Vec<&Activity> = canvas
        .palette
        .sorted(activity, |a| &a.method)
        .into_iter()
        .filter(|a| a.rows.iter().any(|r| shares(r).is_some()))
        .collect();
    let names = constraints(&methods);
    if names.is_empty() {
        return None;
    }
    let most = (BARS / methods.len()).max(4);
    let (shown, cut) = busiest(&methods, &names, most);

    let widest = methods.iter().map(|a| text_width(&a.method, 12.0)).fold(0.0, f64::max) + 12.0;
    let left = widest.min(if canvas.narrow() { 128.0 } else { 210.0 });
    let width = canvas.width - left - 54.0;
    let mut svg = Svg::new(canvas.width, 0.0);
    let mut y = key(&mut svg) + 6.0;
    for name in &shown {
        svg.text("tb", (0.0, y + 16.0), Anchor::Start, canvas.width, name);
        y += HEAD;
        for method in &methods {
            let row = method.rows.iter().find(|r| r.name == *name);
            svg.text("tm", (left - 10.0, y + 11.0), Anchor::End, left - 10.0, &method.method);
            if let Some([short, slack, limit, violated]) = row.and_then(shares) {
                let below = if short > 0.0 { format!("{} short, ", percent(short)) } else { String::new() };
                let tip = format!(
                    "{name}, {}: {below}{} slack, {} at the limit, {} over",
                    method.method,
                    percent(slack),
                    percent(limit),
                    percent(violated)
                );
                let mut x = left;
                for (class, share) in [("sh", short), ("sl", slack), ("li", limit), ("vi", violated)] {
                    svg.rect(class, (x, y + 1.0), (share * width, 12.0), &tip);
                    x += share * width;
                }
                svg.text(
                    "tm",
                    (canvas.width - 2.0, y + 11.0),
                    Anchor::End,
                    60.0,
                    &percent(short + limit + violated),
                );
            } else {
                svg.text("tm", (left, y + 11.0), Anchor::Start, 60.0, crate::number::DASH);
            }
            y += BAR;
        }
        y += 6.0;
    }
    svg.height = y + 2.0;
    let who: Vec<&str> = methods.iter().map(|m| m.method.as_str()).collect();
    Some(Figure {
        name: "constraint-activity".into(),
        heading: "Constraint activity".into(),
        caption: "Shares of the instances: below a limit that has a price on both sides (short), with room left (slack), at the limit, \
                  and over it; the figure at the right is the share without slack."
            .to_owned(),
        description: format!(
            "How often {} {} under {}.",
            shown.len(),
            if shown.len() == 1 { "constraint binds" } else { "constraints bind" },
            listed(&who)
        ),
        notes: (cut > 0)
            .then(|| {
                let are = if cut == 1 { "is" } else { "are" };
                format!("The {} constraints that bind most often; {cut} more {are} left out.", shown.len())
            })
            .into_iter()
            .collect(),
        svg,
    })
}

/// Names of the constraints, in order of appearance.
fn constraints<'a>(methods: &[&'a Activity]) -> Vec<&'a str> {
    let mut names: Vec<&str> = Vec::new();
    let mut seen = std::collections::BTreeSet::new();
    for row in methods.iter().flat_map(|m| &m.rows) {
        if seen.insert(row.name.as_str()) {
            names.push(&row.name);
        }
    }
    names
}

/// The constraints most often at or beyond their limit, in their own order, and how many were cut.
fn busiest<'a>(methods: &[&Activity], names: &[&'a str], most: usize) -> (Vec<&'a str>, usize) {
    if names.len() <= most {
        return (names.to_vec(), 0);
    }
    let mut busy: std::collections::BTreeMap<&str, f64> = std::collections::BTreeMap::new();
    for row in methods.iter().flat_map(|m| &m.rows) {
        let share = shares(row).map_or(0.0, |[short, _, limit, violated]| short + limit + violated);
        *busy.entry(row.name.as_str()).or_default() += share;
    }
    let mut order: Vec<usize> = (0..names.len()).collect();
    order.sort_by(|&a, &b| busy[names[b]].total_cmp(&busy[names[a]]));
    order.truncate(most);
    order.sort_unstable();
    (order.iter().map(|&i| names[i]).collect(), names.len() - most)
}

/// The shares, scaled to add up to 1; nothing when they say nothing.
fn shares(row: &RowActivity) -> Option<[f64; 4]> {
    let parts =
        [row.short, row.slack, row.limit, row.violated].map(|v| if v.is_finite() { v.max(0.0) } else { 0.0 });
    let sum: f64 = parts.iter().sum();
    (sum > 0.0 && sum.is_finite()).then(|| parts.map(|v| v / sum))
}

fn key(svg: &mut Svg) -> f64 {
    let mark = |class: &'static str| {
        move |svg: &mut Svg, x: f64, y: f64| svg.rect(class, (x, y - 5.0), (20.0, 10.0), "")
    };
    let (short, slack, limit, violated) = (mark("sh"), mark("sl"), mark("li"), mark("vi"));
    legend(svg, 0.0, &[(&short, "short"), (&slack, "slack"), (&limit, "at the limit"), (&violated, "over")])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_constraints_that_bind_are_kept() {
        let row = |name: &str, limit: f64| RowActivity {
            name: name.into(),
            slack: 1.0 - limit,
            limit,
            violated: 0.0,
            short: 0.0,
        };
        let one = Activity { method: "a".into(), rows: vec![row("x", 0.1), row("y", 0.9), row("z", 0.5)] };
        let (kept, cut) = busiest(&[&one], &constraints(&[&one]), 2);
        assert_eq!((kept, cut), (vec!["y", "z"], 1));
        assert_eq!(shares(&RowActivity::default()), None);
        assert_eq!(
            shares(&RowActivity { limit: 2.0, slack: f64::NAN, ..Default::default() }),
            Some([0.0, 0.0, 1.0, 0.0])
        );
    }
}
