//! One direction of a chart: a domain, a scale (linear, logarithmic, or logarithmic around zero) and its ticks.

use crate::number;
use crate::study::AxisScale;
use crate::thin::quantile;

/// What is smaller than this share of the largest value is rounding noise and counts as 0.
const NOISE: f64 = 1e-9;
/// Largest ratio a linear scale shows well.
const SPREAD: f64 = 50.0;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Scale {
    Linear,
    /// All values positive.
    Log,
    /// asinh(v / c): linear within ±c, logarithmic beyond; for spread-out values some of which are 0 or negative.
    Symlog(f64),
}

/// A domain with its scale; `unit` maps it onto [0, 1].
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Axis {
    pub(crate) scale: Scale,
    pub(crate) low: f64,
    pub(crate) high: f64,
}

/// Whether a value can be drawn at all.
pub(crate) fn usable(v: f64) -> bool {
    v.is_finite() && v.abs() < 1e150
}

/// Whether a value can be drawn on an axis of a scale.
pub(crate) fn shows(scale: AxisScale, v: f64) -> bool {
    usable(v) && (scale != AxisScale::Log || v > 1e-150)
}

/// The least and the largest value.
fn ends(values: &[f64]) -> (f64, f64) {
    values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &v| (low.min(v), high.max(v)))
}

/// The usable values, noise set to 0.
fn quiet(values: impl IntoIterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.into_iter().filter(|&v| usable(v)).collect();
    let least = values.iter().fold(0.0f64, |most, v| most.max(v.abs())) * NOISE;
    values.iter_mut().filter(|v| v.abs() < least).for_each(|v| *v = 0.0);
    values
}

impl Axis {
    /// An axis for these values, with the scale their spread asks for.
    pub(crate) fn auto(values: impl IntoIterator<Item = f64>) -> Self {
        let mut values = quiet(values);
        values.sort_by(f64::total_cmp);
        let (Some(&low), Some(&high)) = (values.first(), values.last()) else {
            return Self { scale: Scale::Linear, low: 0.0, high: 1.0 };
        };
        if low > 0.0 && high / low > SPREAD {
            return Self { scale: Scale::Log, low, high }.padded();
        }
        if low <= 0.0 && high > low {
            let mut sizes: Vec<f64> = values.iter().map(|v| v.abs()).filter(|&v| v > 0.0).collect();
            sizes.sort_by(f64::total_cmp);
            let (typical, largest) = (quantile(&sizes, 0.5), low.abs().max(high));
            // Rounding noise around 0 must not get decades of its own.
            if largest / typical > SPREAD {
                let c = 10f64.powf(quantile(&sizes, 0.2).max(largest * 1e-5).log10().floor());
                return Self { scale: Scale::Symlog(c), low, high };
            }
        }
        Self::linear(low, high)
    }

    /// A linear axis over a range, with 0 included where it is near.
    pub(crate) fn linear(low: f64, high: f64) -> Self {
        let axis = |low, high| Self { scale: Scale::Linear, low, high };
        if high - low <= high.abs().max(low.abs()) * 1e-9 {
            let room = if low == 0.0 { 1.0 } else { low.abs() * 0.25 };
            return axis(if low >= 0.0 { (low - room).max(0.0) } else { low - room }, high + room);
        }
        if low >= 0.0 && low < high * 0.4 {
            return axis(0.0, high * 1.04);
        }
        axis(low, high).padded()
    }

    /// A logarithmic axis where all values are positive, otherwise what `auto` gives.
    pub(crate) fn log(values: &[f64]) -> Self {
        let good = quiet(values.iter().copied());
        let (low, high) = ends(&good);
        if low > 0.0 && high > low * 1.5 {
            Self { scale: Scale::Log, low, high }.padded()
        } else {
            Self::auto(good)
        }
    }

    /// An axis with the scale asked for. A logarithmic one is laid over the values it can show, however small.
    pub(crate) fn chosen(scale: AxisScale, values: impl IntoIterator<Item = f64>) -> Self {
        let shown: Vec<f64> = values.into_iter().filter(|&v| shows(scale, v)).collect();
        if shown.is_empty() || scale == AxisScale::Auto {
            return Self::auto(shown);
        }
        let (low, high) = ends(&shown);
        if scale == AxisScale::Log && high > low * 1.5 {
            return Self { scale: Scale::Log, low, high }.padded();
        }
        Self::linear(low, high)
    }

    fn padded(mut self) -> Self {
        let room = (self.forward(self.high) - self.forward(self.low)) * 0.04;
        let (low, high) = (self.forward(self.low) - room, self.forward(self.high) + room);
        (self.low, self.high) = (self.backward(low), self.backward(high));
        self
    }

    /// Where a value lies, 0 at the low end and 1 at the high one.
    pub(crate) fn unit(&self, v: f64) -> f64 {
        let (low, high) = (self.forward(self.low), self.forward(self.high));
        (self.forward(v) - low) / (high - low)
    }

    /// Whether a value lies within the domain; noise around its ends does.
    pub(crate) fn holds(&self, v: f64) -> bool {
        (-1e-4..=1.0001).contains(&self.unit(v))
    }

    fn forward(&self, v: f64) -> f64 {
        match self.scale {
            Scale::Linear => v,
            Scale::Log => v.max(f64::MIN_POSITIVE).ln(),
            Scale::Symlog(c) => (v / c).asinh(),
        }
    }

    fn backward(&self, t: f64) -> f64 {
        match self.scale {
            Scale::Linear => t,
            Scale::Log => t.exp(),
            Scale::Symlog(c) => t.sinh() * c,
        }
    }

    /// At most about `most` ticks, with their labels.
    pub(crate) fn ticks(&self, most: usize) -> Vec<(f64, String)> {
        let most = most.max(2);
        match self.scale {
            Scale::Linear => {
                let ticks = self.linear_ticks(most);
                // One label alone does not say how long a step is.
                if ticks.len() < 2 { self.linear_ticks(most * 2) } else { ticks }
            }
            Scale::Log => {
                let fine: Vec<f64> = decades(self.low, self.high)
                    .iter()
                    .flat_map(|d| [*d, d * 2.0, d * 5.0])
                    .filter(|v| (self.low..=self.high).contains(v))
                    .collect();
                let coarse: Vec<f64> = decades(self.low, self.high)
                    .into_iter()
                    .filter(|v| (self.low..=self.high).contains(v))
                    .collect();
                let chosen = if fine.len() <= most { fine } else { spaced(&coarse, most) };
                if chosen.len() < 2 { self.linear_ticks(most) } else { labelled(&chosen) }
            }
            Scale::Symlog(c) => {
                let inside = |v: &f64| (self.low..=self.high).contains(v);
                let up: Vec<f64> = decades(c, self.high.max(c)).into_iter().filter(inside).collect();
                let down: Vec<f64> =
                    decades(c, (-self.low).max(c)).into_iter().map(|v| -v).filter(inside).collect();
                let sides = usize::from(!up.is_empty()) + usize::from(!down.is_empty());
                let each = (most - 1) / sides.max(1);
                // From the far end, so that the largest decade keeps its label.
                let keep = |side: Vec<f64>| -> Vec<f64> {
                    let step = side.len().div_ceil(each.max(1)).max(1);
                    side.into_iter().rev().step_by(step).collect()
                };
                let mut all = keep(down);
                all.push(0.0);
                all.extend(keep(up));
                all.retain(inside);
                all.sort_by(f64::total_cmp);
                labelled(&all)
            }
        }
    }

    fn linear_ticks(&self, most: usize) -> Vec<(f64, String)> {
        let raw = (self.high - self.low) / most as f64;
        let power = 10f64.powf(raw.log10().floor());
        let nice = [1.0, 2.0, 2.5, 5.0, 10.0].into_iter().find(|s| s * power >= raw * 0.999).unwrap_or(10.0);
        let step = nice * power;
        let (first, last) = ((self.low / step).ceil() as i64, (self.high / step).floor() as i64);
        let places = i64::from(nice == 2.5) - (step.log10() + 1e-9).floor() as i64;
        let decimals = usize::try_from(places).unwrap_or(0);
        let plain = decimals <= 6 && self.low.abs().max(self.high.abs()) < 1e7;
        (first..=last.min(first.saturating_add(50)))
            .map(|k| {
                let v = k as f64 * step;
                let text =
                    if plain { format!("{v:.decimals$}").replace('-', "\u{2212}") } else { number::tick(v) };
                (v, text)
            })
            .collect()
    }
}

/// The powers of ten from the one at or below `low` to the one at or above `high`.
fn decades(low: f64, high: f64) -> Vec<f64> {
    ((low.log10() + 1e-9).floor() as i32..=(high.log10() - 1e-9).ceil() as i32)
        .map(|e| 10f64.powi(e))
        .collect()
}

fn spaced(ticks: &[f64], most: usize) -> Vec<f64> {
    ticks.iter().copied().step_by(ticks.len().div_ceil(most).max(1)).collect()
}

fn labelled(ticks: &[f64]) -> Vec<(f64, String)> {
    ticks.iter().map(|&v| (v, number::tick(v))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(axis: &Axis, most: usize) -> Vec<String> {
        axis.ticks(most).into_iter().map(|t| t.1).collect()
    }

    #[test]
    fn the_scale_follows_the_spread() {
        assert_eq!(Axis::auto([1.0, 10.0]).scale, Scale::Linear);
        assert_eq!(Axis::auto([0.001, 10.0]).scale, Scale::Log);
        assert!(matches!(Axis::auto([0.0, 0.1, 0.1, 0.2, 900.0]).scale, Scale::Symlog(_)));
        assert_eq!(texts(&Axis::auto([0.0, 9.0]), 5), ["0", "2", "4", "6", "8"]);
        assert_eq!(texts(&Axis::auto([0.01, 100.0]), 6), ["0.01", "0.1", "1", "10", "100"]);
    }

    #[test]
    fn odd_data_gives_an_axis_all_the_same() {
        let odd: [&[f64]; 7] = [
            &[],
            &[f64::NAN],
            &[3.0, 3.0],
            &[0.0],
            &[-2.0, -2.0],
            &[f64::INFINITY, 1.0],
            &[-1e-14, 0.0, 1e-14, 5.0],
        ];
        for values in odd {
            let axis = Axis::auto(values.iter().copied());
            let ticks = axis.ticks(5);
            assert!(
                axis.high > axis.low && !ticks.is_empty() && ticks.len() < 12,
                "{values:?} {axis:?} {ticks:?}"
            );
            for &v in values.iter().filter(|v| v.is_finite()) {
                assert!((-1e-9..=1.0 + 1e-9).contains(&axis.unit(v)), "{values:?} {axis:?}");
            }
        }
    }

    #[test]
    fn noise_gets_no_decades() {
        for axis in [
            Axis::auto([1e-12, 0.5, 3.0, 900.0]),
            Axis::log(&[1e-12, 0.5, 3.0, 900.0]),
            Axis::auto([2e-12, 0.2, 0.3, 0.4, 900.0]),
        ] {
            assert!(axis.scale != Scale::Log && axis.low == 0.0 && axis.holds(1e-12), "{axis:?}");
            let least = axis.ticks(6).iter().map(|t| t.0).filter(|&v| v > 0.0).fold(f64::INFINITY, f64::min);
            assert!(least > 1e-3, "{axis:?}");
        }
        assert_eq!(Axis::auto([1e-6, 1.0, 10.0]).scale, Scale::Log);
    }

    #[test]
    fn a_chosen_scale_is_kept() {
        let axis = Axis::chosen(AxisScale::Log, [1e-14, 0.5, 3.0, 0.0, -1.0, f64::NAN]);
        assert!(axis.scale == Scale::Log && axis.holds(1e-14) && axis.low > 1e-15, "{axis:?}");
        assert_eq!(Axis::chosen(AxisScale::Linear, [0.001, 900.0]).scale, Scale::Linear);
        assert_eq!(Axis::chosen(AxisScale::Auto, [0.001, 900.0]).scale, Scale::Log);
        for scale in [AxisScale::Log, AxisScale::Linear, AxisScale::Auto] {
            for values in [&[][..], &[3.0], &[5e-324, 1e149], &[-1e149, 1e149], &[f64::INFINITY]] {
                let axis = Axis::chosen(scale, values.iter().copied());
                assert!(axis.high > axis.low && axis.ticks(5).len() < 12, "{values:?} {axis:?}");
            }
        }
    }

    #[test]
    fn places_grow_with_values() {
        for axis in [Axis::auto([1.0, 9.0]), Axis::auto([0.01, 9.0]), Axis::auto([0.0, 0.1, 0.2, 99.0])] {
            let places = [0.02, 0.5, 3.0, 8.0].map(|v| axis.unit(v));
            assert!(places.windows(2).all(|w| w[0] < w[1]), "{axis:?} {places:?}");
        }
    }
}
