//! Scenarios of limits: one row with many breakpoints against a row for each scenario.
//!
//! Both sides are the same problem. To stay apart, the rows of the second are each in units of their own: row s times σₛ, its
//! limit too, its price and its K over σₛ.

use std::hint::black_box;
use std::time::Instant;

use rand::RngExt;
use regretless_core::problem::ByParameter;
use regretless_core::{
    Gradients, Instance, Matrix, Multipliers, Oracle, Parameter, Placement, Problem, RowValues, Scenarios,
    Soft, Store, Surrogate, SurrogateOptions,
};

use crate::problems::{provisioning, rng};

const SHARPNESS: f64 = 25.0;

/// Milliseconds, the median of all.
#[derive(Default)]
struct Times(Vec<f64>);

impl Times {
    fn add<T>(&mut self, f: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let out = black_box(f());
        self.0.push(start.elapsed().as_secs_f64() * 1e3);
        out
    }

    fn median(&mut self) -> f64 {
        self.0.sort_unstable_by(f64::total_cmp);
        self.0[self.0.len() / 2]
    }
}

/// From predictions to decisions and back, by one of the two statements.
struct Side {
    problem: Problem,
    /// σ of each soft row.
    units: Vec<f64>,
}

impl Side {
    fn times(&self, values: &[f64], power: i32) -> Vec<f64> {
        values.iter().zip(&self.units).map(|(v, u)| v * u.powi(power)).collect()
    }

    /// Surrogate cold and warm with the gradient in the prediction, exact cold and warm; and the last exact objective.
    fn measure(&self, scenarios: &Scenarios, predictions: &[Vec<f64>]) -> ([f64; 4], f64) {
        let shape = self.problem.shape();
        let mut k = RowValues::constant(shape, SHARPNESS);
        k.soft = self.times(&k.soft, -1);
        let options = SurrogateOptions { k_rows: Some(k), ..SurrogateOptions::with_k(SHARPNESS) };
        let multipliers = Multipliers::given(RowValues::constant(shape, 50.0));
        let surrogate = Surrogate::new(&self.problem, &multipliers, &options).unwrap();
        let oracle = Oracle::new(&self.problem);
        let (mut smooth, mut exact) = (Store::with_budget(1 << 30), Store::with_budget(1 << 30));
        let mut times: [Times; 4] = Default::default();
        let mut objective = 0.0;
        let mut gradient = vec![0.0; scenarios.width()];
        for (round, p) in predictions.iter().enumerate() {
            let d = |p: &[f64]| {
                let parameters = scenarios.parameters(p, &[]);
                self.times(parameters.get(Parameter::Limit).unwrap_or_default(), 1)
            };
            times[usize::from(round > 0)].add(|| {
                let d = d(p);
                let instance = Instance { d: Some(&d), ..Instance::default() };
                let solved = surrogate.solve_batch_warm(&[instance], &[0], &mut smooth).remove(0).unwrap();
                assert!(solved.is_optimal());
                let d = self.times(&solved.vjp_in(&vec![1.0; shape.n], &[Parameter::Limit]).d, 1);
                let parameters = ByParameter { d, ..ByParameter::default() };
                let by = Gradients { parameters, ..Gradients::default() };
                scenarios.gather(&by, p, &[], &mut gradient);
            });
            times[2 + usize::from(round > 0)].add(|| {
                let d = d(p);
                let instance = Instance { d: Some(&d), ..Instance::default() };
                let solved = oracle.solve_batch_warm(&[instance], &[0], &mut exact).remove(0).unwrap();
                assert!(solved.is_optimal());
                objective = solved.objective;
            });
        }
        (times.each_mut().map(Times::median), objective)
    }
}

pub(crate) fn run() {
    println!("## Scenarios of limits: provisioning, 24 two-sided rows, n = 8, K = {SHARPNESS}\n");
    println!(
        "Milliseconds from a prediction of the limits to the decision, with the surrogate also back to its gradient. Rows: each \
         scenario a row of its own / one row with many breakpoints.\n"
    );
    println!("| scenarios | surrogate cold | ratio | warm | ratio | exact cold | ratio | warm | ratio |");
    println!("|---|---|---|---|---|---|---|---|---|");
    for count in [25, 250, 2500] {
        let mut r = rng(count as u64);
        let problem = provisioning(1);
        let placement = Placement::whole(&problem, &[Parameter::Limit]);
        let mut noise = |size: f64| size * ((0..6).map(|_| r.random::<f64>()).sum::<f64>() - 3.0);
        let residuals: Vec<f64> = (0..count * placement.width()).map(|_| noise(0.1)).collect();
        let scenarios = Scenarios::new(&problem, &placement, residuals).unwrap();
        let steps = if count > 1000 { 4 } else { 20 };
        let predictions: Vec<Vec<f64>> =
            (0..steps).map(|_| problem.soft().d.iter().map(|d| d + noise(0.01)).collect()).collect();
        let average = scenarios.problem();
        let rows = average.shape().soft;
        let one = Side { problem: average.clone(), units: vec![1.0; rows] };
        let mut apart = Side { problem: average.clone(), units: (0..rows).map(unit).collect() };
        apart.problem = in_units(average, &apart);
        let (a, first) = apart.measure(&scenarios, &predictions);
        let (b, second) = one.measure(&scenarios, &predictions);
        assert!((first - second).abs() < 1e-6 * (1.0 + first.abs()), "{first} {second}");
        let cells = a.iter().zip(&b).map(|(a, b)| format!("{a:.2} / {b:.2} | **{:.0}×**", a / b));
        println!("| {count} | {} |", cells.collect::<Vec<_>>().join(" | "));
    }
    println!();
}

/// Between 1 and 2, another for each row.
fn unit(row: usize) -> f64 {
    1.0 + (row as f64 * 0.618_033_988_749_895).fract()
}

fn in_units(problem: &Problem, side: &Side) -> Problem {
    let soft = problem.soft();
    let (n, stated) = (problem.n(), soft.C.view().dense());
    let rows = Matrix::from_fn(soft.d.len(), n, |i, j| side.units[i] * stated[i * n + j]);
    let (d, alpha, under) =
        (side.times(&soft.d, 1), side.times(&soft.alpha, -1), side.times(&soft.under, -1));
    Problem::minimize(problem.n())
        .linear(problem.theta())
        .soft("apart", Soft::both(rows, d, alpha, under))
        .equal("shares", problem.equal().rows.clone(), problem.equal().rhs.clone())
        .build()
        .unwrap()
}
