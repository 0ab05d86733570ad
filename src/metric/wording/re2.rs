//! Regular expressions as Go reads them: `\d`, `\s`, `\w` and `\b` know ASCII only.

/// The pattern with those classes spelled out.
pub(super) fn with_ascii_classes(pattern: &str) -> String {
    let mut spelled = String::with_capacity(pattern.len());
    let mut depth = 0_usize;
    let mut rest = pattern.chars();
    while let Some(c) = rest.next() {
        match c {
            '\\' => match rest.next() {
                Some(escaped) => spelled.push_str(&class(escaped, depth > 0)),
                None => spelled.push('\\'),
            },
            '[' => {
                depth += 1;
                spelled.push(c);
            }
            ']' => {
                depth = depth.saturating_sub(1);
                spelled.push(c);
            }
            _ => spelled.push(c),
        }
    }
    spelled
}

fn class(escaped: char, is_within: bool) -> String {
    let members = match escaped.to_ascii_lowercase() {
        'd' => "0-9",
        's' => r"\t\n\f\r ",
        'w' => "0-9A-Za-z_",
        'b' if !is_within => return format!(r"(?-u:\{escaped})"),
        _ => return format!(r"\{escaped}"),
    };
    match (escaped.is_ascii_uppercase(), is_within) {
        (true, _) => format!("[^{members}]"),
        (false, true) => members.to_owned(),
        (false, false) => format!("[{members}]"),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use regex::Regex;

    use super::*;

    #[test]
    fn classes_know_english_only() {
        for (pattern, text, is_match) in [
            (r"\w+ \w+", "你好 123", false),
            (r"\w+ \w+", "ab 123", true),
            (r"^[\w-]+$", "a-b_c", true),
            (r"^[\w-]+$", "é", false),
            (r"^\W$", "é", true),
            (r"^[^\d]$", "٣", true),
            (r"^\D$", "٣", true),
            (r"^\S+$", "a\u{a0}b", true),
            (r"\bworld\b", "hello world", true),
            (r"\\w", "\\w", true),
            (r"[[:alpha:]\d]{3}", "a1b", true),
            ("h.llo", "hällo", true),
        ] {
            assert_eq!(Regex::new(&with_ascii_classes(pattern)).unwrap().is_match(text), is_match, "{pattern} {text}");
        }
    }

    proptest! {
        #[test]
        fn english_text_matches_as_before(pattern in r"([a-c]|\\[dwsDWSb]|\[[a-c\\w]*x\]|[.*+?()|^$]){0,6}", text in "[a-c1 _-]{0,6}") {
            let (before, after) = (Regex::new(&pattern), Regex::new(&with_ascii_classes(&pattern)));
            prop_assert_eq!(before.is_ok(), after.is_ok());
            if let (Ok(before), Ok(after)) = (before, after) {
                prop_assert_eq!(before.is_match(&text), after.is_match(&text));
            }
        }
    }
}
