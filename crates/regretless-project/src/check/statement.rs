//! The problem as stated: sizes, what is predicted, convexity.

use std::collections::BTreeSet;

use crate::{Kind, Parameter, PlacedTerm, Selection, Spec};
use regretless_core::Instance;
use regretless_core::problem::Form;

use super::{Finding, Verdict, spread};
use crate::error::ProjectError;
use crate::instances::Instances;
use regretless_learn::{count, six};

pub(super) fn sizes(spec: &Spec) -> Finding {
    let problem = spec.problem();
    let shape = problem.shape();
    // Predicted entries hold placeholders, but they are there.
    let there = |parameter: Parameter, known: fn(f64) -> bool| -> BTreeSet<usize> {
        let placed = spec.placed().terms.iter().filter(|term| term.parameter == parameter);
        let placed: BTreeSet<usize> = placed.map(|term| term.row).collect();
        let entries = parameter.of(problem).iter().enumerate();
        entries.filter(|(i, v)| known(**v) || placed.contains(i)).map(|(i, _)| i).collect()
    };
    let [over, under] = [Parameter::Over, Parameter::Under].map(|price| there(price, |v| v > 0.0));
    let two_sided = over.intersection(&under).count();
    let mut parts = vec![count(shape.n, "variable")];
    if shape.soft > 0 {
        parts.push(format!("{} ({two_sided} two-sided)", count(shape.soft, "soft row")));
    }
    if shape.at_most > 0 {
        parts.push(format!("{} ≤", count(shape.at_most, "hard row")));
    }
    if shape.equal > 0 {
        parts.push(format!("{} =", count(shape.equal, "hard row")));
    }
    parts.push(count(there(Parameter::Lower, f64::is_finite).len(), "lower bound"));
    parts.push(count(there(Parameter::Upper, f64::is_finite).len(), "upper bound"));
    if problem.form() == Form::Sparse {
        let cost = problem.factor_cost();
        let size = cost.bytes / 1e6;
        let entries = cost.entries;
        parts.push(format!("solved with a sparse factor of {entries} entries ({size:.0} MB)"));
    }
    Finding::ok("sizes", parts.join(", "))
}

pub(super) fn predicted(spec: &Spec) -> Vec<Finding> {
    let line = |(at, part): (usize, &Selection)| {
        let kinds: Vec<&str> = spec.placed().parameters(at).into_iter().map(Parameter::symbol).collect();
        let kinds = if kinds.is_empty() { "a factor".to_owned() } else { kinds.join(", ") };
        let word = if part.kind == Kind::Predicted { "predicted" } else { "known" };
        Finding::ok(word, format!("{} ({kinds})", part.needs()))
    };
    spec.placed().selections.iter().enumerate().map(line).collect()
}

/// Hard rows = that depend on what is predicted: whatever is decided, the truth breaks them.
pub(super) fn broken(spec: &Spec) -> Option<Finding> {
    let placed = spec.placed();
    let predicted = |term: &&PlacedTerm| {
        let of = term.of.map(|pick| placed.selections[pick.selection].kind);
        matches!(term.parameter, Parameter::Equals | Parameter::EqualRows) && of == Some(Kind::Predicted)
    };
    let rows: BTreeSet<usize> = placed.terms.iter().filter(predicted).map(|term| term.row).collect();
    let blocks = spec.problem().equal().blocks.iter();
    let names = blocks.filter(|block| rows.range(block.rows.clone()).next().is_some());
    let names: Vec<String> = names.map(|block| format!("`{}`", block.name)).collect();
    let told = match &names[..] {
        [] => return None,
        [first, .., last] if names.len() > 3 => format!("{first} … {last}"),
        _ => names.join(", "),
    };
    let detail = format!(
        "{told} (hard, =) must hold with what is predicted, and will not with what comes true. A stock that follows from it \
         is better no variable but a sum: `start + sum(k in hour if k <= h: …)` (docs/algebra.md, Stocks); or make the row soft"
    );
    Some(Finding { check: "rows", verdict: Verdict::Warning, detail })
}

/// The smallest eigenvalue of Q. That it is not negative was a condition for getting here, unless Q is predicted.
pub(super) fn convexity(spec: &Spec, instances: Option<&Instances>) -> Result<Finding, ProjectError> {
    // Eigenvalues of a few hundred matrices are a matter of seconds, of all of a long table they may not be.
    const MOST: usize = 200;
    let problem = spec.problem();
    if problem.is_linear() {
        return Ok(Finding::ok("convexity", "linear: no quadratic term"));
    }
    let mut smallest = f64::INFINITY;
    let mut looked_at = 0;
    for i in instances.map_or_else(Vec::new, |all| spread(all.len(), MOST)) {
        let Some(instances) = instances else { break };
        let parameters = instances.get(i)?;
        if parameters.get(Parameter::Quadratic).is_none() {
            break;
        }
        let instance = parameters.instance();
        let view = problem.view(&instance).map_err(|e| instances.refused(i, e))?;
        // The view is not there unless Q is positive semidefinite; how far from it is dense work, for few variables.
        if problem.form() == Form::Dense {
            smallest = view.smallest_eigenvalue().map_or(smallest, |value| smallest.min(value));
        }
        looked_at += 1;
    }
    if looked_at > 0 && problem.form() == Form::Sparse {
        let detail = format!("Q is positive semidefinite in {}", count(looked_at, "instance"));
        return Ok(Finding::ok("convexity", detail));
    }
    if looked_at > 0 {
        let detail =
            format!("smallest eigenvalue of Q over {} is {}", count(looked_at, "instance"), six(smallest));
        return Ok(Finding::ok("convexity", detail));
    }
    if spec.placed().has(Parameter::Quadratic) {
        return Ok(Finding::skipped("convexity", "`objective.quadratic` predicted: give --data FILE"));
    }
    if problem.form() == Form::Sparse {
        // Eigenvalues are dense work; the factor that was made of Q when the problem was built is not.
        return Ok(Finding::ok("convexity", "Q is positive semidefinite"));
    }
    let stated = problem.view(&Instance::default()).ok().and_then(|view| view.smallest_eigenvalue());
    let smallest = stated.unwrap_or(f64::NAN);
    Ok(Finding::ok(
        "convexity",
        format!("Q is positive semidefinite, its smallest eigenvalue is {}", six(smallest)),
    ))
}
