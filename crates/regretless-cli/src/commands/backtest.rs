//! `regretless evaluate --backtest`

use regretless_learn::{Account, Measures, Observer, Stages, train_task};
use regretless_project::{Overrides, Run};
use serde::Serialize;

use crate::args::{EvaluateArgs, Format};
use crate::commands::evaluate::shown;
use crate::error::CliError;
use crate::learning::four;
use crate::output::{Exit, Outcome, json, table, wrapped};
use crate::progress::Training;

/// What a model that was trained at one moment came to on what followed.
#[derive(Serialize)]
struct Origin {
    /// When validation and the test begin, and when the test ends.
    valid_from: String,
    test_from: String,
    test_until: Option<String>,
    /// Rows for training, validation and test.
    rows: [usize; 3],
    /// The predictor that was kept.
    kept: String,
    test: Measures,
    constant: Measures,
    account: Account,
}

pub(super) fn run(args: &EvaluateArgs, run: &Run, times: usize) -> Result<Outcome, CliError> {
    let given = Some(args.baseline.clone()).filter(|columns| !columns.is_empty());
    let groups = Some(args.groups.clone()).filter(|columns| !columns.is_empty());
    let overrides = Overrides { data: args.data.clone(), baseline: given, groups, ..Overrides::default() };
    let spec = run.spec()?.with_overrides(overrides)?;
    let stop = crate::interrupt::on_ctrl_c(args.max_minutes);
    let mut progress = Training::new(args.format == Format::Json, stop);
    let data = spec.read_data()?;
    let splits = data.origins(&spec.settings().split, times)?;
    let mut origins = Vec::new();
    for split in splits {
        let task = spec.task_split(&data, split)?;
        let trained = train_task(&task, None::<&Stages>, &mut progress)?.outcome;
        if progress.interrupted() {
            break;
        }
        let (Some(test), Some(account)) = (trained.test, trained.account) else { continue };
        origins.push(Origin {
            valid_from: split.valid_from.map(|at| data.moment_of(at)).unwrap_or_default(),
            test_from: split.test_from.map(|at| data.moment_of(at)).unwrap_or_default(),
            test_until: split.test_until.map(|at| data.moment_of(at)),
            rows: trained.rows,
            kept: trained.kept,
            test,
            constant: trained.constant,
            account,
        });
    }
    progress.finish();
    if origins.is_empty() {
        return Err(CliError::Interrupted);
    }
    let text = match args.format {
        Format::Json => json(&origins),
        Format::Table => render(&origins),
    };
    Ok(Outcome::new(text, Exit::Success))
}

fn render(origins: &[Origin]) -> String {
    let first = &origins[0].account;
    let mut header: Vec<String> =
        ["test from", "trained on", "judged on", "kept", "regret", "constant", &first.objective]
            .map(str::to_owned)
            .to_vec();
    header.extend(first.against.iter().map(|rival| format!("better than {}", rival.name)));
    let row = |origin: &Origin| {
        let mut row = vec![
            origin.test_from.clone(),
            origin.rows[0].to_string(),
            origin.rows[2].to_string(),
            origin.kept.clone(),
            four(origin.test.regret),
            four(origin.constant.regret),
            four(origin.account.achieved.mean),
        ];
        for name in first.against.iter().map(|rival| &rival.name) {
            let own = origin.account.against.iter().find(|rival| rival.name == *name);
            row.push(own.map_or_else(|| "–".into(), |rival| four(rival.advantage)));
        }
        row
    };
    let mean = |of: &dyn Fn(&Origin) -> f64| origins.iter().map(of).sum::<f64>() / origins.len() as f64;
    let (own, constant) = (mean(&|o| o.test.regret), mean(&|o| o.constant.regret));
    let better = origins.iter().filter(|o| o.test.regret < o.constant.regret).count();
    let text = format!(
        "Mean regret over {} origins {}, of the constant predictor {}; better than it at {better} of them. Regret, {} and what the \
         model is better by are means a decision.",
        origins.len(),
        four(own),
        four(constant),
        first.objective
    );
    let last = origins.last().map(|origin| shown(&origin.account)).unwrap_or_default();
    let rows = table(&header, 1, origins.iter().map(row));
    format!("{rows}\n{}\n\nAt the last origin:\n{last}", wrapped(&text, 0))
}
