//! From settings to a predictor.

use regretless_core::{Parameter, Placement, Problem};

use crate::data::dataset::Names;
use crate::data::encoder::{Encoder, Encoding};
use crate::error::{Hint, LearnError};
use crate::numbers::some_of;
use crate::predictor::{Constant, Descend, Embedding, Given, Joint, Mlp, MlpShape, Predictor, Shared, Trees};
use crate::settings::{
    Initial, Monotone, PredictorBase, PredictorKind, PredictorSettings, QuadraticSettings,
};

/// What a predictor predicts from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Inputs<'a> {
    /// The features.
    pub(crate) names: &'a Names,
    /// How they become inputs.
    pub(crate) encoder: &'a Encoder,
}

/// The quantities that are entries of Q and nothing else, in the order of the entries.
pub(crate) fn quadratic_entries(placement: &Placement) -> Vec<usize> {
    let homes = placement.homes();
    let entry = |(j, home): (usize, &Vec<(Parameter, usize)>)| match home[..] {
        [(Parameter::Quadratic, entry)] => Some((entry, j)),
        _ => None,
    };
    let mut found: Vec<(usize, usize)> = homes.iter().enumerate().filter_map(entry).collect();
    found.sort_unstable();
    found.into_iter().map(|(_, j)| j).collect()
}

/// An untrained predictor for the outputs of `placement`, which are parameters of `problem`; `mean` is the training mean of the targets.
pub(crate) fn predictor(
    settings: &PredictorSettings,
    problem: &Problem,
    placement: &Placement,
    from: &Inputs<'_>,
    mean: &[f64],
    constant: bool,
    seed: u64,
) -> Result<Box<dyn Predictor>, LearnError> {
    if constant || settings.kind == PredictorKind::Constant {
        return Ok(Box::new(Constant { outputs: placement.width() }));
    }
    if settings.kind == PredictorKind::Given {
        return Ok(Box::new(Given::of(&from.names.features, placement.width())?));
    }
    if settings.kind == PredictorKind::Trees {
        return trees(settings, placement, from);
    }
    if settings.stands_on_a_line() && (settings.shared || settings.quadratic.is_some()) {
        let what =
            "a network that is shared by the variables, or beside an embedding of Q, has no line to stand on";
        let hint = Hint::set("set {}", "predictor", "base", "\"constant\"");
        return Err(LearnError::Settings { what: what.into(), hint });
    }
    let Some(quadratic) = settings.quadratic else {
        return Ok(network(
            settings,
            problem,
            placement,
            from,
            &(0..placement.width()).collect::<Vec<_>>(),
            seed,
        )?);
    };
    let (n, own) = (problem.n(), quadratic_entries(placement));
    if own.len() != n * n {
        return Err(LearnError::Settings {
            what: "an embedding predicts every entry of Q, not a part of them and not a sparse pattern"
                .into(),
            hint: "predict the whole of a dense Q, or leave the embedding out".into(),
        });
    }
    let rest: Vec<usize> = (0..placement.width()).filter(|j| !own.contains(j)).collect();
    let mean: Vec<f64> = own.iter().map(|&k| mean[k]).collect();
    let QuadraticSettings { embedding, form, ridge } = quadratic;
    let embedding = match settings.initial {
        Initial::Mean => Embedding::new(&mean, n, embedding, form, ridge, seed),
        Initial::Random => Embedding::random(n, embedding, form, ridge, seed),
    };
    let mut members: Vec<(Box<dyn Descend>, Vec<usize>)> = vec![(Box::new(embedding), own)];
    if !rest.is_empty() {
        members.push((network(settings, problem, placement, from, &rest, seed)?, rest));
    }
    Ok(Box::new(Joint::new(members)))
}

/// Trees have leaves of numbers and know no variables.
fn trees(
    settings: &PredictorSettings,
    placement: &Placement,
    from: &Inputs<'_>,
) -> Result<Box<dyn Predictor>, LearnError> {
    let what = if settings.quadratic.is_some() {
        "trees do not predict Q: it has to be positive semidefinite, and leaves know nothing of that"
    } else if settings.shared {
        "trees are not shared by the variables"
    } else if settings.base == PredictorBase::Linear && !settings.monotone.is_empty() {
        let what = "`monotone` binds trees, and the line that they stand on follows the data".into();
        let hint = Hint::set("set {}", "predictor", "base", "\"constant\"");
        return Err(LearnError::Settings { what, hint });
    } else {
        let monotone = directions(settings, from)?;
        let trees = Trees::new(from.encoder.width(), placement.width(), settings.trees);
        return Ok(Box::new(trees.with_directions(monotone)));
    };
    let hint = Hint::set("set {}", "predictor", "kind", "\"mlp\"");
    Err(LearnError::Settings { what: what.into(), hint })
}

/// The direction of each input.
fn directions(settings: &PredictorSettings, from: &Inputs<'_>) -> Result<Vec<Monotone>, LearnError> {
    let names = from.names;
    if let Some(name) = settings.monotone.keys().find(|name| !names.features.contains(name)) {
        return Err(LearnError::Settings {
            what: format!("`monotone` names `{name}`, which is no feature"),
            hint: format!("the features are {}", some_of(&names.features)).into(),
        });
    }
    let direction = |j: usize| settings.monotone.get(&names.features[j]).copied().unwrap_or_default();
    let ordered =
        |j: &usize| from.encoder.columns()[*j] == Encoding::Number || direction(*j) == Monotone::Free;
    if let Some(j) = (0..names.features.len()).find(|j| !ordered(j)) {
        return Err(LearnError::Settings {
            what: format!(
                "`monotone` names `{}`, which holds no numbers and has no order",
                names.features[j]
            ),
            hint: "leave it out of `monotone`".into(),
        });
    }
    Ok(from.encoder.features().into_iter().map(direction).collect())
}

/// The network for the given positions of the flat prediction.
fn network(
    settings: &PredictorSettings,
    problem: &Problem,
    placement: &Placement,
    from: &Inputs<'_>,
    outputs: &[usize],
    seed: u64,
) -> Result<Box<dyn Descend>, LearnError> {
    let features = from.encoder.width();
    let shape = |inputs: usize, outputs: usize| MlpShape {
        inputs,
        hidden: if settings.kind == PredictorKind::Linear { Vec::new() } else { settings.layers.clone() },
        outputs,
        activation: settings.activation,
        batch_norm: settings.batch_norm,
        dropout: settings.dropout,
        initial: settings.initial,
        line: settings.stands_on_a_line(),
    };
    let Some(inputs) = from.names.per_variable.clone().filter(|_| settings.shared) else {
        return Ok(Box::new(Mlp::new(&shape(features, outputs.len()), seed)));
    };
    let places = per_variable(problem, placement, outputs)?;
    let inner = Mlp::new(&shape(inputs.first().map_or(0, Vec::len), places[0].len()), seed);
    Ok(Box::new(Shared::new(Box::new(inner), features, inputs, places)))
}

/// For each variable, the positions within `outputs` of its entries: θⱼ, bounds of j, column j of matrices.
fn per_variable(
    problem: &Problem,
    placement: &Placement,
    outputs: &[usize],
) -> Result<Vec<Vec<usize>>, LearnError> {
    let at = |&(parameter, k): &(Parameter, usize)| match parameter {
        Parameter::Linear | Parameter::Lower | Parameter::Upper => Some(k),
        Parameter::Quadratic => None,
        matrix => matrix.pattern(problem).map(|pattern| pattern.place(k).1),
    };
    // A quantity that is tied to several places belongs to a variable if all of them do.
    let one = |home: &Vec<(Parameter, usize)>| {
        let first = at(home.first()?)?;
        home.iter().all(|place| at(place) == Some(first)).then_some(first)
    };
    let variable: Vec<Option<usize>> = placement.homes().iter().map(one).collect();
    let mut places = vec![Vec::new(); problem.n()];
    for (position, &k) in outputs.iter().enumerate() {
        let Some(j) = variable[k] else {
            return Err(LearnError::Settings {
                what: "a shared predictor needs quantities that belong to one variable each: its entry, or one of its column"
                    .into(),
                hint: Hint::set("set {}", "predictor", "shared", "false"),
            });
        };
        places[j].push(position);
    }
    if places.iter().any(|p| p.len() != places[0].len() || p.is_empty()) {
        return Err(LearnError::Settings {
            what: "a shared predictor needs as many predicted entries for each variable as for the others"
                .into(),
            hint: Hint::set("set {}", "predictor", "shared", "false"),
        });
    }
    Ok(places)
}
