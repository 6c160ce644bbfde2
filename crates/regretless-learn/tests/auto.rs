//! `auto`: never worse than two-stage on validation, and it says what it chose over what.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[allow(dead_code, reason = "each test binary uses its own part")]
mod common;

use common::{Project, fit, lp, lp_table, newsvendor};
use regretless_learn::{Chosen, Task, Threads, compare, default_methods, is_two_stage};

fn two_stage(chosen: &Chosen) -> &regretless_learn::Tried {
    let plain = chosen.tried.iter().filter(|t| is_two_stage(&t.name));
    plain.min_by(|a, b| a.valid.regret.total_cmp(&b.valid.regret)).unwrap()
}

/// What holds of every choice.
fn fair(task: &Task, what: &str) -> Chosen {
    let chosen = fit(task, "auto").unwrap_or_else(|e| panic!("{what}: {e}"));
    let reference = two_stage(&chosen);
    let kept = &chosen.candidate;
    assert!(
        kept.valid.measures.regret <= reference.valid.regret,
        "{what}: {} is worse than {}",
        kept.name,
        reference.name
    );
    assert!(chosen.tried.iter().any(|t| t.name == kept.name));
    for name in [&kept.name, &reference.name] {
        assert!(
            chosen.sentence.contains(name.as_str()),
            "{what}: {:?} does not name {name}",
            chosen.sentence
        );
    }
    let lowest = chosen.tried.iter().map(|t| t.valid.regret).fold(f64::INFINITY, f64::min);
    if kept.name == reference.name {
        assert!(chosen.sentence.starts_with("kept"), "{what}: {}", chosen.sentence);
    } else {
        assert_eq!(kept.valid.measures.regret, lowest, "{what}: the best of those that are better");
        assert!(chosen.sentence.starts_with("chose"), "{what}: {}", chosen.sentence);
        // Better by more than the standard error of the paired difference.
        let plain = fit(task, &reference.name).unwrap().candidate.valid.regrets();
        let gains: Vec<f64> = plain.iter().zip(kept.valid.regrets()).map(|(a, b)| a - b).collect();
        let n = gains.len() as f64;
        let mean = gains.iter().sum::<f64>() / n;
        let variance = gains.iter().map(|g| (g - mean).powi(2)).sum::<f64>() / (n - 1.0);
        assert!(mean > (variance / n).sqrt(), "{what}: {mean} within noise");
    }
    chosen
}

#[test]
fn never_worse_than_two_stage() {
    let mut chose = 0;
    for seed in 0..3 {
        let project = lp(&format!("epochs = 15\nlearning_rate = 0.03\nseed = {seed}"));
        project.write("history.csv", lp_table(500, 1));
        let chosen = fair(&project.task(), &format!("LP, seed {seed}"));
        let names: Vec<&str> = chosen.tried.iter().map(|t| t.name.as_str()).collect();
        assert_eq!(names[..5], ["constant", "l2", "l1", "l2+stopped", "l1+stopped"]);
        assert!(names[5..].iter().all(|n| n.contains(" from l")), "{names:?}");
        assert!(names.len() >= 8, "{names:?}");
        chose += usize::from(chosen.sentence.starts_with("chose"));
    }
    assert!(chose > 0, "a linear predictor of what is not linear is worth tuning");
}

#[test]
fn scenarios_are_tried_where_they_can_help() {
    let project = newsvendor("epochs = 10\nscenarios = { count = 60 }", 400);
    let chosen = fair(&project.task(), "newsvendor");
    assert!(chosen.tried.iter().any(|t| t.name.ends_with("+scenarios")));
    // Ordering the mean is a third too dear in expectation: what is kept must know better.
    let l2 = &chosen.tried.iter().find(|t| t.name == "l2").unwrap().valid;
    assert!(chosen.candidate.valid.measures.regret < 0.9 * l2.regret, "{}", chosen.sentence);
}

#[test]
fn noise_is_no_reason_to_leave_two_stage() {
    // Features that say nothing: whatever looks better on a few rows does so by chance.
    let problem = format!(
        "{}[predictor]\nkind = \"linear\"\n[training]\nepochs = 5\nlearning_rate = 0.03\n",
        common::LP
    );
    let truths = lp_table(80, 1);
    let features = lp_table(80, 2);
    let mut table = String::from("p,q,r,v_a,v_b,v_c,v_d\n");
    for (f, t) in features.lines().zip(truths.lines()).skip(1) {
        let (f, t): (Vec<&str>, Vec<&str>) = (f.split(',').collect(), t.split(',').collect());
        table += &[&f[..3], &t[3..]].concat().join(",");
        table.push('\n');
    }
    fair(&Project::new(&problem, &table).task(), "noise");
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
