//! Proofs that no point satisfies all hard rows.

use super::{Caps, ExactWorker, Verdict};
use crate::engine::rows::Piece;
use crate::engine::state::State;
use crate::engine::tolerance::{PROOF_PULL, PROOF_REACH, PROOF_SHARES, PROOF_VALUE};

impl ExactWorker {
    /// y = w z on the hard rows at their kinks: if yᵀA = 0 and yᵀd < 0 no point satisfies them all.
    pub(super) fn farkas(&self, state: &State) -> Option<Vec<usize>> {
        PROOF_SHARES.into_iter().find_map(|share| self.farkas_above(state, share))
    }

    fn farkas_above(&self, state: &State, share: f64) -> Option<Vec<usize>> {
        let s = &self.s;
        let signed = |i: usize| {
            let (z, caps) = (self.ws.balance.z[i], self.caps[i]);
            let wrong_side = (z < 0.0 && caps.under == 0.0) || (z > 0.0 && caps.over == 0.0);
            if state.piece[i] == Piece::On && self.hard(i) && !wrong_side { z } else { 0.0 }
        };
        let mut y: Vec<f64> = (0..s.m()).map(signed).collect();
        let cut = share * y.iter().fold(0.0_f64, |m, y| m.max(y.abs()));
        y.iter_mut().filter(|y| y.abs() < cut).for_each(|y| *y = 0.0);
        self.proves_infeasible(&y).then(|| (0..y.len()).filter(|&i| y[i] != 0.0).collect())
    }

    /// True if rᵀx ≤ yᵀd < 0 cannot be, with r = yᵀA for the unit-norm rows. Where r is more than rounding, it could be far out:
    /// rows that are nearly parallel meet somewhere. So no point may do it within [`PROOF_REACH`] times the rows' own distance.
    pub(crate) fn proves_infeasible(&self, y: &[f64]) -> bool {
        let terms = || y.iter().zip(&self.s.d).map(|(y, d)| y * d);
        let (total, value) = (y.iter().map(|y| y.abs()).sum::<f64>(), terms().sum::<f64>());
        let size = terms().fold(0.0_f64, |m, t| m.max(t.abs()));
        let mut pull = vec![0.0; self.s.n];
        self.s.apply_t(self.ws.kernel, y, &mut pull);
        let left = self.ws.kernel.largest(&pull);
        let far =
            y.iter().zip(&self.s.d).filter(|(y, _)| **y != 0.0).fold(0.0_f64, |m, (_, d)| m.max(d.abs()));
        let out_there: f64 = pull.iter().map(|r| r.abs() * PROOF_REACH * far).sum();
        total > 0.0 && left <= PROOF_PULL * total && value < -PROOF_VALUE * size && value < -out_there
    }

    /// Drops rows from an infeasible set while the rest still cannot hold together: none of what is left can be missed.
    pub(crate) fn irreducible(&mut self, mut rows: Vec<usize>) -> Vec<usize> {
        let (caps, theta) = (self.caps.clone(), self.theta.clone());
        // No soft row is among them.
        let hinges = std::mem::take(&mut self.s.hinges);
        self.theta.fill(0.0);
        let mut at = 0;
        while at < rows.len() && rows.len() > 1 {
            let dropped = rows.remove(at);
            self.caps.fill(Caps { over: 0.0, under: 0.0 });
            rows.iter().for_each(|&i| self.caps[i] = caps[i]);
            let mut state = State::new(self.s.n, self.s.m());
            if !matches!(self.solve(&mut state, false), Verdict::Infeasible(_)) {
                rows.insert(at, dropped);
                at += 1;
            }
        }
        (self.caps, self.theta, self.s.hinges) = (caps, theta, hinges);
        rows
    }
}
