//! The JSON Schema of the problem file.

use serde_json::{Value, json};

use super::{AlgebraFile, ProblemFile};

/// The JSON Schema of the problem file, as `docs/problem.schema.json` has it: matrices or algebra.
///
/// ```
/// let schema = regretless_project::json_schema();
/// assert_eq!(schema["$defs"]["ProblemFile"]["additionalProperties"], false);
/// assert_eq!(schema["anyOf"][1]["$ref"], "#/$defs/AlgebraFile");
/// ```
pub fn json_schema() -> Value {
    let mut generator = schemars::SchemaGenerator::default();
    let forms = [generator.subschema_for::<ProblemFile>(), generator.subschema_for::<AlgebraFile>()];
    let mut schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "regretless problem file",
        "anyOf": forms,
        "$defs": generator.take_definitions(true),
    });
    drop_null(&mut schema);
    schema
}

/// TOML has no null: a key that is not needed is left out.
fn drop_null(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            if let Some(Value::Array(types)) = object.get_mut("type") {
                types.retain(|t| t != "null");
                if let [only] = &mut types[..] {
                    let only = only.take();
                    object.insert("type".to_owned(), only);
                }
            }
            if let Some(Value::Array(choices)) = object.get_mut("anyOf") {
                choices.retain(|c| c["type"] != "null");
                if let [Value::Object(only)] = &mut choices[..] {
                    let mut only = std::mem::take(only);
                    object.remove("anyOf");
                    object.append(&mut only);
                }
            }
            object.values_mut().for_each(drop_null);
        }
        Value::Array(values) => values.iter_mut().for_each(drop_null),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn nothing_is_null() {
        let text = super::json_schema().to_string();
        assert!(!text.contains("\"null\""), "{text}");
    }
}
