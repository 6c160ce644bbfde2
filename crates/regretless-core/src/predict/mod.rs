//! From predicted quantities and known numbers to instances of the problem, outright or by scenarios (a sample average
//! approximation), and back from gradients in the coefficients to gradients in the quantities.

pub(crate) mod at_risk;
mod curvature;
pub(crate) mod forecast;
pub(crate) mod instances;
pub(crate) mod placement;
pub(crate) mod risk;
pub(crate) mod scenarios;
pub(crate) mod truths;
