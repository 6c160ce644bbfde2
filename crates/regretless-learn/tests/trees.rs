//! Boosted trees: splits by hand, missing cells, any loss, and the same numbers whatever happens to a run.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[allow(dead_code, reason = "each test binary uses its own part")]
mod common;

use std::cell::Cell;
use std::fmt::Write;

use common::{Project, essence, fit, lp_table, lp_with, newsvendor};
use rand::RngExt;
use regretless_learn::{
    Binned, Ensembles, Linear, Monotone, Observer, Predictor, Quantile, Silent, Slopes, TreeSettings, Trees,
    decision_methods, stream,
};
use regretless_project::{Run, train_new, train_on};

const PLAIN: TreeSettings = TreeSettings {
    depth: 6,
    leaves: 31,
    min_rows: 1,
    rows: 1.0,
    columns: 1.0,
    l2: 0.0,
    ensembles: Ensembles::One,
};

const TREES: &str = "[predictor]\nkind = \"trees\"\nmin_rows = 4\nrows = 0.7\ncolumns = 0.7\nleaves = 8\n";

fn project() -> Project {
    lp_with(TREES, "epochs = 12\nstop = { patience = 8 }")
}

/// Trees fitted to squared errors from outputs of 0: rounds of one tree each.
fn boosted(
    inputs: &[f32],
    y: &[f64],
    width: usize,
    settings: TreeSettings,
    rounds: usize,
    rate: f64,
) -> Trees {
    let rows = y.len() / width;
    let features = inputs.len() / rows;
    let table = Binned::new(inputs, rows, features);
    let mut trees = Trees::new(features, width, settings);
    for round in 0..rounds {
        let outputs = trees.predict(inputs, rows);
        let gradient: Vec<f64> = outputs.iter().zip(y).map(|(o, y)| f64::from(*o) - y).collect();
        let mut noise = stream(3, round as u64, 0);
        let drawn = trees.sample(rows, &mut noise);
        let slopes = Slopes { gradient: &gradient, curvature: &vec![1.0; rows], quantile: None };
        trees.grow(&table, drawn, slopes, rate, &mut noise);
    }
    trees
}

/// The best cut of y in two by squared errors, by trying every one with sums of its own.
fn best_cut(x: &[f32], y: &[f64], width: usize, l2: f64) -> f64 {
    let rows: Vec<usize> = (0..x.len()).collect();
    let worth = |side: &[usize]| {
        let sum = |k: usize| side.iter().map(|&r| y[r * width + k]).sum::<f64>();
        (0..width).map(|k| sum(k).powi(2)).sum::<f64>() / (side.len() as f64 + l2)
    };
    let mut best = (f64::NEG_INFINITY, 0.0);
    for cut in x {
        let (left, right): (Vec<usize>, Vec<usize>) = rows.iter().partition(|&&r| x[r] <= *cut);
        if !right.is_empty() && worth(&left) + worth(&right) > best.0 {
            let above = right.iter().map(|&r| x[r]).fold(f32::INFINITY, f32::min);
            best = (worth(&left) + worth(&right), f64::midpoint(f64::from(*cut), f64::from(above)));
        }
    }
    best.1
}

#[test]
fn one_split_is_the_best_of_all() {
    for seed in 0..20 {
        let mut rng = stream(seed, 0, 1);
        let (rows, width) = (30, 1 + seed as usize % 6);
        let x: Vec<f32> = (0..rows).map(|_| rng.random_range(-3.0_f32..3.0).round()).collect();
        let y: Vec<f64> = (0..rows * width).map(|_| rng.random_range(-1.0..1.0)).collect();
        let settings = TreeSettings { leaves: 2, l2: 0.5, ..PLAIN };
        let trees = boosted(&x, &y, width, settings, 1, 0.3);
        let cut = best_cut(&x, &y, width, 0.5);
        for (r, row) in trees.predict(&x, rows).chunks_exact(width).enumerate() {
            let side: Vec<usize> =
                (0..rows).filter(|&o| (f64::from(x[o]) <= cut) == (f64::from(x[r]) <= cut)).collect();
            for (k, found) in row.iter().enumerate() {
                let sum: f64 = side.iter().map(|&o| y[o * width + k]).sum();
                let wanted = 0.3 * sum / (side.len() as f64 + 0.5);
                assert!((f64::from(*found) - wanted).abs() < 1e-6, "seed {seed}: {found} {wanted}");
            }
        }
    }
}

#[test]
fn leaves_of_a_quantiles_loss_are_quantiles() {
    let x = [1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 2.0, 2.0];
    let y = [3.0, 1.0, 8.0, 20.0, 24.0, 21.0, 90.0, 22.0];
    // d/do of the pinball loss of level 1/4 at o = 10: too much below the truth costs 1/4, above it 3/4.
    let gradient = y.map(|y| if y > 10.0 { -0.25 } else { 0.75 });
    let short = y.map(|y| y - 10.0);
    let settings = TreeSettings { l2: 0.0, ..PLAIN };
    let mut trees = Trees::new(1, 1, settings);
    let quantile = Some(Quantile { level: 0.25, short: &short });
    let slopes = Slopes { gradient: &gradient, curvature: &[1.0; 8], quantile };
    trees.grow(&Binned::new(&x, 8, 1), (0..8).collect(), slopes, 1.0, &mut stream(0, 0, 0));
    // Of 1, 3, 8 a quarter is not above 1; of 20, 21, 22, 24, 90 it is 21.
    assert_eq!(trees.predict(&[1.0, 2.0], 2), [-9.0, 11.0]);
}

/// An ensemble for each output is what each output's own ensemble would be.
#[test]
fn ensembles_for_each_output_are_those_of_one_output() {
    let mut rng = stream(4, 0, 0);
    let (rows, width) = (80, 3);
    let x: Vec<f32> = (0..rows * 2).map(|_| rng.random_range(-1.0..1.0)).collect();
    let y: Vec<f64> = (0..rows * width).map(|_| rng.random_range(-1.0..1.0)).collect();
    let settings = TreeSettings { leaves: 5, rows: 0.8, ..PLAIN };
    let together = boosted(&x, &y, width, TreeSettings { ensembles: Ensembles::Each, ..settings }, 6, 0.3);
    let found = together.predict(&x, rows);
    for k in 0..width {
        let own: Vec<f64> = y.iter().skip(k).step_by(width).copied().collect();
        let wanted = boosted(&x, &own, 1, settings, 6, 0.3).predict(&x, rows);
        let found: Vec<f32> = found.iter().skip(k).step_by(width).copied().collect();
        assert_eq!(found, wanted, "output {k}");
    }
}

/// Trees on a line fit what the line leaves, and both are added up.
#[test]
fn trees_stand_on_a_line() {
    let x: Vec<f32> = (0..40).map(|i| i as f32 / 10.0 - 2.0).collect();
    let line = Linear { weights: vec![2.0], biases: vec![1.0] };
    let y: Vec<f64> = x.iter().map(|x| f64::from(1.0 + 2.0 * x + if *x > 0.5 { 3.0 } else { 0.0 })).collect();
    let mut trees = Trees::new(1, 1, TreeSettings { leaves: 2, ..PLAIN }).on(line);
    let gradient: Vec<f64> = trees.predict(&x, 40).iter().zip(&y).map(|(o, y)| f64::from(*o) - y).collect();
    let slopes = Slopes { gradient: &gradient, curvature: &[1.0; 40], quantile: None };
    trees.grow(&Binned::new(&x, 40, 1), (0..40).collect(), slopes, 1.0, &mut stream(0, 0, 0));
    for (found, y) in trees.predict(&x, 40).iter().zip(&y) {
        assert!((f64::from(*found) - y).abs() < 1e-5, "{found} {y}");
    }
    // Beyond what was seen it goes on as the line; a missing cell is at the mean of the line.
    let beyond = trees.predict(&[10.0, f32::NAN], 2);
    assert!((beyond[0] - 24.0).abs() < 1e-4 && (beyond[1] - 1.0).abs() < 3.1, "{beyond:?}");
}

/// Noisy data against which a free tree goes up and down: bounded ones do not, for squared errors and quantiles, and still learn.
#[test]
fn directions_are_kept() {
    let mut rng = stream(8, 0, 0);
    let rows = 300;
    let x: Vec<f32> = (0..rows * 2).map(|_| rng.random_range(-1.0..1.0)).collect();
    let width = 2;
    let truth = |r: usize| f64::from(x[2 * r]) + (3.0 * f64::from(x[2 * r + 1])).sin();
    let y: Vec<f64> =
        (0..rows).flat_map(|r| [truth(r), -truth(r)].map(|t| t + rng.random_range(-1.0..1.0))).collect();
    let directions = [Monotone::Increasing, Monotone::Free];
    for (level, sign) in [(None, 1.0), (Some(0.3), 1.0), (None, -1.0)] {
        // Both outputs in the same direction.
        let y: Vec<f64> =
            y.iter().enumerate().map(|(i, y)| if i % 2 == 1 { -y } else { *y } * sign).collect();
        let directions = if sign > 0.0 { directions } else { [Monotone::Decreasing, Monotone::Free] };
        let table = Binned::new(&x, rows, 2);
        let grown = |directions: Vec<Monotone>| {
            let settings = TreeSettings { leaves: 12, min_rows: 3, ..PLAIN };
            let mut trees = Trees::new(2, width, settings).with_directions(directions);
            for round in 0..20 {
                let now = trees.predict(&x, rows);
                let short: Vec<f64> = now.iter().zip(&y).map(|(o, y)| y - f64::from(*o)).collect();
                let gradient: Vec<f64> = match level {
                    None => short.iter().map(|s| -s).collect(),
                    Some(tau) => short.iter().map(|s| if *s > 0.0 { -tau } else { 1.0 - tau }).collect(),
                };
                let quantile = level.map(|level| Quantile { level, short: &short });
                let slopes = Slopes { gradient: &gradient, curvature: &vec![1.0; rows], quantile };
                trees.grow(&table, (0..rows as u32).collect(), slopes, 0.3, &mut stream(1, round, 0));
            }
            trees
        };
        let steps = |trees: &Trees| {
            let mut falls = 0;
            for other in [-0.8_f32, 0.0, 0.6] {
                let line: Vec<f32> = (0..200).flat_map(|i| [i as f32 / 100.0 - 1.0, other]).collect();
                let out = trees.predict(&line, 200);
                falls += out
                    .chunks_exact(width)
                    .zip(out.chunks_exact(width).skip(1))
                    .filter(|(a, b)| (0..width).any(|k| f64::from(b[k] - a[k]) * sign < -1e-6))
                    .count();
            }
            falls
        };
        let (bounded, free) = (grown(directions.to_vec()), grown(vec![Monotone::Free; 2]));
        assert_eq!(steps(&bounded), 0, "{level:?} {sign}");
        assert!(steps(&free) > 0, "free trees follow the noise");
        let error = |trees: &Trees| {
            let out = trees.predict(&x, rows);
            (0..rows).map(|r| (f64::from(out[2 * r]) - sign * truth(r)).powi(2)).sum::<f64>() / rows as f64
        };
        let nothing = (0..rows).map(|r| truth(r).powi(2)).sum::<f64>() / rows as f64;
        assert!(error(&bounded) < 0.6 * nothing, "{level:?}: {} of {nothing}", error(&bounded));
    }
}

#[test]
fn gains_say_what_was_used() {
    let mut rng = stream(6, 0, 0);
    let x: Vec<f32> = (0..200 * 3).map(|_| rng.random_range(-1.0..1.0)).collect();
    let y: Vec<f64> =
        x.chunks_exact(3).map(|x| 3.0 * f64::from(x[1].signum()) + 0.3 * f64::from(x[2])).collect();
    let found = boosted(&x, &y, 1, TreeSettings { leaves: 4, ..PLAIN }, 5, 0.5).importance();
    assert!((found.iter().sum::<f64>() - 1.0).abs() < 1e-9);
    assert!(found[1] > 0.9 && found[1] > found[2] && found[2] > found[0], "{found:?}");
    assert_eq!(Trees::new(3, 1, PLAIN).importance(), [0.0; 3]);
}

/// A row that counts twice is that row twice.
#[test]
fn weights_are_repetitions() {
    let mut rng = stream(9, 0, 0);
    let rows = 60;
    let x: Vec<f32> = (0..rows * 2).map(|_| rng.random_range(-1.0..1.0)).collect();
    let y: Vec<f64> = (0..rows).map(|_| rng.random_range(-1.0..1.0)).collect();
    let weight: Vec<f64> = (0..rows).map(|i| if i % 3 == 0 { 2.0 } else { 1.0 }).collect();
    let twice: Vec<usize> = (0..rows).chain((0..rows).step_by(3)).collect();
    let (wide, long): (Vec<f32>, Vec<f64>) = (
        twice.iter().flat_map(|&r| x[2 * r..2 * r + 2].to_vec()).collect(),
        twice.iter().map(|&r| y[r]).collect(),
    );
    let grown = |inputs: &[f32], y: &[f64], curvature: &[f64], level: Option<f64>| {
        let gradient: Vec<f64> = match level {
            None => y.iter().zip(curvature).map(|(y, w)| -w * y).collect(),
            Some(level) => y
                .iter()
                .zip(curvature)
                .map(|(y, w)| w * if *y > 0.0 { -level } else { 1.0 - level })
                .collect(),
        };
        let mut trees = Trees::new(2, 1, PLAIN);
        let quantile = level.map(|level| Quantile { level, short: y });
        let slopes = Slopes { gradient: &gradient, curvature, quantile };
        let rows = (0..y.len() as u32).collect();
        trees.grow(&Binned::new(inputs, y.len(), 2), rows, slopes, 1.0, &mut stream(0, 0, 0));
        trees.predict(&x, 60)
    };
    // Quarters are added up exactly: which of two equal splits is taken does not hang on rounding.
    for level in [None, Some(0.5), Some(0.25)] {
        let (a, b) = (grown(&x, &y, &weight, level), grown(&wide, &long, &vec![1.0; long.len()], level));
        for (a, b) in a.iter().zip(b) {
            assert!((a - b).abs() < 1e-5, "{level:?}: {a} {b}");
        }
    }
}

#[test]
fn missing_cells_go_where_they_fit() {
    let nan = f32::NAN;
    let x = [1.0, 2.0, 3.0, 4.0, nan, nan];
    for (missing, y) in [(9.0, [5.0, 5.0, 9.0, 9.0, 9.0, 9.0]), (5.0, [5.0, 5.0, 9.0, 9.0, 5.0, 5.0])] {
        let trees = boosted(&x, &y, 1, PLAIN, 1, 1.0);
        assert_eq!(trees.predict(&[nan, 0.0, 100.0], 3), [missing, 5.0, 9.0]);
    }
    // Of a value of their own they are told apart, too.
    let y = [5.0, 5.0, 9.0, 9.0, -4.0, -4.0];
    assert_eq!(boosted(&x, &y, 1, PLAIN, 1, 1.0).predict(&[nan, 0.0, 100.0], 3), [-4.0, 5.0, 9.0]);
    // Never seen missing: with the larger side.
    let trees = boosted(&[1.0, 2.0, 3.0, 4.0, 5.0], &[5.0, 5.0, 9.0, 9.0, 9.0], 1, PLAIN, 1, 1.0);
    assert_eq!(trees.predict(&[nan], 1), [9.0]);
}

#[test]
fn trees_are_as_small_as_told() {
    let mut rng = stream(5, 0, 0);
    let (rows, features) = (400, 3);
    let x: Vec<f32> = (0..rows * features).map(|_| rng.random_range(-1.0..1.0)).collect();
    let y: Vec<f64> = (0..rows).map(|_| rng.random_range(-1.0..1.0)).collect();
    for (depth, leaves, min_rows) in [(2, 31, 1), (64, 7, 1), (64, 1000, 40), (1, 2, 1)] {
        let settings = TreeSettings { depth, leaves, min_rows, ..PLAIN };
        let trees = boosted(&x, &y, 1, settings, 3, 0.5);
        for tree in trees.trees() {
            assert!(tree.depth() <= depth && tree.leaves() <= leaves && tree.leaves() > 1);
        }
        // Rows with the same output of one tree are those of a leaf.
        let one = boosted(&x, &y, 1, settings, 1, 0.5).predict(&x, rows);
        for output in &one {
            assert!(one.iter().filter(|o| *o == output).count() >= min_rows);
        }
    }
}

#[test]
fn enough_trees_fit_everything() {
    let mut rng = stream(6, 0, 0);
    let x: Vec<f32> = (0..300).map(|_| rng.random_range(-1.0..1.0)).collect();
    let y: Vec<f64> = (0..200).map(|_| rng.random_range(-1.0..1.0)).collect();
    let trees = boosted(&x, &y, 2, PLAIN, 60, 0.5);
    let errors =
        trees.predict(&x, 100).iter().zip(&y).map(|(o, y)| (f64::from(*o) - y).abs()).fold(0.0, f64::max);
    assert!(errors < 1e-4, "{errors}");
}

#[test]
fn every_method_beats_the_constant_predictor() {
    let project = lp_with("[predictor]\nkind = \"trees\"\nmin_rows = 5\n", "epochs = 40");
    let task = project.task();
    let constant = fit(&task, "constant").unwrap().candidate.valid.measures.regret;
    let names = decision_methods(&task).iter().map(ToString::to_string).collect::<Vec<_>>();
    let two_stage =
        ["l2", "l1", "weighted-l1", "surrogate-vertex", "fenchel-young", "auto"].map(str::to_owned);
    for method in names.iter().chain(&two_stage) {
        let chosen = fit(&task, method).unwrap_or_else(|e| panic!("{method}: {e}"));
        let regret = chosen.candidate.valid.measures.regret;
        assert!(regret < 0.8 * constant, "{method}: {regret} against {constant}");
    }
}

#[test]
fn numbers_do_not_depend_on_threads() {
    // Wide enough for histograms to be shared between threads.
    let mut rng = stream(8, 0, 0);
    let (rows, features, width) = (3000, 6, 4);
    let x: Vec<f32> = (0..rows * features).map(|_| rng.random_range(-1.0..1.0)).collect();
    let y: Vec<f64> =
        (0..rows * width).map(|i| f64::from(x[i % x.len()]) * rng.random_range(0.0..2.0)).collect();
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let settings = TreeSettings { rows: 0.7, columns: 0.7, ..PLAIN };
            boosted(&x, &y, width, settings, 5, 0.3).predict(&x, rows)
        })
    };
    assert!(run(1) == run(3));
    for method in ["l2", "spo+", "surrogate-smooth+l2"] {
        same_by_threads(&project(), method);
    }
}

fn same_by_threads(project: &Project, method: &str) {
    let run = |threads: usize| {
        let dir = project.path(&format!("{method}-on-{threads}"));
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| train_new(&project.with_method(method), &dir, &mut Silent)).unwrap();
        essence(&dir)
    };
    assert!(run(1) == run(3), "{method}");
}

/// Asks for the end after so many looks at the flag, which happen before every round and within it.
struct Stop {
    after: usize,
    looked: Cell<usize>,
}

impl Observer for Stop {
    fn interrupted(&self) -> bool {
        self.looked.set(self.looked.get() + 1);
        self.looked.get() > self.after
    }
}

#[test]
fn stopped_runs_go_on_bit_by_bit() {
    let with =
        |keys: &str| lp_with(&(TREES.to_owned() + keys), "epochs = 6\nstop = { patience = 8 }\nwarmup = 2");
    go_on(&project(), &["l2", "surrogate-smooth", "auto"]);
    go_on(&with("base = \"linear\"\nensembles = \"auto\"\n"), &["spo+"]);
    go_on(&with("base = \"constant\"\nmonotone = { p = \"increasing\" }\n"), &["spo+"]);
    go_on(&lp_with(TREES, BACK), &["spo+", "l2", "surrogate-smooth"]);
}

const BACK: &str = "epochs = 30\nstop = { patience = 12 }\nwarmup = \"auto\"\nschedule = { kind = \"plateau\", factor = 0.5, \
                    patience = 1, back = true }";

/// Follows the rule epoch by epoch: what was tried in vain leaves no trees behind.
#[test]
fn trees_go_back_where_they_get_nowhere() {
    let chosen = fit(&lp_with(TREES, BACK).task(), "spo+").unwrap().candidate.fitted;
    let (mut rate, mut flat, mut best, mut backs) = (0.1, 0, f64::INFINITY, 0);
    let (mut grown, mut kept) = (0, 0);
    for epoch in &chosen.history {
        assert_eq!(epoch.rate, rate, "epoch {}", epoch.epoch);
        grown += usize::from(epoch.epoch > 0);
        if epoch.valid.regret < best {
            (best, flat, kept) = (epoch.valid.regret, 0, grown);
        } else {
            flat += 1;
        }
        assert_eq!(epoch.back, flat > 1, "epoch {}", epoch.epoch);
        if epoch.back {
            (rate, flat, grown, backs) = (rate / 2.0, 0, kept, backs + 1);
        }
    }
    assert!(backs > 1 && kept > 1, "{backs} {kept}");
    let start = fit(&lp_with(TREES, BACK).task(), "l2").unwrap().candidate.fitted;
    let trees = |model: &regretless_learn::Model| model.members[0].boosting().unwrap().trees().len();
    assert_eq!(trees(&chosen.model), trees(&start.model) + kept);
}

/// By themselves trees go back where the loss has no curvature, and nowhere else.
#[test]
fn rates_fall_where_steps_do_not_shorten() {
    let falls = |keys: &str, method: &str| {
        let training = format!("epochs = 60\nstop = {{ patience = 30 }}\n{keys}");
        let history = fit(&lp_with(TREES, &training).task(), method).unwrap().candidate.fitted.history;
        history.iter().any(|e| e.back)
    };
    assert!(falls("", "spo+"));
    assert!(!falls("schedule = \"constant\"", "spo+") && !falls("", "spo++l2") && !falls("", "l2"));
}

/// Predicted limits: demand, which decision losses reach through the soft row.
#[test]
fn predicted_limits() {
    let trees = TREES.replace("[predictor]\n", "").replace("kind = \"trees\"", "");
    let plain = newsvendor("epochs = 12\nlearning_rate = 0.3\nscenarios = { count = 20 }", 120);
    let text = std::fs::read_to_string(plain.path("problem.toml")).unwrap();
    let text = text.replace("learning_rate = 0.05\n", "");
    plain.write("problem.toml", text.replace("kind = \"linear\"", &format!("kind = \"trees\"{trees}")));
    let methods = ["surrogate-smooth", "surrogate-smooth+scaled", "df", "weighted-l1"];
    let constant = fit(&plain.task(), "constant").unwrap().candidate.valid.measures.regret;
    for method in methods {
        let regret = fit(&plain.task(), method).unwrap().candidate.valid.measures.regret;
        assert!(regret < 0.9 * constant, "{method}: {regret} against {constant}");
        same_by_threads(&plain, method);
    }
    go_on(&plain, &methods);
}

#[test]
fn directions_are_refused_on_a_line() {
    let both = TREES.to_owned() + "base = \"linear\"\nmonotone = { p = \"increasing\" }\n";
    let error = fit(&lp_with(&both, "epochs = 2").task(), "l2").unwrap_err().to_string();
    assert!(error.contains("`monotone` binds trees"), "{error}");
}

fn go_on(project: &Project, methods: &[&str]) {
    for method in methods {
        let spec = project.with_method(method);
        let whole = project.path(&format!("{method}-whole"));
        train_new(&spec, &whole, &mut Silent).unwrap();
        let wanted = essence(&whole);
        for after in [0, 3, 10, 25, 60] {
            let dir = project.path(&format!("{method}-{after}"));
            train_new(&spec, &dir, &mut Stop { after, looked: Cell::new(0) }).unwrap();
            train_on(&dir, &mut Silent).unwrap_or_else(|e| panic!("{method} {after}: {e}"));
            let found = essence(&dir);
            assert_eq!(found.0, wanted.0, "{method} stopped after {after}: epochs");
            assert_eq!(found.1, wanted.1, "{method} stopped after {after}: result");
            assert!(found.2 == wanted.2, "{method} stopped after {after}: model");
        }
    }
}

#[test]
fn models_are_read_as_they_were_written() {
    let project = project();
    let task = project.task();
    let wanted = fit(&task, "l2").unwrap().candidate.fitted.model;
    let dir = project.path("run");
    train_new(&project.with_method("l2"), &dir, &mut Silent).unwrap();
    let (found, card) = Run::open(&dir).unwrap().model().unwrap();
    assert_eq!(card.format, 3);
    let rows: Vec<usize> = (0..task.data().rows()).collect();
    let features = task.features(&rows);
    assert_eq!(found.predict(&features, rows.len()), wanted.predict(&features, rows.len()));
    let trees = found.members[0].boosting().unwrap();
    assert!(!trees.trees().is_empty());
    // Cut off or scrambled it is refused, and nothing panics.
    let file = dir.join("model.safetensors");
    let bytes = std::fs::read(&file).unwrap();
    for i in (0..bytes.len()).step_by(bytes.len() / 300) {
        let mut damaged = bytes.clone();
        damaged[i] ^= 0xFF;
        std::fs::write(&file, damaged).unwrap();
        if let Ok((model, _)) = Run::open(&dir).unwrap().model() {
            let _ = model.predict(&features, rows.len());
        }
    }
}

/// On a line, with an ensemble for each output: what was learned is what is read, and the line helps where there is one.
#[test]
fn wide_trees_are_read_as_they_were_written() {
    let sections = TREES.to_owned() + "base = \"linear\"\nensembles = \"each\"\n";
    let project = lp_with(&sections, "epochs = 6");
    let task = project.task();
    let wanted = fit(&task, "l2").unwrap().candidate;
    // A forecast starts as the regression of a linear one.
    let linear =
        lp_with("[predictor]\nkind = \"linear\"\ntarget_transform = \"none\"\n", "epochs = 1").task();
    let regression = fit(&linear, "l2").unwrap().candidate.valid.measures;
    let start = &wanted.fitted.history[0].valid;
    assert!((start.mse / regression.mse - 1.0).abs() < 1e-4, "{} {}", start.mse, regression.mse);
    let dir = project.path("run");
    train_new(&project.with_method("l2"), &dir, &mut Silent).unwrap();
    let (found, card) = Run::open(&dir).unwrap().model().unwrap();
    assert_eq!((card.format, card.importance.len()), (4, 3));
    assert!((card.importance.iter().sum::<f64>() - 1.0).abs() < 1e-9);
    let rows: Vec<usize> = (0..task.data().rows()).collect();
    let features = task.features(&rows);
    assert_eq!(found.predict(&features, rows.len()), wanted.fitted.model.predict(&features, rows.len()));
    let unknown = lp_with(&(TREES.to_owned() + "monotone = { nothing = \"increasing\" }\n"), "epochs = 1");
    let error = fit(&unknown.task(), "l2").unwrap_err();
    assert!(
        error.to_string().contains("`nothing`") && error.hint().unwrap().to_string().contains('q'),
        "{error}"
    );
}

#[test]
fn other_trees_are_refused_when_resumed() {
    let project = project();
    let dir = project.path("run");
    train_new(&project.with_method("l2"), &dir, &mut Stop { after: 5, looked: Cell::new(0) }).unwrap();
    let file = dir.join("config.toml");
    let config = std::fs::read_to_string(&file).unwrap();
    let changed = config.replacen("leaves = 8", "leaves = 9", 1);
    assert_ne!(config, changed);
    std::fs::write(&file, changed).unwrap();
    let error = train_on(&dir, &mut Silent).expect_err("other trees");
    assert!(error.to_string().contains("other settings"), "{error}");
}

#[test]
fn missing_cells_of_tables_are_told_apart() {
    // Gains are high exactly where `p` is missing: the mean in its place says nothing of that.
    let mut table = String::from("p,q,r,v_a,v_b,v_c,v_d\n");
    for line in lp_table(240, 4).lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let high = cells[1].parse::<f64>().unwrap() > 0.0;
        let v = if high { "3,1,3,1" } else { "1,3,1,3" };
        writeln!(table, "{},0.1,{},{v}", if high { "" } else { cells[0] }, cells[2]).unwrap();
    }
    let problem = common::LP.replace("features = ", "missing = \"mean\"\nfeatures = ");
    let sections = "[predictor]\nkind = \"trees\"\n[training]\nepochs = 80\nkeep = \"last\"\n";
    let project = Project::new(&format!("{problem}{sections}"), &table);
    let chosen = fit(&project.task(), "l2").unwrap();
    let found = chosen.candidate.fitted.model.predict(&[f64::NAN, 0.1, 0.0, 0.0, 0.1, 0.0], 2);
    for (found, wanted) in found.iter().zip([3.0, 1.0, 3.0, 1.0, 1.0, 3.0, 1.0, 3.0]) {
        assert!((found - wanted).abs() < 0.1, "{found} {wanted}");
    }
}

/// Levels without an order: a tree of two leaves finds the set, sends new levels with the larger side and missing cells where they
/// belong, and is the same from its file's numbers.
#[test]
fn sets_of_levels_are_found_and_kept() {
    let high = [1, 4, 5];
    let rows = 600;
    let inputs: Vec<f32> = (0..rows).map(|i| if i % 11 == 0 { f32::NAN } else { (i % 7) as f32 }).collect();
    let truth = |x: f32| if x.is_nan() || high.contains(&(x as i32)) { 8.0 } else { 2.0 };
    let gradient: Vec<f64> = inputs.iter().map(|x| -truth(*x)).collect();
    let settings = TreeSettings { min_rows: 1, l2: 0.0, leaves: 2, ..TreeSettings::default() };
    let mut trees = Trees::new(1, 1, settings);
    let table = Binned::with_levels(&inputs, rows, &[9]);
    let slopes = Slopes { gradient: &gradient, curvature: &vec![1.0; rows], quantile: None };
    trees.grow(&table, (0..rows as u32).collect(), slopes, 1.0, &mut stream(0, 0, 0));
    let found = trees.predict(&inputs, rows);
    assert!(inputs.iter().zip(&found).all(|(x, y)| (truth(*x) - f64::from(*y)).abs() < 1e-5));
    // Level 7 is in no row.
    let larger = if found.iter().filter(|y| **y > 5.0).count() * 2 >= rows { 8.0 } else { 2.0 };
    assert!((trees.predict(&[7.0], 1)[0] - larger).abs() < 1e-5);
    assert_eq!(trees.trees()[0].leaves(), 2);
}
