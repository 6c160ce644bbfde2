//! How far the surrogate's decision is from the exact one, in the objective that counts.

use crate::engine::tolerance::NO_OBJECTIVE;
use crate::problem::{Instance, ProblemError, View};
use crate::solve::batch;
use crate::solve::optimum::Optimum;
use crate::surrogate::Surrogate;
use crate::surrogate::solution::Solution;

impl Surrogate {
    /// |F(x) − V| over the size of the objective's terms at the exact optimum (|θ|ᵀ|x| + xᵀQx + soft costs + prices times
    /// limits), for each solution; `None` where either has no optimum, or an objective of nothing. F is the original objective at
    /// the surrogate's x, V the exact optimal value.
    ///
    /// A few per cent say that K is too small for the units of the rows, or the multipliers for the instance. It costs an
    /// exact solve an instance.
    ///
    /// ```
    /// # use regretless_core::*;
    /// let problem = Problem::maximize(1).upper([1.0]).build()?;
    /// let instance = Instance::theta(&[1.0]);
    /// let multipliers = Multipliers::choose(&problem, &Rule::default(), &[instance])?;
    /// for (k, far) in [(0.5, true), (500.0, false)] {
    ///     let options = SurrogateOptions::with_k(k);
    ///     let surrogate = Surrogate::new(&problem, &multipliers, &options)?;
    ///     let gaps = surrogate.exact_gaps(&[instance], &[&surrogate.solve(&instance)?])?;
    ///     assert_eq!(gaps[0].is_some_and(|gap| gap > 0.05), far);
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// If there are not as many solutions as instances.
    pub fn exact_gaps(
        &self,
        instances: &[Instance<'_>],
        solutions: &[&Solution],
    ) -> Result<Vec<Option<f64>>, ProblemError> {
        assert_eq!(instances.len(), solutions.len(), "a solution for each instance");
        let cold = vec![None; instances.len()];
        let exact = batch::from(self.oracle(), instances, cold, |solved| (solved.answer, solved.view));
        let gap = |(solved, solution): (Result<(Optimum, View<'_>), _>, &&Solution)| {
            let (optimum, view) = solved?;
            if !optimum.is_optimal() || !solution.is_optimal() {
                return Ok(None);
            }
            let difference = (solution.objective - optimum.objective).abs();
            let size = terms(&view, &optimum.x);
            // Relative to nothing says nothing.
            Ok((size > NO_OBJECTIVE * terms(&view, solution.x())).then(|| difference / size))
        };
        exact.into_iter().zip(solutions).map(gap).collect()
    }
}

/// |θ|ᵀ|x| + xᵀQx + the soft rows' cost, and what missing their limits altogether would cost: no term hides behind
/// another of the other sign, and a cost that happens to be met by 0 is not nothing.
fn terms(view: &View<'_>, x: &[f64]) -> f64 {
    let linear: f64 = view.theta.iter().zip(x).map(|(t, x)| t * x).sum();
    let absolute: f64 = view.theta.iter().zip(x).map(|(t, x)| (t * x).abs()).sum();
    // The objective is θᵀx less costs, as a gain.
    let prices = view.alpha.iter().zip(view.under).map(|(over, under)| over.max(*under));
    let limits: f64 = prices.zip(view.d).map(|(price, d)| price * d.abs()).sum();
    absolute + (linear - view.objective(x)).abs() + limits
}
