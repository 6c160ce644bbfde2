//! What the TOML reader says, in the words of this crate.

use std::path::Path;

use super::{Context, EXAMPLE};
use crate::error::{Place, SpecError, Trouble, shorten};
use crate::key::Key;
use crate::suggest;

/// Finds the key concerned and says what to do where that can be told.
pub(super) fn explain(ctx: &Context<'_>, error: &toml::de::Error) -> Box<SpecError> {
    let span = error.span();
    // What is wrong with the file as a whole has an empty span at its beginning.
    let span = span.filter(|span| *span != (0..0));
    let key = span.as_ref().map_or_else(Key::default, |span| Key::at(&ctx.text, span));
    let place = |key: &Key| Place::Key {
        file: ctx.path.unwrap_or(Path::new("")).to_owned(),
        key: (!key.is_empty()).then(|| key.to_string()),
        span: span.clone(),
        text: ctx.text.clone(),
    };
    let message = error.message();
    let mut quoted = message.split('`').skip(1).step_by(2);
    if message.starts_with("unknown field ") {
        let unknown = quoted.next().unwrap_or_default().to_owned();
        let known: Vec<String> = quoted.map(str::to_owned).collect();
        let near = suggest::nearest(&unknown, &known);
        let hint = match near {
            _ if suggest::is_at_least(&unknown) && known.iter().any(|key| key == "at_least") => {
                format!("rows · x ≥ b is written with `at_least`. The keys here are {}", list(&known))
            }
            Some(near) => format!("did you mean `{near}`? The keys here are {}", list(&known)),
            None => format!("the keys here are {}", list(&known)),
        };
        return SpecError::new(place(&key), Trouble::UnknownKey { key: shorten(&unknown), known }).hint(hint);
    }
    if message.starts_with("missing field ") {
        let missing = quoted.next().unwrap_or_default().to_owned();
        let hint = match missing.as_str() {
            "problem" => EXAMPLE.to_owned(),
            "over" => {
                "a soft row needs the price of a unit above its limit; rows without a price are [[hard]]"
                    .to_owned()
            }
            _ => format!("add `{missing} = …`"),
        };
        return SpecError::new(place(&key), Trouble::MissingKey(missing)).hint(hint);
    }
    let message = spoken(message);
    let trouble = SpecError::new(place(&key), Trouble::Syntax(shorten(&message)));
    match quoted_text(&message) {
        _ if message.contains(" as i128") || message.contains(" as u128") => {
            trouble.hint("whole numbers beyond 9.2e18 are written with a decimal point or an exponent")
        }
        _ if message.starts_with("invalid type: map") && message.contains("sequence") => {
            trouble.hint("blocks are written with two brackets, [[soft]] and [[hard]], once for each block")
        }
        Some(text) if is_file(text) => {
            trouble.hint(format!("a file is named as {{ file = \"{}\" }}", shorten(text)))
        }
        Some(text) if text.trim().parse::<f64>().is_ok() => trouble.hint("write the number without quotes"),
        _ => trouble,
    }
}

/// What a reader says of a value, without the names of Rust's types.
pub(super) fn spoken(message: &str) -> String {
    let message = message.replace("unknown variant", "unknown value").replace("unknown field", "unknown key");
    let whole = ["usize", "u64", "u32", "u16"].into_iter().fold(message, |message, kind| {
        message.replace(&format!("expected {kind}"), "expected a whole number from 0 on")
    });
    whole.replace("expected f64", "expected a number")
}

/// The text in `invalid type: string "…", expected …`.
fn quoted_text(message: &str) -> Option<&str> {
    message.strip_prefix("invalid type: string \"")?.split_once("\", expected").map(|(text, _)| text)
}

fn is_file(text: &str) -> bool {
    let ending = Path::new(text).extension().and_then(|e| e.to_str());
    ending.is_some_and(|e| e.eq_ignore_ascii_case("csv") || e.eq_ignore_ascii_case("npy"))
}

fn list(keys: &[String]) -> String {
    keys.iter().map(|k| format!("`{k}`")).collect::<Vec<_>>().join(", ")
}
