//! The optima of a batch as tables: one row an instance.

use crate::engine::accuracy::Accuracy;
use crate::engine::rows::Piece;
use crate::problem::{Problem, ProblemError};
use crate::surrogate::solution::Solution;

/// The optima of a batch of instances, with the factors that derivatives need
/// ([`Solutions::vjp`]). What has no optimum is NaN in every table, unless its best effort is asked for; what was refused always.
///
/// ```
/// use regretless_core::surrogate::Solutions;
/// use regretless_core::*;
/// let problem = Problem::maximize(2).upper([1.0, 2.0]).build()?;
/// let instances = [Instance::theta(&[1.0, 1.0]), Instance::theta(&[f64::NAN, 1.0])];
/// let multipliers = Multipliers::choose(&problem, &Rule::default(), &instances[..1])?;
/// let surrogate = Surrogate::new(&problem, &multipliers, &SurrogateOptions::with_k(50.0))?;
/// let solutions = Solutions::new(&problem, surrogate.solve_batch(&instances));
/// assert!((solutions.x(false)[1] - 2.0).abs() < 0.01 && solutions.x(false)[2].is_nan());
/// assert_eq!(solutions.troubled(), [1]);
/// let gradients = solutions.vjp(&[1.0, 0.0, 1.0, 0.0], &[Parameter::Upper], false, false);
/// assert!((gradients.table(Parameter::Upper)[0] - 1.0).abs() < 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Solutions {
    problem: Problem,
    each: Vec<Result<Solution, ProblemError>>,
}

impl Solutions {
    /// The solutions of instances of a problem, in order.
    pub fn new(problem: &Problem, each: Vec<Result<Solution, ProblemError>>) -> Self {
        Self { problem: problem.clone(), each }
    }

    /// The problem.
    pub fn problem(&self) -> &Problem {
        &self.problem
    }

    /// Each solution, or why its instance was refused.
    pub fn each(&self) -> &[Result<Solution, ProblemError>] {
        &self.each
    }

    /// The points, instances × n.
    pub fn x(&self, best_effort: bool) -> Vec<f64> {
        let nowhere = vec![f64::NAN; self.problem.n()];
        let known = |s: &&Solution| best_effort || s.is_optimal();
        let points =
            self.each.iter().map(|s| s.as_ref().ok().filter(known).map_or(&nowhere[..], Solution::x));
        points.flatten().copied().collect()
    }

    /// The objectives of the original problem.
    pub fn objectives(&self, best_effort: bool) -> Vec<f64> {
        self.numbers(|s| if best_effort || s.is_optimal() { s.objective } else { f64::NAN })
    }

    /// The residuals of stationarity.
    pub fn residuals(&self) -> Vec<f64> {
        self.numbers(|s| s.residual)
    }

    /// How right each point is for the problem without smoothing.
    pub fn accuracies(&self) -> Vec<Accuracy> {
        self.each.iter().map(|s| s.as_ref().map_or(Accuracy::NONE, Solution::accuracy)).collect()
    }

    /// Instances without an optimum.
    pub fn troubled(&self) -> Vec<usize> {
        let fine = |i: &usize| self.each[*i].as_ref().is_ok_and(Solution::is_optimal);
        (0..self.each.len()).filter(|i| !fine(i)).collect()
    }

    /// The status of each in a word, and what it names: rows, or why the instance was refused.
    pub fn statuses(&self) -> Vec<(&'static str, Vec<String>)> {
        let one = |solution: &Result<Solution, ProblemError>| match solution {
            Err(refusal) => ("refused", vec![refusal.to_string()]),
            Ok(solution) => {
                let rows = solution.status.rows().iter().map(|row| self.problem.row_name(*row));
                (solution.status.word(), rows.collect())
            }
        };
        self.each.iter().map(one).collect()
    }

    /// The piece of every stacked row (soft, at most, equal, lower, upper), instances × rows; `None` where there is none.
    pub fn pieces(&self) -> Vec<Option<Piece>> {
        let shape = self.problem.shape();
        let mut out = vec![None; self.each.len() * shape.rows()];
        for (row, solution) in out.chunks_exact_mut(shape.rows()).zip(&self.each) {
            for (id, piece) in solution.iter().flat_map(Solution::pieces) {
                row[shape.position(id)] = Some(piece);
            }
        }
        out
    }

    fn numbers(&self, of: impl Fn(&Solution) -> f64) -> Vec<f64> {
        self.each.iter().map(|s| s.as_ref().map_or(f64::NAN, &of)).collect()
    }
}
