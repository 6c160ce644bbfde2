//! Every threshold of the numerics above the problem, with its reason. All are shares of a size that stands beside them where
//! they are used; what a user may set is [`Tolerances`](crate::problem::tolerance::Tolerances).

// Rounding.

/// What rounding does to a sum of terms of size 1.
pub(crate) const SUM_ROUNDING: f64 = 1e-15;
/// A shift of a limit up to this is how z = C'x − d' was rounded: two units in the last place.
pub(crate) const SHIFT_ROUNDING: f64 = 4e-16;
/// A row whose z changes by no more than this share of a step is parallel to it; sums of some hundred terms round so.
pub(crate) const STEP_ROUNDING: f64 = 1e-14;
/// The same from x, whose own rounding the step inherits: one unit in the last place.
pub(crate) const POINT_ROUNDING: f64 = 2e-16;
/// Forces below this share of the strongest one are rounding, however small θ is; residuals are measured against no less.
pub(crate) const FORCE_FLOOR: f64 = 1e-6;
/// An eigenvalue below this share of the largest is 0: a singular H or Gram matrix has it by rounding.
pub(crate) const NO_EIGENVALUE: f64 = 1e-12;
/// A row that meets an eigenvector by less does not see it; eigenvectors are right to some digits less than eigenvalues.
pub(crate) const UNSEEN: f64 = 1e-9;
/// A part of x along a direction that nothing sees, below which taking it out would only round x.
pub(crate) const UNSEEN_PART: f64 = 1e-14;
/// What is left of a vector after others were taken out of it twice, up to which it depends on them.
pub(crate) const DEPENDENT: f64 = 1e-9;

// The path.

/// Below this share of its weight a row's own curvature is all there is along its direction: H would be singular.
pub(crate) const SINGULAR_DOWNDATE: f64 = 1e-10;
/// As [`SINGULAR_DOWNDATE`], wider: a spring that holds almost nothing may stay until a row takes over.
pub(crate) const SPRING_SINGULAR: f64 = 1e-9;
/// A row moving slower than this along a unit direction is parallel to it: pivots on smaller entries spoil the factor.
pub(crate) const SLIDE: f64 = 1e-10;
/// Rows reached within this share of the way are reached together, and the best pivot among them is taken.
pub(crate) const TIE: f64 = 1e-12;
/// By how much a pivot has to be the larger to be preferred: among equals the first row stays, whatever rounding says.
pub(crate) const LARGER_PIVOT: f64 = 1.000_001;
/// Below this share of its terms a gain along a ray is none, and what Q takes of a ray is nothing.
pub(crate) const NO_GAIN: f64 = 1e-9;
/// The pull of a spring that is small beside θ counts against this share of its own stiffness.
pub(crate) const SPRING_PULL: f64 = 1e-4;

// Newton and refinement.

/// Residuals up to this times the scale are what a solve delivers.
pub(crate) const RESIDUAL: f64 = 1e-10;
/// Refinement and Newton's method go on until rounding stops them, well below what is asked for.
pub(crate) const REFINED: f64 = 0.05 * RESIDUAL;
/// As [`REFINED`]; a Newton step is worth more than one of refinement.
pub(crate) const CLIMBED: f64 = 0.01 * RESIDUAL;
/// What refinement with a sparse factor leaves beyond this is the factor's fault: it is made anew.
pub(crate) const WORN: f64 = 10.0 * RESIDUAL;
/// Residuals beyond this times the scale are refused: the next link of the chain takes over.
pub(crate) const REFUSED: f64 = 1e-7;
/// The first ridge of Newton's method, in units of the steepest law: it bends the direction less than a line search does.
pub(crate) const RIDGE: f64 = 1e-10;
/// Each ridge that did not make H regular is followed by one so many times larger, up to 1.
pub(crate) const RIDGE_GROWTH: f64 = 100.0;
/// A step that moves x by less than its rounding cannot mend anything.
pub(crate) const NO_STEP: f64 = 1e-15;
/// A slope for ever uphill has to be more than this share of the slope at the start.
pub(crate) const UPHILL: f64 = 1e-12;

// The exact problem.

/// Excess of a row at its kink, over the size of its terms, that counts as zero.
pub(crate) const AT_KINK: f64 = 1e-12;
/// A limit below this share of the largest one is 0 up to rounding.
pub(crate) const NO_LIMIT: f64 = 1e-9;
/// What stands in for a size where all sizes are 0.
pub(crate) const LEAST_SIZE: f64 = 1e-3;
/// Slopes of the proximal laws stay between these: beyond them H loses all digits of Q or of the rows.
pub(crate) const SLOPES: (f64, f64) = (1e-6, 1e12);
/// With Q, corrections converge fast once the laws are so many times steeper.
pub(crate) const STEEP: f64 = 1e4;
/// Slopes of a start between these multiples of the wanted one still fit, and its factor with them.
pub(crate) const SLOPE_KEPT: (f64, f64) = (0.1, 1e4);
/// A correction that leaves more than this share of the error does not converge: rows may be infeasible, laws too flat.
pub(crate) const CORRECTION: f64 = 0.3;
/// How much steeper the laws then become.
pub(crate) const STEEPER: f64 = 64.0;
/// δ of the equations of an active set, as a share of the largest entry: refinement takes it out again.
pub(crate) const REGULAR: f64 = 1e-10;
/// A refinement that leaves more than this share of the residual is the last.
pub(crate) const REFINEMENT: f64 = 0.7;
/// What counts as on the wrong piece, as a share of the sizes at hand.
pub(crate) const WRONG_PIECE: f64 = 1e-10;
/// What is left of a unit row after others were taken out of it, up to which it is a combination of them; stricter than
/// [`DEPENDENT`], because the row is then left out of the problem.
pub(crate) const IMPLIED: f64 = 1e-10;
/// How far a limit may be from that of the combination: beyond it the rows contradict each other, which is for the solver to
/// prove.
pub(crate) const CONSISTENT: f64 = 1e-9;

// Proofs of infeasibility.

/// Multipliers below these shares of the largest are left out of a proof, the most first: few rows say more than many.
pub(crate) const PROOF_SHARES: [f64; 3] = [1e-2, 1e-4, 1e-7];
/// yᵀA may be off 0 by this share of Σ|y|.
pub(crate) const PROOF_PULL: f64 = 1e-7;
/// yᵀd has to be below 0 by this share of its largest term.
pub(crate) const PROOF_VALUE: f64 = 1e-9;
/// How much farther than the rows of a proof are from the origin a point that disproves it would have to be.
pub(crate) const PROOF_REACH: f64 = 1e3;
/// Multipliers of the reference solver's proof below this share of the largest are its interior point's, not the proof's.
pub(crate) const INTERIOR: f64 = 1e-6;

// What is said of answers.

/// Below this share of the objective what a residual could still earn is nothing.
pub(crate) const NOTHING_EARNED: f64 = 1e-9;
/// Below this share of its terms a residual is rounding, whatever the width of the box.
pub(crate) const RESIDUAL_ROUNDING: f64 = 1e-12;
/// Numbers that are the difference of two equal ones up to the digits of a solve: below 0 by less is 0.
pub(crate) const GAP: f64 = 1e-9;
/// A regret below this share of the objective is rounding of a perfect decision.
pub(crate) const NO_REGRET: f64 = 1e-12;
/// A standard deviation below this share of the mean is rounding of a constant.
pub(crate) const CONSTANT: f64 = 1e-12;
/// A distance below this share of a row's terms is that of a row met exactly.
pub(crate) const MET: f64 = 1e-6;
/// Multipliers below this share of the largest are rounding, not binding rows.
pub(crate) const BINDING: f64 = 1e-9;
/// A smallest singular value of unit rows below this is 0.
pub(crate) const SINGULAR_ROWS: f64 = 1e-10;
/// An objective below this share of its terms elsewhere is nothing to measure a gap by.
pub(crate) const NO_OBJECTIVE: f64 = 1e-9;

// Numbers near the ends of the range.

/// Larger numbers are no solution of anything, and their squares would be infinite.
pub(crate) const SANE: f64 = 1e120;
/// Penalties are doubled up to this, so that products with them stay finite.
pub(crate) const LARGEST_PENALTY: f64 = 1e100;
/// A multiplier below this is 0: products with it would underflow.
pub(crate) const SMALLEST_PENALTY: f64 = 1e-300;
