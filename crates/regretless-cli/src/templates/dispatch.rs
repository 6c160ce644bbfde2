//! The load of the next twelve hours, and what three generators run at before them.

use super::table::{Draw, history_and_new, named};

const FEATURES: [&str; 7] =
    ["weekend", "evening", "temperature", "cloud", "running_coal", "running_gas", "running_peaker"];
const ROWS: usize = 500;
const HOURS: usize = 12;
const UNITS: &str = "\
unit,capacity,ramp,cost,slope
coal,120,12,22,0.04
gas,90,30,38,0.08
peaker,60,60,75,0.2
";

pub(super) fn tables() -> Vec<(&'static str, String)> {
    let mut draw = Draw::new(57);
    let loads: Vec<String> = (1..=HOURS).map(|h| format!("load_{h}")).collect();
    let (mut temperature, mut shift) = (0.0, 0);
    let mut files = vec![("units.csv", UNITS.to_owned())];
    files.extend(history_and_new("shift", ROWS, 2, &named("", &FEATURES), &loads, || {
        let weekend = f64::from(u8::from(shift / 2 % 7 >= 5));
        let evening = f64::from(u8::from(shift % 2 == 1));
        shift += 1;
        temperature = draw.drift(temperature, 0.85);
        let cloud = draw.uniform(0.0, 1.0);
        let cold = (-temperature).max(0.0);
        let mut error = draw.normal();
        let start = 120.0 - 18.0 * weekend + 10.0 * evening + 6.0 * cold;
        let load: Vec<f64> = (1..=HOURS)
            .map(|h| {
                error = draw.drift(error, 0.75);
                let hour = h as f64 / HOURS as f64;
                let day = 45.0 * (std::f64::consts::PI * hour).sin() * (1.0 - 0.5 * weekend);
                let lamps = 14.0 * evening * hour * (1.0 + cloud);
                let sun = -20.0 * (1.0 - evening) * (1.0 - cloud) * (std::f64::consts::PI * hour).sin();
                start + day + lamps + sun + 8.0 * cold * hour + 9.0 * error
            })
            .collect();
        let coal = draw.uniform(75.0, 110.0);
        let gas = (start - coal).clamp(5.0, 80.0);
        let peaker = (start - coal - gas).max(0.0);
        (vec![weekend, evening, temperature, cloud, coal, gas, peaker], load)
    }));
    files
}
