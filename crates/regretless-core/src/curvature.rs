//! H = 2Q + C'ᵀdiag(w)C' put together and factored.

use crate::factor::Factor;
use crate::linalg::{self, CholeskyScratch};
use crate::softened::Softened;

/// Memory to put H together in.
pub(crate) struct Curvature {
    gathered: Vec<f64>,
    h: Vec<f64>,
    scratch: CholeskyScratch,
}

impl Curvature {
    pub(crate) fn new(n: usize) -> Self {
        Self { gathered: Vec::new(), h: vec![0.0; n * n], scratch: CholeskyScratch::new(n) }
    }

    /// Factors H with the weight of each row from `weight` (0: the row is left out) and `extra` on top of some entries of
    /// the diagonal; false if H is singular.
    pub(crate) fn factor(
        &mut self,
        s: &Softened,
        weight: impl Fn(usize) -> f64,
        extra: impl Iterator<Item = (usize, f64)>,
        factor: &mut Factor,
    ) -> bool {
        let n = s.n;
        factor.resize(n);
        match &s.two_q {
            Some(two_q) => self.h.copy_from_slice(two_q),
            None => self.h.fill(0.0),
        }
        self.gathered.clear();
        for i in 0..s.m_dense {
            let w = weight(i);
            if w > 0.0 {
                let root = w.sqrt();
                self.gathered.extend(s.row(i).iter().map(|a| root * a));
            }
        }
        linalg::add_gram(&mut self.h, &self.gathered, n);
        for (i, u) in s.unit.iter().enumerate() {
            self.h[u.var * n + u.var] += weight(s.m_dense + i);
        }
        for (j, more) in extra {
            self.h[j * n + j] += more;
        }
        let largest = (0..n).fold(0.0_f64, |m, j| m.max(self.h[j * n + j]));
        factor.refactor(&mut self.h, &mut self.scratch) && factor.smallest_pivot() > SINGULAR * largest
    }
}

/// A pivot below this share of the largest diagonal entry is rounding, not curvature.
const SINGULAR: f64 = 1e-13;
