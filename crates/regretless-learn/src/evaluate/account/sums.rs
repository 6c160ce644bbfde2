//! Sums of money.

use regretless_core::Decision;

use super::{Group, Money, QuantityError, Rival};

/// What one decided row adds.
#[derive(Clone, Debug, Default)]
pub(super) struct Line {
    pub(super) achieved: f64,
    pub(super) optimal: f64,
    pub(super) regret: f64,
    /// The advantage over each rival, where it decided too.
    pub(super) advantage: Vec<Option<f64>>,
}

impl Line {
    pub(super) fn of(own: &Decision, rivals: &[&Decision]) -> Self {
        let better = |rival: &&Decision| rival.trouble.is_none().then_some(rival.regret - own.regret);
        Self {
            achieved: own.objective,
            optimal: own.optimal,
            regret: own.regret,
            advantage: rivals.iter().map(better).collect(),
        }
    }
}

/// Sums over rows.
#[derive(Clone, Debug, Default)]
pub(super) struct Sums {
    decisions: usize,
    total: f64,
    optimal: f64,
    pub(super) regret: f64,
    advantage: Vec<f64>,
}

impl Sums {
    pub(super) fn add(&mut self, line: &Line) {
        self.decisions += 1;
        self.total += line.achieved;
        self.optimal += line.optimal;
        self.regret += line.regret;
        self.advantage.resize(line.advantage.len(), 0.0);
        for (sum, more) in self.advantage.iter_mut().zip(&line.advantage) {
            *sum += more.unwrap_or(0.0);
        }
    }

    pub(super) fn join(&mut self, other: &Self) {
        self.decisions += other.decisions;
        self.total += other.total;
        self.optimal += other.optimal;
        self.regret += other.regret;
        self.advantage.resize(self.advantage.len().max(other.advantage.len()), 0.0);
        for (sum, more) in self.advantage.iter_mut().zip(&other.advantage) {
            *sum += more;
        }
    }

    pub(super) fn money(&self) -> Money {
        let (decisions, total) = (self.decisions, self.total);
        let mean = total / decisions as f64;
        Money { decisions, mean, total, optimal: self.optimal, regret: self.regret }
    }

    pub(super) fn group(self, name: String) -> Group {
        let Self { decisions, total, regret, advantage, .. } = self;
        Group { name, decisions, total, regret, advantage }
    }
}

/// Sums over the rows that the model and another decided.
#[derive(Clone, Debug, Default)]
pub(super) struct Beside {
    decisions: usize,
    total: f64,
    own: f64,
    advantage: f64,
    /// Σ (a − ā)², kept up row by row.
    spread: f64,
    violated: usize,
}

impl Beside {
    pub(super) fn add(&mut self, own: &Decision, rival: &Decision) {
        if rival.trouble.is_some() {
            return;
        }
        self.decisions += 1;
        self.total += rival.objective;
        self.own += own.objective;
        self.violated += usize::from(rival.violation > 0.0);
        let (better, before) = (rival.regret - own.regret, self.advantage);
        // Welford: the mean is kept, and the spread around it.
        self.advantage += (better - before) / self.decisions as f64;
        self.spread += (better - before) * (better - self.advantage);
    }

    pub(super) fn told(&self, name: String) -> Rival {
        let count = self.decisions as f64;
        Rival {
            name,
            decisions: self.decisions,
            mean: self.total / count,
            own: self.own / count,
            advantage: if self.decisions > 0 { self.advantage } else { f64::NAN },
            standard_error: (self.spread / (count - 1.0) / count).sqrt(),
            total: self.advantage * count,
            violated: self.violated as f64 / count,
        }
    }
}

/// Sums of the errors of a quantity.
#[derive(Clone, Debug, Default)]
pub(super) struct Errors {
    count: f64,
    truths: f64,
    signed: f64,
    absolutes: f64,
    squares: f64,
}

impl Errors {
    pub(super) fn add(&mut self, predicted: f64, truth: f64) {
        let error = predicted - truth;
        if error.is_finite() {
            self.count += 1.0;
            self.truths += truth;
            self.signed += error;
            self.absolutes += error.abs();
            self.squares += error * error;
        }
    }

    pub(super) fn told(&self, name: String) -> QuantityError {
        let mean = |sum: f64| sum / self.count;
        QuantityError {
            name,
            mean: mean(self.truths),
            bias: mean(self.signed),
            mae: mean(self.absolutes),
            rmse: mean(self.squares).sqrt(),
        }
    }
}
