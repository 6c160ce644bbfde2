//! `regretless schema`

use crate::output::{Exit, Outcome, json};

pub(crate) fn run() -> Outcome {
    Outcome::new(json(&regretless_spec::json_schema()), Exit::Success)
}
