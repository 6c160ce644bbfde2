//! Decisions for the bad outcomes of a distribution: the mean of its worst scenarios in place of the mean of all.
//!
//! With f what costs the same in every scenario and Z_s what does not,
//!
//! ```text
//! min_x  f(x) + (1 − ω) Σ_s π_s Z_s + ω CVaR_τ(Z)
//! CVaR_τ(Z) = min_t  t + Σ_s π_s max(Z_s − t, 0)/(1 − τ)                 Rockafellar & Uryasev 2000
//! ```
//!
//! over the same hard rows and bounds. Within Z_s a hinge α z⁺ + α₂ z⁻ is (α + α₂)u − α₂z with u ≥ z and u ≥ 0, so that Z_s is linear in
//! x and u, and (Z_s − t)⁺ is a soft row at the price ωπ_s/(1 − τ): a problem of the same kind with the variables x, t and one u for
//! each scenario and hinge. Q costs the same in all scenarios: one that is predicted would be within the maximum, which no row can hold.

use crate::predict::forecast::Forecast;
use crate::predict::placement::Placement;
use crate::predict::scenarios::ScenarioError;
use crate::problem::parameter::{Parameter, Parameters, Role};
use crate::problem::{Coefficients, Problem, ProblemError, Sense, Soft};

/// How much the worst outcomes count: CVaR, alone or together with the mean.
///
/// ```
/// use regretless_core::Risk;
/// // The mean of the worst tenth, and half of it with half of the mean of all.
/// let (worst, both) = (Risk::cvar(0.9)?, Risk::mixed(0.9, 0.5)?);
/// // A threshold of 10 and a cost of 12, which is 2 beyond it.
/// assert!((worst.score(10.0, 12.0) - 30.0).abs() < 1e-12);
/// assert!((both.score(10.0, 12.0) - 21.0).abs() < 1e-12);
/// assert!(Risk::cvar(90.0).is_err());
/// # Ok::<(), regretless_core::ScenarioError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Risk {
    level: f64,
    weight: f64,
}

/// What a decision promises under a risk, in the problem's own sense.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outlook {
    /// The mean objective over the scenarios.
    pub mean: f64,
    /// The objective that is missed with a probability of at most 1 − τ.
    pub threshold: f64,
    /// (1 − ω)·mean + ω·CVaR.
    pub value: f64,
}

impl Risk {
    /// CVaR at a level τ: the mean of the worst share 1 − τ.
    pub fn cvar(level: f64) -> Result<Self, ScenarioError> {
        Self::mixed(level, 1.0)
    }

    /// CVaR at a level τ with weight ω, and the mean with weight 1 − ω.
    pub fn mixed(level: f64, weight: f64) -> Result<Self, ScenarioError> {
        if !(level > 0.0 && level < 1.0) {
            let expected = "above 0 and below 1, such as 0.9 for the mean of the worst tenth";
            return Err(ScenarioError::Risk { what: "the level of CVaR", value: level, expected });
        }
        if !(weight > 0.0 && weight <= 1.0) {
            let expected = "above 0 and up to 1, the rest is that of the mean";
            return Err(ScenarioError::Risk { what: "the weight of CVaR", value: weight, expected });
        }
        Ok(Self { level, weight })
    }

    /// τ
    pub fn level(self) -> f64 {
        self.level
    }

    /// ω
    pub fn weight(self) -> f64 {
        self.weight
    }

    /// What a threshold t and a cost c come to: (1 − ω)c + ω(t + (c − t)⁺/(1 − τ)). Its mean is least, whatever the decision, for a
    /// threshold at the quantile τ of the costs, and is then what the risk minimises.
    pub fn score(self, threshold: f64, cost: f64) -> f64 {
        let beyond = (cost - threshold).max(0.0) / (1.0 - self.level);
        (1.0 - self.weight) * cost + self.weight * (threshold + beyond)
    }

    /// Mean, threshold and value of costs with shares that are 1 together.
    fn of(self, costs: &mut [(f64, f64)]) -> Outlook {
        costs.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let mut below = 0.0;
        // What rounding leaves out of a sum of shares.
        let reached = costs.iter().find(|(_, share)| {
            below += share;
            below >= self.level - 1e-12
        });
        let threshold = reached.or(costs.last()).map_or(f64::NAN, |(cost, _)| *cost);
        let mean = costs.iter().map(|(cost, share)| share * cost).sum();
        let value = costs.iter().map(|(cost, share)| share * self.score(threshold, *cost)).sum();
        Outlook { mean, threshold, value }
    }
}

/// Coefficients that scenarios may have together: a solve takes some hundred bytes for each.
const MOST: usize = 20_000_000;

/// The problem of a decision at risk, in x, t and the u.
#[derive(Clone, Debug)]
pub(super) struct AtRisk {
    pub(super) risk: Risk,
    pub(super) problem: Problem,
    original: Problem,
    /// Variables whose θ is predicted.
    uncertain: Vec<usize>,
    /// Soft rows with a predicted entry, and whether a unit below their limit may cost something.
    hinges: Vec<(usize, bool)>,
    /// All other soft rows.
    certain: Vec<usize>,
    /// The variables x that a scenario's row has.
    columns: Vec<usize>,
    count: usize,
}

impl AtRisk {
    /// Of soft rows of which some are `repeated`, for each scenario anew.
    pub(super) fn new(
        original: &Problem,
        placement: &Placement,
        repeated: &[bool],
        count: usize,
        risk: Risk,
    ) -> Result<Self, ScenarioError> {
        if placement.predicts(Parameter::Quadratic) {
            return Err(ScenarioError::Quadratic);
        }
        let soft = original.soft();
        let under = |k: usize| soft.under[k] > 0.0 || placement.places(Parameter::Under).any(|at| at == k);
        let rows = |wanted: bool| (0..repeated.len()).filter(move |&k| repeated[k] == wanted);
        let hinges: Vec<(usize, bool)> = rows(true).map(|k| (k, under(k))).collect();
        let uncertain: Vec<usize> = placement.predicted_places(Parameter::Linear).collect();
        let two_sided = hinges.iter().filter(|(_, under)| *under);
        let of_hinges = two_sided.flat_map(|(k, _)| soft.C.row(*k).iter().map(|(j, _)| j));
        let mut columns: Vec<usize> = of_hinges.chain(uncertain.iter().copied()).collect();
        columns.sort_unstable();
        columns.dedup();
        let entries = |(k, _): &(usize, bool)| 2 + soft.C.row(*k).values().len();
        let own = columns.len() + 1 + hinges.iter().map(entries).sum::<usize>();
        let numbers = count.saturating_mul(own);
        if numbers > MOST {
            return Err(ScenarioError::Many { scenarios: count, rows: hinges.len(), numbers });
        }
        let certain = rows(false).collect();
        let problem = original.clone();
        let mut out =
            Self { risk, problem, original: original.clone(), uncertain, hinges, certain, columns, count };
        out.problem = out.stated(placement)?;
        Ok(out)
    }

    /// Numbers of one instance.
    pub(super) fn numbers(&self) -> usize {
        let rows =
            self.problem.soft().C.pattern().entries() + self.problem.at_most().rows.pattern().entries();
        rows + 4 * self.problem.n()
    }

    /// The original soft rows as they are among those of the problem; those with a predicted entry have none.
    pub(super) fn soft_rows(&self) -> Vec<std::ops::Range<usize>> {
        let mut next = 0;
        let row = |k: usize| {
            let start = next;
            next += usize::from(self.certain.binary_search(&k).is_ok());
            start..next
        };
        (0..self.original.soft().d.len()).map(row).collect()
    }

    fn threshold(&self) -> usize {
        self.original.n()
    }

    /// The variable u of hinge `h` in scenario `s`.
    fn above(&self, s: usize, h: usize) -> usize {
        self.threshold() + 1 + s * self.hinges.len() + h
    }

    /// The problem with the pattern that all instances share; what differs by scenario is 1 or 0 until an instance is placed.
    fn stated(&self, placement: &Placement) -> Result<Problem, ProblemError> {
        let (original, count) = (&self.original, self.count);
        let (n, all) = (original.n(), self.above(count, 0));
        // Values are placed by their number in the pattern, so that zeros stay where some are.
        let padded = |rows: &Coefficients, indices: &mut dyn Iterator<Item = usize>, placed: bool| {
            let keeps = placed || !rows.pattern().is_dense();
            let row = |(at, i): (usize, usize)| {
                let entries = rows.row(i).iter().filter(move |(_, a)| keeps || *a != 0.0);
                entries.map(move |(j, a)| (at, j, a))
            };
            indices.enumerate().flat_map(row).collect::<Vec<_>>()
        };
        let places = |parameter: Parameter| placement.places(parameter).next().is_some();
        let (soft, at_most, equal) = (original.soft(), original.at_most(), original.equal());
        let lower = (0..all).map(|j| match j {
            j if j < n => original.lower()[j],
            j if j == self.threshold() => f64::NEG_INFINITY,
            _ => 0.0,
        });
        let upper = (0..all).map(|j| if j < n { original.upper()[j] } else { f64::INFINITY });
        let names = (0..all).map(|j| match j.checked_sub(n) {
            None => original.variables()[j].clone(),
            // What no file can call a variable.
            Some(more) => format!("\0{more}"),
        });
        let builder = match original.sense() {
            Sense::Max => Problem::maximize(all),
            Sense::Min => Problem::minimize(all),
        };
        let mut builder = builder
            .variables(names)
            .linear(vec![0.0; all])
            .lower(lower.collect::<Vec<_>>())
            .upper(upper.collect::<Vec<_>>());

        let kept = self.certain.len();
        let mut entries = padded(&soft.C, &mut self.certain.iter().copied(), places(Parameter::SoftRows));
        for s in 0..count {
            let row = kept + s;
            entries.extend(self.columns.iter().map(|&j| (row, j, 1.0)));
            entries.push((row, self.threshold(), -1.0));
            entries.extend((0..self.hinges.len()).map(|h| (row, self.above(s, h), 1.0)));
        }
        let certain = |of: &[f64], rest: f64| -> Vec<f64> {
            self.certain.iter().map(|&k| of[k]).chain(std::iter::repeat_n(rest, count)).collect()
        };
        let rows = Coefficients::sparse(kept + count, all, entries)?;
        let limits = certain(&soft.d, 0.0);
        builder = builder.soft(
            "scenarios",
            Soft::both(rows, limits, certain(&soft.alpha, 1.0), certain(&soft.under, 0.0)),
        );

        let own = at_most.rhs.len();
        let mut entries = padded(&at_most.rows, &mut (0..own), places(Parameter::AtMostRows));
        let mut limits = at_most.rhs.clone();
        for s in 0..count {
            for (h, (k, _)) in self.hinges.iter().enumerate() {
                let row = limits.len();
                let of_c = padded(&soft.C, &mut std::iter::once(*k), places(Parameter::SoftRows));
                entries.extend(of_c.into_iter().map(|(_, j, a)| (row, j, a)));
                entries.push((row, self.above(s, h), -1.0));
                limits.push(soft.d[*k]);
            }
        }
        builder = builder.at_most("hinges", Coefficients::sparse(limits.len(), all, entries)?, limits);
        let entries = padded(&equal.rows, &mut (0..equal.rhs.len()), places(Parameter::EqualRows));
        let rows = Coefficients::sparse(equal.rhs.len(), all, entries)?;
        let problem = builder.equal("equations", rows, equal.rhs.clone()).build()?;

        // An LP has room for a Q that is known by row.
        let stated = original.Q().map(|q| q.as_slice().to_vec());
        let pattern = original.quadratic_pattern();
        let values = stated.or_else(|| places(Parameter::Quadratic).then(|| vec![0.0; pattern.entries()]));
        let Some(values) = values else { return Ok(problem) };
        let rows = (0..n).flat_map(|i| pattern.row(&values, i).iter().map(move |(j, q)| (i, j, q)));
        let diagonal = (n..all).map(|j| (j, j, 0.0));
        Ok(problem.with_quadratic(Coefficients::sparse(all, all, rows.chain(diagonal))?))
    }

    /// The parameters of the problem at a forecast, and what is known of its row.
    pub(super) fn parameters(&self, placement: &Placement, forecast: &Forecast, known: &[f64]) -> Parameters {
        let (original, risk) = (&self.original, self.risk);
        let each: Vec<(Parameters, f64)> = self.scenarios(placement, forecast, known).collect();
        let of = |from: &Parameters, parameter: Parameter| -> Vec<f64> {
            from.get(parameter).unwrap_or_else(|| parameter.of(original)).to_vec()
        };
        let mut out = Parameters::default();
        // What does not depend on what is predicted is the same in all scenarios.
        let first = &each[0].0;
        for parameter in Parameter::ALL {
            let fixed = parameter.role() == Role::Hard || parameter == Parameter::Quadratic;
            if let Some(values) = first.get(parameter).filter(|_| fixed) {
                out.get_mut(parameter, &self.problem)[..values.len()].copy_from_slice(values);
            }
        }
        let pattern = original.soft().C.pattern();
        let own = self.problem.soft().C.pattern();
        for parameter in [Parameter::SoftRows, Parameter::Limit, Parameter::Over, Parameter::Under] {
            let Some(values) = first.get(parameter) else { continue };
            let place = out.get_mut(parameter, &self.problem);
            for (at, &k) in self.certain.iter().enumerate() {
                match parameter {
                    Parameter::SoftRows => {
                        place[own.range(at..at + 1)].copy_from_slice(&values[pattern.range(k..k + 1)]);
                    }
                    _ => place[at] = values[k],
                }
            }
        }

        let (n, sign, kept) = (original.n(), original.sign(), self.certain.len());
        let (share, tail) = (1.0 - risk.weight, risk.weight / (1.0 - risk.level));
        // Costs of the variables; as stated they are −sign of that.
        let mut costs: Vec<f64> = of(first, Parameter::Linear).iter().map(|theta| -sign * theta).collect();
        self.uncertain.iter().for_each(|&j| costs[j] = 0.0);
        costs.resize(self.problem.n(), 0.0);
        costs[self.threshold()] = risk.weight;
        let hinge_rows = self.problem.at_most().rows.pattern();
        let moves_rows = first.get(Parameter::SoftRows).is_some();
        let mut row = vec![0.0; n];
        for (s, (scenario, weight)) in each.iter().enumerate() {
            let get = |parameter| of(scenario, parameter);
            let (theta, c, d) = (get(Parameter::Linear), get(Parameter::SoftRows), get(Parameter::Limit));
            let (over, under) = (get(Parameter::Over), get(Parameter::Under));
            row.fill(0.0);
            self.uncertain.iter().for_each(|&j| row[j] = -sign * theta[j]);
            let mut limit = 0.0;
            for (h, &(k, _)) in self.hinges.iter().enumerate() {
                pattern.row(&c, k).add_to(-under[k], &mut row);
                limit -= under[k] * d[k];
                costs[self.above(s, h)] = share * weight * (over[k] + under[k]);
                let at = original.at_most().rhs.len() + s * self.hinges.len() + h;
                out.get_mut(Parameter::AtMost, &self.problem)[at] = d[k];
                if moves_rows {
                    let range = hinge_rows.range(at..at + 1);
                    let values = &mut out.get_mut(Parameter::AtMostRows, &self.problem)[range];
                    values[..pattern.range(k..k + 1).len()].copy_from_slice(pattern.row(&c, k).values());
                }
            }
            costs.iter_mut().zip(&row).for_each(|(cost, z)| *cost += share * weight * z);
            let range = own.range(kept + s..kept + s + 1);
            let (x, rest) =
                out.get_mut(Parameter::SoftRows, &self.problem)[range].split_at_mut(self.columns.len());
            x.iter_mut().zip(&self.columns).for_each(|(value, &j)| *value = row[j]);
            // Behind the threshold's −1.
            rest[1..].iter_mut().zip(&self.hinges).for_each(|(u, &(k, _))| *u = over[k] + under[k]);
            out.get_mut(Parameter::Limit, &self.problem)[kept + s] = limit;
            out.get_mut(Parameter::Over, &self.problem)[kept + s] = tail * weight;
        }
        out.set(Parameter::Linear, costs.iter().map(|cost| -sign * cost).collect());
        out
    }

    /// What a decision promises.
    pub(super) fn outlook(
        &self,
        placement: &Placement,
        forecast: &Forecast,
        known: &[f64],
        x: &[f64],
    ) -> Outlook {
        let problem = self.original.or_zero_theta();
        let sign = problem.sign();
        let cost = |(parameters, weight): (Parameters, f64)| {
            (-sign * problem.view_checked_before(&parameters.instance()).objective(x), weight)
        };
        let mut costs: Vec<(f64, f64)> = self.scenarios(placement, forecast, known).map(cost).collect();
        let Outlook { mean, threshold, value } = self.risk.of(&mut costs);
        Outlook { mean: -sign * mean, threshold: -sign * threshold, value: -sign * value }
    }

    /// The original problem's parameters in each scenario, with their weights.
    fn scenarios<'a>(
        &'a self,
        placement: &'a Placement,
        forecast: &'a Forecast,
        known: &'a [f64],
    ) -> impl Iterator<Item = (Parameters, f64)> + 'a {
        forecast.each().map(move |(q, weight)| (placement.parameters(&self.original, q, known), weight))
    }
}
