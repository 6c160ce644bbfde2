//! Load read from files: what is kept of them, and what is said when they are wrong.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::fmt::Write;
use std::fs;
use std::path::Path;

use regretless_paper::PaperError;
use regretless_paper::provisioning::{Date, Hour, Load, REGIONS};

const HEADER: &str = "tempc,note,load,year,month,day,hour\n";

/// A region's file, with columns in another order and one too many.
fn text(load: &Load, r: usize) -> String {
    let mut text = HEADER.to_owned();
    for (i, h) in load.hours.iter().enumerate() {
        let (t, l) = (load.temperature[i * 8 + r], load.load[i * 8 + r]);
        writeln!(text, "{t},as measured,{l},{},{},{},{}", h.year, h.month, h.day, h.hour).unwrap();
    }
    text
}

fn folder(load: &Load) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (r, region) in REGIONS.into_iter().enumerate() {
        fs::write(dir.path().join(format!("{region}.csv")), text(load, r)).unwrap();
    }
    dir
}

/// Changes a file and gives what is said about the folder then, the hint after it.
fn complaint(load: &Load, file: &str, change: impl Fn(String) -> String) -> String {
    let dir = folder(load);
    let path = dir.path().join(file);
    fs::write(&path, change(fs::read_to_string(&path).unwrap())).unwrap();
    said(dir.path(), 2013)
}

fn said(dir: &Path, from_year: i32) -> String {
    let error = Load::read(dir, from_year).unwrap_err();
    let hint = match &error {
        PaperError::File { hint, .. } | PaperError::Settings { hint, .. } => hint.clone(),
        _ => String::new(),
    };
    format!("{error} | {hint}").replace(&dir.display().to_string(), "DIR")
}

/// Some days of load around a date, the leap day with them.
fn around(from: (i32, u8, u8), days: usize) -> Load {
    let simulated = Load::simulated(days, 0);
    let mut date = Date::new(from.0, from.1, from.2).unwrap();
    let mut hours = Vec::new();
    for _ in 0..days {
        hours.extend((0..24).map(|hour| Hour::of(date, hour)));
        date = date.next();
    }
    Load { hours, ..simulated }
}

#[test]
fn what_was_written_is_read() {
    let load = Load::simulated(3, 2);
    let dir = folder(&load);
    assert_eq!(Load::read(dir.path(), 2013).unwrap(), load);
    assert_eq!(Load::read(dir.path(), 1990).unwrap(), load);
}

#[test]
fn earlier_years_and_the_leap_day_are_left_out() {
    let years = around((2014, 12, 30), 4);
    let read = Load::read(folder(&years).path(), 2015).unwrap();
    assert_eq!(read.hours[..], years.hours[48..]);
    assert_eq!(read.load[..], years.load[48 * 8..]);

    let leap = around((2016, 2, 28), 3);
    let read = Load::read(folder(&leap).path(), 2013).unwrap();
    assert_eq!(read.hours.len(), 48);
    assert_eq!((read.hours[24].month, read.hours[24].day), (3, 1));
    assert_eq!(read.temperature[24 * 8..], leap.temperature[48 * 8..]);
    // A file without the day is as good.
    assert_eq!(Load::read(folder(&read).path(), 2013).unwrap(), read);
}

#[test]
fn folders_that_lack_something() {
    let load = Load::simulated(2, 0);
    let dir = folder(&load);
    fs::remove_file(dir.path().join("EAST.csv")).unwrap();
    fs::remove_file(dir.path().join("NORTH.csv")).unwrap();
    let said_so = said(dir.path(), 2013);
    assert!(
        said_so.starts_with("DIR: no file for NORTH, EAST | the folder holds a file a region"),
        "{said_so}"
    );
    let said_so = said(&dir.path().join("nowhere"), 2013);
    assert!(said_so.starts_with("DIR: is no folder"), "{said_so}");
    let said_so = said(folder(&load).path(), 2014);
    assert!(said_so.starts_with("DIR/COAST.csv: no hours from 2014 on"), "{said_so}");
}

#[test]
fn files_that_are_wrong() {
    let load = Load::simulated(2, 0);
    let cut = |from: usize, to: usize| {
        move |text: String| {
            let kept = text.lines().enumerate().filter(|(i, _)| !(from..to).contains(i));
            kept.map(|(_, line)| line).collect::<Vec<_>>().join("\n")
        }
    };
    let cell = |line: usize, column: usize, value: &'static str| {
        move |text: String| {
            let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
            let mut cells: Vec<&str> = lines[line - 1].split(',').collect();
            cells[column] = value;
            lines[line - 1] = cells.join(",");
            lines.join("\n")
        }
    };
    let cases: [(String, &str); 9] = [
        (
            complaint(&load, "SOUTH.csv", cut(10, 12)),
            "DIR/SOUTH.csv: line 11: 2013-01-01 11:00 follows 2013-01-01 08:00 | hours must follow",
        ),
        (
            complaint(&load, "WEST.csv", cut(30, 99)),
            "DIR/WEST.csv: has 29 hours from 2013-01-01 00:00 to 2013-01-02 04:00, but COAST has 48 hours from",
        ),
        (
            complaint(&load, "COAST.csv", cut(1, 3)),
            "DIR/COAST.csv: line 2: the first hour is 2013-01-01 02:00 |",
        ),
        (complaint(&load, "EAST.csv", cell(4, 2, "much")), "DIR/EAST.csv, line 4, column 3 (`load`): "),
        (
            complaint(&load, "EAST.csv", cell(4, 0, "")),
            "DIR/EAST.csv: line 4, column 1 (`tempc`): no number |",
        ),
        (
            complaint(&load, "EAST.csv", cell(4, 3, "NA")),
            "DIR/EAST.csv: line 4, column 4 (`year`): no number |",
        ),
        (
            complaint(&load, "EAST.csv", cell(4, 6, "24")),
            "DIR/EAST.csv: line 4: year 2013, month 1, day 1, hour 24 is no hour | hours go from 0 to 23",
        ),
        (
            complaint(&load, "FWEST.csv", cell(4, 5, "1.5")),
            "DIR/FWEST.csv: line 4: year 2013, month 1, day 1.5, hour 2 is no hour |",
        ),
        (
            complaint(&load, "NCENT.csv", |text| text.replace("tempc", "tempf")),
            "DIR/NCENT.csv: no column `tempc` | it needs the columns load, tempc, year",
        ),
    ];
    for (said_so, wanted) in cases {
        assert!(said_so.starts_with(wanted), "{said_so}\n{wanted}");
    }
}
