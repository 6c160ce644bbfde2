//! Makes an account of decisions, a batch of rows at a time: what is kept is bounded, however many rows there are.

use regretless_core::{Decision, Sense};

use super::groups::Groups;
use super::periods::Periods;
use super::rows::Rows;
use super::sums::{Beside, Errors, Line, Sums};
use super::worth::Kept;
use super::{Account, Grouping};
use crate::error::LearnError;
use crate::model::decider::Decider;

/// Rows that were decided for, and what came true of them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Audited<'a> {
    /// Features, row-major.
    pub features: &'a [f64],
    /// What came true, row-major.
    pub truths: &'a [f64],
    /// What was known of the rows, row-major.
    pub known: &'a [f64],
    /// Decisions that others took, row-major, NaN where there is none; empty if there are no such.
    pub baseline: &'a [f64],
    /// When each row is; empty if nobody says.
    pub times: &'a [f64],
    /// The series of each row; empty if nobody says.
    pub series: &'a [String],
    /// The group of each row, a list for each column of [`Auditor::by`].
    pub groups: &'a [Vec<String>],
}

/// An account in the making.
#[derive(Debug)]
pub struct Auditor<'a> {
    decider: &'a Decider,
    rivals: &'a [(String, Decider)],
    baseline: Option<String>,
    own: Sums,
    beside: Vec<Beside>,
    periods: Periods,
    series: Groups,
    groups: Vec<(String, Groups)>,
    rows: Rows,
    errors: Vec<Errors>,
    /// Rows to shuffle, if somebody wants to know what features are worth.
    kept: Option<Kept>,
}

impl<'a> Auditor<'a> {
    /// An account of what `decider` decides, beside what `rivals` would have decided for the same rows and what others did, whose
    /// decisions are in the columns that `baseline` names. `dates` says whether times are days since the beginning of 1970.
    pub fn new(
        decider: &'a Decider,
        rivals: &'a [(String, Decider)],
        baseline: Option<String>,
        dates: bool,
    ) -> Self {
        Self {
            own: Sums::default(),
            beside: vec![Beside::default(); rivals.len() + usize::from(baseline.is_some())],
            periods: Periods::new(dates),
            series: Groups::default(),
            groups: Vec::new(),
            rows: Rows::new(decider.problem().shape()),
            errors: vec![Errors::default(); decider.width()],
            decider,
            rivals,
            baseline,
            kept: None,
        }
    }

    /// Tells the rows apart by these columns, too.
    pub fn by(mut self, columns: &[String]) -> Self {
        self.groups = columns.iter().map(|name| (name.clone(), Groups::default())).collect();
        self
    }

    /// The same with what the features are worth to decisions: some of the rows are decided for again with each feature shuffled,
    /// which takes up to 1,500 decisions a feature.
    pub fn with_importance(self) -> Self {
        Self { kept: Some(Kept::new()), ..self }
    }

    /// Enters rows with the model's decisions, which were judged by what came true.
    pub fn enter(&mut self, decisions: &[Decision], rows: &Audited<'_>) -> Result<(), LearnError> {
        let count = decisions.len();
        let predictions = self.decider.predict(rows.features, count);
        for (i, (predicted, truth)) in predictions.iter().zip(rows.truths).enumerate() {
            let width = self.errors.len();
            self.errors[i % width].add(*predicted, *truth);
        }
        if let Some(kept) = &mut self.kept {
            kept.add(self.decider, decisions, rows);
        }
        let mut others = Vec::with_capacity(self.beside.len());
        if self.baseline.is_some() {
            others.push(self.decider.beside(rows.baseline, decisions, rows.truths, rows.known)?);
        }
        for (_, rival) in self.rivals {
            let taken = rival.taken(rows.features, rows.known, count)?;
            others.push(self.decider.beside(&taken, decisions, rows.truths, rows.known)?);
        }
        let (problem, placement) = (self.decider.problem(), self.decider.placement());
        let (width, known) = (placement.width(), placement.known());
        for (i, own) in decisions.iter().enumerate().filter(|(_, own)| own.trouble.is_none()) {
            let rivals: Vec<&Decision> = others.iter().map(|all| &all[i]).collect();
            let line = Line::of(own, &rivals);
            self.own.add(&line);
            self.beside.iter_mut().zip(&rivals).for_each(|(beside, rival)| beside.add(own, rival));
            if let Some(time) = rows.times.get(i) {
                self.periods.add(*time, &line);
            }
            if let Some(series) = rows.series.get(i) {
                self.series.add(series, &line);
            }
            for ((_, sums), own) in self.groups.iter_mut().zip(rows.groups) {
                own.get(i).into_iter().for_each(|name| sums.add(name, &line));
            }
            let of = |table: &[f64], width: usize| table[i * width..(i + 1) * width].to_vec();
            let truth = placement.parameters(problem, &of(rows.truths, width), &of(rows.known, known));
            if let Ok(view) = problem.view(&truth.instance()) {
                self.rows.add(&view, &own.x);
            }
        }
        Ok(())
    }

    /// The account of all that was entered.
    pub fn account(self) -> Result<Account, LearnError> {
        let importance = self.kept.as_ref().map(|kept| kept.told(self.decider)).transpose()?;
        let problem = self.decider.problem();
        let names = self.baseline.into_iter().chain(self.rivals.iter().map(|(name, _)| name.clone()));
        let (period, periods) = self.periods.told();
        let (soft, hard, bounds) = self.rows.told(problem);
        let targets = &self.decider.card().targets;
        let groups = self.groups.into_iter().map(|(by, sums)| Grouping { by, groups: sums.told("group") });
        let named = |(k, errors): (usize, &Errors)| {
            errors.told(targets.get(k).cloned().unwrap_or_else(|| format!("target {k}")))
        };
        Ok(Account {
            objective: if problem.sense() == Sense::Max { "gain" } else { "cost" }.to_owned(),
            achieved: self.own.money(),
            against: names.zip(&self.beside).map(|(name, beside)| beside.told(name)).collect(),
            period,
            periods,
            series: self.series.told("series"),
            groups: groups.collect(),
            soft,
            hard,
            bounds,
            errors: self.errors.iter().enumerate().map(named).collect(),
            importance,
        })
    }
}
