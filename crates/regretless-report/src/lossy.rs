//! JSON has no NaN: it is written as `null`, and these read `null` back as NaN.

use serde::{Deserialize, Deserializer};

pub(crate) fn value<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    Ok(Option::deserialize(from)?.unwrap_or(f64::NAN))
}

pub(crate) fn values<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<f64>, D::Error> {
    let values: Vec<Option<f64>> = Vec::deserialize(from)?;
    Ok(values.into_iter().map(|v| v.unwrap_or(f64::NAN)).collect())
}

pub(crate) fn pair<'de, D: Deserializer<'de>>(from: D) -> Result<Option<(f64, f64)>, D::Error> {
    let pair: Option<(Option<f64>, Option<f64>)> = Option::deserialize(from)?;
    Ok(pair.map(|(a, b)| (a.unwrap_or(f64::NAN), b.unwrap_or(f64::NAN))))
}
