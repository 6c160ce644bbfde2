//! Writes a study on made-up data: `cargo run -p regretless-report --example study -- target/study`.

mod data;

use std::path::PathBuf;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let dir = std::env::args_os().nth(1).map_or_else(|| PathBuf::from("target/study"), PathBuf::from);
    let study = data::study();
    for (k, grid) in study.sections.iter().filter_map(|s| s.grid.as_ref()).enumerate() {
        std::fs::create_dir_all(&dir)?;
        std::fs::write(dir.join(format!("table-{}.md", k + 1)), grid.markdown())?;
        std::fs::write(dir.join(format!("table-{}.csv", k + 1)), grid.csv())?;
    }
    study.write(dir)?;
    Ok(())
}
