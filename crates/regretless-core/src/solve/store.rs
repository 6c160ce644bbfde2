//! Warm starts, kept by sample id within a memory budget.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::engine::rows::Piece;
use crate::engine::state::State;
use crate::engine::tolerance::SANE;
use crate::solve::codec::{Reader, SavedError, Writer};

const TAG: [u8; 4] = *b"RGST";
const VERSION: u32 = 1;

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
        self.states.values().filter(|s| s.has_lasting_factor()).count()
    }

    /// Forgets all samples; the budget stays.
    pub fn clear(&mut self) {
        self.states.clear();
    }

    /// Forgets all factors, as a process does that resumes from a checkpoint: both then go on bit-equal.
    pub fn drop_factors(&mut self) {
        self.states.retain(|_, state| state.can_be_saved());
        for state in self.states.values_mut() {
            *state = Arc::new(state.light());
        }
    }

    /// What a resumed process needs: every state without its factor. Call [`Store::drop_factors`] too, and this process
    /// goes on bit-equal to one that resumes from the bytes.
    ///
    /// ```
    /// use regretless_core::Store;
    /// let store = Store::with_budget(1 << 20);
    /// assert_eq!(Store::from_bytes(&store.to_bytes())?.len(), 0);
    /// assert!(Store::from_bytes(b"not a store").is_err());
    /// # Ok::<(), regretless_core::solve::SavedError>(())
    /// ```
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut w = Writer::default();
        w.tag(TAG, VERSION);
        w.u64(self.budget as u64);
        let kept = || self.states.iter().filter(|(_, state)| state.can_be_saved());
        w.u64(kept().count() as u64);
        for (id, state) in kept() {
            w.u64(*id);
            state.write(&mut w);
        }
        w.0
    }

    /// The inverse of [`Store::to_bytes`]; bytes that are cut off or damaged are an `Err`.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, SavedError> {
        let mut r = Reader::new(bytes);
        r.tag(TAG, VERSION, "store of warm starts")?;
        let budget = usize::try_from(r.u64()?).unwrap_or(usize::MAX);
        let mut store = Self::with_budget(budget);
        for _ in 0..r.count(State::FEWEST_BYTES)? {
            let id = r.u64()?;
            store.states.insert(id, Arc::new(State::read(&mut r)?));
        }
        r.end()?;
        Ok(store)
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
        let mut left = self.budget - light * self.states.len();
        for state in self.states.values_mut() {
            let Some(bytes) = state.factor.as_ref().map(|f| f.factor.bytes(n)) else { continue };
            if bytes <= left {
                left -= bytes;
            } else {
                // Those of higher ids go with it.
                left = 0;
                *state = Arc::new(state.light());
            }
        }
    }
}

/// A state without its factor, as bytes.
impl State {
    /// The id, four sizes and the slope of a state with nothing in it.
    const FEWEST_BYTES: usize = 8 * 5;

    fn numbers(&self) -> impl Iterator<Item = &f64> {
        self.x.iter().chain(&self.theta).chain(&self.lambda).chain(&self.z)
    }

    /// False for a state that a reader would refuse.
    fn can_be_saved(&self) -> bool {
        self.slope.is_finite() && self.numbers().all(|v| v.abs() < SANE)
    }

    fn write(&self, w: &mut Writer) {
        w.u64(self.x.len() as u64);
        w.u64(self.piece.len() as u64);
        w.u64(self.springs.len() as u64);
        w.f64(self.slope);
        [&self.x, &self.theta, &self.lambda, &self.z].into_iter().for_each(|v| w.f64s(v));
        w.0.extend(self.piece.iter().map(|p| *p as u8));
        self.springs.iter().for_each(|j| w.u64(*j as u64));
    }

    fn read(r: &mut Reader<'_>) -> Result<Self, SavedError> {
        let (n, m) = (r.count(1)?, r.count(1)?);
        let springs = r.count(8)?;
        let slope = r.f64()?;
        let (x, theta) = (r.f64s(n)?, r.f64s(n)?);
        let (lambda, z) = (r.f64s(m)?, r.f64s(m)?);
        let piece = r.take(m)?.iter().map(|p| match p {
            0 => Ok(Piece::Below),
            1 => Ok(Piece::On),
            2 => Ok(Piece::Above),
            _ => Err(SavedError::Damaged("a row is on no piece")),
        });
        let piece = piece.collect::<Result<Vec<_>, _>>()?;
        let mut held = Vec::with_capacity(springs);
        for _ in 0..springs {
            let j = r.u64()?;
            held.push(
                usize::try_from(j)
                    .ok()
                    .filter(|j| *j < n)
                    .ok_or(SavedError::Damaged("a spring holds nothing"))?,
            );
        }
        let state = Self { x, piece, lambda, z, theta, slope, springs: held, ..Self::default() };
        if state.can_be_saved() { Ok(state) } else { Err(SavedError::Damaged("a number is not finite")) }
    }
}
