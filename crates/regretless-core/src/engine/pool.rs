//! Workers at rest: taken for a solve, put back after it, so that memory is allocated once per thread.

use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, PoisonError};

/// A pool of idle workers.
pub(crate) struct Pool<T>(Mutex<Vec<T>>);

impl<T> Pool<T> {
    pub(crate) fn new() -> Self {
        Self(Mutex::new(Vec::new()))
    }

    /// An idle worker, or a new one.
    pub(crate) fn take(&self, new: impl FnOnce() -> T) -> Guard<'_, T> {
        let idle = self.0.lock().unwrap_or_else(PoisonError::into_inner).pop();
        Guard { worker: Some(idle.unwrap_or_else(new)), pool: self }
    }
}

impl<T> std::fmt::Debug for Pool<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Pool")
    }
}

/// A worker on loan.
pub(crate) struct Guard<'a, T> {
    worker: Option<T>,
    pool: &'a Pool<T>,
}

impl<T> Deref for Guard<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        self.worker.as_ref().expect("a guard holds its worker until it is dropped")
    }
}

impl<T> DerefMut for Guard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.worker.as_mut().expect("a guard holds its worker until it is dropped")
    }
}

impl<T> Drop for Guard<'_, T> {
    fn drop(&mut self) {
        if let Some(worker) = self.worker.take() {
            self.pool.0.lock().unwrap_or_else(PoisonError::into_inner).push(worker);
        }
    }
}
