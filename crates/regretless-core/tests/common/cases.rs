//! Problems, placements and batches that the losses are tried on.
#![allow(dead_code, unreachable_pub)]
#![allow(clippy::unwrap_used, reason = "tests fail loudly")]

use rand::RngExt;
use regretless_core::*;

use super::{Recipe, normal, rng, sparse};

/// A small problem in a box: feasible, bounded, no ties; from seed 4 on with an equality.
pub fn problem(seed: u64, quadratic: bool, minimise: bool) -> Problem {
    let recipe = Recipe {
        n: 3 + (seed % 4) as usize,
        soft: 3,
        at_most: 3,
        equal: usize::from(seed >= 4),
        quadratic: u8::from(quadratic),
        bounds: 1,
        redundant: false,
        scaled: false,
        degenerate: false,
        minimise,
        seed,
    };
    recipe.build()
}

/// What may be predicted, from one parameter to several.
pub fn placements(problem: &Problem) -> Vec<Placement> {
    use Parameter::*;
    let mut kinds: Vec<&[Parameter]> = vec![
        &[Linear],
        &[SoftRows],
        &[Limit],
        &[Over],
        &[Under],
        &[AtMostRows],
        &[AtMost],
        &[Lower],
        &[Upper],
        &[SoftRows, Limit, Over],
        &[Linear, AtMost, Limit],
    ];
    if problem.shape().equal > 0 {
        kinds.extend([&[EqualRows][..], &[Equals]]);
    }
    // An LP may be given a predicted Q too.
    kinds.extend([&[Quadratic][..], &[Linear, Quadratic], &[Quadratic, Over]]);
    let whole = kinds.into_iter().map(|k| Placement::whole(problem, k));
    let part = Placement::of_parts(&[Part { parameter: Linear, range: 1..3 }]);
    whole.chain([part]).collect()
}

/// Runs of entries of one kind, of a placement in which each quantity is an entry.
pub fn parts(placement: &Placement) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    for home in placement.homes() {
        let (parameter, entry) = home[0];
        match parts.last_mut().filter(|part| (part.parameter, part.range.end) == (parameter, entry)) {
            Some(part) => part.range.end += 1,
            None => parts.push(Part { parameter, range: entry..entry + 1 }),
        }
    }
    parts
}

/// The inverse of [`Placement::parameters`] where each quantity is an entry.
pub fn read(problem: &Problem, placement: &Placement, parameters: &Parameters) -> Vec<f64> {
    let value = |home: Vec<(Parameter, usize)>| {
        let (parameter, entry) = home[0];
        // An LP's Q is one of zeros.
        parameters.get(parameter).unwrap_or(parameter.of(problem)).get(entry).copied().unwrap_or(0.0)
    };
    placement.homes().into_iter().map(value).collect()
}

/// A flat vector near the problem's own values; prices stay positive, Q stays definite, bounds stay apart.
pub fn near(problem: &Problem, placement: &Placement, seed: u64, far: f64) -> Vec<f64> {
    let mut r = rng(seed);
    let own = read(problem, placement, &Parameters::default());
    let mut at = 0;
    let mut out = Vec::new();
    for part in parts(placement) {
        for i in part.range.clone() {
            let own = own[at];
            at += 1;
            out.push(match part.parameter {
                Parameter::Over | Parameter::Under => (own + 0.2) * (1.0 + far * r.random::<f64>()),
                Parameter::Quadratic => {
                    let (row, col) = Parameter::Quadratic.pattern(problem).unwrap().place(i);
                    let mirror = (row.min(col) * problem.n() + row.max(col)) as u64;
                    let u: f64 = rng(seed.wrapping_mul(977) + mirror).random();
                    // Diagonally dominant: definite whatever was there before.
                    own + far * if row == col { 0.3 + u } else { 0.05 * u }
                }
                Parameter::Lower => own - 0.3 * far * r.random::<f64>(),
                Parameter::Upper => own + 0.3 * far * r.random::<f64>(),
                _ => own + far * normal(&mut r),
            });
        }
    }
    out
}

pub fn multipliers(problem: &Problem, placement: &Placement, flats: &[&[f64]]) -> Option<Multipliers> {
    let parameters: Vec<Parameters> = flats.iter().map(|f| placement.parameters(problem, f, &[])).collect();
    let instances: Vec<Instance<'_>> = parameters.iter().map(Parameters::instance).collect();
    Multipliers::choose(problem, &Rule::default(), &instances).ok()
}

pub fn options(multipliers: &Multipliers) -> LossOptions<'_> {
    LossOptions { k: 2.0, over: 3.0, under: 0.5, multipliers: Some(multipliers), ..LossOptions::default() }
}

/// A finished setting: problem, placement, some truths and predictions, multipliers that fit the truths.
pub struct Case {
    pub problem: Problem,
    pub placement: Placement,
    pub multipliers: Multipliers,
    pub predictions: Vec<f64>,
    pub truths: Vec<f64>,
    pub ids: Vec<u64>,
}

impl Case {
    pub fn new(problem: &Problem, placement: &Placement, seed: u64, rows: usize) -> Option<Self> {
        let rows = rows as u64;
        let truths: Vec<Vec<f64>> =
            (0..rows).map(|i| near(problem, placement, 100 * seed + i, 0.2)).collect();
        let predictions: Vec<Vec<f64>> =
            (0..rows).map(|i| near(problem, placement, 7000 + 100 * seed + i, 0.3)).collect();
        let flats: Vec<&[f64]> = truths.iter().chain(&predictions).map(Vec::as_slice).collect();
        Some(Self {
            multipliers: multipliers(problem, placement, &flats)?,
            problem: problem.clone(),
            placement: placement.clone(),
            predictions: predictions.concat(),
            truths: truths.concat(),
            ids: (0..rows).collect(),
        })
    }

    pub fn loss(&self, method: Method) -> Box<dyn DecisionLoss> {
        build_loss(method, &self.problem, &self.placement, &options(&self.multipliers)).unwrap()
    }

    pub fn batch(&self) -> Batch<'_> {
        Batch::new(&self.predictions, &self.truths, &self.ids)
    }
}

/// Every setting that `method` supports: LP and QP, `max` and `min`, all placements.
pub fn every(method: Method, rows: usize) -> Vec<Case> {
    many(method, rows, 4)
}

/// The same for more problems.
pub fn many(method: Method, rows: usize, problems: u64) -> Vec<Case> {
    let mut cases = Vec::new();
    for seed in 0..problems {
        let dense = problem(seed, seed % 2 == 1, (seed / 2) % 2 == 1);
        let problem = if seed % 3 == 2 { sparse(&dense) } else { dense };
        for placement in placements(&problem) {
            if method.supports(&problem, &placement).is_ok() {
                cases.extend(Case::new(&problem, &placement, seed, rows));
            }
        }
    }
    assert!(cases.len() >= 8, "{method}: {} cases", cases.len());
    cases
}

/// Central differences of a loss at `base` against its gradient there, where the loss has no kink; how many entries were compared.
pub fn differences(loss: &mut dyn DecisionLoss, base: &[f64], truth: &[f64]) -> (usize, usize) {
    let width = base.len();
    let mut rows = base.to_vec();
    for j in 0..width {
        for h in [1e-4, -1e-4, 5e-5, -5e-5] {
            let mut row = base.to_vec();
            row[j] += h;
            rows.extend(row);
        }
    }
    let count = rows.len() / width;
    let ids: Vec<u64> = (0..count as u64).collect();
    let truths = truth.repeat(count);
    let batch = Batch::new(&rows, &truths, &ids);
    let losses = loss.evaluate(&batch).unwrap();
    assert!(losses.troubles.is_empty(), "{:?}", losses.troubles);
    assert!(losses.values.iter().all(|v| *v >= 0.0));
    let size = losses.gradients[..width].iter().fold(1e-2_f64, |m, g| m.max(g.abs()));
    let mut checked = 0;
    for j in 0..width {
        let v = &losses.values[1 + 4 * j..5 + 4 * j];
        let (wide, narrow) = ((v[0] - v[1]) / 2e-4, (v[2] - v[3]) / 1e-4);
        let bend = (v[0] + v[1] - 2.0 * losses.values[0]).abs() / 1e-4;
        if (wide - narrow).abs() > 1e-4 * size || bend > 0.05 * size {
            continue;
        }
        let gradient = losses.gradients[j];
        assert!((gradient - narrow).abs() <= 1e-3 * size, "{}: {gradient} vs {narrow}", loss.method());
        checked += 1;
    }
    (checked, width)
}
