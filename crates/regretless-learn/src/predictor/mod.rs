//! What turns features into parameters.
//!
//! A predictor works in standardised units: inputs have mean 0 and deviation 1 over the training part, and an output of o
//! means "o deviations above the training mean". All start with output 0, so that an untrained predictor is the constant
//! one. What the decision loss says of the prediction comes back as the seed of the backward pass.

mod activation;
pub(crate) mod build;
mod constant;
mod dense;
mod embedding;
mod given;
mod initial;
mod joint;
mod layer;
mod linear;
pub(crate) mod mlp;
mod norm;
mod shared;
pub(crate) mod trees;
mod weights;

use std::fmt::Debug;

use rand_chacha::ChaCha8Rng;

pub use constant::Constant;
pub use embedding::Embedding;
pub use given::Given;
pub use joint::Joint;
pub use linear::Linear;
pub use mlp::{Mlp, MlpShape};
pub use shared::Shared;
pub use trees::{Binned, Quantile, Slopes, Tree, Trees};
pub use weights::Weights;

/// Takes the gradient with respect to the outputs back to the weights, in their flat order.
pub type Pullback<'a> = Box<dyn FnOnce(&[f32]) -> Vec<f32> + 'a>;

/// A function of features. How it came about is its own matter: by descent, in closed form, or elsewhere.
pub trait Predictor: Copied + Debug + Send + Sync {
    /// Outputs of one row.
    fn outputs(&self) -> usize;

    /// Outputs of `rows` rows, row-major.
    fn predict(&self, inputs: &[f32], rows: usize) -> Vec<f32>;

    /// What it counts among the members of an ensemble.
    fn weight(&self) -> f64 {
        1.0
    }

    /// The predictor as forecasts that are given, if it is.
    fn given(&self) -> Option<&Given> {
        None
    }

    /// The predictor as one that is trained by descent, if it is.
    fn descent(&self) -> Option<&dyn Descend> {
        None
    }

    /// [`Predictor::descent`], to train it.
    fn descent_mut(&mut self) -> Option<&mut dyn Descend> {
        None
    }

    /// Puts the predictor on a line, if it is made to stand on one; its outputs are then those of the line before it learns more.
    fn stand_on(&mut self, _line: &Linear) {}

    /// The predictor as one that grows round by round, if it is.
    fn boosting(&self) -> Option<&Trees> {
        None
    }

    /// [`Predictor::boosting`], to grow it.
    fn boosting_mut(&mut self) -> Option<&mut Trees> {
        None
    }
}

/// A predictor with weights that learn from the gradient of a loss in its outputs.
///
/// ```
/// use regretless_learn::{Descend, Mlp, MlpShape, Predictor};
/// let shape = MlpShape { inputs: 3, hidden: vec![8], outputs: 2, ..MlpShape::default() };
/// let mut network = Mlp::new(&shape, 7);
/// // Untrained, it predicts the training mean whatever the features are.
/// assert_eq!(network.predict(&[1.0, -2.0, 0.5], 1), [0.0, 0.0]);
/// let mut noise = regretless_learn::stream(7, 0, 0);
/// let (outputs, pullback) = network.train(&[1.0, -2.0, 0.5], 1, &mut noise);
/// let gradients = pullback(&[1.0, 0.0]); // d(first output)/d(weights)
/// assert_eq!(gradients.len(), network.weights()[0].len());
/// # let _ = outputs;
/// ```
pub trait Descend: Predictor + DescentCopied {
    /// What is learned, part by part.
    fn weights(&self) -> Vec<&Weights>;

    /// What is learned, to change.
    fn weights_mut(&mut self) -> Vec<&mut Weights>;

    /// What is gathered while training and not learned, such as the running means of batch normalisation.
    fn buffers(&self) -> Vec<&Weights> {
        Vec::new()
    }

    /// The buffers, to change.
    fn buffers_mut(&mut self) -> Vec<&mut Weights> {
        Vec::new()
    }

    /// Outputs of `rows` rows in training mode (drop-out, batch statistics), and the way back to the weights.
    fn train(&mut self, inputs: &[f32], rows: usize, noise: &mut ChaCha8Rng) -> (Vec<f32>, Pullback<'_>);
}

/// Every predictor that can be cloned can be copied behind a pointer.
pub trait Copied {
    /// A copy.
    fn boxed(&self) -> Box<dyn Predictor>;
}

impl<T: Predictor + Clone + 'static> Copied for T {
    fn boxed(&self) -> Box<dyn Predictor> {
        Box::new(self.clone())
    }
}

/// [`Copied`] for those that descend.
pub trait DescentCopied {
    /// A copy.
    fn boxed_descent(&self) -> Box<dyn Descend>;
}

impl<T: Descend + Clone + 'static> DescentCopied for T {
    fn boxed_descent(&self) -> Box<dyn Descend> {
        Box::new(self.clone())
    }
}

impl Clone for Box<dyn Descend> {
    fn clone(&self) -> Self {
        self.boxed_descent()
    }
}

impl Clone for Box<dyn Predictor> {
    fn clone(&self) -> Self {
        self.boxed()
    }
}
