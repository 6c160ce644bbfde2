//! `cargo run --release -p regretless-bench` prints the tables of `bench/ENGINE.md`: one thread, ratios within one run.
#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a benchmark prints, and fails loudly")]

mod growth;
mod memory;
mod problems;
mod versus;

fn main() {
    let part = std::env::args().nth(1);
    let wanted = |name: &str| part.as_deref().is_none_or(|p| p == name);
    rayon::ThreadPoolBuilder::new().num_threads(1).build_global().unwrap();
    if wanted("versus") {
        versus::run();
    }
    if wanted("growth") {
        growth::run();
    }
    if wanted("memory") {
        memory::run();
    }
}
