//! Lines of an MPS file, cut into fields.

use super::Bad;

/// How the fields of a line are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// By blanks.
    Free,
    /// By column: names may hold blanks.
    Fixed,
}

/// Where fields stand in fixed form, as bytes of the line.
const COLUMNS: [std::ops::Range<usize>; 6] = [1..3, 4..12, 14..22, 24..36, 39..47, 49..61];

/// A line that says something.
#[derive(Debug)]
pub(super) enum Card<'a> {
    /// A section begins: its word and what stands behind it.
    Section(&'a str, Vec<&'a str>),
    /// The fields of a line within a section; blank ones are left out.
    Data(Vec<&'a str>),
}

/// The lines that are neither blank nor comments, with their numbers.
pub(super) fn cards(text: &str, form: Form) -> impl Iterator<Item = Result<(u64, Card<'_>), Bad>> {
    text.lines().enumerate().filter_map(move |(i, line)| {
        let (number, line) = (i as u64 + 1, line.trim_end());
        if line.is_empty() || line.starts_with('*') {
            return None;
        }
        if !line.starts_with([' ', '\t']) {
            let mut words = line.trim_start_matches('\u{feff}').split_whitespace();
            return words.next().map(|word| Ok((number, Card::Section(word, words.collect()))));
        }
        match fields(line, form) {
            Some(fields) if fields.is_empty() => None,
            Some(fields) => Some(Ok((number, Card::Data(fields)))),
            None => Some(Err(Bad::new(number, "the fields of this line do not stand in their columns"))),
        }
    })
}

/// The fields up to a comment, which begins with `$`; `None` for a line that is not in fixed form.
fn fields(line: &str, form: Form) -> Option<Vec<&str>> {
    let fields: Vec<&str> = match form {
        Form::Free => line.split_whitespace().collect(),
        Form::Fixed => COLUMNS
            .iter()
            .map(|at| line.get(at.start.min(line.len())..at.end.min(line.len())))
            .collect::<Option<Vec<_>>>()?,
    };
    let said = fields.iter().skip(1).position(|f| f.starts_with('$')).map_or(fields.len(), |i| i + 1);
    Some(fields[..said].iter().map(|f| f.trim()).filter(|f| !f.is_empty()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_in_names_need_columns() {
        //          123456789012345678901234567890123456789012345678901234567890
        let line = "    MY COL    ROW 1        -1.5         ROW 2        2.0";
        assert_eq!(fields(line, Form::Fixed).unwrap(), ["MY COL", "ROW 1", "-1.5", "ROW 2", "2.0"]);
        assert_eq!(fields(line, Form::Free).unwrap().len(), 8);
    }

    #[test]
    fn comments_blank_lines_and_sections() {
        let text = "\u{feff}NAME          farm\n* said\n\nROWS\n N  COST  $ the objective\n   \nENDATA\n";
        let seen: Vec<_> = cards(text, Form::Free).map(|c| c.unwrap()).collect();
        assert!(matches!(&seen[0], (1, Card::Section("NAME", rest)) if rest == &["farm"]));
        assert!(matches!(&seen[2], (5, Card::Data(fields)) if fields == &["N", "COST"]));
        assert_eq!(seen.len(), 4);
    }

    #[test]
    fn columns_of_a_line_with_wide_letters_are_no_panic() {
        assert!(fields("    ÄÖÜßÄÖÜß  ROW", Form::Fixed).is_none_or(|f| f.len() <= 6));
    }
}
