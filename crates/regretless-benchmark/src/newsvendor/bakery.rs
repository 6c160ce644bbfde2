//! Three products in 35 shops of a bakery over 1,215 days.

use std::path::Path;

use regretless_learn::Kind;

use super::panel::{Column, Of, Panel, dates, levels};
use crate::BenchmarkError;
use crate::sheet::Sheet;

const CALENDAR: [&str; 3] = ["is_schoolholiday", "is_holiday", "is_holiday_next2days"];
const MORE: [&str; 6] =
    ["rain_mm", "temp_avg_celsius", "temp_max", "temp_min", "promotion_currentweek", "promotion_lastweek"];
const TEXTS: [&str; 4] = ["shop_no", "product_no", "weekday", "month"];

/// Reads `Bakery_dataset.csv.zip`: a row for each shop, product and day.
pub(super) fn read(path: &Path) -> Result<Panel, BenchmarkError> {
    let sheet = Sheet::read(path)?;
    let (shops, products) = (sheet.texts("shop_no")?, sheet.texts("product_no")?);
    let of_row = dates(&sheet, "date_short")?;
    let names: Vec<String> = shops.iter().zip(&products).map(|(s, p)| format!("{s} {p}")).collect();
    let (series, place) = levels(&names.iter().map(String::as_str).collect::<Vec<_>>());
    let mut days = of_row.clone();
    days.sort_unstable();
    days.dedup();
    // The line of each day and series: all are there, once.
    let width = series.len();
    let mut line = vec![usize::MAX; days.len() * width];
    for (row, day) in of_row.iter().enumerate() {
        let at = days.binary_search(day).unwrap_or(0) * width + place[row] as usize;
        if line[at] != usize::MAX {
            let what = format!("lines {} and {} are of the same day and series", line[at] + 2, row + 2);
            return Err(sheet.refused(what, "keep one of them"));
        }
        line[at] = row;
    }
    if let Some(at) = line.iter().position(|&row| row == usize::MAX) {
        let what = format!("series {} lacks a day that others have", series[at % width]);
        return Err(sheet.refused(what, "give every series the same days"));
    }
    let ordered = |values: &[f64]| line.iter().map(|&row| values[row]).collect::<Vec<f64>>();
    let mut columns = Vec::new();
    for name in TEXTS {
        let (names, values) = levels(&sheet.texts(name)?);
        let kind = Kind::Category(names);
        columns.push(Column { name: name.into(), kind, of: Of::Calendar, values: ordered(&values) });
    }
    for (name, of) in CALENDAR.map(|n| (n, Of::Calendar)).into_iter().chain(MORE.map(|n| (n, Of::More))) {
        let values = ordered(&sheet.numbers(name)?);
        columns.push(Column { name: name.into(), kind: Kind::Number, of, values });
    }
    let demand = ordered(&sheet.numbers("demand")?);
    Ok(Panel { days, series, demand, columns }.with_past())
}
