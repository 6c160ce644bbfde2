//! Training, and what was trained.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use numpy::{PyArray2, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use regretless_core::Decision;
use regretless_learn::{
    Account, Audited, Auditor, Decider, Epoch, Fit, Kind, LearnError, ModelCard, Observer, Outcome,
    train_task,
};
use regretless_project::{Deciding, Run, Seen, Spec, baseline_columns, features_of, moments_of, past_of};

use crate::arrays::{flat, table};
use crate::data::{Columns, Data, frame};
use crate::error;
use crate::project::Project;
use crate::run::{detached, long, patient, watched};

/// Statuses, the names of columns of numbers, and these.
type Decided<'py> = (Vec<String>, Vec<String>, Bound<'py, PyArray2<f64>>);

/// Rows of features, what is new to the model, and rows that nobody can decide for.
type Features<'py> = (Bound<'py, PyArray2<f64>>, Vec<String>, Vec<(usize, String)>);

/// A predictor that decides, and how it came about.
#[pyclass(frozen, module = "regretless._regretless")]
pub(crate) struct Learner {
    decider: Decider,
    outcome: Option<Outcome>,
    epochs: Vec<Epoch>,
    /// Whom decisions are compared with.
    rivals: Vec<(String, Decider)>,
    /// The columns that say when a row is and of which series.
    clock: (Option<String>, Vec<String>),
    /// The columns with decisions that others took, by name or pattern.
    baseline: Vec<String>,
    /// The columns by which an account is told apart.
    groups: Vec<String>,
}

impl Learner {
    /// True if deciding for a row may take a while.
    fn long(&self) -> bool {
        self.decider.is_at_risk() || long(self.decider.problem())
    }

    pub(crate) fn new(
        spec: &Spec,
        decider: Decider,
        outcome: Option<Outcome>,
        epochs: Vec<Epoch>,
        rivals: Vec<(String, Decider)>,
    ) -> Self {
        let clock = spec.data().map(|data| (data.time.clone(), data.series.clone())).unwrap_or_default();
        let baseline = spec.data().map(|data| data.baseline.clone()).unwrap_or_default();
        let groups = spec.data().map(|data| data.groups.clone()).unwrap_or_default();
        Self { decider, outcome, epochs, rivals, clock, baseline, groups }
    }
}

fn json(value: &impl serde::Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(|e| error::raise("InternalError", e))
}

fn parsed<T: serde::de::DeserializeOwned>(text: &str) -> PyResult<T> {
    serde_json::from_str(text).map_err(|e| error::raise("TrainingError", e))
}

#[pymethods]
impl Learner {
    /// Trains as the project's settings say; `watch(epochs, epoch)` is called every epoch with what it came to as JSON, and ends the
    /// training, with what it has, where it returns true.
    #[staticmethod]
    fn fit(
        py: Python<'_>,
        project: &Bound<'_, Project>,
        data: &Bound<'_, Data>,
        watch: Option<Py<PyAny>>,
        threads: Option<usize>,
    ) -> PyResult<Self> {
        let (project, data) = (project.get(), data.get());
        let trouble = Arc::new(Mutex::new(None));
        let mut observer =
            Watcher { watch, trouble: Arc::clone(&trouble), epochs: 0, history: Vec::new(), enough: false };
        let heard = |error| stop(&trouble, error);
        let trained = watched(py, threads, heard, || {
            let task = project.task(data)?;
            task.check(task.settings().training.method)?;
            let trained = train_task(&task, None, &mut observer)?;
            let (problem, placement) = (task.problem().clone(), task.placement().clone());
            let ready = |model, card| Decider::new(problem.clone(), placement.clone(), model, card);
            let rivals =
                trained.rivals.into_iter().map(|(name, model, card)| Ok((name, ready(model, card)?)));
            let rivals = rivals.collect::<Result<Vec<_>, LearnError>>()?;
            Ok((ready(trained.model, trained.card)?, trained.outcome, rivals))
        })?;
        // Ctrl-C, or an exception in `watch`.
        if let Some(trouble) = trouble.lock().unwrap_or_else(PoisonError::into_inner).take() {
            return Err(trouble);
        }
        let (decider, outcome, rivals) = trained.map_err(error::training)?;
        Ok(Self::new(&project.spec, decider, Some(outcome), observer.history, rivals))
    }

    /// What the model says about itself, as JSON.
    fn card(&self) -> PyResult<String> {
        json(self.decider.card())
    }

    /// What training came to, as JSON; null where it is not known.
    fn outcome(&self) -> PyResult<String> {
        json(&self.outcome)
    }

    /// Every epoch, as JSON.
    fn epochs(&self) -> PyResult<String> {
        json(&self.epochs)
    }

    /// Writes a run that the command line uses.
    fn save(&self, project: &Bound<'_, Project>, dir: PathBuf) -> PyResult<()> {
        let Some(outcome) = &self.outcome else {
            return Err(error::raise("ProjectError", "what the training came to is not known"));
        };
        let save = || -> Result<_, regretless_project::ProjectError> {
            let run =
                Run::keep(&dir, &project.get().spec, &self.decider, &self.rivals, outcome, &self.epochs)?;
            // What cannot be read back is no run.
            run.decider().map(drop)
        };
        save().map_err(error::project)
    }

    /// The model as bytes.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.decider.to_bytes().map_err(error::training)?))
    }

    /// Whom the model is compared with, as bytes.
    fn rivals<'py>(&self, py: Python<'py>) -> PyResult<Vec<(String, Bound<'py, PyBytes>)>> {
        let one = |(name, rival): &(String, Decider)| {
            Ok((name.clone(), PyBytes::new(py, &rival.to_bytes().map_err(error::training)?)))
        };
        self.rivals.iter().map(one).collect()
    }

    /// A model from its bytes, with what `outcome`, `epochs` and `rivals` told; the project is that which it was trained with.
    #[staticmethod]
    #[pyo3(signature = (project, bytes, outcome, epochs, rivals = Vec::new()))]
    fn from_bytes(
        project: &Bound<'_, Project>,
        bytes: &[u8],
        outcome: &str,
        epochs: &str,
        rivals: Vec<(String, Vec<u8>)>,
    ) -> PyResult<Self> {
        let spec = &project.get().spec;
        let read = |bytes: &[u8]| {
            let card = ModelCard::from_bytes(bytes).map_err(error::training)?;
            let placement = spec.placement(&card.targets, &card.known).map_err(|e| error::spec(&e))?;
            let decider = Decider::from_bytes(spec.problem().clone(), placement, spec.predictor(), bytes);
            decider.map_err(error::training)
        };
        let rivals = rivals.into_iter().map(|(name, bytes)| Ok((name, read(&bytes)?)));
        let rivals = rivals.collect::<PyResult<Vec<_>>>()?;
        Ok(Self::new(spec, read(bytes)?, parsed(outcome)?, parsed(epochs)?, rivals))
    }

    /// The features of the model in the columns of a frame, as the model takes them, what is new to it in words, and the rows that look
    /// back beyond what the model and the tables of `history`, the newest last, know.
    fn features<'py>(
        &self,
        py: Python<'py>,
        columns: Columns<'_>,
        history: Vec<Columns<'_>>,
    ) -> PyResult<Features<'py>> {
        let card = self.decider.card();
        let known = self.decider.past();
        let mut past = None;
        for columns in history {
            let Some(known) = known else {
                let what = "history is given, and no feature of the model is made of the past";
                return Err(error::raise("ProjectError", what));
            };
            let newer = past_of(&frame(columns)?, known.lags()).map_err(|e| error::spec(&e))?;
            past = Some(past.unwrap_or_else(|| known.clone()).followed_by(newer));
        }
        let seen = features_of(&frame(columns)?, card, past.as_ref().or(known));
        let Seen { features, told, beyond } = seen.map_err(|e| error::spec(&e))?;
        let rows = features.len() / card.features.len().max(1);
        Ok((table(py, rows, card.features.len(), features)?, told, beyond))
    }

    /// The columns by which an account is told apart.
    fn groups(&self) -> Vec<String> {
        self.groups.clone()
    }

    /// The columns that say when a row is and of which series.
    fn clock(&self) -> (Option<String>, Vec<String>) {
        self.clock.clone()
    }

    /// The columns of a frame with decisions that others took, in the order of the variables, behind what they are called together; none
    /// where it has none of them.
    fn baseline(&self, header: Vec<String>) -> PyResult<Option<(String, Vec<String>)>> {
        baseline_columns(&self.baseline, self.decider.problem(), &header).map_err(|e| error::spec(&e))
    }

    /// The columns that features of the past are made of: time, series and what is looked back at.
    fn looked_back(&self) -> Vec<String> {
        let Some(lags) = &self.decider.card().lags else { return Vec::new() };
        std::iter::once(lags.time.clone()).chain(lags.series.iter().cloned()).chain(lags.columns()).collect()
    }

    /// True if every feature is a number.
    fn plain(&self) -> bool {
        let card = self.decider.card();
        card.lags.is_none() && card.kinds().iter().all(|kind| *kind == Kind::Number)
    }

    /// Predictions for rows of features.
    fn predict<'py>(
        &self,
        py: Python<'py>,
        features: PyReadonlyArray2<'py, f64>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let rows = features.as_array().nrows();
        let features = flat("X", &features)?;
        let predicted = detached(py, None, || self.decider.predict(features, rows))?;
        table(py, rows, self.decider.width(), predicted)
    }

    /// Scenarios for rows of features, one after the other in a row, and how likely they are.
    fn forecast<'py>(
        &self,
        py: Python<'py>,
        features: PyReadonlyArray2<'py, f64>,
    ) -> PyResult<[Bound<'py, PyArray2<f64>>; 2]> {
        let rows = features.as_array().nrows();
        let features = flat("X", &features)?;
        let found = detached(py, None, || self.decider.forecasts(features, rows))?;
        let count = self.decider.scenarios();
        let all = |of: fn(&regretless_core::Forecast) -> &[f64]| found.iter().flat_map(of).copied().collect();
        Ok([
            table(py, rows, count * self.decider.width(), all(regretless_core::Forecast::points))?,
            table(py, rows, count, all(regretless_core::Forecast::weights))?,
        ])
    }

    /// Exact decisions for rows of features, with their statuses.
    fn decide<'py>(
        &self,
        py: Python<'py>,
        features: PyReadonlyArray2<'py, f64>,
        known: PyReadonlyArray2<'py, f64>,
        threads: Option<usize>,
    ) -> PyResult<(Bound<'py, PyArray2<f64>>, Vec<String>)> {
        let (rows, n) = (features.as_array().nrows(), self.decider.problem().n());
        let (features, known) = (flat("X", &features)?, flat("known", &known)?);
        let decided = patient(py, threads, self.long(), || self.decider.decide(features, known, rows))?
            .map_err(error::training)?;
        let mut x = Vec::with_capacity(rows * n);
        let mut status = Vec::with_capacity(rows);
        for decision in decided {
            match decision {
                Ok(optimum) => {
                    x.extend(&optimum.x);
                    status.push(optimum.status.word().to_owned());
                }
                Err(refusal) => {
                    x.extend(std::iter::repeat_n(f64::NAN, n));
                    status.push(format!("refused: {refusal}"));
                }
            }
        }
        Ok((table(py, rows, n, x)?, status))
    }

    /// What `regretless decide` writes for rows of features: a status a row, the names of the columns of numbers, and those.
    fn decided<'py>(
        &self,
        py: Python<'py>,
        features: PyReadonlyArray2<'py, f64>,
        known: PyReadonlyArray2<'py, f64>,
        head: Vec<String>,
        predictions: bool,
        threads: Option<usize>,
    ) -> PyResult<Decided<'py>> {
        let rows = features.as_array().nrows();
        let (features, known) = (flat("X", &features)?, flat("known", &known)?);
        let deciding = Deciding::new(&self.decider, &head, predictions);
        let decided = patient(py, threads, self.long(), || deciding.decide(features, known, rows))?
            .map_err(error::training)?;
        let (statuses, numbers): (Vec<_>, Vec<_>) =
            decided.into_iter().map(|d| (d.status, d.numbers)).unzip();
        let names = deciding.names().to_vec();
        let numbers = table(py, rows, names.len(), numbers.concat())?;
        Ok((statuses, names, numbers))
    }

    /// Decisions for rows of features and what came of them. `clock` has columns that say when rows are and of which series, `baseline`
    /// decisions that others took with what they are called, `groups` the columns by which the account is told apart.
    #[expect(clippy::too_many_arguments, reason = "what Python names")]
    fn evaluate<'py>(
        &self,
        py: Python<'py>,
        features: PyReadonlyArray2<'py, f64>,
        truths: PyReadonlyArray2<'py, f64>,
        known: PyReadonlyArray2<'py, f64>,
        clock: Columns<'_>,
        baseline: Option<(String, PyReadonlyArray2<'py, f64>)>,
        groups: Vec<(String, Vec<String>)>,
        importance: bool,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let rows = features.as_array().nrows();
        let (features, truths, known) = (flat("X", &features)?, flat("y", &truths)?, flat("known", &known)?);
        let (time, series) = &self.clock;
        let moments = moments_of(&frame(clock)?, time.as_deref(), series).map_err(|e| error::spec(&e))?;
        let (named, taken) = match &baseline {
            Some((name, taken)) => (Some(name.clone()), flat("baseline", taken)?),
            None => (None, &[][..]),
        };
        let (columns, groups): (Vec<String>, Vec<Vec<String>>) = groups.into_iter().unzip();
        let work = || -> Result<(Vec<Decision>, Account), LearnError> {
            let judged = self.decider.evaluate(features, truths, known, rows)?;
            let auditor = Auditor::new(&self.decider, &self.rivals, named, moments.dates).by(&columns);
            let mut auditor = if importance { auditor.with_importance() } else { auditor };
            let (times, series) = (&moments.times, &moments.series);
            auditor.enter(
                &judged,
                &Audited { features, truths, known, baseline: taken, times, series, groups: &groups },
            )?;
            Ok((judged, auditor.account()?))
        };
        let (judged, account) = patient(py, threads, self.long(), work)?.map_err(error::training)?;
        let told = crate::judge::decisions(py, &judged, self.decider.problem().n())?;
        told.set_item("account_json", json(&account)?)?;
        Ok(told)
    }
}

/// Shows epochs to Python, and ends the training where an exception came of it or Ctrl-C was heard.
struct Watcher {
    watch: Option<Py<PyAny>>,
    trouble: Arc<Mutex<Option<PyErr>>>,
    epochs: usize,
    history: Vec<Epoch>,
    enough: bool,
}

fn stop(trouble: &Mutex<Option<PyErr>>, error: PyErr) {
    trouble.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
}

impl Observer for Watcher {
    fn stage(&mut self, _: &str, epochs: usize) {
        self.epochs = epochs;
    }

    fn epoch(&mut self, epoch: &Epoch) -> Result<(), LearnError> {
        self.history.push(epoch.clone());
        let Some(watch) = &self.watch else { return Ok(()) };
        let shown = json(epoch)
            .and_then(|told| Python::attach(|py| watch.call1(py, (self.epochs, told))?.extract::<bool>(py)));
        match shown {
            Ok(enough) => self.enough |= enough,
            Err(error) => stop(&self.trouble, error),
        }
        Ok(())
    }

    fn checkpoint(&mut self, fit: &mut Fit<'_>) -> Result<(), LearnError> {
        // As `regretless train`, which writes it down.
        fit.settle();
        Ok(())
    }

    fn interrupted(&self) -> bool {
        self.enough || self.trouble.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }
}
