//! Writes a report on made-up data: `cargo run -p regretless-report --example demo -- target/demo`.

mod data;

use std::path::PathBuf;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let dir = std::env::args_os().nth(1).map_or_else(|| PathBuf::from("target/demo"), PathBuf::from);
    data::demo().write(dir)?;
    Ok(())
}
