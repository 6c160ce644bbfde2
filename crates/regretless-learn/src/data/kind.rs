//! What the cells of a feature are.

use serde::{Deserialize, Serialize};

use crate::words;

/// The cell of a level that has no name among those of its column.
pub const NEW: f64 = -1.0;

/// What the cells of a feature are. In memory all of them are numbers; NaN is a cell without a value.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Numbers as they are; a boolean is 0 or 1.
    #[default]
    Number,
    /// The place of a level among these names, or [`NEW`].
    Category(Vec<String>),
    /// Seconds since the beginning of 1970 by the clock of the place, of which these parts are looked at.
    Date(Vec<DatePart>),
}

impl Kind {
    /// What messages call it.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Number => "number",
            Self::Category(_) => "category",
            Self::Date(_) => "date",
        }
    }
}

words! {
    /// What of a date a predictor sees.
    DatePart {
        /// The year, as a number.
        Year = "year",
        /// The month, as a category.
        #[default]
        Month = "month",
        /// The day of the month, as a number.
        Day = "day",
        /// The day of the week, as a category.
        Weekday = "weekday",
        /// The hour, as a category.
        Hour = "hour",
        /// Years since 1970 with their fraction: what it says of the past it goes on saying.
        Trend = "trend",
    }
}

impl DatePart {
    /// What is looked at if nobody says: what comes again. A year never does.
    pub const USUAL: [Self; 4] = [Self::Month, Self::Day, Self::Weekday, Self::Hour];

    /// True if its values have no order that a line could follow.
    pub(super) fn is_cyclic(self) -> bool {
        matches!(self, Self::Month | Self::Weekday | Self::Hour)
    }

    /// This part of a moment.
    ///
    /// ```
    /// use regretless_learn::DatePart;
    /// // 2024-02-29, a Thursday, at 13:30.
    /// let at = 19_782.0 * 86_400.0 + 13.5 * 3_600.0;
    /// let parts = [DatePart::Year, DatePart::Month, DatePart::Day, DatePart::Weekday, DatePart::Hour];
    /// assert_eq!(parts.map(|part| part.of(at)), [2024.0, 2.0, 29.0, 4.0, 13.0]);
    /// ```
    pub fn of(self, seconds: f64) -> f64 {
        if !seconds.is_finite() {
            return f64::NAN;
        }
        let days = (seconds / 86_400.0).floor();
        let clock = seconds - 86_400.0 * days;
        let (year, month, day) = civil(days as i64);
        match self {
            Self::Year => year as f64,
            Self::Month => f64::from(month),
            Self::Day => f64::from(day),
            // 1970-01-01 was a Thursday; Monday is 1.
            Self::Weekday => (days + 3.0).rem_euclid(7.0) + 1.0,
            Self::Hour => (clock / 3600.0).floor(),
            Self::Trend => seconds / (365.25 * 86_400.0),
        }
    }
}

/// Year, month and day that are so many days after 1970-01-01, in the Gregorian calendar.
pub fn civil(days: i64) -> (i64, u32, u32) {
    // Years that begin in March, in eras of 400 of them.
    let days = days.saturating_add(719_468);
    let (era, day) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let date = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year + era * 400 + i64::from(month <= 2), month as u32, date as u32)
}

/// Days from 1970-01-01 to a date of the Gregorian calendar; `None` if there is no such date.
pub fn days(year: i64, month: u32, day: u32) -> Option<i64> {
    let year_of_march = if month <= 2 { year - 1 } else { year };
    let (era, years) = (year_of_march.div_euclid(400), year_of_march.rem_euclid(400));
    let month_of_march = (i64::from(month) + 9) % 12;
    let of_year = (153 * month_of_march + 2) / 5 + i64::from(day) - 1;
    let found = era * 146_097 + years * 365 + years / 4 - years / 100 + of_year - 719_468;
    (civil(found) == (year, month, day)).then_some(found)
}

/// Days since the beginning of 1970 as people write them: a date, with a time where it is not midnight.
pub(crate) fn date(at: f64) -> String {
    let seconds = (at * 86_400.0).round() as i64;
    let (year, month, day) = civil(seconds.div_euclid(86_400));
    let clock = seconds.rem_euclid(86_400);
    let date = format!("{year:04}-{month:02}-{day:02}");
    let [hour, minute, second] = [clock / 3600, clock / 60 % 60, clock % 60];
    match (clock, second) {
        (0, _) => date,
        (_, 0) => format!("{date} {hour:02}:{minute:02}"),
        _ => format!("{date} {hour:02}:{minute:02}:{second:02}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_and_dates_are_each_others_inverse() {
        for (date, number) in
            [((1970, 1, 1), 0), ((1969, 12, 31), -1), ((2000, 2, 29), 11_016), ((2024, 2, 29), 19_782)]
        {
            assert_eq!(days(date.0, date.1, date.2), Some(number));
            assert_eq!(civil(number), date);
        }
        for number in (-800_000..800_000).step_by(97) {
            let (year, month, day) = civil(number);
            assert_eq!(days(year, month, day), Some(number));
        }
        for (year, month, day) in [(2023, 2, 29), (1900, 2, 29), (2024, 13, 1), (2024, 0, 1), (2024, 4, 31)] {
            assert_eq!(days(year, month, day), None, "{year}-{month}-{day}");
        }
    }

    #[test]
    fn weekdays_count_from_monday() {
        // 2016-01-04 was a Monday.
        let monday = days(2016, 1, 4).unwrap_or(0) as f64 * 86_400.0;
        for day in 0..7 {
            let at = monday + f64::from(day) * 86_400.0 + 1.0;
            assert_eq!(DatePart::Weekday.of(at), f64::from(day + 1));
        }
    }
}
