//! Prices, features and problems of portfolio selection against values worked out by hand.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::fmt::Write;
use std::fs;
use std::path::Path;

use regretless_core::{Parameter, Sense};
use regretless_paper::PaperError;
use regretless_paper::portfolio::{Constraints, FEATURES, NEXT, Panel, Prices, problem, similarity};

/// Prices by a formula, so that every feature can be worked out from it.
fn price(t: usize, i: usize) -> f64 {
    let (t, i) = (t as f64, i as f64);
    50.0 + 10.0 * i + 0.02 * t + 5.0 * (t / (17.0 + i)).sin() + 2.0 * (t * (1.3 + 0.1 * i)).cos()
}

fn table(days: usize, n: usize) -> Prices {
    let mut prices = Prices::simulated(n, days, 0);
    prices.close = (0..days).flat_map(|t| (0..n).map(move |i| price(t, i))).collect();
    prices
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn variance(values: &[f64]) -> f64 {
    let mean = mean(values);
    values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (values.len() as f64 - 1.0)
}

fn correlation(a: &[f64], b: &[f64]) -> f64 {
    let (p, q) = (mean(a), mean(b));
    let together = a.iter().zip(b).map(|(a, b)| (a - p) * (b - q)).sum::<f64>() / (a.len() as f64 - 1.0);
    together / (variance(a) * variance(b)).sqrt()
}

/// A feature by what its name says.
fn by_name(name: &str, t: usize, i: usize) -> f64 {
    let change = |t: usize, days: usize| price(t, i) / price(t - days, i) - 1.0;
    let last = |window: usize| -> Vec<f64> { (t + 1 - window..=t).map(|t| price(t, i)).collect() };
    let returns: Vec<f64> = (t - 6..=t).map(|t| change(t, 1)).collect();
    match name.split('_').collect::<Vec<_>>()[..] {
        ["cur", "return"] => change(t, 1),
        ["close"] => price(t, i),
        ["prev", "year", "return"] => change(t, 365),
        ["prev", "qtr", "return"] => change(t, 120),
        ["prev", "month", "return"] => change(t, 30),
        ["prev", "week", "return"] => change(t, 7),
        ["return", "rolling", "mean"] => mean(&returns),
        ["return", "rolling", "var"] => variance(&returns),
        ["rolling", days, "mean"] => mean(&last(days.parse().unwrap())),
        ["rolling", days, "var"] => variance(&last(days.parse().unwrap())),
        [past, "return"] => change(t - past.strip_prefix("prev").unwrap().parse::<usize>().unwrap(), 1),
        _ => panic!("no feature is called {name}"),
    }
}

#[test]
fn every_feature_is_what_its_name_says() {
    let (days, n) = (400, 3);
    let panel = Panel::of(&table(days, n)).unwrap();
    assert_eq!(panel.dates.len(), days - 375);
    for (row, values) in panel.features.chunks_exact(FEATURES.len()).enumerate() {
        let (t, i) = (365 + row / n, row % n);
        for (name, &value) in FEATURES.iter().zip(values) {
            let expected = by_name(name, t, i);
            assert!(
                (value - expected).abs() <= 1e-12 * (1.0 + expected.abs()),
                "{name}: {value}, {expected}"
            );
        }
    }
    for (row, values) in panel.next.chunks_exact(NEXT).enumerate() {
        let (t, i) = (365 + row / n, row % n);
        for (k, &value) in values.iter().enumerate() {
            assert!((value - (price(t + k + 1, i) / price(t + k, i) - 1.0)).abs() < 1e-14);
        }
    }
}

#[test]
fn the_papers_days_give_the_papers_dates() {
    let prices = table(3273, 2);
    let panel = Panel::of(&prices).unwrap();
    assert_eq!(panel.dates.len(), 2898);
    assert_eq!((&panel.dates[0], &panel.dates[2897]), (&prices.dates[365], &prices.dates[3262]));
    assert!(panel.features.iter().chain(&panel.next).all(|v| v.is_finite()));
}

#[test]
fn variances_of_large_prices_keep_their_digits() {
    // 10⁸ plus 0, 1, 2, 0, 1, 2, …: the sample variance of three days is 1.
    let mut prices = table(400, 1);
    prices.close = (0..400).map(|t| 1e8 + f64::from(t % 3)).collect();
    let panel = Panel::of(&prices).unwrap();
    let place = FEATURES.iter().position(|name| *name == "rolling_3_var").unwrap();
    assert!(panel.features.chunks_exact(28).all(|row| (row[place] - 1.0).abs() < 1e-9));
    prices.close.fill(123.45);
    let still = Panel::of(&prices).unwrap();
    assert!(still.features.chunks_exact(28).all(|row| row[place] == 0.0 && row[0] == 0.0));
}

#[test]
fn too_few_dates_and_too_many_equities_are_refused() {
    let error = Panel::of(&table(384, 2)).unwrap_err();
    assert!(error.to_string().contains("384 dates"), "{error}");
    let panel = Panel::of(&table(385, 2)).unwrap();
    let PaperError::Settings { what, hint } = panel.draw(3, 0).unwrap_err() else { panic!() };
    assert_eq!((&*what, &*hint), ("3 equities are asked for, and there are 2", "ask for 1 to 2"));
    assert!(panel.draw(0, 0).is_err());
}

#[test]
fn drawn_equities_bring_their_numbers_along() {
    let panel = Panel::of(&table(390, 12)).unwrap();
    let drawn = panel.draw(5, 7).unwrap();
    assert_eq!(drawn, panel.draw(5, 7).unwrap());
    assert!((8..20).any(|seed| panel.draw(5, seed).unwrap().symbols != drawn.symbols));
    assert_eq!((drawn.symbols.len(), drawn.dates.len()), (5, 15));
    for (j, symbol) in drawn.symbols.iter().enumerate() {
        let i = panel.symbols.iter().position(|s| s == symbol).unwrap();
        for t in 0..15 {
            assert_eq!(drawn.features[(t * 5 + j) * 28..][..28], panel.features[(t * 12 + i) * 28..][..28]);
            assert_eq!(drawn.next[(t * 5 + j) * 10..][..10], panel.next[(t * 12 + i) * 10..][..10]);
        }
    }
    assert_eq!(panel.draw(12, 3).unwrap(), panel);
}

#[test]
fn risk_is_nine_tenths_cosine() {
    // The first of the ten returns is θ and must not count.
    let mut next = vec![0.0; 40];
    next[0] = 9.0;
    (next[1], next[2]) = (3.0, 4.0);
    (next[11], next[12]) = (4.0, 3.0);
    next[29] = -2.0;
    // (3, 4)·(4, 3) / 25 = 0.96; the third is at right angles to both, the fourth did not move.
    let expected = [
        [1.0, 0.864, 0.0, 0.0], //
        [0.864, 1.0, 0.0, 0.0],
        [0.0, 0.0, 1.0, 0.0],
        [0.0, 0.0, 0.0, 0.1],
    ];
    for (value, expected) in similarity(&next).iter().zip(expected.as_flattened()) {
        assert!((value - expected).abs() < 1e-15, "{value} {expected}");
    }
}

#[test]
fn risk_is_symmetric_and_definite() {
    let n = 30;
    let panel = Panel::of(&Prices::simulated(n, 385, 4)).unwrap();
    let risk = similarity(&panel.next[..n * NEXT]);
    // Cholesky: pivots of at least a tenth, up to rounding, because of the identity's share.
    let mut lower = vec![0.0; n * n];
    for i in 0..n {
        assert!((risk[i * n + i] - 1.0).abs() < 1e-12);
        for j in 0..=i {
            assert_eq!(risk[i * n + j], risk[j * n + i]);
            let rest = risk[i * n + j] - (0..j).map(|k| lower[i * n + k] * lower[j * n + k]).sum::<f64>();
            if i == j {
                assert!(rest > 0.1 - 1e-12, "pivot {i}: {rest}");
                lower[i * n + i] = rest.sqrt();
            } else {
                lower[i * n + j] = rest / lower[j * n + j];
            }
        }
    }
}

#[test]
fn every_equity_is_in_the_same_number_of_groups() {
    for (n, groups) in [(50, 2), (100, 4), (150, 6), (200, 8), (250, 10)] {
        let drawn = Constraints::draw(n, 471_298_479);
        assert_eq!((drawn.soft, drawn.rows.len()), (2 * n / 5, 2 * n / 5 * n));
        assert!(drawn.rows.iter().all(|v| *v == 0.0 || *v == 1.0));
        for j in 0..n {
            let members = drawn.rows.iter().skip(j).step_by(n).sum::<f64>();
            assert_eq!(members, f64::from(groups), "n = {n}, equity {j}");
        }
    }
}

#[test]
fn limits_and_prices_are_uniform() {
    let n = 250;
    let drawn: Vec<Constraints> = (0..40).map(|seed| Constraints::draw(n, seed)).collect();
    for (values, top) in [
        (drawn.iter().flat_map(|c| c.limit.clone()).collect::<Vec<_>>(), 0.2),
        (drawn.iter().flat_map(|c| c.over.clone()).collect(), 15.0 / 250.0),
    ] {
        assert_eq!(values.len(), 4000);
        assert!(values.iter().all(|v| (0.0..top).contains(v)));
        // The mean of 4000 draws is within four of its own deviations, 0.29 / √4000 of the range, of the middle.
        assert!((mean(&values) / top - 0.5).abs() < 4.0 * 0.29 / 4000f64.sqrt());
        assert!((variance(&values) / (top * top) - 1.0 / 12.0).abs() < 0.006);
    }
    assert_eq!(drawn[3], Constraints::draw(n, 3));
    assert_ne!(drawn[3], drawn[4]);
}

#[test]
fn the_problem_is_what_was_drawn() {
    for n in [1, 5, 50, 250] {
        let symbols: Vec<String> = (0..n).map(|i| format!("T{i:03}")).collect();
        let constraints = Constraints::draw(n, 1);
        let (problem, placement) = problem(&constraints, &symbols).unwrap();
        let soft = problem.soft();
        assert_eq!((problem.variables(), problem.sense()), (&symbols[..], Sense::Max));
        assert_eq!((soft.C.rows(), soft.C.as_slice()), (constraints.soft, &constraints.rows[..]));
        assert_eq!((&soft.d, &soft.alpha), (&constraints.limit, &constraints.over));
        assert_eq!(
            (problem.equal().rows.as_slice(), &problem.equal().rhs[..]),
            (&vec![1.0; n][..], &[1.0][..])
        );
        assert!(problem.lower().iter().all(|v| *v == 0.0) && problem.upper().iter().all(|v| v.is_infinite()));
        let predicted: Vec<_> = placement.predicted_kinds();
        assert_eq!(predicted, [Parameter::Linear, Parameter::Quadratic]);
    }
}

fn wide(prices: &Prices) -> String {
    let mut text = format!("Date,{}\n", prices.symbols.join(","));
    for (date, row) in prices.dates.iter().zip(prices.close.chunks_exact(prices.symbols.len())) {
        let cells: Vec<String> = row.iter().map(f64::to_string).collect();
        let _ = writeln!(text, "{date},{}", cells.join(","));
    }
    text
}

/// Symbol after symbol, the last first, and the columns in another order.
fn long(prices: &Prices) -> String {
    let mut text = String::from("SYMBOL,Volume,close,date\n");
    let n = prices.symbols.len();
    for (i, symbol) in prices.symbols.iter().enumerate().rev() {
        for (t, date) in prices.dates.iter().enumerate() {
            let _ = writeln!(text, "{symbol},1e6,{},{date}", prices.close[t * n + i]);
        }
    }
    text
}

fn read(text: &str, before: &str) -> Result<Prices, PaperError> {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("prices.csv"), text).unwrap();
    fs::write(folder.path().join("README.md"), "not a table").unwrap();
    Prices::read(folder.path(), before)
}

#[test]
fn both_forms_say_the_same() {
    let prices = Prices::simulated(7, 40, 2);
    assert_eq!(read(&wide(&prices), "2030-01-01").unwrap(), prices);
    assert_eq!(read(&long(&prices), "2030-01-01").unwrap(), prices);
    let early = read(&wide(&prices), &prices.dates[30]).unwrap();
    assert_eq!((&early.dates[..], &early.close[..]), (&prices.dates[..30], &prices.close[..210]));
    assert_eq!(read(&long(&prices), &prices.dates[30]).unwrap(), early);
}

#[test]
fn symbols_with_gaps_and_wrong_adjustments_go() {
    let text = "Date,B,WY,A,C\n2004-01-02,1,1,2,\n2004-01-05,3,1,4,5\n";
    let expected = Prices {
        dates: vec!["2004-01-02".to_owned(), "2004-01-05".to_owned()],
        symbols: vec!["A".to_owned(), "B".to_owned()],
        left_out: vec!["C".to_owned(), "WY".to_owned()],
        close: vec![2.0, 1.0, 4.0, 3.0],
    };
    assert_eq!(read(text, "2017-01-01").unwrap(), expected);
    let expected = Prices { left_out: vec!["C".to_owned(), "JCI".to_owned()], ..expected };
    let text = "Date,Symbol,Close\n2004-01-05,B,3\n2004-01-02,B,1\n2004-01-02,JCI,1\n2004-01-05,JCI,1\n\
                2004-01-05,C,5\n2004-01-02,A,2\n2004-01-05,A,4\n";
    assert_eq!(read(text, "2017-01-01").unwrap(), expected);
}

#[test]
fn a_file_can_be_named_and_a_folder_must_hold_one_table() {
    let folder = tempfile::tempdir().unwrap();
    let prices = Prices::simulated(2, 5, 0);
    let error = Prices::read(folder.path(), "2017-01-01").unwrap_err();
    assert!(error.to_string().ends_with("there is no price table in this folder"), "{error}");
    let file = folder.path().join("one.csv");
    fs::write(&file, wide(&prices)).unwrap();
    assert_eq!(Prices::read(folder.path(), "2017-01-01").unwrap(), prices);
    fs::write(folder.path().join("two.CSV"), wide(&prices)).unwrap();
    let error = Prices::read(folder.path(), "2017-01-01").unwrap_err();
    assert!(
        error.to_string().ends_with("2 tables are in this folder, such as one.csv and two.CSV"),
        "{error}"
    );
    assert_eq!(Prices::read(&file, "2017-01-01").unwrap(), prices);
    assert!(Prices::read(Path::new("nowhere.csv"), "2017-01-01").is_err());
    assert!(matches!(Prices::read(&file, "2017"), Err(PaperError::Settings { .. })));
}

#[test]
fn bad_tables_say_where_and_what() {
    for (text, expected) in [
        ("", "the file is empty"),
        ("Day,A\n2004-01-02,1\n", "there is no column Date"),
        ("Date,Close\n2004-01-02,1\n", "there is no column Symbol"),
        ("Date,Symbol,Price\n2004-01-02,A,1\n", "there is no column Close"),
        ("A,Date\n1,2004-01-02\n", "the header is not that of a price table"),
        ("Date\n2004-01-02\n", "the header is not that of a price table"),
        ("Date,A,A\n2004-01-02,1,2\n", "there are two columns A"),
        ("Date,A,\n2004-01-02,1,2\n", "column 3 has no name"),
        ("Date,A\n", "there are no prices to use"),
        ("Date,A\n2018-01-02,1\n", "there are no prices to use"),
        ("Date,A\n2004-01-02,1\n2004-01-05,-1\n", "line 3, A: the price -1 is not positive and finite"),
        ("Date,A\n2004-01-02,0\n", "line 2, A: the price 0 is not positive and finite"),
        ("Date,Symbol,Close\n2004-01-02,B,-2\n", "line 2, B: the price -2 is not positive and finite"),
        ("Date,A\n2004-01-02,dear\n", "prices.csv, line 2, column 2 (`A`)"),
        ("Date,A\n2.1.2004,1\n", "line 2: `2.1.2004` is no date"),
        ("Date,A\n2004-01-05,1\n2004-01-02,1\n", "line 3: 2004-01-02 comes after 2004-01-05"),
        ("Date,A\n2004-01-05,1\n2004-01-05,1\n", "line 3: 2004-01-05 comes after 2004-01-05"),
        ("Date,Symbol,Close\n2004-01-02,,2\n", "line 2: there is no symbol"),
        (
            "Date,Symbol,Close\n2004-01-02,A,2\n2004-01-02,B,2\n2004-01-02,A,3\n",
            "A has two prices on 2004-01-02, in lines 2 and 4",
        ),
        (
            "Date,Symbol,Close\n2004-01-02,A,2\n2004-01-05,B,2\n",
            "A and B have 1 prices each, but not on the same dates",
        ),
    ] {
        let error = read(text, "2017-01-01").unwrap_err();
        assert!(error.to_string().contains(expected), "{error}\n{expected}");
        assert!(error.to_string().contains("prices.csv"), "{error}");
    }
}

#[test]
fn the_simulated_market_looks_like_one() {
    let (n, days) = (60, 3273);
    let prices = Prices::simulated(n, days, 11);
    assert_eq!((prices.dates.len(), prices.symbols.len(), prices.close.len()), (days, n, days * n));
    assert_eq!((&*prices.dates[0], &*prices.symbols[7]), ("2004-01-01", "S07"));
    assert!(prices.symbols.is_sorted() && prices.dates.is_sorted());
    assert!(prices.close.iter().all(|p| *p > 0.0 && p.is_finite()));
    let returns: Vec<Vec<f64>> = (0..n)
        .map(|i| (1..days).map(|t| prices.close[t * n + i] / prices.close[(t - 1) * n + i] - 1.0).collect())
        .collect();
    for own in &returns {
        let deviation = variance(own).sqrt();
        assert!((0.009..0.03).contains(&deviation), "{deviation}");
        assert!(own.iter().all(|r| r.abs() < 0.3));
    }
    let pairs: Vec<f64> = (0..n)
        .flat_map(|i| (0..i).map(move |j| (i, j)))
        .map(|(i, j)| correlation(&returns[i], &returns[j]))
        .collect();
    assert!((0.2..0.6).contains(&mean(&pairs)), "{}", mean(&pairs));
    // Equities of a sector, ten apart, go together more than others.
    assert!(correlation(&returns[0], &returns[10]) > mean(&pairs));
    // Waves of volatility: the sizes of the market's moves on neighbouring days are alike.
    let market: Vec<f64> =
        (0..days - 1).map(|t| mean(&returns.iter().map(|own| own[t]).collect::<Vec<_>>()).abs()).collect();
    assert!(correlation(&market[1..], &market[..days - 2]) > 0.05);
    assert_eq!(Prices::simulated(n, days, 11), prices);
    assert_ne!(Prices::simulated(n, days, 12).close, prices.close);
}

#[test]
fn the_simulated_market_can_be_learned_a_little() {
    let n = 100;
    let panel = Panel::of(&Prices::simulated(n, 2000, 5)).unwrap();
    let feature = |name: &str| -> Vec<f64> {
        let place = FEATURES.iter().position(|feature| *feature == name).unwrap();
        panel.features.chunks_exact(FEATURES.len()).map(|row| row[place]).collect()
    };
    let next: Vec<f64> = panel.next.chunks_exact(NEXT).map(|row| row[0]).collect();
    // Less the mean of the date: what the market does to all would drown everything else.
    let beside = |values: &[f64], width: usize| -> Vec<f64> {
        values
            .chunks_exact(width)
            .flat_map(|date| date.iter().map(|v| v - mean(date)).collect::<Vec<_>>())
            .collect()
    };
    // Means of the ten sectors, to which every tenth equity belongs.
    let sectors = |values: &[f64]| -> Vec<f64> {
        let sector =
            |date: &[f64], k: usize| mean(&date.iter().skip(k).step_by(10).copied().collect::<Vec<_>>());
        values.chunks_exact(n).flat_map(|date| (0..10).map(move |k| sector(date, k))).collect()
    };
    // An equity takes back a part of its surprise. Expected −0.06 with a deviation below 0.01.
    let reversal = correlation(&beside(&feature("cur_return"), n), &beside(&next, n));
    assert!((-0.1..-0.02).contains(&reversal), "{reversal}");
    // A sector's mood lasts. It shows in means over the sector only: in a single equity's month the reversal of the last day
    // weighs about as much the other way. Expected 0.06 with a deviation of 0.01.
    let mood =
        correlation(&beside(&sectors(&feature("prev_month_return")), 10), &beside(&sectors(&next), 10));
    assert!((0.02..0.12).contains(&mood), "{mood}");
}
