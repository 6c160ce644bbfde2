//! A problem that comes from no file, with settings in the words of problem files and the same checks.

use std::ops::Range;
use std::path::PathBuf;

use regretless_core::Problem;
use regretless_learn::Settings;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::syntax::spoken;
use super::{Context, check_settings};
use crate::data_settings::DataSettings;
use crate::error::{Place, Result, SpecError, Trouble, shorten};
use crate::file::{DataSection, PredictorSection, SurrogateSection, TrainingSection};
use crate::file::{Rows, Selected, Source, Vector, Written};
use crate::key::Key;
use crate::placed::{Pick, Placed, PlacedTerm};
use crate::selection::{Kind, Selection};
use crate::spec::{HardKind, Sections};
use crate::{Limits, Parameter, Spec};

impl Spec {
    /// A problem in memory that predicts some parameters as a whole. `targets` names their entries, one parameter after the other
    /// in the order of `predicted`; without names they are called `theta_wheat`, `d_0`, `C_0_1`. `settings` is an object with the
    /// sections `surrogate`, `data`, `predictor` and `training` of problem files.
    ///
    /// ```
    /// use regretless_core::Problem;
    /// use regretless_project::{Parameter, Spec};
    /// let problem = Problem::maximize(2).linear([1.0, 2.0]).upper([1.0, 1.0]).build()?;
    /// let written = serde_json::json!({ "training": { "epochs": 7 } });
    /// let spec = Spec::in_memory(&problem, &[Parameter::Linear], None, &written)?;
    /// assert_eq!(spec.training().epochs, 7);
    /// assert_eq!(spec.predicted()[0].columns, ["theta_x0", "theta_x1"]);
    /// let wrong = serde_json::json!({ "training": { "epochs": -1 } });
    /// let error = Spec::in_memory(&problem, &[Parameter::Linear], None, &wrong).unwrap_err();
    /// assert!(error.to_string().starts_with("training.epochs: "), "{error}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn in_memory(
        problem: &Problem,
        predicted: &[Parameter],
        targets: Option<&[String]>,
        settings: &Value,
    ) -> Result<Self> {
        let mut parts = parts(problem);
        parts.retain(|part| predicted.contains(&part.parameter));
        name(problem, predicted, targets, &mut parts)?;
        let mut placed = Placed::default();
        parts.into_iter().for_each(|part| part.place(problem, &mut placed));
        Self::in_memory_placed(problem, placed, settings)
    }

    /// A problem in memory that takes any of its numbers from the columns of a table. `settings` as for [`Spec::in_memory`].
    pub fn in_memory_placed(problem: &Problem, placed: Placed, settings: &Value) -> Result<Self> {
        let limits = Limits::default();
        let sections = sections(settings)?;
        let (settings, data) = checked(&sections, &limits, problem, &placed)?;
        let at_most = std::iter::repeat_n(HardKind::AtMost, problem.at_most().blocks.len());
        let equals = std::iter::repeat_n(HardKind::Equals, problem.equal().blocks.len());
        Ok(Self {
            file: PathBuf::from("the problem"),
            name: None,
            problem: problem.clone(),
            constant: 0.0,
            placed,
            hard: at_most.chain(equals).collect(),
            data,
            settings,
            sections,
            algebra: None,
            limits,
        })
    }

    /// The same problem with other settings, all of them, as for [`Spec::in_memory`].
    pub fn with_settings(mut self, settings: &Value) -> Result<Self> {
        self.sections = sections(settings)?;
        (self.settings, self.data) = checked(&self.sections, &self.limits, &self.problem, &self.placed)?;
        Ok(self)
    }
}

fn sections(settings: &Value) -> Result<Sections> {
    let data = settings.get("data").map(|_| section::<DataSection>(settings, "data")).transpose()?;
    Ok(Sections {
        text: "".into(),
        surrogate: section::<SurrogateSection>(settings, "surrogate")?,
        data,
        predictor: section::<PredictorSection>(settings, "predictor")?,
        training: section::<TrainingSection>(settings, "training")?,
    })
}

fn checked(
    sections: &Sections,
    limits: &Limits,
    problem: &Problem,
    placed: &Placed,
) -> Result<(Settings, Option<DataSettings>)> {
    let ctx = Context { text: "".into(), path: None, limits, options: Vec::new() };
    check_settings(&ctx, sections, problem, placed)
}

/// A part of a problem that could be predicted as a whole.
pub(super) struct Part {
    pub(super) key: String,
    pub(super) parameter: Parameter,
    /// Its entries within all entries of that kind.
    pub(super) range: Range<usize>,
    /// Its rows among all stacked ones; of a vector its entries.
    pub(super) rows: Range<usize>,
    /// Rows and columns of a dense matrix.
    matrix: Option<(usize, usize)>,
    columns: Vec<String>,
}

impl Part {
    fn place(self, problem: &Problem, placed: &mut Placed) {
        let Self { key, parameter, range, rows, matrix, columns } = self;
        let from = Source::Columns(Selected::plain(Kind::Predicted, columns.clone()));
        let pattern = parameter.pattern(problem);
        let written = match pattern {
            Some(_) => Written::Rows(Rows::From(from)),
            None => Written::Vector(Vector::From(from)),
        };
        placed.written.insert(key.clone(), written);
        let home = Some((parameter, rows));
        let (kind, count) = (Kind::Predicted, range.len());
        let selection = placed.select(Selection { key, kind, columns, count, matrix, home });
        for (at, entry) in range.enumerate() {
            let (row, col) = pattern.map_or((entry, 0), |pattern| pattern.place(entry));
            let of = Some(Pick { selection, at });
            placed.terms.push(PlacedTerm { parameter, row, col, factor: 1.0, by: None, of });
        }
    }
}

/// Every part of a problem that could be predicted, in the order of problem files.
pub(super) fn parts(problem: &Problem) -> Vec<Part> {
    let n = problem.n();
    let mut all = Vec::new();
    let mut add = |key: String, parameter: Parameter, rows: Range<usize>| {
        let (range, matrix) = matrix(problem, parameter, rows.clone());
        all.push(Part { key, parameter, range, rows, matrix, columns: Vec::new() });
    };
    add("objective.linear".into(), Parameter::Linear, 0..n);
    add("objective.quadratic".into(), Parameter::Quadratic, 0..n);
    for (i, block) in problem.soft().blocks.iter().enumerate() {
        let sides = [
            ("rows", Parameter::SoftRows),
            ("limit", Parameter::Limit),
            ("over", Parameter::Over),
            ("under", Parameter::Under),
        ];
        for (key, parameter) in sides {
            add(format!("soft[{i}].{key}"), parameter, block.rows.clone());
        }
    }
    let kinds = [
        (problem.at_most(), "at_most", Parameter::AtMostRows, Parameter::AtMost),
        (problem.equal(), "equals", Parameter::EqualRows, Parameter::Equals),
    ];
    let mut i = 0;
    for (hard, side, coefficients, rhs) in kinds {
        for block in &hard.blocks {
            add(format!("hard[{i}].rows"), coefficients, block.rows.clone());
            add(format!("hard[{i}].{side}"), rhs, block.rows.clone());
            i += 1;
        }
    }
    add("bounds.lower".into(), Parameter::Lower, 0..n);
    add("bounds.upper".into(), Parameter::Upper, 0..n);
    all
}

/// Entries of some rows of a matrix, and its shape if it is dense.
fn matrix(
    problem: &Problem,
    parameter: Parameter,
    rows: Range<usize>,
) -> (Range<usize>, Option<(usize, usize)>) {
    let (height, n) = (rows.len(), problem.n());
    let Some(pattern) = parameter.pattern(problem) else { return (rows, None) };
    (pattern.range(rows), pattern.is_dense().then_some((height, n)))
}

/// Gives parts the names of their columns.
fn name(
    problem: &Problem,
    predicted: &[Parameter],
    targets: Option<&[String]>,
    parts: &mut [Part],
) -> Result<()> {
    let mut starts = Vec::new();
    let mut width = 0;
    for &parameter in predicted {
        starts.push((parameter, width));
        let own = parts.iter().filter(|part| part.parameter == parameter);
        width += own.map(|part| part.range.len()).sum::<usize>();
    }
    if let Some(names) = targets.filter(|names| names.len() != width) {
        let trouble = Trouble::Misfit(format!("{} columns are named, {width} are predicted", names.len()));
        return Err(SpecError::new(Place::Setting("targets".into()), trouble));
    }
    for part in parts {
        let start = starts.iter().find(|(parameter, _)| *parameter == part.parameter).map_or(0, |s| s.1);
        part.columns = match targets {
            Some(names) => names[start + part.range.start..start + part.range.end].to_vec(),
            None => part.range.clone().map(|k| entry(problem, part.parameter, k)).collect(),
        };
    }
    Ok(())
}

/// What an entry of a parameter is called where nobody says.
fn entry(problem: &Problem, parameter: Parameter, k: usize) -> String {
    let symbol = parameter.symbol();
    if let Some((i, j)) = parameter.pattern(problem).map(|pattern| pattern.place(k)) {
        return format!("{symbol}_{i}_{j}");
    }
    match parameter {
        Parameter::Linear | Parameter::Lower | Parameter::Upper => {
            format!("{symbol}_{}", problem.variables()[k])
        }
        _ => format!("{symbol}_{k}"),
    }
}

fn section<T: DeserializeOwned + Default>(written: &Value, name: &str) -> Result<T> {
    let Some(value) = written.get(name) else { return Ok(T::default()) };
    serde_json::from_value(value.clone()).map_err(|error| {
        // The reader does not say which key it means: one that fails alone.
        let alone = |(key, value): &(&String, &Value)| {
            let one = Map::from_iter([((*key).clone(), (*value).clone())]);
            serde_json::from_value::<T>(Value::Object(one)).err().map(|error| ((*key).clone(), error))
        };
        let found = value.as_object().and_then(|map| map.iter().find_map(|entry| alone(&entry)));
        let section = Key::new(name);
        let (key, error) = found.map_or((section.clone(), error), |(key, error)| (section.key(&key), error));
        SpecError::new(Place::Setting(key.to_string()), Trouble::Syntax(shorten(&spoken(&error.to_string()))))
    })
}
