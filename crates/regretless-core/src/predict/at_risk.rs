//! Decisions for the bad outcomes of a distribution: the mean of its worst scenarios in place of the mean of all.
//!
//! With f what costs the same in every scenario and Z_s what does not,
//!
//! ```text
//! min_x  f(x) + (1 − ω) Σ_s π_s Z_s + ω CVaR_τ(Z)
//! CVaR_τ(Z) = min_t  t + Σ_s π_s max(Z_s − t, 0)/(1 − τ)                 Rockafellar & Uryasev 2000
//! ```
//!
//! over the same hard rows and bounds. Within Z_s a hinge α z⁺ + α₂ z⁻ is u − α₂z with u ≥ (α + α₂)z and u ≥ 0, so that Z_s is linear in
//! x and u, and (Z_s − t)⁺ is a soft row at the price ωπ_s/(1 − τ): a problem of the same kind with the variables x, t and one u for
//! each scenario and hinge. Q costs the same in all scenarios: one that is predicted would be within the maximum, which no row can hold.
//!
//! What u bounds costs at most π_s(1 − ω + ω/(1 − τ)) a unit, whatever the prices: the penalty that softens it exactly.

use crate::gradient::Gradients;
use crate::predict::forecast::{Forecast, Law};
use crate::predict::placement::Placement;
use crate::predict::risk::{Outlook, Risk};
use crate::predict::scenarios::ScenarioError;
use crate::problem::parameter::{Parameter, Parameters, Role};
use crate::problem::{ByParameter, Coefficients, Problem, ProblemError, RowValues, Sense, Soft};

/// Coefficients that scenarios may have together: a solve takes some hundred bytes for each.
const MOST: usize = 20_000_000;

/// The problem of a decision at risk, in x, t and the u.
#[derive(Clone, Debug)]
pub(crate) struct AtRisk {
    pub(crate) risk: Risk,
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
    /// Whether the coefficients of hinges differ by instance.
    moves: bool,
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
        let placed = |parameter: Parameter| placement.places(parameter).next().is_some();
        let moves = [Parameter::SoftRows, Parameter::Over, Parameter::Under].into_iter().any(placed);
        let original = original.clone();
        let mut out = Self { risk, problem, original, uncertain, hinges, certain, columns, moves, count };
        out.problem = out.stated(placement)?;
        Ok(out)
    }

    /// Numbers of one instance.
    pub(super) fn numbers(&self) -> usize {
        let rows =
            self.problem.soft().C.pattern().entries() + self.problem.at_most().rows.pattern().entries();
        rows + 4 * self.problem.n()
    }

    /// Behind the variables of the problem.
    pub(crate) fn threshold(&self) -> usize {
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
                let (row, price) = (limits.len(), self.price(*k));
                let of_c = padded(&soft.C, &mut std::iter::once(*k), self.moves);
                entries.extend(of_c.into_iter().map(|(_, j, a)| (row, j, price * a)));
                entries.push((row, self.above(s, h), -1.0));
                limits.push(price * soft.d[*k]);
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
        let (share, tail) = (1.0 - risk.weight(), risk.weight() / (1.0 - risk.level()));
        // Costs of the variables; as stated they are −sign of that.
        let mut costs: Vec<f64> = of(first, Parameter::Linear).iter().map(|theta| -sign * theta).collect();
        self.uncertain.iter().for_each(|&j| costs[j] = 0.0);
        costs.resize(self.problem.n(), 0.0);
        costs[self.threshold()] = risk.weight();
        let hinge_rows = self.problem.at_most().rows.pattern();
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
                costs[self.above(s, h)] = share * weight;
                let (at, price) = (self.hinge_row(s, h), over[k] + under[k]);
                out.get_mut(Parameter::AtMost, &self.problem)[at] = price * d[k];
                if self.moves {
                    let range = hinge_rows.range(at..at + 1);
                    let values = &mut out.get_mut(Parameter::AtMostRows, &self.problem)[range];
                    values.iter_mut().zip(pattern.row(&c, k).values()).for_each(|(v, a)| *v = price * a);
                }
            }
            costs.iter_mut().zip(&row).for_each(|(cost, z)| *cost += share * weight * z);
            let range = own.range(kept + s..kept + s + 1);
            let x = &mut out.get_mut(Parameter::SoftRows, &self.problem)[range];
            x.iter_mut().zip(&self.columns).for_each(|(value, &j)| *value = row[j]);
            out.get_mut(Parameter::Limit, &self.problem)[kept + s] = limit;
            out.get_mut(Parameter::Over, &self.problem)[kept + s] = tail * weight;
        }
        out.set(Parameter::Linear, costs.iter().map(|cost| -sign * cost).collect());
        out
    }

    /// The adjoint of [`AtRisk::parameters`]: from gradients in its parameters to those in a prediction that stands for the forecast.
    pub(super) fn gather(
        &self,
        placement: &Placement,
        (law, prediction, known): (&Law, &[f64], &[f64]),
        gradients: &Gradients,
        out: &mut [f64],
    ) {
        use Parameter::{AtMost, AtMostRows, Limit, Linear, Over, SoftRows, Under};
        let (original, sign, kept) = (&self.original, self.original.sign(), self.certain.len());
        let (pattern, own) = (original.soft().C.pattern(), self.problem.soft().C.pattern());
        let hinge_rows = self.problem.at_most().rows.pattern();
        let kinds = placement.predicted_kinds();
        // What is predicted of the original problem, by its own layout.
        let zeros = |p: Parameter| vec![0.0; if kinds.contains(&p) { p.entries(original) } else { 0 }];
        let add =
            |values: &mut Vec<f64>, at: usize, g: f64| values.get_mut(at).into_iter().for_each(|v| *v += g);
        let forecast = law.forecast(prediction, placement.width());
        let mut row = vec![0.0; original.n()];
        let mut by = vec![0.0; placement.width()];
        for (s, (q, weight)) in forecast.each().enumerate() {
            let scenario = placement.parameters(original, q, known);
            let of = |parameter: Parameter| scenario.get(parameter).unwrap_or_else(|| parameter.of(original));
            let mut here = ByParameter::from_fn(zeros);
            let limit = gradients.of(Limit)[kept + s];
            // Of the scenario's row: in the objective by its share of the mean, and within the maximum.
            let within = &gradients.of(SoftRows)[own.range(kept + s..kept + s + 1)];
            for (&j, g) in self.columns.iter().zip(within) {
                row[j] = g - sign * (1.0 - self.risk.weight()) * weight * gradients.of(Linear)[j];
            }
            self.uncertain.iter().for_each(|&j| add(here.get_mut(Linear), j, -sign * row[j]));
            for (h, &(k, _)) in self.hinges.iter().enumerate() {
                let (c, d, under) = (pattern.row(of(SoftRows), k), of(Limit)[k], of(Under)[k]);
                let (price, at) = (of(Over)[k] + under, self.hinge_row(s, h));
                let bound = gradients.of(AtMost)[at];
                let mut of_price = d * bound;
                if self.moves {
                    let entries = pattern.range(k..k + 1);
                    let pulls = &gradients.of(AtMostRows)[hinge_rows.range(at..at + 1)];
                    for ((entry, (_, a)), pull) in entries.clone().zip(c.iter()).zip(pulls) {
                        add(here.get_mut(SoftRows), entry, price * pull);
                        of_price += a * pull;
                    }
                    if under > 0.0 {
                        let of_c = entries.zip(c.iter());
                        of_c.for_each(|(entry, (j, _))| add(here.get_mut(SoftRows), entry, -under * row[j]));
                    }
                }
                add(here.get_mut(Limit), k, price * bound - under * limit);
                add(here.get_mut(Over), k, of_price);
                // Only a row that may cost something below its limit has its columns among those of scenarios.
                let below = if kinds.contains(&Under) { c.dot(&row) } else { 0.0 };
                add(here.get_mut(Under), k, of_price - below - d * limit);
            }
            by.fill(0.0);
            placement.gather(&here.into(), q, known, &mut by);
            law.pull(s, &by, prediction, out);
        }
    }

    /// The parameters of the problem whose gradients [`AtRisk::gather`] reads.
    pub(crate) fn kinds(&self) -> Vec<Parameter> {
        use Parameter::{AtMost, AtMostRows, Limit, Linear, SoftRows};
        let always = [Linear, SoftRows, Limit, AtMost].into_iter();
        always.chain(self.moves.then_some(AtMostRows)).collect()
    }

    /// What the original problem costs at a truth but for the part that differs by scenario: there θ and prices are 0.
    pub(crate) fn certain(&self, truth: &Parameters) -> Parameters {
        let mut out = truth.clone();
        let theta = out.get_mut(Parameter::Linear, &self.original);
        self.uncertain.iter().for_each(|&j| theta[j] = 0.0);
        for price in [Parameter::Over, Parameter::Under] {
            let prices = out.get_mut(price, &self.original);
            self.hinges.iter().for_each(|&(k, _)| prices[k] = 0.0);
        }
        out
    }

    /// Penalties of hard rows for those of the problem: a hinge's are beyond the most that it is worth.
    pub(super) fn penalties(&self, original: &RowValues, weights: Option<&[f64]>) -> RowValues {
        const BEYOND: f64 = 2.0;
        let worth = |s: usize| BEYOND * self.risk.steepest() * weights.map_or(1.0, |weights| weights[s]);
        // A scenario that does not count still has a row.
        let worth = |s: usize| worth(s).max(f64::EPSILON);
        let each = || (0..self.count).flat_map(|s| std::iter::repeat_n(worth(s), self.hinges.len()));
        let variables = |own: &[f64]| own.iter().copied().chain([1.0]).chain(each()).collect();
        RowValues {
            soft: vec![1.0; self.certain.len() + self.count],
            at_most: original.at_most.iter().copied().chain(each()).collect(),
            equal: original.equal.clone(),
            lower: variables(&original.lower),
            upper: variables(&original.upper),
        }
    }

    /// Sharpness of the rows of the original problem for those of the problem: hinges are rounded where they were, in units of their price,
    /// and a scenario by as much as its hinges together, and by a bound's share of what its θ is worth.
    pub(super) fn sharpness(&self, original: &RowValues) -> RowValues {
        let priced = |k: usize| if self.price(k) > 0.0 { self.price(k) } else { 1.0 };
        let of_hinges: Vec<f64> = self.hinges.iter().map(|&(k, _)| original.soft[k] / priced(k)).collect();
        let stated = |j: usize| match self.original.theta().get(j) {
            Some(theta) if *theta != 0.0 => theta.abs(),
            _ => 1.0,
        };
        let of_theta = self.uncertain.iter().map(|&j| stated(j) / original.lower[j]);
        let width: f64 = of_hinges.iter().map(|k| 1.0 / k).chain(of_theta).sum();
        let scenario = 1.0 / width;
        let each = || (0..self.count).flat_map(|_| of_hinges.iter().copied());
        let variables = |own: &[f64]| own.iter().copied().chain([scenario]).chain(each()).collect();
        let certain = self.certain.iter().map(|&k| original.soft[k]);
        RowValues {
            soft: certain.chain(std::iter::repeat_n(scenario, self.count)).collect(),
            at_most: original.at_most.iter().copied().chain(each()).collect(),
            equal: original.equal.clone(),
            lower: variables(&original.lower),
            upper: variables(&original.upper),
        }
    }

    /// The row that holds the u of hinge `h` in scenario `s` up.
    fn hinge_row(&self, s: usize, h: usize) -> usize {
        self.original.at_most().rhs.len() + s * self.hinges.len() + h
    }

    /// α + α₂ of a soft row, as stated.
    fn price(&self, k: usize) -> f64 {
        let soft = self.original.soft();
        soft.alpha[k] + soft.under[k]
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
