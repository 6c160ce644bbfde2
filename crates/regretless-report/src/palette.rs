//! One colour a method, the same in every chart; from the eighth method on a dash pattern tells them apart.

use crate::data::Report;

/// Colours of the palette, `--c0` to `--c6` in `chart.css`.
const COLOURS: usize = 7;

/// The methods of a report in the order they are shown.
pub(crate) struct Palette {
    methods: Vec<String>,
    /// The method of choice, which has the first colour.
    best: Option<String>,
}

impl Palette {
    /// The table's methods first, then those only charts know, each in order of appearance.
    pub(crate) fn of(report: &Report) -> Self {
        let charts = &report.charts;
        let names = (report.table.rows.iter().map(|r| &r.method))
            .chain(charts.curves.iter().map(|c| &c.method))
            .chain(charts.distributions.iter().map(|d| &d.method))
            .chain(charts.scatters.iter().map(|s| &s.method))
            .chain(charts.sharpness.iter().map(|s| &s.method))
            .chain(charts.activity.iter().map(|a| &a.method));
        let mut methods: Vec<String> = Vec::new();
        for name in names {
            if !methods.contains(name) {
                methods.push(name.clone());
            }
        }
        let best = report.table.rows.iter().find(|r| r.best).map(|r| r.method.clone());
        Self { methods, best }
    }

    /// The CSS classes that carry the colour and the dash of a method. `constant`, the floor, is grey.
    pub(crate) fn class(&self, method: &str) -> String {
        let others = self.methods.iter().filter(|m| Some(*m) != self.best.as_ref());
        let place = self.best.iter().chain(others).filter(|m| *m != "constant").position(|m| m == method);
        match place {
            Some(k) if k >= COLOURS => format!("m{} d{}", k % COLOURS, (k / COLOURS).min(3)),
            Some(k) => format!("m{k}"),
            None => "mc".to_owned(),
        }
    }

    /// Positions of the items in the order of their methods; items of one method keep their order.
    pub(crate) fn sorted<'a, T>(&self, items: &'a [T], method: impl Fn(&T) -> &str) -> Vec<&'a T> {
        let mut items: Vec<&T> = items.iter().collect();
        items.sort_by_key(|item| self.methods.iter().position(|m| m == method(item)));
        items
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Comparison, Row};

    #[test]
    fn colours_repeat_with_a_dash_and_constant_takes_none() {
        let rows = ["constant", "a", "b", "c", "d", "e", "f", "g", "h"];
        let mut rows = rows.map(|m| Row { method: m.into(), ..Row::default() }).to_vec();
        rows[1].best = true;
        let palette =
            Palette::of(&Report { table: Comparison { rows, ..Default::default() }, ..Default::default() });
        assert_eq!(palette.class("constant"), "mc");
        assert_eq!(palette.class("a"), "m0");
        assert_eq!(palette.class("g"), "m6");
        assert_eq!(palette.class("h"), "m0 d1");
        assert_eq!(palette.sorted(&["b", "constant"], |m| m), [&"constant", &"b"]);
    }
}
