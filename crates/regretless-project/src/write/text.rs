//! TOML as text.

use std::fmt::Write;

/// A TOML file line by line.
#[derive(Default)]
pub(crate) struct Text(String);

impl Text {
    /// Begins a table; `head` with its brackets.
    pub(crate) fn table(&mut self, head: &str) {
        if !self.0.is_empty() {
            self.0.push('\n');
        }
        self.0.push_str(head);
        self.0.push('\n');
    }

    /// Adds a key with a value that is TOML already.
    pub(crate) fn key(&mut self, key: &str, value: impl std::fmt::Display) {
        let _ = writeln!(self.0, "{key} = {value}");
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

/// A number: the shortest text that is read as the same one.
pub(crate) fn number(v: f64) -> String {
    format!("{v:?}")
}

/// A string in quotes.
pub(crate) fn string(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c.is_control() => {
                let _ = write!(out, "\\u{:04X}", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// A list of values that are TOML already.
pub(crate) fn list(values: impl Iterator<Item = String>) -> String {
    format!("[{}]", values.collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_as_they_were() {
        for v in [0.1, -0.0, 1e300, 5e-324, 1.0, 1e16, f64::INFINITY, f64::NEG_INFINITY, f64::MAX] {
            let read: toml::Table = toml::from_str(&format!("v = {}", number(v))).unwrap();
            assert_eq!(read["v"].as_float().map(f64::to_bits), Some(v.to_bits()));
        }
        for text in ["", "a \"b\" \\ c", "tab\tline\n\u{7f}\u{0}\u{85}", "θ *"] {
            let read: toml::Table = toml::from_str(&format!("v = {}", string(text))).unwrap();
            assert_eq!(read["v"].as_str(), Some(text));
        }
    }
}
