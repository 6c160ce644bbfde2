//! A portfolio: predicted returns and predicted risk.
//!
//! Every quarter, money is spread over nine shares of three sectors before returns θ and risk Q of the quarter are known.
//! A sector may hold 40 % of the money; more is allowed at a price, so that limit is soft.
//!
//! The objective is linear in θ and in Q: with their conditional means one decides as well as one can. Here Q is an
//! embedding, the same in every quarter, and cannot say that times are rough. Trained on decisions, θ says it instead.
#![allow(clippy::print_stdout, reason = "an example prints")]

use regretless_core::{Matrix, Parameter, Problem, ProblemError, Soft};
use regretless_examples::{Dice, Effort, History, Outcome, linear, side_by_side};
use regretless_learn::{QuadraticForm, QuadraticSettings, Settings};

const SECTORS: usize = 3;
const EACH: usize = 3;
const N: usize = SECTORS * EACH;
const DAYS: usize = 63;
/// % of return given up for one %² of variance.
const AVERSION: f64 = 0.05;

/// What a share is like; the market is the same for every seed.
struct Share {
    sector: usize,
    beta: f64,
    /// Daily deviation of its own, %.
    own: f64,
    /// % a quarter for one deviation of its sector's signal.
    on_signal: f64,
}

fn shares() -> Vec<Share> {
    let mut dice = Dice::new(7);
    let share = |i: usize| Share {
        sector: i / EACH,
        beta: 0.7 + 0.6 * dice.uniform(),
        own: 0.6 + 0.8 * dice.uniform(),
        on_signal: 2.5 * (1.0 + dice.normal()),
    };
    (0..N).map(share).collect()
}

/// θ and Q are predicted together: 9 + 81 numbers.
fn problem() -> Result<Problem, ProblemError> {
    let sectors = Matrix::from_fn(SECTORS, N, |k, i| f64::from(i / EACH == k));
    // Ten points above cost 0.4 % of return.
    let price = [4.0; SECTORS];
    Problem::maximize(N)
        .variables((0..N).map(|i| format!("{}{}", ["energy", "banks", "tech"][i / EACH], i % EACH + 1)))
        .linear([0.0; N])
        .quadratic(Matrix::zeros(N, N))
        .equal("invested", Matrix::from_rows(&[[1.0; N]]), [1.0])
        .soft("sectors", Soft::over(sectors, [0.4; SECTORS], price))
        .build()
}

/// Q is made of embeddings of length 4.
fn settings(epochs: usize) -> Settings {
    let mut settings = linear(epochs);
    let embedding = QuadraticSettings { embedding: 4, form: QuadraticForm::Gram, ridge: 1e-3 };
    settings.predictor.quadratic = Some(embedding);
    settings.training.learning_rate = 0.01;
    settings
}

/// Quarters with the sectors' signals and the moods of market and sectors, and the returns and risk that came true.
fn quarters(shares: &[Share], dice: &mut Dice, count: usize) -> History {
    let mut history = History::default();
    for _ in 0..count {
        let (signal, mood): ([f64; SECTORS], [f64; 1 + SECTORS]) = (dice.normals(), dice.normals());
        // Daily deviations of market and sectors, %.
        let rough: [f64; 1 + SECTORS] =
            std::array::from_fn(|k| [0.7, 0.8, 0.8, 0.8][k] * (0.7 * mood[k]).exp());
        let mut daily = vec![[0.0; N]; DAYS];
        for day in &mut daily {
            let factor: [f64; 1 + SECTORS] = dice.normals();
            for (value, share) in day.iter_mut().zip(shares) {
                let k = share.sector;
                *value = (2.0 + share.on_signal * signal[k]) / DAYS as f64
                    + share.beta * rough[0] * factor[0]
                    + rough[1 + k] * factor[1 + k]
                    + share.own * dice.normal();
            }
        }
        let returns: [f64; N] = std::array::from_fn(|i| daily.iter().map(|day| day[i]).sum());
        let spread = |day: &[f64; N], i: usize| day[i] - returns[i] / DAYS as f64;
        let risk = (0..N * N).map(|at| {
            let (i, j) = (at / N, at % N);
            AVERSION * daily.iter().map(|day| spread(day, i) * spread(day, j)).sum::<f64>()
        });
        let truths: Vec<f64> = returns.into_iter().chain(risk).collect();
        history.push(&[&signal[..], &mood].concat(), &truths);
    }
    history
}

fn main() -> Outcome {
    let effort = Effort { seeds: 10, rows: 1200, epochs: 80 }.or_quick()?;
    let shares = shares();
    let methods = ["constant", "l1", "l2", "surrogate", "auto"];
    let predicted = [Parameter::Linear, Parameter::Quadratic];
    let settings = settings(effort.epochs);
    let table = side_by_side(&problem()?, &predicted, &settings, &methods, effort, |dice, rows| {
        quarters(&shares, dice, rows)
    })?;
    println!(
        "portfolio: regret in % of the money a quarter, mean of {} seeds; less is better\n\n{table}",
        effort.seeds
    );
    println!("{}\n{}", table.verdict("surrogate"), table.verdict("auto"));
    Ok(())
}
