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
//! with many hinges are eliminated. Predictor, corrector and starting point are Mehrotra's (1992).

use crate::engine::rows::{Law, Softened};
use crate::engine::stop::Stop;
use crate::engine::workspace::curve;
use crate::linalg::simd::Kernel;
use crate::linalg::sparse_ldl::SparseLdl;

/// Iterations; those that arrive need 10 to 60.
const ITERATIONS: usize = 150;
/// Iterations without progress after which the best point is what there is.
const PATIENCE: usize = 12;
/// The least s and distance to a cap at the start, as a share of the typical limit and price.
const LEAST: f64 = 1e-2;
/// How near to the end of its range a step goes.
const NEAR: f64 = 0.995;

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
    Iterate::start(s, theta, parts.map(|(row, limit, law)| part(row, limit, law)).collect())?
        .run(goal, |_, _| 0.0)
}

/// Solves for kinks: `caps` are γ⁺ and γ⁻ of the rows that have one. `judge` is the error of x with the rows' multipliers as
/// others measure it; both have to be at most `goal`.
pub(crate) fn exact(
    s: &Softened,
    theta: &[f64],
    caps: impl Fn(usize) -> (f64, f64),
    goal: f64,
    judge: impl FnMut(&[f64], &[f64]) -> f64,
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
    Iterate::start(s, theta, single.chain(many).filter(|p| p.over + p.under > 0.0).collect())?
        .run(goal, judge)
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
}

/// A step of everything.
struct Step {
    x: Vec<f64>,
    lambda: Vec<f64>,
    above: Vec<f64>,
    below: Vec<f64>,
}

impl<'a> Iterate<'a> {
    /// The optimum with each kink as wide as the problem, moved inside.
    fn start(s: &'a Softened, theta: &'a [f64], parts: Vec<Part>) -> Option<Self> {
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
            parts,
        };
        let size = |p: &Part| (s.d[p.row] + p.limit).abs();
        let far = median(at.parts.iter().map(size));
        let prices = at.parts.iter().flat_map(|p| [p.over, p.under]).filter(|p| p.is_finite());
        let pull = median(theta.iter().map(|t| t.abs()).chain(prices));
        at.measure();
        let hard = |p: &Part| p.over.is_infinite() && p.under.is_infinite();
        let wide: Vec<f64> =
            at.parts.iter().map(|p| p.soft + if hard(p) { 0.0 } else { far.max(size(p)) / pull }).collect();
        let factor = at.factor(&wide)?;
        let pulls: Vec<f64> = at.parts.iter().map(|p| at.z[p.row] - p.limit).collect();
        let (dx, dlambda) = at.solve(&factor, &wide, &pulls.iter().map(|z| -z).collect::<Vec<_>>());
        at.x = dx;
        at.lambda = dlambda;
        at.measure();
        at.inside(LEAST * far, LEAST * pull);
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
        let worth = self.kernel.dot(self.theta, &self.x).abs();
        let gap = self.complementarity().0 / (1e-6 * pull + worth + 1e-3);
        let sum = primal + dual + gap;
        if sum.is_nan() { f64::INFINITY } else { primal.max(dual).max(gap) }
    }

    /// The augmented matrix with E of each part, factored.
    fn factor(&self, e: &[f64]) -> Option<SparseLdl> {
        let s = self.s;
        let analysis = s.analysis.as_ref()?;
        // 1/E of a row: of its parts together.
        let mut weight = vec![0.0_f64; s.m()];
        let mut rigid = vec![false; s.m()];
        for (p, e) in self.parts.iter().zip(e) {
            if *e > 0.0 {
                weight[p.row] += 1.0 / e;
            } else {
                rigid[p.row] = true;
            }
        }
        let mut diagonal = vec![0.0; s.n];
        for (i, u) in (s.m_general..).zip(&s.unit) {
            diagonal[u.var] += if rigid[i] { RIGID } else { weight[i] };
        }
        let mut k = analysis.zeros();
        curve(&mut k, s, |j| diagonal[j]);
        for i in 0..s.m_general {
            if let Some((last, entries)) = k.row(i).split_last_mut() {
                if rigid[i] || weight[i] > 0.0 {
                    entries.copy_from_slice(s.general.row(i).values());
                    *last = if rigid[i] { 0.0 } else { -1.0 / weight[i] };
                } else {
                    *last = -1.0;
                }
            }
        }
        k.factor()
    }

    /// dx and dλ of 2Q dx + C'ᵀdλ = residual and C'dx − E dλ = `lack` of each part.
    fn solve(&self, factor: &SparseLdl, e: &[f64], lack: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let s = self.s;
        let mut all = vec![0.0; factor.size()];
        all[..s.n].copy_from_slice(&self.residual);
        // Σ lack/E and Σ 1/E of each row.
        let (mut pull, mut weight) = (vec![0.0; s.m()], vec![0.0; s.m()]);
        for ((p, e), lack) in self.parts.iter().zip(e).zip(lack) {
            if *e > 0.0 {
                (pull[p.row], weight[p.row]) = (pull[p.row] + lack / e, weight[p.row] + 1.0 / e);
            } else {
                (pull[p.row], weight[p.row]) = (RIGID * lack, RIGID);
                if p.row < s.m_general {
                    (pull[p.row], weight[p.row]) = (*lack, 1.0);
                }
            }
        }
        for (i, u) in (s.m_general..).zip(&s.unit) {
            all[u.var] += u.sign * pull[i];
        }
        for i in 0..s.m_general {
            all[s.n + i] = if weight[i] > 0.0 { pull[i] / weight[i] } else { 0.0 };
        }
        factor.solve_augmented(&mut all);
        let dx = all[..s.n].to_vec();
        let mut dz = vec![0.0; s.m()];
        s.apply(self.kernel, &dx, &mut dz);
        let dlambda = self.parts.iter().zip(e).zip(lack).map(|((p, e), lack)| {
            let single = p.row < s.m_general && *e <= 0.0;
            if single {
                all[s.n + p.row]
            } else {
                (dz[p.row] - lack) / if *e > 0.0 { *e } else { 1.0 / RIGID }
            }
        });
        let dlambda = dlambda.collect();
        (dx, dlambda)
    }

    /// The Newton step to targets of each pair: `c⁺` and `c⁻` are what ps has to change by.
    fn step(&self, factor: &SparseLdl, e: &[f64], above: &[f64], below: &[f64]) -> Step {
        let lack: Vec<f64> = (0..self.parts.len())
            .map(|k| {
                let p = &self.parts[k];
                let mut lack = -self.lack(k);
                if p.over.is_finite() {
                    lack += above[k] / (p.over - self.lambda[k]);
                }
                if p.under.is_finite() {
                    lack -= below[k] / (self.lambda[k] + p.under);
                }
                lack
            })
            .collect();
        let (x, lambda) = self.solve(factor, e, &lack);
        let (mut up, mut down) = (vec![0.0; lack.len()], vec![0.0; lack.len()]);
        for (k, p) in self.parts.iter().enumerate() {
            if p.over.is_finite() {
                up[k] = (above[k] + self.above[k] * lambda[k]) / (p.over - self.lambda[k]);
            }
            if p.under.is_finite() {
                down[k] = (below[k] - self.below[k] * lambda[k]) / (self.lambda[k] + p.under);
            }
        }
        Step { x, lambda, above: up, below: down }
    }

    /// The longest steps of x with s, and of λ.
    fn longest(&self, step: &Step) -> (f64, f64) {
        let (mut primal, mut dual) = (1.0_f64, 1.0_f64);
        let reach = |value: f64, change: f64, longest: f64| {
            if change < 0.0 { longest.min(-value / change) } else { longest }
        };
        for (k, p) in self.parts.iter().enumerate() {
            if p.over.is_finite() {
                primal = reach(self.above[k], step.above[k], primal);
                dual = reach(p.over - self.lambda[k], -step.lambda[k], dual);
            }
            if p.under.is_finite() {
                primal = reach(self.below[k], step.below[k], primal);
                dual = reach(self.lambda[k] + p.under, step.lambda[k], dual);
            }
        }
        (primal, dual)
    }

    fn run(mut self, goal: f64, mut judge: impl FnMut(&[f64], &[f64]) -> f64) -> Option<Inner> {
        let count = self.parts.len();
        // With Q or slopes x and λ meet in one equation, and go the same way.
        let joint = self.s.two_q.is_some() || self.parts.iter().any(|p| p.soft > 0.0);
        let mut best = (f64::INFINITY, Vec::new(), Vec::new());
        // The start took one.
        let (mut since, mut factorisations) = (0, 1);
        for _ in 0..ITERATIONS {
            let error = self.error().max(judge(&self.x, &self.sums));
            if error < best.0 {
                since = if error < 0.9 * best.0 { 0 } else { since + 1 };
                best = (error, self.x.clone(), self.sums.clone());
            } else {
                since += 1;
            }
            if error <= goal || since > PATIENCE || !error.is_finite() || Stop::requested() {
                break;
            }
            let (sum, pairs) = self.complementarity();
            let mu = sum / pairs.max(1.0);
            let e: Vec<f64> = (0..count)
                .map(|k| {
                    let p = &self.parts[k];
                    let up = if p.over.is_finite() { self.above[k] / (p.over - self.lambda[k]) } else { 0.0 };
                    let down =
                        if p.under.is_finite() { self.below[k] / (self.lambda[k] + p.under) } else { 0.0 };
                    p.soft + up + down
                })
                .collect();
            factorisations += 1;
            let Some(factor) = self.factor(&e) else { break };
            let product = |k: usize, up: bool| {
                let p = &self.parts[k];
                match up {
                    true if p.over.is_finite() => (p.over - self.lambda[k]) * self.above[k],
                    false if p.under.is_finite() => (self.lambda[k] + p.under) * self.below[k],
                    _ => 0.0,
                }
            };
            let above: Vec<f64> = (0..count).map(|k| -product(k, true)).collect();
            let below: Vec<f64> = (0..count).map(|k| -product(k, false)).collect();
            let affine = self.step(&factor, &e, &above, &below);
            let (mut primal, mut dual) = self.longest(&affine);
            if joint {
                (primal, dual) = (primal.min(dual), primal.min(dual));
            }
            let mut after = 0.0;
            for (k, p) in self.parts.iter().enumerate() {
                if p.over.is_finite() {
                    let cap = p.over - self.lambda[k] - dual * affine.lambda[k];
                    after += cap * (self.above[k] + primal * affine.above[k]);
                }
                if p.under.is_finite() {
                    let cap = self.lambda[k] + p.under + dual * affine.lambda[k];
                    after += cap * (self.below[k] + primal * affine.below[k]);
                }
            }
            let centre = (after / sum.max(f64::MIN_POSITIVE)).clamp(0.0, 1.0).powi(3) * mu;
            let towards = |k: usize, up: bool| {
                let p = &self.parts[k];
                match up {
                    true if p.over.is_finite() => {
                        centre - product(k, true) + affine.lambda[k] * affine.above[k]
                    }
                    false if p.under.is_finite() => {
                        centre - product(k, false) - affine.lambda[k] * affine.below[k]
                    }
                    _ => 0.0,
                }
            };
            let above: Vec<f64> = (0..count).map(|k| towards(k, true)).collect();
            let below: Vec<f64> = (0..count).map(|k| towards(k, false)).collect();
            let step = self.step(&factor, &e, &above, &below);
            let (mut primal, mut dual) = self.longest(&step);
            if joint {
                (primal, dual) = (primal.min(dual), primal.min(dual));
            }
            let (primal, dual) = ((NEAR * primal).min(1.0), (NEAR * dual).min(1.0));
            self.kernel.axpy(primal, &step.x, &mut self.x);
            self.kernel.axpy(primal, &step.above, &mut self.above);
            self.kernel.axpy(primal, &step.below, &mut self.below);
            self.kernel.axpy(dual, &step.lambda, &mut self.lambda);
            self.measure();
        }
        let (error, x, lambda) = best;
        error.is_finite().then_some(Inner { x, lambda, error, factorisations })
    }
}

/// The median of what is not 0, and 1 of nothing.
fn median(sizes: impl Iterator<Item = f64>) -> f64 {
    let mut sizes: Vec<f64> = sizes.filter(|s| *s > 0.0).collect();
    let middle = sizes.len() / 2;
    if sizes.is_empty() { 1.0 } else { *sizes.select_nth_unstable_by(middle, f64::total_cmp).1 }
}

/// The stiffness of a bound that is an equality.
const RIGID: f64 = 1e12;
