//! Which soft rows are one.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use crate::problem::parameter::Parameter;
use crate::problem::{Row, View};

/// Which soft rows have the same coefficients and sharpness, so that each group is one row of the engine.
#[derive(Clone, Debug, Default)]
pub(crate) struct Groups {
    /// The soft rows of each of the engine's; empty if each is its own.
    rows: Vec<Arc<[u32]>>,
}

impl Groups {
    /// Looks through the soft rows of a view; without a sharpness all are equally sharp.
    pub(crate) fn of(view: &View<'_>, sharpness: Option<&[f64]>) -> Self {
        let soft = view.shape.soft;
        let mut rows: Vec<Vec<u32>> = Vec::new();
        let mut found: HashMap<u64, Vec<usize>> = HashMap::new();
        let [(matrix, _), ..] = view.rows();
        let row = |k: usize| matrix.row(k);
        let sharp = |k: usize| sharpness.map_or(1.0, |all| all[k]);
        let prints = |entries: usize| -> Vec<u64> {
            (0..soft).map(|k| fingerprint(some(&row(k)).take(entries), sharp(k))).collect()
        };
        // Most often all differ, and in what they begin with.
        if all_differ(&prints(BEGINNING)) {
            return Self::default();
        }
        let prints = prints(usize::MAX);
        if all_differ(&prints) {
            return Self::default();
        }
        for (k, print) in prints.into_iter().enumerate() {
            let alike = found.entry(print).or_default();
            let same = |group: &&usize| {
                let first = rows[**group][0] as usize;
                alike_rows(&row(first), &row(k)) && sharp(first) == sharp(k)
            };
            if let Some(&group) = alike.iter().find(same) {
                rows[group].push(k as u32);
            } else {
                alike.push(rows.len());
                rows.push(vec![k as u32]);
            }
        }
        if rows.len() == soft {
            return Self::default();
        }
        Self { rows: rows.into_iter().map(Arc::from).collect() }
    }

    /// Those of an instance, which may have coefficients of its own.
    pub(crate) fn in_view(&self, view: &View<'_>, sharpness: Option<&[f64]>) -> Cow<'_, Self> {
        if self.rows.is_empty() || !view.gives(&[Parameter::SoftRows]) {
            return Cow::Borrowed(self);
        }
        Cow::Owned(Self::of(view, sharpness))
    }

    /// The soft rows of each of the engine's; `None` if each is its own.
    pub(crate) fn rows(&self) -> Option<&[Arc<[u32]>]> {
        (!self.rows.is_empty()).then_some(&self.rows)
    }
}

/// Column and value of what is not 0.
fn some<'a>(row: &Row<'a>) -> impl Iterator<Item = (usize, f64)> + use<'a> {
    row.iter().filter(|(_, value)| *value != 0.0)
}

fn alike_rows(a: &Row<'_>, b: &Row<'_>) -> bool {
    some(a).eq(some(b))
}

/// True if no two fingerprints are the same.
fn all_differ(prints: &[u64]) -> bool {
    let size = (2 * prints.len()).next_power_of_two();
    let mut places = vec![0_u64; size];
    prints.iter().all(|print| {
        // 0 is an empty place.
        let print = (*print).max(1);
        let mut at = print as usize & (size - 1);
        while places[at] != 0 && places[at] != print {
            at = (at + 1) & (size - 1);
        }
        std::mem::replace(&mut places[at], print) == 0
    })
}

/// Entries that tell rows apart where numbers are predicted.
const BEGINNING: usize = 2;

/// 64 bits of what a row has that is not 0, and of its sharpness: a sum, so that no term waits for another.
fn fingerprint(entries: impl Iterator<Item = (usize, f64)>, sharpness: f64) -> u64 {
    let sum = entries.fold(sharpness.to_bits(), |sum, (j, value)| {
        let bits = value.to_bits().rotate_left(j as u32 + 12);
        sum.wrapping_add(bits.wrapping_mul((2 * j as u64 + 1).wrapping_mul(0xbf58_476d_1ce4_e5b9)))
    });
    let mixed = sum.wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}
