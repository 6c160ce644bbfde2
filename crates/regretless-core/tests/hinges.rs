//! Soft rows with the same coefficients (scenarios of a limit) are one row of the engine. Against the same problem stated so
//! that each stays a row of its own: row s times σₛ, its limit too, its price over σₛ, and K over σₛ.
#![allow(clippy::unwrap_used, clippy::wildcard_imports, non_snake_case, reason = "tests fail loudly")]

mod common;

use common::{matrix, normal, rng, vector};
use proptest::prelude::*;
use rand::RngExt;
use regretless_core::engine::reference;
use regretless_core::*;

/// A problem in two statements, and instances of both.
struct Twin {
    /// Rows repeated as they are.
    one: Problem,
    /// Rows repeated in units of their own.
    apart: Problem,
    /// σ of each soft row.
    units: Vec<f64>,
    k: f64,
    seed: u64,
}

impl Twin {
    fn new(seed: u64) -> Self {
        let mut r = rng(seed);
        let (n, groups) = (r.random_range(1..=6), r.random_range(1..=4));
        let quadratic = r.random_range(0..3) > 0;
        let C = matrix(&mut r, groups, n);
        let (mut rows, mut units) = (Vec::new(), Vec::new());
        let (mut d, mut over, mut under) = (Vec::new(), Vec::new(), Vec::new());
        let two_sided = r.random_bool(0.5);
        for g in 0..groups {
            // One alone is an ordinary row.
            let count = [1, 2, 5, 17, 40][r.random_range(0..5)];
            let whole = r.random_bool(0.3);
            for s in 0..count {
                rows.push(g);
                units.push(1.0 + (f64::from(s) + r.random::<f64>()) / 64.0);
                let limit = normal(&mut r);
                // Limits that meet, and hinges without a price.
                d.push(if whole { limit.round() } else { limit });
                let price =
                    |r: &mut _| if RngExt::random_bool(r, 0.1) { 0.0 } else { RngExt::random::<f64>(r) };
                over.push(price(&mut r) / f64::from(count));
                under.push(if two_sided { price(&mut r) / f64::from(count) } else { 0.0 });
            }
        }
        let q = matrix(&mut r, n, n);
        let gram = |i: usize, j: usize| (0..n).map(|k| q[(k, i)] * q[(k, j)]).sum::<f64>();
        let Q = Matrix::from_fn(n, n, |i, j| 0.05 * gram(i, j) + if i == j { 0.05 } else { 0.0 });
        let A = matrix(&mut r, 2, n);
        let theta = vector(&mut r, n);
        let scaled = |v: &[f64], power: i32| -> Vec<f64> {
            v.iter().zip(&units).map(|(v, u)| v * u.powi(power)).collect()
        };
        let build = |units: &[f64], d: Vec<f64>, over: Vec<f64>, under: Vec<f64>| {
            let soft = Matrix::from_fn(rows.len(), n, |i, j| units[i] * C[(rows[i], j)]);
            let mut builder =
                if seed.is_multiple_of(2) { Problem::maximize(n) } else { Problem::minimize(n) };
            if quadratic {
                builder = builder.quadratic(Q.clone());
            }
            let builder = builder.linear(theta.clone()).soft("soft", Soft::both(soft, d, over, under));
            let builder =
                builder.at_most("hard", A.clone(), [1.5, 2.0]).lower(vec![-3.0; n]).upper(vec![4.0; n]);
            builder.build().unwrap()
        };
        let apart = build(&units, scaled(&d, 1), scaled(&over, -1), scaled(&under, -1));
        let one = build(&vec![1.0; rows.len()], d, over, under);
        Self { one, apart, units, k: [0.3, 2.0, 20.0][r.random_range(0..3)], seed }
    }

    /// What forecasts move: each limit and price on its own, the limits of a group together, or θ alone and far.
    fn moved(&self, step: u64) -> [Parameters; 2] {
        let mut r = rng(self.seed * 31 + step);
        let (soft, theta_only) = (self.one.soft(), step % 4 > 1);
        let far = if theta_only { 1.0 } else { 0.1 };
        let theta: Vec<f64> = self.one.theta().iter().map(|t| t + far * normal(&mut r)).collect();
        let mut both = [Parameters::default(), Parameters::default()];
        both.iter_mut().for_each(|p| p.set(Parameter::Linear, theta.clone()));
        if theta_only {
            return both;
        }
        let shift = |k: usize| 0.3 * (soft.C.row(k).iter().map(|(_, c)| c).sum::<f64>() + step as f64).sin();
        let mut d: Vec<f64> = soft.d.iter().enumerate().map(|(k, d)| d + shift(k)).collect();
        let mut alpha = soft.alpha.clone();
        if step.is_multiple_of(4) {
            d.iter_mut().for_each(|d| *d += 0.1 * normal(&mut r));
            alpha.iter_mut().for_each(|a| *a *= 0.8 + 0.4 * r.random::<f64>());
        }
        both[1].set(Parameter::Limit, self.scaled(&d, 1));
        both[1].set(Parameter::Over, self.scaled(&alpha, -1));
        both[0].set(Parameter::Limit, d);
        both[0].set(Parameter::Over, alpha);
        both
    }

    /// Numbers of the soft rows times a power of their units.
    fn scaled(&self, values: &[f64], power: i32) -> Vec<f64> {
        values.iter().zip(&self.units).map(|(v, u)| v * u.powi(power)).collect()
    }

    fn surrogates(&self, segments: Segments, smoothing: f64) -> [Surrogate; 2] {
        [&self.one, &self.apart].map(|problem| {
            let ours = std::ptr::eq(problem, &raw const self.one);
            let mut k = RowValues::constant(problem.shape(), self.k);
            if !ours {
                k.soft = self.units.iter().map(|u| self.k / u).collect();
            }
            let multipliers = Multipliers::given(RowValues::constant(problem.shape(), 20.0));
            let options =
                SurrogateOptions { k_rows: Some(k), segments, smoothing, ..SurrogateOptions::with_k(self.k) };
            Surrogate::new(problem, &multipliers, &options).unwrap()
        })
    }
}

fn near(a: &[f64], b: &[f64], tolerance: f64, what: &str) {
    let size = b.iter().fold(1.0_f64, |m, v| m.max(v.abs()));
    assert_eq!(a.len(), b.len(), "{what}");
    for (a, b) in a.iter().zip(b) {
        assert!((a - b).abs() <= tolerance * size, "{what}: {a} vs {b}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, max_shrink_iters: 0, failure_persistence: None, rng_seed: proptest::test_runner::RngSeed::Fixed(18), ..ProptestConfig::default() })]

    /// Exact optima: cold, warm after every kind of move, and the reference on all rows.
    #[test]
    fn exact_optima_are_those_of_rows_apart(seed in 0u64..1_000_000) {
        let twin = Twin::new(seed);
        let (one, apart) = (Oracle::new(&twin.one), Oracle::new(&twin.apart));
        let mut store = Store::with_budget(1 << 24);
        for step in 0..8 {
            let [a, b] = twin.moved(step);
            let cold = one.solve(&a.instance()).unwrap();
            let warm = one.solve_batch_warm(&[a.instance()], &[1], &mut store).remove(0).unwrap();
            let expected = apart.solve(&b.instance()).unwrap();
            assert_eq!(expected.status, Status::Optimal);
            let view = twin.one.view(&a.instance()).unwrap();
            let reference = reference::solve(&view);
            near(&[view.objective(&reference.x)], &[expected.objective], 1e-5, "reference");
            for (optimum, how) in [(&cold, "cold"), (&warm, "warm")] {
                assert_eq!(optimum.status, Status::Optimal, "{how}");
                assert!(optimum.accuracy.within(&Tolerances::default()), "{how}");
                near(&[optimum.objective], &[expected.objective], 1e-7, how);
                near(&[view.objective(&optimum.x)], &[optimum.objective], 1e-9, how);
                // θ = 2Qx + C'ᵀλ with the multipliers of all rows as stated, each inside its caps.
                let soft = &optimum.multipliers.soft;
                for k in 0..soft.len() {
                    assert!(soft[k] <= view.alpha[k] + 1e-12 && soft[k] >= -view.under[k] - 1e-12);
                }
                if twin.one.Q().is_some() {
                    near(&optimum.x, &expected.x, 1e-5, how);
                    // Cᵀλ
                    let sums = |soft: &[f64]| -> Vec<f64> {
                        let mut sums = vec![0.0; twin.one.n()];
                        for (k, lambda) in soft.iter().enumerate() {
                            twin.one.soft().C.row(k).iter().for_each(|(j, c)| sums[j] += c * lambda);
                        }
                        sums
                    };
                    // At a kink that bounds and rows share, multipliers are not unique: those of the soft rows alone are.
                    if expected.active.iter().all(|id| matches!(id, RowId::Soft(_))) {
                        near(&sums(soft), &sums(&twin.scaled(&expected.multipliers.soft, 1)), 1e-4, how);
                    }
                }
            }
        }
    }

    /// The surrogate: points, pieces, objectives, accuracies; cold and warm; smooth and vertex.
    #[test]
    fn surrogates_are_those_of_rows_apart(seed in 0u64..1_000_000) {
        let twin = Twin::new(seed);
        for segments in [Segments::Smooth, Segments::Vertex] {
            let [one, apart] = twin.surrogates(segments, 0.0);
            let mut store = Store::with_budget(1 << 24);
            for step in 0..8 {
                let [a, b] = twin.moved(step);
                let cold = one.solve(&a.instance()).unwrap();
                let warm = one.solve_batch_warm(&[a.instance()], &[1], &mut store).remove(0).unwrap();
                let expected = apart.solve(&b.instance()).unwrap();
                assert!(expected.is_optimal() && cold.is_optimal() && warm.is_optimal());
                // Vertex segments are those of one of many optima where there are many.
                if segments == Segments::Vertex && twin.one.Q().is_none() {
                    continue;
                }
                for (solution, how) in [(&cold, "cold"), (&warm, "warm")] {
                    assert!(solution.residual < 1e-7, "{how}: {}", solution.residual);
                    if solution.is_singular() || expected.is_singular() {
                        continue;
                    }
                    near(solution.x(), expected.x(), 1e-7, how);
                    near(&[solution.objective], &[expected.objective], 1e-7, how);
                    let view = twin.one.view(&a.instance()).unwrap();
                    near(&[view.objective(solution.x())], &[solution.objective], 1e-12, how);
                    near(&[solution.accuracy().gap], &[expected.accuracy().gap], 1e-6, how);
                    let mut pieces: Vec<_> = solution.pieces().collect();
                    pieces.sort_by_key(|p| p.0);
                    assert_eq!(pieces.len(), expected.pieces().count(), "{how}");
                }
            }
        }
    }

    /// Gradients in every parameter, smoothed ones too, and the directional derivative.
    #[test]
    fn gradients_are_those_of_rows_apart(seed in 0u64..1_000_000) {
        let twin = Twin::new(seed);
        for smoothing in [0.0, 0.1] {
            let [one, apart] = twin.surrogates(Segments::Smooth, smoothing);
            let [a, b] = twin.moved(0);
            let (ours, theirs) = (one.solve(&a.instance()).unwrap(), apart.solve(&b.instance()).unwrap());
            let pieces = |s: &Solution| {
                let mut all: Vec<_> = s.pieces().collect();
                all.sort_by_key(|p| p.0);
                all
            };
            if ours.is_singular() || theirs.is_singular() || pieces(&ours) != pieces(&theirs) {
                continue;
            }
            let g = vector(&mut rng(seed), twin.one.n());
            let (x, y) = (ours.vjp(&g), theirs.vjp(&g));
            near(&x.theta, &y.theta, 1e-6, "θ");
            near(&x.Q, &y.Q, 1e-6, "Q");
            near(&x.d, &twin.scaled(&y.d, 1), 1e-6, "d");
            near(&x.alpha, &twin.scaled(&y.alpha, -1), 1e-6, "α");
            near(&x.under, &twin.scaled(&y.under, -1), 1e-6, "α₂");
            let n = twin.one.n();
            let C: Vec<f64> = y.C.chunks_exact(n).zip(&twin.units).flat_map(|(row, u)| row.iter().map(move |v| v * u)).collect();
            near(&x.C, &C, 1e-6, "C");
            near(&x.b, &y.b, 1e-6, "b");
            near(&x.k_rows.soft, &twin.scaled(&y.k_rows.soft, -1), 1e-6, "K");
            let mut tangent = ours.zero_tangent();
            tangent.d = vector(&mut rng(seed + 1), tangent.d.len());
            tangent.alpha = vector(&mut rng(seed + 2), tangent.d.len());
            tangent.theta = vector(&mut rng(seed + 3), n);
            let forward: f64 = ours.jvp(&tangent).iter().zip(&g).map(|(a, b)| a * b).sum();
            let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
            let back = dot(&x.d, &tangent.d) + dot(&x.alpha, &tangent.alpha) + dot(&x.theta, &tangent.theta);
            near(&[forward], &[back], 1e-8, "jvp");
        }
    }
}

/// The law by hand: a newsvendor with 1,000 demands orders the quantile of its prices, and λ is its price.
#[test]
fn a_newsvendor_orders_a_quantile() {
    let demands: Vec<f64> = (0..1000).map(|s| f64::from((s * 617) % 1000)).collect();
    let one = Matrix::from_fn(1000, 1, |_, _| 1.0);
    let problem = Problem::maximize(1)
        .linear([1.0])
        .soft("demand", Soft::over(one, demands, vec![5.0 / 1000.0; 1000]))
        .build()
        .unwrap();
    let optimum = Oracle::new(&problem).solve(&Instance::theta(&[1.0012])).unwrap();
    // 200 demands at 0.005 are 1.0: the 201st, which is 200, holds it.
    assert!((optimum.x[0] - 200.0).abs() < 1e-9, "{:?}", optimum.x);
    let multipliers = &optimum.multipliers.soft;
    assert!((multipliers.iter().sum::<f64>() - 1.0012).abs() < 1e-9);
    let at = problem.soft().d.iter().position(|d| *d == 200.0).unwrap();
    assert!((multipliers[at] - 0.0012).abs() < 1e-9);
    assert_eq!(optimum.active, [RowId::Soft(at)]);
}

/// Batches do not depend on threads, and a store that was saved goes on as the running one does.
#[test]
fn batches_and_stores_go_on_as_they_were() {
    for seed in 0..20 {
        let twin = Twin::new(seed);
        let [surrogate, _] = twin.surrogates(Segments::Smooth, 0.0);
        let oracle = Oracle::new(&twin.one);
        let all: Vec<Parameters> = (0..12).map(|step| twin.moved(step)[0].clone()).collect();
        let instances: Vec<Instance<'_>> = all.iter().map(Parameters::instance).collect();
        let points = |threads: usize| -> Vec<Vec<f64>> {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let smooth = surrogate.solve_batch(&instances).into_iter().map(|s| s.unwrap().x().to_vec());
                let exact = oracle.solve_batch(&instances).into_iter().map(|s| s.unwrap().x);
                smooth.chain(exact).collect()
            })
        };
        assert_eq!(points(1), points(3), "seed {seed}");
        let ids: Vec<u64> = (0..12).collect();
        let mut running = Store::with_budget(1 << 24);
        surrogate.solve_batch_warm(&instances, &ids, &mut running);
        running.drop_factors();
        let mut resumed = Store::from_bytes(&running.to_bytes()).unwrap();
        let back: Vec<Instance<'_>> = instances.iter().rev().copied().collect();
        let go = |store: &mut Store| -> Vec<Vec<f64>> {
            surrogate
                .solve_batch_warm(&back, &ids, store)
                .into_iter()
                .map(|s| s.unwrap().x().to_vec())
                .collect()
        };
        assert_eq!(go(&mut running), go(&mut resumed), "seed {seed}");
    }
}
