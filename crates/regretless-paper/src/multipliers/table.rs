//! What each rule for the penalties of hard rows makes of a problem.

use regretless_core::{Instance, Multipliers, Problem, Rule};
use serde::Serialize;

/// One rule on one problem. The numbers are `None` if the rule gave no penalties; the explanation then says why.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MultiplierRow {
    /// The application.
    pub application: String,
    /// The problem size, in the application's notation.
    pub size: String,
    /// The rule's name, as in a problem file.
    pub rule: String,
    /// The smallest penalty of a hard row or bound.
    pub smallest: Option<f64>,
    /// The median penalty.
    pub median: Option<f64>,
    /// The largest penalty.
    pub largest: Option<f64>,
    /// The largest violation of a hard row by the softened optimum, over the instances.
    pub violation: Option<f64>,
    /// True if softening left every optimum feasible.
    pub holds: bool,
    /// The rule's own account, or its refusal.
    pub explanation: String,
    /// Instances tried.
    pub instances: usize,
}

/// The rules compared, with the factors that problem files have by default.
fn rules() -> [(&'static str, Rule); 3] {
    [
        ("theory", Rule::Theory),
        ("empirical", Rule::Empirical { factor: 5.0, sqrt_n: false }),
        ("dual", Rule::Dual { factor: 4.0 }),
    ]
}

/// Applies every rule to a problem, and tries its penalties on the instances.
pub fn rows(
    application: &str,
    size: &str,
    problem: &Problem,
    instances: &[Instance<'_>],
) -> Vec<MultiplierRow> {
    let row = |(name, rule): (&str, Rule)| {
        let mut row = MultiplierRow {
            application: application.into(),
            size: size.into(),
            rule: name.into(),
            smallest: None,
            median: None,
            largest: None,
            violation: None,
            holds: false,
            explanation: String::new(),
            instances: instances.len(),
        };
        match Multipliers::choose(problem, &rule, instances) {
            Ok(chosen) => {
                let penalties = penalties(problem, &chosen);
                row.smallest = penalties.first().copied();
                row.median = median(&penalties);
                row.largest = penalties.last().copied();
                row.violation = Some(chosen.certificate.worst_violation);
                row.holds = chosen.certificate.holds();
                row.explanation = chosen.explanation;
            }
            Err(refusal) => row.explanation = refusal.to_string(),
        }
        row
    };
    rules().into_iter().map(row).collect()
}

/// The penalties of hard rows and of bounds that exist, ascending: one of an infinite bound is never paid.
fn penalties(problem: &Problem, chosen: &Multipliers) -> Vec<f64> {
    let values = &chosen.values;
    let finite = |penalties: &[f64], bounds: &[f64]| -> Vec<f64> {
        penalties.iter().zip(bounds).filter(|(_, b)| b.is_finite()).map(|(p, _)| *p).collect()
    };
    let mut all = [values.at_most.as_slice(), &values.equal].concat();
    all.extend(finite(&values.lower, problem.lower()));
    all.extend(finite(&values.upper, problem.upper()));
    all.sort_by(f64::total_cmp);
    all
}

/// The median of sorted numbers.
pub(super) fn median(sorted: &[f64]) -> Option<f64> {
    let half = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        n if n % 2 == 1 => Some(sorted[half]),
        _ => Some(f64::midpoint(sorted[half - 1], sorted[half])),
    }
}

#[cfg(test)]
mod tests {
    use regretless_core::Matrix;

    use super::*;

    fn by_rule(problem: &Problem) -> [MultiplierRow; 3] {
        let theta = [1.0, 0.5];
        let instances = [Instance::default(), Instance::theta(&theta)];
        rows("test", "2", problem, &instances).try_into().unwrap()
    }

    #[test]
    fn a_linear_program() {
        let problem = Problem::maximize(2)
            .linear([2.0, 1.0])
            .at_most("cap", Matrix::from_rows(&[[1.0, 1.0]]), [1.0])
            .build()
            .unwrap();
        let [theory, empirical, dual] = by_rule(&problem);
        for row in [&theory, &empirical, &dual] {
            assert!(row.holds && row.violation.unwrap() < 1e-6 && row.instances == 2, "{row:?}");
            assert!(row.smallest <= row.median && row.median <= row.largest, "{row:?}");
        }
        // 5·max|θ|, on the row and on both bounds; infinite upper bounds are not counted.
        assert_eq!((empirical.smallest, empirical.largest), (Some(10.0), Some(10.0)));
        // 4 times the price of the cap, which is θ₁ = 2; the bounds have the floor of a unit row, √2 times that.
        assert!((dual.smallest.unwrap() - 8.0).abs() < 1e-6, "{dual:?}");
        assert!(theory.explanation.contains("Corollary 4"), "{}", theory.explanation);
    }

    #[test]
    fn a_quadratic_program_on_the_simplex() {
        let problem = Problem::maximize(2)
            .linear([0.2, 0.1])
            .quadratic(Matrix::from_rows(&[[1.0, 0.3], [0.3, 1.0]]))
            .equal("sum", Matrix::from_rows(&[[1.0, 1.0]]), [1.0])
            .build()
            .unwrap();
        let [theory, empirical, dual] = by_rule(&problem);
        assert!(theory.explanation.contains("Theorem 5"), "{}", theory.explanation);
        for row in [theory, empirical, dual] {
            assert!(row.holds, "{row:?}");
        }
    }

    #[test]
    fn a_refusal_is_a_row() {
        let problem = Problem::maximize(2)
            .linear([1.0, 1.0])
            .at_most("cap", Matrix::from_rows(&[[1.0, -0.5]]), [1.0])
            .upper([3.0, 3.0])
            .build()
            .unwrap();
        let [theory, _, dual] = by_rule(&problem);
        assert_eq!((theory.smallest, theory.violation, theory.holds), (None, None, false));
        assert!(theory.explanation.contains("negative coefficient"), "{}", theory.explanation);
        assert!(dual.holds && dual.largest.is_some(), "{dual:?}");
    }
}
