//! Words, numbers and signs of an LP file.

use std::fmt;

/// One of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Token<'a> {
    Number(f64),
    Name(&'a str),
    Plus,
    Minus,
    Times,
    Power,
    Over,
    Colon,
    Open,
    Close,
    Compare(Compare),
}

/// How a sum is compared with a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Compare {
    Most,
    Least,
    Equal,
}

impl Compare {
    /// The same from the other side.
    pub(super) fn turned(self) -> Self {
        match self {
            Self::Most => Self::Least,
            Self::Least => Self::Most,
            Self::Equal => Self::Equal,
        }
    }
}

impl fmt::Display for Token<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = match self {
            Self::Number(value) => return value.fmt(f),
            Self::Name(name) => return f.write_str(&crate::error::shorten(name)),
            Self::Plus => "+",
            Self::Minus => "-",
            Self::Times => "*",
            Self::Power => "^",
            Self::Over => "/",
            Self::Colon => ":",
            Self::Open => "[",
            Self::Close => "]",
            Self::Compare(Compare::Most) => "<=",
            Self::Compare(Compare::Least) => ">=",
            Self::Compare(Compare::Equal) => "=",
        };
        f.write_str(sign)
    }
}

/// Where a text is read. It is small: who looks ahead copies it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lexer<'a> {
    rest: &'a str,
    /// Lines that were begun.
    line: u64,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { rest: text.trim_start_matches('\u{feff}'), line: 1 }
    }

    /// The line of what was read last.
    pub(super) fn line(&self) -> u64 {
        self.line
    }

    /// True if what comes next is the first on its line.
    pub(super) fn starts_line(&self) -> bool {
        let mut there = *self;
        there.skip();
        there.line > self.line
    }

    pub(super) fn peek(&self) -> Result<Option<Token<'a>>, String> {
        let mut there = *self;
        there.next()
    }

    /// Blanks, line breaks, and comments from a backslash to the end of the line.
    fn skip(&mut self) {
        loop {
            let text = self.rest.trim_start();
            self.line += self.rest[..self.rest.len() - text.len()].matches('\n').count() as u64;
            self.rest = text;
            let Some(comment) = text.strip_prefix('\\') else { return };
            self.rest = comment.find('\n').map_or("", |end| &comment[end..]);
        }
    }

    /// The next token; `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<Token<'a>>, String> {
        self.skip();
        let Some(first) = self.rest.chars().next() else { return Ok(None) };
        let (token, len) = match first {
            '+' => (Token::Plus, 1),
            '-' => (Token::Minus, 1),
            '*' => (Token::Times, 1),
            '^' => (Token::Power, 1),
            '/' => (Token::Over, 1),
            ':' => (Token::Colon, 1),
            '[' => (Token::Open, 1),
            ']' => (Token::Close, 1),
            '<' | '>' | '=' => self.compare(),
            '0'..='9' | '.' => self.number()?,
            _ => {
                let ends = |c: char| c.is_whitespace() || "+-*/^<>=:[]\\".contains(c);
                let len = self.rest.find(ends).unwrap_or(self.rest.len());
                if self.rest[..len].contains(char::is_control) {
                    return Err("a name holds a control character".into());
                }
                (Token::Name(&self.rest[..len]), len)
            }
        };
        self.rest = &self.rest[len..];
        Ok(Some(token))
    }

    /// `<`, `<=`, `=<` and the like.
    fn compare(&self) -> (Token<'a>, usize) {
        let signs = self.rest.as_bytes();
        let two = signs.get(1).copied().filter(|second| b"<>=".contains(second));
        let (compare, len) = match (signs[0], two) {
            (b'<', Some(b'=')) | (b'=', Some(b'<')) => (Compare::Most, 2),
            (b'>', Some(b'=')) | (b'=', Some(b'>')) => (Compare::Least, 2),
            (b'<', _) => (Compare::Most, 1),
            (b'>', _) => (Compare::Least, 1),
            _ => (Compare::Equal, 1),
        };
        (Token::Compare(compare), len)
    }

    /// Digits, a point and an exponent; `2e` is a number and the beginning of a name.
    fn number(&self) -> Result<(Token<'a>, usize), String> {
        let bytes = self.rest.as_bytes();
        let digits = |from: usize| bytes[from..].iter().take_while(|b| b.is_ascii_digit()).count();
        let mut len = digits(0);
        if bytes.get(len) == Some(&b'.') {
            len += 1 + digits(len + 1);
        }
        if matches!(bytes.get(len), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(bytes.get(len + 1), Some(b'+' | b'-')));
            let exponent = bytes.get(len + 1 + sign..).map_or(0, |_| digits(len + 1 + sign));
            len += if exponent > 0 { 1 + sign + exponent } else { 0 };
        }
        let text = &self.rest[..len];
        let value: f64 = text.parse().map_err(|_| format!("`{text}` is not a number"))?;
        Ok((Token::Number(value), len))
    }
}
