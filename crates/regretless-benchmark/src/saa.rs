//! The sample average without features: each series' own past.

use std::collections::BTreeMap;

use regretless_learn::Part;

use crate::BenchmarkError;
use crate::suite::Question;

/// For each row of the test part the quantile of the past of its series, where the past is training and validation, at the share
/// under/(over + under) of the two sides of the costs: what minimises the mean cost over the past. Scaled to fit where there is
/// little room.
pub(crate) fn predictions(question: &Question) -> Result<Vec<f64>, BenchmarkError> {
    let (data, width) = (&question.data, question.placement.width());
    let level = |k: usize| {
        let side = question.sides[k];
        side.under / (side.over + side.under)
    };
    let mut past: BTreeMap<(usize, usize), Vec<f64>> = BTreeMap::new();
    let is_test = |row: usize| data.parts[row] == Some(Part::Test);
    for row in (0..data.rows()).filter(|&row| !is_test(row)) {
        for k in 0..width {
            past.entry((data.series.of(row), k)).or_default().push(data.targets[row * width + k]);
        }
    }
    let quantiles: BTreeMap<(usize, usize), f64> =
        past.into_iter().map(|(key, values)| (key, quantile(values, level(key.1)))).collect();
    let test = (0..data.rows()).filter(|&row| is_test(row));
    let of = |row: usize| (0..width).map(move |k| (data.series.of(row), k));
    let found = test.flat_map(of).map(|key| {
        quantiles.get(&key).copied().ok_or_else(|| BenchmarkError::Settings {
            what: format!("series {} has no past", key.0),
            hint: "leave it out of the test part".into(),
        })
    });
    Ok(fitted(question, found.collect::<Result<_, _>>()?))
}

/// Orders, row by row of the test part, scaled to the room there is.
pub(crate) fn fitted(question: &Question, mut orders: Vec<f64>) -> Vec<f64> {
    let rows = orders.chunks_mut(question.placement.width());
    rows.zip(&question.room).for_each(|(orders, room)| to_fit(orders, *room));
    orders
}

/// Orders, none below 0, scaled down where they need more than the room there is.
pub(crate) fn to_fit(orders: &mut [f64], room: f64) {
    orders.iter_mut().for_each(|order| *order = order.max(0.0));
    let all: f64 = orders.iter().sum();
    if all > room {
        orders.iter_mut().for_each(|order| *order *= room / all);
    }
}

/// The smallest order that is enough for the share `level` of the past: ⌈level·n⌉ values are no larger.
pub(crate) fn quantile(mut values: Vec<f64>, level: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let rank = (level * values.len() as f64 - 1e-9).ceil().max(1.0) as usize;
    values[rank.min(values.len()) - 1]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantile_minimises_the_cost_of_the_past() {
        let past = vec![7.0, 1.0, 4.0, 4.0, 10.0, 2.0, 3.0];
        for level in [0.1, 0.25, 0.5, 0.75, 0.9] {
            let cost = |order: f64| -> f64 {
                past.iter().map(|d| f64::max(level * (d - order), (1.0 - level) * (order - d))).sum()
            };
            let found = quantile(past.clone(), level);
            let best = past.iter().map(|&order| cost(order)).fold(f64::INFINITY, f64::min);
            assert!((cost(found) - best).abs() < 1e-12, "{level}: {found}");
        }
        // numpy.quantile([1, 2, 3, 4], 0.5, method="inverted_cdf") is 2, at 0.51 it is 3.
        assert_eq!(
            (quantile(vec![4.0, 3.0, 2.0, 1.0], 0.5), quantile(vec![4.0, 3.0, 2.0, 1.0], 0.51)),
            (2.0, 3.0)
        );
    }
}
