//! Numbers that are fixed, known by row or predicted, side by side, tied, scaled and shifted: files against problems by hand.
#![allow(clippy::unwrap_used, reason = "tests fail loudly")]

use regretless_core::{Instance, Oracle, Source};
use regretless_project::{DataReader, Kind, Limits, Parameter, ParameterTable, Spec, TableReader, Want};

/// A shop with a known stock, a tied load and partial rows.
const SHOP: &str = r#"
[problem]
variables = ["buy", "sell", "keep"]
[objective]
linear = [{ predict = "price", factor = -1.0, shift = -0.1 }, { predict = "price" }, 0.5]
[[soft]]
name = "load"
rows = [{ buy = 1.0, sell = -1.0 }, { keep = { known = "share" } }]
limit = [{ predict = "load" }, { predict = "load", factor = { known = "share" } }]
over = 2.0
under = { known = "tariff*" }
[[hard]]
name = "stock"
rows = [{ sell = 1.0, keep = 1.0 }]
at_most = { known = "stock" }
[[hard]]
name = "some"
rows = [[1.0, 0.0, 0.0], [0.0, 1.0, 1.0]]
at_least = [0.25, 0.5]
at_most = [{ known = "stock", factor = 0.5, shift = 1.0 }, 9.0]
[bounds]
upper = [5.0, { known = "stock" }, inf]
"#;

const TABLE: &str = "day,price,load,share,stock,tariff_a,tariff_b\n1,3,4,0.5,6,1,2\n2,2,1,0.25,8,-1,0.5\n";

fn spec(text: &str) -> Spec {
    Spec::parse(text, "shop.toml", &Limits::default()).unwrap()
}

fn table(spec: &Spec, text: &str) -> ParameterTable {
    ParameterTable::from_csv(text.as_bytes(), "t.csv".as_ref(), spec, &Limits::default()).unwrap()
}

#[test]
fn every_number_is_where_it_belongs() {
    let spec = spec(SHOP);
    let table = table(&spec, TABLE);
    // Each column once: what is predicted, then what is known.
    assert_eq!(table.columns(), ["price", "load", "share", "tariff_a", "tariff_b", "stock"]);
    let row = table.row(0).unwrap();
    let of = |parameter| row.get(parameter).unwrap().to_vec();
    assert_eq!(of(Parameter::Linear), [-3.1, 3.0, 0.5]);
    assert_eq!(of(Parameter::Limit), [4.0, 2.0]);
    assert_eq!(of(Parameter::Under), [1.0, 2.0]);
    assert_eq!(of(Parameter::SoftRows), [1.0, -1.0, 0.5], "stored sparse");
    assert_eq!(of(Parameter::AtMost), [6.0, 4.0, 9.0, -0.25, -0.5]);
    assert_eq!(of(Parameter::Upper), [5.0, 6.0, f64::INFINITY]);
    assert_eq!(table.row(1).unwrap().get(Parameter::Under).unwrap(), [0.0, 0.5], "a price below 0 is 0");
    assert_eq!(table.cut(), 1);
    let places: Vec<_> = spec.predicted().iter().map(|part| part.key.as_str()).collect();
    assert_eq!(
        places,
        ["objective.linear[0]", "objective.linear[1]", "soft[0].limit[0]", "soft[0].limit[1]"]
    );
    assert!(spec.known().iter().all(|part| part.kind == Kind::Known));
}

/// `known` is a file per row: the numbers of the row written into it give the same optimum.
#[test]
fn known_is_a_file_per_row() {
    let spec = spec(SHOP);
    let table = table(&spec, TABLE);
    let rows = [[3.0, 4.0, 0.5, 6.0, 1.0, 2.0], [2.0, 1.0, 0.25, 8.0, 0.0, 0.5]];
    for (i, [price, load, share, stock, a, b]) in rows.into_iter().enumerate() {
        let text = format!(
            "[problem]\nvariables = [\"buy\", \"sell\", \"keep\"]\n[objective]\nlinear = [{}, {price}, 0.5]\n\
             [[soft]]\nrows = [[1, -1, 0], [0, 0, {share}]]\nlimit = [{load}, {}]\nover = 2\nunder = [{a}, {b}]\n\
             [[hard]]\nname = \"stock\"\nrows = [0, 1, 1]\nat_most = {stock}\n\
             [[hard]]\nname = \"upper\"\nrows = [[1, 0, 0], [0, 1, 1]]\nat_most = [{}, 9]\n\
             [[hard]]\nname = \"lower\"\nrows = [[-1, 0, 0], [0, -1, -1]]\nat_most = [-0.25, -0.5]\n\
             [bounds]\nupper = [5, {stock}, inf]\n",
            -price - 0.1,
            load * share,
            0.5 * stock + 1.0
        );
        let written = Spec::parse(text, "row.toml", &Limits::default()).unwrap();
        let by_hand = Oracle::new(written.problem()).solve(&Instance::default()).unwrap();
        let row = table.row(i).unwrap();
        let found = Oracle::new(spec.problem()).solve(&row.instance()).unwrap();
        assert!(found.is_optimal() && (found.objective - by_hand.objective).abs() < 1e-9, "row {i}");
    }
}

#[test]
fn written_back_it_is_the_same() {
    let dense = SHOP.replace("{ buy = 1.0, sell = -1.0 }", "[1.0, -1.0, 0.0]");
    for text in [SHOP, dense.as_str()] {
        let spec = spec(text);
        let folder = tempfile::tempdir().unwrap();
        spec.write(folder.path(), "again.toml").unwrap();
        let again = Spec::read(folder.path().join("again.toml")).unwrap();
        let (a, b) = (table(&spec, TABLE), table(&again, TABLE));
        for i in 0..2 {
            let (a, b) = (a.row(i).unwrap(), b.row(i).unwrap());
            let solve = |spec: &Spec, row: &regretless_core::Parameters| {
                Oracle::new(spec.problem()).solve(&row.instance()).unwrap().objective
            };
            assert!((solve(&spec, &a) - solve(&again, &b)).abs() < 1e-12);
        }
        assert_eq!(spec.placed().selections, again.placed().selections);
    }
}

#[test]
fn known_columns_are_features_and_come_with_every_row() {
    let spec = spec(&format!("{SHOP}[data]\nfile = \"t.csv\"\n"));
    let want = Want { features: true, targets: false };
    let reader = TableReader::from_csv(TABLE.as_bytes(), "t.csv".as_ref(), &Limits::default()).unwrap();
    let mut reader = DataReader::new(&spec, reader, want).unwrap();
    assert_eq!(reader.columns().feature_names, ["day", "share", "stock", "tariff_a", "tariff_b"]);
    assert_eq!(reader.columns().known_names, ["share", "tariff_a", "tariff_b", "stock"]);
    let chunk = reader.next().unwrap().unwrap();
    assert_eq!(chunk.known, [0.5, 1.0, 2.0, 6.0, 0.25, -1.0, 0.5, 8.0]);
    assert!(chunk.targets.is_empty());
    let other = ["stock".to_owned()];
    assert!(reader.expect_known(&other).is_err());
}

/// A column that several keys name is one quantity; the placement has a term for each of its places.
#[test]
fn the_same_column_is_one_quantity() {
    let spec = spec(SHOP);
    let names = |all: &[&str]| all.iter().map(ToString::to_string).collect::<Vec<_>>();
    let known = names(&["share", "tariff_a", "tariff_b", "stock"]);
    let placement = spec.placement(&names(&["price", "load"]), &known).unwrap();
    assert_eq!((placement.width(), placement.known()), (2, 4));
    let of = |j| placement.terms().iter().filter(|t| t.source == Source::Predicted(j)).count();
    assert_eq!((of(0), of(1)), (2, 2));
}

#[test]
fn what_cannot_be_is_refused_at_its_key() {
    let parse = |text: &str| Spec::parse(text, "p.toml", &Limits::default());
    let two = "[problem]\nvariables = [\"a\", \"b\"]\n[objective]\nlinear = ";
    let error = |text: String| parse(&text).unwrap_err().to_string();
    let product = error(format!("{two}{{ predict = \"p*\", factor = {{ predict = \"q\" }} }}\n"));
    assert!(product.contains("predicted times predicted"), "{product}");
    let both = error(format!("{two}{{ predict = \"p*\", known = \"k\" }}\n"));
    assert!(both.contains("exactly one of `file`, `predict` and `known`"), "{both}");
    let short = error(format!("{two}{{ predict = \"p*\", factor = [1, 2, 3] }}\n"));
    assert_eq!(short, "p.toml:4:37: objective.linear.factor: expected 2 numbers, found 3 numbers");
    let stranger = error(format!("{two}1\n[[hard]]\nrows = [{{ c = 1.0 }}]\nat_most = 1\n"));
    assert!(stranger.contains("there is no variable `c`"), "{stranger}");
    let spec = parse(&format!("{two}[{{ predict = \"p\" }}, {{ known = \"p\" }}]\n")).unwrap();
    let table = ParameterTable::from_csv("p\n1\n".as_bytes(), "t.csv".as_ref(), &spec, &Limits::default());
    assert!(table.unwrap_err().to_string().contains("the column `p` is predicted and known"));
    // Within one part a column is still taken once.
    let twice = parse(&format!("{two}{{ predict = [\"p\", \"p\"] }}\n")).unwrap();
    let table = ParameterTable::from_csv("p\n1\n".as_bytes(), "t.csv".as_ref(), &twice, &Limits::default());
    assert!(table.unwrap_err().to_string().contains("selected twice"));
    // A weight in Q has a matrix that is positive semidefinite.
    let q = "quadratic = [[1.0, { predict = \"q\" }], [{ predict = \"q\" }, 1.0]]";
    let spec = parse(&format!("{two}1\n{q}\n")).unwrap();
    let table = ParameterTable::from_csv("q\n1\n".as_bytes(), "t.csv".as_ref(), &spec, &Limits::default());
    assert!(table.unwrap_err().to_string().contains("not positive semidefinite"));
}
