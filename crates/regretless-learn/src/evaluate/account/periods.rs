//! Sums by period: days at first, months or years in the end.

use std::collections::BTreeMap;

use super::Group;
use super::sums::{Line, Sums};
use crate::data::kind::{civil, days};

/// Days, or units of time, that are told apart; beyond that they are joined two by two.
const MOST: usize = 20_000;

/// Times in numbers that are shown one by one, at most; more are put into this many spans.
const SPANS: usize = 12;

#[derive(Clone, Debug)]
pub(super) struct Periods {
    /// Whether times are days since the beginning of 1970.
    dates: bool,
    width: f64,
    sums: BTreeMap<i64, Sums>,
}

impl Periods {
    pub(super) fn new(dates: bool) -> Self {
        Self { dates, width: 1.0, sums: BTreeMap::new() }
    }

    pub(super) fn add(&mut self, time: f64, line: &Line) {
        if !time.is_finite() {
            return;
        }
        self.sums.entry((time / self.width).floor() as i64).or_default().add(line);
        while self.sums.len() > MOST {
            self.width *= 2.0;
            for (at, sums) in std::mem::take(&mut self.sums) {
                self.sums.entry(at.div_euclid(2)).or_default().join(&sums);
            }
        }
    }

    /// The length of a period in a word, and the periods.
    pub(super) fn told(self) -> (Option<String>, Vec<Group>) {
        let (Some(first), Some(last)) = (self.sums.keys().next(), self.sums.keys().next_back()) else {
            return (None, Vec::new());
        };
        let (first, last) = (*first as f64 * self.width, (*last + 1) as f64 * self.width);
        if !self.dates {
            return (None, self.spans(first, last));
        }
        let unit = match last - first {
            span if span <= 31.0 => "day",
            span if span <= 182.0 => "week",
            span if span <= 1100.0 => "month",
            _ => "year",
        };
        let mut joined: BTreeMap<i64, Sums> = BTreeMap::new();
        for (at, sums) in self.sums {
            joined.entry(begins((at as f64 * self.width) as i64, unit)).or_default().join(&sums);
        }
        let groups = joined.into_iter().map(|(day, sums)| sums.group(name(day, unit))).collect();
        (Some(unit.to_owned()), groups)
    }

    fn spans(self, first: f64, last: f64) -> Vec<Group> {
        if self.sums.len() <= 2 * SPANS && self.width <= 1.0 {
            return self.sums.into_iter().map(|(at, sums)| sums.group(at.to_string())).collect();
        }
        let span = ((last - first) / SPANS as f64 / self.width).ceil() * self.width;
        let mut joined: BTreeMap<i64, Sums> = BTreeMap::new();
        for (at, sums) in self.sums {
            let place = ((at as f64 * self.width - first) / span).floor() as i64;
            joined.entry(place).or_default().join(&sums);
        }
        let name = |place: i64| {
            let from = first + place as f64 * span;
            format!("{from} to {}", (from + span).min(last))
        };
        joined.into_iter().map(|(place, sums)| sums.group(name(place))).collect()
    }
}

/// The first day of the period that a day is in.
fn begins(day: i64, unit: &str) -> i64 {
    let (year, month, _) = civil(day);
    let first = |month| days(year, month, 1).unwrap_or(day);
    match unit {
        // 1970-01-01 was a Thursday; weeks begin on Mondays.
        "week" => day - (day + 3).rem_euclid(7),
        "month" => first(month),
        "year" => first(1),
        _ => day,
    }
}

fn name(day: i64, unit: &str) -> String {
    let (year, month, date) = civil(day);
    match unit {
        "year" => format!("{year:04}"),
        "month" => format!("{year:04}-{month:02}"),
        _ => format!("{year:04}-{month:02}-{date:02}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(dates: bool, times: impl IntoIterator<Item = f64>) -> (Option<String>, Vec<(String, usize)>) {
        let mut periods = Periods::new(dates);
        times.into_iter().for_each(|time| periods.add(time, &Line { regret: 1.0, ..Line::default() }));
        let (unit, groups) = periods.told();
        (unit, groups.into_iter().map(|g| (g.name, g.decisions)).collect())
    }

    #[test]
    fn days_become_weeks_months_and_years() {
        let day = |y, m, d| days(y, m, d).unwrap() as f64;
        let june = day(2018, 6, 1);
        let (unit, groups) = told(true, [june, june + 0.4, june + 1.0]);
        assert_eq!((unit.as_deref(), groups.len(), groups[0].1), (Some("day"), 2, 2));
        // 2018-06-01 was a Friday.
        let (unit, groups) = told(true, (0..60).map(|i| june + f64::from(i)));
        assert_eq!(unit.as_deref(), Some("week"));
        assert_eq!(
            (groups[0].clone(), groups[1].clone()),
            (("2018-05-28".into(), 3), ("2018-06-04".into(), 7))
        );
        let (unit, groups) = told(true, (0..365).map(|i| june + f64::from(i)));
        assert_eq!(unit.as_deref(), Some("month"));
        assert_eq!((groups.len(), groups[0].clone(), groups[8].1), (12, ("2018-06".into(), 30), 28));
        let (unit, groups) = told(true, (0..2000).map(|i| june + f64::from(i)));
        assert_eq!((unit.as_deref(), groups[1].clone()), (Some("year"), ("2019".into(), 365)));
        let (unit, groups) = told(false, (0..100).map(f64::from));
        assert_eq!((unit, groups.len(), groups[0].clone()), (None, 12, ("0 to 9".into(), 9)));
        // However many there are, they are bounded.
        let (_, groups) = told(false, (0..100_000).map(f64::from));
        assert_eq!(groups.iter().map(|g| g.1).sum::<usize>(), 100_000);
        assert!(groups.len() <= 12);
    }
}
