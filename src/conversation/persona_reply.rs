//! Reads the reply of the persona's model.

use serde_json::{Map, Value};

use super::signoff::without_signoff;
use super::wanted_tool::{WantedTool, wanted_tool};
use crate::text::{contradiction, cut, visible};

/// The reply of the persona.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PersonaReply {
    /// The message to the agent; never blank. `None` for a sign-off alone.
    pub message: Option<String>,
    /// The message as the model wrote it, with the sign-off phrase.
    pub written: String,
    /// Whether it signed off: the conversation ends when the message, if there is one, is answered.
    pub done: bool,
    /// Why it ends the conversation, in its own words; `None` where it goes on, or gave no reason.
    pub reason: Option<String>,
    /// The tool that it wants to use before it says anything: then it has no message.
    pub tool: Option<WantedTool>,
}

/// The most characters of a reason that are kept.
const LONGEST_REASON: usize = 300;

/// Why a reply can't be used; the message can be sent back to the model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct UnusableReply(String);

pub(super) fn unusable<T>(why: impl Into<String>) -> Result<T, UnusableReply> {
    Err(UnusableReply(why.into()))
}

/// The longest reply, in bytes: no user types more at once, and searching longer texts for objects is slow.
const LONGEST: usize = 64 << 10;

/// Reads a model's raw text: a JSON object `{message, done, reason}`, in a fence or with prose around it too, else plain text.
/// The sign-off phrase in the message means done as well, and is removed. With `has_tools` the object may have a `tool` too: then
/// nothing else of it counts.
///
/// # Errors
/// The reply is empty, or its JSON is broken, has no usable message, or is ambiguous.
pub fn read_persona_reply(raw: &str, signoff: &str, has_tools: bool) -> Result<PersonaReply, UnusableReply> {
    if raw.len() > LONGEST {
        return unusable(format!("the reply is longer than {} KiB; say one thing, briefly", LONGEST >> 10));
    }
    let object = reply_object(raw, has_tools)?;
    if let Some(object) = object.as_ref().filter(|_| has_tools)
        && let Some(tool) = wanted_tool(object)?
    {
        return Ok(PersonaReply { tool: Some(tool), ..PersonaReply::default() });
    }
    let (message, done) = match &object {
        Some(object) => message_and_done(object)?,
        None => match not_typed_by_user(raw) {
            Some(problem) => return unusable(problem),
            None => (raw.trim().to_owned(), false),
        },
    };
    let (rest, done) = match without_signoff(&message, signoff) {
        Some(rest) => (Some(rest), true),
        None => (None, done),
    };
    let written = message;
    let message = Some(rest.as_ref().unwrap_or(&written).trim().to_owned()).filter(|message| !message.is_empty());
    if message.is_none() && !done {
        return unusable("the reply has no message and does not say that the conversation is done");
    }
    let reason = object.as_ref().and_then(|object| object.get("reason")?.as_str()).filter(|_| done).map(str::trim);
    let reason = reason.filter(|reason| !reason.is_empty()).map(|reason| cut(visible(reason), LONGEST_REASON));
    Ok(PersonaReply { message, written, done, reason, tool: None })
}

/// The reason why no user would type this.
fn not_typed_by_user(message: &str) -> Option<&'static str> {
    if message.contains("<agent-reply>") || message.contains("</agent-reply>") {
        return Some("the reply repeats the assistant's words within their tags; say what you, the user, say");
    }
    if message.contains("<tool-result") || message.contains("</tool-result>") {
        return Some("the reply repeats what a tool said within its tags; say what you, the user, say");
    }
    let begin: String = message.trim_start().chars().take(9).collect::<String>().to_lowercase();
    if message.chars().any(|letter| letter == '\u{fffd}' || letter < ' ' && !letter.is_whitespace()) {
        return Some("the reply has characters that nobody can type; say something in plain words");
    }
    (begin.starts_with("<!doctype") || begin.starts_with("<html"))
        .then_some("the reply is a web page; say something in plain words")
}

/// The object `{message, done, reason}` of a reply; `None` for plain text.
fn reply_object(raw: &str, has_tools: bool) -> Result<Option<Map<String, Value>>, UnusableReply> {
    let text = unfenced(raw.trim());
    if text.starts_with('{') {
        match serde_json::from_str::<Value>(text) {
            Ok(Value::Object(object)) => {
                // Each key has a colon: without more colons than keys, no key can be repeated.
                let is_simple = text.matches(':').count() == object.len();
                return if is_simple { Ok(Some(object)) } else { consistent(text).map(|()| Some(object)) };
            }
            Ok(_) => return Ok(None),
            Err(_) => {}
        }
    }
    let mut found: Option<Map<String, Value>> = None;
    for (object, written) in objects_within(text, has_tools) {
        consistent(written)?;
        if found.as_ref().is_some_and(|first| *first != object) {
            return unusable("the reply has more than one JSON object; give exactly one");
        }
        found = Some(object);
    }
    match found {
        None if begins_an_object(text) => {
            unusable("the reply is not valid JSON; give one object with `message` and `done`")
        }
        found => Ok(found),
    }
}

/// Whether a text begins like an object, also one of another language or one that was cut off: `{'message': …`, `{"mess`.
fn begins_an_object(text: &str) -> bool {
    let inside = text.strip_prefix('{').map(str::trim_start);
    inside.is_some_and(|inside| inside.starts_with(['"', '\'']) || inside.starts_with("message"))
        || text.starts_with(['}', ']'])
}

fn consistent(json: &str) -> Result<(), UnusableReply> {
    let twice = |key: String| format!("the reply says `{}` twice in one object, and differently", visible(&key));
    contradiction(json).map_or(Ok(()), |key| unusable(twice(key)))
}

/// The text within a ``` fence that encloses all of it.
fn unfenced(text: &str) -> &str {
    let Some(inner) = text.strip_prefix("```").and_then(|rest| rest.strip_suffix("```")) else { return text };
    let inner = match inner.split_once('\n') {
        Some((language, body)) if language.trim().chars().all(char::is_alphanumeric) => body,
        _ => inner,
    };
    inner.trim()
}

/// The objects in a text that are replies: those with a text `message` and, at the most, `done`, `reason` and, with tools, `tool`
/// beside it; a `tool` may also be alone.
fn objects_within(text: &str, has_tools: bool) -> Vec<(Map<String, Value>, &str)> {
    let mut objects = Vec::new();
    let mut rest = text;
    while let Some(place) = rest.find('{') {
        rest = &rest[place..];
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
        match values.next() {
            Some(Ok(Value::Object(object))) => {
                let (whole, behind) = rest.split_at(values.byte_offset());
                rest = behind;
                let is_key = |key: &str| ["message", "done", "reason"].contains(&key) || has_tools && key == "tool";
                let is_reply = object.get("message").is_some_and(Value::is_string)
                    || has_tools && object.get("tool").is_some_and(Value::is_object);
                if is_reply && object.keys().all(|key| is_key(key)) {
                    objects.push((object, whole));
                }
            }
            _ => rest = &rest[1..],
        }
    }
    objects
}

fn message_and_done(object: &Map<String, Value>) -> Result<(String, bool), UnusableReply> {
    let done = match object.get("done") {
        None | Some(Value::Null) => false,
        Some(Value::Bool(done)) => *done,
        Some(other) => return unusable(format!("`done` must be true or false, not {other}")),
    };
    match object.get("message") {
        Some(Value::String(message)) => Ok((message.clone(), done)),
        None | Some(Value::Null) if done => Ok((String::new(), true)),
        None | Some(Value::Null) => unusable("the JSON reply has no `message`"),
        Some(_) => unusable("`message` must be a text"),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_reply_that_says_two_things_is_refused() {
        for raw in [r#"{"message":"a","message":"b"}"#, r#"Here: {"message":"a","done":true,"done":false}"#] {
            let problem = read(raw).unwrap_err();
            assert!(problem.to_string().ends_with("twice in one object, and differently"), "{raw}: {problem}");
        }
    }

    const PHRASE: &str = "So Long, and Thanks for All the Fish";

    fn read(raw: &str) -> Result<(Option<String>, bool), UnusableReply> {
        read_persona_reply(raw, PHRASE, false).map(|reply| (reply.message, reply.done))
    }

    fn replied(message: &str, done: bool) -> Result<(Option<String>, bool), UnusableReply> {
        Ok((Some(message.to_owned()), done))
    }

    #[test]
    fn a_line_that_no_user_would_type_is_unusable() {
        let error = read(&"x".repeat(LONGEST + 1)).unwrap_err();
        assert_eq!(error.to_string(), "the reply is longer than 64 KiB; say one thing, briefly");
        assert!(read_persona_reply(&"x".repeat(LONGEST), "bye", false).is_ok());
    }

    #[test]
    fn what_nobody_can_type_is_unusable_and_all_languages_are_words() {
        for raw in [
            "@@@ { not ]] \u{0}",
            "\u{1b}[31mHello",
            "caf\u{fffd}",
            "<!DOCTYPE html><p>502",
            " <html>",
            "<agent-reply>Hello</agent-reply>",
        ] {
            assert!(read(raw).is_err(), "{raw:?}");
        }
        for raw in ["one\n\ttwo", "👍", "?", "مرحبا", "<3 you", "[urgent] {name}"] {
            assert_eq!(read(raw), replied(raw, false), "{raw:?}");
        }
    }

    #[test]
    fn json_in_all_its_wrappings() {
        for raw in [
            r#"{"message": "Hi", "done": false}"#,
            r#"  {"done": false, "message": " Hi "}  "#,
            r#"{"message": "Hi"}"#,
            r#"{"message": "Hi", "done": null}"#,
            r#"{"message": "Hi", "done": false, "mood": "calm"}"#,
            "```json\n{\"message\": \"Hi\", \"done\": false}\n```",
            "```\n{\"message\": \"Hi\", \"done\": false}\n```",
            "```{\"message\": \"Hi\"}```",
            "Here is my reply:\n{\"message\": \"Hi\", \"done\": false}\nI hope it fits.",
            "Here it is:\n```json\n{\"message\": \"Hi\", \"done\": false}\n```",
            "{\"message\": \"Hi\"}\n{\"message\": \"Hi\"}",
        ] {
            assert_eq!(read(raw), replied("Hi", false), "{raw}");
        }
        assert_eq!(read(r#"{"message": "Bye", "done": true}"#), replied("Bye", true));
    }

    #[test]
    fn a_reason_is_kept_with_the_last_message_alone() {
        let reason = |raw: &str| read_persona_reply(raw, PHRASE, false).unwrap().reason;
        assert_eq!(
            reason(r#"{"message": "Bye", "done": true, "reason": " it failed twice "}"#).unwrap(),
            "it failed twice"
        );
        assert_eq!(reason(&format!(r#"{{"message": "{PHRASE}", "reason": "all done"}}"#)).unwrap(), "all done");
        let long = json!({ "done": true, "reason": "x".repeat(5000) }).to_string();
        assert!(reason(&long).unwrap().chars().count() <= LONGEST_REASON + 1);
        for raw in [
            r#"{"message": "Hi", "done": false, "reason": "I begin"}"#,
            r#"{"message": "Bye", "done": true, "reason": "  "}"#,
            r#"{"message": "Bye", "done": true, "reason": 7}"#,
            r#"{"message": "Bye", "done": true}"#,
        ] {
            assert_eq!(reason(raw), None, "{raw}");
        }
        assert_eq!(read(r#"So: {"message": "Hi", "done": false, "reason": "x"}"#), replied("Hi", false));
    }

    #[test]
    fn a_tool_goes_before_a_message_where_there_are_tools() {
        let tool = |raw: &str| read_persona_reply(raw, PHRASE, true).unwrap().tool;
        let wanted = |arguments: Value| Some(WantedTool { name: "look".to_owned(), arguments });
        for (raw, expected) in [
            (
                r#"{"message": "", "done": false, "tool": {"name": "look", "arguments": "{\"at\": 1}"}}"#,
                json!({"at": 1}),
            ),
            (
                r#"{"message": "I look", "done": true, "tool": {"name": "look", "arguments": {"at": 1}}}"#,
                json!({"at": 1}),
            ),
            (r#"{"tool": {"name": "look"}}"#, json!({})),
            (r#"I look: {"tool": {"name": "look", "arguments": ""}} so"#, json!({})),
            (r#"{"tool": {"name": "look", "arguments": "at 1"}}"#, json!("at 1")),
            (r#"{"tool": "look"}"#, json!({})),
        ] {
            assert_eq!(tool(raw), wanted(expected), "{raw}");
        }
        for raw in [
            r#"{"message": "Hi", "done": false, "tool": {"name": "none", "arguments": "{}"}}"#,
            r#"{"message": "Hi", "done": false, "tool": null}"#,
            r#"{"message": "Hi", "tool": {"name": ""}}"#,
            r#"{"message": "Hi", "tool": {"name": "None", "arguments": "{}"}}"#,
            r#"{"message": "Hi", "tool": []}"#,
        ] {
            let reply = read_persona_reply(raw, PHRASE, true).unwrap();
            assert_eq!((reply.tool, reply.message.as_deref()), (None, Some("Hi")), "{raw}");
        }
        for raw in [r#"{"message": "", "tool": [{"name": "look"}]}"#, r#"{"name": "look", "arguments": {}}"#] {
            let problem = read_persona_reply(raw, PHRASE, true).unwrap_err().to_string();
            assert!(problem.contains(r#""tool": {"name": "its name""#), "{raw}: {problem}");
        }
        // Without tools it is a key like any other.
        let raw = r#"{"message": "Hi", "done": false, "tool": {"name": "look"}}"#;
        assert_eq!(read(raw), replied("Hi", false));
        assert!(read_persona_reply("<tool-result name=\"look\">3</tool-result>", PHRASE, true).is_err());
    }

    #[test]
    fn plain_text_is_a_message() {
        for text in [
            "Hi",
            "Set {x} and {y}.",
            "{not json",
            "[1]",
            "\"quoted\"",
            "Store {\"name\": \"Ann\"} please",
            "```\ncode\n``` is it",
        ] {
            assert_eq!(read(text), replied(text, false), "{text}");
        }
    }

    #[test]
    fn the_phrase_means_done_and_is_not_delivered() {
        assert_eq!(read(PHRASE), Ok((None, true)));
        assert_eq!(read(&format!("Thanks! {PHRASE}.")), replied("Thanks!", true));
        assert_eq!(
            read(&json!({"message": format!("Thanks! {PHRASE}"), "done": false}).to_string()),
            replied("Thanks!", true)
        );
        assert_eq!(read(&json!({"message": PHRASE, "done": false}).to_string()), Ok((None, true)));
        assert_eq!(read(r#"{"message": "", "done": true}"#), Ok((None, true)));
        assert_eq!(read(r#"{"done": true}"#), Ok((None, true)));
        assert_eq!(read(r#"{"message": null, "done": true}"#), Ok((None, true)));
    }

    #[test]
    fn an_unusable_reply_names_the_reason() {
        for (raw, part) in [
            ("", "no message"),
            (" \n ", "no message"),
            (r#"{"message": "", "done": false}"#, "no message"),
            (r#"{"message": "  "}"#, "no message"),
            (r#"{"done": false}"#, "no `message`"),
            (r#"{"text": "Hi"}"#, "no `message`"),
            ("{}", "no `message`"),
            (r#"{"message": 7, "done": false}"#, "must be a text"),
            (r#"{"message": "Hi", "done": "yes"}"#, "true or false"),
            (r#"{"message": "Hi, I wan"#, "not valid JSON"),
            (r#"{"mess"#, "not valid JSON"),
            ("{'message': 'Hi', 'done': False}", "not valid JSON"),
            ("{ message: \"Hi\" }", "not valid JSON"),
            ("}{][", "not valid JSON"),
            (r#"{"message": "a"} {"message": "b"}"#, "more than one"),
        ] {
            let error = read(raw).expect_err(raw);
            assert!(error.to_string().contains(part), "{raw}: {error}");
        }
    }

    proptest! {
        #[test]
        fn a_message_in_json_comes_out_as_it_went_in(message in ".*[a-z].*", done: bool) {
            let raw = json!({"message": message, "done": done}).to_string();
            prop_assert_eq!(read(&raw), replied(message.trim(), done));
        }

        #[test]
        fn any_text_is_read_or_refused(raw in "[a-z{}\":,` \n]*") {
            if let Ok((message, done)) = read(&raw) {
                prop_assert!(done || message.is_some());
                prop_assert!(message.is_none_or(|message| !message.trim().is_empty()));
            }
        }
    }
}
