//! Features of the past of a series: how they are asked for, and where tables have what they are made of.

use std::path::Path;

use regretless_learn::{Lag, Lags, Look, Past};

use crate::columns::takes_numbers_only;
use crate::data::{Allowed, Guess, Reads, Selection, TableReader, Wanted};
use crate::error::{Place, Result, SpecError, Trouble, shorten};
use crate::selection::{no_column, pick};
use crate::{Frame, Limits, Spec};

/// Periods that a feature looks back, at most.
const FURTHEST: u32 = 10_000;

/// What a selector like `lag(demand, 1, 7)` asks for, its column perhaps a pattern; `None` if it is the name of a column or a pattern,
/// and what is wrong with it if it is neither.
pub(crate) fn asked(selector: &str) -> Option<std::result::Result<Vec<Lag>, &'static str>> {
    let (word, rest) = selector.trim().split_once('(')?;
    let look = match word.trim() {
        "lag" => Look::Lag,
        "mean" => Look::Mean,
        _ => return None,
    };
    let inside = rest.strip_suffix(')')?;
    let mut parts = inside.split(',').map(str::trim);
    let column = parts.next().filter(|name| !name.is_empty());
    let periods: Option<Vec<u32>> =
        parts.map(|part| part.parse().ok().filter(|k| (1..=FURTHEST).contains(k))).collect();
    let (Some(column), Some(periods)) = (column, periods.filter(|periods| !periods.is_empty())) else {
        return Some(Err("a column and the periods, whole numbers from 1 to 10000, as in lag(demand, 1, 7)"));
    };
    Some(Ok(periods.into_iter().map(|k| Lag { column: column.to_owned(), look: look(k) }).collect()))
}

/// The features of the past that `[data]` asks for, with the columns of this table.
pub(crate) fn of(spec: &Spec, header: &[String], guesses: &[Guess], place: &Place) -> Result<Option<Lags>> {
    let Some(data) = spec.data() else { return Ok(None) };
    let mut features: Vec<Lag> = Vec::new();
    for selector in data.features.iter().flatten() {
        let Some(Ok(wished)) = asked(selector) else { continue };
        let columns = pick(&wished[0].column, header);
        if columns.is_empty() {
            return Err(no_column(
                &wished[0].column,
                header,
                place,
                &format!("`{selector}` looks back at it"),
            ));
        }
        for lag in columns.iter().flat_map(|&i| wished.iter().map(move |lag| (i, lag.look))) {
            let lag = Lag { column: header[lag.0].clone(), look: lag.1 };
            if guesses.get(columns[0]).is_some_and(|guess| *guess != Guess::Number) {
                let what = format!("`{}` holds no numbers to look back at", shorten(&lag.column));
                return Err(SpecError::new(place.clone(), Trouble::Misfit(what)));
            }
            if !features.contains(&lag) {
                features.push(lag);
            }
        }
    }
    // Without a time the section is refused before it comes to this.
    let (false, Some(time)) = (features.is_empty(), &data.time) else { return Ok(None) };
    if takes_numbers_only(spec) {
        let what = "a predictor that is shared by the variables, and one of given forecasts, take columns of the table only";
        return Err(SpecError::new(place.clone(), Trouble::Misfit(what.to_owned()))
            .hint("take lags and means out of `data.features`, or set predictor.shared = false"));
    }
    let index = header.iter().position(|name| name == time);
    let dates = index.is_some_and(|i| guesses.get(i) != Some(&Guess::Number));
    let (series, time) = (data.series.clone(), time.clone());
    Ok(Some(Lags { features, series, time, dates, period: data.period, delay: data.delay, pause: None }))
}

/// Reads a table of history: the values that `lags` are made of, by series and time.
pub fn read_past(path: &Path, lags: &Lags, limits: &Limits) -> Result<Past> {
    let mut past = Past::new(lags.clone());
    add(&mut past, TableReader::open(path, limits)?, limits)?;
    settle(past, path)
}

/// The past in a frame.
pub fn past_of(frame: &Frame, lags: &Lags) -> Result<Past> {
    let mut past = Past::new(lags.clone());
    add(&mut past, frame.reader(), &Limits::default())?;
    settle(past, Path::new(frame.name()))
}

/// Adds the rows of a table to the past.
pub(crate) fn add(past: &mut Past, mut reader: TableReader<'_>, limits: &Limits) -> Result<()> {
    let (lags, header, place) = (past.lags().clone(), reader.header(), reader.place());
    let find = |name: &String, why: &str| {
        let mut found = (0..header.len()).filter(|&i| header[i] == *name);
        match (found.next(), found.next()) {
            (Some(index), None) => Ok(index),
            (Some(_), _) => Err(SpecError::new(place.clone(), Trouble::AmbiguousColumn(shorten(name)))),
            (None, _) => Err(no_column(name, header, &place, why)),
        }
    };
    let time = find(&lags.time, "it says when a row is")?;
    let time = if lags.dates {
        Wanted { index: time, reads: Reads::Moment }
    } else {
        Wanted::number(time, Some(Allowed::Finite), true)
    };
    let mut columns = vec![time];
    for name in &lags.columns() {
        let index = find(name, "features look back at it")?;
        columns.push(Wanted::number(index, Some(Allowed::Finite), true));
    }
    let texts =
        lags.series.iter().map(|name| find(name, "it names the series")).collect::<Result<Vec<_>>>()?;
    let (width, unit) = (columns.len(), if lags.dates { 86_400.0 } else { 1.0 });
    let entries = Some(limits.entries);
    reader.select_checked(Selection { columns, texts, entries, besides: 4, ..Selection::default() });
    while let Some(chunk) = reader.next()? {
        for (i, row) in chunk.values.chunks_exact(width).enumerate().filter(|(_, row)| !row[0].is_nan()) {
            past.push(&series(&chunk.texts, i), row[0] / unit, &row[1..]);
        }
    }
    Ok(())
}

/// What nobody knows of a row, for its status.
pub(crate) fn missing(names: &[String]) -> String {
    const SHOWN: usize = 3;
    let more = if names.len() > SHOWN { format!(" and {} more", names.len() - SHOWN) } else { String::new() };
    let first: Vec<String> = names.iter().take(SHOWN).map(|name| shorten(name)).collect();
    format!("missing {}{more}", first.join(", "))
}

/// The name of a row's series.
pub(crate) fn series(texts: &[Vec<String>], row: usize) -> String {
    texts.iter().map(|own| own[row].as_str()).collect::<Vec<_>>().join(" / ")
}

/// Puts what was read in order; a series with two rows at one time is refused.
pub(crate) fn settle(mut past: Past, path: &Path) -> Result<Past> {
    let lags = past.lags().clone();
    match past.settle() {
        Ok(()) => Ok(past),
        Err(twice) => {
            let of = if lags.series.is_empty() {
                "there are two rows".to_owned()
            } else {
                format!("the series `{}` has two rows", shorten(&twice.series))
            };
            let at = lags.moment(twice.time);
            let what = format!("{of} at {at}, and lags need one a period");
            Err(SpecError::new(Place::File(path.to_owned()), Trouble::Misfit(what))
                .hint("name in data.series the columns that tell rows of one time apart"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_names_three() {
        let names: Vec<String> = (1..=5).map(|k| format!("lag{k}_y")).collect();
        assert_eq!(missing(&names[..1]), "missing lag1_y");
        assert_eq!(missing(&names[..3]), "missing lag1_y, lag2_y, lag3_y");
        assert_eq!(missing(&names), "missing lag1_y, lag2_y, lag3_y and 2 more");
    }

    #[test]
    fn how_lags_are_asked_for() {
        let names = |text: &str| {
            asked(text).map(|lags| lags.map(|lags| lags.iter().map(Lag::name).collect::<Vec<_>>().join(" ")))
        };
        assert_eq!(names("lag(sold, 1, 7)"), Some(Ok("lag1_sold lag7_sold".into())));
        assert_eq!(names(" mean( sold_* ,28 )"), Some(Ok("mean28_sold_*".into())));
        for column in ["lag", "lag7_sold", "sold", "other(sold, 1)", "lag(sold) in kg"] {
            assert_eq!(names(column), None, "{column}");
        }
        for wrong in ["lag(sold)", "lag(, 1)", "lag(sold, 0)", "lag(sold, x)", "mean(sold, 10001)"] {
            assert!(names(wrong).unwrap().is_err(), "{wrong}");
        }
    }
}
