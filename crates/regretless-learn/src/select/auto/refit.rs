//! The chosen candidate once more, from all rows for training and validation.

use super::candidates::Step;
use super::search::{Held, Search};
use crate::data::transform::Scale;
use crate::error::LearnError;
use crate::regression;
use crate::select::recipe::Recipe;
use crate::settings::{Keep, Stop};
use crate::train::epoch::{Ended, Fitted};

impl Search<'_, '_> {
    /// The candidate, or all that decide together in it, trained on all rows; with the recipes of the way.
    pub(super) fn refit(&mut self, chosen: usize) -> Result<(Fitted, Vec<Recipe>), LearnError> {
        let Step::Combine(averaged, members) = self.ideas[chosen].step.clone() else {
            return self.refit_one(chosen);
        };
        let (mut first, mut lineage, mut models): (Option<Fitted>, Vec<Recipe>, _) =
            (None, Vec::new(), Vec::new());
        let mut seconds = 0.0;
        for idea in members {
            let (fitted, way) = self.refit_one(idea)?;
            if fitted.ended == Ended::Interrupted {
                return Ok((fitted, way));
            }
            seconds += fitted.seconds;
            models.push((idea, fitted.model.clone()));
            lineage.extend(way);
            first.get_or_insert(fitted);
        }
        let Some(first) = first else { unreachable!("a combination has members") };
        Ok((Fitted { model: self.together(averaged, models), seconds, ..first }, lineage))
    }

    /// Trains every step to the candidate on all rows, for as many epochs as its folds kept in the middle. Nothing is left to stop by,
    /// and nothing is looked at again.
    fn refit_one(&mut self, chosen: usize) -> Result<(Fitted, Vec<Recipe>), LearnError> {
        let mut way = vec![chosen];
        while let Some(from) = self.ideas[way[way.len() - 1]].from {
            way.push(from);
        }
        way.reverse();
        let task = self.task();
        let (mut fitted, mut lineage, mut seconds): (Option<Fitted>, Vec<Recipe>, f64) =
            (None, Vec::new(), 0.0);
        for idea in way {
            let (form, from) = (self.ideas[idea].form, self.ideas[idea].from);
            match self.ideas[idea].step.clone() {
                Step::Fit(recipe) => {
                    let own = task.on(form, self.all_rows(), task.valid().to_vec());
                    let mut recipe = Recipe { name: self.ideas[idea].name.clone(), ..*recipe };
                    recipe.rates = self.rates(idea);
                    recipe.training.epochs = recipe.rates.len();
                    (recipe.training.stop, recipe.training.keep) = (Stop::Never, Keep::Last);
                    let start = fitted.as_ref().map(|fitted| &fitted.model);
                    let mut new = self.trainer.fit(&own, &recipe, start)?;
                    if !regression::applies(&own, &recipe) && recipe.of_forecast() {
                        self.correct(idea, &mut new);
                    }
                    seconds += new.seconds;
                    let ended = new.ended == Ended::Interrupted;
                    fitted = Some(new);
                    lineage.push(recipe);
                    if ended {
                        break;
                    }
                }
                Step::Decide(source) => {
                    let Some(own) = fitted.as_mut() else { continue };
                    let from = from.unwrap_or_default();
                    own.model.source = Some(self.source(&own.model, form, from, source, None)?);
                }
                Step::Combine(..) => {
                    let (own, way) = self.refit(idea)?;
                    seconds += own.seconds;
                    lineage.extend(way);
                    let ended = own.ended == Ended::Interrupted;
                    fitted = Some(own);
                    if ended {
                        break;
                    }
                }
            }
        }
        let Some(mut fitted) = fitted else { unreachable!("a candidate begins with a training") };
        fitted.seconds = seconds;
        Ok((fitted, lineage))
    }

    /// The learning rates of the epochs that a fold kept, of the one with the median number of them.
    fn rates(&self, idea: usize) -> Vec<f64> {
        let mut kept: Vec<&Vec<f64>> = self.held[idea].iter().flatten().map(|held| &held.rates).collect();
        kept.sort_by_key(|rates| rates.len());
        kept.get(kept.len() / 2).map_or_else(Vec::new, |rates| (*rates).clone())
    }

    /// Errors on rows that were learned from are too small to make means of what is predicted on another scale: those of the folds are
    /// taken, which were stretched to rows that were not.
    fn correct(&self, idea: usize, fitted: &mut Fitted) {
        let held: Vec<&Held> = self.held[idea].iter().flatten().collect();
        for (k, transform) in fitted.model.transforms.iter_mut().enumerate() {
            let own = held.iter().filter_map(|held| held.model.transforms.get(k));
            let found: Vec<f64> =
                own.filter(|own| own.scale == transform.scale).map(|own| own.correction).collect();
            if transform.scale != Scale::None && !found.is_empty() {
                transform.correction = found.iter().sum::<f64>() / found.len() as f64;
            }
        }
    }
}
