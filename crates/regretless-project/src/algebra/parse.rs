//! From tokens to expressions: a parser by recursive descent, one function a rule of the grammar (docs/algebra.md).

use std::ops::Range;

use super::Fault;
use super::ast::{Binders, Expr, Kind, Relation, Sign};
use super::token::{Token, tokens};
use crate::error::shorten;

/// Brackets within brackets.
const DEEPEST: usize = 64;

/// Words that are no names.
pub(super) const KEYWORDS: [&str; 5] = ["sum", "in", "if", "and", "inf"];

pub(super) type Parsed<T> = Result<T, Fault>;

/// A row: two or three sides.
pub(super) fn row(text: &str) -> Parsed<Relation> {
    Parser::whole(text, Parser::relation)
}

/// An expression by itself: an objective, a bound, a price.
pub(super) fn expression(text: &str) -> Parsed<Expr> {
    Parser::whole(text, Parser::expression)
}

/// What stands in `for` of a variable or a quantity: sets, with or without names for their indices.
pub(super) fn sets(text: &str) -> Parsed<Binders> {
    Parser::whole(text, |parser| parser.binders(true))
}

/// What stands in `for` of a row: indices, sets and filters.
pub(super) fn indices(text: &str) -> Parsed<Binders> {
    Parser::whole(text, |parser| parser.binders(false))
}

pub(super) struct Parser<'a> {
    tokens: Vec<(Token<'a>, Range<usize>)>,
    at: usize,
    depth: usize,
}

impl<'a> Parser<'a> {
    /// All of `text` as one rule.
    fn whole<T>(text: &'a str, rule: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        let mut parser = Self { tokens: tokens(text)?, at: 0, depth: 0 };
        let parsed = rule(&mut parser)?;
        match parser.peek() {
            Token::End => Ok(parsed),
            _ => Err(parser.unexpected("the end")),
        }
    }

    pub(super) fn peek(&self) -> Token<'a> {
        self.tokens[self.at].0
    }

    pub(super) fn span(&self) -> Range<usize> {
        self.tokens[self.at].1.clone()
    }

    /// Where the token before this one ends.
    pub(super) fn end(&self) -> usize {
        self.tokens[self.at.saturating_sub(1)].1.end
    }

    pub(super) fn step(&mut self) {
        // The last token is the end, and nobody goes beyond it.
        self.at = (self.at + 1).min(self.tokens.len() - 1);
    }

    pub(super) fn takes(&mut self, sign: &'static str) -> bool {
        let there = self.peek() == Token::Sign(sign);
        if there {
            self.step();
        }
        there
    }

    pub(super) fn takes_word(&mut self, word: &'static str) -> bool {
        let there = self.peek() == Token::Name(word);
        if there {
            self.step();
        }
        there
    }

    pub(super) fn need(&mut self, sign: &'static str) -> Parsed<()> {
        if self.takes(sign) { Ok(()) } else { Err(self.unexpected(&format!("`{sign}`"))) }
    }

    pub(super) fn unexpected(&self, wanted: &str) -> Fault {
        let found = match self.peek() {
            Token::End => "the expression ends".to_owned(),
            Token::Number(_, text) => format!("`{text}` stands here"),
            Token::Name(text) | Token::Member(text) => format!("`{}` stands here", shorten(text)),
            Token::Sign(sign) => format!("`{sign}` stands here"),
        };
        let fault = Fault::new(self.span(), format!("expected {wanted}, but {found}"));
        match self.peek() {
            Token::Sign("==") => fault.hint("equality is written with one sign: ="),
            Token::Sign("<") => fault.hint("write <=: rows hold with their limits included"),
            Token::Sign(">") => fault.hint("write >=: rows hold with their limits included"),
            Token::Sign("**") => fault.hint("a square is written as ^2"),
            Token::Name(_) | Token::Number(..) | Token::Sign("(") => {
                fault.hint("products are written with a star: 2 * x")
            }
            _ => fault,
        }
    }

    fn relation(&mut self) -> Parsed<Relation> {
        let first = self.expression()?;
        let mut rest: Vec<(Sign, Expr)> = Vec::new();
        loop {
            let at = self.span();
            let sign = match self.peek() {
                Token::Sign("<=") => Sign::AtMost,
                Token::Sign(">=") => Sign::AtLeast,
                Token::Sign("=") => Sign::Equal,
                _ if rest.is_empty() => return Err(self.unexpected("`<=`, `>=` or `=`")),
                _ => return Ok(Relation { first, rest }),
            };
            let range = rest.len() == 1 && rest[0].0 == sign && sign != Sign::Equal;
            if !rest.is_empty() && !range {
                return Err(
                    Fault::new(at, "a row has one sign, or two as in 1 <= x <= 2").hint("write two rows")
                );
            }
            self.step();
            rest.push((sign, self.expression()?));
        }
    }

    /// Counts brackets, so that no text can exhaust the stack.
    fn deeper<T>(&mut self, rule: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth == DEEPEST {
            return Err(Fault::new(self.span(), format!("more than {DEEPEST} brackets within brackets")));
        }
        self.depth += 1;
        let parsed = rule(self);
        self.depth -= 1;
        parsed
    }

    fn expression(&mut self) -> Parsed<Expr> {
        let start = self.span().start;
        let mut terms = vec![(false, self.product()?)];
        loop {
            let minus = match self.peek() {
                Token::Sign("+") => false,
                Token::Sign("-") => true,
                _ => break,
            };
            self.step();
            terms.push((minus, self.product()?));
        }
        Ok(self.gathered(start, terms, Kind::Added))
    }

    fn product(&mut self) -> Parsed<Expr> {
        let start = self.span().start;
        let mut factors = vec![(false, self.signed()?)];
        loop {
            let divides = match self.peek() {
                Token::Sign("*") => false,
                Token::Sign("/") => true,
                _ => break,
            };
            self.step();
            factors.push((divides, self.signed()?));
        }
        Ok(self.gathered(start, factors, Kind::Product))
    }

    /// One part stands for itself.
    fn gathered(
        &self,
        start: usize,
        mut parts: Vec<(bool, Expr)>,
        kind: fn(Vec<(bool, Expr)>) -> Kind,
    ) -> Expr {
        match parts.pop() {
            Some((false, only)) if parts.is_empty() => only,
            last => {
                parts.extend(last);
                Expr { kind: kind(parts), span: start..self.end() }
            }
        }
    }

    fn signed(&mut self) -> Parsed<Expr> {
        let start = self.span().start;
        if self.takes("+") {
            return self.deeper(Self::signed);
        }
        if self.takes("-") {
            let of = self.deeper(Self::signed)?;
            return Ok(Expr { kind: Kind::Added(vec![(true, of)]), span: start..self.end() });
        }
        self.power()
    }

    fn power(&mut self) -> Parsed<Expr> {
        let start = self.span().start;
        let base = self.atom()?;
        if !self.takes("^") {
            return Ok(base);
        }
        match self.peek() {
            Token::Number(2.0, _) => {
                self.step();
                Ok(Expr { kind: Kind::Square(Box::new(base)), span: start..self.end() })
            }
            _ => Err(Fault::new(self.span(), "only squares can be written, ^2")
                .hint("objectives are linear or convex quadratic, rows are linear")),
        }
    }

    fn atom(&mut self) -> Parsed<Expr> {
        let span = self.span();
        match self.peek() {
            Token::Number(value, _) => {
                self.step();
                Ok(Expr { kind: Kind::Number(value), span })
            }
            Token::Sign("(") => {
                self.step();
                let inner = self.deeper(Self::expression)?;
                self.need(")")?;
                Ok(Expr { span: span.start..self.end(), ..inner })
            }
            Token::Name("inf") => {
                self.step();
                Ok(Expr { kind: Kind::Number(f64::INFINITY), span })
            }
            Token::Name("sum") => {
                self.step();
                self.need("(")?;
                // What is meant as a product here lacks what the sum runs over.
                let first = |fault: Fault| match &fault.hint {
                    Some(hint) if !hint.contains("star") => fault,
                    _ => fault.hint("a sum says first what it runs over: sum(h in hour: 2 * x[h])"),
                };
                let over = self.binders(false).map_err(first)?;
                self.need(":").map_err(first)?;
                let body = self.deeper(Self::expression)?;
                self.need(")")?;
                Ok(Expr { kind: Kind::Sum { over, body: Box::new(body) }, span: span.start..self.end() })
            }
            Token::Name(name) if !KEYWORDS.contains(&name) => {
                self.step();
                if self.peek() == Token::Sign("(") {
                    return Err(function(name, span));
                }
                let at = if self.takes("[") { self.indices("]")? } else { Vec::new() };
                Ok(Expr { kind: Kind::Name { name: name.to_owned(), at }, span: span.start..self.end() })
            }
            _ => Err(self.unexpected("a number, a name or `(`")),
        }
    }
}

/// There are no functions but `sum`; what people write with them is said otherwise.
fn function(name: &str, span: Range<usize>) -> Fault {
    let fault = Fault::new(span, format!("there is no function `{}`", shorten(name)));
    match name {
        "max" | "abs" | "pos" | "norm1" => fault.hint(
            "a cost of what is above or below a limit is a soft row: [[soft]] with row = \"… <= …\" and over = price",
        ),
        "min" => fault.hint("write a variable and rows: floor <= a and floor <= b, with floor in the objective"),
        "sqr" | "square" | "pow" => fault.hint("a square is written as (…)^2"),
        "prod" | "exp" | "log" | "sqrt" => fault.hint("objectives are linear or convex quadratic, rows are linear"),
        _ => fault.hint("indices stand in square brackets, price[h]; products are written with a star, 2 * (x + y)"),
    }
}
