//! A θ that nobody gave is an error where it matters, and 0 where it does not.
#![allow(clippy::unwrap_used, reason = "tests fail loudly")]

use regretless_core::{
    Batch, Instance, Matrix, Multipliers, Oracle, Parameter, Placement, Problem, ProblemError, Regret, Rule,
    Soft,
};

fn shop() -> regretless_core::ProblemBuilder {
    let rows = || Matrix::from_rows(&[[1.0, 1.0]]);
    Problem::minimize(2).soft("demand", Soft::both(rows(), [3.0], [1.0], [2.0])).at_most(
        "room",
        rows(),
        [8.0],
    )
}

#[test]
fn an_objective_that_nobody_gave_is_no_objective() {
    let (open, zero) = (shop().build().unwrap(), shop().linear([0.0, 0.0]).build().unwrap());
    assert!(!open.states_theta() && zero.states_theta());
    let d = [4.0];
    let instance = Instance { d: Some(&d), ..Instance::default() };
    let oracle = Oracle::new(&open);
    assert_eq!(oracle.solve(&instance).unwrap_err(), ProblemError::NoTheta);
    assert_eq!(oracle.solve_batch(&[instance]).pop().unwrap().unwrap_err(), ProblemError::NoTheta);
    assert!(oracle.solve(&Instance::theta(&[1.0, 1.0])).unwrap().is_optimal());
    assert!(Oracle::new(&zero).solve(&instance).unwrap().is_optimal());
}

#[test]
fn what_is_asked_about_rows_needs_none() {
    let open = shop().build().unwrap();
    assert!(Multipliers::choose(&open, &Rule::Constant(9.0), &[Instance::default()]).is_ok());
    // Limits are predicted, and the problem has no other objective.
    let placement = Placement::whole(&open, &[Parameter::Limit]);
    let judged =
        Regret::new(&open, &placement, None).unwrap().evaluate(&Batch::new(&[4.0], &[5.0], &[0])).unwrap();
    assert!((judged[0].regret - 2.0).abs() < 1e-9, "{judged:?}");
}
