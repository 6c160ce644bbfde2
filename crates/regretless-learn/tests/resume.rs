//! A run that was stopped or killed, and went on, is the run that nobody disturbed: bit by bit.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[allow(dead_code, reason = "each test binary uses its own part")]
mod common;

use std::cell::Cell;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use common::{Project, copy, essence, lp_with};
use regretless_learn::tensorboard::event_files;
use regretless_learn::{Epoch, Fit, LearnError, Observer, Silent};
use regretless_project::{Run, train_new, train_on};

const METHODS: [&str; 5] = ["l2", "spo+", "surrogate-smooth+l2", "surrogate-vertex", "auto"];

/// Everything that has a state: drop-out, batch norm, momentum, plateaus, K and mixture on their way.
fn project() -> Project {
    lp_with(
        "[predictor]\nlayers = [8]\ndropout = 0.1\nbatch_norm = true\n[surrogate]\nk = { from = 1.0, to = 8.0, epochs = 4 }\n",
        "epochs = 6\nlearning_rate = 0.02\nbatch = 24\nwarmup = 1\nmix = { from = 0.8, to = 0.2, epochs = 3 }\nstop = { patience = 4 \
         }\nschedule = { kind = \"plateau\", factor = 0.5, patience = 1 }",
    )
}

/// Asks for the end after so many looks at the flag, which happen before every step.
struct Stop {
    after: usize,
    looked: Cell<usize>,
}

impl Stop {
    fn after(after: usize) -> Self {
        Self { after, looked: Cell::new(0) }
    }
}

impl Observer for Stop {
    fn interrupted(&self) -> bool {
        self.looked.set(self.looked.get() + 1);
        self.looked.get() > self.after
    }
}

/// The time is up after so many looks at the clock; somebody asks for the end as many looks later, if at all.
struct Late {
    after: usize,
    asks: Option<usize>,
    looked: Cell<usize>,
    asked: Cell<usize>,
}

impl Late {
    fn after(after: usize, asks: Option<usize>) -> Self {
        Self { after, asks, looked: Cell::new(0), asked: Cell::new(0) }
    }
}

impl Observer for Late {
    fn interrupted(&self) -> bool {
        self.asked.set(self.asked.get() + 1);
        self.asks.is_some_and(|asks| self.asked.get() > self.after + asks)
    }

    fn late(&self) -> bool {
        self.looked.set(self.looked.get() + 1);
        self.looked.get() > self.after
    }
}

/// Copies the run directory at some of the moments at which a kill could leave it like that.
struct Copier {
    dir: PathBuf,
    to: PathBuf,
    /// Before the checkpoint of an epoch is written, or after it.
    early: bool,
    moments: BTreeSet<usize>,
    seen: usize,
}

impl Copier {
    fn take(&mut self) {
        if self.moments.contains(&self.seen) {
            copy(&self.dir, &self.to.join(self.seen.to_string()));
        }
        self.seen += 1;
    }
}

impl Observer for Copier {
    fn epoch(&mut self, _: &Epoch) -> Result<(), LearnError> {
        // The line of the epoch is in the metrics, the checkpoint is still that of the epoch before.
        if self.early {
            self.take();
        }
        Ok(())
    }

    fn checkpoint(&mut self, _: &mut Fit<'_>) -> Result<(), LearnError> {
        if !self.early {
            self.take();
        }
        Ok(())
    }
}

fn same(found: &Path, wanted: &Path, what: &str) {
    let (found_parts, wanted_parts) = (essence(found), essence(wanted));
    assert_eq!(found_parts.0, wanted_parts.0, "{what}: epochs");
    assert_eq!(found_parts.1, wanted_parts.1, "{what}: result");
    assert!(found_parts.2 == wanted_parts.2, "{what}: model");
    assert!(!found.join("checkpoint").exists(), "{what}: no checkpoint is left");
    let (steps, wanted_steps) = (steps(found), steps(wanted));
    assert_eq!(steps, wanted_steps, "{what}: events");
}

/// (tag, step) of every event; each once. The bytes are cut apart here, not by the writer's own code.
fn steps(dir: &Path) -> BTreeSet<(String, u64)> {
    let mut all = BTreeSet::new();
    for path in event_files(dir).unwrap() {
        let bytes = fs::read(path).unwrap();
        let mut at = 0;
        while at < bytes.len() {
            let length = u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap()) as usize;
            let payload = &bytes[at + 12..at + 12 + length];
            at += 16 + length;
            let mut step = 0;
            let mut tag = None;
            let mut rest = payload;
            while !rest.is_empty() {
                let key = varint(&mut rest);
                match key {
                    0x09 => rest = &rest[8..],
                    0x10 => step = varint(&mut rest),
                    // Summary { value { tag, simple_value } }
                    0x2a => {
                        let length = varint(&mut rest) as usize;
                        let (mut summary, after) = rest.split_at(length);
                        rest = after;
                        assert_eq!(varint(&mut summary), 0x0a);
                        varint(&mut summary);
                        assert_eq!(varint(&mut summary), 0x0a);
                        let length = varint(&mut summary) as usize;
                        tag = Some(String::from_utf8(summary[..length].to_vec()).unwrap());
                    }
                    _ => {
                        let length = varint(&mut rest) as usize;
                        rest = &rest[length..];
                    }
                }
            }
            if let Some(tag) = tag {
                assert!(all.insert((tag.clone(), step)), "{tag} has step {step} twice");
            }
        }
    }
    assert!(!all.is_empty());
    all
}

fn varint(bytes: &mut &[u8]) -> u64 {
    let end = bytes.iter().position(|b| b & 0x80 == 0).unwrap();
    let value = bytes[..=end].iter().rev().fold(0, |value, b| value << 7 | u64::from(b & 0x7F));
    *bytes = &bytes[end + 1..];
    value
}

/// The line is a regression of the start, and weights like others from then on.
#[test]
fn a_network_on_a_line_goes_on() {
    let project =
        lp_with("[predictor]\nlayers = [8]\nbase = \"linear\"\n", "epochs = 6\nlearning_rate = 0.02");
    for method in ["l2", "surrogate-smooth"] {
        let spec = project.with_method(method);
        let whole = project.path(&format!("{method}-whole"));
        train_new(&spec, &whole, &mut Silent).unwrap();
        for after in [0, 3, 11] {
            let dir = project.path(&format!("{method}-{after}"));
            train_new(&spec, &dir, &mut Stop::after(after)).unwrap();
            train_on(&dir, &mut Silent).unwrap();
            same(&dir, &whole, &format!("{method} on a line, stopped after {after}"));
        }
    }
}

#[test]
fn after_an_interruption() {
    let project = project();
    for method in METHODS {
        let spec = project.with_method(method);
        let whole = project.path(&format!("{method}-whole"));
        train_new(&spec, &whole, &mut Silent).unwrap_or_else(|e| panic!("{method}: {e}"));
        // Before anything, within an epoch, between epochs, and for `auto` within every stage.
        let moments: &[usize] =
            if method == "auto" { &[0, 9, 40, 75, 150, 400, 550] } else { &[0, 3, 11, 16] };
        for &after in moments {
            let what = format!("{method} stopped after {after}");
            let dir = project.path(&format!("{method}-{after}"));
            let (_, outcome) =
                train_new(&spec, &dir, &mut Stop::after(after)).unwrap_or_else(|e| panic!("{what}: {e}"));
            // A stopped run can be used.
            let (model, _) = Run::open(&dir).unwrap().model().unwrap();
            assert!(model.predict(&[0.1, 0.2, 0.3], 1).iter().all(|p| p.is_finite()), "{what}");
            assert!(outcome.interrupted || method != "auto", "{what}");
            let (_, outcome) = train_on(&dir, &mut Silent).unwrap_or_else(|e| panic!("{what}: {e}"));
            assert!(!outcome.interrupted);
            same(&dir, &whole, &what);
        }
        // Stopped again and again.
        let dir = project.path(&format!("{method}-often"));
        // `auto` trains every candidate on every fold.
        let often = if method == "auto" { 10 } else { 1 };
        let mut finished = !train_new(&spec, &dir, &mut Stop::after(7 * often)).unwrap().1.interrupted;
        for round in 0..60 {
            if finished {
                break;
            }
            assert!(round < 59, "{method}: never done");
            finished = !train_on(&dir, &mut Stop::after(13 * often))
                .unwrap_or_else(|e| panic!("{method}: {e}"))
                .1
                .interrupted;
        }
        same(&dir, &whole, &format!("{method} stopped often"));
    }
}

#[test]
fn after_a_kill() {
    let project = project();
    for method in METHODS {
        let spec = project.with_method(method);
        for early in [true, false] {
            let whole = project.path(&format!("{method}-{early}-whole"));
            let to = project.path(&format!("{method}-{early}-copies"));
            let moments: BTreeSet<usize> =
                if method == "auto" { [0, 3, 10, 18, 26, 120, 210].into() } else { [0, 1, 4].into() };
            let mut copier = Copier { dir: whole.clone(), to: to.clone(), early, moments, seen: 0 };
            train_new(&spec, &whole, &mut copier).unwrap_or_else(|e| panic!("{method}: {e}"));
            let mut copies = 0;
            for moment in copier.moments.iter().filter(|m| **m < copier.seen) {
                let what = format!("{method} killed at {moment}, early: {early}");
                let dir = to.join(moment.to_string());
                // A kill can leave half a line and half a file, too.
                let metrics = dir.join("metrics.jsonl");
                let mut text = fs::read(&metrics).unwrap();
                text.extend(b"{\"stage\":\"l2\",\"epo");
                fs::write(&metrics, text).unwrap();
                fs::write(dir.join("checkpoint.partial"), b"half").unwrap();
                train_on(&dir, &mut Silent).unwrap_or_else(|e| panic!("{what}: {e}"));
                same(&dir, &whole, &what);
                copies += 1;
            }
            assert!(copies >= 3, "{method}: {copies} copies");
        }
    }
}

/// Between the last checkpoint of a stage and its removal the finished stage is written: both are there for a moment.
#[test]
fn after_a_kill_between_stages() {
    struct Keeper {
        checkpoint: PathBuf,
        last: Vec<u8>,
        stages: PathBuf,
        to: PathBuf,
        dir: PathBuf,
        taken: Vec<PathBuf>,
    }
    impl Observer for Keeper {
        fn stage(&mut self, name: &str, _: usize) {
            let finished = fs::read_dir(&self.stages).unwrap().count();
            if finished % 6 == 1 && !self.checkpoint.exists() {
                let copied = self.to.join(format!("before-{}", name.replace([' ', '/'], "_")));
                copy(&self.dir, &copied);
                fs::write(copied.join("checkpoint"), &self.last).unwrap();
                self.taken.push(copied);
            }
        }
        fn checkpoint(&mut self, _: &mut Fit<'_>) -> Result<(), LearnError> {
            self.last = fs::read(&self.checkpoint).unwrap();
            Ok(())
        }
    }
    let project = project();
    let whole = project.path("whole");
    let mut keeper = Keeper {
        checkpoint: whole.join("checkpoint"),
        last: Vec::new(),
        stages: whole.join("stages"),
        to: project.path("copies"),
        dir: whole.clone(),
        taken: Vec::new(),
    };
    train_new(&project.with_method("auto"), &whole, &mut keeper).unwrap();
    assert!(keeper.taken.len() >= 4);
    for dir in &keeper.taken {
        train_on(dir, &mut Silent).unwrap_or_else(|e| panic!("{}: {e}", dir.display()));
        same(dir, &whole, &dir.display().to_string());
    }
}

/// What was cut by the clock is cut there by whoever does it again, from the record alone or from the middle of it.
#[test]
fn a_cut_is_replayed() {
    let project = project();
    let spec = project.with_method("auto");
    let (mut cuts, mut early) = (BTreeSet::new(), 0);
    for after in [5, 150, 400, 450, 500, 550, 600, 650, 700, 100_000] {
        let dir = project.path(&format!("late-{after}"));
        let (_, outcome) = train_new(&spec, &dir, &mut Late::after(after, None)).unwrap();
        let record = dir.join("cut.json");
        if after == 100_000 {
            assert!(outcome.cut.is_none() && !outcome.interrupted && !record.exists());
            assert!(!outcome.sentence.contains("the time was up"), "{}", outcome.sentence);
            continue;
        }
        if outcome.interrupted {
            // Too early to choose: it goes on as if somebody had asked for the end.
            assert!(outcome.cut.is_none() && !record.exists());
            train_on(&dir, &mut Silent).unwrap();
            let whole = project.path("whole");
            if !whole.exists() {
                train_new(&spec, &whole, &mut Silent).unwrap();
            }
            same(&dir, &whole, "late before there was a choice");
            early += 1;
            continue;
        }
        let Some(cut) = outcome.cut else { continue };
        assert!(outcome.sentence.contains("the time was up"), "{}", outcome.sentence);
        assert!(record.exists());
        cuts.insert(cut);
        // Another machine, which has the record and no stage.
        let other = project.path(&format!("other-{after}"));
        copy(&dir, &other);
        fs::remove_file(other.join("result.json")).unwrap();
        fs::remove_file(other.join("metrics.jsonl")).unwrap();
        fs::remove_dir_all(other.join("stages")).unwrap();
        for path in event_files(&other).unwrap() {
            fs::remove_file(path).unwrap();
        }
        let (_, again) = train_on(&other, &mut Silent).unwrap();
        assert_eq!(again.cut, Some(cut));
        same(&other, &dir, &format!("cut after {after}, replayed"));
        // Somebody asks for the end after the cut.
        let asked = project.path(&format!("asked-{after}"));
        train_new(&spec, &asked, &mut Late::after(after, Some(12))).unwrap();
        train_on(&asked, &mut Silent).unwrap();
        if asked.join("cut.json").exists() {
            let own = fs::read(asked.join("cut.json")).unwrap();
            if own == fs::read(&record).unwrap() {
                same(&asked, &dir, &format!("cut after {after}, stopped and resumed"));
            }
        }
    }
    assert!(cuts.len() >= 2 && early >= 1, "{cuts:?}, {early} before there was a choice");
}

#[test]
fn a_record_of_a_cut_that_is_broken_is_refused() {
    let project = project();
    let dir = project.path("run");
    train_new(&project.with_method("auto"), &dir, &mut Stop::after(3)).unwrap();
    fs::write(dir.join("cut.json"), "{\"rungs\": \"many\"}").unwrap();
    let error = train_on(&dir, &mut Silent).unwrap_err().to_string();
    assert!(error.contains("cut.json") || error.contains("where the search was cut"), "{error}");
}

#[test]
fn a_finished_run_stays_as_it_is() {
    let project = project();
    let dir = project.path("run");
    train_new(&project.with_method("spo+"), &dir, &mut Silent).unwrap();
    let before = essence(&dir);
    train_on(&dir, &mut Silent).unwrap();
    assert!(essence(&dir) == before);
}

#[test]
fn scenarios_through_the_loss_are_resumed() {
    // L2 first, then L2 without each fold, then the method through the residuals that these leave.
    for suffix in ["scenarios", "scaled"] {
        let project = common::newsvendor(
            &format!("method = \"surrogate-smooth+{suffix}\"\nepochs = 3\nscenarios = {{ count = 10 }}"),
            80,
        );
        let spec = project.spec();
        let whole = project.path("whole");
        train_new(&spec, &whole, &mut Silent).unwrap();
        for after in [0, 3, 9, 12, 14, 16] {
            let dir = project.path(&format!("run-{after}"));
            train_new(&spec, &dir, &mut Stop::after(after))
                .unwrap_or_else(|e| panic!("stopped after {after}: {e}"));
            train_on(&dir, &mut Silent).unwrap_or_else(|e| panic!("resumed after {after}: {e}"));
            same(&dir, &whole, &format!("{suffix} after {after}"));
        }
    }
}

/// What a checkpoint must not go on with: how it is trained, through what surrogate, on what problem.
const CHANGES: [(&str, &str, &str); 5] = [
    ("epochs", "epochs = 6", "epochs = 7"),
    ("smoothing", "[surrogate]", "[surrogate]\nsmoothing = 0.5"),
    ("penalties", "factor = 4.0", "factor = 5.0"),
    ("soft prices", "over = [0.7]", "over = [0.8]"),
    ("bounds", "upper = [3.0", "upper = [3.5"),
];

#[test]
fn other_settings_are_refused() {
    let project = project();
    let dir = project.path("run");
    train_new(&project.with_method("l2"), &dir, &mut Stop::after(11)).unwrap();
    let file = dir.join("config.toml");
    let config = fs::read_to_string(&file).unwrap();
    for (what, old, new) in CHANGES {
        let changed = config.replacen(old, new, 1);
        assert_ne!(config, changed, "{what}");
        fs::write(&file, changed).unwrap();
        let error = train_on(&dir, &mut Silent).expect_err(what);
        assert!(error.to_string().contains("other settings"), "{what}: {error}");
    }
    fs::write(&file, &config).unwrap();
    train_on(&dir, &mut Silent).unwrap();
}
