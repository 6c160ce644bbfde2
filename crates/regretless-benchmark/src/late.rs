//! Data that are read when they are first asked for: a look at one task reads no other's files.

use std::fmt;
use std::sync::OnceLock;

use crate::BenchmarkError;

/// How something is read.
type Read<T> = dyn Fn() -> Result<T, BenchmarkError> + Send + Sync;

/// Something that may not be read yet.
pub(crate) struct Late<T> {
    found: OnceLock<T>,
    read: Box<Read<T>>,
}

impl<T> Late<T> {
    pub(crate) fn new(read: impl Fn() -> Result<T, BenchmarkError> + Send + Sync + 'static) -> Self {
        Self { found: OnceLock::new(), read: Box::new(read) }
    }

    /// Reads it if nobody has.
    pub(crate) fn get(&self) -> Result<&T, BenchmarkError> {
        if let Some(found) = self.found.get() {
            return Ok(found);
        }
        let read = (self.read)()?;
        Ok(self.found.get_or_init(|| read))
    }
}

impl<T> fmt::Debug for Late<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Late").finish_non_exhaustive()
    }
}
