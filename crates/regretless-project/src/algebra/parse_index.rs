//! What stands in brackets and behind `for`: indices, sets and filters.

use super::ast::{Binder, Binders, Filter, Index, IndexKind, Test};
use super::parse::{KEYWORDS, Parsed, Parser};
use super::token::Token;

impl Parser<'_> {
    /// Indices up to the closing bracket.
    pub(super) fn indices(&mut self, close: &'static str) -> Parsed<Vec<Index>> {
        let mut indices = vec![self.index()?];
        while self.takes(",") {
            indices.push(self.index()?);
        }
        if self.takes(close) { Ok(indices) } else { Err(self.unexpected("`,` or `]`")) }
    }

    fn index(&mut self) -> Parsed<Index> {
        let start = self.span().start;
        let kind = match self.peek() {
            Token::Member(name) => {
                self.step();
                IndexKind::Member(name.to_owned())
            }
            Token::Number(_, text) => {
                self.step();
                IndexKind::Member(text.to_owned())
            }
            Token::Name(name) if !KEYWORDS.contains(&name) => {
                self.step();
                IndexKind::Name(name.to_owned(), self.shift()?)
            }
            _ => return Err(self.unexpected("an index, or a member such as 'north' or 0")),
        };
        Ok(Index { kind, span: start..self.end() })
    }

    /// `+1`, `-2` or nothing.
    fn shift(&mut self) -> Parsed<isize> {
        let sign = match self.peek() {
            Token::Sign("+") => 1,
            Token::Sign("-") => -1,
            _ => return Ok(0),
        };
        self.step();
        if let Token::Number(_, text) = self.peek()
            && let Ok(by) = text.parse::<i16>()
        {
            self.step();
            return Ok(sign * isize::from(by));
        }
        Err(self.unexpected("a whole number to shift the index by"))
    }

    /// Sets with their indices; `bare` sets have none.
    pub(super) fn binders(&mut self, bare: bool) -> Parsed<Binders> {
        let mut binders = vec![self.binder(bare)?];
        while self.takes(",") {
            binders.push(self.binder(bare)?);
        }
        let mut filters = Vec::new();
        if self.takes_word("if") {
            filters.push(self.filter()?);
            while self.takes_word("and") {
                filters.push(self.filter()?);
            }
        }
        Ok(Binders { binders, filters })
    }

    fn binder(&mut self, bare: bool) -> Parsed<Binder> {
        let start = self.span().start;
        let names = if self.takes("(") {
            let mut names = vec![self.name("the name of an index")?];
            while self.takes(",") {
                names.push(self.name("the name of an index")?);
            }
            self.need(")")?;
            names
        } else {
            let name = self.name("an index, as in h in hour")?;
            if bare && self.peek() != Token::Name("in") {
                return Ok(Binder { names: Vec::new(), set: name, span: start..self.end() });
            }
            vec![name]
        };
        if !self.takes_word("in") {
            let fault = self.unexpected("`in` and a set, as in h in hour");
            return Err(match self.peek() {
                Token::Sign(",") => fault.hint("indices of pairs stand in brackets: (i, j) in road"),
                _ => fault,
            });
        }
        let set = self.name("the name of a set")?;
        Ok(Binder { names, set, span: start..self.end() })
    }

    fn name(&mut self, wanted: &str) -> Parsed<String> {
        match self.peek() {
            Token::Name(name) if !KEYWORDS.contains(&name) => {
                self.step();
                Ok(name.to_owned())
            }
            _ => Err(self.unexpected(wanted)),
        }
    }

    fn filter(&mut self) -> Parsed<Filter> {
        let start = self.span().start;
        let left = self.index()?;
        let test = match self.peek() {
            Token::Sign("=") => Test::Equal,
            Token::Sign("!=") => Test::Unequal,
            Token::Sign("<") => Test::Below,
            Token::Sign("<=") => Test::AtMost,
            Token::Sign(">") => Test::Above,
            Token::Sign(">=") => Test::AtLeast,
            _ => return Err(self.unexpected("`=`, `!=`, `<`, `<=`, `>` or `>=`")),
        };
        self.step();
        let right = self.index()?;
        Ok(Filter { left, test, right, span: start..self.end() })
    }
}
