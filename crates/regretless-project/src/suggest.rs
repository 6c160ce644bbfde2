//! "Did you mean": the nearest known key, and the mathematical names people type first.

/// What the mathematics of the docs calls a part, and the key that says it.
const ALIASES: [(&str, &str); 33] = [
    ("theta", "linear"),
    ("cost", "linear"),
    ("q", "quadratic"),
    ("c", "rows"),
    ("a", "rows"),
    ("b", "rows"),
    ("matrix", "rows"),
    ("d", "limit"),
    ("rhs", "limit"),
    ("rhs", "at_most"),
    ("alpha", "over"),
    ("weight", "over"),
    ("price", "over"),
    ("penalty", "over"),
    ("le", "at_most"),
    ("max", "at_most"),
    ("eq", "equals"),
    ("equal", "equals"),
    ("l", "lower"),
    ("u", "upper"),
    ("maximize", "sense"),
    ("path", "file"),
    ("column", "predict"),
    ("columns", "predict"),
    ("beta", "multipliers"),
    ("lr", "learning_rate"),
    ("optimiser", "optimizer"),
    ("iterations", "epochs"),
    ("batch_size", "batch"),
    ("loss", "method"),
    ("hidden", "layers"),
    ("model", "kind"),
    ("inputs", "features"),
];

/// The known key that `key` most likely stands for.
pub(crate) fn nearest<'a>(key: &str, known: &'a [String]) -> Option<&'a str> {
    // A long key is no misspelling, and the distance costs the product of the lengths.
    if key.len() > 64 {
        return None;
    }
    let key = key.to_lowercase().replace('-', "_");
    let is_known = |name: &&str| known.iter().any(|k| k == name);
    let alias = ALIASES.iter().filter(|(from, _)| *from == key).map(|(_, to)| *to).find(is_known);
    if let Some(alias) = alias {
        return known.iter().find(|k| *k == alias).map(String::as_str);
    }
    let distance = |name: &str| strsim::osa_distance(&key, name);
    let best = known.iter().min_by_key(|k| distance(k))?;
    (distance(best) <= 1 + best.len() / 4).then_some(best)
}

/// True for the names that people give to the other side of `at_most`.
pub(crate) fn is_at_least(key: &str) -> bool {
    let key = key.to_lowercase().replace('-', "_");
    matches!(key.as_str(), "at_least" | "atleast" | "ge" | "geq" | "min" | "minimum")
}

/// Columns that are compared: a wide table is not worth more.
const COMPARED: usize = 10_000;

/// The columns of a table that come nearest to a name or pattern, nearest first, at most `most` of them. Those that are
/// equally near keep the order of the table.
pub(crate) fn similar<'a>(selector: &str, header: &'a [String], most: usize) -> Vec<&'a str> {
    let pattern = selector.contains(['*', '?']);
    let comparable = |name: &str| if pattern { stem(name).to_lowercase() } else { name.to_lowercase() };
    let wanted = comparable(selector);
    let names = header.iter().take(COMPARED).enumerate();
    let mut ranked: Vec<(f64, usize)> =
        names.map(|(i, name)| (likeness(&wanted, &comparable(name)), i)).collect();
    // What has little in common is in no order at all.
    ranked.iter_mut().for_each(|(likeness, _)| *likeness = if *likeness < ALIKE { 0.0 } else { *likeness });
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    ranked.into_iter().take(most).map(|(_, i)| header[i].as_str()).collect()
}

/// A pattern such as `cost_*` that columns of the table fit and that the pattern `selector` most likely stands for.
pub(crate) fn pattern(selector: &str, header: &[String]) -> Option<String> {
    // Only patterns of the form `stem*`: others have no one stem to compare.
    let before = selector.strip_suffix('*').filter(|before| !before.contains(['*', '?']))?;
    let wanted = before.trim_end_matches(SEPARATORS).to_lowercase();
    let mut best: Option<(f64, &str)> = None;
    for name in header.iter().take(COMPARED) {
        for (at, _) in name.match_indices(SEPARATORS).take_while(|(at, _)| *at <= LONGEST) {
            let likeness = likeness(&wanted, &name[..at].to_lowercase());
            if likeness >= ALIKE && best.is_none_or(|(so_far, _)| likeness > so_far) {
                // A separator is one byte.
                best = Some((likeness, &name[..=at]));
            }
        }
    }
    best.map(|(_, stem)| format!("{stem}*"))
}

/// What stands between a stem and the rest of a name.
const SEPARATORS: [char; 5] = ['_', '-', '.', ':', ' '];

/// How alike two names must be for one to stand for the other.
const ALIKE: f64 = 0.6;

/// Longer names are like nothing: comparing costs the product of the lengths.
const LONGEST: usize = 64;

/// A name without its last part: `price_wheat` and `price_*` have the stem `price`.
fn stem(name: &str) -> &str {
    let end = name.rfind(SEPARATORS).filter(|at| *at > 0).unwrap_or(name.len());
    name[..end].trim_end_matches(['*', '?'])
}

/// 1 for equal names, 0 for names that have nothing in common; a name that begins with the other is near it.
fn likeness(a: &str, b: &str) -> f64 {
    if a.is_empty() || b.is_empty() || a.len().max(b.len()) > LONGEST {
        return 0.0;
    }
    let longer = a.chars().count().max(b.chars().count());
    let edits = 1.0 - strsim::osa_distance(a, b) as f64 / longer as f64;
    if a.starts_with(b) || b.starts_with(a) { edits.max(0.8) } else { edits }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misspellings_and_maths_names() {
        let known = ["name", "rows", "limit", "over", "under"].map(str::to_owned);
        assert_eq!(nearest("limits", &known), Some("limit"));
        assert_eq!(nearest("alpha", &known), Some("over"));
        assert_eq!(nearest("C", &known), Some("rows"));
        assert_eq!(nearest("nmae", &known), Some("name"));
        assert_eq!(nearest("temperature", &known), None);
        assert_eq!(nearest(&"x".repeat(1 << 20), &known), None);
        assert_eq!(nearest("x", &[]), None);
    }

    #[test]
    fn patterns_and_the_stems_of_columns() {
        let header = ["day", "temp_a", "temp_b", "cost_a", "cost_b", "unit.price.a"].map(str::to_owned);
        assert_eq!(pattern("costs_*", &header).as_deref(), Some("cost_*"));
        assert_eq!(pattern("Cost*", &header).as_deref(), Some("cost_*"));
        assert_eq!(pattern("unit_prices_*", &header).as_deref(), Some("unit.price.*"));
        assert_eq!(pattern("revenue_*", &header), None);
        assert_eq!(pattern("*", &header), None);
        assert_eq!(pattern(&format!("{}*", "x".repeat(1 << 20)), &header), None);
        assert_eq!(similar("costs_*", &header, 3), ["cost_a", "cost_b", "day"]);
        assert_eq!(similar("tmep_b", &header, 2), ["temp_b", "temp_a"]);
        assert_eq!(similar("revenue", &header, 2), ["day", "temp_a"]);
    }

    #[test]
    fn the_other_side_of_at_most() {
        assert!(is_at_least("at_least") && is_at_least("At-Least") && !is_at_least("at_most"));
    }
}
