//! Whether a query fixes the order of its rows.

/// Whether the last `RETURN` of the query has an `ORDER BY`. Strings, comments, names in backticks and everything in
/// brackets are skipped. The branches of a `UNION` have no order together, whatever the last one says.
pub(super) fn is_ordered(cypher: &str) -> bool {
    let words = top_level_words(cypher);
    let Some(last_return) = words.iter().rposition(|word| word == "RETURN") else { return false };
    !words.iter().any(|word| word == "UNION")
        && words[last_return..].windows(2).any(|pair| pair[0] == "ORDER" && pair[1] == "BY")
}

/// The words outside brackets, in capitals, but for parameters, labels and property names.
fn top_level_words(cypher: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut depth = 0usize;
    let mut before = ' ';
    let mut characters = cypher.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\'' | '"' => {
                while let Some(inner) = characters.next() {
                    match inner {
                        '\\' => _ = characters.next(),
                        _ if inner == character => break,
                        _ => {}
                    }
                }
            }
            '`' => while characters.next().is_some_and(|inner| inner != '`') {},
            '/' if characters.peek() == Some(&'/') => {
                while characters.next().is_some_and(|inner| inner != '\n') {}
                continue;
            }
            '/' if characters.peek() == Some(&'*') => {
                characters.next();
                let mut last = ' ';
                for inner in characters.by_ref() {
                    if last == '*' && inner == '/' {
                        break;
                    }
                    last = inner;
                }
                continue;
            }
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            _ if character.is_alphanumeric() || character == '_' => {
                let mut word = String::from(character);
                while let Some(inner) = characters.next_if(|inner| inner.is_alphanumeric() || *inner == '_') {
                    word.push(inner);
                }
                if depth == 0 && !matches!(before, '.' | '$' | ':') {
                    words.push(word.to_uppercase());
                }
            }
            _ => {}
        }
        if !character.is_whitespace() {
            before = character;
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::is_ordered;

    #[test]
    fn the_last_return_decides() {
        for ordered in [
            "MATCH (n) RETURN n.title ORDER BY n.title",
            "match (n) return n order by n.title desc skip 1 limit 2",
            "MATCH (n) RETURN n ORDER\n  /* why */ BY n",
            "MATCH (n) RETURN n // first\nORDER BY n",
            "MATCH (n) WHERE n.name = 'it\\'s' RETURN n ORDER BY n",
            "CALL { RETURN 1 AS x } RETURN x ORDER BY x",
        ] {
            assert!(is_ordered(ordered), "{ordered}");
        }
    }

    #[test]
    fn what_only_looks_like_it_does_not() {
        for unordered in [
            "MATCH (n) RETURN n",
            "MATCH (n) WITH n ORDER BY n.title RETURN n.title",
            "RETURN 'ORDER BY'",
            "RETURN \"x \\\" ORDER BY x\"",
            "RETURN 1 AS `ORDER BY`",
            "RETURN 1 // ORDER BY 1",
            "RETURN 1 /* ORDER BY 1 */",
            "CALL { MATCH (n) RETURN n ORDER BY n } RETURN n",
            "RETURN [x IN COLLECT { RETURN 1 ORDER BY 1 } | x]",
            "RETURN 1 UNION RETURN 2 ORDER BY 1",
            "MATCH (n) WITH n ORDER BY n.return RETURN n",
            "RETURN n.order, by",
            "",
            "ORDER BY x",
            "RETURN 'unterminated ORDER BY",
        ] {
            assert!(!is_ordered(unordered), "{unordered}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_to_its_end(text in ".*") {
            let _ = is_ordered(&text);
        }

        #[test]
        fn a_comment_changes_nothing(comment in "[^*/]*") {
            let query = format!("MATCH (n) RETURN n /*{comment}*/ ORDER /*{comment}*/ BY n");
            prop_assert!(is_ordered(&query));
        }
    }
}
