//! Rust errors as the exceptions of `regretless.errors`.

use pyo3::prelude::*;

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

/// What a panic said, as an exception that can be caught.
pub(crate) fn panicked(payload: &(dyn std::any::Any + Send)) -> PyErr {
    let said = payload.downcast_ref::<&str>().map(ToString::to_string);
    let said = said.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_default();
    raise("InternalError", format!("{said}: this is a bug in regretless, please report it"))
}
