//! Forecasts: what is predicted for an instance, as weighted scenarios; and the laws by which a row of numbers stands for one.

use crate::predict::scenarios::ScenarioError;

/// Weighted scenarios of the predicted quantities of one instance.
///
/// ```
/// use regretless_core::Forecast;
/// // One quantity: 8 or 12, the second three times as likely.
/// let demand = Forecast::new(1, vec![8.0, 12.0], vec![1.0, 3.0])?;
/// assert_eq!(demand.mean(), [11.0]);
/// assert_eq!(demand.weights(), [0.25, 0.75]);
/// assert_eq!((demand.quantile(0, 0.2), demand.quantile(0, 0.5)), (8.0, 12.0));
/// # Ok::<(), regretless_core::ScenarioError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Forecast {
    width: usize,
    points: Vec<f64>,
    weights: Vec<f64>,
}

impl Forecast {
    /// Scenarios of `width` quantities each, row after row, and how likely they are, up to a factor.
    pub fn new(width: usize, points: Vec<f64>, mut weights: Vec<f64>) -> Result<Self, ScenarioError> {
        whole(&points, width)?;
        normalise(&mut weights, points.len() / width)?;
        Ok(Self { width, points, weights })
    }

    /// What several forecasts say of the same quantities, each believed with its weight.
    ///
    /// ```
    /// use regretless_core::Forecast;
    /// let [low, high] = [1.0, 5.0].map(|point| Forecast::new(1, vec![point], vec![1.0]).unwrap());
    /// let both = Forecast::mixed([(0.75, &low), (0.25, &high)]);
    /// assert_eq!((both.points(), both.mean()), (&[1.0, 5.0][..], vec![2.0]));
    /// ```
    pub fn mixed<'a>(forecasts: impl IntoIterator<Item = (f64, &'a Self)>) -> Self {
        let mut mixed = Self { width: 0, points: Vec::new(), weights: Vec::new() };
        for (weight, own) in forecasts {
            mixed.width = own.width;
            mixed.points.extend_from_slice(&own.points);
            mixed.weights.extend(own.weights.iter().map(|likely| weight * likely));
        }
        mixed
    }

    /// Number of scenarios.
    pub fn count(&self) -> usize {
        self.weights.len()
    }

    /// The scenarios, row after row.
    pub fn points(&self) -> &[f64] {
        &self.points
    }

    /// How likely each scenario is; together 1.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// Each scenario with its weight.
    pub fn each(&self) -> impl Iterator<Item = (&[f64], f64)> {
        self.points.chunks_exact(self.width).zip(self.weights.iter().copied())
    }

    /// Σ π_s p_s
    pub fn mean(&self) -> Vec<f64> {
        let mut means = vec![0.0; self.width];
        for (point, weight) in self.each() {
            means.iter_mut().zip(point).for_each(|(m, v)| *m += weight * v);
        }
        means
    }

    /// A quantile of quantity `j`: the least value that it stays within with probability `level`.
    pub fn quantile(&self, j: usize, level: f64) -> f64 {
        self.quantiles(j, [level])[0]
    }

    /// Several quantiles of a quantity.
    pub fn quantiles<const N: usize>(&self, j: usize, levels: [f64; N]) -> [f64; N] {
        let mut marginal: Vec<(f64, f64)> = self.each().map(|(point, weight)| (point[j], weight)).collect();
        marginal.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        levels.map(|level| {
            let mut below = 0.0;
            let reached = marginal.iter().find(|(_, weight)| {
                below += weight;
                // What rounding leaves out of a sum of shares.
                below >= level - 1e-12
            });
            reached.or(marginal.last()).map_or(f64::NAN, |(value, _)| *value)
        })
    }
}

/// How the numbers that are predicted for an instance stand for its forecast.
#[derive(Clone, Debug, PartialEq)]
pub enum Law {
    /// p_s = q + r_s: the quantities q, and residuals r that all instances share.
    Shift {
        /// S × width.
        residuals: Vec<f64>,
        /// One for each residual.
        weights: Vec<f64>,
    },
    /// p_s = q + σ·ε_s: the quantities q, then a spread σ for each.
    Scale {
        /// ε, S × width.
        atoms: Vec<f64>,
        /// One for each atom.
        weights: Vec<f64>,
    },
    /// The scenarios themselves, one after the other.
    Points {
        /// One for each scenario.
        weights: Vec<f64>,
    },
    /// The scenarios themselves, then their weights.
    Samples {
        /// S
        count: usize,
    },
    /// The weights of past outcomes.
    Outcomes {
        /// S × width.
        outcomes: Vec<f64>,
    },
    /// What one of several laws of as many numbers and scenarios takes, then the number of that law, from 0: instances of a group have a
    /// law of their own.
    Groups(Vec<Law>),
}

impl Law {
    /// Residuals that are equally likely.
    pub fn shift(residuals: Vec<f64>, width: usize) -> Self {
        let count = residuals.len() / width.max(1);
        Self::Shift { residuals, weights: vec![1.0; count] }
    }

    /// `count` scenarios that are equally likely.
    pub fn points(count: usize) -> Self {
        Self::Points { weights: vec![1.0; count] }
    }

    /// The law with weights that are 1 together; refuses what is no law of `width` quantities.
    pub(crate) fn checked(mut self, width: usize) -> Result<Self, ScenarioError> {
        match &mut self {
            Self::Shift { residuals: points, weights } | Self::Scale { atoms: points, weights } => {
                whole(points, width)?;
                normalise(weights, points.len() / width)?;
            }
            Self::Points { weights } => normalise(weights, weights.len())?,
            Self::Samples { count: 0 } => return Err(ScenarioError::Length { width, found: 0 }),
            Self::Samples { .. } => {}
            Self::Outcomes { outcomes } => whole(outcomes, width)?,
            Self::Groups(laws) => {
                let own = std::mem::take(laws).into_iter().map(|law| law.checked(width));
                *laws = own.collect::<Result<_, _>>()?;
                let size = |law: &Self| (law.count(width), law.entries(width));
                let Some(first) = laws.first().map(size) else {
                    return Err(ScenarioError::Length { width, found: 0 });
                };
                if let Some(other) = laws.iter().map(size).find(|other| *other != first) {
                    return Err(ScenarioError::Groups { first, other });
                }
            }
        }
        Ok(self)
    }

    /// Number of scenarios of `width` quantities.
    pub fn count(&self, width: usize) -> usize {
        match self {
            Self::Shift { weights, .. } | Self::Scale { weights, .. } | Self::Points { weights } => {
                weights.len()
            }
            Self::Samples { count } => *count,
            Self::Outcomes { outcomes } => outcomes.len() / width.max(1),
            Self::Groups(laws) => laws.first().map_or(0, |law| law.count(width)),
        }
    }

    /// Numbers that are predicted for an instance of `width` quantities.
    pub fn entries(&self, width: usize) -> usize {
        match self {
            Self::Shift { .. } => width,
            Self::Scale { .. } => 2 * width,
            Self::Points { weights } => weights.len() * width,
            Self::Samples { count } => count * (width + 1),
            Self::Outcomes { .. } => self.count(width),
            Self::Groups(laws) => 1 + laws.first().map_or(0, |law| law.entries(width)),
        }
    }

    /// The weights, where all instances share them.
    pub(crate) fn weights(&self) -> Option<&[f64]> {
        match self {
            Self::Shift { weights, .. } | Self::Scale { weights, .. } | Self::Points { weights } => {
                Some(weights)
            }
            Self::Samples { .. } | Self::Outcomes { .. } | Self::Groups(_) => None,
        }
    }

    /// The law of the group that the last number names, or of the last group, and the numbers before it.
    fn of_group<'a>(laws: &'a [Self], numbers: &'a [f64]) -> (&'a Self, &'a [f64]) {
        let (group, own) = numbers.split_last().expect("a group has a number");
        (&laws[(group.round() as usize).min(laws.len() - 1)], own)
    }

    /// The forecast of `width` quantities that some numbers stand for. Weights that have no sum make it NaN, which no problem takes.
    ///
    /// # Panics
    /// If there are not [`Law::entries`] numbers, or groups without a law.
    pub fn forecast(&self, numbers: &[f64], width: usize) -> Forecast {
        assert_eq!(numbers.len(), self.entries(width), "one value for each predicted entry");
        let weights = self.shares(numbers, width);
        let points = match self {
            Self::Shift { residuals, .. } => {
                let mut points = Vec::with_capacity(residuals.len());
                for own in residuals.chunks_exact(width) {
                    points.extend(numbers.iter().zip(own).map(|(q, r)| q + r));
                }
                points
            }
            Self::Scale { atoms, .. } => {
                let (q, spread) = numbers.split_at(width);
                let mut points = Vec::with_capacity(atoms.len());
                for own in atoms.chunks_exact(width) {
                    points.extend(q.iter().zip(spread).zip(own).map(|((q, spread), e)| q + spread * e));
                }
                points
            }
            Self::Points { .. } => numbers.to_vec(),
            Self::Samples { count } => numbers[..count * width].to_vec(),
            Self::Outcomes { outcomes } => outcomes.clone(),
            Self::Groups(laws) => {
                let (law, own) = Self::of_group(laws, numbers);
                return law.forecast(own, width);
            }
        };
        Forecast { width, points, weights }
    }

    /// At most `count` of the errors, evenly spaced, to read the same numbers by; what an instance brings itself stays.
    pub(crate) fn thinned(&self, count: usize, width: usize) -> Self {
        let all = self.count(width);
        if all <= count {
            return self.clone();
        }
        let kept = || (0..count).map(|i| i * all / count);
        let of = |points: &[f64]| kept().flat_map(|s| points[s * width..][..width].to_vec()).collect();
        let shares = |weights: &[f64]| kept().map(|s| weights[s]).collect();
        match self {
            Self::Shift { residuals, weights } => {
                Self::Shift { residuals: of(residuals), weights: shares(weights) }
            }
            Self::Scale { atoms, weights } => Self::Scale { atoms: of(atoms), weights: shares(weights) },
            Self::Groups(laws) => Self::Groups(laws.iter().map(|law| law.thinned(count, width)).collect()),
            Self::Points { .. } | Self::Samples { .. } | Self::Outcomes { .. } => self.clone(),
        }
    }

    /// The weights of the forecast that some numbers stand for.
    pub(crate) fn shares(&self, numbers: &[f64], width: usize) -> Vec<f64> {
        match self {
            Self::Shift { weights, .. } | Self::Scale { weights, .. } | Self::Points { weights } => {
                shares(weights)
            }
            Self::Samples { count } => shares(&numbers[count * width..]),
            Self::Outcomes { .. } => shares(numbers),
            Self::Groups(laws) => {
                let (law, own) = Self::of_group(laws, numbers);
                law.shares(own, width)
            }
        }
    }

    /// True if every scenario is the predicted quantities and something fixed.
    pub(crate) fn adds(&self) -> bool {
        match self {
            Self::Shift { .. } => true,
            Self::Groups(laws) => laws.iter().all(Self::adds),
            Self::Scale { .. } | Self::Points { .. } | Self::Samples { .. } | Self::Outcomes { .. } => false,
        }
    }

    /// Adds the gradient in scenario `s` to that in the `numbers` that the forecast is made of. Weights and groups pass nothing on.
    pub(crate) fn pull(&self, s: usize, gradient: &[f64], numbers: &[f64], out: &mut [f64]) {
        let width = gradient.len();
        let add = |out: &mut [f64]| out.iter_mut().zip(gradient).for_each(|(o, g)| *o += g);
        match self {
            Self::Shift { .. } => add(out),
            Self::Scale { atoms, .. } => {
                let (mean, spread) = out.split_at_mut(width);
                add(mean);
                let atom = &atoms[s * width..][..width];
                spread.iter_mut().zip(gradient).zip(atom).for_each(|((o, g), e)| *o += e * g);
            }
            Self::Points { .. } | Self::Samples { .. } => add(&mut out[s * width..][..width]),
            Self::Outcomes { .. } => {}
            Self::Groups(laws) => {
                let (law, own) = Self::of_group(laws, numbers);
                law.pull(s, gradient, own, &mut out[..own.len()]);
            }
        }
    }
}

/// Refuses numbers that are not whole scenarios, or not finite.
fn whole(points: &[f64], width: usize) -> Result<(), ScenarioError> {
    if width == 0 || points.is_empty() || !points.len().is_multiple_of(width) {
        return Err(ScenarioError::Length { width, found: points.len() });
    }
    points.iter().position(|p| !p.is_finite()).map_or(Ok(()), |at| Err(ScenarioError::NotFinite(at)))
}

/// Makes weights shares.
fn normalise(weights: &mut Vec<f64>, count: usize) -> Result<(), ScenarioError> {
    if weights.len() != count || count == 0 {
        return Err(ScenarioError::Weights { expected: count, found: weights.len() });
    }
    if let Some(at) = weights.iter().position(|w| !w.is_finite() || *w < 0.0) {
        return Err(ScenarioError::Weight { at, value: weights[at] });
    }
    *weights = shares(weights);
    if weights[0].is_finite() { Ok(()) } else { Err(ScenarioError::Weight { at: 0, value: 0.0 }) }
}

/// Weights that are 1 together; those that are already stay as they are, to the last bit.
fn shares(weights: &[f64]) -> Vec<f64> {
    let sum: f64 = weights.iter().sum();
    let sum = if (sum - 1.0).abs() < 1e-12 { 1.0 } else { sum };
    weights.iter().map(|w| w / sum).collect()
}
