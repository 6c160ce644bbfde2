//! Numbers for people: one way for each number of digits.

/// Four significant digits, for what was measured.
///
/// ```
/// use regretless_learn::four;
/// assert_eq!([four(1234.56), four(0.0123456), four(0.0)], ["1235", "0.01235", "0"]);
/// ```
pub fn four(v: f64) -> String {
    if !v.is_finite() || v == 0.0 {
        return six(v);
    }
    let digits = 3 - v.abs().log10().floor() as i32;
    if (-3..=7).contains(&digits) { format!("{v:.*}", digits.max(0) as usize) } else { format!("{v:.3e}") }
}

/// Six digits, short where it can be, for what was computed.
pub fn six(v: f64) -> String {
    if !v.is_finite() {
        return if v.is_nan() { "–".to_owned() } else { if v > 0.0 { "inf" } else { "-inf" }.to_owned() };
    }
    // What is left of a zero after a solve in floating point.
    if v.abs() < 1e-12 {
        return "0".to_owned();
    }
    if !(1e-4..1e7).contains(&v.abs()) {
        return format!("{v:.5e}");
    }
    let digits = 5 - v.abs().log10().floor() as i32;
    let text = format!("{v:.*}", usize::try_from(digits.max(0)).unwrap_or(0));
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// The power of ten above a small number.
pub fn order(v: f64) -> String {
    if v <= 1e-15 { "1e-15".to_owned() } else { format!("1e{}", v.log10().ceil() as i32) }
}

/// `1 row`, `2 rows`.
pub fn count(n: usize, what: &str) -> String {
    if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") }
}

/// Some names of many.
pub fn some_of(all: &[String]) -> String {
    const SHOWN: usize = 20;
    let more = if all.len() > SHOWN { format!(" and {} more", all.len() - SHOWN) } else { String::new() };
    all.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ") + &more
}
