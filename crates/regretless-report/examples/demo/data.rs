//! A made-up comparison, plausible and the same everywhere.

use regretless_report::{
    Activity, Calibrated, Charts, Comparison, Curve, Distribution, Report, Row, RowActivity, Scatter,
    Sharpness,
};

/// (method, mean regret, standard deviation over seeds, MSE, seconds)
const METHODS: [(&str, f64, f64, f64, f64); 7] = [
    ("constant", 61.3, 0.0, 310.2, 0.02),
    ("l1", 34.9, 1.1, 118.9, 4.2),
    ("l2", 33.1, 0.9, 112.4, 4.1),
    ("spo+", 27.8, 1.6, 161.0, 88.4),
    ("fenchel-young", 26.4, 1.2, 149.7, 16.9),
    ("surrogate-vertex", 26.1, 1.9, 158.2, 41.7),
    ("surrogate-smooth", 23.6, 0.8, 143.5, 21.3),
];

/// A comparison of seven methods with every chart filled in.
pub(crate) fn demo() -> Report {
    let mut noise = Noise(7);
    let best = METHODS.len() - 1;
    let rows = METHODS.iter().enumerate().map(|(k, &m)| row(k, m, k == best)).collect();
    let fact = |a: &str, b: &str| (a.to_owned(), b.to_owned());
    Report {
        title: "Bidding a battery into the day-ahead market".into(),
        summary: "surrogate-smooth is chosen: its decisions leave 23.6 EUR a day on the table, 29 % less than those of \
                  l2, the best two-stage method (10 seeds, 365 test days)."
            .into(),
        problem: vec![
            fact("Variables", "48"),
            fact("Hard rows", "97"),
            fact("Soft rows", "24"),
            fact("Predicted", "24 prices (θ)"),
            fact("Training days", "1 096"),
            fact("Test days", "365"),
        ],
        table: Comparison { rows, unit: "EUR a day".into() },
        charts: Charts {
            curves: curves(&mut noise),
            distributions: distributions(&mut noise),
            scatters: scatters(&mut noise),
            calibration: calibration(),
            sharpness: sharpness(&mut noise),
            activity: activity(&mut noise),
            search: Vec::new(),
        },
        settings: vec![
            (
                "Training".into(),
                vec![fact("Epochs", "40"), fact("Batch", "64"), fact("Optimiser", "Adam, 0.002"), fact("Seeds", "2006–2015")],
            ),
            ("Surrogate".into(), vec![fact("K", "5"), fact("Segments", "smooth"), fact("Multipliers", "dual, factor 4")]),
            ("Predictor".into(), vec![fact("Layers", "64, 64"), fact("Activation", "ReLU"), fact("Inputs", "31")]),
        ],
        notes: vec!["All methods saw the same days, the same split and the same predictor.".into()],
        ..Report::default()
    }
}

/// Two methods with scenarios, one of them too sure.
fn calibration() -> Vec<Calibrated> {
    let level: Vec<f64> = (1..10).map(|k| f64::from(k) / 10.0).collect();
    let one = |method: &str, sure: f64| Calibrated {
        method: method.into(),
        share: level.iter().map(|l| 0.5 + (l - 0.5) * sure).collect(),
        level: level.clone(),
    };
    vec![one("l2", 0.7), one("surrogate-smooth", 0.98)]
}

fn row(k: usize, (method, regret, std, mse, seconds): (&str, f64, f64, f64, f64), best: bool) -> Row {
    let tested = k > 2;
    Row {
        method: method.into(),
        regret,
        std: (std > 0.0).then_some(std),
        interval: Some((regret * 0.93 - 0.4, regret * 1.075 + 0.3)),
        relative: Some(regret / 412.0),
        ratio: Some(regret / 33.1),
        p_two_stage: tested.then_some([0.004, 0.0011, 0.0002, 3e-8][k.saturating_sub(3).min(3)]),
        p_value: tested.then_some([0.012, 0.0031, 0.0004, 2e-7][k.saturating_sub(3).min(3)]),
        wilcoxon: tested.then_some([0.019, 0.0042, 0.0009, 8e-8][k.saturating_sub(3).min(3)]),
        cvar90: Some(regret * 3.1),
        at_risk: None,
        violation: Some(0.0),
        mse: Some(mse),
        mae: Some(mse.sqrt() * 0.74),
        zero_gradients: (k > 2).then_some([0.21, 0.0, 0.087, 0.004][k.saturating_sub(3).min(3)]),
        seconds,
        seeds: if k == 0 { 1 } else { 10 },
        best,
        note: (k == 0).then(|| {
            "predicts the training mean every day; what a method must beat to have learnt anything.".into()
        }),
    }
}

fn curves(noise: &mut Noise) -> Vec<Curve> {
    let mut curves = Vec::new();
    for &(method, regret, std, ..) in &METHODS[1..] {
        for seed in 2006..2016 {
            let (end, speed) = (regret + std * noise.normal(), 4.0 + 3.0 * noise.uniform());
            let epochs: Vec<f64> = (0..=40).map(f64::from).collect();
            let mut at = |e: f64, end: f64| end + (70.0 - end) * (-e / speed).exp() + 0.5 * noise.normal();
            let valid = epochs.iter().map(|&e| at(e, end)).collect();
            let train = epochs.iter().map(|&e| at(e, end * 0.9)).collect();
            curves.push(Curve { method: method.into(), seed, epochs, train, valid });
        }
    }
    curves
}

fn distributions(noise: &mut Noise) -> Vec<Distribution> {
    let mut one = |&(method, regret, ..): &(&str, f64, f64, f64, f64)| Distribution {
        method: method.into(),
        regrets: (0..3650)
            .map(|_| if noise.uniform() < 0.08 { 0.0 } else { regret * 0.66 * (0.9 * noise.normal()).exp() })
            .collect(),
    };
    METHODS.iter().map(&mut one).collect()
}

fn scatters(noise: &mut Noise) -> Vec<Scatter> {
    let mut scatters = Vec::new();
    for (method, tilt, error) in [("l2", 0.8, 10.0), ("spo+", 1.25, 15.0), ("surrogate-smooth", 1.1, 13.0)] {
        let mut s = Scatter { method: method.into(), label: "price (EUR/MWh)".into(), ..Scatter::default() };
        for _ in 0..8760 {
            let truth = 62.0 + 24.0 * noise.normal();
            let guess = 62.0 + tilt * (truth - 62.0) + error * noise.normal();
            let wrong_side = (truth > 70.0) != (guess > 70.0);
            let harm = if wrong_side { (truth - 70.0).abs() } else { 1.5 * noise.uniform() };
            s.predicted.push(guess);
            s.realised.push(truth);
            s.cost.push(harm * (0.5 + noise.uniform()) * 2.0);
        }
        scatters.push(s);
    }
    scatters
}

fn sharpness(noise: &mut Noise) -> Vec<Sharpness> {
    let k = vec![0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 25.0, 50.0, 125.0];
    let mut one = |(method, floor, at): (&str, f64, f64)| Sharpness {
        method: method.into(),
        regret: k.iter().map(|v: &f64| floor + 1.3 * (v / at).ln().powi(2) + 0.3 * noise.normal()).collect(),
        std: k.iter().map(|_| 0.6 + 0.6 * noise.uniform()).collect(),
        k: k.clone(),
    };
    [("surrogate-vertex", 26.1, 3.0), ("surrogate-smooth", 23.6, 5.0)].map(&mut one).to_vec()
}

fn activity(noise: &mut Noise) -> Vec<Activity> {
    let names = [
        "charge power",
        "discharge power",
        "state of charge, full",
        "state of charge, empty",
        "grid contract (soft)",
    ];
    let mut one = |method: &str| Activity {
        method: method.into(),
        rows: (names.iter().enumerate())
            .map(|(k, name)| {
                let violated = if k == 4 { 0.05 + 0.15 * noise.uniform() } else { 0.0 };
                let limit = 0.2 + 0.4 * noise.uniform();
                RowActivity {
                    name: (*name).into(),
                    slack: 1.0 - limit - violated,
                    limit,
                    violated,
                    short: 0.0,
                }
            })
            .collect(),
    };
    ["l2", "spo+", "surrogate-smooth"].map(&mut one).to_vec()
}

/// A small generator, so that the demo is the same everywhere.
struct Noise(u64);

impl Noise {
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        (-2.0 * self.uniform().ln()).sqrt() * (std::f64::consts::TAU * self.uniform()).cos()
    }
}
