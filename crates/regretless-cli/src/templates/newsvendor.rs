//! Daily demand for five perishable goods: weekday, weather and trend explain some of it.

use super::table::{Draw, history_and_new, named};

const GOODS: [&str; 5] = ["bread", "berries", "salad", "fish", "flowers"];
const FEATURES: [&str; 6] = ["weekend", "holiday", "temperature", "rain", "yesterday", "promotion"];
const ROWS: usize = 700;
/// Usual demand, and by how much weekend, holiday, temperature, rain and promotion change it, in units.
const EFFECTS: [[f64; 6]; 5] = [
    [120.0, 18.0, 25.0, -2.0, -6.0, 8.0],
    [60.0, 14.0, 6.0, 12.0, -9.0, 12.0],
    [80.0, 6.0, -5.0, 14.0, -5.0, 10.0],
    [40.0, -4.0, 12.0, -3.0, 2.0, 9.0],
    [50.0, 16.0, 28.0, 5.0, -6.0, 6.0],
];
/// Deviation of what nobody foresees.
const SURPRISE: [f64; 5] = [14.0, 13.0, 12.0, 10.0, 13.0];

pub(super) fn tables() -> Vec<(&'static str, String)> {
    let mut draw = Draw::new(41);
    let (mut temperature, mut footfall, mut day) = (0.0, 0.0, 0);
    history_and_new("day", ROWS, 3, &named("", &FEATURES), &named("demand_", &GOODS), || {
        let weekend = f64::from(u8::from(day % 7 >= 5));
        day += 1;
        let yesterday = footfall;
        temperature = draw.drift(temperature, 0.8);
        footfall = draw.drift(footfall, 0.7);
        let holiday = f64::from(u8::from(draw.uniform(0.0, 1.0) < 0.04));
        let rain = (draw.normal() - 0.3).max(0.0);
        let promotion = f64::from(u8::from(draw.uniform(0.0, 1.0) < 0.2));
        // Whether many people come out is common to all goods.
        let crowd = 0.6 * (footfall - 0.7 * yesterday) / 0.71_f64.sqrt();
        let demand = EFFECTS.iter().zip(SURPRISE).map(|(e, deviation)| {
            let weather = e[3] * temperature.tanh() * 1.3 + e[4] * rain * (1.0 + 0.5 * weekend);
            let known = e[0] + e[1] * weekend + e[2] * holiday + weather + e[5] * promotion + 6.0 * yesterday;
            (known + deviation * (crowd + 0.8 * draw.normal())).max(0.0)
        });
        let demand = demand.collect();
        (vec![weekend, holiday, temperature, rain, yesterday, promotion], demand)
    })
}
