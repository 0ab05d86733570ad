//! Cuts the one JSON object out of what a model says around it. Independent of any provider.

use serde_json::{Map, Value};

/// The complete JSON object in a text, as it stands there: without the prose and the code fences around it, and without
/// what a reasoning model thinks aloud first. `None` when there is none, or when another one with a key in common says
/// something else: a model that quotes somebody's object beside its own must be asked again. An object that is broken or
/// cut off is not replaced by one inside of it.
pub fn repair(text: &str) -> Option<String> {
    let mut rest = after_thoughts(text);
    let (first, as_it_stands) = next_object(&mut rest)?;
    while let Some((other, _)) = next_object(&mut rest) {
        if other != first && other.keys().any(|key| first.contains_key(key)) {
            return None;
        }
    }
    // What stopped the search is the beginning of another one.
    let is_cut_off = |rest: &str| rest.trim_start_matches(['{', ' ', '\n']).starts_with('"');
    let has_another = rest.find('{').is_some_and(|place| is_cut_off(&rest[place..]));
    (!has_another).then(|| as_it_stands.to_owned())
}

/// The next complete object of a text, which then begins behind it.
fn next_object<'t>(rest: &mut &'t str) -> Option<(Map<String, Value>, &'t str)> {
    loop {
        let from = rest.get(rest.find('{')?..)?;
        let mut objects = serde_json::Deserializer::from_str(from).into_iter::<Map<String, Value>>();
        let error = match objects.next()? {
            Ok(object) => {
                let (whole, behind) = from.split_at_checked(objects.byte_offset())?;
                *rest = behind;
                return Some((object, whole));
            }
            Err(error) => error,
        };
        if error.is_eof() {
            return None;
        }
        // The text before the error belongs to a broken object; a later object can be the right one.
        let failed_at = offset(from, error.line(), error.column());
        *rest = from.get(failed_at.max(1)..).or_else(|| from.get(1..))?;
    }
}

/// Skips a leading `<think>…</think>`, in which a reasoning model may try out objects.
fn after_thoughts(text: &str) -> &str {
    let text = text.trim_start();
    let thoughts = text.strip_prefix("<think>").and_then(|thoughts| thoughts.split_once("</think>"));
    thoughts.map_or(text, |(_, reply)| reply)
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
            (r#"{"a":1} Once more: {"a": 1}"#, r#"{"a":1}"#),
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
    fn two_objects_that_say_different_things_are_none() {
        for text in [
            r#"The agent said {"tasks": [1]}, I say {"tasks": [0]}"#,
            r#"{"tasks": [0]} and not {"tasks": [1], "tone": 1}"#,
            "```json\n{\"a\":1}\n```\n```json\n{\"a\":2}\n```",
            r#"{"a":1} {"b":1} {"a":3}"#,
            r#"{"a":1} {"a": [1, "#,
        ] {
            assert_eq!(repair(text), None, "{text}");
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
        fn an_object_in_prose_is_found_whole(before in "[^{<]*", after in "[^{]*", key in ".*", text in ".*", number: i64) {
            let object = serde_json::json!({key: text, "list": [number, {"inner": null}]}).to_string();
            prop_assert_eq!(repair(&format!("{before}{object}{after}")), Some(object));
        }
    }
}
