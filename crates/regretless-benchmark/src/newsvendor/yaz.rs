//! Seven ingredients of a restaurant over 765 days.

use std::path::Path;

use regretless_learn::Kind;

use super::panel::{Column, Of, Panel, dates, levels};
use crate::BenchmarkError;
use crate::sheet::Sheet;

const INGREDIENTS: [&str; 7] = ["calamari", "fish", "shrimp", "chicken", "koefte", "lamb", "steak"];
const TEXTS: [&str; 2] = ["weekday", "month"];
const CALENDAR: [&str; 3] = ["is_holiday", "is_closed", "weekend"];
const MORE: [&str; 5] = ["wind", "clouds", "rain", "sunshine", "temperature"];

/// Reads `ddop_yaz_data.csv.gz` and `ddop_yaz_target.csv.gz` from a folder: a row a day.
pub(super) fn read(dir: &Path) -> Result<Panel, BenchmarkError> {
    let sheet = Sheet::read(&dir.join("ddop_yaz_data.csv.gz"))?;
    let target = Sheet::read(&dir.join("ddop_yaz_target.csv.gz"))?;
    let days = dates(&sheet, "date")?;
    if target.len() != days.len() || days.is_empty() {
        let what = format!("{} days, and the features have {}", target.len(), days.len());
        return Err(target.refused(what, "give both the same days"));
    }
    if let Some(row) = (1..days.len()).find(|&row| days[row] <= days[row - 1]) {
        let what = format!("line {}: a day that is not after the one before", row + 2);
        return Err(sheet.refused(what, "give the days in order"));
    }
    let width = INGREDIENTS.len();
    let each = |values: &[f64]| values.iter().flat_map(|v| [*v; INGREDIENTS.len()]).collect::<Vec<f64>>();
    let series: Vec<String> = INGREDIENTS.map(String::from).to_vec();
    let mut columns = vec![Column {
        name: "ingredient".into(),
        kind: Kind::Category(series.clone()),
        of: Of::Calendar,
        values: (0..days.len() * width).map(|at| (at % width) as f64).collect(),
    }];
    for name in TEXTS {
        let (names, values) = levels(&sheet.texts(name)?);
        let kind = Kind::Category(names);
        columns.push(Column { name: name.into(), kind, of: Of::Calendar, values: each(&values) });
    }
    for (name, of) in CALENDAR.map(|n| (n, Of::Calendar)).into_iter().chain(MORE.map(|n| (n, Of::More))) {
        let values = each(&sheet.numbers(name)?);
        columns.push(Column { name: name.into(), kind: Kind::Number, of, values });
    }
    let each = INGREDIENTS.iter().map(|name| target.numbers(name)).collect::<Result<Vec<_>, _>>()?;
    let demand = (0..days.len()).flat_map(|day| each.iter().map(move |column| column[day])).collect();
    Ok(Panel { days, series, demand, columns }.with_past())
}
