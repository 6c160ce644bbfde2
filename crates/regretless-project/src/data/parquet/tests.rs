use std::sync::Arc;

use parquet::basic::Compression;
use parquet::data_type::{BoolType, ByteArrayType, DoubleType, FloatType, Int32Type, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

use crate::{Guess, Limits, TableReader};

const SCHEMA: &str = "message rows {
    optional double x;
    required float f;
    optional int32 whole;
    optional int64 price (DECIMAL(9, 2));
    required boolean flag;
    required int32 day (DATE);
    optional binary name (UTF8);
    required int64 stamp (TIMESTAMP_MICROS);
    repeated int32 list;
}";

/// Two row groups of the same three rows, with a null in the middle one wherever there may be one.
fn file(compression: Compression) -> tempfile::NamedTempFile {
    let file = tempfile::NamedTempFile::new().unwrap();
    let schema = Arc::new(parse_message_type(SCHEMA).unwrap());
    let properties = Arc::new(WriterProperties::builder().set_compression(compression).build());
    let mut writer = SerializedFileWriter::new(file.reopen().unwrap(), schema, properties).unwrap();
    let some = Some(&[1, 0, 1][..]);
    for _ in 0..2 {
        let mut group = writer.next_row_group().unwrap();
        macro_rules! column {
            ($kind:ty, $values:expr, $levels:expr, $repeats:expr) => {{
                let mut column = group.next_column().unwrap().unwrap();
                column.typed::<$kind>().write_batch(&$values, $levels, $repeats).unwrap();
                column.close().unwrap();
            }};
        }
        column!(DoubleType, [1.5, -2.5], some, None);
        column!(FloatType, [0.5, 1.5, 2.5], None, None);
        column!(Int32Type, [7, -7], some, None);
        column!(Int64Type, [1_250, -5], some, None);
        column!(BoolType, [true, false, true], None, None);
        column!(Int32Type, [0, 1, 19_782], None, None);
        column!(ByteArrayType, ["12".into(), "b".into()], some, None);
        column!(Int64Type, [0, 1_500_000, 86_400_000_000], None, None);
        column!(Int32Type, [1, 2, 3], Some(&[1, 1, 1]), Some(&[0, 0, 0]));
        group.close().unwrap();
    }
    writer.close().unwrap();
    file
}

#[test]
fn every_kind_of_column() {
    for compression in [
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::GZIP(parquet::basic::GzipLevel::default()),
        Compression::ZSTD(parquet::basic::ZstdLevel::default()),
    ] {
        let file = file(compression);
        let mut table = TableReader::open(file.path(), &Limits::default()).unwrap();
        let numbers = [Guess::Number; 5];
        let others = [Guess::Date, Guess::Text, Guess::Date, Guess::Text];
        assert_eq!(table.guesses(), [&numbers[..], &others].concat());
        table.select(vec![0, 1, 2, 3, 4, 5, 7]);
        table.select_texts(vec![6, 5, 7]);
        for group in 0..2 {
            let chunk = table.next().unwrap().unwrap();
            assert_eq!(chunk.lines, [3 * group + 1, 3 * group + 2, 3 * group + 3]);
            assert_eq!(chunk.values[..7], [1.5, 0.5, 7.0, 12.5, 1.0, 0.0, 0.0]);
            assert_eq!(chunk.values[14..], [-2.5, 2.5, -7.0, -0.05, 1.0, 19_782.0, 86_400.0]);
            let nulls: Vec<_> = chunk.values[7..14].iter().map(|v| v.is_nan()).collect();
            assert_eq!(nulls, [true, false, true, true, false, false, false]);
            assert_eq!(chunk.texts[0], ["12", "", "b"]);
            assert_eq!(chunk.texts[1], ["1970-01-01", "1970-01-02", "2024-02-29"]);
            assert_eq!(chunk.texts[2][1], "1970-01-01T00:00:01.500000");
        }
        assert!(table.next().unwrap().is_none());
    }
}

#[test]
fn lists_and_huge_columns_are_refused() {
    let file = file(Compression::SNAPPY);
    let refused = |column: usize, limits: &Limits| {
        let mut table = TableReader::open(file.path(), limits).unwrap();
        table.select(vec![column]);
        table.next().unwrap_err().problem.to_string()
    };
    assert_eq!(
        refused(8, &Limits::default()),
        "not a readable Parquet file: the column `list` holds lists, and only single values are read"
    );
    assert_eq!(refused(6, &Limits::default()), "`b` is not a number");

    let bomb = tempfile::NamedTempFile::new().unwrap();
    let schema = Arc::new(parse_message_type("message rows { required double x; }").unwrap());
    let zstd = Compression::ZSTD(parquet::basic::ZstdLevel::default());
    let properties = WriterProperties::builder().set_compression(zstd).set_dictionary_enabled(false).build();
    let mut writer = SerializedFileWriter::new(bomb.reopen().unwrap(), schema, Arc::new(properties)).unwrap();
    let mut group = writer.next_row_group().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    column.typed::<DoubleType>().write_batch(&vec![0.0; 100_000], None, None).unwrap();
    column.close().unwrap();
    group.close().unwrap();
    writer.close().unwrap();
    let mut table =
        TableReader::open(bomb.path(), &Limits { table_bytes: 1 << 16, ..Limits::default() }).unwrap();
    table.select(vec![0]);
    let message = table.next().unwrap_err().problem.to_string();
    assert!(
        message.starts_with("unpacked, a column has 781") && message.ends_with("the limit is 64 KiB"),
        "{message}"
    );
}
