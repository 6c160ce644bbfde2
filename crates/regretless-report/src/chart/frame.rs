//! What the charts share: panels with axes, grids of panels, legends.

use crate::axis::Axis;
use crate::palette::Palette;
use crate::svg::{Anchor, Svg, text_width};

/// A rectangle with a domain in each direction.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Panel {
    pub(crate) left: f64,
    pub(crate) top: f64,
    pub(crate) width: f64,
    pub(crate) height: f64,
    pub(crate) x: Axis,
    pub(crate) y: Axis,
}

impl Panel {
    pub(crate) fn x(&self, v: f64) -> f64 {
        self.left + self.x.unit(v).clamp(0.0, 1.0) * self.width
    }

    pub(crate) fn y(&self, v: f64) -> f64 {
        self.top + (1.0 - self.y.unit(v).clamp(0.0, 1.0)) * self.height
    }

    pub(crate) fn at(&self, (x, y): (f64, f64)) -> (f64, f64) {
        (self.x(x), self.y(y))
    }

    fn bottom(&self) -> f64 {
        self.top + self.height
    }

    /// Vertical grid lines, with labels below where asked for.
    pub(crate) fn x_grid(&self, svg: &mut Svg, labels: bool) {
        let ticks = self.x.ticks(((self.width / 62.0) as usize).max(3));
        let mut free = f64::NEG_INFINITY;
        for (v, text) in &ticks {
            let x = self.x(*v);
            svg.line("gr", (x, self.top), (x, self.bottom()));
            let half = text_width(text, 12.0) / 2.0;
            // A label at an end stays within the drawing and off the next panel.
            let (from, to) = (self.left - 8.0 + half, self.left + self.width + 8.0 - half);
            let x = if from < to { x.clamp(from, to) } else { x };
            if labels && x - half > free {
                svg.text("tm", (x, self.bottom() + 17.0), Anchor::Middle, 999.0, text);
                free = x + half + 4.0;
            }
        }
    }

    /// Horizontal grid lines, with labels to the left where asked for.
    pub(crate) fn y_grid(&self, svg: &mut Svg, labels: bool) {
        for (v, text) in &self.y.ticks((self.height / 38.0) as usize) {
            let y = self.y(*v);
            svg.line("gr", (self.left, y), (self.left + self.width, y));
            if labels {
                svg.text("tm", (self.left - 7.0, y + 4.0), Anchor::End, 999.0, text);
            }
        }
    }

    pub(crate) fn baseline(&self, svg: &mut Svg) {
        svg.line("ax", (self.left, self.bottom()), (self.left + self.width, self.bottom()));
    }
}

/// Room for the labels of a vertical axis.
pub(crate) fn label_room(axis: &Axis, height: f64) -> f64 {
    let widest = |room: f64, (_, text): &(f64, String)| room.max(text_width(text, 12.0));
    axis.ticks((height / 38.0) as usize).iter().fold(16.0, widest) + 10.0
}

/// Panels of one size on the same axes, in rows; labels only at the left and at the bottom.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Multiples {
    count: usize,
    across: usize,
    first: Panel,
}

impl Multiples {
    /// Between panels, and from the end of one to the start of the next below.
    const GAP: f64 = 18.0;
    const STEP: f64 = 46.0;

    /// `count` panels below `top` in a drawing as wide as `width`.
    pub(crate) fn new(count: usize, width: f64, top: f64, (x, y): (Axis, Axis)) -> Self {
        let across = columns(count, width);
        let height = if across == 1 { 260.0 } else { 150.0 };
        let left = label_room(&y, height);
        let width = (width - left - 10.0 - Self::GAP * (across - 1) as f64) / across as f64;
        Self { count, across, first: Panel { left, top, width, height, x, y } }
    }

    /// Draws the grid of a panel, its name above, and gives the panel.
    pub(crate) fn panel(&self, svg: &mut Svg, k: usize, name: &str) -> Panel {
        let Self { count, across, first } = *self;
        let (row, column) = (k / across, k % across);
        let left = first.left + (first.width + Self::GAP) * column as f64;
        let panel = Panel { left, top: first.top + (first.height + Self::STEP) * row as f64, ..first };
        svg.text("tb", (left, panel.top - 8.0), Anchor::Start, panel.width, name);
        panel.x_grid(svg, k + across >= count);
        panel.y_grid(svg, column == 0);
        panel.baseline(svg);
        panel
    }

    /// Ends the drawing below the last row, with the name of the horizontal axis.
    pub(crate) fn end(&self, svg: &mut Svg, label: &str) {
        let rows = self.count.div_ceil(self.across) as f64;
        svg.height = self.first.top + (self.first.height + Self::STEP) * rows + 4.0;
        let middle = self.first.left + (svg.width - self.first.left) / 2.0;
        svg.text("tm", (middle, svg.height - 8.0), Anchor::Middle, svg.width - self.first.left, label);
    }
}

/// How many panels stand side by side: as few as still fill the rows.
pub(crate) fn columns(panels: usize, width: f64) -> usize {
    let most = if width < 500.0 { 2 } else { 3 };
    let rows = panels.div_ceil(most).max(1);
    panels.div_ceil(rows).max(1)
}

/// Draws the mark of a legend entry, 20 wide, from a place on its middle line.
pub(crate) type Mark<'a> = dyn Fn(&mut Svg, f64, f64) + 'a;

/// A legend entry: its mark and its text.
pub(crate) type Entry<'a> = (&'a Mark<'a>, &'a str);

/// Draws legend entries in lines as wide as the drawing, from `top`; gives the height taken.
pub(crate) fn legend(svg: &mut Svg, top: f64, entries: &[Entry]) -> f64 {
    const LINE: f64 = 20.0;
    let (mut x, mut y) = (0.0, top + 12.0);
    for (mark, text) in entries {
        let room = svg.width - 30.0;
        let wide = 28.0 + text_width(text, 12.0).min(room) + 16.0;
        if x > 0.0 && x + wide - 16.0 > svg.width {
            (x, y) = (0.0, y + LINE);
        }
        mark(svg, x, y - 4.0);
        svg.text("ti", (x + 28.0, y), Anchor::Start, room, text);
        x += wide;
    }
    y - top + 8.0
}

/// A legend of methods, a stroke in the colour of each; gives the height taken.
pub(crate) fn method_legend(svg: &mut Svg, palette: &Palette, methods: &[&str]) -> f64 {
    let stroke = |class: String| {
        move |svg: &mut Svg, x: f64, y: f64| svg.line(&format!("ln {class}"), (x, y), (x + 20.0, y))
    };
    let marks: Vec<_> = methods.iter().map(|m| stroke(palette.class(m))).collect();
    let entries: Vec<Entry> = marks.iter().zip(methods).map(|(mark, name)| (mark as &Mark, *name)).collect();
    legend(svg, 0.0, &entries)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panels_fill_their_rows() {
        assert_eq!(columns(1, 760.0), 1);
        assert_eq!(columns(4, 760.0), 2);
        assert_eq!(columns(5, 760.0), 3);
        assert_eq!(columns(12, 760.0), 3);
        assert_eq!(columns(3, 340.0), 2);
    }
}
