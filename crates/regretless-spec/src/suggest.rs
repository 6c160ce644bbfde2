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
}
