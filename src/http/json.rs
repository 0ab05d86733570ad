//! Reads JSON that other programs write: also input that RFC 8259 allows and serde_json refuses (half a surrogate pair, a
//! number out of range), and Python's `NaN` and `Infinity`.
//!
//! Invariant: valid input is read as it is; only input that fails is repaired and read again.

use serde::de::{DeserializeOwned, Error};
use serde_json::Value;

use super::JSON_DEPTH;

/// Reads JSON. Where that fails, half a surrogate pair becomes U+FFFD, and a number out of range becomes its own text, or
/// null where a number is needed. What is nested deeper than [`JSON_DEPTH`] is not read.
///
/// # Errors
/// The parser's error about the original text.
pub(crate) fn read_json<T: DeserializeOwned>(text: &str) -> Result<T, serde_json::Error> {
    if is_deeper_than(text, JSON_DEPTH) {
        return Err(serde_json::Error::custom(TOO_DEEP));
    }
    serde_json::from_str(text).or_else(|error| {
        let again = |numbers| repaired(text, numbers).and_then(|text| serde_json::from_str(&text).ok());
        again(NumberSubstitute::AsText).or_else(|| again(NumberSubstitute::AsNull)).ok_or(error)
    })
}

/// Whether JSON could not be read for its depth alone.
pub(crate) fn is_too_deep(error: &serde_json::Error) -> bool {
    error.to_string() == TOO_DEEP
}

/// The message of the error about JSON that is nested too deep.
const TOO_DEEP: &str = "nested too deep";

/// Whether more lists and mappings than this stand in each other, in text that may be no JSON.
fn is_deeper_than(text: &str, limit: usize) -> bool {
    // Of nearly every text: too few begin at all.
    if memchr::memchr2_iter(b'[', b'{', text.as_bytes()).nth(limit).is_none() {
        return false;
    }
    let (mut depth, mut in_string, mut is_escaped) = (0_usize, false, false);
    for byte in text.bytes() {
        match byte {
            _ if std::mem::take(&mut is_escaped) => {}
            b'\\' if in_string => is_escaped = true,
            b'"' => in_string = !in_string,
            b'[' | b'{' if !in_string => {
                depth += 1;
                if depth > limit {
                    return true;
                }
            }
            b']' | b'}' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    false
}

/// The text of a chat message's content: a string, or the text parts of a list.
pub(crate) fn chat_text(content: &Value) -> String {
    let part = |part: &Value| part.get("text").and_then(Value::as_str).unwrap_or_default().to_owned();
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().map(part).collect(),
        _ => String::new(),
    }
}

/// The substitute for a number out of range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NumberSubstitute {
    AsText,
    AsNull,
}

/// The text with substitutes for the parts that can't be read; `None` where there are none.
fn repaired(text: &str, numbers: NumberSubstitute) -> Option<String> {
    let bytes = text.as_bytes();
    let (mut out, mut at, mut copied, mut in_string) = (String::new(), 0, 0, false);
    let mut replace = |from: usize, to: usize, with: &str| {
        out.push_str(&text[copied..from]);
        out.push_str(with);
        copied = to;
    };
    while at < bytes.len() {
        let rest = &text[at..];
        match bytes[at] {
            b'"' => in_string = !in_string,
            b'\\' if in_string => {
                let (length, is_half) = escape(rest);
                if is_half {
                    replace(at, at + length, "\\ufffd");
                }
                at += length;
                continue;
            }
            _ if in_string => {}
            b'-' | b'0'..=b'9' | b'N' | b'I' => {
                let is_of_it = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
                let length = bytes[at..].iter().take_while(|byte| is_of_it(byte)).count();
                let token = &rest[..length];
                match numbers {
                    _ if !is_beyond_bounds(token) => {}
                    NumberSubstitute::AsText => replace(at, at + length, &format!("\"{token}\"")),
                    NumberSubstitute::AsNull => replace(at, at + length, "null"),
                }
                at += length;
                continue;
            }
            _ => {}
        }
        // A byte of a longer character is none of those above.
        at += rest.chars().next().map_or(1, char::len_utf8);
    }
    let is_changed = copied > 0;
    out.push_str(&text[copied..]);
    is_changed.then_some(out)
}

/// The length of an escape, and whether it is half a surrogate pair. A whole pair is one escape.
fn escape(text: &str) -> (usize, bool) {
    let unit = |at: usize| {
        let digits = text.get(at..at + 6)?.strip_prefix("\\u")?;
        u16::from_str_radix(digits, 16).ok().filter(|_| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))
    };
    match unit(0) {
        Some(0xD800..=0xDBFF) if matches!(unit(6), Some(0xDC00..=0xDFFF)) => (12, false),
        Some(0xD800..=0xDFFF) => (6, true),
        Some(_) => (6, false),
        None => (1 + text[1..].chars().next().map_or(0, char::len_utf8), false),
    }
}

fn is_beyond_bounds(token: &str) -> bool {
    let is_number = || token.bytes().any(|byte| byte.is_ascii_digit()) && !token.bytes().any(|byte| byte == b'N');
    matches!(token, "NaN" | "Infinity" | "-Infinity")
        || (is_number() && token.parse::<f64>().is_ok_and(f64::is_infinite))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde::Deserialize;
    use serde_json::{Value, json};

    use super::*;

    fn read(text: &str) -> Value {
        read_json(text).unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    #[test]
    fn what_no_one_can_hold_is_mended_and_all_else_stays() {
        let huge = format!("1{}", "0".repeat(400));
        for (text, value) in [
            (r#"{"a":"\ud800","b":"x\\ud800"}"#.to_owned(), json!({"a": "\u{fffd}", "b": "x\\ud800"})),
            (
                r#"["\ud83d\ude00","\ude00\ud83d","\uD83Dx","\ud83d\ud83d\ude00"]"#.to_owned(),
                json!(["😀", "\u{fffd}\u{fffd}", "\u{fffd}x", "\u{fffd}😀"]),
            ),
            (r#"["ä\ud800","\"\ud800\""]"#.to_owned(), json!(["ä\u{fffd}", "\"\u{fffd}\""])),
            (
                r#"{"n":1e999,"m":-1E+400,"k":"1e999","l":[1.5,2]}"#.to_owned(),
                json!({"n": "1e999", "m": "-1E+400", "k": "1e999", "l": [1.5, 2]}),
            ),
            (format!("[{huge}]"), json!([huge])),
            ("[NaN, -Infinity, \"NaN\"]".to_owned(), json!(["NaN", "-Infinity", "NaN"])),
        ] {
            assert_eq!(read(&text), value, "{text}");
        }
        for text in ["", "{", "nope", r#"{"a":1e999"#, r#"["\ud800]"#, r#"["\ud800", nope]"#, r#"["\ud8"]"#, "1e", "-"]
        {
            let strict = serde_json::from_str::<Value>(text).unwrap_err().to_string();
            assert_eq!(read_json::<Value>(text).unwrap_err().to_string(), strict, "{text}");
        }
    }

    #[test]
    fn brackets_count_where_they_are_no_text_and_only_while_they_are_open() {
        let nested = |depth: usize| format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
        assert!(read_json::<Value>(&nested(JSON_DEPTH)).is_ok());
        assert!(is_too_deep(&read_json::<Value>(&nested(JSON_DEPTH + 1)).unwrap_err()));
        let side_by_side = json!(vec![json!({"a": []}); 300]).to_string();
        let in_text = json!(["[".repeat(300), "\"[[", "\\"]).to_string();
        for text in [side_by_side, in_text] {
            assert_eq!(read_json::<Value>(&text).unwrap().to_string(), text);
        }
        assert!(!is_too_deep(&read_json::<Value>("nope").unwrap_err()));
    }

    #[test]
    fn where_a_number_is_needed_there_is_none() {
        #[derive(Deserialize)]
        struct TokenCounts {
            input: Option<u64>,
            output: u64,
        }
        let read: TokenCounts = read_json(r#"{"input": 1e999, "output": 2}"#).unwrap();
        assert_eq!((read.input, read.output), (None, 2));
    }

    proptest! {
        #[test]
        fn any_text_is_survived_and_json_is_read_as_ever(text in r#"([\[\]{}",:0-9eN.+-]|\\|\\u[dD][89cC]00|ä|nul|\PC){0,30}"#) {
            let strict = serde_json::from_str::<Value>(&text);
            let read = read_json::<Value>(&text);
            if let Ok(strict) = strict {
                prop_assert_eq!(read.unwrap(), strict);
            }
        }
    }
}
