//! Dates as text, `2004-01-02`: their order as text is their order in time.

/// The date in a cell; a time of day is let through where it is midnight, as tables of timestamps have it.
pub(super) fn iso(cell: &str) -> Option<&str> {
    let cell = cell.trim();
    let (date, time) = cell.split_at_checked(10)?;
    let midnight = time
        .strip_prefix(['T', ' '])
        .is_some_and(|t| t.starts_with("00:00") && t.bytes().all(|b| matches!(b, b'0' | b':' | b'.' | b'Z')));
    if !(time.is_empty() || midnight) {
        return None;
    }
    let shape = date
        .bytes()
        .enumerate()
        .all(|(i, b)| if matches!(i, 4 | 7) { b == b'-' } else { b.is_ascii_digit() });
    let part = |range| date.get(range).and_then(|text: &str| text.parse::<u32>().ok());
    let (year, month, day) = (part(0..4)?, part(5..7)?, part(8..10)?);
    (shape && (1..=12).contains(&month) && (1..=length(year, month)).contains(&day)).then_some(date)
}

/// The first weekdays from 1 January 2004 on.
pub(super) fn weekdays(count: usize) -> Vec<String> {
    let (mut year, mut month, mut day) = (2004, 1, 1);
    // Days since Monday: 1 January 2004 was a Thursday.
    let mut weekday = 3;
    let mut dates = Vec::with_capacity(count);
    while dates.len() < count {
        if weekday < 5 {
            dates.push(format!("{year:04}-{month:02}-{day:02}"));
        }
        weekday = (weekday + 1) % 7;
        day += 1;
        if day > length(year, month) {
            (day, month) = (1, month + 1);
        }
        if month > 12 {
            (month, year) = (1, year + 1);
        }
    }
    dates
}

/// Days of a month.
fn length(year: u32, month: u32) -> u32 {
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    match month {
        2 => 28 + u32::from(leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

#[cfg(test)]
mod tests {
    use super::{iso, weekdays};

    #[test]
    fn only_days_that_exist_are_dates() {
        for good in ["2004-01-02", " 2012-02-29 ", "2004-01-02T00:00:00.000", "2004-01-02 00:00:00"] {
            assert!(iso(good).is_some(), "{good}");
        }
        for bad in [
            "",
            "2004-1-2",
            "02.01.2004",
            "2013-02-29",
            "2004-13-01",
            "2004-01-02T09:30:00",
            "2004-01-020",
            "+004-01-02",
        ] {
            assert_eq!(iso(bad), None, "{bad}");
        }
    }

    #[test]
    fn weekends_are_left_out() {
        let dates = weekdays(3273);
        assert_eq!(dates[..4], ["2004-01-01", "2004-01-02", "2004-01-05", "2004-01-06"]);
        // 654 weeks and three days later.
        assert_eq!(dates[3272], "2016-07-18");
        assert!(dates.contains(&"2004-02-27".to_owned()) && dates.contains(&"2004-03-01".to_owned()));
        assert!(dates.contains(&"2008-02-29".to_owned()));
    }
}
