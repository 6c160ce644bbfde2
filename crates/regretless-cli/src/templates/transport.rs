//! Demand of four shops, stocks of two mills, and the roads between them.

use super::table::{Draw, history_and_new, named};

const SHOPS: [&str; 4] = ["abbey", "bridge", "castle", "dock"];
const FEATURES: [&str; 6] = ["weekend", "fair", "temperature", "rain", "stock_east", "stock_west"];
const ROWS: usize = 500;
const ROADS: &str = "\
from,to,cost,capacity
east,abbey,2,30
east,bridge,4,30
east,yard,1,60
west,castle,3,30
west,dock,2,30
west,yard,1.5,60
yard,abbey,2,20
yard,bridge,1,20
yard,castle,1.5,20
yard,dock,2.5,20
";
/// Usual demand, and by how much weekend, fair, temperature and rain change it.
const EFFECTS: [[f64; 5]; 4] = [
    [22.0, 6.0, 2.0, 3.0, -2.0],
    [18.0, -3.0, 8.0, 1.0, -3.0],
    [25.0, 4.0, 12.0, 2.0, -5.0],
    [15.0, -5.0, 1.0, -2.0, 1.0],
];

pub(super) fn tables() -> Vec<(&'static str, String)> {
    let mut draw = Draw::new(59);
    let (mut temperature, mut day) = (0.0, 0);
    let mut files = vec![("roads.csv", ROADS.to_owned())];
    files.extend(history_and_new("day", ROWS, 2, &named("", &FEATURES), &named("demand_", &SHOPS), || {
        let weekend = f64::from(u8::from(day % 7 >= 5));
        day += 1;
        let fair = f64::from(u8::from(draw.uniform(0.0, 1.0) < 0.15));
        temperature = draw.drift(temperature, 0.8);
        let rain = (draw.normal() - 0.2).max(0.0);
        let stocks = [draw.uniform(25.0, 60.0), draw.uniform(25.0, 60.0)];
        let crowd = draw.normal();
        let demand = EFFECTS.iter().map(|e| {
            let usual = e[0] + e[1] * weekend + e[2] * fair + e[3] * temperature.tanh() + e[4] * rain.tanh();
            (usual + 0.15 * e[0] * (0.7 * crowd + 0.8 * draw.normal())).max(0.0)
        });
        let demand = demand.collect();
        (vec![weekend, fair, temperature, rain, stocks[0], stocks[1]], demand)
    }));
    files
}
