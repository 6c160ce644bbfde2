//! Dense linear algebra that knows nothing of problems: vector kernels, the LDLᵀ factor with its rank-one changes, and what
//! faer does off the hot path.

pub(crate) mod dense;
pub(crate) mod factor;
pub(crate) mod ldl;
pub(crate) mod matrix;
pub(crate) mod simd;
