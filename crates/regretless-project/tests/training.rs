//! The sections of data, predictor and training: defaults, every form, and what is refused.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use regretless_core::Method;
use regretless_learn::{
    Activation, Clip, Initial, Keep, Mix, OptimizerKind, PredictorKind, QuadraticForm, Ramp, ScenarioSource,
    Schedule, Sharpness, Split, Stop,
};
use regretless_project::{DataFiles, Limits, Missing, Overrides, Result, Spec};

const HEAD: &str = "[problem]\nvariables = 2\n[objective]\nlinear = { predict = \"p*\" }\n";

fn parse(more: &str) -> Result<Spec> {
    Spec::parse(format!("{HEAD}{more}"), "dir/p.toml", &Limits::default())
}

fn good(more: &str) -> Spec {
    parse(more).unwrap_or_else(|e| panic!("{e}\n{:?}", e.hint))
}

/// Key and message of a refusal.
fn bad(more: &str) -> String {
    let error = parse(more).expect_err(more);
    format!("{}: {}", error.place.key().unwrap_or("-"), error.problem)
}

#[test]
fn defaults() {
    let spec = good("");
    let training = spec.training();
    assert_eq!(
        (training.method.base, training.epochs, training.batch),
        (regretless_learn::Base::Auto, 200, 32)
    );
    assert_eq!(
        (training.optimizer, training.learning_rate, training.momentum),
        (OptimizerKind::Adam, 3e-3, 0.0)
    );
    assert_eq!(
        (training.clip, training.stop, training.mix),
        (Clip::Norm(1.0), Stop::Patience(30), Mix::Fixed(0.5))
    );
    assert_eq!((training.schedule, training.ridge, training.seed), (Schedule::Constant, 0.1, 0));
    assert_eq!((training.scenarios.source, training.scenarios.count), (ScenarioSource::Residuals, None));
    let predictor = spec.predictor();
    assert_eq!((predictor.kind, &predictor.layers[..]), (PredictorKind::Auto, &[64, 64][..]));
    assert_eq!((predictor.activation, predictor.quadratic), (Activation::Relu, None));
    assert_eq!(spec.surrogate().sharpness, Sharpness::Auto);
    assert!(spec.data().is_none());
    let spec = good("[data]\nfile = \"h.csv\"\n");
    let data = spec.data().unwrap();
    assert_eq!(data.files, DataFiles::One("dir/h.csv".into()));
    assert_eq!(
        (data.missing, &spec.settings().split),
        (Missing::Keep, &Split::Random { valid: 0.2, test: 0.2 })
    );
}

#[test]
fn every_form() {
    let training = |text: &str| good(&format!("[training]\n{text}\n")).training().clone();
    assert_eq!(training("optimizer = \"sgd\"").momentum, 0.9);
    assert_eq!(training("optimizer = \"adagrad\"").learning_rate, 0.01);
    let plateau = training("schedule = { kind = \"plateau\" }").schedule;
    assert_eq!(plateau, Schedule::Plateau { factor: 0.1, patience: 10, back: false });
    assert_eq!(training("clip = \"none\"").clip, Clip::None);
    assert_eq!(training("clip = { value = 1 }").clip, Clip::Value(1.0));
    assert_eq!(training("stop = \"paper\"").stop, Stop::Paper);
    assert_eq!(training("stop = \"never\"").stop, Stop::Never);
    let mix = training("mix = { from = 1, to = 0, epochs = 20 }").mix;
    assert_eq!(mix, Mix::Annealed(Ramp { from: 1.0, to: 0.0, epochs: 20 }));
    assert_eq!((training("").bound, training("bound = inf").bound), (10.0, f64::INFINITY));
    assert_eq!(training("keep = \"last\"").keep, Keep::Last);
    let plain = good("[predictor]\nstandardise = false\ninitial = \"random\"\n").predictor().clone();
    assert_eq!((plain.standardise, plain.initial), (false, Initial::Random));
    let method = training("method = \"spo++l2+scenarios\"").method;
    assert_eq!((method.base, method.mixed, method.scenarios), (Method::SpoPlus.into(), true, true));

    let k = |text: &str| good(&format!("[surrogate]\nk = {text}\n")).surrogate().clone();
    assert_eq!((k("[2, 8]").options.k, k("[2, 8]").sharpness), (2.0, Sharpness::Grid(vec![2.0, 8.0])));
    let annealed = k("{ from = 1, to = 25, epochs = 30 }");
    assert_eq!(annealed.options.k, 25.0);
    assert_eq!(annealed.sharpness, Sharpness::Annealed(Ramp { from: 1.0, to: 25.0, epochs: 30 }));

    let split = |text: &str| good(&format!("[data]\n{text}\n")).settings().split.clone();
    let files = "train = \"a.csv\"\ntest = \"c.csv\"";
    assert_eq!(split(files), Split::Random { valid: 0.2, test: 0.0 });
    assert_eq!(split(&format!("{files}\nvalid = \"b.csv\"")), Split::Random { valid: 0.0, test: 0.0 });
    let chronological = split("file = \"a.csv\"\nsplit = { kind = \"chronological\", valid = 0.1 }");
    assert_eq!(chronological, Split::Chronological { valid: 0.1, test: 0.2 });

    let text = "[problem]\nvariables = 2\n[objective]\nquadratic = { predict = \"q*\" }\n";
    let quadratic = |more: &str| {
        let spec = Spec::parse(format!("{text}{more}"), "p.toml", &Limits::default()).unwrap();
        spec.predictor().quadratic.unwrap()
    };
    let default = quadratic("");
    assert_eq!((default.embedding, default.form, default.ridge), (2, QuadraticForm::Gram, 1e-3));
    let cosine = quadratic("[predictor]\nquadratic = { embedding = 16, form = \"cosine\" }\n");
    assert_eq!((cosine.embedding, cosine.form, cosine.ridge), (16, QuadraticForm::Cosine, 0.1));
}

#[test]
fn refused() {
    for (text, message) in [
        (
            "[training]\nepochs = 0",
            "training.epochs: 0 is out of range: training takes 1 to 1,000,000 epochs",
        ),
        (
            "[training]\nmethod = \"surogate\"",
            "training.method: there is no method `surogate`: did you mean `surrogate`?",
        ),
        (
            "[training]\nmethod = \"l1+l2\"",
            "training.method: `l1` has no loss of the decision, so it cannot be mixed with L2",
        ),
        (
            "[training]\nlearning_rate = nan",
            "training.learning_rate: NaN is out of range: a learning rate is a positive number",
        ),
        ("[training]\nmomentum = 0.5", "training.momentum: the optimiser `adam` has no momentum"),
        ("[training]\nmix = 1.5", "training.mix: 1.5 is out of range: the weight of L2 is between 0 and 1"),
        (
            "[training]\nclip = { norm = 1, value = 1 }",
            "training.clip: give exactly one of `norm` and `value`",
        ),
        (
            "[training]\nclip = { norm = -1 }",
            "training.clip.norm: -1 is out of range: a norm is a positive number",
        ),
        (
            "[training]\nweights = { over = 0, under = 0 }",
            "training.weights: one of the two weights must be positive",
        ),
        (
            "[training]\nschedule = { kind = \"plateau\", factor = 1 }",
            "training.schedule.factor: 1 is out of range: the factor is between 0 and 1",
        ),
        ("[training]\nepoch = 3", "training.epoch: unknown key `epoch`"),
        (
            "[training]\nstop = 3",
            "training.stop: invalid type: integer `3`, expected { patience = 30 }, \"paper\" or \"never\"",
        ),
        (
            "[training]\noptimizer = \"adamw\"",
            "training.optimizer: unknown value `adamw`, expected one of `adam`, `adagrad`, `sgd`",
        ),
        ("[training]\nbound = 0.5", "training.bound: 0.5 is out of range: a bound is 1 or more, or inf"),
        (
            "[predictor]\nstandardise = false\n[data]\nfile = \"a.csv\"\nmissing = \"mean\"",
            "data.missing: means are filled in with `predictor.standardise = true` only",
        ),
        (
            "[training]\nscenarios = { count = 0 }",
            "training.scenarios.count: 0 is out of range: there are 1 to 100,000 scenarios",
        ),
    ] {
        assert_eq!(bad(text), message);
    }
}

#[test]
fn refused_elsewhere() {
    for (text, message) in [
        ("[surrogate]\nk = []", "surrogate.k: 0 is out of range: a grid has 1 to 64 values"),
        ("[surrogate]\nk = [1, -1]", "surrogate.k[1]: -1 is out of range: k is a positive number"),
        (
            "[surrogate]\nk = { from = 0, to = 1, epochs = 3 }",
            "surrogate.k.from: 0 is out of range: k is a positive number",
        ),
        ("[predictor]\nlayers = []", "predictor.layers: an `mlp` has at least one hidden layer"),
        (
            "[predictor]\nlayers = [8, 0]",
            "predictor.layers[1]: 0 is out of range: a layer has 1 to 65,536 units",
        ),
        (
            "[predictor]\nkind = \"linear\"\nlayers = [8]",
            "predictor.layers: a `linear` predictor has no hidden layers",
        ),
        (
            "[predictor]\nkind = \"linear\"\ndropout = 0.5",
            "predictor.dropout: a `linear` predictor has no hidden layers",
        ),
        (
            "[predictor]\ndropout = 1",
            "predictor.dropout: 1 is out of range: dropout is 0 or more and below 1",
        ),
        (
            "[predictor]\nquadratic = { embedding = 2 }",
            "predictor.quadratic: `objective.quadratic` is not predicted, so this has no effect",
        ),
        ("[data]\nkey = \"id\"", "data: `file` or `train` is missing"),
        (
            "[data]\nfile = \"a\"\ntrain = \"b\"",
            "data.train: give either `file` for all parts or `train` with `valid` and `test`, not both",
        ),
        (
            "[data]\nfile = \"a\"\ntest = \"b\"",
            "data.test: `valid` and `test` go with `train`; `file` is one table for all parts",
        ),
        ("[data]\nfile = \"a\"\nfeatures = []", "data.features: no feature is named"),
        (
            "[data]\nfile = \"a\"\nfeatures = [\"t_{variable}\"]",
            "data.features[0]: `{variable}` stands for a variable in `features` of a shared predictor only",
        ),
        (
            "[data]\nfile = \"a\"\nsplit = { valid = 0.5, test = 0.5 }",
            "data.split: 1 is out of range: validation and test together leave something to train on",
        ),
        (
            "[data]\nfile = \"a\"\nsplit = { column = \"part\", valid = 0.5 }",
            "data.split: a split is by `column` or by shares and dates, not both",
        ),
        (
            "[data]\ntrain = \"a\"\nsplit = { test = 0.5 }",
            "data.split.test: `test` is not split off where `train` is a table of its own",
        ),
        (
            "[data]\ntrain = \"a\"\nsplit = { column = \"part\" }",
            "data.split.column: with a table for each part there is nothing to split by a column",
        ),
    ] {
        assert_eq!(bad(text), message);
    }
}

#[test]
fn a_shared_predictor_needs_entries_for_each_variable() {
    let text = "[problem]\nvariables = 2\n[[soft]]\nrows = { predict = \"c*\" }\nlimit = [1, 2]\nover = 1\n[predictor]\nshared = true\n";
    assert!(Spec::parse(text, "p.toml", &Limits::default()).is_ok());
    let text = text
        .replace("rows = { predict = \"c*\" }\nlimit = [1, 2]", "rows = [1, 1]\nlimit = { predict = \"d\" }");
    let error = Spec::parse(text, "p.toml", &Limits::default()).unwrap_err().to_string();
    assert!(
        error.contains(
            "predictor.shared: `soft[0].limit` has neither an entry nor a column for each variable"
        ),
        "{error}"
    );
}

#[test]
fn options_pass_the_same_checks() {
    let spec = good("[training]\nepochs = 10\noptimizer = \"sgd\"\n[data]\nfile = \"a.csv\"\n");
    let overrides = Overrides {
        method: Some("surrogate+l2".to_owned()),
        epochs: Some(3),
        seed: Some(7),
        k: Some(vec![1.0, 2.0]),
        features: Some(vec!["temp".to_owned()]),
        ..Overrides::default()
    };
    let spec = spec.with_overrides(overrides).unwrap();
    assert_eq!((spec.training().epochs, spec.training().seed, spec.training().momentum), (3, 7, 0.9));
    assert_eq!(spec.training().method.to_string(), "surrogate+l2");
    assert_eq!(spec.surrogate().options.k, 1.0);
    assert_eq!(spec.data().unwrap().features.as_deref(), Some(&["temp".to_owned()][..]));
    let refused = |overrides| spec.clone().with_overrides(overrides).unwrap_err().to_string();
    assert_eq!(
        refused(Overrides { epochs: Some(0), ..Overrides::default() }),
        "--epochs: 0 is out of range: training takes 1 to 1,000,000 epochs"
    );
    assert_eq!(
        refused(Overrides { method: Some("spo".to_owned()), ..Overrides::default() }),
        "--method: there is no method `spo`: did you mean `spo+`?"
    );
    assert_eq!(
        refused(Overrides { k: Some(vec![-1.0]), ..Overrides::default() }),
        "--k: -1 is out of range: k is a positive number"
    );
    assert!(refused(Overrides { seed: Some(u64::MAX), ..Overrides::default() }).starts_with("--seed: "));
}
