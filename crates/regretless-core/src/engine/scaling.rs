//! Equilibration: units of the variables in which the columns of the rows are of like size.
//!
//! x = D x̂ with D diagonal and positive; the engine works on x̂ with the rows C'D, 2DQD and θD, and each row divided by its
//! norm. D and row scales r minimise Σ (log|aᵢⱼ| + log rᵢ + log dⱼ)² over the non-zero entries, with the diagonal of Q as
//! one more row (Curtis & Reid 1972); a few sweeps of rows and columns in turn do. Largest entries instead of means
//! would be content with one good row in a column. D is rounded to powers of two, so that scaling and undoing it round
//! nothing. A problem whose columns are of like size keeps D = I.

#![allow(
    clippy::inline_always,
    reason = "a helper that is not inlined is not compiled for the wider vectors"
)]

use pulp::{Simd, WithSimd};

use crate::engine::rows::Softened;
use crate::linalg::simd::Kernel;
use crate::problem::Coefficients;

/// Columns whose mean sizes differ by less than this power of two are of like size.
const ALIKE: f64 = 5.0;
/// Sweeps over rows and columns.
const SWEEPS: usize = 6;
/// The largest power of two in D.
const LARGEST: f64 = 60.0;

/// D, and the memory to find it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Columns {
    /// D; empty where it is I.
    units: Vec<f64>,
    /// log₂ dⱼ
    logs: Vec<f64>,
    means: Means,
}

impl Columns {
    /// Finds D for the rows and Q as the user stated them.
    pub(crate) fn fit(&mut self, kernel: Kernel, s: &Softened) {
        let Self { units, logs, means } = self;
        units.clear();
        logs.clear();
        logs.resize(s.n, 0.0);
        means.sweep(kernel, s, logs);
        let (least, most) = logs.iter().fold((0.0_f64, 0.0_f64), |(l, m), c| (l.min(*c), m.max(*c)));
        if most - least < ALIKE {
            return;
        }
        for _ in 1..SWEEPS {
            means.sweep(kernel, s, logs);
        }
        units.extend(logs.iter().map(|c| c.round().clamp(-LARGEST, LARGEST).exp2()));
    }

    /// The unit of variable j.
    pub(crate) fn get(&self, j: usize) -> f64 {
        self.units.get(j).copied().unwrap_or(1.0)
    }

    /// Rows, Q and bounds in the new units.
    pub(crate) fn apply(&self, s: &mut Softened) {
        if self.units.is_empty() {
            return;
        }
        let d = &self.units;
        s.general.scale(|_, j| d[j]);
        if let Some(two_q) = &mut s.two_q {
            two_q.scale(|i, j| d[i] * d[j]);
        }
        s.measure_curvature();
        for (limit, u) in s.d[s.m_general..].iter_mut().zip(&s.unit) {
            *limit /= d[u.var];
        }
    }

    /// D; empty where it is I.
    pub(crate) fn units(&self) -> &[f64] {
        &self.units
    }

    /// x̂ → x, also θ → θ̂ and a ray of x̂ → one of x.
    pub(crate) fn multiply(&self, values: &mut [f64]) {
        values.iter_mut().zip(&self.units).for_each(|(v, d)| *v *= d);
    }

    /// x → x̂
    pub(crate) fn divide(&self, values: &mut [f64]) {
        values.iter_mut().zip(&self.units).for_each(|(v, d)| *v /= d);
    }
}

/// Sums over the columns.
#[derive(Clone, Debug, Default)]
struct Means {
    sums: Vec<f64>,
    counts: Vec<f64>,
    exponents: Vec<i32>,
}

impl Means {
    /// log₂ dⱼ = −mean over the column of log₂(rᵢ|aᵢⱼ|), with log₂ rᵢ = −mean over the row of log₂(|aᵢⱼ|dⱼ).
    fn sweep(&mut self, kernel: Kernel, s: &Softened, logs: &mut [f64]) {
        for column in [&mut self.sums, &mut self.counts] {
            column.clear();
            column.resize(s.n, 0.0);
        }
        self.exponents.resize(s.n, 0);
        if s.analysis.is_some() {
            self.add_sparse(&s.general, logs);
        } else {
            kernel.run(DenseRows { rows: s.general.as_slice(), logs, means: self });
        }
        if let Some(two_q) = &s.two_q {
            // qⱼⱼdⱼ² is of one size.
            let diagonal = || (0..s.n).map(|j| (j, two_q.row(j).get(j))).filter(|(_, q)| *q > 0.0);
            let entries = || diagonal().map(|(j, q)| (j, f64::from(exponent(q))));
            let (total, count) =
                entries().fold((0.0, 0.0_f64), |(t, c), (j, e)| (t + e + 2.0 * logs[j], c + 1.0));
            let mean = total / count.max(1.0);
            for (j, e) in entries() {
                self.sums[j] += 0.5 * (e - mean);
                self.counts[j] += 1.0;
            }
        }
        for ((log, sum), count) in logs.iter_mut().zip(&self.sums).zip(&self.counts) {
            *log = -sum / count.max(1.0);
        }
    }
}

impl Means {
    /// Adds sparse rows to the sums.
    fn add_sparse(&mut self, rows: &Coefficients, logs: &[f64]) {
        for row in rows.view().iter() {
            let some = || row.iter().filter(|(_, a)| *a != 0.0).map(|(j, a)| (j, f64::from(exponent(a))));
            let (total, count) = some().fold((0.0, 0.0_f64), |(t, c), (j, e)| (t + e + logs[j], c + 1.0));
            let mean = total / count.max(1.0);
            for (j, e) in some() {
                self.sums[j] += e - mean;
                self.counts[j] += 1.0;
            }
        }
    }
}

/// Adds the dense rows to the sums. Exponents are whole numbers, so that their sums may be taken in any order: loops that the
/// compiler turns into vectors.
struct DenseRows<'a> {
    rows: &'a [f64],
    logs: &'a [f64],
    means: &'a mut Means,
}

impl WithSimd for DenseRows<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) {
        let Means { sums, counts, exponents } = self.means;
        let begun = self.logs.iter().any(|log| *log != 0.0);
        for row in self.rows.chunks_exact(self.logs.len()) {
            let (mut total, mut count) = (0, 0);
            for (e, a) in exponents.iter_mut().zip(row) {
                *e = if *a == 0.0 { 0 } else { exponent(*a) };
                total += *e;
                count += i32::from(*a != 0.0);
            }
            let mut total = f64::from(total);
            if begun {
                let some = row.iter().zip(self.logs).filter(|(a, _)| **a != 0.0);
                total += some.map(|(_, log)| log).sum::<f64>();
            }
            let mean = total / f64::from(count.max(1));
            for (((sum, count), e), a) in sums.iter_mut().zip(&mut *counts).zip(&*exponents).zip(row) {
                let weight = if *a == 0.0 { 0.0 } else { 1.0 };
                *sum += weight * (f64::from(*e) - mean);
                *count += weight;
            }
        }
    }
}

/// ⌊log₂|a|⌋ of a normal number, from its bits.
#[inline(always)]
fn exponent(a: f64) -> i32 {
    ((a.to_bits() >> 52) & 0x7ff) as i32 - 1023
}
