//! Several predictors trained and one of them kept: recipes, candidates, `auto`.

mod auto;
pub(crate) mod choose;
pub(crate) mod recipe;
pub(crate) mod trainer;
pub(crate) mod training;
