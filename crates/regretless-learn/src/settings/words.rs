//! Choices that are written as a word.

/// An enum whose values are words of the problem file: the same in TOML, in JSON and in messages.
#[macro_export]
#[doc(hidden)]
macro_rules! words {
    ($(#[$meta:meta])* $name:ident { $($(#[$about:meta])* $variant:ident = $word:literal,)* }) => {
        $(#[$meta])*
        #[derive(
            Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash,
            serde::Deserialize, serde::Serialize, schemars::JsonSchema,
        )]
        pub enum $name {
            $($(#[$about])* #[serde(rename = $word)] $variant,)*
        }

        impl $name {
            /// Every value, in the order of the docs.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// The word that stands for it.
            pub fn word(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)*
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.word())
            }
        }
    };
}
pub(crate) use words;

/// Text from outside, cut to a length that fits a message and without characters that command a terminal.
pub fn visible(text: &str) -> String {
    const MOST: usize = 160;
    let cut = if text.chars().nth(MOST).is_some() { "…" } else { "" };
    let visible = text.chars().map(|c| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c });
    visible.take(MOST).chain(cut.chars()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_files_cannot_command_a_terminal() {
        assert_eq!(visible("a\u{1b}[31m"), "a\u{fffd}[31m");
        assert_eq!(visible(&"é".repeat(1000)).chars().count(), 161);
    }
}
