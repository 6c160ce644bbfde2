//! Indices that run over sets, and filters.

use std::ops::Range;

use super::Fault;
use super::ast::{Binders, Filter, Index, IndexKind, Test};
use super::expand::{Bound, Env, Expanded, Expander};
use super::model::Symbol;
use super::sets::Label;
use crate::error::{count, shorten};

/// A name that is there twice.
pub(super) fn repeated(names: &[String]) -> Option<&String> {
    names.iter().enumerate().find_map(|(i, name)| names[..i].contains(name).then_some(name))
}

impl Expander<'_> {
    /// Calls `body` with every choice of the indices that the filters let through.
    pub(super) fn each<'e>(
        &self,
        over: &'e Binders,
        env: &mut Env<'e>,
        body: &mut dyn FnMut(&mut Env<'e>) -> Expanded<()>,
    ) -> Expanded<()> {
        self.bind(over, 0, env, body)
    }

    fn bind<'e>(
        &self,
        over: &'e Binders,
        i: usize,
        env: &mut Env<'e>,
        body: &mut dyn FnMut(&mut Env<'e>) -> Expanded<()>,
    ) -> Expanded<()> {
        let Some(binder) = over.binders.get(i) else {
            for filter in &over.filters {
                if !self.passes(filter, env)? {
                    return Ok(());
                }
            }
            return body(env);
        };
        let s = self.set(&binder.set, &binder.span)?;
        let set = &self.model.sets[s];
        if !binder.names.is_empty() && binder.names.len() != set.width {
            let what = format!("`{}` has members of {}", set.name, count(set.width, "name"));
            let names = ["(i, j)", "i"][usize::from(set.width == 1)];
            return Err(Fault::new(binder.span.clone(), what).hint(format!("write {names} in {}", set.name)));
        }
        let before = env.len();
        if let Some(name) = binder.names.iter().find(|name| self.model.symbols.contains_key(*name)) {
            let what = format!("`{}` is a name of this problem already", shorten(name));
            return Err(Fault::new(binder.span.clone(), what).hint("give the index another name"));
        }
        // In a pair, an index that has a value already picks the members that fit.
        let bound = |name: &String, env: &Env<'_>| env.iter().rev().find(|b| b.name == name).map(|b| b.label);
        if set.width == 1 && binder.names.iter().any(|name| bound(name, env).is_some()) {
            let what = format!("the index `{}` has a value here already", shorten(&binder.names[0]));
            return Err(Fault::new(binder.span.clone(), what).hint("give this one another name"));
        }
        if let Some(twice) = repeated(&binder.names) {
            let what = format!("the index `{}` stands twice", shorten(twice));
            return Err(Fault::new(binder.span.clone(), what)
                .hint("give the second another name, and compare them: sum((i, j) in arc if i = j: …)"));
        }
        let fixed: Vec<Option<Label>> = binder.names.iter().map(|name| bound(name, env)).collect();
        for position in 0..set.len() {
            self.spend(1, &binder.span)?;
            let member = set.member(position);
            if fixed.iter().zip(member).any(|(fixed, label)| fixed.is_some_and(|fixed| fixed != *label)) {
                continue;
            }
            let place = (set.width == 1).then_some((s, position));
            // One that had a value keeps it, with its place.
            let new = binder.names.iter().zip(member).zip(&fixed).filter(|(_, fixed)| fixed.is_none());
            env.extend(new.map(|((name, &label), _)| Bound { name, label, place }));
            self.bind(over, i + 1, env, body)?;
            env.truncate(before);
        }
        Ok(())
    }

    /// The set of that name.
    pub(super) fn set(&self, name: &str, span: &Range<usize>) -> Expanded<usize> {
        if let Some(&Symbol::Set(s)) = self.model.symbols.get(name) {
            return Ok(s);
        }
        let fault = Fault::new(span.clone(), format!("there is no set `{}`", shorten(name)));
        let known: Vec<String> = self.model.sets.iter().map(|set| set.name.clone()).collect();
        Err(match crate::suggest::nearest(name, &known) {
            Some(near) => fault.hint(format!("did you mean `{near}`?")),
            None => fault.hint("sets are declared in [sets], such as hour = 24"),
        })
    }

    fn passes(&self, filter: &Filter, env: &Env<'_>) -> Expanded<bool> {
        let plain = |index: &Index| index.kind.shift() == 0;
        if plain(&filter.left) && plain(&filter.right) && matches!(filter.test, Test::Equal | Test::Unequal) {
            let same = self.label(&filter.left, env)? == self.label(&filter.right, env)?;
            return Ok(same == (filter.test == Test::Equal));
        }
        let set = |index: &Index| match &index.kind {
            IndexKind::Name(name, _) => env.iter().rev().find(|b| b.name == name).and_then(|b| b.place),
            IndexKind::Member(_) => None,
        };
        let (left, right) = (set(&filter.left), set(&filter.right));
        let Some((s, _)) = left.or(right).filter(|_| left.is_none_or(|l| right.is_none_or(|r| l.0 == r.0)))
        else {
            let what = "only members of one set have an order";
            return Err(Fault::new(filter.span.clone(), what).hint("compare with = or !="));
        };
        let place = |index: &Index| -> Expanded<isize> {
            let label = self.label(index, env)?;
            let set = &self.model.sets[s];
            let position = set.position(&[label]).ok_or_else(|| {
                let what =
                    format!("`{}` is no member of `{}`", shorten(self.model.labels.name(label)), set.name);
                Fault::new(index.span.clone(), what)
            })?;
            Ok(isize::try_from(position).unwrap_or(isize::MAX) + index.kind.shift())
        };
        let (left, right) = (place(&filter.left)?, place(&filter.right)?);
        Ok(match filter.test {
            Test::Equal => left == right,
            Test::Unequal => left != right,
            Test::Below => left < right,
            Test::AtMost => left <= right,
            Test::Above => left > right,
            Test::AtLeast => left >= right,
        })
    }
}
