//! Cuts the JSON object out of what a model says around it. Independent of any provider.

use serde_json::{Map, Value};

/// The first complete JSON object in a text, as it stands there: without the prose and the code fences around it, and
/// without what a reasoning model thinks aloud first. `None` when there is none; an object that is broken or cut off
/// is not replaced by one inside of it.
pub fn repair(text: &str) -> Option<String> {
    let mut rest = after_thoughts(text);
    loop {
        rest = &rest[rest.find('{')?..];
        let mut objects = serde_json::Deserializer::from_str(rest).into_iter::<Map<String, Value>>();
        let error = match objects.next()? {
            Ok(_) => return rest.get(..objects.byte_offset()).map(str::to_owned),
            Err(error) => error,
        };
        if error.is_eof() {
            return None;
        }
        // What was understood before the error belongs to a broken object; whatever comes after can be the right one.
        let failed_at = offset(rest, error.line(), error.column());
        rest = rest.get(failed_at.max(1)..).or_else(|| rest.get(1..))?;
    }
}

/// Skips a leading `<think>…</think>`, in which a reasoning model may try out objects.
fn after_thoughts(text: &str) -> &str {
    let text = text.trim_start();
    let thoughts = text.strip_prefix("<think>").and_then(|thoughts| thoughts.split_once("</think>"));
    thoughts.map_or(text, |(_, said)| said)
}

/// The byte of the character at which the parser stopped, from its line (counted from 1) and column (in bytes); a few
/// bytes early rather than late.
fn offset(text: &str, line: usize, column: usize) -> usize {
    let before: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    let mut at = (before + column.saturating_sub(1)).min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_object_is_cut_out_of_what_is_around_it() {
        for (text, cut) in [
            (r#"{"a":1}"#, r#"{"a":1}"#),
            ("  {\"a\" : 1}\n", r#"{"a" : 1}"#),
            ("Sure! Here it is:\n```json\n{\"a\": {\"b\": [1]}}\n```\nAnything else?", r#"{"a": {"b": [1]}}"#),
            ("```\n{\"a\":\"}\"}```", r#"{"a":"}"}"#),
            (r#"With {name} filled in: {"a":1} and {"b":2}"#, r#"{"a":1}"#),
            (r#"{{"a":1}}"#, r#"{"a":1}"#),
            (r#"[{"a":1}]"#, r#"{"a":1}"#),
            ("ä{ö}\n\nü {\"ß\":\"é\"}", "{\"ß\":\"é\"}"),
            (r#"<think>maybe {"a":0}?</think>{"a":1}"#, r#"{"a":1}"#),
            (r#"<think>never ended {"a":1}"#, r#"{"a":1}"#),
        ] {
            assert_eq!(repair(text).as_deref(), Some(cut), "{text}");
        }
    }

    #[test]
    fn an_object_inside_a_broken_one_is_not_taken_for_it() {
        for text in [
            "",
            "I would say 0.8.",
            "[1, 2]",
            r#"{"tasks": [{"score": 1}, {"score": "#,
            r#"{"tasks": [{"score": 1},]}"#,
            r#"{'tasks': []}"#,
            "{",
            "}{",
        ] {
            assert_eq!(repair(text), None, "{text}");
        }
    }

    #[test]
    fn a_very_long_or_deep_text_is_survived_quickly() {
        assert_eq!(repair(&"{".repeat(1_000_000)), None);
        assert_eq!(repair(&r#"{"a":"#.repeat(200_000)), None);
        assert_eq!(repair(&format!("{}{{\"a\":1}}", "{\n".repeat(1_000))), Some(r#"{"a":1}"#.to_owned()));
    }

    proptest! {
        #[test]
        fn any_text_is_survived_and_what_is_cut_is_an_object_of_the_text(text in r#"([{}\[\]",:\n\\ aä1]|true|"k":){0,60}"#) {
            if let Some(cut) = repair(&text) {
                prop_assert!(text.contains(&cut));
                prop_assert!(serde_json::from_str::<Value>(&cut).unwrap().is_object());
            }
        }

        #[test]
        fn unlike_text_is_survived_too(text in ".*") {
            repair(&text);
        }

        #[test]
        fn an_object_in_prose_is_found_whole(before in "[^{<]*", after in ".*", key in ".*", text in ".*", number: i64) {
            let object = serde_json::json!({key: text, "list": [number, {"inner": null}]}).to_string();
            prop_assert_eq!(repair(&format!("{before}{object}{after}")), Some(object));
        }
    }
}
