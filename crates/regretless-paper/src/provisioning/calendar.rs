//! Dates of the civil calendar and the six holidays that the load feels.

use std::fmt;

/// The holidays, in the order of their flags.
pub const HOLIDAYS: [&str; 6] =
    ["new_year", "memorial", "independence", "labor", "thanksgiving", "christmas"];

const MONDAY: u8 = 0;
const THURSDAY: u8 = 3;
const SUNDAY: u8 = 6;

/// A day that exists, of the years 1 to 9999.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Date {
    year: i32,
    month: u8,
    day: u8,
}

impl Date {
    /// The day, or `None` if there is none such.
    pub fn new(year: i32, month: u8, day: u8) -> Option<Self> {
        let exists = (1..=9999).contains(&year)
            && (1..=12).contains(&month)
            && (1..=month_length(year, month)).contains(&day);
        exists.then_some(Self { year, month, day })
    }

    /// Its year.
    pub fn year(self) -> i32 {
        self.year
    }

    /// Its month, from 1.
    pub fn month(self) -> u8 {
        self.month
    }

    /// Its day of the month, from 1.
    pub fn day(self) -> u8 {
        self.day
    }

    /// The day after; that of the last day of the year 9999 lies outside the calendar and equals no other.
    pub fn next(self) -> Self {
        let Self { year, month, day } = self;
        if day < month_length(year, month) {
            Self { day: day + 1, ..self }
        } else if month < 12 {
            Self { month: month + 1, day: 1, ..self }
        } else {
            Self { year: year + 1, month: 1, day: 1 }
        }
    }

    /// Days since the start of the year: 0 on New Year's Day.
    pub fn day_of_year(self) -> u16 {
        (1..self.month).map(|m| u16::from(month_length(self.year, m))).sum::<u16>() + u16::from(self.day) - 1
    }

    /// Day of the week, Monday 0 to Sunday 6.
    pub fn weekday(self) -> u8 {
        let past = self.year - 1;
        let leap_days = past / 4 - past / 100 + past / 400;
        // The first day of the year 1 was a Monday, and 365 days are 52 weeks and a day.
        ((past + leap_days + i32::from(self.day_of_year())) % 7) as u8
    }

    /// Whether this is a leap year's extra day.
    pub fn is_leap_day(self) -> bool {
        (self.month, self.day) == (2, 29)
    }

    /// Which of the [`HOLIDAYS`] it is.
    ///
    /// New Year's Day, Independence Day and Christmas Day that fall on a Sunday are observed on the Monday after: then both
    /// days count, for people stay at home on both. One that falls on a Saturday is not moved (NERC's rule).
    ///
    /// ```
    /// use regretless_paper::provisioning::Date;
    /// let monday = Date::new(2016, 12, 26).unwrap();
    /// assert_eq!(monday.holidays(), [false, false, false, false, false, true]);
    /// ```
    pub fn holidays(self) -> [bool; 6] {
        [
            self.is_observed(1, 1),
            // The last Monday of May is the one with no other in the seven days left.
            self.month == 5 && self.weekday() == MONDAY && self.day + 7 > 31,
            self.is_observed(7, 4),
            self.is_nth(1, MONDAY, 9),
            self.is_nth(4, THURSDAY, 11),
            self.is_observed(12, 25),
        ]
    }

    /// Whether it is a fixed holiday or the Monday after one on a Sunday.
    fn is_observed(self, month: u8, day: u8) -> bool {
        let fixed = Self { year: self.year, month, day };
        self == fixed || (fixed.weekday() == SUNDAY && self == fixed.next())
    }

    /// Whether it is the n-th such weekday of a month, counted from 1.
    fn is_nth(self, n: u8, weekday: u8, month: u8) -> bool {
        self.month == month && self.weekday() == weekday && (self.day - 1) / 7 + 1 == n
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

fn month_length(year: i32, month: u8) -> u8 {
    match month {
        2 if (year % 4 == 0 && year % 100 != 0) || year % 400 == 0 => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn date(year: i32, month: u8, day: u8) -> Date {
        Date::new(year, month, day).unwrap()
    }

    /// Every holiday of a year with its flag's index.
    fn holidays(year: i32) -> Vec<(usize, u8, u8)> {
        let mut found = Vec::new();
        let mut day = date(year, 1, 1);
        while day.year() == year {
            found.extend((0..6).filter(|&i| day.holidays()[i]).map(|i| (i, day.month(), day.day())));
            day = day.next();
        }
        found
    }

    #[test]
    fn days_that_exist() {
        assert!(Date::new(2016, 2, 29).is_some_and(Date::is_leap_day));
        assert!(Date::new(2000, 2, 29).is_some());
        for (y, m, d) in [
            (2015, 2, 29),
            (1900, 2, 29),
            (2015, 4, 31),
            (2015, 0, 1),
            (2015, 13, 1),
            (2015, 1, 0),
            (0, 1, 1),
        ] {
            assert_eq!(Date::new(y, m, d), None, "{y}-{m}-{d}");
        }
    }

    #[test]
    fn weekdays_follow_one_another() {
        assert_eq!(date(1970, 1, 1).weekday(), THURSDAY);
        assert_eq!(date(2000, 1, 1).weekday(), 5);
        assert_eq!(date(2013, 1, 1).weekday(), 1);
        assert_eq!(date(2016, 12, 25).weekday(), SUNDAY);
        let mut day = date(1899, 12, 31);
        for _ in 0..150 * 365 {
            assert_eq!(day.next().weekday(), (day.weekday() + 1) % 7, "{day}");
            day = day.next();
        }
        assert_eq!(date(2016, 12, 31).day_of_year(), 365);
    }

    #[test]
    fn holidays_of_known_years() {
        assert_eq!(holidays(2013), [(0, 1, 1), (1, 5, 27), (2, 7, 4), (3, 9, 2), (4, 11, 28), (5, 12, 25)]);
        assert_eq!(holidays(2014), [(0, 1, 1), (1, 5, 26), (2, 7, 4), (3, 9, 1), (4, 11, 27), (5, 12, 25)]);
        // Independence Day 2015 is a Saturday and stays there.
        assert_eq!(holidays(2015), [(0, 1, 1), (1, 5, 25), (2, 7, 4), (3, 9, 7), (4, 11, 26), (5, 12, 25)]);
        // Sundays: Christmas of 2016, New Year's Day of 2017, Independence Day of 2010.
        assert_eq!(
            holidays(2016),
            [(0, 1, 1), (1, 5, 30), (2, 7, 4), (3, 9, 5), (4, 11, 24), (5, 12, 25), (5, 12, 26)]
        );
        assert_eq!(holidays(2017)[..2], [(0, 1, 1), (0, 1, 2)]);
        assert_eq!(holidays(2010)[2..4], [(2, 7, 4), (2, 7, 5)]);
        assert_eq!(holidays(2018), [(0, 1, 1), (1, 5, 28), (2, 7, 4), (3, 9, 3), (4, 11, 22), (5, 12, 25)]);
    }
}
