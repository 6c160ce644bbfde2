//! Networks over windows of hours.

use std::sync::Arc;

use rand_chacha::ChaCha8Rng;
use regretless_learn::{Descend, Mlp, MlpShape, Predictor, Pullback, Weights};

use super::{FEATURES, Hourly, REGIONS, WINDOW};

/// Loads of the day before, in the features of an hour.
const DAY_BEFORE: std::ops::Range<usize> = 1..25;

/// What a network sees at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sees {
    /// One hour of one region, and which region it is; one load comes out.
    Hour,
    /// The whole day of one region; 24 loads come out.
    Day,
}

/// Mean loads by hour of the day and region, and a unit for each region.
#[derive(Debug)]
pub(super) struct Usual {
    /// 24 × 8.
    pub(super) mean: Vec<f32>,
    pub(super) unit: Vec<f32>,
}

/// A predictor of the 24 × 8 loads of a window from the hour at which it starts, its only feature: what else is known of the
/// hours is looked up.
#[derive(Clone, Debug)]
pub(super) struct Windowed {
    lookup: Lookup,
    inner: Mlp,
}

/// From starting hours to the network's inputs, and from its outputs to loads.
#[derive(Clone, Debug)]
struct Lookup {
    hourly: Arc<Hourly>,
    /// Hour of the day of each hour.
    clock: Arc<Vec<u8>>,
    /// Loads are predicted as units above the usual ones, or as they are.
    usual: Option<Arc<Usual>>,
    sees: Sees,
}

impl Windowed {
    pub(super) fn new(
        hourly: Arc<Hourly>,
        clock: Arc<Vec<u8>>,
        usual: Option<Arc<Usual>>,
        sees: Sees,
        shape: MlpShape,
        seed: u64,
    ) -> Self {
        let (inputs, outputs) = match sees {
            Sees::Hour => (FEATURES.len() + REGIONS.len(), 1),
            Sees::Day => (WINDOW * FEATURES.len(), WINDOW),
        };
        let inner = Mlp::new(&MlpShape { inputs, outputs, ..shape }, seed);
        Self { lookup: Lookup { hourly, clock, usual, sees }, inner }
    }
}

impl Lookup {
    /// The network's inputs: for each window region by region, for each region hour by hour.
    fn inputs(&self, starts: &[f32]) -> Vec<f32> {
        let mut out = Vec::new();
        for &start in starts {
            let start = start as usize;
            for region in 0..REGIONS.len() {
                if self.sees == Sees::Day {
                    self.hourly.window(start, region, &mut out);
                    continue;
                }
                // The loads of the calendar day before an hour may lie within the window: those of the day before the
                // window's start are known when it starts.
                let known = &self.hourly.at(start, region)[DAY_BEFORE];
                for hour in start..start + WINDOW {
                    let features = self.hourly.at(hour, region);
                    out.extend_from_slice(&features[..DAY_BEFORE.start]);
                    out.extend_from_slice(known);
                    out.extend_from_slice(&features[DAY_BEFORE.end..]);
                    out.extend((0..REGIONS.len()).map(|r| f32::from(u8::from(r == region))));
                }
            }
        }
        out
    }

    fn count(&self, rows: usize) -> usize {
        match self.sees {
            Sees::Hour => rows * REGIONS.len() * WINDOW,
            Sees::Day => rows * REGIONS.len(),
        }
    }

    /// From the network's order (window, region, hour) to that of C (window, hour, region), in units of C.
    fn loads(&self, own: &[f32], starts: &[f32]) -> Vec<f32> {
        let mut out = vec![0.0; own.len()];
        for (i, value) in own.iter().enumerate() {
            let (window, region, hour) = place(i);
            let at = &mut out[(window * WINDOW + hour) * REGIONS.len() + region];
            *at = match &self.usual {
                None => *value,
                Some(usual) => {
                    let clock = usize::from(self.clock[starts[window] as usize + hour]);
                    usual.mean[clock * REGIONS.len() + region] + usual.unit[region] * value
                }
            };
        }
        out
    }
}

/// Window, region and hour of an entry in the network's order.
fn place(i: usize) -> (usize, usize, usize) {
    let (rest, hour) = (i / WINDOW, i % WINDOW);
    (rest / REGIONS.len(), rest % REGIONS.len(), hour)
}

impl Predictor for Windowed {
    fn outputs(&self) -> usize {
        WINDOW * REGIONS.len()
    }

    fn predict(&self, inputs: &[f32], rows: usize) -> Vec<f32> {
        // A few windows at a time: one has 15,000 numbers.
        let each = inputs.chunks(64).map(|starts| {
            let own = self.inner.predict(&self.lookup.inputs(starts), self.lookup.count(starts.len()));
            self.lookup.loads(&own, starts)
        });
        let out: Vec<f32> = each.flatten().collect();
        debug_assert_eq!(out.len(), rows * self.outputs());
        out
    }

    fn descent(&self) -> Option<&dyn Descend> {
        Some(self)
    }

    fn descent_mut(&mut self) -> Option<&mut dyn Descend> {
        Some(self)
    }
}

impl Descend for Windowed {
    fn weights(&self) -> Vec<&Weights> {
        self.inner.weights()
    }

    fn weights_mut(&mut self) -> Vec<&mut Weights> {
        self.inner.weights_mut()
    }

    fn train(&mut self, inputs: &[f32], rows: usize, noise: &mut ChaCha8Rng) -> (Vec<f32>, Pullback<'_>) {
        let Self { lookup, inner } = self;
        let (own, back) = inner.train(&lookup.inputs(inputs), lookup.count(rows), noise);
        let out = lookup.loads(&own, inputs);
        let unit = |region: usize| lookup.usual.as_ref().map_or(1.0, |usual| usual.unit[region]);
        let pullback = move |seed: &[f32]| {
            let entry = |i: usize| {
                let (window, region, hour) = place(i);
                unit(region) * seed[(window * WINDOW + hour) * REGIONS.len() + region]
            };
            back(&(0..seed.len()).map(entry).collect::<Vec<f32>>())
        };
        (out, Box::new(pullback))
    }
}
