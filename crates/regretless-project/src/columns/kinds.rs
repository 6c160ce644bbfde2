//! What feature columns hold: what the file says, or what they seem to hold.

use crate::Spec;
use crate::data::Guess;
use crate::data_settings::ColumnKind;
use crate::error::{Place, Result, SpecError, Trouble, shorten};
use crate::selection::{no_column, pick};
use regretless_learn::{DatePart, Kind};

use super::Want;

/// The kinds of these columns, in their order.
pub(super) fn of(
    features: &[usize],
    spec: &Spec,
    header: &[String],
    guesses: &[Guess],
    want: Want,
    place: &Place,
) -> Result<Vec<Kind>> {
    let data = spec.data();
    let mut stated: Vec<Option<&ColumnKind>> = vec![None; header.len()];
    for (selector, kind) in data.iter().flat_map(|data| &data.kinds) {
        let found = pick(selector, header);
        if found.is_empty() && want.targets {
            return Err(no_column(selector, header, place, "`data.kinds` names it"));
        }
        found.into_iter().for_each(|i| stated[i] = Some(kind));
    }
    let series = |i: usize| data.is_some_and(|data| data.series.contains(&header[i]));
    let one = |&i: &usize| {
        let seems = match guesses.get(i) {
            _ if series(i) => ColumnKind::Category,
            None | Some(Guess::Number) => ColumnKind::Number,
            Some(Guess::Text) => ColumnKind::Category,
            Some(Guess::Date) => ColumnKind::Date(DatePart::USUAL.to_vec()),
        };
        let kind = match stated[i].cloned().unwrap_or(seems) {
            ColumnKind::Number => Kind::Number,
            ColumnKind::Category => Kind::Category(Vec::new()),
            ColumnKind::Date(parts) => Kind::Date(parts),
        };
        if kind != Kind::Number && super::features::takes_numbers_only(spec) {
            let what = format!("the feature `{}` is a {}", shorten(&header[i]), kind.word());
            return Err(SpecError::new(place.clone(), Trouble::Misfit(what)).hint(
                "a predictor that is shared by the variables and one of given forecasts take numbers only: take the column \
                 out of `data.features`",
            ));
        }
        Ok(kind)
    };
    features.iter().map(one).collect()
}
