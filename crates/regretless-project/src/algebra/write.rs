//! A problem in algebra written back: in its own words, with sets and fixed numbers spelled out, so that it needs no file.

use super::Statement;
use super::model::{Model, Quantity, Values};
use super::sets::Domain;
use crate::file::{AlgebraFile, Amount, QuantitySection, Selectors};
use crate::write::{Text, list, number, string};

/// Keys with their texts.
type Texts<'a> = [(&'a str, Option<&'a String>); 3];

/// Writes everything but the settings.
pub(crate) fn write(statement: &Statement, file: &AlgebraFile, text: &mut Text) {
    let model = &statement.model;
    if let Some(name) = &file.problem.name {
        text.table("[problem]");
        text.key("name", string(name));
    }
    if !model.sets.is_empty() {
        text.table("[sets]");
        for set in &model.sets {
            let name = |&label: &usize| string(model.labels.name(label));
            let member = |i: usize| match set.member(i) {
                [only] => name(only),
                several => list(several.iter().map(name)),
            };
            text.key(&set.name, list((0..set.len()).map(member)));
        }
    }
    if !model.quantities.is_empty() {
        text.table("[quantities]");
        for quantity in &model.quantities {
            text.key(&quantity.name, written(model, quantity, file.quantities.get(&quantity.name)));
        }
    }
    text.table("[variables]");
    for variable in &model.variables {
        let section = file.variables.get(&variable.name);
        let mut parts: Vec<String> = section.and_then(|s| s.for_.as_deref()).map(over).into_iter().collect();
        let amounts = section
            .map(|s| [("lower", &s.lower), ("upper", &s.upper), ("before", &s.before), ("after", &s.after)]);
        for (key, value) in amounts.into_iter().flatten() {
            parts.extend(value.as_ref().map(|value| format!("{key} = {}", amount(value))));
        }
        parts.extend(variable.cyclic.then(|| "cyclic = true".to_owned()));
        text.key(&variable.name, table(&parts));
    }
    text.table("[objective]");
    for (key, goal) in [("maximize", &file.objective.maximize), ("minimize", &file.objective.minimize)] {
        goal.iter().for_each(|goal| text.key(key, string(goal)));
    }
    let mut section = |head: &str, texts: Texts<'_>, prices: [(&str, Option<&Amount>); 2]| {
        text.table(head);
        for (key, value) in texts {
            value.iter().for_each(|value| text.key(key, string(value)));
        }
        for (key, price) in prices {
            price.iter().for_each(|price| text.key(key, amount(price)));
        }
    };
    for soft in &file.soft {
        let texts = [("name", soft.name.as_ref()), ("for", soft.for_.as_ref()), ("row", Some(&soft.row))];
        section("[[soft]]", texts, [("over", soft.over.as_ref()), ("under", soft.under.as_ref())]);
    }
    for hard in &file.hard {
        let texts = [("name", hard.name.as_ref()), ("for", hard.for_.as_ref()), ("row", Some(&hard.row))];
        section("[[hard]]", texts, [("over", None), ("under", None)]);
    }
}

fn over(sets: &str) -> String {
    format!("for = {}", string(sets))
}

fn table(parts: &[String]) -> String {
    if parts.is_empty() { "{}".to_owned() } else { format!("{{ {} }}", parts.join(", ")) }
}

fn amount(amount: &Amount) -> String {
    match amount {
        Amount::Number(value) => number(*value),
        Amount::Text(text) => string(text),
    }
}

fn written(model: &Model, quantity: &Quantity, section: Option<&QuantitySection>) -> String {
    let section = match section {
        Some(QuantitySection::Table(table)) => Some(table),
        Some(QuantitySection::Number(value)) => return number(*value),
        None => None,
    };
    let mut parts: Vec<String> = section.and_then(|s| s.for_.as_deref()).map(over).into_iter().collect();
    let columns = |word: &str, Selectors(names): &Selectors| {
        format!("{word} = {}", list(names.iter().map(|name| string(name))))
    };
    match &quantity.values {
        Values::Fixed(values) => {
            parts.push(format!("value = {}", nested(model, &quantity.domain, 0, values)));
        }
        Values::Columns(_) => {
            parts.extend(section.and_then(|s| s.known.as_ref()).map(|names| columns("known", names)));
            parts.extend(section.and_then(|s| s.predict.as_ref()).map(|names| columns("predict", names)));
        }
    }
    table(&parts)
}

/// Lists within lists, a level for each set.
fn nested(model: &Model, domain: &Domain, level: usize, values: &[f64]) -> String {
    match domain.sets.get(level) {
        None => number(values[0]),
        Some(&s) => {
            let parts = values.chunks(values.len() / model.sets[s].len());
            list(parts.map(|part| nested(model, domain, level + 1, part)))
        }
    }
}
