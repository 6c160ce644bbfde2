//! Targets on another scale: a predictor of log c or √c, and the way back to c.
//!
//! ```text
//! none   p = f
//! log    p = correction·exp(f)               correction: the mean of exp(ε), or 1
//! root   p = max(f, 0)² + correction         correction: the mean of ε², or 0
//! ```
//!
//! f is what is predicted on the other scale and ε the errors there. exp(f) is a median; where the mean matters, the correction
//! makes it one (Duan 1983, smearing), with errors as wide as on rows that the fit did not see. Quantiles need none.

use regretless_core::Placement;
use serde::{Deserialize, Serialize};

use crate::data::scaler::Scaler;

/// On another scale an output is taken seriously up to so many deviations: beyond, exp() is no forecast.
const REACH: f64 = 10.0;

/// The scale on which a target is predicted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scale {
    /// Its own.
    #[default]
    None,
    /// Its logarithm.
    Log,
    /// Its square root.
    Root,
}

impl Scale {
    /// True if the scale has a place for each of these values.
    pub fn takes(self, mut values: impl Iterator<Item = f64>) -> bool {
        match self {
            Self::None => true,
            Self::Log => values.all(|v| v > 0.0 && v.is_finite()),
            Self::Root => values.all(|v| v >= 0.0 && v.is_finite()),
        }
    }

    /// The value on this scale.
    pub fn forward(self, value: f64) -> f64 {
        match self {
            Self::None => value,
            Self::Log => value.ln(),
            Self::Root => value.sqrt(),
        }
    }
}

/// A target's scale and the correction on the way back.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Transform {
    /// The scale.
    pub scale: Scale,
    /// What makes a mean of what is predicted on the scale; 0 for [`Scale::None`], which needs none.
    pub correction: f64,
}

impl Transform {
    /// A scale without correction: medians and other quantiles are right as they are.
    pub fn plain(scale: Scale) -> Self {
        Self { scale, correction: if scale == Scale::Log { 1.0 } else { 0.0 } }
    }

    /// A scale whose way back gives means, from errors (true − predicted) on the scale and how much each of them counts.
    pub fn smeared(scale: Scale, errors: &[f64], weights: &[f64]) -> Self {
        let all = weights.iter().sum::<f64>();
        let mean = |of: &dyn Fn(f64) -> f64| {
            let sum = errors.iter().zip(weights).map(|(e, w)| w * of(*e)).sum::<f64>();
            if all > 0.0 { sum / all } else { sum }
        };
        let correction = match scale {
            Scale::None => 0.0,
            Scale::Log => mean(&f64::exp),
            Scale::Root => mean(&|e| e * e),
        };
        Self { scale, correction }
    }

    /// The prediction behind a value on the scale.
    pub fn back(self, value: f64) -> f64 {
        match self.scale {
            Scale::None => value,
            Scale::Log => self.correction * value.exp(),
            // `max` forgets NaN.
            Scale::Root if value.is_nan() => value,
            Scale::Root => value.max(0.0).powi(2) + self.correction,
        }
    }

    /// The prediction behind a standardised output, and its derivative by the output.
    pub(crate) fn output(self, mean: f64, deviation: f64, output: f64) -> (f64, f64) {
        if self.scale == Scale::None {
            return (mean + deviation * output, deviation);
        }
        let kept = output.clamp(-REACH, REACH);
        let value = mean + deviation * kept;
        let slope = match self.scale {
            _ if kept != output => 0.0,
            Scale::None => 1.0,
            Scale::Log => self.correction * value.exp(),
            Scale::Root => 2.0 * value.max(0.0),
        };
        (self.back(value), deviation * slope)
    }
}

/// Quantities on another scale that are named; more are counted.
const NAMED: usize = 3;

/// What is predicted on another scale, in words; `None` if all is on its own. Quantities are called by `names`, where there are some.
pub(crate) fn described(transforms: &[Transform], placement: &Placement, names: &[String]) -> Option<String> {
    let homes = placement.homes();
    let name = |k: usize| -> Option<String> {
        let symbol = || homes.get(k)?.first().map(|(kind, _)| kind.symbol().to_owned());
        names.get(k).cloned().or_else(symbol)
    };
    let on = |scale: Scale, word: &str| {
        let own = transforms.iter().enumerate().filter(|(_, transform)| transform.scale == scale);
        let mut own: Vec<String> = own.filter_map(|(k, _)| name(k)).collect();
        own.dedup();
        let who = match own.len() {
            0 => return None,
            1..=NAMED => own.join(", "),
            all if all == transforms.len() => format!("all {all} quantities"),
            some => format!("{some} of {} quantities", transforms.len()),
        };
        Some(format!("{who} on a {word} scale"))
    };
    let found = [on(Scale::Log, "log"), on(Scale::Root, "square-root")];
    let found: Vec<String> = found.into_iter().flatten().collect();
    (!found.is_empty()).then(|| found.join(" and "))
}

/// Outputs in the parameters' units, each with its derivative by the output.
pub(crate) fn read(
    targets: &Scaler,
    transforms: &[Transform],
    outputs: &[f32],
) -> impl Iterator<Item = (f64, f64)> {
    let Scaler { mean, deviation } = targets;
    let width = mean.len().max(1);
    outputs.iter().enumerate().map(move |(i, o)| {
        let k = i % width;
        let transform = transforms.get(k).copied().unwrap_or_default();
        transform.output(mean[k], deviation[k], f64::from(*o))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_and_back() {
        for scale in [Scale::None, Scale::Log, Scale::Root] {
            assert!((Transform::plain(scale).back(scale.forward(7.5)) - 7.5).abs() < 1e-12, "{scale:?}");
        }
        assert!(Scale::Root.takes([0.0, 2.0].into_iter()) && !Scale::Log.takes([0.0, 2.0].into_iter()));
        assert!(!Scale::Root.takes([-1.0].into_iter()) && Scale::None.takes([-1.0].into_iter()));
    }

    /// c = f(ξ)·E on the log scale, c = (f + e)² on that of roots: the correction gives back the mean over the errors.
    #[test]
    fn corrected_predictions_are_means() {
        let errors = [-0.7, -0.1, 0.2, 0.9, -0.3];
        let mean = |of: &dyn Fn(f64) -> f64| errors.iter().map(|e| of(*e)).sum::<f64>() / 5.0;
        let log = Transform::smeared(Scale::Log, &errors, &[1.0; 5]).back(1.3);
        assert!((log - mean(&|e| (1.3 + e).exp())).abs() < 1e-12);
        let root = Transform::smeared(Scale::Root, &errors, &[1.0; 5]).back(1.3);
        assert!((root - mean(&|e| (1.3 + e).powi(2))).abs() < 1e-12, "errors of mean 0");
        assert_eq!(Transform::smeared(Scale::None, &errors, &[1.0; 5]), Transform::default());
        // A row that counts twice is there twice.
        let twice = Transform::smeared(Scale::Log, &[0.3, -0.2, 0.3], &[1.0; 3]);
        let heavy = Transform::smeared(Scale::Log, &[0.3, -0.2], &[2.0, 1.0]);
        assert!((twice.correction - heavy.correction).abs() < 1e-12);
    }

    #[test]
    fn what_is_no_number_stays_none() {
        for scale in [Scale::None, Scale::Log, Scale::Root] {
            let transform = Transform::smeared(scale, &[0.1, -0.2, 0.4], &[1.0; 3]);
            assert!(transform.back(f64::NAN).is_nan() && transform.output(2.0, 0.5, f64::NAN).0.is_nan());
        }
    }

    #[test]
    fn slopes() {
        let h = 1e-6;
        for scale in [Scale::None, Scale::Log, Scale::Root] {
            let transform = Transform::smeared(scale, &[0.1, -0.2, 0.4], &[1.0; 3]);
            for output in [-12.0, -0.4, 0.7, 12.0] {
                let at = |o: f64| transform.output(2.0, 0.5, o).0;
                let slope = transform.output(2.0, 0.5, output).1;
                let quotient = (at(output + h) - at(output - h)) / (2.0 * h);
                assert!((slope - quotient).abs() < 1e-6 * (1.0 + slope.abs()), "{scale:?} {output}");
            }
        }
    }
}
