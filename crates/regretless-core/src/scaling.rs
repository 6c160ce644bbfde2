//! Equilibration: units of the variables in which the columns of the rows are of like size.
//!
//! x = D x̂ with D diagonal and positive; the engine works on x̂ with the rows C'D, 2DQD and θD, and each row divided by its
//! norm. D and row scales r minimise Σ (log|aᵢⱼ| + log rᵢ + log dⱼ)² over the non-zero entries, with the diagonal of Q as
//! one more row (Curtis & Reid 1972); a few sweeps of rows and columns in turn do. Largest entries instead of means
//! would be content with one good row in a column. D is rounded to powers of two, so that scaling and undoing it round
//! nothing. A problem whose columns are of like size keeps D = I.

use crate::softened::Softened;

/// Columns whose mean sizes differ by less than this power of two are of like size.
const ALIKE: f64 = 5.0;
/// Sweeps over rows and columns.
const SWEEPS: usize = 6;
/// The largest power of two in D.
const LARGEST: f64 = 60.0;

/// D; empty where it is I.
#[derive(Clone, Debug, Default)]
pub(crate) struct Columns(Vec<f64>);

impl Columns {
    /// D for the rows and Q as the user stated them.
    pub(crate) fn of(s: &Softened) -> Self {
        let mut logs = vec![0.0; s.n];
        sweep(s, &mut logs);
        let (least, most) = logs.iter().fold((0.0_f64, 0.0_f64), |(l, m), c| (l.min(*c), m.max(*c)));
        if most - least < ALIKE {
            return Self::default();
        }
        for _ in 1..SWEEPS {
            sweep(s, &mut logs);
        }
        Self(logs.into_iter().map(|c| c.round().clamp(-LARGEST, LARGEST).exp2()).collect())
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

/// log₂ dⱼ = −mean over the column of log₂(rᵢ|aᵢⱼ|), with log₂ rᵢ = −mean over the row of log₂(|aᵢⱼ|dⱼ).
fn sweep(s: &Softened, logs: &mut [f64]) {
    let n = s.n;
    let (mut sums, mut counts) = (vec![0.0; n], vec![0.0_f64; n]);
    for row in s.dense.chunks_exact(n) {
        let entries = || row.iter().enumerate().filter(|(_, a)| **a != 0.0).map(|(j, a)| (j, exponent(*a)));
        let (total, count) = entries().fold((0.0, 0.0_f64), |(t, c), (j, e)| (t + e + logs[j], c + 1.0));
        let mean = total / count.max(1.0);
        for (j, e) in entries() {
            sums[j] += e - mean;
            counts[j] += 1.0;
        }
    }
    if let Some(two_q) = &s.two_q {
        // qⱼⱼdⱼ² is of one size.
        let entries =
            || (0..n).map(|j| (j, two_q[j * n + j])).filter(|(_, q)| *q > 0.0).map(|(j, q)| (j, exponent(q)));
        let (total, count) =
            entries().fold((0.0, 0.0_f64), |(t, c), (j, e)| (t + e + 2.0 * logs[j], c + 1.0));
        let mean = total / count.max(1.0);
        for (j, e) in entries() {
            sums[j] += 0.5 * (e - mean);
            counts[j] += 1.0;
        }
    }
    for ((log, sum), count) in logs.iter_mut().zip(&sums).zip(&counts) {
        *log = -sum / count.max(1.0);
    }
}

/// ⌊log₂|a|⌋ of a normal number, from its bits.
fn exponent(a: f64) -> f64 {
    ((a.to_bits() >> 52) & 0x7ff) as f64 - 1023.0
}
