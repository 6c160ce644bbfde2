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

/// Names of a model's rows and variables in the order of the file, and a table whose columns come in another.
const MILLS: &str = "\
NAME mills
ROWS
 N cost
 L stock_east
 L stock_west
 G need
COLUMNS
 east cost 2 stock_east 1
 east need 1
 west cost 3 stock_west 1
 west need 1
 buy cost 20 need 1
RHS
 rhs stock_east 4 stock_west 5
 rhs need 6
BOUNDS
 UP bnd buy 8
ENDATA
";

const MILLED: &str = r#"
[problem]
model = "mills.mps"
[[replace]]
variables = "buy"
upper = { known = "most" }
[[replace]]
rows = "stock_*"
limit = { known = "*_now" }
[[replace]]
variables = ["east", "west"]
cost = { predict = "price_*" }
[[replace]]
rows = "need"
variables = "west"
coefficient = { known = "yield" }
[[soften]]
rows = "need"
under = { known = "fine" }
limit = { known = "need" }
[data]
file = "history.csv"
[predictor]
kind = "linear"
[training]
epochs = 3
"#;

/// The cheap mill first, as far as its stock goes, then the other, and nothing is bought.
#[test]
fn numbers_of_a_model_from_train_to_decide() {
    let (mut history, mut new) = (
        "heat,price_west,most,stock_west_now,need,fine,yield,stock_east_now,price_east\n".to_owned(),
        "need,fine,most,yield,stock_east_now,stock_west_now,heat\n".to_owned(),
    );
    let mut expected = Vec::new();
    for i in 0..80 {
        let (heat, need, west, east) =
            (f64::from(i * 7 % 11) / 11.0, 5 + i % 3, 1 + i * 5 % 9, 1 + i * 3 % 4);
        let (yields, fine) = (0.5 + f64::from(i % 2), 15 + i % 2);
        let (price_east, price_west) = (1.0 + 5.0 * heat, 6.0 - 5.0 * heat);
        writeln!(history, "{heat},{price_west},9,{west},{need},{fine},{yields},{east},{price_east}").unwrap();
        writeln!(new, "{need},{fine},9,{yields},{east},{west},{heat}").unwrap();
        let (need, west, east) = (f64::from(need), f64::from(west), f64::from(east));
        expected.push(if price_east < price_west / yields {
            let made = east.min(need);
            [made, ((need - made) / yields).min(west)]
        } else {
            let made = west.min(need / yields);
            [(need - yields * made).min(east), made]
        });
    }
    let folder = Folder::new().with("mills.mps", MILLS).with("p.toml", MILLED);
    let folder = folder.with("history.csv", &history).with("new.csv", &new);
    let checked = works(&folder, "check p.toml");
    assert!(checked.contains("stock_west_now"), "{checked}");
    for method in ["l2", "surrogate", "spo+"] {
        let out = format!("run-{method}");
        works(&folder, &format!("train p.toml --method {method} --out {out}"));
        let decided = works(&folder, &format!("decide {out} --features new.csv"));
        let mut lines = decided.lines();
        let header: Vec<&str> = lines.next().unwrap().split(',').collect();
        let column = |name: &str| header.iter().position(|own| *own == name).unwrap();
        let (east, west, buy) = (column("east"), column("west"), column("buy"));
        for (i, (line, [own_east, own_west])) in lines.zip(&expected).enumerate() {
            let cells: Vec<&str> = line.split(',').collect();
            let x = [east, west, buy].map(|at| cells[at].parse::<f64>().unwrap());
            // What is learned from decisions is near the truth, not the same.
            if method != "l2" {
                assert!(x[1] < f64::from(1 + i as u32 * 5 % 9) + 1e-6, "{i}: {x:?}");
                continue;
            }
            assert!((x[0] - own_east).abs() < 1e-6 && (x[1] - own_west).abs() < 1e-6, "{method} {i}: {x:?}");
            assert!(x[2].abs() < 1e-6, "{method} {i}: {x:?}");
        }
        let judged: Value = serde_json::from_str(&works(
            &folder,
            &format!("evaluate {out} --data history.csv --format json"),
        ))
        .unwrap();
        let most = if method == "l2" { 1e-6 } else { 1.0 };
        assert!(judged["regret"].as_f64().unwrap() < most, "{judged}");
    }
}
