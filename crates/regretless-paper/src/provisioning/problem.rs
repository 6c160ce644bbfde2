//! The decision problem, as the text of a problem file.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::load::REGIONS;
use super::windows::WINDOW;
use crate::random::normal;

/// The prices of the paper's table: of a unit too much (α₁) and of one too little (α₂).
pub const RATIOS: [(f64, f64); 5] = [(50.0, 0.5), (5.0, 0.5), (1.0, 1.0), (0.5, 5.0), (0.5, 50.0)];

/// The wanted load d of each of 24 hours, `max(0, 0.5 + 0.1 N(0, 1))` in units of 10⁴ MW.
pub fn limits(seed: u64) -> Vec<f64> {
    let draws = normal(&mut ChaCha8Rng::seed_from_u64(seed), WINDOW);
    draws.into_iter().map(|z| (0.5 + 0.1 * z).max(0.0)).collect()
}

/// The problem file: `min over·max(Cx − d, 0) + under·max(d − Cx, 0)`, `1ᵀx = 1`, `x ≥ 0`.
///
/// C is predicted: its entries are the columns `load_*` of a table, hours × regions, hour by hour.
///
/// ```
/// use regretless_paper::provisioning::{limits, problem_text};
/// use regretless_project::{Limits, Spec};
/// let text = problem_text(&limits(0), 50.0, 0.5);
/// let spec = Spec::parse(text, "provisioning.toml", &Limits::default())?;
/// assert_eq!(spec.problem().n(), 8);
/// # Ok::<(), Box<regretless_project::SpecError>>(())
/// ```
pub fn problem_text(limits: &[f64], over: f64, under: f64) -> String {
    // The debug form of names is quoted and that of numbers has a point, as TOML wants them.
    let variables = REGIONS.map(str::to_lowercase);
    let ones = [1.0; REGIONS.len()];
    format!(
        r#"# A unit of supply shared among eight regions, so that the load it serves is near the wanted one in every hour.
[problem]
name = "provisioning"
sense = "min"
variables = {variables:?}

[[soft]]
name = "hours"
rows = {{ predict = "load_*" }}
limit = {limits:?}
over = {over:?}
under = {under:?}

[[hard]]
name = "shares"
rows = [{ones:?}]
equals = 1.0
"#
    )
}
