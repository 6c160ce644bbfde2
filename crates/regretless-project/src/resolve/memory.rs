//! Settings that come from no file: the sections `surrogate`, `predictor` and `training`, with the same checks.

use regretless_core::{Layout, Problem};
use regretless_learn::Settings;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::{Context, check_settings};
use crate::error::{Place, Result, SpecError, Trouble, shorten};
use crate::file::{PredictorSection, SurrogateSection, TrainingSection};
use crate::key::Key;
use crate::spec::Sections;
use crate::{Limits, Predicted};

/// Checks settings that are in memory, in the words of problem files.
///
/// ```
/// use regretless_core::{Layout, Problem};
/// use regretless_project::settings_of;
/// let problem = Problem::maximize(2).linear([1.0, 2.0]).upper([1.0, 1.0]).build()?;
/// let written = serde_json::json!({ "training": { "epochs": 7 } });
/// let settings = settings_of(&written, &problem, &Layout::theta(2))?;
/// assert_eq!(settings.training.epochs, 7);
/// let wrong = serde_json::json!({ "training": { "epochs": -1 } });
/// let error = settings_of(&wrong, &problem, &Layout::theta(2)).unwrap_err();
/// assert!(error.to_string().starts_with("training.epochs: "), "{error}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn settings_of(written: &Value, problem: &Problem, layout: &Layout) -> Result<Settings> {
    let sections = Sections {
        text: "".into(),
        surrogate: section::<SurrogateSection>(written, "surrogate")?,
        data: None,
        predictor: section::<PredictorSection>(written, "predictor")?,
        training: section::<TrainingSection>(written, "training")?,
    };
    let predicted: Vec<Predicted> = layout
        .parts()
        .iter()
        .map(|part| Predicted {
            key: part.parameter.symbol().to_owned(),
            parameter: part.parameter,
            block: None,
            range: part.range.clone(),
            matrix: None,
            columns: Vec::new(),
        })
        .collect();
    let ctx = Context { text: "".into(), path: None, limits: &Limits::default(), options: Vec::new() };
    Ok(check_settings(&ctx, &sections, problem, &predicted)?.0)
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
        SpecError::new(Place::Setting(key.to_string()), Trouble::Syntax(shorten(&error.to_string())))
    })
}
