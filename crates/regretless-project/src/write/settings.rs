//! The settings, with every default spelled out.

use std::path::Path;

use regretless_core::{Rule, Segments};
use regretless_learn::{
    Clip, Mix, Monotone, OptimizerKind, PredictorKind, PredictorSettings, Ramp, Schedule, Sharpness, Split,
    SplitKind, Stop, SurrogateSettings, Timed, TrainingSettings, Warmup, civil,
};

use super::fail;
use super::text::{Text, list, number, string};
use crate::Spec;
use crate::data_settings::{ColumnKind, DataFiles, DataSettings};
use crate::error::{Result, Trouble};

pub(super) fn write(spec: &Spec, text: &mut Text) -> Result<()> {
    surrogate(spec.surrogate(), text);
    if let Some(settings) = spec.data() {
        data(settings, &spec.settings().split, text)?;
    }
    predictor(spec.predictor(), text);
    training(spec.training(), text);
    Ok(())
}

fn ramp(r: &Ramp) -> String {
    format!("{{ from = {}, to = {}, epochs = {} }}", number(r.from), number(r.to), r.epochs)
}

fn strings(texts: &[String]) -> String {
    list(texts.iter().map(|text| string(text)))
}

fn surrogate(settings: &SurrogateSettings, text: &mut Text) {
    text.table("[surrogate]");
    text.key(
        "k",
        match &settings.sharpness {
            Sharpness::Auto => string("auto"),
            Sharpness::Fixed(k) => number(*k),
            Sharpness::Grid(ks) => list(ks.iter().map(|&k| number(k))),
            Sharpness::Annealed(r) => ramp(r),
        },
    );
    let segments = if settings.options.segments == Segments::Vertex { "vertex" } else { "smooth" };
    text.key("segments", string(segments));
    // Left out where it is 0, so that what was trained before there was one has the same text.
    if settings.options.smoothing > 0.0 {
        text.key("smoothing", number(settings.options.smoothing));
    }
    text.key(
        "multipliers",
        match &settings.rule {
            Rule::Constant(value) => number(*value),
            Rule::Dual { factor } => format!("{{ rule = \"dual\", factor = {} }}", number(*factor)),
            Rule::Empirical { factor, sqrt_n } => {
                format!("{{ rule = \"empirical\", factor = {}, sqrt_n = {sqrt_n} }}", number(*factor))
            }
            // A value for each row comes from no problem file.
            Rule::Theory | Rule::PerRow(_) => string("theory"),
        },
    );
}

fn data(settings: &DataSettings, split: &Split, text: &mut Text) -> Result<()> {
    text.table("[data]");
    let files = match &settings.files {
        DataFiles::One(file) => vec![("file", file)],
        DataFiles::Parts { train, valid, test } => {
            let others = [("valid", valid), ("test", test)];
            let others = others.into_iter().filter_map(|(key, file)| file.as_ref().map(|file| (key, file)));
            std::iter::once(("train", train)).chain(others).collect()
        }
        DataFiles::Memory => {
            text.key("memory", true);
            Vec::new()
        }
    };
    for (key, file) in files {
        text.key(key, string(&absolute(file)?));
    }
    if let Some(file) = &settings.forecasts {
        text.key("forecasts", string(&absolute(file)?));
    }
    if let Some(features) = &settings.features {
        text.key("features", strings(features));
    }
    text.key("exclude", strings(&settings.exclude));
    if let Some(key) = &settings.key {
        text.key("key", string(key));
    }
    text.key("missing", string(settings.missing.word()));
    if !settings.kinds.is_empty() {
        let one = |(name, kind): &(String, ColumnKind)| {
            let kind = match kind {
                ColumnKind::Number => string("number"),
                ColumnKind::Category => string("category"),
                ColumnKind::Date(parts) => list(parts.iter().map(|part| string(part.word()))),
            };
            format!("{} = {kind}", string(name))
        };
        let all: Vec<String> = settings.kinds.iter().map(one).collect();
        text.key("kinds", format!("{{ {} }}", all.join(", ")));
    }
    if !settings.series.is_empty() {
        text.key("series", strings(&settings.series));
    }
    if let Some(time) = &settings.time {
        text.key("time", string(time));
    }
    if let Some(period) = settings.period {
        text.key("period", number(period));
    }
    if settings.delay != 1 {
        text.key("delay", settings.delay);
    }
    if !settings.groups.is_empty() {
        text.key("groups", strings(&settings.groups));
    }
    if !settings.baseline.is_empty() {
        text.key("baseline", strings(&settings.baseline));
    }
    let shares = |kind: SplitKind, valid: f64, test: f64| {
        format!("{{ kind = \"{kind}\", valid = {}, test = {} }}", number(valid), number(test))
    };
    text.key(
        "split",
        match split {
            Split::Random { valid, test } => shares(SplitKind::Random, *valid, *test),
            Split::Chronological { valid, test } => shares(SplitKind::Chronological, *valid, *test),
            Split::Series { valid, test } => shares(SplitKind::Series, *valid, *test),
            Split::Column(column) => format!("{{ column = {} }}", string(column)),
            Split::Timed(timed) => self::timed(timed),
        },
    );
    Ok(())
}

fn timed(timed: &Timed) -> String {
    let from = |at: f64| {
        if !timed.dates {
            return number(at);
        }
        string(&moment(at))
    };
    let part = |name: &str, begins: Option<f64>, share: f64| match begins {
        Some(at) => format!("{name}_from = {}", from(at)),
        None => format!("{name} = {}", number(share)),
    };
    let (valid, test) =
        (part("valid", timed.valid_from, timed.valid), part("test", timed.test_from, timed.test));
    format!("{{ kind = \"chronological\", {valid}, {test}, gap = {} }}", number(timed.gap))
}

/// Days since the beginning of 1970 as a date and a time, to the microsecond.
fn moment(at: f64) -> String {
    const DAY: i64 = 86_400_000_000;
    let whole = (at * DAY as f64).round() as i64;
    let (year, month, day) = civil(whole.div_euclid(DAY));
    let clock = whole.rem_euclid(DAY);
    let (seconds, micros) = (clock / 1_000_000, clock % 1_000_000);
    let [hour, minute, second] = [seconds / 3600, seconds / 60 % 60, seconds % 60];
    let rest = match (second, micros) {
        (0, 0) => String::new(),
        (_, 0) => format!(":{second:02}"),
        _ => format!(":{second:02}.{micros:06}"),
    };
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}{rest}")
}

fn absolute(path: &Path) -> Result<String> {
    let whole =
        std::path::absolute(path).map_err(|error| fail(path.to_owned(), Trouble::Unwritable(error)))?;
    whole.into_os_string().into_string().map_err(|_| {
        let trouble = Trouble::Misfit("the path is not UTF-8 text, and TOML has no other".to_owned());
        fail(path.to_owned(), trouble)
    })
}

fn predictor(settings: &PredictorSettings, text: &mut Text) {
    text.table("[predictor]");
    text.key("kind", string(settings.kind.word()));
    if settings.kind == PredictorKind::Mlp {
        text.key("layers", list(settings.layers.iter().map(ToString::to_string)));
        text.key("activation", string(settings.activation.word()));
        text.key("batch_norm", settings.batch_norm);
        text.key("dropout", number(settings.dropout));
    }
    if matches!(settings.kind, PredictorKind::Auto | PredictorKind::Mlp | PredictorKind::Trees) {
        text.key("base", string(settings.base.word()));
    }
    if settings.kind == PredictorKind::Trees {
        let trees = &settings.trees;
        text.key("depth", trees.depth);
        text.key("leaves", trees.leaves);
        text.key("min_rows", trees.min_rows);
        text.key("rows", number(trees.rows));
        text.key("columns", number(trees.columns));
        text.key("l2", number(trees.l2));
        text.key("ensembles", string(trees.ensembles.word()));
        if !settings.monotone.is_empty() {
            let one = |(name, way): (&String, &Monotone)| format!("{} = \"{way}\"", string(name));
            let all: Vec<String> = settings.monotone.iter().map(one).collect();
            text.key("monotone", format!("{{ {} }}", all.join(", ")));
        }
    }
    text.key("shared", settings.shared);
    text.key("standardise", settings.standardise);
    text.key("initial", string(settings.initial.word()));
    text.key("target_transform", string(settings.target_transform.word()));
    if let Some(q) = &settings.quadratic {
        let ridge = number(q.ridge);
        let value = format!("{{ embedding = {}, form = \"{}\", ridge = {ridge} }}", q.embedding, q.form);
        text.key("quadratic", value);
    }
}

fn training(settings: &TrainingSettings, text: &mut Text) {
    text.table("[training]");
    text.key("method", string(&settings.method.to_string()));
    text.key("epochs", settings.epochs);
    text.key("batch", settings.batch);
    text.key("optimizer", string(settings.optimizer.word()));
    text.key("learning_rate", number(settings.learning_rate));
    if settings.optimizer == OptimizerKind::Sgd {
        text.key("momentum", number(settings.momentum));
    }
    text.key("weight_decay", number(settings.weight_decay));
    text.key(
        "schedule",
        match settings.schedule {
            Schedule::Constant => string("constant"),
            Schedule::Auto => string("auto"),
            Schedule::Plateau { factor, patience, back } => {
                let factor = number(factor);
                format!("{{ kind = \"plateau\", factor = {factor}, patience = {patience}, back = {back} }}")
            }
        },
    );
    text.key(
        "clip",
        match settings.clip {
            Clip::None => string("none"),
            Clip::Norm(norm) => format!("{{ norm = {} }}", number(norm)),
            Clip::Value(value) => format!("{{ value = {} }}", number(value)),
        },
    );
    text.key("bound", number(settings.bound));
    text.key(
        "stop",
        match settings.stop {
            Stop::Never => string("never"),
            Stop::Paper => string("paper"),
            Stop::Patience(patience) => format!("{{ patience = {patience} }}"),
        },
    );
    text.key("keep", string(settings.keep.word()));
    text.key("regression", string(settings.regression.word()));
    text.key(
        "warmup",
        match settings.warmup {
            Warmup::Epochs(epochs) => epochs.to_string(),
            Warmup::Auto => string("auto"),
        },
    );
    text.key(
        "mix",
        match &settings.mix {
            Mix::Fixed(weight) => number(*weight),
            Mix::Annealed(r) => ramp(r),
        },
    );
    let weights = &settings.weights;
    text.key("weights", format!("{{ over = {}, under = {} }}", number(weights.over), number(weights.under)));
    text.key("ridge", number(settings.ridge));
    text.key("infeasible", string(settings.infeasible.word()));
    text.key("seed", settings.seed);
    let scenarios = &settings.scenarios;
    let count = scenarios.count.map_or_else(String::new, |count| format!(", count = {count}"));
    text.key("scenarios", format!("{{ source = \"{}\"{count} }}", scenarios.source));
    if let Some(risk) = settings.risk {
        let (cvar, weight) = (number(risk.cvar), number(risk.weight));
        text.key("risk", format!("{{ cvar = {cvar}, weight = {weight} }}"));
    }
}
