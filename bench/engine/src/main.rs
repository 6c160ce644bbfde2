//! The tables of `bench/ENGINE.md`: one thread, ratios within one run.
//!
//! `cargo run --release -p regretless-bench` prints the memory of a large batch, the comparison with Clarabel and scenarios
//! (`-- scenarios` those alone, `-- samples` what they cost in training);
//! `REGRETLESS_DATA=DIR cargo run --release -p regretless-bench -- sparse` prints large sparse problems, `-- mps FOLDER` writes
//! the linear ones for `bench/highs.py`;
//! `cargo run --release -p regretless-bench --features timings` prints how time grows with n and where it goes.
#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a benchmark prints, and fails loudly")]

mod grid;
#[cfg(feature = "timings")]
mod growth;
mod memory;
mod mps;
mod problems;
mod samples;
mod scenarios;
mod sparse;
mod versus;

fn main() {
    rayon::ThreadPoolBuilder::new().num_threads(1).build_global().unwrap();
    #[cfg(feature = "timings")]
    growth::run();
    if cfg!(not(feature = "timings")) {
        let asked = std::env::args().nth(1);
        if asked.as_deref() == Some("sparse") {
            return sparse::run(std::env::args().nth(2).as_deref());
        }
        if let (Some("mps"), Some(folder)) = (asked.as_deref(), std::env::args().nth(2)) {
            return sparse::export(folder.as_ref());
        }
        if asked.as_deref() == Some("samples") {
            return samples::run();
        }
        if asked.as_deref() != Some("scenarios") {
            // First, while the process has met nothing else.
            memory::run();
            versus::run();
        }
        scenarios::run();
        samples::run();
    }
}
