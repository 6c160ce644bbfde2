//! Hourly load and temperature of the regions, read from a file each.

use std::fmt;
use std::path::{Path, PathBuf};

use regretless_project::{Limits, TableReader};

use super::calendar::Date;
use crate::PaperError;

/// The regions, in the order of C's columns; a file is named after each.
pub const REGIONS: [&str; 8] = ["COAST", "NCENT", "NORTH", "SCENT", "SOUTH", "WEST", "EAST", "FWEST"];

const ENDINGS: [&str; 3] = ["csv.gz", "csv", "parquet"];
const COLUMNS: [&str; 6] = ["load", "tempc", "year", "month", "day", "hour"];

/// An hour by the clock, without summer time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Hour {
    /// Year.
    pub year: i32,
    /// Month, from 1.
    pub month: u8,
    /// Day of the month, from 1.
    pub day: u8,
    /// Hour that begins, 0 to 23.
    pub hour: u8,
}

impl Hour {
    /// An hour of a day.
    pub fn of(date: Date, hour: u8) -> Self {
        Self { year: date.year(), month: date.month(), day: date.day(), hour }
    }

    /// Its day; `None` if there is none such.
    pub fn date(self) -> Option<Date> {
        Date::new(self.year, self.month, self.day)
    }

    /// The hour after, with 28 February followed by 1 March in every year.
    fn next_kept(self) -> Option<Self> {
        if self.hour < 23 {
            return Some(Self { hour: self.hour + 1, ..self });
        }
        let next = self.date()?.next();
        Some(Self::of(if next.is_leap_day() { next.next() } else { next }, 0))
    }
}

impl fmt::Display for Hour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02} {:02}:00", self.year, self.month, self.day, self.hour)
    }
}

/// Load and temperature of all regions over hours that follow one another from a midnight on, leap days left out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Load {
    /// The hours.
    pub hours: Vec<Hour>,
    /// Load in MW, hours × regions.
    pub load: Vec<f64>,
    /// Temperature in °C, hours × regions.
    pub temperature: Vec<f64>,
}

impl Load {
    /// Reads `COAST.csv.gz` (or `.csv`, or `.parquet`) and so on from a folder, from the first hour of a year on.
    ///
    /// The columns `load`, `tempc`, `year`, `month`, `day` and `hour` are found by name; others may hold anything. A year is
    /// to have 365 days, so 29 February is dropped. The regions must have the same hours, without gaps.
    pub fn read(dir: &Path, from_year: i32) -> Result<Self, PaperError> {
        let files = files(dir)?;
        let regions: Vec<Region> =
            files.iter().map(|f| Region::read(f, from_year)).collect::<Result<_, _>>()?;
        let hours = regions[0].hours.clone();
        if let Some(r) = regions.iter().position(|region| region.hours != hours) {
            let what = format!("has {}, but {} has {}", regions[r].span(), REGIONS[0], regions[0].span());
            return Err(PaperError::file(&files[r], what, "give every region the same hours"));
        }
        let interleave = |column: fn(&Region) -> &[f64]| -> Vec<f64> {
            (0..hours.len()).flat_map(|i| regions.iter().map(move |region| column(region)[i])).collect()
        };
        let (load, temperature) = (interleave(|r| &r.load), interleave(|r| &r.temperature));
        Ok(Self { hours, load, temperature })
    }
}

/// The file of each region, or what is missing.
fn files(dir: &Path) -> Result<Vec<PathBuf>, PaperError> {
    let find = |region: &str| ENDINGS.iter().map(|e| dir.join(format!("{region}.{e}"))).find(|p| p.is_file());
    let hint = "the folder holds a file a region, for example COAST.csv.gz, COAST.csv or COAST.parquet, with the columns \
                load, tempc, year, month, day and hour";
    if !dir.is_dir() {
        return Err(PaperError::file(dir, "is no folder", hint));
    }
    let missing: Vec<&str> = REGIONS.into_iter().filter(|region| find(region).is_none()).collect();
    if missing.is_empty() {
        return Ok(REGIONS.into_iter().filter_map(find).collect());
    }
    Err(PaperError::file(dir, format!("no file for {}", missing.join(", ")), hint))
}

/// One region's file.
#[derive(Default)]
struct Region {
    hours: Vec<Hour>,
    load: Vec<f64>,
    temperature: Vec<f64>,
}

impl Region {
    fn read(path: &Path, from_year: i32) -> Result<Self, PaperError> {
        let mut table = TableReader::open(path, &Limits::default())?;
        let columns = columns(path, table.header())?;
        table.select(columns.to_vec());
        let mut region = Self::default();
        while let Some(chunk) = table.next()? {
            for (row, &line) in chunk.values.chunks_exact(COLUMNS.len()).zip(&chunk.lines) {
                region.push(row, from_year).map_err(|trouble| trouble.at(path, &table, line, &columns))?;
            }
        }
        if region.hours.is_empty() {
            let what = format!("no hours from {from_year} on");
            return Err(PaperError::file(
                path,
                what,
                "take a file of later years, or begin with an earlier one",
            ));
        }
        Ok(region)
    }

    /// Takes a row in unless it is too early or of a leap day.
    fn push(&mut self, row: &[f64], from_year: i32) -> Result<(), RowTrouble> {
        let hour = hour(&row[2..])?;
        if hour.year < from_year || hour.date().is_some_and(Date::is_leap_day) {
            return Ok(());
        }
        if let Some(i) = (0..2).find(|&i| !row[i].is_finite()) {
            return Err(RowTrouble::NoNumber(i));
        }
        // Loads in MW and degrees Celsius: what is far outside is a code for a missing value or another unit.
        let likely = [0.0..=1e6, -90.0..=70.0];
        if let Some(i) = (0..2).find(|&i| !likely[i].contains(&row[i])) {
            return Err(RowTrouble::Unlikely(i, row[i]));
        }
        match self.hours.last() {
            None if hour.hour != 0 => return Err(RowTrouble::NotMidnight(hour)),
            Some(&last) if last.next_kept() != Some(hour) => return Err(RowTrouble::Gap(last, hour)),
            _ => {}
        }
        self.hours.push(hour);
        self.load.push(row[0]);
        self.temperature.push(row[1]);
        Ok(())
    }

    /// Its hours, for messages.
    fn span(&self) -> String {
        match (self.hours.first(), self.hours.last()) {
            (Some(first), Some(last)) => format!("{} hours from {first} to {last}", self.hours.len()),
            _ => "no hours".to_owned(),
        }
    }
}

/// Where the wanted columns are.
fn columns(path: &Path, header: &[String]) -> Result<[usize; 6], PaperError> {
    let mut found = [0; 6];
    for (to, name) in found.iter_mut().zip(COLUMNS) {
        let Some(i) = header.iter().position(|h| h == name) else {
            let hint = format!("it needs the columns {}", COLUMNS.join(", "));
            return Err(PaperError::file(path, format!("no column `{name}`"), hint));
        };
        *to = i;
    }
    Ok(found)
}

/// The hour that year, month, day and hour say.
fn hour(parts: &[f64]) -> Result<Hour, RowTrouble> {
    if let Some(i) = parts.iter().position(|v| v.is_nan()) {
        return Err(RowTrouble::NoNumber(i + 2));
    }
    let whole = |v: f64| (v.fract() == 0.0 && (0.0..=9999.0).contains(&v)).then_some(v as i32);
    let small = |v: f64| whole(v).and_then(|v| u8::try_from(v).ok());
    let date = || Date::new(whole(parts[0])?, small(parts[1])?, small(parts[2])?);
    match (date(), small(parts[3])) {
        (Some(date), Some(hour)) if hour < 24 => Ok(Hour::of(date, hour)),
        _ => Err(RowTrouble::NoHour([parts[0], parts[1], parts[2], parts[3]])),
    }
}

/// Why a row cannot be taken in.
enum RowTrouble {
    /// No number in a column of [`COLUMNS`].
    NoNumber(usize),
    /// A number that is no load or temperature.
    Unlikely(usize, f64),
    NoHour([f64; 4]),
    NotMidnight(Hour),
    Gap(Hour, Hour),
}

impl RowTrouble {
    fn at(self, path: &Path, table: &TableReader<'_>, line: u64, columns: &[usize; 6]) -> PaperError {
        let column =
            if let Self::NoNumber(i) | Self::Unlikely(i, _) = self { Some(columns[i]) } else { None };
        let place = table.place_of(line, column).to_string();
        let place = place.strip_prefix(&format!("{}, ", path.display())).unwrap_or(&place);
        let (what, hint) = match self {
            Self::NoNumber(_) => {
                ("no number".to_owned(), "fill the gap, for example from the hours around it")
            }
            Self::Unlikely(i, value) => (
                format!("{value} is no {}", ["load in MW", "temperature in °C"][i]),
                "fill the gap, for example from the hours around it, or convert the unit",
            ),
            Self::NoHour([y, m, d, h]) => {
                (format!("year {y}, month {m}, day {d}, hour {h} is no hour"), "hours go from 0 to 23")
            }
            Self::NotMidnight(hour) => {
                (format!("the first hour is {hour}"), "begin with the hour 0 of a day: days are taken whole")
            }
            Self::Gap(last, hour) => (
                format!("{hour} follows {last}"),
                "hours must follow one another, in one time all year round; only 29 February may be left out",
            ),
        };
        PaperError::file(path, format!("{place}: {what}"), hint)
    }
}
