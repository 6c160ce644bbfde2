//! `auto`: candidates by their decisions out of fold, one of them kept and trained on all rows, and it says which and why.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[allow(dead_code, reason = "each test binary uses its own part")]
mod common;

use std::sync::Arc;

use common::{Project, fit, lp, lp_table, lp_with, newsvendor, normal};
use rand::RngExt;
use regretless_core::{Matrix, Placement, Problem};
use regretless_learn::{
    Chosen, Dataset, Kind, Names, Part, PredictorKind, Settings, Task, Threads, compare, default_methods,
    is_two_stage, judge, stream,
};
use regretless_project::{Run, train_new};

/// What holds of every choice.
fn fair(task: &Task, what: &str) -> Chosen {
    let chosen = fit(task, "auto").unwrap_or_else(|e| panic!("{what}: {e}"));
    let kept = &chosen.candidate;
    let own = chosen.tried.iter().find(|t| t.name == kept.name).unwrap();
    assert!(chosen.sentence.contains(kept.name.as_str()), "{what}: {}", chosen.sentence);
    assert_eq!(own.valid.regret, kept.valid.measures.regret, "{what}");
    let most = chosen.tried.iter().map(|t| t.folds).max().unwrap();
    assert_eq!(own.folds, most, "{what}: judged on all folds");
    assert!(chosen.tried.iter().all(|t| t.folds > 0 && t.work > 0.0), "{what}");
    // The simplest within a standard error of the best: no worse than the lowest by more than errors of either.
    let whole = || chosen.tried.iter().filter(|t| t.folds == most);
    let lowest = whole().min_by(|a, b| a.valid.regret.total_cmp(&b.valid.regret)).unwrap();
    let apart = own.valid.regret - lowest.valid.regret;
    assert!(apart <= 2.0 * (own.valid.standard_error + lowest.valid.standard_error), "{what}: {apart}");
    chosen
}

#[test]
fn the_simplest_of_the_best() {
    let mut chose = 0;
    for seed in 0..3 {
        let project = lp(&format!("epochs = 15\nlearning_rate = 0.03\nseed = {seed}"));
        project.write("history.csv", lp_table(500, 1));
        let chosen = fair(&project.task(), &format!("LP, seed {seed}"));
        let names: Vec<&str> = chosen.tried.iter().map(|t| t.name.as_str()).collect();
        assert_eq!(names[..3], ["constant", "l2", "l1"]);
        assert!(names[3..].iter().all(|n| n.contains(" from l")), "{names:?}");
        assert!(names.len() >= 6, "{names:?}");
        chose += usize::from(chosen.sentence.starts_with("chose"));
    }
    assert!(chose > 0, "a linear predictor of what is not linear is worth tuning");
}

/// Where the kind is left open, lines, trees and networks are tried; the run keeps which, and is read as it was written.
#[test]
fn kinds_are_searched_where_none_is_stated() {
    let project = lp_with("", "epochs = 8\nstop = { patience = 3 }");
    let dir = project.path("run");
    let (run, outcome) =
        train_new(&project.with_method("auto"), &dir, &mut regretless_learn::Silent).unwrap();
    let names: Vec<&str> = outcome.tried.iter().map(|t| t.name.as_str()).collect();
    for name in ["constant", "linear l2", "trees on a line l2", "trees l2", "mlp on a line l2", "mlp l2"] {
        assert!(names.contains(&name), "{names:?}");
    }
    let kind: PredictorKind = ["linear", "trees", "mlp"]
        .into_iter()
        .zip([PredictorKind::Linear, PredictorKind::Trees, PredictorKind::Mlp])
        .find(|(word, _)| outcome.kept.contains(word))
        .unwrap()
        .1;
    let (model, card) = run.model().unwrap();
    // A network on a line has a format of its own.
    let format = if outcome.kept.contains("mlp on a line") { 11 } else { 7 };
    assert_eq!((card.predictor, card.format), (Some(kind), format));
    let task = project.task();
    let found = judge(&task, &model, task.test()).unwrap().measures.regret;
    assert!((found - outcome.test.unwrap().regret).abs() < 1e-9);
    // Named methods are what they were: a network.
    let (run, _) =
        train_new(&project.with_method("l2"), &project.path("l2"), &mut regretless_learn::Silent).unwrap();
    assert_eq!(run.model().unwrap().1.predictor, None);
    assert!(Run::open(&dir).unwrap().decider().is_ok());
}

#[test]
fn scenarios_are_tried_where_they_can_help() {
    let project = newsvendor("epochs = 10\nscenarios = { count = 60 }", 400);
    let chosen = fair(&project.task(), "newsvendor");
    assert!(chosen.tried.iter().any(|t| t.name.ends_with("+scenarios")));
    // Ordering the mean is a third too dear in expectation: what is kept must know better.
    let l2 = &chosen.tried.iter().find(|t| t.name.ends_with("l2")).unwrap().valid;
    assert!(chosen.candidate.valid.measures.regret < 0.9 * l2.regret, "{}", chosen.sentence);
}

/// Three quantities in a row that may not be far apart: a line with a bend, and noise whose size jumps; a unit short costs a hundred times one
/// too many.
fn bent(seed: u64, predictor: &str) -> Project {
    const FEATURES: usize = 6;
    let mut rng = stream(seed, 25, 0);
    let slopes: [[f64; FEATURES]; 3] = std::array::from_fn(|_| std::array::from_fn(|_| normal(&mut rng)));
    let mut table = String::from("f_0,f_1,f_2,f_3,f_4,f_5,d_a,d_b,d_c\n");
    for _ in 0..900 {
        let x: [f64; FEATURES] = std::array::from_fn(|_| rng.random_range(-1.0..=1.0));
        let size = if x[1] > 0.0 { 1.2 } else { 0.2 };
        let all = normal(&mut rng);
        let demand = slopes.map(|own| {
            let line: f64 = own.iter().zip(&x).map(|(slope, x)| slope * x).sum();
            20.0 + 2.0 * line + 4.0 * x[0].abs() + 0.7 * size * (all + normal(&mut rng))
        });
        let numbers: Vec<String> = x.iter().chain(&demand).map(ToString::to_string).collect();
        table += &numbers.join(",");
        table.push('\n');
    }
    let problem = r#"
[problem]
sense = "min"
variables = ["a", "b", "c"]

[[soft]]
name = "demand"
rows = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
limit = { predict = ["d_a", "d_b", "d_c"] }
over = 0.5
under = 50.0

[[hard]]
name = "steps"
rows = [[1.0, -1.0, 0.0], [-1.0, 1.0, 0.0], [0.0, 1.0, -1.0], [0.0, -1.0, 1.0]]
at_most = 2.0

[data]
file = "history.csv"
features = ["f_*"]
split = { kind = "random", valid = 0.15, test = 0.33 }

[training]
epochs = 80
"#;
    Project::new(&format!("{problem}{predictor}"), &table)
}

/// Distributions on lines, trees and networks alone cost a tenth more out of fold than what is found where trees and networks may stand on a
/// line as well: each kind alone misses the bend, the line, or where the noise is.
#[test]
fn a_line_below_is_worth_more_than_another_kind() {
    let (mut open, mut alone) = (0.0, [0.0; 3]);
    for seed in 0..2 {
        let chosen = fair(&bent(seed, "").task(), &format!("bent {seed}"));
        assert!(chosen.candidate.fitted.model.has_scenarios() && chosen.candidate.name.contains("on a line"));
        open += chosen.candidate.valid.measures.regret;
        for (sum, kind) in alone.iter_mut().zip(["linear", "trees", "mlp"]) {
            let project = bent(seed, &format!("[predictor]\nkind = \"{kind}\"\n"));
            *sum += fit(&project.task(), "auto").unwrap().candidate.valid.measures.regret;
        }
    }
    let least = alone.iter().copied().fold(f64::INFINITY, f64::min);
    assert!(open < 0.9 * least, "{open} with lines below, {alone:?} of each kind alone");
}

/// Features that say nothing: whatever looks better on a few rows does so by chance, and seldom enough.
#[test]
fn noise_is_seldom_a_reason_to_leave_what_is_simple() {
    let training = "[predictor]\nkind = \"linear\"\n[training]\nepochs = 5\nlearning_rate = 0.03\n";
    let problem = format!("{}{training}", common::LP);
    let mut kept = 0;
    for draw in 0..6 {
        let truths = lp_table(80, 10 + 2 * draw);
        let features = lp_table(80, 11 + 2 * draw);
        let mut table = String::from("p,q,r,v_a,v_b,v_c,v_d\n");
        for (f, t) in features.lines().zip(truths.lines()).skip(1) {
            let (f, t): (Vec<&str>, Vec<&str>) = (f.split(',').collect(), t.split(',').collect());
            table += &[&f[..3], &t[3..]].concat().join(",");
            table.push('\n');
        }
        let chosen = fair(&Project::new(&problem, &table).task(), &format!("noise {draw}"));
        kept += usize::from(chosen.sentence.starts_with("kept"));
    }
    assert!(kept >= 4, "{kept} of 6");
}

/// What is chosen learns from validation too: the regression of all rows, however they were split.
#[test]
fn no_row_is_held_back_for_ever() {
    let problem = Problem::maximize(2)
        .linear(vec![0.0, 0.0])
        .at_most("budget", Matrix::from_rows(&[[1.0, 1.0]]), [1.0])
        .build()
        .unwrap();
    let rows = 61;
    let at = |i: usize| (i * 37 % 61) as f64 / 61.0;
    let wobble = |i: usize| 0.3 * ((i * 53 % 17) as f64 / 17.0 - 0.5);
    let features: Vec<f64> = (0..rows).map(at).collect();
    let targets: Vec<f64> = (0..rows).flat_map(|i| [1.0 + at(i) + wobble(i), 2.0 - at(i)]).collect();
    let task = |parts: &dyn Fn(usize) -> Part| {
        let parts: Vec<Part> = (0..rows).map(parts).collect();
        let data =
            Dataset::new(features.clone(), targets.clone(), rows, Names::numbered(1)).with_parts(&parts);
        let mut settings = Settings::default();
        settings.predictor.kind = PredictorKind::Linear;
        Task::new(problem.clone(), Placement::theta(2), Arc::new(data), settings).unwrap()
    };
    let split = task(&|i| if i % 4 == 0 { Part::Valid } else { Part::Train });
    let chosen = fit(&split, "auto").unwrap().candidate;
    assert_eq!(chosen.name, "l2");
    // The last row is the one that it cannot be given: a part for validation needs one.
    let nearly = task(&|i| if i == 60 { Part::Valid } else { Part::Train });
    let [own, all, part] = [
        &chosen.fitted.model,
        &fit(&nearly, "l2").unwrap().candidate.fitted.model,
        &fit(&split, "l2").unwrap().candidate.fitted.model,
    ]
    .map(|model| model.predict(&[0.1, 0.9], 2));
    let apart = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(apart(&own, &all) < 0.5 * apart(&part, &all), "{own:?} {all:?} {part:?}");
}

/// What goes on from a forecast has its inputs, whatever levels the rows have that it is stopped by, and starts as the forecast of the other
/// rows: with steps of next to no length all decide alike, and nearly as the forecast of all.
#[test]
fn tuned_predictors_start_where_the_forecast_ended() {
    let problem = Problem::maximize(3)
        .linear(vec![0.0; 3])
        .at_most("budget", Matrix::from_rows(&[[1.0, 1.0, 1.0]]), [1.0])
        .build()
        .unwrap();
    // Levels that are as frequent as one another, and two with about as many rows as a level needs to be told apart.
    let (rows, shops) = (90, ["north", "south", "east", "west", "rare", "odd"]);
    let level = |i: usize| match i % 13 {
        7 => 4,
        3 => 5,
        _ => i * 7 % 4,
    };
    let features: Vec<f64> = (0..rows).map(|i| level(i) as f64).collect();
    let truth = |i: usize, j: usize| {
        f64::from(u8::from(level(i) == j)) + 0.5 * ((i * 31 + j * 17) % 23) as f64 / 23.0
    };
    let targets: Vec<f64> = (0..rows).flat_map(|i| (0..3).map(move |j| truth(i, j))).collect();
    let kinds = vec![Kind::Category(shops.iter().map(ToString::to_string).collect())];
    for seed in 0..4 {
        let data = Dataset::new(features.clone(), targets.clone(), rows, Names::numbered(1));
        let mut settings = Settings::default();
        settings.predictor.kind = PredictorKind::Linear;
        (settings.training.epochs, settings.training.learning_rate, settings.training.seed) =
            (2, 1e-12, seed);
        let data = Arc::new(data.with_kinds(kinds.clone()));
        let task = Task::new(problem.clone(), Placement::theta(3), data, settings).unwrap();
        let tried = fit(&task, "auto").unwrap().tried;
        let regret = |name: &str, f: usize| tried.iter().find(|t| t.name == name).map(|t| t.by_fold[f]);
        let tuned = tried.iter().filter_map(|t| Some((t, t.name.split_once(" from ")?.1)));
        let each = |(t, start): (_, &'_ str)| {
            let t: &regretless_learn::Tried = t;
            let of = |(f, own): (usize, &f64)| (f, t.name.clone(), *own, regret(start, f).unwrap());
            t.by_fold.iter().enumerate().map(of).collect::<Vec<_>>()
        };
        let tuned: Vec<_> = tuned.flat_map(each).collect();
        assert!(!tuned.is_empty());
        let constant = |f: usize| regret("constant", f).unwrap();
        for (f, name, own, start) in &tuned {
            let near = 0.25 * (constant(*f) - start);
            assert!((own - start).abs() < near, "{name}: {own}, and {start} where it started");
            let alike = tuned.iter().filter(|(g, ..)| g == f);
            alike.for_each(|(_, other, theirs, _)| {
                assert!((own - theirs).abs() < 1e-3 * (1.0 + start), "{name}: {own}, {other}: {theirs}");
            });
        }
    }
}

/// Who cannot win is not judged on all folds, and nobody that is kept or within reach is left behind.
#[test]
fn who_is_far_behind_does_not_go_on() {
    let project = lp_with("", "epochs = 8\nstop = { patience = 3 }");
    let chosen = fair(&project.task(), "kinds");
    let most = chosen.candidate.valid.rows.len();
    let folds = chosen.tried.iter().map(|t| t.folds).max().unwrap();
    assert!(chosen.tried.iter().any(|t| t.folds < folds), "everybody was judged on all folds");
    for tried in &chosen.tried {
        assert_eq!(tried.by_fold.len(), tried.folds, "{}", tried.name);
        assert!(tried.folds == folds || tried.folds <= 2, "{}: {} folds", tried.name, tried.folds);
        assert!(tried.valid.instances <= most);
        if tried.folds < folds && tried.name != chosen.candidate.name {
            let gap = tried.gap.unwrap();
            assert!(gap.interval.0 <= gap.mean && gap.mean <= gap.interval.1);
        }
    }
    // The first two have to come to the end.
    assert!(chosen.tried[..2].iter().all(|t| t.folds == folds));
}

#[test]
fn a_comparison_has_one_best_row_and_the_constant_predictor() {
    let project = lp("epochs = 3\nlearning_rate = 0.03");
    let task = project.task();
    let methods = default_methods(&task);
    let run = |threads: usize| {
        let interrupt = regretless_learn::Interrupt::default();
        compare(&task, &methods[1..], &[0, 1, 2], &Threads(threads), &(), &interrupt).unwrap()
    };
    let (one, three) = (run(1), run(3));
    assert_eq!(one.rows.len(), methods.len());
    assert_eq!(one.rows[0].method, "constant");
    assert_eq!(one.rows.iter().filter(|r| r.best).count(), 1);
    let lowest = one.rows.iter().map(|r| r.regret).fold(f64::INFINITY, f64::min);
    assert!(one.rows.iter().any(|r| r.best && r.regret == lowest));
    assert_eq!(one.paired, "seeds");
    for (a, b) in one.rows.iter().zip(&three.rows) {
        assert_eq!((&a.method, a.regret, a.std, a.p_value), (&b.method, b.regret, b.std, b.p_value));
        // The mean over the entries of the method, computed again.
        let own: Vec<f64> =
            one.records.iter().filter(|e| e.method == a.method).map(|e| e.measures.regret).collect();
        assert_eq!(own.len(), 3);
        assert!((own.iter().sum::<f64>() / 3.0 - a.regret).abs() < 1e-12);
    }
    let two_stage =
        one.rows.iter().filter(|r| is_two_stage(&r.method)).map(|r| r.regret).fold(f64::INFINITY, f64::min);
    for row in &one.rows {
        assert!((row.ratio.unwrap() - row.regret / two_stage).abs() < 1e-12, "{}", row.method);
    }
}
