//! Warm starts, kept by sample id within a memory budget.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::factor::Factor;
use crate::workspace::State;

/// Remembers where each sample was solved last, so that its next solve starts there.
///
/// Within the budget the lowest ids keep their factors, further ids keep x, multipliers and active sets only, and ids
/// beyond that are not kept: what is kept depends on the ids met, never on time or threads.
///
/// ```
/// use regretless_core::Store;
/// let store = Store::with_budget(64 << 20);
/// assert!(store.is_empty());
/// ```
#[derive(Clone, Debug, Default)]
pub struct Store {
    budget: usize,
    states: BTreeMap<u64, Arc<State>>,
}

impl Store {
    /// An empty store that may use `bytes` of memory.
    pub fn with_budget(bytes: usize) -> Self {
        Self { budget: bytes, states: BTreeMap::new() }
    }

    /// Number of samples remembered.
    pub fn len(&self) -> usize {
        self.states.len()
    }

    /// True if nothing is remembered.
    pub fn is_empty(&self) -> bool {
        self.states.is_empty()
    }

    /// Number of samples remembered with their factor.
    pub fn factors(&self) -> usize {
        self.states.values().filter(|s| s.factored).count()
    }

    /// Forgets all factors, as a process does that resumes from a checkpoint: both then go on bit-equal.
    pub fn drop_factors(&mut self) {
        for state in self.states.values_mut() {
            *state = Arc::new(state.light());
        }
    }

    /// Takes the start of each id. An id that comes twice starts twice from the same state.
    pub(crate) fn starts(&mut self, ids: &[u64]) -> Vec<Option<Arc<State>>> {
        let found: Vec<_> = ids.iter().map(|id| self.states.get(id).cloned()).collect();
        // The store lets go, so that a state met once is worked on in place.
        for id in ids {
            self.states.remove(id);
        }
        found
    }

    /// Keeps the states of a batch, in order; the last one of an id stays.
    pub(crate) fn keep<'a>(&mut self, states: impl Iterator<Item = (u64, &'a Arc<State>)>) {
        for (id, state) in states {
            self.states.insert(id, Arc::clone(state));
        }
        let Some(any) = self.states.values().next() else { return };
        let (n, m) = (any.x.len(), any.piece.len());
        let light = State::light_bytes(n, m);
        let most = self.budget / light;
        while self.states.len() > most {
            self.states.pop_last();
        }
        let with_factor = (self.budget - light * self.states.len()) / Factor::bytes(n).max(1);
        for state in self.states.values_mut().skip(with_factor) {
            if state.factored {
                *state = Arc::new(state.light());
            }
        }
    }
}
