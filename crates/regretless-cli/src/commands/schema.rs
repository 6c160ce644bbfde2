//! `regretless schema`

use crate::output::{Exit, Outcome, json};

pub(crate) fn run() -> Outcome {
    Outcome::new(json(&regretless_project::json_schema()), Exit::Success)
}
