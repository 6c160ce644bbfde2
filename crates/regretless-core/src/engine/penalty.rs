//! What rows cost: the caps of their multipliers, and the laws of a surrogate between them.

use crate::engine::rows::{Law, Softened};
use crate::engine::tolerance::FORCE_FLOOR;
use crate::problem::{RowId, Shape, View};

/// Laws of the surrogate: α and under on soft rows, the penalties on hard ones.
pub(crate) fn set_laws(rows: &mut Softened, view: &View<'_>, penalties: &[f64], sharpness: &[f64]) {
    for i in 0..rows.m() {
        let (over, under) = caps(rows, i, view, |id| penalties[view.shape.position(id)]);
        rows.laws[i] = Law::smooth(over, under, sharpness[view.shape.position(rows.ids[i])]);
    }
    let mut strongest =
        rows.laws.iter().zip(&rows.reach).fold(0.0_f64, |m, (l, r)| m.max(l.above.max(-l.below) * r));
    for hinges in &mut rows.hinges {
        let i = hinges.row;
        rows.laws[i] = Law::IDLE;
        hinges.smooth(sharpness[view.shape.position(rows.ids[i])]);
        let (below, above) = hinges.caps();
        strongest = strongest.max(above.max(-below) * rows.reach[i]);
    }
    rows.floor = FORCE_FLOOR * strongest;
}

/// γ⁺ and γ⁻ of row `i`, between which its multiplier lies: prices of a soft row, what `hard` says of hard ones.
pub(crate) fn caps(rows: &Softened, i: usize, view: &View<'_>, hard: impl Fn(RowId) -> f64) -> (f64, f64) {
    let id = rows.ids[i];
    match id {
        RowId::Soft(k) => (view.alpha[k], view.under[k]),
        RowId::Equal(_) => (hard(id), hard(id)),
        RowId::Upper(j) if rows.is_equality(i, view) => (hard(id), hard(RowId::Lower(j))),
        RowId::AtMost(_) | RowId::Lower(_) | RowId::Upper(_) => (hard(id), 0.0),
    }
}

/// K of each engine row, from K of the stacked rows.
pub(crate) fn engine_sharpness(rows: &Softened, shape: Shape, stacked: &[f64]) -> Vec<f64> {
    rows.ids.iter().map(|id| stacked[shape.position(*id)]).collect()
}
