//! The tables of `bench/LEARNING.md`: one thread, ratios within one run.
//!
//! `cargo run --release -p regretless-bench-learning` prints them; with `-- training`, `-- deciding`, `-- networks` or `-- trees` one
//! of them, with `-- sharpness SEEDS PROBLEM…` the table of K in `docs/training.md`.
#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a benchmark prints, and fails loudly")]

mod data;
mod deciding;
mod networks;
mod sharpness;
mod training;
mod trees;

fn main() {
    rayon::ThreadPoolBuilder::new().num_threads(1).build_global().unwrap();
    let only = std::env::args().nth(1);
    if only.as_deref() == Some("sharpness") {
        return sharpness::run(std::env::args().skip(2));
    }
    let wanted = |name: &str| only.as_deref().is_none_or(|only| only == name);
    if wanted("training") {
        training::run();
    }
    if wanted("deciding") {
        deciding::run();
    }
    if wanted("networks") {
        networks::run();
    }
    if wanted("trees") {
        trees::run(std::env::args().nth(2).as_deref().map(std::path::Path::new));
    }
}

fn median(values: &[f64]) -> f64 {
    let mut values = values.to_vec();
    values.sort_unstable_by(f64::total_cmp);
    values[values.len() / 2]
}
