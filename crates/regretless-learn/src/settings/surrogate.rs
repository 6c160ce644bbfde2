//! How the problem is softened and smoothed.

use regretless_core::{Rule, SurrogateOptions};

use super::Sharpness;

/// How the problem is softened and smoothed.
#[derive(Clone, Debug)]
pub struct SurrogateSettings {
    /// Sharpness and segments; `k` is the only value, the first of a grid or the last of a way.
    pub options: SurrogateOptions,
    /// The sharpness as it is asked for.
    pub sharpness: Sharpness,
    /// How the penalties of hard rows are found.
    pub rule: Rule,
}

impl Default for SurrogateSettings {
    fn default() -> Self {
        Sharpness::Auto.into()
    }
}

impl From<Sharpness> for SurrogateSettings {
    fn from(sharpness: Sharpness) -> Self {
        Self { options: SurrogateOptions::with_k(sharpness.value()), sharpness, rule: Rule::default() }
    }
}

impl SurrogateSettings {
    /// One value of K.
    pub fn set_k(&mut self, k: f64) {
        (self.sharpness, self.options.k) = (Sharpness::Fixed(k), k);
    }
}
