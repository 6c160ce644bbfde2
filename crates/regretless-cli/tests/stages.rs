//! Finished stages read back: what was trained before the last stage is lost to no kind of problem or predictor.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[allow(dead_code, reason = "each test binary uses its own part")]
mod common;

use std::fmt::Write;
use std::fs;

use common::Folder;

/// Rows by name, and a stock that is known by row.
const SHOP: &str = r#"
[problem]
sense = "min"
variables = ["bread", "cake", "rest"]
[objective]
linear = [0.1, 0.2, 0.0]
[[soft]]
name = "demand"
rows = [{ bread = 1.0 }, { cake = 1.0, rest = 0.5 }]
limit = { predict = "demand_*" }
over = 1.0
under = 4.0
[[hard]]
name = "flour"
rows = [{ bread = 0.5, cake = 1.0 }]
at_most = { known = "flour" }
[data]
file = "history.csv"
"#;

fn folder(settings: &str) -> Folder {
    let mut table = String::from("f,g,flour,demand_0,demand_1\n");
    for i in 0..120 {
        let (f, g) = (f64::from(i % 12) / 6.0 - 1.0, f64::from(i % 7) / 3.0 - 1.0);
        let flour = 5.0 + f64::from(i % 5);
        // Each demand has a feature of its own: one tree for both wastes its leaves.
        let (bread, cake) = (6.0 + 3.0 * (3.0 * f).sin(), 4.0 + 2.0 * (2.0 * g).cos());
        writeln!(table, "{f},{g},{flour},{bread},{cake}").unwrap();
    }
    Folder::new().with("problem.toml", format!("{SHOP}{settings}")).with("history.csv", table)
}

/// Trains, takes the last stage away and resumes: the same model, which decides.
fn goes_on(settings: &str, stages: usize) {
    let folder = folder(settings);
    let works = |arguments: &str| {
        let ran = folder.run(arguments);
        assert_eq!(ran.code, 0, "{arguments} with {settings}: {}", ran.stderr);
        ran.stdout
    };
    works("train problem.toml --out run --quiet");
    let run = folder.path().join("run");
    let mut finished: Vec<_> = fs::read_dir(run.join("stages")).unwrap().map(|f| f.unwrap().path()).collect();
    finished.sort();
    assert!(finished.len() >= stages, "{settings}: {finished:?}");
    let whole = fs::read(run.join("model.safetensors")).unwrap();
    let decided = works("decide run --features history.csv");
    for gone in ["model.safetensors", "result.json"] {
        fs::remove_file(run.join(gone)).unwrap();
    }
    fs::remove_file(finished.last().unwrap()).unwrap();
    works("train --resume run --quiet");
    assert!(fs::read(run.join("model.safetensors")).unwrap() == whole, "{settings}: another model");
    assert_eq!(works("decide run --features history.csv"), decided);
}

#[test]
fn of_a_problem_with_known_numbers_and_rows_by_name() {
    goes_on(
        "[predictor]\nkind = \"mlp\"\nlayers = [4]\n[training]\nmethod = \"surrogate-smooth\"\nwarmup = \"auto\"\nepochs = 4\n",
        2,
    );
}

#[test]
fn of_trees_that_chose_their_ensembles() {
    // With few leaves an ensemble for each output is better; what is tuned from it has to stay one.
    let trees =
        "[predictor]\nkind = \"trees\"\nleaves = 2\nensembles = \"auto\"\ntarget_transform = \"none\"\n";
    goes_on(&format!("{trees}[training]\nmethod = \"df\"\nwarmup = \"auto\"\nepochs = 20\n"), 3);
}
