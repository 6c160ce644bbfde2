//! Bounds, objectives and rows, member by member.

use super::ast::{Relation, Sign};
use super::expand::{Class, Env, Expander};
use super::form::Form;
use super::model::{Model, Text, Variable};
use super::number::Number;
use super::statement::{Block, Row};
use super::{Fault, parse};
use crate::data::Allowed;
use crate::error::{Result, Trouble, shorten};
use crate::key::Key;
use crate::resolve::Context;

/// A section of rows, with its prices.
pub(super) struct Section<'a> {
    pub(super) key: Key,
    pub(super) name: String,
    pub(super) for_: Option<&'a str>,
    pub(super) row: &'a str,
    pub(super) soft: bool,
    pub(super) over: Option<Text>,
    pub(super) under: Option<Text>,
}

/// What was made so far.
pub(super) struct Kept {
    pub(super) variables: usize,
    pub(super) terms: usize,
    pub(super) rows: usize,
}

pub(super) struct Writer<'a> {
    pub(super) ctx: &'a Context<'a>,
    pub(super) expander: Expander<'a>,
    pub(super) model: &'a Model,
}

impl Writer<'_> {
    /// One bound for every variable.
    pub(super) fn bounds(
        &self,
        side: &str,
        none: f64,
        of: fn(&Variable) -> Option<&Text>,
    ) -> Result<Vec<Number>> {
        let allowed = if side == "lower" { Allowed::Lower } else { Allowed::Upper };
        let mut all = Vec::new();
        for variable in &self.model.variables {
            let Some(text) = of(variable) else {
                all.extend(std::iter::repeat_n(Number::from(none), variable.domain.len(&self.model.sets)));
                continue;
            };
            let own = variable.domain.binders(&self.model.sets);
            let each = self.expander.each(&own, &mut Vec::new(), &mut |env| {
                let number = self.expander.number(text, env)?;
                let wrong =
                    if number.is_fixed() { allowed.check(number.fixed).err() } else { finite(&number) };
                if let Some(trouble) = wrong {
                    let what = format!("{trouble}{}", self.expander.words(env));
                    return Err(Fault::new(text.expr.span.clone(), what).at(&text.key));
                }
                all.push(number);
                Ok(())
            });
            each.map_err(|fault| self.ctx.fault(&text.key, fault))?;
        }
        Ok(all)
    }

    pub(super) fn objective(&self, key: &Key, text: &str) -> Result<Form> {
        let expand = || {
            let expr = parse::expression(text)?;
            let mut form = self.expander.form(&expr, &mut Vec::new(), Class::Quadratic)?;
            form.tidy();
            if !form.is_finite() {
                return Err(Fault::new(expr.span, "a coefficient is not finite"));
            }
            if let Some((factors, _)) = form.constant.terms.first_key_value() {
                let column = factors.columns().next().map_or("", |i| &self.model.columns[i].stands_for);
                let what = format!("`{}` stands here without a variable", shorten(column));
                return Err(Fault::new(expr.span, what)
                    .hint("no decision depends on that part of the objective: leave it out"));
            }
            Ok(form)
        };
        expand().map_err(|fault| self.ctx.fault(key, fault))
    }

    pub(super) fn rows(&self, section: Section<'_>, kept: &mut Kept) -> Result<Block> {
        let (row_key, for_key) = (section.key.key("row"), section.key.key("for"));
        let relation = parse::row(section.row).map_err(|fault| self.ctx.fault(&row_key, fault))?;
        let over =
            section.for_.map(parse::indices).transpose().map_err(|fault| self.ctx.fault(&for_key, fault))?;
        let over = over.unwrap_or_default();
        let mut rows = Vec::new();
        let each = self.expander.each(&over, &mut Vec::new(), &mut |env| {
            self.row(&section, &relation, env, &mut rows, kept).map_err(|fault| fault.at(&row_key))
        });
        each.map_err(|fault| self.ctx.fault(&for_key, fault))?;
        if rows.is_empty() {
            return Err(self.ctx.fail(&for_key, Trouble::Empty("no member passes, so there is no row")));
        }
        let (text, for_) = (section.row.to_owned(), section.for_.map(str::to_owned));
        Ok(Block { name: section.name, soft: section.soft, text, for_, rows })
    }

    /// A soft row has a price for each side that it has, and no other.
    fn priced(section: &Section<'_>, relation: &Relation, sign: Sign) -> std::result::Result<(), Fault> {
        let refuse = |key: &Key, what: String, hint: &str| Err(Fault::new(0..0, what).hint(hint).at(key));
        let (over, under) = (section.over.is_some(), section.under.is_some());
        let (word, needed, extra, lacks) = match sign {
            _ if relation.rest.len() == 2 => {
                ("with two limits", "`over` and `under`", None, !(over && under))
            }
            Sign::AtMost => ("<=", "`over`", under.then_some("under"), !over),
            Sign::AtLeast => (">=", "`under`", over.then_some("over"), !under),
            Sign::Equal => ("=", "`over` or `under`", None, !(over || under)),
        };
        if lacks {
            let what = format!("a soft row {word} needs the price of a unit, {needed}");
            return refuse(&section.key, what, "rows without a price are [[hard]]");
        }
        if let Some(extra) = extra {
            let what = format!("a soft row {word} has no side for `{extra}`");
            return refuse(&section.key.key(extra), what, "a row that costs on both sides is written with =");
        }
        Ok(())
    }

    fn row<'e>(
        &self,
        section: &'e Section<'_>,
        relation: &'e Relation,
        env: &mut Env<'e>,
        rows: &mut Vec<Row>,
        kept: &mut Kept,
    ) -> std::result::Result<(), Fault> {
        let name = self.model.indexed(&section.name, &Expander::labels(env));
        let (over, under) =
            (self.price(section.over.as_ref(), env)?, self.price(section.under.as_ref(), env)?);
        let mut left = self.expander.form(&relation.first, env, Class::Linear)?;
        let mut span = relation.first.span.clone();
        for (sign, side) in &relation.rest {
            let right = self.expander.form(side, env, Class::Linear)?;
            span.end = side.span.end;
            // 2 <= x reads x >= 2.
            let flips = left.degree() == 0 && right.degree() > 0;
            let (mut row, other, sign) =
                if flips { (right.clone(), &left, sign.flipped()) } else { (left.clone(), &right, *sign) };
            if section.soft {
                Self::priced(section, relation, sign)?;
            }
            row.add(other, -1.0);
            row.tidy();
            if row.degree() == 0 {
                let what = format!("this row has no variable{}", self.expander.words(env));
                return Err(
                    Fault::new(span, what).hint("leave it out, as in for = \"n in node if n != 'depot'\"")
                );
            }
            if !row.is_finite() {
                return Err(Fault::new(span, format!("a number is not finite{}", self.expander.words(env))));
            }
            kept.terms += row.terms();
            kept.rows += 1;
            self.expander.keep(kept.terms, &span)?;
            let (count, n) = (kept.rows, kept.variables);
            if count.saturating_mul(n) > self.ctx.limits.entries {
                let what = format!("these would be more than {} rows × {n} variables", count - 1);
                return Err(Fault::new(span, what)
                    .hint("the engine works with dense matrices: this would not fit into memory"));
            }
            rows.push(Row {
                name: name.clone(),
                sign,
                limit: row.constant.scaled(-1.0),
                entries: row.linear.into_iter().collect(),
                over: if sign == Sign::AtLeast { Number::default() } else { over.clone() },
                under: if sign == Sign::AtMost { Number::default() } else { under.clone() },
            });
            left = right;
        }
        Ok(())
    }

    fn price<'e>(&self, text: Option<&'e Text>, env: &mut Env<'e>) -> std::result::Result<Number, Fault> {
        let Some(text) = text else { return Ok(Number::default()) };
        let number = self.expander.number(text, env)?;
        let wrong =
            if number.is_fixed() { Allowed::Price.check(number.fixed).err() } else { finite(&number) };
        match wrong {
            Some(trouble) => {
                let what = format!("{trouble}{}", self.expander.words(env));
                Err(Fault::new(text.expr.span.clone(), what).at(&text.key))
            }
            None => Ok(number),
        }
    }
}

fn finite(number: &Number) -> Option<Trouble> {
    (!number.is_finite()).then_some(Trouble::NotFinite(number.fixed))
}
