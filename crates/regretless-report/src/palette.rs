//! One colour a method, the same in every chart; from the eighth method on a dash pattern tells them apart.

use std::collections::{BTreeMap, BTreeSet};

use crate::data::Report;
use crate::study::{StudyChart, StudyReport};

/// Colours of a comparison, `--c0` to `--c6` in `chart.css`; a study, whose charts often have eight methods, has one more.
const COLOURS: usize = 7;

/// The methods of a report in the order they are shown.
pub(crate) struct Palette {
    methods: Vec<String>,
    /// The place of a method among the colours; the method of choice has the first.
    places: BTreeMap<String, usize>,
    /// How many colours there are before they repeat with a dash.
    colours: usize,
}

impl Palette {
    /// The table's methods first, then those only charts know, each in order of appearance.
    pub(crate) fn of(report: &Report) -> Self {
        let charts = &report.charts;
        let names = (report.table.rows.iter().map(|r| &r.method))
            .chain(charts.curves.iter().map(|c| &c.method))
            .chain(charts.distributions.iter().map(|d| &d.method))
            .chain(charts.scatters.iter().map(|s| &s.method))
            .chain(charts.calibration.iter().map(|c| &c.method))
            .chain(charts.sharpness.iter().map(|s| &s.method))
            .chain(charts.activity.iter().map(|a| &a.method));
        let methods = distinct(names);
        let best = report.table.rows.iter().find(|r| r.best).map(|r| &r.method);
        let others = methods.iter().filter(|m| Some(*m) != best);
        let coloured = best.into_iter().chain(others).filter(|m| *m != "constant");
        let places = coloured.enumerate().map(|(place, m)| (m.clone(), place)).collect();
        Self { methods, places, colours: COLOURS }
    }

    /// The methods of the charts of a study, in order of appearance.
    ///
    /// Each takes the first colour that none it shares a chart with has: charts of other things begin anew.
    pub(crate) fn study(report: &StudyReport) -> Self {
        let charts: Vec<Vec<String>> =
            report.sections.iter().filter_map(|s| s.chart.as_ref()).map(drawn).collect();
        let methods = distinct(charts.iter().flatten());
        let mut places: BTreeMap<String, usize> = BTreeMap::new();
        for method in methods.iter().filter(|m| *m != "constant") {
            let met = charts.iter().filter(|chart| chart.contains(method)).flatten();
            let taken: BTreeSet<usize> = met.filter_map(|m| places.get(m).copied()).collect();
            let free = (0..=taken.len()).find(|place| !taken.contains(place)).unwrap_or(0);
            places.insert(method.clone(), free);
        }
        Self { methods, places, colours: COLOURS + 1 }
    }

    /// Whether a chart draws this method.
    pub(crate) fn knows(&self, method: &str) -> bool {
        self.methods.iter().any(|m| m == method)
    }

    /// The CSS classes that carry the colour and the dash of a method. `constant`, the floor, is grey.
    pub(crate) fn class(&self, method: &str) -> String {
        let colours = self.colours;
        match self.places.get(method) {
            Some(k) if *k >= colours => format!("m{} d{}", k % colours, (k / colours).min(3)),
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

/// The methods a chart draws.
fn drawn(chart: &StudyChart) -> Vec<String> {
    match chart {
        StudyChart::Lines(lines) => distinct(lines.series.iter().map(|s| &s.method)),
        StudyChart::Dots(dots) => distinct(dots.groups.iter().flat_map(|g| &g.dots).map(|d| &d.method)),
    }
}

/// Each name once, in order of appearance.
fn distinct<'a>(names: impl Iterator<Item = &'a String>) -> Vec<String> {
    let mut seen = BTreeSet::new();
    names.filter(|name| seen.insert(*name)).cloned().collect()
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
