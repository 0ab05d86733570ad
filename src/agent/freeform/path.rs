//! JSONPaths of a job (RFC 9535): only such as take no longer than what they look through is long.

use serde_json_path::JsonPath;

/// Reads a path; the error names its key.
pub(in crate::agent) fn path(key: &str, text: &str) -> Result<JsonPath, String> {
    let path = JsonPath::parse(text)
        .map_err(|_| format!("{key}: `{text}` is no JSONPath; write it like $.message.content"))?;
    if goes_through_all_again(text) {
        return Err(format!(
            "{key}: `{text}` can take for ever on a long reply, since it goes through the whole of it once for each part \
             of it; write at most one `..`, none in a filter, and in a filter nothing but names after `$`"
        ));
    }
    Ok(path)
}

/// Whether a valid path may have to look at everything once for each part that it looks at: only what takes as long as
/// the document is, but for a factor, is evaluated between two awaits.
fn goes_through_all_again(path: &str) -> bool {
    let (mut quote, mut escaped) = (None, false);
    let (mut descents, mut root) = (0, false);
    // The brackets that are open: whether each is a filter's.
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
            let problem = path("target.http.say.reply", path_text).unwrap_err();
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
