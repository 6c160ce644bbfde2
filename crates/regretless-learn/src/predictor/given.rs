//! Forecasts that were made elsewhere.
//!
//! One column holds a point of a target. Several hold its scenarios, and their names say which:
//!
//! ```text
//! demand            a point
//! demand@0.1        a quantile of level 0.1
//! demand#3          a sample, here the third
//! ```
//!
//! A quantile counts for the levels that are nearest to its own; samples are equally likely. Scenarios of several targets belong together
//! by their levels or numbers.

use super::Predictor;
use crate::error::LearnError;

/// The features are the predictions, in the parameters' own units: nothing is learned.
///
/// ```
/// use regretless_learn::{Given, Predictor};
/// let names = ["a@0.1", "a@0.5", "a@0.9", "b@0.1", "b@0.5", "b@0.9"].map(String::from);
/// let given = Given::of(&names, 2)?;
/// let row = [1.0, 2.0, 4.0, 10.0, 20.0, 30.0];
/// // Scenarios, by their shares of the levels, and their mean.
/// let each: Vec<_> = given.each().map(|one| (one.weight(), one.predict(&row, 1))).collect();
/// let near = |a: f64, b: f64| (a - b).abs() < 1e-12;
/// assert!(near(each[0].0, 0.3) && each[0].1 == [1.0, 10.0] && near(each[1].0, 0.4) && each[2].1 == [4.0, 30.0]);
/// assert!((given.predict(&row, 1)[0] - 2.3).abs() < 1e-6);
/// # Ok::<(), regretless_learn::LearnError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Given {
    /// The inputs of one row.
    inputs: usize,
    /// Numbers of a scenario.
    outputs: usize,
    /// For each scenario the input of each output.
    columns: Vec<usize>,
    /// How likely each scenario is.
    weights: Vec<f64>,
    /// What it counts among the members of an ensemble.
    weight: f64,
}

/// Which scenario a column holds.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Mark {
    Point,
    Level(f64),
    Sample(f64),
}

impl Mark {
    fn number(self) -> f64 {
        match self {
            Self::Point => 0.0,
            Self::Level(number) | Self::Sample(number) => number,
        }
    }
}

/// The name of a target and the scenario of it, from the name of a column.
fn parted(name: &str) -> (&str, Mark) {
    let level =
        name.rsplit_once('@').and_then(|(stem, level)| Some((stem, level.trim().parse::<f64>().ok()?)));
    if let Some((stem, level)) = level {
        return (stem, Mark::Level(level));
    }
    let sample = name.rsplit_once('#').and_then(|(stem, i)| Some((stem, i.trim().parse::<u32>().ok()?)));
    sample.map_or((name, Mark::Point), |(stem, i)| (stem, Mark::Sample(f64::from(i))))
}

impl Given {
    /// The target that a column is a forecast of, by its name.
    pub fn stem(name: &str) -> &str {
        parted(name).0
    }

    /// What columns of these names are forecasts of, in the order in which the names come first, each with the places of its columns:
    /// those of one target, if there are as many as targets.
    ///
    /// ```
    /// let names = ["b@0.1", "a@0.1", "b@0.9", "a@0.9"].map(String::from);
    /// assert_eq!(regretless_learn::Given::of_each(&names, 2), [("b", vec![0, 2]), ("a", vec![1, 3])]);
    /// ```
    pub fn of_each(names: &[String], outputs: usize) -> Vec<(&str, Vec<usize>)> {
        // One column each: points, whatever they are called.
        let points = names.len() == outputs;
        let mut groups: Vec<(&str, Vec<usize>)> = Vec::new();
        for (i, name) in names.iter().enumerate() {
            let (stem, mark) = if points { (name.as_str(), Mark::Point) } else { parted(name) };
            match groups.iter_mut().find(|(known, _)| *known == stem && mark != Mark::Point) {
                Some((_, places)) => places.push(i),
                None => groups.push((stem, vec![i])),
            }
        }
        groups
    }

    /// Forecasts of `outputs` targets in columns of these names: points in the order of the targets, or scenarios, those of one target after
    /// those of another in the order in which their names come first.
    pub fn of(names: &[String], outputs: usize) -> Result<Self, LearnError> {
        let each = Self::of_each(names, outputs);
        let marked = |i: usize| (if names.len() == outputs { Mark::Point } else { parted(&names[i]).1 }, i);
        let mut groups: Vec<(&str, Vec<(Mark, usize)>)> =
            each.into_iter().map(|(stem, places)| (stem, places.into_iter().map(marked).collect())).collect();
        if groups.len() != outputs {
            let (given, of) = (names.len(), groups.len());
            let of = if of < given { format!(" of {of} targets") } else { String::new() };
            return Err(LearnError::Settings {
                what: format!(
                    "forecasts are given in {given} features{of}, and {outputs} numbers are predicted"
                ),
                hint: "`features` names one column of forecasts for each target, in their order; or several, such as demand@0.1 \
                       and demand@0.9 for quantiles, demand#1 and demand#2 for samples"
                    .into(),
            });
        }
        groups.iter_mut().for_each(|(_, marks)| marks.sort_by(|a, b| a.0.number().total_cmp(&b.0.number())));
        let marks = |g: usize| groups[g].1.iter().map(|(mark, _)| *mark).collect::<Vec<Mark>>();
        let first = if groups.is_empty() { Vec::new() } else { marks(0) };
        if let Some(g) = (1..groups.len()).find(|&g| marks(g) != first) {
            return Err(LearnError::Settings {
                what: format!(
                    "the forecasts of `{}` have other levels or samples than those of `{}`",
                    groups[g].0, groups[0].0
                ),
                hint: "scenarios of several targets belong together: give the same of each".into(),
            });
        }
        let weights = shares(&first).map_err(|what| LearnError::Settings {
            what: format!("the forecasts of `{}`: {what}", groups[0].0),
            hint: "name columns demand@0.1, demand@0.5 for quantiles, demand#1, demand#2 for samples".into(),
        })?;
        let columns =
            (0..first.len()).flat_map(|s| groups.iter().map(move |(_, marks)| marks[s].1)).collect();
        Ok(Self { inputs: names.len(), outputs, columns, weights, weight: 1.0 })
    }

    /// Number of scenarios.
    pub fn count(&self) -> usize {
        self.weights.len()
    }

    /// The scenarios, one after the other.
    pub fn each(&self) -> impl Iterator<Item = Self> + '_ {
        self.weights.iter().enumerate().map(|(s, &weight)| Self {
            columns: self.columns[s * self.outputs..(s + 1) * self.outputs].to_vec(),
            weights: vec![1.0],
            weight,
            ..*self
        })
    }
}

/// How likely scenarios are, which ascend.
fn shares(marks: &[Mark]) -> Result<Vec<f64>, String> {
    let numbers: Vec<f64> = marks.iter().map(|mark| mark.number()).collect();
    if numbers.windows(2).any(|pair| pair[0] == pair[1]) {
        return Err("two columns hold the same level or sample".into());
    }
    let levels = marks.iter().filter(|mark| matches!(mark, Mark::Level(_))).count();
    if levels == 0 {
        return Ok(vec![1.0 / marks.len().max(1) as f64; marks.len()]);
    }
    if levels < marks.len() {
        return Err("some columns hold quantiles, and some samples".into());
    }
    if let Some(level) = numbers.iter().find(|level| !(**level > 0.0 && **level < 1.0)) {
        return Err(format!("the level of a quantile is between 0 and 1, not {level}"));
    }
    let edge = |i: usize| match i {
        0 => 0.0,
        i if i == numbers.len() => 1.0,
        i => f64::midpoint(numbers[i - 1], numbers[i]),
    };
    Ok((0..numbers.len()).map(|i| edge(i + 1) - edge(i)).collect())
}

impl Predictor for Given {
    fn outputs(&self) -> usize {
        self.outputs
    }

    fn weight(&self) -> f64 {
        self.weight
    }

    fn given(&self) -> Option<&Given> {
        Some(self)
    }

    /// The mean of the scenarios.
    fn predict(&self, inputs: &[f32], _: usize) -> Vec<f32> {
        let scenarios = || self.columns.chunks_exact(self.outputs.max(1)).zip(&self.weights);
        let row = |row: &[f32]| -> Vec<f32> {
            let mean = |k: usize| {
                // One alone stays as it is, to the last bit.
                let sum: f64 = scenarios().map(|(columns, w)| w * f64::from(row[columns[k]])).sum();
                sum as f32
            };
            (0..self.outputs).map(mean).collect()
        };
        inputs.chunks_exact(self.inputs.max(1)).flat_map(row).collect()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests fail loudly")]
mod tests {
    use super::*;

    fn of(names: &[&str], outputs: usize) -> Result<Given, LearnError> {
        Given::of(&names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>(), outputs)
    }

    #[test]
    fn points_are_in_the_order_of_the_targets() {
        let given = of(&["b", "a"], 2).unwrap();
        assert_eq!((given.count(), given.predict(&[3.0, 0.1], 1)), (1, vec![3.0, 0.1]));
    }

    #[test]
    fn scenarios_belong_together_wherever_their_columns_are() {
        let given = of(&["a#2", "b#10", "a#10", "b#2"], 2).unwrap();
        let each: Vec<Vec<f32>> = given.each().map(|one| one.predict(&[1.0, 2.0, 3.0, 4.0], 1)).collect();
        assert_eq!(each, [[1.0, 4.0], [3.0, 2.0]]);
        assert_eq!(given.predict(&[1.0, 2.0, 3.0, 4.0], 1), [2.0, 3.0]);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        for (names, outputs, told) in [
            (&["a", "b"][..], 1, "2 features, and 1"),
            (&["a@0.1", "a@0.9", "b@0.1", "b@0.8"], 2, "other levels"),
            (&["a@0.1", "a@0.10"], 1, "the same level"),
            (&["a@0.1", "a#2"], 1, "some samples"),
            (&["a@0", "a@0.5"], 1, "between 0 and 1"),
        ] {
            let error = of(names, outputs).unwrap_err().to_string();
            assert!(error.contains(told), "{names:?}: {error}");
        }
    }
}
