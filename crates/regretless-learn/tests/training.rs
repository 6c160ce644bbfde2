//! Training: what it improves, what it is told, and that the same seed gives the same numbers.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[allow(dead_code, reason = "each test binary uses its own part")]
mod common;

use common::{Project, bare, fit, history, lp, lp_table, lp_with};
use regretless_core::solve::Par;
use regretless_learn::{Ended, Epoch, Fit, LearnError, Observer, Recipe, Silent, Task};
use regretless_project::{ProjectError, train_new};

const METHODS: [&str; 13] = [
    "l1",
    "l2",
    "weighted-l1",
    "spo+",
    "spo+-smooth",
    "df",
    "surrogate",
    "surrogate-vertex",
    "surrogate-smooth",
    "fenchel-young",
    "spo++l2",
    "surrogate-vertex+l2",
    "surrogate-smooth+l2",
];

#[test]
fn every_method_beats_the_constant_predictor() {
    let project = lp("epochs = 15\nlearning_rate = 0.03\nbatch = 16");
    let task = project.task();
    let constant = fit(&task, "constant").unwrap().candidate.valid.measures.regret;
    assert!(constant > 0.1, "there is something to gain: {constant}");
    for method in METHODS {
        let chosen = fit(&task, method).unwrap_or_else(|e| panic!("{method}: {e}"));
        let fitted = &chosen.candidate.fitted;
        let regret = chosen.candidate.valid.measures.regret;
        assert!(regret < 0.8 * constant, "{method}: {regret}, constant {constant}");
        // The model that is kept is that of the best epoch, and judged apart it is what the epoch said.
        let best = fitted.history.iter().map(|e| e.valid.regret).fold(f64::INFINITY, f64::min);
        assert_eq!(fitted.history[fitted.best].valid.regret, best, "{method}");
        assert!((regret - best).abs() < 1e-9 * (1.0 + best), "{method}: {regret} is not {best}");
        // Epoch 0 is the untrained predictor, which is the constant one.
        let first = fitted.history[0].valid.regret;
        assert!((first - constant).abs() < 1e-9, "{method}: {first} is not {constant}");
    }
}

#[test]
fn numbers_do_not_depend_on_threads() {
    let sections = "[predictor]\nlayers = [8]\ndropout = 0.2\nbatch_norm = true\n";
    let project = lp_with(sections, "epochs = 4\nlearning_rate = 0.02\nbatch = 16");
    let run = |method: &str, threads: usize, name: &str| {
        let par = Par::new(threads).unwrap();
        let dir = project.path(name);
        par.run(|| train_new(&project.with_method(method), &dir, &mut Silent)).unwrap();
        common::essence(&dir)
    };
    for (i, method) in
        ["l2", "spo+", "df", "surrogate-vertex", "surrogate-smooth+l2", "fenchel-young", "auto"]
            .iter()
            .enumerate()
    {
        let (one, four) = (run(method, 1, &format!("one{i}")), run(method, 4, &format!("four{i}")));
        assert_eq!(one.0, four.0, "{method}: epochs");
        assert_eq!(one.1, four.1, "{method}: result");
        assert!(one.2 == four.2, "{method}: model");
    }
}

#[test]
fn seeds_differ() {
    let with_seed = |seed: u64| {
        lp_with("[predictor]\nlayers = [8]\n", &format!("epochs = 3\nlearning_rate = 0.02\nseed = {seed}"))
    };
    let epochs = |seed: u64| bare(&history(&with_seed(seed).task(), "spo+"));
    assert_eq!(epochs(3), epochs(3));
    assert_ne!(epochs(3), epochs(4));
    // The split, too, is the seed's.
    assert_ne!(with_seed(3).task().train(), with_seed(4).task().train());
}

#[test]
fn early_stopping_waits_as_told() {
    for patience in [1, 4] {
        let project = lp(&format!(
            "epochs = 200\nlearning_rate = 0.1\nstop = {{ patience = {patience} }}\nregression = \"descent\""
        ));
        let fitted = fit(&project.task(), "l2").unwrap().candidate.fitted;
        assert_eq!(fitted.ended, Ended::NoProgress);
        // The lowest regret is kept; the end is `patience` epochs after the last that brought regret or loss down by a ten
        // thousandth.
        let (mut best, mut improved) = (0, 0);
        let (mut regret, mut loss) = (f64::INFINITY, f64::INFINITY);
        for (i, epoch) in fitted.history.iter().enumerate() {
            assert_eq!(epoch.best, i == 0 || epoch.valid.regret < fitted.history[best].valid.regret, "{i}");
            if epoch.best {
                best = i;
            }
            for (value, lowest) in [(epoch.valid.regret, &mut regret), (epoch.valid_loss.unwrap(), &mut loss)]
            {
                if i == 0 || value < *lowest * (1.0 - 1e-4) {
                    (*lowest, improved) = (value, i);
                }
            }
            assert_eq!(i - improved >= patience, i + 1 == fitted.history.len(), "epoch {i}, {improved}");
        }
        assert_eq!(fitted.best, best);
    }
    let project = lp("epochs = 9\nlearning_rate = 0.1\nstop = \"never\"\nregression = \"descent\"");
    let fitted = fit(&project.task(), "l2").unwrap().candidate.fitted;
    assert_eq!((fitted.ended, fitted.history.len()), (Ended::LastEpoch, 10));
}

#[test]
fn the_papers_rule_stops() {
    let project = lp("epochs = 200\nlearning_rate = 0.1\nstop = \"paper\"\nregression = \"descent\"");
    let fitted = fit(&project.task(), "l2").unwrap().candidate.fitted;
    assert_eq!(fitted.ended, Ended::NoProgress);
    let regrets: Vec<f64> = fitted.history.iter().skip(1).map(|e| e.valid.regret).collect();
    let stops = |n: usize| n >= 8 && (n - 4..n).all(|t| regrets[t] >= regrets[t - 4] + 1e-6);
    let first = (1..=regrets.len()).find(|&n| stops(n));
    assert_eq!(first, Some(regrets.len()));
}

#[test]
fn the_rate_falls_on_a_plateau() {
    let training = "epochs = 40\nlearning_rate = 0.1\nstop = \"never\"\nschedule = { kind = \"plateau\", factor = 0.5, patience = 2 }\nregression = \"descent\"";
    let epochs = history(&lp(training).task(), "l2");
    // PyTorch's rule: more than `patience` epochs no better than the best so far.
    let (mut rate, mut flat, mut best, mut cuts) = (0.1, 0, f64::INFINITY, 0);
    for epoch in &epochs {
        assert!((epoch.rate - rate).abs() < 1e-15, "epoch {}: {} is not {rate}", epoch.epoch, epoch.rate);
        if epoch.valid.regret < best {
            (best, flat) = (epoch.valid.regret, 0);
        } else {
            flat += 1;
        }
        if flat > 2 {
            (rate, flat, cuts) = (rate * 0.5, 0, cuts + 1);
        }
    }
    assert!(cuts > 1, "nothing was cut in {} epochs", epochs.len());
}

/// A QP, so that every small step changes the decision, with one step an epoch.
fn qp(training: &str) -> Project {
    let problem = "[problem]\nvariables = [\"a\", \"b\"]\n[objective]\nlinear = { predict = \"v_*\" }\nquadratic = [[1, 0], [0, \
                   1]]\n[bounds]\nlower = -100.0\nupper = 100.0\n[data]\nfile = \"history.csv\"\nfeatures = [\"p\", \
                   \"q\"]\n[predictor]\nkind = \"linear\"\n[training]\nbatch = 1000\nregression = \"descent\"\noptimizer = \"sgd\"\nmomentum = 0.0\n";
    let mut table = String::from("p,q,v_a,v_b\n");
    for line in lp_table(60, 5).lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        table += &[cells[0], cells[1], cells[3], cells[5]].join(",");
        table.push('\n');
    }
    Project::new(&format!("{problem}{training}\n"), &table)
}

fn weights(task: &Task, method: &str) -> (Vec<f32>, Vec<Epoch>) {
    let fitted = fit(task, method).unwrap().candidate.fitted;
    assert_eq!(fitted.best, fitted.history.len() - 1, "the last epoch is the best");
    let values = common::weights(&fitted.model)[0].values().to_vec();
    (values, fitted.history)
}

fn length(values: &[f32]) -> f64 {
    values.iter().map(|v| f64::from(*v).powi(2)).sum::<f64>().sqrt()
}

#[test]
fn gradients_are_clipped_as_told() {
    // A linear predictor starts from zeros: after one step the weights are −rate·gradient.
    let after =
        |clip: &str| weights(&qp(&format!("epochs = 1\nlearning_rate = 0.01\nclip = {clip}")).task(), "l2");
    let (plain, epochs) = after("\"none\"");
    let norm = epochs[1].gradient;
    assert!((length(&plain) - 0.01 * norm).abs() < 1e-6, "{} {norm}", length(&plain));
    let (clipped, epochs) = after("{ norm = 0.125 }");
    assert!(norm > 0.125, "something to clip: {norm}");
    assert!((epochs[1].gradient - norm).abs() < 1e-9, "the norm before clipping is told");
    assert!((length(&clipped) - 0.01 * 0.125).abs() < 1e-8);
    for (c, p) in clipped.iter().zip(&plain) {
        assert!((f64::from(*c) - f64::from(*p) * 0.125 / norm).abs() < 1e-8, "the same direction");
    }
    let (cut, _) = after("{ value = 0.05 }");
    for (c, p) in cut.iter().zip(&plain) {
        assert!((c - p.clamp(-0.0005, 0.0005)).abs() < 1e-8, "{c} {p}");
    }
    let (loose, _) = after("{ norm = 1000.0 }");
    assert_eq!(loose, plain);
}

#[test]
fn sgd_decays_and_remembers() {
    // Two steps by hand from the gradients that one-step runs reveal: w₁ = −ηg₁; velocity μg₁ + g₂.
    let run =
        |extra: &str| weights(&qp(&format!("learning_rate = 0.01\nclip = \"none\"\n{extra}")).task(), "l2").0;
    let one = run("epochs = 1");
    let two = run("epochs = 2");
    let base = "learning_rate = 0.01\nclip = \"none\"\nepochs = 2\n";
    let heavy_problem = std::fs::read_to_string(qp(base).path("problem.toml")).unwrap();
    let heavy_problem = heavy_problem.replace("momentum = 0.0", "momentum = 0.5");
    let table = std::fs::read_to_string(qp(base).path("history.csv")).unwrap();
    let heavy = weights(&Project::new(&heavy_problem, &table).task(), "l2").0;
    for ((a, b), c) in one.iter().zip(&two).zip(&heavy) {
        // two = one + step₂, heavy = two + μ·one.
        assert!((f64::from(*c) - (f64::from(*b) + 0.5 * f64::from(*a))).abs() < 1e-7);
    }
    let decayed = run("epochs = 2\nweight_decay = 0.1");
    for ((a, b), c) in one.iter().zip(&two).zip(&decayed) {
        assert!((f64::from(*c) - (f64::from(*b) - 0.01 * 0.1 * f64::from(*a))).abs() < 1e-7);
    }
}

#[test]
fn warm_up_is_l2() {
    let settings = "epochs = 6\nlearning_rate = 0.03\nstop = \"never\"\nregression = \"descent\"";
    let l2 = history(&lp(settings).task(), "l2");
    let task = lp_with(
        "[predictor]\nkind = \"linear\"\n[surrogate]\nk = { from = 1.0, to = 16.0, epochs = 2 }\n",
        &format!("{settings}\nwarmup = 3"),
    )
    .task();
    for method in ["spo+", "surrogate-smooth", "surrogate-smooth+l2"] {
        let warm = history(&task, method);
        for (w, p) in warm.iter().zip(&l2).take(4) {
            assert_eq!(w.valid, p.valid, "{method}, epoch {}", w.epoch);
        }
        assert_ne!(warm[4].valid, l2[4].valid, "{method}");
        let mixed = if method.ends_with("+l2") { 0.5 } else { 0.0 };
        let weights: Vec<f64> = warm.iter().skip(1).map(|e| e.mix).collect();
        assert_eq!(weights, [1.0, 1.0, 1.0, mixed, mixed, mixed], "{method}");
        if method != "spo+" {
            // K begins its way after the warm-up.
            let ks: Vec<f64> = warm.iter().skip(4).map(|e| e.k.round()).collect();
            assert_eq!(ks, [1.0, 4.0, 16.0], "{method}");
        }
    }
    // Waiting for progress does not count the warm-up against the method.
    let task = lp("epochs = 12\nlearning_rate = 1e-9\nwarmup = 6\nstop = { patience = 2 }").task();
    let epochs = history(&task, "spo+");
    assert!(epochs.len() > 8, "{} epochs", epochs.len());
}

#[test]
fn mixing_has_the_right_ends() {
    let settings = |mix: &str| {
        format!("epochs = 4\nlearning_rate = 0.03\nstop = \"never\"\nregression = \"descent\"\nmix = {mix}")
    };
    let valid = |mix: &str, method: &str| -> Vec<_> {
        history(&lp(&settings(mix)).task(), method).into_iter().map(|e| e.valid).collect()
    };
    assert_eq!(valid("1.0", "spo++l2"), valid("0.5", "l2"), "all L2");
    assert_eq!(valid("0.0", "spo++l2"), valid("0.5", "spo+"), "no L2");
    assert_ne!(valid("0.5", "spo++l2"), valid("0.5", "spo+"));
    let annealed = history(&lp(&settings("{ from = 1.0, to = 0.2, epochs = 2 }")).task(), "spo++l2");
    let weights: Vec<f64> = annealed.iter().skip(1).map(|e| (e.mix * 10.0).round()).collect();
    assert_eq!(weights, [10.0, 6.0, 2.0, 2.0]);
}

#[test]
fn the_best_k_of_a_grid_is_kept() {
    let grid = lp_with(
        "[predictor]\nkind = \"linear\"\n[surrogate]\nk = [0.05, 1.0, 50.0]\n",
        "epochs = 5\nlearning_rate = 0.03",
    )
    .task();
    let chosen = fit(&grid, "surrogate-smooth").unwrap();
    assert_eq!(chosen.tried.len(), 3);
    let regrets: Vec<f64> = chosen.tried.iter().map(|t| t.valid.regret).collect();
    let best = (0..3).min_by(|&i, &j| regrets[i].total_cmp(&regrets[j])).unwrap();
    assert_eq!(chosen.candidate.name, chosen.tried[best].name);
    assert_eq!(chosen.candidate.k, Some([0.05, 1.0, 50.0][best]));
    assert!(chosen.sentence.contains(&chosen.candidate.name) && chosen.sentence.contains("best of 3"));
    // Each of them is what training with that K alone gives.
    for (k, tried) in [0.05, 1.0, 50.0].into_iter().zip(&chosen.tried) {
        let sections = format!("[predictor]\nkind = \"linear\"\n[surrogate]\nk = {k}\n");
        let alone =
            fit(&lp_with(&sections, "epochs = 5\nlearning_rate = 0.03").task(), "surrogate-smooth").unwrap();
        assert_eq!(alone.candidate.valid.measures, tried.valid, "K = {k}");
    }
    // A method without K is trained once.
    assert_eq!(fit(&grid, "spo+").unwrap().tried.len(), 1);
}

#[test]
fn divergence_is_told() {
    let settings = "epochs = 50\noptimizer = \"sgd\"\nlearning_rate = 1e6\nclip = \"none\"";
    for method in ["l2", "spo+", "surrogate-smooth"] {
        let project = lp_with("[predictor]\nlayers = [16]\n", settings);
        match fit(&project.task(), method) {
            Err(error @ LearnError::Diverged { .. }) => {
                let text = error.to_string();
                assert!(text.contains(method) && text.contains("diverged"), "{text}");
                assert!(error.hint().unwrap().to_string().contains("learning_rate"));
            }
            Ok(chosen) => {
                assert_eq!(chosen.candidate.fitted.ended, Ended::Diverged, "{method}");
                let task = project.task();
                let predictions = chosen.candidate.fitted.model.predict(&task.features(task.test()), 30);
                assert!(predictions.iter().all(|p| p.is_finite()), "{method}: a usable model is kept");
            }
            Err(other) => panic!("{method}: {other}"),
        }
    }
    // With a run directory: an error or a run that says so, and in either case no NaN in its records.
    let project = lp_with("[predictor]\nlayers = [16]\n", settings);
    let dir = project.path("run");
    match train_new(&project.with_method("l2"), &dir, &mut Silent) {
        Ok((_, outcome)) => assert_eq!(outcome.ended, Ended::Diverged),
        Err(error) => assert!(matches!(error, ProjectError::Learn(LearnError::Diverged { .. })), "{error}"),
    }
    for line in std::fs::read_to_string(dir.join("metrics.jsonl")).unwrap().lines() {
        let epoch: Result<Epoch, _> = serde_json::from_str(line);
        assert!(epoch.is_ok(), "{line}");
    }
}

/// Counts what it sees.
#[derive(Default)]
struct Counter {
    stages: Vec<(String, usize)>,
    epochs: usize,
    checkpoints: usize,
}

impl Observer for Counter {
    fn stage(&mut self, name: &str, epochs: usize) {
        self.stages.push((name.to_owned(), epochs));
    }

    fn epoch(&mut self, epoch: &Epoch) -> Result<(), LearnError> {
        assert_eq!(epoch.epoch, self.epochs);
        self.epochs += 1;
        Ok(())
    }

    fn checkpoint(&mut self, _: &mut Fit<'_>) -> Result<(), LearnError> {
        self.checkpoints += 1;
        Ok(())
    }
}

#[test]
fn observers_see_every_epoch() {
    let project = lp("epochs = 4\nstop = \"never\"");
    let task = project.task();
    let recipe = Recipe::of(task.settings(), "spo+".parse().unwrap(), 0).remove(0);
    let mut seen = Counter::default();
    let fitted = Fit::new(&task, &recipe, None).unwrap().run(&mut seen).unwrap();
    assert_eq!(seen.stages, [("spo+".to_owned(), 4)]);
    assert_eq!((seen.epochs, seen.checkpoints, fitted.history.len()), (5, 5, 5));
}
