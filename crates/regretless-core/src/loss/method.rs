//! The methods: one registry for the docs, the command line and the tests.

use std::fmt;
use std::str::FromStr;

use super::LossError;
use crate::predict::layout::Layout;
use crate::problem::Problem;
use crate::problem::parameter::{Parameter, Role};

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
    /// Solves for each sample and step, once the truths are solved.
    pub solves_per_step: usize,
    /// What may be predicted.
    pub predicts: &'static str,
    /// Where it comes from.
    pub source: &'static str,
}

impl Method {
    /// Every method.
    pub const ALL: [Self; 9] = [
        Self::L1,
        Self::L2,
        Self::WeightedL1,
        Self::SpoPlus,
        Self::SpoPlusSmooth,
        Self::Df,
        Self::SurrogateVertex,
        Self::SurrogateSmooth,
        Self::FenchelYoung,
    ];

    /// The id that files, commands and tables use.
    pub fn id(&self) -> &'static str {
        match self {
            Self::L1 => "l1",
            Self::L2 => "l2",
            Self::WeightedL1 => "weighted-l1",
            Self::SpoPlus => "spo+",
            Self::SpoPlusSmooth => "spo+-smooth",
            Self::Df => "df",
            Self::SurrogateVertex => "surrogate-vertex",
            Self::SurrogateSmooth => "surrogate-smooth",
            Self::FenchelYoung => "fenchel-young",
        }
    }

    /// True if the loss solves the problem: all but the entrywise ones.
    pub fn is_decision_focused(self) -> bool {
        !matches!(self, Self::L1 | Self::L2 | Self::WeightedL1)
    }

    /// True if sharpness and multipliers mean something to it.
    pub fn uses_surrogate(self) -> bool {
        matches!(
            self,
            Self::SpoPlusSmooth | Self::SurrogateVertex | Self::SurrogateSmooth | Self::FenchelYoung
        )
    }

    /// True if it can decide for the average over scenarios.
    pub fn takes_scenarios(self) -> bool {
        matches!(self, Self::Df | Self::SurrogateVertex | Self::SurrogateSmooth)
    }

    /// What it computes and where it comes from.
    pub fn info(self) -> MethodInfo {
        let [formula, gradient, predicts, source] = match self {
            Self::L1 => {
                ["mean |p̂ − p|/s", "sign(p̂ − p)/(s·width)", "everything", "least absolute deviations"]
            }
            Self::L2 => ["mean ((p̂ − p)/s)²", "2(p̂ − p)/(s²·width)", "everything", "least squares"],
            Self::WeightedL1 => [
                "mean (over·max(p̂ − p, 0) + under·max(p − p̂, 0))/s",
                "over or −under, /(s·width)",
                "everything",
                "Koenker & Bassett 1978, quantile regression",
            ],
            Self::SpoPlus => {
                ["V(2θ̂ − θ) − F(x*(θ); 2θ̂ − θ)", "2(x*(2θ̂ − θ) − x*(θ))", "θ", "Elmachtoub & Grigas 2022"]
            }
            Self::SpoPlusSmooth => {
                ["V_K(2θ̂ − θ) − F_K(x_K(θ); 2θ̂ − θ)", "2(x_K(2θ̂ − θ) − x_K(θ))", "θ", "SPO+ on the surrogate"]
            }
            Self::Df => [
                "V(p) − F(x_r(p̂); p), x_r the optimum with −ridge·‖x‖²",
                "through the KKT system, active rows as equalities",
                "θ, Q, C, d, α, α₂",
                "Wilder, Dilkina & Tambe 2019; Amos & Kolter 2017",
            ],
            Self::SurrogateVertex => [
                "½(θ̂ − θ)ᵀH⁻¹(θ̂ − θ); V_K(p) − F_K(x̄(p̂); p) if more than θ is predicted",
                "H⁻¹(θ̂ − θ), H at the exact optimum's pieces",
                "everything",
                "the paper, Algorithm 1",
            ],
            Self::SurrogateSmooth => [
                "F_K(x_K(p); p) − F_K(x_K(p̂); p)",
                "H⁻¹(θ̂ − θ), H at the surrogate's own pieces",
                "everything",
                "the paper's surrogate, solved for its own optimum",
            ],
            Self::FenchelYoung => [
                "V_K(p̂) − F_K(x_K(p); p̂)",
                "x_K(θ̂) − x_K(θ); in Q: xxᵀ − x̂x̂ᵀ",
                "θ, Q, α, α₂",
                "Blondel, Martins & Niculae 2020, with V_K as the conjugate",
            ],
        };
        let solves_per_step = usize::from(self.is_decision_focused());
        MethodInfo { formula, gradient, solves_per_step, predicts, source }
    }

    /// Refuses what the method cannot predict, with the reason and the methods that can.
    pub fn supports(self, problem: &Problem, layout: &Layout) -> Result<(), LossError> {
        layout.check(problem)?;
        let refused = |method: Self| layout.parts().iter().find(|p| !method.predicts(p.parameter));
        let Some(part) = refused(self) else { return Ok(()) };
        let alternatives =
            Self::ALL.into_iter().filter(|m| m.is_decision_focused() && refused(*m).is_none()).collect();
        let symbol = part.parameter.symbol();
        let reason = match self {
            Self::Df => format!(
                "{symbol} belongs to hard rows, and the exact objective does not see that a decision breaks one"
            ),
            Self::FenchelYoung => {
                format!(
                    "its loss needs an objective that is linear in what is predicted, and it is not in {symbol}"
                )
            }
            _ => format!("it predicts θ only, and {symbol} is predicted"),
        };
        Err(LossError::Unsupported { method: self, reason, alternatives })
    }

    fn predicts(self, parameter: Parameter) -> bool {
        use Parameter::{Linear, Over, Quadratic, Under};
        match self {
            Self::SpoPlus | Self::SpoPlusSmooth => parameter == Linear,
            Self::Df => parameter.role() != Role::Hard,
            Self::FenchelYoung => matches!(parameter, Linear | Quadratic | Over | Under),
            _ => true,
        }
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
