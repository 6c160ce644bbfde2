//! Tables in every format: the same rows come out, and broken files are refused with their names.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::io::Write;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use regretless_project::{Chunk, Guess, Limits, Result, Spec, TableReader};

const TEXT: &str = "day,temp,\"load,1\"\n1,20.5,3\n\n2,NA,4\n3,,nan\n";

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn put(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.0.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }
}

fn all(path: &Path, columns: Vec<usize>, limits: &Limits) -> Result<Vec<Chunk>> {
    let mut table = TableReader::open(path, limits)?;
    table.select(columns);
    table.chunk_rows(2);
    let mut chunks = Vec::new();
    while let Some(chunk) = table.next()? {
        chunks.push(chunk);
    }
    Ok(chunks)
}

/// The message without the folder.
fn message(path: &Path, result: Result<Vec<Chunk>>) -> String {
    let folder = format!("{}/", path.parent().unwrap().display());
    result.unwrap_err().to_string().replace(&folder, "")
}

#[test]
fn plain_and_packed_text() {
    let folder = Folder::new();
    for path in [folder.put("t.csv", TEXT.as_bytes()), folder.put("t.csv.gz", &gzip(TEXT.as_bytes()))] {
        let chunks = all(&path, vec![2, 1, 99], &Limits::default()).unwrap();
        assert_eq!(chunks.iter().map(|c| c.rows).collect::<Vec<_>>(), [2, 1]);
        assert_eq!((chunks[0].lines.as_slice(), chunks[1].lines.as_slice()), (&[2, 4][..], &[5][..]));
        assert_eq!(chunks[0].values[..3], [3.0, 20.5, 4.0]);
        assert!(chunks[0].values[3].is_nan() && chunks[1].values.iter().all(|v| v.is_nan()));
    }
}

#[test]
fn broken_and_oversized_gzip() {
    let folder = Folder::new();
    let default = Limits::default();
    let whole = gzip(format!("a\n{}", "1\n2\n".repeat(1000)).as_bytes());
    let cut = folder.put("cut.csv.gz", &whole[..whole.len() - 9]);
    assert_eq!(
        message(&cut, all(&cut, vec![0], &default)),
        "cut.csv.gz: not a readable gzip file: it is cut off, or something follows its end"
    );
    let stray = folder.put("stray.csv.gz", &[whole.as_slice(), b"stray\n"].concat());
    assert_eq!(
        message(&stray, all(&stray, vec![0], &default)),
        "stray.csv.gz: not a readable gzip file: it is cut off, or something follows its end"
    );
    let mut bytes = gzip(TEXT.as_bytes());
    let at = bytes.len() - 6;
    bytes[at] ^= 1;
    let damaged = folder.put("bad.csv.gz", &bytes);
    assert_eq!(
        message(&damaged, all(&damaged, vec![0], &default)),
        "bad.csv.gz: not a readable gzip file: its data are damaged"
    );
    let plain = folder.put("plain.gz", TEXT.as_bytes());
    assert_eq!(
        message(&plain, all(&plain, vec![0], &default)),
        "plain.gz: not a readable gzip file: it does not begin as gzip files do"
    );
    let bomb = folder.put("bomb.csv.gz", &gzip(format!("a\n{}", "1\n".repeat(1 << 20)).as_bytes()));
    let limits = Limits { table_bytes: 1 << 16, ..default };
    assert_eq!(
        message(&bomb, all(&bomb, vec![0], &limits)),
        "bomb.csv.gz: unpacked, the file has more than 64 KiB, which is the limit"
    );
    let random = folder.put("t.parquet", TEXT.as_bytes());
    assert_eq!(
        message(&random, all(&random, vec![0], &default)),
        "t.parquet: not a readable Parquet file: it does not begin as Parquet files do"
    );
}

#[test]
fn parameters_from_packed_text() {
    let text = "[problem]\nvariables = [\"a\", \"b\"]\n[objective]\nlinear = { predict = \"p_*\" }\n";
    let spec = Spec::parse(text, "p.toml", &Limits::default()).unwrap();
    let folder = Folder::new();
    let path = folder.put("p.csv.gz", &gzip(b"p_b,p_a\n1,2\n3,4\n"));
    let table = spec.read_parameters(&path).unwrap();
    assert_eq!(table.row(1).unwrap().instance().theta, Some(&[4.0, 3.0][..]));
    let path = folder.put("bad.csv.gz", &gzip(b"p_b,p_a\n1,2\n3,\n"));
    let error = spec.read_parameters(&path).unwrap_err();
    assert!(
        error.to_string().ends_with("bad.csv.gz, line 3, column 2 (`p_a`): the cell is empty"),
        "{error}"
    );
    let path = folder.put("na.csv.gz", &gzip(b"p_b,p_a\n1,NA\n"));
    assert!(spec.read_parameters(&path).unwrap_err().to_string().ends_with("`NA` is not a number"));
}

#[test]
fn a_million_rows_go_by() {
    let folder = Folder::new();
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(b"a,b,c\n").unwrap();
    for i in 0..1_000_000 {
        writeln!(encoder, "{i},x,{}", i % 7).unwrap();
    }
    let path = folder.put("m.csv.gz", &encoder.finish().unwrap());
    let mut table = TableReader::open(&path, &Limits::default()).unwrap();
    assert_eq!(table.guesses(), [Guess::Number, Guess::Text, Guess::Number]);
    table.select(vec![0, 2]);
    let (mut rows, mut sum) = (0, 0.0);
    while let Some(chunk) = table.next().unwrap() {
        assert!(chunk.rows <= 4096);
        rows += chunk.rows;
        sum += chunk.values.iter().step_by(2).sum::<f64>();
    }
    assert_eq!((rows, sum), (1_000_000, 499_999.5 * 1e6));
}

#[cfg(feature = "parquet")]
mod parquet {
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;
    use regretless_project::{DataReader, OutColumn, ParquetOut, Want};

    use super::*;

    fn file() -> Vec<u8> {
        let mut out = ParquetOut::new(Vec::new());
        let names = ["mon", "tue", "wed"].map(str::to_owned);
        for day in 0..3_i64 {
            let values = [day as f64 + 0.5, f64::NAN, -1.0];
            let days = [day, day, day];
            let columns = [
                ("name", OutColumn::Texts(&names)),
                ("day", OutColumn::Whole(&days)),
                ("temp", OutColumn::Numbers(&values)),
            ];
            out.write(&columns).unwrap();
        }
        out.close().unwrap()
    }

    #[test]
    fn what_is_written_is_read() {
        let folder = Folder::new();
        // The first bytes tell the format, not the name.
        let path = folder.put("table.dat", &file());
        let mut table = TableReader::open(&path, &Limits::default()).unwrap();
        assert_eq!(table.header(), ["name", "day", "temp"]);
        assert_eq!(table.guesses(), [Guess::Text, Guess::Number, Guess::Number]);
        table.select(vec![2, 1]);
        table.select_texts(vec![0, 1]);
        let mut rows = 0;
        while let Some(chunk) = table.next().unwrap() {
            assert_eq!(chunk.lines, [rows + 1, rows + 2, rows + 3]);
            let day = (rows / 3) as f64;
            assert_eq!((chunk.values[0], chunk.values[1], chunk.values[4]), (day + 0.5, day, -1.0));
            assert!(chunk.values[2].is_nan());
            assert_eq!(chunk.texts[0], ["mon", "tue", "wed"]);
            assert_eq!(chunk.texts[1][0], day.to_string());
            rows += 3;
        }
        assert_eq!(rows, 9);
    }

    #[test]
    fn messages_name_the_row() {
        let folder = Folder::new();
        let path = folder.put("t.parquet", &file());
        let text = "[problem]\nvariables = 1\n[objective]\nlinear = { predict = \"temp\" }\n";
        let spec = Spec::parse(text, "p.toml", &Limits::default()).unwrap();
        let error = spec.read_parameters(&path).unwrap_err().to_string();
        assert!(
            error.ends_with(
                "t.parquet, row 2, column 3 (`temp`): NaN is not allowed here, only finite numbers are"
            ),
            "{error}"
        );
        let both = Want { features: true, targets: true };
        let refusing = format!("{text}[data]\nfile = \"t.parquet\"\nmissing = \"refuse\"\n");
        let spec = Spec::parse(refusing, "p.toml", &Limits::default()).unwrap();
        let mut data = DataReader::open(&spec, &path, both).unwrap();
        assert_eq!(data.columns().feature_names, ["name", "day"]);
        let error = data.next().unwrap_err().to_string();
        assert!(error.ends_with("row 2 `temp`, row 5 `temp`, row 8 `temp`"), "{error}");
        let mut table = TableReader::open(&path, &Limits::default()).unwrap();
        table.select(vec![0]);
        let error = table.next().unwrap_err().to_string();
        assert!(error.ends_with("t.parquet, row 1, column 1 (`name`): `mon` is not a number"), "{error}");
    }

    #[test]
    fn damaged_files_are_errors() {
        let folder = Folder::new();
        let whole = file();
        let read = |bytes: &[u8]| {
            let path = folder.put("t.parquet", bytes);
            all(&path, vec![1, 2], &Limits { table_bytes: 1 << 20, ..Limits::default() })
        };
        assert_eq!(read(&whole).unwrap().len(), 6);
        for cut in 0..whole.len() {
            assert!(read(&whole[..cut]).is_err(), "{cut}");
        }
        let error = read(&whole[..whole.len() - 1]).unwrap_err();
        assert!(error.to_string().contains("t.parquet: not a readable Parquet file: "), "{error}");
        let mut rng = ChaCha8Rng::seed_from_u64(5);
        for _ in 0..2000 {
            let mut bytes = whole.clone();
            for _ in 0..rng.random_range(1..4) {
                let at = rng.random_range(4..bytes.len());
                bytes[at] = rng.random();
            }
            if let Ok(chunks) = read(&bytes) {
                assert!(chunks.iter().all(|c| c.values.len() == 2 * c.rows && c.lines.len() == c.rows));
            }
        }
    }
}
