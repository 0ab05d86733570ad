//! How a request differs from those that are recorded.

use serde_json::Value;

/// The characters of a text that are shown on either side of where it differs.
const BEFORE: usize = 20;
const AFTER: usize = 60;

/// The recorded request with the most in common, by its line, and what differs first: `messages[2].content: recorded "…", now
/// "…"`.
pub(super) fn nearest<'a>(
    request: &Value,
    recorded: impl Iterator<Item = (usize, &'a Value)>,
) -> Option<(usize, String)> {
    let common = |other: &Value| in_common(other, request);
    let best = recorded.map(|(line, other)| (common(other), line, other)).reduce(|best, other| {
        // The first of equals.
        if other.0 > best.0 { other } else { best }
    });
    best.map(|(_, line, other)| (line, first(other, request, &mut String::new()).unwrap_or_default()))
}

/// How many values two documents have in common, with the beginnings that texts share.
fn in_common(one: &Value, other: &Value) -> f64 {
    match (one, other) {
        (Value::Object(ones), Value::Object(others)) => {
            ones.iter().filter_map(|(key, value)| Some(in_common(value, others.get(key)?))).sum()
        }
        (Value::Array(ones), Value::Array(others)) => {
            ones.iter().zip(others).map(|(one, other)| in_common(one, other)).sum()
        }
        (Value::String(one), Value::String(other)) if one != other => {
            let same = one.chars().zip(other.chars()).take_while(|(one, other)| one == other).count();
            0.9 * same as f64 / one.chars().count().max(other.chars().count()).max(1) as f64
        }
        _ if one == other => 1.0,
        _ => 0.0,
    }
}

fn first(recorded: &Value, now: &Value, path: &mut String) -> Option<String> {
    if recorded == now {
        return None;
    }
    let length = path.len();
    match (recorded, now) {
        (Value::Object(before), Value::Object(after)) => {
            let new = after.keys().filter(|key| !before.contains_key(*key));
            for key in before.keys().chain(new) {
                let dot = if path.is_empty() { "" } else { "." };
                path.push_str(&format!("{dot}{key}"));
                let found = match (before.get(key), after.get(key)) {
                    (Some(before), Some(after)) => first(before, after, path),
                    (before, after) => Some(describe(path, before, after)),
                };
                if found.is_some() {
                    return found;
                }
                path.truncate(length);
            }
            None
        }
        (Value::Array(before), Value::Array(after)) => {
            for index in 0..before.len().max(after.len()) {
                path.push_str(&format!("[{index}]"));
                let found = match (before.get(index), after.get(index)) {
                    (Some(before), Some(after)) => first(before, after, path),
                    (before, after) => Some(describe(path, before, after)),
                };
                if found.is_some() {
                    return found;
                }
                path.truncate(length);
            }
            None
        }
        _ => Some(describe(path, Some(recorded), Some(now))),
    }
}

fn describe(path: &str, recorded: Option<&Value>, now: Option<&Value>) -> String {
    let same = match (recorded, now) {
        (Some(Value::String(one)), Some(Value::String(other))) => {
            one.chars().zip(other.chars()).take_while(|(one, other)| one == other).count()
        }
        _ => 0,
    };
    let show = |value: Option<&Value>| match value {
        None => "nothing".to_owned(),
        Some(Value::String(text)) => excerpt(text, same.saturating_sub(BEFORE), true),
        Some(value) => excerpt(&value.to_string(), 0, false),
    };
    format!("{path}: recorded {}, now {}", show(recorded), show(now))
}

/// A text from this character on, as far as it is shown.
fn excerpt(text: &str, from: usize, is_text: bool) -> String {
    let shown: String = text.chars().skip(from).take(BEFORE + AFTER).collect();
    let begin = if from > 0 { "…" } else { "" };
    let end = if text.chars().count() > from + BEFORE + AFTER { "…" } else { "" };
    let shown = format!("{begin}{shown}{end}");
    if is_text { serde_json::to_string(&shown).unwrap_or(shown) } else { shown }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_nearest_request_comes_with_its_first_difference() {
        let recorded = [
            json!({"call": "say", "turn": 1, "message": "Hello"}),
            json!({"call": "say", "turn": 2, "message": "Call Bob at nine"}),
            json!({"call": "open", "session": 1}),
        ];
        let all = || recorded.iter().zip(2..).map(|(request, line)| (line, request));
        let near = |request: Value| nearest(&request, all()).unwrap();
        assert_eq!(
            near(json!({"call": "say", "turn": 2, "message": "Call Bob at ten"})),
            (3, r#"message: recorded "Call Bob at nine", now "Call Bob at ten""#.to_owned())
        );
        assert_eq!(
            near(json!({"call": "open", "session": 1, "history": []})),
            (4, "history: recorded nothing, now []".to_owned())
        );
        let long = "x".repeat(200);
        let (_, shown) = near(json!({"call": "say", "turn": 1, "message": format!("Hello{long}")}));
        assert!(shown.ends_with("…\"") && shown.len() < 200, "{shown}");
        let messages = |last: &str| json!({"messages": [{"content": "a"}, {"content": last}]});
        let shown = nearest(&messages("b"), std::iter::once((7, &messages("c")))).unwrap();
        assert_eq!(shown, (7, r#"messages[1].content: recorded "c", now "b""#.to_owned()));
        assert_eq!(nearest(&json!({}), std::iter::empty()), None);
    }
}
