//! A problem that is written is read as the same problem.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::fmt::Write;
use std::path::Path;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use regretless_core::problem::HardRows;
use regretless_core::{Coefficients, Problem, Soft};
use regretless_project::{Limits, Parameter, Spec};

fn hard(rows: &HardRows) -> impl PartialEq + std::fmt::Debug {
    (rows.rows.clone(), rows.rhs.clone(), rows.blocks.clone())
}

fn assert_same_problem(a: &Problem, b: &Problem) {
    assert_eq!((a.sense(), a.variables(), a.theta(), a.Q()), (b.sense(), b.variables(), b.theta(), b.Q()));
    let soft = |p: &Problem| {
        let s = p.soft();
        (s.C.clone(), s.d.clone(), s.alpha.clone(), s.under.clone(), s.blocks.clone())
    };
    assert_eq!(soft(a), soft(b));
    assert_eq!(hard(a.at_most()), hard(b.at_most()));
    assert_eq!(hard(a.equal()), hard(b.equal()));
    assert_eq!((a.lower(), a.upper()), (b.lower(), b.upper()));
}

/// Writes and reads, twice: the second text must be the first.
fn round_trip(spec: &Spec) -> String {
    let folder = tempfile::tempdir().unwrap();
    spec.write(folder.path(), "config.toml").unwrap();
    let text = std::fs::read_to_string(folder.path().join("config.toml")).unwrap();
    let read = Spec::read(folder.path().join("config.toml")).unwrap_or_else(|e| panic!("{e}\n{text}"));
    assert_eq!(spec.name(), read.name());
    assert_same_problem(spec.problem(), read.problem());
    assert_eq!(spec.predicted(), read.predicted());
    assert_eq!(spec.training(), read.training());
    assert_eq!(spec.predictor(), read.predictor());
    assert_eq!(format!("{:?}", spec.surrogate()), format!("{:?}", read.surrogate()));
    assert_eq!(spec.data().is_some(), read.data().is_some());
    if let (Some(a), Some(b)) = (spec.data(), read.data()) {
        assert_eq!((&a.features, &a.exclude, &a.key), (&b.features, &b.exclude, &b.key));
        assert_eq!((a.missing, &spec.settings().split), (b.missing, &read.settings().split));
    }
    let again = tempfile::tempdir().unwrap();
    read.write(again.path(), "config.toml").unwrap();
    assert_eq!(text, std::fs::read_to_string(again.path().join("config.toml")).unwrap());
    let left = std::fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().file_name());
    assert!(left.into_iter().all(|name| !name.to_string_lossy().ends_with(".part")));
    text
}

fn parse(text: &str) -> Spec {
    Spec::parse(text, "/somewhere/p.toml", &Limits::default()).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

/// Sparse rows are written with their zeros. Which of them are predicted a file cannot say, so those are refused.
#[test]
fn sparse_rows() {
    let rows = || Coefficients::sparse(2, 3, [(0, 2, 4.0), (1, 1, 5.0)]).unwrap();
    let problem = Problem::maximize(3)
        .linear([1.0; 3])
        .soft("soft", Soft::over(rows(), [1.0, 1.0], [1.0, 1.0]))
        .upper([1.0; 3])
        .build()
        .unwrap();
    let folder = tempfile::tempdir().unwrap();
    let settings = serde_json::json!({});
    let spec = Spec::in_memory(&problem, &[Parameter::Linear], None, &settings).unwrap();
    spec.write(folder.path(), "config.toml").unwrap();
    let read = Spec::read(folder.path().join("config.toml")).unwrap();
    assert_eq!(read.problem().soft().C.as_slice(), [0.0, 0.0, 4.0, 0.0, 5.0, 0.0]);
    let spec = Spec::in_memory(&problem, &[Parameter::SoftRows], None, &settings).unwrap();
    assert_eq!(spec.predicted()[0].columns, ["C_0_2", "C_1_1"]);
    let refused = spec.write(folder.path(), "config.toml").unwrap_err().to_string();
    assert!(refused.contains("sparse"), "{refused}");
}

/// Times of a split are written to the second and read as the same moments.
#[test]
fn moments_of_splits() {
    let text = |from: &str| {
        format!(
            "[problem]\nvariables = [\"a\"]\n[objective]\nlinear = {{ predict = \"v\" }}\n[bounds]\nupper = 1\n[data]\nfile = \
             \"h.csv\"\nseries = [\"shop\", \"kind\"]\ntime = \"day\"\nsplit = {{ valid_from = {from}, gap = 0.5 }}\n"
        )
    };
    for (from, written) in [
        ("2018-06-01T23:59:40", "2018-06-01T23:59:40"),
        ("2018-06-01T23:59:59.75", "2018-06-01T23:59:59.750000"),
        ("2018-06-01", "2018-06-01T00:00"),
        ("1969-12-31T23:59:59", "1969-12-31T23:59:59"),
        ("\"1.6.2018 7:30\"", ""),
        ("\"1.6.2018 07:30\"", "2018-06-01T07:30"),
    ] {
        let Ok(spec) = Spec::parse(text(from), "/somewhere/p.toml", &Limits::default()) else {
            assert!(written.is_empty(), "{from}");
            continue;
        };
        let out = round_trip(&spec);
        assert!(out.contains(&format!("valid_from = \"{written}\"")), "{from}: {out}");
        assert!(out.contains("series = [\"shop\", \"kind\"]\ntime = \"day\""), "{out}");
    }
    let numbers = round_trip(&parse(&text("12.25")));
    assert!(numbers.contains("valid_from = 12.25"), "{numbers}");
}

#[test]
fn the_examples() {
    for name in ["farm", "portfolio", "provisioning"] {
        let path =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name).join("problem.toml");
        round_trip(&Spec::read(path).unwrap());
    }
}

#[test]
fn every_key() {
    let text = round_trip(&parse(
        r#"
        [problem]
        name = 'say "hi" \ θ'
        sense = "min"
        variables = ["a b", "c\"d", "e\\"]
        [objective]
        linear = [0.1, -1e-300, 1e17]
        quadratic = { predict = ["q_*", "z?"] }
        [[hard]]
        rows = [1, 2, 3]
        equals = 0.3333333333333333
        [[soft]]
        rows = { predict = "c" }
        limit = [1, 2]
        over = { predict = "alpha*" }
        [[hard]]
        name = "second"
        rows = [[1, 2, 3], [4, 5, 6]]
        at_most = { predict = "b*" }
        [[hard]]
        rows = [7, 8, 9]
        equals = 1
        [bounds]
        lower = [-inf, 0, 1]
        upper = "inf"
        [surrogate]
        k = [1, 2.5]
        segments = "vertex"
        multipliers = { rule = "empirical", sqrt_n = true }
        [data]
        train = "sub/a.csv"
        test = "c.parquet"
        features = ["t_*", "with \"quotes\""]
        exclude = "note"
        key = "day"
        missing = "mean"
        split = { kind = "chronological", valid = 0.1 }
        [predictor]
        kind = "linear"
        quadratic = { embedding = 4, form = "cosine" }
        [training]
        method = "spo++l2+scenarios"
        optimizer = "sgd"
        momentum = 0.5
        schedule = { kind = "plateau", factor = 0.3, back = true }
        clip = { value = 0.1 }
        stop = "paper"
        mix = { from = 1, to = 0, epochs = 3 }
        weights = { over = 2 }
        infeasible = "skip"
        seed = 9223372036854775807
        "#,
    ));
    assert!(text.contains("train = \"/somewhere/sub/a.csv\""), "{text}");
}

#[test]
fn random_problems_of_every_size() {
    let mut rng = ChaCha8Rng::seed_from_u64(6);
    for round in 0..40 {
        let n = rng.random_range(1..14);
        let numbers = |rng: &mut ChaCha8Rng, count: usize| {
            let values: Vec<f64> = (0..count).map(|_| rng.random_range(-3.0..3.0)).collect();
            format!("{values:?}")
        };
        let mut text =
            format!("[problem]\nvariables = {n}\n[objective]\nlinear = {}\n", numbers(&mut rng, n));
        for _ in 0..rng.random_range(0..5) {
            let m = rng.random_range(1..9);
            let rows: Vec<_> = (0..m).map(|_| numbers(&mut rng, n)).collect();
            let side = match rng.random_range(0..3) {
                0 => format!("[[hard]]\nat_most = {}", numbers(&mut rng, m)),
                1 => format!("[[hard]]\nequals = {}", numbers(&mut rng, m)),
                _ => format!("[[soft]]\nover = 0.7\nunder = 0.1\nlimit = {}", numbers(&mut rng, m)),
            };
            writeln!(text, "{side}\nrows = [{}]", rows.join(", ")).unwrap();
        }
        let k = if round % 2 == 0 { "3.3" } else { "{ from = 0.1, to = 7.7, epochs = 5 }" };
        writeln!(text, "[surrogate]\nk = {k}\nmultipliers = 12.5\n[bounds]\nupper = 4").unwrap();
        round_trip(&parse(&text));
    }
}

#[test]
fn large_parts_are_files() {
    let n = 100;
    let text = format!(
        "[problem]\nvariables = {n}\n[objective]\nlinear = 0.1\n[[hard]]\nrows = {:?}\nat_most = 1\n[bounds]\nupper = \"inf\"\n",
        vec![vec![0.3; n]; 2]
    );
    let text = round_trip(&parse(&text));
    for line in [
        "linear = { file = \"objective-linear.npy\" }",
        "rows = { file = \"hard-0-rows.npy\" }",
        "upper = { file = \"bounds-upper.npy\" }",
    ] {
        assert!(text.contains(line), "{text}");
    }
}

#[test]
fn a_folder_that_is_not_there() {
    let folder = tempfile::tempdir().unwrap();
    let error = parse("[problem]\nvariables = 1\n[objective]\nlinear = 1\n");
    let error = error.write(&folder.path().join("no"), "config.toml").unwrap_err();
    assert!(error.to_string().contains("config.toml: cannot be written: "), "{error}");
}

#[test]
fn smoothing_is_written_where_there_is_some() {
    let file = |smoothing: &str| {
        let text = format!("[problem]\nvariables = 1\n[objective]\nlinear = 1\n[surrogate]\n{smoothing}");
        round_trip(&Spec::parse(text, "problem.toml", &Limits::default()).unwrap())
    };
    assert!(file("smoothing = 0.3").contains("smoothing = 0.3"));
    assert!(!file("").contains("smoothing"));
}
