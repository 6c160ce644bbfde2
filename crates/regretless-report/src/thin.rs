//! Fewer points, the same picture, the same choice every time.

/// `cap` of `n` indices, increasing: one from each of `cap` equal strata, at a place decided by a hash of the stratum,
/// so that periodic data does not alias. All of them when `n` ≤ `cap`.
pub(crate) fn sample(n: usize, cap: usize) -> Vec<usize> {
    if n <= cap {
        return (0..n).collect();
    }
    (0..cap)
        .map(|k| {
            let (from, to) = (k * n / cap, (k + 1) * n / cap);
            from + (mix(k as u64) % (to - from) as u64) as usize
        })
        .collect()
}

/// `cap` of `n` indices, evenly spaced, the first and the last among them: for lines.
pub(crate) fn even(n: usize, cap: usize) -> Vec<usize> {
    if n <= cap || cap < 2 {
        return (0..n).collect();
    }
    (0..cap).map(|k| k * (n - 1) / (cap - 1)).collect()
}

/// The value at a quantile of sorted data, interpolated.
pub(crate) fn quantile(sorted: &[f64], q: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else { return f64::NAN };
    let at = q.clamp(0.0, 1.0) * last as f64;
    let (low, high) = (at.floor() as usize, at.ceil() as usize);
    sorted[low] + (sorted[high] - sorted[low]) * (at - low as f64)
}

/// The SplitMix64 finaliser.
fn mix(k: u64) -> u64 {
    let mut z = k.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_distinct_ordered_and_repeatable() {
        let picked = sample(100_000, 1500);
        assert_eq!(picked.len(), 1500);
        assert!(picked.windows(2).all(|w| w[0] < w[1]));
        assert!(picked.iter().all(|&i| i < 100_000));
        assert_eq!(picked, sample(100_000, 1500));
        assert_eq!(sample(3, 10), [0, 1, 2]);
    }

    #[test]
    fn lines_keep_their_ends() {
        assert_eq!(even(100, 4), [0, 33, 66, 99]);
        assert_eq!(even(1, 4), [0]);
        assert!(even(0, 4).is_empty());
    }

    #[test]
    fn quantiles_interpolate() {
        assert_eq!(quantile(&[1.0, 2.0, 4.0], 0.5), 2.0);
        assert_eq!(quantile(&[1.0, 2.0, 4.0], 0.75), 3.0);
        assert!(quantile(&[], 0.5).is_nan());
    }
}
