//! Decision losses: a batch of predictions and truths in, values and gradients with respect to the predictions out.
//!
//! No network inside: the gradient is the seed of whatever predicts. F(x; p) is the objective as a gain (costs negated),
//! V(p) its optimal value and x*(p) its optimum; F_K, V_K and x_K are those of the surrogate. Values are regret-like: 0 is
//! best. Gradients are with respect to the parameters as stated, for `min` problems too.

mod df;
mod entrywise;
mod error;
mod gap;
mod method;
mod mixed;
mod smoothed;
mod softening;
mod spo;
mod table;
mod truths;

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use rayon::prelude::*;

pub use error::{Cause, LossError, LossTrouble, Side};
pub use method::{Method, MethodInfo};
pub use mixed::mix;

use crate::engine::tolerance::GAP;
use crate::multipliers::Multipliers;
use crate::predict::instances::Reading;
use crate::predict::placement::{Numbers, Placement};
use crate::predict::scenarios::Scenarios;
use crate::predict::truths::Truths;
use crate::problem::{Problem, ProblemError, RowId, RowValues};
use crate::solve::codec::{Reader, SavedError, Writer};
use crate::solve::store::Store;

/// Predictions and truths of some samples, row after row.
#[derive(Clone, Copy, Debug)]
pub struct Batch<'a> {
    /// Predicted quantities, rows × width of the placement (× scenarios if predictions bring their own).
    pub predictions: &'a [f64],
    /// Quantities that came true, rows × width of the placement.
    pub truths: &'a [f64],
    /// What is known of each row when it is decided for, rows × known numbers of the placement.
    pub known: &'a [f64],
    /// One id for each row: where its solves start from.
    pub ids: &'a [u64],
}

impl<'a> Batch<'a> {
    /// A batch of rows of which nothing is known beside what is predicted.
    pub fn new(predictions: &'a [f64], truths: &'a [f64], ids: &'a [u64]) -> Self {
        Self { predictions, truths, known: &[], ids }
    }
}

/// What a loss says about a batch.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Losses {
    /// The loss of each row; infinite where there is none, so that no such row can look good.
    pub values: Vec<f64>,
    /// ∂value/∂prediction of each row, laid out as the predictions are.
    pub gradients: Vec<f64>,
    /// Rows without a loss, and why: their value is infinite, their gradient 0.
    pub troubles: Vec<LossTrouble>,
    /// Hard rows whose multiplier was too small for a prediction or a truth; give them to [`DecisionLoss::end_epoch`].
    pub uncapped: BTreeSet<RowId>,
    /// Prices (and weights in Q) that came out negative in the predictions, and count as 0.
    pub cut: usize,
    /// What it took.
    pub work: LossWork,
}

/// What a batch took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LossWork {
    /// Problems solved, truths met for the first time among them.
    pub solves: usize,
    /// Breakpoints passed by the solves at the predictions.
    pub breakpoints: usize,
    /// Wall time of the solves.
    pub solve: Duration,
    /// Wall time of values and gradients.
    pub gradient: Duration,
}

impl LossWork {
    /// Of solves that passed so many breakpoints, and of truths that were new.
    fn of(breakpoints: impl ExactSizeIterator<Item = usize>, new: usize) -> Self {
        Self { solves: breakpoints.len() + new, breakpoints: breakpoints.sum(), ..Self::default() }
    }
}

/// A loss that looks at decisions, or pretends to.
pub trait DecisionLoss: Send {
    /// Which method it is.
    fn method(&self) -> Method;

    /// Values and gradients of a batch. Samples that cannot be solved are reported and harm no other.
    fn evaluate(&mut self, batch: &Batch<'_>) -> Result<Losses, LossError>;

    /// Doubles the multipliers of the given hard rows, between epochs, and says which it doubled.
    fn end_epoch(&mut self, uncapped: &BTreeSet<RowId>) -> Vec<RowId> {
        let _ = uncapped;
        Vec::new()
    }

    /// Changes the sharpness; nothing where there is none.
    fn set_k(&mut self, k: f64) -> Result<(), LossError> {
        let _ = k;
        Ok(())
    }

    /// Everything a resumed process needs. The running one forgets its factors at the same time, so that both go on
    /// bit-equal.
    fn checkpoint(&mut self) -> Vec<u8>;

    /// Takes up where [`DecisionLoss::checkpoint`] left off. On an error nothing has changed.
    fn restore(&mut self, bytes: &[u8]) -> Result<(), LossError>;
}

/// Settings of the losses; each method looks at its own.
#[derive(Clone, Debug)]
pub struct LossOptions<'a> {
    /// Sharpness of the surrogate; [`crate::Sharpness::fit`] finds one that fits the truths.
    pub k: f64,
    /// A sharpness for each row of the problem in place of one for all; [`DecisionLoss::set_k`] keeps their ratios to `k`.
    pub k_rows: Option<RowValues>,
    /// Relative gap of the smoothed gradients of `surrogate-smooth`; 0 for derivatives as they are. See
    /// [`crate::Surrogate::smoothing`].
    pub smoothing: f64,
    /// Ridge of `df`.
    pub ridge: f64,
    /// `weighted-l1`: price of a unit predicted too high.
    pub over: f64,
    /// `weighted-l1`: price of a unit predicted too low.
    pub under: f64,
    /// Penalties of hard rows; needed by the surrogate's methods.
    pub multipliers: Option<&'a Multipliers>,
    /// Entrywise losses divide errors by these, one for each predicted entry.
    pub scale: Option<Vec<f64>>,
    /// Memory for warm starts.
    pub store_bytes: usize,
    /// Decide for the average over these.
    pub scenarios: Option<Scenarios>,
    /// Exact optima of truths that somebody else knows and wants to know; without them a loss keeps its own.
    pub truths: Option<&'a Truths>,
}

impl Default for LossOptions<'_> {
    fn default() -> Self {
        Self {
            k: 5.0,
            k_rows: None,
            smoothing: 0.0,
            ridge: 0.1,
            over: 1.0,
            under: 1.0,
            multipliers: None,
            scale: None,
            store_bytes: 512 << 20,
            scenarios: None,
            truths: None,
        }
    }
}

/// Builds a loss.
///
/// ```
/// use regretless_core::*;
/// let problem = Problem::maximize(2)
///     .at_most("machine", Matrix::from_rows(&[[1.0, 1.0]]), [1.0])
///     .build()?;
/// let mut loss = build_loss(Method::SpoPlus, &problem, &Placement::theta(2), &LossOptions::default())?;
/// // The better product is predicted to be the worse one.
/// let losses = loss.evaluate(&Batch::new(&[1.0, 2.0], &[2.0, 1.5], &[7]))?;
/// // Up with the first, down with the second.
/// assert!((losses.gradients[0] + 2.0).abs() < 1e-9 && (losses.gradients[1] - 2.0).abs() < 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn build(
    method: Method,
    problem: &Problem,
    placement: &Placement,
    options: &LossOptions<'_>,
) -> Result<Box<dyn DecisionLoss>, LossError> {
    method.supports(problem, placement)?;
    if options.scenarios.is_some() && !method.takes_scenarios() {
        let alternatives = Method::ALL.into_iter().filter(|m| m.takes_scenarios());
        let reason =
            "it compares with one prediction and has no decision for the average over scenarios".into();
        let alternatives = alternatives.filter(|m| m.supports(problem, placement).is_ok()).collect();
        return Err(LossError::Unsupported { method, reason, alternatives });
    }
    if options.scenarios.as_ref().is_some_and(|own| own.risk().is_some()) && !method.takes_risk() {
        let reason = "it is trained through the mean over scenarios, not through their risk".into();
        let alternatives = Method::ALL.into_iter().filter(|m| m.takes_risk()).collect();
        return Err(LossError::Unsupported { method, reason, alternatives });
    }
    let reading = Reading::new(problem, placement, options.scenarios.clone())?;
    (method.row().build)(method, reading, options)
}

/// A positive finite setting.
fn positive(what: &str, value: f64) -> Result<(), ProblemError> {
    if value.is_finite() && value > 0.0 {
        return Ok(());
    }
    let expected = "a positive finite number is needed";
    Err(ProblemError::Setting { what: what.into(), value, expected })
}

impl<'a> Batch<'a> {
    /// Predictions and truths with what is known of their rows; refuses parts that do not belong together.
    fn rows(&self, reading: &Reading) -> Result<(Vec<Numbers<'a>>, Vec<Numbers<'a>>), LossError> {
        self.check(reading)?;
        Ok((reading.predictions(self.predictions, self.known), reading.truths(self.truths, self.known)))
    }

    pub(crate) fn check(&self, reading: &Reading) -> Result<(), LossError> {
        let rows = self.ids.len();
        let placement = reading.placement();
        let parts = [
            ("predictions", self.predictions.len(), reading.width()),
            ("truths", self.truths.len(), placement.width()),
            ("known numbers", self.known.len(), placement.known()),
        ];
        for (what, found, width) in parts {
            if found != rows * width {
                return Err(LossError::Length { what, expected: rows * width, found });
            }
        }
        Ok(())
    }
}

/// One sample: its value and gradient, or why there is none.
type Sample = Result<(f64, Vec<f64>), Cause>;

impl Losses {
    /// The losses of the rows that have one, and how many they are.
    ///
    /// ```
    /// use regretless_core::*;
    /// let problem = Problem::maximize(1).upper([1.0]).build()?;
    /// let mut loss = build_loss(Method::L2, &problem, &Placement::theta(1), &LossOptions::default())?;
    /// let batch = Batch::new(&[3.0, f64::NAN], &[1.0, 1.0], &[0, 1]);
    /// let losses = loss.evaluate(&batch)?;
    /// assert_eq!(losses.values, [4.0, f64::INFINITY]);
    /// assert_eq!(losses.known(), (4.0, 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn known(&self) -> (f64, usize) {
        let known = self.values.iter().filter(|v| v.is_finite());
        known.fold((0.0, 0), |(sum, count), v| (sum + v, count + 1))
    }

    /// Samples in parallel, after solves that began at `begun` and took `work`.
    fn of(
        rows: usize,
        width: usize,
        begun: Instant,
        work: LossWork,
        sample: impl Fn(usize) -> Sample + Sync + Send,
    ) -> Self {
        let (solve, clock) = (begun.elapsed(), Instant::now());
        let mut losses = Self::collect((0..rows).into_par_iter().map(sample).collect(), width);
        losses.work = LossWork { solve, gradient: clock.elapsed(), ..work };
        losses
    }

    fn collect(samples: Vec<Sample>, width: usize) -> Self {
        let mut out = Self {
            values: vec![f64::INFINITY; samples.len()],
            gradients: vec![0.0; samples.len() * width],
            ..Self::default()
        };
        let places = out.gradients.chunks_exact_mut(width).zip(&mut out.values);
        for (sample, (result, (gradient, value))) in samples.into_iter().zip(places).enumerate() {
            let finite = |(v, g): &(f64, Vec<f64>)| v.is_finite() && g.iter().all(|g| g.is_finite());
            match result.and_then(|found| if finite(&found) { Ok(found) } else { Err(Cause::NotFinite) }) {
                Ok((v, g)) => {
                    *value = v;
                    gradient.copy_from_slice(&g);
                }
                Err(cause) => out.troubles.push(LossTrouble { sample, cause }),
            }
        }
        out
    }
}

/// a − b for a ≥ b: what rounding leaves below 0 is 0.
pub(crate) fn gap_of(a: f64, b: f64) -> f64 {
    let gap = a - b;
    if gap < 0.0 && gap > -GAP * (1.0 + a.abs().max(b.abs())) { 0.0 } else { gap }
}

const TAG: [u8; 4] = *b"RGLS";
const VERSION: u32 = 1;

fn header(method: Method) -> Writer {
    let mut w = Writer::default();
    w.tag(TAG, VERSION);
    w.bytes(method.id().as_bytes());
    w
}

fn read_header(method: Method, bytes: &[u8]) -> Result<Reader<'_>, SavedError> {
    let mut r = Reader::new(bytes);
    r.tag(TAG, VERSION, "loss")?;
    if r.bytes()? == method.id().as_bytes() { Ok(r) } else { Err(SavedError::Mismatch("method")) }
}

/// The state of a loss that has nothing but warm starts to remember.
fn save_store(method: Method, store: &mut Store) -> Vec<u8> {
    store.drop_factors();
    let mut w = header(method);
    w.bytes(&store.to_bytes());
    w.0
}

fn read_store(method: Method, bytes: &[u8]) -> Result<Store, LossError> {
    let mut r = read_header(method, bytes)?;
    let store = Store::from_bytes(r.bytes()?)?;
    r.end()?;
    Ok(store)
}
