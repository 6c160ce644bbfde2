//! Freight: which lanes get the trucks?
//!
//! A carrier promises truckloads on twelve lanes between four depots before the day's rates are known. Vehicle hours are
//! hard: each depot has a fleet. A depot handles so many loads a day; more costs overtime, so that limit is soft. What a
//! load earns, θ, is predicted from demand, storms, fuel and the weekday.
//!
//! Rates multiply (tight demand in bad weather is dear), a linear predictor adds. It cannot be right everywhere, and
//! trained on decisions it is wrong where that costs little.
#![allow(clippy::print_stdout, reason = "an example prints")]

use regretless_core::{Matrix, Parameter, Problem, ProblemError, Soft};
use regretless_examples::{Dice, Effort, History, Outcome, linear, side_by_side};

const DEPOTS: [&str; 4] = ["lille", "lyon", "basel", "turin"];
const KM: [[f64; 4]; 4] = [
    [0.0, 690.0, 630.0, 930.0],
    [690.0, 0.0, 400.0, 310.0],
    [630.0, 400.0, 0.0, 450.0],
    [930.0, 310.0, 450.0, 0.0],
];
const WEEKDAYS: usize = 5;

/// From one depot to another.
struct Lane {
    start: usize,
    end: usize,
    /// How much a storm at either end raises the rate, and how much each weekday does.
    on_storm: f64,
    on_weekday: [f64; WEEKDAYS],
}

impl Lane {
    fn km(&self) -> f64 {
        KM[self.start][self.end]
    }
}

/// The world, the same for every seed.
fn lanes() -> Vec<Lane> {
    let mut dice = Dice::new(2024);
    let pairs =
        (0..4).flat_map(|start| (0..4).map(move |end| (start, end))).filter(|(start, end)| start != end);
    let lane = |(start, end)| Lane {
        start,
        end,
        on_storm: 0.09 + 0.21 * dice.uniform(),
        on_weekday: dice.normals().map(|z| 0.12 * z),
    };
    pairs.map(lane).collect()
}

/// Truckloads a day; what they earn is predicted.
fn problem(lanes: &[Lane]) -> Result<Problem, ProblemError> {
    let rows = |entry: &dyn Fn(usize, &Lane) -> f64| {
        Matrix::from_fn(DEPOTS.len(), lanes.len(), |depot, lane| entry(depot, &lanes[lane]))
    };
    let loading_and_driving = |lane: &Lane| 3.0 + lane.km() / 65.0;
    let hours = rows(&|depot, lane| if lane.start == depot { loading_and_driving(lane) } else { 0.0 });
    let handling = rows(&|depot, lane| f64::from(lane.start == depot || lane.end == depot));
    // € overtime for each load above.
    let overtime = [120.0; DEPOTS.len()];
    Problem::maximize(lanes.len())
        .variables(lanes.iter().map(|l| format!("{}-{}", DEPOTS[l.start], DEPOTS[l.end])))
        .linear(vec![0.0; lanes.len()])
        .at_most("vehicle hours", hours, [110.0; DEPOTS.len()])
        .soft("handling", Soft::over(handling, [22.0, 26.0, 24.0, 20.0], overtime))
        // Loads on offer.
        .upper(vec![10.0; lanes.len()])
        .build()
}

/// Days with their features and rates (€ a load).
fn days(lanes: &[Lane], dice: &mut Dice, count: usize) -> History {
    let mut history = History::default();
    for _ in 0..count {
        let demand: [f64; 4] = dice.normals();
        let storm: [f64; 4] = std::array::from_fn(|_| -(1.0 - dice.uniform()).ln());
        let (fuel, today) = (dice.normal(), (dice.uniform() * WEEKDAYS as f64) as usize);
        let rate = |lane: &Lane| {
            let effect = 0.35 * demand[lane.start] - 0.20 * demand[lane.end]
                + lane.on_storm * (storm[lane.start] + storm[lane.end])
                + lane.on_weekday[today]
                + 0.0002 * fuel * lane.km();
            (150.0 + 0.9 * lane.km()) * (effect + 0.1 * dice.normal()).exp()
        };
        let rates: Vec<f64> = lanes.iter().map(rate).collect();
        let weekday: [f64; WEEKDAYS] = std::array::from_fn(|k| f64::from(k == today));
        history.push(&[&demand[..], &storm, &[fuel], &weekday].concat(), &rates);
    }
    history
}

fn main() -> Outcome {
    let effort = Effort { seeds: 10, rows: 800, epochs: 150 }.or_quick()?;
    let lanes = lanes();
    let methods = ["constant", "l2", "spo+", "auto"];
    let (problem, settings) = (problem(&lanes)?, linear(effort.epochs));
    let table = side_by_side(&problem, &[Parameter::Linear], &settings, &methods, effort, |dice, rows| {
        days(&lanes, dice, rows)
    })?;
    println!("logistics: regret in € a day, mean of {} seeds; less is better\n\n{table}", effort.seeds);
    println!("{}\n{}", table.verdict("spo+"), table.verdict("auto"));
    Ok(())
}
