//! What a trial is known by, and what a folder of results makes of it.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use regretless_core::{Matrix, Placement, Problem, Soft};
use regretless_learn::{
    Comparison, Dataset, Interrupt, Names, PredictorKind, Record, Settings, StudyFolder, Task, Threads,
    Trial, compare, plan, run, tasks,
};

struct Parts {
    limit: f64,
    block: &'static str,
    features: Vec<f64>,
    targets: Vec<f64>,
    settings: Settings,
}

fn parts() -> Parts {
    let features: Vec<f64> = (0..80).map(|i| f64::from(i * 37 % 80) / 80.0).collect();
    let targets =
        features.iter().enumerate().flat_map(|(i, x)| [1.0 + x, 2.0 - x * (i % 3) as f64]).collect();
    let mut settings = Settings::default();
    settings.predictor.kind = PredictorKind::Linear;
    settings.training.epochs = 3;
    Parts { limit: 1.5, block: "store", features, targets, settings }
}

impl Parts {
    fn task(&self) -> Task {
        let problem = Problem::maximize(2)
            .linear(vec![0.0, 0.0])
            .at_most("budget", Matrix::from_rows(&[[1.0, 1.0]]), [2.0])
            .soft(self.block, Soft::over(Matrix::from_rows(&[[2.0, 1.0]]), [self.limit], [0.5]))
            .build()
            .unwrap();
        let data = Dataset::new(self.features.clone(), self.targets.clone(), 80, Names::numbered(1));
        Task::new(problem, Placement::theta(2), data, self.settings.clone()).unwrap()
    }

    fn hash(&self) -> String {
        let [problem, data] = self.task().content();
        Trial { method: "l2".parse().unwrap(), seed: 3 }.hash(&format!("{problem}{data}"))
    }
}

#[test]
fn a_trial_is_known_by_all_that_decides_it() {
    let plain = parts().hash();
    assert_eq!(plain, parts().hash());
    let changes: [fn(&mut Parts); 6] = [
        |p| p.limit = f64::from_bits(p.limit.to_bits() + 1),
        |p| p.block = "shelf",
        |p| p.features[7] = -p.features[7],
        // Changes that cancel in a hash which multiplies whole numbers of 64 bits: two signs.
        |p| p.targets[4..6].iter_mut().for_each(|v| *v = -*v),
        |p| p.features.swap(10, 11),
        |p| p.settings.training.epochs = 4,
    ];
    let mut seen = vec![plain.clone()];
    for change in changes {
        let mut changed = parts();
        change(&mut changed);
        seen.push(changed.hash());
    }
    let [problem, data] = parts().task().content();
    for (method, seed) in [("l1", 3), ("l2", 4)] {
        let trial = Trial { method: method.parse().unwrap(), seed };
        seen.push(trial.hash(&format!("{problem}{data}")));
    }
    let count = seen.len();
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), count);
    // The seed and the method of the settings are not the trial's.
    let mut other = parts();
    (other.settings.training.seed, other.settings.training.method) = (99, "spo+".parse().unwrap());
    assert_eq!(other.hash(), plain);
}

#[test]
fn a_folder_gives_what_one_process_gives() {
    let task = parts().task();
    let (methods, seeds) = (["l2".parse().unwrap(), "spo+".parse().unwrap()], [5, 6]);
    let interrupt = Interrupt::default();
    let expected = compare(&task, &methods, &seeds, &Threads(1), &(), &interrupt).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let trials = plan(&task, &methods, &seeds).unwrap();
    let lines: Vec<(String, u64)> = trials.iter().map(|trial| (trial.hash(""), trial.seed)).collect();
    let folder = StudyFolder::plan(dir.path(), "test", &(), &lines).unwrap();
    let each = |i: usize, record: Result<Record, _>| folder.write(i, &record.unwrap()).is_ok();
    run(&tasks(&task, &trials).unwrap(), &trials, &Threads(2), &interrupt, &|_| true, &each).unwrap();
    let read = |i: usize| folder.result::<Record>(i).unwrap().unwrap();
    let records: Vec<Record> = (0..trials.len()).map(read).collect();
    let regrets = |found: &Comparison| -> Vec<(String, u64, Option<u64>)> {
        let bits =
            |r: &regretless_learn::Row| (r.method.clone(), r.regret.to_bits(), r.p_value.map(f64::to_bits));
        found.rows.iter().map(bits).collect()
    };
    let found = Comparison::of(&task, &trials, records.clone()).unwrap();
    assert_eq!(regrets(&found), regrets(&expected));
    assert!(found.warnings == expected.warnings && found.records.len() == 6);
    // A seed that lacks a trial is left out, a method without any is named.
    let without: Vec<Record> =
        records.iter().filter(|r| !(r.seed == 6 && r.method == "l2")).cloned().collect();
    let found = Comparison::of(&task, &trials, without).unwrap();
    assert!(found.rows.len() == 3 && found.rows.iter().all(|row| row.seeds == 1));
    let without: Vec<Record> = records.iter().filter(|r| r.method != "spo+").cloned().collect();
    let found = Comparison::of(&task, &trials, without).unwrap();
    let names: Vec<&str> = found.rows.iter().map(|row| row.method.as_str()).collect();
    assert_eq!(names, ["constant", "l2"]);
    assert!(found.rows.iter().all(|row| row.seeds == 2));
    assert!(found.warnings.last().unwrap().contains("spo+"), "{:?}", found.warnings);
    assert!(Comparison::of(&task, &trials, Vec::new()).unwrap().rows.is_empty());
}

/// What a method decides little of is compared on those rows, and has no ratio to means of other rows.
#[test]
fn methods_are_compared_on_rows_that_both_decide() {
    use statrs::distribution::{ContinuousCDF, StudentsT};
    let task = parts().task();
    let (methods, seeds) = (["l2".parse().unwrap(), "spo+".parse().unwrap()], [5, 6, 7]);
    let whole = compare(&task, &methods, &seeds, &Threads(1), &(), &Interrupt::default()).unwrap().records;
    let mut records = whole.clone();
    for record in records.iter_mut().filter(|r| r.method == "spo+") {
        // The dear half of the rows is left without a decision.
        let mut sorted = record.regrets.clone();
        sorted.sort_by(f64::total_cmp);
        let middle = sorted[sorted.len() / 2];
        record.regrets.iter_mut().filter(|r| **r > middle).for_each(|r| *r = f64::NAN);
        let kept: Vec<f64> = record.regrets.iter().copied().filter(|r| r.is_finite()).collect();
        record.measures.undecided = record.regrets.len() - kept.len();
        record.measures.regret = kept.iter().sum::<f64>() / kept.len() as f64;
    }
    let trials = plan(&task, &methods, &seeds).unwrap();
    let found = Comparison::of(&task, &trials, records.clone()).unwrap();
    let row = |name: &str| found.rows.iter().find(|r| r.method == name).unwrap().clone();
    assert!(row("spo+").ratio.is_none() && !row("spo+").best && row("l2").ratio == Some(1.0));
    // The gaps by seed, by hand.
    let of =
        |name: &str, seed: u64| &records.iter().find(|r| r.method == name && r.seed == seed).unwrap().regrets;
    let gap = |&seed: &u64| {
        let gaps = of("spo+", seed).iter().zip(of("l2", seed)).map(|(a, b)| a - b).filter(|g| g.is_finite());
        let gaps: Vec<f64> = gaps.collect();
        gaps.iter().sum::<f64>() / gaps.len() as f64
    };
    let gaps: Vec<f64> = seeds.iter().map(gap).collect();
    let mean = gaps.iter().sum::<f64>() / 3.0;
    let variance = gaps.iter().map(|g| (g - mean).powi(2)).sum::<f64>() / 2.0;
    let t = mean / (variance / 3.0).sqrt();
    let p = 2.0 * (1.0 - StudentsT::new(0.0, 1.0, 2.0).unwrap().cdf(t.abs()));
    let said = row("spo+").p_two_stage.unwrap();
    assert!((said - p).abs() < 1e-9, "{said} is not {p}");
}
