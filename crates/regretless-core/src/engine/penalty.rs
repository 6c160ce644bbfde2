//! The multiplier laws of a surrogate's rows.

use crate::engine::rows::{Law, Softened};
use crate::engine::tolerance::FORCE_FLOOR;
use crate::problem::{RowId, Shape, View};

/// Laws of the surrogate: α and under on soft rows, the penalties on hard ones.
pub(crate) fn set_laws(rows: &mut Softened, view: &View<'_>, penalties: &[f64], sharpness: &[f64]) {
    for i in 0..rows.m() {
        let at = view.shape.position(rows.ids[i]);
        let (over, under) = match rows.ids[i] {
            RowId::Soft(k) => (view.alpha[k], view.under[k]),
            RowId::Equal(_) => (penalties[at], penalties[at]),
            RowId::Upper(j) if rows.is_equality(i, view) => {
                (penalties[at], penalties[view.shape.position(RowId::Lower(j))])
            }
            RowId::AtMost(_) | RowId::Lower(_) | RowId::Upper(_) => (penalties[at], 0.0),
        };
        rows.laws[i] = Law::smooth(over, under, sharpness[at]);
    }
    let strongest =
        rows.laws.iter().zip(&rows.reach).fold(0.0_f64, |m, (l, r)| m.max(l.above.max(-l.below) * r));
    rows.floor = FORCE_FLOOR * strongest;
}

/// K of each engine row, from K of the stacked rows.
pub(crate) fn engine_sharpness(rows: &Softened, shape: Shape, stacked: &[f64]) -> Vec<f64> {
    rows.ids.iter().map(|id| stacked[shape.position(*id)]).collect()
}
