//! The synthetic LP: max θᵀx − αᵀmax(Cx − d, 0), Ax ≤ b, x ≥ 0.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use regretless_core::{Matrix, Problem, ProblemError, Soft};

use super::Size;
use crate::random::{thin, uniform};

/// The LP without its objective θ, which is predicted.
#[derive(Clone, Debug, PartialEq)]
pub struct Lp {
    /// Its size.
    pub size: Size,
    /// A, row-major.
    pub hard: Vec<f64>,
    /// b.
    pub at_most: Vec<f64>,
    /// C, row-major.
    pub soft: Vec<f64>,
    /// d.
    pub limit: Vec<f64>,
    /// α.
    pub over: Vec<f64>,
}

impl Lp {
    /// Draws an LP: entries of A and C uniform on (0, 1), half the rows (rounded up) of every column zero, b = ½A1,
    /// d = ¼C1, α uniform on (0, 0.2).
    pub fn draw(size: Size, seed: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let n = size.n;
        let mut half_sparse = |rows: usize| {
            let mut matrix = uniform(&mut rng, rows * n);
            thin(&mut rng, &mut matrix, rows, n, rows.div_ceil(2));
            matrix
        };
        let (hard, soft) = (half_sparse(size.hard), half_sparse(size.soft));
        let over = uniform(&mut rng, size.soft).iter().map(|u| 0.2 * u).collect();
        let limits = |m: &[f64], share: f64| -> Vec<f64> {
            m.chunks_exact(n).map(|row| share * row.iter().sum::<f64>()).collect()
        };
        let (at_most, limit) = (limits(&hard, 0.5), limits(&soft, 0.25));
        Self { size, hard, at_most, soft, limit, over }
    }

    /// The problem, with θ to be predicted.
    pub fn problem(&self) -> Result<Problem, ProblemError> {
        let Size { n, hard, soft } = self.size;
        let matrix = |rows: usize, values: &[f64]| Matrix::from_fn(rows, n, |i, j| values[i * n + j]);
        let mut problem = Problem::maximize(n).linear(vec![0.0; n]);
        if soft > 0 {
            let rows = Soft::over(matrix(soft, &self.soft), self.limit.clone(), self.over.clone());
            problem = problem.soft("soft", rows);
        }
        problem.at_most("hard", matrix(hard, &self.hard), self.at_most.clone()).build()
    }
}
