//! Decisions to a file or to stdout, a few thousand rows at a time.

use std::borrow::Cow;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use regretless_spec::{OutColumn, ParquetOut};
use serde_json::{Map, Value};

use crate::args::Format;
use crate::error::CliError;

/// The decision for a row; NaN where there is none.
pub(crate) struct Decided {
    pub(crate) status: Cow<'static, str>,
    pub(crate) objective: f64,
    pub(crate) x: Vec<f64>,
}

/// Where decisions go. A file is written under another name and renamed at the end: it is whole or not there.
pub(crate) struct Sink {
    out: Kind,
    partial: Option<(PathBuf, PathBuf)>,
    /// The name of the column that names the rows.
    key: Option<String>,
    /// Names of the decision's and the prediction's columns.
    names: Vec<String>,
    variables: usize,
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
        key: Option<&str>,
        variables: &[String],
        targets: &[String],
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
        let predicted = targets.iter().map(|t| format!("predicted_{t}"));
        // A variable may be called like one of the first three columns.
        let taken =
            |name: &String| matches!(name.as_str(), "status" | "objective") || name == key.unwrap_or("row");
        let own = variables.iter().map(|v| if taken(v) { format!("x_{v}") } else { v.clone() });
        let names: Vec<String> = own.chain(predicted).collect();
        let head: Vec<&str> = [key.unwrap_or("row"), "status", "objective"]
            .into_iter()
            .chain(names.iter().map(String::as_str))
            .collect();
        let head = head.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(",") + "\n";
        let key = key.map(ToOwned::to_owned);
        Ok(Self { out, partial, key, names, variables: variables.len(), head: Some(head) })
    }

    /// Rows by their numbers in the table.
    pub(crate) fn write(
        &mut self,
        numbers: &[usize],
        keys: Option<&[String]>,
        rows: &[Decided],
        predictions: &[f64],
    ) -> Result<(), CliError> {
        let width = self.names.len() - self.variables;
        let predicted = |i: usize| &predictions[i * width..(i + 1) * width];
        let key = |i: usize| keys.map_or_else(|| numbers[i].to_string(), |keys| keys[i].clone());
        let done = match &mut self.out {
            Kind::Csv(out) => {
                let mut text = self.head.take().unwrap_or_default();
                for (i, row) in rows.iter().enumerate() {
                    text += &quoted(&key(i));
                    text.push(',');
                    text += &quoted(&row.status);
                    for v in std::iter::once(&row.objective).chain(&row.x).chain(predicted(i)) {
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
                object.insert("objective".into(), number(row.objective));
                for (name, v) in self.names.iter().zip(row.x.iter().chain(predicted(i))) {
                    object.insert(name.clone(), number(*v));
                }
                writeln!(out, "{}", Value::Object(object))
            }),
            Kind::Parquet(out) => {
                let names: Vec<String> = (0..rows.len()).map(key).collect();
                let statuses: Vec<String> = rows.iter().map(|r| r.status.to_string()).collect();
                let objectives: Vec<f64> = rows.iter().map(|r| r.objective).collect();
                let column = |j: usize| -> Vec<f64> {
                    let entry = |(i, row): (usize, &Decided)| {
                        if j < self.variables { row.x[j] } else { predicted(i)[j - self.variables] }
                    };
                    rows.iter().enumerate().map(entry).collect()
                };
                let values: Vec<Vec<f64>> = (0..self.names.len()).map(column).collect();
                let mut columns = vec![
                    (self.key.as_deref().unwrap_or("row"), OutColumn::Texts(&names)),
                    ("status", OutColumn::Texts(&statuses)),
                    ("objective", OutColumn::Numbers(&objectives)),
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

/// A CSV cell, quoted where it must be.
fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}
