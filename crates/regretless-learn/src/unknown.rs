//! Numbers that may be unknown: NaN here, `null` in JSON, which has no NaN.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
#[allow(missing_docs, reason = "serde calls it")]
pub fn serialize<S: Serializer>(value: &f64, to: S) -> Result<S::Ok, S::Error> {
    value.is_finite().then_some(*value).serialize(to)
}

#[allow(missing_docs, reason = "serde calls it")]
pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    Ok(Option::deserialize(from)?.unwrap_or(f64::NAN))
}

/// Several of them.
pub(crate) mod four {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(crate) fn serialize<S: Serializer>(values: &[f64; 4], to: S) -> Result<S::Ok, S::Error> {
        values.map(|v| v.is_finite().then_some(v)).serialize(to)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<[f64; 4], D::Error> {
        Ok(<[Option<f64>; 4]>::deserialize(from)?.map(|v| v.unwrap_or(f64::NAN)))
    }
}

/// Many of them.
pub mod many {
    use serde::{Deserialize, Deserializer, Serializer};

    #[allow(missing_docs, reason = "serde calls it")]
    pub fn serialize<S: Serializer>(values: &[f64], to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(values.iter().map(|v| v.is_finite().then_some(*v)))
    }

    #[allow(missing_docs, reason = "serde calls it")]
    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<f64>, D::Error> {
        let values: Vec<Option<f64>> = Vec::deserialize(from)?;
        Ok(values.into_iter().map(|v| v.unwrap_or(f64::NAN)).collect())
    }
}

/// Pairs whose second number may be unknown.
pub(crate) mod pairs {
    use serde::{Deserialize, Deserializer, Serializer};

    pub(crate) fn serialize<S: Serializer>(pairs: &[(f64, f64)], to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(pairs.iter().map(|(first, v)| (first, v.is_finite().then_some(*v))))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<(f64, f64)>, D::Error> {
        let pairs: Vec<(f64, Option<f64>)> = Vec::deserialize(from)?;
        Ok(pairs.into_iter().map(|(first, v)| (first, v.unwrap_or(f64::NAN))).collect())
    }
}
