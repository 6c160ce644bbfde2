//! From predicted numbers to instances of the problem, outright or by scenarios (a sample average approximation), and back
//! from gradients in the coefficients to gradients in the numbers.

pub(crate) mod instances;
pub(crate) mod layout;
pub(crate) mod scenarios;
pub(crate) mod truths;
