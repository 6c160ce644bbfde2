//! Tables as people have them: text, dates, gaps, semicolons, decimal commas, and rows that are wrong.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[allow(dead_code, reason = "each test binary uses its own part")]
mod common;

use std::fmt::Write;
use std::fs;

use common::Folder;

const PROBLEM: &str = r#"
[problem]
sense = "min"
variables = ["order"]
[[soft]]
name = "demand"
rows = [[1.0]]
limit = { predict = "demand" }
over = 1.0
under = 3.0
[bounds]
upper = { known = "room" }
[data]
file = "history.csv"
key = "id"
split = { kind = "chronological", valid = 0.2, test = 0.2 }
[predictor]
kind = "linear"
[training]
method = "l2"
"#;

/// Demand by shop, weekday and temperature.
fn table(rows: usize, write: impl Fn(usize, &str, &str, f64, f64) -> String) -> String {
    let mut text = String::new();
    for i in 0..rows {
        let (year, month, date) = regretless_learn::civil(17_532 + i64::try_from(i / 3).unwrap());
        let (shop, level) = [("north", 20.0), ("south", 10.0), ("west, old", 30.0)][i % 3];
        let weekend = if i / 3 % 7 >= 5 { 8.0 } else { 0.0 };
        let temperature = (i * 37 % 100) as f64 / 4.0;
        let noise = (i * 7919 % 13) as f64 / 13.0 - 0.5;
        let day = format!("{year:04}-{month:02}-{date:02}");
        text += &write(i, &day, shop, temperature, level + weekend + 0.25 * temperature + noise);
    }
    text
}

fn history() -> String {
    let row = |i: usize, day: &str, shop: &str, temperature: f64, demand: f64| {
        let temperature = if i % 50 == 7 { String::new() } else { temperature.to_string() };
        format!("r{i},{day},\"{shop}\",{temperature},100,{demand}\n")
    };
    format!("id,day,shop,temperature,room,demand\n{}", table(600, row))
}

fn trained() -> Folder {
    let folder = Folder::new().with("problem.toml", PROBLEM).with("history.csv", history());
    let ran = folder.run("train problem.toml --out run --quiet");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    folder
}

/// The lines of a table of decisions by the name of their row: status and order.
fn decided(folder: &Folder, name: &str) -> Vec<(String, String, String)> {
    let text = fs::read_to_string(folder.path().join(name)).unwrap();
    let cells = |line: &str| line.split(',').map(str::to_owned).collect::<Vec<_>>();
    let head = cells(text.lines().next().unwrap());
    let at = head.iter().position(|name| name == "order").unwrap();
    text.lines().skip(1).map(cells).map(|row| (row[0].clone(), row[1].clone(), row[at].clone())).collect()
}

/// The index that pandas writes has no name, and an end of line in a spreadsheet another comma: neither is a feature.
#[test]
fn columns_without_a_name() {
    let text = history();
    let numbered: String = text.lines().enumerate().fold(String::new(), |all, (i, line)| match i {
        0 => format!("{all},{line},\n"),
        _ => format!("{all}{i},{line},\n"),
    });
    let folder = Folder::new().with("problem.toml", PROBLEM).with("history.csv", numbered);
    for command in ["check problem.toml", "train problem.toml --out run --quiet"] {
        let ran = folder.run(command);
        assert_eq!(ran.code, 0, "{command}: {}", ran.stderr);
    }
    let result = |folder: &Folder| -> serde_json::Value {
        serde_json::from_str(&fs::read_to_string(folder.path().join("run/result.json")).unwrap()).unwrap()
    };
    let (ours, plain) = (result(&folder), result(&trained()));
    assert_eq!((&ours["features"], &ours["test"]), (&plain["features"], &plain["test"]));
}

#[test]
fn text_and_dates_decide() {
    let folder = trained();
    let ran = folder.run("evaluate run --data history.csv --format json");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let regret =
        |json: &str| serde_json::from_str::<serde_json::Value>(json).unwrap()["regret"].as_f64().unwrap();
    let with = regret(&ran.stdout);
    let plain = PROBLEM.replace("key = \"id\"", "key = \"id\"\nfeatures = \"temperature\"");
    fs::write(folder.path().join("plain.toml"), plain).unwrap();
    assert_eq!(folder.run("train plain.toml --out plain --quiet").code, 0);
    let without = regret(&folder.run("evaluate plain --data history.csv --format json").stdout);
    assert!(with < 0.2 * without, "{with} {without}");
}

#[test]
fn every_row_has_a_line_and_says_what_is_wrong() {
    let folder = trained().with(
        "tomorrow.csv",
        "room,shop,day,id,temperature\n\
         100,north,2018-08-06,fine,10\n\
         100,north,2018-08-06,gap,\n\
         100,harbour,2018-08-06,new shop,10\n\
         ,north,2018-08-06,no room,10\n\
         100,north,soon,no day,10\n\
         100,north,2018-08-06,no number,warm\n\
         100,north,2018-08-06\n\
         -5,north,2018-08-06,no way,10\n\
         100,south,2018-08-06,last,10\n",
    );
    let ran = folder.run("decide run --features tomorrow.csv --out x.csv");
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    let rows = decided(&folder, "x.csv");
    let status: Vec<(&str, &str)> =
        rows.iter().map(|(id, status, _)| (id.as_str(), status.as_str())).collect();
    assert_eq!(
        status[..4],
        [("fine", "optimal"), ("gap", "optimal"), ("new shop", "optimal"), ("no room", "missing room")]
    );
    assert_eq!(status[4], ("no day", "`day`: `soon` is not a date"));
    assert_eq!(status[5], ("no number", "`temperature`: `warm` is not a number"));
    assert!(
        fs::read_to_string(folder.path().join("x.csv"))
            .unwrap()
            .contains("\"3 cells, but the lines before have 5\"")
    );
    assert!(status[7].0 == "no way" && status[7].1 != "optimal", "{status:?}");
    assert_eq!(status[8], ("last", "optimal"));
    let order = |i: usize| rows[i].2.parse::<f64>().ok();
    assert!((order(0).unwrap() - 22.5).abs() < 1.5 && (order(8).unwrap() - 12.5).abs() < 1.5, "{rows:?}");
    assert!([3, 4, 5, 6, 7].iter().all(|&i| order(i).is_none()), "{rows:?}");
    // All of it is counted and said.
    for told in [
        "rows without a value, taken as missing: temperature (1)",
        "`shop`: 1 row with levels that no training row has",
        "`harbour`",
        "5 rows without a decision:",
        "tomorrow.csv, line 5: missing room",
    ] {
        assert!(ran.stderr.contains(told), "{told}: {}", ran.stderr);
    }
    // A feature that is not there at all is an error of the table.
    let short = trained().with("t.csv", "room,shop,id,temperature\n100,north,a,1\n");
    let ran = short.run("decide run --features t.csv");
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("no column of the table fits `day`"), "{}", ran.stderr);
}

/// The same table as a spreadsheet in Germany writes it.
#[test]
fn semicolons_and_decimal_commas_are_recognised_and_said() {
    let comma = |v: f64| v.to_string().replace('.', ",");
    let row = |i: usize, day: &str, shop: &str, temperature: f64, demand: f64| {
        let temperature = if i % 50 == 7 { String::new() } else { comma(temperature) };
        let (year, rest) = day.split_once('-').unwrap();
        let (month, date) = rest.split_once('-').unwrap();
        format!("r{i};{date}.{month}.{year};{shop};{temperature};100;{}\n", comma(demand))
    };
    let table = format!("id;day;shop;temperature;room;demand\n{}", table(600, row));
    let folder = trained().with("german.csv", table);
    let ran = folder.run("train problem.toml --data german.csv --out german --quiet");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let told = "german.csv: cells are separated by semicolons, and numbers have a decimal comma";
    let ran = folder.run("train problem.toml --data german.csv --out again");
    assert!((ran.stdout + &ran.stderr).contains(told));
    let model = |run: &str| fs::read(folder.path().join(run).join("model.safetensors")).unwrap();
    assert_eq!(model("run"), model("german"));
    let ran = folder.run("decide german --features german.csv --out x.csv");
    assert!(ran.code == 0 && ran.stderr.contains("decimal comma"), "{}", ran.stderr);
    assert_eq!(folder.run("decide run --features history.csv --out y.csv").code, 0);
    assert_eq!(
        fs::read(folder.path().join("x.csv")).unwrap(),
        fs::read(folder.path().join("y.csv")).unwrap()
    );
}

#[test]
fn names_of_rows_are_no_category() {
    let mut text = String::from("id,ticket,shop,room,demand\n");
    for i in 0..12_000 {
        writeln!(text, "r{i},t{i},north,10,{}", i % 7).unwrap();
    }
    let folder = Folder::new().with("problem.toml", PROBLEM).with("history.csv", text);
    let ran = folder.run("train problem.toml --out run");
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("the column `ticket` has more than 10000 different texts"), "{}", ran.stderr);
    assert!(ran.stderr.contains("data.exclude = [\"ticket\"]"), "{}", ran.stderr);
}

#[test]
fn kinds_can_be_stated_and_check_shows_them() {
    let stated = PROBLEM.replace(
        "key = \"id\"",
        "key = \"id\"\nkinds = { day = [\"weekday\", \"trend\"], temperature = \"category\" }",
    );
    let folder = Folder::new().with("problem.toml", stated).with("history.csv", history());
    let ran = folder.run("check problem.toml");
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let told = "4 columns: day (weekday, trend), shop (3 levels), temperature (98 levels), room";
    assert!(ran.stdout.contains(told), "{}", ran.stdout);
    assert_eq!(folder.run("train problem.toml --out run --quiet").code, 0);
    // The run's own problem file says the same.
    let config = fs::read_to_string(folder.path().join("run/config.toml")).unwrap();
    assert!(
        config.contains("kinds = { \"day\" = [\"weekday\", \"trend\"], \"temperature\" = \"category\" }"),
        "{config}"
    );
    // What is no feature has no kind that matters.
    let idle = PROBLEM.replace("key = \"id\"", "key = \"id\"\nkinds = { id = \"category\" }");
    fs::write(folder.path().join("idle.toml"), idle).unwrap();
    let ran = folder.run("train idle.toml --out idle --quiet");
    let told = format!("{}{}", ran.stdout, ran.stderr).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains("what `id` holds, which is no feature: it has no effect"), "{told}");
    for (kinds, told) in [
        ("{ dya = \"date\" }", "no column of the table fits `dya`"),
        ("{ day = \"dates\" }", "expected \"number\", \"category\", \"date\", or a list"),
        ("{ day = [] }", "no part of the date is named"),
        ("{ shop = \"number\" }", "`north` is not a number"),
        ("{ shop = \"date\" }", "`north` is not a date"),
    ] {
        let wrong = PROBLEM.replace("key = \"id\"", &format!("key = \"id\"\nkinds = {kinds}"));
        fs::write(folder.path().join("wrong.toml"), wrong).unwrap();
        let ran = folder.run("train wrong.toml --out other");
        assert!(ran.code == 2 && ran.stderr.contains(told), "{kinds}: {}", ran.stderr);
    }
}

/// Demand has nothing to do with the moon, which never changes, and most to do with the shop.
#[test]
fn features_are_worth_what_decisions_lose_without_them() {
    let moon = |line: &str| format!("{line},{}\n", if line.starts_with("id") { "moon" } else { "3" });
    let history: String = history().lines().map(moon).collect();
    let problem = PROBLEM.replace("\"linear\"", "\"trees\"");
    let folder = Folder::new().with("problem.toml", problem).with("history.csv", history);
    assert_eq!(folder.run("train problem.toml --out run --quiet").code, 0);
    let ran = folder.run("evaluate run --data history.csv --importance --format json");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let told: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    let importance = &told["account"]["importance"];
    let features = importance["features"].as_array().unwrap();
    let worth = |name: &str| {
        let own = features.iter().find(|f| f["name"] == name).unwrap();
        (own["regret"].as_f64().unwrap(), own["moved"].as_f64().unwrap())
    };
    assert_eq!(features[0]["name"], "shop");
    assert_eq!(worth("moon"), (0.0, 0.0));
    // Levels 20, 10 and 30, a unit over costs 1 and one short 3: for another shop in two cases out of three, 40/3 too much or too
    // little on average in these, half of the time each.
    let by_hand = 2.0 / 3.0 * (40.0 / 3.0) * (1.0 + 3.0) / 2.0;
    assert!((worth("shop").0 / by_hand - 1.0).abs() < 0.2, "{:?} {by_hand}", worth("shop"));
    assert!(worth("temperature").0 > 0.5 && worth("temperature").0 < worth("shop").0);
    let rows = importance["rows"].as_u64().unwrap();
    assert!((250..=500).contains(&rows), "{rows}");
    // Without being asked nobody shuffles.
    let plain = folder.run("evaluate run --data history.csv --format json");
    assert!(!plain.stdout.contains("importance"));
    let ran = folder.run("report run --out page --importance");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let page = fs::read_to_string(folder.path().join("page/report.html")).unwrap();
    assert!(page.contains("What features are worth to decisions"));
}
