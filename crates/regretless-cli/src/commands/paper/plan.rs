//! From options to what is run.

use regretless_learn::Base;
use regretless_paper::{Application, Cell, Contender, PaperError, Plan, Predictor};

use super::args::{PredictorName, StudyArgs};

/// Cells, seeds, methods and K: what the options say, and for the rest a quick or the full selection.
pub(super) fn plan(
    application: &dyn Application,
    args: &StudyArgs,
    samples: &[usize],
) -> Result<Plan, PaperError> {
    let predictors = args.predictor.iter().map(|p| match p {
        PredictorName::Mlp => Predictor::Mlp,
        PredictorName::Linear => Predictor::Linear,
    });
    let usual = if args.full { application.cells() } else { application.quick() };
    let cells = choose(application, &usual, &args.sizes, samples)?;
    let each = |predictor: Predictor| cells.iter().map(move |cell| Cell { predictor, ..cell.clone() });
    let cells = once(predictors.flat_map(each));
    let mut contenders: Vec<Contender> = if args.methods.is_empty() {
        application.contenders()
    } else {
        let read =
            |name: &String| Contender::read(name.trim(), application.profile(), application.baselines());
        args.methods.iter().map(read).collect::<Result<_, _>>()?
    };
    let constant = Contender::Method(Base::Constant.into());
    contenders.retain(|c| *c != constant);
    contenders.insert(0, constant);
    let contenders = once(contenders);
    let grid = once(if args.k.is_empty() { application.grid() } else { args.k.clone() });
    if let Some(bad) = grid.iter().find(|k| !(1e-6..=1e6).contains(*k)) {
        let hint = "K is a number from 1e-6 to 1e6, such as --k 5".to_owned();
        return Err(PaperError::Settings { what: format!("--k: {bad:?} is out of range"), hint });
    }
    let count = args.seeds.map_or(if args.full { 15 } else { 5 }, usize::from);
    let seeds = application.seeds(count);
    if seeds.len() < count && args.seeds.is_some() {
        let what = format!("--seeds: there is data for {} seeds only", seeds.len());
        return Err(PaperError::Settings { what, hint: format!("use --seeds {}", seeds.len()) });
    }
    Ok(Plan { cells, seeds, contenders, grid })
}

/// Without what came before.
fn once<T: PartialEq>(items: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut seen = Vec::new();
    for item in items {
        if !seen.contains(&item) {
            seen.push(item);
        }
    }
    seen
}

/// The cells with the given sizes and samples; where neither is given, the usual ones.
fn choose(
    application: &dyn Application,
    usual: &[Cell],
    sizes: &[String],
    samples: &[usize],
) -> Result<Vec<Cell>, PaperError> {
    let mut all_sizes: Vec<String> = Vec::new();
    for size in sizes {
        all_sizes.extend(application.sizes(size)?);
    }
    if all_sizes.is_empty() {
        all_sizes.extend(usual.iter().map(|cell| cell.size.clone()));
    }
    let mut all_samples: Vec<Option<usize>> = samples.iter().map(|&n| Some(n)).collect();
    if all_samples.is_empty() {
        all_samples.extend(usual.iter().map(|cell| cell.samples));
    }
    let (all_sizes, all_samples) = (once(all_sizes), once(all_samples));
    let cell = |samples: Option<usize>| {
        all_sizes.iter().map(move |size| Cell { size: size.clone(), samples, predictor: Predictor::Mlp })
    };
    let cells: Vec<Cell> = all_samples.into_iter().flat_map(cell).collect();
    cells.iter().try_for_each(|cell| application.check(cell))?;
    Ok(cells)
}
