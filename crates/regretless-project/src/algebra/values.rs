//! ValueSetting over sets: written out, from a file, or from columns of the table.

use super::model::{Column, Model, Values};
use super::sets::{Domain, Label};
use super::tables;
use crate::data::Allowed;
use crate::error::{Result, SpecError, Trouble, count, shorten};
use crate::file::{QuantityTable, ValueSetting};
use crate::key::Key;
use crate::resolve::Context;

/// The values of one quantity.
pub(super) fn values(
    ctx: &Context<'_>,
    model: &mut Model,
    key: &Key,
    name: &str,
    domain: &Domain,
    written: &QuantityTable,
) -> Result<Values> {
    let limit = ctx.limits.terms;
    let found = domain.len(&model.sets);
    if found > limit {
        return Err(ctx.fail(&key.key("for"), Trouble::TooManyEntries { found, limit }));
    }
    let for_file = [("key", written.key.is_some()), ("column", written.column.is_some())];
    if let Some((word, _)) = for_file.iter().find(|(_, there)| *there && written.file.is_none()) {
        let trouble =
            Trouble::Misfit(format!("`{word}` says where the numbers of a `file` are, and there is none"));
        return Err(ctx.fail(&key.key(word), trouble));
    }
    match (&written.value, &written.file, &written.known, &written.predict) {
        (Some(value), None, None, None) => {
            let mut fill = Fill { ctx, model, values: Vec::with_capacity(found) };
            fill.set(&key.key("value"), value, &domain.sets)?;
            Ok(Values::Fixed(fill.values))
        }
        (None, Some(file), None, None) => {
            let keys = match &written.key {
                Some(keys) => keys.0.clone(),
                None => domain.sets.iter().flat_map(|&s| model.sets[s].keys.clone()).collect(),
            };
            let column = written.column.as_deref().unwrap_or(name);
            from_file(ctx, model, key, domain, file, &keys, column)
        }
        (None, None, Some(columns), None) => {
            from_columns(ctx, model, &key.key("known"), name, domain, &columns.0, false)
        }
        (None, None, None, Some(columns)) => {
            from_columns(ctx, model, &key.key("predict"), name, domain, &columns.0, true)
        }
        _ => {
            let trouble =
                Trouble::OneOf("a quantity has exactly one of `value`, `file`, `known` and `predict`");
            Err(ctx
                .fail(key, trouble)
                .hint("fixed numbers are a `value` or a `file`, columns of the data `known` or `predict`"))
        }
    }
}

/// ValueSetting that are written out, member by member.
struct Fill<'a> {
    ctx: &'a Context<'a>,
    model: &'a Model,
    values: Vec<f64>,
}

impl Fill<'_> {
    fn set(&mut self, key: &Key, written: &ValueSetting, sets: &[usize]) -> Result<()> {
        if let ValueSetting::Number(value) = written {
            Allowed::Finite.check(*value).map_err(|trouble| self.ctx.fail(key, trouble))?;
            let members = sets.iter().map(|&s| self.model.sets[s].len()).product();
            self.values.extend(std::iter::repeat_n(*value, members));
            return Ok(());
        }
        let Some((&first, others)) = sets.split_first() else {
            let trouble = Trouble::Shape { expected: "one number".into(), found: "several".into() };
            return Err(self
                .ctx
                .fail(key, trouble)
                .hint("numbers that differ by member need a set: for = \"hour\""));
        };
        let set = &self.model.sets[first];
        match written {
            ValueSetting::Number(_) => Ok(()),
            ValueSetting::List(list) => {
                if list.len() != set.len() {
                    let expected =
                        format!("{}, one for each member of `{}`", count(set.len(), "entry"), set.name);
                    let expected = expected.replace("entrys", "entries");
                    let trouble = Trouble::Shape { expected, found: list.len().to_string() };
                    return Err(self.ctx.fail(key, trouble));
                }
                list.iter().enumerate().try_for_each(|(i, value)| self.set(&key.index(i), value, others))
            }
            ValueSetting::Table(table) => {
                if set.width > 1 {
                    let what =
                        format!("`{}` is a set of pairs: its numbers are a list or a `file`", set.name);
                    return Err(self.ctx.fail(key, Trouble::Misfit(what)));
                }
                let known: Vec<String> =
                    (0..set.len()).map(|i| self.model.labels.name(set.member(i)[0]).to_owned()).collect();
                if let Some(extra) = table.keys().find(|name| !known.contains(name)) {
                    let what = format!("`{}` is no member of `{}`", shorten(extra), set.name);
                    let error = self.ctx.fail(&key.key(extra), Trouble::Misfit(what));
                    return Err(match crate::suggest::nearest(extra, &known) {
                        Some(near) => error.hint(format!("did you mean `{}`?", shorten(near))),
                        None => error,
                    });
                }
                for name in &known {
                    let value = table.get(name).ok_or_else(|| {
                        let what = format!("there is no number for `{}` of `{}`", shorten(name), set.name);
                        self.ctx.fail(key, Trouble::Misfit(what))
                    })?;
                    self.set(&key.key(name), value, others)?;
                }
                Ok(())
            }
        }
    }
}

fn from_file(
    ctx: &Context<'_>,
    model: &Model,
    key: &Key,
    domain: &Domain,
    file: &std::path::Path,
    keys: &[String],
    column: &str,
) -> Result<Values> {
    let sets = &model.sets;
    let width = domain.width(sets);
    if keys.len() != width {
        let expected =
            format!("{}, one for each index of {}", count(width, "key column"), domain.words(sets));
        return Err(ctx.fail(&key.key("key"), Trouble::Shape { expected, found: keys.len().to_string() }));
    }
    let mut values = vec![None; domain.len(sets)];
    tables::records(ctx, key, file, keys, Some(column), |record| {
        let labels: Option<Vec<Label>> = record.keys.iter().map(|name| model.labels.find(name)).collect();
        let place = labels.and_then(|labels| {
            let mut rest = labels.as_slice();
            let positions = domain.sets.iter().map(|&s| {
                let (own, others) = rest.split_at(sets[s].width);
                rest = others;
                sets[s].position(own)
            });
            positions.collect::<Option<Vec<_>>>().map(|positions| domain.flat(sets, &positions))
        });
        let member = || shorten(&record.keys.join(", "));
        let Some(place) = place else {
            let what = format!("`{}` is no member of {}", member(), domain.words(sets));
            return Err(SpecError::new(record.place, Trouble::Misfit(what))
                .hint(format!("the file is read for `{key}`")));
        };
        if values[place].is_some() {
            let what = format!("the number for `{}` is stated twice", member());
            return Err(SpecError::new(record.place, Trouble::Misfit(what)));
        }
        values[place] = record.value;
        Ok(())
    })?;
    let missing = values.iter().position(Option::is_none);
    let Some(missing) = missing else { return Ok(Values::Fixed(values.into_iter().flatten().collect())) };
    let member = model.indexed("", &domain.labels(sets, missing));
    let what =
        format!("the file has no number for the member {} of {}", shorten(&member), domain.words(sets));
    Err(ctx.fail(&key.key("file"), Trouble::Misfit(what)))
}

/// Columns of the table: a pattern whose stars stand for the members' names, or a list in the order of the members.
fn from_columns(
    ctx: &Context<'_>,
    model: &mut Model,
    key: &Key,
    name: &str,
    domain: &Domain,
    written: &[String],
    predicted: bool,
) -> Result<Values> {
    let (members, width) = (domain.len(&model.sets), domain.width(&model.sets));
    let limit = ctx.limits.predicted;
    if model.columns.len() + members > limit {
        let found = model.columns.len() + members;
        let error = ctx.fail(key, Trouble::TooManyEntries { found, limit });
        return Err(error.hint("every member is a column of the table: have fewer of them"));
    }
    let first = model.columns.len();
    for place in 0..members {
        let labels = domain.labels(&model.sets, place);
        let column = match written {
            [pattern] if pattern.matches('*').count() == width => {
                let mut parts = pattern.split('*');
                let mut column = parts.next().unwrap_or_default().to_owned();
                for (part, &label) in parts.zip(&labels) {
                    column.push_str(model.labels.name(label));
                    column.push_str(part);
                }
                column
            }
            [_] if members != 1 => {
                let trouble = Trouble::Misfit(format!("the name needs {}", count(width, "`*`")));
                let hint = format!("each `*` stands for a member's name of {}", domain.words(&model.sets));
                return Err(ctx.fail(key, trouble).hint(hint));
            }
            names if names.len() == members => names[place].clone(),
            names => {
                let expected = format!("{}, one for each member", count(members, "column"));
                return Err(ctx.fail(key, Trouble::Shape { expected, found: names.len().to_string() }));
            }
        };
        if column.trim().is_empty() || column.contains(['*', '?']) {
            let trouble = Trouble::BadName(shorten(&column));
            return Err(ctx.fail(key, trouble).hint("this would be the name of a column"));
        }
        let stands_for = model.indexed(name, &labels);
        model.columns.push(Column { name: column, stands_for, quantity: name.to_owned(), predicted });
    }
    Ok(Values::Columns(first))
}
