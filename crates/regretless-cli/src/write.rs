//! Decisions to a file or to stdout, a few thousand rows at a time.

use std::fs::{self, File, TryLockError};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use regretless_project::{DataChunk, Decided, OutColumn, ParquetOut};
use serde_json::{Map, Value};

use crate::args::Format;
use crate::error::CliError;

/// Where decisions go. A file is written under another name and renamed at the end: it is whole or not there.
pub(crate) struct Sink {
    out: Kind,
    partial: Option<(PathBuf, PathBuf)>,
    /// The columns that say what a decision is for: the name or number of a row, its time and series.
    head: Vec<String>,
    /// Names of the columns of numbers: objectives, decision, prediction.
    names: Vec<String>,
    /// Whether rows were written.
    begun: bool,
    /// The first line of a CSV file, until there is something to write under it.
    line: Option<String>,
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
        head: &[String],
        names: &[String],
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
                if !KINDS.contains(&ending.as_str()) {
                    return Err(CliError::OutputKind { path: shown });
                }
                let half = half_of(path);
                let file = alone(&half, &shown)?;
                partial = Some((half, path.to_owned()));
                let out: Out = Box::new(BufWriter::new(file));
                match ending.as_str() {
                    "csv" => Kind::Csv(out),
                    "parquet" => Kind::Parquet(Box::new(ParquetOut::new(out))),
                    _ => Kind::Json(out),
                }
            }
        };
        let columns =
            head.iter().map(String::as_str).chain(["status"]).chain(names.iter().map(String::as_str));
        let line = columns.map(quoted).collect::<Vec<_>>().join(",") + "\n";
        let (head, names) = (head.to_vec(), names.to_vec());
        Ok(Self { out, partial, head, names, begun: false, line: Some(line) })
    }

    /// The decisions for the rows of a chunk.
    pub(crate) fn write(&mut self, chunk: &DataChunk, rows: &[Decided]) -> Result<(), CliError> {
        self.begun = true;
        let keys = chunk.keys.as_deref();
        let key = |i: usize| keys.map_or_else(|| chunk.numbers[i].to_string(), |keys| keys[i].clone());
        let done = match &mut self.out {
            Kind::Csv(out) => {
                let mut text = self.line.take().unwrap_or_default();
                for (i, row) in rows.iter().enumerate() {
                    text += &quoted(&key(i));
                    text.push(',');
                    for label in &chunk.labels {
                        text += &quoted(&label[i]);
                        text.push(',');
                    }
                    text += &quoted(&row.status);
                    for v in &row.numbers {
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
                let (name, labels) =
                    self.head.split_first().map_or(("row", &[][..]), |(n, l)| (n.as_str(), l));
                object.insert(
                    name.into(),
                    if keys.is_some() { key(i).into() } else { chunk.numbers[i].into() },
                );
                for (name, label) in labels.iter().zip(&chunk.labels) {
                    object.insert(name.clone(), label[i].as_str().into());
                }
                object.insert("status".into(), row.status.as_str().into());
                for (name, v) in self.names.iter().zip(&row.numbers) {
                    object.insert(name.clone(), number(*v));
                }
                writeln!(out, "{}", Value::Object(object))
            }),
            Kind::Parquet(out) => {
                let names: Vec<String> = (0..rows.len()).map(key).collect();
                // A file without rows has its columns all the same.
                let empty = Vec::new();
                let labels =
                    (0..self.head.len().saturating_sub(1)).map(|k| chunk.labels.get(k).unwrap_or(&empty));
                let statuses: Vec<String> = rows.iter().map(|r| r.status.clone()).collect();
                let mut values = vec![Vec::with_capacity(rows.len()); self.names.len()];
                for row in rows {
                    values.iter_mut().zip(&row.numbers).for_each(|(column, v)| column.push(*v));
                }
                let heads = std::iter::once(&names).chain(labels);
                let heads = self.head.iter().zip(heads);
                let mut columns: Vec<_> =
                    heads.map(|(name, cells)| (name.as_str(), OutColumn::Texts(cells))).collect();
                columns.push(("status", OutColumn::Texts(&statuses)));
                let numbers = self.names.iter().zip(&values);
                columns.extend(numbers.map(|(name, v)| (name.as_str(), OutColumn::Numbers(v))));
                out.write(&columns)
            }
        };
        self.finish(done)
    }

    /// Everything is written: the file takes its name.
    pub(crate) fn close(mut self) -> Result<(), CliError> {
        if !self.begun && matches!(self.out, Kind::Parquet(_)) {
            self.write(&DataChunk::default(), &[])?;
        }
        let out = std::mem::replace(&mut self.out, Kind::Csv(Box::new(std::io::sink())));
        let flushed = match out {
            Kind::Csv(mut out) => {
                let line = self.line.take().unwrap_or_default();
                out.write_all(line.as_bytes()).and_then(|()| out.flush())
            }
            Kind::Json(mut out) => out.flush(),
            Kind::Parquet(out) => out.close().and_then(|mut out| out.flush()),
        };
        self.finish(flushed)?;
        if let Some((half, path)) = &self.partial {
            let shown = path.display().to_string();
            // On the disk before it has its name: what has one is not made again.
            let synced = File::open(half).and_then(|file| file.sync_data());
            synced
                .and_then(|()| fs::rename(half, path))
                .map_err(|source| CliError::Write { path: shown, source })?;
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

/// Where a file is written until it is whole; hidden in a folder of decisions, which others read as one table.
fn half_of(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let hidden = if name.starts_with(PART) { "." } else { "" };
    path.with_file_name(format!("{hidden}{name}.partial"))
}

/// Endings of files that decisions are written to.
pub(crate) const KINDS: [&str; 4] = ["csv", "jsonl", "json", "parquet"];

/// How the files in a folder of decisions begin.
pub(crate) const PART: &str = "group-";

/// A file that no other command is writing. A file system without locks does without.
fn alone(half: &Path, shown: &str) -> Result<File, CliError> {
    let failed = |source| CliError::Write { path: shown.to_owned(), source };
    let file = File::options().write(true).create(true).truncate(false).open(half).map_err(failed)?;
    if matches!(file.try_lock(), Err(TryLockError::WouldBlock)) {
        return Err(CliError::Busy { path: shown.to_owned() });
    }
    file.set_len(0).map_err(failed)?;
    Ok(file)
}

/// A CSV cell, quoted where it must be.
fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}
