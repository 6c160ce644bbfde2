//! What was chosen, over what, by how much, and what was not tried.

use super::choice::Gap;
use crate::data::suspicions::ENOUGH;
use crate::numbers::{count, four, some_of};

/// What there is to say of a choice.
pub(super) struct Said<'a> {
    pub(super) chosen: &'a str,
    /// Its mean regret out of fold.
    pub(super) regret: f64,
    /// The lowest of all.
    pub(super) best: (&'a str, f64),
    /// The lowest of the plain forecasts.
    pub(super) reference: (&'a str, f64),
    /// The lowest of the others, and how much more it costs.
    pub(super) second: Option<(&'a str, Gap)>,
    /// True if what was chosen is a plain forecast.
    pub(super) plain: bool,
    pub(super) candidates: usize,
    pub(super) folds: usize,
    pub(super) rows: usize,
    /// The gain over the best plain forecast where the choice did not look, and the regret of that forecast there.
    pub(super) gain: Option<(Gap, f64)>,
    pub(super) left_out: &'a [String],
    /// If the time was up: what the time did not suffice for.
    pub(super) out_of_time: Option<&'a [String]>,
}

pub(super) fn sentence(said: &Said<'_>) -> String {
    let (chosen, regret) = (said.chosen, four(said.regret));
    let folds = format!("{} of {}", count(said.folds, "fold"), count(said.rows, "row"));
    let mut text = if said.rows < ENOUGH {
        format!(
            "kept {chosen}, the best plain forecast: {} cannot tell methods apart, at least {ENOUGH} are needed",
            count(said.rows, "row")
        )
    } else if !said.plain {
        let (reference, other) = (said.reference.0, said.reference.1);
        let change = percent(other - said.regret, other);
        let honest = match said.gain {
            Some((gain, there)) => {
                // No regret is below 0.
                let (low, high) = gain.interval();
                format!(
                    "; on rows that the choice did not see {} (95 % interval {} to {})",
                    percent(gain.mean, there),
                    percent(low, there),
                    percent(high.min(there), there)
                )
            }
            None => String::new(),
        };
        format!(
            "chose {chosen} over {reference}, the best plain forecast: regret {regret} instead of {} in {folds} ({change}){honest}",
            four(other)
        )
    } else if chosen == said.best.0 {
        let ahead = said.second.map_or_else(String::new, |(second, gap)| {
            let (low, high) = gap.interval();
            let [mean, low, high] = [gap.mean, low, high].map(|v| four(v).replace('-', "−"));
            format!(", {mean} less than {second}, the next (95 % interval {low} to {high})")
        });
        format!(
            "kept {chosen}, the best of {} with regret {regret} in {folds}{ahead}",
            count(said.candidates, "candidate")
        )
    } else {
        format!(
            "kept {chosen}, the simplest of {} within a standard error of the best: regret {regret} in {folds}, {} of {}",
            count(said.candidates, "candidate"),
            four(said.best.1),
            said.best.0
        )
    };
    text += "; then trained on all of them";
    if !said.left_out.is_empty() {
        text = format!("{text}; not tried for lack of budget: {}", said.left_out.join(", "));
    }
    match said.out_of_time {
        Some([]) => format!("{text}; the time was up before all was tried"),
        Some(names) => format!(
            "{text}; the time was up before enough was known of {} and what would have followed",
            some_of(names)
        ),
        None => text,
    }
}

/// A gain as a change of regret.
fn percent(gain: f64, of: f64) -> String {
    let share = if of.abs() > 0.0 { 100.0 * gain / of.abs() } else { 0.0 };
    let sign = if share >= 0.05 {
        "−"
    } else if share <= -0.05 {
        "+"
    } else {
        ""
    };
    format!("{sign}{:.1} %", share.abs())
}
