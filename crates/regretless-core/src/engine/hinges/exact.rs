//! The staircase itself: hinges of the exact problem stand on a kink, with a multiplier between two levels, or between kinks.

use super::{Hinge, Hinges, Segment, first};
use crate::engine::rows::Piece;

impl Hinges {
    /// The flat segment at z in the exact problem, or the one below a kink that z is at.
    pub(crate) fn between(&self, z: f64) -> Segment {
        Segment::flat(first(0..self.kinks().len(), |j| self.kinks()[j] >= z))
    }

    /// The segment with multiplier λ in the exact problem: a kink if the row was on one, otherwise the flat one that is nearest.
    pub(crate) fn exact_with(&self, lambda: f64, piece: Piece) -> Segment {
        let (levels, count) = (self.levels(), self.kinks().len());
        let above = first(0..count, |j| levels[j] >= lambda);
        let below = above.saturating_sub(1);
        if piece == Piece::On && count > 0 {
            return Segment::kink(below);
        }
        Segment::flat(if lambda - levels[below] < levels[above] - lambda { below } else { above })
    }

    /// The multiplier and z that a segment of the exact problem allows, near the given ones.
    pub(crate) fn exact_at(&self, at: Segment, lambda: f64, z: f64) -> (f64, f64) {
        let (kinks, levels) = (self.kinks(), self.levels());
        if at.begun > at.ended {
            return (lambda.max(levels[at.ended]).min(levels[at.begun]), kinks[at.ended]);
        }
        let least = if at.ended > 0 { kinks[at.ended - 1] } else { f64::NEG_INFINITY };
        let most = kinks.get(at.ended).copied().unwrap_or(f64::INFINITY);
        (levels[at.ended], z.max(least).min(most))
    }

    /// The segment of the exact problem that follows, where the multiplier on a kink is outside its levels, or z between kinks
    /// beyond one of them, each by more than its tolerance.
    pub(crate) fn exact_next(&self, at: Segment, lambda: (f64, f64), z: (f64, f64)) -> Segment {
        let ((lambda, out), (z, slack)) = (lambda, z);
        let (kinks, levels) = (self.kinks(), self.levels());
        let j = at.ended;
        if at.begun > at.ended {
            return match lambda {
                l if l > levels[j + 1] + out => Segment::flat(j + 1),
                l if l < levels[j] - out => Segment::flat(j),
                _ => at,
            };
        }
        // Newton's method: to the kink where the multiplier would have to be.
        if kinks.get(j).is_some_and(|kink| z > kink + slack) {
            return Segment::kink(self.between(z).ended - 1);
        }
        if j > 0 && z < kinks[j - 1] - slack {
            return Segment::kink(self.between(z).ended);
        }
        at
    }

    /// The soft rows whose limit is the kink that a segment is on.
    pub(crate) fn at_kink(&self, at: Segment) -> impl Iterator<Item = usize> + '_ {
        let priced = self.each().filter(|hinge| hinge.over + hinge.under > 0.0);
        priced.filter(move |hinge| at.piece_of(hinge.rank) == Piece::On).map(|hinge| hinge.soft)
    }

    /// How far λ is from the nearer level of a kink.
    pub(crate) fn room(&self, at: Segment, lambda: f64) -> f64 {
        let levels = self.levels();
        (levels[at.begun] - lambda).min(lambda - levels[at.ended]).max(0.0)
    }

    /// The multiplier of a hinge where that of all is λ: a cap, or on the kink its share of what is above its lower one.
    pub(crate) fn share(&self, hinge: &Hinge, at: Segment, lambda: f64) -> f64 {
        match at.piece_of(hinge.rank) {
            _ if hinge.over + hinge.under <= 0.0 => 0.0,
            Piece::Below => -hinge.under,
            Piece::Above => hinge.over,
            Piece::On => {
                let (below, above) = (self.levels()[hinge.rank], self.levels()[hinge.rank + 1]);
                let share = ((lambda - below) / (above - below)).clamp(0.0, 1.0);
                (hinge.over + hinge.under) * share - hinge.under
            }
        }
    }
}
