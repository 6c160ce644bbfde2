//! Soft rows with the same coefficients, as one row with many breakpoints.
//!
//! Scenarios of a row's limit, or tiers of a price, are S hinges over the same u = cᵀx. Their sum is one convex piecewise
//! linear function of u, so they are one row with a monotone multiplier law: kinks t₁ < … < t_J (the distinct limits), at
//! each a rise gⱼ = Σ(over + under) of the limits there, and levels Λ₀ = −Σ under, Λⱼ = Λⱼ₋₁ + gⱼ between them. A ramp
//! stands in for each kink:
//!
//! ```text
//! λ(z) = Λ₀ + Σⱼ gⱼ·clip((z − loⱼ)/(hiⱼ − loⱼ), 0, 1)
//!
//! surrogate:   loⱼ = tⱼ − 1/4K                hiⱼ = tⱼ + 1/4K                   ramps may overlap: their slopes add
//! exact:       loⱼ = tⱼ + (Λⱼ₋₁ − λ̄)/w        hiⱼ = tⱼ + (Λⱼ − λ̄)/w             one after the other, slope w
//! ```
//!
//! The second is the proximal law around λ̄ (that of [`Law::exact`] for one kink). Both loⱼ and hiⱼ ascend, so where a row
//! stands is two numbers: how many ramps it has behind it and how many it has begun. Prefix sums give the line between two
//! breakpoints in O(1), a binary search the line at any z.

mod exact;
mod groups;
mod softened;
mod table;
#[cfg(test)]
mod tests;

use std::sync::Arc;

pub(crate) use groups::Groups;
use table::Table;

use crate::engine::rows::{Law, Piece};

/// Where a row with many kinks stands: ramps `..ended` are behind it, `ended..begun` hold it, the others are ahead.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Segment {
    pub(crate) ended: usize,
    pub(crate) begun: usize,
}

impl Segment {
    /// Between two kinks, or beyond all of them.
    pub(crate) fn flat(at: usize) -> Self {
        Self { ended: at, begun: at }
    }

    /// On one kink.
    pub(crate) fn kink(at: usize) -> Self {
        Self { ended: at, begun: at + 1 }
    }

    /// The piece that stands for it: on a slope, or off.
    pub(crate) fn piece(self) -> Piece {
        match self {
            Self { ended, begun } if begun > ended => Piece::On,
            Self { ended: 0, .. } => Piece::Below,
            _ => Piece::Above,
        }
    }

    /// The piece of the hinges at kink `rank`.
    pub(crate) fn piece_of(self, rank: usize) -> Piece {
        match rank {
            r if r < self.ended => Piece::Above,
            r if r < self.begun => Piece::On,
            _ => Piece::Below,
        }
    }
}

/// What stands in for a kink.
#[derive(Clone, Copy, Debug)]
enum Ramp {
    /// Of the surrogate, over |z − t| ≤ 1/4K.
    Smooth { sharpness: f64 },
    /// Of the exact problem: slope w, around λ̄ = w·shift.
    Proximal { slope: f64, shift: f64 },
}

/// One of the soft rows that are one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hinge {
    /// Its number among the soft rows as stated.
    pub(crate) soft: usize,
    /// Its limit, counted from the row's.
    pub(crate) limit: f64,
    pub(crate) over: f64,
    pub(crate) under: f64,
    /// Its kink.
    pub(crate) rank: usize,
}

impl Hinge {
    /// Its own law in the surrogate, for z counted from its own limit.
    pub(crate) fn law(&self, sharpness: f64) -> Law {
        Law::smooth(self.over, self.under, sharpness)
    }
}

/// Some soft rows as one.
#[derive(Clone, Debug)]
pub(crate) struct Hinges {
    /// The engine's row.
    pub(crate) row: usize,
    /// The soft rows as stated.
    members: Arc<[u32]>,
    table: Arc<Table>,
    ramp: Ramp,
}

impl Hinges {
    /// The soft rows `members` as row `row`, with the limits and prices of all soft rows, and the limit of that row. `last` may
    /// be the same rows at other limits.
    pub(crate) fn new(
        row: usize,
        members: &Arc<[u32]>,
        parameters: [&[f64]; 3],
        last: Option<&Self>,
    ) -> (Self, f64) {
        let last = last.filter(|last| Arc::ptr_eq(&last.members, members));
        let (table, middle) = Table::new(members, parameters, last.map(|last| &*last.table));
        let (members, table) = (Arc::clone(members), Arc::new(table));
        (Self { row, members, table, ramp: Ramp::Smooth { sharpness: 1.0 } }, middle)
    }

    /// The row divided by its norm.
    pub(crate) fn divide(&mut self, norm: f64) {
        Arc::make_mut(&mut self.table).divide(norm);
    }

    /// Makes the ramps those of the surrogate.
    pub(crate) fn smooth(&mut self, sharpness: f64) {
        self.ramp = Ramp::Smooth { sharpness };
    }

    /// Makes the ramps those of the exact problem, around the multiplier `at`.
    pub(crate) fn proximal(&mut self, slope: f64, at: f64) {
        self.ramp = Ramp::Proximal { slope, shift: at / slope };
    }

    /// Each hinge.
    pub(crate) fn each(&self) -> impl ExactSizeIterator<Item = Hinge> + '_ {
        self.some(0..self.table.order.len())
    }

    /// The hinges that a segment is on the slope of.
    pub(crate) fn held(&self, at: Segment) -> impl ExactSizeIterator<Item = Hinge> + '_ {
        let before = |rank: usize| self.table.rank.partition_point(|own| (*own as usize) < rank);
        self.some(before(at.ended)..before(at.begun))
    }

    fn some(&self, range: std::ops::Range<usize>) -> impl ExactSizeIterator<Item = Hinge> + '_ {
        let Table { order, limits, over, under, rank, .. } = &*self.table;
        range.map(move |i| Hinge {
            soft: order[i] as usize,
            limit: limits[i],
            over: over[i],
            under: under[i],
            rank: rank[i] as usize,
        })
    }

    /// The limit of each hinge, counted from the row's, and its own law in the surrogate; none of the exact problem.
    pub(crate) fn laws(&self) -> impl Iterator<Item = (f64, Law)> + '_ {
        let sharpness = match self.ramp {
            Ramp::Smooth { sharpness } => Some(sharpness),
            Ramp::Proximal { .. } => None,
        };
        sharpness.into_iter().flat_map(|k| self.each().map(move |hinge| (hinge.limit, hinge.law(k))))
    }

    /// The distinct limits, counted from the row's.
    pub(crate) fn kinks(&self) -> &[f64] {
        &self.table.kinks
    }

    /// The multiplier below each kink, and above the last.
    pub(crate) fn levels(&self) -> &[f64] {
        &self.table.levels
    }

    /// −γ⁻ and γ⁺
    pub(crate) fn caps(&self) -> (f64, f64) {
        let levels = self.levels();
        (levels[0], levels[levels.len() - 1])
    }

    /// The slope of one ramp for all of it.
    pub(crate) fn steepest(&self) -> f64 {
        let (below, above) = self.caps();
        match self.ramp {
            Ramp::Smooth { sharpness } => 2.0 * sharpness * (above - below),
            Ramp::Proximal { slope, .. } => slope,
        }
    }

    fn lo(&self, j: usize) -> f64 {
        match self.ramp {
            Ramp::Smooth { sharpness } => self.table.kinks[j] - 0.25 / sharpness,
            Ramp::Proximal { slope, shift } => self.table.kinks[j] + (self.table.levels[j] / slope - shift),
        }
    }

    fn hi(&self, j: usize) -> f64 {
        match self.ramp {
            Ramp::Smooth { sharpness } => self.table.kinks[j] + 0.25 / sharpness,
            Ramp::Proximal { slope, shift } => {
                self.table.kinks[j] + (self.table.levels[j + 1] / slope - shift)
            }
        }
    }

    /// Where z is.
    pub(crate) fn locate(&self, z: f64) -> Segment {
        let count = self.table.kinks.len();
        let ended = first(0..count, |j| self.hi(j) >= z);
        Segment { ended, begun: first(ended..count, |j| self.lo(j) >= z) }
    }

    /// λ' on a segment.
    pub(crate) fn slope(&self, at: Segment) -> f64 {
        if at.ended == at.begun {
            return 0.0;
        }
        match self.ramp {
            Ramp::Smooth { sharpness } => {
                2.0 * sharpness * (self.table.levels[at.begun] - self.table.levels[at.ended])
            }
            Ramp::Proximal { slope, .. } => slope,
        }
    }

    /// λ on a segment, extended beyond its ends.
    pub(crate) fn multiplier(&self, at: Segment, z: f64) -> f64 {
        let Table { kinks, levels, moments, .. } = &*self.table;
        if at.ended == at.begun {
            return levels[at.ended];
        }
        match self.ramp {
            // Σ g(2K(z − t) + ½) over the ramps that hold it.
            Ramp::Smooth { sharpness } => {
                let (rise, moment) =
                    (levels[at.begun] - levels[at.ended], moments[at.begun] - moments[at.ended]);
                levels[at.ended] + 0.5 * rise + 2.0 * sharpness * (z * rise - moment)
            }
            Ramp::Proximal { slope, shift } => slope * (z - kinks[at.ended] + shift),
        }
    }

    /// λ(z)
    pub(crate) fn clipped(&self, z: f64) -> f64 {
        self.multiplier(self.locate(z), z)
    }

    /// Where z leaves a segment, downwards and upwards.
    pub(crate) fn ends(&self, at: Segment) -> (f64, f64) {
        let Segment { ended, begun } = at;
        let mut down = if ended > 0 { self.hi(ended - 1) } else { f64::NEG_INFINITY };
        let mut up = if begun < self.kinks().len() { self.lo(begun) } else { f64::INFINITY };
        if begun > ended {
            down = down.max(self.lo(begun - 1));
            up = up.min(self.hi(ended));
        }
        (down, up)
    }

    /// The segment beyond an end. Where one ramp ends as another begins, the slope never falls to 0 between them.
    pub(crate) fn next(&self, at: Segment, rising: bool) -> Segment {
        let Segment { ended, begun } = at;
        let one_by_one = matches!(self.ramp, Ramp::Proximal { .. }) && begun > ended;
        if rising {
            if begun < self.kinks().len() && (ended == begun || self.lo(begun) <= self.hi(ended)) {
                return Segment { ended: ended + usize::from(one_by_one), begun: begun + 1 };
            }
            return Segment { ended: ended + 1, begun };
        }
        if ended > 0 && (ended == begun || self.hi(ended - 1) >= self.lo(begun - 1)) {
            return Segment { ended: ended - 1, begun: begun - usize::from(one_by_one) };
        }
        Segment { ended, begun: begun - 1 }
    }

    /// The segment with multiplier λ, and the z there: on a flat one the nearest to `z`. `On` says that it was on a slope.
    pub(crate) fn with_multiplier(&self, lambda: f64, piece: Piece, z: f64) -> (Segment, f64) {
        let count = self.kinks().len();
        let levels = self.levels();
        if piece != Piece::On {
            let above = first(0..count, |j| levels[j] >= lambda);
            let at = if above > 0 && lambda - levels[above - 1] < levels[above] - lambda {
                above - 1
            } else {
                above
            };
            let flat = Segment::flat(at);
            let (down, up) = self.ends(flat);
            if down < up {
                return (flat, z.clamp(down, up));
            }
        }
        let begun = first(0..count, |j| self.clipped(self.lo(j)) > lambda);
        let ended = first(0..begun, |j| self.clipped(self.hi(j)) > lambda);
        let at = Segment { ended, begun };
        let ((down, up), slope) = (self.ends(at), self.slope(at));
        let there = if slope > 0.0 { (lambda - self.multiplier(at, 0.0)) / slope } else { z };
        (at, there.max(down).min(up))
    }

    /// What the hinges cost at z without smoothing, in O(log S): Σ over·(z − t)⁺ + under·(t − z)⁺.
    pub(crate) fn cost(&self, z: f64) -> f64 {
        let Table { kinks, levels, moments, .. } = &*self.table;
        let count = kinks.len();
        let passed = first(0..count, |j| kinks[j] >= z);
        self.table.under_moment + levels[passed] * z - moments[passed]
    }
}

/// The first of some ascending numbers that is so; the end of the range if none is.
fn first(range: std::ops::Range<usize>, so: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (range.start, range.end);
    while low < high {
        let mid = usize::midpoint(low, high);
        if so(mid) {
            high = mid;
        } else {
            low = mid + 1;
        }
    }
    low
}
