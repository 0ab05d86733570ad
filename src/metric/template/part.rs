//! The part of a JSON value that a path leads to: `$.items[0].name`, without wildcards, quotes or filters, as trpc-agent-go has it.

use serde_json::Value;

/// One step of a path.
#[derive(Debug, PartialEq, Eq)]
enum PathStep<'a> {
    Key(&'a str),
    Index(usize),
}

/// Whether a path can be read.
pub fn is_path(path: &str) -> bool {
    steps(path).is_some()
}

fn steps(path: &str) -> Option<Vec<PathStep<'_>>> {
    let path = path.trim();
    let mut rest = path.strip_prefix('$').unwrap_or(path);
    let mut steps = Vec::new();
    let mut is_first = !path.starts_with('$');
    while !rest.is_empty() {
        if let Some(inner) = rest.strip_prefix('[') {
            let (index, behind) = inner.split_once(']')?;
            let is_number = !index.is_empty() && index.bytes().all(|byte| byte.is_ascii_digit());
            steps.push(PathStep::Index(index.parse().ok().filter(|_| is_number)?));
            rest = behind;
        } else {
            let after = match rest.strip_prefix('.') {
                Some(after) => after,
                None if is_first => rest,
                None => return None,
            };
            let end = after.find(['.', '[']).unwrap_or(after.len());
            let key = &after[..end];
            if key.is_empty() || key.contains(['*', '"', '\'', ']', '?']) {
                return None;
            }
            steps.push(PathStep::Key(key));
            rest = &after[end..];
        }
        is_first = false;
    }
    Some(steps)
}

/// A value without the part that a path names.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum PartError {
    /// The path can't be read.
    #[error("`{0}` is no path")]
    NoPath(String),
    /// The text is no JSON.
    #[error("it is not one JSON value")]
    NotJson,
    /// The path leads nowhere.
    #[error("it has nothing at `{0}`")]
    Absent(String),
}

/// The part of a text that is one JSON value: a text as it is, everything else as JSON.
///
/// # Errors
/// The text is no JSON, or has nothing there.
pub(super) fn part_of(text: &str, path: &str) -> Result<String, PartError> {
    let steps = steps(path).ok_or_else(|| PartError::NoPath(path.to_owned()))?;
    let whole: Value = serde_json::from_str(text).map_err(|_| PartError::NotJson)?;
    let part = steps.iter().try_fold(&whole, |value, step| match step {
        PathStep::Key(key) => value.get(*key),
        PathStep::Index(index) => value.get(*index),
    });
    match part {
        None => Err(PartError::Absent(path.to_owned())),
        Some(Value::String(text)) => Ok(text.clone()),
        Some(other) => Ok(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_leads_to_a_part_and_texts_stay_as_they_are() {
        let text = r#"{"items": [{"name": "Bill"}, {"n": 2, "is": null}], "ok": true, "a b": 1.50}"#;
        for (path, part) in [
            ("$.items[0].name", "Bill"),
            ("items[1].n", "2"),
            ("$.items[1].is", "null"),
            (".ok", "true"),
            ("$.items[0]", r#"{"name":"Bill"}"#),
            ("$.a b", "1.5"),
        ] {
            assert_eq!(part_of(text, path).as_deref(), Ok(part), "{path}");
        }
        assert_eq!(part_of("[[1, 2]]", "$[0][1]").as_deref(), Ok("2"));
        assert_eq!(part_of("\"x\"", "$").as_deref(), Ok("x"));
        assert_eq!(part_of(text, "$.items[2]"), Err(PartError::Absent("$.items[2]".to_owned())));
        assert_eq!(part_of(text, "$.ok.more"), Err(PartError::Absent("$.ok.more".to_owned())));
        assert_eq!(part_of("Hello", "$.a"), Err(PartError::NotJson));
        assert_eq!(part_of(text, "$.ok.more").unwrap_err().to_string(), "it has nothing at `$.ok.more`");
    }

    #[test]
    fn what_no_path_can_say_is_none() {
        for wrong in ["$x", "$..a", "$.", "$.*", "$['a']", "$[-1]", "$[+1]", "$[1", "$[]", "$.a[?(@.b)]", "$[0]a"] {
            assert!(!is_path(wrong), "{wrong}");
        }
        for right in ["", "$", "$.a", "a.b[3]", "[0]"] {
            assert!(is_path(right), "{right}");
        }
    }
}
