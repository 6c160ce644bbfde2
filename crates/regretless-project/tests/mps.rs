//! MPS and QPS files: what they state, by hand, and what they cannot.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use regretless_core::{Instance, Oracle, Sense};
use regretless_project::{Limits, Parameter, ParameterTable, Spec};

/// Rows of every kind with and without ranges, bounds of every kind, a constant and a second N row.
const EVERYTHING: &str = "\
NAME          everything  $ a comment
* another
OBJSENSE
    MAX
ROWS
 N  gain
 N  other
 E  equal
 E  wider
 E  lower
 L  most
 L  band
 G  least
 G  strip
COLUMNS
    a         gain               1.0   equal              1.0
    a         other              9.0   wider              2.0
    b         gain               2.0   most               3.0
    b         lower              1.0   strip             -1.0
    c         gain           -1.5D+0   least              4.0
    c         band               1.0
    d         gain               1.0   equal              1.0
    e         gain               1.0   equal             -1.0
    f         most               1.0
RHS
    set       gain              -7.0   equal              5.0
    set       wider              6.0   lower              8.0
    set       most              10.0   band               2.0
    set       least              1.0   strip             -3.0
RANGES
    set       wider              4.0   lower             -4.0
    set       band               3.0   strip              2.0
BOUNDS
 UP set       a                  4.0
 UP set       b                 -1.0
 FX set       c                  2.5
 FR set       d
 MI set       e
 UP set       e                 3e20
 LO set       f                 -2.0
 UP set       f                 -1.0
ENDATA
";

fn file(dir: &tempfile::TempDir, name: &str, text: &str) -> std::path::PathBuf {
    let path = dir.path().join(name);
    std::fs::write(&path, text).unwrap();
    path
}

fn read(text: &str) -> Result<Spec, String> {
    read_as("model.mps", text)
}

fn read_as(name: &str, text: &str) -> Result<Spec, String> {
    let dir = tempfile::tempdir().unwrap();
    let path = file(&dir, name, text);
    Spec::read(path).map_err(|e| {
        let said = e.to_string();
        said[said.find(name).unwrap()..].to_owned()
    })
}

#[test]
fn every_kind_of_row_and_bound() {
    let spec = read(EVERYTHING).unwrap();
    let problem = spec.problem();
    assert_eq!((spec.name(), problem.sense(), spec.constant()), (Some("everything"), Sense::Max, 7.0));
    assert_eq!(problem.variables(), ["a", "b", "c", "d", "e", "f"]);
    assert_eq!(problem.theta(), [1.0, 2.0, -1.5, 1.0, 1.0, 0.0]);
    let (inf, none) = (f64::INFINITY, f64::NEG_INFINITY);
    assert_eq!(problem.lower(), [0.0, none, 2.5, none, none, -2.0]);
    assert_eq!(problem.upper(), [4.0, -1.0, 2.5, inf, inf, -1.0]);
    let names = |blocks: &[regretless_core::problem::Block]| -> Vec<(String, usize)> {
        blocks.iter().map(|b| (b.name.clone(), b.rows.len())).collect()
    };
    assert_eq!(names(&problem.equal().blocks), [("equal".into(), 1)]);
    let ranges = [("wider", 2), ("lower", 2), ("most", 1), ("band", 2), ("least", 1), ("strip", 2)];
    assert_eq!(names(&problem.at_most().blocks), ranges.map(|(name, rows)| (name.to_owned(), rows)));
    // E with R > 0 is [b, b + R], with R < 0 [b + R, b]; L is [b − |R|, b], G is [b, b + |R|].
    assert_eq!(problem.at_most().rhs, [10.0, -6.0, 8.0, -4.0, 10.0, 2.0, 1.0, -1.0, -1.0, 3.0]);
    // A row ≥ is negated: −4c ≤ −1.
    let view = problem.view(&Instance::default()).unwrap();
    assert_eq!(view.row(regretless_core::RowId::AtMost(7)).to_vec(6), [0.0, 0.0, -4.0, 0.0, 0.0, 0.0]);
}

/// max 3x + 2y with x + y ≤ 4, x + 3y ≤ 6, x ≤ 3: (3, 1) by hand.
const LP: &str = "\
NAME lp
ROWS
 N obj
 L c1
 L c2
COLUMNS
 x obj -3 c1 1
 x c2 1
 y obj -2 c1 1
 y c2 3
RHS
 c1 4 c2 6
BOUNDS
 UP x 3
ENDATA
";

#[test]
fn free_form_without_names_of_sets_packed_or_not() {
    let dir = tempfile::tempdir().unwrap();
    let packed = dir.path().join("lp.QPS.gz");
    let mut gzip = GzEncoder::new(std::fs::File::create(&packed).unwrap(), Compression::best());
    gzip.write_all(LP.as_bytes()).unwrap();
    gzip.finish().unwrap();
    for path in [file(&dir, "lp.mps", LP), packed.clone()] {
        let spec = Spec::read(&path).unwrap();
        let optimum = Oracle::new(spec.problem()).solve(&Instance::default()).unwrap();
        assert!((optimum.objective + 11.0).abs() < 1e-9 && (optimum.x[0] - 3.0).abs() < 1e-9);
    }
    let limits = Limits { model_bytes: 100, ..Limits::default() };
    assert!(Spec::read_within(&packed, &limits).is_err_and(|e| e.to_string().contains("limit")));
}

/// ½(2x² + 2xy + 4y²) = x² + xy + 2y², stated as one triangle or as both.
#[test]
fn half_of_a_hessian() {
    let head = "NAME qp\nROWS\n N obj\n G sum\nCOLUMNS\n x obj -1 sum 1\n y sum 1\nRHS\n sum 1\n";
    let triangle = format!("{head}QUADOBJ\n x x 2\n y x 1\n y y 4\nENDATA\n");
    let both = format!("{head}QMATRIX\n x x 2\n x y 1\n y x 1\n y y 4\nENDATA\n");
    for text in [triangle, both] {
        let spec = read(&text).unwrap();
        assert_eq!(spec.problem().Q().unwrap().as_slice(), [1.0, 0.5, 0.5, 2.0]);
        let view = spec.problem().view(&Instance::default()).unwrap();
        assert_eq!(view.objective(&[2.0, 1.0]), -2.0 + 4.0 + 2.0 + 2.0);
    }
}

#[test]
fn names_with_blanks_stand_in_their_columns() {
    let text = "\
NAME          BLANKS
ROWS
 N  THE COST
 L  ROW ONE
COLUMNS
    COL ONE   THE COST          -1.0   ROW ONE            2.0
RHS
    RHS       ROW ONE            3.0
ENDATA
";
    let spec = read(text).unwrap();
    assert_eq!(
        (spec.problem().variables(), spec.problem().theta()),
        (&["COL ONE".to_owned()][..], &[-1.0][..])
    );
    assert_eq!(spec.problem().at_most().blocks[0].name, "ROW ONE");
}

#[test]
fn what_cannot_be_is_refused_at_its_line() {
    let cases = [
        ("", "model.mps: this is not an MPS file: it has no ENDATA"),
        ("NAME x\nROWS\n N o\n", "model.mps: the file is cut off: it has no ENDATA"),
        (
            "ROWS\n N o\nCOLUMNS\n M1 'MARKER' 'INTORG'\n",
            "model.mps, line 4: whole-number variables are not supported",
        ),
        (
            "ROWS\n N o\nCOLUMNS\n x o 1\nBOUNDS\n BV b x\nENDATA\n",
            "model.mps, line 6: a bound of kind BV makes the variable a whole number or semicontinuous",
        ),
        (
            "ROWS\n N o\nCOLUMNS\n x o 1\n x o 2\nENDATA\n",
            "model.mps, line 5: this coefficient is stated twice",
        ),
        ("ROWS\n N o\n L r\n L r\n", "model.mps, line 4: the row `r` is stated twice"),
        (
            "ROWS\n N o\nCOLUMNS\n x o 1\n y o 1\n x o 2\n",
            "model.mps, line 6: the column `x` is stated in two places",
        ),
        ("ROWS\n N o\nCOLUMNS\n x p 1\n", "model.mps, line 4: there is no row `p`"),
        ("ROWS\n N o\nCOLUMNS\n x o one\n", "model.mps, line 4: `one` is not a number"),
        ("ROWS\n N o\nCOLUMNS\n x o inf\n", "model.mps, line 4: `inf` is not a number"),
        ("ROWS\n Q o\n", "model.mps, line 2: `Q` is no kind of row: N, E, L or G"),
        (
            "ROWS\n N o\nQCMATRIX r\n",
            "model.mps, line 3: quadratic rows are not supported, only a quadratic objective",
        ),
        ("ROWS\n N o\nENDATA\n", "model.mps, line 3: the model has no columns"),
        (
            "ROWS\n N o\n L r\nCOLUMNS\n x r 1\nRHS\n A r 1\n B r 2\n",
            "model.mps, line 8: a second set `B` in RHS, after `A`",
        ),
        (
            "ROWS\n N o\n L r\nCOLUMNS\n x r 1\nRHS\n r 1\n r 2\n",
            "model.mps, line 8: this right-hand side is stated twice",
        ),
        (
            "ROWS\n N o\nCOLUMNS\n x o 1\nBOUNDS\n UP x 3\n UP x 2\nENDATA\n",
            "model.mps, line 7: this bound is stated twice",
        ),
        (
            "ROWS\n N o\n E r\nCOLUMNS\n x r 1\nRHS\n r 1e30\nENDATA\n",
            "model.mps: the limit of the row `r` is infinite on the side that leaves it no value",
        ),
        (
            "ROWS\n N o\nCOLUMNS\n x o 1\nBOUNDS\n LO x 2\n UP x 1\nENDATA\n",
            "model.mps: variable x has lower bound 2 above its upper bound 1",
        ),
    ];
    for (text, said) in cases {
        assert_eq!(read(text).unwrap_err(), said, "{text}");
    }
}

/// A problem file that names the model: rows by name are soft, costs and limits predicted.
#[test]
fn rows_of_a_model_are_softened_by_name() {
    let dir = tempfile::tempdir().unwrap();
    file(&dir, "lp.mps", LP);
    let text = "[problem]\nmodel = \"lp.mps\"\n[objective]\nlinear = { predict = \"cost_*\" }\n\
                [[soften]]\nname = \"capacity\"\nrows = \"c2\"\nlimit = { predict = \"cap\" }\nover = 0.25\n";
    let spec = Spec::read(file(&dir, "problem.toml", text)).unwrap();
    let problem = spec.problem();
    assert_eq!(problem.soft().blocks[0].name, "capacity");
    assert_eq!((problem.soft().C.as_slice(), &problem.soft().alpha[..]), (&[1.0, 3.0][..], &[0.25][..]));
    assert_eq!(problem.at_most().blocks.iter().map(|b| b.name.as_str()).collect::<Vec<_>>(), ["c1"]);
    let parts: Vec<_> = spec.predicted().iter().map(|p| p.key.as_str()).collect();
    assert_eq!(parts, ["objective.linear", "soften[0].limit"]);
    assert!(spec.placed().parameters(1).into_iter().eq([Parameter::Limit]));
    let table = "cost_y,cost_x,cap\n-2,-3,6\n";
    let table =
        ParameterTable::from_csv(table.as_bytes(), "t.csv".as_ref(), &spec, &Limits::default()).unwrap();
    // Breaking c2 by 3·1 + 1 − 6 < 0: it is kept at (3, 1); with a limit of 3 breaking it by 3 pays.
    let row = table.row(0).unwrap();
    let optimum = Oracle::new(problem).solve(&row.instance()).unwrap();
    assert!((optimum.objective + 11.0).abs() < 1e-9);
    let tight = Instance { d: Some(&[3.0]), ..row.instance() };
    let optimum = Oracle::new(problem).solve(&tight).unwrap();
    assert!((optimum.objective - (-11.0 + 0.25 * 3.0)).abs() < 1e-9, "{}", optimum.objective);

    // Written back it is the same problem.
    let folder = tempfile::tempdir().unwrap();
    spec.write(folder.path(), "problem.toml").unwrap();
    let again = Spec::read(folder.path().join("problem.toml")).unwrap();
    assert_eq!(again.problem().soft().C.as_slice(), problem.soft().C.as_slice());
    assert_eq!(again.problem().at_most().rhs, problem.at_most().rhs);
    assert_eq!(again.constant(), spec.constant());
}

#[test]
fn softening_says_what_it_misses() {
    let dir = tempfile::tempdir().unwrap();
    file(&dir, "m.mps", EVERYTHING);
    let cases = [
        ("[[soften]]\nrows = \"mots\"\nover = 1\n", "soften[0].rows: no row of the model fits `mots`"),
        (
            "[[soften]]\nrows = \"band\"\nunder = 1\n",
            "soften[0]: `over` is missing: the row `band` has a range, so it needs both prices",
        ),
        ("[[soften]]\nrows = \"m*\"\n", "soften[0]: `over` is missing: the row `most` is a row ≤"),
        (
            "[[soften]]\nrows = \"least\"\nover = 1\n",
            "soften[0].over: none of these rows has a limit on the side of `over`",
        ),
        (
            "[[soften]]\nrows = [\"most\", \"m*\"]\nover = 1\n",
            "soften[0].rows[1]: the row `most` is named twice",
        ),
        (
            "[[soften]]\nrows = \"most\"\nover = 1\n[[soften]]\nrows = \"m*\"\nover = 1\n",
            "soften[1].rows: the row `most` is softened twice",
        ),
        (
            "[[soften]]\nrows = \"band\"\nover = 1\nunder = 1\nlimit = 3\n",
            "soften[0].limit: some of these rows have two limits",
        ),
        ("[bounds]\nupper = 1\n", "bounds: `problem.model` states this already"),
        (
            "[[soften]]\nrows = \"most\"\nover = -1\n",
            "soften[0].over: the price -1 is negative, and prices of soft rows are 0 or more",
        ),
    ];
    for (more, said) in cases {
        let path = file(&dir, "problem.toml", &format!("[problem]\nmodel = \"m.mps\"\n{more}"));
        let error = Spec::read(path).unwrap_err().to_string();
        assert!(error.ends_with(said), "{error}\n{said}");
    }
    let text = "[problem]\nmodel = \"m.mps\"\n[[soften]]\nrows = [\"equal\", \"band\"]\nover = [1.0, 2.0]\nunder = 4.0\n";
    let spec = Spec::read(file(&dir, "problem.toml", text)).unwrap();
    let soft = spec.problem().soft();
    assert_eq!((&soft.d[..], &soft.alpha[..]), (&[5.0, 2.0, -1.0][..], &[1.0, 2.0, 0.0][..]));
    assert_eq!(soft.under, [4.0, 0.0, 4.0]);
}

/// Two products of two mills that stock, what they cost and what they yield; a range and an equality beside.
const MILLS: &str = "\
NAME          mills
ROWS
 N  cost
 L  stock_east
 L  stock_west
 G  need
 E  even
 L  band
COLUMNS
    east      cost               2.0   stock_east         1.0
    east      need               1.0   even               1.0
    east      band               1.0
    west      cost               3.0   stock_west         1.0
    west      need               0.5   even              -1.0
    west      band               1.0
    buy       cost              20.0   need               1.0
    slack     cost               0.1   even               1.0
RHS
    rhs       stock_east         4.0   stock_west         5.0
    rhs       need               6.0   even               0.5
    rhs       band               9.0
RANGES
    rhs       band               8.0
BOUNDS
 UP bnd       buy                8.0
 LO bnd       slack             -3.0
ENDATA
";

const REPLACED: &str = "[problem]\nmodel = \"mills.mps\"\n\
    [[replace]]\nrows = \"stock_*\"\nlimit = { known = \"*_now\" }\n\
    [[replace]]\nrows = \"need\"\nlimit = { known = \"asked\", factor = 2.0, shift = 1.0 }\n\
    [[replace]]\nvariables = [\"east\", \"west\"]\ncost = { predict = \"price_*\" }\n\
    [[replace]]\nvariables = \"buy\"\nupper = { known = \"most\" }\nlower = { known = \"most\", factor = 0.1 }\n\
    [[replace]]\nrows = [\"need\", \"even\"]\nvariables = [\"west\", \"buy\"]\ncoefficient = { known = \"*_of_*\" }\n";

/// A file with the numbers of the row in it gives the same optimum, also after the problem was written back.
#[test]
fn numbers_of_a_model_come_from_a_table() {
    let dir = tempfile::tempdir().unwrap();
    file(&dir, "mills.mps", MILLS);
    let spec = Spec::read(file(&dir, "problem.toml", REPLACED)).unwrap();
    let header = "stock_east_now,stock_west_now,asked,price_west,price_east,most,need_of_west,need_of_buy,even_of_west\n";
    let rows =
        [[3.0, 4.5, 2.0, 1.5, 2.5, 7.0, 0.75, 1.25, -1.5], [1.0, 5.0, 3.0, 4.0, 1.0, 6.0, 0.5, 1.0, -0.5]];
    let text =
        rows.iter().fold(header.to_owned(), |text, row| text + &row.map(|v| v.to_string()).join(",") + "\n");
    spec.write(dir.path(), "again.toml").unwrap();
    let again = Spec::read(dir.path().join("again.toml")).unwrap();
    for (i, row) in rows.into_iter().enumerate() {
        let [east_now, west_now, asked, west, east, most, need_west, need_buy, even_west] = row;
        let by_hand = [
            ("stock_east         4.0", format!("stock_east {east_now}")),
            ("stock_west         5.0\n", format!("stock_west {west_now}\n")),
            ("need               6.0", format!("need {}", 2.0 * asked + 1.0)),
            ("cost               2.0", format!("cost {east}")),
            ("cost               3.0", format!("cost {west}")),
            ("UP bnd       buy                8.0", format!("UP bnd buy {most}\n LO bnd buy {}", 0.1 * most)),
            ("need               0.5", format!("need {need_west}")),
            ("need               1.0\n    slack", format!("need {need_buy}\n    slack")),
            ("even              -1.0", format!("even {even_west}")),
        ];
        let written = by_hand.iter().fold(MILLS.to_owned(), |text, (from, to)| {
            assert!(text.contains(from), "{from}");
            text.replacen(from, to, 1)
        });
        let expected = Oracle::new(read(&written).unwrap().problem()).solve(&Instance::default()).unwrap();
        for spec in [&spec, &again] {
            let table = ParameterTable::from_csv(text.as_bytes(), "t.csv".as_ref(), spec, &Limits::default());
            let row = table.unwrap().row(i).unwrap();
            let found = Oracle::new(spec.problem()).solve(&row.instance()).unwrap();
            assert!(found.is_optimal(), "row {i}");
            assert!((found.objective - expected.objective).abs() < 1e-9, "row {i}");
        }
    }
    let known: Vec<_> = spec.known().iter().map(|part| (part.key.as_str(), part.columns.join(" "))).collect();
    assert_eq!(known[0], ("replace[0].limit", "stock_east_now stock_west_now".into()));
    assert_eq!(spec.predicted()[0].columns, ["price_east", "price_west"]);
}

/// Rows that are softened, a single column in many places, pieces of one part from two keys: the file that is written back
/// takes the same columns in the same order, so that a model of the one decides with the other.
#[test]
fn columns_are_numbered_as_in_the_file_that_is_written_back() {
    let dir = tempfile::tempdir().unwrap();
    file(&dir, "mills.mps", MILLS);
    let text = "[problem]\nmodel = \"mills.mps\"\n\
        [[replace]]\nvariables = \"*st\"\nupper = { known = \"most_*\" }\n\
        [[replace]]\nvariables = [\"slack\", \"west\"]\ncost = { known = [\"dear\", \"east_now\"] }\n\
        [[replace]]\nvariables = [\"east\", \"buy\"]\ncost = { known = \"dear\", factor = [2, 3] }\n\
        [[replace]]\nrows = [\"even\", \"stock_east\"]\nlimit = { known = [\"evenly\", \"east_now\"] }\n\
        [[replace]]\nrows = [\"band\", \"need\"]\nvariables = [\"west\", \"east\"]\ncoefficient = { predict = \"*_by_*\" }\n\
        [[soften]]\nrows = \"need\"\nunder = { known = \"fine\" }\nlimit = { predict = \"need\" }\n\
        [[soften]]\nrows = \"stock_west\"\nover = { known = \"storage\", factor = { known = \"evenly\" } }\n\
        limit = { known = \"room\" }\n";
    let spec = Spec::read(file(&dir, "problem.toml", text)).unwrap();
    spec.write(dir.path(), "again.toml").unwrap();
    let again = Spec::read(dir.path().join("again.toml")).unwrap();
    let [own, there] = [&spec, &again].map(|spec| {
        let all = spec.quantities().unwrap().unwrap();
        (all.predicted.concat(), all.known.concat(), all.placement)
    });
    let predicted = ["need_by_east", "need_by_west", "need", "band_by_east", "band_by_west"];
    assert_eq!(own.0, predicted);
    let known = ["dear", "east_now", "fine", "room", "storage", "evenly", "most_east", "most_west"];
    assert_eq!(own.1, known);
    assert_eq!((&own.0, &own.1), (&there.0, &there.1));
}

#[test]
fn what_cannot_be_replaced_is_said() {
    let dir = tempfile::tempdir().unwrap();
    file(&dir, "mills.mps", MILLS);
    let known = "{ known = \"k\" }";
    let cases = [
        (format!("rows = \"stok_*\"\nlimit = {known}"), "replace[0].rows: no row of the model fits `stok_*`"),
        (format!("rows = \"band\"\nlimit = {known}"), "replace[0].limit: one of these rows has two limits"),
        (
            format!("rows = \"need\"\ncost = {known}"),
            "replace[0].cost: rows have a `limit`, variables a `cost`, a `lower` and an `upper`, rows and variables together a `coefficient`",
        ),
        ("variables = \"buy\"".to_owned(), "replace[0]: nothing is replaced here"),
        (
            format!("rows = \"stock_east\"\nvariables = \"west\"\ncoefficient = {known}"),
            "replace[0].coefficient: the model has no coefficient of these variables in these rows",
        ),
        (
            "rows = \"need\"\nlimit = { known = \"a_*_*\" }".to_owned(),
            "replace[0].limit.known: `a_*_*` has 2 `*`: one is expected, for the name of each",
        ),
        (
            "rows = \"stock_*\"\nlimit = { known = [\"a\", \"b\", \"c\"] }".to_owned(),
            "replace[0].limit.known: expected 2 columns, or one with a `*`, found 3",
        ),
        (
            format!("rows = \"need\"\nlimit = {known}\n[[replace]]\nrows = \"ne*\"\nlimit = {known}"),
            "replace[1].limit: one of these numbers is replaced twice",
        ),
        (
            format!("rows = \"need\"\nlimit = {known}\n[[soften]]\nrows = \"need\"\nunder = 1"),
            "replace[0].limit: one of these rows is soft",
        ),
    ];
    for (more, said) in cases {
        let path =
            file(&dir, "problem.toml", &format!("[problem]\nmodel = \"mills.mps\"\n[[replace]]\n{more}\n"));
        let error = Spec::read(path).unwrap_err().to_string();
        assert!(error.ends_with(said), "{error}\n{said}");
    }
}

/// The example: on Wednesday a nut costs more than a missing one, and on Tuesday the machine is too small by 3.
#[test]
fn the_plant() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/plant");
    let spec = Spec::read(folder.join("problem.toml")).unwrap();
    let days = spec.read_parameters(folder.join("days.csv")).unwrap();
    let oracle = Oracle::new(spec.problem());
    let costs: Vec<f64> =
        (0..days.len()).map(|i| oracle.solve(&days.row(i).unwrap().instance()).unwrap().objective).collect();
    // Tue: a nut saves 12 − 1 an hour of the machine, a bolt (12 − 2.5)/2: 5 nuts, 2.5 bolts, 1.5 bolts missing.
    let expected = [3.0 * 2.0 + 4.0, 5.0 + 2.5 * 2.5 + 1.5 * 12.0, 2.0 * 2.0 + 6.0 * 12.0];
    for (cost, expected) in costs.iter().zip(expected) {
        assert!((cost - expected).abs() < 1e-9, "{costs:?}");
    }
}

/// 1e20 and more is no limit, of rows as of bounds.
#[test]
fn limits_that_are_none() {
    let text = "ROWS\n N o\n L far\n G near\nCOLUMNS\n x o 1 far 1\n x near 1\nRHS\n far 1e30 near 2\nRANGES\n near 1e25\nENDATA\n";
    let spec = read(text).unwrap();
    let rows = spec.problem().at_most();
    assert_eq!((rows.blocks.len(), rows.blocks[0].name.as_str(), &rows.rhs[..]), (1, "near", &[-2.0][..]));
}

/// max 3x + 2y − ½(x² − 2xy + 3y²) + 7 over rows of every kind, lines broken anywhere.
#[test]
fn an_lp_file_states_the_same() {
    let text = "\\ a comment\nMaximize\n gain: 3 x + 2 y\n  + 4z - 1.5e0 w - [ x^2 - 2 x * y + 3 y * y ] / 2 + 7\n\
        Subject To\n most: x + y + z <= 10 \\ here, too\n least: -x + 2y => -5\n 2 <= x + w <= 8\n same: z\n = 4\n\
        none: x >= -inf\nBounds\n x <= 4\n -5 <= y <= 5\n -inf <= w <= 1e30\n z free\n 3 >= u\n u >= -1\nGenerals\nEnd\n";
    let spec = read_as("model.lp", text).unwrap();
    let problem = spec.problem();
    assert_eq!((problem.sense(), spec.constant()), (Sense::Max, 7.0));
    assert_eq!(problem.variables(), ["x", "y", "z", "w", "u"]);
    assert_eq!(problem.theta(), [3.0, 2.0, 4.0, -1.5, 0.0]);
    let (inf, none) = (f64::INFINITY, f64::NEG_INFINITY);
    assert_eq!(problem.lower(), [0.0, -5.0, none, none, -1.0]);
    assert_eq!(problem.upper(), [4.0, 5.0, inf, inf, 3.0]);
    let q = problem.Q().unwrap();
    assert_eq!(q.row(0).to_vec(5)[..2], [0.5, -0.5]);
    assert_eq!(q.row(1).to_vec(5)[..2], [-0.5, 1.5]);
    let names = problem.at_most().blocks.iter().map(|block| block.name.as_str()).collect::<Vec<_>>();
    assert_eq!(names, ["most", "least", "c3"]);
    assert_eq!(problem.at_most().rhs, [10.0, 5.0, 8.0, -2.0]);
    assert_eq!(problem.equal().rhs, [4.0]);

    // A sign on a line of its own begins the next row, as in files that name no rows.
    let text = "min\n x + y\nst\n x + y >= 2\n -x + y <= 3\n + x + y >= 3\n-3 <= x - y <= 3\nend\n";
    let rows = |text| read_as("m.lp", text).unwrap().problem().at_most().rhs.clone();
    assert_eq!(rows(text), [-2.0, 3.0, -3.0, 3.0, 3.0]);

    // The model of `LP` in the other form, named by a problem file that softens a row.
    let lp = "min obj: -3x - 2y\nst\nc1: x + y <= 4\nc2: x + 3 y <= 6\nbounds\nx <= 3\nend";
    let found = Oracle::new(read_as("m.lp", lp).unwrap().problem()).solve(&Instance::default()).unwrap();
    let expected = Oracle::new(read(LP).unwrap().problem()).solve(&Instance::default()).unwrap();
    assert!((found.objective - expected.objective).abs() < 1e-12);
    let dir = tempfile::tempdir().unwrap();
    file(&dir, "m.lp", lp);
    let softened = "[problem]\nmodel = \"m.lp\"\n[[soften]]\nrows = \"c1\"\nover = 1\n";
    let spec = Spec::read(file(&dir, "p.toml", softened)).unwrap();
    // A unit above c1 costs 1 and y brings 2, up to c2: (3, 1), as x brings 3.
    let found = Oracle::new(spec.problem()).solve(&Instance::default()).unwrap();
    assert!((found.objective + 11.0).abs() < 1e-9, "{}", found.objective);
}

#[test]
fn what_an_lp_file_cannot_say() {
    let model = |rows: &str| format!("min\n o: x + y\nst\n{rows}\nend\n");
    let cases = [
        (String::new(), "m.lp: this is not an LP file: it does not begin with Minimize or Maximize"),
        (
            "max: 3x; c: x <= 4;".into(),
            "m.lp: this is not an LP file: it does not begin with Minimize or Maximize",
        ),
        ("min x st x >= 1".into(), "m.lp: the file is cut off: it has no End"),
        ("min x st x\0 >= 1 end".into(), "m.lp, line 1: a name holds a control character"),
        (
            "min x st x >= 1\nLazy Constraints\nl: x <= 3\nend".into(),
            "m.lp, line 2: lazy constraints are not supported",
        ),
        (
            "min x st x >= 1\nGeneral Constraints\ng: x = MAX ( y , z )\nend".into(),
            "m.lp, line 2: general constraints (max, min, abs, indicators) are not supported",
        ),
        ("min\nst\nend".into(), "m.lp, line 3: the model has no variables"),
        (
            "min x^2 st x >= 1 end".into(),
            "m.lp, line 1: quadratic terms stand in brackets: [ x^2 + 2 x * y ] / 2",
        ),
        ("min [ x^2 ] st x >= 1 end".into(), "m.lp, line 1: `/ 2` is expected after `]`"),
        (
            model("c: [ x^2 ] / 2 <= 3"),
            "m.lp, line 4: quadratic rows are not supported, only a quadratic objective",
        ),
        (model("c: x + x >= 1"), "m.lp, line 4: the variable `x` stands twice in one sum"),
        (model("c: x + 2 >= 1"), "m.lp, line 4: numbers of a row stand on the side without variables"),
        (model("c: x >= 1 + y"), "m.lp, line 4: the variables of a row stand on one side"),
        (model("c: x >= y"), "m.lp, line 4: expected a number, found `y`"),
        (model("c: 3 x y >= 2"), "m.lp, line 4: expected `<=`, `>=` or `=`, found `y`"),
        (model("c: 1 <= x >= 2"), "m.lp, line 4: a range has the form `1 <= … <= 2`"),
        (model("c: x >= 1e30"), "m.lp, line 4: nothing is beyond infinity"),
        (model("c: x >= 1\nc: y >= 1"), "m.lp, line 5: the row `c` is stated twice"),
        (model("bounds\nx <= 3\nx <= 4"), "m.lp, line 6: this bound of `x` is stated twice"),
        (model("bounds\n\nx <= -1"), "m.lp, line 6: `x` has an upper bound below 0 and no lower one"),
        (model("binaries\nx"), "m.lp, line 4: whole-number and semicontinuous variables are not supported"),
        ("min 1e400 x st x >= 1 end".into(), "m.lp, line 1: this number is too large"),
    ];
    for (text, said) in cases {
        assert_eq!(read_as("m.lp", &text).unwrap_err(), said, "{text}");
    }
}
