//! What follows a hidden layer, unit by unit.

use std::f32::consts::{FRAC_1_SQRT_2, PI};

use crate::settings::Activation;

/// Slope of the leaky rectifier below zero.
const LEAK: f32 = 0.01;

/// z ← σ(z), and σ′(z) for the way back where it is asked for.
///
/// | | σ(z) | σ′(z) |
/// |---|---|---|
/// | relu | max(z, 0) | 1 for z > 0, else 0 |
/// | leaky relu | max(z, z/100) | 1 for z ≥ 0, else 1/100 |
/// | tanh | tanh z | 1 − σ² |
/// | sigmoid | 1/(1 + e⁻ᶻ) | σ(1 − σ) |
/// | gelu | zΦ(z) | Φ(z) + zφ(z) |
///
/// Φ and φ are the normal distribution and its density. What is not a number stays so: a training that ran away is to be
/// seen.
pub(super) fn activate(activation: Activation, z: &mut [f32], slopes: Option<&mut [f32]>) {
    match activation {
        Activation::Relu => each(z, slopes, |z| if z <= 0.0 { (0.0, 0.0) } else { (z, 1.0) }),
        Activation::LeakyRelu => each(z, slopes, |z| if z < 0.0 { (LEAK * z, LEAK) } else { (z, 1.0) }),
        Activation::Tanh => each(z, slopes, |z| {
            let value = z.tanh();
            (value, 1.0 - value * value)
        }),
        Activation::Sigmoid => each(z, slopes, |z| {
            let value = 1.0 / (1.0 + (-z).exp());
            (value, value * (1.0 - value))
        }),
        Activation::Gelu => {
            let height = 1.0 / (2.0 * PI).sqrt();
            each(z, slopes, |z| {
                let below = 0.5 * (1.0 + libm::erff(z * FRAC_1_SQRT_2));
                (z * below, below + z * height * (-0.5 * z * z).exp())
            });
        }
    }
}

fn each(z: &mut [f32], slopes: Option<&mut [f32]>, function: impl Fn(f32) -> (f32, f32)) {
    match slopes {
        Some(slopes) => z.iter_mut().zip(slopes).for_each(|(z, slope)| (*z, *slope) = function(*z)),
        None => z.iter_mut().for_each(|z| *z = function(*z).0),
    }
}
