//! Clarabel on the engine's own rows, whose multipliers have caps: where sparse problems start from nothing.
//!
//! ```text
//! max θᵀx − xᵀQx − Σ φᵢ(zᵢ),   φ(z) = max(γ⁺z, −γ⁻z)     =     … − Σ (γ⁺ + γ⁻)u − γ⁻z,   u ≥ z, u ≥ 0
//! ```
//!
//! A side without a cap is a constraint, one with a finite cap takes one more variable u for its row. The matrices that are
//! handed over hold what the rows store and nothing else.

use clarabel::solver::SupportedConeT;

use crate::engine::reference::{Effort, Entries, ReferenceStatus, run};
use crate::engine::rows::Softened;

/// A hinge of an engine row: its limit and its caps, of which one is finite.
struct Priced {
    row: usize,
    limit: f64,
    over: f64,
    under: f64,
}

/// Clarabel's answer.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) status: ReferenceStatus,
    /// x, or a ray.
    pub(crate) x: Vec<f64>,
    /// The multiplier of each row, that of many hinges their sum; of a certificate when infeasible.
    pub(crate) lambda: Vec<f64>,
}

/// Solves the problem with rows `s` whose multipliers are capped: `caps` are γ⁺ and γ⁻ of a row.
pub(crate) fn solve(
    s: &Softened,
    theta: &[f64],
    caps: impl Fn(usize) -> (f64, f64),
    effort: Effort,
) -> Answer {
    let n = s.n;
    let mut p = Entries::default();
    if let Some(two_q) = &s.two_q {
        for (i, row) in two_q.view().iter().enumerate() {
            row.iter().filter(|(j, _)| *j >= i).for_each(|(j, q)| p.push(i, j, q));
        }
    }
    let mut q: Vec<f64> = theta.iter().map(|t| -t).collect();
    let (mut a, mut b) = (Entries::default(), Vec::new());
    // What stands for a row: its place among the constraints, the sign there, and what is added to the multiplier.
    let mut parts: Vec<(usize, f64, usize)> = Vec::new();
    let mut base = vec![0.0; s.m()];
    let mut priced = Vec::new();
    let mut state = |a: &mut Entries, b: &mut Vec<f64>, row: usize, sign: f64, limit: f64| {
        s.entries(row).for_each(|(j, v)| a.push(b.len(), j, sign * v));
        parts.push((row, sign, b.len()));
        b.push(sign * (s.d[row] + limit));
    };
    let single = |i: &usize| s.hinges_of(*i).is_none();
    let own: Vec<(usize, f64, f64)> = (0..s.m())
        .filter(single)
        .map(|i| {
            let (over, under) = caps(i);
            (i, over, under)
        })
        .collect();
    for &(i, over, under) in &own {
        if over.is_infinite() && under.is_infinite() {
            state(&mut a, &mut b, i, 1.0, 0.0);
        }
    }
    let equalities = b.len();
    for &(i, over, under) in &own {
        match (over.is_infinite(), under.is_infinite()) {
            (true, true) => {}
            (true, false) => {
                state(&mut a, &mut b, i, 1.0, 0.0);
                priced.push(Priced { row: i, limit: 0.0, over: 0.0, under });
            }
            (false, true) => {
                state(&mut a, &mut b, i, -1.0, 0.0);
                priced.push(Priced { row: i, limit: 0.0, over, under: 0.0 });
            }
            (false, false) => priced.push(Priced { row: i, limit: 0.0, over, under }),
        }
    }
    for hinges in &s.hinges {
        let each = hinges.each();
        priced.extend(each.map(|h| Priced { row: hinges.row, limit: h.limit, over: h.over, under: h.under }));
    }
    for Priced { row, limit, over, under } in priced.into_iter().filter(|p| p.over + p.under > 0.0) {
        // −γ⁻z is linear, and a constant does not matter.
        s.entries(row).for_each(|(j, v)| q[j] -= under * v);
        base[row] -= under;
        let u = q.len();
        q.push(over + under);
        a.push(b.len(), u, -1.0);
        state(&mut a, &mut b, row, 1.0, limit);
        a.push(b.len(), u, -1.0);
        b.push(0.0);
    }
    let cones =
        [SupportedConeT::ZeroConeT(equalities), SupportedConeT::NonnegativeConeT(b.len() - equalities)];
    let width = q.len();
    let (status, x, z, _) = run(&p.build(width, width), &q, &a.build(b.len(), width), &b, &cones, &[effort]);
    let mut lambda = if status == ReferenceStatus::Infeasible { vec![0.0; s.m()] } else { base };
    parts.iter().for_each(|&(row, sign, at)| lambda[row] += sign * z[at]);
    Answer { status, x: x[..n].to_vec(), lambda }
}
