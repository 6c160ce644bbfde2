//! What a search paid for what: candidates by the work that was done when they were judged, and the lowest regret until then.

use super::frame::{Multiples, legend};
use super::{Canvas, Figure, log_note, regret_label, undrawn_notes};
use crate::axis::{Axis, usable};
use crate::data::Candidate;
use crate::number::number;
use crate::study::AxisScale;
use crate::svg::{Anchor, Svg};

/// The largest regret over the smallest from which on they are drawn on a logarithmic axis.
const SPREAD: f64 = 5.0;

/// A candidate with its number, and the work of all until it was judged.
struct Judged<'a> {
    number: usize,
    work: f64,
    own: &'a Candidate,
}

pub(crate) fn draw(canvas: Canvas, candidates: &[Candidate], unit: &str) -> Option<Figure> {
    let mut work = 0.0;
    let mut all = Vec::new();
    for (place, own) in candidates.iter().enumerate() {
        work += if usable(own.work) { own.work.max(0.0) } else { 0.0 };
        all.push(Judged { number: place + 1, work, own });
    }
    let dropped: Vec<f64> = all.iter().map(|c| c.own.regret).filter(|r| !usable(*r)).collect();
    all.retain(|c| usable(c.own.regret));
    if all.len() < 2 {
        return None;
    }
    let x = Axis::chosen(AxisScale::Linear, all.iter().map(|c| c.work).chain([0.0]));
    let reach: Vec<f64> = all.iter().flat_map(|c| ends(c.own)).collect();
    let (low, high) =
        reach.iter().fold((f64::INFINITY, 0.0_f64), |(low, high), &v| (low.min(v), high.max(v)));
    // The constant is often far off, and the others are what it is about.
    let scale = if low > 0.0 && high > SPREAD * low { AxisScale::Log } else { AxisScale::Auto };
    let y = Axis::chosen(scale, reach);

    let mut svg = Svg::new(canvas.width, 0.0);
    let kept = |svg: &mut Svg, x: f64, y: f64| svg.circle("fl mk", (x + 10.0, y), 4.5, "");
    let other = |svg: &mut Svg, x: f64, y: f64| svg.circle("ho mk", (x + 10.0, y), 4.0, "");
    let lowest = |svg: &mut Svg, x: f64, y: f64| svg.line("rf", (x, y), (x + 20.0, y));
    let entries: [(&super::frame::Mark<'_>, &str); 3] =
        [(&kept, "kept"), (&other, "another candidate ± standard error"), (&lowest, "lowest so far")];
    let head = 20.0 + legend(&mut svg, 0.0, &entries);
    svg.text("tm", (0.0, head), Anchor::Start, canvas.width, &format!("{} out of fold", regret_label(unit)));
    let panels = Multiples::new(1, canvas.width, head + 16.0, (x, y));
    let panel = panels.panel(&mut svg, 0, "");
    let mut steps: Vec<(f64, f64)> = Vec::new();
    for c in &all {
        let before = steps.last().map_or(f64::INFINITY, |last| last.1);
        if before.is_finite() {
            steps.push((c.work, before));
        }
        steps.push((c.work, before.min(c.own.regret)));
    }
    svg.polyline("rf", &steps.iter().map(|&at| panel.at(at)).collect::<Vec<_>>());
    for c in &all {
        let [_, low, high] = ends(c.own);
        let class = if c.own.kept { "fl mk" } else { "ho mk" };
        svg.line("wk mk", panel.at((c.work, low)), panel.at((c.work, high)));
        let at = panel.at((c.work, c.own.regret));
        let told = format!(
            "{}. {}: {} after work of {}",
            c.number,
            c.own.name,
            number(c.own.regret),
            number(c.work)
        );
        svg.circle(class, at, if c.own.kept { 4.5 } else { 4.0 }, &told);
        svg.text("tm", (at.0 + 7.0, at.1 - 6.0), Anchor::Start, 40.0, &c.number.to_string());
    }
    panels.end(&mut svg, "work of all candidates until then");
    let log = log_note(("horizontal", &x), ("vertical", &y));
    Some(Figure {
        name: "search".into(),
        heading: "Regret against work".into(),
        caption: format!(
            "Candidates in the order in which they were judged, with the numbers of the table; those of fewer folds where they \
             stand beside what was kept. A unit of work is about a nanosecond. Where the line has been flat for long, more work gained nothing.{log}"
        ),
        description: format!("The regrets of {} candidates against the work of the search.", all.len()),
        notes: undrawn_notes(&dropped),
        svg,
    })
}

/// The regret, and a standard error to either side.
fn ends(candidate: &Candidate) -> [f64; 3] {
    let error = if usable(candidate.error) { candidate.error.max(0.0) } else { 0.0 };
    // Down to nothing a logarithmic axis has no end.
    let low = (candidate.regret - error).max(0.1 * candidate.regret).min(candidate.regret);
    [candidate.regret, low, candidate.regret + error]
}
