//! Margins of sixteen pieces of furniture: part linear in six features, part not, so that no linear predictor fits.

use super::table::{Draw, history_and_new, named};

const PRODUCTS: [&str; 16] = [
    "desk", "table", "chair", "stool", "bench", "shelf", "cabinet", "dresser", "wardrobe", "bed", "sofa",
    "armchair", "crib", "door", "window", "frame",
];
const FEATURES: [&str; 6] = ["orders", "timber", "energy", "fuel", "euro", "season"];
const ROWS: usize = 600;
/// Deviation of what no feature tells.
const NOISE: f64 = 0.15;

struct Product {
    /// Margin of a batch in usual weeks.
    base: f64,
    /// Linear effect of each feature.
    linear: [f64; 6],
    /// The direction of the features along which the margin bends, of length one.
    bend: [f64; 6],
    /// How much it rises beyond the bend.
    rise: f64,
}

pub(super) fn tables() -> Vec<(&'static str, String)> {
    let mut draw = Draw::new(17);
    let products: Vec<Product> = PRODUCTS
        .iter()
        .map(|_| {
            let linear = std::array::from_fn(|_| 0.15 * draw.normal());
            let bend: [f64; 6] = std::array::from_fn(|_| draw.normal());
            let length = bend.iter().map(|v| v * v).sum::<f64>().sqrt();
            let rise = draw.uniform(0.8, 1.4);
            Product { base: draw.uniform(2.0, 3.0), linear, bend: bend.map(|v| v / length), rise }
        })
        .collect();
    let truth = named("margin_", &PRODUCTS);
    history_and_new("week", ROWS, 4, &named("", &FEATURES), &truth, || {
        let features: [f64; 6] = std::array::from_fn(|_| draw.normal());
        let margins = products
            .iter()
            .map(|p| {
                let dot = |w: &[f64; 6]| w.iter().zip(&features).map(|(w, f)| w * f).sum::<f64>();
                let along = dot(&p.bend);
                // Beyond the bend goods run short, and the margin rises faster and faster.
                let beyond = (along - 0.5).max(0.0);
                p.base + dot(&p.linear) + p.rise * beyond * beyond + NOISE * draw.normal()
            })
            .collect();
        (features.to_vec(), margins)
    })
}
