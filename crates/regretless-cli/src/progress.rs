//! Progress bars, on stderr and only where somebody looks.

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use regretless_core::engine::{Link, Progress as Solving, Stop as Listening};
use regretless_learn::{Epoch, LearnError, Observer, Progress, Record};

use crate::interrupt::Stop;
use crate::output::number;

/// What takes no longer needs no word.
const MOMENT: Duration = Duration::from_secs(1);

/// Whether anybody looks.
fn seen(quiet: bool) -> bool {
    !quiet && std::io::stderr().is_terminal()
}

/// Says that tables are read and true problems solved, which takes as long as it takes.
pub(crate) fn preparing(quiet: bool) -> ProgressBar {
    bar(0, quiet, "{spinner} preparing: reading tables, solving what came true  {elapsed}")
}

pub(crate) fn bar(len: u64, quiet: bool, template: &str) -> ProgressBar {
    let bar = ProgressBar::new(len);
    if !seen(quiet) {
        bar.set_draw_target(ProgressDrawTarget::hidden());
    }
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style.progress_chars("━╸─"));
    }
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

/// Watches one training.
pub(crate) struct Training {
    /// What shows that something goes on before training begins.
    preparing: ProgressBar,
    bar: ProgressBar,
    best: f64,
    stop: Stop,
    quiet: bool,
}

impl Training {
    pub(crate) fn new(quiet: bool, stop: Stop) -> Self {
        let template = "{prefix} {bar:24} epoch {pos}/{len}  {msg}  {elapsed}";
        let preparing = preparing(quiet);
        // Drawn when the first stage begins.
        Self { preparing, bar: bar(0, true, template), best: f64::INFINITY, stop, quiet }
    }

    pub(crate) fn finish(&self) {
        self.preparing.finish_and_clear();
        self.bar.finish_and_clear();
    }
}

impl Observer for Training {
    fn stage(&mut self, name: &str, epochs: usize) {
        self.stop.begin();
        if !self.preparing.is_finished() {
            self.preparing.finish_and_clear();
            if seen(self.quiet) {
                self.bar.set_draw_target(ProgressDrawTarget::stderr());
            }
        }
        self.best = f64::INFINITY;
        self.bar.set_prefix(name.to_owned());
        self.bar.set_length(epochs as u64);
        self.bar.set_position(0);
        self.bar.set_message("");
    }

    fn resumed(&mut self, history: &[Epoch]) {
        let best = history.iter().map(|e| e.valid.regret).fold(f64::INFINITY, f64::min);
        self.best = best;
        self.bar.set_position(history.last().map_or(0, |e| e.epoch as u64));
    }

    fn epoch(&mut self, epoch: &Epoch) -> Result<(), LearnError> {
        self.best = self.best.min(epoch.valid.regret);
        self.bar.set_position(epoch.epoch as u64);
        let (now, best) = (number(epoch.valid.regret), number(self.best));
        self.bar.set_message(format!("validation regret {now}, best {best}"));
        Ok(())
    }

    fn interrupted(&self) -> bool {
        self.stop.flag().requested()
    }

    fn late(&self) -> bool {
        self.stop.late()
    }
}

/// Watches a comparison.
pub(crate) struct Comparing(ProgressBar);

impl Comparing {
    pub(crate) fn new(quiet: bool) -> Self {
        Self(bar(0, quiet, "comparing {bar:24} {pos}/{len} trainings  {msg}  {elapsed}"))
    }

    pub(crate) fn finish(&self) {
        self.0.finish_and_clear();
    }
}

impl Progress for Comparing {
    fn start(&self, entries: usize) {
        self.0.set_length(entries as u64);
    }

    fn done(&self, record: &Record) {
        self.0.inc(1);
        let regret = number(record.measures.regret);
        self.0.set_message(format!("{} (seed {}): regret {regret}", record.method, record.seed));
    }
}

/// Says how far a solve is that takes more than a moment.
pub(crate) fn solving() -> (ProgressBar, Listening) {
    let bar = bar(0, true, "{spinner} {msg}  {elapsed}");
    let shown = bar.clone();
    let stop = Listening::listening(move |at| {
        if shown.elapsed() < MOMENT || !seen(false) {
            return;
        }
        if shown.is_hidden() {
            shown.set_draw_target(ProgressDrawTarget::stderr());
        }
        shown.set_message(told(at));
    });
    (bar, stop)
}

/// Where a solve is, in a line.
fn told(at: &Solving) -> String {
    let (who, count) = match at.link {
        Link::Path => ("path", "breakpoints"),
        Link::Newton => ("Newton", "iterations"),
        Link::Interior => ("interior point", "iterations"),
        Link::Reference => ("Clarabel", "iterations"),
    };
    let figures = at.accuracy.map_or_else(String::new, |a| {
        format!(": primal {:.0e}, dual {:.0e}, gap {:.0e}", a.primal, a.dual, a.gap)
    });
    format!("{who}, {} {count}{figures}", at.iterations)
}

/// Counts rows of unknown number.
pub(crate) fn rows(quiet: bool) -> ProgressBar {
    bar(0, quiet, "{pos} rows  {per_sec}  {elapsed}")
}

#[cfg(test)]
mod tests {
    use regretless_core::engine::Accuracy;

    use super::*;

    #[test]
    fn a_solve_says_how_far_it_is() {
        let accuracy = Some(Accuracy { primal: 1.2e-3, dual: 4e-5, gap: 0.3 });
        let at = Solving { link: Link::Interior, iterations: 7, accuracy };
        assert_eq!(told(&at), "interior point, 7 iterations: primal 1e-3, dual 4e-5, gap 3e-1");
        let at = Solving { link: Link::Path, iterations: 2000, accuracy: None };
        assert_eq!(told(&at), "path, 2000 breakpoints");
    }
}
