//! Figures that others published, read from their files.

use std::path::Path;

use regretless_learn::stats::Summary;

use crate::BenchmarkError;
use crate::paths::Setting;
use crate::sheet::Sheet;
use crate::suite::Published;

/// The columns that are shown, and what they are called here.
const COLUMNS: [(&str, &str); 3] = [
    ("SPOplus_spoloss_test", "SPO+ (published)"),
    ("LS_spoloss_test", "least squares (published)"),
    ("RF_spoloss_test", "random forest (published)"),
];

/// SPO losses of the shortest path by replication, as the authors of SPO+ published them.
#[derive(Clone, Debug)]
pub(crate) struct PathTable {
    /// Setting by setting: the losses of each column over the mean optimal cost of their replication.
    found: Vec<(Setting, [f64; 3])>,
}

impl PathTable {
    /// Reads `shortest_path.csv.gz` from a folder.
    pub(crate) fn read(dir: &Path) -> Result<Self, BenchmarkError> {
        let sheet = Sheet::read(&dir.join("shortest_path.csv.gz"))?;
        let column = |name: &str| sheet.numbers(name);
        let (side, rows) = (column("grid_dim")?, column("n_train")?);
        let (degree, noise) = (column("polykernel_degree")?, column("polykernel_noise_half_width")?);
        let optimal = column("zstar_avg_test")?;
        let losses = COLUMNS.iter().map(|(name, _)| column(name)).collect::<Result<Vec<Vec<f64>>, _>>()?;
        let of = |i: usize| {
            let setting = Setting { rows: rows[i] as usize, degree: degree[i] as i32, noise: noise[i] };
            (setting, [0, 1, 2].map(|c| 100.0 * losses[c][i] / optimal[i]))
        };
        Ok(Self { found: (0..sheet.len()).filter(|&i| side[i] == 5.0).map(of).collect() })
    }

    /// The figures of a setting.
    pub(crate) fn of(&self, setting: &Setting) -> Vec<Published> {
        let here: Vec<&[f64; 3]> =
            self.found.iter().filter(|(s, _)| s == setting).map(|(_, losses)| losses).collect();
        let one = |(c, (_, name)): (usize, &(&str, &str))| {
            let losses: Vec<f64> = here.iter().map(|l| l[c]).collect();
            let summary = Summary::of(&losses).ok()?;
            let error = summary.std.map(|std| std / (losses.len() as f64).sqrt());
            Some(Published { name: (*name).into(), mean: summary.mean, error, draws: losses.len() })
        };
        COLUMNS.iter().enumerate().filter_map(one).collect()
    }
}
