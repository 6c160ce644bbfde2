//! From trainings to the rows of tables.

use std::collections::BTreeMap;

use regretless_learn::is_two_stage;
use regretless_learn::stats::{Summary, paired_t};
use serde::Serialize;

use crate::application::{Application, Cell, Contender, Predictor};
use crate::profile::Profile;
use crate::published::{self, Figure, Sharpness, Table};
use crate::record::Record;
use crate::study::Plan;

/// A method at one size over all seeds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// The method's full id.
    pub method: String,
    /// Sharpness; `None` for methods without one, and where the row is of the K that was chosen.
    pub k: Option<f64>,
    /// The cell's size.
    pub size: String,
    /// Rows to train on, where that is part of the cell.
    pub samples: Option<usize>,
    /// The predictor.
    pub predictor: Predictor,
    /// Mean regret on test, over seeds.
    pub regret: f64,
    /// Its standard deviation over seeds.
    pub std: Option<f64>,
    /// The paper's figure.
    pub published: Option<f64>,
    /// Its standard deviation.
    pub published_std: Option<f64>,
    /// Ours less the paper's.
    pub difference: Option<f64>,
    /// Regret over the mean absolute optimal value.
    pub relative: f64,
    /// Regret over that of the best two-stage row of the cell.
    pub ratio: Option<f64>,
    /// What the test compares with: the paper's method in the published profile, the best two-stage one otherwise.
    pub against: Option<String>,
    /// Statistic of the paired t-test over seeds; positive if this row's regret is higher.
    pub t: Option<f64>,
    /// Its p-value: one-tailed in the published profile, as in the paper, two-sided otherwise.
    pub p: Option<f64>,
    /// Mean squared error of the predictions.
    pub mse: f64,
    /// The paper's.
    pub published_mse: Option<f64>,
    /// The paper's t against its own method.
    pub published_t: Option<f64>,
    /// The paper's p.
    pub published_p: Option<f64>,
    /// Mean number of epochs run.
    pub epochs: f64,
    /// The paper's.
    pub published_epochs: Option<f64>,
    /// Mean seconds a seed.
    pub seconds: f64,
    /// Seeds.
    pub seeds: usize,
    /// The lowest mean regret of its cell, among rows that chose their K honestly.
    pub best: bool,
    /// The regret with every seed.
    #[serde(skip)]
    pub regrets: Vec<f64>,
    /// Mean regret by epoch and its standard deviation, over the seeds that got so far.
    #[serde(skip)]
    pub curve: Vec<(f64, f64)>,
    /// What there is to say.
    pub note: Option<String>,
}

impl Row {
    /// The cell.
    pub fn cell(&self) -> Cell {
        Cell { size: self.size.clone(), samples: self.samples, predictor: self.predictor }
    }

    /// The method with its K, for charts and sentences.
    pub fn label(&self) -> String {
        self.k.map_or_else(|| self.method.clone(), |k| format!("{} K={k}", self.method))
    }
}

/// The rows of a study: in each cell every method, with a row for every K and one for the K that was chosen: on validation,
/// seed by seed, or in the published profile by the mean over the test parts, as the paper did.
pub fn rows(application: &dyn Application, plan: &Plan, records: &[Record]) -> Vec<Row> {
    plan.cells.iter().flat_map(|cell| of_cell(application, plan, cell, records)).collect()
}

fn of_cell(application: &dyn Application, plan: &Plan, cell: &Cell, records: &[Record]) -> Vec<Row> {
    let published = application.profile() == Profile::Published;
    let mut found: BTreeMap<(String, Option<u64>), BTreeMap<u64, &Record>> = BTreeMap::new();
    for record in records.iter().filter(|r| r.cell == *cell) {
        let of_method = found.entry((record.method.clone(), record.k.map(f64::to_bits))).or_default();
        of_method.insert(record.seed, record);
    }
    // Rows must rest on the same data: seeds that some training lacks are left out.
    let wanted: Vec<(String, Option<u64>)> =
        plan.entries(cell).iter().map(|trial| (trial.contender.id(), trial.k.map(f64::to_bits))).collect();
    let whole =
        |seed: &u64| wanted.iter().all(|key| found.get(key).is_some_and(|seeds| seeds.contains_key(seed)));
    let seeds: Vec<u64> = plan.seeds.iter().copied().filter(whole).collect();
    if seeds.is_empty() {
        return Vec::new();
    }
    let of = |contender: Contender, k: Option<f64>| -> Option<Vec<&Record>> {
        let by_seed = found.get(&(contender.id(), k.map(f64::to_bits)))?;
        seeds.iter().map(|seed| by_seed.get(seed).copied()).collect()
    };
    let mut rows = Vec::new();
    for &contender in &plan.contenders {
        if !contender.has_sharpness() {
            rows.extend(of(contender, None).map(|records| row(application, cell, None, &records)));
            continue;
        }
        let each: Vec<(f64, Vec<&Record>)> =
            plan.grid.iter().filter_map(|&k| Some((k, of(contender, Some(k))?))).collect();
        rows.extend(each.iter().map(|(k, records)| row(application, cell, Some(*k), records)));
        if each.len() > 1 {
            let (records, how) = if published { by_test(&each) } else { by_validation(&each) };
            let mut chosen = row(application, cell, None, &records);
            chosen.note = Some(chosen.note.map_or(how.clone(), |note| format!("{how}; {note}")));
            rows.push(chosen);
        }
    }
    compare(application, plan, &mut rows);
    rows
}

/// The K with the lowest mean regret on test: how the paper chose, and too kind to the method.
fn by_test<'a>(each: &[(f64, Vec<&'a Record>)]) -> (Vec<&'a Record>, String) {
    let mean = |records: &[&Record]| records.iter().map(|r| r.regret).sum::<f64>();
    let best = each.iter().min_by(|a, b| mean(&a.1).total_cmp(&mean(&b.1)));
    best.map_or_else(Default::default, |(k, records)| {
        (records.clone(), format!("K = {k}, the best on test, as in the paper"))
    })
}

/// For every seed the K with the lowest regret on validation.
fn by_validation<'a>(each: &[(f64, Vec<&'a Record>)]) -> (Vec<&'a Record>, String) {
    let count = each.first().map_or(0, |(_, records)| records.len());
    let pick = |i: usize| each.iter().min_by(|a, b| a.1[i].valid.total_cmp(&b.1[i].valid));
    let picked: Vec<&(f64, Vec<&Record>)> = (0..count).filter_map(pick).collect();
    let times = each.iter().map(|(k, _)| {
        let times = picked.iter().filter(|(chosen, _)| chosen == k).count();
        format!("{k} ({times}×)")
    });
    let how = format!("K chosen on validation: {}", times.collect::<Vec<_>>().join(", "));
    (picked.iter().enumerate().map(|(i, (_, records))| records[i]).collect(), how)
}

fn row(application: &dyn Application, cell: &Cell, k: Option<f64>, records: &[&Record]) -> Row {
    let unit = application.unit();
    let mean = |value: &dyn Fn(&Record) -> f64| {
        records.iter().map(|r| value(r)).sum::<f64>() / records.len().max(1) as f64
    };
    let method = records.first().map_or_else(String::new, |r| r.method.clone());
    let regrets: Vec<f64> = records.iter().map(|r| unit * r.regret).collect();
    let surrogate = method.starts_with("surrogate-vertex");
    let sharpness = match k {
        Some(k) => Some(Sharpness::Fixed(k)),
        None => surrogate.then_some(Sharpness::Best),
    };
    // The paper has no linear predictor.
    let figure = |table: Table| -> Option<Figure> {
        let comparable = cell.predictor == Predictor::Mlp;
        let find =
            || published::figure(application.id(), table, &cell.size, cell.samples, &method, sharpness);
        comparable.then(find).flatten()
    };
    // The paper tests against its own method, and so do we in its profile only.
    let tested = application.profile() == Profile::Published;
    let (regret, published) = (mean(&|r| unit * r.regret), figure(Table::Regret));
    let diverged =
        records.iter().filter(|r| r.note.as_deref().is_some_and(|n| n.starts_with("diverged"))).count();
    Row {
        k,
        size: cell.size.clone(),
        samples: cell.samples,
        predictor: cell.predictor,
        regret,
        std: Summary::of(&regrets).ok().and_then(|s| s.std),
        published: published.map(|f| f.value),
        published_std: published.and_then(|f| f.std),
        difference: published.map(|f| regret - f.value),
        relative: mean(&|r| r.relative),
        ratio: None,
        against: None,
        t: None,
        p: None,
        mse: mean(&|r| r.mse),
        published_mse: figure(Table::Mse).map(|f| f.value),
        published_t: tested.then(|| figure(Table::T)).flatten().map(|f| f.value),
        published_p: tested.then(|| figure(Table::P)).flatten().map(|f| f.value),
        epochs: mean(&|r| r.epochs as f64),
        published_epochs: figure(Table::Epochs).map(|f| f.value),
        seconds: mean(&|r| r.seconds),
        seeds: records.len(),
        best: false,
        curve: curve(records, unit),
        note: (diverged > 0).then(|| format!("diverged with {diverged} of {} seeds", records.len())),
        regrets,
        method,
    }
}

/// Mean and deviation by epoch, over the seeds that got so far.
fn curve(records: &[&Record], unit: f64) -> Vec<(f64, f64)> {
    let longest = records.iter().map(|r| r.curve.len()).max().unwrap_or(0);
    let at = |epoch: usize| {
        let values: Vec<f64> = records
            .iter()
            .filter_map(|r| r.curve.get(epoch))
            .map(|v| unit * v)
            .filter(|v| v.is_finite())
            .collect();
        Summary::of(&values).map_or((f64::NAN, 0.0), |s| (s.mean, s.std.unwrap_or(0.0)))
    };
    (0..longest).map(at).collect()
}

/// Tests, ratios, and the best row of a cell.
fn compare(application: &dyn Application, plan: &Plan, rows: &mut [Row]) {
    let published = application.profile() == Profile::Published;
    let one_k = plan.grid.len() < 2;
    let honest = |row: &Row| {
        let sharp = plan.contenders.iter().any(|c| c.id() == row.method && c.has_sharpness());
        !sharp || one_k || row.k.is_none()
    };
    let lowest = |rows: &[Row], among: &dyn Fn(&Row) -> bool| {
        let candidates = (0..rows.len()).filter(|&i| among(&rows[i]));
        candidates.min_by(|&i, &j| rows[i].regret.total_cmp(&rows[j].regret))
    };
    let baselines = application.baselines();
    let two_stage = lowest(rows, &|r| is_two_stage(&r.method) || baselines.contains(&r.method.as_str()));
    if let Some(best) = lowest(rows, &honest) {
        rows[best].best = true;
    }
    let ours = rows.iter().position(|r| r.method == "surrogate-vertex" && honest(r));
    let reference = if published { ours } else { two_stage };
    let base = two_stage.map(|i| rows[i].regret).filter(|r| *r > 0.0);
    let reference = reference.map(|i| (i, rows[i].label(), rows[i].regrets.clone()));
    for (i, row) in rows.iter_mut().enumerate() {
        row.ratio = base.map(|base| row.regret / base).filter(|ratio| ratio.is_finite());
        let Some((_, label, regrets)) = reference.as_ref().filter(|(at, ..)| *at != i) else { continue };
        row.against = Some(label.clone());
        if let Some(test) = paired_t(&row.regrets, regrets) {
            let upper = if test.statistic > 0.0 { test.p_value / 2.0 } else { 1.0 - test.p_value / 2.0 };
            row.t = Some(test.statistic);
            row.p = Some(if published { upper } else { test.p_value });
        }
    }
}
