//! Text cut into numbers, names, members in quotes, and signs.

use std::ops::Range;

use super::Fault;

/// Longer expressions are no longer read by anybody.
pub(super) const LONGEST: usize = 1 << 16;

/// What an expression is made of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Token<'a> {
    /// `0.9`, with its text: in an index it is the name of a member.
    Number(f64, &'a str),
    /// `charge`, `sum`, `in`.
    Name(&'a str),
    /// `'north'`: a member of a set.
    Member(&'a str),
    /// `+`, `<=`, `[`.
    Sign(&'static str),
    /// Nothing follows.
    End,
}

/// The signs, longer ones first.
const SIGNS: [&str; 19] =
    ["<=", ">=", "!=", "==", "**", "+", "-", "*", "/", "^", "(", ")", "[", "]", ",", ":", "=", "<", ">"];

/// The tokens with their bytes in `text`; the last one is [`Token::End`].
pub(super) fn tokens(text: &str) -> Result<Vec<(Token<'_>, Range<usize>)>, Fault> {
    if text.len() > LONGEST {
        let what = format!("the expression has {} bytes, and the limit is {LONGEST}", text.len());
        return Err(Fault::new(0..1, what).hint("write more rows, or move numbers to a table"));
    }
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let taken = |end: fn(char) -> bool| rest.find(end).unwrap_or(rest.len());
        let (token, length) = if first.is_whitespace() {
            at += first.len_utf8();
            continue;
        } else if first.is_ascii_digit() || first == '.' {
            number(rest, at)?
        } else if starts_name(first) {
            let length = taken(|c| !(starts_name(c) || c.is_numeric()));
            (Token::Name(&rest[..length]), length)
        } else if first == '\'' {
            let length = rest[1..].find('\'').ok_or_else(|| {
                Fault::new(at..text.len(), "a quote is not closed").hint("members are written as 'north'")
            })?;
            (Token::Member(&rest[1..=length]), length + 2)
        } else if let Some(sign) = SIGNS.into_iter().find(|sign| rest.starts_with(sign)) {
            (Token::Sign(sign), sign.len())
        } else {
            return Err(stray(first, at));
        };
        tokens.push((token, at..at + length));
        at += length;
    }
    tokens.push((Token::End, text.len()..text.len()));
    Ok(tokens)
}

fn starts_name(c: char) -> bool {
    c.is_alphabetic() || c == '_'
}

/// True for what can be the name of a set, a variable, a quantity or an index.
pub(super) fn is_name(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(starts_name) && chars.all(|c| starts_name(c) || c.is_numeric())
}

/// Digits, a point, an exponent.
fn number(rest: &str, at: usize) -> Result<(Token<'_>, usize), Fault> {
    let digits = |from: usize| {
        let tail = rest.get(from..).unwrap_or("");
        from + tail.bytes().take_while(u8::is_ascii_digit).count()
    };
    let mut end = digits(0);
    if rest[end..].starts_with('.') {
        end = digits(end + 1);
    }
    if rest[end..].starts_with(['e', 'E']) {
        let sign = usize::from(rest[end + 1..].starts_with(['+', '-']));
        let after = digits(end + 1 + sign);
        if after > end + 1 + sign {
            end = after;
        }
    }
    let text = &rest[..end];
    let value: f64 =
        text.parse().map_err(|_| Fault::new(at..at + end, format!("`{text}` is not a number")))?;
    if !value.is_finite() {
        return Err(Fault::new(at..at + end, format!("`{text}` is too large for a number")));
    }
    if rest[end..].starts_with(starts_name) {
        let fault = Fault::new(at..at + end, "a number and a name stand together");
        return Err(fault.hint(format!("products are written with a star: {text} * …")));
    }
    Ok((Token::Number(value, text), end))
}

fn stray(c: char, at: usize) -> Fault {
    let fault = Fault::new(
        at..at + c.len_utf8(),
        format!("`{}` means nothing here", crate::error::shorten(&c.to_string())),
    );
    match c {
        '≤' => fault.hint("write <="),
        '≥' => fault.hint("write >="),
        '×' | '·' => fault.hint("write *"),
        '−' | '–' => fault.hint("write the minus of the keyboard, -"),
        '²' => fault.hint("write ^2"),
        '"' => fault.hint("members are written in single quotes: 'north'"),
        '{' | '}' => fault.hint("sums are written as sum(h in hour: …), indices as price[h]"),
        _ => fault,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_cut() {
        let found: Vec<_> = tokens("2.5e-1*θ_1['a b']<= x").unwrap().into_iter().map(|(t, _)| t).collect();
        let sign = Token::Sign;
        let expected = [
            Token::Number(0.25, "2.5e-1"),
            sign("*"),
            Token::Name("θ_1"),
            sign("["),
            Token::Member("a b"),
            sign("]"),
            sign("<="),
            Token::Name("x"),
            Token::End,
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn what_cannot_be_cut_is_told() {
        for (text, at, what) in [
            ("2x", 0..1, "a number and a name stand together"),
            ("x ≤ 1", 2..5, "`≤` means nothing here"),
            ("x['a", 2..4, "a quote is not closed"),
            ("1e999", 0..5, "`1e999` is too large for a number"),
            (". + 1", 0..1, "`.` is not a number"),
        ] {
            let fault = tokens(text).unwrap_err();
            assert_eq!((fault.span, fault.what.as_str()), (at, what), "{text}");
        }
        assert!(tokens(&"1".repeat(LONGEST + 1)).is_err());
    }
}
