//! The numbers of some hinges, in the order of their limits.

/// Hinges, kinks and prefix sums over them.
#[derive(Clone, Debug, Default)]
pub(super) struct Table {
    /// The soft rows in the order of their limits; those with the same limit in their own order.
    pub(super) order: Vec<u32>,
    /// Limits (counted from the row's), prices and the kink of each, in that order.
    pub(super) limits: Vec<f64>,
    pub(super) over: Vec<f64>,
    pub(super) under: Vec<f64>,
    pub(super) rank: Vec<u32>,
    /// t: the distinct limits at which the multiplier rises, ascending.
    pub(super) kinks: Vec<f64>,
    /// Λ: the multiplier below each kink, and above the last. Each is above the one before.
    pub(super) levels: Vec<f64>,
    /// Σ gᵢtᵢ over the kinks before each, and over all.
    pub(super) moments: Vec<f64>,
    /// Σ under·t over the hinges.
    pub(super) under_moment: f64,
}

impl Table {
    /// Of the soft rows in `order`, with the limits and prices of all soft rows; and the limit that limits are counted from. An
    /// order that still holds, as it does while a forecast moves all limits together, is found to do so in one pass.
    pub(super) fn new(mut order: Vec<u32>, [d, over, under]: [&[f64]; 3]) -> (Self, f64) {
        order.sort_by(|a, b| d[*a as usize].total_cmp(&d[*b as usize]).then(a.cmp(b)));
        let (count, middle) = (order.len(), d[order[order.len() / 2] as usize]);
        let numbers = || Vec::with_capacity(count + 1);
        let mut table = Self {
            limits: order.iter().map(|k| d[*k as usize] - middle).collect(),
            over: order.iter().map(|k| over[*k as usize]).collect(),
            under: order.iter().map(|k| under[*k as usize]).collect(),
            rank: Vec::with_capacity(count),
            kinks: numbers(),
            levels: numbers(),
            moments: numbers(),
            under_moment: 0.0,
            order,
        };
        let (mut level, mut moment) = (-table.under.iter().sum::<f64>(), 0.0);
        for ((&limit, over), under) in table.limits.iter().zip(&table.over).zip(&table.under) {
            let rise = over + under;
            // What has no price bends nothing, nor does one that is lost beside the others.
            if level + rise > level && table.kinks.last().is_none_or(|last| *last < limit) {
                table.kinks.push(limit);
                table.levels.push(level);
                table.moments.push(moment);
            }
            (level, moment) = (level + rise, moment + rise * limit);
            table.under_moment += under * limit;
            table.rank.push((table.kinks.len() as u32).saturating_sub(1));
        }
        table.levels.push(level);
        table.moments.push(moment);
        (table, middle)
    }

    /// The row divided by its norm. Moments, price times limit, stay.
    pub(super) fn divide(&mut self, norm: f64) {
        let Self { limits, over, under, kinks, levels, .. } = self;
        [limits, kinks].into_iter().flatten().for_each(|t| *t /= norm);
        [over, under, levels].into_iter().flatten().for_each(|price| *price *= norm);
    }
}
