//! Closing prices of equities over common dates.

use std::path::{Path, PathBuf};

use super::calendar::iso;
use super::quotes::Quotes;
use crate::PaperError;

/// Tickers that are left out: public downloads have a wrong adjustment for each, WY on 2010-07-20 and JCI on 2007-07-02.
///
/// They go by name because no bound on the change of a day tells them from real ones: WY falls by 62 % and JCI by 53 %, and
/// between the two are true losses of AIG, STT and ETFC.
pub const MISADJUSTED: [&str; 2] = ["JCI", "WY"];

/// Closing prices, without gaps.
#[derive(Clone, Debug, PartialEq)]
pub struct Prices {
    /// Trading days, ascending, as `2004-01-02`.
    pub dates: Vec<String>,
    /// Tickers in the order of the alphabet, whatever the order in the file: draws by seed do not depend on its form.
    pub symbols: Vec<String>,
    /// Tickers of the table that are not used: they lack prices that others have, or are [`MISADJUSTED`].
    pub left_out: Vec<String>,
    /// Positive prices, a row a date and a column a symbol, row by row.
    pub close: Vec<f64>,
}

impl Prices {
    /// Reads the price table of a folder, or the table itself, up to the day before `before`.
    ///
    /// A table is wide (`Date`, then a column a ticker) or long (`Date`, `Symbol`, `Close`, and what else there may be). A cell
    /// without a number means the same as a row that is not there; only the symbols with the most prices are kept, and
    /// [`MISADJUSTED`] ones are not.
    pub fn read(path: &Path, before: &str) -> Result<Self, PaperError> {
        let Some(before) = iso(before) else {
            let what = format!("`{before}` is no date");
            return Err(PaperError::Settings { what, hint: "write it as 2017-01-01".to_owned() });
        };
        let file = table(path)?;
        Quotes::read(&file, before)?.prices()
    }
}

/// The one price table of a folder.
fn table(path: &Path) -> Result<PathBuf, PaperError> {
    const HINT: &str = "a price table is CSV, CSV packed with gzip, or Parquet: .csv, .csv.gz or .parquet";
    if !path.is_dir() {
        return Ok(path.to_owned());
    }
    let failed = |e: std::io::Error| PaperError::file(path, e.to_string(), HINT);
    let mut found = Vec::new();
    for entry in path.read_dir().map_err(failed)? {
        let entry = entry.map_err(failed)?.path();
        let name = entry.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
        // Hidden files are what systems leave beside the user's own.
        if !name.starts_with('.') && [".csv", ".csv.gz", ".parquet"].iter().any(|end| name.ends_with(end)) {
            found.push(entry);
        }
    }
    found.sort();
    match &found[..] {
        [only] => Ok(only.clone()),
        [] => Err(PaperError::file(path, "there is no price table in this folder", HINT)),
        [first, second, ..] => {
            let name = |file: &Path| file.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let what = format!(
                "{} tables are in this folder, such as {} and {}",
                found.len(),
                name(first),
                name(second)
            );
            Err(PaperError::file(path, what, "name the file instead of the folder"))
        }
    }
}
