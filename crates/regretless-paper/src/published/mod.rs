//! Every number of the paper's tables as printed, so that ours can be put beside them.
//!
//! The numbers lie in one table an application, a row a number. What looks like a misprint stays as it is and is
//! listed in [`REMARKS`]. Two tables are not the paper's: [`Table::Remeasured`] is what the released experiment gives
//! when it is run again, and [`Table::Constant`] what a predictor without features reaches on the same data.

mod remarks;

use std::sync::LazyLock;

pub use remarks::{REMARKS, Remark, remark};

/// An application of the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Application {
    /// The synthetic linear program; a size is `n,m1,m3`, as in `40,40,20`.
    Synthetic,
    /// Portfolio optimisation; a size is the number of equities, and regret is in percent.
    Portfolio,
    /// Resource provisioning; a size is the ratio α₁/α₂, as in `0.01`.
    Provisioning,
}

impl Application {
    /// All of them, in the paper's order.
    pub const ALL: [Self; 3] = [Self::Synthetic, Self::Portfolio, Self::Provisioning];

    /// The name used in files and on the command line.
    pub fn word(self) -> &'static str {
        match self {
            Self::Synthetic => "synthetic",
            Self::Portfolio => "portfolio",
            Self::Provisioning => "provisioning",
        }
    }

    fn text(self) -> &'static str {
        match self {
            Self::Synthetic => include_str!("../../published/synthetic.csv"),
            Self::Portfolio => include_str!("../../published/portfolio.csv"),
            Self::Provisioning => include_str!("../../published/provisioning.csv"),
        }
    }
}

/// What a number measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Table {
    /// Regret on the test set.
    Regret,
    /// Mean squared error of the predicted θ on the test set.
    Mse,
    /// Epochs until the early stop, 40 at most.
    Epochs,
    /// t-value of the method against the surrogate at its best K.
    T,
    /// p-value that goes with it.
    P,
    /// Regret of the released experiment when run again on its own data.
    /// The surrogate's deviations were noted as a range, 0.23 to 0.31; 0.28 stands for it.
    Remeasured,
    /// Regret of predicting the training mean of θ for every sample, on the same data.
    /// Means over 15 seeds for N = 100 and over 4 for N = 1000, so the second row is the rougher one.
    Constant,
}

impl Table {
    /// All of them.
    pub const ALL: [Self; 7] =
        [Self::Regret, Self::Mse, Self::Epochs, Self::T, Self::P, Self::Remeasured, Self::Constant];

    /// The name used in files.
    pub fn word(self) -> &'static str {
        match self {
            Self::Regret => "regret",
            Self::Mse => "mse",
            Self::Epochs => "epochs",
            Self::T => "t",
            Self::P => "p",
            Self::Remeasured => "remeasured",
            Self::Constant => "constant",
        }
    }
}

/// The K of a surrogate figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Sharpness {
    /// This K.
    Fixed(f64),
    /// The K that the paper picked, by the regret on the test set.
    Best,
}

/// A mean, with its standard deviation over seeds where there is one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figure {
    /// The mean.
    pub value: f64,
    /// The standard deviation.
    pub std: Option<f64>,
}

/// A figure and where it stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Entry {
    /// The application.
    pub application: Application,
    /// What is measured.
    pub table: Table,
    /// The problem size, in the application's notation.
    pub size: &'static str,
    /// Training samples, where the table distinguishes them.
    pub samples: Option<usize>,
    /// The method by its name in this project, such as `l1` or `surrogate-vertex`.
    pub method: &'static str,
    /// K, for the surrogate.
    pub k: Option<Sharpness>,
    /// The figure as printed.
    pub figure: Figure,
}

/// All entries, application by application, in the order of the paper's tables.
pub fn entries() -> &'static [Entry] {
    static ENTRIES: LazyLock<Vec<Entry>> = LazyLock::new(|| {
        let read = |a: Application| a.text().lines().skip(1).filter_map(move |line| entry(a, line));
        Application::ALL.into_iter().flat_map(read).collect()
    });
    &ENTRIES
}

/// The figure at one place of a table; `None` if the paper has none there.
///
/// ```
/// use regretless_paper::published::{Application, Sharpness, Table, figure};
/// let (lp, best) = (Application::Synthetic, Some(Sharpness::Best));
/// let ours = figure(lp, Table::Regret, "40,40,0", Some(100), "surrogate-vertex", best);
/// assert_eq!(ours.map(|f| f.value), Some(2.258));
/// assert_eq!(figure(lp, Table::Regret, "40,40,0", Some(99), "l1", None), None);
/// ```
pub fn figure(
    application: Application,
    table: Table,
    size: &str,
    samples: Option<usize>,
    method: &str,
    k: Option<Sharpness>,
) -> Option<Figure> {
    let here = |e: &&Entry| {
        e.application == application
            && e.table == table
            && e.size == size
            && e.samples == samples
            && e.method == method
            && e.k == k
    };
    entries().iter().find(here).map(|e| e.figure)
}

/// The K behind the "Ours" column of Table 1: the first one with the column's mean and deviation.
pub fn best_k(size: &str, samples: usize) -> Option<f64> {
    let place = |e: &&Entry| {
        e.application == Application::Synthetic
            && e.table == Table::Regret
            && e.size == size
            && e.samples == Some(samples)
    };
    let best = entries().iter().filter(place).find(|e| e.k == Some(Sharpness::Best))?;
    entries().iter().filter(place).find_map(|e| match e.k {
        Some(Sharpness::Fixed(k)) if e.figure == best.figure => Some(k),
        _ => None,
    })
}

/// Reads `table,size,samples,method,k,value,std`, the size in quotes if it has commas.
fn entry(application: Application, line: &'static str) -> Option<Entry> {
    let (word, rest) = line.split_once(',')?;
    let (size, rest) = match rest.strip_prefix('"') {
        Some(quoted) => quoted.split_once("\",")?,
        None => rest.split_once(',')?,
    };
    let mut cells = rest.split(',');
    let mut cell = || cells.next();
    let samples = cell()?;
    let method = cell()?;
    let k = match cell()? {
        "" => None,
        "best" => Some(Sharpness::Best),
        k => Some(Sharpness::Fixed(k.parse().ok()?)),
    };
    let value = cell()?.parse().ok()?;
    let std = cell()?;
    Some(Entry {
        application,
        table: Table::ALL.into_iter().find(|t| t.word() == word)?,
        size,
        samples: if samples.is_empty() { None } else { Some(samples.parse().ok()?) },
        method,
        k,
        figure: Figure { value, std: if std.is_empty() { None } else { Some(std.parse().ok()?) } },
    })
}

#[cfg(test)]
mod tests {
    use statrs::distribution::{ContinuousCDF, StudentsT};

    use super::*;

    #[test]
    fn every_line_is_an_entry() {
        let count = |a, t: Table| entries().iter().filter(|e| e.application == a && e.table == t).count();
        let counts = |a| Table::ALL.map(|t| count(a, t));
        assert_eq!(counts(Application::Synthetic), [120, 108, 60, 48, 48, 18, 8]);
        assert_eq!(counts(Application::Portfolio), [20, 0, 0, 15, 15, 0, 0]);
        assert_eq!(counts(Application::Provisioning), [20, 0, 0, 12, 12, 0, 0]);
        for a in Application::ALL {
            let kept = entries().iter().filter(|e| e.application == a).count();
            assert_eq!(kept, a.text().lines().count() - 1, "{}", a.word());
        }
    }

    #[test]
    fn no_place_has_two_figures() {
        for e in entries() {
            let found = figure(e.application, e.table, e.size, e.samples, e.method, e.k);
            assert_eq!(found, Some(e.figure), "{e:?}");
        }
    }

    #[test]
    fn ours_is_the_lowest_of_all_k_but_once() {
        let sizes = ["40,40,0", "40,40,20", "80,80,0", "80,80,40"];
        let bold = [[125.0, 125.0, 0.2, 0.2], [25.0, 125.0, 1.0, 0.2], [125.0, 25.0, 1.0, 5.0]];
        for (samples, bold) in [100, 1000, 5000].into_iter().zip(bold) {
            for (size, k) in sizes.into_iter().zip(bold) {
                assert_eq!(best_k(size, samples), Some(k), "{size} {samples}");
                let regret = |k| {
                    figure(Application::Synthetic, Table::Regret, size, Some(samples), "surrogate-vertex", k)
                };
                let value = |k| regret(Some(k)).unwrap().value;
                let lowest = [0.2, 1.0, 5.0, 25.0, 125.0]
                    .map(|k| value(Sharpness::Fixed(k)))
                    .into_iter()
                    .fold(f64::INFINITY, f64::min);
                assert_eq!(value(Sharpness::Best) == lowest, (size, samples) != ("40,40,20", 100));
            }
        }
    }

    #[test]
    fn some_figures_by_eye() {
        use Application::{Portfolio, Provisioning, Synthetic};
        let at = |a, t, size, samples, method, k: Option<f64>| {
            let f = figure(a, t, size, samples, method, k.map(Sharpness::Fixed)).unwrap();
            (f.value, f.std)
        };
        let n = Some(5000);
        assert_eq!(at(Synthetic, Table::Regret, "80,80,40", n, "df", None), (2.748, Some(0.165)));
        assert_eq!(
            at(Synthetic, Table::Mse, "80,80,0", n, "surrogate-vertex", Some(25.0)),
            (0.703, Some(0.177))
        );
        assert_eq!(at(Synthetic, Table::Epochs, "80,80,40", Some(100), "spo+", None), (19.33, Some(764.0)));
        assert_eq!(at(Synthetic, Table::P, "80,80,0", n, "l2", None), (1.435e-6, None));
        assert_eq!(at(Synthetic, Table::Remeasured, "40,40,20", Some(100), "df", None), (2.575, Some(0.217)));
        assert_eq!(at(Synthetic, Table::Constant, "80,80,40", Some(1000), "constant", None), (2.549, None));
        assert_eq!(
            at(Portfolio, Table::Regret, "250", None, "surrogate-vertex", Some(100.0)),
            (3.212, Some(0.135))
        );
        assert_eq!(
            at(Provisioning, Table::Regret, "0.01", None, "weighted-l1", None),
            (230.825, Some(91.184))
        );
        assert_eq!(at(Provisioning, Table::T, "10", None, "l2", None), (14.231, None));
    }

    #[test]
    fn p_follows_from_t_unless_remarked() {
        let student = StudentsT::new(0.0, 1.0, 14.0).unwrap();
        for e in entries().iter().filter(|e| e.table == Table::P) {
            let t = figure(e.application, Table::T, e.size, e.samples, e.method, None).unwrap();
            let (printed, p) = (e.figure.value, student.sf(t.value));
            // t has three decimals, small p four digits, large p three decimals.
            let agrees = (printed / p - 1.0).abs() < 2e-3 || (printed >= 1e-3 && (printed - p).abs() < 6e-4);
            assert_eq!(agrees, remark(e).is_none(), "{e:?}: {p:e}");
        }
    }
}
