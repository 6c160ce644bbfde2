//! The shortest path through a 5 × 5 grid whose costs are predicted (Elmachtoub & Grigas 2022).
//!
//! ```text
//! ξ ~ N(0, I₅)   B fair coins, a draw's own   cᵢ = [((Bξ)ᵢ/√5 + 3)^degree + 1]·uᵢ   uᵢ ~ U(1 − w, 1 + w)
//! ```

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use rand::{Rng, RngExt};
use regretless_core::{Matrix, Placement, Problem};
use regretless_learn::{Dataset, LearnError, Names, Part, PredictorKind, Settings, TargetTransform, stream};
use regretless_paper::random::normal;

use crate::BenchmarkError;
use crate::contender::Contender;
use crate::published::PathTable;
use crate::suite::{Cell, Published, Question, Suite};

/// Features of a row.
const FEATURES: usize = 5;
/// Nodes on a side of the grid.
const SIDE: usize = 5;
/// Edges to the right, row by row, and then those down.
const EDGES: usize = 2 * SIDE * (SIDE - 1);
/// Rows that are judged on.
const TEST: usize = 1000;

/// A setting.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Setting {
    /// Rows to train on; a quarter as many are there to choose by.
    pub rows: usize,
    /// How far from linear the costs are.
    pub degree: i32,
    /// Half the width of the noise, w.
    pub noise: f64,
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "n={} degree={} noise={}", self.rows, self.degree, self.noise)
    }
}

/// Every setting of the scoreboard.
fn all() -> impl Iterator<Item = Setting> {
    let noise = |noise: f64| {
        let rows = move |rows: usize| (1..=8).map(move |degree| Setting { rows, degree, noise });
        [100, 1000, 5000].into_iter().flat_map(rows)
    };
    [0.5, 0.0].into_iter().flat_map(noise)
}

/// The shortest path.
#[derive(Clone, Debug, Default)]
pub struct Paths {
    published: Option<PathTable>,
}

impl Paths {
    /// The suite; with a folder of published tables their figures stand beside.
    pub fn new(published: Option<&Path>) -> Result<Self, BenchmarkError> {
        Ok(Self { published: published.map(PathTable::read).transpose()? })
    }
}

/// Features and costs of some rows, for the coins of a draw.
pub fn rows(rng: &mut impl Rng, coins: &[f64], rows: usize, setting: &Setting) -> (Vec<f64>, Vec<f64>) {
    let features = normal(rng, rows * FEATURES);
    let mut costs = Vec::with_capacity(rows * EDGES);
    for xi in features.chunks_exact(FEATURES) {
        costs.extend(coins.chunks_exact(FEATURES).map(|b| {
            let along: f64 = b.iter().zip(xi).map(|(b, x)| b * x).sum();
            let mean = (along / (FEATURES as f64).sqrt() + 3.0).powi(setting.degree) + 1.0;
            mean * (1.0 + setting.noise * (2.0 * rng.random::<f64>() - 1.0))
        }));
    }
    (features, costs)
}

/// Which edge leaves a node to the right, and which down.
fn right(i: usize, j: usize) -> usize {
    i * (SIDE - 1) + j
}

fn down(i: usize, j: usize) -> usize {
    SIDE * (SIDE - 1) + i * SIDE + j
}

/// What the shortest path costs, node by node from the end.
pub fn shortest(costs: &[f64]) -> f64 {
    let mut left = [[0.0; SIDE]; SIDE];
    for i in (0..SIDE).rev() {
        for j in (0..SIDE).rev() {
            let right = (j + 1 < SIDE).then(|| costs[right(i, j)] + left[i][j + 1]);
            let down = (i + 1 < SIDE).then(|| costs[down(i, j)] + left[i + 1][j]);
            left[i][j] = match (right, down) {
                (Some(a), Some(b)) => f64::min(a, b),
                (a, b) => a.or(b).unwrap_or(0.0),
            };
        }
    }
    left[0][0]
}

/// A unit of flow from the first node to the last.
fn problem() -> Result<Problem, BenchmarkError> {
    let nodes = SIDE * SIDE;
    let mut flow = vec![0.0; nodes * EDGES];
    let mut edge = |e: usize, from: usize, to: usize| {
        flow[from * EDGES + e] = -1.0;
        flow[to * EDGES + e] = 1.0;
    };
    for i in 0..SIDE {
        for j in 0..SIDE - 1 {
            edge(right(i, j), i * SIDE + j, i * SIDE + j + 1);
            edge(down(j, i), j * SIDE + i, (j + 1) * SIDE + i);
        }
    }
    let mut ends = vec![0.0; nodes];
    (ends[0], ends[nodes - 1]) = (-1.0, 1.0);
    let built = Problem::minimize(EDGES)
        .linear(vec![0.0; EDGES])
        .equal("flow", Matrix::from_fn(nodes, EDGES, |i, e| flow[i * EDGES + e]), ends)
        .upper(vec![1.0; EDGES])
        .build();
    Ok(built.map_err(LearnError::from)?)
}

impl Suite for Paths {
    fn id(&self) -> &'static str {
        "paths"
    }

    fn title(&self) -> &'static str {
        "Shortest path, 5 × 5"
    }

    fn unit(&self) -> &'static str {
        "regret over the mean cost of the shortest path, in %"
    }

    fn settings(&self) -> Vec<String> {
        all().map(|s| s.to_string()).collect()
    }

    fn quick(&self) -> Vec<String> {
        let few = |s: &Setting| s.rows == 100 && s.noise > 0.0 && [1, 4, 8].contains(&s.degree);
        all().filter(few).map(|s| s.to_string()).collect()
    }

    fn draws(&self, quick: bool) -> usize {
        if quick { 4 } else { 50 }
    }

    fn first_draw(&self) -> u64 {
        1000
    }

    fn contenders(&self) -> Vec<Contender> {
        use PredictorKind::{Linear, Trees};
        vec![
            Contender::plain("constant", "constant", Linear).two_stage(),
            Contender::plain("linear l2", "l2", Linear).two_stage(),
            Contender::plain("linear l2 of log c", "l2", Linear).on(TargetTransform::Log).two_stage(),
            Contender::plain("trees l2", "l2", Trees).two_stage(),
            Contender::plain("spo+", "spo+", Linear),
            Contender::plain("spo+ after l2", "spo+", Linear).on(TargetTransform::Forecasts).after_l2(),
            Contender::auto(),
        ]
    }

    fn question(&self, cell: &Cell) -> Result<Question, BenchmarkError> {
        let Some(setting) = all().find(|s| s.to_string() == cell.setting) else {
            return Err(BenchmarkError::Settings {
                what: format!("the shortest path has no setting `{}`", cell.setting),
                hint: "a setting reads n=1000 degree=8 noise=0.5".into(),
            });
        };
        // The same coins and, for the rows that both have, the same features whatever the number of rows and the degree.
        let mut rng = stream(cell.draw, 0, 0);
        let coins: Vec<f64> =
            (0..EDGES * FEATURES).map(|_| f64::from(u8::from(rng.random_bool(0.5)))).collect();
        let counts = [(Part::Train, setting.rows), (Part::Valid, setting.rows / 4), (Part::Test, TEST)];
        let (mut features, mut costs, mut parts) = (Vec::new(), Vec::new(), Vec::new());
        let mut worth = Vec::new();
        for (number, (part, count)) in counts.into_iter().enumerate() {
            let (xi, c) = rows(&mut stream(cell.draw, 1, number as u64), &coins, count, &setting);
            if part == Part::Test {
                let optimal = c.chunks_exact(EDGES).map(shortest).sum::<f64>() / count as f64;
                worth = vec![100.0 / optimal; count];
            }
            features.extend(xi);
            costs.extend(c);
            parts.extend(std::iter::repeat_n(part, count));
        }
        let data = Dataset::new(features, costs, parts.len(), Names::numbered(FEATURES));
        Ok(Question {
            problem: problem()?,
            placement: Placement::theta(EDGES),
            data: Arc::new(data.with_parts(&parts)),
            settings: Settings::default(),
            sides: Vec::new(),
            room: Vec::new(),
            worth,
            blocks: Vec::new(),
            own: None,
        })
    }

    fn published(&self, setting: &str) -> Vec<Published> {
        let setting = all().find(|s| s.to_string() == setting);
        let (Some(setting), Some(table)) = (setting, &self.published) else { return Vec::new() };
        table.of(&setting)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(setting: &str, draw: u64) -> Cell {
        Cell { suite: "paths".into(), setting: setting.into(), draw }
    }

    #[test]
    fn costs_are_those_of_the_formula() {
        let coins: Vec<f64> = (0..EDGES * FEATURES).map(|i| f64::from(u8::from(i % 3 == 0))).collect();
        let of = |noise: f64| rows(&mut stream(3, 0, 0), &coins, 2, &Setting { rows: 2, degree: 3, noise });
        let ((xi, clean), (same, noisy)) = (of(0.0), of(0.5));
        assert_eq!(xi, same);
        // The first edge sees features 0 and 3, the second 1 and 4, the third 2.
        let root = 5.0_f64.sqrt();
        for (edge, seen) in [(0, vec![0, 3]), (1, vec![1, 4]), (2, vec![2])] {
            for row in 0..2 {
                let sum: f64 = seen.iter().map(|j| xi[row * FEATURES + j]).sum();
                let z = sum / root + 3.0;
                let by_hand = z * z * z + 1.0;
                let found = clean[row * EDGES + edge];
                assert!((found - by_hand).abs() < 1e-12 * by_hand.abs(), "{found} {by_hand}");
            }
        }
        let ratios: Vec<f64> = noisy.iter().zip(&clean).map(|(n, c)| n / c).collect();
        assert!(ratios.iter().all(|r| (0.5..1.5).contains(r)));
        assert!(ratios.iter().any(|r| *r < 0.6) && ratios.iter().any(|r| *r > 1.4));
    }

    #[test]
    fn the_shortest_path_is_what_the_solver_finds() {
        let question = Paths::default().question(&cell("n=100 degree=8 noise=0.5", 7)).unwrap();
        let task = question.task(Settings::default()).unwrap();
        let rows = &task.test()[..50];
        let truths = task.targets(rows);
        let ids: Vec<u64> = (0..50).collect();
        let batch = regretless_core::Batch { predictions: &truths, truths: &truths, known: &[], ids: &ids };
        let decisions = task.regret(None).unwrap().evaluate(&batch).unwrap();
        for (decision, costs) in decisions.iter().zip(truths.chunks_exact(EDGES)) {
            let optimal = shortest(costs);
            assert!((decision.optimal - optimal).abs() < 1e-7 * optimal);
            assert_eq!(decision.x.iter().filter(|x| **x > 0.5).count(), 2 * (SIDE - 1));
        }
    }

    #[test]
    fn draws_share_nothing_and_repeat() {
        let of = |setting: &str, draw| Paths::default().question(&cell(setting, draw)).unwrap();
        let (a, b) = (of("n=100 degree=4 noise=0", 1), of("n=100 degree=4 noise=0", 1));
        assert_eq!((&a.data.features, &a.data.targets), (&b.data.features, &b.data.targets));
        assert_ne!(a.data.features, of("n=100 degree=4 noise=0", 2).data.features);
        // The test rows of a draw are the same whatever there is to learn from.
        let more = of("n=1000 degree=4 noise=0", 1);
        assert_eq!(a.data.targets[125 * EDGES..], more.data.targets[1250 * EDGES..]);
        assert!(Paths::default().question(&cell("n=7", 1)).is_err());
    }
}
