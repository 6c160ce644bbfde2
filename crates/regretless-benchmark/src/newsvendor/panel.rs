//! Demand of several series, day by day, and what is known of a day before it.

use std::collections::BTreeMap;

use regretless_learn::{Content, Dataset, Kind, Names, Part, days};

use crate::BenchmarkError;
use crate::sheet::Sheet;

/// What a feature is of: the calendar, or more than that (weather, promotions, the past).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Of {
    Calendar,
    More,
}

/// A feature.
#[derive(Clone, Debug)]
pub(super) struct Column {
    pub(super) name: String,
    pub(super) kind: Kind,
    pub(super) of: Of,
    /// Days × series.
    pub(super) values: Vec<f64>,
}

/// Demand of several series on the same days.
#[derive(Clone, Debug)]
pub(super) struct Panel {
    /// Days since the beginning of 1970, ascending.
    pub(super) days: Vec<i64>,
    /// Names of the series.
    pub(super) series: Vec<String>,
    /// Days × series.
    pub(super) demand: Vec<f64>,
    /// The features.
    pub(super) columns: Vec<Column>,
}

/// Numbers of a column whose cells are texts: the levels in alphabetical order, and the place of each cell among them.
pub(super) fn levels(texts: &[&str]) -> (Vec<String>, Vec<f64>) {
    let mut places: BTreeMap<&str, usize> = texts.iter().map(|text| (*text, 0)).collect();
    places.values_mut().enumerate().for_each(|(i, place)| *place = i);
    let values = texts.iter().map(|text| places[text] as f64).collect();
    (places.into_keys().map(str::to_owned).collect(), values)
}

/// A date as days since the beginning of 1970.
pub(super) fn day(text: &str) -> Option<i64> {
    let mut parts = text.splitn(3, '-');
    let mut part = || parts.next()?.parse::<i64>().ok();
    let (year, month, day) = (part()?, part()?, part()?);
    days(year, u32::try_from(month).ok()?, u32::try_from(day).ok()?)
}

/// The days of a sheet.
pub(super) fn dates(sheet: &Sheet, name: &str) -> Result<Vec<i64>, BenchmarkError> {
    let read = |(row, text): (usize, &str)| {
        day(text).ok_or_else(|| {
            let what = format!("line {}, column {name}: `{text}` is no date", row + 2);
            sheet.refused(what, "dates read 2016-01-31")
        })
    };
    sheet.texts(name)?.into_iter().enumerate().map(read).collect()
}

/// How many days back lags look, and over how many days before the day means are taken.
const LAGS: [usize; 4] = [1, 2, 7, 14];
const MEANS: [usize; 2] = [7, 28];

impl Panel {
    /// Adds lags and means of each series' past: `shift(1)`, never the day itself. NaN where there is no such day yet.
    pub(super) fn with_past(mut self) -> Self {
        let (n, width) = (self.days.len(), self.series.len());
        let demand = &self.demand;
        let column = |name: String, value: &dyn Fn(usize, usize) -> f64| {
            let values = (0..n * width).map(|at| value(at / width, at % width)).collect();
            Column { name, kind: Kind::Number, of: Of::More, values }
        };
        let mut past = Vec::new();
        for lag in LAGS {
            let value = |t: usize, s: usize| if t < lag { f64::NAN } else { demand[(t - lag) * width + s] };
            past.push(column(format!("lag{lag}"), &value));
        }
        for days in MEANS {
            let value = |t: usize, s: usize| {
                let before = t.saturating_sub(days)..t;
                let count = before.len() as f64;
                before.map(|day| demand[day * width + s]).sum::<f64>() / count
            };
            past.push(column(format!("mean{days}"), &value));
        }
        self.columns.extend(past);
        self
    }

    /// The part of each day: the last quarter is judged on; of what is before it the last fifth is there to choose by.
    pub(super) fn parts(&self) -> Vec<Part> {
        let n = self.days.len();
        let test = 3 * n / 4;
        let valid = 4 * test / 5;
        (0..n)
            .map(|day| match day {
                day if day < valid => Part::Train,
                day if day < test => Part::Valid,
                _ => Part::Test,
            })
            .collect()
    }

    /// A table with a row for each (day, series) that is kept, day by day.
    pub(super) fn dataset(&self, all_features: bool, rows: &[(usize, usize)]) -> Dataset {
        let columns: Vec<&Column> =
            self.columns.iter().filter(|c| all_features || c.of == Of::Calendar).collect();
        let width = self.series.len();
        let at = |&(day, series): &(usize, usize)| day * width + series;
        let features = rows.iter().flat_map(|row| columns.iter().map(move |c| c.values[at(row)])).collect();
        let targets = rows.iter().map(|row| self.demand[at(row)]).collect();
        let names = Names {
            features: columns.iter().map(|c| c.name.clone()).collect(),
            targets: vec!["demand".into()],
            ..Names::default()
        };
        let of_day = self.parts();
        let parts: Vec<Part> = rows.iter().map(|(day, _)| of_day[*day]).collect();
        let mut data = Dataset::new(features, targets, rows.len(), names)
            .with_kinds(columns.iter().map(|c| c.kind.clone()).collect())
            .with_parts(&parts);
        rows.iter().for_each(|(_, series)| data.series.push(&self.series[*series]));
        data.times = rows.iter().map(|(day, _)| self.days[*day] as f64).collect();
        data.dates = true;
        data
    }

    /// Changes with the data.
    pub(super) fn fingerprint(&self) -> String {
        let numbers = Content::default().spelled(&self.days).spelled(&self.series).numbers(&self.demand);
        self.columns.iter().fold(numbers, |all, c| all.text(&c.name).numbers(&c.values)).hash()
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Two series over so many days; the second is ten times the first.
    pub(in crate::newsvendor) fn toy(days: usize) -> Panel {
        let of = |day: usize| [5.0 + ((7 * day) % 11) as f64, 50.0 + 10.0 * ((7 * day) % 11) as f64];
        let weekday = (0..days).flat_map(|day| [(day % 7) as f64; 2]).collect();
        let weekdays = (0..7).map(|d| d.to_string()).collect();
        Panel {
            days: (16_000..).take(days).collect(),
            series: vec!["a".into(), "b".into()],
            demand: (0..days).flat_map(of).collect(),
            columns: vec![Column {
                name: "weekday".into(),
                kind: Kind::Category(weekdays),
                of: Of::Calendar,
                values: weekday,
            }],
        }
        .with_past()
    }

    #[test]
    fn the_past_is_before_the_day() {
        let panel = toy(40);
        let column = |name: &str| &panel.columns.iter().find(|c| c.name == name).unwrap().values;
        let demand = |day: usize, s: usize| panel.demand[2 * day + s];
        for day in 14..40 {
            for s in 0..2 {
                assert_eq!(column("lag1")[2 * day + s], demand(day - 1, s));
                assert_eq!(column("lag14")[2 * day + s], demand(day - 14, s));
                let mean: f64 = (1..=7).map(|back| demand(day - back, s)).sum::<f64>() / 7.0;
                assert!((column("mean7")[2 * day + s] - mean).abs() < 1e-12);
            }
        }
        assert!(column("lag1")[0].is_nan() && column("mean7")[1].is_nan());
        assert_eq!(day("2016-02-29"), days(2016, 2, 29));
        assert!(day("2016-02-30").is_none() && day("today").is_none());
    }
}
