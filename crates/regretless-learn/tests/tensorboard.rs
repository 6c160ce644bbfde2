//! Event files, read back by a decoder of their own: checksums bit by bit, messages field by field. Where
//! TensorBoard is installed, it reads them too.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use regretless_learn::tensorboard::{EventError, EventWriter, event_files};

/// CRC-32C by long division.
fn crc32c(bytes: &[u8]) -> u32 {
    let mut crc = u32::MAX;
    for byte in bytes {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = (crc >> 1) ^ (0x82F6_3B78 * (crc & 1));
        }
    }
    !crc
}

fn masked(bytes: &[u8]) -> [u8; 4] {
    crc32c(bytes).rotate_right(15).wrapping_add(0xA282_EAD8).to_le_bytes()
}

/// The payloads of a file, every checksum checked and not a byte left over.
fn payloads(path: &Path) -> Vec<Vec<u8>> {
    let bytes = fs::read(path).unwrap();
    let (mut at, mut found) = (0, Vec::new());
    while at < bytes.len() {
        let length = u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap()) as usize;
        assert_eq!(bytes[at + 8..at + 12], masked(&bytes[at..at + 8]), "length at {at}");
        let payload = &bytes[at + 12..at + 12 + length];
        assert_eq!(bytes[at + 12 + length..at + 16 + length], masked(payload), "payload at {at}");
        found.push(payload.to_vec());
        at += 16 + length;
    }
    found
}

fn varint(bytes: &mut &[u8]) -> u64 {
    let end = bytes.iter().position(|b| b & 0x80 == 0).unwrap();
    let value = bytes[..=end].iter().rev().fold(0, |value, b| value << 7 | u64::from(b & 0x7F));
    *bytes = &bytes[end + 1..];
    value
}

/// A message as its fields: number → raw content (a varint as eight bytes).
fn fields(mut bytes: &[u8]) -> BTreeMap<u64, Vec<u8>> {
    let mut fields = BTreeMap::new();
    while !bytes.is_empty() {
        let key = varint(&mut bytes);
        let wire = key % 8;
        let content = if wire == 0 {
            varint(&mut bytes).to_le_bytes().to_vec()
        } else {
            let length = match wire {
                1 => 8,
                2 => varint(&mut bytes) as usize,
                5 => 4,
                _ => panic!("wire type {wire}"),
            };
            let content = bytes[..length].to_vec();
            bytes = &bytes[length..];
            content
        };
        assert!(fields.insert(key / 8, content).is_none(), "field {} twice", key / 8);
    }
    fields
}

fn double(bytes: &[u8]) -> f64 {
    f64::from_le_bytes(bytes.try_into().unwrap())
}

/// (tag, step, value, wall time) of every event after the version.
fn scalars(path: &Path) -> Vec<(String, u64, f32, f64)> {
    let payloads = payloads(path);
    let first = fields(&payloads[0]);
    assert_eq!(first.keys().copied().collect::<Vec<_>>(), [1, 3]);
    assert_eq!(first[&3], b"brain.Event:2");
    let scalar = |payload: &Vec<u8>| {
        let event = fields(payload);
        let value = fields(&fields(&event[&5])[&1]);
        (
            String::from_utf8(value[&1].clone()).unwrap(),
            u64::from_le_bytes(event[&2].clone().try_into().unwrap()),
            f32::from_le_bytes(value[&2].clone().try_into().unwrap()),
            double(&event[&1]),
        )
    };
    payloads[1..].iter().map(scalar).collect()
}

fn steps(path: &Path) -> Vec<u64> {
    scalars(path).into_iter().map(|scalar| scalar.1).collect()
}

/// A file with the events of steps 1 to `last`, two tags each, as a training writes them.
fn run(dir: &Path, last: u64) -> EventWriter {
    let mut writer = EventWriter::create(dir, "run", 1.7e9).unwrap();
    train(&mut writer, 1, last);
    writer
}

fn train(writer: &mut EventWriter, first: u64, last: u64) {
    for step in first..=last {
        writer.scalar("train/loss", step, 1.0 / step as f64, 1.7e9 + step as f64).unwrap();
        writer.scalar("test/régret", step, -0.5 * step as f64, 1.7e9 + step as f64).unwrap();
    }
    writer.flush().unwrap();
}

#[test]
fn the_decoder_knows_crc32c() {
    assert_eq!(crc32c(b"123456789"), 0xE306_9283);
}

#[test]
fn scalars_are_written() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = EventWriter::create(&dir.path().join("a/b"), "knap sack/1", 1_700_000_000.75).unwrap();
    let name = writer.path().file_name().unwrap().to_str().unwrap();
    assert_eq!(name, "events.out.tfevents.1700000000.knap_sack_1.0");
    assert_eq!(double(&fields(&payloads(writer.path())[0])[&1]), 1_700_000_000.75);
    let wanted = [
        ("loss", 0, 0.5, 1.0),
        ("loss", 1, f64::NAN, 2.0),
        ("a long tag with ünïcode", 300, -1e-3, 1_700_000_001.25),
        ("loss", 1 << 40, 1e300, 4.0),
    ];
    for (tag, step, value, time) in wanted {
        writer.scalar(tag, step, value, time).unwrap();
    }
    writer.flush().unwrap();
    let found = scalars(writer.path());
    assert_eq!(found.len(), wanted.len());
    for (found, wanted) in found.iter().zip(wanted) {
        assert_eq!((found.0.as_str(), found.1, found.3), (wanted.0, wanted.1, wanted.3));
        assert_eq!(found.2.to_bits(), (wanted.2 as f32).to_bits());
    }
}

#[test]
fn a_second_writer_takes_a_second_file() {
    let dir = tempfile::tempdir().unwrap();
    let first = run(dir.path(), 2);
    let second = run(dir.path(), 1);
    fs::write(dir.path().join("model.json"), "{}").unwrap();
    assert_eq!(event_files(dir.path()).unwrap(), [first.path(), second.path()]);
    assert_eq!((steps(first.path()).len(), steps(second.path()).len()), (4, 2));
}

#[test]
fn resuming_leaves_the_file_of_a_run_without_interruption() {
    let dir = tempfile::tempdir().unwrap();
    let whole = fs::read(run(dir.path(), 10).path()).unwrap();
    let path = run(dir.path(), 7).path().to_owned();
    let mut writer = EventWriter::resume(&path, 4).unwrap();
    assert_eq!(steps(&path), [1, 1, 2, 2, 3, 3, 4, 4]);
    train(&mut writer, 5, 10);
    assert_eq!(fs::read(&path).unwrap(), whole);
}

#[test]
fn a_half_written_record_is_cut_wherever_it_ends() {
    let dir = tempfile::tempdir().unwrap();
    let path = run(dir.path(), 3).path().to_owned();
    let whole = fs::read(&path).unwrap();
    let last = payloads(&path).last().unwrap().len() + 16;
    for missing in 1..=last {
        fs::write(&path, &whole[..whole.len() - missing]).unwrap();
        let mut writer = EventWriter::append(&path).unwrap();
        assert_eq!(steps(&path), [1, 1, 2, 2, 3], "{missing} bytes missing");
        writer.scalar("test/régret", 3, -1.5, 1.7e9 + 3.0).unwrap();
        drop(writer);
        assert_eq!(fs::read(&path).unwrap(), whole, "{missing} bytes missing");
    }
}

#[test]
fn damage_and_zeros_at_the_end_are_cut() {
    let dir = tempfile::tempdir().unwrap();
    let path = run(dir.path(), 3).path().to_owned();
    let whole = fs::read(&path).unwrap();
    // What a power cut leaves: a file of the right length whose last block was never written.
    fs::write(&path, [whole.as_slice(), &[0; 100]].concat()).unwrap();
    EventWriter::append(&path).unwrap();
    assert_eq!(fs::read(&path).unwrap(), whole);
    let mut damaged = whole.clone();
    *damaged.last_mut().unwrap() ^= 1;
    fs::write(&path, damaged).unwrap();
    EventWriter::append(&path).unwrap();
    assert_eq!(steps(&path), [1, 1, 2, 2, 3]);
}

#[test]
fn early_events_behind_late_ones_stay() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = EventWriter::create(dir.path(), "run", 0.0).unwrap();
    for step in [1, 100, 2, 200, 3, 0] {
        writer.scalar("mixed", step, 0.0, 0.0).unwrap();
    }
    let path = writer.path().to_owned();
    drop(writer);
    EventWriter::resume(&path, 2).unwrap();
    assert_eq!(steps(&path), [1, 2, 0]);
}

#[test]
fn other_files_are_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("notes.txt");
    for content in ["", "my only copy of something else", "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"] {
        fs::write(&path, content).unwrap();
        assert!(matches!(EventWriter::resume(&path, 3), Err(EventError::NotEvents { .. })));
        assert_eq!(fs::read_to_string(&path).unwrap(), content);
    }
    let missing = EventWriter::append(&dir.path().join("none")).unwrap_err();
    assert!(matches!(missing, EventError::Io { .. }));
}

/// Prints `tag step value` of every point TensorBoard sees.
const ACCUMULATE: &str = "
import sys
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
events = EventAccumulator(sys.argv[1], size_guidance={'scalars': 0}).Reload()
for tag in sorted(events.Tags()['scalars']):
    for point in events.Scalars(tag):
        sys.stdout.buffer.write(f'{tag} {point.step} {point.value!r} {point.wall_time!r}\\n'.encode())
";

#[test]
#[expect(clippy::print_stderr, reason = "a test that does less than its name says so")]
fn tensorboard_reads_it() {
    let python = |arguments: &[&str]| Command::new("python3").args(arguments).output();
    let installed = python(&["-c", "import tensorboard"]).is_ok_and(|output| output.status.success());
    if !installed {
        eprintln!("skipped: python3 cannot import tensorboard");
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let path = run(dir.path(), 6).path().to_owned();
    let mut writer = EventWriter::resume(&path, 3).unwrap();
    train(&mut writer, 4, 8);
    let output = python(&["-c", ACCUMULATE, dir.path().to_str().unwrap()]).unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let printed = String::from_utf8(output.stdout).unwrap();
    let mut seen = printed.lines();
    let mut wanted = scalars(&path);
    wanted.sort_by(|a, b| a.0.cmp(&b.0));
    assert_eq!(wanted.len(), 16);
    for (tag, step, value, time) in wanted {
        let point: Vec<&str> = seen.next().unwrap().split(' ').collect();
        assert_eq!((point[0], point[1]), (tag.as_str(), step.to_string().as_str()));
        assert_eq!((point[2].parse(), point[3].parse()), (Ok(value), Ok(time)));
    }
    assert_eq!(seen.next(), None);
}
