//! What the engine makes of the instances: optima, multipliers, certificate, surrogate, gradients.

use std::fmt::Write;

use regretless_core::{
    Instance, Multipliers, Oracle, Problem, RowId, Sharpness as FittedK, Status, Surrogate, SurrogateStatus,
};
use regretless_learn::Sharpness;

use serde::Serialize;

use super::{Finding, Report, gradient, spread};
use crate::error::ProjectError;
use crate::instances::Instances;
use crate::{Parameter, Parameters, Spec};
use regretless_learn::{count, order, six};

/// Instances that are looked at: enough to meet the rows that bind, few enough to be held at once.
const MOST: usize = 1000;
/// Instances whose gradients are checked.
const GRADIENTS: usize = 3;

/// The penalties that stand in for hard rows.
#[derive(Debug, Serialize)]
pub struct MultiplierReport {
    /// How they were found.
    pub explanation: String,
    /// One for each row.
    pub rows: Vec<Penalty>,
}

/// The penalty of one hard row or bound.
#[derive(Debug, Serialize)]
pub struct Penalty {
    /// The row.
    pub row: String,
    /// Its penalty.
    pub value: f64,
}

/// How the softened problem behaved.
#[derive(Debug, Serialize)]
pub struct CertificateReport {
    /// True if nothing was violated.
    pub holds: bool,
    /// Instances that were solved.
    pub instances: usize,
    /// Instances whose own problem has no optimum.
    pub without_optimum: usize,
    /// Instances whose softened problem is unbounded.
    pub unbounded: usize,
    /// The largest violation of a hard row.
    pub worst_violation: f64,
    /// The row.
    pub worst_row: Option<String>,
}

pub(super) fn run(spec: &Spec, instances: &Instances, report: &mut Report) -> Result<(), ProjectError> {
    let problem = spec.problem();
    let chosen = spread(instances.len(), MOST);
    let parameters: Vec<Parameters> = chosen.iter().map(|&i| instances.get(i)).collect::<Result<_, _>>()?;
    let batch: Vec<Instance<'_>> = parameters.iter().map(Parameters::instance).collect();
    for (&i, instance) in chosen.iter().zip(&batch) {
        problem.view(instance).map_err(|e| instances.refused(i, e))?;
    }
    let optimal = optima(problem, instances, &chosen, &batch, report)?;

    if optimal.is_empty() {
        for check in ["multipliers", "certificate", "surrogate", "gradients"] {
            report.checks.push(Finding::skipped(check, "no instance has an optimum"));
        }
        return Ok(());
    }
    let multipliers = match Multipliers::choose(problem, &spec.surrogate().rule, &batch) {
        Ok(multipliers) => multipliers,
        Err(error) => {
            report.checks.push(Finding::failed("multipliers", error.to_string()));
            for check in ["certificate", "surrogate", "gradients"] {
                report.checks.push(Finding::skipped(check, "there are no multipliers"));
            }
            return Ok(());
        }
    };
    report.checks.push(Finding::ok("multipliers", multipliers.explanation.clone()));
    report.multipliers = Some(penalties(spec, &multipliers));
    certificate(problem, &multipliers, report);

    let mut options = spec.surrogate().options.clone();
    if spec.surrogate().sharpness == Sharpness::Auto {
        // As in training: fitted to what there is.
        let fitted = FittedK::fit(problem, &batch);
        (options.k, options.k_rows) = (fitted.k, Some(fitted.rows));
    }
    let surrogate = Surrogate::new(problem, &multipliers, &options);
    let surrogate = surrogate
        .map_err(|source| ProjectError::Problem { file: spec.file().display().to_string(), source })?;
    smooth(spec, options.k, &surrogate, instances, &chosen, &batch, report)?;

    let picked = spread(optimal.len(), GRADIENTS).into_iter().map(|k| &parameters[optimal[k]]);
    let picked: Vec<&Parameters> = picked.collect();
    let gradients = gradient::check(spec, &multipliers, &picked);
    report.checks.push(gradient::finding(&gradients, picked.len()));
    report.gradients = gradients;
    Ok(())
}

/// Solves all instances exactly and returns the positions of those that have an optimum.
fn optima(
    problem: &Problem,
    instances: &Instances,
    chosen: &[usize],
    batch: &[Instance<'_>],
    report: &mut Report,
) -> Result<Vec<usize>, ProjectError> {
    let mut optimal = Vec::new();
    let mut first = None;
    for (k, optimum) in Oracle::new(problem).solve_batch(batch).into_iter().enumerate() {
        let optimum = optimum.map_err(|e| instances.refused(chosen[k], e))?;
        if optimum.is_optimal() {
            optimal.push(k);
        } else {
            first.get_or_insert((chosen[k], optimum.status));
        }
    }
    let of = of(chosen.len(), instances.len());
    let detail = match &first {
        None => format!("feasible and bounded: {of}"),
        Some((i, trouble)) => {
            let place = instances.row(*i).map_or_else(String::new, |row| format!("row {row} is "));
            format!("{} of {of} with an optimum; {place}{}", optimal.len(), explain(problem, trouble))
        }
    };
    report.checks.push(Finding::judged("optimum", first.is_none(), detail));
    Ok(optimal)
}

/// `12 instances`, or `1000 instances (out of 5000)`.
fn of(looked_at: usize, all: usize) -> String {
    let instances = count(looked_at, "instance");
    if looked_at == all { instances } else { format!("{instances} (out of {all})") }
}

fn explain(problem: &Problem, trouble: &Status) -> String {
    let word = trouble.word();
    match trouble {
        Status::Infeasible { rows } => format!("{word}: {} cannot hold together", some_of(problem, rows)),
        Status::Unbounded { ray } => {
            let moving = problem.variables().iter().zip(ray).filter(|(_, d)| d.abs() > 1e-12);
            let moving: Vec<_> = moving.map(|(name, d)| format!("{name} {}", six(*d))).collect();
            format!("{word} along {}", shortened(&moving))
        }
        _ => word.to_owned(),
    }
}

fn some_of(problem: &Problem, rows: &[RowId]) -> String {
    shortened(&rows.iter().map(|&row| problem.row_name(row)).collect::<Vec<_>>())
}

/// The first few of a list.
fn shortened(items: &[String]) -> String {
    const MOST: usize = 8;
    let first = items.iter().take(MOST).cloned().collect::<Vec<_>>().join(", ");
    if items.len() > MOST { format!("{first} and {} more", items.len() - MOST) } else { first }
}

fn penalties(spec: &Spec, multipliers: &Multipliers) -> MultiplierReport {
    let problem = spec.problem();
    let shape = problem.shape();
    let known = |side| !spec.placed().has(side);
    let absent = |row: &RowId| match *row {
        RowId::Soft(_) => true,
        RowId::Lower(j) => known(Parameter::Lower) && problem.lower()[j].is_infinite(),
        RowId::Upper(j) => known(Parameter::Upper) && problem.upper()[j].is_infinite(),
        _ => false,
    };
    let rows = (0..shape.rows()).map(|i| shape.row(i)).filter(|row| !absent(row));
    let rows = rows.map(|row| Penalty { row: problem.row_name(row), value: multipliers.values.get(row) });
    MultiplierReport { explanation: multipliers.explanation.clone(), rows: rows.collect() }
}

fn certificate(problem: &Problem, multipliers: &Multipliers, report: &mut Report) {
    let certificate = &multipliers.certificate;
    let worst_row = certificate.worst_row.map(|row| problem.row_name(row));
    let worst = match &worst_row {
        Some(row) => format!("largest violation {} at {row}", six(certificate.worst_violation)),
        None => "no hard row violated".to_owned(),
    };
    let solved = certificate.instances - certificate.without_optimum;
    let bounded = solved - certificate.unbounded;
    let mut parts = Vec::new();
    if bounded > 0 || solved == 0 {
        parts.push(format!("softened optima of {}: {worst}", count(bounded, "instance")));
    }
    if certificate.unbounded > 0 {
        let them = count(certificate.unbounded, "instance");
        parts.push(format!("softened, {them} unbounded: the penalties are too small, raise the multipliers"));
    }
    let detail = parts.join("; ");
    report.checks.push(Finding::judged("certificate", certificate.holds(), detail));
    report.certificate = Some(CertificateReport {
        holds: certificate.holds(),
        instances: certificate.instances,
        without_optimum: certificate.without_optimum,
        unbounded: certificate.unbounded,
        worst_violation: certificate.worst_violation,
        worst_row,
    });
}

fn smooth(
    spec: &Spec,
    k: f64,
    surrogate: &Surrogate,
    instances: &Instances,
    chosen: &[usize],
    batch: &[Instance<'_>],
    report: &mut Report,
) -> Result<(), ProjectError> {
    let options = &spec.surrogate().options;
    let (mut optimal, mut uncapped, mut infeasible, mut residual) = (0, 0, 0, 0.0_f64);
    for (k, solution) in surrogate.solve_batch(batch).into_iter().enumerate() {
        let solution = solution.map_err(|e| instances.refused(chosen[k], e))?;
        match solution.status {
            SurrogateStatus::Optimal => optimal += 1,
            SurrogateStatus::Uncapped { .. } => uncapped += 1,
            SurrogateStatus::Infeasible { .. } => infeasible += 1,
            _ => {}
        }
        residual = residual.max(solution.residual);
    }
    let segments = format!("{:?}", options.segments).to_lowercase();
    let fitted =
        if spec.surrogate().sharpness == Sharpness::Auto { " (fitted to the instances)" } else { "" };
    let mut detail = format!(
        "K = {}{fitted}, {segments} segments: {optimal} of {} solved",
        six(k),
        count(batch.len(), "instance")
    );
    if uncapped > 0 {
        let _ =
            write!(detail, ", {uncapped} only with hard rows uncapped: the multipliers are too small there");
    }
    if infeasible > 0 {
        let _ = write!(detail, ", {infeasible} infeasible");
    }
    // Rounded to its order: the last digits are noise that differs between machines.
    let _ = write!(detail, ", residual at most {}", order(residual));
    report.checks.push(Finding::judged("surrogate", optimal == batch.len(), detail));
    Ok(())
}
