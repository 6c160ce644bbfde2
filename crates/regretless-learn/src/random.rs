//! Random numbers that depend on what they are for and on nothing else.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

/// The stream of `seed` for step `b` of epoch `a`: a resumed run draws what the first one drew, and no state is kept.
///
/// ```
/// use rand::RngExt;
/// let (mut a, mut b) = (regretless_learn::stream(1, 2, 3), regretless_learn::stream(1, 2, 3));
/// assert_eq!(a.random::<u64>(), b.random::<u64>());
/// ```
pub fn stream(seed: u64, a: u64, b: u64) -> ChaCha8Rng {
    // SplitMix64's finaliser: neighbours in, strangers out.
    let mix = |mut z: u64| {
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    };
    let step = |state: u64, next: u64| mix(state.wrapping_add(0x9E37_79B9_7F4A_7C15) ^ mix(next));
    ChaCha8Rng::seed_from_u64(step(step(mix(seed), a), b))
}

/// The numbers below `n` in an order of their own for every seed and epoch.
pub(crate) fn order(n: usize, seed: u64, epoch: u64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..n).collect();
    order.shuffle(&mut stream(seed, epoch, u64::MAX));
    order
}
