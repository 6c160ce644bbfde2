//! The feature columns: those asked for, or every column that is nothing else.

use std::collections::{BTreeMap, BTreeSet};

use super::{Columns, Want, by_own_part, predicted};
use crate::Spec;
use crate::data::{FORECAST, Guess};
use crate::error::{Place, Result, SpecError, Trouble, count, shorten};
use crate::lags;
use crate::selection::{no_column, pick};
use regretless_learn::{Given, PredictorKind, some_of};

/// True if the predictor takes features as they are: numbers.
pub(crate) fn takes_numbers_only(spec: &Spec) -> bool {
    spec.predictor().shared || spec.predictor().kind == PredictorKind::Given
}

/// What stands for a variable's name in the features of a shared predictor.
const VARIABLE: &str = "{variable}";

struct Table<'a> {
    header: &'a [String],
    place: &'a Place,
    /// Columns that are predicted.
    truths: BTreeSet<usize>,
    /// Columns that a pattern does not mean: predicted, key, split, a time that is a number, and those without a name.
    taken: BTreeSet<usize>,
    excluded: BTreeSet<usize>,
}

pub(super) fn resolve(
    columns: &mut Columns,
    spec: &Spec,
    header: &[String],
    guesses: &[Guess],
    want: Want,
    place: &Place,
) -> Result<()> {
    let truths = predicted(spec, header);
    // A number that rises with time is a trend, and says of the past what it goes on saying.
    let trend = columns.time.filter(|(_, dates)| !dates).map(|(index, _)| index);
    // Decisions that others took are not known when the model's are.
    let baseline = spec.data().into_iter().flat_map(|data| &data.baseline);
    let baseline = baseline.flat_map(|selector| pick(selector, header));
    // A column without a name, such as the index that pandas writes, could not be asked for again.
    let unnamed = (0..header.len()).filter(|&i| header[i].is_empty());
    let taken = truths.iter().copied().chain(columns.key).chain(columns.split).chain(trend);
    let taken = taken.chain(baseline).chain(unnamed);
    let mut excluded = BTreeSet::new();
    for selector in spec.data().iter().flat_map(|data| &data.exclude) {
        let found = pick(selector, header);
        // New rows to decide on need not have the columns that are no features.
        if found.is_empty() && want.targets {
            return Err(no_column(selector, header, place, "`data.exclude` names it"));
        }
        excluded.extend(found);
    }
    let table = Table { header, place, taken: taken.collect(), truths, excluded };
    let asked = spec.data().and_then(|data| data.features.as_deref());
    match asked {
        None if spec.data().is_some_and(|data| data.forecasts.is_some()) => {
            let file = spec.data().and_then(|data| data.forecasts.clone());
            forecasts(columns, header, &file.map_or_else(|| place.clone(), Place::File))?;
        }
        _ if asked.is_none() && spec.predictor().kind == PredictorKind::Constant => {}
        None => {
            let free = (0..header.len()).filter(|i| !table.taken.contains(i) && !table.excluded.contains(i));
            let numbers_only = takes_numbers_only(spec);
            let (others, taken): (Vec<usize>, Vec<usize>) = free
                .partition(|&i| numbers_only && guesses.get(i).is_some_and(|guess| *guess != Guess::Number));
            columns.features = taken;
            columns.skipped = others.into_iter().map(|i| header[i].clone()).collect();
        }
        Some(selectors) => {
            selectors.clone_into(&mut columns.selectors);
            if spec.predictor().shared {
                return table.by_variable(columns, selectors, spec.problem().variables());
            }
            let columns_only =
                selectors.iter().map(String::as_str).filter(|text| lags::asked(text).is_none());
            columns.features = table.select(columns_only)?;
        }
    }
    // Those of a file are in the order of the targets.
    let of_file = asked.is_none() && spec.data().is_some_and(|data| data.forecasts.is_some());
    if spec.predictor().kind == PredictorKind::Given && !of_file {
        of_targets(columns, asked, header, place)?;
    }
    if columns.features.is_empty()
        && columns.lags.is_none()
        && spec.predictor().kind != PredictorKind::Constant
    {
        let skipped: Vec<_> =
            columns.skipped.iter().take(8).map(|name| format!("`{}`", shorten(name))).collect();
        let hint = match skipped.len() {
            0 => {
                "add columns that are known when the decision is taken, or set predictor.kind = \"constant\""
                    .to_owned()
            }
            _ => {
                format!("a predictor of this kind takes numbers, and there is text in {}", skipped.join(", "))
            }
        };
        let trouble = Trouble::Empty("the table has no column that could be a feature");
        return Err(SpecError::new(place.clone(), trouble).hint(hint));
    }
    if spec.predictor().shared {
        let all: Vec<usize> = (0..columns.features.len()).collect();
        columns.per_variable = Some(vec![all; spec.problem().n()]);
    }
    Ok(())
}

/// Puts forecasts into the order of the targets by their names, which have to tell whose each is where a pattern found them, or nobody
/// asked for any: what comes in the order of the table is in no order. A list is meant as it is written.
fn of_targets(
    columns: &mut Columns,
    asked: Option<&[String]>,
    header: &[String],
    place: &Place,
) -> Result<()> {
    let there: Vec<String> = columns.features.iter().map(|&i| header[i].clone()).collect();
    let targets: Vec<String> = columns.targets.iter().map(|&i| header[i].clone()).collect();
    let each = Given::of_each(&there, targets.len());
    let of_one = |selector: &String| {
        let found = pick(selector, &there);
        each.iter().filter(|(_, places)| places.iter().any(|k| found.contains(k))).count() <= 1
    };
    if each.len() != targets.len() || targets.len() == 1 || asked.is_some_and(|all| all.iter().all(of_one)) {
        return Ok(());
    }
    let names: Vec<String> = each.iter().map(|(name, _)| (*name).to_owned()).collect();
    let Some(order) = by_own_part(&targets, &names) else {
        let what = "the names of the forecasts do not tell which target each is of".to_owned();
        let taken: Vec<String> =
            names.iter().zip(&targets).map(|(name, target)| format!("{name} for {target}")).collect();
        return Err(SpecError::new(place.clone(), Trouble::Misfit(what)).hint(format!(
            "list them in data.features, in the order of the targets; in the order of the table it would be {}",
            some_of(&taken)
        )));
    };
    columns.features = order.iter().flat_map(|&g| &each[g].1).map(|&k| columns.features[k]).collect();
    Ok(())
}

/// The columns with forecasts of what is predicted, target by target.
fn forecasts(columns: &mut Columns, header: &[String], place: &Place) -> Result<()> {
    let beside = |i: &usize| header[*i].strip_prefix(FORECAST).map(|name| (*i, name));
    let all: Vec<(usize, &str)> = (0..header.len()).filter_map(|i| beside(&i)).collect();
    for &target in &columns.targets {
        let name = header[target].as_str();
        let own = |(i, there): &(usize, &str)| (*there == name || Given::stem(there) == name).then_some(*i);
        let found: Vec<usize> = all.iter().filter_map(own).collect();
        if found.is_empty() {
            let names: Vec<String> = all.iter().map(|(_, name)| (*name).to_owned()).collect();
            let why = "forecasts are wanted of all that is predicted, as `name`, `name@0.9` (a quantile) or `name#1` (a sample)";
            return Err(no_column(name, &names, place, why));
        }
        columns.features.extend(found);
    }
    Ok(())
}

impl Table<'_> {
    /// The columns of all selectors, each once.
    fn select<'a>(&self, selectors: impl Iterator<Item = &'a str>) -> Result<Vec<usize>> {
        let (mut chosen, mut seen) = (Vec::new(), BTreeSet::new());
        for selector in selectors {
            let named = self.header.iter().any(|name| name == selector);
            let mut found = pick(selector, self.header);
            if named && let Some(&leak) = found.iter().find(|i| self.truths.contains(i)) {
                let trouble = Trouble::Leak(shorten(&self.header[leak]));
                return Err(SpecError::new(self.place.clone(), trouble).hint(
                    "a feature is known when the decision is taken: take the column out of `data.features`",
                ));
            }
            found.retain(|i| (named || !self.taken.contains(i)) && !self.excluded.contains(i));
            if found.is_empty() {
                return Err(no_column(selector, self.header, self.place, "`data.features` names it"));
            }
            chosen.extend(found.into_iter().filter(|&i| seen.insert(i)));
        }
        Ok(chosen)
    }

    /// The features of each variable, with its name in place of `{variable}`.
    fn by_variable(&self, columns: &mut Columns, selectors: &[String], variables: &[String]) -> Result<()> {
        let mut positions = BTreeMap::new();
        let mut all = Vec::with_capacity(variables.len());
        for variable in variables {
            let own: Vec<_> = selectors.iter().map(|selector| selector.replace(VARIABLE, variable)).collect();
            let chosen = self.select(own.iter().map(String::as_str))?;
            let position = |index: usize| {
                let next = columns.features.len();
                *positions.entry(index).or_insert_with(|| {
                    columns.features.push(index);
                    next
                })
            };
            all.push(chosen.into_iter().map(position).collect::<Vec<_>>());
        }
        let (first, expected) = (&variables[0], all[0].len());
        if let Some(j) = all.iter().position(|own| own.len() != expected) {
            let trouble = Trouble::Misfit(format!(
                "the variable `{}` has {}, but `{}` has {}",
                shorten(&variables[j]),
                count(all[j].len(), "feature"),
                shorten(first),
                count(expected, "feature")
            ));
            return Err(SpecError::new(self.place.clone(), trouble)
                .hint("one network for all variables needs the same features of each"));
        }
        columns.per_variable = Some(all);
        Ok(())
    }
}
