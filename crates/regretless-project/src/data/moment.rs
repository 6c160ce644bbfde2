//! Dates and times in text.

use regretless_learn::days;

/// Seconds since the beginning of 1970 of `2018-06-01`, `2018/06/01` or `01.06.2018`, zeros in front left out or not, with or without a
/// time such as `T13:30`, ` 13:30:15` or `13:30:15.25`; `None` if the text is no date. `6/1/2018` is none: it may be of January or June. A
/// zone at the end is passed over: what counts is the clock of the place, by which people live.
pub(crate) fn moment(text: &[u8]) -> Option<f64> {
    let text = text.trim_ascii();
    let end = text.iter().position(|b| matches!(b, b'T' | b't' | b' ')).unwrap_or(text.len());
    let (date, rest) = text.split_at(end);
    let mut fields = date.splitn(3, |b| matches!(b, b'-' | b'/' | b'.'));
    let [first, second, third] = [fields.next()?, fields.next()?, fields.next()?];
    let separators = (date[first.len()], date[first.len() + 1 + second.len()]);
    let (year, month, day) = match separators {
        (b'-', b'-') | (b'/', b'/') => (first, second, third),
        (b'.', b'.') => (third, second, first),
        _ => return None,
    };
    if year.len() != 4 || ![1, 2].contains(&month.len()) || ![1, 2].contains(&day.len()) {
        return None;
    }
    let midnight = days(i64::from(digits(year)?), digits(month)?, digits(day)?)? as f64 * 86_400.0;
    match rest {
        [] => Some(midnight),
        [_, clock @ ..] => Some(midnight + seconds(clock.trim_ascii())?),
    }
}

/// Seconds since midnight.
fn seconds(clock: &[u8]) -> Option<f64> {
    let zone =
        clock.iter().position(|b| matches!(b, b'Z' | b'z' | b'+' | b'-' | b' ')).unwrap_or(clock.len());
    let (clock, zone) = clock.split_at(zone);
    let known = match zone {
        [] | [b'Z' | b'z'] => true,
        [b'+' | b'-', rest @ ..] => {
            (2..=6).contains(&rest.len()) && rest.iter().all(|b| b.is_ascii_digit() || *b == b':')
        }
        [b' ', rest @ ..] => {
            rest == b"UTC" || rest.iter().all(|b| b.is_ascii_digit() || matches!(b, b'+' | b'-' | b':'))
        }
        _ => false,
    };
    let (hour, minute) = match *clock {
        [_, _, b':', _, _, ..] => (digits(&clock[..2])?, digits(&clock[3..5])?),
        _ => return None,
    };
    let (second, fraction) = match &clock[5..] {
        [] => (0, 0.0),
        [b':', rest @ ..] if rest.len() >= 2 => {
            let fraction = match &rest[2..] {
                [] => 0.0,
                [b'.' | b',', digits @ ..] if !digits.is_empty() && digits.iter().all(u8::is_ascii_digit) => {
                    digits.iter().rev().fold(0.0, |sum, d| (sum + f64::from(d - b'0')) / 10.0)
                }
                _ => return None,
            };
            (digits(&rest[..2])?, fraction)
        }
        _ => return None,
    };
    let fine = known && hour < 24 && minute < 60 && second <= 60;
    fine.then(|| f64::from(hour * 3600 + minute * 60 + second) + fraction)
}

fn digits(text: &[u8]) -> Option<u32> {
    text.iter().try_fold(0, |sum: u32, d| d.is_ascii_digit().then(|| sum * 10 + u32::from(d - b'0')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_to_write_a_moment() {
        let day = 19_782.0 * 86_400.0;
        for text in ["2024-02-29", " 29.02.2024 ", "2024/02/29", "2024-2-29", "29.2.2024"] {
            assert_eq!(moment(text.as_bytes()), Some(day), "{text}");
        }
        for text in [
            "2024-02-29T13:30",
            "2024-02-29 13:30:00",
            "29.02.2024 13:30",
            "2024-02-29T13:30:00Z",
            "2024-02-29T13:30:00.000000000",
            "2024-02-29 13:30:00+01:00",
            "2024-02-29 13:30:00 UTC",
        ] {
            assert_eq!(moment(text.as_bytes()), Some(day + 13.5 * 3600.0), "{text}");
        }
        assert_eq!(moment(b"1970-01-01 00:00:01.25"), Some(1.25));
        for text in [
            "",
            "2024",
            "2023-02-29",
            "1/2/2024",
            "2024-001-1",
            "2024--1",
            "1.1.24",
            "1.1.1.2024",
            "2024-01/01",
            "12/31/2024",
            "2024-01-01x",
            "2024-01-01T25:00",
            "20240101",
        ] {
            assert_eq!(moment(text.as_bytes()), None, "{text}");
        }
    }
}
