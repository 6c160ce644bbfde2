//! K where the problem file leaves it open.
//!
//! The surrogate rounds every hinge over 1/(2K) units of its row. Far wider than the amounts by which rows are missed, it is
//! another problem's; far narrower, its gradient sees as little as that of the original. So K follows the rows' own scale:
//!
//! ```text
//! K = SHARP / mean |Cx − d|        over soft rows and hard inequalities of one instance at the decision for another
//! ```
//!
//! The decision for another instance stands for one on an imperfect forecast: at its own optimum a row is often met exactly.

use regretless_core::{Instance, Layout, Parameters, Regret, View};
use regretless_spec::{Sharpness, Spec};

use crate::error::LearnError;

/// How sharp, in the rows' own scale. `docs/training.md` has the measurements behind it.
const SHARP: f64 = 5.0;

/// Instances that are looked at; more say little more.
const PROBES: usize = 64;

/// A value of K that fits the data; targets are those of all rows, `train` the ones to look at.
pub(crate) fn sharpness(
    spec: &Spec,
    layout: &Layout,
    targets: &[f64],
    train: &[usize],
) -> Result<f64, LearnError> {
    let width = layout.width();
    let step = train.len().div_ceil(PROBES).max(1);
    let probes: Vec<f64> = train
        .iter()
        .step_by(step)
        .flat_map(|&row| &targets[row * width..(row + 1) * width])
        .copied()
        .collect();
    let problem = spec.problem();
    let decisions = Regret::new(problem, layout, None)?.decide(&probes)?;
    let truths: Vec<Parameters> =
        probes.chunks_exact(width).map(|truth| layout.parameters(problem, truth)).collect();
    let mut misses = Vec::new();
    for (i, decision) in decisions.iter().enumerate() {
        let truth: Instance<'_> = truths[(i + 1) % truths.len()].instance();
        let (Ok(decision), Ok(view)) = (decision, problem.view(&truth)) else { continue };
        if decision.x.iter().all(|x| x.is_finite()) {
            missed(&view, &decision.x, &mut misses);
        }
    }
    let mean = misses.iter().sum::<f64>() / misses.len().max(1) as f64;
    if !(mean.is_normal() && mean > 0.0) {
        return Ok(Sharpness::Auto.value());
    }
    Ok(two_digits(SHARP / mean))
}

/// How far every soft row and hard inequality is from its limit, bounds where there are no other rows.
fn missed(view: &View<'_>, x: &[f64], misses: &mut Vec<f64>) {
    let n = x.len();
    let rows = view.C.chunks_exact(n).zip(view.d).chain(view.A.chunks_exact(n).zip(view.b));
    let before = misses.len();
    misses
        .extend(rows.map(|(row, limit)| (row.iter().zip(x).map(|(a, x)| a * x).sum::<f64>() - limit).abs()));
    if misses.len() == before {
        let bounds = x.iter().zip(view.lower).chain(x.iter().zip(view.upper));
        misses.extend(bounds.map(|(x, bound)| (x - bound).abs()).filter(|miss| miss.is_finite()));
    }
}

/// Two significant digits: more would promise what a scale cannot hold.
fn two_digits(value: f64) -> f64 {
    format!("{value:.1e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use regretless_spec::Limits;

    use super::*;

    fn found(scale: f64, demands: &[f64]) -> f64 {
        let text = format!(
            "[problem]\nsense = \"max\"\nvariables = [\"order\"]\n[objective]\nlinear = [-1.0]\n\
             [[soft]]\nname = \"demand\"\nrows = [[1.0]]\nlimit = {{ predict = \"demand\" }}\nover = 1.0\nunder = 5.0\n\
             [[hard]]\nname = \"room\"\nrows = [[1.0]]\nat_most = {}\n",
            20.0 * scale
        );
        let spec = Spec::parse(text, "order.toml", &Limits::default()).unwrap();
        let layout = crate::task::layout(&spec);
        let targets: Vec<f64> = demands.iter().map(|d| d * scale).collect();
        let rows: Vec<usize> = (0..targets.len()).collect();
        sharpness(&spec, &layout, &targets, &rows).unwrap()
    }

    /// Orders meet demand, 10 and 14. Demand is then missed by 4 and 4, the room of 20 by 10 and 6: 6 on average.
    #[test]
    fn k_is_the_inverse_of_the_rows_scale() {
        assert_eq!(found(1.0, &[10.0, 14.0]), 0.83);
        assert_eq!(found(1e3, &[10.0, 14.0]), 0.83e-3);
        assert_eq!(found(1e-3, &[10.0, 14.0]), 0.83e3);
    }

    /// A row that is always met exactly has no scale.
    #[test]
    fn without_a_scale_k_is_five() {
        assert_eq!(found(1.0, &[20.0, 20.0]), 5.0);
    }
}
