//! What a person is told about data and decisions that should not be trusted unseen.

#![allow(clippy::unwrap_used, reason = "tests fail loudly")]

#[allow(dead_code, reason = "each test binary uses its own part")]
mod common;

use std::fmt::Write;

use common::{Folder, Ran};

/// Orders before demand is known; a unit too many costs 1, one too few 5.
const SHOP: &str = r#"
[problem]
sense = "min"
variables = ["bread", "fish"]
[[soft]]
name = "demand"
rows = [[1.0, 0.0], [0.0, 1.0]]
limit = { predict = ["bread_sold", "fish_sold"] }
over = 1.0
under = 5.0
[data]
file = "history.csv"
key = "day"
[predictor]
kind = "linear"
[training]
epochs = 5
"#;

/// A table with more than it should have: `till` is what was sold, `degrees` and `kelvin` differ by a constant.
fn history(rows: usize) -> String {
    let mut text = String::from("day,weather,degrees,kelvin,again,till,bread_sold,fish_sold\n");
    for i in 0..rows {
        let (t, noise) =
            (f64::from(u32::try_from(i * 7 % 23).unwrap()), f64::from(u32::try_from(i * 5 % 11).unwrap()));
        let sold = 20.0 + t + noise;
        let kelvin = t + 273.15;
        writeln!(text, "d{i},sunny,{t},{kelvin},{t},{},{sold},7", 2.0 * sold + 1.0).unwrap();
    }
    text
}

fn shop(rows: usize) -> Folder {
    Folder::new().with("p.toml", SHOP).with("history.csv", history(rows))
}

fn fine(ran: &Ran) -> String {
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    // Lines are wrapped for people.
    ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn suspicious_columns_are_named() {
    let folder = shop(100);
    let leak = "`till` is an affine function of `bread_sold`";
    let (constant, twice) = ("`fish_sold` does not change", "`degrees` and `again`");
    for command in [
        "check p.toml",
        "train p.toml --method l2 --quiet --out r",
        "compare p.toml --methods l2 --seeds 1 --quiet --out c",
    ] {
        let said = fine(&folder.run(command));
        for text in [leak, constant, twice] {
            assert!(said.contains(text), "{command}: {text}\n{said}");
        }
        assert!(!said.contains("too few"), "{command}: {said}");
    }
    let result = std::fs::read_to_string(folder.path().join("r/result.json")).unwrap();
    assert!(result.contains("\"warnings\"") && result.contains("affine function"), "{result}");
}

#[test]
fn a_handful_of_rows_proves_nothing() {
    let folder = shop(5);
    let said = fine(&folder.run("train p.toml --method auto --quiet --out r"));
    assert!(!said.contains("standard error") || said.contains("± "), "{said}");
    assert!(!said.contains("standard errors"), "{said}");
    assert!(said.contains("4 rows cannot tell methods apart"), "{said}");
    assert!(said.contains("3 rows for training, 1 row for validation, 1 row for test: too few"), "{said}");
    let compared = fine(&folder.run("compare p.toml --methods l2,auto --seeds 1 --quiet --out c"));
    assert!(compared.contains("too few to tell methods apart"), "{compared}");
    let rows = std::fs::read_to_string(folder.path().join("c/comparison.json")).unwrap();
    assert_eq!(rows.matches("\"p_two_stage\": null").count(), 3, "{rows}");
}

#[test]
fn check_looks_at_what_train_reads() {
    let folder = shop(100);
    let said = fine(&folder.run("check p.toml"));
    for text in [
        "features ok 5 columns: weather (1 level), degrees, kelvin, again, till",
        "left out ok day (the key of rows)",
        "missing ok no cell is empty",
        "split ok 60 rows for training, 20 for validation, 20 for test",
        "3 warnings.",
    ] {
        assert!(said.contains(text), "{text}\n{said}");
    }
    let hole = history(100).replacen("sunny,7", "sunny,", 1);
    let said = fine(&shop(100).with("history.csv", hole).run("check p.toml"));
    assert!(said.contains("missing ok 1 cell of features taken as missing"), "{said}");
}

#[test]
fn an_objective_is_called_what_it_is() {
    let folder = shop(100);
    fine(&folder.run("train p.toml --method l2 --quiet --out r"));
    let plain = fine(&folder.run("decide r --features history.csv"));
    assert!(plain.starts_with("day,status,objective_if_predicted,bread,fish"), "{plain}");
    // If predictions came true, orders would cost nothing.
    let first: Vec<&str> = plain.split(' ').nth(1).unwrap().split(',').collect();
    assert!(first[2].parse::<f64>().unwrap().abs() < 1e-6, "{first:?}");
    assert!(first[3].len() <= 12, "ten digits: {first:?}");
    fine(&folder.run("train p.toml --method l2+scenarios --quiet --out s"));
    let expecting = fine(&folder.run("decide s --features history.csv --format json"));
    assert!(
        expecting.contains("\"expected_objective\":") && expecting.contains("\"objective_if_predicted\":"),
        "{expecting}"
    );
}

#[test]
fn nothing_to_optimise_is_no_optimum() {
    let problem = "[problem]\nvariables = 2\n[[hard]]\nname = \"land\"\nrows = [[1, 1]]\nat_most = 1\n";
    let folder = Folder::new().with("p.toml", problem);
    let ran = folder.run("solve p.toml");
    assert!(ran.code == 2 && ran.stderr.contains("theta was never given"), "{} {}", ran.stdout, ran.stderr);
}
