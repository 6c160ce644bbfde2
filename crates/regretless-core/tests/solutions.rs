//! A batch as tables: every row is what the instance's own solution says.
#![allow(clippy::unwrap_used, clippy::wildcard_imports, reason = "tests fail loudly")]

mod common;

use common::cases::problem;
use regretless_core::surrogate::Solutions;
use regretless_core::*;

#[test]
fn tables_hold_what_each_solution_says() {
    for seed in 0..4 {
        let problem = problem(seed, seed % 2 == 1, seed / 2 == 1);
        let (n, shape) = (problem.n(), problem.shape());
        let thetas: Vec<Vec<f64>> =
            (0..5).map(|i| (0..n).map(|j| ((i * n + j) as f64 * 1.7).sin()).collect()).collect();
        let mut instances: Vec<Instance<'_>> = thetas.iter().map(|t| Instance::theta(t)).collect();
        let refused = vec![f64::NAN; n];
        instances.insert(2, Instance::theta(&refused));
        let known: Vec<Instance<'_>> = thetas.iter().map(|t| Instance::theta(t)).collect();
        let multipliers = Multipliers::choose(&problem, &Rule::default(), &known).unwrap();
        let surrogate = Surrogate::new(&problem, &multipliers, &SurrogateOptions::with_k(2.0)).unwrap();
        let solutions = Solutions::new(&problem, surrogate.solve_batch(&instances));
        let upstream: Vec<f64> = (0..instances.len() * n).map(|i| (i as f64).cos()).collect();
        let wanted = [Parameter::Linear, Parameter::AtMost, Parameter::Quadratic];
        let gradients = solutions.vjp(&upstream, &wanted, true, false);
        let (x, objectives, pieces) = (solutions.x(false), solutions.objectives(false), solutions.pieces());
        assert_eq!(solutions.troubled(), [2]);
        assert_eq!(solutions.statuses()[2].0, "refused");
        for (i, solution) in solutions.each().iter().enumerate() {
            let Ok(solution) = solution else {
                assert!(x[i * n].is_nan() && objectives[i].is_nan() && gradients.k()[i].is_nan());
                assert!(pieces[i * shape.rows()..(i + 1) * shape.rows()].iter().all(Option::is_none));
                continue;
            };
            assert_eq!(x[i * n..(i + 1) * n], *solution.x());
            assert_eq!(objectives[i], solution.objective);
            assert_eq!(solutions.residuals()[i], solution.residual);
            assert_eq!(solutions.accuracies()[i], solution.accuracy());
            assert_eq!(solutions.statuses()[i].0, solution.status.word());
            for (row, piece) in solution.pieces() {
                assert_eq!(pieces[i * shape.rows() + shape.position(row)], Some(piece));
            }
            let own = solution.vjp(&upstream[i * n..(i + 1) * n]);
            assert_eq!(gradients.k()[i], own.k);
            for parameter in wanted {
                let (width, table) = (gradients.width(parameter), gradients.table(parameter));
                let row = &table[i * width..(i + 1) * width];
                // An LP has no Q to move along, and the table has room for one.
                let zeros = vec![0.0; width];
                assert_eq!(row, if own.of(parameter).is_empty() { &zeros } else { own.of(parameter) });
            }
        }
        // Nobody asks for the refused one: nothing, and not unknown.
        let silent = solutions.vjp(&vec![0.0; upstream.len()], &wanted, false, false);
        assert!(silent.table(Parameter::Linear).iter().all(|g| *g == 0.0));
    }
}
