//! Columns with kinds: inputs by the formulas, from training rows alone, and back from a file.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[allow(dead_code, reason = "each test binary uses its own part")]
mod common;

use std::fmt::Write;
use std::path::Path;

use common::{Project, fit};
use regretless_learn::{Dataset, DatePart, Decider, Encoder, Encoding, Kind, NEW, Names, Series};
use regretless_project::{DataReader, Run, Want};

const DAY: f64 = 86_400.0;

fn levels(names: &[&str]) -> Kind {
    Kind::Category(names.iter().map(ToString::to_string).collect())
}

fn close(a: f64, b: f64) {
    assert!((a - b).abs() < 1e-6, "{a} {b}");
}

/// Ten rows of a, six of b, four of c: pₐ = ½, p_b = 0.3, and c is too rare to be told apart.
fn shops() -> (Vec<Kind>, Vec<f64>, Vec<usize>) {
    let cells = [vec![0.0; 10], vec![1.0; 6], vec![2.0; 4], vec![3.0; 9]].concat();
    // The last nine rows are none to learn from.
    (vec![levels(&["a", "b", "c", "d"])], cells, (0..20).collect())
}

#[test]
fn indicators_share_one_unit() {
    let (kinds, cells, rows) = shops();
    let encoder = Encoder::fit(&kinds, &cells, &rows, true, false);
    assert_eq!(encoder.width(), 2);
    let unit = f64::sqrt(0.5 * 0.5 + 0.3 * 0.7);
    let of = |cell: f64| encoder.inputs(&[cell]).into_iter().map(f64::from).collect::<Vec<_>>();
    for (cell, wanted) in [(0.0, [0.5, -0.3]), (1.0, [-0.5, 0.7])] {
        of(cell).iter().zip(wanted).for_each(|(x, w)| close(*x, w / unit));
    }
    // Rare, unknown to the training rows, new, missing: at the mean.
    for cell in [2.0, 3.0, NEW, f64::NAN, 17.0] {
        assert_eq!(of(cell), [0.0, 0.0], "{cell}");
    }
    // What no training row has does not even have a name.
    let Encoding::Category { levels, kept } = &encoder.columns()[0] else { panic!() };
    assert_eq!((levels[3].as_str(), levels[2].as_str(), kept.as_slice()), ("", "c", &[0, 1][..]));
}

/// However many levels: the variances over the training rows come to 1, as that of a number.
#[test]
fn a_category_weighs_as_much_as_a_number() {
    for count in [2, 7, 40] {
        let names: Vec<String> = (0..count).map(|l| format!("l{l}")).collect();
        let cells: Vec<f64> = (0..count * 30)
            .map(|i| f64::from((i * i + i / 7) % count))
            .chain((0..count * 6).map(|i| f64::from(i % count)))
            .collect();
        let rows: Vec<usize> = (0..cells.len()).collect();
        let encoder = Encoder::fit(&[Kind::Category(names)], &cells, &rows, true, false);
        let inputs = encoder.inputs(&cells);
        let squares: f64 = inputs.iter().map(|x| f64::from(*x).powi(2)).sum();
        close(squares / cells.len() as f64, 1.0);
    }
}

/// The order in which levels came does not matter.
#[test]
fn inputs_are_in_the_order_of_frequency_and_name() {
    let (kinds, cells, rows) = shops();
    let other: Vec<f64> = cells.iter().map(|cell| 3.0 - cell).collect();
    let one = Encoder::fit(&kinds, &cells, &rows, true, false);
    let two = Encoder::fit(&[levels(&["d", "c", "b", "a"])], &other, &rows, true, false);
    assert_eq!(one.inputs(&cells), two.inputs(&other));
}

#[test]
fn trees_take_the_numbers_of_levels() {
    let (kinds, cells, rows) = shops();
    let encoder = Encoder::fit(&kinds, &cells, &rows, true, true);
    assert_eq!((encoder.width(), encoder.levels()), (1, vec![3]));
    assert_eq!(encoder.inputs(&[1.0, 0.0, 2.0, 3.0, NEW]), [1.0, 0.0, 2.0, 2.0, 2.0]);
    assert!(encoder.inputs(&[f64::NAN])[0].is_nan());
}

#[test]
fn dates_come_in_parts() {
    // Two years from 2018-01-01, a Monday.
    let start = 17_532.0 * DAY;
    let cells: Vec<f64> = (0..730).map(|i| start + f64::from(i) * DAY).collect();
    let rows: Vec<usize> = (0..730).collect();
    let usual = [Kind::Date(DatePart::USUAL.to_vec())];
    let encoder = Encoder::fit(&usual, &cells, &rows, true, false);
    // Twelve months, the day as a number, seven weekdays, and one hour, which says nothing.
    assert_eq!(encoder.width(), 12 + 1 + 7 + 1);
    let monday = encoder.inputs(&cells[..1]);
    assert!(monday[0] > 0.0 && monday[1..12].iter().all(|x| *x < 0.0) && monday[12] < 0.0);
    assert!(monday[13] > 0.0 && monday[14..20].iter().all(|x| *x < 0.0) && monday[20] == 0.0);
    assert_eq!(encoder.inputs(&[f64::NAN]), vec![0.0; 21]);
    // A trend goes on, a month comes again.
    let trend = Encoder::fit(&[Kind::Date(vec![DatePart::Trend])], &cells, &rows, true, false);
    let ahead = trend.inputs(&[start, start + 4.0 * 365.0 * DAY]);
    assert!(ahead[0] < -1.7 && ahead[1] > 5.0, "{ahead:?}");
    // Trees look at each part as a number.
    let native = Encoder::fit(&usual, &cells, &rows, true, true);
    assert_eq!((native.width(), native.features()), (4, vec![0; 4]));
}

/// Numbers are as they were before there were kinds.
#[test]
fn numbers_are_standardised() {
    let cells = [1.0, 10.0, 3.0, 10.0, f64::NAN, 10.0];
    let encoder = Encoder::fit(&[Kind::Number, Kind::Number], &cells, &[0, 1, 2], true, false);
    assert_eq!(encoder.inputs(&cells), [-1.0, 0.0, 1.0, 0.0, 0.0, 0.0]);
    assert_eq!(Encoder::identity(2).inputs(&cells[..4]), [1.0, 10.0, 3.0, 10.0]);
}

const SHOP: &str = r#"
[problem]
sense = "min"
variables = ["order"]
[[soft]]
name = "demand"
rows = [[1.0]]
limit = { predict = "demand" }
over = 1.0
under = 3.0
[bounds]
upper = 100.0
[data]
file = "history.csv"
"#;

/// Demand by shop and weekday; the last part of the table has a shop that is new.
fn table(rows: usize) -> String {
    let shops = [("north", 20.0), ("south", 10.0), ("east", 30.0), ("west", 15.0)];
    let mut text = String::from("day,shop,rain,demand\n");
    for i in 0..rows {
        let (year, month, date) = regretless_learn::civil(17_532 + i64::try_from(i / 4).unwrap());
        let (shop, level) = if i + 8 > rows { ("new", 25.0) } else { shops[i % 4] };
        let weekend = if i / 4 % 7 >= 5 { 6.0 } else { 0.0 };
        let rain = if i % 9 == 0 { String::new() } else { format!("{}", i * 7 % 11) };
        let noise = (i * 7919 % 13) as f64 / 6.5 - 1.0;
        writeln!(text, "{year:04}-{month:02}-{date:02},{shop},{rain},{}", level + weekend + noise).unwrap();
    }
    text
}

/// Every predictor learns what text and dates say, and its file gives back the same predictions.
#[test]
fn every_predictor_takes_text_dates_and_gaps() {
    for kind in ["linear", "mlp", "trees"] {
        let more = format!(
            "split = {{ kind = \"chronological\" }}\n[predictor]\nkind = \"{kind}\"\n[training]\nepochs = 40\n"
        );
        let project = Project::new(&format!("{SHOP}{more}"), &table(1000));
        let task = project.task();
        let with = fit(&task, "l2").unwrap().candidate;
        let plain = Project::new(
            &format!("{}{more}", SHOP.replace("[data]", "[data]\nfeatures = \"rain\"")),
            &table(1000),
        );
        let without = fit(&plain.task(), "l2").unwrap().candidate;
        let (regret, worse) = (with.valid.measures.regret, without.valid.measures.regret);
        assert!(regret < 0.2 * worse, "{kind}: {regret} {worse}");
        // And what new rows have that training did not.
        let model = &with.fitted.model;
        let names = task.data().kinds[1].clone();
        let Kind::Category(names) = names else { panic!() };
        let north = names.iter().position(|name| name == "north").unwrap() as f64;
        let rows = [18_000.0 * DAY, north, 3.0, 18_000.0 * DAY, NEW, 3.0, f64::NAN, f64::NAN, f64::NAN];
        let predicted = model.predict(&rows, 3);
        assert!(predicted.iter().all(|p| p.is_finite() && *p > 0.0), "{kind}: {predicted:?}");
        if kind != "trees" {
            let mean = model.targets.mean[0];
            assert!(
                (predicted[1] - mean).abs() < 6.0 && (predicted[2] - mean).abs() < 6.0,
                "{kind}: {predicted:?} {mean}"
            );
        }
    }
}

#[test]
fn rows_in_memory_keep_kinds_series_and_times() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("rows.safetensors");
    let names = Names { features: vec!["shop".into(), "x".into()], ..Names::default() };
    let mut data = Dataset::new(vec![0.0, 1.0, 1.0, f64::NAN], vec![1.0, 2.0], 2, names)
        .with_kinds(vec![levels(&["a", "b"]), Kind::Number]);
    let mut series = Series::default();
    ["a", "b"].into_iter().for_each(|name| series.push(name));
    (data.series, data.times) = (series, vec![5.0, 6.0]);
    data.write(&path).unwrap();
    let read = Dataset::read(&path).unwrap();
    assert_eq!((&read.kinds, &read.series, &read.times), (&data.kinds, &data.series, &data.times));
    assert_eq!((read.series.of(1), read.time_of(1)), (1, 6.0));
    // Rows without either are of one series, and in the order of time.
    let plain = Dataset::new(vec![0.0], vec![1.0], 1, Names::numbered(1));
    assert_eq!(
        (plain.series.of(0), plain.time_of(0), plain.kinds_of_features()),
        (0, 0.0, vec![Kind::Number])
    );
}

/// A run of the version that first had kinds: `rows.csv` has text, a date, a gap and a shop that is new.
#[test]
fn a_kept_model_predicts_as_it_did() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/kinds-run");
    let run = Run::open(&dir.join("run")).unwrap();
    let (spec, decider) = run.decider().unwrap();
    let want = Want { features: true, targets: false };
    let mut table = DataReader::stream(&spec, &dir.join("rows.csv"), want, decider.card()).unwrap();
    let chunk = table.next().unwrap().unwrap();
    let found = decider.predict(&chunk.features, chunk.rows);
    let kept = std::fs::read_to_string(dir.join("predictions.csv")).unwrap();
    let wanted: Vec<f64> =
        kept.lines().skip(1).map(|line| line.rsplit(',').next().unwrap().parse().unwrap()).collect();
    assert_eq!(found.len(), wanted.len());
    found.iter().zip(&wanted).for_each(|(found, wanted)| close(*found, *wanted));
    assert!(table.strangers()[0].contains("`harbour`"));
    // Its file has what training rows had, and goes through bytes unharmed.
    let card = decider.card();
    assert_eq!((card.format, card.features.len(), card.importance.len()), (5, 3, 3));
    let bytes = decider.to_bytes().unwrap();
    let (problem, placement) = (spec.problem().clone(), spec.placement(&card.targets, &card.known).unwrap());
    let again = Decider::from_bytes(problem, placement, spec.predictor(), &bytes).unwrap();
    assert_eq!(again.predict(&chunk.features, chunk.rows), found);
}
