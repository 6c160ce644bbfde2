//! How much of a file is read before it is refused.

/// Limits that are checked before anything is read or allocated.
///
/// The defaults are far above what problems have and far below what hurts a machine.
///
/// ```
/// use regretless_project::Limits;
/// let small = Limits { variables: 100, ..Limits::default() };
/// assert!(small.problem_bytes <= 64 << 20);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Size of a problem file in bytes. While it is parsed, TOML takes up to a hundred times its size.
    pub problem_bytes: u64,
    /// Size of an MPS or LP file in bytes; of a packed one, unpacked.
    pub model_bytes: u64,
    /// Size of a CSV, NPY or Parquet file in bytes; of a packed one, unpacked.
    pub table_bytes: u64,
    /// Number of variables. What a solve would take is counted when the problem is built.
    pub variables: usize,
    /// Entries of one predicted part, each of which is a column of a table.
    pub predicted: usize,
    /// Coefficients that a problem in algebra expands to, and members of its sets.
    pub terms: usize,
    /// Entries of one matrix, or of the selected columns of one table.
    pub entries: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            problem_bytes: 8 << 20,
            model_bytes: 256 << 20,
            table_bytes: 4 << 30,
            variables: 1_000_000,
            predicted: 1 << 20,
            terms: 1 << 20,
            entries: 1 << 27,
        }
    }
}
