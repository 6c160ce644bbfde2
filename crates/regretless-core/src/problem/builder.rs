//! From parts to a validated [`Problem`].

use std::collections::BTreeSet;

use super::convex;
use super::{Block, Coefficients, Data, HardRows, Pattern, Problem, ProblemError, Sense, SoftRows};

/// A block of soft rows before it has a name: `alphaᵀmax(Cx − d, 0) + underᵀmax(d − Cx, 0)`.
#[derive(Clone, Debug)]
#[allow(non_snake_case)]
pub struct Soft {
    C: Coefficients,
    d: Vec<f64>,
    alpha: Vec<f64>,
    under: Vec<f64>,
}

#[allow(non_snake_case)]
impl Soft {
    /// One-sided rows: a unit of `Cx` above `d` costs `alpha`.
    pub fn over(C: impl Into<Coefficients>, d: impl Into<Vec<f64>>, alpha: impl Into<Vec<f64>>) -> Self {
        let C = C.into();
        let under = vec![0.0; C.rows()];
        Self { C, d: d.into(), alpha: alpha.into(), under }
    }

    /// Two-sided rows: a unit of `Cx` above `d` costs `alpha`, a unit below costs `under`.
    pub fn both(
        C: impl Into<Coefficients>,
        d: impl Into<Vec<f64>>,
        alpha: impl Into<Vec<f64>>,
        under: impl Into<Vec<f64>>,
    ) -> Self {
        Self { C: C.into(), d: d.into(), alpha: alpha.into(), under: under.into() }
    }
}

/// Collects the parts of a problem; [`ProblemBuilder::build`] validates them all at once. Coefficients are a
/// [`Matrix`](crate::Matrix), or sparse: [`Coefficients::sparse`].
#[derive(Clone, Debug)]
#[allow(non_snake_case)]
pub struct ProblemBuilder {
    n: usize,
    sense: Sense,
    variables: Option<Vec<String>>,
    theta: Option<Vec<f64>>,
    Q: Option<Coefficients>,
    soft: Vec<(String, Soft)>,
    at_most: Vec<(String, Coefficients, Vec<f64>)>,
    equal: Vec<(String, Coefficients, Vec<f64>)>,
    lower: Option<Vec<f64>>,
    upper: Option<Vec<f64>>,
}

#[allow(non_snake_case)]
impl ProblemBuilder {
    pub(super) fn new(n: usize, sense: Sense) -> Self {
        Self {
            n,
            sense,
            variables: None,
            theta: None,
            Q: None,
            soft: Vec::new(),
            at_most: Vec::new(),
            equal: Vec::new(),
            lower: None,
            upper: None,
        }
    }

    /// Names of the variables.
    pub fn variables<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Self {
        self.variables = Some(names.into_iter().map(Into::into).collect());
        self
    }

    /// The linear term θ; of an objective without one, zeros. A problem that states none is solved with the θ of its instances.
    pub fn linear(mut self, theta: impl Into<Vec<f64>>) -> Self {
        self.theta = Some(theta.into());
        self
    }

    /// The quadratic term Q of `−xᵀQx` (`+xᵀQx` for `min`); no factor ½. Read as (Q + Qᵀ)/2, refused if an entry and its
    /// mirror image differ by more than 1e-3 of the largest entry. A sparse one stores its diagonal too, stated or not.
    pub fn quadratic(mut self, Q: impl Into<Coefficients>) -> Self {
        self.Q = Some(Q.into());
        self
    }

    /// Adds a block of soft rows.
    pub fn soft(mut self, name: impl Into<String>, rows: Soft) -> Self {
        self.soft.push((name.into(), rows));
        self
    }

    /// Adds a block of hard rows `Ax ≤ b`.
    pub fn at_most(
        mut self,
        name: impl Into<String>,
        A: impl Into<Coefficients>,
        b: impl Into<Vec<f64>>,
    ) -> Self {
        self.at_most.push((name.into(), A.into(), b.into()));
        self
    }

    /// Adds a block of hard rows `Bx = c`.
    pub fn equal(
        mut self,
        name: impl Into<String>,
        B: impl Into<Coefficients>,
        c: impl Into<Vec<f64>>,
    ) -> Self {
        self.equal.push((name.into(), B.into(), c.into()));
        self
    }

    /// Lower bounds; −∞ for a free variable. Default 0.
    pub fn lower(mut self, lower: impl Into<Vec<f64>>) -> Self {
        self.lower = Some(lower.into());
        self
    }

    /// Upper bounds; +∞ (the default) for none.
    pub fn upper(mut self, upper: impl Into<Vec<f64>>) -> Self {
        self.upper = Some(upper.into());
        self
    }

    /// Makes every variable free.
    pub fn free(self) -> Self {
        let n = self.n;
        self.lower(vec![f64::NEG_INFINITY; n])
    }

    /// Validates everything.
    pub fn build(self) -> Result<Problem, ProblemError> {
        let n = self.n;
        if n == 0 {
            return Err(ProblemError::Empty);
        }
        let variables = self.variables.unwrap_or_else(|| (0..n).map(|j| format!("x{j}")).collect());
        check_len("list of variable names", n, variables.len())?;
        distinct("variables", variables.iter())?;
        let blocks = self.soft.iter().map(|(name, _)| name);
        let blocks = blocks.chain(self.at_most.iter().chain(&self.equal).map(|(name, ..)| name));
        distinct("row blocks", blocks)?;

        let states_theta = self.theta.is_some();
        let theta = self.theta.unwrap_or_else(|| vec![0.0; n]);
        check_vector("linear term", n, &theta)?;
        let Q = self.Q.map(|Q| symmetric(&Q, n)).transpose()?;
        let lower = self.lower.unwrap_or_else(|| vec![0.0; n]);
        let upper = self.upper.unwrap_or_else(|| vec![f64::INFINITY; n]);
        check_bounds(&lower, &upper, &variables)?;

        let data = Data {
            sense: self.sense,
            variables,
            theta,
            states_theta,
            curved: Q.as_ref().map_or_else(|| Pattern::dense(n, n), |Q| Q.pattern().clone()),
            Q,
            soft: stack_soft(n, self.soft)?,
            at_most: stack_hard(n, self.at_most)?,
            equal: stack_hard(n, self.equal)?,
            lower,
            upper,
            wanted: None,
            analysis: None,
        };
        Ok(data.chosen())
    }
}

fn stack_soft(n: usize, parts: Vec<(String, Soft)>) -> Result<SoftRows, ProblemError> {
    let mut all = SoftRows {
        C: Coefficients::empty(n),
        d: Vec::new(),
        alpha: Vec::new(),
        under: Vec::new(),
        blocks: Vec::new(),
    };
    for (name, part) in parts {
        let m = part.C.rows();
        check_matrix(&format!("C of soft block `{name}`"), (m, n), &part.C)?;
        check_vector(&format!("d of soft block `{name}`"), m, &part.d)?;
        check_prices(&format!("alpha of soft block `{name}`"), m, &part.alpha)?;
        check_prices(&format!("under of soft block `{name}`"), m, &part.under)?;
        all.blocks.push(Block { name, rows: all.d.len()..all.d.len() + m });
        all.C.append(&part.C, 0..m);
        all.d.extend(part.d);
        all.alpha.extend(part.alpha);
        all.under.extend(part.under);
    }
    Ok(all)
}

fn stack_hard(n: usize, parts: Vec<(String, Coefficients, Vec<f64>)>) -> Result<HardRows, ProblemError> {
    let mut all = HardRows { rows: Coefficients::empty(n), rhs: Vec::new(), blocks: Vec::new() };
    for (name, rows, rhs) in parts {
        let m = rows.rows();
        check_matrix(&format!("matrix of hard block `{name}`"), (m, n), &rows)?;
        check_vector(&format!("right-hand side of hard block `{name}`"), m, &rhs)?;
        all.blocks.push(Block { name, rows: all.rhs.len()..all.rhs.len() + m });
        all.rows.append(&rows, 0..m);
        all.rhs.extend(rhs);
    }
    Ok(all)
}

/// (Q + Qᵀ)/2, checked: square, finite, nearly symmetric, positive semidefinite.
#[allow(non_snake_case)]
fn symmetric(Q: &Coefficients, n: usize) -> Result<Coefficients, ProblemError> {
    check_matrix("Q", (n, n), Q)?;
    let symmetric = Q.symmetric();
    convex::check(Q.view(), symmetric.view())?;
    Ok(symmetric)
}

fn distinct<'a>(what: &'static str, names: impl Iterator<Item = &'a String>) -> Result<(), ProblemError> {
    let mut seen = BTreeSet::new();
    for name in names {
        if !seen.insert(name) {
            return Err(ProblemError::DuplicateName { what, name: name.clone() });
        }
    }
    Ok(())
}

pub(super) fn check_len(what: &str, expected: usize, found: usize) -> Result<(), ProblemError> {
    if expected == found {
        return Ok(());
    }
    Err(ProblemError::Length { what: what.into(), expected, found })
}

pub(super) fn check_vector(what: &str, expected: usize, values: &[f64]) -> Result<(), ProblemError> {
    check_len(what, expected, values.len())?;
    // All at once, without a branch for each: there are thousands.
    if values.iter().fold(true, |all, v| all & v.is_finite()) {
        return Ok(());
    }
    match values.iter().position(|v| !v.is_finite()) {
        Some(index) => Err(ProblemError::NotFinite { what: what.into(), index, value: values[index] }),
        None => Ok(()),
    }
}

pub(super) fn check_prices(what: &str, expected: usize, values: &[f64]) -> Result<(), ProblemError> {
    check_vector(what, expected, values)?;
    match values.iter().position(|&v| v < 0.0) {
        Some(index) => Err(ProblemError::NegativePrice { what: what.into(), index, value: values[index] }),
        None => Ok(()),
    }
}

pub(super) fn check_bounds(lower: &[f64], upper: &[f64], variables: &[String]) -> Result<(), ProblemError> {
    check_len("lower bounds", variables.len(), lower.len())?;
    check_len("upper bounds", variables.len(), upper.len())?;
    for (j, (&l, &u)) in lower.iter().zip(upper).enumerate() {
        let bad = |what: &str, value| ProblemError::NotFinite { what: what.into(), index: j, value };
        if l.is_nan() || l == f64::INFINITY {
            return Err(bad("lower bounds", l));
        }
        if u.is_nan() || u == f64::NEG_INFINITY {
            return Err(bad("upper bounds", u));
        }
        if l > u {
            let variable = variables[j].clone();
            return Err(ProblemError::BoundsCrossed { variable, lower: l, upper: u });
        }
    }
    Ok(())
}

fn check_matrix(what: &str, expected: (usize, usize), m: &Coefficients) -> Result<(), ProblemError> {
    let found = (m.rows(), m.cols());
    if expected != found {
        return Err(ProblemError::Shape { what: what.into(), expected, found });
    }
    check_vector(what, m.pattern().entries(), m.as_slice())
}
