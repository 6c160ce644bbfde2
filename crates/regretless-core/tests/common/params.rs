//! Every parameter of a problem as an owned, perturbable vector.
#![allow(dead_code, non_snake_case, unreachable_pub)]

use regretless_core::problem::ByParameter;
use regretless_core::{Gradients, Instance, Parameter, Problem};

/// What a problem states, to change and solve with.
#[derive(Clone)]
pub struct Params {
    values: ByParameter<Vec<f64>>,
    lp: bool,
}

pub const NAMES: [&str; 12] =
    ["theta", "Q", "C", "d", "alpha", "under", "A", "b", "B", "c", "lower", "upper"];

fn named(name: &str) -> Parameter {
    Parameter::ALL.into_iter().find(|p| p.symbol() == name).unwrap_or_else(|| panic!("no parameter {name}"))
}

impl std::ops::Deref for Params {
    type Target = ByParameter<Vec<f64>>;

    fn deref(&self) -> &Self::Target {
        &self.values
    }
}

impl std::ops::DerefMut for Params {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.values
    }
}

impl Params {
    pub fn of(problem: &Problem) -> Self {
        Self { values: ByParameter::from_fn(|p| p.of(problem).to_vec()), lp: problem.Q().is_none() }
    }

    pub fn instance(&self) -> Instance<'_> {
        let given = |p| !(self.lp && p == Parameter::Quadratic);
        Instance::from_fn(|p| given(p).then(|| self.values.get(p).as_slice()))
    }

    pub fn part(&mut self, name: &str) -> &mut [f64] {
        self.values.get_mut(named(name))
    }
}

pub fn part<'a>(gradients: &'a mut Gradients, name: &str) -> &'a mut Vec<f64> {
    gradients.get_mut(named(name))
}
