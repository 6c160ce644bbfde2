//! The best cut of the levels of a category in two.
//!
//! Of all 2ᵏ⁻¹ ways to part k levels the best one for a convex loss has the levels in the order of their mean gradients (Fisher 1958),
//! so that only k − 1 are looked at. With several outputs the order is along the direction in which the levels differ most. The levels
//! are chosen by the same rows that they are judged with, which flatters sets of rare ones: means are shrunk by ten rows, and both
//! sides of the gain have a ridge of ten rows more (as `cat_smooth` and `cat_l2` of LightGBM).

use super::histogram::{COUNT, CURVATURE, GRADIENT};
use super::monotone::Bounds;
use super::split::{ROUNDING, Split, both, squares, worth};
use super::tree::Set;
use crate::settings::TreeSettings;

/// Rows that means of levels are shrunk by, and sides of a split.
const SHRINK: f64 = 10.0;

/// Steps towards the direction in which levels differ most; the order is what counts.
const STEPS: usize = 8;

/// The best split by one column of levels; the last bin is of missing cells, which are a level as any other.
pub(super) fn scan(
    column: usize,
    sums: &[f64],
    total: &[f64],
    settings: &TreeSettings,
    bounds: Option<&Bounds>,
) -> Option<Split> {
    let stride = total.len();
    let bins: Vec<&[f64]> = sums.chunks_exact(stride).collect();
    let order = order(&bins, total);
    let least = settings.min_rows.max(1) as f64;
    let shrink = SHRINK * total[CURVATURE] / total[COUNT];
    let l2 = settings.l2 + shrink;
    let whole = match bounds {
        None => worth(squares(&total[GRADIENT..]), total[CURVATURE], settings.l2),
        Some(bounds) => bounds.worth(total, settings.l2),
    };
    let mut best: Option<(f64, usize)> = None;
    let mut left = vec![0.0; stride];
    for (place, &bin) in order.iter().enumerate() {
        left.iter_mut().zip(bins[bin]).for_each(|(l, o)| *l += o);
        if left[COUNT] < least {
            continue;
        }
        if total[COUNT] - left[COUNT] < least {
            break;
        }
        let halves = match bounds {
            None => {
                let (ours, theirs) = both(&left[GRADIENT..], &total[GRADIENT..]);
                worth(ours, left[CURVATURE], l2) + worth(theirs, total[CURVATURE] - left[CURVATURE], l2)
            }
            Some(bounds) => {
                let right: Vec<f64> = total.iter().zip(&left).map(|(t, l)| t - l).collect();
                bounds.worth(&left, l2) + bounds.worth(&right, l2)
            }
        };
        let gain = halves - whole;
        if gain > ROUNDING * halves && best.is_none_or(|(most, _)| gain > most) {
            best = Some((gain, place));
        }
    }
    let (gain, place) = best?;
    let (mut left, mut set) = (vec![0.0; stride], Set::default());
    for &bin in &order[..=place] {
        left.iter_mut().zip(bins[bin]).for_each(|(l, o)| *l += o);
        set.add(bin as u8);
    }
    // Levels that are not here, and may be later, go with the larger side.
    if 2.0 * left[COUNT] >= total[COUNT] {
        let absent = (0..bins.len()).filter(|&bin| bins[bin][COUNT] == 0.0);
        absent.for_each(|bin| set.add(bin as u8));
    }
    let missing = !set.has((bins.len() - 1) as u8);
    Some(Split { gain, column, bin: 0, set: Some(set), missing, left })
}

/// The levels that are there, in the order of their shrunk mean gradients along the direction in which these differ most.
fn order(bins: &[&[f64]], total: &[f64]) -> Vec<usize> {
    let outputs = total.len() - GRADIENT;
    let unit = total[CURVATURE] / total[COUNT];
    let mut there: Vec<usize> = (0..bins.len()).filter(|&bin| bins[bin][COUNT] > 0.0).collect();
    let middle: Vec<f64> = total[GRADIENT..].iter().map(|g| g / total[CURVATURE]).collect();
    let mean = |bin: usize| -> Vec<f64> {
        let below = bins[bin][CURVATURE] + SHRINK * unit;
        let own = bins[bin][GRADIENT..].iter().zip(&middle);
        own.map(|(g, m)| (g - m * bins[bin][CURVATURE]) / below).collect()
    };
    let means: Vec<Vec<f64>> = (0..bins.len()).map(mean).collect();
    let weight = |bin: usize| bins[bin][CURVATURE];
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let mut along = vec![1.0; outputs];
    if outputs > 1 {
        let size = |bin: usize| weight(bin) * dot(&means[bin], &means[bin]);
        let first = there.iter().copied().reduce(|a, b| if size(b) > size(a) { b } else { a });
        along.clone_from(&means[first.unwrap_or(0)]);
        for _ in 0..STEPS {
            // v ← Σ wₗ mₗ (mₗᵀv): the power method.
            let mut next = vec![0.0; outputs];
            for &bin in &there {
                let share = weight(bin) * dot(&means[bin], &along);
                next.iter_mut().zip(&means[bin]).for_each(|(n, m)| *n += share * m);
            }
            let length = dot(&next, &next).sqrt();
            if !(length > 0.0 && length.is_finite()) {
                break;
            }
            along = next.into_iter().map(|v| v / length).collect();
        }
    }
    let key: Vec<f64> = means.iter().map(|mean| dot(mean, &along)).collect();
    there.sort_by(|&a, &b| key[a].total_cmp(&key[b]).then(a.cmp(&b)));
    there
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests fail loudly")]
mod tests {
    use super::*;

    /// Numbers without a pattern.
    fn noise(i: usize) -> f64 {
        let v = ((i as f64 + 1.0) * 12.9898).sin() * 43_758.545_3;
        v - v.floor() - 0.5
    }

    /// Levels of equally many rows, the last bin without any: the best of all 2⁷ ways to part them.
    #[test]
    fn no_way_to_part_the_levels_is_better() {
        let settings = TreeSettings { min_rows: 1, ..TreeSettings::default() };
        for seed in 0..20 {
            let rows = 30.0;
            let gradients: Vec<f64> = (0..8).map(|l| 40.0 * noise(8 * seed + l)).collect();
            let mut sums: Vec<f64> = gradients.iter().flat_map(|g| [rows, rows, *g]).collect();
            sums.extend([0.0; 3]);
            let all: f64 = gradients.iter().sum();
            let total = [8.0 * rows, 8.0 * rows, all];
            let split = scan(0, &sums, &total, &settings, None).unwrap();
            let l2 = settings.l2 + SHRINK;
            let worth = |g: f64, count: f64| g * g / (count * rows + l2);
            let gain = |parted: u32| {
                let left: Vec<usize> = (0..8).filter(|l| parted >> l & 1 == 1).collect();
                let g: f64 = left.iter().map(|&l| gradients[l]).sum();
                worth(g, left.len() as f64) + worth(all - g, 8.0 - left.len() as f64)
            };
            let best =
                (1..255).map(gain).fold(f64::NEG_INFINITY, f64::max) - all * all / (total[1] + settings.l2);
            assert!((split.gain - best).abs() < 1e-9 * best.abs(), "{seed}: {} {best}", split.gain);
            let set = split.set.unwrap();
            let parted = (0..8).filter(|l| set.has(*l as u8)).fold(0, |sum, l| sum | 1 << l);
            assert!((gain(parted) - all * all / (total[1] + settings.l2) - best).abs() < 1e-9 * best.abs());
        }
    }

    /// Where all outputs differ along one direction, that is the order: as with one output.
    #[test]
    fn several_outputs_are_looked_at_where_they_differ() {
        let settings = TreeSettings { min_rows: 1, ..TreeSettings::default() };
        let along = [0.3, -1.2, 0.5];
        let gradients: Vec<f64> = (0..8).map(|l| 40.0 * noise(l)).collect();
        let one: Vec<f64> = gradients.iter().flat_map(|g| [30.0, 30.0, *g]).chain([0.0; 3]).collect();
        let three: Vec<f64> = gradients
            .iter()
            .flat_map(|g| [30.0, 30.0].into_iter().chain(along.map(|v| v * g)))
            .chain([0.0; 5])
            .collect();
        let all: f64 = gradients.iter().sum();
        let total = [240.0, 240.0, all * along[0], all * along[1], all * along[2]];
        let set = |sums: &[f64], total: &[f64]| scan(0, sums, total, &settings, None).unwrap().set.unwrap();
        let (a, b) = (set(&one, &[240.0, 240.0, all]), set(&three, &total));
        // One side or the other: a direction has two ends.
        let sides = |set: &Set| (0..8).map(|l| set.has(l)).collect::<Vec<_>>();
        let flipped: Vec<bool> = sides(&b).iter().map(|left| !left).collect();
        assert!(sides(&a) == sides(&b) || sides(&a) == flipped, "{a:?} {b:?}");
    }

    #[test]
    fn one_level_is_no_choice() {
        let settings = TreeSettings { min_rows: 1, ..TreeSettings::default() };
        let sums = [30.0, 30.0, 5.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
        assert!(scan(0, &sums, &[30.0, 30.0, 5.0], &settings, None).is_none());
    }
}
