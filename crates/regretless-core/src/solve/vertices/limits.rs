//! Limits have moved: a row that is violated takes its kink, and the row whose multiplier meets a cap first leaves its own (a dual
//! simplex method, at prices for which the vertex would be optimal).

use super::{Caps, Kink, PIVOT, Vertices};
use crate::engine::rows::{Piece, Softened};
use crate::engine::tolerance::{TIE, WRONG_PIECE};
use crate::engine::workspace::Work;

impl Vertices {
    /// Brings rows that are violated to their kinks, at prices for which the multipliers are inside their caps; false if there
    /// is no way.
    ///
    /// The multiplier of the row that is farthest out grows until that of another one meets a cap, which leaves its kink.
    pub(super) fn restore(&mut self, s: &Softened, caps: &[Caps], done: &mut Work, left: &mut usize) -> bool {
        for (v, on) in self.at.on.iter().enumerate() {
            if let Some((i, sign)) = *on {
                let Caps { over, under } = caps[i];
                self.at.gain[v] = sign * (sign * self.at.gain[v]).clamp(-under, over);
            }
        }
        loop {
            let Some((place, (i, sign), rising)) = self.violated(s) else { return true };
            if *left == 0 {
                return false;
            }
            *left -= 1;
            done.breakpoints += 1;
            self.read_row(place);
            // By how much λᵢ can grow before it has crossed its caps, and the way of the gains.
            let most = caps[i].over + caps[i].under;
            let way = if rising { -sign } else { sign };
            let mut nearest: Option<(f64, usize, f64)> = None;
            for &(v, along) in &self.work.row[1..] {
                let Some((k, sign)) = self.at.on[v] else { continue };
                if along.abs() <= PIVOT {
                    continue;
                }
                let (lambda, rate) = (sign * self.at.gain[v], -sign * way * along);
                let room = if rate > 0.0 { caps[k].over - lambda } else { lambda + caps[k].under };
                let ratio = room.max(0.0) / rate.abs();
                let closer = nearest.is_none_or(|(least, _, pivot)| {
                    let tie = TIE * (1.0 + least);
                    ratio < least - tie || (ratio <= least + tie && along.abs() > pivot.abs())
                });
                if ratio.is_finite() && closer {
                    nearest = Some((ratio, v, along));
                }
            }
            let beyond = nearest.is_none_or(|(ratio, ..)| ratio >= most);
            if beyond && most.is_infinite() {
                return false;
            }
            let side = if rising { Piece::Above } else { Piece::Below };
            let Some((ratio, q, _)) = nearest.filter(|_| !beyond) else {
                // The other cap is reached first: the row is on the other side of its kink.
                self.at.piece[i] = side;
                self.move_gains(way * most);
                self.at.gain[self.basis.head[place]] = 0.0;
                continue;
            };
            let Some(pivot) = self.column_in(q, place) else { return false };
            let p = self.basis.head[place];
            let taken = sign * self.resting(caps, i);
            let target = sign * s.d[i];
            let step = (self.at.value[p] - target) / pivot;
            for (place, a) in &self.work.alpha {
                self.at.value[self.basis.head[*place]] -= step * a;
            }
            self.at.value[q] += step;
            self.at.value[p] = target;
            if let Some((k, sign)) = self.at.on[q] {
                // It leaves to the side of the cap that its multiplier has met.
                let lambda = sign * (self.at.gain[q] - way * ratio * self.entry(q));
                let Caps { over, under } = caps[k];
                self.at.piece[k] = if over - lambda < lambda + under { Piece::Above } else { Piece::Below };
            }
            self.move_gains(way * ratio);
            (self.at.on[q], self.at.gain[q]) = (None, 0.0);
            self.at.on[p] = Some((i, sign));
            self.at.gain[p] = taken - way * ratio;
            self.at.piece[i] = Piece::On;
            self.basis.replace(place, q, &self.work.alpha);
            done.pivots += 1;
            if self.basis.is_spent() {
                done.factorisations += 1;
                let head = self.basis.head.clone();
                if !self.basis.factor(&self.columns, &head, head.len()) {
                    return false;
                }
                self.refine();
            }
        }
    }

    /// The place, the kink and the direction of the row that is farthest beyond its kink; true if z is above it.
    fn violated(&self, s: &Softened) -> Option<(usize, Kink, bool)> {
        let size = self.at.value.iter().fold(f64::MIN_POSITIVE, |m, x| m.max(x.abs()));
        let (mut worst, mut most) = (None, 0.0);
        for (place, &v) in self.basis.head.iter().enumerate() {
            for (i, sign) in self.kinks[v].iter().flatten().copied() {
                let (z, slack) = (sign * self.at.value[v] - s.d[i], WRONG_PIECE * size.max(s.d[i].abs()));
                let beyond = match self.at.piece[i] {
                    Piece::Below => z,
                    Piece::Above => -z,
                    Piece::On => z.abs(),
                };
                if beyond > slack && beyond > most {
                    (worst, most) = (Some((place, (i, sign), z > 0.0)), beyond);
                }
            }
        }
        worst
    }

    /// The entry of column `v` in the row of the tableau read last.
    fn entry(&self, v: usize) -> f64 {
        self.work.row.iter().find(|(u, _)| *u == v).map_or(0.0, |(_, a)| *a)
    }
}
