//! A bakery's shops with an oven each: three products share its room, so that a quantile of each is not enough.
//!
//! ```text
//! min Σₖ under_k·max(dₖ − xₖ, 0) + over_k·max(xₖ − dₖ, 0)   Σₖ xₖ ≤ room   x ≥ 0   under ~ U(2, 9)   over ~ U(1, 3)
//! ```

use std::path::Path;
use std::sync::Arc;

use rand::RngExt;
use regretless_core::{Matrix, Parameter, Placement, Problem, Soft, Term};
use regretless_learn::{
    Dataset, ErrorWeights, Known, LearnError, Names, Part, PredictorKind, Settings, TargetTransform, Warmup,
    stream,
};

use super::bakery;
use super::orders::cost;
use super::panel::Panel;
use crate::BenchmarkError;
use crate::contender::{Contender, Fit, How};
use crate::late::Late;
use crate::saa;
use crate::suite::{Cell, Question, Suite};

/// Products of a shop.
const PRODUCTS: usize = 3;
/// Room of an oven, in units of the shop's mean demand of a day.
const ROOMS: [f64; 3] = [0.8, 1.0, 1.2];

/// The bakery with ovens.
#[derive(Debug)]
pub struct Ovens {
    panel: Late<Panel>,
}

impl Ovens {
    /// From a folder with `Bakery_dataset.csv.zip`.
    pub fn new(dir: &Path) -> Self {
        let path = dir.join("Bakery_dataset.csv.zip");
        Self { panel: Late::new(move || read(&path)) }
    }
}

/// The bakery's table, whose shops all have the same products.
fn read(path: &Path) -> Result<Panel, BenchmarkError> {
    let panel = bakery::read(path)?;
    let shop = |name: &String| name.split(' ').next().unwrap_or_default().to_owned();
    let same = |shops: &[String]| shops.iter().all(|s| shop(s) == shop(&shops[0]));
    if panel.series.len() % PRODUCTS != 0 || !panel.series.chunks(PRODUCTS).all(same) {
        let hint = "the bakery's table has three products in every shop";
        return Err(BenchmarkError::file(path, "shops do not have the same products", hint));
    }
    Ok(panel)
}

fn name(room: f64) -> String {
    format!("room={room}")
}

/// The two sides of each product's costs in a draw.
fn sides(draw: u64) -> Vec<ErrorWeights> {
    let mut rng = stream(draw, 25, 0);
    let mut between = |low: f64, high: f64| low + (high - low) * rng.random::<f64>();
    (0..PRODUCTS)
        .map(|_| {
            let under = between(2.0, 9.0);
            ErrorWeights { over: between(1.0, 3.0), under }
        })
        .collect()
}

fn problem(sides: &[ErrorWeights]) -> Result<Problem, LearnError> {
    let one = |i, j| f64::from(u8::from(i == j));
    let over: Vec<f64> = sides.iter().map(|s| s.over).collect();
    let under: Vec<f64> = sides.iter().map(|s| s.under).collect();
    let demand = Soft::both(Matrix::from_fn(PRODUCTS, PRODUCTS, one), [0.0; PRODUCTS], over, under);
    let oven = Matrix::from_fn(1, PRODUCTS, |_, _| 1.0);
    Ok(Problem::minimize(PRODUCTS)
        .linear([0.0; PRODUCTS])
        .soft("demand", demand)
        .at_most("oven", oven, [0.0])
        .build()?)
}

/// What the best orders cost where demand is known: nothing too many, and room for the dearest first.
fn optimal(demand: &[f64], room: f64, sides: &[ErrorWeights]) -> f64 {
    let mut order: Vec<usize> = (0..demand.len()).collect();
    order.sort_by(|&a, &b| sides[b].under.total_cmp(&sides[a].under));
    let mut left = room;
    let unmet = order.into_iter().map(|k| {
        let baked = demand[k].min(left);
        left -= baked;
        sides[k].under * (demand[k] - baked)
    });
    unmet.sum()
}

impl Suite for Ovens {
    fn id(&self) -> &'static str {
        "ovens"
    }

    fn title(&self) -> &'static str {
        "Bakery with ovens: 35 shops, three products each"
    }

    fn unit(&self) -> &'static str {
        "regret over that of the quantiles of the shop's past scaled to fit (SAA), mean over shops, paired over days"
    }

    fn settings(&self) -> Vec<String> {
        ROOMS.map(name).to_vec()
    }

    fn quick(&self) -> Vec<String> {
        Vec::new()
    }

    fn draws(&self, _: bool) -> usize {
        3
    }

    fn contenders(&self) -> Vec<Contender> {
        use PredictorKind::{Linear, Trees};
        let trees = |method| Fit {
            method,
            predictor: Trees,
            transform: TargetTransform::None,
            warmup: Warmup::Epochs(0),
        };
        let rule = |name: &'static str, how| Contender { name: name.into(), two_stage: true, how };
        vec![
            rule("SAA to fit", How::Saa),
            rule("trees l2 to fit", How::ToFit(trees("l2"))),
            rule("trees quantile to fit", How::Quantiles(trees("weighted-l1"))),
            Contender::plain("trees l2", "l2", Trees).two_stage(),
            Contender::plain("ridge + residuals", "l2+scenarios", Linear).two_stage(),
            Contender::plain("trees + residuals", "l2+scenarios", Trees).two_stage(),
            Contender::plain("trees + spread", "l2+scaled", Trees).two_stage(),
            Contender::auto(),
        ]
    }

    fn question(&self, cell: &Cell) -> Result<Question, BenchmarkError> {
        let Some(room) = ROOMS.into_iter().find(|room| name(*room) == cell.setting) else {
            return Err(BenchmarkError::Settings {
                what: format!("the ovens have no setting `{}`", cell.setting),
                hint: "a setting reads room=0.8".into(),
            });
        };
        question(self.panel.get()?, room, sides(cell.draw))
    }

    fn fingerprint(&self) -> Result<String, BenchmarkError> {
        Ok(self.panel.get()?.fingerprint())
    }
}

fn question(panel: &Panel, room: f64, sides: Vec<ErrorWeights>) -> Result<Question, BenchmarkError> {
    let parts = panel.parts();
    let shops = panel.series.len() / PRODUCTS;
    let demand = |day: usize, shop: usize| {
        let at = (day * shops + shop) * PRODUCTS;
        &panel.demand[at..at + PRODUCTS]
    };
    let past: Vec<usize> = (0..parts.len()).filter(|&d| parts[d] != Part::Test).collect();
    let test: Vec<usize> = (0..parts.len()).filter(|&d| parts[d] == Part::Test).collect();
    let rooms: Vec<f64> = (0..shops)
        .map(|shop| {
            let total: f64 = past.iter().flat_map(|&d| demand(d, shop)).sum();
            room * total / past.len() as f64
        })
        .collect();
    let reference = |shop: usize| {
        let quantile = |k: usize| {
            let level = sides[k].under / (sides[k].over + sides[k].under);
            saa::quantile(past.iter().map(|&d| demand(d, shop)[k]).collect(), level)
        };
        let mut orders: Vec<f64> = (0..PRODUCTS).map(quantile).collect();
        saa::to_fit(&mut orders, rooms[shop]);
        let regret = |&d: &usize| {
            let truth = demand(d, shop);
            let costs: f64 = (0..PRODUCTS).map(|k| cost(orders[k], truth[k], sides[k])).sum();
            costs - optimal(truth, rooms[shop], &sides)
        };
        test.iter().map(regret).sum::<f64>() / test.len() as f64
    };
    let worth: Vec<f64> = (0..shops).map(|shop| 1.0 / reference(shop)).collect();
    let problem = problem(&sides)?;
    let limits = (0..PRODUCTS).map(|k| Term::predicted(Parameter::Limit, k, k));
    let terms = limits.chain([Term::known(Parameter::AtMost, 0, 0)]).collect::<Vec<_>>();
    let each = |days: &[usize], value: &dyn Fn(usize, usize) -> f64| -> Vec<f64> {
        days.iter().flat_map(|&d| (0..shops).map(move |s| (d, s))).map(|(d, s)| value(d, s)).collect()
    };
    Ok(Question {
        placement: Placement::new(&problem, PRODUCTS, 1, terms).map_err(LearnError::from)?,
        problem,
        worth: each(&test, &|_, shop| worth[shop]),
        blocks: each(&test, &|day, _| day as f64).into_iter().map(|day| day as u32).collect(),
        room: each(&test, &|_, shop| rooms[shop]),
        data: Arc::new(dataset(panel, &parts, &rooms)),
        settings: Settings::default(),
        sides,
        own: None,
    })
}

/// A row for each day and shop: what products share once, the past and promotions of each product.
fn dataset(panel: &Panel, parts: &[Part], rooms: &[f64]) -> Dataset {
    let shops = rooms.len();
    let own = |name: &str| ["lag", "mean", "promotion"].iter().any(|start| name.starts_with(start));
    let mut columns = Vec::new();
    for column in panel.columns.iter().filter(|c| c.name != "product_no") {
        for k in 0..if own(&column.name) { PRODUCTS } else { 1 } {
            let name = if own(&column.name) { format!("{}_{k}", column.name) } else { column.name.clone() };
            columns.push((name, k, column));
        }
    }
    let rows = parts.len() * shops;
    let value = |row: usize, k: usize, values: &[f64]| values[row * PRODUCTS + k];
    let features =
        (0..rows).flat_map(|row| columns.iter().map(move |(_, k, c)| value(row, *k, &c.values))).collect();
    let names = Names {
        features: columns.iter().map(|(name, ..)| name.clone()).collect(),
        targets: (0..PRODUCTS).map(|k| format!("demand_{k}")).collect(),
        ..Names::default()
    };
    let of_row: Vec<Part> = (0..rows).map(|row| parts[row / shops]).collect();
    let known =
        Known { names: vec!["room".into()], values: (0..rows).map(|row| rooms[row % shops]).collect() };
    let mut data = Dataset::new(features, panel.demand.clone(), rows, names)
        .with_kinds(columns.iter().map(|(_, _, c)| c.kind.clone()).collect())
        .with_parts(&of_row)
        .with_known(known);
    (0..rows).for_each(|row| data.series.push(&panel.series[(row % shops) * PRODUCTS]));
    data.times = (0..rows).map(|row| panel.days[row / shops] as f64).collect();
    data.dates = true;
    data
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::newsvendor::panel::tests::toy;

    /// Two shops with three products each.
    fn shops() -> Panel {
        let two = toy(60);
        let mut panel = two.clone();
        panel.series = ["a 1", "a 2", "a 3", "b 1", "b 2", "b 3"].map(String::from).to_vec();
        let of_day = |v: &[f64]| [v[0], 2.0 * v[0], 9.0 - v[0] / 3.0, v[1], v[0], v[1] / 7.0];
        panel.demand = two.demand.chunks(2).flat_map(of_day).collect();
        panel.columns.retain(|c| c.name == "weekday");
        panel.columns[0].values = (0..60 * 6).map(|at| f64::from((at / 6) % 7)).collect();
        panel.with_past()
    }

    #[test]
    fn the_reference_is_one_and_the_optimum_the_solvers() {
        let sides = sides(0);
        assert!(sides.iter().all(|s| (2.0..9.0).contains(&s.under) && (1.0..3.0).contains(&s.over)));
        let question = question(&shops(), 0.8, sides.clone()).unwrap();
        let predictions = saa::predictions(&question).unwrap();
        let task = question.task(Settings::default()).unwrap();
        let (truths, known) = (task.targets(task.test()), task.known(task.test()));
        let ids: Vec<u64> = (0..task.test().len() as u64).collect();
        let batch =
            regretless_core::Batch { predictions: &predictions, truths: &truths, known: &known, ids: &ids };
        let decisions = task.regret(None).unwrap().evaluate(&batch).unwrap();
        for (i, decision) in decisions.iter().enumerate() {
            let by_hand = optimal(&truths[3 * i..3 * i + 3], known[i], &sides);
            assert!((decision.optimal - by_hand).abs() < 1e-7 * (1.0 + by_hand), "{i}");
            assert!(predictions[3 * i..3 * i + 3].iter().sum::<f64>() <= known[i] + 1e-9);
        }
        let regrets: Vec<f64> = decisions.iter().map(|d| d.regret).collect();
        let values = question.values(&regrets);
        assert!((values.iter().sum::<f64>() / values.len() as f64 - 1.0).abs() < 1e-7);
    }
}
