//! Ctrl-C.

use std::io::Write;

use regretless_learn::Interrupt;

/// A flag that the first Ctrl-C sets; the second one ends the process at once.
pub(crate) fn on_ctrl_c() -> Interrupt {
    let interrupt = Interrupt::default();
    let flag = interrupt.clone();
    // Without a handler Ctrl-C just ends the process, and --resume still works.
    let _ = ctrlc::set_handler(move || {
        if flag.requested() {
            #[expect(clippy::exit, reason = "asked twice")]
            std::process::exit(130);
        }
        flag.request();
        let _ =
            std::io::stderr().write_all(b"\nstopping after this step; press Ctrl-C again to stop at once\n");
    });
    interrupt
}
