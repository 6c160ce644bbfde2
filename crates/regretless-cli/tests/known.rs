//! A shop whose stock is known by row and whose load is tied, from a table to decisions.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[allow(dead_code, reason = "each test binary uses its own part")]
mod common;

use std::fmt::Write;

use common::Folder;
use serde_json::Value;

const SHOP: &str = r#"
[problem]
variables = ["make", "store"]
[objective]
linear = [1.0, { predict = "load", factor = 0.2 }]
[[soft]]
name = "load"
rows = [{ make = 1.0, store = 1.0 }]
limit = { predict = "load" }
over = 6.0
[[hard]]
name = "stock"
rows = [{ store = 1.0 }]
at_most = { known = "stock" }
[bounds]
upper = 30.0
[data]
file = "history.csv"
[predictor]
kind = "linear"
[training]
epochs = 3
"#;

/// History with what came true, and new rows without.
fn shop() -> Folder {
    let (mut history, mut new) = ("rain,stock,load\n".to_owned(), "rain,stock\n".to_owned());
    for i in 0..80 {
        let (rain, stock) = (f64::from(i * 7 % 11) / 11.0, 1 + i * 5 % 9);
        let load = 10.0 + 4.0 * rain + f64::from(i * 3 % 7) / 7.0;
        writeln!(history, "{rain},{stock},{load}").unwrap();
        writeln!(new, "{rain},{stock}").unwrap();
    }
    Folder::new().with("p.toml", SHOP).with("history.csv", &history).with("new.csv", &new)
}

fn works(folder: &Folder, arguments: &str) -> String {
    let ran = folder.run(arguments);
    assert_eq!(ran.code, 0, "{arguments}: {}{}", ran.stdout, ran.stderr);
    ran.stdout
}

#[test]
fn known_stock_and_tied_load_from_train_to_decide() {
    let folder = shop();
    let checked = works(&folder, "check p.toml");
    assert!(checked.contains("known") && checked.contains("stock"), "{checked}");
    for method in ["l2", "spo+-smooth", "surrogate", "l2+scenarios", "auto"] {
        let out = format!("run-{}", method.replace('+', "-"));
        let ran = folder.run(&format!("train p.toml --method {method} --out {out}"));
        if method == "spo+-smooth" {
            assert_eq!(ran.code, 2, "{}", ran.stdout);
            assert!(ran.stderr.contains("it predicts θ only"), "{}", ran.stderr);
            continue;
        }
        assert_eq!(ran.code, 0, "{method}: {}", ran.stderr);
        let decided = works(&folder, &format!("decide {out} --features new.csv"));
        let mut lines = decided.lines();
        let header: Vec<&str> = lines.next().unwrap().split(',').collect();
        let store = header.iter().position(|name| *name == "store").unwrap();
        let stored: Vec<f64> =
            lines.map(|line| line.split(',').nth(store).unwrap().parse().unwrap()).collect();
        // Storing pays, so that each row stores its own stock.
        for (i, stored) in stored.iter().enumerate() {
            assert!((stored - f64::from(1 + i as u32 * 5 % 9)).abs() < 1e-6, "{method}, row {i}: {stored}");
        }
        let judged: Value = serde_json::from_str(&works(
            &folder,
            &format!("evaluate {out} --data history.csv --format json"),
        ))
        .unwrap();
        assert_eq!(judged["undecided"], 0);
        assert!(judged["violated"].as_f64() == Some(0.0), "a known hard row is kept: {judged}");
    }
    // The truth of the first row by `solve`.
    let solved = works(&folder, "solve p.toml --params history.csv --row 0 --format json");
    assert!(solved.contains("optimal"), "{solved}");
    works(&folder, "compare p.toml --methods l2,surrogate --seeds 2 --out compared");
    // Without the known column there is nothing to decide with.
    std::fs::write(folder.path().join("less.csv"), "rain\n0.5\n").unwrap();
    let ran = folder.run("decide run-l2 --features less.csv");
    assert!(ran.code == 2 && ran.stderr.contains("stock"), "{}", ran.stderr);
}
