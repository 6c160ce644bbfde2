//! What can matter for a problem, simplest first.

use regretless_core::{Method, Parameter, Problem, Sense};

use super::combine::listed;
use super::search::Search;
use crate::data::transform::Scale;
use crate::error::LearnError;
use crate::model::combination::Averaged;
use crate::regression;
use crate::select::choose::decision_methods;
use crate::select::recipe::Recipe;
use crate::settings::{
    Base, Ensembles, ErrorWeights, MethodName, PredictorBase, PredictorKind, ScenarioSource, Warmup,
};
use crate::task::Task;
use crate::task::other::Form;

/// A candidate: how it comes about.
#[derive(Clone, Debug)]
pub(super) struct Idea {
    pub(super) name: String,
    pub(super) form: Form,
    /// The candidate that it starts from.
    pub(super) from: Option<usize>,
    pub(super) step: Step,
}

/// What is done to where it starts.
#[derive(Clone, Debug)]
pub(super) enum Step {
    /// A predictor is trained.
    Fit(Box<Recipe>),
    /// The predictor stays, and decides for the average over scenarios.
    Decide(ScenarioSource),
    /// Several candidates decide together.
    Combine(Averaged, Vec<usize>),
}

impl Idea {
    /// Several candidates: of no one form.
    pub(super) fn together(name: String, averaged: Averaged, members: Vec<usize>) -> Self {
        let form = Form { kind: PredictorKind::Auto, base: PredictorBase::default() };
        Self { name, form, from: None, step: Step::Combine(averaged, members) }
    }

    /// True if it is a forecast and nothing else: what others are compared with.
    pub(super) fn is_plain(&self) -> bool {
        self.from.is_none() && self.recipe().is_some()
    }

    /// True if the two are of one form of predictor and of one wave: their decisions are much alike.
    pub(super) fn is_related(&self, other: &Self) -> bool {
        let wave = |idea: &Self| (idea.is_constant(), idea.from.is_some(), idea.recipe().is_some());
        self.form == other.form && wave(self) == wave(other)
    }

    pub(super) fn is_constant(&self) -> bool {
        matches!(&self.step, Step::Fit(recipe) if recipe.method.is_none())
    }

    /// The recipe, if something is trained.
    pub(super) fn recipe(&self) -> Option<&Recipe> {
        match &self.step {
            Step::Fit(recipe) => Some(recipe),
            Step::Decide(_) | Step::Combine(..) => None,
        }
    }
}

/// The forms of predictors, simplest first.
fn forms(task: &Task) -> Vec<Form> {
    let settings = &task.settings().predictor;
    let stated = Form::of(settings);
    let of = |kind| Form { kind, ..stated };
    let nothing = task.encoder().width() == 0;
    match settings.kind {
        PredictorKind::Auto if task.has_own_predictor() || nothing => vec![of(PredictorKind::Mlp)],
        PredictorKind::Auto if settings.shared || settings.quadratic.is_some() => {
            [PredictorKind::Linear, PredictorKind::Mlp].map(of).to_vec()
        }
        PredictorKind::Auto => {
            // Where nothing is said of a base both are tried. A line follows any direction, and trees that are bound to one may not stand on it.
            let open = stated.base == PredictorBase::Constant && settings.monotone.is_empty();
            let on = |kind| {
                let line = open.then_some(of(kind).on(PredictorBase::Linear));
                line.into_iter().chain([of(kind)])
            };
            let line = std::iter::once(of(PredictorKind::Linear));
            line.chain(on(PredictorKind::Trees)).chain(on(PredictorKind::Mlp)).collect()
        }
        _ => vec![stated],
    }
}

/// The constant predictor, and forecasts of every kind.
pub(super) fn forecasts(task: &Task, seed: u64) -> Result<Vec<Idea>, LearnError> {
    let settings = task.settings();
    let constant = Recipe::of(settings, Base::Constant.into(), seed).remove(0);
    let form = Form::of(&settings.predictor);
    let mut ideas =
        vec![Idea { name: "constant".into(), form, from: None, step: Step::Fit(Box::new(constant)) }];
    let quantile = quantile(task);
    for form in forms(task) {
        let kind = form.kind;
        let own = task.on(form, task.train().to_vec(), task.valid().to_vec());
        let mut methods = vec![Method::L2];
        match quantile {
            Some(_) => methods.push(Method::WeightedL1),
            // Of a median nothing can be hoped for but where the mean is far from it, and a line finds out.
            None if !own.is_given() && (kind == PredictorKind::Linear || !task.is_open()) => {
                methods.push(Method::L1);
            }
            None => {}
        }
        if own.is_given() {
            methods.truncate(1);
        }
        for method in methods {
            let mut recipe = Recipe::of(own.settings(), method.into(), seed).remove(0);
            // What distributions stand on is kept for its errors.
            recipe.scenarios = task.has_scenarios();
            if let (Method::WeightedL1, Some(weights)) = (method, quantile) {
                recipe.training.weights = weights;
            }
            let many = recipe.ensembles == Ensembles::Auto && own.placement().width() > 1;
            let grows = kind == PredictorKind::Trees;
            let each: &[Ensembles] =
                if many && grows { &[Ensembles::One, Ensembles::Each] } else { &[Ensembles::One] };
            for &ensembles in each {
                let ensembles = if many { ensembles } else { recipe.ensembles };
                let recipe = Recipe { ensembles, ..recipe.clone() };
                let word = if many && ensembles == Ensembles::Each { ", one for each output" } else { "" };
                let open = if task.is_open() { format!("{form} ") } else { String::new() };
                let name = format!("{open}{}{word}", recipe.name);
                for (scales, on) in scales(&own, &recipe)? {
                    let recipe = Recipe { scales, ..recipe.clone() };
                    ideas.push(Idea {
                        name: format!("{name}{on}"),
                        form,
                        from: None,
                        step: Step::Fit(Box::new(recipe)),
                    });
                }
            }
        }
    }
    Ok(ideas)
}

/// The scales on which a forecast is tried: a regression finds its own.
fn scales(task: &Task, recipe: &Recipe) -> Result<Vec<(Vec<Scale>, &'static str)>, LearnError> {
    let plain = (Vec::new(), "");
    if regression::applies(task, recipe) || task.is_given() {
        return Ok(vec![plain]);
    }
    if let Some(scales) = regression::given(task)? {
        let none = scales.iter().all(|scale| *scale == Scale::None);
        return Ok(vec![(if none { Vec::new() } else { scales }, "")]);
    }
    let other = regression::scales(task, recipe)?;
    Ok(if other.is_empty() { vec![plain] } else { vec![plain, (other, " on another scale")] })
}

/// The weights of errors whose quantile is the best order, where each predicted limit bounds one variable alone, all at the same prices:
/// of min θx + over·(x − d)⁺ + under·(d − x)⁺ the optimum has P(d ≤ x) = (under − θ)/(over + under).
fn quantile(task: &Task) -> Option<ErrorWeights> {
    let (problem, placement) = (task.problem(), task.placement());
    let alone = placement.predicted_kinds() == [Parameter::Limit]
        && placement.known() == 0
        && placement.is_plain()
        && placement.width() == problem.soft().d.len()
        && problem.is_linear()
        && problem.at_most().rhs.is_empty()
        && problem.equal().rhs.is_empty();
    if !alone {
        return None;
    }
    let levels: Option<Vec<f64>> = levels(problem);
    let levels = levels?;
    let level = *levels.first()?;
    let same = levels.iter().all(|l| (l - level).abs() < 1e-9) && level > 0.0 && level < 1.0;
    (same && (level - 0.5).abs() > 1e-9).then_some(ErrorWeights { over: 1.0 - level, under: level })
}

/// The level of each soft row's quantile; `None` if a row has several variables, or a variable several rows.
fn levels(problem: &Problem) -> Option<Vec<f64>> {
    let soft = problem.soft();
    let mut taken = vec![false; problem.n()];
    let sign = if problem.sense() == Sense::Min { 1.0 } else { -1.0 };
    (0..soft.d.len())
        .map(|i| {
            let mut entries = soft.C.row(i).iter().filter(|(_, value)| *value != 0.0);
            let (j, coefficient) = entries.next()?;
            if coefficient <= 0.0 || entries.next().is_some() || std::mem::replace(&mut taken[j], true) {
                return None;
            }
            let slope = sign * Parameter::Linear.of(problem)[j] / coefficient;
            Some((soft.under[i] - slope) / (soft.alpha[i] + soft.under[i]))
        })
        .collect()
}

/// The mean of what some forecasts predict.
pub(super) fn mean_of(search: &Search<'_, '_>, members: &[usize]) -> Idea {
    let names: Vec<&str> = members.iter().map(|&idea| search.ideas[idea].name.as_str()).collect();
    Idea::together(format!("mean of {}", listed(&names)), Averaged::Predictions, members.to_vec())
}

/// Candidates that decide for a distribution: forecasts with their errors out of fold, and past outcomes.
pub(super) fn distributions(search: &Search<'_, '_>, bases: &[usize]) -> Vec<Idea> {
    let task = search.task();
    if !task.has_scenarios() {
        return Vec::new();
    }
    let mut ideas = Vec::new();
    // A spread is cross-fitted itself: errors of one other fold are too few.
    let sources: &[ScenarioSource] = match search.folds.len() {
        0..=1 => return Vec::new(),
        2 => &[ScenarioSource::Residuals],
        _ => &[ScenarioSource::Residuals, ScenarioSource::Scaled],
    };
    for &base in bases {
        let from = &search.ideas[base];
        for &source in sources {
            let word = if source == ScenarioSource::Residuals { "scenarios" } else { source.word() };
            ideas.push(Idea {
                name: format!("{}+{word}", from.name),
                form: from.form,
                from: Some(base),
                step: Step::Decide(source),
            });
        }
    }
    if task.is_open() && task.encoder().width() > 0 {
        let source = ScenarioSource::Forest;
        let form = search.ideas[0].form;
        ideas.push(Idea {
            name: format!("constant+{}", source.word()),
            form,
            from: Some(0),
            step: Step::Decide(source),
        });
    }
    ideas
}

/// A forecast fine-tuned with every decision loss that fits.
pub(super) fn tuned(search: &Search<'_, '_>, start: usize, seed: u64) -> Vec<Idea> {
    decision_methods(search.task()).into_iter().flat_map(|name| from(search, start, name, seed)).collect()
}

/// The best distribution fine-tuned through its scenarios, mean and spread together.
pub(super) fn through(search: &Search<'_, '_>, start: usize, seed: u64) -> Vec<Idea> {
    let Step::Decide(source) = search.ideas[start].step else { return Vec::new() };
    let name = MethodName { scenarios: true, source: Some(source), ..Method::SurrogateSmooth.into() };
    let fits = !search.task().is_given() && source.is_of_errors() && search.task().check(name).is_ok();
    if fits { from(search, start, name, seed) } else { Vec::new() }
}

fn from(search: &Search<'_, '_>, start: usize, name: MethodName, seed: u64) -> Vec<Idea> {
    let first = &search.ideas[start];
    let task = search.task();
    let own = task.on(first.form, task.train().to_vec(), task.valid().to_vec());
    let one = |mut recipe: Recipe| {
        recipe.training.warmup = Warmup::Epochs(0);
        // The scale is that of the start.
        recipe.scales = Vec::new();
        Idea {
            name: format!("{} from {}", recipe.name, first.name),
            form: first.form,
            from: Some(start),
            step: Step::Fit(Box::new(recipe)),
        }
    };
    Recipe::of(own.settings(), name, seed).into_iter().map(one).collect()
}
