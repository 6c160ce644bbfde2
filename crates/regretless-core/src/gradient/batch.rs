//! Derivatives of a batch as tables: one row an instance.

use rayon::prelude::*;

use crate::gradient::Gradients;
use crate::problem::parameter::Parameter;
use crate::surrogate::solution::Solution;
use crate::surrogate::solutions::Solutions;

/// Derivatives of a batch; see [`Solutions::vjp`].
#[derive(Clone, Debug)]
pub struct BatchGradients<'a> {
    solutions: &'a Solutions,
    /// The gradients, or what stands in their place.
    each: Vec<Result<Gradients, f64>>,
}

impl Solutions {
    /// Derivatives of ⟨g, x⟩ for each instance's g (instances × n), in parallel, in the `wanted` parameters and with `sharpness`
    /// in K. Where x is NaN they are too, unless nobody asks: 0 for a g of zeros.
    ///
    /// # Panics
    /// If there are not n upstream entries for each instance.
    pub fn vjp(
        &self,
        upstream: &[f64],
        wanted: &[Parameter],
        sharpness: bool,
        best_effort: bool,
    ) -> BatchGradients<'_> {
        let n = self.problem().n();
        assert_eq!(upstream.len(), self.each().len() * n, "n entries for each instance");
        let one = |s: &Solution, g: &[f64]| if sharpness { s.vjp(g) } else { s.vjp_in(g, wanted) };
        let known = |s: &&Solution| best_effort || s.is_optimal();
        let rows = self.each().par_iter().zip(upstream.par_chunks_exact(n));
        let each = rows.map(|(solution, g)| {
            let unknown = if g.iter().any(|g| *g != 0.0) { f64::NAN } else { 0.0 };
            solution.as_ref().ok().filter(known).map(|s| one(s, g)).ok_or(unknown)
        });
        BatchGradients { solutions: self, each: each.collect() }
    }
}

impl BatchGradients<'_> {
    /// Entries of a parameter; an LP's instances may bring a Q.
    pub fn width(&self, parameter: Parameter) -> usize {
        parameter.entries(self.solutions.problem())
    }

    /// Derivatives in one wanted parameter, instances × [`BatchGradients::width`].
    pub fn table(&self, parameter: Parameter) -> Vec<f64> {
        let width = self.width(parameter);
        let mut out = Vec::with_capacity(self.each.len() * width);
        for gradients in &self.each {
            match gradients {
                Ok(gradients) if gradients.of(parameter).len() == width => {
                    out.extend(gradients.of(parameter));
                }
                Ok(_) => out.resize(out.len() + width, 0.0),
                Err(unknown) => out.resize(out.len() + width, *unknown),
            }
        }
        out
    }

    /// Derivatives in the sharpness of all rows together.
    pub fn k(&self) -> Vec<f64> {
        self.each.iter().map(|g| g.as_ref().map_or_else(|unknown| *unknown, |g| g.k)).collect()
    }
}
