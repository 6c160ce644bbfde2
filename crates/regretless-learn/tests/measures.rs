//! Measures of decisions that were computed by hand.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[allow(dead_code, reason = "each test binary uses its own part")]
mod common;

use std::fmt::Write;

use common::{NEWSVENDOR, Project, fit};
use regretless_core::loss::{Cause, Side};
use regretless_core::{Decision, Status};
use regretless_learn::{Exhibit, Measures, judge};

fn decision(optimal: f64, regret: f64, violation: f64) -> Decision {
    Decision {
        status: Status::Optimal,
        trouble: None,
        x: vec![],
        objective: optimal - regret,
        optimal,
        regret,
        violation,
        cut: 0,
        at_risk: None,
        predicted_objective: 0.0,
    }
}

fn close(a: f64, b: f64) {
    assert!((a - b).abs() <= 1e-12 * (1.0 + b.abs()), "{a} is not {b}");
}

#[test]
fn by_hand() {
    // Regrets 0, 1, …, 20; optimal values ±10.
    let mut all: Vec<Decision> =
        (0..21).map(|i| decision(if i % 2 == 0 { 10.0 } else { -10.0 }, f64::from(i), 0.0)).collect();
    all.reverse();
    all[3].violation = 0.5;
    // Small, but the problem's own rule calls it one.
    all[4].violation = 1e-7;
    let lost = Decision {
        trouble: Some(Cause::NoOptimum(Side::Prediction, "infeasible".into())),
        ..decision(1e9, 1e9, 1e9)
    };
    all.insert(7, lost);
    let m = Measures::of(&all, &[1.0, 2.0, 3.0, f64::NAN], &[1.0, 4.0, 0.0, 1.0]);
    assert_eq!((m.instances, m.undecided), (21, 1));
    close(m.regret, 10.0);
    // Variance of 0…20 with n − 1: 38.5.
    close(m.standard_error, (38.5_f64 / 21.0).sqrt());
    close(m.relative, 1.0);
    for (found, wanted) in m.quantiles.into_iter().zip([2.0, 10.0, 18.0, 19.8]) {
        close(found, wanted);
    }
    // The worst tenth of 21 are 2.1 of them: 20, 19 and a tenth of 18.
    close(m.cvar90, (20.0 + 19.0 + 0.1 * 18.0) / 2.1);
    close(m.violation, 0.5);
    close(m.violated, 2.0 / 21.0);
    close(m.mse, 13.0 / 3.0);
    close(m.mae, 5.0 / 3.0);
}

#[test]
fn corners() {
    let none = Measures::of(&[], &[], &[]);
    assert_eq!((none.instances, none.undecided), (0, 0));
    // What nobody decided did not cost nothing: it is unknown, and `null` in files.
    assert!([none.regret, none.relative, none.cvar90, none.mse].iter().all(|v| v.is_nan()));
    let text = serde_json::to_string(&none).unwrap();
    assert!(text.contains("\"regret\":null"), "{text}");
    let read: Measures = serde_json::from_str(&text).unwrap();
    assert!(read.regret.is_nan() && read.quantiles.iter().all(|q| q.is_nan()));
    assert!(Measures::default().rank(&none).is_lt());
    let one = Measures::of(&[decision(0.0, 2.0, 0.0)], &[], &[]);
    assert_eq!((one.instances, one.regret, one.standard_error), (1, 2.0, 0.0));
    assert!(one.relative.is_nan(), "relative to an optimal value of 0");
    assert_eq!((one.quantiles, one.cvar90), ([2.0; 4], 2.0));
}

/// The constant predictor on "take one of two": it always takes the one that was better on average in training.
#[test]
fn regret_of_a_choice_by_hand() {
    for sense in ["max", "min"] {
        let sign = if sense == "max" { 1.0 } else { -1.0 };
        let problem = format!(
            "[problem]\nsense = \"{sense}\"\nvariables = [\"a\", \"b\"]\n[objective]\nlinear = {{ predict = \"v_*\" }}\n[[hard]]\n\
             rows = [1, 1]\nequals = 1\n[data]\nfile = \"history.csv\"\nsplit = {{ column = \"part\" }}\n[training]\nmethod = \
             \"constant\"\n"
        );
        let truths: [[f64; 2]; 7] =
            [[3.0, 1.0], [1.0, 2.0], [2.0, 1.5], [5.0, 7.0], [1.0, 8.0], [9.0, 2.0], [4.0, 4.0]];
        let parts = ["train", "train", "train", "valid", "test", "test", "test"];
        let mut table = String::from("f,part,v_a,v_b\n");
        for (i, (part, [a, b])) in parts.iter().zip(truths).enumerate() {
            writeln!(table, "{i},{part},{a},{b}").unwrap();
        }
        let project = Project::new(&problem, &table);
        let task = project.task();
        let model = fit(&task, "constant").unwrap().candidate.fitted.model;
        // Training means: a 2, b 1.5.
        assert_eq!(model.predict(&[0.0], 1), [2.0, 1.5]);
        let taken = usize::from(sense != "max");
        let judged = judge(&task, &model, task.test()).unwrap();
        let mut total = 0.0;
        for (decision, [a, b]) in judged.decisions.iter().zip(&truths[4..]) {
            let best = if sense == "max" { a.max(*b) } else { a.min(*b) };
            close(decision.x[taken], 1.0);
            close(decision.optimal, best);
            close(decision.regret, sign * (best - [a, b][taken]));
            total += sign * (best - [a, b][taken]);
        }
        close(judged.measures.regret, total / 3.0);
        let optimal: f64 =
            truths[4..].iter().map(|[a, b]| if sign > 0.0 { a.max(*b) } else { a.min(*b) }).sum();
        close(judged.measures.relative, total / optimal);
        let error = |c: usize, mean: f64| truths[4..].iter().map(|t| t[c] - mean).collect::<Vec<_>>();
        let errors = [error(0, 2.0), error(1, 1.5)].concat();
        close(judged.measures.mse, errors.iter().map(|e| e * e).sum::<f64>() / 6.0);
        close(judged.measures.mae, errors.iter().map(|e| e.abs()).sum::<f64>() / 6.0);
    }
}

#[test]
fn a_side_without_a_price_is_slack() {
    let row = |name: &str, prices: &str| {
        format!("[[soft]]\nname = \"{name}\"\nrows = [[1.0]]\nlimit = 10.0\n{prices}\n")
    };
    let rows = row("both", "over = 1.0\nunder = 2.0")
        + &row("top", "over = 1.0")
        + &row("bottom", "over = 0.0\nunder = 2.0");
    let problem = NEWSVENDOR.replace("[[hard]]", &format!("{rows}[[hard]]"));
    let mut table = String::from("f,demand\n");
    for i in 0..100 {
        writeln!(table, "{},{}", i % 7, 8 + i % 5).unwrap();
    }
    let project = Project::new(&problem, &table);
    let task = project.task();
    let model = fit(&task, "l2").unwrap().candidate.fitted.model;
    let mut judged = judge(&task, &model, &task.test()[..10]).unwrap();
    // 2 orders are below all limits, 3 at them and 5 above.
    for (decision, x) in
        judged.decisions.iter_mut().zip([8.0, 8.0, 10.0, 10.0, 10.0, 12.0, 12.0, 12.0, 12.0, 12.0])
    {
        decision.x = vec![x];
    }
    let activity = Exhibit::of(&task, &judged).activity;
    for (name, slack, violated, short) in
        [("both", 0.0, 0.5, 0.2), ("top", 0.2, 0.5, 0.0), ("bottom", 0.5, 0.0, 0.2), ("shelf", 1.0, 0.0, 0.0)]
    {
        let found = activity.iter().find(|row| row.name == name).unwrap();
        let limit = if name == "shelf" { 0.0 } else { 0.3 };
        assert_eq!(
            (found.slack, found.limit, found.violated, found.short),
            (slack, limit, violated, short),
            "{name}"
        );
    }
}
