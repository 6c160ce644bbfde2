//! Starter projects: a problem file, history to learn from, new rows to decide for, and a few lines to read.
//!
//! The tables are drawn at random, always the same, so that a project works and its claim holds without a download.

mod bakery;
mod battery;
mod dispatch;
mod factors;
mod newsvendor;
mod portfolio;
mod production;
mod provisioning;
mod table;
mod transport;

use clap::ValueEnum;

/// A starter project.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(crate) enum Template {
    /// What a factory makes next week before margins are known: an LP, predicted objective
    Production,
    /// Weights of twelve shares, return against risk: a QP, one network for all assets
    Portfolio,
    /// Contracts whose output must meet demand in every hour: predicted coefficients, scenarios
    Provisioning,
    /// Orders of perishable goods before demand is known: predicted limits, scenarios
    Newsvendor,
    /// When a battery buys and sells over a day: algebra, 24 predicted prices, what is stored is known
    Battery,
    /// What a shop bakes with the oven and the flour it has: algebra, predicted demand, known limits
    Bakery,
    /// How three generators with ramps follow a load: algebra, figures of the units in a table
    Dispatch,
    /// What two mills send over which roads: algebra on a network, pairs from a table
    Transport,
    /// Weights of shares by a factor model, with costs of trading: algebra, a QP
    Factors,
}

impl Template {
    /// The project's files by name, `problem.toml` first.
    pub(crate) fn files(self) -> Vec<(&'static str, String)> {
        let (problem, readme, tables) = match self {
            Self::Production => {
                (include_str!("production.toml"), include_str!("production.md"), production::tables())
            }
            Self::Portfolio => {
                (include_str!("portfolio.toml"), include_str!("portfolio.md"), portfolio::tables())
            }
            Self::Provisioning => {
                (include_str!("provisioning.toml"), include_str!("provisioning.md"), provisioning::tables())
            }
            Self::Newsvendor => {
                (include_str!("newsvendor.toml"), include_str!("newsvendor.md"), newsvendor::tables())
            }
            Self::Battery => (include_str!("battery.toml"), include_str!("battery.md"), battery::tables()),
            Self::Bakery => (include_str!("bakery.toml"), include_str!("bakery.md"), bakery::tables()),
            Self::Dispatch => {
                (include_str!("dispatch.toml"), include_str!("dispatch.md"), dispatch::tables())
            }
            Self::Transport => {
                (include_str!("transport.toml"), include_str!("transport.md"), transport::tables())
            }
            Self::Factors => (include_str!("factors.toml"), include_str!("factors.md"), factors::tables()),
        };
        let mut files = vec![("problem.toml", problem.to_owned())];
        files.extend(tables);
        files.push(("README.md", readme.to_owned()));
        files
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use regretless_project::{DataReader, Spec, Want};

    use super::*;

    fn write(template: Template) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for (name, content) in template.files() {
            std::fs::write(dir.path().join(name), content).unwrap();
        }
        dir
    }

    fn rows(spec: &Spec, file: &Path, want: Want) -> usize {
        let mut reader = DataReader::open(spec, file, want).unwrap_or_else(|e| panic!("{e}"));
        let mut rows = 0;
        while let Some(chunk) = reader.next().unwrap_or_else(|e| panic!("{e}")) {
            assert!(chunk.features.iter().chain(&chunk.targets).all(|v| v.is_finite()));
            assert_eq!(chunk.dropped, 0);
            rows += chunk.rows;
        }
        rows
    }

    #[test]
    fn problem_files_are_read_and_tables_have_no_gaps() {
        for template in Template::value_variants() {
            let dir = write(*template);
            let spec =
                Spec::read(dir.path().join("problem.toml")).unwrap_or_else(|e| panic!("{template:?}: {e}"));
            assert!(!spec.predicted().is_empty(), "{template:?} predicts nothing");
            let both = Want { features: true, targets: true };
            assert!(rows(&spec, &dir.path().join("history.csv"), both) >= 400, "{template:?}");
            let features = Want { features: true, targets: false };
            assert_eq!(rows(&spec, &dir.path().join("new.csv"), features), 20, "{template:?}");
        }
    }

    #[test]
    fn truths_are_valid_problems() {
        for template in Template::value_variants() {
            let dir = write(*template);
            let spec = Spec::read(dir.path().join("problem.toml")).unwrap();
            let truths = spec.read_parameters(dir.path().join("history.csv")).unwrap();
            for row in 0..truths.len() {
                let truth = truths.row(row).unwrap();
                assert!(spec.problem().view(&truth.instance()).is_ok(), "{template:?}, row {row}");
            }
        }
    }

    #[test]
    fn new_rows_do_not_tell_the_truth() {
        for template in Template::value_variants() {
            let dir = write(*template);
            let spec = Spec::read(dir.path().join("problem.toml")).unwrap();
            assert!(spec.read_parameters(dir.path().join("new.csv")).is_err(), "{template:?}");
        }
    }

    #[test]
    fn files_are_always_the_same_and_small() {
        for template in Template::value_variants() {
            let files = template.files();
            assert_eq!(files, template.files());
            let names: Vec<&str> = files.iter().map(|(name, _)| *name).collect();
            for name in ["problem.toml", "history.csv", "new.csv", "README.md"] {
                assert!(names.contains(&name), "{template:?} lacks {name}");
            }
            for (name, content) in &files {
                assert!(content.len() < 1_000_000, "{template:?}: {name} has {} bytes", content.len());
                assert!(content.ends_with('\n'), "{name}");
            }
        }
    }

    #[test]
    fn algebra_is_short() {
        for template in Template::value_variants() {
            let (_, problem) = &template.files()[0];
            let lines = problem.lines().filter(|line| !line.trim().is_empty()).count();
            assert!(!problem.contains("[variables]") || lines < 30, "{template:?} has {lines} lines");
        }
    }

    #[test]
    fn readmes_name_the_files_and_the_commands() {
        for template in Template::value_variants() {
            let files = template.files();
            let (_, readme) = files.iter().find(|(name, _)| *name == "README.md").unwrap();
            for word in ["check", "compare", "train", "decide", "evaluate"] {
                assert!(readme.contains(&format!("regretless {word} ")), "{template:?}: no `{word}`");
            }
            for (name, _) in files.iter().filter(|(name, _)| *name != "README.md") {
                assert!(readme.contains(name), "{template:?}: no `{name}`");
            }
        }
    }
}
