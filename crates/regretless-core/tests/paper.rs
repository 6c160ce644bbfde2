//! The paper's Appendix D, written out independently of the engine: naive matrices, an explicit inverse, Clarabel for
//! the optimum at which the segments are read.
#![allow(non_snake_case)]
#![allow(clippy::unwrap_used, clippy::wildcard_imports, reason = "tests fail loudly")]

mod common;

use common::rng;
use rand::RngExt;
use regretless_core::engine::reference;
use regretless_core::*;

type Dense = Vec<Vec<f64>>;

fn inverse(a: &Dense) -> Dense {
    let n = a.len();
    let mut m: Dense = a.clone();
    let mut out: Dense = (0..n).map(|i| (0..n).map(|j| f64::from(u8::from(i == j))).collect()).collect();
    for c in 0..n {
        let pivot = (c..n).max_by(|i, j| m[*i][c].abs().total_cmp(&m[*j][c].abs())).unwrap();
        m.swap(c, pivot);
        out.swap(c, pivot);
        let scale = m[c][c];
        for j in 0..n {
            m[c][j] /= scale;
            out[c][j] /= scale;
        }
        for i in 0..n {
            if i != c {
                let f = m[i][c];
                for j in 0..n {
                    m[i][j] -= f * m[c][j];
                    out[i][j] -= f * out[c][j];
                }
            }
        }
    }
    out
}

fn times(a: &Dense, x: &[f64]) -> Vec<f64> {
    a.iter().map(|r| r.iter().zip(x).map(|(a, x)| a * x).sum()).collect()
}

/// Stacked C', d', γ with the paper's M (2K on the quadratic piece) and U at a given point.
struct Stacked {
    C: Dense,
    d: Vec<f64>,
    gamma: Vec<f64>,
    M: Vec<f64>,
    U: Vec<f64>,
    K: f64,
}

impl Stacked {
    fn new(C: Dense, d: Vec<f64>, gamma: Vec<f64>, K: f64, x: &[f64]) -> Self {
        let z: Vec<f64> = times(&C, x).iter().zip(&d).map(|(a, d)| a - d).collect();
        let h = 0.25 / K;
        let M = z.iter().map(|z| if z.abs() <= h { 2.0 * K } else { 0.0 }).collect();
        let U = z.iter().map(|z| f64::from(u8::from(*z > h))).collect();
        Self { C, d, gamma, M, U, K }
    }

    /// C'ᵀM diag(γ)C'
    fn gram(&self) -> Dense {
        let n = self.C[0].len();
        let mut out = vec![vec![0.0; n]; n];
        for (k, row) in self.C.iter().enumerate() {
            for i in 0..n {
                for j in 0..n {
                    out[i][j] += self.M[k] * self.gamma[k] * row[i] * row[j];
                }
            }
        }
        out
    }

    /// η = M diag(γ)d' − (M/4K + U)γ
    fn eta(&self) -> Vec<f64> {
        (0..self.d.len())
            .map(|k| {
                self.M[k] * self.gamma[k] * self.d[k]
                    - (self.M[k] / (4.0 * self.K) + self.U[k]) * self.gamma[k]
            })
            .collect()
    }

    /// C'ᵀv
    fn pull(&self, v: &[f64]) -> Vec<f64> {
        (0..self.C[0].len()).map(|j| self.C.iter().zip(v).map(|(r, v)| r[j] * v).sum()).collect()
    }

    /// θ + C'ᵀη − 2Qx − C'ᵀM diag(γ)C'x: the derivative of the surrogate at x with these segments.
    fn derivative(&self, theta: &[f64], Q: Option<&Dense>, x: &[f64]) -> Vec<f64> {
        let (pull, gram) = (self.pull(&self.eta()), times(&self.gram(), x));
        let quadratic = Q.map_or(vec![0.0; x.len()], |q| times(q, x));
        (0..x.len()).map(|j| theta[j] + pull[j] - 2.0 * quadratic[j] - gram[j]).collect()
    }
}

fn dense(m: &Matrix) -> Dense {
    (0..m.rows()).map(|i| m.row(i).to_vec()).collect()
}

fn unit_rows(n: usize, s: f64) -> Dense {
    (0..n).map(|i| (0..n).map(|j| if i == j { s } else { 0.0 }).collect()).collect()
}

fn vertex(problem: &Problem, hard: f64, K: f64) -> Surrogate {
    let multipliers = Multipliers::choose(problem, &Rule::Constant(hard), &[Instance::default()]).unwrap();
    Surrogate::new(
        problem,
        &multipliers,
        &SurrogateOptions { segments: Segments::Vertex, ..SurrogateOptions::with_k(K) },
    )
    .unwrap()
}

fn all_close(a: &[f64], b: &[f64], tolerance: f64) {
    assert_eq!(a.len(), b.len());
    let size = b.iter().fold(1.0_f64, |m, v| m.max(v.abs()));
    for (a, b) in a.iter().zip(b) {
        assert!((a - b).abs() <= tolerance * size, "{a} vs {b} (size {size})");
    }
}

#[test]
fn linear_program_with_soft_constraints() {
    for seed in 0..10 {
        let mut r = rng(seed);
        let (n, m1, m3) = (8, 8, 4);
        let mut random = |rows: usize| {
            Matrix::from_fn(rows, n, |_, _| if r.random_bool(0.5) { r.random::<f64>() } else { 0.0 })
        };
        let (A, C) = (random(m1), random(m3));
        let half =
            |m: &Matrix, f: f64| (0..m.rows()).map(|i| f * m.row(i).iter().sum::<f64>()).collect::<Vec<_>>();
        let (b, d) = (half(&A, 0.5), half(&C, 0.25));
        let mut r = rng(seed + 100);
        let alpha: Vec<f64> = (0..m3).map(|_| 0.2 * r.random::<f64>()).collect();
        let theta: Vec<f64> = (0..n).map(|_| r.random()).collect();
        let truth: Vec<f64> = (0..n).map(|_| r.random()).collect();
        let problem = Problem::maximize(n)
            .linear(theta.clone())
            .soft("soft", Soft::over(C.clone(), d.clone(), alpha.clone()))
            .at_most("hard", A.clone(), b.clone())
            .build()
            .unwrap();
        let (K, hard) = (5.0, 20.0);
        let optimum = reference::solve(&problem.view(&Instance::default()).unwrap());
        let stacked = Stacked::new(
            [dense(&C), dense(&A), unit_rows(n, -1.0)].concat(),
            [d, b, vec![0.0; n]].concat(),
            [alpha, vec![hard; m1 + n]].concat(),
            K,
            &optimum.x,
        );
        let inverse = inverse(&stacked.gram());
        let right: Vec<f64> = stacked.pull(&stacked.eta()).iter().zip(&theta).map(|(p, t)| p + t).collect();
        let x = times(&inverse, &right);
        let solution = vertex(&problem, hard, K).solve(&Instance::default()).unwrap();
        all_close(solution.x(), &x, 1e-7);
        // ∂x/∂θ is the inverse; chained with ∂f/∂x at the true θ it collapses to H⁻¹(θ_real − θ̂).
        let derivative = stacked.derivative(&truth, None, &x);
        let gradient = times(&inverse, &derivative);
        all_close(&solution.vjp(&derivative).theta, &gradient, 1e-7);
        let error: Vec<f64> = truth.iter().zip(&theta).map(|(a, b)| a - b).collect();
        all_close(&derivative, &error, 1e-7);
    }
}

#[test]
fn portfolio_selection_with_soft_constraints() {
    for seed in 0..10 {
        let mut r = rng(seed);
        let (n, m3) = (8, 3);
        let factors = common::matrix(&mut r, n + 2, n);
        let similarity = |f: &Matrix| {
            Matrix::from_fn(n, n, |i, j| {
                let ridge = if i == j { 0.1 } else { 0.0 };
                ridge + (0..n + 2).map(|k| f[(k, i)] * f[(k, j)]).sum::<f64>() / n as f64
            })
        };
        let Q = similarity(&factors);
        let Q_real = similarity(&common::matrix(&mut r, n + 2, n));
        let C = Matrix::from_fn(m3, n, |_, _| f64::from(u8::from(r.random_bool(0.4))));
        let d: Vec<f64> = (0..m3).map(|_| 0.2 * r.random::<f64>()).collect();
        let alpha: Vec<f64> = (0..m3).map(|_| r.random::<f64>()).collect();
        let theta: Vec<f64> = (0..n).map(|_| 0.05 * common::normal(&mut r)).collect();
        let truth: Vec<f64> = (0..n).map(|_| 0.05 * common::normal(&mut r)).collect();
        let problem = Problem::maximize(n)
            .linear(theta.clone())
            .quadratic(Q.clone())
            .soft("groups", Soft::over(C.clone(), d.clone(), alpha.clone()))
            .equal("budget", Matrix::from_fn(1, n, |_, _| 1.0), [1.0])
            .build()
            .unwrap();
        let (K, hard) = (20.0, 4.0);
        let optimum = reference::solve(&problem.view(&Instance::default()).unwrap());
        let stacked = Stacked::new(
            [dense(&C), vec![vec![-1.0; n]], vec![vec![1.0; n]], unit_rows(n, -1.0)].concat(),
            [d, vec![-1.0, 1.0], vec![0.0; n]].concat(),
            [alpha, vec![hard; n + 2]].concat(),
            K,
            &optimum.x,
        );
        let mut H = stacked.gram();
        for i in 0..n {
            for j in 0..n {
                H[i][j] += 2.0 * Q[(i, j)];
            }
        }
        let R = inverse(&H);
        let beta: Vec<f64> = stacked.pull(&stacked.eta()).iter().zip(&theta).map(|(p, t)| p + t).collect();
        let x = times(&R, &beta);
        let solution = vertex(&problem, hard, K).solve(&Instance::default()).unwrap();
        all_close(solution.x(), &x, 1e-6);
        let derivative = stacked.derivative(&truth, Some(&dense(&Q_real)), &x);
        let gradients = solution.vjp(&derivative);
        all_close(&gradients.theta, &times(&R, &derivative), 1e-6);
        // ∂f/∂Q = 2pxᵀ with p = Rᵀ(R_real⁻¹x − β_real) = −R ∂f/∂x; ours is its symmetric part.
        let p: Vec<f64> = times(&R, &derivative).iter().map(|v| -v).collect();
        let paper: Vec<f64> = (0..n * n).map(|ij| p[ij / n] * x[ij % n] + p[ij % n] * x[ij / n]).collect();
        all_close(&gradients.Q, &paper, 1e-6);
    }
}

#[test]
fn resource_provisioning() {
    for seed in 0..10 {
        let mut r = rng(seed);
        let (n, hours) = (4, 6);
        let C = Matrix::from_fn(hours, n, |_, _| 0.2 + r.random::<f64>());
        let C_real = Matrix::from_fn(hours, n, |_, _| 0.2 + r.random::<f64>());
        let d: Vec<f64> = (0..hours).map(|_| 0.5 + 0.1 * common::normal(&mut r)).collect();
        let (over, under) = (vec![5.0; hours], vec![0.5; hours]);
        let problem = Problem::minimize(n)
            .soft("hours", Soft::both(C.clone(), d.clone(), over.clone(), under.clone()))
            .equal("shares", Matrix::from_fn(1, n, |_, _| 1.0), [1.0])
            .build()
            .unwrap();
        let (K, hard) = (0.5, 100.0);
        let optimum = reference::solve(&problem.view(&Instance::default()).unwrap());
        let negative =
            |m: &Matrix| dense(m).into_iter().map(|r| r.iter().map(|v| -v).collect()).collect::<Dense>();
        let rows = |m: &Matrix| {
            [dense(m), negative(m), unit_rows(n, -1.0), vec![vec![1.0; n]], vec![vec![-1.0; n]]].concat()
        };
        let minus_d: Vec<f64> = d.iter().map(|d| -d).collect();
        let limits = [d, minus_d, vec![0.0; n], vec![1.0, -1.0]].concat();
        let gamma = [over, under, vec![hard; n + 2]].concat();
        let s = Stacked::new(rows(&C), limits.clone(), gamma.clone(), K, &optimum.x);
        let P = inverse(&s.gram());
        let eta = s.eta();
        let beta = s.pull(&eta);
        let x = times(&P, &beta);
        let solution = vertex(&problem, hard, K).solve(&Instance::default()).unwrap();
        all_close(solution.x(), &x, 1e-7);
        // The true objective takes its own segments at x.
        let real = Stacked::new(rows(&C_real), limits, gamma, K, &x);
        let derivative = real.derivative(&vec![0.0; n], None, &x);
        // ∂x_i/∂C'_{kl} = −((MγC'Pβ)_k P_il + (Pβ)_l (PC'ᵀMγ)_ik) + P_il η_k, chained with ∂f/∂x.
        let CPb = times(&s.C, &x);
        let mut paper = vec![0.0; hours * n];
        for k in 0..2 * hours {
            let w = s.M[k] * s.gamma[k];
            for l in 0..n {
                let mut total = 0.0;
                for i in 0..n {
                    let PCt: f64 = (0..n).map(|j| P[i][j] * s.C[k][j]).sum();
                    total += derivative[i] * (P[i][l] * (eta[k] - w * CPb[k]) - x[l] * PCt * w);
                }
                let (row, sign) = if k < hours { (k, 1.0) } else { (k - hours, -1.0) };
                paper[row * n + l] += sign * total;
            }
        }
        all_close(&solution.vjp(&derivative).C, &paper, 1e-7);
    }
}
