//! Gradients against central differences, against each other, and against the paper's closed forms.
#![allow(clippy::unwrap_used, clippy::wildcard_imports, reason = "tests fail loudly")]

mod common;

use common::params::{NAMES, Params, part};
use common::{Recipe, rng};
use proptest::prelude::*;
use rand::RngExt;
use regretless_core::engine::Piece;
use regretless_core::*;

fn surrogate(problem: &Problem, k: f64, segments: Segments) -> Option<Surrogate> {
    let multipliers = Multipliers::choose(problem, &Rule::default(), &[Instance::default()]).ok()?;
    Surrogate::new(problem, &multipliers, &SurrogateOptions { segments, ..SurrogateOptions::with_k(k) }).ok()
}

fn value(surrogate: &Surrogate, params: &Params, g: &[f64]) -> Option<(f64, Vec<(RowId, Piece)>)> {
    let solution = surrogate.solve(&params.instance()).ok()?;
    if solution.status != SurrogateStatus::Optimal || solution.is_singular() {
        return None;
    }
    let value = solution.x().iter().zip(g).map(|(x, g)| x * g).sum();
    Some((value, solution.pieces().collect()))
}

/// Checks one randomly chosen entry of every parameter; skips where a breakpoint lies between the two evaluations.
fn check(seed: u64, k: f64, segments: Segments) -> Result<usize, TestCaseError> {
    let recipe = Recipe {
        scaled: false,
        redundant: false,
        degenerate: false,
        n: 2 + (seed % 6) as usize,
        ..Recipe::from_seed(seed)
    };
    let recipe = Recipe { soft: recipe.soft.min(recipe.n), equal: recipe.equal.min(1), ..recipe };
    let problem = recipe.build();
    let Some(surrogate) = surrogate(&problem, k, segments) else { return Ok(0) };
    let mut params = Params::of(&problem);
    let mut r = rng(seed);
    let g = common::vector(&mut r, problem.n());
    let Some((_, pieces)) = value(&surrogate, &params, &g) else { return Ok(0) };
    let solution = surrogate.solve(&params.instance()).unwrap();
    let mut gradients = solution.vjp(&g);
    let size = gradients.theta.iter().fold(1e-3_f64, |m, v| m.max(v.abs()));
    let mut checked = 0;
    for name in NAMES {
        let len = params.part(name).len();
        if len == 0 {
            continue;
        }
        let at = r.random_range(0..len);
        let old = params.part(name)[at];
        if !old.is_finite() || ((name == "alpha" || name == "under") && old < 1e-3) {
            continue;
        }
        if (name == "lower" || name == "upper") && params.lower[at] == params.upper[at] {
            continue;
        }
        // Q stays positive semidefinite: a singular Q is only moved along its diagonal, upwards.
        let one_sided = name == "Q" && recipe.quadratic == 2;
        if one_sided && at % (problem.n() + 1) != 0 {
            continue;
        }
        let here = value(&surrogate, &params, &g).map(|(v, _)| v);
        let mut at_step = |step: f64| {
            let mut shifted = |by: f64| {
                params.part(name)[at] = old + by;
                let value = value(&surrogate, &params, &g);
                params.part(name)[at] = old;
                value.filter(|(_, p)| *p == pieces).map(|(v, _)| v)
            };
            if one_sided {
                Some((4.0 * shifted(step)? - shifted(2.0 * step)? - 3.0 * here?) / (2.0 * step))
            } else {
                Some((shifted(step)? - shifted(-step)?) / (2.0 * step))
            }
        };
        // Two steps that agree: neither curvature nor rounding decides.
        let mut difference = None;
        for step in [1e-4, 1e-5, 1e-6, 1e-7] {
            if let (Some(wide), Some(narrow)) = (at_step(step), at_step(0.5 * step))
                && (wide - narrow).abs() <= 3e-6 * (narrow.abs() + 0.1 * size)
            {
                difference = Some((4.0 * narrow - wide) / 3.0);
                break;
            }
        }
        let Some(difference) = difference else { continue };
        let exact = part(&mut gradients, name)[at];
        let error = (exact - difference).abs() / (exact.abs().max(difference.abs()) + 0.1 * size);
        prop_assert!(error <= 1e-5, "{name}[{at}]: {exact} vs {difference}, {segments:?} k {k} {recipe:?}");
        checked += 1;
    }
    Ok(checked)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1200, max_shrink_iters: 0, failure_persistence: None, rng_seed: proptest::test_runner::RngSeed::Fixed(2021), ..ProptestConfig::default() })]

    #[test]
    fn smooth_gradients_match_central_differences(seed in 0u64..1_000_000, k in 0usize..3) {
        check(seed, [0.2, 1.0, 5.0][k], Segments::Smooth)?;
    }

    #[test]
    fn vertex_gradients_match_central_differences(seed in 0u64..1_000_000, k in 0usize..3) {
        check(seed, [0.2, 1.0, 5.0][k], Segments::Vertex)?;
    }

    #[test]
    fn sharpness_gradients_match_central_differences(seed in 0u64..1_000_000) {
        let recipe = Recipe { scaled: false, redundant: false, degenerate: false, ..Recipe::from_seed(seed) };
        let problem = recipe.build();
        let k = 1.0;
        let multipliers = Multipliers::choose(&problem, &Rule::default(), &[Instance::default()]).unwrap();
        let g = common::vector(&mut rng(seed), problem.n());
        let solve = |k: f64| {
            let options = SurrogateOptions::with_k(k);
            Surrogate::new(&problem, &multipliers, &options).unwrap().solve(&Instance::default()).unwrap()
        };
        let here = solve(k);
        let ok = |s: &Solution| s.status == SurrogateStatus::Optimal && !s.is_singular();
        let pieces = |s: &Solution| s.pieces().collect::<Vec<_>>();
        let along = |s: &Solution| s.x().iter().zip(&g).map(|(x, g)| x * g).sum::<f64>();
        let difference = |step: f64| {
            let (up, down) = (solve(k + step), solve(k - step));
            let same = ok(&up) && ok(&down) && pieces(&up) == pieces(&here) && pieces(&down) == pieces(&here);
            same.then(|| (along(&up) - along(&down)) / (2.0 * step))
        };
        prop_assume!(ok(&here));
        let (Some(wide), Some(narrow)) = (difference(1e-4), difference(5e-5)) else { return Ok(()) };
        prop_assume!((wide - narrow).abs() <= 3e-6 * (0.1 + narrow.abs()));
        let difference = (4.0 * narrow - wide) / 3.0;
        let exact = here.vjp(&g);
        prop_assert!((exact.k - difference).abs() <= 1e-5 * (0.1 + exact.k.abs()), "{} vs {difference}", exact.k);
        let rows = &exact.k_rows;
        let sum: f64 = [&rows.soft, &rows.at_most, &rows.equal, &rows.lower, &rows.upper].into_iter().flatten().sum();
        prop_assert!((sum - exact.k).abs() <= 1e-9 * (1.0 + sum.abs()));
    }

    #[test]
    fn jvp_mirrors_vjp(seed in 0u64..1_000_000, vertex in any::<bool>()) {
        let recipe = Recipe { scaled: false, ..Recipe::from_seed(seed) };
        let problem = recipe.build();
        let segments = if vertex { Segments::Vertex } else { Segments::Smooth };
        let Some(surrogate) = surrogate(&problem, 1.0, segments) else { return Ok(()) };
        let solution = surrogate.solve(&Instance::default()).unwrap();
        let mut r = rng(seed);
        let g = common::vector(&mut r, problem.n());
        let mut tangent = solution.zero_tangent();
        for name in NAMES {
            for v in part(&mut tangent, name) {
                *v = common::normal(&mut r);
            }
        }
        tangent.k = common::normal(&mut r);
        let mut gradients = solution.vjp(&g);
        for parameter in Parameter::ALL {
            let alone = solution.vjp_in(&g, &[parameter]);
            prop_assert_eq!(alone.of(parameter), gradients.of(parameter));
            prop_assert!(Parameter::ALL.iter().all(|p| *p == parameter || alone.of(*p).is_empty()));
        }
        let forward: f64 = solution.jvp(&tangent).iter().zip(&g).map(|(a, b)| a * b).sum();
        let mut reverse = gradients.k * tangent.k;
        let mut size = reverse.abs();
        for name in NAMES {
            // Q counts once: vjp is entrywise, jvp reads (Q + Qᵀ)/2.
            for (a, b) in part(&mut gradients, name).iter().zip(part(&mut tangent, name)) {
                reverse += a * *b;
                size += (a * *b).abs();
            }
        }
        prop_assert!((forward - reverse).abs() <= 1e-8 * (1.0 + size), "{forward} vs {reverse} {recipe:?}");
    }

    /// L(θ̂) = V(θ) − [θᵀx − xᵀQx − Σγ S(z)](x_K(θ̂)) has gradient H⁻¹(θ̂ − θ) = vjp(θ̂ − θ).
    #[test]
    fn the_regret_of_the_surrogate_collapses(seed in 0u64..1_000_000) {
        let recipe = Recipe { scaled: false, bounds: 1, minimise: false, ..Recipe::from_seed(seed) };
        let problem = recipe.build();
        let Some(surrogate) = surrogate(&problem, 1.0, Segments::Smooth) else { return Ok(()) };
        let mut r = rng(seed);
        let truth = problem.theta().to_vec();
        let hat: Vec<f64> = truth.iter().map(|t| t + 0.3 * common::normal(&mut r)).collect();
        let at = |theta: &[f64]| surrogate.solve(&Instance::theta(theta)).unwrap();
        let here = at(&hat);
        prop_assume!(here.status == SurrogateStatus::Optimal && !here.is_singular());
        let mut exact: Vec<f64> = hat.iter().zip(&truth).map(|(h, t)| h - t).collect();
        here.vjp_theta(&mut exact);
        // d/dθ̂ of −[(θ − θ̂)ᵀx(θ̂)] − V(θ̂) along a direction, with ∇V = x: central differences of both terms.
        let direction = common::vector(&mut r, problem.n());
        let step = 1e-6;
        let moved = |s: f64| hat.iter().zip(&direction).map(|(h, d)| h + s * d).collect::<Vec<f64>>();
        let (up, down) = (at(&moved(step)), at(&moved(-step)));
        let pieces = |s: &Solution| s.pieces().collect::<Vec<_>>();
        prop_assume!(pieces(&up) == pieces(&here) && pieces(&down) == pieces(&here));
        // The loss changes by (θ̂ − θ)ᵀdx to first order, as x is stationary at θ̂.
        let change: f64 = (0..problem.n()).map(|j| (hat[j] - truth[j]) * (up.x()[j] - down.x()[j])).sum();
        let slope: f64 = exact.iter().zip(&direction).map(|(a, b)| a * b).sum();
        prop_assert!((slope - change / (2.0 * step)).abs() <= 1e-5 * (1.0 + slope.abs()), "{slope} vs {}", change / (2.0 * step));
    }
}

#[test]
fn most_parameters_are_really_checked() {
    let mut checked = 0;
    for seed in 0..200 {
        checked += check(seed, 1.0, Segments::Smooth).unwrap() + check(seed, 1.0, Segments::Vertex).unwrap();
    }
    assert!(checked > 1500, "only {checked} entries were compared");
}

#[test]
fn singular_hessians_give_minimum_norm_gradients() {
    // x₁ appears nowhere: no gradient flows to it, and nothing is NaN.
    let problem = Problem::maximize(2)
        .free()
        .linear([1.0, 0.0])
        .at_most("cap", Matrix::from_rows(&[[1.0, 0.0]]), [2.0])
        .build()
        .unwrap();
    let multipliers = Multipliers::choose(&problem, &Rule::default(), &[Instance::default()]).unwrap();
    for segments in [Segments::Smooth, Segments::Vertex] {
        let options = SurrogateOptions { segments, ..SurrogateOptions::with_k(1.0) };
        let solution =
            Surrogate::new(&problem, &multipliers, &options).unwrap().solve(&Instance::default()).unwrap();
        assert!(solution.is_singular());
        close!(solution.x()[1], 0.0, 1e-12);
        let gradients = solution.vjp(&[1.0, 1.0]);
        // H = 2Kβ on x₀, β = 4.
        close!(gradients.theta[0], 1.0 / 8.0, 1e-9);
        close!(gradients.theta[1], 0.0, 1e-12);
        assert!(gradients.A.iter().chain(&gradients.b).all(|v| v.is_finite()));
    }
}
