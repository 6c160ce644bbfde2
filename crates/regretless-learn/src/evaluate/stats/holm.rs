//! Several tests at once.

/// Holm's step-down adjustment: with p₍₁₎ ≤ … ≤ p₍ₘ₎,
///
/// p̃₍ᵢ₎ = min(1, max over j ≤ i of (m − j + 1) p₍ⱼ₎).
///
/// Rejecting where p̃ ≤ α keeps the probability of any false rejection at α, whatever the dependence between
/// the tests. The answer is in the order of `p_values`; a NaN stands for a test that could not be done: it
/// stays NaN and is not counted in m.
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).filter(|i| !p_values[*i].is_nan()).collect();
    order.sort_by(|i, j| p_values[*i].total_cmp(&p_values[*j]));
    let mut adjusted = vec![f64::NAN; p_values.len()];
    let mut running = 0.0_f64;
    for (rank, &i) in order.iter().enumerate() {
        running = running.max((order.len() - rank) as f64 * p_values[i]).min(1.0);
        adjusted[i] = running;
    }
    adjusted
}
