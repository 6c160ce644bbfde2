//! Time against n: what one breakpoint costs and where it goes.

use rand::RngExt;
use regretless_core::{Instance, Multipliers, Rule, Surrogate, SurrogateOptions};

use crate::problems::{rng, synthetic};

pub(crate) fn run() {
    println!("## Growth: the LP with n hard and n/2 soft rows, K = 5, cold starts\n");
    println!(
        "| n | breakpoints | µs a solve | µs a breakpoint | ns a breakpoint / n² | factor | rows | ratio test | rest |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    for n in [20, 40, 80, 160, 320] {
        let problem = synthetic(n, n, n / 2);
        let mut r = rng(3);
        let count = if n > 100 { 30 } else { 100 };
        let thetas: Vec<Vec<f64>> = (0..count).map(|_| (0..n).map(|_| r.random()).collect()).collect();
        let instances: Vec<Instance> = thetas.iter().map(|t| Instance::theta(t)).collect();
        let multipliers = Multipliers::choose(&problem, &Rule::default(), &instances[..10]).unwrap();
        let surrogate = Surrogate::new(&problem, &multipliers, &SurrogateOptions::with_k(5.0)).unwrap();
        let (mut breakpoints, mut time) = (0, [0.0_f64; 4]);
        for instance in &instances {
            let solution = surrogate.solve(instance).unwrap();
            let work = solution.work;
            breakpoints += work.breakpoints;
            let t = work.nanos;
            time[0] += t.factor as f64;
            time[1] += t.rows as f64;
            time[2] += t.ratio as f64;
            time[3] += t.total as f64;
        }
        let total = time[3];
        let share = |t: f64| format!("{:.0} %", 100.0 * t / total);
        let each = total / breakpoints as f64;
        println!(
            "| {n} | {:.0} | {:.0} | {:.2} | {:.2} | {} | {} | {} | {} |",
            breakpoints as f64 / f64::from(count),
            total / 1e3 / f64::from(count),
            each / 1e3,
            each / (n * n) as f64,
            share(time[0]),
            share(time[1]),
            share(time[2]),
            share(total - time[0] - time[1] - time[2])
        );
    }
    println!();
}
