//! Features of the past: what is changed at or after a row's time less the delay never changes that row's features.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::fmt::Write;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use regretless_learn::Dataset;
use regretless_project::Spec;

/// A row of a long table: day, shop, demand.
type Row = (u32, usize, Option<f64>);

fn problem(delay: u32) -> String {
    let features = format!("\"rain\", \"lag(demand, {delay}, {})\", \"mean(demand, 1, 3)\"", delay + 4);
    format!(
        "[problem]\nsense = \"min\"\nvariables = [\"order\"]\n[[soft]]\nname = \"demand\"\nrows = [[1.0]]\nlimit = {{ predict = \
         \"demand\" }}\nover = 1.0\nunder = 3.0\n[bounds]\nupper = 1000.0\n[data]\nfile = \"h.csv\"\nseries = \"shop\"\ntime = \
         \"day\"\ndelay = {delay}\nperiod = 1.0\nfeatures = [{features}]\n"
    )
}

fn read(delay: u32, rows: &[Row]) -> Dataset {
    let folder = tempfile::tempdir().unwrap();
    let mut table = "day,shop,rain,demand\n".to_owned();
    for (day, shop, demand) in rows {
        let demand = demand.map_or_else(String::new, |v| v.to_string());
        let (month, date) = (1 + day / 28, 1 + day % 28);
        writeln!(table, "2020-{month:02}-{date:02},s{shop},{}.5,{demand}", (day * 7 + *shop as u32) % 5)
            .unwrap();
    }
    std::fs::write(folder.path().join("h.csv"), table).unwrap();
    std::fs::write(folder.path().join("p.toml"), problem(delay)).unwrap();
    Spec::read(folder.path().join("p.toml")).unwrap().read_data().unwrap()
}

/// Features by day and shop.
fn features(data: &Dataset) -> Vec<((i64, String), Vec<u64>)> {
    let row = |row: usize| {
        let key = (data.times[row] as i64, data.series.names()[data.series.of(row)].clone());
        let own = &data.features[row * data.width()..(row + 1) * data.width()];
        (key, own.iter().map(|v| v.to_bits()).collect())
    };
    (0..data.rows()).map(row).collect()
}

/// Days of February and later follow those of January as the calendar has them.
fn day_number(day: u32) -> i64 {
    regretless_learn::days(2020, 1 + day / 28, 1 + day % 28).unwrap()
}

#[test]
fn nothing_leaks() {
    let mut random = ChaCha8Rng::seed_from_u64(22);
    let mut seen = 0;
    for _ in 0..60 {
        let delay = random.random_range(1..4);
        let mut rows: Vec<Row> = Vec::new();
        for day in 0..24 {
            for shop in 0..3 {
                // Days that are not there, and days without a value.
                if random.random_range(0..10) > 0 {
                    let value =
                        (random.random_range(0..8) > 0).then(|| f64::from(random.random_range(0..50)));
                    rows.push((day, shop, value));
                }
            }
        }
        // Every row has a truth in one of both tables or in none, so that the same rows are left.
        let before = features(&read(delay, &rows));
        let at = random.random_range(0..rows.len());
        let (day, shop, value) = rows[at];
        let Some(value) = value else { continue };
        rows[at].2 = Some(value + 1000.0);
        let after = features(&read(delay, &rows));
        assert_eq!(before.len(), after.len());
        for ((key, old), (same, new)) in before.iter().zip(&after) {
            assert_eq!(key, same);
            if old != new {
                seen += 1;
                let late = key.0 - day_number(day) >= i64::from(delay);
                assert!(
                    late && key.1 == format!("s{shop}"),
                    "{day} of s{shop} is known to {key:?}, delay {delay}"
                );
            }
        }
    }
    assert!(seen > 100, "the features look back at something: {seen}");
}

/// Against the formula by hand, row by row.
#[test]
fn lags_and_means_by_hand() {
    let rows: Vec<Row> =
        (0..20).flat_map(|d| [(d, 0, Some(f64::from(d))), (d, 1, Some(f64::from(100 * d)))]).collect();
    let data = read(2, &rows);
    assert_eq!(data.names.features, ["rain", "lag2_demand", "lag6_demand", "mean1_demand", "mean3_demand"]);
    for row in 0..data.rows() {
        let day = (data.times[row] as i64 - day_number(0)) as f64;
        let unit = if data.series.names()[data.series.of(row)] == "s0" { 1.0 } else { 100.0 };
        let own = &data.features[row * 5 + 1..row * 5 + 5];
        let expected = [day - 2.0, day - 6.0, day - 2.0, day - 3.0].map(|d| unit * d);
        for (k, (found, wanted)) in own.iter().zip(expected).enumerate() {
            let first = [2.0, 6.0, 2.0, 4.0][k];
            if day >= first {
                assert_eq!(*found, wanted, "day {day}, feature {k}");
            } else if k < 3 {
                assert!(found.is_nan(), "day {day}, feature {k}: {found}");
            }
        }
    }
}
