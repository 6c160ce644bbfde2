//! Prices have moved: a row whose multiplier left its caps is let go, and the first kink that is met takes its place (the primal
//! simplex method).

use super::{Caps, Hit, Kink, PIVOT, Scratch, Vertices, sign_of};
use crate::engine::rows::{Piece, Softened};
use crate::engine::tolerance::{AT_KINK, TIE};

/// Where a step ends.
enum End {
    /// At another kink of the column itself.
    Own(Kink),
    /// At a kink of the column in this place of the basis, where the column that comes has this entry.
    Place(usize, f64, Kink),
}

impl Vertices {
    /// The column whose multiplier is the farthest outside its caps, or the first of them; true if beyond the upper one.
    pub(super) fn entering(&mut self, caps: &[Caps], slack: f64, first: bool) -> Option<(usize, bool)> {
        let (mut best, mut most) = (None::<(usize, bool)>, slack);
        let Scratch { suspects, is_suspect, .. } = &mut self.work;
        suspects.retain(|&v| {
            let (mut over, mut under) = (0.0, 0.0);
            if let Some((i, sign)) = self.at.on[v] {
                let lambda = sign * self.at.gain[v];
                (over, under) = (lambda - caps[i].over, -caps[i].under - lambda);
            }
            let out = over.max(under);
            is_suspect[v] = out > slack;
            let better = if first { best.is_none_or(|(b, _)| v < b) } else { out > most };
            if out > slack && better {
                (best, most) = (Some((v, over > under)), out);
            }
            is_suspect[v]
        });
        best
    }

    /// Lets column `q` go from its kink to the first that is met; the length of the step, or `None` if there is no end to it.
    pub(super) fn exchange(
        &mut self,
        s: &Softened,
        caps: &[Caps],
        q: usize,
        up: bool,
        first: bool,
    ) -> Option<f64> {
        let own = self.at.on[q]?;
        let (row, sign) = own;
        let along = if up { sign } else { -sign };
        self.column_in(q, 0);
        let mut hits = std::mem::take(&mut self.work.hits);
        let longest = self.longest(s, q, along, first, &mut hits);
        self.work.hits = hits;
        let (step, end) = longest?;
        let side = if up { Piece::Above } else { Piece::Below };
        if step > 0.0 {
            for (place, a) in &self.work.alpha {
                self.at.value[self.basis.head[*place]] -= step * along * a;
            }
        }
        self.at.value[q] += step * along;
        let reached = match end {
            End::Own(kink) | End::Place(_, _, kink) => kink,
        };
        let was = self.resting(caps, reached.0);
        (self.at.piece[row], self.at.piece[reached.0]) = (side, Piece::On);
        let delta = self.at.gain[q] - sign * self.resting(caps, row);
        let (at, taken) = (sign_of(reached) * s.d[reached.0], sign_of(reached) * was);
        match end {
            End::Own(kink) => {
                (self.at.value[q], self.at.on[q]) = (at, Some(kink));
                self.at.gain[q] = delta + taken;
                self.suspect(q);
            }
            End::Place(place, pivot, kink) => {
                let p = self.basis.head[place];
                self.read_row(place);
                self.move_gains(delta / pivot);
                self.basis.replace(place, q, &self.work.alpha);
                (self.at.on[q], self.at.gain[q]) = (None, 0.0);
                (self.at.on[p], self.at.value[p]) = (Some(kink), at);
                self.at.gain[p] += taken;
                for at in 0..self.work.row.len() {
                    self.suspect(self.work.row[at].0);
                }
            }
        }
        Some(step)
    }

    /// The step of column `q` along ±1 to the first kink.
    fn longest(
        &self,
        s: &Softened,
        q: usize,
        along: f64,
        first: bool,
        hits: &mut Vec<Hit>,
    ) -> Option<(f64, End)> {
        let reach = |v: usize, speed: f64, (i, sign): Kink| {
            let (dz, z) = (sign * speed, sign * self.at.value[v] - s.d[i]);
            match self.at.piece[i] {
                Piece::On => Some(0.0),
                Piece::Below if dz > 0.0 => Some((-z).max(0.0) / dz),
                Piece::Above if dz < 0.0 => Some(z.max(0.0) / -dz),
                _ => None,
            }
        };
        let own = self.at.on[q].map(|(i, _)| i);
        let others = self.kinks[q].iter().flatten().copied().filter(|(i, _)| Some(*i) != own);
        let mut best: Option<(f64, End)> = None;
        for kink in others {
            best = reach(q, along, kink).map(|step| (step, End::Own(kink))).or(best);
        }
        let alpha = &self.work.alpha;
        let least = PIVOT * alpha.iter().fold(1.0_f64, |m, (_, a)| m.max(a.abs()));
        hits.clear();
        let mut nearest = f64::INFINITY;
        for &(place, a) in alpha.iter().filter(|(_, a)| a.abs() > least) {
            let v = self.basis.head[place];
            for kink in self.kinks[v].iter().flatten() {
                if let Some(step) = reach(v, -a * along, *kink) {
                    nearest = nearest.min(step);
                    hits.push((step, place, a, *kink));
                }
            }
        }
        if best.as_ref().is_some_and(|(step, _)| *step <= nearest) || nearest.is_infinite() {
            return best;
        }
        let near = nearest + TIE * (1.0 + nearest) + AT_KINK * self.at.value[q].abs();
        let better = |hit: &&Hit, other: &&Hit| {
            let earlier = self.basis.head[hit.1] < self.basis.head[other.1];
            if first { earlier } else { hit.2.abs() > other.2.abs() }
        };
        let reached = hits.iter().filter(|(step, ..)| *step <= near);
        let (_, place, pivot, kink) = reached.reduce(|a, b| if better(&b, &a) { b } else { a })?;
        Some((nearest, End::Place(*place, *pivot, *kink)))
    }
}
