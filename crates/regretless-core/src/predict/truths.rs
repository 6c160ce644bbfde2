//! Truths, solved once: from nothing, so that they do not depend on what was solved before.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::engine::stop::Stop;
use crate::predict::instances::rows;
use crate::predict::placement::{Numbers, Placement, Values};
use crate::problem::parameter::Parameter;
use crate::problem::{Instance, Problem, ProblemError};
use crate::solve::exact_solver::{Exact, ExactSolver};
use crate::solve::oracle::Oracle;

/// A truth, or why the problem refuses it.
pub(crate) type Known = Arc<Result<Exact, ProblemError>>;

/// The exact optima of truths, each solved when it is first asked for. A clone shares what is known: losses and evaluators of
/// one task solve no truth twice.
///
/// ```
/// use regretless_core::*;
/// let problem = Problem::maximize(2).upper([1.0, 3.0]).build()?;
/// let placement = Placement::theta(2);
/// let truths = Truths::new(&problem, &placement)?;
/// assert!((truths.optima(&[1.0, 2.0, -1.0, 1.0], &[])?[0] - 7.0).abs() < 1e-9);
/// // What the task knows, its evaluators need not solve.
/// let mut regret = Regret::new(&problem, &placement, None)?.with_truths(&truths)?;
/// assert!(regret.evaluate(&Batch::new(&[1.0, 1.0], &[1.0, 2.0], &[0]))?[0].regret < 1e-9);
/// assert_eq!(truths.len(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Truths(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    problem: Problem,
    placement: Placement,
    solver: Box<dyn ExactSolver>,
    known: Memory<Result<Exact, ProblemError>>,
}

impl Truths {
    /// Nothing is known yet of truths that are placed so.
    pub fn new(problem: &Problem, placement: &Placement) -> Result<Self, ProblemError> {
        Self::with_solver(problem, placement, Box::new(Oracle::new(&problem.or_zero_theta())))
    }

    /// The same by a solver of the caller's own.
    pub fn with_solver(
        problem: &Problem,
        placement: &Placement,
        solver: Box<dyn ExactSolver>,
    ) -> Result<Self, ProblemError> {
        placement.check(problem)?;
        let (problem, placement) = (problem.clone(), placement.clone());
        Ok(Self(Arc::new(Shared { problem, placement, solver, known: Memory::default() })))
    }

    /// How many truths are known.
    pub fn len(&self) -> usize {
        self.0.known.lock().len()
    }

    /// True if no truth is known.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// V(truth) of each truth in the problem's own sense, `known` being what is known of their rows; infinite where there is no
    /// optimum, NaN where the problem refuses the truth.
    pub fn optima(&self, truths: &[f64], known: &[f64]) -> Result<Vec<f64>, ProblemError> {
        let placement = &self.0.placement;
        let width = placement.width();
        if !truths.len().is_multiple_of(width) {
            let expected = truths.len().next_multiple_of(width);
            return Err(ProblemError::Length { what: "truths".into(), expected, found: truths.len() });
        }
        let expected = truths.len() / width * placement.known();
        if known.len() != expected {
            return Err(ProblemError::Length { what: "known numbers".into(), expected, found: known.len() });
        }
        let value = |known: &Known| known.as_ref().as_ref().map_or(f64::NAN, |truth| truth.objective);
        let truths = rows(truths, width, known, placement.known());
        Ok(self.look_up(&truths).0.iter().map(value).collect())
    }

    /// What is known of some truths, and how many of them were new.
    pub(crate) fn look_up(&self, truths: &[Numbers<'_>]) -> (Vec<Known>, usize) {
        self.0.known.look_up(truths, |new| self.solve(new))
    }

    /// Solves truths that will not come again.
    pub(crate) fn solve(&self, truths: &[Numbers<'_>]) -> Vec<Result<Exact, ProblemError>> {
        let Shared { problem, placement, solver, .. } = &*self.0;
        let values: Vec<Values<'_>> = truths.iter().map(|truth| placement.values(problem, *truth)).collect();
        let instances: Vec<Instance<'_>> = values.iter().map(Values::instance).collect();
        let light = |exact: Exact| Exact { multipliers: None, ..exact };
        solver.solve_exactly(&instances).into_iter().map(|exact| exact.map(light)).collect()
    }

    /// True if these are truths of this problem placed so: the optima of another one, however alike, are not its own.
    pub(crate) fn fits(&self, problem: &Problem, placement: &Placement) -> bool {
        let own = &self.0.problem;
        let stated_alike = |parameter: Parameter| parameter.of(own) == parameter.of(problem);
        (own.sense(), own.shape(), &self.0.placement) == (problem.sense(), problem.shape(), placement)
            && Parameter::ALL.into_iter().all(stated_alike)
    }
}

/// What was found for rows, by their numbers: a truth that changes is another one.
#[derive(Debug)]
pub(crate) struct Memory<T>(Mutex<BTreeMap<u64, Arc<T>>>);

impl<T> Default for Memory<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T> Memory<T> {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<u64, Arc<T>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn clear(&mut self) {
        self.lock().clear();
    }

    /// What is known of each, and how many were new and had to be found.
    pub(crate) fn look_up(
        &self,
        all: &[Numbers<'_>],
        find: impl FnOnce(&[Numbers<'_>]) -> Vec<T>,
    ) -> (Vec<Arc<T>>, usize) {
        let keys: Vec<u64> = all.iter().map(|numbers| fingerprint(*numbers)).collect();
        let mut seen = BTreeSet::new();
        let new: Vec<usize> = {
            let known = self.lock();
            (0..keys.len()).filter(|&i| !known.contains_key(&keys[i]) && seen.insert(keys[i])).collect()
        };
        let missing: Vec<Numbers<'_>> = new.iter().map(|&i| all[i]).collect();
        let found = if missing.is_empty() { Vec::new() } else { find(&missing) };
        let found = new.iter().map(|&i| keys[i]).zip(found.into_iter().map(Arc::new));
        let found: BTreeMap<u64, Arc<T>> = found.collect();
        let mut known = self.lock();
        let all = keys.iter().map(|key| Arc::clone(found.get(key).unwrap_or_else(|| &known[key]))).collect();
        // What was not solved to its end says nothing of the next time.
        if !Stop::requested() {
            known.extend(found);
        }
        (all, new.len())
    }
}

/// 64 bits of the numbers' bits, well mixed (the finaliser of SplitMix64 between entries).
fn fingerprint(Numbers { quantities, known }: Numbers<'_>) -> u64 {
    quantities.iter().chain(known).fold(quantities.len() as u64, |hash, v| {
        let mut h = (hash ^ v.to_bits()).wrapping_add(0x9e37_79b9_7f4a_7c15);
        h = (h ^ (h >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        h = (h ^ (h >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        h ^ (h >> 31)
    })
}
