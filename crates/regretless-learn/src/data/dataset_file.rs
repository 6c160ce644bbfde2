//! Rows that were in memory, in a file: safetensors, numbers to the last bit.

use std::collections::HashMap;
use std::path::Path;

use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use serde::{Deserialize, Serialize};

use crate::data::dataset::{Dataset, Known, Names};
use crate::data::kind::Kind;
use crate::data::series::Series;
use crate::error::LearnError;
use crate::files;
use crate::settings::Part;

/// What is no number.
#[derive(Serialize, Deserialize)]
struct Card {
    features: Vec<String>,
    targets: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    known: Vec<String>,
    per_variable: Option<Vec<Vec<usize>>>,
    notes: Vec<String>,
    dropped: usize,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    kinds: Vec<Kind>,
    /// The name of each row's series.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    series: Vec<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    dates: bool,
    /// For each row its part, counted in the order of [`Part::ALL`].
    parts: Vec<Option<u8>>,
}

const CARD: &str = "regretless";

impl Dataset {
    /// Writes the rows to a file. Where they came from is not kept.
    ///
    /// ```
    /// use regretless_learn::{Dataset, Names};
    /// # let dir = tempfile::tempdir()?;
    /// # let path = dir.path().join("rows.safetensors");
    /// let data = Dataset::new(vec![0.1, f64::NAN], vec![1.0, 2.0], 2, Names::numbered(1));
    /// data.write(&path)?;
    /// let read = Dataset::read(&path)?;
    /// assert_eq!((read.rows(), read.features[0], read.targets), (2, 0.1, vec![1.0, 2.0]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn write(&self, path: &Path) -> Result<(), LearnError> {
        let Names { features, targets, per_variable } = self.names.clone();
        let parts = self.parts.iter().map(|part| part.map(|part| part as u8)).collect();
        let (known, notes) = (self.known.names.clone(), self.notes.clone());
        let rows = if self.series.is_empty() { 0 } else { self.rows() };
        let card = Card {
            features,
            targets,
            known,
            per_variable,
            notes,
            dropped: self.dropped,
            kinds: self.kinds.clone(),
            series: (0..rows).map(|row| self.series.names()[self.series.of(row)].clone()).collect(),
            dates: self.dates,
            parts,
        };
        let card = serde_json::to_string(&card).map_err(|e| broken(path, &e))?;
        let bytes = |values: &[f64]| values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>();
        let mut tensors =
            vec![("features", &self.features), ("targets", &self.targets), ("weights", &self.weights)];
        if !self.known.names.is_empty() {
            tensors.push(("known", &self.known.values));
        }
        if !self.times.is_empty() {
            tensors.push(("times", &self.times));
        }
        let tensors: Vec<_> =
            tensors.into_iter().map(|(name, values)| (name, values.len(), bytes(values))).collect();
        let views = tensors.iter().map(|(name, len, bytes)| {
            TensorView::new(Dtype::F64, vec![*len], bytes).map(|view| ((*name).to_owned(), view))
        });
        let views: Vec<_> = views.collect::<Result<_, _>>().map_err(|e| broken(path, &e))?;
        let metadata = HashMap::from([(CARD.to_owned(), card)]);
        let bytes = safetensors::serialize(views, Some(metadata)).map_err(|e| broken(path, &e))?;
        files::write_apart(path, &bytes)
    }

    /// Reads what [`Dataset::write`] wrote.
    pub fn read(path: &Path) -> Result<Self, LearnError> {
        let bytes = files::read(path)?;
        let (_, metadata) = SafeTensors::read_metadata(&bytes).map_err(|e| broken(path, &e))?;
        let card = metadata.metadata().as_ref().and_then(|all| all.get(CARD)).map_or("", String::as_str);
        let card: Card = serde_json::from_str(card).map_err(|e| broken(path, &e))?;
        let tensors = SafeTensors::deserialize(&bytes).map_err(|e| broken(path, &e))?;
        let numbers = |name: &str| -> Result<Vec<f64>, LearnError> {
            let tensor = tensors.tensor(name).map_err(|e| broken(path, &e))?;
            let whole = tensor.data().chunks_exact(8);
            Ok(whole.map(|b| f64::from_le_bytes(b.try_into().unwrap_or_default())).collect())
        };
        let part = |code: Option<u8>| match code {
            None => Ok(None),
            Some(code) => {
                let part = Part::ALL.iter().copied().find(|part| *part as u8 == code);
                part.map(Some).ok_or_else(|| broken(path, &"it names a part that is none"))
            }
        };
        let mut series = Series::default();
        card.series.iter().for_each(|name| series.push(name));
        let named = card.series.len();
        let data = Self {
            kinds: card.kinds,
            series,
            times: if tensors.tensor("times").is_ok() { numbers("times")? } else { Vec::new() },
            features: numbers("features")?,
            targets: numbers("targets")?,
            weights: numbers("weights")?,
            known: Known {
                values: if card.known.is_empty() { Vec::new() } else { numbers("known")? },
                names: card.known,
            },
            names: Names { features: card.features, targets: card.targets, per_variable: card.per_variable },
            notes: card.notes,
            dropped: card.dropped,
            dates: card.dates,
            parts: card.parts.into_iter().map(part).collect::<Result<_, _>>()?,
            ..Self::default()
        };
        let even = data.features.len() == data.rows() * data.width()
            && (data.weights.is_empty() || data.weights.len() == data.rows())
            && (data.kinds.is_empty() || data.kinds.len() == data.width())
            && (named == 0 || named == data.rows())
            && (data.times.is_empty() || data.times.len() == data.rows())
            && data.known.values.len() == data.rows() * data.known.names.len()
            && data.targets.len().is_multiple_of(data.rows().max(1));
        if even { Ok(data) } else { Err(broken(path, &"its tables differ in length")) }
    }
}

fn broken(path: &Path, what: &dyn std::fmt::Display) -> LearnError {
    LearnError::run(path, format!("the rows cannot be read: {what}"), "plan the study again")
}
