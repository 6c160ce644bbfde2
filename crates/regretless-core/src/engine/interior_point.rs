//! An interior point for sparse rows: where exact solves and surrogates start from nothing.
//!
//! A row whose multiplier has two caps needs no further variable. With s⁺ and s⁻ the parts of z beyond its kink,
//!
//! ```text
//! (γ⁺ − λ)s⁺ = μ,   (λ + γ⁻)s⁻ = μ,   z = (λ − anchor)/w + s⁺ − s⁻,   θ = 2Qx + C'ᵀλ          μ → 0
//! ```
//!
//! are the optimality conditions of a row with a law of slope w; a kink has 1/w = 0, a side without a cap no s. A Newton step
//! is one solve with the augmented matrix of n variables and m rows, E = 1/w + s⁺/(γ⁺ − λ) + s⁻/(λ + γ⁻); bounds and rows
//! with many hinges are eliminated (`newton`). Predictor, corrector and starting point are Mehrotra's (1992), more correctors
//! Gondzio's (1996; `steps`).

use crate::engine::rows::{Law, Softened};
use crate::engine::stop::Stop;
use crate::linalg::simd::Kernel;
use crate::linalg::sparse_ldl::{SHIFT, SMALL_SHIFT};

mod newton;
mod steps;

/// The least s and distance to a cap at the start, as a share of the typical limit and price.
const LEAST: f64 = 1e-2;
/// A start that led nowhere is tried once more with multipliers so many times larger, since one that begins at the edge crawls
/// along it, and with a smaller shift.
const FARTHER: f64 = 1e4;
/// The error at which an interior point has arrived, and that of one which came near enough for another start to be worth it.
const ARRIVED: f64 = 1e-8;
const CAME_NEAR: f64 = 1e-3;

/// A hinge: a row's law with one kink.
#[derive(Clone, Copy, Debug)]
struct Part {
    row: usize,
    /// Of z, counted from the row's own limit.
    limit: f64,
    over: f64,
    under: f64,
    anchor: f64,
    /// 1/w
    soft: f64,
}

/// Where the interior point ended.
pub(crate) struct Inner {
    pub(crate) x: Vec<f64>,
    /// The multiplier of each row.
    pub(crate) lambda: Vec<f64>,
    /// The largest of the relative residuals and the relative gap.
    pub(crate) error: f64,
    /// Factorisations that it took.
    pub(crate) factorisations: usize,
}

/// Solves for the laws of a surrogate, until the error is at most `goal` or nothing helps.
pub(crate) fn smooth(s: &Softened, theta: &[f64], goal: f64) -> Option<Inner> {
    let part = |row: usize, limit: f64, law: Law| Part {
        row,
        limit,
        over: law.above,
        under: -law.below,
        anchor: law.anchor,
        soft: 1.0 / law.slope,
    };
    let single = s.laws.iter().enumerate().map(|(row, law)| (row, 0.0, *law));
    let many = s.hinges.iter().flat_map(|h| h.laws().map(|(limit, law)| (h.row, limit, law)));
    let parts = single.chain(many).filter(|(.., law)| law.slope > 0.0);
    Iterate::start(s, theta, parts.map(|(row, limit, law)| part(row, limit, law)).collect(), 1.0, SHIFT)?
        .run(goal, |_, _| 0.0)
}

/// Solves for kinks: `caps` are γ⁺ and γ⁻ of the rows that have one. `judge` is the error of x with the rows' multipliers as
/// others measure it; both have to be at most `goal`.
pub(crate) fn exact(
    s: &Softened,
    theta: &[f64],
    caps: impl Fn(usize) -> (f64, f64),
    goal: f64,
    mut judge: impl FnMut(&[f64], &[f64]) -> f64,
) -> Option<Inner> {
    let part = |row: usize, limit: f64, (over, under): (f64, f64)| Part {
        row,
        limit,
        over,
        under,
        anchor: 0.0,
        soft: 0.0,
    };
    let single = (0..s.m()).filter(|i| s.hinges_of(*i).is_none()).map(|i| part(i, 0.0, caps(i)));
    let many = s.hinges.iter().flat_map(|h| h.each().map(|e| part(h.row, e.limit, (e.over, e.under))));
    let parts: Vec<Part> = single.chain(many).filter(|p| p.over + p.under > 0.0).collect();
    let first = Iterate::start(s, theta, parts.clone(), 1.0, SHIFT)?.run(goal, &mut judge)?;
    if first.error <= ARRIVED || first.error > CAME_NEAR || Stop::requested() {
        return Some(first);
    }
    let second = Iterate::start(s, theta, parts, FARTHER, SMALL_SHIFT).and_then(|at| at.run(goal, judge));
    let Some(second) = second else { return Some(first) };
    let factorisations = first.factorisations + second.factorisations;
    let best = if second.error < first.error { second } else { first };
    Some(Inner { factorisations, ..best })
}

struct Iterate<'a> {
    s: &'a Softened,
    theta: &'a [f64],
    kernel: Kernel,
    parts: Vec<Part>,
    x: Vec<f64>,
    /// λ, s⁺ and s⁻ of each part.
    lambda: Vec<f64>,
    above: Vec<f64>,
    below: Vec<f64>,
    /// z of each row.
    z: Vec<f64>,
    /// θ − 2Qx − C'ᵀλ
    residual: Vec<f64>,
    /// Sums over the parts of a row.
    sums: Vec<f64>,
    /// The typical limit over the typical pull: E of a row that is neither near its kink nor far from it.
    width: f64,
    /// Of the factors.
    shift: f64,
}

impl<'a> Iterate<'a> {
    /// The optimum with each kink as wide as the problem, moved inside; then multipliers `farther` from their caps.
    fn start(s: &'a Softened, theta: &'a [f64], parts: Vec<Part>, farther: f64, shift: f64) -> Option<Self> {
        let kernel = Kernel::new();
        let count = parts.len();
        let zeros = |len: usize| vec![0.0; len];
        let mut at = Self {
            s,
            theta,
            kernel,
            x: zeros(s.n),
            lambda: zeros(count),
            above: zeros(count),
            below: zeros(count),
            z: zeros(s.m()),
            residual: zeros(s.n),
            sums: zeros(s.m()),
            width: 1.0,
            shift,
            parts,
        };
        let size = |p: &Part| (s.d[p.row] + p.limit).abs();
        let far = median(at.parts.iter().map(size));
        let prices = at.parts.iter().flat_map(|p| [p.over, p.under]).filter(|p| p.is_finite());
        let pull = median(theta.iter().map(|t| t.abs()).chain(prices));
        // Of prices, or of Q where limits are.
        let bent = s.two_q.as_ref().map_or(0.0, |q| median((0..s.n).map(|j| q.row(j).get(j).abs())));
        let force = pull.max(bent * far);
        at.width = far / force;
        at.measure();
        let hard = |p: &Part| p.over.is_infinite() && p.under.is_infinite();
        let wide: Vec<f64> =
            at.parts.iter().map(|p| p.soft + if hard(p) { 0.0 } else { far.max(size(p)) / force }).collect();
        let factor = at.matrix(&wide)?.shifted(shift)?;
        let pulls: Vec<f64> = at.parts.iter().map(|p| at.z[p.row] - p.limit).collect();
        let (dx, dlambda) = at.solve(&factor, &wide, &pulls.iter().map(|z| -z).collect::<Vec<_>>());
        at.x = dx;
        at.lambda = dlambda;
        at.measure();
        at.inside(LEAST * far, LEAST * pull);
        for (lambda, p) in at.lambda.iter_mut().zip(&at.parts) {
            match (p.over.is_finite(), p.under.is_finite()) {
                (true, false) => *lambda = p.over - farther * (p.over - *lambda),
                (false, true) => *lambda = farther * (*lambda + p.under) - p.under,
                _ => {}
            }
        }
        at.measure();
        Some(at)
    }

    /// Moves λ between its caps and s above 0 (Mehrotra's shifts).
    fn inside(&mut self, least_s: f64, least_p: f64) {
        let (mut low_s, mut low_p) = (0.0_f64, 0.0_f64);
        for (k, p) in self.parts.iter().enumerate() {
            let z = self.z[p.row] - p.limit;
            match (p.over.is_finite(), p.under.is_finite()) {
                (true, true) => {
                    let (range, middle) = (p.over + p.under, 0.5 * (p.over - p.under));
                    self.lambda[k] = self.lambda[k].clamp(middle - 0.4 * range, middle + 0.4 * range);
                    (self.above[k], self.below[k]) = (z.max(0.0), (-z).max(0.0));
                }
                (false, true) => {
                    self.below[k] = -z;
                    (low_s, low_p) = (low_s.min(-z), low_p.min(self.lambda[k] + p.under));
                }
                (true, false) => {
                    self.above[k] = z;
                    (low_s, low_p) = (low_s.min(z), low_p.min(p.over - self.lambda[k]));
                }
                (false, false) => {}
            }
        }
        let (shift_s, shift_p) = ((-1.5 * low_s).max(0.0), (-1.5 * low_p).max(0.0));
        let (mut product, mut all_s, mut all_p) = (0.0, 0.0, 0.0);
        self.pairs(|_, p, s| {
            product += (p.max(0.0) + shift_p) * (s + shift_s);
            (all_s, all_p) = (all_s + s + shift_s, all_p + p.max(0.0) + shift_p);
        });
        let more = |sum: f64| if sum > 0.0 { 0.5 * product / sum } else { 0.0 };
        let (shift_s, shift_p) = (shift_s + more(all_p).max(least_s), shift_p + more(all_s).max(least_p));
        for (k, p) in self.parts.iter().enumerate() {
            match (p.over.is_finite(), p.under.is_finite()) {
                (true, true) => {
                    self.above[k] += shift_s;
                    self.below[k] += shift_s;
                }
                (false, true) => {
                    self.below[k] += shift_s;
                    self.lambda[k] += shift_p;
                }
                (true, false) => {
                    self.above[k] += shift_s;
                    self.lambda[k] -= shift_p;
                }
                (false, false) => {}
            }
        }
    }

    /// Each pair (distance to a cap, s) with its part.
    fn pairs(&self, mut each: impl FnMut(usize, f64, f64)) {
        for (k, p) in self.parts.iter().enumerate() {
            if p.over.is_finite() {
                each(k, p.over - self.lambda[k], self.above[k]);
            }
            if p.under.is_finite() {
                each(k, self.lambda[k] + p.under, self.below[k]);
            }
        }
    }

    /// Σ ps and the number of pairs.
    fn complementarity(&self) -> (f64, f64) {
        let (mut sum, mut count) = (0.0, 0.0);
        self.pairs(|_, p, s| (sum, count) = (sum + p * s, count + 1.0));
        (sum, count)
    }

    /// z and the residual of stationarity.
    fn measure(&mut self) {
        self.s.excess(self.kernel, &self.x, &mut self.z);
        self.sums.fill(0.0);
        for (p, lambda) in self.parts.iter().zip(&self.lambda) {
            self.sums[p.row] += lambda;
        }
        self.s.force(self.kernel, &self.x, &self.sums, &mut self.residual);
        self.residual.iter_mut().zip(self.theta).for_each(|(r, t)| *r = t - *r);
    }

    /// What z lacks: z − t − (λ − anchor)/w − s⁺ + s⁻.
    fn lack(&self, k: usize) -> f64 {
        let p = &self.parts[k];
        self.z[p.row] - p.limit - p.soft * (self.lambda[k] - p.anchor) - self.above[k] + self.below[k]
    }

    /// The relative residuals and gap, the largest of them.
    fn error(&self) -> f64 {
        let far = self.kernel.largest(&self.x);
        let primal = (0..self.parts.len())
            .map(|k| self.lack(k).abs() / (1.0 + far.min(1e3) + self.s.d[self.parts[k].row].abs()))
            .fold(0.0, f64::max);
        let pull = self.kernel.largest(&self.sums).max(self.kernel.largest(self.theta));
        let dual = self.kernel.largest(&self.residual) / (1e-6 + pull);
        // θᵀx and xᵀ2Qx = (θ − r)ᵀx − λᵀC'x
        let linear = self.kernel.dot(self.theta, &self.x);
        let held: f64 = self.sums.iter().zip(&self.z).zip(&self.s.d).map(|((l, z), d)| l * (z + d)).sum();
        let curved = linear - self.kernel.dot(&self.residual, &self.x) - held;
        let worth = linear.abs().max(curved.abs());
        let gap = self.complementarity().0 / (1e-6 * pull + worth + 1e-3);
        let sum = primal + dual + gap;
        if sum.is_nan() { f64::INFINITY } else { primal.max(dual).max(gap) }
    }
}

/// The median of what is not 0, and 1 of nothing.
fn median(sizes: impl Iterator<Item = f64>) -> f64 {
    let mut sizes: Vec<f64> = sizes.filter(|s| *s > 0.0).collect();
    let middle = sizes.len() / 2;
    if sizes.is_empty() { 1.0 } else { *sizes.select_nth_unstable_by(middle, f64::total_cmp).1 }
}
