//! The learning commands from a starter project to a report, against independent routes.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[allow(dead_code, reason = "each test binary uses its own part")]
mod common;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use common::{Folder, run};
use regretless_project::{Guess, Limits, TableReader};
use serde_json::Value;

const TEMPLATES: [&str; 4] = ["production", "portfolio", "provisioning", "newsvendor"];

/// Runs a command that must work.
fn works(folder: &Folder, arguments: &str) -> String {
    let ran = folder.run(arguments);
    assert_eq!(ran.code, 0, "{arguments}: {}", ran.stderr);
    ran.stdout
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// A starter project in `p`.
fn started(template: &str) -> Folder {
    let folder = Folder::new();
    works(&folder, &format!("new {template} p"));
    folder
}

#[test]
fn decisions_at_risk_from_the_file_to_what_came_of_them() {
    let folder = started("newsvendor");
    let file = folder.path().join("p/problem.toml");
    // Fewer scenarios, or every row takes a while.
    let few = "source = \"residuals\", count = 60";
    let plain = std::fs::read_to_string(&file).unwrap().replace("source = \"residuals\"", few);
    let with = |risk: &str| {
        let (before, after) = plain.split_once("[training]\n").unwrap();
        std::fs::write(&file, format!("{before}[training]\nrisk = {risk}\n{after}")).unwrap();
    };
    for (risk, said) in [("{ cvar = 90 }", "above 0 and up to 0.999999"), ("{ var = 0.9 }", "var")] {
        with(risk);
        let ran = folder.run("train p/problem.toml --method l2+scenarios --out wrong");
        assert!(ran.code == 2 && ran.stderr.contains(said), "{}", ran.stderr);
    }
    with("{ cvar = 0.8, weight = 0.5 }");
    for (method, said) in [("auto", "chooses by the mean"), ("l2", "no risk"), ("df+scenarios", "the mean")] {
        let ran = folder.run(&format!("train p/problem.toml --method {method} --out wrong"));
        assert!(ran.code == 2 && ran.stderr.contains(said), "{}", ran.stderr);
    }
    works(&folder, "train p/problem.toml --method l2+scenarios --epochs 3 --out r");
    works(&folder, "decide r --features p/new.csv --out d.csv");
    let decided = numbers(&folder.path().join("d.csv"));
    for i in 0..20 {
        let cost = |name: &str| decided[name][i];
        // (mean + CVaR)/2, and the CVaR is behind the threshold.
        let cvar = 2.0 * cost("objective_at_risk") - cost("expected_objective");
        assert!(cvar >= cost("threshold") && cvar >= cost("expected_objective"), "row {i}");
    }
    let judged = works(&folder, "evaluate r --data p/history.csv --format json");
    let risk = &parsed(&judged)["risk"];
    let number = |name: &str| risk[name].as_f64().unwrap();
    assert!((0.1..0.35).contains(&number("beyond")), "{risk}");
    assert!((number("score") - number("promised")).abs() < 0.3 * number("promised").abs(), "{risk}");
    assert!(works(&folder, "evaluate r --data p/history.csv").contains("beyond the threshold"));
    // A decision loss is trained through the risk, and a comparison has a column for it.
    std::fs::write(&file, std::fs::read_to_string(&file).unwrap().replace("count = 60", "count = 8"))
        .unwrap();
    let methods = "l2,l2+scenarios,surrogate+scenarios";
    let out =
        works(&folder, &format!("compare p/problem.toml --methods {methods} --seeds 1 --epochs 2 --out c"));
    assert!(out.contains("at risk: what a pair of decision and threshold"), "{out}");
    let table = parsed(&std::fs::read_to_string(folder.path().join("c/comparison.json")).unwrap());
    for row in table["rows"].as_array().unwrap() {
        let name = row["method"].as_str().unwrap();
        assert_eq!(row["risk"]["score"].is_number(), name.contains("+scenarios"), "{row}");
    }
    assert!(std::fs::read_to_string(folder.path().join("c/report.html")).unwrap().contains("At risk"));
}

/// Columns of a table by name: numbers, NaN where there is none. Text columns by the second argument.
fn numbers(path: &Path) -> BTreeMap<String, Vec<f64>> {
    let mut reader = TableReader::open(path, &Limits::default()).unwrap_or_else(|e| panic!("{e}"));
    let guesses = reader.guesses();
    let header: Vec<String> = reader.header().to_vec();
    let wanted: Vec<usize> = (0..header.len()).filter(|&i| guesses[i] == Guess::Number).collect();
    reader.select(wanted.clone());
    let mut columns: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    while let Some(chunk) = reader.next().unwrap() {
        for row in chunk.values.chunks_exact(wanted.len()) {
            for (&i, v) in wanted.iter().zip(row) {
                columns.entry(header[i].clone()).or_default().push(*v);
            }
        }
    }
    columns
}

fn close(a: f64, b: f64, what: &str) {
    assert!((a - b).abs() < 1e-6 * (1.0 + b.abs()), "{what}: {a} is not {b}");
}

#[test]
fn every_template_can_be_compared() {
    for template in TEMPLATES {
        let folder = started(template);
        // Fewer scenarios, or two of the four take half a minute each.
        let problem = std::fs::read_to_string(folder.path().join("p/problem.toml")).unwrap();
        let folder = folder.with("p/problem.toml", problem.replace("count = 60", "count = 6"));
        let text = works(
            &folder,
            "compare p/problem.toml --seeds 2 --epochs 3 --out c --format json --quiet --methods l2,auto",
        );
        let answer = parsed(&text);
        let rows = answer["rows"].as_array().unwrap();
        let names: Vec<&str> = rows.iter().filter_map(|r| r["method"].as_str()).collect();
        assert_eq!(names, ["constant", "l2", "auto"], "{template}");
        assert_eq!(rows.iter().filter(|r| r["best"] == true).count(), 1, "{template}");
        let regret = |r: &Value| r["regret"].as_f64().unwrap();
        let best = rows.iter().find(|r| r["best"] == true).unwrap();
        assert!(rows.iter().all(|r| regret(r) >= regret(best)), "{template}");
        assert!(rows.iter().all(|r| r["seeds"] == 2 && regret(r) >= 0.0), "{template}");
        // The file is what was printed, and the report is a page.
        let file = std::fs::read_to_string(folder.path().join("c/comparison.json")).unwrap();
        assert_eq!(parsed(&file), answer);
        let html = std::fs::read_to_string(folder.path().join("c/report.html")).unwrap();
        assert!(html.contains("</html>") && html.contains("auto"), "{template}");
    }
}

#[test]
fn compare_for_people() {
    let folder = started("production");
    let text = works(
        &folder,
        "compare p/problem.toml --seeds 1 --epochs 2 --out c --methods constant,spo+ --threads 1",
    );
    assert!(
        text.contains("constant") && text.contains("spo+") && text.contains("report: c/report.html"),
        "{text}"
    );
    assert_eq!(text.lines().filter(|l| l.contains("* ") && !l.starts_with('*')).count(), 1, "{text}");
}

/// train → decide → solve: the decision for a row is the optimum at the predicted parameters.
#[test]
fn decisions_are_optima_at_the_predictions() {
    for (template, method) in [("production", "spo+"), ("portfolio", "l2"), ("provisioning", "l2")] {
        let folder = started(template);
        works(&folder, &format!("train p/problem.toml --method {method} --epochs 3 --out r --quiet"));
        works(&folder, "decide r --features p/new.csv --out d.csv --predictions");
        let decided = numbers(&folder.path().join("d.csv"));
        let predicted: Vec<&String> = decided.keys().filter(|k| k.starts_with("predicted_")).collect();
        let rows = decided["objective_if_predicted"].len();
        assert_eq!(rows, 20);
        let mut table =
            predicted.iter().map(|p| p.trim_start_matches("predicted_")).collect::<Vec<_>>().join(",");
        for i in 0..rows {
            let cells: Vec<String> = predicted.iter().map(|p| decided[*p][i].to_string()).collect();
            write!(table, "\n{}", cells.join(",")).unwrap();
        }
        std::fs::write(folder.path().join("params.csv"), table + "\n").unwrap();
        // Another command, another reader, another start.
        let solved = parsed(&works(&folder, "solve p/problem.toml --params params.csv --format json"));
        for (i, instance) in solved["instances"].as_array().unwrap().iter().enumerate() {
            let what = format!("{template}, row {i}");
            close(decided["objective_if_predicted"][i], instance["objective"].as_f64().unwrap(), &what);
            // An optimum need not be the only one; its objective is. Where it is unique, x agrees, too.
            if template == "portfolio" {
                for (name, x) in instance["x"].as_object().unwrap() {
                    assert!((decided[name][i] - x.as_f64().unwrap()).abs() < 1e-5, "{what}: {name}");
                }
            }
        }
    }
}

#[test]
fn decisions_in_every_format() {
    let folder = started("newsvendor");
    let trained = parsed(&works(
        &folder,
        "train p/problem.toml --method l2+scenarios --epochs 3 --out r --format json",
    ));
    assert_eq!(trained["method"], "l2+scenarios");
    assert!(trained["test"]["regret"].as_f64().unwrap() > 0.0);
    for name in ["d.csv", "d.jsonl", "d.parquet"] {
        works(&folder, &format!("decide r --features p/new.csv --out {name} --predictions"));
    }
    let (csv, parquet) = (numbers(&folder.path().join("d.csv")), numbers(&folder.path().join("d.parquet")));
    let goods = ["bread", "berries", "salad", "fish", "flowers"];
    let lines = std::fs::read_to_string(folder.path().join("d.jsonl")).unwrap();
    let objects: Vec<Value> = lines.lines().map(parsed).collect();
    assert_eq!(objects.len(), 20);
    for name in goods.map(str::to_owned).into_iter().chain(goods.map(|g| format!("predicted_demand_{g}"))) {
        assert_eq!(csv[&name], parquet[&name], "{name}");
        let json: Vec<f64> = objects.iter().map(|o| o[&name].as_f64().unwrap()).collect();
        assert_eq!(csv[&name], json, "{name}");
    }
    // The key names the rows, in the order of the table.
    let new = std::fs::read_to_string(folder.path().join("p/new.csv")).unwrap();
    let days: Vec<&str> = new.lines().skip(1).map(|l| l.split(',').next().unwrap()).collect();
    let keys: Vec<&str> = objects.iter().filter_map(|o| o["day"].as_str()).collect();
    assert_eq!(keys, days);
    assert!(objects.iter().all(|o| o["status"] == "optimal"));
    // Without --out: the same on stdout.
    let file = std::fs::read_to_string(folder.path().join("d.csv")).unwrap();
    assert_eq!(works(&folder, "decide r --features p/new.csv --predictions"), file);
    assert_eq!(works(&folder, "decide r --features p/new.csv --predictions --format json"), lines);
    // And whatever the threads.
    for threads in [1, 2, 5] {
        let again =
            works(&folder, &format!("decide r --features p/new.csv --predictions --threads {threads}"));
        assert_eq!(again, file, "{threads} threads");
    }
    // Budget and signs hold, by hand.
    let prices = [0.8, 2.0, 1.0, 5.0, 2.5];
    for i in 0..20 {
        let spent: f64 = goods.iter().zip(prices).map(|(g, p)| csv[*g][i] * p).sum();
        assert!(spent <= 680.0 + 1e-6 && goods.iter().all(|g| csv[*g][i] >= -1e-9), "row {i}");
    }
    assert!(!folder.path().join("d.csv.partial").exists());
}

/// evaluate against decide and solve: regret is the mean of optimal value minus value of the decision.
#[test]
fn evaluation_is_the_mean_of_what_decisions_lose() {
    let folder = started("production");
    works(&folder, "train p/problem.toml --method l2 --epochs 5 --out r --quiet");
    let history = std::fs::read_to_string(folder.path().join("p/history.csv")).unwrap();
    let some: String = history.lines().take(61).fold(String::new(), |t, l| t + l + "\n");
    std::fs::write(folder.path().join("some.csv"), some).unwrap();
    let found = parsed(&works(&folder, "evaluate r --data some.csv --format json --threads 1"));
    assert_eq!(found, parsed(&works(&folder, "evaluate r --data some.csv --format json --threads 2")));
    let solved = parsed(&works(&folder, "solve p/problem.toml --params some.csv --format json"));
    works(&folder, "decide r --features some.csv --out d.csv");
    let (decided, truths) = (numbers(&folder.path().join("d.csv")), numbers(&folder.path().join("some.csv")));
    let products: Vec<String> =
        truths.keys().filter_map(|k| k.strip_prefix("margin_")).map(str::to_owned).collect();
    assert_eq!(products.len(), 16);
    // The soft rows of the template, by hand.
    let names = [
        "desk", "table", "chair", "stool", "bench", "shelf", "cabinet", "dresser", "wardrobe", "bed", "sofa",
        "armchair", "crib", "door", "window", "frame",
    ];
    let soft: [([f64; 16], f64, f64); 3] = [
        ([0.0, 1.2, 0.7, 1.2, 1.0, 0.7, 0.6, 1.1, 0.6, 1.0, 0.3, 0.6, 0.8, 1.0, 0.7, 1.1], 18.0, 0.6),
        ([0.8, 1.3, 1.4, 0.9, 0.6, 1.3, 1.1, 1.1, 1.2, 1.1, 1.0, 1.0, 0.4, 0.8, 0.6, 1.0], 20.0, 0.8),
        ([0.0, 0.3, 0.0, 0.0, 0.3, 0.0, 0.0, 0.4, 0.6, 0.9, 0.0, 0.4, 0.2, 0.4, 0.0, 0.2], 10.0, 0.7),
    ];
    let mut regrets = Vec::new();
    for (i, instance) in solved["instances"].as_array().unwrap().iter().enumerate() {
        let gain: f64 = names.iter().map(|p| truths[&format!("margin_{p}")][i] * decided[*p][i]).sum();
        let paid: f64 = soft
            .iter()
            .map(|(row, limit, price)| {
                let used: f64 = names.iter().zip(row).map(|(p, a)| a * decided[*p][i]).sum();
                price * (used - limit).max(0.0)
            })
            .sum();
        regrets.push(instance["objective"].as_f64().unwrap() - (gain - paid));
    }
    assert_eq!(found["instances"], 60);
    let mean = regrets.iter().sum::<f64>() / 60.0;
    assert!((found["regret"].as_f64().unwrap() - mean).abs() < 1e-6 * (1.0 + mean), "{found} {mean}");
    regrets.sort_by(f64::total_cmp);
    let worst = regrets[54..].iter().sum::<f64>() / 6.0;
    assert!((found["cvar90"].as_f64().unwrap() - worst).abs() < 1e-6 * (1.0 + worst));
}

#[test]
fn reports_of_runs() {
    let folder = started("production");
    for method in ["l2", "surrogate-smooth+l2"] {
        works(
            &folder,
            &format!("train p/problem.toml --method {method} --epochs 2 --out r-{method} --quiet"),
        );
    }
    let text = works(&folder, "report r-l2 r-surrogate-smooth+l2 --out page");
    assert_eq!(text, "report: page/report.html\n");
    let html = std::fs::read_to_string(folder.path().join("page/report.html")).unwrap();
    assert!(html.contains("</html>") && html.contains("surrogate-smooth+l2"));
    assert!(!html.contains("NaN"), "no number is missing");
}

#[test]
fn the_config_of_a_run_repeats_it() {
    let folder = started("newsvendor");
    works(
        &folder,
        "train p/problem.toml --method surrogate-smooth+l2 --epochs 2 --k 0.02,0.1 --seed 5 --out a --quiet",
    );
    works(&folder, "train a/config.toml --out b --quiet");
    let bytes = |run: &str| std::fs::read(folder.path().join(run).join("model.safetensors")).unwrap();
    assert!(bytes("a") == bytes("b"));
}

#[test]
fn new_projects_do_not_overwrite() {
    let folder = started("production");
    let ran = folder.run("new newsvendor p");
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("p is not empty"), "{}", ran.stderr);
}

#[test]
fn help() {
    for command in ["compare", "train", "decide", "evaluate", "report", "new"] {
        let ran = run(&format!("{command} --help"));
        assert_eq!(ran.code, 0);
        let text: String = ran.stdout.lines().map(|line| line.trim_end().to_owned() + "\n").collect();
        insta::assert_snapshot!(format!("{command}_help"), text);
    }
}

/// The time that a command was given ends it as Ctrl-C does: with what there is.
#[test]
fn a_training_ends_when_its_time_is_up() {
    let folder = started("newsvendor");
    let began = std::time::Instant::now();
    let ran = folder
        .run("train p/problem.toml --method surrogate-smooth --epochs 100000 --max-minutes 0.002 --out run");
    assert!(ran.stderr.contains("the time is up: stopping after this step"), "{}", ran.stderr);
    assert!(began.elapsed() < std::time::Duration::from_mins(1), "{:?}", began.elapsed());
    for bad in ["0", "-1", "soon", "inf"] {
        let ran = folder.run(&format!("train p/problem.toml --max-minutes={bad} --out other"));
        assert!(ran.code == 2 && ran.stderr.contains("minutes"), "{bad}: {}", ran.stderr);
    }
}
