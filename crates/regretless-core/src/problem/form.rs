//! Whether a problem is solved with dense or with sparse factors.
//!
//! The answers, their certificates and their gradients are the same; what differs is the time and the memory. The choice is made
//! once, when a problem is built, by counting what a factorisation takes in each form:
//!
//! ```text
//! dense    H = 2Q + C'ᵀWC'                  n³/3 + mn²
//! sparse   K = [2Q, C'ᵀ; C', −W⁻¹]          Σ (length of a column of L)², found by its symbolic analysis
//! ```

use std::sync::Arc;

use super::{Coefficients, CoefficientsRef, Data, Problem};
use crate::linalg::sparse_ldl::{Analysis, Compressed};

/// With how few variables dense factors always are the faster ones (measured).
const FEW: usize = 200;
/// A sparse factorisation takes so many times longer for an operation than a dense one, all around it included.
const SLOWER: f64 = 20.0;

/// While a matrix is factored there are the matrix and its factor, and what the last solve left.
const COPIES: f64 = 2.0;

/// A problem with more than this share of the entries of K is not looked at closer. One full row among many variables is a small
/// share: a budget has a sparse factor.
const FULL: f64 = 0.2;

/// With what a problem is solved.
///
/// ```
/// use regretless_core::problem::Form;
/// use regretless_core::{Coefficients, Problem};
/// // A chain: xⱼ₊₁ ≤ xⱼ + 1.
/// let n = 1000;
/// let links = (0..n - 1).flat_map(|j| [(j, j, -1.0), (j, j + 1, 1.0)]);
/// let rows = Coefficients::sparse(n - 1, n, links)?;
/// let chain = Problem::maximize(n).linear(vec![1.0; n]).at_most("chain", rows, vec![1.0; n - 1]);
/// assert_eq!(chain.build()?.form(), Form::Sparse);
/// assert_eq!(Problem::maximize(2).build()?.form(), Form::Dense);
/// # Ok::<(), regretless_core::ProblemError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A dense factor of H, which a path changes row by row.
    Dense,
    /// A sparse factor of the augmented matrix.
    Sparse,
}

impl Form {
    /// In one word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Dense => "dense",
            Self::Sparse => "sparse",
        }
    }
}

/// What one factorisation takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FactorCost {
    /// Entries of the factor.
    pub entries: f64,
    /// Multiplications and additions.
    pub flops: f64,
    /// Bytes of memory that a solve has to have for it.
    pub bytes: f64,
}

impl Problem {
    /// With what it is solved.
    pub fn form(&self) -> Form {
        if self.0.analysis.is_some() { Form::Sparse } else { Form::Dense }
    }

    /// The same problem to be solved with these factors, whatever is cheaper.
    ///
    /// ```
    /// # use regretless_core::{Instance, Oracle, Problem, problem::Form};
    /// let problem = Problem::maximize(2).linear([3.0, 2.0]).upper([1.0, 4.0]).build()?.in_form(Form::Sparse);
    /// assert_eq!(Oracle::new(&problem).solve(&Instance::default())?.x, [1.0, 4.0]);
    /// # Ok::<(), regretless_core::ProblemError>(())
    /// ```
    pub fn in_form(&self, form: Form) -> Self {
        Data { wanted: Some(form), ..(*self.0).clone() }.chosen()
    }

    /// What one factorisation takes in the problem's form.
    pub fn factor_cost(&self) -> FactorCost {
        if let Some(analysis) = &self.0.analysis {
            let (entries, flops) = (analysis.fill() as f64, analysis.flops);
            return FactorCost { entries, flops, bytes: COPIES * analysis.bytes() as f64 };
        }
        let (n, m) = (self.n() as f64, self.shape().general() as f64);
        // The rows stand beside it.
        let bytes = (COPIES * 0.5 * n * n + n * m) * size_of::<f64>() as f64;
        FactorCost { entries: 0.5 * n * n, flops: dense_flops(&self.0), bytes }
    }

    /// The symbolic analysis of the problem's own rows and Q; `None` for the dense form.
    pub(crate) fn analysis(&self) -> Option<&Arc<Analysis>> {
        self.0.analysis.as_ref()
    }
}

fn dense_flops(data: &Data) -> f64 {
    let n = data.theta.len() as f64;
    let m = data.soft.d.len() + data.at_most.rhs.len() + data.equal.rhs.len();
    n * n * (n / 3.0 + m as f64)
}

/// The analysis where the form is to be sparse: if that is `wanted`, or cheaper.
pub(super) fn choose(data: &Data) -> Option<Arc<Analysis>> {
    let n = data.theta.len();
    if data.wanted == Some(Form::Dense) || (data.wanted.is_none() && n < FEW) {
        return None;
    }
    let mut rows = Coefficients::compressed(n);
    for part in [&data.soft.C, &data.at_most.rows, &data.equal.rows] {
        stack(&mut rows, part.view(), 0..part.rows());
    }
    let two_q = data.Q.as_ref().map(|q| doubled(q.view()));
    let stored: usize =
        [Some(&rows), two_q.as_ref()].into_iter().flatten().map(|m| m.pattern().entries()).sum();
    let places = n as f64 * (n + rows.rows()) as f64;
    if data.wanted.is_none() && stored as f64 > FULL * places {
        return None;
    }
    let found = analyse(n, two_q.as_ref(), &rows)?;
    let cheaper = || SLOWER * found.flops < dense_flops(data);
    (data.wanted.is_some() || cheaper()).then(|| Arc::new(found))
}

/// The analysis of stacked rows and 2Q, both of a sparse pattern.
pub(crate) fn analyse(n: usize, two_q: Option<&Coefficients>, rows: &Coefficients) -> Option<Analysis> {
    let none = Compressed { starts: &[0], columns: &[] };
    let quadratic = two_q.and_then(|q| q.pattern().compressed());
    Analysis::new(n, quadratic, rows.pattern().compressed().unwrap_or(none))
}

/// Appends rows to those of a sparse pattern. A dense matrix leaves its zeros behind, a sparse one what it does not state.
pub(crate) fn stack(out: &mut Coefficients, of: CoefficientsRef<'_>, rows: impl Iterator<Item = usize>) {
    let dense = of.pattern.is_dense();
    for i in rows {
        out.push(of.row(i).iter().filter(|(_, a)| !dense || *a != 0.0));
    }
}

/// Q + Qᵀ in a sparse pattern, which has every entry of the diagonal.
pub(crate) fn doubled(q: CoefficientsRef<'_>) -> Coefficients {
    let (n, dense) = (q.pattern.cols(), q.pattern.is_dense());
    let mut out = Coefficients::compressed(n);
    for i in 0..n {
        let both = q.row(i).iter().map(|(j, a)| (j, a + q.row(j).get(i)));
        out.push(both.filter(|(j, a)| !dense || i == *j || *a != 0.0));
    }
    out
}
