//! The page of a study.

use std::fmt::Write;

use super::StudyReport;
use crate::chart::{self, NARROW, WIDE};
use crate::escape::{html, prose};
use crate::palette::Palette;
use crate::{embed, shell};

/// What a study adds to the style of every page.
const STYLE: &str = include_str!("study.css");
/// From this many sections on there is a table of contents.
const MANY: usize = 4;

pub(super) fn render(study: &StudyReport) -> String {
    let palette = Palette::study(study);
    let title = shell::title(&study.title, "regretless study");
    let mut out = shell::header("Study", title, &study.summary, "", &study.facts);
    if study.sections.len() >= MANY {
        contents(&mut out, study);
    }
    let charts = chart::study(study, WIDE).into_iter().zip(chart::study(study, NARROW));
    for (place, (section, charts)) in study.sections.iter().zip(charts).enumerate() {
        let heading = section.heading();
        let grid = section.grid.as_ref().map(|grid| grid.html(heading, &palette)).unwrap_or_default();
        let charts = charts.0.zip(charts.1);
        let mut words = paragraphs(&section.text);
        match charts {
            Some((wide, narrow)) if grid.is_empty() => shell::figure(&mut out, &words, &wide, &narrow),
            charts => {
                words.push_str(&grid);
                if let Some((wide, narrow)) = charts {
                    let chart = shell::chart("", &wide, &narrow);
                    let _ = write!(words, "<div class=\"figure\">\n{chart}</div>\n");
                }
                shell::section(&mut out, &section.anchor(place), heading, &words);
            }
        }
    }
    shell::settings(&mut out, &study.settings);
    let notes = shell::remarks(study.notes.iter().map(|note| prose(note)));
    if !notes.is_empty() {
        shell::section(&mut out, "notes", "Notes", &notes);
    }
    shell::document(title, STYLE, &out, &embed::study(study))
}

fn contents(out: &mut String, study: &StudyReport) {
    out.push_str("<nav class=\"contents\" aria-label=\"Contents\">\n<ol>\n");
    for (place, section) in study.sections.iter().enumerate() {
        let _ =
            writeln!(out, "<li><a href=\"#{}\">{}</a></li>", section.anchor(place), html(section.heading()));
    }
    out.push_str("</ol>\n</nav>\n");
}

/// A paragraph for each block of text between blank lines.
fn paragraphs(text: &str) -> String {
    let blocks = text.split("\n\n").filter(|block| !block.trim().is_empty());
    blocks.map(|block| ["<p>", &prose(block.trim()), "</p>\n"].concat()).collect()
}
