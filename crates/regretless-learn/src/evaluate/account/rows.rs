//! What the rows of a problem were doing under what came true.

use regretless_core::problem::{Shape, View};
use regretless_core::{Problem, RowId};
use serde::{Deserialize, Serialize};

/// Rows and bounds by name, at most; of more rows their blocks.
const ROWS: usize = 200;

/// A soft row: how often decisions were beyond its limit on either side, by how much, and what that cost.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SoftRow {
    /// The row, or the block it belongs to.
    pub name: String,
    /// Rows of the block.
    pub rows: usize,
    /// Above the limit.
    pub over: Side,
    /// Below it.
    pub short: Side,
}

/// One side of a soft row.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Side {
    /// Whether it has a price.
    pub priced: bool,
    /// The share of decisions on this side of the limit.
    pub share: f64,
    /// How far they were from it, on average over those.
    pub amount: f64,
    /// What that cost, on average over all decisions; of a block for all its rows.
    pub cost: f64,
}

/// A hard row: how often it was at its limit, or broken.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HardRow {
    /// The row, or the block it belongs to.
    pub name: String,
    /// Whether it is an equation, which is always at its limit.
    pub equation: bool,
    /// The share of decisions at the limit.
    pub limit: f64,
    /// The share that breaks it.
    pub violated: f64,
}

/// A variable at its bounds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Bound {
    /// The variable.
    pub name: String,
    /// The share of decisions at the lower bound.
    pub lower: f64,
    /// The share at the upper one.
    pub upper: f64,
}

/// Sums over decisions.
#[derive(Clone, Debug)]
pub(super) struct Rows {
    decisions: f64,
    soft: Vec<[Beyond; 2]>,
    hard: Vec<[f64; 2]>,
    bounds: Vec<[f64; 2]>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Beyond {
    priced: bool,
    count: f64,
    amount: f64,
    cost: f64,
}

impl Beyond {
    fn add(&mut self, beyond: f64, tolerance: f64, price: f64) {
        self.priced |= price > 0.0;
        self.cost += price * beyond.max(0.0);
        if beyond > tolerance {
            self.count += 1.0;
            self.amount += beyond;
        }
    }
}

impl Rows {
    pub(super) fn new(shape: Shape) -> Self {
        let hard = shape.at_most + shape.equal;
        let soft = vec![[Beyond::default(); 2]; shape.soft];
        Self { decisions: 0.0, soft, hard: vec![[0.0; 2]; hard], bounds: vec![[0.0; 2]; shape.n] }
    }

    pub(super) fn add(&mut self, view: &View<'_>, x: &[f64]) {
        self.decisions += 1.0;
        let near = |limit: f64| 1e-6 * (1.0 + limit.abs());
        for (i, [over, short]) in self.soft.iter_mut().enumerate() {
            let limit = view.limit(RowId::Soft(i));
            let z = view.row(RowId::Soft(i)).dot(x) - limit;
            over.add(z, near(limit), view.alpha[i]);
            short.add(-z, near(limit), view.under[i]);
        }
        let at_most = view.shape.at_most;
        for (i, [at, broken]) in self.hard.iter_mut().enumerate() {
            let (id, equation) =
                if i < at_most { (RowId::AtMost(i), false) } else { (RowId::Equal(i - at_most), true) };
            let limit = view.limit(id);
            let z = view.row(id).dot(x) - limit;
            if z.abs() <= near(limit) {
                *at += 1.0;
            } else if z > 0.0 || equation {
                *broken += 1.0;
            }
        }
        let bounds = view.lower.iter().zip(view.upper).zip(x);
        for ([at_lower, at_upper], ((lower, upper), x)) in self.bounds.iter_mut().zip(bounds) {
            // What has one value only is held by no bound.
            if lower < upper {
                // Nothing is at a bound that is not there.
                let at = |bound: f64| bound.is_finite() && (x - bound).abs() <= near(bound);
                *at_lower += f64::from(u8::from(at(*lower)));
                *at_upper += f64::from(u8::from(at(*upper)));
            }
        }
    }

    pub(super) fn told(&self, problem: &Problem) -> (Vec<SoftRow>, Vec<HardRow>, Vec<Bound>) {
        let shape = problem.shape();
        let all = self.decisions.max(1.0);
        let by_block = |ids: &mut dyn Iterator<Item = RowId>, rows: usize| -> Vec<(String, Vec<usize>)> {
            let mut blocks: Vec<(String, Vec<usize>)> = Vec::new();
            for (i, id) in ids.enumerate() {
                let full = problem.row_name(id);
                let name = if rows > ROWS { full.split('[').next().unwrap_or_default() } else { &full };
                match blocks.last_mut() {
                    // Rows of a block are neighbours.
                    Some((last, own)) if rows > ROWS && last == name => own.push(i),
                    _ => blocks.push((name.to_owned(), vec![i])),
                }
            }
            blocks
        };
        let soft = by_block(&mut (0..shape.soft).map(RowId::Soft), shape.soft);
        let soft = soft.into_iter().take(ROWS).map(|(name, own)| {
            let side = |k: usize| {
                let sum = |of: fn(&Beyond) -> f64| own.iter().map(|&i| of(&self.soft[i][k])).sum::<f64>();
                let count = sum(|side| side.count);
                Side {
                    priced: own.iter().any(|&i| self.soft[i][k].priced),
                    share: count / all / own.len() as f64,
                    amount: if count > 0.0 { sum(|side| side.amount) / count } else { 0.0 },
                    cost: sum(|side| side.cost) / all,
                }
            };
            SoftRow { rows: own.len(), over: side(0), short: side(1), name }
        });
        let rows = self.hard.len();
        let ids = (0..shape.at_most).map(RowId::AtMost).chain((0..shape.equal).map(RowId::Equal));
        let hard = by_block(&mut ids.into_iter(), rows).into_iter().take(ROWS).map(|(name, own)| {
            let share = |k: usize| own.iter().map(|&i| self.hard[i][k]).sum::<f64>() / all / own.len() as f64;
            HardRow { name, equation: own[0] >= shape.at_most, limit: share(0), violated: share(1) }
        });
        let names = problem.variables().iter().zip(&self.bounds);
        let held = names.filter(|(_, [lower, upper])| lower + upper > 0.0);
        let mut bounds: Vec<Bound> = held
            .map(|(name, [lower, upper])| Bound {
                name: name.clone(),
                lower: lower / all,
                upper: upper / all,
            })
            .collect();
        if bounds.len() > ROWS {
            bounds.sort_by(|a, b| (b.lower + b.upper).total_cmp(&(a.lower + a.upper)));
            bounds.truncate(ROWS);
        }
        (soft.collect(), hard.collect(), bounds)
    }
}
