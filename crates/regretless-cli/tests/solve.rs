//! `regretless solve`: hand-computed optima, what is printed, exit codes.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[allow(dead_code, reason = "each test binary uses its own part")]
mod common;

use common::{Folder, run};
use serde_json::Value;

/// The instances of a JSON answer.
fn instances(stdout: &str) -> Vec<Value> {
    let answer: Value = serde_json::from_str(stdout).unwrap();
    answer["instances"].as_array().unwrap().clone()
}

fn close(value: &Value, expected: f64) {
    let value = value.as_f64().unwrap();
    assert!((value - expected).abs() < 1e-7 * (1.0 + expected.abs()), "{value} is not {expected}");
}

#[test]
fn the_farm_by_hand() {
    // All land for wheat: 24 − 0.5·(16 − 10). All for corn: 20, water to spare. At the kink 2w + c = 10, w + c = 8.
    let ran = run("solve examples/farm/problem.toml --params examples/farm/prices.csv --format json");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let rows = instances(&ran.stdout);
    for (row, (wheat, corn, objective)) in
        rows.iter().zip([(8.0, 0.0, 21.0), (0.0, 8.0, 20.0), (2.0, 6.0, 18.0)])
    {
        assert_eq!(row["status"], "optimal");
        close(&row["x"]["wheat"], wheat);
        close(&row["x"]["corn"], corn);
        close(&row["objective"], objective);
    }
    // θ = Cᵀλ + Aᵀμ at the kink: 2.4 = 2λ + μ, 2.2 = λ + μ.
    close(&rows[2]["rows"][0]["multiplier"], 0.2);
    close(&rows[2]["rows"][1]["multiplier"], 2.0);
    close(&rows[2]["rows"][0]["activity"], 10.0);
    // At row 0 corn is held at 0: 2 = λ + μ − ν with λ = 0.5, μ = 2.
    close(&rows[0]["bound_multipliers"]["lower"]["corn"], 0.5);
}

#[test]
fn a_quadratic_program_by_hand() {
    // max x + y − x² − 2y² on x + y = 1: 1 − 2x = 1 − 4y, so x = 2/3, y = 1/3, λ = −1/3.
    let folder = Folder::new().with(
        "p.toml",
        "[problem]\nvariables = [\"x\", \"y\"]\n[objective]\nlinear = [1, 1]\nquadratic = [[1, 0], [0, 2]]\n[[hard]]\nname = \
         \"sum\"\nrows = [1, 1]\nequals = 1\n",
    );
    let ran = folder.run("solve p.toml --format json");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let answer = &instances(&ran.stdout)[0];
    close(&answer["x"]["x"], 2.0 / 3.0);
    close(&answer["x"]["y"], 1.0 / 3.0);
    close(&answer["objective"], 1.0 - 4.0 / 9.0 - 2.0 / 9.0);
    close(&answer["rows"][0]["multiplier"], -1.0 / 3.0);
    assert_eq!(answer["row"], Value::Null);
}

#[test]
fn min_with_two_sided_rows_by_hand() {
    // One plant, demand 4: short costs 2, surplus 0.2, a unit 1: buy exactly 4.
    let folder = Folder::new().with(
        "p.toml",
        "[problem]\nsense = \"min\"\nvariables = [\"gas\"]\n[objective]\nlinear = 1\n[[soft]]\nname = \"demand\"\nrows = \
         [1]\nlimit = 4\nover = 0.2\nunder = 2\n",
    );
    let answer = &instances(&folder.run("solve p.toml --format json").stdout)[0];
    close(&answer["x"]["gas"], 4.0);
    close(&answer["objective"], 4.0);
}

#[test]
fn tables() {
    insta::assert_snapshot!(
        "many",
        run("solve examples/farm/problem.toml --params examples/farm/prices.csv").stdout
    );
    let single = "solve examples/farm/problem.toml --params examples/farm/prices.csv --row 2";
    insta::assert_snapshot!("single", run(single).stdout);
    let portfolio = "solve examples/portfolio/problem.toml --params examples/portfolio/returns.csv --row 2";
    insta::assert_snapshot!("portfolio", run(portfolio).stdout);
    let provisioning = "solve examples/provisioning/problem.toml --params examples/provisioning/output.csv";
    insta::assert_snapshot!("provisioning", run(provisioning).stdout);
}

const HEAD: &str = "[problem]\nvariables = [\"a\", \"b\"]\n[objective]\nlinear = [1, 0]\n";

#[test]
fn an_infeasible_problem_names_its_rows() {
    let rows = "[[hard]]\nname = \"cap\"\nrows = [1, 1]\nat_most = 1\n[[hard]]\nname = \"need\"\nrows = [-1, -1]\nat_most = \
                -2\n[[hard]]\nname = \"bystander\"\nrows = [1, -1]\nat_most = 5\n";
    let folder = Folder::new().with("p.toml", format!("{HEAD}{rows}"));
    let ran = folder.run("solve p.toml");
    assert_eq!(ran.code, 1);
    insta::assert_snapshot!("infeasible", ran.stdout);
    let answer = &instances(&folder.run("solve p.toml --format json").stdout)[0];
    assert_eq!(answer["status"], "infeasible");
    let conflict: Vec<_> = answer["conflict"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert!(conflict.contains(&"cap") && conflict.contains(&"need") && !conflict.contains(&"bystander"));
    assert!(answer["x"].is_null() && answer.get("objective").is_none());
}

#[test]
fn an_unbounded_problem_shows_its_ray() {
    let folder = Folder::new().with("p.toml", HEAD);
    let ran = folder.run("solve p.toml");
    assert_eq!(ran.code, 1);
    insta::assert_snapshot!("unbounded", ran.stdout);
    let answer = &instances(&folder.run("solve p.toml --format json").stdout)[0];
    assert_eq!(answer["status"], "unbounded");
    assert!(answer["ray"]["a"].as_f64().unwrap() > 0.0);
}

/// What nobody can keep is said with its figures; the point is shown to those who ask for it.
#[test]
fn a_tolerance_that_cannot_be_kept() {
    let folder = Folder::new().with(
        "p.toml",
        "[problem]\nvariables = 2\n[objective]\nlinear = [1, 1]\nquadratic = [[3, 1], [1, 7]]\n[[hard]]\nrows = [[0.1, 0.3]]\nat_most = 0.03\n",
    );
    let usual = &instances(&folder.run("solve p.toml --format json").stdout)[0];
    assert_eq!(usual["status"], "optimal");
    for figure in ["primal", "dual", "gap"] {
        assert!(usual[figure].as_f64().unwrap() <= 1e-7, "{figure}");
    }
    let ran = folder.run("solve p.toml --tolerance 0");
    assert_eq!(ran.code, 1);
    assert!(
        ran.stdout.contains("numerical-trouble") && ran.stdout.contains("--best-effort"),
        "{}",
        ran.stdout
    );
    let hidden = &instances(&folder.run("solve p.toml --tolerance 0 --format json").stdout)[0];
    assert!(hidden["x"].is_null() && hidden["dual"].as_f64().unwrap() < 1e-9);
    let shown = &instances(&folder.run("solve p.toml --tolerance 0 --best-effort --format json").stdout)[0];
    close(&shown["x"]["x0"], usual["x"]["x0"].as_f64().unwrap());
    assert_eq!(folder.run("solve p.toml --tolerance much").code, 2);
    assert_eq!(folder.run("solve p.toml --tolerance -1").code, 2);
}

#[test]
fn one_bad_instance_among_good_ones_fails_the_command() {
    let folder = Folder::new()
        .with("p.toml", "[problem]\nvariables = 1\n[objective]\nlinear = 1\n[[hard]]\nrows = [1]\nat_most = { predict = \"b\" }\n")
        .with("t.csv", "b\n1\n-1\n");
    let ran = folder.run("solve p.toml --params t.csv");
    assert_eq!(ran.code, 1);
    insta::assert_snapshot!("one_bad", format!("{}\n{}", ran.stdout, ran.stderr));
}

#[test]
fn many_variables_leave_the_table() {
    let folder = Folder::new()
        .with(
            "p.toml",
            "[problem]\nvariables = 9\n[objective]\nlinear = { predict = \"c*\" }\n[bounds]\nupper = 1\n",
        )
        .with("t.csv", "c0,c1,c2,c3,c4,c5,c6,c7,c8\n1,1,1,1,1,1,1,1,1\n1,1,1,1,1,1,1,1,-1\n");
    let ran = folder.run("solve p.toml --params t.csv");
    assert_eq!(ran.code, 0);
    insta::assert_snapshot!("wide", format!("{}\n{}", ran.stdout, ran.stderr));
}

#[test]
fn a_table_through_a_pipe() {
    // Standard input is a pipe here, and /dev/stdin names it.
    if !cfg!(target_os = "linux") {
        return;
    }
    let mut command = assert_cmd::Command::cargo_bin("regretless").unwrap();
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let run =
        command.current_dir(root).args(["solve", "examples/farm/problem.toml", "--params", "/dev/stdin"]);
    run.write_stdin("price_wheat,price_corn\n3.0,2.0\n").assert().success();
}
