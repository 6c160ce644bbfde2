//! Names and their indices: which variable or number is meant.

use std::ops::Range;

use super::Fault;
use super::ast::{Index, IndexKind};
use super::expand::{Bound, Class, Env, Expanded, Expander};
use super::form::Form;
use super::model::{Quantity, Symbol, Values, Variable};
use super::number::{Factors, Number};
use super::sets::{Domain, Label};
use crate::error::{count, shorten};

/// Where a shifted index leaves its set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outside {
    Before,
    After,
}

impl Expander<'_> {
    /// A variable or a quantity by name.
    pub(super) fn name<'e>(
        &self,
        name: &str,
        at: &'e [Index],
        span: &Range<usize>,
        env: &mut Env<'e>,
        class: Class,
    ) -> Expanded<Form> {
        let fault = |what: String| Fault::new(span.clone(), what);
        match self.model.symbols.get(name) {
            Some(&Symbol::Variable(v)) => {
                let variable = &self.model.variables[v];
                if class == Class::Number {
                    return Err(fault(format!(
                        "`{}` is a variable, and a number is needed here",
                        shorten(name)
                    ))
                    .hint("a bound that depends on variables is a row: [[hard]]"));
                }
                match self.find(name, &variable.domain, variable.cyclic, at, span, env)? {
                    Ok(place) => Ok(Form::variable(variable.first + place)),
                    Err((outside, set)) => self.beyond(variable, at, outside, set, span, env),
                }
            }
            Some(&Symbol::Quantity(q)) => {
                let quantity = &self.model.quantities[q];
                let place =
                    self.find(name, &quantity.domain, false, at, span, env)?.map_err(|(outside, i)| {
                        self.leaves(name, outside, quantity.domain.sets[i], span, env)
                            .hint("leave these rows out, as in for = \"h in hour if h != 0\"")
                    })?;
                Ok(Form::from(self.value(quantity, place)))
            }
            Some(Symbol::Set(_)) => Err(fault(format!("`{}` is a set, not a number", shorten(name)))
                .hint("sets stand behind `in`: sum(h in hour: …)")),
            None if env.iter().any(|bound| bound.name == name) => {
                Err(fault(format!("`{}` is an index, not a number", shorten(name)))
                    .hint("numbers that differ by member are a quantity: price[h]"))
            }
            None => {
                let fault = fault(format!("there is no variable or quantity `{}`", shorten(name)));
                Err(match self.model.near(name) {
                    Some(near) => fault.hint(format!("did you mean `{near}`?")),
                    None => fault.hint("variables are declared in [variables], numbers in [quantities]"),
                })
            }
        }
    }

    fn value(&self, quantity: &Quantity, place: usize) -> Number {
        match &quantity.values {
            Values::Fixed(values) => Number::from(values[place]),
            Values::Columns(first) => {
                let column = first + place;
                self.met.borrow_mut().insert(column);
                let predicted = self.model.columns[column].predicted;
                Number::of(if predicted {
                    Factors::Predicted(column, None)
                } else {
                    Factors::Known(column, None)
                })
            }
        }
    }

    /// The member that the indices mean, or where the first that is shifted too far leaves which set.
    fn find(
        &self,
        name: &str,
        domain: &Domain,
        cyclic: bool,
        at: &[Index],
        span: &Range<usize>,
        env: &Env<'_>,
    ) -> Expanded<Result<usize, (Outside, usize)>> {
        let sets = &self.model.sets;
        let width = domain.width(sets);
        if at.len() != width {
            let needs = if width == 0 {
                "has no index".to_owned()
            } else {
                format!(
                    "has {} (for {})",
                    count(width, "index").replace("indexs", "indices"),
                    domain.words(sets)
                )
            };
            let what = format!("`{}` {needs}, and {} in brackets here", shorten(name), written(at.len()));
            return Err(Fault::new(span.clone(), what));
        }
        let mut positions = Vec::with_capacity(domain.sets.len());
        let mut rest = at;
        for (i, &s) in domain.sets.iter().enumerate() {
            let (own, others) = rest.split_at(sets[s].width);
            rest = others;
            match self.position(s, cyclic, own, env)? {
                Ok(position) => positions.push(position),
                Err(outside) => return Ok(Err((outside, i))),
            }
        }
        Ok(Ok(domain.flat(sets, &positions)))
    }

    /// The member of a set that some indices mean, shifts included.
    fn position(
        &self,
        s: usize,
        cyclic: bool,
        own: &[Index],
        env: &Env<'_>,
    ) -> Expanded<Result<usize, Outside>> {
        let set = &self.model.sets[s];
        let member = own.iter().map(|index| self.label(index, env)).collect::<Expanded<Vec<Label>>>()?;
        let here = own[0].span.start..own[own.len() - 1].span.end;
        let Some(position) = set.position(&member) else {
            let member = self.model.indexed("", &member);
            let what = format!("`{}` has no member {}{}", set.name, shorten(&member), self.words(env));
            return Err(Fault::new(here, what));
        };
        let shift = own.iter().map(|index| index.kind.shift()).find(|&shift| shift != 0).unwrap_or(0);
        if shift != 0 && set.width > 1 {
            let what = format!("`{}` is a set of pairs: its indices have no order to shift by", set.name);
            return Err(Fault::new(here, what));
        }
        let (length, turn) = (set.len(), shift.unsigned_abs() % set.len());
        Ok(match position.checked_add_signed(shift) {
            _ if cyclic && shift < 0 => Ok((position + length - turn) % length),
            _ if cyclic => Ok((position + turn) % length),
            None => Err(Outside::Before),
            Some(after) if after >= length => Err(Outside::After),
            Some(shifted) => Ok(shifted),
        })
    }

    /// What a variable is stated to be outside its set.
    fn beyond<'e>(
        &self,
        variable: &Variable,
        at: &'e [Index],
        outside: Outside,
        set: usize,
        span: &Range<usize>,
        env: &Env<'e>,
    ) -> Expanded<Form> {
        let (stated, key) = match outside {
            Outside::Before => (&variable.before, "before"),
            Outside::After => (&variable.after, "after"),
        };
        let Some(text) = stated else {
            return Err(self.leaves(&variable.name, outside, variable.domain.sets[set], span, env).hint(format!(
                "say what it is there: {key} = 0.0 (or a quantity) at `{}` in [variables], or cyclic = true; or \
                 leave these rows out, as in for = \"h in hour if h != 0\"",
                variable.name
            )));
        };
        // The expression is in the variable's own indices, without the one that is outside.
        let mut own: Env<'_> = Vec::new();
        let mut rest = at;
        for (i, &s) in variable.domain.sets.iter().enumerate() {
            let (indices, others) = rest.split_at(self.model.sets[s].width);
            rest = others;
            let names = variable.domain.names.get(i).map_or(&[][..], Vec::as_slice);
            if i == set {
                continue;
            }
            let place = self.position(s, false, indices, env)?;
            let place = place.map_err(|outside| self.leaves(&variable.name, outside, s, span, env))?;
            for (name, &label) in names.iter().zip(self.model.sets[s].member(place)) {
                own.push(Bound { name, label, place: None });
            }
        }
        Ok(Form::from(self.number(text, &mut own)?))
    }

    fn leaves(&self, name: &str, outside: Outside, set: usize, span: &Range<usize>, env: &Env<'_>) -> Fault {
        let set = &self.model.sets[set].name;
        let side = match outside {
            Outside::Before => "before the first",
            Outside::After => "after the last",
        };
        let what = format!("this is `{}` {side} member of `{set}`{}", shorten(name), self.words(env));
        Fault::new(span.clone(), what)
    }

    pub(super) fn label(&self, index: &Index, env: &Env<'_>) -> Expanded<Label> {
        match &index.kind {
            IndexKind::Member(name) => self.model.labels.find(name).ok_or_else(|| {
                Fault::new(index.span.clone(), format!("no set has a member `{}`", shorten(name)))
            }),
            IndexKind::Name(name, _) => {
                let bound = env.iter().rev().find(|bound| bound.name == name).map(|bound| bound.label);
                bound.ok_or_else(|| {
                    let what = format!("there is no index `{}` here", shorten(name));
                    let hint = if self.model.labels.find(name).is_some() {
                        format!("a member is written in quotes: '{}'", shorten(name))
                    } else {
                        "indices come from `for = \"h in hour\"` or sum(h in hour: …)".to_owned()
                    };
                    Fault::new(index.span.clone(), what).hint(hint)
                })
            }
        }
    }
}

fn written(found: usize) -> String {
    match found {
        0 => "none stands".to_owned(),
        1 => "one stands".to_owned(),
        more => format!("{more} stand"),
    }
}

impl IndexKind {
    pub(super) fn shift(&self) -> isize {
        match self {
            Self::Name(_, shift) => *shift,
            Self::Member(_) => 0,
        }
    }
}
