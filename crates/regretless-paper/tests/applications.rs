//! The three applications from end to end at toy size.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::sync::atomic::{AtomicUsize, Ordering};

use regretless_learn::{Interrupt, Threads};
use regretless_paper::portfolio::Portfolio;
use regretless_paper::provisioning::Provisioning;
use regretless_paper::synthetic::Synthetic;
use regretless_paper::{
    Application, Cell, Contender, Plan, Predictor, Profile, Progress, Record, Results, Row, rows, run,
};

const BOTH: [Profile; 2] = [Profile::Published, Profile::Sound];

fn plan(application: &dyn Application, size: &str, samples: Option<usize>, methods: &[&str]) -> Plan {
    let read = |name: &&str| Contender::read(name, application.profile(), application.baselines()).unwrap();
    let cell = Cell { size: size.into(), samples, predictor: Predictor::Mlp };
    application.check(&cell).unwrap();
    Plan {
        cells: vec![cell],
        seeds: application.seeds(2),
        contenders: methods.iter().map(read).collect(),
        grid: application.grid(),
    }
}

/// Counts trainings.
#[derive(Default)]
struct Count(AtomicUsize);

impl Progress for Count {
    fn done(&self, _: &Record, _: u64) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

fn study(application: &dyn Application, plan: &Plan) -> Vec<Row> {
    let dir = tempfile::tempdir().unwrap();
    let results = Results::open(dir.path(), application).unwrap();
    let records = run(application, plan, &results, &Threads(2), &(), &Interrupt::default()).unwrap();
    rows(application, plan, &records)
}

fn sensible(rows: &[Row], unit: f64) {
    assert!(rows.iter().any(|r| r.method == "constant"));
    assert_eq!(rows.iter().filter(|r| r.best).count(), 1);
    for row in rows {
        assert!(row.regret >= -1e-9 && row.regret.is_finite(), "{row:?}");
        assert_eq!(row.seeds, 2);
        let mean = row.regrets.iter().sum::<f64>() / 2.0;
        assert!((row.regret - mean).abs() <= 1e-12 * unit, "{row:?}");
    }
}

#[test]
fn the_synthetic_lp() {
    for profile in BOTH {
        let application = Synthetic::drawn(profile, None).unwrap();
        let methods = ["constant", "l1", "spo+", "df", "surrogate", "fenchel-young"];
        let rows = study(&application, &plan(&application, "6,4,2", Some(40), &methods));
        sensible(&rows, 1.0);
        let surrogate = if profile == Profile::Published { "surrogate-vertex" } else { "surrogate-smooth" };
        let of: Vec<&Row> = rows.iter().filter(|r| r.method == surrogate).collect();
        // One row for every K, and one for the K that was chosen.
        assert_eq!(of.len(), application.grid().len() + 1);
        let lowest = of.iter().filter(|r| r.k.is_some()).map(|r| r.regret).fold(f64::INFINITY, f64::min);
        let chosen = of.iter().find(|r| r.k.is_none()).unwrap();
        if profile == Profile::Published {
            assert_eq!(chosen.regret, lowest);
        } else {
            // By validation and seed by seed: each seed's regret is that of one of the K.
            for (i, regret) in chosen.regrets.iter().enumerate() {
                assert!(of.iter().any(|r| r.k.is_some() && r.regrets[i] == *regret));
            }
        }
    }
}

#[test]
fn the_portfolio() {
    for profile in BOTH {
        let application = Portfolio::small(profile, 8, 420).unwrap();
        let methods = ["constant", "l2", "df", "surrogate", "fenchel-young"];
        let mut plan = plan(&application, "6", None, &methods);
        if profile == Profile::Sound {
            plan.contenders.push(Contender::read("surrogate-smooth+l2", profile, &[]).unwrap());
        }
        sensible(&study(&application, &plan), 100.0);
    }
}

#[test]
fn provisioning() {
    let application = Provisioning::simulated(Profile::Sound, 50);
    let methods = ["constant", "mean-per-hour", "l1", "weighted-l1", "surrogate", "l1+scenarios"];
    let rows = study(&application, &plan(&application, "100", None, &methods));
    sensible(&rows, 1.0);
    // A mean for every hour is nearer to the loads than one mean for all.
    let mse = |method: &str| rows.iter().find(|r| r.method == method).unwrap().mse;
    assert!(mse("mean-per-hour") < mse("constant"));

    let published = Provisioning::simulated(Profile::Published, 6);
    let rows = study(&published, &plan(&published, "0.1", None, &["constant", "l2", "surrogate"]));
    sensible(&rows, 1.0);
}

#[test]
fn a_study_goes_on_where_it_stopped() {
    let application = Synthetic::drawn(Profile::Sound, None).unwrap();
    let few = plan(&application, "5,3,1", Some(20), &["constant", "l2"]);
    let more = plan(&application, "5,3,1", Some(20), &["constant", "l2", "spo+"]);
    let dir = tempfile::tempdir().unwrap();
    let open = || Results::open(dir.path(), &application).unwrap();
    let go = |plan: &Plan, threads: usize| {
        let count = Count::default();
        let records =
            run(&application, plan, &open(), &Threads(threads), &count, &Interrupt::default()).unwrap();
        (rows(&application, plan, &records), count.0.into_inner())
    };
    let (first, trained) = go(&few, 1);
    assert_eq!(trained, 4);
    // A line that a kill cut short is done again, and only that.
    let file = dir.path().join("results.jsonl");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, &text[..text.len() - 10]).unwrap();
    let (again, trained) = go(&few, 2);
    assert_eq!(trained, 1);
    let regrets = |rows: &[Row]| rows.iter().map(|r| r.regrets.clone()).collect::<Vec<_>>();
    assert_eq!(regrets(&first), regrets(&again));
    // Infinite figures are written as null and read again; empty lines are no lines.
    let text = std::fs::read_to_string(&file).unwrap();
    let start = text.find("\"mse\":").unwrap() + 6;
    let end = start + text[start..].find(',').unwrap();
    std::fs::write(&file, format!("\n{}null{}", &text[..start], &text[end..])).unwrap();
    let (with_null, trained) = go(&few, 1);
    assert_eq!(trained, 0);
    assert_eq!(regrets(&with_null), regrets(&first));
    std::fs::write(&file, &text).unwrap();
    let (_, trained) = go(&more, 2);
    assert_eq!(trained, 2);
    // A damaged line is named, not skipped.
    std::fs::write(&file, [b"\xff\n", text.as_bytes()].concat()).unwrap();
    let error = Results::open(dir.path(), &application).unwrap_err();
    assert!(error.to_string().contains("line 1"), "{error}");
    std::fs::write(&file, &text).unwrap();
    // From nothing, on another number of threads: the same numbers.
    assert_eq!(regrets(&study(&application, &few)), regrets(&first));

    let other = Synthetic::drawn(Profile::Sound, Some(1.0)).unwrap();
    let error = Results::open(dir.path(), &other).unwrap_err();
    assert!(error.to_string().contains("made with another `data`"), "{error}");

    let held = open();
    let error = Results::open(dir.path(), &application).unwrap_err();
    assert!(error.to_string().contains("another command is writing here"), "{error}");
    drop(held);
    open();
}

#[test]
fn an_interrupt_leaves_nothing_half_done() {
    let application = Synthetic::drawn(Profile::Sound, None).unwrap();
    let plan = plan(&application, "5,3,1", Some(20), &["constant", "l2"]);
    let dir = tempfile::tempdir().unwrap();
    let results = Results::open(dir.path(), &application).unwrap();
    let interrupt = Interrupt::default();
    interrupt.request();
    let records = run(&application, &plan, &results, &Threads(1), &(), &interrupt).unwrap();
    assert!(records.is_empty() && rows(&application, &plan, &records).is_empty());
}

#[test]
fn names_of_methods() {
    let read = |name: &str, profile| Contender::read(name, profile, &["mean-per-hour"]).map(Contender::id);
    assert_eq!(read("surrogate", Profile::Published).unwrap(), "surrogate-vertex");
    assert_eq!(read("surrogate+l2", Profile::Sound).unwrap(), "surrogate-smooth+l2");
    assert_eq!(read("mean-per-hour", Profile::Sound).unwrap(), "mean-per-hour");
    assert!(read("surogate", Profile::Sound).unwrap_err().hint().unwrap().contains("mean-per-hour"));
}
