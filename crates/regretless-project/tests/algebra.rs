//! Problems in algebra against the same problems as matrices, and what is refused.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use regretless_project::{Limits, Spec};

fn read(text: &str) -> Spec {
    Spec::parse(text, "p.toml", &Limits::default())
        .unwrap_or_else(|e| panic!("{e} ({:?})\nin\n{text}", e.hint))
}

/// `line:column: key: what`, and the hint.
fn refused(text: &str) -> (String, String) {
    let error = Spec::parse(text, "p.toml", &Limits::default()).map(|_| ()).unwrap_err();
    (error.to_string(), error.hint.clone().unwrap_or_default())
}

const BATTERY: &str = r#"
[sets]
hour = 3
[quantities]
efficiency = 0.9
price = { for = "hour", value = [5.0, 1.0, 4.0] }
[variables]
charge = { for = "hour", upper = 1.0 }
discharge = { for = "hour", upper = 1.0 }
stored = { for = "hour", upper = 4.0, before = 2.0 }
[objective]
maximize = "sum(h in hour: price[h] * (discharge[h] - charge[h]) - 0.1 * (charge[h] + discharge[h])^2)"
[[hard]]
name = "balance"
for = "h in hour"
row = "stored[h] = stored[h-1] + efficiency * charge[h] - discharge[h] / efficiency"
[[soft]]
name = "reserve"
row = "1 <= stored[2] <= 3"
over = 0.5
under = "2 * price[0]"
"#;

#[test]
fn a_battery_is_its_matrices() {
    let spec = read(BATTERY);
    let problem = spec.problem();
    let names = ["charge[0]", "charge[1]", "charge[2]", "discharge[0]", "discharge[1]", "discharge[2]"];
    assert_eq!(problem.variables()[..6], names);
    assert_eq!(problem.theta(), [-5.0, -1.0, -4.0, 5.0, 1.0, 4.0, 0.0, 0.0, 0.0]);
    assert_eq!(problem.upper(), [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 4.0, 4.0, 4.0]);
    let q = problem.Q().unwrap().view().dense();
    assert!((0..9).all(|i| (0..9).all(|j| q[9 * i + j] == if i < 6 && j < 6 && i % 3 == j % 3 { 0.1 } else { 0.0 })));
    let equal = problem.equal();
    let d = -1.0 / 0.9_f64;
    for (h, row) in (0..3).map(|h| (h, equal.rows.row(h).to_vec(9))) {
        let mut expected = [0.0; 9];
        (expected[h], expected[3 + h], expected[6 + h]) = (-0.9, -d, 1.0);
        if h > 0 {
            expected[5 + h] = -1.0;
        }
        assert_eq!(row, expected);
    }
    assert_eq!(equal.rhs, [2.0, 0.0, 0.0]);
    assert_eq!(
        equal.blocks.iter().map(|b| b.name.as_str()).collect::<Vec<_>>(),
        ["balance[0]", "balance[1]", "balance[2]"]
    );
    // A range is two rows: x ≥ 1 costs below, x ≤ 3 above.
    let soft = problem.soft();
    assert_eq!(
        (&soft.d[..], &soft.alpha[..], &soft.under[..]),
        (&[1.0, 3.0][..], &[0.0, 0.5][..], &[10.0, 0.0][..])
    );
    assert_eq!(soft.C.row(0).get(8), 1.0);
}

#[test]
fn a_statement_is_shown_in_its_own_words() {
    let shown = read(BATTERY).expansion(None).unwrap();
    let balance = &shown.rows[1];
    assert_eq!((balance.name.as_str(), balance.count), ("balance", 3));
    assert_eq!(balance.first.symbols, "-0.9*charge[0] + 1.11111*discharge[0] + stored[0] = 2");
    assert_eq!(shown.rows[0].first.symbols, "stored[2] >= 1, under 10");
    assert_eq!((shown.objective.linear, shown.objective.quadratic), (6, 9));
    assert_eq!(shown.variables[2].last, "stored[2]");
}

#[test]
fn networks_are_sets_of_pairs() {
    let spec = read(
        r#"
[sets]
node = ["mill", "hub", "shop"]
arc = [["mill", "hub"], ["hub", "shop"], ["mill", "shop"]]
[quantities]
cost = { for = "arc", value = [1.0, 1.0, 3.0] }
supply = { for = "node", value = { mill = 5.0, hub = 0.0, shop = -4.0 } }
[variables]
flow = { for = "(i, j) in arc", upper = "2 * cost[i, j]" }
[objective]
minimize = "sum((i, j) in arc: cost[i, j] * flow[i, j])"
[[hard]]
name = "conserved"
for = "n in node"
row = "sum((n, j) in arc: flow[n, j]) - sum((i, n) in arc: flow[i, n]) <= supply[n]"
"#,
    );
    let problem = spec.problem();
    assert_eq!(problem.variables(), ["flow[mill,hub]", "flow[hub,shop]", "flow[mill,shop]"]);
    assert_eq!(problem.upper(), [2.0, 2.0, 6.0]);
    let rows: Vec<Vec<f64>> = (0..3).map(|i| problem.at_most().rows.row(i).to_vec(3)).collect();
    assert_eq!(rows, [[1.0, 0.0, 1.0], [-1.0, 1.0, 0.0], [0.0, -1.0, -1.0]]);
    assert_eq!(problem.at_most().rhs, [5.0, 0.0, -4.0]);
}

#[test]
fn what_a_sum_lacks_is_said() {
    let hint = |sum: &str| {
        let text = format!(
            "[sets]\nh = 3\nroad = [[\"a\", \"b\"]]\n[variables]\nx = {{ for = \"h\" }}\nflow = {{ for = \"road\" }}\n\
             [objective]\nminimize = \"{sum}\""
        );
        refused(&text).1
    };
    for sum in ["sum(2 * x)", "sum(x)", "sum(x[i])", "sum(i in h, 2 * x[i])", "sum(i in h 2 * x[i])"] {
        assert_eq!(hint(sum), "a sum says first what it runs over: sum(h in hour: 2 * x[h])", "{sum}");
    }
    assert_eq!(hint("sum(i, j in road: flow[i, j])"), "indices of pairs stand in brackets: (i, j) in road");
}

#[test]
fn whole_numbers_stand_in_pairs() {
    let spec = read(
        r#"
[sets]
hour = [14, 15]
covers = [["early", 14], ["early", 15], ["late", 15]]
[variables]
staff = { for = "covers" }
[objective]
minimize = "sum((s, h) in covers: staff[s, h])"
[[hard]]
for = "h in hour"
row = "sum((s, h) in covers: staff[s, h]) >= 1"
"#,
    );
    let at_most = spec.problem().at_most();
    let rows: Vec<Vec<f64>> = (0..2).map(|i| at_most.rows.row(i).to_vec(3)).collect();
    assert_eq!(rows, [[-1.0, 0.0, 0.0], [0.0, -1.0, -1.0]]);
    let (said, at) = refused("[sets]\npair = [[\"a\", 1.5]]\n[variables]\nx = {}");
    assert!(said.contains("a whole number, or a name in quotes"), "{said} {at}");
}

#[test]
fn sets_and_filters() {
    let spec = read(
        r#"
[sets]
hour = "08..11"
unit = ["gas", "coal"]
[quantities]
now = { for = "unit", value = [3.0, 4.0] }
[variables]
output = { for = "u in unit, h in hour", before = "now[u]", after = 0.0 }
cyc = { for = "hour", cyclic = true }
[objective]
minimize = "sum(u in unit, h in hour if h > 08 and u != 'coal': output[u, h]) + cyc[08]"
[[hard]]
name = "ramp"
for = "u in unit, h in hour"
row = "-2 <= output[u, h] - output[u, h-1] <= 2"
[[hard]]
name = "last"
for = "h in hour if h >= 10"
row = "output['gas', h+1] + cyc[h+1] >= h_free"
[[hard]]
name = "x"
row = "cyc[08] <= 1"
"#
        .replace("h_free", "0.5")
        .as_str(),
    );
    let problem = spec.problem();
    assert_eq!(problem.variables()[0], "output[gas,08]");
    let theta = problem.theta();
    assert_eq!(theta, [0.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]);
    let at_most = problem.at_most();
    // ramp[gas,08]: −output ≤ 2 − 3 and output ≤ 2 + 3; the block has both.
    assert_eq!(at_most.blocks[0].rows, 0..2);
    assert_eq!(at_most.rhs[..4], [-1.0, 5.0, 2.0, 2.0]);
    // last[11]: after the last hour output is 0, and the hour after it is the first.
    let last = at_most.blocks.iter().find(|b| b.name == "last[11]").unwrap().rows.start;
    assert_eq!(at_most.rows.row(last).iter().filter(|(_, a)| *a != 0.0).collect::<Vec<_>>(), [(8, -1.0)]);
    assert_eq!(at_most.rhs[last], -0.5);
}

#[test]
fn what_cannot_be_said_is_refused_at_its_place() {
    let file = |objective: &str, row: &str| {
        format!(
            "[sets]\nhour = 3\n[quantities]\np = {{ for = \"hour\", predict = \"p_*\" }}\nk = {{ known = \"k\" }}\n[variables]\nx = {{ for = \"hour\" }}\ny = {{}}\n[objective]\nmaximize = \"{objective}\"\n[[hard]]\nfor = \"h in hour\"\nrow = \"{row}\"\n"
        )
    };
    let good = "sum(h in hour: p[h] * x[h])";
    for (objective, row, message, hint) in [
        (
            good,
            "x[h] * y <= 1",
            "p.toml:13:8: hard[0].row: two variables are multiplied, and rows are linear",
            "objective only",
        ),
        (good, "x[h] / y <= 1", "p.toml:13:15: hard[0].row: this divides by a variable", "x <= 2 * y"),
        (
            good,
            "x[h] / k <= 1",
            "p.toml:13:15: hard[0].row: this divides by a number that differs",
            "reciprocal",
        ),
        (
            good,
            "x[h-1] <= 1",
            "p.toml:13:8: hard[0].row: this is `x` before the first member of `hour` where h = 0",
            "before = 0.0",
        ),
        (
            good,
            "x[h] < 1",
            "p.toml:13:13: hard[0].row: expected `<=`, `>=` or `=`, but `<` stands here",
            "write <=",
        ),
        (good, "x[h] == 1", "p.toml:13:13: hard[0].row: expected", "one sign"),
        (good, "2x[h] <= 1", "p.toml:13:8: hard[0].row: a number and a name stand together", "2 * …"),
        (good, "max(x[h], 0) <= 1", "p.toml:13:8: hard[0].row: there is no function `max`", "[[soft]]"),
        (good, "z[h] <= 1", "p.toml:13:8: hard[0].row: there is no variable or quantity `z`", "[variables]"),
        (
            good,
            "x <= 1",
            "p.toml:13:8: hard[0].row: `x` has 1 index (for hour), and none stands in brackets",
            "",
        ),
        (good, "x[0] + h <= 1", "p.toml:13:15: hard[0].row: `h` is an index, not a number", "price[h]"),
        (good, "x[7] <= 1", "p.toml:13:10: hard[0].row: no set has a member `7`", ""),
        (good, "k <= 1", "p.toml:13:8: hard[0].row: this row has no variable", ""),
        (good, "x[h] <= 1 <= y", "p.toml:0", ""),
        (
            "p[0] * p[1] * x[0]",
            "x[h] <= 1",
            "p.toml:10:13: objective.maximize: two predicted numbers are multiplied, `p[0]` and `p[1]`",
            "column of its own",
        ),
        (
            "x[0]^2 * y",
            "x[h] <= 1",
            "p.toml:10:13: objective.maximize: more than two variables",
            "convex quadratic",
        ),
        ("x[0]^3", "x[h] <= 1", "p.toml:10:18: objective.maximize: only squares", ""),
        (
            "sum(h in hour: p[h] * x[h]) + y^2",
            "x[h] <= 1",
            "p.toml:10:12: objective.maximize: ",
            "taken from a gain",
        ),
        (
            "sum(h in hours: x[h])",
            "x[h] <= 1",
            "p.toml:10:17: objective.maximize: there is no set `hours`",
            "`hour`",
        ),
        ("p[0] * x[0]", "x[h] <= 1", "p.toml:4:5: quantities.p: `p[1]` is predicted, and neither", ""),
        (
            "sum(h in hour: p[h] * x[h] + p[h])",
            "x[h] <= 1",
            "p.toml:10:13: objective.maximize: `p[0]` stands here without a variable",
            "leave it out",
        ),
    ] {
        if message == "p.toml:0" {
            read(&file(objective, row));
            continue;
        }
        let (said, hinted) = refused(&file(objective, row));
        assert!(said.starts_with(message), "{objective} | {row}:\n{said}\nexpected\n{message}");
        assert!(hinted.contains(hint), "{objective} | {row}: {hinted}");
    }
}

#[test]
fn hostile_sizes_are_refused_before_they_are_made() {
    for (text, what) in [
        ("[sets]\nh = 9000000000000\n[variables]\nx = {}", "entries and the limit is 1048576"),
        ("[sets]\nh = \"1..99999999999\"\n[variables]\nx = {}", "entries and the limit is 1048576"),
        ("[sets]\nh = 100000\n[variables]\nx = { for = \"h, h, h\" }", "variables, and the limit is 1000000"),
        (
            "[sets]\nh = 100000\n[quantities]\nq = { for = \"h, h\", value = 1 }\n[variables]\nx = {}",
            "entries and the limit",
        ),
        (
            "[sets]\nh = 100000\n[quantities]\nq = { for = \"h, h\", predict = \"a*b*\" }\n[variables]\nx = {}",
            "entries and the limit",
        ),
        (
            "[sets]\nh = 10000\n[variables]\nx = {}\n[objective]\nmaximize = \"sum(a in h, b in h, c in h if a = b and b != c: x)\"",
            "more than the limit of 1048576 terms",
        ),
        (
            "[sets]\nh = 9000\n[variables]\nx = { for = \"h\" }\n[objective]\nminimize = \"sum(a in h: x[a])^2\"",
            "more than the limit of 1048576 terms",
        ),
        (
            "[sets]\nk = 4000\n[quantities]\na = { for = \"k\", known = \"a*\" }\nb = { for = \"k\", known = \"b*\" }\n[variables]\nx = {}\n[objective]\nminimize = \"sum(i in k: a[i]) * sum(i in k: b[i]) * x\"",
            "more than the limit of 1048576 terms",
        ),
        (
            "[sets]\nh = 9000\n[variables]\nx = { for = \"h\" }\n[objective]\nminimize = \"x[0]\"\n[[hard]]\nfor = \"a in h, b in h\"\nrow = \"x[a] <= x[b] + 2 * x[a]\"",
            "rows × 9000 variables",
        ),
    ] {
        let (said, _) = refused(text);
        assert!(said.contains(what), "{text}:\n{said}");
    }
    let deep = |open: &str, close: &str, n: usize| {
        let (open, close) = (open.repeat(n), close.repeat(n));
        format!("[variables]\nx = {{}}\n[objective]\nminimize = \"{open}x{close}\"")
    };
    for text in
        [deep("(", ")", 30_000), deep("-", "", 60_000), deep("sum(", ")", 10_000), deep("x*(", ")", 10_000)]
    {
        let (said, _) = refused(&text);
        assert!(said.contains("brackets within brackets") || said.contains("expected"), "{said}");
    }
}

#[test]
fn soft_rows_have_the_prices_of_their_sides() {
    let file =
        |soft: &str| format!("[variables]\nx = {{}}\n[objective]\nminimize = \"x\"\n[[soft]]\n{soft}\n");
    // 2 <= x reads x >= 2, so it is the price of a unit below that it has.
    let spec = read(&file("row = \"2 <= x\"\nunder = 3.0"));
    let soft = spec.problem().soft();
    assert_eq!((soft.d[0], soft.alpha[0], soft.under[0], soft.C.row(0).get(0)), (2.0, 0.0, 3.0, 1.0));
    for (soft, message) in [
        (
            "row = \"2 <= x\"\nover = 3.0",
            "p.toml:5:1: soft[0]: a soft row >= needs the price of a unit, `under`",
        ),
        (
            "row = \"x <= 2\"\nunder = 3.0",
            "p.toml:5:1: soft[0]: a soft row <= needs the price of a unit, `over`",
        ),
        (
            "row = \"x <= 2\"\nover = 1\nunder = 3.0",
            "p.toml:8:9: soft[0].under: a soft row <= has no side for `under`",
        ),
        ("row = \"x = 2\"", "p.toml:5:1: soft[0]: a soft row = needs the price of a unit, `over` or `under`"),
        ("row = \"1 <= x <= 2\"\nover = 1", "p.toml:5:1: soft[0]: a soft row with two limits needs"),
        ("row = \"x <= 2\"\nover = -1", "p.toml:7:8: soft[0].over: the price -1 is negative"),
    ] {
        let (said, _) = refused(&file(soft));
        assert!(said.starts_with(message), "{said}\nexpected\n{message}");
    }
}

const PLANT: &str = r#"
[problem]
name = "plant"
[sets]
unit = { file = "units.csv" }
road = { file = "roads.csv", key = ["from", "to"] }
[quantities]
capacity = { for = "unit", file = "units.csv" }
toll = { for = "road", file = "roads.csv", column = "cost" }
load = { for = "unit", predict = "load_*" }
open = { for = "road", known = "open_*_*" }
[variables]
output = { for = "u in unit", upper = "capacity[u]" }
flow = { for = "(i, j) in road", upper = "9 * open[i, j]", lower = -inf }
spare = {}
[objective]
minimize = "sum(u in unit: 2 * output[u]) + sum((i, j) in road: toll[i, j] * flow[i, j]^2) + 0.1 * spare"
[[soft]]
name = "load"
for = "u in unit"
row = "output[u] + sum((i, u) in road: flow[i, u]) = load[u]"
over = 0.5
under = "capacity[u]"
[[hard]]
for = "(i, j) in road if i != 'coal'"
row = "-1 <= flow[i, j] - spare <= open[i, j]"
"#;

fn plant(units: &str, roads: &str) -> (tempfile::TempDir, std::result::Result<Spec, String>) {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in [("units.csv", units), ("roads.csv", roads), ("p.toml", PLANT)] {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    let spec = Spec::read(folder.path().join("p.toml"));
    let path = format!("{}/", folder.path().display());
    (folder, spec.map_err(|e| e.to_string().replace(&path, "")))
}

#[test]
fn tables_are_found_by_their_keys() {
    let units = "unit,kind,capacity\ngas,a,5\ncoal,b,7\n";
    let roads = "cost,to,from\n1,coal,gas\n3,gas,coal\n";
    let (_folder, spec) = plant(units, roads);
    let problem = spec.unwrap();
    let problem = problem.problem();
    assert_eq!(
        problem.variables(),
        ["output[gas]", "output[coal]", "flow[gas,coal]", "flow[coal,gas]", "spare"]
    );
    assert_eq!(problem.upper()[..2], [5.0, 7.0]);
    assert_eq!(problem.Q().unwrap().row(3).get(3), 3.0);
    for (units, roads, message) in [
        ("unit,capacity\ngas,5\ngas,6\n", roads, "units.csv, line 3: the number for `gas` is stated twice"),
        ("unit,capacity\ngas,x\n", roads, "units.csv, line 2, column 2 (`capacity`): `x` is not a number"),
        ("unit,power\ngas,5\n", roads, "units.csv, line 1: no column of the table fits `capacity`"),
        (units, "cost,to,from\n", "p.toml:6:8: sets.road: the set has no members"),
    ] {
        let (_folder, spec) = plant(units, roads);
        let said = spec.map(|_| ()).unwrap_err();
        assert!(said.starts_with(message), "{said}\nexpected\n{message}");
    }
}

#[test]
fn what_is_written_back_needs_no_files_and_is_the_same() {
    let (_folder, spec) = plant("unit,capacity\ngas,5\ncoal,7\n", "cost,to,from\n1,coal,gas\n3,gas,coal\n");
    let spec = spec.unwrap();
    let other = tempfile::tempdir().unwrap();
    spec.write(other.path(), "config.toml").unwrap();
    let again = Spec::read(other.path().join("config.toml")).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(again.name(), Some("plant"));
    assert_eq!(again.placed(), spec.placed());
    let (a, b) = (spec.problem(), again.problem());
    assert_eq!(
        (a.variables(), a.theta(), a.lower(), a.upper()),
        (b.variables(), b.theta(), b.lower(), b.upper())
    );
    assert_eq!((a.Q(), &a.soft().C, &a.soft().d), (b.Q(), &b.soft().C, &b.soft().d));
    assert_eq!((&a.at_most().rows, &a.at_most().rhs), (&b.at_most().rows, &b.at_most().rhs));
    assert_eq!(a.at_most().blocks, b.at_most().blocks);
}

/// What a variable is before its set, where another index is shifted too: by that index as it is meant.
#[test]
fn values_before_a_set_know_the_other_indices_shifted() {
    let text = |row: &str| {
        format!(
            "[sets]\nu = 3\nh = 2\n[quantities]\nstart = {{ for = \"u\", value = [10.0, 20.0, 30.0] }}\n[variables]\n\
             x = {{ for = \"i in u, t in h\", before = \"start[i]\" }}\n[objective]\nminimize = \"x[0,0]\"\n[[hard]]\n\
             for = \"i in u, t in h if i = 0 and t = 0\"\nrow = \"{row}\"\n"
        )
    };
    assert_eq!(read(&text("x[1,1] = x[i+1,t-1]")).problem().equal().rhs, [20.0]);
    assert_eq!(read(&text("x[1,1] = x[i+2,t-1]")).problem().equal().rhs, [30.0]);
    let (said, _) = refused(&text("x[1,1] = x[i+3,t-1]"));
    assert!(said.contains("this is `x` after the last member of `u`"), "{said}");
}

#[test]
fn indices_stand_once_and_keep_their_order_in_pairs() {
    let text = |variable: &str, row: &str| {
        format!(
            "[sets]\ns = 3\narc = [[\"0\", \"1\"], [\"1\", \"2\"], [\"2\", \"0\"]]\n[quantities]\ng = {{ for = \"s\", \
             value = [1.0, 2.0, 4.0] }}\n[variables]\nx = {{ for = \"{variable}\" }}\n[objective]\nminimize = \"x['0','1']\"\n\
             [[hard]]\nrow = \"{row}\"\n"
        )
    };
    let read = |row: &str| read(&text("(i, j) in arc", row));
    // An index that picks members of a set of pairs may be compared by its place.
    assert_eq!(
        read("x['0','1'] <= sum(i in s, (i, j) in arc if i >= 1: g[j])").problem().at_most().rhs,
        [5.0]
    );
    let (said, hint) = refused(&text("(i, j) in arc", "x['0','1'] <= sum((i, i) in arc: g[i])"));
    assert!(said.contains("the index `i` stands twice") && hint.contains("if i = j"), "{said} {hint}");
    let (said, hint) = refused(&text("i in s, (i, j) in arc", "x[0,0,1] <= 1"));
    assert!(said.contains("the index `i` stands twice") && hint.contains("declare a set"), "{said} {hint}");
}
