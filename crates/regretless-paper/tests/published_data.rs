//! The figures of the released experiment on its own data, where that is at hand (REGRETLESS_DATA).

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::path::PathBuf;

use regretless_learn::{Interrupt, Threads};
use regretless_paper::published::{Application as Which, Sharpness, Table, figure};
use regretless_paper::synthetic::Synthetic;
use regretless_paper::{Application, Contender, Plan, Profile, Results, rows, run};

/// All within 3 standard errors of what the released experiment gives, and 14 of 16 within 2.
#[test]
fn published_profile_on_published_data() {
    let Some(root) = std::env::var_os("REGRETLESS_DATA") else { return };
    let dir = PathBuf::from(root).join("published/n40_N100");
    let application = Synthetic::read(Profile::Published, &dir).unwrap();
    let read = |name: &str| Contender::read(name, Profile::Published, &[]).unwrap();
    let plan = Plan {
        cells: application.cells(),
        seeds: application.seeds(15),
        contenders: ["l1", "l2", "spo+", "surrogate"].map(read).to_vec(),
        grid: application.grid(),
    };
    let out = tempfile::tempdir().unwrap();
    let results = Results::open(out.path(), &application).unwrap();
    let records = run(&application, &plan, &results, &Threads(2), &(), &Interrupt::default()).unwrap();
    let mut away = Vec::new();
    for row in rows(&application, &plan, &records) {
        let k = row.k.map(Sharpness::Fixed);
        let measured = figure(Which::Synthetic, Table::Remeasured, &row.size, row.samples, &row.method, k);
        let Some(measured) = measured else { continue };
        let squares = row.std.unwrap().powi(2) + measured.std.unwrap_or(0.28).powi(2);
        away.push((row.regret - measured.value).abs() / (squares / 15.0).sqrt());
    }
    assert_eq!(away.len(), 16);
    assert!(away.iter().all(|z| *z < 3.0), "{away:?}");
    assert!(away.iter().filter(|z| **z < 2.0).count() >= 14, "{away:?}");
}
