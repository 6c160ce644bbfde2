//! LP files, as CPLEX began them: the same programs written as sums and comparisons.
//!
//! ```text
//! Minimize  cost: 2 bolts + nuts + [ bolts^2 + 2 bolts * nuts ] / 2
//! Subject To  machine: 2 bolts + nuts <= 10
//! Bounds  bolts <= 4
//! End
//! ```
//!
//! Lines mean nothing, keywords do. What solvers read in different ways is refused: a variable twice in one sum, an upper bound
//! below 0 without a lower one, a bound that is stated twice.

use std::collections::{HashMap, HashSet};

use super::lexer::{Compare, Lexer, Token};
use super::limits::INFINITE;
use super::sections::Parsed;
use super::{Bad, Model, Row};
use crate::Limits;
use crate::error::shorten;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Section {
    Objective {
        maximise: bool,
    },
    Rows,
    Bounds,
    /// Whole numbers and the like.
    Whole,
    /// What some solvers write beside.
    Foreign(&'static str),
    End,
}

/// Reads a text into a model.
pub(super) fn model(text: &str, limits: &Limits) -> Parsed<Model> {
    let mut reader = Reader {
        lexer: Lexer::new(text),
        limits: *limits,
        model: Model::default(),
        columns: HashMap::new(),
        rows: HashSet::new(),
        stamps: Vec::new(),
        stamp: 0,
        bounded: Vec::new(),
    };
    let Some(Section::Objective { maximise }) = reader.section() else {
        return Err(Bad::new(0, "this is not an LP file: it does not begin with Minimize or Maximize"));
    };
    reader.model.maximise = maximise;
    reader.objective()?;
    loop {
        match reader.section() {
            Some(Section::Rows) => reader.until_section(Reader::row)?,
            Some(Section::Bounds) => reader.until_section(Reader::bound)?,
            Some(Section::Whole) => reader.until_section(|reader| {
                Err(reader
                    .bad("whole-number and semicontinuous variables are not supported")
                    .hint("variables are continuous here: drop the section to solve the relaxation"))
            })?,
            Some(Section::Foreign(what)) => return Err(reader.bad(format!("{what} are not supported"))),
            Some(Section::End) => return reader.finish(),
            Some(Section::Objective { .. }) => return Err(reader.bad("a second objective")),
            None => {
                return Err(match reader.peek()? {
                    None => Bad::new(0, "the file is cut off: it has no End"),
                    Some(token) => {
                        reader.bad(format!("`{token}` stands where a sum goes on or a section begins"))
                    }
                });
            }
        }
    }
}

struct Reader<'a> {
    lexer: Lexer<'a>,
    limits: Limits,
    model: Model,
    columns: HashMap<&'a str, usize>,
    rows: HashSet<String>,
    /// The sum that a column was in last.
    stamps: Vec<usize>,
    stamp: usize,
    /// The lines of the bounds that were stated, lower and upper.
    bounded: Vec<[u64; 2]>,
}

/// A sum of terms.
#[derive(Default)]
struct Sum {
    entries: Vec<(usize, f64)>,
    constant: f64,
}

impl<'a> Reader<'a> {
    fn bad(&self, what: impl Into<String>) -> Bad {
        Bad::new(self.lexer.line(), what)
    }

    fn next(&mut self) -> Parsed<Option<Token<'a>>> {
        self.lexer.next().map_err(|what| Bad::new(self.lexer.line(), what))
    }

    fn peek(&self) -> Parsed<Option<Token<'a>>> {
        self.lexer.peek().map_err(|what| self.bad(what))
    }

    /// Goes on if the next token is this one.
    fn eat(&mut self, token: Token<'_>) -> Parsed<bool> {
        let there = self.peek()? == Some(token);
        if there {
            self.next()?;
        }
        Ok(there)
    }

    fn expected(&mut self, what: &str) -> Bad {
        match self.next() {
            Ok(Some(token)) => self.bad(format!("expected {what}, found `{token}`")),
            Ok(None) => Bad::new(0, format!("the file is cut off: expected {what}")),
            Err(bad) => bad,
        }
    }

    /// The keyword that comes next, of one word or two.
    fn keyword(&self) -> Option<(Section, Lexer<'a>)> {
        let mut after = self.lexer;
        let Ok(Some(Token::Name(word))) = after.next() else { return None };
        let second = |second: &str| matches!(after.peek(), Ok(Some(Token::Name(word))) if word.eq_ignore_ascii_case(second));
        let (section, words) = match word.to_ascii_lowercase().as_str() {
            "min" | "minimum" | "minimize" | "minimise" => (Section::Objective { maximise: false }, 1),
            "max" | "maximum" | "maximize" | "maximise" => (Section::Objective { maximise: true }, 1),
            "st" | "st." | "s.t." => (Section::Rows, 1),
            "subject" if second("to") => (Section::Rows, 2),
            "such" if second("that") => (Section::Rows, 2),
            "bound" | "bounds" => (Section::Bounds, 1),
            "lazy" if second("constraints") => (Section::Foreign("lazy constraints"), 2),
            "user" if second("cuts") => (Section::Foreign("user cuts"), 2),
            "general" if second("constraints") => {
                (Section::Foreign("general constraints (max, min, abs, indicators)"), 2)
            }
            "gen" | "general" | "generals" | "int" | "integer" | "integers" | "bin" | "binary"
            | "binaries" | "semi" | "semis" | "sos" | "sos1" | "sos2" => (Section::Whole, 1),
            "pwlobj" => (Section::Foreign("piecewise-linear objectives"), 1),
            "end" => (Section::End, 1),
            _ => return None,
        };
        if words == 2 {
            let _ = after.next();
        }
        // Or else it is the name of a row.
        (after.peek() != Ok(Some(Token::Colon))).then_some((section, after))
    }

    fn section(&mut self) -> Option<Section> {
        let (section, after) = self.keyword()?;
        self.lexer = after;
        Some(section)
    }

    /// What a section holds, one after the other.
    fn until_section(&mut self, one: impl Fn(&mut Self) -> Parsed<()>) -> Parsed<()> {
        while self.keyword().is_none() && self.peek()?.is_some() {
            one(self)?;
        }
        Ok(())
    }

    /// `name:`, if it is there.
    fn label(&mut self) -> Option<&'a str> {
        let mut after = self.lexer;
        let (Ok(Some(Token::Name(name))), Ok(Some(Token::Colon))) = (after.next(), after.next()) else {
            return None;
        };
        self.lexer = after;
        Some(name)
    }

    fn objective(&mut self) -> Parsed<()> {
        self.label();
        if self.keyword().is_some() {
            return Ok(());
        }
        let sum = self.sum(true)?;
        for (column, value) in sum.entries {
            self.model.cost[column] = value;
        }
        self.model.constant = sum.constant;
        Ok(())
    }

    /// Signs and terms, up to what begins with no sign.
    fn sum(&mut self, objective: bool) -> Parsed<Sum> {
        let mut sum = Sum::default();
        self.stamp += 1;
        let mut first = true;
        while let Some(sign) = self.sign()?.or(first.then_some(1.0)) {
            first = false;
            match self.peek()? {
                Some(Token::Open) if objective => self.square(sign)?,
                Some(Token::Open) => {
                    return Err(self.bad("quadratic rows are not supported, only a quadratic objective"));
                }
                _ => self.term(sign, &mut sum)?,
            }
        }
        Ok(sum)
    }

    /// Signs, one after the other; `None` if there is none.
    fn sign(&mut self) -> Parsed<Option<f64>> {
        let mut sign = None;
        loop {
            if self.eat(Token::Minus)? {
                sign = Some(-sign.unwrap_or(1.0));
            } else if self.eat(Token::Plus)? {
                sign = Some(sign.unwrap_or(1.0));
            } else {
                return Ok(sign);
            }
        }
    }

    fn term(&mut self, sign: f64, sum: &mut Sum) -> Parsed<()> {
        let factor = self.factor()?;
        // A keyword on a line of its own ends a sum that a number ends.
        let named = matches!(self.peek()?, Some(Token::Name(_)));
        let over = factor.is_some() && self.lexer.starts_line() && self.keyword().is_some();
        if !named || over {
            let Some(value) = factor else { return Err(self.expected("a number or a variable")) };
            sum.constant += sign * value;
            return Ok(());
        }
        let column = self.variable()?;
        if matches!(self.peek()?, Some(Token::Power | Token::Times)) {
            return Err(self.bad("quadratic terms stand in brackets: [ x^2 + 2 x * y ] / 2"));
        }
        if std::mem::replace(&mut self.stamps[column], self.stamp) == self.stamp {
            let name = shorten(&self.model.columns[column]);
            return Err(self.bad(format!("the variable `{name}` stands twice in one sum")));
        }
        sum.entries.push((column, sign * factor.unwrap_or(1.0)));
        Ok(())
    }

    /// A number before a variable.
    fn factor(&mut self) -> Parsed<Option<f64>> {
        let Some(Token::Number(value)) = self.peek()? else { return Ok(None) };
        self.next()?;
        if value.is_finite() { Ok(Some(value)) } else { Err(self.bad("this number is too large")) }
    }

    /// `[ x^2 + 2 x * y ] / 2`: half of it is xᵀQx.
    fn square(&mut self, outer: f64) -> Parsed<()> {
        self.next()?;
        let mut first = true;
        while !self.eat(Token::Close)? {
            let Some(sign) = self.sign()?.or(first.then_some(1.0)) else {
                return Err(self.expected("`+`, `-` or `]`"));
            };
            first = false;
            let half = 0.5 * outer * sign * self.factor()?.unwrap_or(1.0);
            let i = self.variable()?;
            if self.eat(Token::Power)? {
                if !self.eat(Token::Number(2.0))? {
                    return Err(self.expected("2"));
                }
                self.model.quadratic.push((i, i, half));
            } else if self.eat(Token::Times)? {
                let j = self.variable()?;
                // Of x · x both halves are one entry.
                let each = if i == j { half } else { 0.5 * half };
                self.model.quadratic.push((i, j, each));
                if i != j {
                    self.model.quadratic.push((j, i, each));
                }
            } else {
                return Err(self.expected("`^` or `*`"));
            }
        }
        if self.eat(Token::Over)? && self.eat(Token::Number(2.0))? {
            return Ok(());
        }
        Err(self.bad("`/ 2` is expected after `]`"))
    }

    /// The column of the name that comes next, a new one if nothing has named it.
    fn variable(&mut self) -> Parsed<usize> {
        let Some(Token::Name(name)) = self.peek()? else { return Err(self.expected("a variable")) };
        self.next()?;
        if let Some(&column) = self.columns.get(name) {
            return Ok(column);
        }
        let (column, limit) = (self.model.columns.len(), self.limits.variables);
        if column == limit {
            return Err(self.bad(format!("the model has more than {limit} variables, which is the limit")));
        }
        self.columns.insert(name, column);
        self.model.columns.push(name.to_owned());
        self.model.cost.push(0.0);
        self.model.lower.push(0.0);
        self.model.upper.push(f64::INFINITY);
        self.stamps.push(0);
        self.bounded.push([0; 2]);
        Ok(column)
    }

    fn row(&mut self) -> Parsed<()> {
        let label = self.label();
        let name = label.map_or_else(|| self.unnamed(), ToOwned::to_owned);
        if !self.rows.insert(name.clone()) {
            return Err(self.bad(format!("the row `{}` is stated twice", shorten(&name))));
        }
        let left = self.before()?;
        // A row of nothing is there if it has a name.
        let empty = label.is_some() && matches!(self.peek()?, Some(Token::Compare(_)));
        let sum = if empty { Sum::default() } else { self.sum(false)? };
        if sum.constant != 0.0 {
            return Err(self.bad("numbers of a row stand on the side without variables"));
        }
        let right = self.after(left.is_none())?;
        // On a line of its own a sign begins the next row.
        let goes_on = matches!(self.peek()?, Some(Token::Plus | Token::Minus)) && !self.lexer.starts_line();
        if goes_on {
            return Err(self.bad("the variables of a row stand on one side"));
        }
        let [lower, upper] = self.sides(left, right)?;
        if lower.is_finite() || upper.is_finite() {
            self.model.rows.push(Row { name, lower, upper, entries: sum.entries });
        }
        Ok(())
    }

    /// What a row is called that has no name.
    fn unnamed(&self) -> String {
        let mut own = format!("c{}", self.rows.len() + 1);
        while self.rows.contains(&own) {
            own.push('_');
        }
        own
    }

    fn bound(&mut self) -> Parsed<()> {
        let left = self.before()?;
        let column = self.variable()?;
        let line = self.lexer.line();
        if left.is_none()
            && let Some(Token::Name(word)) = self.peek()?
            && word.eq_ignore_ascii_case("free")
        {
            self.next()?;
            return self.bounds(column, [f64::NEG_INFINITY, f64::INFINITY], [true; 2], line);
        }
        let right = self.after(left.is_none())?;
        let stated = [left, right].map(|side| side.map(|(compare, _)| compare));
        let sides = self.sides(left, right)?;
        let both = stated.contains(&Some(Compare::Equal));
        let below = stated.contains(&Some(Compare::Least));
        let above = stated.contains(&Some(Compare::Most));
        self.bounds(column, sides, [both || below, both || above], line)
    }

    fn bounds(
        &mut self,
        column: usize,
        [lower, upper]: [f64; 2],
        stated: [bool; 2],
        line: u64,
    ) -> Parsed<()> {
        for (side, value) in [lower, upper].into_iter().enumerate().filter(|(side, _)| stated[*side]) {
            if std::mem::replace(&mut self.bounded[column][side], line) != 0 {
                let name = shorten(&self.model.columns[column]);
                return Err(Bad::new(line, format!("this bound of `{name}` is stated twice")));
            }
            let own = if side == 0 { &mut self.model.lower } else { &mut self.model.upper };
            own[column] = value;
        }
        Ok(())
    }

    /// `number <=` before what it is about, turned around: `2 <= x` is `x >= 2`.
    fn before(&mut self) -> Parsed<Option<(Compare, f64)>> {
        let start = self.lexer;
        if let Some(value) = self.value()?
            && let Some(Token::Compare(compare)) = self.peek()?
        {
            self.next()?;
            return Ok(Some((compare.turned(), value)));
        }
        self.lexer = start;
        Ok(None)
    }

    /// `<= number`; needed where nothing was before.
    fn after(&mut self, needed: bool) -> Parsed<Option<(Compare, f64)>> {
        let Some(Token::Compare(compare)) = self.peek()? else {
            return if needed { Err(self.expected("`<=`, `>=` or `=`")) } else { Ok(None) };
        };
        self.next()?;
        match self.value()? {
            Some(value) => Ok(Some((compare, value))),
            None => Err(self.expected("a number")),
        }
    }

    /// A number with its signs, or an infinite one.
    fn value(&mut self) -> Parsed<Option<f64>> {
        let start = self.lexer;
        let sign = self.sign()?.unwrap_or(1.0);
        let found = match self.peek()? {
            Some(Token::Number(value)) => Some(sign * value),
            Some(Token::Name(word))
                if ["inf", "infinity"].iter().any(|own| word.eq_ignore_ascii_case(own)) =>
            {
                Some(sign * f64::INFINITY)
            }
            _ => None,
        };
        if found.is_some() {
            self.next()?;
        } else {
            self.lexer = start;
        }
        Ok(found)
    }

    /// Least and most of what is compared with one number or two.
    fn sides(&self, left: Option<(Compare, f64)>, right: Option<(Compare, f64)>) -> Parsed<[f64; 2]> {
        let mut sides = [f64::NEG_INFINITY, f64::INFINITY];
        if let (Some((a, _)), Some((b, _))) = (left, right)
            && (a == b || a == Compare::Equal || b == Compare::Equal)
        {
            return Err(self.bad("a range has the form `1 <= … <= 2`"));
        }
        for (compare, value) in left.into_iter().chain(right) {
            if compare != Compare::Most {
                sides[0] = value;
            }
            if compare != Compare::Least {
                sides[1] = value;
            }
        }
        // From 1e20 on a limit is none.
        let wrong = sides[0] >= INFINITE || sides[1] <= -INFINITE;
        if wrong {
            return Err(self.bad("nothing is beyond infinity"));
        }
        let none = |side: f64, value: f64| if side.abs() >= INFINITE { value } else { side };
        Ok([none(sides[0], f64::NEG_INFINITY), none(sides[1], f64::INFINITY)])
    }

    fn finish(mut self) -> Parsed<Model> {
        if self.model.columns.is_empty() {
            return Err(self.bad("the model has no variables"));
        }
        let negative = |j: &usize| self.bounded[*j][0] == 0 && self.model.upper[*j] < 0.0;
        if let Some(j) = (0..self.model.columns.len()).find(negative) {
            let name = shorten(&self.model.columns[j]);
            let what = format!("`{name}` has an upper bound below 0 and no lower one");
            return Err(
                Bad::new(self.bounded[j][1], what).hint("solvers differ on what that means: state both")
            );
        }
        self.model.quadratic.sort_by_key(|(i, j, _)| (*i, *j));
        if let Some(twice) = self.model.quadratic.windows(2).find(|w| (w[0].0, w[0].1) == (w[1].0, w[1].1)) {
            let [a, b] = [twice[0].0, twice[0].1].map(|j| shorten(&self.model.columns[j]));
            return Err(Bad::new(0, format!("the quadratic term of `{a}` and `{b}` is stated twice")));
        }
        Ok(self.model)
    }
}
