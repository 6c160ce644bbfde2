//! One row more or less in H, on the path: rows that enter and leave, and pivots where leaving would make H singular.

use crate::engine::clock::Clock;
use crate::engine::path::{Outcome, Path};
use crate::engine::rows::{Piece, Softened};
use crate::engine::tolerance::{LARGER_PIVOT, NO_GAIN, SINGULAR_DOWNDATE, SLIDE, TIE};
use crate::linalg::hessian::Hessian;
use crate::linalg::simd::{Kernel, RowMotion};

/// What gives H its curvature along a direction.
#[derive(Clone, Copy)]
pub(crate) enum Hold {
    /// A row on its quadratic piece.
    Row(usize),
    /// A spring; see [`crate::engine::regularise`].
    Spring { variable: usize, stiffness: f64 },
}

impl<F: Hessian> Path<'_, F> {
    /// Row `i`, which has many breakpoints and is on a slope, goes on to its next segment: H += (w' − w)a aᵀ. Where nothing else
    /// holds its direction it slides on to its own next slope, or pivots as others do.
    pub(super) fn step(&mut self, i: usize, rising: bool, row: &mut F::Row) -> Outcome {
        let Some((at, hinges)) = self.s.hinges_of(i) else { return Outcome::Stalled };
        let from = self.segments[at];
        let mut to = hinges.next(from, rising);
        let (weight, mut next) = (hinges.slope(from), hinges.slope(to));
        if next == 0.0 {
            let rest = self.meet(Hold::Row(i), row);
            let needed = self.s.two_q.is_none() && self.on + self.springs.len() <= self.s.n;
            if needed || rest < SINGULAR_DOWNDATE {
                self.segments[at] = to;
                self.set_breakpoints(i);
                match self.slide(Hold::Row(i), if rising { 1.0 } else { -1.0 }, row) {
                    Ok(j) if j == i => {
                        to = hinges.next(to, rising);
                        next = hinges.slope(to);
                    }
                    Ok(j) => self.enter(j, row),
                    Err(ray) if gains_along(self.s, self.kernel, self.theta, &ray) => {
                        return Outcome::Unbounded(ray);
                    }
                    Err(_) => {
                        self.segments[at] = from;
                        self.set_breakpoints(i);
                        let ends = if rising { &mut self.steps.up } else { &mut self.steps.down };
                        ends[i] = if rising { f64::INFINITY } else { f64::NEG_INFINITY };
                        return Outcome::Arrived;
                    }
                }
                self.work.pivots += 1;
            }
        }
        if !self.reweigh(i, weight, next, row) {
            return Outcome::Stalled;
        }
        self.segments[at] = to;
        self.move_to(i, to.piece());
        self.on -= usize::from(next == 0.0);
        if self.shifted {
            self.shift_rhs(i, next - weight);
        }
        Outcome::Arrived
    }

    /// The weight of row `i` in H becomes another; false if H would be singular.
    fn reweigh(&mut self, i: usize, from: f64, to: f64, row: &mut F::Row) -> bool {
        let (s, k) = (self.s, self.kernel);
        if from == to {
            return true;
        }
        let clock = Clock::start();
        self.factor.meet(k, row, i, |a| s.write_row(i, a));
        if to > from {
            self.factor.add(k, to - from, row);
        } else {
            let rest = 1.0 - (from - to) * self.factor.along(k, row);
            if rest.is_nan() || rest <= 0.0 {
                return false;
            }
            self.factor.remove(k, from - to, rest, row);
        }
        clock.stop(&mut self.work.nanos.factor);
        true
    }

    /// Row `i` joins the quadratic piece: H += w a aᵀ. One with many breakpoints joins the next one in its direction.
    pub(crate) fn enter(&mut self, i: usize, row: &mut F::Row) {
        let (s, k) = (self.s, self.kernel);
        if let Some((at, hinges)) = s.hinges_of(i) {
            self.segments[at] = hinges.next(self.segments[at], self.steps.dz[i] > 0.0);
        }
        let weight = self.stiffness(i);
        let clock = Clock::start();
        self.factor.meet(k, row, i, |a| s.write_row(i, a));
        self.factor.add(k, weight, row);
        clock.stop(&mut self.work.nanos.factor);
        self.move_to(i, Piece::On);
        self.on += 1;
        if self.shifted {
            self.shift_rhs(i, weight);
        }
    }

    /// Row `i` leaves the quadratic piece: H −= w a aᵀ, by a pivot if that would make H singular.
    pub(super) fn leave(&mut self, i: usize, to: Piece, row: &mut F::Row) -> Outcome {
        let hold = Hold::Row(i);
        let rest = self.meet(hold, row);
        let needed = self.s.two_q.is_none() && self.on + self.springs.len() <= self.s.n;
        if needed || rest < SINGULAR_DOWNDATE {
            let sign = if to == Piece::Above { 1.0 } else { -1.0 };
            match self.slide(hold, sign, row) {
                Ok(j) => {
                    self.work.pivots += 1;
                    self.enter(j, row);
                }
                Err(ray) if gains_along(self.s, self.kernel, self.theta, &ray) => {
                    return Outcome::Unbounded(ray);
                }
                // Nothing pulls along the ray, so the multiplier passes its cap by rounding only: the row stays.
                Err(_) => {
                    let ends = if to == Piece::Above { &mut self.steps.up } else { &mut self.steps.down };
                    ends[i] = sign * f64::INFINITY;
                    return Outcome::Arrived;
                }
            }
            if !self.let_go(hold, row) {
                return Outcome::Stalled;
            }
        } else {
            let clock = Clock::start();
            self.factor.remove(self.kernel, self.weight(hold), rest, row);
            clock.stop(&mut self.work.nanos.factor);
        }
        self.move_to(i, to);
        self.on -= 1;
        if self.shifted {
            self.shift_rhs(i, -self.s.laws[i].slope);
        }
        Outcome::Arrived
    }

    fn weight(&self, hold: Hold) -> f64 {
        match hold {
            Hold::Row(i) => self.stiffness(i),
            Hold::Spring { stiffness, .. } => stiffness,
        }
    }

    /// Takes up the row a of a hold with weight w; returns 1 − w aᵀH⁻¹a, the share of H along it that others hold.
    pub(crate) fn meet(&mut self, hold: Hold, row: &mut F::Row) -> f64 {
        let (s, k) = (self.s, self.kernel);
        let clock = Clock::start();
        let name = match hold {
            Hold::Row(i) => i,
            Hold::Spring { variable, .. } => s.m() + variable,
        };
        self.factor.meet(k, row, name, |a| match hold {
            Hold::Row(i) => s.write_row(i, a),
            Hold::Spring { variable, .. } => {
                a.fill(0.0);
                a[variable] = 1.0;
            }
        });
        clock.stop(&mut self.work.nanos.factor);
        1.0 - self.weight(hold) * self.factor.along(k, row)
    }

    /// Takes a hold out of H, which must stay regular; false if it does not.
    pub(crate) fn let_go(&mut self, hold: Hold, row: &mut F::Row) -> bool {
        let rest = self.meet(hold, row);
        if rest.is_nan() || rest <= 0.0 {
            return false;
        }
        self.factor.remove(self.kernel, self.weight(hold), rest, row);
        true
    }

    /// With a the row just met, the only one that holds the null direction v = H⁻¹a: slides x along ±v to the first breakpoint
    /// of a row off the quadratic piece. Returns that row, or the unit ray along which there is none.
    pub(crate) fn slide(&mut self, hold: Hold, sign: f64, row: &F::Row) -> Result<usize, Vec<f64>> {
        let (s, k, steps) = (self.s, self.kernel, &mut *self.steps);
        let clock = Clock::start();
        self.factor.direction(k, row, &mut steps.dx);
        clock.stop(&mut self.work.nanos.factor);
        let length = sign / k.dot(&steps.dx, &steps.dx).sqrt();
        steps.dx.iter_mut().for_each(|v| *v *= length);
        let clock = Clock::start();
        // Rows on the quadratic piece do not move along a null direction.
        s.apply_off(k, self.piece, &steps.dx[..s.n], &mut steps.dz);
        clock.stop(&mut self.work.nanos.rows);
        // But the leaving row does: one with many breakpoints towards the next of its own.
        let many = matches!(hold, Hold::Row(i) if s.hinges_of(i).is_some());
        if let (true, Hold::Row(i)) = (many, hold) {
            steps.dz[i] = k.dot(F::entries(row), &steps.dx);
        }
        let rows =
            RowMotion { z: &steps.z, dz: &steps.dz, up: &steps.up, down: &steps.down, reach: &s.reach };
        let Some((reach, first)) = k.first_crossing(rows, SLIDE, &mut steps.ratios) else {
            return Err(steps.dx[..s.n].to_vec());
        };
        // Among rows that are reached together, the one most nearly along v keeps H best conditioned.
        let mut best = first;
        let near = reach + TIE * (1.0 + reach.abs());
        for i in 0..s.m() {
            if steps.ratios[i] <= near && steps.dz[i].abs() > steps.dz[best].abs() * LARGER_PIVOT {
                best = i;
            }
        }
        let step = steps.ratios[best];
        k.axpy(step, &steps.dx, self.x);
        k.axpy(step, &steps.dz, &mut steps.z);
        // Only the leaving row does, outwards from its breakpoint.
        if let (false, Hold::Row(i)) = (many, hold) {
            steps.z[i] += step * k.dot(F::entries(row), &steps.dx);
        }
        steps.z[best] = if steps.dz[best] > 0.0 { steps.up[best] } else { steps.down[best] };
        Ok(best)
    }
}

/// True if θ gains along the unit ray v more than the rows take: θᵀv > Σ max(γ⁺aᵀv, −γ⁻aᵀv).
pub(crate) fn gains_along(s: &Softened, k: Kernel, theta: &[f64], ray: &[f64]) -> bool {
    let (mut dz, mut curve) = (vec![0.0; s.m()], vec![0.0; s.n]);
    s.apply(k, ray, &mut dz);
    // A direction that Q sees is no ray.
    if let Some(two_q) = &s.two_q {
        two_q.view().apply(k, ray, &mut curve);
        if curve.iter().any(|q| q.abs() > NO_GAIN * s.curvature) {
            return false;
        }
    }
    let mut gain = k.dot(theta, ray);
    let mut size = theta.iter().fold(0.0_f64, |m, t| m.max(t.abs()));
    let caps = s.laws.iter().map(|law| (law.below, law.above)).zip(&dz);
    let many = s.hinges.iter().map(|hinges| (hinges.caps(), &dz[hinges.row]));
    for ((below, above), dz) in caps.chain(many) {
        let cost = if *dz > 0.0 { above * dz } else { below * dz };
        if cost.is_finite() {
            gain -= cost;
            size += cost.abs();
        } else if cost > 0.0 && dz.abs() > SLIDE {
            return false;
        }
    }
    gain > NO_GAIN * size
}
