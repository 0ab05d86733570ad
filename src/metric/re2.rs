//! Regular expressions as Go reads them, RE2, in the syntax of Rust's.

/// A pattern of RE2 as one of Rust's. `ascii`: `\d`, `\s`, `\w` and `\b` know English letters only, as in Go.
pub(super) fn translated(pattern: &str, ascii: bool) -> String {
    let mut spelled = String::with_capacity(pattern.len());
    let mut rest = pattern;
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        match c {
            '\\' => rest = escape(rest, ascii, false, &mut spelled),
            '[' => rest = set(rest, ascii, &mut spelled),
            _ => spelled.push(c),
        }
    }
    spelled
}

/// Writes what follows a backslash; returns what is behind it.
fn escape<'a>(rest: &'a str, ascii: bool, is_within: bool, spelled: &mut String) -> &'a str {
    let Some(c) = rest.chars().next() else {
        spelled.push('\\');
        return rest;
    };
    let behind = &rest[c.len_utf8()..];
    match c {
        // All signs up to the end of the quote stand for themselves.
        'Q' if !is_within => {
            let (literal, behind) = behind.split_once("\\E").unwrap_or((behind, ""));
            spelled.push_str(&regex::escape(literal));
            return behind;
        }
        'E' if !is_within => {}
        // Words begin and end in Rust's.
        '<' | '>' => spelled.push(c),
        '0'..='7' if c == '0' || behind.starts_with(|next: char| next.is_digit(8)) => {
            let length = 1 + behind.chars().take(2).take_while(|next| next.is_digit(8)).count();
            let number = u32::from_str_radix(&rest[..length], 8).unwrap_or_default();
            spelled.push_str(&format!("\\x{{{number:x}}}"));
            return &rest[length..];
        }
        _ if ascii => spelled.push_str(&class(c, is_within)),
        _ => spelled.extend(['\\', c]),
    }
    behind
}

/// Writes a set from behind its bracket; returns what is behind it. A set has no set within it, and no signs but `-` and `^`.
fn set<'a>(rest: &'a str, ascii: bool, spelled: &mut String) -> &'a str {
    spelled.push('[');
    let mut rest = rest;
    if let Some(behind) = rest.strip_prefix('^') {
        spelled.push('^');
        rest = behind;
    }
    let mut is_first = true;
    while let Some(c) = rest.chars().next() {
        let behind = &rest[c.len_utf8()..];
        match c {
            ']' if !is_first => {
                spelled.push(c);
                return behind;
            }
            '[' if behind.starts_with(':') && behind.contains(":]") => {
                let end = behind.find(":]").map_or(behind.len(), |at| at + 2);
                spelled.push('[');
                spelled.push_str(&behind[..end]);
                rest = &behind[end..];
                is_first = false;
                continue;
            }
            '[' | ']' | '&' | '~' => spelled.extend(['\\', c]),
            '-' if behind.starts_with('-') && is_first => spelled.push_str(r"\-"),
            // A range up to the hyphen.
            '-' if behind.starts_with('-') => {
                spelled.push_str(r"-\-");
                rest = &behind[1..];
                continue;
            }
            '\\' => {
                rest = escape(behind, ascii, true, spelled);
                is_first = false;
                continue;
            }
            _ => spelled.push(c),
        }
        rest = behind;
        is_first = false;
    }
    rest
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
            assert_eq!(Regex::new(&translated(pattern, true)).unwrap().is_match(text), is_match, "{pattern} {text}");
        }
    }

    #[test]
    fn signs_that_only_rust_knows_stand_for_themselves() {
        for (pattern, text, is_match) in [
            (r"\<think\>", "I think so", false),
            (r"a\<b", "a<b", true),
            (r"[[(]\d+[)\]]", "[1]", true),
            (r"[][x]+", "[x]", true),
            (r"[^]x]", "]", false),
            ("^[a-z&&]+$", "a&&b", true),
            ("^[~~]+$", "~~", true),
            ("^[+--]+$", "-,+", true),
            (r"^\011$", "\t", true),
            (r"^[\012x]$", "\n", true),
            (r"\Q\d\E", r"\d", true),
            (r"\Q[\E\d", "[1", true),
            (r"\Qa.b", "a.b", true),
            (r"^[[:alpha:]-]+$", "a-b", true),
            (r"\x41\x{42}", "AB", true),
        ] {
            for ascii in [false, true] {
                let spelled = translated(pattern, ascii);
                let regex = Regex::new(&spelled).unwrap_or_else(|error| panic!("{pattern} {spelled}: {error}"));
                assert_eq!(regex.is_match(text), is_match, "{pattern} {text}: {spelled}");
            }
        }
    }

    proptest! {
        #[test]
        fn english_text_matches_as_before(pattern in r"([a-c]|\\[dwsDWSb]|\[[a-c\\w]*x\]|[.*+?()|^$]){0,6}", text in "[a-c1 _-]{0,6}") {
            let (before, after) = (Regex::new(&pattern), Regex::new(&translated(&pattern, true)));
            prop_assert_eq!(before.is_ok(), after.is_ok());
            if let (Ok(before), Ok(after)) = (before, after) {
                prop_assert_eq!(before.is_match(&text), after.is_match(&text));
            }
        }
    }
}
