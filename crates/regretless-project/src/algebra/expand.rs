//! Expressions evaluated for one choice of their indices.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::ops::Range;

use super::Fault;
use super::ast::{Expr, Kind};
use super::form::{Beyond, Form};
use super::model::{Model, Text};
use super::number::{Clash, Number};
use super::sets::Label;
use crate::error::shorten;

/// An index that has a value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bound<'a> {
    pub(super) name: &'a str,
    pub(super) label: Label,
    /// The set that it runs over, and where in it; none for a part of a pair.
    pub(super) place: Option<(usize, usize)>,
}

/// The indices that have values.
pub(super) type Env<'a> = Vec<Bound<'a>>;

/// What an expression may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Class {
    /// Numbers only: bounds, prices.
    Number,
    /// Variables, to the first power: rows.
    Linear,
    /// Products of two variables: objectives.
    Quadratic,
}

pub(super) type Expanded<T> = Result<T, Fault>;

/// Evaluates within limits.
pub(super) struct Expander<'m> {
    pub(super) model: &'m Model,
    /// Steps that are left.
    steps: Cell<usize>,
    /// Coefficients that may be kept at once.
    terms: usize,
    /// Columns that were met.
    pub(super) met: RefCell<BTreeSet<usize>>,
}

impl<'m> Expander<'m> {
    /// At most `terms` coefficients, and so many steps for each.
    pub(super) fn new(model: &'m Model, terms: usize) -> Self {
        Self { model, steps: Cell::new(terms.saturating_mul(16)), terms, met: RefCell::default() }
    }

    /// Counts work before it is done.
    pub(super) fn spend(&self, steps: usize, span: &Range<usize>) -> Expanded<()> {
        let left = self.steps.get().checked_sub(steps);
        self.steps.set(left.unwrap_or(0));
        left.map(|_| ()).ok_or_else(|| self.too_much(span))
    }

    /// Refuses what would be kept beyond the limit.
    pub(super) fn keep(&self, terms: usize, span: &Range<usize>) -> Expanded<()> {
        if terms > self.terms { Err(self.too_much(span)) } else { Ok(()) }
    }

    fn too_much(&self, span: &Range<usize>) -> Fault {
        let what = format!("this expands to more than the limit of {} terms", self.terms);
        Fault::new(span.clone(), what).hint("smaller sets, or sums over fewer of them, make it smaller")
    }

    /// `expr` with what `env` says of its indices.
    pub(super) fn form<'e>(&self, expr: &'e Expr, env: &mut Env<'e>, class: Class) -> Expanded<Form> {
        let mut out = Form::default();
        self.add(expr, 1.0, env, class, &mut out)?;
        Ok(out)
    }

    /// `expr` as a number, and nothing else.
    pub(super) fn number<'e>(&self, text: &'e Text, env: &mut Env<'e>) -> Expanded<Number> {
        let form = self.form(&text.expr, env, Class::Number).map_err(|fault| fault.at(&text.key))?;
        Ok(form.constant)
    }

    /// out + scale · expr: sums add up in place.
    fn add<'e>(
        &self,
        expr: &'e Expr,
        scale: f64,
        env: &mut Env<'e>,
        class: Class,
        out: &mut Form,
    ) -> Expanded<()> {
        self.spend(1, &expr.span)?;
        match &expr.kind {
            Kind::Added(terms) => {
                for (minus, term) in terms {
                    self.add(term, if *minus { -scale } else { scale }, env, class, out)?;
                }
            }
            Kind::Sum { over, body } => {
                self.each(over, env, &mut |env| self.add(body, scale, env, class, out))?;
            }
            Kind::Number(value) => out.constant.fixed += scale * value,
            Kind::Name { name, at } => out.add(&self.name(name, at, &expr.span, env, class)?, scale),
            Kind::Square(base) => {
                let base = self.form(base, env, class)?;
                out.add(&self.product(&base, &base, expr, class)?, scale);
            }
            Kind::Product(factors) => {
                let mut product = Form::from(Number::from(1.0));
                for (divides, factor) in factors {
                    let form = self.form(factor, env, class)?;
                    product = if *divides {
                        let by = self.divisor(&form, factor, env)?;
                        let mut quotient = Form::default();
                        quotient.add(&product, 1.0 / by);
                        quotient
                    } else {
                        self.product(&product, &form, expr, class)?
                    };
                }
                out.add(&product, scale);
            }
        }
        self.keep(out.terms(), &expr.span)
    }

    fn product(&self, left: &Form, right: &Form, expr: &Expr, class: Class) -> Expanded<Form> {
        if left.degree() == 1 && right.degree() == 1 && class < Class::Quadratic {
            return Err(Fault::new(expr.span.clone(), "two variables are multiplied, and rows are linear")
                .hint("products of variables stand in the objective only, where they are convex"));
        }
        // Every pair of terms is looked at; of a square two come to the same.
        let work = left.terms().saturating_mul(right.terms());
        self.spend(work, &expr.span)?;
        self.keep(work / 2, &expr.span)?;
        left.times(right).map_err(|beyond| {
            let fault = |what: String| Fault::new(expr.span.clone(), what);
            let column = |i: usize| &self.model.columns[i].stands_for;
            match beyond {
                Beyond::Cubic => fault("more than two variables are multiplied".into())
                    .hint("objectives are linear or convex quadratic"),
                Beyond::Columns(Clash::Predicted(l, r)) => fault(format!(
                    "two predicted numbers are multiplied, `{}` and `{}`",
                    shorten(column(l)),
                    shorten(column(r))
                ))
                .hint(
                    "predict their product, as a column of its own; or make one of them `known` or a `value`",
                ),
                Beyond::Columns(Clash::Three(one)) => fault(format!(
                    "more than two columns of the table are multiplied, `{}` is one",
                    shorten(column(one))
                ))
                .hint("write the product of those that are known into a column of its own"),
            }
        })
    }

    /// A fixed number that is not 0.
    fn divisor(&self, form: &Form, expr: &Expr, env: &Env<'_>) -> Expanded<f64> {
        let fault = |what: &str| Fault::new(expr.span.clone(), what.to_owned());
        if form.degree() > 0 {
            return Err(fault("this divides by a variable").hint(
                "multiply the row by it if that leaves it linear: x / y <= 2 with y >= 0 is x <= 2 * y",
            ));
        }
        if !form.constant.is_fixed() {
            return Err(fault("this divides by a number that differs from row to row")
                .hint("have its reciprocal as a column, and multiply"));
        }
        if form.constant.fixed == 0.0 {
            return Err(Fault::new(expr.span.clone(), format!("this divides by 0{}", self.words(env))));
        }
        Ok(form.constant.fixed)
    }

    /// The indices in words: ` where h = 0, u = gas`.
    pub(super) fn words(&self, env: &Env<'_>) -> String {
        if env.is_empty() {
            return String::new();
        }
        let one = |b: &Bound<'_>| format!("{} = {}", b.name, shorten(self.model.labels.name(b.label)));
        format!(" where {}", env.iter().map(one).collect::<Vec<_>>().join(", "))
    }

    /// The members that the indices have.
    pub(super) fn labels(env: &Env<'_>) -> Vec<Label> {
        env.iter().map(|bound| bound.label).collect()
    }
}
