//! Solves that are stopped from outside.
#![allow(clippy::unwrap_used, reason = "tests fail loudly")]

mod common;

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use common::{Recipe, sparse};
use regretless_core::engine::{Link, Progress, Stop};
use regretless_core::problem::Form;
use regretless_core::*;

fn large(n: usize, quadratic: u8) -> Problem {
    let recipe = Recipe {
        n,
        soft: n / 2,
        at_most: n,
        equal: 2,
        quadratic,
        bounds: 1,
        redundant: false,
        scaled: false,
        degenerate: false,
        minimise: false,
        seed: 5,
    };
    recipe.build()
}

/// In every form a solve that was begun ends long before it would have, on other threads too.
#[test]
fn a_long_solve_ends_soon_after_it_is_asked_to() {
    for (quadratic, form) in [(0, Form::Dense), (1, Form::Dense), (1, Form::Sparse)] {
        let problem = if form == Form::Sparse {
            sparse(&large(300, quadratic)).in_form(form)
        } else {
            large(300, quadratic)
        };
        let oracle = Oracle::new(&problem);
        let instances = vec![Instance::default(); 400];
        let stop = Stop::default();
        let took = std::thread::scope(|scope| {
            let asked = stop.clone();
            let (send, begun) = std::sync::mpsc::channel();
            let work = scope.spawn(move || {
                send.send(()).unwrap();
                let answers = asked.run(|| oracle.solve_batch(&instances));
                answers.into_iter().filter(|answer| answer.as_ref().is_ok_and(Optimum::is_optimal)).count()
            });
            begun.recv().unwrap();
            std::thread::sleep(Duration::from_millis(50));
            stop.request();
            let asked_at = Instant::now();
            let right = work.join().unwrap();
            assert!(right < 400, "{form:?}: all were solved before anybody asked");
            asked_at.elapsed()
        });
        assert!(took < Duration::from_secs(5), "{form:?}, {quadratic}: {took:?}");
    }
}

/// What is given up half-way is not kept, and the next solve is as if nothing had been asked.
#[test]
fn nothing_of_a_stopped_solve_is_kept() {
    let problem = large(8, 1);
    let placement = Placement::theta(8);
    let mut regret = Regret::new(&problem, &placement, None).unwrap();
    let truth: Vec<f64> = problem.theta().to_vec();
    let prediction: Vec<f64> = truth.iter().map(|t| 1.1 * t).collect();
    let batch = Batch::new(&prediction, &truth, &[7]);
    let stop = Stop::default();
    stop.request();
    let stopped = stop.run(|| regret.evaluate(&batch)).unwrap();
    assert!(stopped[0].trouble.is_some());
    let after = regret.evaluate(&batch).unwrap();
    let own = Regret::new(&problem, &placement, None).unwrap().evaluate(&batch).unwrap();
    assert!(after[0].trouble.is_none());
    assert!(after[0].x.iter().zip(&own[0].x).all(|(a, b)| (a - b).abs() < 1e-9));
}

/// Whoever listens hears how far a solve is, iteration by iteration, and the figures come down.
#[test]
fn a_solve_tells_how_far_it_is() {
    let problem = sparse(&large(300, 1)).in_form(Form::Sparse);
    let heard = Arc::new(Mutex::new(Vec::new()));
    let told = Arc::clone(&heard);
    let stop = Stop::listening(move |at| told.lock().unwrap().push(*at));
    let oracle = Oracle::new(&problem);
    assert!(stop.run(|| oracle.solve(&Instance::default())).unwrap().is_optimal());
    let interior: Vec<Progress> =
        heard.lock().unwrap().iter().filter(|at| at.link == Link::Interior).copied().collect();
    assert!(interior.len() > 3);
    assert!(interior.iter().enumerate().all(|(k, at)| at.iterations == k));
    let gap = |at: &Progress| at.accuracy.unwrap().gap;
    assert!(gap(interior.last().unwrap()) < 1e-6 * gap(&interior[0]));
}
