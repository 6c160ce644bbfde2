//! Rust errors as the exceptions of `regretless.errors`.

use pyo3::prelude::*;
use regretless_learn::{Base, LearnError, MethodError, Setting};
use regretless_project::{Place, ProjectError, RunTrouble, SpecError};

/// The exception `name` of the module `regretless.errors` with a message.
pub(crate) fn raise(name: &str, message: impl ToString) -> PyErr {
    Python::attach(|py| {
        let class = py.import("regretless.errors").and_then(|module| module.getattr(name));
        match class.and_then(|class| class.call1((message.to_string(),))) {
            Ok(exception) => PyErr::from_value(exception),
            Err(error) => error,
        }
    })
}

/// Bad parameters, shapes or bounds.
pub(crate) fn problem(error: impl ToString) -> PyErr {
    raise("ProblemError", error)
}

/// A message with what to do about it.
pub(crate) fn with_hint(what: &dyn ToString, hint: Option<String>) -> String {
    hint.map_or_else(|| what.to_string(), |hint| format!("{}: {hint}", what.to_string()))
}

/// What went wrong in learning, with the argument that would help.
pub(crate) fn training(error: LearnError) -> PyErr {
    let hint = error.hint().map(|hint| hint.tell(|Setting { key, value, .. }| format!("`{key}={value}`")));
    raise("TrainingError", with_hint(&error, hint))
}

/// A method that there is not, with those there are.
pub(crate) fn method(error: &MethodError) -> PyErr {
    let hint =
        format!("methods are {}, some with +l2 or +stopped, each with +scenarios or +scaled", Base::words());
    raise("TrainingError", format!("{error}: {hint}"))
}

/// A setting that cannot be, by the name of its argument; a file or a table that cannot be used, by its own.
pub(crate) fn spec(error: &SpecError) -> PyErr {
    let Place::Setting(key) = &error.place else {
        return raise("ProjectError", with_hint(&error, error.hint.clone()));
    };
    let name = ARGUMENTS
        .iter()
        .find(|(from, _)| from == key)
        .map_or_else(|| key.split_once('.').map_or(key.as_str(), |(_, name)| name), |(_, argument)| argument);
    raise("TrainingError", with_hint(&format!("{name}: {}", error.problem), error.hint.clone()))
}

/// Settings whose argument has another name.
const ARGUMENTS: [(&str, &str); 8] = [
    ("surrogate.k", "K"),
    ("predictor.kind", "predictor"),
    ("predictor.quadratic", "embedding"),
    ("predictor.quadratic.embedding", "embedding"),
    ("training.stop.patience", "patience"),
    ("training.scenarios.count", "scenarios"),
    ("data.split.valid", "validation"),
    ("data.split.test", "test"),
];

/// A problem file, a run or what is done with them.
pub(crate) fn project(error: ProjectError) -> PyErr {
    let hint = match error {
        ProjectError::Spec(error) => return spec(&error),
        ProjectError::Learn(error) => return training(error),
        ProjectError::Run { ref trouble, .. } => match trouble {
            RunTrouble::NoModel => Some("finish the training first".into()),
            RunTrouble::Format { .. } => Some("use the version that made it, or train again".into()),
            RunTrouble::NotEmpty { .. } => Some("choose another directory".into()),
            _ => None,
        },
        _ => None,
    };
    raise("ProjectError", with_hint(&error, hint))
}

/// What a panic said, as an exception that can be caught.
pub(crate) fn panicked(payload: &(dyn std::any::Any + Send)) -> PyErr {
    let said = payload.downcast_ref::<&str>().map(ToString::to_string);
    let said = said.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_default();
    raise("InternalError", format!("{said}: this is a bug in regretless, please report it"))
}
