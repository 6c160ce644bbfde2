//! A table of shops and days with text, dates, gaps and what was ordered: from training to money, files only.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[allow(dead_code, reason = "each test binary uses its own part")]
mod common;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;

use common::Folder;
use serde_json::Value;

const SHOPS: &str = r#"
[problem]
sense = "min"
variables = ["order_bread", "order_cake"]
[[soft]]
name = "bread"
rows = [[1.0, 0.0]]
limit = { predict = "demand_bread" }
over = 1.0
under = 3.0
[[soft]]
name = "cake"
rows = [[0.0, 1.0]]
limit = { predict = "demand_cake" }
over = 2.0
under = 5.0
[[hard]]
name = "oven"
rows = [[1.0, 1.0]]
at_most = 60.0
[bounds]
upper = 50.0
[data]
file = "history.csv"
features = ["day", "shop", "weather", "lag(demand_*, 1, 7)", "mean(demand_*, 7)"]
series = "shop"
time = "day"
baseline = "ordered_*"
split = { valid = 0.2, test = 0.2 }
[predictor]
kind = "linear"
[training]
method = "l2+scenarios"
epochs = 5
"#;

const SHOP: [&str; 3] = ["north <b>", "south & co", "east"];

/// What came true of a shop on a day: bread and cake.
fn demand(day: i64, shop: i32) -> [f64; 2] {
    let weekday = (day + 3).rem_euclid(7);
    let noise = |k: i64| ((day * 37 + i64::from(shop) * 101 + k * 53) % 17) as f64 / 4.0 - 2.0;
    let level = 10.0 + 4.0 * f64::from(shop) + if weekday >= 5 { 6.0 } else { 0.0 };
    [level + noise(1), 6.0 + 0.4 * level + noise(2)]
}

/// Rows from one day to another; with what came true, and what was ordered.
fn table(from: i64, to: i64, known: bool) -> String {
    let mut text = "shop,day,weather,note".to_owned();
    text += if known { ",demand_bread,demand_cake,ordered_cake,ordered_bread\n" } else { "\n" };
    for day in from..to {
        let (year, month, date) = regretless_learn::civil(day);
        for (shop, name) in (0_i32..).zip(SHOP) {
            let weather =
                if (day + i64::from(shop)) % 11 == 0 { "" } else { ["sun", "rain"][(day % 2) as usize] };
            write!(text, "{name},{year}-{month:02}-{date:02},{weather},x").unwrap();
            if known {
                let [bread, cake] = demand(day, shop);
                // Somebody orders much cake, and forgets some days.
                let ordered =
                    if day % 13 == 0 { ",".to_owned() } else { format!("{},{}", 25 + shop, 15 + shop) };
                write!(text, ",{bread},{cake},{ordered}").unwrap();
            }
            text.push('\n');
        }
    }
    text
}

const FIRST: i64 = 17_500;
const LAST: i64 = 17_700;

fn folder() -> Folder {
    Folder::new()
        .with("p.toml", SHOPS)
        .with("history.csv", table(FIRST, LAST, true))
        .with("next.csv", table(LAST, LAST + 1, false))
        .with("later.csv", table(LAST + 20, LAST + 21, false))
        .with("since.csv", table(LAST, LAST + 20, true))
        .with("month.csv", table(LAST, LAST + 40, true))
}

fn works(folder: &Folder, arguments: &str) -> String {
    let ran = folder.run(arguments);
    assert_eq!(ran.code, 0, "{arguments}: {}{}", ran.stdout, ran.stderr);
    ran.stdout
}

fn json(folder: &Folder, arguments: &str) -> Value {
    serde_json::from_str(&works(folder, &format!("{arguments} --format json"))).unwrap()
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * (1.0 + a.abs())
}

#[test]
fn from_files_to_decisions_with_a_past() {
    let folder = folder();
    let checked = works(&folder, "check p.toml");
    assert!(checked.contains("lag7_demand_bread") && checked.contains("mean7_demand_cake"), "{checked}");
    works(&folder, "train p.toml --out run --quiet");
    // The day after the last one needs nothing but the model.
    let next = works(&folder, "decide run --features next.csv --predictions");
    assert_eq!(next.lines().filter(|line| line.contains(",optimal,")).count(), 3, "{next}");
    // Each line says what it is for.
    let lines: Vec<&str> = next.lines().collect();
    assert!(lines[0].starts_with("row,day,shop,status,objective_if_predicted,"), "{next}");
    assert!(lines[2].starts_with("1,2018-06-18,south & co,optimal,"), "{next}");
    let objects = works(&folder, "decide run --features next.csv --format json");
    let first: Value = serde_json::from_str(objects.lines().next().unwrap()).unwrap();
    assert_eq!((&first["day"], &first["shop"]), (&"2018-06-18".into(), &SHOP[0].into()));
    works(&folder, "decide run --features next.csv --out next.parquet");
    works(&folder, "decide run --features next.csv --predictions --out next_again.csv");
    assert_eq!(fs::read_to_string(folder.path().join("next_again.csv")).unwrap(), next);
    // Three weeks later nobody knows last week, but with what came since.
    let ran = folder.run("decide run --features later.csv");
    assert_eq!(ran.code, 1);
    assert!(ran.stdout.contains("missing lag1_demand_bread"), "{}", ran.stdout);
    assert_eq!(ran.stderr.matches("--history FILE").count(), 1, "{}", ran.stderr);
    let later = works(&folder, "decide run --features later.csv --history since.csv");
    assert_eq!(later.lines().filter(|line| line.contains(",optimal,")).count(), 3, "{later}");
    // Shards have their past from the model and the history, not from one another.
    for shard in 1..=2 {
        works(
            &folder,
            &format!(
                "decide run --features later.csv --history since.csv --out parts --shard {shard}/2 --files csv"
            ),
        );
    }
    let mut parts = Vec::new();
    for entry in fs::read_dir(folder.path().join("parts")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|ending| ending == "csv") {
            parts.push(fs::read_to_string(path).unwrap());
        }
    }
    assert_eq!(parts, [later]);
    // Other history, other decisions: not into the same folder.
    let ran =
        folder.run("decide run --features later.csv --history month.csv --out parts --shard 1/2 --files csv");
    assert!(ran.code == 2 && ran.stderr.contains("another history"), "{}", ran.stderr);
}

/// After a gap `evaluate` decides for the rows that `decide` decides for with what came true before each of them, and for no other.
#[test]
fn a_gap_says_the_same_everywhere() {
    let (begin, end) = (LAST + 20, LAST + 30);
    let folder = folder().with("after.csv", table(begin, end, true));
    works(&folder, "train p.toml --out run --quiet");
    let evaluate = |more: &str| -> (i32, Value, String) {
        let ran = folder.run(&format!("evaluate run --data after.csv{more} --format json"));
        (ran.code, serde_json::from_str(&ran.stdout).unwrap(), ran.stderr)
    };
    let (code, found, said) = evaluate("");
    assert_eq!(code, 1);
    assert!(said.contains("missing lag1_demand_bread"), "{said}");
    assert_eq!(said.matches("--history FILE").count(), 1, "{said}");
    assert_eq!(found["undecided"], statuses(&folder, begin, begin..end));
    assert_eq!(found["undecided"], 3);
    let (code, found, _) = evaluate(" --history since.csv");
    assert_eq!((code, &found["undecided"]), (0, &0.into()));
    assert_eq!(statuses(&folder, LAST, begin..end), 0);
    let ran = folder.run("evaluate run --backtest 3 --history since.csv");
    assert!(ran.code == 2 && ran.stderr.contains("cannot be used with"), "{}", ran.stderr);
}

/// Rows that `decide` has no decision for, day by day, with what came true from `since` to the day.
fn statuses(folder: &Folder, since: i64, days: std::ops::Range<i64>) -> usize {
    let run = folder.path().join("run");
    let undecided = |day: i64| {
        let own =
            Folder::new().with("x.csv", table(day, day + 1, false)).with("past.csv", table(since, day, true));
        let history = if day > since { " --history past.csv" } else { "" };
        let ran = own.run(&format!("decide {} --features x.csv{history}", run.display()));
        ran.stdout.lines().filter(|line| line.contains("missing lag")).count()
    };
    days.map(undecided).sum()
}

#[test]
fn a_run_with_a_past_is_taken_up_again() {
    let folder = folder();
    works(&folder, "train p.toml --out run --quiet");
    let path = |name: &str| folder.path().join("run").join(name);
    let model = fs::read(path("model.safetensors")).unwrap();
    for gone in ["model.safetensors", "result.json"] {
        fs::remove_file(path(gone)).unwrap();
    }
    works(&folder, "train --resume run --quiet");
    assert!(fs::read(path("model.safetensors")).unwrap() == model, "another model");
    // Its settings train the same model again.
    works(&folder, "train run/config.toml --out again --quiet");
    assert!(fs::read(folder.path().join("again/model.safetensors")).unwrap() == model);
}

/// What `evaluate` says against sums by hand over what `decide` wrote.
#[test]
fn money_by_hand() {
    let folder = folder();
    works(&folder, "train p.toml --out run --quiet");
    let found = json(&folder, "evaluate run --data month.csv");
    let account = &found["account"];
    assert_eq!(account["objective"], "cost");
    // The same decisions, with everything known up to each day.
    let mut decided: BTreeMap<(i64, i32), [f64; 2]> = BTreeMap::new();
    for day in LAST..LAST + 40 {
        let day_folder = Folder::new()
            .with("x.csv", table(day, day + 1, false))
            .with("past.csv", table(LAST - 1, day.max(LAST), true));
        let run = folder.path().join("run");
        let text =
            works(&day_folder, &format!("decide {} --features x.csv --history past.csv", run.display()));
        for (shop, line) in (0_i32..).zip(text.lines().skip(1)) {
            let cells: Vec<&str> = line.split(',').collect();
            let x: Vec<f64> = cells[cells.len() - 2..].iter().map(|cell| cell.parse().unwrap()).collect();
            decided.insert((day, shop), [x[0], x[1]]);
        }
    }
    let cost = |x: [f64; 2], truth: [f64; 2]| {
        let side = |x: f64, d: f64, over: f64, under: f64| over * (x - d).max(0.0) + under * (d - x).max(0.0);
        side(x[0], truth[0], 1.0, 3.0) + side(x[1], truth[1], 2.0, 5.0)
    };
    let (mut total, mut short, mut theirs, mut rows) = (0.0, 0.0, 0.0, 0.0);
    let mut by_shop = [0.0; 3];
    for ((day, shop), x) in &decided {
        let truth = demand(*day, *shop);
        total += cost(*x, truth);
        by_shop[*shop as usize] += cost(*x, truth);
        short += f64::from(u8::from(x[0] < truth[0] - 1e-6 * (1.0 + truth[0])));
        if day % 13 != 0 {
            rows += 1.0;
            theirs += cost([15.0 + f64::from(*shop), 25.0 + f64::from(*shop)], truth) - cost(*x, truth);
        }
    }
    let number = |value: &Value| value.as_f64().unwrap();
    assert!((number(&account["achieved"]["total"]) - total).abs() < 1e-5 * total, "{account:#}");
    assert!((number(&account["soft"][0]["short"]["share"]) - short / 120.0).abs() < 1e-9, "{account:#}");
    let against = account["against"].as_array().unwrap();
    assert_eq!(against[0]["name"], "ordered_*");
    assert_eq!(number(&against[0]["decisions"]), rows);
    assert!((number(&against[0]["total"]) - theirs).abs() < 1e-5 * theirs.abs(), "{account:#}");
    assert!(against.iter().any(|rival| rival["name"] == "constant"), "{account:#}");
    // The model decides over scenarios; the same line alone is its two-stage rival.
    assert!(against.iter().any(|rival| rival["name"] == "l2"), "{account:#}");
    // Parts add up to the whole.
    for groups in ["periods", "series"] {
        let sum: f64 = account[groups].as_array().unwrap().iter().map(|g| number(&g["total"])).sum();
        assert!(near(sum, number(&account["achieved"]["total"])), "{groups}: {account:#}");
    }
    let north = account["series"].as_array().unwrap().iter().find(|g| g["name"] == SHOP[0]).unwrap();
    assert!((number(&north["total"]) - by_shop[0]).abs() < 1e-5 * by_shop[0]);
    assert_eq!(account["period"], "week");
    // Short and over, and what they cost, are the whole cost.
    let sides: f64 = account["soft"]
        .as_array()
        .unwrap()
        .iter()
        .map(|r| number(&r["over"]["cost"]) + number(&r["short"]["cost"]))
        .sum();
    assert!(near(120.0 * sides, number(&account["achieved"]["total"])));
}

#[test]
fn the_page_shows_money_and_no_machine() {
    let folder = folder();
    let out = folder.path().join("run");
    works(&folder, &format!("train p.toml --method auto --out {} --quiet", out.display()));
    works(&folder, &format!("report {} --out page", out.display()));
    let page = fs::read_to_string(folder.path().join("page/report.html")).unwrap();
    for there in [
        "What the decisions cost",
        "ordered_*",
        "Soft rows",
        "short on",
        "The candidates",
        "Columns not used",
    ] {
        assert!(page.contains(there), "{there}");
    }
    assert!(
        page.contains("north &lt;b&gt;") && page.contains("south &amp; co") && !page.contains("north <b>")
    );
    assert!(!page.contains(&*folder.path().to_string_lossy()), "a path of the machine");
    // Two runs: how they differ.
    works(&folder, "train p.toml --method l2 --seed 5 --out other --quiet");
    works(&folder, "report run other --out both");
    let page = fs::read_to_string(folder.path().join("both/report.html")).unwrap();
    assert!(page.contains("How the runs differ") && page.contains("Seed"));
    // Older runs have no account, and are read.
    let path = folder.path().join("other/result.json");
    let mut old: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    for newer in ["account", "features", "unused"] {
        old.as_object_mut().unwrap().remove(newer).unwrap();
    }
    fs::write(&path, old.to_string()).unwrap();
    fs::remove_dir_all(folder.path().join("other/rivals")).unwrap();
    works(&folder, "report other --out old");
    works(&folder, "evaluate other --data month.csv");
}

#[test]
fn rolling_origins() {
    let folder = folder();
    works(&folder, "train p.toml --method l2 --out run --quiet");
    let origins = json(&folder, "evaluate run --backtest 4");
    let origins = origins.as_array().unwrap();
    assert_eq!(origins.len(), 4);
    let rows = |origin: &Value, k: usize| origin["rows"][k].as_u64().unwrap();
    for pair in origins.windows(2) {
        assert!(rows(&pair[1], 0) > rows(&pair[0], 0));
        assert_eq!(pair[0]["test_until"], pair[1]["test_from"]);
    }
    // Of what is before a test the split takes 0.2 of 0.8 for validation, whole days.
    for origin in origins {
        let share = rows(origin, 1) as f64 / (rows(origin, 0) + rows(origin, 1)) as f64;
        assert!((share - 0.25).abs() < 0.02, "{origin:#}");
    }
    assert_eq!(origins.iter().map(|origin| rows(origin, 2)).sum::<u64>(), 300);
    let shown = works(&folder, "evaluate run --backtest 4");
    assert!(shown.contains("better than ordered_*"), "{shown}");
    let ran = folder.run("evaluate run --backtest 30 --data month.csv");
    assert!(ran.code == 2 && ran.stderr.contains("30 origins need more time"), "{}", ran.stderr);
    // Methods side by side over origins.
    let found = json(&folder, "compare p.toml --folds 3 --methods l2,l1 --out c");
    assert_eq!(found["paired_over"], "origins");
    assert_eq!(found["rows"][0]["seeds"], 3);
    let ran = folder.run("compare p.toml --folds 3 --seeds 2");
    assert!(ran.code == 2 && ran.stderr.contains("cannot be used with"), "{}", ran.stderr);
}

/// The account by columns that the user names: the same sums, told apart in another way.
#[test]
fn by_groups_of_the_user() {
    let grouped = SHOPS.replace("series = \"shop\"", "series = \"shop\"\ngroups = [\"weather\"]");
    let folder = folder().with("p.toml", grouped);
    works(&folder, "train p.toml --method l2 --out run --quiet");
    let result: Value =
        serde_json::from_str(&fs::read_to_string(folder.path().join("run/result.json")).unwrap()).unwrap();
    let number = |value: &Value| value.as_f64().unwrap();
    let checked = |account: &Value, by: &[&str]| {
        let groupings = account["groups"].as_array().unwrap();
        assert_eq!(groupings.iter().map(|own| own["by"].as_str().unwrap()).collect::<Vec<_>>(), by);
        for own in groupings {
            let groups = own["groups"].as_array().unwrap();
            let sum: f64 = groups.iter().map(|group| number(&group["total"])).sum();
            assert!(near(sum, number(&account["achieved"]["total"])), "{account:#}");
        }
    };
    checked(&result["account"], &["weather"]);
    let found = json(&folder, "evaluate run --data month.csv");
    checked(&found["account"], &["weather"]);
    let names: Vec<&str> = found["account"]["groups"][0]["groups"]
        .as_array()
        .unwrap()
        .iter()
        .map(|group| group["name"].as_str().unwrap())
        .collect();
    assert!(["", "sun", "rain"].iter().all(|name| names.contains(name)), "{names:?}");
    // By others, if asked for; shops by the way are the series.
    let found = json(&folder, "evaluate run --data month.csv --groups shop,note");
    checked(&found["account"], &["shop", "note"]);
    assert_eq!(found["account"]["groups"][0]["groups"], found["account"]["series"]);
    let ran = folder.run("evaluate run --data month.csv --groups region");
    assert!(ran.code == 0 && ran.stderr.contains("no account by region"), "{}", ran.stderr);
    let wrong = SHOPS.replace("series = \"shop\"", "series = \"shop\"\ngroups = \"region\"");
    let ran = folder.with("w.toml", wrong).run("train w.toml --out other");
    assert!(ran.code == 2 && ran.stderr.contains("`data.groups` names it"), "{}", ran.stderr);
}

/// A lone method that looks at decisions is compared with a forecast, too; and methods side by side with each other in money.
#[test]
fn two_stage_rivals_and_money_side_by_side() {
    let network = SHOPS
        .replace("kind = \"linear\"", "kind = \"mlp\"\nlayers = [4]")
        .replace("epochs = 5", "epochs = 2");
    let folder = folder().with("p.toml", network);
    let names = |account: &Value| -> Vec<String> {
        let against = account["against"].as_array().unwrap();
        against.iter().map(|rival| rival["name"].as_str().unwrap().to_owned()).collect()
    };
    works(&folder, "train p.toml --method surrogate-smooth --out run --quiet");
    let result: Value =
        serde_json::from_str(&fs::read_to_string(folder.path().join("run/result.json")).unwrap()).unwrap();
    let all = ["ordered_*", "l2, linear", "constant"];
    assert_eq!(names(&result["account"]), all);
    // As it reads back from the run.
    let found = json(&folder, "evaluate run --data month.csv");
    assert_eq!(names(&found["account"]), all);
    let compared = json(&folder, "compare p.toml --methods l2,surrogate-smooth --seeds 1 --out c");
    let rows = compared["rows"].as_array().unwrap();
    let row = |method: &str| rows.iter().find(|row| row["method"] == method).unwrap();
    let number = |value: &Value| value.as_f64().unwrap();
    let own = row("surrogate-smooth");
    // The same training up to what rounding makes of it, judged on the same rows.
    let close = |a: f64, b: f64| (a - b).abs() < 1e-3 * (1.0 + a.abs());
    let account = &result["account"];
    assert!(close(number(&own["achieved"]), number(&account["achieved"]["mean"])), "{own:#}");
    assert!(close(number(&own["advantage"]), number(&account["against"][0]["advantage"])), "{own:#}");
    for other in ["constant", "l2"] {
        let (money, regret) = (
            number(&row(other)["achieved"]) - number(&own["achieved"]),
            number(&row(other)["regret"]) - number(&own["regret"]),
        );
        assert!((money - regret).abs() < 1e-6, "{money} {regret}");
    }
    let page = fs::read_to_string(folder.path().join("c/report.html")).unwrap();
    let at = |text: &str| page.find(text).unwrap();
    let (money, table) = (at("What the decisions cost"), at("<section id=\"comparison-section"));
    assert!(money < table && page.contains("better than ordered_* by"));
    let shown = works(&folder, "compare p.toml --methods l2 --seeds 1 --out c2");
    assert!(shown.lines().any(|line| line.contains("% of optimum") && line.contains(" cost ")), "{shown}");
}
