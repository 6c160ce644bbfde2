//! Whether what a solve has to keep fits into the memory that is free, before it is taken.

use regretless_core::{Problem, ProblemError};

/// What no machine lacks: smaller problems are not looked at.
const ALWAYS: f64 = 1e8;

/// Refuses a problem whose factors are larger than the memory that is free. Where nobody says what is, nothing is refused.
pub fn fits(problem: &Problem) -> Result<(), ProblemError> {
    let need = problem.factor_cost().bytes;
    match if need > ALWAYS { free() } else { None } {
        Some(free) => within(need, free),
        None => Ok(()),
    }
}

fn within(need: f64, free: u64) -> Result<(), ProblemError> {
    if need <= free as f64 {
        return Ok(());
    }
    let what = "a solve of the problem, by the count of its factor,".to_owned();
    let hint = "rows or columns with very many entries tie everything together; state a sum of many as a variable of its own";
    Err(ProblemError::TooLarge { what, need: need as u64, free, hint })
}

/// What the system could give, where it says so.
fn free() -> Option<u64> {
    available(&std::fs::read_to_string("/proc/meminfo").ok()?)
}

fn available(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(1024 * kilobytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_system_says() {
        assert_eq!(available("MemTotal:  100 kB\nMemAvailable:    42 kB\n"), Some(43_008));
        assert_eq!(available("MemTotal:  100 kB\n"), None);
        assert_eq!(available("MemAvailable: many\n"), None);
    }

    #[test]
    fn a_factor_that_does_not_fit_is_refused_with_both_sizes() {
        assert!(within(1e9, 2_000_000_000).is_ok());
        let said = within(3e9, 2_000_000_000).expect_err("it does not fit").to_string();
        assert!(said.contains("takes 3.00 GB, and 2.00 GB of memory are free"), "{said}");
        assert!(fits(&Problem::maximize(2).linear([1.0, 1.0]).build().expect("a problem")).is_ok());
    }

    /// Dense rows of a million variables would take more than any machine has.
    #[test]
    fn the_need_is_counted_before_anything_is_reserved() {
        let n = 1_000_000;
        let problem = Problem::maximize(n).linear(vec![1.0; n]).build().expect("a problem");
        let dense = problem.in_form(regretless_core::problem::Form::Dense);
        assert!(dense.factor_cost().bytes > 1e12 / 2.0);
    }
}
