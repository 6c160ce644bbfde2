//! Text of the user made safe for HTML, SVG and an embedded script.

/// Escapes text for element content and quoted attributes; characters XML cannot carry become U+FFFD.
pub(crate) fn html(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\t' | '\n' | '\r' => out.push(' '),
            '\0'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

/// Escapes JSON for a `<script>` element: inside strings only, so it stays the same JSON.
pub(crate) fn script_json(json: &str) -> String {
    let mut out = String::with_capacity(json.len() + 8);
    for c in json.chars() {
        match c {
            '<' => out.push_str("\\u003c"),
            '>' => out.push_str("\\u003e"),
            '&' => out.push_str("\\u0026"),
            '\u{2028}' => out.push_str("\\u2028"),
            '\u{2029}' => out.push_str("\\u2029"),
            c => out.push(c),
        }
    }
    out
}

/// Text for the page: escaped, and no line ends between a number and its per cent sign.
pub(crate) fn prose(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    for piece in html(text).split_inclusive(" %") {
        match piece.strip_suffix(" %") {
            Some(number) if number.ends_with(|c: char| c.is_ascii_digit()) => {
                out.push_str(number);
                out.push_str("\u{a0}%");
            }
            _ => out.push_str(piece),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_is_text() {
        assert_eq!(html("<b a=\"1\">&'</b>"), "&lt;b a=&quot;1&quot;&gt;&amp;&#39;&lt;/b&gt;");
        assert_eq!(html("a\u{0}b"), "a\u{fffd}b");
    }

    #[test]
    fn a_script_cannot_be_closed_from_inside() {
        let json = serde_json::to_string("</script><!-- \u{2028}").expect("a string");
        let safe = script_json(&json);
        assert!(!safe.contains('<') && !safe.contains('\u{2028}'));
        assert_eq!(serde_json::from_str::<String>(&safe).expect("still JSON"), "</script><!-- \u{2028}");
    }

    #[test]
    fn a_number_keeps_its_per_cent_sign() {
        assert_eq!(prose("(−29.7 %, 5 % < 6 %)"), "(−29.7\u{a0}%, 5\u{a0}% &lt; 6\u{a0}%)");
        assert_eq!(prose("many % of 3"), "many % of 3");
    }
}
