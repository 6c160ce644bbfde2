//! Networks with a line beside them: where they begin, what they add to it, and their files.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[allow(dead_code, reason = "each test binary uses its own part")]
mod common;

use common::{Project, fit, lp_with};
use regretless_learn::{Model, Silent};
use regretless_project::{Run, Spec, train_new};

const ON_A_LINE: &str =
    "[predictor]\nkind = \"mlp\"\nlayers = [8]\nbase = \"linear\"\ntarget_transform = \"none\"\n";
const LINE: &str = "[predictor]\nkind = \"linear\"\ntarget_transform = \"none\"\n";

/// The mean squared error on validation of the epoch with this number.
fn error(project: &Project, method: &str, epoch: usize) -> f64 {
    fit(&project.task(), method).unwrap().candidate.fitted.history[epoch].valid.mse
}

#[test]
fn a_network_on_a_line_begins_as_the_regression() {
    let regression = error(&lp_with(LINE, "epochs = 1"), "l2", 1);
    for method in ["l2", "spo+", "surrogate-smooth"] {
        let start = error(&lp_with(ON_A_LINE, "epochs = 1\nwarmup = 0"), method, 0);
        assert!((start / regression - 1.0).abs() < 1e-4, "{method}: {start} is not {regression}");
    }
    // A kind that is left open is a network.
    let open =
        error(&lp_with(&ON_A_LINE.replace("kind = \"mlp\"\nlayers = [8]\n", ""), "epochs = 1"), "l2", 0);
    assert!((open / regression - 1.0).abs() < 1e-4, "{open}");
    // Without one it begins as the constant predictor.
    let plain = ON_A_LINE.replace("base = \"linear\"\n", "");
    let start = error(&lp_with(&plain, "epochs = 1"), "l2", 0);
    assert!(start > 1.05 * regression, "{start} beside {regression}");
}

/// Targets such as 3p + |q|: the line has the slope, and the layers what it cannot have.
#[test]
fn layers_learn_what_a_line_cannot() {
    let mut table = "p,q,r,v_a,v_b,v_c,v_d\n".to_owned();
    for i in 0..400_u32 {
        let [p, q] = [f64::from(i % 20) / 10.0 - 1.0, f64::from(i / 20) / 10.0 - 1.0];
        let values = [3.0 * p + q.abs(), p - 2.0 * q.abs(), 5.0 + p, 4.0 + q.abs()];
        let cells: Vec<String> = [p, q, p * q].iter().chain(&values).map(f64::to_string).collect();
        table += &(cells.join(",") + "\n");
    }
    let with = |sections: &str| {
        let project = lp_with(sections, "epochs = 60\nlearning_rate = 0.01");
        project.write("history.csv", &table);
        fit(&project.task(), "l2").unwrap().candidate.valid.measures.mse
    };
    let (line, both) = (with(LINE), with(ON_A_LINE));
    assert!(both < 0.1 * line, "{both} beside {line}");
}

#[test]
fn models_are_read_as_they_were_written() {
    let project = lp_with(ON_A_LINE, "epochs = 3");
    let (task, dir) = (project.task(), project.path("run"));
    let wanted = fit(&task, "spo+").unwrap().candidate.fitted.model;
    train_new(&project.with_method("spo+"), &dir, &mut Silent).unwrap();
    let (found, card) = Run::open(&dir).unwrap().model().unwrap();
    assert_eq!(card.format, 11);
    let rows: Vec<usize> = (0..task.data().rows()).collect();
    let predict = |model: &Model| model.predict(&task.features(&rows), rows.len());
    assert_eq!(predict(&found), predict(&wanted));
    let config = std::fs::read_to_string(dir.join("config.toml")).unwrap();
    assert!(config.contains("base = \"linear\""), "{config}");
}

#[test]
fn what_has_no_line_says_so() {
    let refused = |sections: &str| {
        let project = lp_with("", "epochs = 1");
        let file = std::fs::read_to_string(project.path("problem.toml")).unwrap();
        project.write("problem.toml", file + sections);
        Spec::read(project.path("problem.toml")).unwrap_err().to_string()
    };
    let error = refused("[predictor]\nkind = \"linear\"\nbase = \"linear\"\n");
    assert!(error.contains("stands on nothing"), "{error}");
    let error = refused("[predictor]\nkind = \"mlp\"\nbase = \"linear\"\nshared = true\n");
    assert!(error.contains("shared"), "{error}");
}
