//! The numbers of some hinges, in the order of their limits.

use std::sync::Arc;

/// Hinges, kinks and prefix sums over them. What the same rows at other limits have too is shared with them.
#[derive(Clone, Debug)]
pub(super) struct Table {
    /// The soft rows in the order of their limits; those with the same limit in their own order.
    pub(super) order: Arc<[u32]>,
    /// Limits (counted from the row's), prices and the kink of each, in that order.
    pub(super) limits: Arc<[f64]>,
    pub(super) over: Arc<[f64]>,
    pub(super) under: Arc<[f64]>,
    pub(super) rank: Arc<[u32]>,
    /// t: the distinct limits at which the multiplier rises, ascending.
    pub(super) kinks: Arc<[f64]>,
    /// Λ: the multiplier below each kink, and above the last. Each is above the one before.
    pub(super) levels: Arc<[f64]>,
    /// Σ gᵢtᵢ over the kinks before each, and over all.
    pub(super) moments: Vec<f64>,
    /// Σ under·t over the hinges.
    pub(super) under_moment: f64,
    /// The numbers are those of a row that was divided by its norm.
    divided: bool,
}

impl Table {
    /// Of some soft rows, with the limits and prices of all; and the limit that limits are counted from. `last` may be the same rows at
    /// other limits: an order that still holds, as it does while a forecast moves all limits together, is found to do so in one pass.
    pub(super) fn new(members: &[u32], parameters: [&[f64]; 3], last: Option<&Self>) -> (Self, f64) {
        if let Some(same) = last.and_then(|last| last.moved(parameters)) {
            return same;
        }
        let [d, over, under] = parameters;
        let mut order = last.map_or(members, |last| &last.order).to_vec();
        order.sort_by(|a, b| d[*a as usize].total_cmp(&d[*b as usize]).then(a.cmp(b)));
        let (count, middle) = (order.len(), d[order[order.len() / 2] as usize]);
        let of = |values: &[f64]| order.iter().map(|k| values[*k as usize]).collect::<Arc<[f64]>>();
        let (over, under) = (of(over), of(under));
        let limits: Arc<[f64]> = order.iter().map(|k| d[*k as usize] - middle).collect();
        let numbers = || Vec::with_capacity(count + 1);
        let (mut kinks, mut levels, mut moments, mut rank) =
            (numbers(), numbers(), numbers(), Vec::with_capacity(count));
        let (mut level, mut moment) = (-under.iter().sum::<f64>(), 0.0);
        for ((&limit, over), under) in limits.iter().zip(&*over).zip(&*under) {
            let rise = over + under;
            // What has no price bends nothing, nor does one that is lost beside the others.
            if level + rise > level && kinks.last().is_none_or(|last| *last < limit) {
                kinks.push(limit);
                levels.push(level);
                moments.push(moment);
            }
            (level, moment) = (level + rise, moment + rise * limit);
            rank.push((kinks.len() as u32).saturating_sub(1));
        }
        levels.push(level);
        moments.push(moment);
        let under_moment = moment_of(&under, &limits);
        let table = Self {
            order: order.into(),
            limits,
            over,
            under,
            rank: rank.into(),
            kinks: kinks.into(),
            levels: levels.into(),
            moments,
            under_moment,
            divided: false,
        };
        (table, middle)
    }

    /// The same rows at the same prices and other limits, where these are in the same order and each is a kink, before and now: then
    /// nothing but limits and moments differs.
    fn moved(&self, [d, over, under]: [&[f64]; 3]) -> Option<(Self, f64)> {
        let alike = |prices: &[f64], own: &[f64]| {
            self.order.iter().zip(own).all(|(k, own)| prices[*k as usize] == *own)
        };
        let each = self.kinks.len() == self.order.len() && !self.divided;
        if !each || !alike(over, &self.over) || !alike(under, &self.under) {
            return None;
        }
        let middle = d[self.order[self.order.len() / 2] as usize];
        let limits: Arc<[f64]> = self.order.iter().map(|k| d[*k as usize] - middle).collect();
        if limits.windows(2).any(|pair| pair[0] >= pair[1]) {
            return None;
        }
        let (mut moments, mut moment) = (Vec::with_capacity(limits.len() + 1), 0.0);
        for ((limit, over), under) in limits.iter().zip(&*self.over).zip(&*self.under) {
            moments.push(moment);
            moment += (over + under) * limit;
        }
        moments.push(moment);
        let under_moment = moment_of(&self.under, &limits);
        let kinks = Arc::clone(&limits);
        let [over, under, levels] = [&self.over, &self.under, &self.levels].map(Arc::clone);
        let [order, rank] = [&self.order, &self.rank].map(Arc::clone);
        let moved =
            Self { order, limits, over, under, rank, kinks, levels, moments, under_moment, divided: false };
        Some((moved, middle))
    }

    /// The row divided by its norm. Moments, price times limit, stay.
    pub(super) fn divide(&mut self, norm: f64) {
        if norm == 1.0 {
            return;
        }
        let Self { limits, over, under, kinks, levels, divided, .. } = self;
        [limits, kinks].into_iter().for_each(|t| *t = t.iter().map(|t| t / norm).collect());
        [over, under, levels].into_iter().for_each(|p| *p = p.iter().map(|price| price * norm).collect());
        *divided = true;
    }
}

/// Σ under·t
fn moment_of(under: &[f64], limits: &[f64]) -> f64 {
    under.iter().zip(limits).fold(0.0, |sum, (under, limit)| sum + under * limit)
}
