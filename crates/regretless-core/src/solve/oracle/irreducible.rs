//! Few rows of many that cannot hold together.

use super::Oracle;
use crate::engine::capped;
use crate::engine::reference::{ReferenceStatus, TIGHT};
use crate::engine::tolerance::INTERIOR;
use crate::problem::{Coefficients, Form, Instance, Problem, RowId};
use crate::solve::exact::ExactWorker;
use crate::solve::optimum::Status;

/// Sets that concern so many variables are made irreducible by dense solves.
const FEW: usize = 300;
/// Interior points that are spent on a larger one.
const TRIES: usize = 60;

/// Drops rows from an infeasible set of a sparse problem while the rest still cannot hold together. Of a set that stays large
/// parts are tried, not each row.
pub(super) fn irreducible(exact: &ExactWorker, mut rows: Vec<usize>) -> Vec<usize> {
    let (mut part, mut at, mut tries) = (rows.len().div_ceil(2), 0, 0);
    while touched(exact, &rows).len() > FEW && tries < TRIES && part > 0 {
        if at >= rows.len() {
            (part, at) = (if part == 1 { 0 } else { part.div_ceil(2) }, 0);
            continue;
        }
        tries += 1;
        let rest: Vec<usize> =
            rows.iter().enumerate().filter(|(k, _)| !(at..at + part).contains(k)).map(|(_, i)| *i).collect();
        match infeasible_among(exact, &rest) {
            Some(fewer) => (rows, part, at) = (fewer, part.min(rows.len()), 0),
            None => at += part,
        }
    }
    if touched(exact, &rows).len() <= FEW { by_dense_solves(exact, &rows).unwrap_or(rows) } else { rows }
}

/// The variables of some rows, ascending.
fn touched(exact: &ExactWorker, rows: &[usize]) -> Vec<usize> {
    let mut variables: Vec<usize> = rows.iter().flat_map(|&i| exact.s.entries(i)).map(|(j, _)| j).collect();
    variables.sort_unstable();
    variables.dedup();
    variables
}

/// Those of some hard rows that cannot hold together; `None` if there is no proof.
pub(super) fn infeasible_among(exact: &ExactWorker, rows: &[usize]) -> Option<Vec<usize>> {
    let mut among = vec![false; exact.s.m()];
    rows.iter().for_each(|&i| among[i] = exact.hard(i));
    let caps = |i: usize| if among[i] { (exact.caps[i].over, exact.caps[i].under) } else { (0.0, 0.0) };
    let answer = capped::solve(&exact.s, &vec![0.0; exact.s.n], caps, TIGHT[0]);
    if answer.status != ReferenceStatus::Infeasible {
        return None;
    }
    proved(exact, &answer.lambda)
}

/// The rows of a certificate, if it is one.
pub(super) fn proved(exact: &ExactWorker, lambda: &[f64]) -> Option<Vec<usize>> {
    let largest = lambda.iter().fold(0.0_f64, |m, y| m.max(y.abs()));
    let of = |i: usize| if exact.hard(i) && lambda[i].abs() > INTERIOR * largest { lambda[i] } else { 0.0 };
    let y: Vec<f64> = (0..exact.s.m()).map(of).collect();
    exact.proves_infeasible(&y).then(|| (0..y.len()).filter(|&i| y[i] != 0.0).collect())
}

/// The rows and their variables as a small problem of their own.
fn by_dense_solves(exact: &ExactWorker, rows: &[usize]) -> Option<Vec<usize>> {
    let variables = touched(exact, rows);
    let n = variables.len();
    let two_sided = |i: &&usize| exact.caps[**i].over.is_infinite() && exact.caps[**i].under.is_infinite();
    let equal: Vec<usize> = rows.iter().filter(|i| two_sided(i)).copied().collect();
    let at_most: Vec<usize> = rows.iter().filter(|i| !two_sided(i)).copied().collect();
    let matrix = |of: &[usize]| {
        let entry = |(k, &i): (usize, &usize)| {
            let place = |j: usize| variables.binary_search(&j).unwrap_or(0);
            exact.s.entries(i).map(|(j, a)| (k, place(j), a)).collect::<Vec<_>>()
        };
        Coefficients::sparse(of.len(), n, of.iter().enumerate().flat_map(entry))
    };
    let limits = |of: &[usize]| of.iter().map(|&i| exact.s.d[i]).collect::<Vec<_>>();
    let problem = Problem::maximize(n)
        .linear(vec![0.0; n])
        .free()
        .at_most("at most", matrix(&at_most).ok()?, limits(&at_most))
        .equal("equal", matrix(&equal).ok()?, limits(&equal))
        .build()
        .ok()?
        .in_form(Form::Dense);
    let Status::Infeasible { rows } = Oracle::new(&problem).solve(&Instance::default()).ok()?.status else {
        return None;
    };
    let own = |row: RowId| match row {
        RowId::AtMost(k) => Some(at_most[k]),
        RowId::Equal(k) => Some(equal[k]),
        _ => None,
    };
    let mut rows: Vec<usize> = rows.into_iter().filter_map(own).collect();
    rows.sort_unstable();
    Some(rows)
}
