//! Rows in three parts: which goes where, and that statistics come from the training part alone.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[allow(dead_code, reason = "each test binary uses its own part")]
mod common;

use std::fmt::Write;

use common::{Project, fit};
use regretless_learn::{Dataset, Names, Split, Task, Timed};
use regretless_project::ProjectError;

/// Two variables, one of them to be chosen; `data` is the section's content.
fn problem(data: &str, training: &str) -> String {
    format!(
        "[problem]\nvariables = [\"a\", \"b\"]\n[objective]\nlinear = {{ predict = \"v_*\" }}\n[[hard]]\nrows = [1, 1]\nat_most = \
         1\n[data]\n{data}\n[predictor]\nkind = \"linear\"\n[training]\nmethod = \"l2\"\nepochs = 2\n{training}\n"
    )
}

/// Rows whose feature is their number.
fn table(rows: usize) -> String {
    let mut text = String::from("f,v_a,v_b\n");
    for i in 0..rows {
        writeln!(text, "{i},{},{}", (i * 7) % 11, (i * 5) % 13).unwrap();
    }
    text
}

/// The features, which are the rows' numbers, of each part.
fn parts(task: &Task) -> [Vec<f64>; 3] {
    [task.train(), task.valid(), task.test()].map(|rows| task.features(rows))
}

fn refused(project: &Project) -> ProjectError {
    match project.try_task() {
        Err(error) => error,
        Ok(_) => panic!("not refused"),
    }
}

#[test]
fn chronological_parts_follow_one_another() {
    let data = "file = \"history.csv\"\nsplit = { kind = \"chronological\", valid = 0.2, test = 0.3 }";
    let project = Project::new(&problem(data, ""), &table(20));
    let numbers = |range: std::ops::Range<i32>| range.map(f64::from).collect::<Vec<_>>();
    assert_eq!(parts(&project.task()), [numbers(0..10), numbers(10..14), numbers(14..20)]);
}

#[test]
fn random_parts_are_the_seeds() {
    let data = "file = \"history.csv\"\nsplit = { valid = 0.1, test = 0.25 }";
    let of = |seed: u64| parts(&Project::new(&problem(data, &format!("seed = {seed}")), &table(40)).task());
    let first = of(1);
    assert_eq!(first.each_ref().map(Vec::len), [26, 4, 10]);
    let mut all = first.concat();
    all.sort_by(f64::total_cmp);
    assert_eq!(all, (0..40).map(f64::from).collect::<Vec<_>>(), "every row once");
    assert_eq!(first, of(1));
    assert_ne!(first, of(2));
    assert_ne!(first[0], (0..26).map(f64::from).collect::<Vec<_>>(), "shuffled");
}

#[test]
fn a_column_tells_the_part() {
    let mut text = String::from("f,v_a,v_b,part\n");
    for (i, part) in ["test", "train", "valid", "train", "test", "train"].iter().enumerate() {
        writeln!(text, "{i},{i},{},{part}", 5 - i).unwrap();
    }
    let data = "file = \"history.csv\"\nsplit = { column = \"part\" }";
    let project = Project::new(&problem(data, ""), &text);
    assert_eq!(parts(&project.task()), [vec![1.0, 3.0, 5.0], vec![2.0], vec![0.0, 4.0]]);
    assert_eq!(project.task().data().names.features, ["f"], "the column is no feature");
    let error = refused(&Project::new(&problem(data, ""), &text.replace("valid", "train")));
    assert!(error.to_string().contains("validation part has no rows"), "{error}");
    let error = refused(&Project::new(&problem(data, ""), &text.replace("valid", "later")));
    assert!(error.to_string().contains("later") && error.to_string().contains("line 4"), "{error}");
}

#[test]
fn files_of_their_own() {
    let project =
        Project::new(&problem("train = \"history.csv\"\nvalid = \"v.csv\"\ntest = \"t.csv\"", ""), &table(8));
    project.write("v.csv", "f,v_a,v_b\n100,1,2\n101,2,1\n");
    project.write("t.csv", "v_b,f,v_a\n1,200,9\n");
    let task = project.task();
    assert_eq!(parts(&task), [(0..8).map(f64::from).collect(), vec![100.0, 101.0], vec![200.0]]);
    assert_eq!(task.targets(task.test()), [9.0, 1.0], "columns go by name");
    assert!(task.data().place(task.test()[0]).ends_with("t.csv, line 2"));
    // Without a table for validation, it comes out of training; the test stays whole.
    project.write(
        "problem.toml",
        problem("train = \"history.csv\"\ntest = \"t.csv\"\nsplit = { valid = 0.25 }", ""),
    );
    let [train, valid, test] = parts(&project.task());
    assert_eq!((train.len(), valid.len(), test), (6, 2, vec![200.0]));
    project.write("t.csv", "g,v_a,v_b\n200,9,1\n");
    let error = refused(&project);
    assert!(error.to_string().contains("t.csv"), "{error}");
}

/// Validation and test rows can be anything: the statistics and the untrained model do not know them.
#[test]
fn statistics_are_of_training_rows_only() {
    for data in [
        "file = \"history.csv\"\nsplit = { kind = \"chronological\", valid = 0.25, test = 0.25 }",
        "file = \"history.csv\"\nsplit = { column = \"part\" }\nfeatures = [\"f\"]",
    ] {
        let text = |scale: f64| {
            let mut text = String::from("f,v_a,v_b,part\n");
            for i in 0..12_i32 {
                let part = ["train", "train", "valid", "test"][(i / 3) as usize];
                let factor = if i < 6 { 1.0 } else { scale };
                let (a, b) = (f64::from(i * 7 % 11), f64::from(i * 5 % 13));
                writeln!(text, "{},{},{},{part}", factor * f64::from(i), factor * a, factor * b).unwrap();
            }
            text
        };
        let scalers = |scale: f64| {
            let project = Project::new(&problem(&format!("{data}\nexclude = [\"part\"]"), ""), &text(scale));
            let task = project.task();
            assert_eq!(task.train(), [0, 1, 2, 3, 4, 5]);
            let model = fit(&task, "constant").unwrap().candidate.fitted.model;
            let trained = fit(&task, "l2").unwrap().candidate.fitted.model;
            assert_eq!((&model.features, &trained.targets.mean), (&trained.features, &model.targets.mean));
            (trained.features, trained.targets, task.units())
        };
        let (features, targets, units) = scalers(1.0);
        assert_eq!((features.clone(), targets.clone(), units.clone()), scalers(-1000.0));
        // By hand: 0…5 has mean 2.5 and variance 35/12; v_a is 0, 7, 3, 10, 6, 2.
        assert!((features.scaler().mean[0] - 2.5).abs() < 1e-12);
        assert!((features.scaler().deviation[0] - (35.0_f64 / 12.0).sqrt()).abs() < 1e-12);
        assert!((targets.mean[0] - 28.0 / 6.0).abs() < 1e-12);
        let variance = 198.0 / 6.0 - (28.0_f64 / 6.0).powi(2);
        assert!((units[0] - variance.sqrt()).abs() < 1e-12);
    }
}

#[test]
fn missing_values() {
    let mut text = table(20);
    text = text.replace("\n3,", "\n,").replace("\n17,", "\nNA,");
    let data = |missing: &str| {
        format!(
            "file = \"history.csv\"\nmissing = \"{missing}\"\nsplit = {{ kind = \"chronological\", valid = 0.2, test = 0.2 }}"
        )
    };
    let error = refused(&Project::new(&problem(&data("refuse"), ""), &text));
    assert!(error.to_string().contains("line 5"), "{error}");
    let task = Project::new(&problem(&data("drop"), ""), &text).task();
    assert_eq!(task.data().rows(), 18);
    assert!(!parts(&task).concat().contains(&3.0));
    assert!(task.notes().iter().any(|n| n.contains("left out 2 rows")), "{:?}", task.notes());
    let task = Project::new(&problem(&data("mean"), ""), &text).task();
    assert_eq!(task.data().rows(), 20);
    let model = fit(&task, "l2").unwrap().candidate.fitted.model;
    // Training is rows 0…11 without 3: the mean of the others, and that is what a missing cell counts as.
    assert!((model.features.scaler().mean[0] - 63.0 / 11.0).abs() < 1e-12, "{:?}", model.features);
    assert_eq!(model.predict(&[f64::NAN], 1), model.predict(&[63.0 / 11.0], 1));
    assert_eq!(task.inputs(&[3, 17]), [0.0, 0.0]);
    // A truth cannot be made up.
    let truth = table(20).replace("\n4,6,", "\n4,,");
    assert_ne!(truth, table(20));
    let error = refused(&Project::new(&problem(&data("mean"), ""), &truth));
    assert!(error.to_string().contains("line 6"), "{error}");
}

/// `at_most` is predicted; a negative one leaves no x ≥ 0.
fn with_capacity(training: &str, bad: &[usize]) -> Project {
    let problem = format!(
        "[problem]\nvariables = [\"a\"]\n[objective]\nlinear = [1.0]\n[[hard]]\nname = \"cap\"\nrows = [1]\nat_most = {{ predict = \
         [\"b\"] }}\n[data]\nfile = \"history.csv\"\nsplit = {{ kind = \"chronological\", valid = 0.25, test = 0.25 \
         }}\n[predictor]\nkind = \"linear\"\n[training]\nmethod = \"l2\"\nepochs = 2\n{training}\n"
    );
    let mut text = String::from("f,b\n");
    for i in 0..16 {
        let b = if bad.contains(&i) { -1.0 } else { 2.0 + i as f64 };
        writeln!(text, "{i},{b}").unwrap();
    }
    Project::new(&problem, &text)
}

#[test]
fn infeasible_rows_fail_by_name() {
    let error = refused(&with_capacity("", &[3, 9, 14]));
    let text = error.to_string();
    assert!(text.contains("3 of 16 instances"), "{text}");
    for line in ["line 5: infeasible", "line 11: infeasible", "line 16: infeasible"] {
        assert!(text.contains(line), "{text} lacks {line}");
    }
    let ProjectError::Learn(error) = error else { panic!("{error}") };
    assert!(error.hint().unwrap().to_string().contains("skip"));
    let text = refused(&with_capacity("", &[0, 1, 2, 3, 4, 5, 6])).to_string();
    assert!(text.contains("and 2 more") && !text.contains("line 8"), "{text}");
}

#[test]
fn infeasible_rows_are_skipped_without_harm() {
    let bad = [3, 9, 14];
    let task = with_capacity("infeasible = \"skip\"", &bad).task();
    let [train, valid, test] = parts(&task);
    assert_eq!(train, [0.0, 1.0, 2.0, 4.0, 5.0, 6.0, 7.0]);
    assert_eq!((valid, test), (vec![8.0, 10.0, 11.0], vec![12.0, 13.0, 15.0]));
    let note = task.notes().iter().find(|n| n.contains("left out 3 of 16")).unwrap();
    assert!(note.contains("line 5") && note.contains("line 16"), "{note}");
    // The same as if they had never been there; the split is told by a column, as it was.
    let skipped = fit(&task, "l2").unwrap().candidate;
    let clean = with_capacity("", &[]);
    let problem = std::fs::read_to_string(clean.path("problem.toml")).unwrap();
    let split = "split = { kind = \"chronological\", valid = 0.25, test = 0.25 }";
    assert!(problem.contains(split));
    clean.write("problem.toml", problem.replace(split, "split = { column = \"part\" }\nfeatures = [\"f\"]"));
    let mut text = String::from("f,b,part\n");
    for i in (0..16).filter(|i| !bad.contains(i)) {
        writeln!(text, "{i},{},{}", 2.0 + i as f64, ["train", "train", "valid", "test"][i / 4]).unwrap();
    }
    clean.write("history.csv", text);
    let wanted = fit(&clean.task(), "l2").unwrap().candidate;
    assert_eq!(skipped.fitted.model.targets, wanted.fitted.model.targets);
    assert_eq!(skipped.valid.measures, wanted.valid.measures);
    assert_eq!(skipped.fitted.model.predict(&[5.0], 1), wanted.fitted.model.predict(&[5.0], 1));
    // All of a part gone.
    let error = refused(&with_capacity("infeasible = \"skip\"", &[8, 9, 10, 11]));
    assert!(error.to_string().contains("validation part has no rows"), "{error}");
}

/// A long table: 40 days, three shops each day, in the order of the shops.
fn panel() -> String {
    let mut text = String::from("day,shop,f,v_a,v_b\n");
    for shop in 0..3 {
        for day in 0..40 {
            let (year, month, date) = regretless_learn::civil(17_532 + day);
            let f = 100 * shop + day;
            writeln!(text, "{year:04}-{month:02}-{date:02},s{shop},{f},{},{}", f % 11, f * 5 % 13).unwrap();
        }
    }
    text
}

/// The days (from 0) and the shops of each part.
fn of_panel(split: &str) -> [(Vec<i64>, Vec<usize>); 3] {
    let data =
        format!("file = \"history.csv\"\nseries = \"shop\"\ntime = \"day\"\nfeatures = \"f\"\n{split}");
    let task = Project::new(&problem(&data, ""), &panel()).task();
    [task.train(), task.valid(), task.test()].map(|rows| {
        let mut days: Vec<i64> = rows.iter().map(|&row| task.data().time_of(row) as i64 - 17_532).collect();
        let mut shops: Vec<usize> = rows.iter().map(|&row| task.data().series.of(row)).collect();
        assert!(days.is_sorted(), "rows are in the order of time");
        let features = task.features(rows);
        assert!(days.iter().zip(&features).all(|(day, x)| *day == (x % 100.0) as i64), "a row stays a row");
        assert_eq!(days.len(), rows.len());
        days.dedup();
        shops.sort_unstable();
        shops.dedup();
        (days, shops)
    })
}

#[test]
fn splits_never_cut_through_a_date() {
    let all = vec![0, 1, 2];
    // A fifth of 120 rows is 24, and 24 are eight days.
    let [train, valid, test] = of_panel("");
    assert_eq!(
        (train, valid, test),
        (
            ((0..24).collect(), all.clone()),
            ((24..32).collect(), all.clone()),
            ((32..40).collect(), all.clone())
        )
    );
    // 25 rows of test would begin within a day: it begins with the next one.
    let [_, _, (test, _)] = of_panel("split = { valid = 0.2, test = 0.21 }");
    assert_eq!(test, (32..40).collect::<Vec<_>>());
    let [train, valid, test] = of_panel("split = { kind = \"random\" }");
    for (days, shops) in [&train, &valid, &test] {
        assert_eq!(*shops, all, "{days:?}");
    }
    let mut days = [train.0, valid.0, test.0].concat();
    days.sort_unstable();
    assert_eq!(days, (0..40).collect::<Vec<_>>(), "a day is in one part");
}

#[test]
fn dates_begin_parts_and_gaps_part_them() {
    let [train, valid, test] = of_panel("split = { valid_from = 2018-01-21, test_from = \"2018-02-01\" }");
    assert_eq!((train.0, valid.0, test.0), ((0..20).collect(), (20..31).collect(), (31..40).collect()));
    // Without a beginning validation has its share of what is before the test: 20 % of 93 rows, whole days.
    let [train, valid, _] = of_panel("split = { test_from = 2018-02-01 }");
    assert_eq!((train.0.last(), valid.0.first()), (Some(&24), Some(&25)));
    // Seven days before a part nothing is used.
    let [train, valid, test] =
        of_panel("split = { valid_from = 2018-01-21, test_from = 2018-02-01, gap = 7 }");
    assert_eq!((train.0, valid.0, test.0), ((0..13).collect(), (20..24).collect(), (31..40).collect()));
    let [train, valid, test] = of_panel("split = { valid = 0.2, test = 0.2, gap = 2 }");
    assert_eq!((train.0, valid.0, test.0), ((0..22).collect(), (24..30).collect(), (32..40).collect()));
}

/// What a date leaves empty, and what a gap takes away, is said.
#[test]
fn parts_without_rows_and_rows_without_a_part_are_said() {
    let notes = |split: &str| {
        let data = format!("file = \"history.csv\"\nfeatures = \"f\"\ntime = \"day\"\n{split}");
        Project::new(&problem(&data, ""), &panel()).task().notes().join("\n")
    };
    let said = notes("split = { test_from = 2019-01-01 }");
    let empty = "the test begins at 2019-01-01 (`test_from`), and the last row is of 2018-02-09";
    assert!(said.contains(empty), "{said}");
    let said = notes("split = { valid_from = 2018-01-21, test_from = 2018-02-01, gap = 7 }");
    // Seven days of three shops, twice.
    assert!(said.contains("42 rows in the gap before validation or test"), "{said}");
    assert_eq!(notes("split = { test_from = 2018-02-01 }"), "");
}

/// A feature that tells the answer is found through its gaps, and one that only comes near it is not.
#[test]
fn leaks_with_gaps() {
    let warnings = |gap: &str, off: f64| {
        let mut text = String::from("f,v_a,v_b\n");
        for i in 0..60_i32 {
            let a = f64::from(i * 7 % 11);
            let leak =
                if i % 5 == 2 { gap.to_owned() } else { (3.0 - 2.0 * a + off * f64::from(i)).to_string() };
            writeln!(text, "{leak},{a},{}", i * 5 % 13).unwrap();
        }
        Project::new(&problem("file = \"history.csv\"", ""), &text).task().warnings().join("\n")
    };
    for gap in ["7", "NA", ""] {
        let found = warnings(gap, 0.0);
        assert_eq!(found.contains("`f` is an affine function of `v_a`"), gap != "7", "{gap}: {found}");
        assert!(!warnings(gap, 1e-3).contains("affine"));
    }
}

/// Levels that only later rows have say nothing, and that is said.
#[test]
fn levels_of_later_rows_are_counted() {
    let mut text = String::from("f,shop,v_a,v_b\n");
    for i in 0..40 {
        let shop = if i < 30 { "old" } else { ["new", "newer"][i % 2] };
        writeln!(text, "{i},{shop},{},{}", (i * 7) % 11, (i * 5) % 13).unwrap();
    }
    let data = "file = \"history.csv\"\nsplit = { kind = \"chronological\", valid = 0.2, test = 0.2 }";
    let notes = Project::new(&problem(data, ""), &text).task().notes().join("\n");
    let said = "`shop`: 10 rows of validation and test with levels that no training row has: `new`, `newer`";
    assert!(notes.contains(said), "{notes}");
}

#[test]
fn series_stay_whole_where_they_are_drawn() {
    let [train, valid, test] = of_panel("split = { kind = \"series\", valid = 0.3, test = 0.3 }");
    let mut shops = [train.1, valid.1, test.1].concat();
    assert_eq!(shops.len(), 3);
    shops.sort_unstable();
    assert_eq!(shops, [0, 1, 2]);
}

#[test]
fn what_a_split_by_time_needs_is_said() {
    let said = |data: &str| {
        let text = problem(&format!("file = \"history.csv\"\nfeatures = \"f\"\n{data}"), "");
        let project = Project::new("", &panel());
        project.write("problem.toml", text);
        let read = regretless_project::Spec::read(project.path("problem.toml"));
        read.map_err(|e| e.to_string()).and_then(|spec| spec.task().map_err(|e| e.to_string())).err().unwrap()
    };
    for (data, told) in [
        ("split = { test_from = 2018-02-01 }", "`test_from` needs a column that says when a row is"),
        ("time = \"day\"\nsplit = { test_from = \"soon\" }", "`soon` is not a date"),
        (
            "time = \"day\"\nsplit = { test_from = 5 }",
            "`data.time` holds dates, and the split states numbers",
        ),
        (
            "time = \"day\"\nsplit = { test_from = 2018-02-01, test = 0.1 }",
            "`test_from` or the share `test`, not both",
        ),
        (
            "time = \"day\"\nsplit = { kind = \"random\", gap = 1 }",
            "dates and gaps do not go with `kind = \"random\"`",
        ),
        (
            "time = \"day\"\nsplit = { valid_from = 2018-03-01, test_from = 2018-02-01 }",
            "validation begins before the test",
        ),
        ("split = { kind = \"series\" }", "a split by series needs `data.series`"),
    ] {
        let found = said(data);
        assert!(found.contains(told), "{data}: {found}");
    }
}

/// Origins take for validation what the split does: the same time before each test, or the same share.
#[test]
fn origins_keep_the_validation_of_the_split() {
    let mut data = Dataset::new(vec![0.0; 100], vec![0.0; 100], 100, Names::numbered(1));
    data.times = (0..100).map(f64::from).collect();
    let timed = Timed {
        valid_from: Some(50.0),
        valid: 0.0,
        test_from: Some(60.0),
        test_until: None,
        test: 0.0,
        gap: 0.0,
        dates: false,
    };
    let lengths = |split: &Split| -> Vec<(usize, usize)> {
        let parts = |timed: &Timed| {
            let [train, valid, _] = data.split(&Split::Timed(*timed), 0);
            (train.len(), valid.len())
        };
        data.origins(split, 2).unwrap().iter().map(parts).collect()
    };
    assert_eq!(lengths(&Split::Timed(timed)), [(50, 10), (70, 10)]);
    let shared = Timed { valid_from: None, valid: 0.5, ..timed };
    assert_eq!(lengths(&Split::Timed(shared)), [(30, 30), (40, 40)]);
    // A share of all rows: 0.3 of the 0.6 that are not tested.
    assert_eq!(lengths(&Split::Chronological { valid: 0.3, test: 0.4 }), [(25, 25), (37, 38)]);
    // No validation in the split, none here; and no time to learn from.
    assert_eq!(lengths(&Split::Timed(Timed { valid_from: None, ..timed })), [(60, 0), (80, 0)]);
    let early = Timed { valid_from: Some(-1.0), ..timed };
    assert!(data.origins(&Split::Timed(early), 2).is_err());
}
