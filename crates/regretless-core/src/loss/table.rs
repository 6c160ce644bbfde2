//! One row a loss: its id, what it computes, what it can predict, what it needs, how it is built. Files, command line, Python, docs
//! and tests read it here.

use super::{DecisionLoss, LossError, LossOptions, Method, MethodInfo, df, entrywise, gap, smoothed, spo};
use crate::predict::instances::Reading;
use crate::problem::parameter::{Parameter, Role};

/// What a loss solves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Solves {
    /// It compares numbers.
    Nothing,
    /// The problem itself.
    Exact,
    /// The softened and smoothed problem: it needs multipliers and a sharpness.
    Surrogate,
}

pub(super) type Built = Result<Box<dyn DecisionLoss>, LossError>;

/// A loss.
pub(super) struct Row {
    pub(super) method: Method,
    pub(super) id: &'static str,
    pub(super) info: MethodInfo,
    pub(super) solves: Solves,
    /// Whether it can decide for the average over scenarios.
    pub(super) scenarios: bool,
    /// Why it cannot predict a parameter, with `{}` for the symbol; `None` if it can.
    pub(super) refuses: fn(Parameter) -> Option<&'static str>,
    pub(super) build: fn(Method, Reading, &LossOptions<'_>) -> Built,
}

const fn info(
    formula: &'static str,
    gradient: &'static str,
    predicts: &'static str,
    source: &'static str,
) -> MethodInfo {
    MethodInfo { formula, gradient, predicts, source }
}

fn nothing(_: Parameter) -> Option<&'static str> {
    None
}

fn all_but_theta(parameter: Parameter) -> Option<&'static str> {
    (parameter != Parameter::Linear).then_some("it predicts θ only, and {} is predicted")
}

fn hard_rows(parameter: Parameter) -> Option<&'static str> {
    (parameter.role() == Role::Hard)
        .then_some("{} belongs to hard rows, and the exact objective does not see that a decision breaks one")
}

fn what_is_not_linear(parameter: Parameter) -> Option<&'static str> {
    use Parameter::{Linear, Over, Quadratic, Under};
    (!matches!(parameter, Linear | Quadratic | Over | Under))
        .then_some("its loss needs an objective that is linear in what is predicted, and it is not in {}")
}

fn entrywise(method: Method, reading: Reading, options: &LossOptions<'_>) -> Built {
    Ok(Box::new(entrywise::Entrywise::new(method, reading, options)?))
}

fn on_the_surrogate(method: Method, reading: Reading, options: &LossOptions<'_>) -> Built {
    Ok(Box::new(smoothed::Smoothed::new(method, reading, options)?))
}

fn gap(method: Method, reading: Reading, options: &LossOptions<'_>) -> Built {
    Ok(Box::new(gap::Gap::new(method, reading, options)?))
}

fn spo_plus(_: Method, reading: Reading, options: &LossOptions<'_>) -> Built {
    Ok(Box::new(spo::SpoPlus::new(reading, options)?))
}

fn through_kkt(_: Method, reading: Reading, options: &LossOptions<'_>) -> Built {
    Ok(Box::new(df::Df::new(reading, options)?))
}

/// In the order of [`Method`].
pub(super) const TABLE: [Row; 9] = [
    Row {
        method: Method::L1,
        id: "l1",
        info: info("mean |p̂ − p|/s", "sign(p̂ − p)/(s·width)", "everything", "least absolute deviations"),
        solves: Solves::Nothing,
        scenarios: false,
        refuses: nothing,
        build: entrywise,
    },
    Row {
        method: Method::L2,
        id: "l2",
        info: info("mean ((p̂ − p)/s)²", "2(p̂ − p)/(s²·width)", "everything", "least squares"),
        solves: Solves::Nothing,
        scenarios: false,
        refuses: nothing,
        build: entrywise,
    },
    Row {
        method: Method::WeightedL1,
        id: "weighted-l1",
        info: info(
            "mean (over·max(p̂ − p, 0) + under·max(p − p̂, 0))/s",
            "over or −under, /(s·width)",
            "everything",
            "Koenker & Bassett 1978, quantile regression",
        ),
        solves: Solves::Nothing,
        scenarios: false,
        refuses: nothing,
        build: entrywise,
    },
    Row {
        method: Method::SpoPlus,
        id: "spo+",
        info: info("V(2θ̂ − θ) − F(x*(θ); 2θ̂ − θ)", "2(x*(2θ̂ − θ) − x*(θ))", "θ", "Elmachtoub & Grigas 2022"),
        solves: Solves::Exact,
        scenarios: false,
        refuses: all_but_theta,
        build: spo_plus,
    },
    Row {
        method: Method::SpoPlusSmooth,
        id: "spo+-smooth",
        info: info(
            "V_K(2θ̂ − θ) − F_K(x_K(θ); 2θ̂ − θ)",
            "2(x_K(2θ̂ − θ) − x_K(θ))",
            "θ",
            "SPO+ on the surrogate",
        ),
        solves: Solves::Surrogate,
        scenarios: false,
        refuses: all_but_theta,
        build: gap,
    },
    Row {
        method: Method::Df,
        id: "df",
        info: info(
            "V(p) − F(x_r(p̂); p), x_r the optimum with −ridge·‖x‖²",
            "through the KKT system, active rows as equalities",
            "θ, Q, C, d, α, α₂",
            "Wilder, Dilkina & Tambe 2019; Amos & Kolter 2017",
        ),
        solves: Solves::Exact,
        scenarios: true,
        refuses: hard_rows,
        build: through_kkt,
    },
    Row {
        method: Method::SurrogateVertex,
        id: "surrogate-vertex",
        info: info(
            "½(θ̂ − θ)ᵀH⁻¹(θ̂ − θ); V_K(p) − F_K(x̄(p̂); p) if more than θ is predicted",
            "H⁻¹(θ̂ − θ), H at the exact optimum's pieces",
            "everything",
            "the paper, Algorithm 1",
        ),
        solves: Solves::Surrogate,
        scenarios: true,
        refuses: nothing,
        build: on_the_surrogate,
    },
    Row {
        method: Method::SurrogateSmooth,
        id: "surrogate-smooth",
        info: info(
            "F_K(x_K(p); p) − F_K(x_K(p̂); p)",
            "H⁻¹(θ̂ − θ), H at the surrogate's own pieces",
            "everything",
            "the paper's surrogate, solved for its own optimum",
        ),
        solves: Solves::Surrogate,
        scenarios: true,
        refuses: nothing,
        build: on_the_surrogate,
    },
    Row {
        method: Method::FenchelYoung,
        id: "fenchel-young",
        info: info(
            "V_K(p̂) − F_K(x_K(p); p̂)",
            "x_K(θ̂) − x_K(θ); in Q: xxᵀ − x̂x̂ᵀ",
            "θ, Q, α, α₂",
            "Blondel, Martins & Niculae 2020, with V_K as the conjugate",
        ),
        solves: Solves::Surrogate,
        scenarios: false,
        refuses: what_is_not_linear,
        build: gap,
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_in_the_order_of_methods() {
        for (i, row) in TABLE.iter().enumerate() {
            assert_eq!(row.method as usize, i, "{}", row.id);
        }
    }
}
