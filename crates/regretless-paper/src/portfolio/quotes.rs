//! Single prices as they stand in a table, and how they become a whole.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use regretless_project::{Chunk, Limits, Place, TableReader};

use super::calendar::iso;
use super::prices::{MISADJUSTED, Prices};
use crate::PaperError;

const FORMS: &str = "either Date and one column a ticker, or the columns Date, Symbol and Close";

/// The prices of a table, in the order they are found.
pub(super) struct Quotes<'a> {
    file: &'a Path,
    /// What the table's format counts: lines or rows.
    unit: &'static str,
    /// The first date that is not wanted.
    before: &'a str,
    dates: Names,
    symbols: Names,
    found: Vec<Quote>,
}

/// A price, with its symbol and date by number.
struct Quote {
    symbol: usize,
    date: usize,
    line: u64,
    close: f64,
}

impl<'a> Quotes<'a> {
    /// All prices of a table, wide or long, before a date.
    pub(super) fn read(file: &'a Path, before: &'a str) -> Result<Self, PaperError> {
        let mut table = TableReader::open(file, &Limits::default())?;
        let header: Vec<String> = table.header().iter().map(|name| name.trim().to_owned()).collect();
        let column = |wanted: &str| header.iter().position(|name| name.eq_ignore_ascii_case(wanted));
        let missing = |wanted: &str| PaperError::file(file, format!("there is no column {wanted}"), FORMS);
        let date = column("Date").ok_or_else(|| missing("Date"))?;
        let unit = if matches!(table.place_of(1, None), Place::Row { .. }) { "row" } else { "line" };
        let (dates, symbols) = (Names::default(), Names::default());
        let mut quotes = Self { file, unit, before, dates, symbols, found: Vec::new() };
        match (column("Symbol"), column("Close")) {
            (Some(symbol), Some(close)) => {
                table.select_texts(vec![date, symbol]);
                table.select(vec![close]);
                while let Some(chunk) = table.next()? {
                    quotes.long(&chunk)?;
                }
            }
            (None, None) => {
                let tickers = tickers(file, &header, date)?;
                table.select_texts(vec![date]);
                table.select((1..header.len()).collect());
                let mut last = String::new();
                while let Some(chunk) = table.next()? {
                    quotes.wide(&chunk, tickers, &mut last)?;
                }
            }
            (None, _) => return Err(missing("Symbol")),
            (_, None) => return Err(missing("Close")),
        }
        Ok(quotes)
    }

    fn long(&mut self, chunk: &Chunk) -> Result<(), PaperError> {
        for (row, &line) in chunk.lines.iter().enumerate() {
            let date = self.date(line, &chunk.texts[0][row])?;
            let symbol = chunk.texts[1][row].trim();
            if symbol.is_empty() {
                return Err(self.fail(line, ": there is no symbol", "name the ticker of every price"));
            }
            self.push(line, date, symbol, chunk.values[row])?;
        }
        Ok(())
    }

    /// `last` is the date before the chunk's first.
    fn wide(&mut self, chunk: &Chunk, tickers: &[String], last: &mut String) -> Result<(), PaperError> {
        for (row, &line) in chunk.lines.iter().enumerate() {
            let date = self.date(line, &chunk.texts[0][row])?;
            if date <= last.as_str() {
                let what = format!(": {date} comes after {last}");
                return Err(self.fail(line, &what, "sort the rows by date, one row a date"));
            }
            date.clone_into(last);
            for (symbol, &close) in tickers.iter().zip(&chunk.values[row * tickers.len()..]) {
                self.push(line, date, symbol, close)?;
            }
        }
        Ok(())
    }

    /// Takes a price, if it is wanted.
    fn push(&mut self, line: u64, date: &str, symbol: &str, close: f64) -> Result<(), PaperError> {
        // Numbered in any case: what is left out is told.
        let number = self.symbols.number(symbol);
        if date >= self.before || close.is_nan() || MISADJUSTED.contains(&symbol) {
            return Ok(());
        }
        if !(close > 0.0 && close.is_finite()) {
            let what = format!(", {symbol}: the price {close} is not positive and finite");
            return Err(self.fail(line, &what, "correct the price, or leave its cell empty"));
        }
        let date = self.dates.number(date);
        self.found.push(Quote { symbol: number, date, line, close });
        Ok(())
    }

    fn date<'c>(&self, line: u64, cell: &'c str) -> Result<&'c str, PaperError> {
        iso(cell).ok_or_else(|| {
            let shown: String = cell.chars().take(30).collect();
            self.fail(line, &format!(": `{shown}` is no date"), "dates are written as 2004-01-02")
        })
    }

    fn fail(&self, line: u64, what: &str, hint: &str) -> PaperError {
        PaperError::file(self.file, format!("{} {line}{what}", self.unit), hint)
    }

    /// The prices of the symbols that have the most; these must have them on the same dates.
    pub(super) fn prices(self) -> Result<Prices, PaperError> {
        let Self { file, unit, mut found, .. } = self;
        let (dates, date_ranks) = self.dates.sorted();
        let (symbols, symbol_ranks) = self.symbols.sorted();
        for quote in &mut found {
            (quote.date, quote.symbol) = (date_ranks[quote.date], symbol_ranks[quote.symbol]);
        }
        found.sort_unstable_by_key(|quote| (quote.symbol, quote.date, quote.line));
        let same = |a: &Quote, b: &Quote| (a.symbol, a.date) == (b.symbol, b.date);
        if let Some([a, b]) = found.array_windows().find(|[a, b]| same(a, b)) {
            let (symbol, date) = (&symbols[a.symbol], &dates[a.date]);
            let what = format!("{symbol} has two prices on {date}, in {unit}s {} and {}", a.line, b.line);
            return Err(PaperError::file(file, what, "keep one row for each date and symbol"));
        }
        let by_symbol: Vec<&[Quote]> = found.chunk_by(|a, b| a.symbol == b.symbol).collect();
        let most = by_symbol.iter().map(|quotes| quotes.len()).max().unwrap_or(0);
        let kept: Vec<&[Quote]> = by_symbol.into_iter().filter(|quotes| quotes.len() == most).collect();
        let Some(&first) = kept.first() else {
            let hint = "look whether the table has rows, and dates before the last one wanted";
            return Err(PaperError::file(file, "there are no prices to use", hint));
        };
        let differs = |other: &&&[Quote]| first.iter().zip(**other).any(|(a, b)| a.date != b.date);
        if let Some(other) = kept.iter().find(differs) {
            let [a, b] = [first, other].map(|quotes| &symbols[quotes[0].symbol]);
            let what = format!("{a} and {b} have {most} prices each, but not on the same dates");
            return Err(PaperError::file(file, what, "leave out symbols that lack prices the others have"));
        }
        let used: BTreeSet<usize> = kept.iter().map(|quotes| quotes[0].symbol).collect();
        let (used, unused): (Vec<_>, Vec<_>) =
            symbols.into_iter().enumerate().partition(|(i, _)| used.contains(i));
        let names = |numbered: Vec<(usize, String)>| numbered.into_iter().map(|(_, name)| name).collect();
        Ok(Prices {
            dates: first.iter().map(|quote| dates[quote.date].clone()).collect(),
            symbols: names(used),
            left_out: names(unused),
            close: (0..most).flat_map(|t| kept.iter().map(move |quotes| quotes[t].close)).collect(),
        })
    }
}

/// The tickers of a wide table's header.
fn tickers<'h>(file: &Path, header: &'h [String], date: usize) -> Result<&'h [String], PaperError> {
    if date != 0 || header.len() < 2 {
        return Err(PaperError::file(file, "the header is not that of a price table", FORMS));
    }
    let mut seen = Names::default();
    for (i, name) in header[1..].iter().enumerate() {
        if name.is_empty() {
            let what = format!("column {} has no name", i + 2);
            return Err(PaperError::file(file, what, FORMS));
        }
        if seen.number(name) != i {
            return Err(PaperError::file(file, format!("there are two columns {name}"), "keep one of them"));
        }
    }
    Ok(&header[1..])
}

/// Names, numbered as they come.
#[derive(Default)]
struct Names(BTreeMap<String, usize>);

impl Names {
    fn number(&mut self, name: &str) -> usize {
        if let Some(&number) = self.0.get(name) {
            return number;
        }
        let number = self.0.len();
        self.0.insert(name.to_owned(), number);
        number
    }

    /// The names in order, and the place of each number in it.
    fn sorted(self) -> (Vec<String>, Vec<usize>) {
        let mut ranks = vec![0; self.0.len()];
        let sorted = self.0.into_iter().enumerate().map(|(rank, (name, number))| {
            ranks[number] = rank;
            name
        });
        (sorted.collect(), ranks)
    }
}
