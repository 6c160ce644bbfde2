//! Linear algebra that knows nothing of problems: vector kernels, what a factor of H can do, the dense LDLᵀ and that of the
//! sparse augmented matrix with its border that do it, the basis of a simplex method, and what faer does off the hot path.

pub(crate) mod at_vertex;
pub(crate) mod basis;
pub(crate) mod bordered;
pub(crate) mod dense;
pub(crate) mod dense_ldl;
pub(crate) mod hessian;
pub(crate) mod ldl;
pub(crate) mod matrix;
pub(crate) mod simd;
pub(crate) mod sparse_ldl;
