//! Every parameter of a problem as an owned, perturbable vector.
#![allow(dead_code, non_snake_case, unreachable_pub)]

use regretless_core::{Gradients, Instance, Problem};

#[derive(Clone)]
pub struct Params {
    pub theta: Vec<f64>,
    pub Q: Option<Vec<f64>>,
    pub C: Vec<f64>,
    pub d: Vec<f64>,
    pub alpha: Vec<f64>,
    pub under: Vec<f64>,
    pub A: Vec<f64>,
    pub b: Vec<f64>,
    pub B: Vec<f64>,
    pub c: Vec<f64>,
    pub lower: Vec<f64>,
    pub upper: Vec<f64>,
}

pub const NAMES: [&str; 12] =
    ["theta", "Q", "C", "d", "alpha", "under", "A", "b", "B", "c", "lower", "upper"];

impl Params {
    pub fn of(problem: &Problem) -> Self {
        let (soft, at_most, equal) = (problem.soft(), problem.at_most(), problem.equal());
        Self {
            theta: problem.theta().to_vec(),
            Q: problem.Q().map(|q| q.as_slice().to_vec()),
            C: soft.C.as_slice().to_vec(),
            d: soft.d.clone(),
            alpha: soft.alpha.clone(),
            under: soft.under.clone(),
            A: at_most.rows.as_slice().to_vec(),
            b: at_most.rhs.clone(),
            B: equal.rows.as_slice().to_vec(),
            c: equal.rhs.clone(),
            lower: problem.lower().to_vec(),
            upper: problem.upper().to_vec(),
        }
    }

    pub fn instance(&self) -> Instance<'_> {
        Instance {
            theta: Some(&self.theta),
            Q: self.Q.as_deref(),
            C: Some(&self.C),
            d: Some(&self.d),
            alpha: Some(&self.alpha),
            under: Some(&self.under),
            A: Some(&self.A),
            b: Some(&self.b),
            B: Some(&self.B),
            c: Some(&self.c),
            lower: Some(&self.lower),
            upper: Some(&self.upper),
        }
    }

    pub fn part(&mut self, name: &str) -> &mut [f64] {
        match name {
            "theta" => &mut self.theta,
            "Q" => self.Q.as_deref_mut().unwrap_or_default(),
            "C" => &mut self.C,
            "d" => &mut self.d,
            "alpha" => &mut self.alpha,
            "under" => &mut self.under,
            "A" => &mut self.A,
            "b" => &mut self.b,
            "B" => &mut self.B,
            "c" => &mut self.c,
            "lower" => &mut self.lower,
            "upper" => &mut self.upper,
            other => panic!("no parameter {other}"),
        }
    }
}

pub fn part<'a>(gradients: &'a mut Gradients, name: &str) -> &'a mut Vec<f64> {
    match name {
        "theta" => &mut gradients.theta,
        "Q" => &mut gradients.Q,
        "C" => &mut gradients.C,
        "d" => &mut gradients.d,
        "alpha" => &mut gradients.alpha,
        "under" => &mut gradients.under,
        "A" => &mut gradients.A,
        "b" => &mut gradients.b,
        "B" => &mut gradients.B,
        "c" => &mut gradients.c,
        "lower" => &mut gradients.lower,
        "upper" => &mut gradients.upper,
        other => panic!("no parameter {other}"),
    }
}
