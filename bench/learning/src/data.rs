//! The synthetic LP with data that can be learned from, as files that a run reads.

use std::f64::consts::TAU;
use std::fmt::Write as _;
use std::path::Path;

use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use regretless_spec::Spec;

/// Decision variables, hard rows, soft rows.
#[derive(Clone, Copy)]
pub(crate) struct Size {
    pub(crate) n: usize,
    pub(crate) hard: usize,
    pub(crate) soft: usize,
}

/// Rows for training, for validation, and new ones to decide for.
#[derive(Clone, Copy)]
pub(crate) struct Rows {
    pub(crate) train: usize,
    pub(crate) valid: usize,
    pub(crate) new: usize,
}

/// Writes `problem.toml`, `train.csv`, `valid.csv` and, without truths, `new.csv`; returns the problem file, read.
pub(crate) fn write(dir: &Path, size: Size, rows: Rows, training: &str) -> Spec {
    let total = rows.train + rows.valid + rows.new;
    let (features, targets) = history(size.n, total);
    let table = |name: &str, from: usize, count: usize, truths: bool| {
        let (wide, n) = (2 * size.n, if truths { size.n } else { 0 });
        let head = (0..wide).map(|j| format!("f{j}")).chain((0..n).map(|j| format!("c_x{j}")));
        let mut text = head.collect::<Vec<_>>().join(",") + "\n";
        for i in from..from + count {
            let row = features[i * wide..(i + 1) * wide].iter().chain(&targets[i * size.n..i * size.n + n]);
            text += &row.map(f64::to_string).collect::<Vec<_>>().join(",");
            text.push('\n');
        }
        std::fs::write(dir.join(name), text).unwrap();
    };
    table("train.csv", 0, rows.train, true);
    table("valid.csv", rows.train, rows.valid, true);
    table("new.csv", rows.train + rows.valid, rows.new, false);
    std::fs::write(dir.join("problem.toml"), problem(size) + training).unwrap();
    Spec::read(dir.join("problem.toml")).unwrap()
}

fn uniform(rng: &mut impl Rng, count: usize) -> Vec<f64> {
    (0..count).map(|_| rng.random()).collect()
}

/// Normal numbers by Box and Muller.
fn normal(rng: &mut impl Rng, count: usize) -> Vec<f64> {
    let one = |rng: &mut dyn FnMut() -> f64| (-2.0 * (1.0 - rng()).ln()).sqrt() * (TAU * rng()).cos();
    let mut next = || rng.random::<f64>();
    (0..count).map(|_| one(&mut next)).collect()
}

/// Zeroes half the rows (rounded up) of every column.
fn thin(rng: &mut impl Rng, matrix: &mut [f64], rows: usize, cols: usize) {
    for j in 0..cols {
        let mut order: Vec<usize> = (0..rows).collect();
        for i in 0..rows.div_ceil(2) {
            let k = rng.random_range(i..rows);
            order.swap(i, k);
            matrix[order[i] * cols + j] = 0.0;
        }
    }
}

/// max θᵀx − αᵀmax(Cx − d, 0), Ax ≤ b, x ≥ 0: U(0, 1) entries, half of every column zero; b = ½A1, d = ¼C1, α ~ U(0, 0.2).
fn problem(Size { n, hard, soft }: Size) -> String {
    let mut rng = ChaCha8Rng::seed_from_u64(2021 * 31);
    let mut half_sparse = |rows: usize| {
        let mut matrix = uniform(&mut rng, rows * n);
        thin(&mut rng, &mut matrix, rows, n);
        matrix
    };
    let (a, c) = (half_sparse(hard), half_sparse(soft));
    let over: Vec<f64> = uniform(&mut rng, soft).iter().map(|u| 0.2 * u).collect();
    let limits = |m: &[f64], share: f64| -> Vec<f64> {
        m.chunks_exact(n).map(|row| share * row.iter().sum::<f64>()).collect()
    };
    let rows = |m: &[f64]| m.chunks_exact(n).map(|row| format!("{row:?}")).collect::<Vec<_>>().join(",\n");
    let mut text = String::new();
    let names: Vec<String> = (0..n).map(|j| format!("x{j}")).collect();
    writeln!(text, "[problem]\nname = \"synthetic\"\nvariables = {names:?}\n").unwrap();
    writeln!(text, "[objective]\nlinear = {{ predict = \"c_*\" }}\n").unwrap();
    let (limit, at_most) = (limits(&c, 0.25), limits(&a, 0.5));
    let soft = rows(&c);
    writeln!(text, "[[soft]]\nname = \"soft\"\nrows = [{soft}]\nlimit = {limit:?}\nover = {over:?}\n")
        .unwrap();
    writeln!(text, "[[hard]]\nname = \"hard\"\nrows = [{}]\nat_most = {at_most:?}\n", rows(&a)).unwrap();
    writeln!(text, "[data]\ntrain = \"train.csv\"\nvalid = \"valid.csv\"\nfeatures = \"f*\"\n").unwrap();
    text
}

/// Features ξ ~ N(loc, FFᵀ + I), θ = h(sin(2π ξB)) with a frozen sparse network h, each entry of θ stretched to [0, 1].
/// The phase ξB is scaled to a deviation of a quarter period: far beyond that nothing could be learned.
fn history(n: usize, rows: usize) -> (Vec<f64>, Vec<f64>) {
    let mut rng = ChaCha8Rng::seed_from_u64(2006);
    let wide = 2 * n;
    let (loc, spread) = (uniform(&mut rng, wide), uniform(&mut rng, wide * n));
    let coins: Vec<f64> = (0..wide * n).map(|_| f64::from(u8::from(rng.random_bool(0.5)))).collect();
    let mut features = Vec::with_capacity(rows * wide);
    for _ in 0..rows {
        let (common, own) = (normal(&mut rng, n), normal(&mut rng, wide));
        features.extend((0..wide).map(|i| loc[i] + own[i] + dot(&spread[i * n..(i + 1) * n], &common)));
    }
    let mut z: Vec<f64> = features.chunks_exact(wide).flat_map(|xi| times(xi, &coins, n)).collect();
    for j in 0..n {
        let column = || z.iter().skip(j).step_by(n);
        let mean = column().sum::<f64>() / rows as f64;
        let deviation = (column().map(|v| (v - mean).powi(2)).sum::<f64>() / rows as f64).sqrt();
        z.iter_mut().skip(j).step_by(n).for_each(|v| *v = (TAU * 0.25 * *v / deviation).sin());
    }
    let mut width = n;
    for (units, last) in [((3 * n).div_ceil(2), false), (128, false), (n, true)] {
        let mut weights: Vec<f64> = normal(&mut rng, units * width).iter().map(|w| 0.01 * w).collect();
        thin(&mut rng, &mut weights, units, width);
        let bias: Vec<f64> = normal(&mut rng, units).iter().map(|b| 0.1 * b).collect();
        let layer = |x: &[f64]| -> Vec<f64> {
            let unit = |i: usize| bias[i] + dot(&weights[i * width..(i + 1) * width], x);
            (0..units).map(unit).map(|v| if last { v } else { v.max(0.0) }).collect()
        };
        z = z.chunks_exact(width).flat_map(layer).collect();
        width = units;
    }
    for j in 0..n {
        let ends = z.iter().skip(j).step_by(n).fold((f64::MAX, f64::MIN), |(a, b), v| (a.min(*v), b.max(*v)));
        z.iter_mut().skip(j).step_by(n).for_each(|v| *v = (*v - ends.0) / (ends.1 - ends.0));
    }
    (features, z)
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// xᵀM for a row-major matrix with `cols` columns.
fn times(x: &[f64], matrix: &[f64], cols: usize) -> Vec<f64> {
    let mut out = vec![0.0; cols];
    for (x, row) in x.iter().zip(matrix.chunks_exact(cols)) {
        out.iter_mut().zip(row).for_each(|(o, m)| *o += x * m);
    }
    out
}
