//! DC power flow on the grids of PGLib (`REGRETLESS_DATA/pglib`), as linear programs with soft line limits.

use std::io::Read;
use std::path::{Path, PathBuf};

use regretless_core::{Coefficients, Problem, Soft};

/// What a case file says, in units of its base power.
pub(crate) struct Grid {
    /// Load of each bus.
    pub(crate) load: Vec<f64>,
    /// Bus, least and most power, cost a unit and a squared unit.
    generators: Vec<(usize, f64, f64, f64, f64)>,
    /// From, to, susceptance, limit.
    lines: Vec<(usize, usize, f64, f64)>,
}

/// Where the data is.
pub(crate) fn data() -> PathBuf {
    std::env::var_os("REGRETLESS_DATA").map_or_else(|| "data".into(), PathBuf::from)
}

/// The numbers of one table of a case file.
fn table(text: &str, name: &str) -> Vec<Vec<f64>> {
    let start = format!("mpc.{name} = [");
    let inside = text.lines().skip_while(|line| !line.starts_with(&start)).skip(1);
    let rows = inside.take_while(|line| !line.starts_with("];"));
    let numbers = |line: &str| {
        let stated = line.split(['%', ';']).next().unwrap_or("");
        stated.split_whitespace().filter_map(|word| word.parse().ok()).collect::<Vec<f64>>()
    };
    rows.map(numbers).filter(|row| !row.is_empty()).collect()
}

/// The price of a unit beyond a line's limit, and of a unit of load that is not served.
const LINE: f64 = 200.0;
const SHED: f64 = 10_000.0;

impl Grid {
    pub(crate) fn read(case: &str) -> Option<Self> {
        let path = data().join("pglib").join(format!("{case}.m.gz"));
        Self::open(&path)
    }

    fn open(path: &Path) -> Option<Self> {
        let mut text = String::new();
        flate2::read::GzDecoder::new(std::fs::File::open(path).ok()?).read_to_string(&mut text).ok()?;
        let base = 100.0;
        let buses = table(&text, "bus");
        let mut number = std::collections::BTreeMap::new();
        for (i, bus) in buses.iter().enumerate() {
            number.insert(bus[0] as u64, i);
        }
        let at = |id: f64| number[&(id as u64)];
        let costs = table(&text, "gencost");
        let generators = table(&text, "gen").into_iter().zip(costs).filter(|(g, _)| g[7] > 0.0);
        let generators =
            generators.map(|(g, c)| (at(g[0]), (g[9] / base).min(g[8] / base), g[8] / base, c[5], c[4]));
        let lines = table(&text, "branch").into_iter().filter(|l| l[10] > 0.0).map(|l| {
            let limit = if l[5] > 0.0 { l[5] / base } else { 100.0 };
            (at(l[0]), at(l[1]), 1.0 / l[3], limit)
        });
        Some(Self {
            load: buses.iter().map(|b| b[2] / base).collect(),
            generators: generators.collect(),
            lines: lines.collect(),
        })
    }

    /// Variables of one hour: generators, flows of lines, angles, load that is not served and power that is not used.
    fn width(&self) -> usize {
        self.generators.len() + self.lines.len() + 3 * self.load.len()
    }

    /// Some hours of least cost, with ramps and one battery a tenth bus where there are more than one. What moves from solve to solve
    /// are the loads, which are the equalities' right-hand sides, and the prices.
    pub(crate) fn dispatch(&self, hours: usize) -> Problem {
        let (g, l, b, w) = (self.generators.len(), self.lines.len(), self.load.len(), self.width());
        let batteries: Vec<usize> = if hours > 1 { (0..b).step_by(10).collect() } else { Vec::new() };
        // Each battery and hour: charge, discharge, stored.
        let n = hours * (w + 3 * batteries.len());
        let store = |h: usize, k: usize, what: usize| hours * w + (h * batteries.len() + k) * 3 + what;
        let (mut balance, mut rhs) = (Vec::new(), Vec::new());
        let (mut theta, mut lower, mut upper) = (vec![0.0; n], vec![0.0; n], vec![f64::INFINITY; n]);
        let (mut soft, mut limits) = (Vec::new(), Vec::new());
        let (mut ramps, mut most) = (Vec::new(), Vec::new());
        for h in 0..hours {
            let at = h * w;
            let shape = 0.8 + 0.2 * (h as f64 * 0.26).sin();
            let (flow, angle, shed, spill) = (at + g, at + g + l, at + g + l + b, at + g + l + 2 * b);
            let row = rhs.len();
            for (i, load) in self.load.iter().enumerate() {
                rhs.push(shape * load);
                balance.extend([(row + i, shed + i, 1.0), (row + i, spill + i, -1.0)]);
                (theta[shed + i], theta[spill + i]) = (SHED, 1.0);
                (lower[angle + i], upper[angle + i]) = (-100.0, 100.0);
            }
            (lower[angle], upper[angle]) = (0.0, 0.0);
            for (k, &(bus, least, top, cost, _)) in self.generators.iter().enumerate() {
                balance.push((row + bus, at + k, 1.0));
                theta[at + k] = cost;
                (lower[at + k], upper[at + k]) = (least.min(0.0), top.max(least.min(0.0)));
                if h > 0 {
                    for sign in [1.0, -1.0] {
                        let i = most.len();
                        ramps.extend([(i, at + k, sign), (i, at + k - w, -sign)]);
                        most.push(0.3 * top.abs() + 0.01);
                    }
                }
            }
            for (k, &(from, to, b, limit)) in self.lines.iter().enumerate() {
                balance.extend([(row + from, flow + k, -1.0), (row + to, flow + k, 1.0)]);
                (lower[flow + k], upper[flow + k]) = (f64::NEG_INFINITY, f64::INFINITY);
                let i = rhs.len();
                rhs.push(0.0);
                balance.extend([(i, flow + k, 1.0), (i, angle + from, -b), (i, angle + to, b)]);
                for sign in [1.0, -1.0] {
                    soft.push((limits.len(), flow + k, sign));
                    limits.push(limit);
                }
            }
            for (k, &bus) in batteries.iter().enumerate() {
                let size = 0.3;
                balance.extend([(row + bus, store(h, k, 0), -1.0), (row + bus, store(h, k, 1), 1.0)]);
                (upper[store(h, k, 0)], upper[store(h, k, 1)], upper[store(h, k, 2)]) =
                    (size, size, 4.0 * size);
                theta[store(h, k, 1)] = 0.1;
                let i = rhs.len();
                rhs.push(0.0);
                balance.extend([
                    (i, store(h, k, 2), 1.0),
                    (i, store(h, k, 0), -0.9),
                    (i, store(h, k, 1), 1.1),
                ]);
                if h > 0 {
                    balance.push((i, store(h - 1, k, 2), -1.0));
                }
            }
        }
        let rows = |count: usize, entries| Coefficients::sparse(count, n, entries).unwrap();
        let alpha = vec![LINE; limits.len()];
        let stated = Problem::minimize(n)
            .linear(theta)
            .soft("lines", Soft::over(rows(limits.len(), soft), limits, alpha))
            .equal("flows", rows(rhs.len(), balance), rhs)
            .lower(lower)
            .upper(upper);
        let stated =
            if most.is_empty() { stated } else { stated.at_most("ramps", rows(most.len(), ramps), most) };
        stated.build().unwrap()
    }
}
