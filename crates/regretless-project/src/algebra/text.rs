//! Sums and numbers as text, in the words of expressions.

use std::fmt::Write;

use super::model::Model;
use super::number::Number;

/// Longer sums are cut: nobody reads them.
const MOST: usize = 8;

/// `0.9*charge[0] - price[0]*discharge[0]`
pub(super) fn sum(model: &Model, terms: impl Iterator<Item = (Number, String)>) -> String {
    let mut out = String::new();
    let mut left = 0;
    for (k, (number, name)) in terms.enumerate() {
        if k >= MOST {
            left += 1;
            continue;
        }
        let text = factor(model, &number);
        // A sum keeps its own signs, in brackets.
        let several = number.terms.len() + usize::from(number.fixed != 0.0) > 1;
        let (minus, text) = match text.strip_prefix('-') {
            _ if several => (false, format!("({text})")),
            Some(rest) => (true, rest.to_owned()),
            None => (false, text),
        };
        out.push_str(sign(k == 0, minus));
        let _ = if text == "1" { write!(out, "{name}") } else { write!(out, "{text}*{name}") };
    }
    if left > 0 {
        let _ = write!(out, " + … ({left} more)");
    }
    if out.is_empty() { "0".to_owned() } else { out }
}

/// `2.5 - 0.9*price[0]`
pub(super) fn factor(model: &Model, number: &Number) -> String {
    let mut out = String::new();
    if number.fixed != 0.0 || number.is_fixed() {
        out.push_str(&shown(number.fixed));
    }
    for (factors, coefficient) in &number.terms {
        let minus = *coefficient < 0.0;
        out.push_str(sign(out.is_empty(), minus));
        if coefficient.abs() != 1.0 {
            let _ = write!(out, "{}*", shown(coefficient.abs()));
        }
        let names: Vec<_> = factors.columns().map(|i| model.columns[i].stands_for.as_str()).collect();
        out.push_str(&names.join("*"));
    }
    out
}

fn sign(first: bool, minus: bool) -> &'static str {
    match (first, minus) {
        (true, true) => "-",
        (true, false) => "",
        (false, true) => " - ",
        (false, false) => " + ",
    }
}

/// Six digits, without zeros at the end.
pub(super) fn shown(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return format!("{}", value + 0.0);
    }
    if !(1e-4..1e9).contains(&value.abs()) {
        return format!("{value:.5e}");
    }
    let digits = (5 - value.abs().log10().floor() as i32).max(0) as usize;
    let text = format!("{value:.digits$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_six_digits() {
        for (value, text) in
            [(0.9, "0.9"), (1.0 / 0.9, "1.11111"), (-0.0, "0"), (123_456.7, "123457"), (1e12, "1.00000e12")]
        {
            assert_eq!(shown(value), text);
        }
    }
}
