//! Tells data apart.

/// A number that changes with the data (FNV-1a over all bits), as text.
pub(crate) fn fingerprint(values: impl IntoIterator<Item = f64>) -> String {
    let step = |hash: u64, value: f64| (hash ^ value.to_bits()).wrapping_mul(0x0100_0000_01B3);
    format!("{:016x}", values.into_iter().fold(0xCBF2_9CE4_8422_2325, step))
}
