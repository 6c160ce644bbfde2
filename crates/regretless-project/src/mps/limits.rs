//! Right-hand sides, ranges and bounds.

use super::Bad;
use super::sections::{Parsed, Reader, Target, WHOLE, not_a_number, number};
use crate::error::shorten;

/// From here on a limit is none: what every solver takes for infinite.
pub(super) const INFINITE: f64 = 1e20;

impl<'a> Reader<'a> {
    pub(super) fn rhs(&mut self, target: Target, value: f64) -> Parsed<()> {
        match target {
            Target::Free => {}
            Target::Objective => self.model.constant = -value,
            Target::Row(i) => {
                if std::mem::replace(&mut self.limited[i], true) {
                    return Err(self.bad("this right-hand side is stated twice"));
                }
                let row = &mut self.model.rows[i];
                for side in [&mut row.lower, &mut row.upper] {
                    *side = if side.is_finite() { value } else { *side };
                }
            }
        }
        Ok(())
    }

    /// R turns E into [b, b + R] or [b + R, b] by its sign, L into [b − |R|, b], G into [b, b + |R|].
    pub(super) fn range(&mut self, target: Target, value: f64) -> Parsed<()> {
        let Target::Row(i) = target else {
            return Err(self.bad("a row without a limit has no range"));
        };
        if std::mem::replace(&mut self.ranged[i], true) {
            return Err(self.bad("this range is stated twice"));
        }
        let row = &mut self.model.rows[i];
        match (self.kinds[i], value < 0.0) {
            (b'L', _) | (b'E', true) => row.lower = row.upper - value.abs(),
            _ => row.upper = row.lower + value.abs(),
        }
        Ok(())
    }

    pub(super) fn bound(&mut self, fields: &[&'a str]) -> Parsed<()> {
        let kind = fields[0].to_ascii_uppercase();
        let valued = match kind.as_str() {
            "UP" | "LO" | "FX" => true,
            "FR" | "MI" | "PL" => false,
            "BV" | "LI" | "UI" | "SC" | "SI" => {
                let what =
                    format!("a bound of kind {kind} makes the variable a whole number or semicontinuous");
                return Err(self.bad(what).hint(WHOLE).for_good());
            }
            _ => return Err(self.bad(format!("`{}` is no kind of bound", shorten(fields[0])))),
        };
        // The set's name may be left out, and kinds without a value may carry one.
        let rest = &fields[1..];
        let (set, column, value) = match (valued, rest) {
            (true, [set, column, value]) => (*set, *column, Some(*value)),
            (true, [column, value]) => ("", *column, Some(*value)),
            (false, [column]) => ("", *column, None),
            (false, [set, column] | [set, column, _]) => (*set, *column, None),
            _ => return Err(self.bad("a bound has a kind, a set, a variable and a value")),
        };
        self.one_set("BOUNDS", set)?;
        let j = self.variable(column)?;
        let n = self.model.columns.len();
        let model = &mut self.model;
        model.lower.resize(n, 0.0);
        model.upper.resize(n, f64::INFINITY);
        self.bounded.resize(n, [false; 2]);
        let value =
            value.map(|v| number(v).ok_or_else(|| Bad::new(self.line, not_a_number(v)))).transpose()?;
        let value = value.map_or(0.0, |v| if v.abs() >= INFINITE { v.signum() * f64::INFINITY } else { v });
        let sides = match kind.as_str() {
            "LO" | "MI" => [true, false],
            "UP" | "PL" => [false, true],
            _ => [true, true],
        };
        if self.bounded[j].iter().zip(sides).any(|(there, now)| *there && now) {
            return Err(self.bad("this bound is stated twice"));
        }
        match kind.as_str() {
            "UP" => {
                model.upper[j] = value;
                // As CPLEX has it: an upper bound below 0 alone frees the variable downwards.
                if value < 0.0 && !self.bounded[j][0] {
                    model.lower[j] = f64::NEG_INFINITY;
                }
            }
            "LO" => model.lower[j] = value,
            "FX" => (model.lower[j], model.upper[j]) = (value, value),
            "FR" => (model.lower[j], model.upper[j]) = (f64::NEG_INFINITY, f64::INFINITY),
            "MI" => model.lower[j] = f64::NEG_INFINITY,
            _ => model.upper[j] = f64::INFINITY,
        }
        for (there, now) in self.bounded[j].iter_mut().zip(sides) {
            *there |= now;
        }
        Ok(())
    }

    /// Limits of rows that are none, and rows without any: these say nothing.
    pub(super) fn drop_infinite(&mut self) -> Parsed<()> {
        for row in &mut self.model.rows {
            if row.lower >= INFINITE || row.upper <= -INFINITE {
                let what = format!(
                    "the limit of the row `{}` is infinite on the side that leaves it no value",
                    shorten(&row.name)
                );
                return Err(Bad::new(0, what));
            }
            row.lower = if row.lower <= -INFINITE { f64::NEG_INFINITY } else { row.lower };
            row.upper = if row.upper >= INFINITE { f64::INFINITY } else { row.upper };
        }
        self.model.rows.retain(|row| row.lower.is_finite() || row.upper.is_finite());
        Ok(())
    }
}
