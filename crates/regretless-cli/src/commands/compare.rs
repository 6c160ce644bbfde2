//! `regretless compare`

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use regretless_core::Sense;
use regretless_learn::{Comparison, Task, Threads, compare, compare_origins};
use regretless_project::page::Compared;
use regretless_project::{Spec, methods_of};

use crate::args::{CompareArgs, Format};
use crate::error::CliError;
use crate::learning::{four, names, p_value, read, threads};
use crate::output::{Exit, Outcome, table, wrapped};
use crate::progress::Comparing;
use crate::templates::Template;

pub(crate) fn run(args: &CompareArgs) -> Result<Outcome, CliError> {
    let threads = threads(args.common.threads);
    let example = Example::new(args.problem.is_none())?;
    let problem = args.problem.as_deref().unwrap_or(&example.problem);
    let spec = read(problem, args.methods.data.as_deref(), None, &args.settings)?;
    let preparing = crate::progress::preparing(args.common.quiet);
    let prepared = prepared(&spec, args.folds);
    preparing.finish_and_clear();
    let (task, origins) = prepared?;
    let methods = methods_of(&task, &args.methods.methods)?;
    let seeds = args.methods.seeds(spec.training().seed);
    let stop = crate::interrupt::on_ctrl_c(args.common.max_minutes);
    stop.begin();
    let interrupt = stop.flag();
    let progress = Comparing::new(args.common.quiet);
    let compared = if origins.is_empty() {
        compare(&task, &methods, &seeds, &Threads(threads), &progress, interrupt)
    } else {
        compare_origins(origins, &methods, &Threads(threads), &progress, interrupt)
    };
    progress.finish();
    stop.over();
    let comparison = compared?;
    if comparison.rows.is_empty() {
        return Err(CliError::Interrupted);
    }
    let shown = example.shown.as_deref();
    show(&spec, spec.file(), &task, &comparison, shown, &args.out, args.common.format)
}

/// The task and, with rolling origins, that of each of them, with a seed of its own.
fn prepared(spec: &Spec, folds: Option<u16>) -> Result<(Task, Vec<Task>), CliError> {
    let Some(folds) = folds else { return Ok((spec.task()?, Vec::new())) };
    let data = spec.read_data()?;
    let origins = spec.origins(&data, usize::from(folds))?;
    Ok((spec.task_of(data)?, origins))
}

/// Writes the page and `comparison.json`, and shows the table; `file` is the problem file to go on with.
pub(crate) fn show(
    spec: &Spec,
    file: &Path,
    task: &Task,
    comparison: &Comparison,
    example: Option<&str>,
    out: &Path,
    format: Format,
) -> Result<Outcome, CliError> {
    let compared = Compared::new(spec, task, comparison, example);
    let html = compared.write(out)?;
    let text = match format {
        Format::Json => compared.json().to_owned(),
        Format::Table => render(spec, file, task, comparison, example, &html),
    };
    Ok(Outcome::new(text, Exit::Success))
}

/// The embedded example, written out for as long as it is needed.
struct Example {
    problem: PathBuf,
    dir: Option<PathBuf>,
    shown: Option<String>,
}

impl Example {
    fn new(wanted: bool) -> Result<Self, CliError> {
        if !wanted {
            return Ok(Self { problem: PathBuf::new(), dir: None, shown: None });
        }
        let dir = std::env::temp_dir().join(format!("regretless-example-{}", std::process::id()));
        let failed = |source| CliError::Write { path: dir.display().to_string(), source };
        fs::create_dir_all(&dir).map_err(failed)?;
        for (name, content) in Template::Production.files() {
            fs::write(dir.join(name), content).map_err(failed)?;
        }
        let shown = "the embedded example; `regretless new production DIR` writes it out".to_owned();
        Ok(Self { problem: dir.join("problem.toml"), dir: Some(dir), shown: Some(shown) })
    }
}

impl Drop for Example {
    fn drop(&mut self) {
        if let Some(dir) = &self.dir {
            let _ = fs::remove_dir_all(dir);
        }
    }
}

fn render(
    spec: &Spec,
    file: &Path,
    task: &Task,
    comparison: &Comparison,
    example: Option<&str>,
    html: &Path,
) -> String {
    let mut out = String::new();
    let name = spec.name().unwrap_or("problem");
    let _ = writeln!(out, "{name}: regret on {}, less is better\n", comparison.judged);
    let money = if spec.problem().sense() == Sense::Max { "gain" } else { "cost" };
    let at_risk = comparison.rows.iter().any(|r| r.risk.is_some());
    let mut header =
        vec!["method", "regret", "± std", "% of optimum", money, "vs two-stage", "p", "p vs next", "seconds"];
    if at_risk {
        header.insert(5, "at risk");
    }
    let rows = comparison.rows.iter().map(|r| {
        let mut row = vec![
            format!("{} {}", if r.best { "*" } else { " " }, r.method),
            four(r.regret),
            r.std.map_or_else(|| "–".into(), four),
            if r.relative.is_finite() { format!("{:.2}", 100.0 * r.relative) } else { "–".into() },
            r.achieved.map_or_else(|| "–".into(), four),
            r.ratio.map_or_else(|| "–".into(), |ratio| format!("{ratio:.3}")),
            p_value(r.p_two_stage),
            p_value(r.p_value),
            format!("{:.1}", r.seconds),
        ];
        if at_risk {
            row.insert(5, r.risk.map_or_else(|| "–".into(), |risk| four(risk.score)));
        }
        row
    });
    out += &table(&header, 1, rows);
    let seeds = comparison.rows.first().map_or(0, |r| r.seeds);
    let what = match comparison.paired {
        "seeds" => format!("over {seeds} seeds"),
        "origins" => format!("over {seeds} origins"),
        _ => "over instances, means over the seeds".into(),
    };
    let star = if comparison.rows.iter().any(|r| r.undecided > 0) {
        "* lowest regret of those that leave the fewest rows without a decision (see the notes)"
    } else {
        "* lowest regret"
    };
    let risk = if at_risk {
        format!(
            " at risk: what a pair of decision and threshold comes to, whose mean the risk makes as good as it can, by its {money};"
        )
    } else {
        String::new()
    };
    let legend = format!(
        "{star}; {money}: of a decision, on average;{risk} vs two-stage: ratio to the best of constant, l1, l2, weighted-l1 and its p; p vs next: against \
         the best other method; paired t-tests {what}."
    );
    let _ = writeln!(out, "\n{}", wrapped(&legend, 0));
    if let Some(auto) = comparison.records.iter().find(|e| e.method == "auto") {
        let _ = writeln!(out, "{}", wrapped(&format!("auto, seed {}: {}.", auto.seed, auto.sentence), 0));
    }
    for warning in &comparison.warnings {
        let _ = writeln!(out, "warning: {}", wrapped(warning, 9));
    }
    for row in comparison.rows.iter().filter(|r| r.note.is_some()) {
        let _ = writeln!(out, "note: {}: {}", row.method, row.note.as_deref().unwrap_or_default());
    }
    for note in comparison.notes.iter().map(String::as_str).chain(example) {
        let _ = writeln!(out, "note: {}", wrapped(note, 6));
    }
    if spec.data().is_none_or(|d| d.features.is_none()) {
        let features = names(&task.data().names.features);
        let note = format!("features are the columns that nothing else takes: {features}");
        let _ = writeln!(out, "note: {}", wrapped(&note, 6));
    }
    if example.is_none() {
        let file = file.display();
        let next = match comparison.rows.iter().find(|r| r.best) {
            Some(best) if best.p_two_stage.is_some_and(|p| p < 0.05) => format!("--method {}", best.method),
            _ => {
                "          (nothing beats two-stage with p < 0.05: `auto` chooses by cross-validation)".into()
            }
        };
        let _ = writeln!(out, "\nnext: regretless train {file} {next}");
    }
    let _ = writeln!(out, "\nreport: {}", html.display());
    out
}
