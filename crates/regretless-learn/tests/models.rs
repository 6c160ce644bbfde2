//! Model files and run directories: read back as written, and refused without a panic when they are damaged.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[allow(dead_code, reason = "each test binary uses its own part")]
mod common;

use std::cell::Cell;
use std::fmt::Write;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use common::{Project, copy, fit, lp, lp_with, newsvendor, weights};
use regretless_learn::{LearnError, Observer, Silent};
use regretless_project::{ProjectError, Run, RunTrouble, train_new, train_on};
use safetensors::tensor::{Dtype, SafeTensors};

/// The folder stays alive as long as the project does.
fn trained(project: &Project, method: &str) -> std::path::PathBuf {
    let dir = project.path("run");
    train_new(&project.with_method(method), &dir, &mut Silent).unwrap_or_else(|e| panic!("{method}: {e}"));
    dir
}

#[test]
fn models_are_read_as_they_were_written() {
    let quadratic = "[problem]\nvariables = [\"a\", \"b\"]\n[objective]\nlinear = { predict = \"v_*\" }\nquadratic = { predict = \
                     \"q_*\" }\n[bounds]\nupper = 5.0\n[data]\nfile = \"history.csv\"\n[predictor]\nlayers = [4]\n[training]\nepochs \
                     = 2\n";
    let mut table = String::from("f,v_a,v_b,q_1,q_2,q_3,q_4\n");
    for i in 0..40 {
        let f = f64::from(i) / 20.0 - 1.0;
        writeln!(table, "{f},{},{},{},0.1,0.1,{}", 1.0 + f, 2.0 - f, 1.0 + 0.1 * f, 1.5 - 0.1 * f).unwrap();
    }
    let shared = "[problem]\nvariables = [\"a\", \"b\"]\n[objective]\nlinear = { predict = \"v_*\" }\n[bounds]\nupper = \
                  1.0\n[data]\nfile = \"history.csv\"\nfeatures = [\"x_{variable}\", \"g\"]\n[predictor]\nlayers = [4]\nshared = \
                  true\nbatch_norm = true\n[training]\nepochs = 2\n";
    let mut shared_table = String::from("g,x_b,x_a,v_a,v_b\n");
    for i in 0..40 {
        let f = f64::from(i) / 20.0 - 1.0;
        writeln!(shared_table, "{f},{},{},{},{}", f * f, 1.0 - f, 1.0 - 2.0 * f, f * f).unwrap();
    }
    // Which of two epochs with the same decisions is kept is a matter of rounding, and checkpoints round differently.
    let last = "epochs = 3\nkeep = \"last\"";
    let ensemble = "epochs = 2\nscenarios = { source = \"ensemble\", count = 3 }";
    for (project, method) in [
        (lp("epochs = 3"), "constant"),
        (lp(last), "l2"),
        (lp_with("[predictor]\nlayers = [6, 3]\nbatch_norm = true\n", "epochs = 3"), "spo+"),
        (newsvendor("epochs = 2\nscenarios = { count = 7 }", 60), "l2+scenarios"),
        (newsvendor(ensemble, 60), "l2+scenarios"),
        (newsvendor("epochs = 2", 60), "l2+scaled"),
        (newsvendor("epochs = 2", 60), "l2+neighbours"),
        (newsvendor("epochs = 2", 60), "l2+forest"),
        (newsvendor("epochs = 2", 60), "surrogate-smooth+scaled"),
        (Project::new(quadratic, &table), "l2"),
        (Project::new(shared, &shared_table), "spo+"),
    ] {
        let task = project.task();
        let wanted = fit(&task, method).unwrap_or_else(|e| panic!("{method}: {e}")).candidate.fitted.model;
        let run = Run::open(&trained(&project, method)).unwrap();
        let (found, card) = run.model().unwrap_or_else(|e| panic!("{method}: {e}"));
        let rows: Vec<usize> = (0..task.data().rows()).collect();
        let features = task.features(&rows);
        assert_eq!(
            found.predict_each(&features, rows.len()),
            wanted.predict_each(&features, rows.len()),
            "{method}"
        );
        assert_eq!((&found.features, &found.targets), (&wanted.features, &wanted.targets), "{method}");
        assert_eq!(found.law(), wanted.law(), "{method}");
        assert_eq!((card.method.as_str(), card.members), (method, wanted.members.len()));
        assert_eq!(card.features, task.data().names.features);
        assert_eq!(card.targets, task.data().names.targets);
        // And the file is plain safetensors.
        let bytes = fs::read(run.dir().join("model.safetensors")).unwrap();
        let tensors = SafeTensors::deserialize(&bytes).unwrap();
        assert_eq!(tensors.tensor("targets.mean").unwrap().dtype(), Dtype::F64);
        if method != "constant" && !weights(&wanted).is_empty() {
            let first = weights(&wanted)[0].iter().next().unwrap().0.to_owned();
            assert_eq!(tensors.tensor(&first).unwrap().dtype(), Dtype::F32, "{first}");
        }
    }
}

/// Ends training after some steps, with a checkpoint left behind.
struct Stop(Cell<usize>);

impl Observer for Stop {
    fn interrupted(&self) -> bool {
        self.0.set(self.0.get() + 1);
        self.0.get() > 12
    }
}

/// Lengths to cut a file to: all short ones, then further and further apart.
fn lengths(len: usize) -> Vec<usize> {
    let mut lengths: Vec<usize> = (0..64.min(len)).collect();
    let mut at = 64;
    while at < len {
        lengths.push(at);
        at += 1 + at / 6;
    }
    lengths.extend([len - 1, len - 4, len - 8]);
    lengths
}

/// Puts damaged bytes in the place of a file and says what came of it; must not panic.
fn damaged(path: &Path, bytes: &[u8], what: &str, open: &dyn Fn() -> Result<(), ProjectError>) -> bool {
    fs::write(path, bytes).unwrap();
    match catch_unwind(AssertUnwindSafe(open)) {
        Ok(Ok(())) => true,
        Ok(Err(error)) => {
            assert!(!error.to_string().is_empty());
            false
        }
        Err(panic) => panic!("{what}: {panic:?}"),
    }
}

#[test]
fn damaged_models_are_refused() {
    let project = newsvendor("epochs = 2\nscenarios = { count = 5 }", 60);
    let dir = trained(&project, "l2+scenarios");
    let path = dir.join("model.safetensors");
    let whole = fs::read(&path).unwrap();
    let open = || {
        let (_, decider) = Run::open(&dir)?.decider()?;
        let decisions = decider.decide(&[0.1, 0.2], &[], 2)?;
        assert_eq!(decisions.len(), 2);
        Ok(())
    };
    assert!(damaged(&path, &whole, "whole", &open));
    for length in lengths(whole.len()) {
        assert!(!damaged(&path, &whole[..length], &format!("cut to {length}"), &open), "cut to {length}");
    }
    // A flipped byte may hit a number, then the file still is a model; what it must not do is panic.
    let header = u64::from_le_bytes(whole[..8].try_into().unwrap()) as usize + 8;
    for at in (0..whole.len()).step_by(7) {
        for mask in [0x01_u8, 0x80, 0xff] {
            let mut bytes = whole.clone();
            bytes[at] ^= mask;
            damaged(&path, &bytes, &format!("byte {at} ^ {mask:#x} of {header}"), &open);
        }
    }
    for other in [&b""[..], b"PK\x03\x04", &[0xff; 64], &[0; 1000]] {
        assert!(!damaged(&path, other, "another file", &open));
    }
    fs::remove_file(&path).unwrap();
    let error = open().unwrap_err();
    assert!(matches!(error, ProjectError::Run { trouble: RunTrouble::NoModel, .. }), "{error}");
}

#[test]
fn numbers_that_are_none_are_refused() {
    // NaN in a weight, a residual, the statistics: the file is whole, its numbers are not.
    let project = newsvendor("epochs = 2\nscenarios = { count = 5 }", 60);
    let dir = trained(&project, "l2+scenarios");
    let path = dir.join("model.safetensors");
    let whole = fs::read(&path).unwrap();
    let header = u64::from_le_bytes(whole[..8].try_into().unwrap()) as usize + 8;
    for name in
        ["output.bias", "targets.mean", "targets.deviation", "scenarios.residuals", "decisions.anchors"]
    {
        let tensors = SafeTensors::deserialize(&whole).unwrap();
        let tensor = tensors.tensor(name).unwrap();
        let offset = tensor.data().as_ptr() as usize - whole.as_ptr() as usize;
        assert!(offset >= header);
        let mut bytes = whole.clone();
        let width = if tensor.dtype() == Dtype::F32 { 4 } else { 8 };
        bytes[offset..offset + width].fill(0xff);
        let open = || {
            let (_, decider) = Run::open(&dir)?.decider()?;
            for decision in decider.decide(&[0.1, 0.2], &[], 2)? {
                // If it was let through, no decision is made from it.
                assert!(
                    decision.is_err() || decision.is_ok_and(|o| o.x.iter().all(|x| x.is_finite())),
                    "{name}"
                );
            }
            Ok(())
        };
        damaged(&path, &bytes, name, &open);
    }
}

#[test]
fn damaged_checkpoints_are_refused() {
    let project = lp_with("[predictor]\nlayers = [4]\n", "epochs = 6\nbatch = 32");
    let dir = project.path("run");
    train_new(&project.with_method("surrogate-smooth"), &dir, &mut Stop(Cell::new(0))).unwrap();
    let original = project.path("original");
    copy(&dir, &original);
    let path = dir.join("checkpoint");
    let whole = fs::read(&path).unwrap();
    let open = || {
        for name in ["metrics.jsonl", "stages"] {
            let target = dir.join(name);
            if name == "stages" {
                fs::remove_dir_all(&target).unwrap();
                copy(&original.join(name), &target);
            } else {
                fs::copy(original.join(name), target).unwrap();
            }
        }
        train_on(&dir, &mut Silent).map(drop)
    };
    for length in lengths(whole.len()) {
        assert!(!damaged(&path, &whole[..length], &format!("cut to {length}"), &open), "cut to {length}");
    }
    let step = whole.len() / 150;
    for at in (0..whole.len()).step_by(step.max(1)) {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x55;
        damaged(&path, &bytes, &format!("byte {at}"), &open);
    }
    assert!(damaged(&path, &whole, "whole", &open));
}

#[test]
fn damaged_stages_and_records_are_refused() {
    let project = lp("epochs = 2");
    let dir = trained(&project, "l2");
    let open = || train_on(&dir, &mut Silent).map(drop);
    for name in ["stages/00.safetensors", "config.toml", "environment.json"] {
        let path = dir.join(name);
        let whole = fs::read(&path).unwrap();
        // Half of a problem file may still be one: then the stage belongs to other settings.
        for length in [0, 1, 9, whole.len() / 4, whole.len() / 2] {
            assert!(
                !damaged(&path, &whole[..length], &format!("{name} cut to {length}"), &open),
                "{name} {length}"
            );
        }
        assert!(damaged(&path, &whole, name, &open), "{name}");
    }
    // Results are written anew, so that a broken one does no harm to a resumed run, but it cannot be shown.
    fs::write(dir.join("result.json"), "{\"method\": ").unwrap();
    let broken: Result<regretless_learn::Outcome, _> = Run::open(&dir).unwrap().json("result.json");
    assert!(broken.unwrap_err().to_string().contains("result.json"));
}

#[test]
fn other_formats_are_refused() {
    let project = lp("epochs = 1");
    let dir = trained(&project, "l2");
    let path = dir.join("environment.json");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("\"format\": 1", "\"format\": 2")).unwrap();
    for error in [Run::open(&dir).map(drop).unwrap_err(), train_on(&dir, &mut Silent).map(drop).unwrap_err()]
    {
        assert!(error.to_string().contains("format 2") && error.to_string().contains("format 1"), "{error}");
    }
    fs::write(&path, text).unwrap();
    // The model has a format of its own.
    let model = dir.join("model.safetensors");
    let bytes = fs::read(&model).unwrap();
    let wanted = br#"\"format\":1"#;
    let at = bytes.windows(wanted.len()).position(|w| w == wanted).unwrap();
    let mut other = bytes.clone();
    other[at + 11] = b'0';
    fs::write(&model, other).unwrap();
    let error = Run::open(&dir).unwrap().model().unwrap_err();
    assert!(error.to_string().contains("format 0"), "{error}");
}

#[test]
fn a_model_of_another_problem_is_refused() {
    let (small, large) = (lp("epochs = 1"), newsvendor("epochs = 1", 60));
    let (a, b) = (trained(&small, "l2"), trained(&large, "l2"));
    fs::copy(a.join("model.safetensors"), b.join("model.safetensors")).unwrap();
    let error = Run::open(&b).unwrap().decider().map(drop).unwrap_err();
    assert!(error.to_string().contains("model"), "{error}");
}

#[test]
fn directories_that_are_taken_are_refused() {
    let project = lp("epochs = 1");
    let spec = project.with_method("l2");
    let dir = project.path("full");
    fs::create_dir(&dir).unwrap();
    fs::write(dir.join("thesis.tex"), "years of work").unwrap();
    let error = train_new(&spec, &dir, &mut Silent).map(drop).unwrap_err();
    assert!(error.to_string().contains("not empty"), "{error}");
    assert_eq!(fs::read_dir(&dir).unwrap().count(), 1, "nothing was written");
    let run = trained(&project, "l2");
    let before = fs::read(run.join("model.safetensors")).unwrap();
    let error = train_new(&spec, &run, &mut Silent).map(drop).unwrap_err();
    let taken = RunTrouble::NotEmpty { resumable: true };
    assert!(matches!(&error, ProjectError::Run { trouble, .. } if *trouble == taken), "{error}");
    assert_eq!(fs::read(run.join("model.safetensors")).unwrap(), before);
    // Not a run at all.
    for (path, what) in [(dir, "not a run"), (project.path("nowhere"), "no such directory")] {
        let error = Run::open(&path).map(drop).unwrap_err();
        assert!(error.to_string().contains(what), "{error}");
        assert!(train_on(&path, &mut Silent).is_err());
    }
    // A file where the directory should be.
    let error = train_new(&spec, &project.path("history.csv"), &mut Silent).map(drop).unwrap_err();
    assert!(error.to_string().contains("history.csv"), "{error}");
}

/// Tries to take up the run that is being written.
struct Intruder {
    dir: std::path::PathBuf,
    refused: usize,
}

impl Observer for Intruder {
    fn epoch(&mut self, _: &regretless_learn::Epoch) -> Result<(), LearnError> {
        let error = train_on(&self.dir, &mut Silent).map(drop).unwrap_err();
        assert!(error.to_string().contains("another process"), "{error}");
        let error = Run::resume(&self.dir).map(drop).unwrap_err();
        assert!(error.to_string().contains("another process"), "{error}");
        // Looking is allowed.
        Run::open(&self.dir).unwrap();
        self.refused += 1;
        Ok(())
    }
}

#[test]
fn a_run_at_work_is_locked() {
    let project = lp("epochs = 2\nstop = \"never\"");
    let dir = project.path("run");
    let mut intruder = Intruder { dir: dir.clone(), refused: 0 };
    let (run, _) = train_new(&project.with_method("spo+"), &dir, &mut intruder).unwrap();
    assert_eq!(intruder.refused, 3);
    assert!(Run::resume(&dir).is_err(), "held as long as the run is");
    drop(run);
    assert!(Run::resume(&dir).is_ok());
}
