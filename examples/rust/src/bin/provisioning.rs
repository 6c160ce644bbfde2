//! Power for tomorrow: predicted output of sites.
//!
//! A utility contracts capacity of six sites for tomorrow. What a MW delivers in each three hours of the day, the matrix
//! C, depends on the weather and is predicted; demand is known. Too much is sold at a small loss, too little is bought at
//! a high price: soft rows that cost on both sides, and differently.
//!
//! The objective is not linear in C, so the decision for the mean forecast is not the best on average. Decision losses
//! learn a margin into the forecast; `+scenarios` decides for many forecasts that differ as the truth used to.
#![allow(clippy::print_stdout, reason = "an example prints")]

use std::f64::consts::{PI, TAU};

use regretless_core::{Matrix, Parameter, Problem, ProblemError, Soft};
use regretless_examples::{Dice, Effort, History, Outcome, linear, side_by_side};
use regretless_learn::Settings;

const BLOCKS: usize = 8;

/// C has a row for each three hours and a column for each site; its 48 entries are predicted row by row.
fn problem() -> Result<Problem, ProblemError> {
    // MWh in three hours; € a MWh too much and too little.
    let demand = [186.0, 180.0, 252.0, 294.0, 288.0, 282.0, 306.0, 240.0];
    let (over, under) = ([10.0; BLOCKS], [150.0; BLOCKS]);
    Problem::minimize(6)
        .variables(["wind north", "wind coast", "solar south", "solar east", "hydro", "gas"])
        // € for a MW of capacity, for the day.
        .linear([260.0, 280.0, 170.0, 180.0, 700.0, 1300.0])
        .soft("demand", Soft::both(Matrix::zeros(BLOCKS, 6), demand, over, under))
        .upper([150.0, 150.0, 120.0, 120.0, 60.0, 120.0])
        .build()
}

fn settings(epochs: usize) -> Settings {
    let mut settings = linear(epochs);
    settings.training.learning_rate = 0.01;
    settings.training.scenarios.count = Some(30);
    settings
}

/// Days with forecasts of wind and cloud at two places and the season, and the MWh that a MW delivered.
fn days(dice: &mut Dice, count: usize) -> History {
    let mut history = History::default();
    for _ in 0..count {
        let [a, b] = dice.normals();
        // Winds at the two places go together.
        let wind = [a, 0.5 * a + 0.87 * b];
        let cloud = [dice.uniform(), dice.uniform()];
        let season = TAU * dice.uniform();
        let (off_wind, off_cloud): ([f64; 2], [f64; 2]) = (dice.normals(), dice.normals());
        let mut output = Vec::with_capacity(BLOCKS * 6);
        for block in 0..BLOCKS {
            let hour = 3.0 * block as f64 + 1.5;
            let sun = (PI * (hour - 6.0) / 12.0).sin().max(0.0) * (0.7 + 0.3 * season.cos());
            for place in 0..2 {
                let blow = 0.3 + 0.8 * wind[place] + 0.5 * off_wind[place] + 0.3 * dice.normal();
                output.push(3.0 / (1.0 + (-blow).exp()));
            }
            for place in 0..2 {
                let shade = cloud[place] + 0.2 * off_cloud[place] + 0.1 * dice.normal();
                output.push(3.0 * sun * (1.0 - 0.8 * shade.clamp(0.0, 1.0)));
            }
            output.extend([3.0 * 0.9, 3.0 * 0.97]);
        }
        let features = [wind[0], wind[1], cloud[0], cloud[1], season.cos(), season.sin()];
        history.push(&features, &output);
    }
    history
}

fn main() -> Outcome {
    let effort = Effort { seeds: 5, rows: 1600, epochs: 100 }.or_quick()?;
    let methods = ["constant", "l1", "l2", "df", "surrogate", "l2+scenarios", "auto"];
    let table =
        side_by_side(&problem()?, &[Parameter::SoftRows], &settings(effort.epochs), &methods, effort, days)?;
    println!("provisioning: regret in € a day, mean of {} seeds; less is better\n\n{table}", effort.seeds);
    for method in ["df", "surrogate", "l2+scenarios", "auto"] {
        println!("{}", table.verdict(method));
    }
    Ok(())
}
