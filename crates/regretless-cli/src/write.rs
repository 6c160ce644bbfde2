//! Decisions to a file or to stdout, a few thousand rows at a time.

use std::borrow::Cow;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use regretless_project::{OutColumn, ParquetOut};
use serde_json::{Map, Value};

use crate::args::Format;
use crate::error::CliError;

/// The decision for a row; NaN where there is none.
pub(crate) struct Decided {
    pub(crate) status: Cow<'static, str>,
    /// The objective if the prediction came true.
    pub(crate) if_predicted: f64,
    /// The mean objective over the scenarios, where there are any.
    pub(crate) expected: f64,
    pub(crate) x: Vec<f64>,
}

/// What is written of a decision.
pub(crate) struct Columns<'a> {
    /// The column that names the rows.
    pub(crate) key: Option<&'a str>,
    /// True if decisions are for the average over scenarios.
    pub(crate) expects: bool,
    pub(crate) variables: &'a [String],
    /// Columns of the prediction, if it is wanted.
    pub(crate) targets: &'a [String],
}

/// The objective that a decision has if the prediction comes true, which it never quite does.
const IF_PREDICTED: &str = "objective_if_predicted";
/// The mean objective over scenarios.
const EXPECTED: &str = "expected_objective";

impl Decided {
    /// The numbers of a row, without those of the prediction.
    fn numbers(&self, expects: bool) -> impl Iterator<Item = f64> + '_ {
        let expected = expects.then_some(self.expected);
        std::iter::once(self.if_predicted).chain(expected).chain(self.x.iter().copied())
    }
}

/// Where decisions go. A file is written under another name and renamed at the end: it is whole or not there.
pub(crate) struct Sink {
    out: Kind,
    partial: Option<(PathBuf, PathBuf)>,
    /// The name of the column that names the rows.
    key: Option<String>,
    /// Names of the columns of numbers: objectives, decision, prediction.
    names: Vec<String>,
    expects: bool,
    /// How many of them are the prediction's.
    predicted: usize,
    /// The first line of a CSV file, until there is something to write under it.
    head: Option<String>,
}

type Out = Box<dyn Write + Send>;

/// Keeps everything until it is flushed: before that nothing is on stdout.
#[derive(Default)]
struct Held(Vec<u8>);

impl Write for Held {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        let mut stdout = std::io::stdout().lock();
        stdout.write_all(&std::mem::take(&mut self.0))?;
        stdout.flush()
    }
}

enum Kind {
    Csv(Out),
    Json(Out),
    Parquet(Box<ParquetOut<Out>>),
}

impl Sink {
    /// `whole`: stdout gets all or nothing, as a file does.
    pub(crate) fn open(
        path: Option<&Path>,
        whole: bool,
        format: Format,
        columns: &Columns<'_>,
    ) -> Result<Self, CliError> {
        let mut partial = None;
        let out = match path {
            None => {
                let out: Out = if whole {
                    Box::new(Held::default())
                } else {
                    Box::new(BufWriter::new(std::io::stdout()))
                };
                if format == Format::Json { Kind::Json(out) } else { Kind::Csv(out) }
            }
            Some(path) => {
                let shown = path.display().to_string();
                let ending = path.extension().and_then(|e| e.to_str()).unwrap_or_default().to_lowercase();
                if !["csv", "jsonl", "json", "parquet"].contains(&ending.as_str()) {
                    return Err(CliError::OutputKind { path: shown });
                }
                let mut name = path.file_name().unwrap_or_default().to_os_string();
                name.push(".partial");
                let half = path.with_file_name(name);
                let file = File::create(&half).map_err(|source| CliError::Write { path: shown, source })?;
                partial = Some((half, path.to_owned()));
                let out: Out = Box::new(BufWriter::new(file));
                match ending.as_str() {
                    "csv" => Kind::Csv(out),
                    "parquet" => Kind::Parquet(Box::new(ParquetOut::new(out))),
                    _ => Kind::Json(out),
                }
            }
        };
        let Columns { key, expects, variables, targets } = *columns;
        let first = key.unwrap_or("row");
        let objectives = std::iter::once(IF_PREDICTED).chain(expects.then_some(EXPECTED));
        // A variable may be called like one of the first columns.
        let taken =
            |name: &String| name == "status" || name == first || objectives.clone().any(|o| o == name);
        let own = variables.iter().map(|v| if taken(v) { format!("x_{v}") } else { v.clone() });
        let predicted = targets.iter().map(|t| format!("predicted_{t}"));
        let names: Vec<String> = objectives.clone().map(str::to_owned).chain(own).chain(predicted).collect();
        let head = [first, "status"].into_iter().chain(names.iter().map(String::as_str));
        let head = head.map(quoted).collect::<Vec<_>>().join(",") + "\n";
        let key = key.map(ToOwned::to_owned);
        Ok(Self { out, partial, key, names, expects, predicted: targets.len(), head: Some(head) })
    }

    /// Rows by their numbers in the table.
    pub(crate) fn write(
        &mut self,
        numbers: &[usize],
        keys: Option<&[String]>,
        rows: &[Decided],
        predictions: &[f64],
    ) -> Result<(), CliError> {
        let (width, expects) = (self.predicted, self.expects);
        let numbers_of = |i: usize| {
            let predicted = predictions[i * width..(i + 1) * width].iter().copied();
            rows[i].numbers(expects).chain(predicted).map(rounded)
        };
        let key = |i: usize| keys.map_or_else(|| numbers[i].to_string(), |keys| keys[i].clone());
        let done = match &mut self.out {
            Kind::Csv(out) => {
                let mut text = self.head.take().unwrap_or_default();
                for (i, row) in rows.iter().enumerate() {
                    text += &quoted(&key(i));
                    text.push(',');
                    text += &quoted(&row.status);
                    for v in numbers_of(i) {
                        text.push(',');
                        if v.is_finite() {
                            text += &v.to_string();
                        }
                    }
                    text.push('\n');
                }
                out.write_all(text.as_bytes())
            }
            Kind::Json(out) => rows.iter().enumerate().try_for_each(|(i, row)| {
                let mut object = Map::new();
                let number = |v: f64| serde_json::Number::from_f64(v).map_or(Value::Null, Value::Number);
                let name = self.key.as_deref().unwrap_or("row");
                object.insert(name.into(), if keys.is_some() { key(i).into() } else { numbers[i].into() });
                object.insert("status".into(), row.status.as_ref().into());
                for (name, v) in self.names.iter().zip(numbers_of(i)) {
                    object.insert(name.clone(), number(v));
                }
                writeln!(out, "{}", Value::Object(object))
            }),
            Kind::Parquet(out) => {
                let names: Vec<String> = (0..rows.len()).map(key).collect();
                let statuses: Vec<String> = rows.iter().map(|r| r.status.to_string()).collect();
                let mut values = vec![Vec::with_capacity(rows.len()); self.names.len()];
                for i in 0..rows.len() {
                    values.iter_mut().zip(numbers_of(i)).for_each(|(column, v)| column.push(v));
                }
                let mut columns = vec![
                    (self.key.as_deref().unwrap_or("row"), OutColumn::Texts(&names)),
                    ("status", OutColumn::Texts(&statuses)),
                ];
                let numbers = self.names.iter().zip(&values);
                columns.extend(numbers.map(|(name, v)| (name.as_str(), OutColumn::Numbers(v))));
                out.write(&columns)
            }
        };
        self.finish(done)
    }

    /// Everything is written: the file takes its name.
    pub(crate) fn close(mut self) -> Result<(), CliError> {
        let out = std::mem::replace(&mut self.out, Kind::Csv(Box::new(std::io::sink())));
        let flushed = match out {
            Kind::Csv(mut out) => {
                let head = self.head.take().unwrap_or_default();
                out.write_all(head.as_bytes()).and_then(|()| out.flush())
            }
            Kind::Json(mut out) => out.flush(),
            Kind::Parquet(out) => out.close().and_then(|mut out| out.flush()),
        };
        self.finish(flushed)?;
        if let Some((half, path)) = &self.partial {
            let shown = path.display().to_string();
            fs::rename(half, path).map_err(|source| CliError::Write { path: shown, source })?;
        }
        self.partial = None;
        Ok(())
    }

    fn finish(&self, done: std::io::Result<()>) -> Result<(), CliError> {
        done.map_err(|source| match &self.partial {
            Some((_, path)) => CliError::Write { path: path.display().to_string(), source },
            None => CliError::Output(source),
        })
    }
}

impl Drop for Sink {
    /// A file that did not get its name is of no use.
    fn drop(&mut self) {
        if let Some((half, _)) = &self.partial {
            let _ = fs::remove_file(half);
        }
    }
}

/// Ten significant digits, for people: what solving leaves behind them is rounding. −0 is 0.
fn rounded(v: f64) -> f64 {
    if !v.is_finite() {
        return v;
    }
    format!("{v:.9e}").parse().unwrap_or(v) + 0.0
}

/// A CSV cell, quoted where it must be.
fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}
