//! Who watches a training run: progress bars, records, checkpoints.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::LearnError;
use crate::train::epoch::Epoch;
use crate::train::fit::Fit;

/// Watches training. Every method has a default that does nothing.
///
/// ```
/// use regretless_learn::{Epoch, LearnError, Observer};
/// struct Losses(Vec<f64>);
/// impl Observer for Losses {
///     fn epoch(&mut self, epoch: &Epoch) -> Result<(), LearnError> {
///         self.0.push(epoch.loss);
///         Ok(())
///     }
/// }
/// ```
pub trait Observer {
    /// A predictor's training begins; it takes at most `epochs` epochs.
    fn stage(&mut self, name: &str, epochs: usize) {
        let _ = (name, epochs);
    }

    /// Training goes on from where an earlier process left it, after these epochs.
    fn resumed(&mut self, history: &[Epoch]) {
        let _ = history;
    }

    /// An epoch is over.
    fn epoch(&mut self, epoch: &Epoch) -> Result<(), LearnError> {
        let _ = epoch;
        Ok(())
    }

    /// A moment at which the run can be written down whole.
    fn checkpoint(&mut self, fit: &mut Fit<'_>) -> Result<(), LearnError> {
        let _ = fit;
        Ok(())
    }

    /// True if training should end now, with what it has.
    fn interrupted(&self) -> bool {
        false
    }

    /// True if the time is up: `auto` then chooses from what it knows, and all else ends as if it were interrupted.
    fn late(&self) -> bool {
        false
    }
}

/// Nobody watches.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Observer for Silent {}

/// A flag that ends training at the next step: shared with whoever catches Ctrl-C.
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Asks for the end.
    pub fn request(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// True if the end was asked for.
    pub fn requested(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Several observers as one.
impl Observer for Vec<Box<dyn Observer + '_>> {
    fn stage(&mut self, name: &str, epochs: usize) {
        self.iter_mut().for_each(|o| o.stage(name, epochs));
    }

    fn resumed(&mut self, history: &[Epoch]) {
        self.iter_mut().for_each(|o| o.resumed(history));
    }

    fn epoch(&mut self, epoch: &Epoch) -> Result<(), LearnError> {
        self.iter_mut().try_for_each(|o| o.epoch(epoch))
    }

    fn checkpoint(&mut self, fit: &mut Fit<'_>) -> Result<(), LearnError> {
        self.iter_mut().try_for_each(|o| o.checkpoint(fit))
    }

    fn interrupted(&self) -> bool {
        self.iter().any(|o| o.interrupted())
    }

    fn late(&self) -> bool {
        self.iter().any(|o| o.late())
    }
}
