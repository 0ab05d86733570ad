//! JSONPaths of a job (RFC 9535): only those that can be evaluated in linear time.

use serde_json_path::JsonPath;

use crate::agent::SettingError;

/// Reads a path.
///
/// # Errors
/// It is no JSONPath, or one that can take more than linear time.
pub(in crate::agent) fn path(key: &str, text: &str) -> Result<JsonPath, SettingError> {
    let path = JsonPath::parse(text)
        .map_err(|_| SettingError::new(key, format!("`{text}` is no JSONPath; {}", how_to_write(text))))?;
    if takes_more_than_linear_time(text) {
        let problem = format!(
            "`{text}` can take for ever on a long reply, since it goes through the whole of it once for each part of it; \
             write at most one `..`, none in a filter, and in a filter nothing but names after `$`"
        );
        return Err(SettingError::new(key, problem));
    }
    Ok(path)
}

/// The path to suggest, or an example.
fn how_to_write(text: &str) -> String {
    let text = text.trim().trim_start_matches('.');
    let corrected = if text.starts_with('[') { format!("${text}") } else { format!("$.{text}") };
    match JsonPath::parse(&corrected) {
        Ok(_) if !text.is_empty() => format!("did you mean `{corrected}`?"),
        _ => "write it like $.message.content".to_owned(),
    }
}

/// Whether the evaluation of a valid path can take more than linear time in the size of the document.
fn takes_more_than_linear_time(path: &str) -> bool {
    let (mut quote, mut escaped) = (None, false);
    let (mut descents, mut root) = (0, false);
    // For each open bracket: whether it is a filter's.
    let mut brackets: Vec<bool> = Vec::new();
    let mut before = ' ';
    for character in path.chars() {
        if let Some(mark) = quote {
            if !escaped && character == mark {
                quote = None;
            }
            escaped = !escaped && character == '\\';
            continue;
        }
        let in_filter = brackets.contains(&true);
        match character {
            '\'' | '"' => quote = Some(character),
            '[' => brackets.push(false),
            ']' => {
                brackets.pop();
            }
            '?' => {
                if in_filter && root {
                    return true;
                }
                if let Some(bracket) = brackets.last_mut() {
                    *bracket = true;
                }
            }
            '.' if before == '.' => {
                descents += 1;
                if in_filter || descents > 1 {
                    return true;
                }
            }
            '$' if in_filter => root = true,
            '@' => root = false,
            '*' | ':' if in_filter && root => return true,
            _ => {}
        }
        before = character;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_can_take_for_ever_is_refused() {
        for path_text in [
            "$..*..*",
            "$..a..b",
            "$[?count($..*) > 1]",
            "$[?@..a]",
            "$[?count($.all[*]) > 1]",
            "$[?$.all[?@.a]]",
            "$..[?count($..[?count($..*)>1])>1]",
            "$[?count($[0:]) > 1]",
        ] {
            let problem = path("target.http.say.reply", path_text).unwrap_err().to_string();
            assert!(problem.starts_with("target.http.say.reply: `") && problem.contains("for ever"), "{problem}");
        }
        for path_text in [
            "$.reply",
            "$..reply",
            "$..[?@.kind == 'call']",
            "$.items[*].parts[*].text",
            "$.items[?@.name == $.wanted].text",
            "$['..']['..']['$']",
            "$[?@.a == '..' || @.b == \"$..*\"]",
            "$.items[?count(@.*) > 1]",
            "$.items[?@.parts[?@.a == 'it\\'s ..']].x",
        ] {
            assert!(path("key", path_text).is_ok(), "{path_text}");
        }
    }
}
