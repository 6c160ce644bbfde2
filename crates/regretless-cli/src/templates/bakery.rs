//! Daily demand of a bakery, and the oven and the flour that it has.

use super::table::{Draw, history_and_new, named};

const GOODS: [&str; 4] = ["bread", "rolls", "cake", "pretzel"];
const FEATURES: [&str; 6] = ["weekend", "market", "temperature", "rain", "oven_hours", "flour_kg"];
const ROWS: usize = 600;
/// Usual demand, and by how much weekend, market day, temperature and rain change it.
const EFFECTS: [[f64; 5]; 4] = [
    [110.0, 25.0, 15.0, -4.0, -8.0],
    [420.0, 140.0, 40.0, -6.0, -30.0],
    [14.0, 8.0, 3.0, -2.0, 1.0],
    [160.0, -20.0, 60.0, 14.0, -25.0],
];
/// Deviation of what nobody foresees, as a share of the usual demand.
const SURPRISE: [f64; 4] = [0.12, 0.12, 0.25, 0.18];

pub(super) fn tables() -> Vec<(&'static str, String)> {
    let mut draw = Draw::new(53);
    let (mut temperature, mut day) = (0.0, 0);
    history_and_new("day", ROWS, 2, &named("", &FEATURES), &named("demand_", &GOODS), || {
        let weekend = f64::from(u8::from(day % 7 >= 5));
        let market = f64::from(u8::from(day % 7 == 2));
        day += 1;
        temperature = draw.drift(temperature, 0.8);
        let rain = (draw.normal() - 0.2).max(0.0);
        // Now and then one chamber of the oven is out of order.
        let oven = if draw.uniform(0.0, 1.0) < 0.25 { 3.5 } else { 5.0 };
        let flour = draw.uniform(90.0, 140.0);
        let crowd = draw.normal();
        let demand = EFFECTS.iter().zip(SURPRISE).map(|(e, share)| {
            let usual =
                e[0] + e[1] * weekend + e[2] * market + e[3] * temperature.tanh() + e[4] * rain.tanh();
            (usual + share * e[0] * (0.6 * crowd + 0.8 * draw.normal())).max(0.0)
        });
        let demand = demand.collect();
        (vec![weekend, market, temperature, rain, oven, flour], demand)
    })
}
