//! What looks wrong in the printed tables, and why.

use super::{Application, Entry, Sharpness, Table};

/// A printed figure, or a group of them, that does not fit the rest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Remark {
    /// The application.
    pub application: Application,
    /// The table.
    pub table: Table,
    /// The size; all of them if `None`.
    pub size: Option<&'static str>,
    /// The training samples; all if `None`.
    pub samples: Option<usize>,
    /// The method; all of them if `None`.
    pub method: Option<&'static str>,
    /// K; all of them if `None`.
    pub k: Option<Sharpness>,
    /// What is wrong.
    pub why: &'static str,
}

impl Remark {
    /// True if the remark is about this entry.
    pub fn concerns(&self, entry: &Entry) -> bool {
        self.application == entry.application
            && self.table == entry.table
            && self.size.is_none_or(|s| s == entry.size)
            && (self.samples.is_none() || self.samples == entry.samples)
            && self.method.is_none_or(|m| m == entry.method)
            && (self.k.is_none() || self.k == entry.k)
    }
}

/// The first remark about an entry.
pub fn remark(entry: &Entry) -> Option<&'static Remark> {
    REMARKS.iter().find(|r| r.concerns(entry))
}

const fn synthetic(
    table: Table,
    size: &'static str,
    samples: usize,
    method: &'static str,
    k: Option<Sharpness>,
    why: &'static str,
) -> Remark {
    let (size, samples, method) = (Some(size), Some(samples), Some(method));
    Remark { application: Application::Synthetic, table, size, samples, method, k, why }
}

const fn p_value(
    application: Application,
    size: Option<&'static str>,
    method: &'static str,
    why: &'static str,
) -> Remark {
    Remark { application, table: Table::P, size, samples: None, method: Some(method), k: None, why }
}

const SHIFTED: &str =
    "ten times the other sizes at N = 5000 with the same deviation: a decimal point has moved";
const TWO_TAILED: &str = "twice the one-tailed value of its t: a two-tailed test, against the caption";

/// Everything found. A p-value is held against its t-value with 14 degrees of freedom, one-tailed, as the captions say.
pub const REMARKS: &[Remark] = &[
    synthetic(
        Table::Regret,
        "40,40,20",
        100,
        "surrogate-vertex",
        Some(Sharpness::Best),
        "this is K = 125, in bold, although K = 25 has 2.321 in the same table",
    ),
    synthetic(
        Table::Mse,
        "40,40,0",
        100,
        "spo+",
        None,
        "a deviation of twice the mean, ten times that of the other sizes: probably 0.015",
    ),
    synthetic(Table::Mse, "40,40,20", 5000, "spo+", None, SHIFTED),
    synthetic(Table::Mse, "40,40,20", 5000, "surrogate-vertex", Some(Sharpness::Fixed(0.2)), SHIFTED),
    synthetic(
        Table::Mse,
        "40,40,20",
        5000,
        "df",
        None,
        "a deviation of 3.6 times the mean, nearly the largest that 15 positive numbers can have: one run diverged",
    ),
    synthetic(
        Table::Epochs,
        "80,80,40",
        100,
        "spo+",
        None,
        "no number of epochs up to 40 has the deviation 764: 7.64 without its point",
    ),
    synthetic(
        Table::Epochs,
        "80,80,0",
        5000,
        "spo+",
        None,
        "not a multiple of 1/15, as a mean over 15 seeds must be: rounded further than the rest",
    ),
    p_value(
        Application::Synthetic,
        None,
        "df",
        "t and p are those of an unpaired test with 28 degrees of freedom, against the caption",
    ),
    p_value(Application::Portfolio, Some("50"), "l1", "t gives 3.123e-8: two digits have changed places"),
    p_value(Application::Provisioning, Some("100"), "l1", TWO_TAILED),
    p_value(Application::Provisioning, Some("100"), "l2", TWO_TAILED),
    p_value(Application::Provisioning, Some("100"), "weighted-l1", TWO_TAILED),
    p_value(Application::Provisioning, Some("10"), "l1", TWO_TAILED),
    p_value(Application::Provisioning, Some("10"), "weighted-l1", TWO_TAILED),
    p_value(
        Application::Provisioning,
        Some("10"),
        "l2",
        "t = 14.231 gives 5.1e-10; the printed p needs t = 7.94 two-tailed or 7.48 one-tailed",
    ),
    p_value(Application::Provisioning, Some("0.1"), "l1", "t gives 0.128"),
    p_value(Application::Provisioning, Some("0.01"), "l2", "t gives 0.033: cut off, not rounded"),
];

#[cfg(test)]
mod tests {
    use super::super::entries;
    use super::*;

    #[test]
    fn every_remark_is_about_something() {
        for r in REMARKS {
            assert!(entries().iter().any(|e| r.concerns(e)), "{r:?}");
        }
    }
}
