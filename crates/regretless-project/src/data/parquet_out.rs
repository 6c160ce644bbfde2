//! Parquet written: columns of numbers and text, a chunk of rows at a time.

use std::io::Write;
use std::sync::Arc;

use parquet::basic::{Compression, ConvertedType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::Result;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;

/// One column of rows to write.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum OutColumn<'a> {
    /// Numbers; NaN is written as it is.
    Numbers(&'a [f64]),
    /// Whole numbers.
    Whole(&'a [i64]),
    /// Text.
    Texts(&'a [String]),
}

/// A Parquet file that is being written; its columns are told by the first rows.
///
/// ```
/// use regretless_project::{OutColumn, ParquetOut};
/// let mut out = ParquetOut::new(Vec::new());
/// out.write(&[("day", OutColumn::Texts(&["mon".to_owned()])), ("x", OutColumn::Numbers(&[1.5]))])?;
/// assert!(out.close()?.starts_with(b"PAR1"));
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct ParquetOut<W: Write + Send> {
    state: State<W>,
}

enum State<W: Write + Send> {
    Fresh(W),
    Open(Box<SerializedFileWriter<W>>),
    Broken,
}

impl<W: Write + Send> ParquetOut<W> {
    /// Nothing is written before the first rows.
    pub fn new(writer: W) -> Self {
        Self { state: State::Fresh(writer) }
    }

    /// Writes rows as one row group: the columns in order, the same ones every time and all of one length.
    pub fn write(&mut self, columns: &[(&str, OutColumn<'_>)]) -> std::io::Result<()> {
        self.rows(columns).map_err(std::io::Error::other)
    }

    fn rows(&mut self, columns: &[(&str, OutColumn<'_>)]) -> Result<()> {
        let mut file = match std::mem::replace(&mut self.state, State::Broken) {
            State::Fresh(writer) => Box::new(open(writer, columns)?),
            State::Open(file) => file,
            State::Broken => {
                return Err(parquet::errors::ParquetError::General("a write failed before".to_owned()));
            }
        };
        let mut group = file.next_row_group()?;
        for (_, values) in columns {
            let Some(mut column) = group.next_column()? else { break };
            match values {
                OutColumn::Numbers(values) => column.typed::<DoubleType>().write_batch(values, None, None)?,
                OutColumn::Whole(values) => column.typed::<Int64Type>().write_batch(values, None, None)?,
                OutColumn::Texts(values) => {
                    let values: Vec<_> = values.iter().map(|v| ByteArray::from(v.as_str())).collect();
                    column.typed::<ByteArrayType>().write_batch(&values, None, None)?
                }
            };
            column.close()?;
        }
        group.close()?;
        self.state = State::Open(file);
        Ok(())
    }

    /// Completes the file and gives the writer back.
    pub fn close(self) -> std::io::Result<W> {
        match self.state {
            State::Fresh(writer) => Ok(writer),
            State::Open(file) => file.into_inner().map_err(std::io::Error::other),
            State::Broken => Err(std::io::Error::other("a write failed before")),
        }
    }
}

fn open<W: Write + Send>(writer: W, columns: &[(&str, OutColumn<'_>)]) -> Result<SerializedFileWriter<W>> {
    let field = |(name, values): &(&str, OutColumn<'_>)| {
        let (physical, meaning) = match values {
            OutColumn::Numbers(_) => (Physical::DOUBLE, ConvertedType::NONE),
            OutColumn::Whole(_) => (Physical::INT64, ConvertedType::NONE),
            OutColumn::Texts(_) => (Physical::BYTE_ARRAY, ConvertedType::UTF8),
        };
        let field = Type::primitive_type_builder(name, physical).with_repetition(Repetition::REQUIRED);
        field.with_converted_type(meaning).build().map(Arc::new)
    };
    let fields = columns.iter().map(field).collect::<Result<Vec<_>>>()?;
    let schema = Type::group_type_builder("rows").with_fields(fields).build()?;
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
    SerializedFileWriter::new(writer, Arc::new(schema), Arc::new(properties))
}
