//! The methods, as the docs, the command line, Python and the tests see them.

use std::fmt;
use std::str::FromStr;

use super::LossError;
use super::table::{Row, Solves, TABLE};
use crate::predict::placement::Placement;
use crate::problem::Problem;

/// A way to train predictions.
///
/// ```
/// use regretless_core::Method;
/// let method: Method = "spo+".parse()?;
/// assert_eq!(method, Method::SpoPlus);
/// assert_eq!("surrogate".parse::<Method>()?.to_string(), "surrogate-smooth");
/// # Ok::<(), regretless_core::LossError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Method {
    /// Mean absolute error.
    L1,
    /// Mean squared error.
    L2,
    /// Mean absolute error with a price for each side.
    WeightedL1,
    /// SPO+ on the exact problem.
    SpoPlus,
    /// SPO+ on the surrogate.
    SpoPlusSmooth,
    /// Differentiation through the KKT system of the problem with a ridge.
    Df,
    /// The paper's Algorithm 1.
    SurrogateVertex,
    /// Regret of the surrogate's own optimum.
    SurrogateSmooth,
    /// The Fenchel–Young loss of the surrogate.
    FenchelYoung,
}

/// A method in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MethodInfo {
    /// The loss of one sample.
    pub formula: &'static str,
    /// Its gradient in the prediction.
    pub gradient: &'static str,
    /// What may be predicted.
    pub predicts: &'static str,
    /// Where it comes from.
    pub source: &'static str,
}

impl Method {
    /// Every method, in the order of the docs.
    pub const ALL: [Self; TABLE.len()] = {
        let mut all = [Self::L1; TABLE.len()];
        let mut i = 0;
        while i < all.len() {
            all[i] = TABLE[i].method;
            i += 1;
        }
        all
    };

    pub(super) fn row(self) -> &'static Row {
        &TABLE[self as usize]
    }

    /// The id that files, commands and tables use.
    pub fn id(&self) -> &'static str {
        self.row().id
    }

    /// What it computes and where it comes from.
    pub fn info(self) -> MethodInfo {
        self.row().info
    }

    /// True if the loss solves the problem: all but the entrywise ones.
    pub fn is_decision_focused(self) -> bool {
        self.row().solves != Solves::Nothing
    }

    /// True if sharpness and multipliers mean something to it.
    pub fn uses_surrogate(self) -> bool {
        self.row().solves == Solves::Surrogate
    }

    /// True if it can decide for the average over scenarios.
    pub fn takes_scenarios(self) -> bool {
        self.row().scenarios
    }

    /// True if it can also decide for the worst of them, at a risk: the threshold is differentiated with the decision.
    pub fn takes_risk(self) -> bool {
        self.takes_scenarios() && self.uses_surrogate()
    }

    /// Refuses what the method cannot predict, with the reason and the methods that can.
    pub fn supports(self, problem: &Problem, placement: &Placement) -> Result<(), LossError> {
        placement.check(problem)?;
        let kinds = placement.predicted_kinds();
        let refused = |method: Self| kinds.iter().find_map(|&p| Some((p, (method.row().refuses)(p)?)));
        let Some((parameter, why)) = refused(self) else { return Ok(()) };
        let fits = |m: &Self| m.is_decision_focused() && refused(*m).is_none();
        let alternatives = Self::ALL.into_iter().filter(fits).collect();
        let reason = why.replace("{}", parameter.symbol());
        Err(LossError::Unsupported { method: self, reason, alternatives })
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.id())
    }
}

impl FromStr for Method {
    type Err = LossError;

    fn from_str(text: &str) -> Result<Self, LossError> {
        if text == "surrogate" {
            return Ok(Self::SurrogateSmooth);
        }
        let known = Self::ALL.into_iter().find(|m| m.id() == text);
        known.ok_or_else(|| LossError::UnknownMethod(text.into()))
    }
}
