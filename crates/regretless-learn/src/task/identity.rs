//! What a task is known by: runs and studies go on only with the same problem, settings and data.

use std::collections::BTreeSet;

use regretless_core::Parameter;

use super::Task;
use crate::content::Content;
use crate::select::recipe::Recipe;
use crate::settings::{MethodName, PredictorKind};

impl Task {
    /// What a recipe on this data is known by: a run goes on only with the same.
    pub(crate) fn identity(&self, recipe: &Recipe) -> String {
        let settings = &self.settings.surrogate;
        let (segments, smoothing) = (settings.options.segments, settings.options.smoothing);
        let stated = self.coefficients(Content::default());
        let predictor = &self.settings.predictor;
        let trees = if predictor.kind == PredictorKind::Trees {
            format!(", {:?}", predictor.trees)
        } else {
            String::new()
        };
        let base =
            if predictor.stands_on_a_line() { format!(", on {}", predictor.base) } else { String::new() };
        let kind = if self.is_open() { format!(", {}", predictor.kind) } else { String::new() };
        format!(
            "{recipe:?}, {segments:?} {smoothing} {:?}, problem {}, data {}{trees}{base}{kind}",
            settings.rule,
            stated.hash(),
            self.hash.get_or_init(|| self.data.content().hash())
        )
    }

    /// The hashes of problem and settings, and of the data: all that decides what a method and a seed come to here.
    pub fn content(&self) -> [String; 2] {
        let mut settings = self.given.clone();
        // They are the trial's own.
        (settings.training.seed, settings.training.method) = (0, MethodName::default());
        let problem = self.problem();
        let mut stated = Content::default().spelled(&settings);
        // Runs of entries are spelled as ever: studies go on.
        stated = if self.placement.is_plain() {
            let (parts, width) = (self.placement.runs(problem), self.placement.width());
            stated.text(&format!("Layout {{ parts: {parts:?}, width: {width} }}"))
        } else {
            let placement = &self.placement;
            stated.spelled(&(placement.width(), placement.known(), placement.terms()))
        };
        stated = stated.spelled(&problem.sense());
        stated = stated.spelled(&problem.variables());
        let blocks = [&problem.soft().blocks, &problem.at_most().blocks, &problem.equal().blocks];
        stated = stated.spelled(&blocks);
        stated = self.coefficients(stated);
        let data = self.data.content().spelled(&self.data.names).spelled(&self.data.parts);
        [stated.hash(), data.hash()]
    }

    /// The coefficients that the problem states. Zeros say nothing, stored or not: a problem is the same dense and sparse.
    fn coefficients(&self, mut stated: Content) -> Content {
        let problem = self.problem();
        for parameter in Parameter::ALL {
            // Placed entries hold placeholders.
            let placed: BTreeSet<usize> = self.placement.places(parameter).collect();
            let own = |i: &usize| !placed.contains(i);
            let values = parameter.of(problem);
            let mut known: Vec<usize> = (0..values.len()).filter(own).collect();
            if let Some(pattern) = parameter.pattern(problem) {
                known.retain(|&i| values[i] != 0.0);
                stated = stated.spelled(&known.iter().map(|&i| pattern.place(i)).collect::<Vec<_>>());
            }
            stated = stated.numbers(&known.iter().map(|&i| values[i]).collect::<Vec<_>>());
        }
        stated
    }
}
