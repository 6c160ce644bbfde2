//! What ends a long command: Ctrl-C, SIGTERM, or the time that it was given.
//!
//! Work looks at a flag between its steps and then ends in good order, with what there is. Who asked for the end does not wait longer
//! than two seconds for that: what is left then is what was written down on the way, from which long commands go on.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use regretless_learn::Interrupt;

/// How long an end in good order may take for who asked for it.
const PATIENCE: Duration = Duration::from_millis(1800);

/// Asks for the end where somebody or the clock says so.
#[derive(Clone, Default)]
pub(crate) struct Stop {
    interrupt: Interrupt,
    /// Whether the time is up.
    late: Interrupt,
    /// Whether there is something to end in good order.
    begun: Arc<AtomicBool>,
    /// Whether the work is over, and nothing but short writing is left.
    over: Arc<AtomicBool>,
}

impl Stop {
    /// The flag that work looks at.
    pub(crate) fn flag(&self) -> &Interrupt {
        &self.interrupt
    }

    /// True if the time is up.
    pub(crate) fn late(&self) -> bool {
        self.late.requested()
    }

    /// Says that there is something to end in good order: from now on the first Ctrl-C asks for it. Before, there was nothing to lose,
    /// and it ended the process at once.
    pub(crate) fn begin(&self) {
        self.begun.store(true, Ordering::Relaxed);
    }

    /// Says that the work is over: what came of it is shown, however late.
    pub(crate) fn over(&self) {
        self.over.store(true, Ordering::Relaxed);
    }
}

/// Stops for the first Ctrl-C or SIGTERM, and after so many minutes if there are any; the second Ctrl-C ends the process at once.
pub(crate) fn on_ctrl_c(minutes: Option<f64>) -> Stop {
    stops(minutes, |stop| &stop.interrupt)
}

/// [`on_ctrl_c`], where the time that is up is no reason to throw away what can be finished.
pub(crate) fn on_ctrl_c_or_late(minutes: Option<f64>) -> Stop {
    stops(minutes, |stop| &stop.late)
}

fn stops(minutes: Option<f64>, clock: fn(&Stop) -> &Interrupt) -> Stop {
    let stop = Stop::default();
    let heard = stop.clone();
    // Without a handler Ctrl-C just ends the process, and --resume still works.
    let _ = ctrlc::set_handler(move || {
        if heard.interrupt.requested() || !heard.begun.load(Ordering::Relaxed) {
            #[expect(clippy::exit, reason = "asked twice, or before anything was done")]
            std::process::exit(130);
        }
        heard.interrupt.request();
        say("stopping after this step; press Ctrl-C again to stop at once");
        let over = Arc::clone(&heard.over);
        std::thread::spawn(move || {
            std::thread::sleep(PATIENCE);
            if !over.load(Ordering::Relaxed) {
                say(
                    "ended in the middle of a step; what was finished before is written down where the command goes on",
                );
                #[expect(clippy::exit, reason = "asked for the end two seconds ago")]
                std::process::exit(130);
            }
        });
    });
    if let Some(minutes) = minutes {
        let timed = stop.clone();
        std::thread::spawn(move || {
            std::thread::sleep(Duration::from_secs_f64(60.0 * minutes));
            clock(&timed).request();
            say("the time is up: stopping after this step");
        });
    }
    stop
}

fn say(text: &str) {
    let _ = writeln!(std::io::stderr(), "\n{text}");
}

/// A time to stop after: more than 0 minutes, and no more than a year.
pub(crate) fn minutes(text: &str) -> Result<f64, String> {
    let found: f64 =
        text.parse().map_err(|_| "a number of minutes is expected, such as 90 or 0.5".to_owned())?;
    if found > 0.0 && found <= 525_600.0 {
        Ok(found)
    } else {
        Err("minutes are more than 0, and at most a year".into())
    }
}
