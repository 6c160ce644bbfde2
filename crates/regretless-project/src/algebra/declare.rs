//! Sets, quantities and variables, from the sections of the file.

use toml::de::DeTable;

use super::ast::{Binders, Expr, Kind};
use super::binders::repeated;
use super::model::{Model, Quantity, Symbol, Text, Variable};
use super::parse::{self, KEYWORDS};
use super::sets::{Domain, Set};
use super::token::is_name;
use super::{Fault, tables, values};
use crate::error::{Result, Trouble, shorten};
use crate::file::{
    AlgebraFile, Amount, LabelSetting, MemberSetting, QuantitySection, QuantityTable, SetFile, SetSection,
    ValueSetting,
};
use crate::key::Key;
use crate::resolve::Context;

/// Names in the order in which they are written: tables do not keep it, and the variables have it in all that comes out.
#[derive(Clone, Debug, Default)]
pub(crate) struct Order {
    sets: Vec<String>,
    quantities: Vec<String>,
    variables: Vec<String>,
}

impl Order {
    /// The order of a file in algebra; `None` if it is none.
    pub(crate) fn of(file: &DeTable<'_>) -> Option<Self> {
        let there = |name: &str| file.get(name).is_some();
        if !["sets", "variables", "quantities"].into_iter().any(there) {
            return None;
        }
        let names = |section: &str| {
            let table = file.get(section).and_then(|value| value.get_ref().as_table());
            let mut names: Vec<_> = table
                .iter()
                .flat_map(|t| t.iter())
                .map(|(name, _)| (name.span().start, name.get_ref().to_string()))
                .collect();
            names.sort();
            names.into_iter().map(|(_, name)| name).collect()
        };
        Some(Self { sets: names("sets"), quantities: names("quantities"), variables: names("variables") })
    }
}

/// Everything that has a name.
pub(super) fn model(ctx: &Context<'_>, file: &AlgebraFile, order: &Order) -> Result<Model> {
    let mut declare = Declare { ctx, model: Model::default(), members: 0 };
    for name in &order.sets {
        if let Some(written) = file.sets.get(name) {
            declare.set(name, written)?;
        }
    }
    for name in &order.quantities {
        if let Some(written) = file.quantities.get(name) {
            declare.quantity(name, written)?;
        }
    }
    let mut first = 0;
    for name in &order.variables {
        let Some(written) = file.variables.get(name) else { continue };
        let key = Key::new("variables").key(name);
        declare.name(&key, name, Symbol::Variable(declare.model.variables.len()))?;
        let domain = declare.domain(&key, written.for_.as_deref())?;
        let variable = Variable {
            name: name.clone(),
            first,
            lower: text(ctx, &key.key("lower"), written.lower.as_ref())?,
            upper: text(ctx, &key.key("upper"), written.upper.as_ref())?,
            before: text(ctx, &key.key("before"), written.before.as_ref())?,
            after: text(ctx, &key.key("after"), written.after.as_ref())?,
            cyclic: written.cyclic,
            domain,
        };
        if variable.cyclic && (variable.before.is_some() || variable.after.is_some()) {
            let trouble =
                Trouble::OneOf("`cyclic` says what comes before the first and after the last member");
            return Err(ctx
                .fail(&key.key("cyclic"), trouble)
                .hint("leave `before` and `after` out, or `cyclic`"));
        }
        first = usize::saturating_add(first, variable.domain.len(&declare.model.sets));
        let limit = ctx.limits.variables;
        if first > limit {
            return Err(ctx.fail(&key, Trouble::TooManyVariables { found: first as u64, limit }));
        }
        declare.model.variables.push(variable);
    }
    if first == 0 {
        let trouble = Trouble::Empty("the problem has no variables");
        return Err(ctx
            .fail(&Key::new("variables"), trouble)
            .hint("declare some: charge = { for = \"hour\", upper = 1.0 }"));
    }
    Ok(declare.model)
}

/// A number or an expression, parsed.
pub(super) fn text(ctx: &Context<'_>, key: &Key, written: Option<&Amount>) -> Result<Option<Text>> {
    let expr = match written {
        None => return Ok(None),
        Some(Amount::Number(value)) => Expr { kind: Kind::Number(*value), span: 0..0 },
        Some(Amount::Text(text)) => parse::expression(text).map_err(|fault| ctx.fault(key, fault))?,
    };
    Ok(Some(Text { key: key.clone(), expr }))
}

struct Declare<'a> {
    ctx: &'a Context<'a>,
    model: Model,
    /// Members of all sets so far.
    members: usize,
}

impl Declare<'_> {
    fn name(&mut self, key: &Key, name: &str, symbol: Symbol) -> Result<()> {
        if !is_name(name) || KEYWORDS.contains(&name) {
            let hint = "names in expressions are letters, digits and _, and none of sum, in, if, and, inf";
            return Err(self.ctx.fail(key, Trouble::BadName(shorten(name))).hint(hint));
        }
        if self.model.symbols.insert(name.to_owned(), symbol).is_some() {
            let error = self.ctx.fail(key, Trouble::DuplicateName(shorten(name)));
            return Err(error.hint("sets, quantities and variables share one set of names"));
        }
        Ok(())
    }

    /// The sets that something is stated over.
    fn domain(&self, key: &Key, written: Option<&str>) -> Result<Domain> {
        let Some(written) = written else { return Ok(Domain::default()) };
        let key = key.key("for");
        let Binders { binders, filters } =
            parse::sets(written).map_err(|fault| self.ctx.fault(&key, fault))?;
        if let Some(filter) = filters.first() {
            let fault = Fault::new(filter.span.clone(), "only rows and sums have an `if`");
            return Err(self.ctx.fault(
                &key,
                fault.hint("declare a set of the members that are meant: pair = [[\"a\", \"b\"], …]"),
            ));
        }
        let mut domain = Domain::default();
        let expander = super::expand::Expander::new(&self.model, self.ctx.limits.terms);
        for binder in binders {
            let s = expander.set(&binder.set, &binder.span).map_err(|fault| self.ctx.fault(&key, fault))?;
            let width = self.model.sets[s].width;
            if !binder.names.is_empty() && binder.names.len() != width {
                let fault =
                    Fault::new(binder.span.clone(), format!("`{}` has members of {width} names", binder.set));
                return Err(self.ctx.fault(&key, fault));
            }
            domain.sets.push(s);
            domain.names.push(binder.names);
            if let Some(twice) = repeated(&domain.names.concat()) {
                let what =
                    format!("the index `{}` stands twice, and every choice is a member", shorten(twice));
                let hint = "declare a set of the members that are meant: arc = [[\"a\", \"b\"], …]";
                return Err(self.ctx.fault(&key, Fault::new(binder.span, what).hint(hint)));
            }
        }
        Ok(domain)
    }

    fn quantity(&mut self, name: &str, written: &QuantitySection) -> Result<()> {
        let key = Key::new("quantities").key(name);
        self.name(&key, name, Symbol::Quantity(self.model.quantities.len()))?;
        let number;
        let (key, table) = match written {
            QuantitySection::Table(table) => (key, table),
            // A bare number is a `value` that stands at the quantity's own key.
            QuantitySection::Number(value) => {
                crate::data::Allowed::Finite.check(*value).map_err(|trouble| self.ctx.fail(&key, trouble))?;
                number =
                    QuantityTable { value: Some(ValueSetting::Number(*value)), ..QuantityTable::default() };
                (key, &number)
            }
        };
        let domain = self.domain(&key, table.for_.as_deref())?;
        let values = values::values(self.ctx, &mut self.model, &key, name, &domain, table)?;
        self.model.quantities.push(Quantity { name: name.to_owned(), domain, values });
        Ok(())
    }

    fn set(&mut self, name: &str, written: &SetSection) -> Result<()> {
        let key = Key::new("sets").key(name);
        self.name(&key, name, Symbol::Set(self.model.sets.len()))?;
        let mut set = Set::new(name, vec![name.to_owned()]);
        match written {
            SetSection::Count(count) => {
                if count.fract() != 0.0 || *count < 0.0 {
                    let trouble = Trouble::Setting { value: *count, expected: "a whole number of members" };
                    return Err(self.ctx.fail(&key, trouble));
                }
                self.reserve(&key, *count as usize)?;
                for i in 0..*count as usize {
                    set.push(vec![self.model.labels.intern(&i.to_string())]);
                }
            }
            SetSection::Range(text) => {
                let (from, to, digits) = range(text).ok_or_else(|| {
                    let trouble =
                        Trouble::Misfit(format!("`{}` is no range of whole numbers", shorten(text)));
                    self.ctx
                        .fail(&key, trouble)
                        .hint("a range is written as \"1..24\", single names as [\"north\", \"south\"]")
                })?;
                self.reserve(&key, (to - from) as usize + 1)?;
                for i in from..=to {
                    set.push(vec![self.model.labels.intern(&format!("{i:0digits$}"))]);
                }
            }
            SetSection::Members(members) => {
                self.reserve(&key, members.len())?;
                self.members(&key, name, &mut set, members)?;
            }
            SetSection::File(SetFile { file, key: columns }) => {
                if let Some(columns) = columns {
                    set = Set::new(name, columns.0.clone());
                }
                if set.width == 0 {
                    return Err(self.ctx.fail(&key.key("key"), Trouble::Empty("`key` names no column")));
                }
                let keys = set.keys.clone();
                let (ctx, labels) = (self.ctx, &mut self.model.labels);
                tables::records(ctx, &key, file, &keys, None, |record| {
                    for name in &record.keys {
                        ctx.check_name(&key, name)
                            .map_err(|error| crate::SpecError::new(record.place.clone(), error.problem))?;
                    }
                    set.push(record.keys.iter().map(|name| labels.intern(name)).collect());
                    Ok(())
                })?;
                self.reserve(&key, set.len())?;
            }
        }
        if set.len() == 0 {
            return Err(self.ctx.fail(&key, Trouble::Empty("the set has no members")));
        }
        self.model.sets.push(set);
        Ok(())
    }

    /// Counts members before they are made.
    fn reserve(&mut self, key: &Key, members: usize) -> Result<()> {
        self.members = self.members.saturating_add(members);
        let (found, limit) = (self.members, self.ctx.limits.terms);
        if found > limit {
            return Err(self.ctx.fail(key, Trouble::TooManyEntries { found, limit }));
        }
        Ok(())
    }

    fn members(&mut self, key: &Key, name: &str, set: &mut Set, members: &[MemberSetting]) -> Result<()> {
        for (i, member) in members.iter().enumerate() {
            let key = key.index(i);
            let names = match member {
                MemberSetting::Name(name) => vec![name.clone()],
                MemberSetting::Number(value) => vec![self.whole(&key, *value)?],
                MemberSetting::Several(parts) => {
                    let label = |(k, part): (usize, &LabelSetting)| match part {
                        LabelSetting::Name(name) => Ok(name.clone()),
                        LabelSetting::Number(value) => self.whole(&key.index(k), *value),
                    };
                    parts.iter().enumerate().map(label).collect::<Result<_>>()?
                }
            };
            names.iter().try_for_each(|name| self.ctx.check_name(&key, name))?;
            if i == 0 && names.len() != 1 {
                // The columns of a file would be arc_1, arc_2.
                *set = Set::new(name, (1..=names.len()).map(|k| format!("{name}_{k}")).collect());
            }
            if names.len() != set.width || names.is_empty() {
                let expected = crate::error::count(set.width.max(1), "name");
                return Err(self.ctx.fail(&key, Trouble::Shape { expected, found: names.len().to_string() }));
            }
            if !set.push(names.iter().map(|name| self.model.labels.intern(name)).collect()) {
                return Err(self.ctx.fail(&key, Trouble::DuplicateName(shorten(&names.join(", ")))));
            }
        }
        Ok(())
    }

    /// The name of a member that is a whole number.
    fn whole(&self, key: &Key, value: f64) -> Result<String> {
        if value.fract() == 0.0 && value.abs() < 1e15 {
            return Ok(format!("{value:.0}"));
        }
        Err(self.ctx.fail(key, Trouble::Setting { value, expected: "a whole number, or a name in quotes" }))
    }
}

/// First, last and the digits of a range; with leading zeros all members have as many.
fn range(text: &str) -> Option<(u64, u64, usize)> {
    let (first, last) = text.split_once("..")?;
    let (first, last) = (first.trim(), last.trim());
    let digits = |text: &str| !text.is_empty() && text.len() < 16 && text.bytes().all(|b| b.is_ascii_digit());
    if !digits(first) || !digits(last) {
        return None;
    }
    let (from, to) = (first.parse().ok()?, last.parse().ok()?);
    let padded = first.len() > 1 && first.starts_with('0') || first.len() == last.len();
    (from <= to).then_some((from, to, if padded { first.len() } else { 0 }))
}
