//! Rows with many breakpoints among the others. The laws of the others are looked at as if there were no such rows; what these
//! do is added.

use std::sync::Arc;

use super::{Hinges, Segment};
use crate::engine::rows::{Piece, Softened};
use crate::linalg::simd::Kernel;
use crate::problem::{RowId, View};

impl Softened {
    /// Limits and hinges of the soft rows, each group as one.
    pub(crate) fn load_groups(&mut self, view: &View<'_>, rows: &[Arc<[u32]>]) {
        let last = std::mem::take(&mut self.hinges);
        for members in rows {
            let first = members[0] as usize;
            self.ids.push(RowId::Soft(first));
            let mut limit = view.d[first];
            if members.len() > 1 {
                let last = last.get(self.hinges.len());
                let (hinges, middle) =
                    Hinges::new(self.d.len(), members, [view.d, view.alpha, view.under], last);
                self.hinges.push(hinges);
                limit = middle;
            }
            self.d.push(limit);
        }
    }

    /// The hinges of row `i` if it has many breakpoints, and which of them they are.
    #[inline]
    pub(crate) fn hinges_of(&self, i: usize) -> Option<(usize, &Hinges)> {
        // Few problems have any: what is asked at every row and breakpoint is one comparison.
        if self.hinges.is_empty() { None } else { self.find_hinges(i) }
    }

    fn find_hinges(&self, i: usize) -> Option<(usize, &Hinges)> {
        let at = self.hinges.binary_search_by_key(&i, |h| h.row).ok()?;
        Some((at, &self.hinges[at]))
    }

    /// Puts rows with many breakpoints on the segments of z.
    pub(crate) fn locate(&self, z: &[f64], segments: &mut Vec<Segment>, piece: &mut [Piece]) {
        segments.clear();
        for hinges in &self.hinges {
            let at = hinges.locate(z[hinges.row]);
            piece[hinges.row] = at.piece();
            segments.push(at);
        }
    }

    /// Puts every row on the piece of its z.
    pub(crate) fn place(&self, z: &[f64], segments: &mut Vec<Segment>, piece: &mut [Piece]) {
        for ((law, z), piece) in self.laws.iter().zip(z).zip(&mut *piece) {
            *piece = law.piece(*z);
        }
        self.locate(z, segments, piece);
    }

    /// The weight of row `i` in H.
    pub(crate) fn weight(&self, i: usize, piece: Piece, segments: &[Segment]) -> f64 {
        match self.hinges_of(i) {
            Some((at, hinges)) => hinges.slope(segments[at]),
            None => self.laws[i].weight(piece),
        }
    }

    /// The objective of the problem at x with its z, as [`View::objective`]; hinges of one row are looked up together.
    pub(crate) fn objective(&self, view: &View<'_>, x: &[f64], z: &[f64]) -> f64 {
        let k = Kernel::new();
        let mut cost = 0.0;
        if let Some(two_q) = &self.two_q {
            let mut qx = vec![0.0; self.n];
            two_q.view().apply(k, x, &mut qx);
            cost += 0.5 * k.dot(&qx, x);
        }
        for (i, z) in z.iter().copied().enumerate().take(self.m_general) {
            let RowId::Soft(soft) = self.ids[i] else { break };
            cost += match self.hinges_of(i) {
                Some((_, hinges)) => hinges.cost(z),
                None => view.alpha[soft] * z.max(0.0) + view.under[soft] * (-z).max(0.0),
            };
        }
        k.dot(view.theta, x) - view.sign * cost
    }
}
