//! The numbers of a predictor: one flat vector, cut into named matrices.

use std::ops::Range;

/// Named matrices in one flat vector, which is what optimisers and files work on.
///
/// ```
/// use regretless_learn::Weights;
/// let mut weights = Weights::default();
/// weights.push("bias", [1, 2], vec![0.5, -0.5]);
/// assert_eq!(weights.get("bias"), Some(&[0.5, -0.5][..]));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Weights {
    entries: Vec<Entry>,
    values: Vec<f32>,
}

#[derive(Clone, Debug, PartialEq)]
struct Entry {
    name: String,
    shape: [usize; 2],
    range: Range<usize>,
}

impl Weights {
    /// Adds a matrix, row-major.
    ///
    /// # Panics
    /// If there are not as many values as the shape says.
    pub fn push(&mut self, name: impl Into<String>, shape: [usize; 2], values: Vec<f32>) {
        assert_eq!(shape[0] * shape[1], values.len(), "a value for each entry");
        let start = self.values.len();
        self.values.extend(values);
        self.entries.push(Entry { name: name.into(), shape, range: start..self.values.len() });
    }

    /// The values of a matrix.
    pub fn get(&self, name: &str) -> Option<&[f32]> {
        let entry = self.entries.iter().find(|e| e.name == name)?;
        Some(&self.values[entry.range.clone()])
    }

    /// Changes the values of a matrix; nothing where there is none of this name and size.
    pub fn set(&mut self, name: &str, values: &[f32]) {
        let entry = self.entries.iter().find(|e| e.name == name && e.range.len() == values.len());
        if let Some(entry) = entry {
            self.values[entry.range.clone()].copy_from_slice(values);
        }
    }

    /// All values.
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// All values, to change.
    pub fn values_mut(&mut self) -> &mut [f32] {
        &mut self.values
    }

    /// Number of values.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// True if there is nothing to learn.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Name, shape and values of every matrix, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, [usize; 2], &[f32])> {
        self.entries.iter().map(|e| (e.name.as_str(), e.shape, &self.values[e.range.clone()]))
    }
}
