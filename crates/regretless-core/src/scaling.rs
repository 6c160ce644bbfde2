//! Equilibration: units of the variables in which no column of the rows is tiny.
//!
//! x = D x̂ with D diagonal and positive; the engine works on x̂ with the rows C'D, 2DQD and θD, and each row divided by its
//! norm. D comes from Ruiz' iteration on rows and Q, rounded to powers of two, so that scaling and undoing it round
//! nothing. A problem whose columns are of like size keeps D = I, and pays nothing.

use crate::softened::Softened;

/// Columns whose largest entry, in rows of largest entry 1, is below this want another unit.
const SMALL: f64 = 1e-2;
/// Sweeps of Ruiz' iteration; each halves the logarithm of what is left.
const SWEEPS: usize = 8;

/// D; empty where it is I.
#[derive(Clone, Debug, Default)]
pub(crate) struct Columns(Vec<f64>);

impl Columns {
    /// D for the rows and Q as the user stated them.
    pub(crate) fn of(s: &Softened) -> Self {
        let mut scale = vec![1.0; s.n];
        let mut largest = vec![0.0; s.n];
        column_sizes(s, &scale, &mut largest);
        if largest.iter().all(|c| *c >= SMALL || *c == 0.0) {
            return Self::default();
        }
        for _ in 0..SWEEPS {
            for (d, c) in scale.iter_mut().zip(&largest) {
                if *c > 0.0 {
                    *d /= c.sqrt();
                }
            }
            column_sizes(s, &scale, &mut largest);
        }
        Self(scale.into_iter().map(|d| d.log2().round().clamp(-60.0, 60.0).exp2()).collect())
    }

    /// The unit of variable j.
    pub(crate) fn get(&self, j: usize) -> f64 {
        self.0.get(j).copied().unwrap_or(1.0)
    }

    /// Rows, Q and bounds in the new units.
    pub(crate) fn apply(&self, s: &mut Softened) {
        if self.0.is_empty() {
            return;
        }
        let (n, d) = (s.n, &self.0);
        for row in s.dense.chunks_exact_mut(n) {
            row.iter_mut().zip(d).for_each(|(a, d)| *a *= d);
        }
        if let Some(two_q) = &mut s.two_q {
            for (row, di) in two_q.chunks_exact_mut(n).zip(d) {
                row.iter_mut().zip(d).for_each(|(q, dj)| *q *= di * dj);
            }
            s.curvature = two_q.iter().fold(0.0, |m, q| m.max(q.abs()));
        }
        for (limit, u) in s.d[s.m_dense..].iter_mut().zip(&s.unit) {
            *limit /= d[u.var];
        }
    }

    /// x̂ → x, also θ → θ̂ and a ray of x̂ → one of x.
    pub(crate) fn multiply(&self, values: &mut [f64]) {
        values.iter_mut().zip(&self.0).for_each(|(v, d)| *v *= d);
    }

    /// x → x̂
    pub(crate) fn divide(&self, values: &mut [f64]) {
        values.iter_mut().zip(&self.0).for_each(|(v, d)| *v /= d);
    }
}

/// The largest entry of every column of C'D, its rows divided by their largest entries, and of √diag(DQD), divided by its.
fn column_sizes(s: &Softened, scale: &[f64], out: &mut [f64]) {
    let n = s.n;
    out.fill(0.0);
    for row in s.dense.chunks_exact(n) {
        let entries = || row.iter().zip(scale).map(|(a, d)| (a * d).abs());
        let largest = entries().fold(0.0, f64::max);
        if largest > 0.0 {
            let share = largest.recip();
            out.iter_mut().zip(entries()).for_each(|(o, a)| *o = o.max(a * share));
        }
    }
    if let Some(two_q) = &s.two_q {
        let size = |j: usize| two_q[j * n + j].max(0.0).sqrt() * scale[j];
        let largest = (0..n).map(size).fold(0.0, f64::max);
        if largest > 0.0 {
            out.iter_mut().enumerate().for_each(|(j, o)| *o = o.max(size(j) / largest));
        }
    }
}
