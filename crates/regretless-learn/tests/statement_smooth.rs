//! What smoothed methods learn does not depend on how the problem is written down: the order of rows, their common unit,
//! rows that are stated again. K is fitted to the data.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[allow(dead_code, reason = "each test binary uses its own part")]
mod common;

use common::{Project, fit, lp_table};

/// Two hard rows and a soft one in units of `unit`, the hard ones in the given order. The last epoch is kept: which of two
/// with the same regret is the better one is for rounding to say.
fn project(unit: f64, order: &[usize]) -> Project {
    let rows = [([1.0, 2.0, 1.0, 0.5], 5.0), ([0.5, 1.0, 2.0, 1.5], 6.0)];
    let scaled = |row: [f64; 4]| row.map(|a| a * unit);
    let hard: Vec<_> = order.iter().map(|&i| scaled(rows[i].0)).collect();
    let limits: Vec<_> = order.iter().map(|&i| rows[i].1 * unit).collect();
    let problem = format!(
        "[problem]\nvariables = [\"a\", \"b\", \"c\", \"d\"]\n[objective]\nlinear = {{ predict = \"v_*\" }}\n\
         [[soft]]\nname = \"space\"\nrows = [{:?}]\nlimit = {:?}\nover = {:?}\n\
         [[hard]]\nname = \"hours\"\nrows = {hard:?}\nat_most = {limits:?}\n[bounds]\nupper = 3.0\n\
         [data]\nfile = \"history.csv\"\nfeatures = [\"p\", \"q\", \"r\"]\n[predictor]\nkind = \"linear\"\n\
         [training]\nepochs = 6\nlearning_rate = 0.03\nbatch = 16\nkeep = \"last\"\n",
        scaled([1.0, 0.5, 1.5, 1.0]),
        4.0 * unit,
        0.7 / unit,
    );
    Project::new(&problem, &lp_table(150, 1))
}

#[test]
fn order_unit_and_repetition_of_rows_do_not_matter() {
    for method in
        ["surrogate-smooth", "surrogate-vertex", "spo+-smooth", "fenchel-young", "surrogate-smooth+l2"]
    {
        let predictions = |project: &Project| {
            let task = project.task();
            let model = fit(&task, method).unwrap().candidate.fitted.model;
            model.predict(&task.features(task.test()), task.test().len())
        };
        let plain = predictions(&project(1.0, &[0, 1]));
        for (unit, order) in [(1.0, &[1, 0][..]), (37.0, &[0, 1]), (0.01, &[1, 0]), (1.0, &[0, 1, 1, 0, 1])] {
            let other = predictions(&project(unit, order));
            let apart = plain.iter().zip(&other).fold(0.0_f64, |m, (a, b)| m.max((a - b).abs()));
            assert!(apart < 1e-4, "{method}, unit {unit}, rows {order:?}: {apart}");
        }
    }
}
