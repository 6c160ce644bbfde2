//! Which columns of a table are features, targets, the key and the split.

mod features;
mod kinds;

pub(crate) use features::takes_numbers_only;

use std::collections::{BTreeSet, HashMap};

use crate::data::{Allowed, FORECAST, Guess};
use crate::error::{Place, Result, SpecError, Trouble, shorten};
use crate::selection::{Kind as Taking, Selection, no_column, pick, repeated};
use crate::{Placed, Spec, lags};
use regretless_core::problem::Named;
use regretless_core::{Parameter, Problem};
use regretless_learn::{Kind, Lags, Split, some_of};

/// What is read of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Want {
    /// The features.
    pub features: bool,
    /// The truths of the predicted parts, and the column of the split.
    pub targets: bool,
}

/// The columns of a table that are used, counted from 0.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Columns {
    /// The feature columns, in the order of the features.
    pub features: Vec<usize>,
    /// The features of the past, which come after the columns.
    pub lags: Option<Lags>,
    /// The names of all features.
    pub feature_names: Vec<String>,
    /// What they hold, and the features of the past after them; the names of levels come while the table is read.
    pub kinds: Vec<Kind>,
    /// The columns that are predicted, each once, in the order of [`Spec::predicted`].
    pub targets: Vec<usize>,
    /// Their names.
    pub target_names: Vec<String>,
    /// The columns that are known, each once.
    pub known: Vec<usize>,
    /// Their names.
    pub known_names: Vec<String>,
    /// The column that splits the rows.
    pub split: Option<usize>,
    /// The column that names the rows.
    pub key: Option<usize>,
    /// The columns that together name the series of a row.
    pub series: Vec<usize>,
    /// The column that says when a row is, and whether it holds dates.
    pub time: Option<(usize, bool)>,
    /// Where nothing but decisions is wanted: the columns of the time and the series, as far as the table has them, which tell a reader
    /// what a decision is for.
    pub labels: Vec<usize>,
    /// The columns by which an account is told apart.
    pub groups: Vec<usize>,
    /// Their names.
    pub group_names: Vec<String>,
    /// The columns with decisions that others took, in the order of the variables; none where nobody names them.
    pub baseline: Vec<usize>,
    /// Their names.
    pub baseline_names: Vec<String>,
    /// What they are called together.
    pub baseline_name: Option<String>,
    /// Columns that nothing takes.
    pub unused: Vec<String>,
    /// For a shared predictor: the features of each variable, as positions in `features`; all of one length.
    pub per_variable: Option<Vec<Vec<usize>>>,
    /// Columns of text that nothing selects and the predictor does not take, so that they are no features.
    pub skipped: Vec<String>,
    /// What to write as `data.features` so that any table gives the same features.
    pub selectors: Vec<String>,
}

/// The features that a model knows, or that the table before this one had.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wonted<'a> {
    pub(crate) names: &'a [String],
    pub(crate) kinds: &'a [Kind],
    /// Those of the past, the last ones.
    pub(crate) lags: Option<&'a Lags>,
    /// Whether levels that have no name yet are new ones, and not to be told apart.
    pub(crate) fixed: bool,
}

impl Columns {
    /// Finds the columns in `header`. `guesses` tells what they hold, see [`crate::TableReader::guesses`]; `place` is what messages
    /// name.
    pub fn resolve(
        spec: &Spec,
        header: &[String],
        guesses: &[Guess],
        want: Want,
        place: &Place,
    ) -> Result<Self> {
        Self::find(spec, header, guesses, want, place, None)
    }

    /// [`Columns::resolve`], the features being these if there are some.
    pub(crate) fn find(
        spec: &Spec,
        header: &[String],
        guesses: &[Guess],
        want: Want,
        place: &Place,
        wonted: Option<Wonted<'_>>,
    ) -> Result<Self> {
        let data = spec.data();
        let one = |name: &str, why: &str| {
            let exact: Vec<_> = (0..header.len()).filter(|&i| header[i] == name).collect();
            match exact[..] {
                [index] => Ok(index),
                [] => Err(no_column(name, header, place, why)),
                _ => Err(SpecError::new(place.clone(), Trouble::AmbiguousColumn(shorten(name)))),
            }
        };
        let mut columns = Self::default();
        if let Some(key) = data.and_then(|data| data.key.as_deref()) {
            columns.key = Some(one(key, "`data.key` names it")?);
        }
        if let (true, Split::Column(split)) = (want.targets, &spec.settings().split) {
            columns.split = Some(one(split, "`data.split.column` names it")?);
        }
        columns.lags = match wonted {
            _ if !want.features => None,
            Some(wonted) => wonted.lags.cloned(),
            None => lags::of(spec, header, guesses, place)?,
        };
        if want.targets || columns.lags.is_some() {
            for name in data.iter().flat_map(|data| &data.series) {
                columns.series.push(one(name, "`data.series` names it")?);
            }
            if let Some(time) = data.and_then(|data| data.time.as_deref()) {
                let index = one(time, "`data.time` names it")?;
                columns.time = Some((index, guesses.get(index) != Some(&Guess::Number)));
            }
        }
        if !want.targets {
            let named = data.iter().flat_map(|data| data.time.iter().chain(&data.series));
            let there = named.filter_map(|name| header.iter().position(|column| column == name));
            // These two names are taken.
            let free =
                |index: &usize| columns.key != Some(*index) && !["row", "status"].contains(&&*header[*index]);
            columns.labels = there.filter(free).collect();
        }
        let found = taken(spec, header, want, place)?;
        columns.targets =
            found.iter().filter(|c| c.part.kind == Taking::Predicted).map(|c| c.index).collect();
        columns.known = found.iter().filter(|c| c.part.kind == Taking::Known).map(|c| c.index).collect();
        match wonted {
            Some(wonted) if want.features => {
                let why = if wonted.fixed {
                    "it is a feature of the model"
                } else {
                    "the table before has it as a feature"
                };
                let elsewhere = "the model decides for forecasts made elsewhere: give them with --forecasts";
                let find =
                    |name: &String| one(name, if name.starts_with(FORECAST) { elsewhere } else { why });
                let past = wonted.lags.map_or(0, |lags| lags.features.len());
                let there = &wonted.names[..wonted.names.len().saturating_sub(past)];
                columns.features = there.iter().map(find).collect::<Result<_>>()?;
                columns.kinds = wonted.kinds.to_vec();
            }
            _ if want.features => {
                features::resolve(&mut columns, spec, header, guesses, want, place)?;
                columns.kinds = kinds::of(&columns.features, spec, header, guesses, want, place)?;
                let forecasts = columns.features.iter().map(|&i| header[i].starts_with(FORECAST));
                columns.kinds.iter_mut().zip(forecasts).for_each(|(kind, is)| {
                    if is {
                        *kind = Kind::Number;
                    }
                });
                let past = columns.lags.iter().flat_map(|lags| &lags.features);
                columns.kinds.extend(past.map(|_| Kind::Number));
            }
            _ => {}
        }
        let name = |&i: &usize| header[i].clone();
        let past = columns.lags.iter().flat_map(Lags::names);
        columns.feature_names = columns.features.iter().map(name).chain(past).collect();
        columns.target_names = columns.targets.iter().map(name).collect();
        columns.known_names = columns.known.iter().map(name).collect();
        if let Some(twice) = repeated(columns.feature_names.iter()) {
            return Err(SpecError::new(place.clone(), Trouble::AmbiguousColumn(shorten(twice)))
                .hint("it would be a feature: rename one of the two, or add the name to `data.exclude`"));
        }
        let taken = data.map_or(&[][..], |data| &data.baseline);
        if want.targets && !taken.is_empty() {
            columns.baseline = baseline(taken, spec.problem(), header, place)?;
            columns.baseline_names = columns.baseline.iter().map(name).collect();
            columns.baseline_name = Some(called(taken, &columns.baseline_names));
            for group in data.iter().flat_map(|data| &data.groups) {
                match one(group, "`data.groups` names it") {
                    Ok(index) => columns.groups.push(index),
                    // A model decides without it.
                    Err(_) if wonted.is_some_and(|wonted| wonted.fixed) && !header.contains(group) => {}
                    Err(error) => return Err(error),
                }
            }
            columns.group_names = columns.groups.iter().map(name).collect();
        }
        columns.unused = columns.free(header);
        if columns.selectors.is_empty() {
            let past = columns.lags.iter().flat_map(|lags| &lags.features).map(ToString::to_string);
            columns.selectors = columns.features.iter().map(name).chain(past).collect();
        }
        Ok(columns)
    }
}

impl Columns {
    /// The columns that are nothing.
    fn free(&self, header: &[String]) -> Vec<String> {
        let looked_back = self.lags.iter().flat_map(Lags::columns);
        let looked_back: BTreeSet<String> = looked_back.collect();
        let lists = [&self.features, &self.targets, &self.known, &self.series, &self.groups, &self.baseline];
        let taken: BTreeSet<usize> = lists.into_iter().flatten().copied().collect();
        let single = [self.split, self.key, self.time.map(|(index, _)| index)];
        let free = (0..header.len()).filter(|&i| !taken.contains(&i) && !single.contains(&Some(i)));
        let named = free.map(|i| header[i].clone()).filter(|name| !looked_back.contains(name));
        named.filter(|name| !name.starts_with(FORECAST)).collect()
    }
}

/// The columns of a table with decisions that others took, by name or pattern, in the order of the variables, behind what they are called
/// together; `None` where it has none of them.
pub fn baseline_columns(
    selectors: &[String],
    problem: &Problem,
    header: &[String],
) -> Result<Option<(String, Vec<String>)>> {
    if selectors.iter().all(|selector| pick(selector, header).is_empty()) {
        return Ok(None);
    }
    let chosen = baseline(selectors, problem, header, &Place::Setting("data.baseline".to_owned()))?;
    let names: Vec<String> = chosen.into_iter().map(|index| header[index].clone()).collect();
    Ok(Some((called(selectors, &names), names)))
}

/// One name for all columns of a baseline: of one column its own, else the pattern that finds them all.
fn called(selectors: &[String], columns: &[String]) -> String {
    match (selectors, columns) {
        (_, [one]) => one.clone(),
        ([pattern], _) => pattern.clone(),
        _ => "baseline".to_owned(),
    }
}

/// The columns with decisions that others took, in the order of the variables: a list is meant as it is written, of a pattern the names
/// have to tell.
fn baseline(selectors: &[String], problem: &Problem, header: &[String], place: &Place) -> Result<Vec<usize>> {
    let n = problem.n();
    let part = Selection {
        key: "data.baseline".to_owned(),
        kind: Taking::Known,
        columns: selectors.to_vec(),
        count: n,
        matrix: None,
        home: None,
    };
    let chosen = part.select(header, place)?;
    if n == 1 || selectors.len() > 1 {
        return Ok(chosen);
    }
    let names: Vec<String> = chosen.iter().map(|&i| header[i].clone()).collect();
    let order = match problem.named(Parameter::Linear, 0..n, &names) {
        Named::All(order) => Some(order),
        _ => by_own_part(problem.variables(), &names),
    };
    let Some(order) = order else {
        let pattern = shorten(&selectors[0]);
        let what = format!("the names of the columns `{pattern}` do not tell whose decision is which");
        let [own, there] = [problem.variables(), names.as_slice()].map(some_of);
        return Err(SpecError::new(place.clone(), Trouble::Misfit(what)).hint(format!(
            "list them in data.baseline, in the order of the variables: {own}; the columns are {there}"
        )));
    };
    Ok(order.into_iter().map(|k| chosen[k]).collect())
}

/// For each variable (or target) its column, where both are called the same but for what all of a kind begin and end with: `order_bread`
/// or `order[bread]`, `ordered_bread`. A member of several sets has its names one after the other: `ship[mill,shop]`,
/// `shipped_mill_shop`.
fn by_own_part(variables: &[String], columns: &[String]) -> Option<Vec<usize>> {
    let [variables, columns] = [variables, columns].map(|names| {
        let plain = |name: &String| name.replace(['[', ','], "_").replace([']', ' '], "");
        names.iter().map(plain).collect::<Vec<_>>()
    });
    let (own, there) = (own_parts(&variables), own_parts(&columns));
    let place: HashMap<&str, usize> = there.iter().enumerate().map(|(k, &part)| (part, k)).collect();
    let order: Option<Vec<usize>> = own.iter().map(|part| place.get(part).copied()).collect();
    order.filter(|order| order.iter().collect::<BTreeSet<_>>().len() == columns.len())
}

/// What is left of names without the beginning and the end that they share.
fn own_parts(names: &[String]) -> Vec<&str> {
    let Some(first) = names.first() else { return Vec::new() };
    let alike = |pairs: &mut dyn Iterator<Item = (char, char)>| {
        pairs.take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8()).sum::<usize>()
    };
    let begin = names.iter().map(|name| alike(&mut first.chars().zip(name.chars()))).min().unwrap_or(0);
    let rest: Vec<&str> = names.iter().map(|name| &name[begin..]).collect();
    let end = rest.iter().map(|name| alike(&mut rest[0].chars().rev().zip(name.chars().rev()))).min();
    rest.iter().map(|name| &name[..name.len() - end.unwrap_or(0)]).collect()
}

/// A column that a problem takes numbers from.
pub(crate) struct Taken<'a> {
    pub(crate) index: usize,
    /// The first selection that it is in.
    pub(crate) part: &'a Selection,
    pub(crate) allowed: Allowed,
}

/// The columns a problem takes numbers from, each once: those that are predicted where they are wanted, then those that are known.
pub(crate) fn taken<'a>(
    spec: &'a Spec,
    header: &[String],
    want: Want,
    place: &Place,
) -> Result<Vec<Taken<'a>>> {
    let placed: &Placed = spec.placed();
    let mut all = Vec::new();
    let mut seen = BTreeSet::new();
    for kind in [Taking::Predicted, Taking::Known] {
        if kind == Taking::Predicted && !want.targets {
            continue;
        }
        for (at, part) in placed.selections.iter().enumerate().filter(|(_, part)| part.kind == kind) {
            let chosen = part.select(header, place)?;
            let chosen = part.ordered(chosen, header, spec.problem());
            let new = chosen.into_iter().filter(|index| seen.insert(*index));
            let column = |index| Taken { index, part, allowed: placed.allowed(at) };
            all.extend(new.map(column).collect::<Vec<_>>());
        }
    }
    Ok(all)
}

/// Every column that is predicted, whether or not the table has them all.
fn predicted(spec: &Spec, header: &[String]) -> BTreeSet<usize> {
    let selectors = spec.predicted().into_iter().flat_map(|part| &part.columns);
    selectors.flat_map(|selector| pick(selector, header)).collect()
}
