//! A loss mixed with another, at the other's length.

/// `gradient ← w·g₂ + (1 − w)·g·‖g₂‖/‖g‖` with `g₂ = plain`: the gradient of a batch at the length of the plain one, so that w means
/// the same whatever the units of the objective are.
///
/// ```
/// let mut gradient = [0.0, 20.0];
/// regretless_core::mix(&mut gradient, &[3.0, 4.0], 0.5);
/// assert_eq!(gradient, [1.5, 4.5]);
/// ```
pub fn mix(gradient: &mut [f64], plain: &[f64], weight: f64) {
    let norm = |values: &[f64]| values.iter().map(|v| v * v).sum::<f64>().sqrt();
    let (length, own) = (norm(plain), norm(gradient));
    // What is left of rounding has no direction.
    let stretch = if own > 1e-12 * length { (1.0 - weight) * length / own } else { 0.0 };
    for (g, p) in gradient.iter_mut().zip(plain) {
        *g = weight * p + stretch * *g;
    }
}
