//! What a contract in each of six regions delivers in every three hours of a day: wind and sun, known only roughly before.

use super::table::{Draw, history_and_new, named};

const REGIONS: [&str; 6] = ["north", "coast", "east", "west", "hills", "south"];
const BLOCKS: usize = 8;
const ROWS: usize = 700;

pub(super) fn tables() -> Vec<(&'static str, String)> {
    let mut draw = Draw::new(31);
    let mut features = vec!["year_sin".to_owned(), "year_cos".to_owned()];
    for kind in ["wind_", "cloud_", "yesterday_"] {
        features.extend(named(kind, &REGIONS));
    }
    let truth: Vec<String> =
        (0..BLOCKS).flat_map(|b| named(&format!("output_{:02}_", 3 * b), &REGIONS)).collect();
    let mut day = 0;
    let mut common = 0.0;
    let (mut wind, mut cloud, mut last) = ([0.0; 6], [0.0; 6], [0.5; 6]);
    history_and_new("day", ROWS, 4, &features, &truth, || {
        let year = std::f64::consts::TAU * f64::from(day) / 365.25;
        day += 1;
        common = draw.drift(common, 0.7);
        let yesterday = last;
        let mut output = [[0.0; 6]; BLOCKS];
        let surprise = draw.normal();
        for r in 0..REGIONS.len() {
            wind[r] = draw.drift(wind[r], 0.6);
            cloud[r] = draw.drift(cloud[r], 0.5);
            // A region has more of the one or of the other.
            let windy = 1.0 - r as f64 / 5.0;
            let own = draw.normal();
            for (b, block) in output.iter_mut().enumerate() {
                let sun = (std::f64::consts::PI * (b as f64 - 1.5) / 5.0).sin().max(0.0);
                let speed = 0.8 * wind[r] + 0.6 * common + 0.25 * surprise + 0.35 * own;
                let from_wind = 0.55 + 0.30 * speed.tanh() + 0.05 * year.cos();
                let shade = 1.0 / (1.0 + (1.5 * cloud[r] + 0.4 * surprise).exp());
                let from_sun = sun * (0.5 - 0.15 * year.cos()) * (0.5 + 1.2 * shade);
                let level = windy * from_wind + (1.0 - windy) * (0.2 + from_sun) + 0.05 * draw.normal();
                block[r] = level.max(0.0);
            }
            last[r] = output.iter().map(|b| b[r]).sum::<f64>() / BLOCKS as f64;
        }
        // The forecast knows the weather maps, not the day's surprise.
        let winds = wind.map(|w| 0.8 * w + 0.6 * common);
        let features = [year.sin(), year.cos()].into_iter().chain(winds).chain(cloud).chain(yesterday);
        (features.collect(), output.into_iter().flatten().collect())
    })
}
