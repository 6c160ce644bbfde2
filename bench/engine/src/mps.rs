//! A linear program as an MPS file, soft rows with a variable each for what is above and below their limit: for other solvers.

use std::fmt::Write;
use std::path::Path;

use regretless_core::Problem;

/// Writes a program that is minimised. Rows are in the order soft, at most, equal.
pub(crate) fn write(problem: &Problem, path: &Path) {
    let n = problem.n();
    let (soft, most, equal) = (problem.soft(), problem.at_most(), problem.equal());
    let blocks = [(&soft.C, &soft.d, 'L'), (&most.rows, &most.rhs, 'L'), (&equal.rows, &equal.rhs, 'E')];
    let (mut names, mut limits) = (String::from("NAME P\nROWS\n N cost\n"), String::from("RHS\n"));
    let mut columns: Vec<Vec<(usize, f64)>> = vec![Vec::new(); n];
    let mut row = 0;
    for (rows, rhs, kind) in blocks {
        for (i, limit) in rhs.iter().enumerate() {
            writeln!(names, " {kind} r{row}").unwrap();
            writeln!(limits, " rhs r{row} {limit:e}").unwrap();
            rows.row(i).iter().for_each(|(j, a)| columns[j].push((row, a)));
            row += 1;
        }
    }
    let mut text = names + "COLUMNS\n";
    for (j, column) in columns.iter().enumerate() {
        writeln!(text, " x{j} cost {:e}", problem.theta()[j]).unwrap();
        column.iter().for_each(|(i, a)| writeln!(text, " x{j} r{i} {a:e}").unwrap());
    }
    for (i, price) in soft.alpha.iter().enumerate() {
        assert!(soft.under[i] == 0.0, "one-sided rows only");
        writeln!(text, " s{i} cost {price:e}\n s{i} r{i} -1").unwrap();
    }
    text += &limits;
    text += "BOUNDS\n";
    for (j, (l, u)) in problem.lower().iter().zip(problem.upper()).enumerate() {
        if l.is_infinite() {
            writeln!(text, " MI b x{j}").unwrap();
        } else {
            writeln!(text, " LO b x{j} {l:e}").unwrap();
        }
        if u.is_finite() {
            writeln!(text, " UP b x{j} {u:e}").unwrap();
        }
    }
    std::fs::write(path, text + "ENDATA\n").unwrap();
}
