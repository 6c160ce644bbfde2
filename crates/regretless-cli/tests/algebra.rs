//! Problems in algebra from `new` to `decide`, and `check --expand`.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[allow(dead_code, reason = "each test binary uses its own part")]
mod common;

use std::fmt::Write;

use common::Folder;
use serde_json::Value;

const TEMPLATES: [(&str, usize); 5] =
    [("battery", 72), ("bakery", 4), ("dispatch", 36), ("transport", 10), ("factors", 15)];

/// Runs a command that must work.
fn works(folder: &Folder, arguments: &str) -> String {
    let ran = folder.run(arguments);
    assert_eq!(ran.code, 0, "{arguments}: {}", ran.stderr);
    ran.stdout
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// new → check → train → decide → evaluate, and the decisions are optima at what was predicted and known.
#[test]
fn every_template_from_new_to_decide() {
    for (template, variables) in TEMPLATES {
        let folder = Folder::new();
        works(&folder, &format!("new {template} p"));
        let checked = parsed(&works(&folder, "check p/problem.toml --format json"));
        assert_eq!(checked["passed"], true, "{template}: {checked:#}");
        works(&folder, "train p/problem.toml --method l2 --epochs 2 --out r --quiet");
        works(&folder, "decide r --features p/new.csv --out d.csv --predictions");
        works(&folder, "evaluate r --data p/history.csv --format json");

        let read = |path: &str| {
            let text = std::fs::read_to_string(folder.path().join(path)).unwrap();
            let mut rows = text.lines().map(cells);
            let header = rows.next().unwrap();
            (header, rows.collect::<Vec<_>>())
        };
        let (names, decided) = read("d.csv");
        let (known, new) = read("p/new.csv");
        assert_eq!(
            names.iter().filter(|name| name.contains('[')).count(),
            variables,
            "{template}: {names:?}"
        );
        let predicted: Vec<usize> =
            (0..names.len()).filter(|&i| names[i].starts_with("predicted_")).collect();
        let mut table = predicted
            .iter()
            .map(|&i| names[i]["predicted_".len()..].to_owned())
            .chain(known)
            .collect::<Vec<_>>()
            .join(",");
        for (decided, new) in decided.iter().zip(new) {
            let cells: Vec<String> = predicted.iter().map(|&i| decided[i].clone()).chain(new).collect();
            table = format!("{table}\n{}", cells.join(","));
        }
        std::fs::write(folder.path().join("params.csv"), table + "\n").unwrap();
        let solved = parsed(&works(&folder, "solve p/problem.toml --params params.csv --format json"));
        let at = names.iter().position(|name| name == "objective_if_predicted").unwrap();
        for (i, instance) in solved["instances"].as_array().unwrap().iter().enumerate() {
            let (own, other) =
                (decided[i][at].parse::<f64>().unwrap(), instance["objective"].as_f64().unwrap());
            assert!(
                (own - other).abs() < 1e-5 * (1.0 + other.abs()),
                "{template}, row {i}: {own} and {other}"
            );
        }
    }
}

/// The cells of a line; names of variables over several sets are quoted.
fn cells(line: &str) -> Vec<String> {
    let (mut cells, mut quoted) = (vec![String::new()], false);
    for c in line.chars() {
        match c {
            '"' => quoted = !quoted,
            ',' if !quoted => cells.push(String::new()),
            c => cells.last_mut().unwrap().push(c),
        }
    }
    cells
}

/// A stock that follows from what is predicted: no decision keeps its balance.
#[test]
fn rows_that_the_truth_breaks_are_named() {
    let folder = Folder::new();
    works(&folder, "new battery p");
    let path = folder.path().join("p/problem.toml");
    let text = std::fs::read_to_string(&path).unwrap();
    let text =
        text.replace("- discharge[h] / efficiency\"", "- discharge[h] / efficiency - 0.001 * price[h]\"");
    std::fs::write(&path, text).unwrap();
    let report = parsed(&works(&folder, "check p/problem.toml --format json"));
    let checks = report["checks"].as_array().unwrap();
    let found = checks.iter().find(|check| check["check"] == "rows").unwrap();
    assert_eq!(found["verdict"], "warning");
    let detail = found["detail"].as_str().unwrap();
    assert!(
        detail.starts_with("`balance[0]` … `balance[23]` (hard, =) must hold with what is predicted"),
        "{detail}"
    );
    // Columns are told by the names of rows.
    let told = checks.iter().any(|check| check["detail"].as_str().unwrap().contains("balance[0] ← stored"));
    assert!(told, "{report:#}");
}

#[test]
fn an_expansion_for_people_and_for_machines() {
    let folder = Folder::new();
    works(&folder, "new battery p");
    insta::assert_snapshot!("expand", works(&folder, "check p/problem.toml --expand"));
    let shown = parsed(&works(&folder, "check p/problem.toml --expand --format json"));
    assert_eq!(shown["rows"][1]["count"], 24);
    assert_eq!(shown["rows"][1]["for"], "h in hour");
    assert_eq!(shown["quantities"][0]["kind"], "predicted");
    let symbols = shown["rows"][1]["first"]["symbols"].as_str().unwrap();
    assert_eq!(symbols, "-0.93*charge[0] + 1.07527*discharge[0] + stored[0] = start");
    let last = shown["rows"][1]["last"]["symbols"].as_str().unwrap();
    assert_eq!(last, "-0.93*charge[23] + 1.07527*discharge[23] - stored[22] + stored[23] = 0");
    assert!(shown["rows"][0].get("last").is_none());
}

#[test]
fn what_is_wrong_is_shown_at_its_place() {
    let folder = Folder::new();
    works(&folder, "new battery p");
    let problem = std::fs::read_to_string(folder.path().join("p/problem.toml")).unwrap();
    let folder = folder
        .with("p/row.toml", problem.replace("- discharge[h] / efficiency", "- discharge[h] * charge[h]"))
        .with("p/start.toml", problem.replace(", before = \"start\"", ""))
        .with("p/name.toml", problem.replace("price[h] *", "prize[h] *"))
        .with("p/matrix.toml", "[problem]\nvariables = 2\n[objective]\nlinear = 1\n[bounds]\nupper = 1\n");
    let mut said = String::new();
    for file in ["row", "start", "name", "matrix"] {
        let ran = folder.run(&format!("check p/{file}.toml --expand"));
        assert_eq!(ran.code, 2, "{}", ran.stdout);
        said.extend([ran.stderr.as_str(), "\n"]);
    }
    insta::assert_snapshot!("refused", said);
}

/// What others ordered goes by the members that variables are of, whatever the order of the columns.
#[test]
fn a_baseline_by_pattern() {
    let bakery = r#"
[sets]
good = ["bread", "cake"]
[quantities]
demand = { for = "good", predict = "demand_*" }
[variables]
order = { for = "good" }
[objective]
minimize = "sum(g in good: order[g])"
[[soft]]
name = "sold"
for = "g in good"
row = "order[g] >= demand[g]"
under = 5.0
[data]
file = "history.csv"
baseline = "ordered_*"
exclude = ["weekday"]
[predictor]
kind = "linear"
[training]
method = "l2"
"#;
    let mut history = "heat,ordered_cake,ordered_bread,demand_bread,demand_cake,weekday\n".to_owned();
    let mut cost = 0.0;
    for i in 0..60_u32 {
        let (heat, cake, bread) = (f64::from(i * 7 % 11), f64::from(5 + i % 4), f64::from(20 + i % 3));
        let (of_bread, of_cake) = (15.0 + heat + f64::from(i % 2), 3.0 + 0.5 * heat);
        cost += bread + cake + 5.0 * ((of_bread - bread).max(0.0) + (of_cake - cake).max(0.0));
        writeln!(history, "{heat},{cake},{bread},{of_bread},{of_cake},mon").unwrap();
    }
    let folder = Folder::new().with("bakery.toml", bakery).with("history.csv", &history);
    let checked = folder.run("check bakery.toml");
    assert_eq!(checked.code, 0, "{}{}", checked.stdout, checked.stderr);
    let said = "baseline     ok       order[bread] is ordered_bread, order[cake] is ordered_cake";
    assert!(checked.stdout.contains(said), "{}", checked.stdout);
    assert_eq!(folder.run("train bakery.toml --out run").code, 0);
    let judged = folder.run("evaluate run --data history.csv --format json");
    let judged: serde_json::Value = serde_json::from_str(&judged.stdout).unwrap();
    let others = &judged["account"]["against"][0];
    assert_eq!(others["name"], "ordered_*");
    assert!((others["mean"].as_f64().unwrap() - cost / 60.0).abs() < 1e-9, "{others}");

    // Columns that no pattern finds together have no name of their own.
    let listed =
        folder.run("evaluate run --data history.csv --baseline ordered_bread,ordered_cake --format json");
    let listed: serde_json::Value = serde_json::from_str(&listed.stdout).unwrap();
    assert_eq!(listed["account"]["against"][0]["name"], "baseline");
    assert_eq!(listed["account"]["against"][0]["mean"], others["mean"]);

    let lines = history.lines().map(|line| {
        let cells: Vec<&str> = line.split(',').collect();
        [cells[0], cells[3], cells[4], ""].join(",")
    });
    let folder = folder
        .with("without.csv", lines.collect::<Vec<_>>().join("\n").replacen("cake,\n", "cake,none\n", 1));
    let without = folder.run("evaluate run --data without.csv");
    assert_eq!(without.code, 0, "{}", without.stderr);
    assert!(without.stderr.contains("no column of `data.baseline` (ordered_*)"), "{}", without.stderr);
    let empty = folder.run("evaluate run --data without.csv --baseline none,none");
    assert_eq!(empty.code, 2, "{}", empty.stdout);
    let empty = folder.run("evaluate run --data without.csv --baseline heat,none");
    assert!(empty.stderr.contains("no row has a decision of others"), "{}", empty.stderr);
    let text = folder.run("evaluate run --data history.csv --baseline ordered_bread,weekday");
    assert!(text.stderr.contains("`mon` is not a number"), "{}", text.stderr);
}
