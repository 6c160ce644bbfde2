//! The `[data]` section, checked.

use regretless_learn::{DatePart, PredictorKind, PredictorSettings, Split, SplitKind, Timed};

use super::Context;
use crate::data_settings::{ColumnKind, DataFiles, DataSettings};
use crate::error::{Result, Trouble, shorten};
use crate::file::{DataSection, KindName, KindSetting, MomentSetting, SplitSection};
use crate::key::Key;
use crate::lags;

pub(super) fn data(
    ctx: &Context<'_>,
    written: &DataSection,
    predictor: &PredictorSettings,
) -> Result<(DataSettings, Split)> {
    let section = Key::new("data");
    let files = files(ctx, &section, written)?;
    let shared = predictor.shared;
    if written.forecasts.is_some() {
        let key = section.key("forecasts");
        if predictor.kind != PredictorKind::Given {
            let trouble = Trouble::OneOf("forecasts made elsewhere take the place of a predictor");
            return Err(ctx.fail(&key, trouble).hint("set predictor.kind = \"given\""));
        }
        if matches!(files, DataFiles::Parts { .. }) {
            let trouble = Trouble::OneOf("forecasts stand beside the one table that `file` names");
            return Err(ctx
                .fail(&key, trouble)
                .hint("put all rows into one table, and say the parts with `data.split`"));
        }
    }
    let features = written.features.as_ref().map(|selectors| &selectors.0);
    let lists = [
        ("features", features),
        ("exclude", Some(&written.exclude.0)),
        ("series", Some(&written.series.0)),
        ("groups", Some(&written.groups.0)),
        ("baseline", Some(&written.baseline.0)),
    ];
    for (name, list) in lists {
        for (i, selector) in list.into_iter().flatten().enumerate() {
            let key = section.key(name).index(i);
            if selector.is_empty() {
                return Err(ctx.fail(&key, Trouble::Empty("the name of a column is empty")));
            }
            if selector.contains("{variable}") && (!shared || name != "features") {
                let trouble = Trouble::OneOf(
                    "`{variable}` stands for a variable in `features` of a shared predictor only",
                );
                return Err(ctx
                    .fail(&key, trouble)
                    .hint("set predictor.shared = true, or write the columns out"));
            }
        }
    }
    if features.is_some_and(Vec::is_empty) {
        let error = ctx.fail(&section.key("features"), Trouble::Empty("no feature is named"));
        return Err(error.hint("name columns or patterns, or leave `features` out to use every column"));
    }
    for (key, name) in [
        (section.key("key"), &written.key),
        (section.key("time"), &written.time),
        (section.key("split").key("column"), &written.split.column),
    ] {
        if name.as_ref().is_some_and(String::is_empty) {
            return Err(ctx.fail(&key, Trouble::Empty("the name of a column is empty")));
        }
    }
    let split = split(ctx, &section.key("split"), written, &files)?;
    let data = DataSettings {
        files,
        forecasts: written.forecasts.as_ref().map(|file| ctx.neighbour(file)),
        features: features.cloned(),
        exclude: written.exclude.0.clone(),
        key: written.key.clone(),
        missing: written.missing,
        kinds: kinds(ctx, &section.key("kinds"), written)?,
        series: written.series.0.clone(),
        time: written.time.clone(),
        period: written.period,
        delay: written.delay.unwrap_or(1),
        groups: written.groups.0.clone(),
        baseline: written.baseline.0.clone(),
    };
    past(ctx, &section, &data)?;
    Ok((data, split))
}

/// Features of the past: well asked for, and not of what is not known yet.
fn past(ctx: &Context<'_>, section: &Key, data: &DataSettings) -> Result<()> {
    if let Some(period) = data.period {
        let fine = period > 0.0 && period.is_finite();
        ctx.within(&section.key("period"), period, fine, "a period is above 0")?;
    }
    let fine = (1..=1000).contains(&data.delay);
    ctx.within(&section.key("delay"), f64::from(data.delay), fine, "a delay is 1 to 1000 periods")?;
    for (i, selector) in data.features.iter().flatten().enumerate() {
        let key = section.key("features").index(i);
        let lags = match lags::asked(selector) {
            None => continue,
            Some(lags) => lags.map_err(|needs| ctx.fail(&key, Trouble::OneOf(needs)))?,
        };
        if data.time.is_none() {
            let trouble = Trouble::Misfit(format!("`{selector}` needs a column that says when a row is"));
            return Err(ctx.fail(&key, trouble).hint("name it: data.time = \"date\""));
        }
        if let Some(lag) = lags.iter().find(|lag| lag.periods(data.delay).0 < data.delay) {
            let what = format!("with delay = {} nobody knows `{}` when deciding", data.delay, lag.name());
            return Err(ctx.fail(&key, Trouble::Misfit(what)));
        }
    }
    Ok(())
}

fn kinds(ctx: &Context<'_>, section: &Key, written: &DataSection) -> Result<Vec<(String, ColumnKind)>> {
    let one = |(name, kind): (&String, &KindSetting)| {
        let kind = match kind {
            KindSetting::Word(KindName::Number) => ColumnKind::Number,
            KindSetting::Word(KindName::Category) => ColumnKind::Category,
            KindSetting::Word(KindName::Date) => ColumnKind::Date(DatePart::USUAL.to_vec()),
            KindSetting::Parts(parts) if parts.is_empty() => {
                let error = ctx.fail(&section.key(name), Trouble::Empty("no part of the date is named"));
                return Err(
                    error.hint("name some, such as [\"month\", \"weekday\"], or add the column to `exclude`")
                );
            }
            KindSetting::Parts(parts) => {
                let mut once: Vec<DatePart> = Vec::new();
                for part in parts {
                    if once.contains(part) {
                        let trouble = Trouble::DuplicateName(part.to_string());
                        return Err(ctx.fail(&section.key(name), trouble));
                    }
                    once.push(*part);
                }
                ColumnKind::Date(once)
            }
        };
        Ok((name.clone(), kind))
    };
    written.kinds.iter().map(one).collect()
}

fn files(ctx: &Context<'_>, section: &Key, written: &DataSection) -> Result<DataFiles> {
    let neighbour = |file: &std::path::PathBuf| ctx.neighbour(file);
    if written.memory {
        let named = [&written.file, &written.train, &written.valid, &written.test];
        if named.iter().any(|file| file.is_some()) {
            let trouble = Trouble::OneOf("the rows are in memory or in a file, not both");
            return Err(ctx.fail(&section.key("memory"), trouble));
        }
        return Ok(DataFiles::Memory);
    }
    match (&written.file, &written.train) {
        (Some(_), Some(_)) => {
            let trouble = Trouble::OneOf(
                "give either `file` for all parts or `train` with `valid` and `test`, not both",
            );
            Err(ctx.fail(&section.key("train"), trouble))
        }
        (None, None) => Err(ctx
            .fail(section, Trouble::OneOf("`file` or `train` is missing"))
            .hint("add file = \"history.csv\": CSV, CSV packed with gzip, or Parquet")),
        (Some(_), None) if written.valid.is_some() || written.test.is_some() => {
            let name = if written.valid.is_some() { "valid" } else { "test" };
            let trouble =
                Trouble::OneOf("`valid` and `test` go with `train`; `file` is one table for all parts");
            Err(ctx.fail(&section.key(name), trouble).hint("write `train` in place of `file`"))
        }
        (Some(file), None) => Ok(DataFiles::One(neighbour(file))),
        (None, Some(train)) => Ok(DataFiles::Parts {
            train: neighbour(train),
            valid: written.valid.as_ref().map(neighbour),
            test: written.test.as_ref().map(neighbour),
        }),
    }
}

fn split(ctx: &Context<'_>, key: &Key, data: &DataSection, files: &DataFiles) -> Result<Split> {
    let written = &data.split;
    if let Some(column) = &written.column {
        if *written != (SplitSection { column: written.column.clone(), ..SplitSection::default() }) {
            let trouble = Trouble::OneOf("a split is by `column` or by shares and dates, not both");
            return Err(ctx.fail(key, trouble));
        }
        if matches!(files, DataFiles::Parts { .. }) {
            let trouble = Trouble::OneOf("with a table for each part there is nothing to split by a column");
            return Err(ctx.fail(&key.key("column"), trouble));
        }
        return Ok(Split::Column(column.clone()));
    }
    // A part with a table of its own is not split off, and test never is from `train`.
    let (own_valid, own_test) = match files {
        DataFiles::One(_) | DataFiles::Memory => (false, false),
        DataFiles::Parts { valid, .. } => (valid.is_some(), true),
    };
    let share = |name: &str, given: Option<f64>, own: bool| {
        let value = given.unwrap_or(if own { 0.0 } else { 0.2 });
        if own && value != 0.0 {
            let trouble =
                Trouble::Misfit(format!("`{name}` is not split off where `train` is a table of its own"));
            return Err(ctx.fail(&key.key(name), trouble));
        }
        let fine = (0.0..1.0).contains(&value);
        ctx.within(&key.key(name), value, fine, "a share is 0 or more and below 1")?;
        Ok(value)
    };
    let valid = share("valid", written.valid, own_valid)?;
    let test = share("test", written.test, own_test)?;
    ctx.within(
        key,
        valid + test,
        valid + test < 1.0,
        "validation and test together leave something to train on",
    )?;
    let timed = timed(ctx, key, data, (valid, test))?;
    let usual = if data.time.is_some() { SplitKind::Chronological } else { SplitKind::Random };
    Ok(match (written.kind.unwrap_or(usual), timed) {
        (SplitKind::Chronological, Some(timed)) => Split::Timed(timed),
        (kind, Some(_)) => {
            let trouble = Trouble::Misfit(format!("dates and gaps do not go with `kind = \"{kind}\"`"));
            return Err(ctx
                .fail(&key.key("kind"), trouble)
                .hint("leave it out, or write kind = \"chronological\""));
        }
        (SplitKind::Random, None) => Split::Random { valid, test },
        (SplitKind::Chronological, None) => Split::Chronological { valid, test },
        (SplitKind::Series, None) if data.series.0.is_empty() => {
            let trouble = Trouble::OneOf("a split by series needs `data.series`");
            return Err(ctx
                .fail(&key.key("kind"), trouble)
                .hint("name the column, such as series = \"shop\""));
        }
        (SplitKind::Series, None) => Split::Series { valid, test },
    })
}

/// What is cut by when rows are, if anything is.
fn timed(
    ctx: &Context<'_>,
    key: &Key,
    data: &DataSection,
    (valid, test): (f64, f64),
) -> Result<Option<Timed>> {
    let written = &data.split;
    let mut dates = None;
    let mut from = |name: &str, share: Option<f64>, moment: &Option<MomentSetting>| -> Result<Option<f64>> {
        let Some(moment) = moment else { return Ok(None) };
        let key = key.key(name);
        if share.is_some() {
            let share = name.trim_end_matches("_from");
            let trouble = Trouble::Misfit(format!("`{name}` or the share `{share}`, not both"));
            return Err(ctx.fail(&key, trouble));
        }
        let text = match moment {
            MomentSetting::Number(number) => {
                ctx.within(&key, *number, number.is_finite(), "a moment is a finite number or a date")?;
                dates.get_or_insert(false);
                return Ok(Some(*number));
            }
            MomentSetting::Date(date) => date.to_string(),
            MomentSetting::Text(text) => text.clone(),
        };
        dates.get_or_insert(true);
        match crate::data::moment(text.as_bytes()) {
            Some(seconds) => Ok(Some(seconds / 86_400.0)),
            None => Err(ctx.fail(&key, Trouble::NotADate(shorten(&text))).hint("write it as 2018-06-01")),
        }
    };
    let valid_from = from("valid_from", written.valid, &written.valid_from)?;
    let test_from = from("test_from", written.test, &written.test_from)?;
    let gap = written.gap.unwrap_or(0.0);
    ctx.within(&key.key("gap"), gap, gap >= 0.0 && gap.is_finite(), "a gap is 0 or more")?;
    let first =
        [("test_from", test_from.is_some()), ("valid_from", valid_from.is_some()), ("gap", gap > 0.0)];
    let Some((name, _)) = first.into_iter().find(|(_, given)| *given) else { return Ok(None) };
    if data.time.is_none() {
        let trouble = Trouble::Misfit(format!("`{name}` needs a column that says when a row is"));
        return Err(ctx.fail(&key.key(name), trouble).hint("name it: data.time = \"date\""));
    }
    if let (Some(valid), Some(test)) = (valid_from, test_from) {
        ctx.within(&key.key("valid_from"), valid, valid < test, "validation begins before the test")?;
    }
    Ok(Some(Timed {
        valid_from,
        valid,
        test_from,
        test_until: None,
        test,
        gap,
        dates: dates.unwrap_or(false),
    }))
}
