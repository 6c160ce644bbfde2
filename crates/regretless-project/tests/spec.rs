//! Problem files to problems: values end up where they belong.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::path::{Path, PathBuf};

use regretless_core::{Rule, Segments, Sense};
use regretless_project::{Limits, Parameter, ParameterTable, Spec};

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name)
}

fn parse(text: &str) -> Spec {
    Spec::parse(text, "problem.toml", &Limits::default()).unwrap_or_else(|e| panic!("{e}\n{:?}", e.hint))
}

fn table(spec: &Spec, text: &str) -> ParameterTable {
    ParameterTable::from_csv(text.as_bytes(), "table.csv".as_ref(), spec, &Limits::default())
        .unwrap_or_else(|e| panic!("{e}\n{:?}", e.hint))
}

#[test]
fn the_farm() {
    let spec = Spec::read(example("farm/problem.toml")).unwrap();
    let problem = spec.problem();
    assert_eq!(spec.name(), Some("farm"));
    assert_eq!(problem.variables(), ["wheat", "corn"]);
    assert_eq!((problem.soft().C.as_slice(), &problem.soft().d[..]), (&[2.0, 1.0][..], &[10.0][..]));
    assert_eq!((&problem.soft().alpha[..], &problem.soft().under[..]), (&[0.5][..], &[0.0][..]));
    assert_eq!(
        (problem.at_most().rows.as_slice(), &problem.at_most().rhs[..]),
        (&[1.0, 1.0][..], &[8.0][..])
    );
    assert_eq!((problem.lower(), problem.upper()), (&[0.0; 2][..], &[f64::INFINITY; 2][..]));
    let prices = spec.read_parameters(example("farm/prices.csv")).unwrap();
    assert_eq!(
        (prices.len(), prices.columns()),
        (3, &["price_wheat".to_owned(), "price_corn".to_owned()][..])
    );
    assert_eq!(prices.row(1).unwrap().get(Parameter::Linear), Some(&[1.0, 2.5][..]));
    assert!(prices.row(3).is_none());
}

#[test]
fn the_portfolio() {
    let spec = Spec::read(example("portfolio/problem.toml")).unwrap();
    let problem = spec.problem();
    assert_eq!(problem.Q().unwrap().row(1).values(), [0.01, 0.20, 0.12]);
    assert_eq!(problem.equal().rhs, [1.0]);
    assert_eq!(problem.upper(), [1.0, 0.8, 0.6]);
    assert_eq!(spec.surrogate().options.k, 25.0);
}

#[test]
fn the_provisioning_problem() {
    let spec = Spec::read(example("provisioning/problem.toml")).unwrap();
    assert_eq!(spec.problem().sense(), Sense::Min);
    assert_eq!(spec.problem().soft().under, [2.0, 2.0, 3.0]);
    let output = spec.read_parameters(example("provisioning/output.csv")).unwrap();
    let first = output.row(0).unwrap();
    let rows = first.get(Parameter::SoftRows).unwrap();
    assert_eq!(rows, [0.6, 0.0, 1.0, 0.4, 0.9, 1.0, 0.5, 0.5, 1.0]);
    assert!(spec.problem().view(&first.instance()).is_ok());
}

#[test]
fn predicted_blocks_are_embedded_among_known_ones() {
    let spec = parse(
        r#"
        [problem]
        variables = 2
        [[soft]]
        rows = [[1, 2], [3, 4]]
        limit = [5, 6]
        over = 1
        [[soft]]
        name = "second"
        rows = { predict = "c_*" }
        limit = { predict = ["d"] }
        over = [7.0]
        [[hard]]
        rows = [1, 1]
        equals = { predict = "e" }
        [[hard]]
        rows = [[8, 9]]
        at_most = 10
        [[hard]]
        rows = [[2, 2]]
        at_most = { predict = "b" }
        [bounds]
        upper = { predict = "u?" }
        "#,
    );
    assert_eq!(
        spec.predicted().iter().map(|p| p.key.as_str()).collect::<Vec<_>>(),
        ["soft[1].rows", "soft[1].limit", "hard[0].equals", "hard[2].at_most", "bounds.upper"]
    );
    let table = table(&spec, "u0,u1,b,e,d,c_0,c_1,note\n1,2,3,4,5,6,7,rain\n");
    let row = table.row(0).unwrap();
    assert_eq!(row.get(Parameter::SoftRows), Some(&[1.0, 2.0, 3.0, 4.0, 6.0, 7.0][..]));
    assert_eq!(row.get(Parameter::Limit), Some(&[5.0, 6.0, 5.0][..]));
    assert_eq!(row.get(Parameter::Equals), Some(&[4.0][..]));
    assert_eq!(row.get(Parameter::AtMost), Some(&[10.0, 3.0][..]));
    assert_eq!(row.get(Parameter::Upper), Some(&[1.0, 2.0][..]));
    assert_eq!(row.get(Parameter::Over), None);
    assert!(spec.problem().view(&row.instance()).is_ok());
}

#[test]
fn names_of_variables_beat_the_order_of_columns() {
    let spec = |variables: &str| {
        parse(&format!(
            "[problem]\nvariables = {variables}\n[objective]\nlinear = {{ predict = \"price_*\" }}\n"
        ))
    };
    let csv = "price_corn,note,price_wheat\n1,x,2\n";
    let linear = |spec: &Spec| table(spec, csv).row(0).unwrap().get(Parameter::Linear).unwrap().to_vec();
    assert_eq!(linear(&spec("[\"wheat\", \"corn\"]")), [2.0, 1.0]);
    assert_eq!(linear(&spec("[\"wheat\", \"rye\"]")), [1.0, 2.0]);
    assert_eq!(linear(&spec("2")), [1.0, 2.0]);
}

#[test]
fn names_of_rows_beat_the_order_of_columns() {
    let limits = |selector: &str, header: &str| {
        let spec = parse(&format!(
            "[problem]\nvariables = [\"bread\", \"cake\"]\n[objective]\nlinear = 0\n[[soft]]\nname = \"oven\"\n\
             rows = [[0, 1], [2, 0]]\nlimit = {{ predict = {selector} }}\nover = 1\n"
        ));
        table(&spec, &format!("{header}\n1,2\n")).row(0).unwrap().get(Parameter::Limit).unwrap().to_vec()
    };
    // The first row is that of `cake`.
    assert_eq!(limits("\"demand_*\"", "demand_bread,demand_cake"), [2.0, 1.0]);
    assert_eq!(limits("\"demand_*\"", "demand_oven_1,demand_oven_0"), [2.0, 1.0]);
    assert_eq!(limits("\"demand_*\"", "demand_2,demand_1"), [2.0, 1.0]);
    // A list is meant as it is written, and names may say nothing.
    assert_eq!(limits("[\"demand_bread\", \"demand_cake\"]", "demand_bread,demand_cake"), [1.0, 2.0]);
    assert_eq!(limits("\"demand_*\"", "demand_north,demand_east"), [1.0, 2.0]);
}

#[test]
fn settings() {
    let rule = |text: &str| {
        parse(&format!("[problem]\nvariables = 1\n[objective]\nlinear = 1\n[surrogate]\n{text}"))
            .surrogate()
            .clone()
    };
    assert_eq!(rule("").rule, Rule::Dual { factor: 4.0 });
    assert_eq!((rule("").options.k, rule("").options.segments), (5.0, Segments::Smooth));
    assert_eq!(rule("segments = \"vertex\"").options.segments, Segments::Vertex);
    assert_eq!((rule("").options.smoothing, rule("smoothing = 0.3").options.smoothing), (0.0, 0.3));
    assert_eq!(rule("multipliers = \"theory\"").rule, Rule::Theory);
    assert_eq!(rule("multipliers = 20").rule, Rule::Constant(20.0));
    assert_eq!(rule("multipliers = { rule = \"dual\", factor = 2 }").rule, Rule::Dual { factor: 2.0 });
    let empirical = rule("multipliers = { rule = \"empirical\", sqrt_n = true }").rule;
    assert_eq!(empirical, Rule::Empirical { factor: 5.0, sqrt_n: true });
}

#[test]
fn smoothing_is_a_share_and_for_smooth_segments() {
    let refused = |text: &str| {
        let file = format!("[problem]\nvariables = 1\n[objective]\nlinear = 1\n[surrogate]\n{text}");
        Spec::parse(file, "problem.toml", &Limits::default()).unwrap_err().to_string()
    };
    for text in ["smoothing = 1.5", "smoothing = -0.1", "smoothing = 1e-300", "smoothing = nan"] {
        let message = refused(text);
        assert!(message.contains("surrogate.smoothing") && message.contains("from 1e-9 to 1"), "{message}");
    }
    assert!(refused("smoothing = 0.3\nsegments = \"vertex\"").contains("segments"));
}

#[test]
fn infinite_bounds_in_every_spelling() {
    let spec = parse(
        "[problem]\nvariables = 3\n[objective]\nlinear = 1\n[bounds]\nlower = [-inf, \"-inf\", 0]\nupper = \"inf\"\n",
    );
    assert_eq!(spec.problem().lower(), [f64::NEG_INFINITY, f64::NEG_INFINITY, 0.0]);
    assert_eq!(spec.problem().upper(), [f64::INFINITY; 3]);
}

#[test]
fn numbers_from_files() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| std::fs::write(folder.path().join(name), bytes).unwrap();
    write("column.csv", b"theta\n1.5\n2.5\n");
    write("row.csv", b"8,9\n");
    let header = "{'descr': '<f8', 'fortran_order': True, 'shape': (2, 2), }          \n";
    let mut npy = b"\x93NUMPY\x01\x00".to_vec();
    npy.extend((header.len() as u16).to_le_bytes());
    npy.extend(header.as_bytes());
    npy.extend([1.0_f64, 3.0, 2.0, 4.0].iter().flat_map(|v| v.to_le_bytes()));
    write("rows.npy", &npy);
    write(
        "problem.toml",
        b"[problem]\nvariables = 2\n[objective]\nlinear = { file = \"column.csv\" }\n[[hard]]\nrows = { file = \
          \"rows.npy\" }\nat_most = { file = \"row.csv\" }\n",
    );
    let spec = Spec::read(folder.path().join("problem.toml")).unwrap();
    assert_eq!(spec.problem().theta(), [1.5, 2.5]);
    assert_eq!(spec.problem().at_most().rows.as_slice(), [1.0, 2.0, 3.0, 4.0]);
    assert_eq!(spec.problem().at_most().rhs, [8.0, 9.0]);
}

#[test]
fn the_other_side_of_at_most() {
    let text = "[problem]\nvariables = 2\n[[hard]]\nrows = [1, 1]\nat_least = 1\n";
    let problem = Spec::parse(text, "p.toml", &Limits::default()).unwrap().problem().clone();
    assert_eq!(
        (problem.at_most().rows.as_slice(), &problem.at_most().rhs[..]),
        (&[-1.0, -1.0][..], &[-1.0][..])
    );
    let text = text.replace("at_least = 1", "at_least = 1\nat_most = 3");
    let problem = Spec::parse(text.as_str(), "p.toml", &Limits::default()).unwrap().problem().clone();
    assert_eq!(problem.at_most().rows.as_slice(), [1.0, 1.0, -1.0, -1.0]);
    assert_eq!(problem.at_most().rhs, [3.0, -1.0]);
    let crossed = text.replace("at_most = 3", "at_most = 0.5");
    let error = Spec::parse(crossed, "p.toml", &Limits::default()).unwrap_err();
    assert!(error.to_string().ends_with("row 0 is at least 1 and at most 0.5"), "{error}");
    let other = text.replace("at_least", "atleast");
    let hint = Spec::parse(other, "p.toml", &Limits::default()).unwrap_err().hint.unwrap();
    assert!(hint.contains("`at_least`"), "{hint}");
}
