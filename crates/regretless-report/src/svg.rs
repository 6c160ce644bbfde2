//! A small SVG writer: shapes with classes, no colours; `chart.css` gives those, light and dark.

use std::fmt::Write;

use crate::escape;

/// The style every chart uses, in the page and on its own.
pub(crate) const STYLE: &str = include_str!("chart.css");

/// Which end of a text its place is.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// A drawing in progress.
#[derive(Debug, Clone, Default)]
pub(crate) struct Svg {
    pub(crate) width: f64,
    pub(crate) height: f64,
    body: String,
}

impl Svg {
    pub(crate) fn new(width: f64, height: f64) -> Self {
        Self { width, height, body: String::new() }
    }

    pub(crate) fn line(&mut self, class: &str, (x1, y1): (f64, f64), (x2, y2): (f64, f64)) {
        let [x1, y1, x2, y2] = [x1, y1, x2, y2].map(short);
        self.push(&format!(r#"<path class="{class}" d="M{x1} {y1}L{x2} {y2}"/>"#));
    }

    pub(crate) fn rect(&mut self, class: &str, (x, y): (f64, f64), (w, h): (f64, f64), title: &str) {
        let [x, y, w, h] = [x, y, w.max(0.0), h.max(0.0)].map(short);
        let title =
            if title.is_empty() { String::new() } else { format!("<title>{}</title>", escape::html(title)) };
        self.push(&format!(
            r#"<rect class="{class}" x="{x}" y="{y}" width="{w}" height="{h}">{title}</rect>"#
        ));
    }

    pub(crate) fn circle(&mut self, class: &str, (x, y): (f64, f64), r: f64, title: &str) {
        let [x, y, r] = [x, y, r].map(short);
        let title =
            if title.is_empty() { String::new() } else { format!("<title>{}</title>", escape::html(title)) };
        self.push(&format!(r#"<circle class="{class}" cx="{x}" cy="{y}" r="{r}">{title}</circle>"#));
    }

    /// A line through points; one point becomes a dot.
    pub(crate) fn polyline(&mut self, class: &str, points: &[(f64, f64)]) {
        if let [only] = points {
            return self.dots(&format!("{class} dot"), &[*only]);
        }
        let d = outline(points);
        self.push(&format!(r#"<path class="{class}" d="{d}"/>"#));
    }

    pub(crate) fn polygon(&mut self, class: &str, points: &[(f64, f64)]) {
        let d = outline(points);
        self.push(&format!(r#"<path class="{class}" d="{d}Z"/>"#));
    }

    /// Many dots in one element: round caps of strokes without length.
    pub(crate) fn dots(&mut self, class: &str, points: &[(f64, f64)]) {
        if points.is_empty() {
            return;
        }
        let mut d = String::with_capacity(points.len() * 12);
        for &(x, y) in points {
            let _ = write!(d, "M{} {}h0", short(x), short(y));
        }
        self.push(&format!(r#"<path class="{class}" d="{d}"/>"#));
    }

    /// Text that fits into `room` pixels: what does not is cut, and the whole of it is in the tooltip.
    pub(crate) fn text(&mut self, class: &str, (x, y): (f64, f64), anchor: Anchor, room: f64, text: &str) {
        if text.is_empty() {
            return;
        }
        // Bold letters are wider.
        let cut = fit(text, room, if class == "tb" { 13.8 } else { 12.0 });
        let title =
            if cut == text { String::new() } else { format!("<title>{}</title>", escape::html(text)) };
        let anchor = match anchor {
            Anchor::Start => "",
            Anchor::Middle => r#" text-anchor="middle""#,
            Anchor::End => r#" text-anchor="end""#,
        };
        let (x, y, cut) = (short(x), short(y), escape::html(&cut));
        self.push(&format!(r#"<text class="{class}" x="{x}" y="{y}"{anchor}>{title}{cut}</text>"#));
    }

    fn push(&mut self, element: &str) {
        self.body.push_str(element);
        self.body.push('\n');
    }

    /// The element for the page, which brings the style.
    pub(crate) fn inline(&self, class: &str, id: &str, title: &str, description: &str) -> String {
        let (w, h) = (short(self.width), short(self.height));
        let (title, description) = (escape::html(title), escape::html(description));
        format!(
            "<svg class=\"rl {class}\" viewBox=\"0 0 {w} {h}\" width=\"{w}\" height=\"{h}\" role=\"img\" \
             aria-labelledby=\"{id}-t {id}-d\">\n<title id=\"{id}-t\">{title}</title>\
             <desc id=\"{id}-d\">{description}</desc>\n{}</svg>\n",
            self.body
        )
    }

    /// A file of its own: style, background and heading included.
    pub(crate) fn standalone(&self, title: &str, description: &str, notes: &[String]) -> String {
        const EDGE: f64 = 20.0;
        let (head, line) = (46.0, 18.0);
        let w = short(self.width + 2.0 * EDGE);
        let h = short(self.height + head + EDGE + line * notes.len() as f64);
        let mut foot = Self::new(0.0, 0.0);
        for (k, note) in notes.iter().enumerate() {
            let y = head + self.height + 8.0 + line * (k + 1) as f64 - 4.0;
            foot.text("tm", (EDGE, y), Anchor::Start, self.width, note);
        }
        let (title, description) = (escape::html(title), escape::html(description));
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"rl\" viewBox=\"0 0 {w} {h}\" width=\"{w}\" \
             height=\"{h}\" role=\"img\" aria-labelledby=\"t d\">\n<title id=\"t\">{title}</title>\
             <desc id=\"d\">{description}</desc>\n<style>{STYLE}</style>\n\
             <rect class=\"bg\" width=\"{w}\" height=\"{h}\"/>\n<text class=\"th\" x=\"{EDGE}\" y=\"28\">{title}</text>\n\
             <g transform=\"translate({EDGE} {head})\">\n{}</g>\n{}</svg>\n",
            self.body, foot.body
        )
    }
}

/// `M x y L x y …` without repeated places.
fn outline(points: &[(f64, f64)]) -> String {
    let mut d = String::with_capacity(points.len() * 11);
    let mut last = (f64::NAN, f64::NAN);
    for &(x, y) in points {
        let here = (short(x), short(y));
        if here != last {
            let _ = write!(d, "{}{} {}", if d.is_empty() { "M" } else { "L" }, here.0, here.1);
            last = here;
        }
    }
    d
}

/// A tenth of a pixel is enough.
fn short(v: f64) -> f64 {
    if v.is_finite() { (v.clamp(-1e5, 1e5) * 10.0).round() / 10.0 + 0.0 } else { 0.0 }
}

/// An estimate of a text's width in pixels, on the safe side.
pub(crate) fn text_width(text: &str, size: f64) -> f64 {
    text.chars()
        .map(|c| match c {
            'i' | 'j' | 'l' | 't' | 'f' | 'r' | '.' | ',' | ':' | '\'' | '|' | ' ' | '(' | ')'
            | '\u{202f}' => 0.36,
            'm' | 'w' | 'M' | 'W' | '%' => 0.92,
            'A'..='Z' => 0.7,
            // The widest common fonts.
            '0'..='9' => 0.64,
            '\u{2212}' | '×' | '+' | '±' | '<' | '>' | '=' => 0.84,
            c if (c as u32) < 0x2e80 => 0.6,
            _ => 1.05,
        })
        .sum::<f64>()
        * size
}

/// The text, or as much of its beginning and end as fits around an ellipsis.
fn fit(text: &str, room: f64, size: f64) -> String {
    if text_width(text, size) <= room {
        return text.to_owned();
    }
    let all: Vec<char> = text.chars().collect();
    // No more of the narrowest letters would fit, however long the text.
    let most = (room.max(0.0) / (0.36 * size)) as usize + 1;
    for keep in (2..all.len().min(most)).rev() {
        let tail = keep / 3;
        let cut: String = all[..keep - tail].iter().chain(&['…']).chain(&all[all.len() - tail..]).collect();
        if text_width(&cut, size) <= room {
            return cut;
        }
    }
    "…".to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_text_keeps_both_ends() {
        let cut = fit(&format!("surrogate-{}-end", "x".repeat(400)), 120.0, 12.0);
        assert!(cut.starts_with("surrog") && cut.ends_with("nd") && cut.contains('…'), "{cut}");
        assert!(text_width(&cut, 12.0) <= 120.0);
        assert_eq!(fit("short", 120.0, 12.0), "short");
        assert_eq!(fit("no room at all", 0.0, 12.0), "…");
    }

    #[test]
    fn nothing_but_numbers_reaches_a_path() {
        let mut svg = Svg::new(10.0, 10.0);
        svg.polyline("a", &[(f64::NAN, f64::INFINITY), (-1e300, 2.04)]);
        assert!(svg.body.contains("M0 0L-100000 2"), "{}", svg.body);
    }
}
