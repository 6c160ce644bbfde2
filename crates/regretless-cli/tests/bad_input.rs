//! Bad input: every message names the place, says what is expected and what to do; exit code 2, nothing on stdout.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[allow(dead_code, reason = "each test binary uses its own part")]
mod common;

use std::fmt::Write;

use common::Folder;

/// Runs a command that must be refused, and adds its message to the collection.
fn refused(collection: &mut String, case: &str, folder: &Folder, arguments: &str) {
    let ran = folder.run(arguments);
    assert_eq!(ran.code, 2, "{case}: {}{}", ran.stdout, ran.stderr);
    assert_eq!(ran.stdout, "", "{case}");
    let lines: String = ran.stderr.lines().map(|line| line.trim_end().to_owned() + "\n").collect();
    writeln!(collection, "## {case}\n\n{lines}").unwrap();
}

/// Problem files that must be refused.
fn problems(cases: &[(&str, &str)]) -> String {
    let mut collection = String::new();
    for (case, text) in cases {
        refused(&mut collection, case, &Folder::new().with("p.toml", text), "solve p.toml");
    }
    collection
}

#[test]
fn keys_and_types() {
    let messages = problems(&[
        ("empty file", ""),
        ("only comments", "# nothing yet\n\n"),
        ("not TOML", "[problem\nvariables = 2\n"),
        ("a key twice", "[problem]\nvariables = 2\nvariables = 3\n"),
        ("no problem section", "[objective]\nlinear = [1, 2]\n"),
        ("no variables", "[problem]\nname = \"x\"\n"),
        ("misspelt key", "[problem]\nvariables = 2\n[objective]\nliner = [1, 2]\n"),
        (
            "a key by its mathematical name",
            "[problem]\nvariables = 1\n[[soft]]\nrows = [1]\nlimit = 1\nalpha = 2\n",
        ),
        ("unknown key", "[problem]\nvariables = 2\nweather = \"fine\"\n"),
        ("unknown section", "[problem]\nvariables = 2\n[objectives]\nlinear = 1\n"),
        ("unknown key in a source", "[problem]\nvariables = 2\n[objective]\nlinear = { path = \"a.csv\" }\n"),
        (
            "two sources",
            "[problem]\nvariables = 2\n[objective]\nlinear = { file = \"a.csv\", predict = \"b\" }\n",
        ),
        ("a file by its bare name", "[problem]\nvariables = 2\n[objective]\nlinear = \"theta.csv\"\n"),
        ("a number in quotes", "[problem]\nvariables = 2\n[objective]\nlinear = [\"1.5\", 2]\n"),
        ("a word for a number", "[problem]\nvariables = 2\n[objective]\nlinear = [true, 2]\n"),
        ("rows and numbers mixed", "[problem]\nvariables = 2\n[[hard]]\nrows = [1, [1, 2]]\nat_most = 1\n"),
        ("rows as text", "[problem]\nvariables = 2\n[[hard]]\nrows = \"rows.npy\"\nat_most = 1\n"),
        ("bad sense", "[problem]\nvariables = 2\nsense = \"maximise\"\n[objective]\nlinear = 1\n"),
        ("negative number of variables", "[problem]\nvariables = -2\n"),
        ("no limit", "[problem]\nvariables = 1\n[[soft]]\nrows = [1]\nover = 1\n"),
        ("no price", "[problem]\nvariables = 1\n[[soft]]\nrows = [1]\nlimit = 1\n"),
        ("hard without a side", "[problem]\nvariables = 1\n[[hard]]\nname = \"a\"\nrows = [1]\n"),
        ("hard with both sides", "[problem]\nvariables = 1\n[[hard]]\nrows = [1]\nat_most = 1\nequals = 1\n"),
        ("predict without columns", "[problem]\nvariables = 1\n[objective]\nlinear = { predict = [] }\n"),
        (
            "bad rule",
            "[problem]\nvariables = 1\n[objective]\nlinear = 1\n[surrogate]\nmultipliers = \"duel\"\n",
        ),
        (
            "factor for theory",
            "[problem]\nvariables = 1\n[objective]\nlinear = 1\n[surrogate]\nmultipliers = { rule = \"theory\", factor = 2 }\n",
        ),
    ]);
    insta::assert_snapshot!(messages);
}

#[test]
fn numbers_and_shapes() {
    let messages = problems(&[
        ("empty problem", "[problem]\nvariables = 2\n"),
        ("no variables at all", "[problem]\nvariables = []\n[objective]\nlinear = 1\n"),
        ("zero variables", "[problem]\nvariables = 0\n[objective]\nlinear = 1\n"),
        ("a billion variables", "[problem]\nvariables = 1000000000\n[objective]\nlinear = 1\n"),
        (
            "a huge predicted matrix",
            "[problem]\nvariables = 10000\n[objective]\nquadratic = { predict = \"q*\" }\n",
        ),
        ("wrong length", "[problem]\nvariables = [\"a\", \"b\"]\n[objective]\nlinear = [1, 2, 3]\n"),
        (
            "short row",
            "[problem]\nvariables = 3\n[[hard]]\nrows = [\n  [1, 2, 3],\n  [1, 2],\n]\nat_most = [1, 2]\n",
        ),
        ("long single row", "[problem]\nvariables = 1\n[[hard]]\nrows = [1, 2, 3]\nat_most = 1\n"),
        ("no rows", "[problem]\nvariables = 1\n[[hard]]\nrows = []\nat_most = 1\n"),
        (
            "wrong number of limits",
            "[problem]\nvariables = 2\n[[soft]]\nrows = [1, 1]\nlimit = [1, 2]\nover = 1\n",
        ),
        (
            "wrong number of prices",
            "[problem]\nvariables = 2\n[[soft]]\nrows = [1, 1]\nlimit = 1\nover = []\n",
        ),
        ("Q of the wrong shape", "[problem]\nvariables = 2\n[objective]\nquadratic = [[1, 0]]\n"),
        (
            "rows not told",
            "[problem]\nvariables = 2\n[[soft]]\nrows = { predict = \"c*\" }\nlimit = 1\nover = 1\n",
        ),
        ("NaN", "[problem]\nvariables = 2\n[objective]\nlinear = [1, nan]\n"),
        ("infinity", "[problem]\nvariables = 2\n[[hard]]\nrows = [[1, -inf]]\nat_most = 1\n"),
        ("overflow", "[problem]\nvariables = 1\n[objective]\nlinear = 1e999\n"),
        ("integer overflow", "[problem]\nvariables = 1\n[objective]\nlinear = 99999999999999999999999\n"),
        ("negative alpha", "[problem]\nvariables = 1\n[[soft]]\nrows = [1]\nlimit = 1\nover = -0.5\n"),
        (
            "negative alpha in a list",
            "[problem]\nvariables = 1\n[[soft]]\nrows = [[1], [2]]\nlimit = 1\nover = 1\nunder = [0, -2]\n",
        ),
        (
            "Q not PSD",
            "[problem]\nvariables = 2\n[objective]\nlinear = [1, 1]\nquadratic = [\n  [1, 2],\n  [2, 1],\n]\n",
        ),
        ("Q not symmetric", "[problem]\nvariables = 2\n[objective]\nquadratic = [[1, 2], [0, 1]]\n"),
        (
            "lower above upper",
            "[problem]\nvariables = [\"a\", \"b\"]\n[objective]\nlinear = 1\n[bounds]\nlower = 2\nupper = [3, 1]\n",
        ),
        (
            "negative upper bound",
            "[problem]\nvariables = [\"a\", \"b\"]\n[objective]\nlinear = 1\n[bounds]\nupper = [3, -1]\n",
        ),
        ("lower bound of inf", "[problem]\nvariables = 1\n[objective]\nlinear = 1\n[bounds]\nlower = inf\n"),
        ("a variable twice", "[problem]\nvariables = [\"a\", \"b\", \"a\"]\n[objective]\nlinear = 1\n"),
        (
            "a block twice",
            "[problem]\nvariables = 1\n[[soft]]\nname = \"cap\"\nrows = [1]\nlimit = 1\nover = 1\n[[hard]]\nname = \"cap\"\nrows = [1]\nat_most = 1\n",
        ),
        ("a blank name", "[problem]\nvariables = [\"a\", \" \"]\n[objective]\nlinear = 1\n"),
        ("a name with a line break", "[problem]\nname = \"a\\nb\"\nvariables = 1\n[objective]\nlinear = 1\n"),
        ("k of 0", "[problem]\nvariables = 1\n[objective]\nlinear = 1\n[surrogate]\nk = 0\n"),
        (
            "negative penalty",
            "[problem]\nvariables = 1\n[objective]\nlinear = 1\n[surrogate]\nmultipliers = -3\n",
        ),
    ]);
    insta::assert_snapshot!(messages);
}

#[test]
fn files() {
    let mut all = String::new();
    refused(&mut all, "missing problem file", &Folder::new(), "solve nothing.toml");
    let folder = Folder::new();
    std::fs::create_dir(folder.path().join("p")).unwrap();
    refused(&mut all, "a folder", &folder.with("p/problem.toml", ""), "solve p");
    refused(&mut all, "not UTF-8", &Folder::new().with("p.toml", b"[problem]\n\xff\xfe"), "solve p.toml");
    let long = format!("[problem]\nvariables = 1\n[objective]\nlinear = [1, {}]\n", "7, ".repeat(500));
    refused(&mut all, "a long line is not quoted", &Folder::new().with("p.toml", long), "solve p.toml");

    let naming =
        |source: &str| format!("[problem]\nvariables = 2\n[objective]\nlinear = {{ file = \"{source}\" }}\n");
    let with = |source: &str| Folder::new().with("p.toml", naming(source));
    refused(&mut all, "missing data file", &with("theta.csv"), "solve p.toml");
    refused(&mut all, "unknown format", &with("theta.xlsx").with("theta.xlsx", ""), "solve p.toml");
    refused(&mut all, "a device", &with("/dev/zero"), "solve p.toml");
    for (case, text) in [
        ("ragged CSV", "1,2\n3\n"),
        ("not a number", "1\nx\n"),
        ("semicolons", "1;2\n3;4\n"),
        ("empty cell", "1,\n"),
        ("empty CSV", ""),
        ("header only", "a,b\n"),
        ("NaN in CSV", "a\n\n1\nnan\n"),
        ("matrix for a vector", "1,2\n3,4\n"),
        ("too many entries", "1\n2\n3\n"),
        ("open quote", "\"1,2\n"),
    ] {
        refused(&mut all, case, &with("theta.csv").with("theta.csv", text), "solve p.toml");
    }
    let npy = |shape: &str, data: &[u8]| {
        let header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}\n");
        [b"\x93NUMPY\x01\x00", &(header.len() as u16).to_le_bytes()[..], header.as_bytes(), data].concat()
    };
    let nan = [f64::NAN.to_le_bytes(), 1.0_f64.to_le_bytes()].concat();
    for (case, bytes) in [
        ("not NPY", b"1,2\n".to_vec()),
        ("NPY that claims too much", npy("(100000, 1000000000)", b"")),
        ("NPY that is cut off", npy("(2,)", b"1234")),
        ("NPY with three dimensions", npy("(1, 1, 2)", &nan)),
        ("NaN in NPY", npy("(2,)", &nan)),
    ] {
        refused(&mut all, case, &with("theta.npy").with("theta.npy", bytes), "solve p.toml");
    }
    let rows = "[problem]\nvariables = 2\n[[hard]]\nrows = { file = \"rows.csv\" }\nat_most = [1]\n";
    let folder = Folder::new().with("p.toml", rows).with("rows.csv", "1,2,3\n4,5,6\n");
    refused(&mut all, "matrix with another number of columns", &folder, "solve p.toml");
    let folder = Folder::new().with("p.toml", rows).with("rows.csv", "1,2\n4,5\n");
    refused(&mut all, "matrix with another number of rows", &folder, "solve p.toml");
    insta::assert_snapshot!(all);
}

#[test]
fn parameter_tables() {
    let farm = "[problem]\nvariables = [\"a\", \"b\"]\n[objective]\nlinear = { predict = \"price_*\" }\n[[soft]]\nrows = \
                [1, 1]\nlimit = 1\nover = { predict = \"alpha\" }\n[bounds]\nupper = 1\n";
    let mut all = String::new();
    let folder = Folder::new().with("p.toml", farm);
    refused(&mut all, "no table", &folder, "solve p.toml");
    refused(&mut all, "missing table", &folder, "solve p.toml --params t.csv");
    for (case, text) in [
        ("empty table", ""),
        ("no rows", "price_a,price_b,alpha\n"),
        ("no header", "1,2,3\n"),
        ("no such column", "price_a,price_b,alhpa\n1,2,3\n"),
        ("too few columns", "price_a,alpha\n1,2\n"),
        ("column twice", "price_a,price_b,alpha,alpha\n1,2,3,4\n"),
        ("not a number", "day,price_a,price_b,alpha\nmonday,1,two,3\n"),
        ("NaN", "price_a,price_b,alpha\n1,2,3\n\n1,NaN,3\n"),
        ("infinity", "price_a,price_b,alpha\n1,inf,3\n"),
        ("empty cell", "price_a,price_b,alpha\n1,,3\n"),
        ("ragged", "price_a,price_b,alpha\n1,2,3\n1,2\n"),
        ("not text", "price_a,price_b,alpha\n1,2,\u{1}\n"),
    ] {
        let folder = Folder::new().with("p.toml", farm).with("t.csv", text);
        refused(&mut all, case, &folder, "solve p.toml --params t.csv");
    }
    let folder = Folder::new().with("p.toml", farm).with("t.csv", "price_a,price_b,alpha\n1,2,3\n");
    refused(&mut all, "no such row", &folder, "solve p.toml --params t.csv --row 1");
    refused(&mut all, "check: missing table", &folder, "check p.toml --data u.csv");
    let known = "[problem]\nvariables = 1\n[objective]\nlinear = 1\n[bounds]\nupper = 1\n";
    let folder = Folder::new().with("p.toml", known).with("t.csv", "a\n1\n");
    refused(&mut all, "nothing predicted", &folder, "solve p.toml --params t.csv");
    let quadratic = "[problem]\nvariables = 2\n[objective]\nquadratic = { predict = \"q*\" }\n";
    let folder = Folder::new().with("p.toml", quadratic).with("t.csv", "q1,q2,q3,q4\n1,0,0,1\n1,2,2,1\n");
    refused(&mut all, "predicted Q not PSD", &folder, "solve p.toml --params t.csv");
    refused(&mut all, "check: predicted Q not PSD", &folder, "check p.toml --data t.csv");
    let bounds = "[problem]\nvariables = [\"a\"]\n[objective]\nlinear = 1\n[bounds]\nlower = 2\nupper = { predict = \"u\" }\n";
    let folder = Folder::new().with("p.toml", bounds).with("t.csv", "u\n3\n1\n");
    refused(&mut all, "predicted bound below the other", &folder, "solve p.toml --params t.csv");
    insta::assert_snapshot!(all);
}

#[test]
fn huge_files_are_refused_unread() {
    let folder = Folder::new();
    // Sparse files: they take no room, but reading them would take minutes and gigabytes.
    let sparse = |name: &str, bytes: u64| {
        std::fs::File::create(folder.path().join(name)).unwrap().set_len(bytes).unwrap();
    };
    sparse("p.toml", 2 << 30);
    sparse("theta.csv", 5 << 30);
    std::fs::write(
        folder.path().join("q.toml"),
        "[problem]\nvariables = 2\n[objective]\nlinear = { file = \"theta.csv\" }\n",
    )
    .unwrap();
    let mut all = String::new();
    refused(&mut all, "a 2 GB problem file", &folder, "solve p.toml");
    refused(&mut all, "a 5 GB table", &folder, "solve q.toml");
    insta::assert_snapshot!(all);
}

/// A sum of such numbers is infinite, and nothing is unbounded.
#[test]
fn numbers_that_are_too_large_to_add_up() {
    let mut table = "heat,p_a,p_b\n".to_owned();
    for i in 0..40_u32 {
        let heat = f64::from(i * 7 % 11);
        let price = if i == 8 { "1e308".to_owned() } else { (1.0 + heat).to_string() };
        writeln!(table, "{heat},{price},{}", 12.0 - heat).unwrap();
    }
    let problem = "[problem]\nvariables = [\"a\", \"b\"]\n[objective]\nlinear = { predict = \"p_*\" }\n\
        [[hard]]\nrows = [[1.0, 1.0]]\nat_most = 4.0\n[data]\nfile = \"t.csv\"\n";
    let folder = Folder::new().with("p.toml", problem).with("t.csv", &table);
    let ran = folder.run("train p.toml --method l2 --out run");
    assert_eq!(ran.code, 2, "{}", ran.stdout);
    let said = "t.csv, line 10: a price of 1e308 is too large to be added up";
    assert!(ran.stderr.split_whitespace().collect::<Vec<_>>().join(" ").contains(said), "{}", ran.stderr);
}
