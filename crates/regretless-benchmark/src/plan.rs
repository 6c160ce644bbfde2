//! What is to be done: cells × contenders.

use std::borrow::Cow;
use std::path::PathBuf;

use regretless_learn::Content;
use serde::{Deserialize, Serialize};

use crate::BenchmarkError;
use crate::contender::{Contender, How};
use crate::given;
use crate::suite::{Cell, Suite};

/// What somebody asks for; all of it where they say nothing.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Wanted {
    /// A few settings and draws: minutes.
    pub quick: bool,
    /// Settings that have all words of one of these texts in their name, such as `paths n=100 degree=8`.
    pub only: Vec<String>,
    /// The first so many draws.
    pub draws: Option<usize>,
    /// Names of contenders.
    pub contenders: Vec<String>,
    /// A folder with forecasts of others, each a contender more; see [`export`](crate::export).
    pub forecasts: Option<PathBuf>,
}

/// A contender in a cell.
#[derive(Clone, Debug)]
pub struct Trial {
    /// Which suite, by its place in the list.
    pub(crate) suite: usize,
    /// The cell.
    pub cell: Cell,
    /// What decides.
    pub contender: Contender,
    /// Changes with everything that decides what comes of it.
    pub hash: String,
}

/// All trials, and the settings they are of.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Suite, setting and contenders, in the order of tables.
    pub settings: Vec<(usize, String, Vec<Contender>)>,
    /// Trials; first draws come first, so that early results cover all settings.
    pub trials: Vec<Trial>,
}

/// Makes the plan of what somebody asks for.
pub fn plan(suites: &[Box<dyn Suite>], wanted: &Wanted) -> Result<Plan, BenchmarkError> {
    let known: Vec<Cow<'static, str>> = {
        let mut names: Vec<_> = suites.iter().flat_map(|s| s.contenders()).map(|c| c.name).collect();
        names.sort_unstable();
        names.dedup();
        names
    };
    if let Some(bad) = wanted.contenders.iter().find(|name| !known.iter().any(|k| k == name.as_str())) {
        return Err(BenchmarkError::Settings {
            what: format!("there is no contender `{}`", regretless_learn::visible(bad)),
            hint: format!("there are {}", known.join(", ")),
        });
    }
    let mut settings = Vec::new();
    let mut by_draw: Vec<(u64, Trial)> = Vec::new();
    for (place, suite) in suites.iter().enumerate() {
        let named = |setting: &String| {
            let name = format!("{} {setting}", suite.id());
            let has = |word: &str| name.split(' ').any(|own| own == word);
            wanted.only.is_empty() || wanted.only.iter().any(|text| text.split_whitespace().all(has))
        };
        // Who names settings means all that have the name, quick or not.
        let quick = wanted.quick && wanted.only.is_empty();
        let all = if quick { suite.quick() } else { suite.settings() };
        let mut contenders = suite.contenders();
        let ours: Vec<_> = contenders.iter().map(|c| c.name.clone()).collect();
        contenders.retain(|c| wanted.contenders.is_empty() || wanted.contenders.iter().any(|n| *n == c.name));
        let most = suite.draws(false);
        let draws = wanted.draws.map_or_else(|| suite.draws(wanted.quick), |n| n.min(most));
        let all: Vec<String> = all.into_iter().filter(named).filter(|_| !contenders.is_empty()).collect();
        if all.is_empty() {
            continue;
        }
        let fingerprint = suite.fingerprint()?;
        for setting in all {
            let cell = |draw: u64| Cell {
                suite: suite.id().into(),
                setting: setting.clone(),
                draw: suite.first_draw() + draw,
            };
            let cells: Vec<Cell> = (0..draws as u64).map(cell).collect();
            let mut contenders = contenders.clone();
            if let Some(dir) = &wanted.forecasts {
                for other in given::contenders(dir, &cells) {
                    if ours.contains(&other.name) {
                        return Err(BenchmarkError::Settings {
                            what: format!(
                                "`{}.csv` in {} has the name of a contender",
                                other.name,
                                dir.display()
                            ),
                            hint:
                                "rename the file: forecasts of others stand beside ours, not in their place"
                                    .into(),
                        });
                    }
                    contenders.push(other);
                }
            }
            for (draw, cell) in (0..).zip(&cells) {
                for contender in &contenders {
                    let hash = hash(&fingerprint, cell, contender)?;
                    let (cell, contender) = (cell.clone(), contender.clone());
                    by_draw.push((draw, Trial { suite: place, cell, contender, hash }));
                }
            }
            settings.push((place, setting, contenders));
        }
    }
    if settings.is_empty() {
        let ids: Vec<&str> = suites.iter().map(|s| s.id()).collect();
        return Err(BenchmarkError::Settings {
            what: "nothing of what is there was asked for".into(),
            hint: format!("--only takes words of a name: {}, n=100, degree=8, level=0.9", ids.join(", ")),
        });
    }
    by_draw.sort_by_key(|(draw, _)| *draw);
    Ok(Plan { settings, trials: by_draw.into_iter().map(|(_, trial)| trial).collect() })
}

fn hash(fingerprint: &str, cell: &Cell, contender: &Contender) -> Result<String, BenchmarkError> {
    let version = Content::default().text(env!("CARGO_PKG_VERSION")).text(fingerprint);
    let version = version.spelled(cell);
    Ok(match &contender.how {
        // Wherever they lie.
        How::Given(dir) => version.text(&given::text(dir, cell, &contender.name)?).hash(),
        _ => version.spelled(contender).hash(),
    })
}
