//! Names of training methods.

use std::fmt;
use std::str::FromStr;

use regretless_core::{Method, Segments};
use serde::{Serialize, Serializer};
use thiserror::Error;

use super::training::ScenarioSource;
use super::words::visible;

/// A training method without its suffixes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Base {
    /// Chosen by regretless.
    #[default]
    Auto,
    /// The mean of the truths, whatever the features.
    Constant,
    /// Regret of the surrogate, with the segments of the settings.
    Surrogate,
    /// A loss.
    Loss(Method),
}

impl Base {
    /// Every method, in the order of the docs.
    pub fn all() -> impl Iterator<Item = Self> {
        let (plain, smooth): (Vec<Method>, Vec<Method>) =
            Method::ALL.into_iter().partition(|m| *m < Method::SurrogateVertex);
        let losses = |methods: Vec<Method>| methods.into_iter().map(Self::Loss);
        [Self::Auto, Self::Constant]
            .into_iter()
            .chain(losses(plain))
            .chain([Self::Surrogate])
            .chain(losses(smooth))
    }

    /// The word that stands for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Constant => "constant",
            Self::Surrogate => "surrogate",
            Self::Loss(method) => method.id(),
        }
    }

    /// Every method's word, for messages.
    pub fn words() -> String {
        Self::all().map(Self::word).collect::<Vec<_>>().join(", ")
    }

    /// True if the loss is one of the decision, so that mixing it with L2 says something.
    pub fn is_decision(self) -> bool {
        !self.is_forecast() && self != Self::Constant
    }

    /// True if the loss is one of the forecast alone, so that it matters what its training is stopped on.
    pub fn is_forecast(self) -> bool {
        matches!(self, Self::Loss(method) if !method.is_decision_focused())
    }

    /// The loss, with the segments that a plain `surrogate` has; none for `auto`, a choice, and `constant`, which learns nothing.
    pub fn loss(self, segments: Segments) -> Option<Method> {
        match self {
            Self::Auto | Self::Constant => None,
            Self::Loss(method) => Some(method),
            Self::Surrogate => Some(match segments {
                Segments::Smooth => Method::SurrogateSmooth,
                Segments::Vertex => Method::SurrogateVertex,
            }),
        }
    }
}

impl From<Method> for Base {
    fn from(method: Method) -> Self {
        Self::Loss(method)
    }
}

impl fmt::Display for Base {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}

/// A training method's full name: `spo+`, `surrogate+l2`, `l2+stopped`, `l2+scenarios`, `l2+scaled`, `surrogate+l2+scenarios`.
///
/// ```
/// use regretless_core::Method;
/// use regretless_learn::MethodName;
/// let name: MethodName = "spo++l2".parse()?;
/// assert_eq!((name.base, name.mixed, name.scenarios), (Method::SpoPlus.into(), true, false));
/// assert_eq!(name.to_string(), "spo++l2");
/// assert!("surogate".parse::<MethodName>().unwrap_err().to_string().contains("`surrogate`"));
/// # Ok::<(), regretless_learn::MethodError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MethodName {
    /// The method itself.
    pub base: Base,
    /// Suffix `+l2`: mixed with L2.
    pub mixed: bool,
    /// Suffix `+stopped`: a forecast that is descended and stopped where its decisions are best.
    pub stopped: bool,
    /// Suffix `+scenarios`: decisions over scenarios.
    pub scenarios: bool,
    /// Where they come from, as a suffix of its own: `+scaled`, `+forest`. `None` for the source of the settings.
    pub source: Option<ScenarioSource>,
}

impl<T: Into<Base>> From<T> for MethodName {
    fn from(base: T) -> Self {
        Self { base: base.into(), ..Self::default() }
    }
}

impl MethodName {
    /// True for methods that look at predictions only: the first of two stages.
    pub fn is_two_stage(&self) -> bool {
        !self.base.is_decision() && !self.stopped && !self.scenarios
    }
}

/// Why a text is no method's name.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum MethodError {
    /// No such method.
    #[error("there is no method `{name}`{}", near.map_or_else(String::new, |near| format!(": did you mean `{near}`?")))]
    Unknown {
        /// The text.
        name: String,
        /// The method that may be meant.
        near: Option<Base>,
    },
    /// `+l2` on a method that is no decision loss.
    #[error("`{0}` has no loss of the decision, so it cannot be mixed with L2")]
    NotMixable(Base),
    /// `+stopped` on a method that is no loss of the forecast.
    #[error("`{0}` is no loss of the forecast alone, so `+stopped` says nothing of it")]
    NotStoppable(Base),
}

impl fmt::Display for MethodName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mixed = if self.mixed { "+l2" } else { "" };
        let stopped = if self.stopped { "+stopped" } else { "" };
        let scenarios = match self.source {
            _ if !self.scenarios => String::new(),
            None => "+scenarios".into(),
            Some(source) => format!("+{source}"),
        };
        f.pad(&format!("{}{mixed}{stopped}{scenarios}", self.base))
    }
}

impl FromStr for MethodName {
    type Err = MethodError;

    fn from_str(text: &str) -> Result<Self, MethodError> {
        let without =
            |text, suffix: &str| str::strip_suffix(text, suffix).map_or((text, false), |rest| (rest, true));
        let named = ScenarioSource::ALL.iter().copied().find(|s| text.ends_with(&format!("+{s}")));
        let suffix = named.map_or_else(|| "+scenarios".into(), |source| format!("+{source}"));
        let (rest, scenarios) = without(text, &suffix);
        let (rest, stopped) = without(rest, "+stopped");
        let (base, mixed) = without(rest, "+l2");
        let Some(base) = Base::all().find(|method| method.word() == base) else {
            // As identifiers of other packages have it: `SPOPlus`, `spo_plus`.
            let plain =
                base.to_lowercase().replace(['_', ' '], "-").replace("-plus", "+").replace("plus", "+");
            // A long name is no misspelling, and the distance costs the product of the lengths.
            let distance = |m: &Base| strsim::osa_distance(&plain, m.word());
            let near = Base::all().filter(|_| base.len() <= 64).min_by_key(distance);
            let near = near.filter(|m| distance(m) <= 1 + m.word().len() / 4);
            // `spo` and the like: the method is there with something added.
            let longer = Base::all().find(|m| plain.len() > 1 && m.word().starts_with(&plain));
            let near = near.or(longer);
            return Err(MethodError::Unknown { name: visible(text), near });
        };
        if mixed && !base.is_decision() {
            return Err(MethodError::NotMixable(base));
        }
        if stopped && !base.is_forecast() {
            return Err(MethodError::NotStoppable(base));
        }
        Ok(Self { base, mixed, stopped, scenarios, source: named })
    }
}

impl Serialize for MethodName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_are_written() {
        for base in Base::all() {
            for suffixes in 0..16 {
                let has = |bit: u32| suffixes & bit != 0;
                let source = has(8).then_some(ScenarioSource::Scaled).filter(|_| has(4));
                let name = MethodName { base, mixed: has(1), stopped: has(2), scenarios: has(4), source };
                let read = name.to_string().parse::<MethodName>();
                if name.mixed && !base.is_decision() {
                    assert_eq!(read, Err(MethodError::NotMixable(base)));
                } else if name.stopped && !base.is_forecast() {
                    assert_eq!(read, Err(MethodError::NotStoppable(base)));
                } else {
                    assert_eq!(read, Ok(name));
                }
            }
        }
    }

    #[test]
    fn misspellings() {
        let near = |text: &str| match text.parse::<MethodName>() {
            Err(MethodError::Unknown { near, .. }) => near,
            other => panic!("{other:?}"),
        };
        assert_eq!(near("surogate+l2"), Some(Base::Surrogate));
        assert_eq!(near("spo"), Some(Method::SpoPlus.into()));
        assert_eq!(near("spo_plus"), Some(Method::SpoPlus.into()));
        assert_eq!(near("SPOPlus"), Some(Method::SpoPlus.into()));
        assert_eq!(near("fenchel_young"), Some(Method::FenchelYoung.into()));
        assert_eq!(near("fenchel"), Some(Method::FenchelYoung.into()));
        assert_eq!(near("l2+scenarios+l2"), None);
        assert_eq!(near(""), None);
    }
}
