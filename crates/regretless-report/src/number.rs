//! Numbers as people read them: four significant digits, grouped thousands, a dash for what is not a number.

/// Stands for a value that is missing or not finite.
pub(crate) const DASH: &str = "–";
/// U+2212, as wide as a digit where the digits are tabular.
const MINUS: char = '\u{2212}';
/// U+202F, the thousands separator.
const THIN: char = '\u{202f}';

/// Four significant digits: `0.01234`, `12.34`, `12 340`, `1.234×10⁷`.
pub(crate) fn number(value: f64) -> String {
    significant(value, 4)
}

/// The same with a chosen number of significant digits.
pub(crate) fn significant(value: f64, digits: u8) -> String {
    if !value.is_finite() {
        return DASH.to_owned();
    }
    if value == 0.0 {
        return "0".to_owned();
    }
    let scientific = format!("{:.*e}", usize::from(digits) - 1, value);
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let text = if (-4..7).contains(&exponent) {
        let decimals = usize::try_from(i32::from(digits) - 1 - exponent).unwrap_or(0);
        group(&format!("{value:.decimals$}"))
    } else {
        format!("{mantissa}×10{}", superscript(exponent))
    };
    text.replace('-', &MINUS.to_string())
}

/// With as many decimals as `other`, a number printed before, so that a deviation lines up with its mean.
pub(crate) fn like(value: f64, other: &str) -> String {
    let decimals = other.split_once('.').map_or(0, |(_, fraction)| fraction.len());
    let plain = format!("{value:.decimals$}");
    if !value.is_finite() || other.contains('×') || plain.chars().all(|c| "-0.".contains(c)) {
        return significant(value, 2);
    }
    group(&plain).replace('-', &MINUS.to_string())
}

/// A tick label: no more digits than the ticks need.
pub(crate) fn tick(value: f64) -> String {
    let text = significant(value, 4);
    if let Some((mantissa, power)) = text.split_once('×') {
        let mantissa = trim(mantissa);
        return if mantissa == "1" { power.to_owned() } else { format!("{mantissa}×{power}") };
    }
    trim(&text).to_owned()
}

/// A probability of the null hypothesis.
pub(crate) fn p_value(value: f64) -> String {
    match value {
        v if !v.is_finite() => DASH.to_owned(),
        v if v < 0.001 => "<0.001".to_owned(),
        v => format!("{v:.3}"),
    }
}

/// A share of one, in per cent.
pub(crate) fn percent(value: f64) -> String {
    if !value.is_finite() {
        return DASH.to_owned();
    }
    let value = value * 100.0;
    let text = match value.abs() {
        0.0 => "0".to_owned(),
        v if v < 0.01 => return format!("<0.01{THIN}%"),
        v if v < 10.0 => format!("{value:.2}"),
        v if v < 1000.0 => format!("{value:.1}"),
        _ => significant(value, 4),
    };
    format!("{}{THIN}%", text.replace('-', &MINUS.to_string()))
}

/// A span of time: `0.42 s`, `12.3 s`, `4.1 min`, `2.2 h`.
pub(crate) fn seconds(value: f64) -> String {
    if !value.is_finite() || value < 0.0 {
        return DASH.to_owned();
    }
    if value < 0.995 {
        return format!("{}{THIN}s", trim(&significant(value, 2)));
    }
    if value < 99.95 {
        return format!("{value:.1}{THIN}s");
    }
    if value < 3597.0 {
        return format!("{:.1}{THIN}min", value / 60.0);
    }
    format!(
        "{}{THIN}h",
        if value < 3.6e8 { group(&format!("{:.1}", value / 3600.0)) } else { number(value / 3600.0) }
    )
}

/// A whole number with grouped thousands.
pub(crate) fn count(value: usize) -> String {
    group(&value.to_string())
}

/// Puts a thin space between groups of three digits before the decimal point, from five digits on.
fn group(text: &str) -> String {
    let (sign, digits) = text.strip_prefix('-').map_or(("", text), |rest| ("-", rest));
    let (whole, fraction) = digits.split_once('.').map_or((digits, None), |(w, f)| (w, Some(f)));
    let mut out = sign.to_owned();
    for (k, c) in whole.chars().enumerate() {
        if k > 0 && whole.len() > 4 && (whole.len() - k).is_multiple_of(3) {
            out.push(THIN);
        }
        out.push(c);
    }
    if let Some(fraction) = fraction {
        out.push('.');
        out.push_str(fraction);
    }
    out
}

fn trim(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}

fn superscript(value: i32) -> String {
    value
        .to_string()
        .chars()
        .map(|c| match c {
            '-' => '⁻',
            '1' => '¹',
            '2' => '²',
            '3' => '³',
            d => char::from_u32('⁰' as u32 + d.to_digit(10).unwrap_or(0)).unwrap_or(d),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_significant_digits() {
        assert_eq!(number(0.012_345_6), "0.01235");
        assert_eq!(number(12.0), "12.00");
        assert_eq!(number(1234.5), "1234");
        assert_eq!(number(-123_456.0), "\u{2212}123\u{202f}456");
        assert_eq!(number(1.5e7), "1.500×10⁷");
        assert_eq!(number(1.5e-7), "1.500×10⁻⁷");
        assert_eq!(number(9.999_96), "10.00");
        assert_eq!(number(0.0), "0");
        assert_eq!(number(f64::NAN), DASH);
        assert_eq!(number(f64::INFINITY), DASH);
    }

    #[test]
    fn a_deviation_lines_up_with_its_mean() {
        assert_eq!(like(0.9, "33.10"), "0.90");
        assert_eq!(like(0.001, "33.10"), "0.0010");
        assert_eq!(like(12.0, "1234"), "12");
        assert_eq!(like(2e6, "1.500×10⁷"), "2\u{202f}000\u{202f}000");
    }

    #[test]
    fn ticks_are_short() {
        assert_eq!(tick(0.5), "0.5");
        assert_eq!(tick(10.0), "10");
        assert_eq!(tick(1e8), "10⁸");
        assert_eq!(tick(2e8), "2×10⁸");
    }

    #[test]
    fn probabilities_and_shares() {
        assert_eq!(p_value(0.000_4), "<0.001");
        assert_eq!(p_value(0.0421), "0.042");
        assert_eq!(percent(0.1234), "12.3\u{202f}%");
        assert_eq!(percent(0.0), "0\u{202f}%");
        assert_eq!(percent(1e-6), "<0.01\u{202f}%");
    }

    #[test]
    fn spans_of_time() {
        assert_eq!(seconds(0.4242), "0.42\u{202f}s");
        assert_eq!(seconds(245.0), "4.1\u{202f}min");
        assert_eq!(seconds(3599.0), "1.0\u{202f}h");
        assert_eq!(seconds(7800.0), "2.2\u{202f}h");
    }
}
