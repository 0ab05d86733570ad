//! Several statements in one text.

use super::token::{TokenKind, tokens};

/// The statements of a text: what stands between semicolons that are not in strings, comments or backticks. A piece
/// of nothing but space and comments is no statement.
pub fn split(text: &str) -> Vec<&str> {
    let mut statements = Vec::new();
    let (mut start, mut says_something) = (0, false);
    for token in tokens(text) {
        if token.is(";") {
            if says_something {
                statements.push(text[start..token.at].trim());
            }
            (start, says_something) = (token.end(), false);
        } else if !matches!(token.kind, TokenKind::Space | TokenKind::Comment) {
            says_something = true;
        }
    }
    if says_something {
        statements.push(text[start..].trim());
    }
    statements
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn semicolons_split_only_between_statements() {
        for (text, expected) in [
            ("RETURN 1", vec!["RETURN 1"]),
            ("RETURN 1;", vec!["RETURN 1"]),
            (" A ; B;\n;; C", vec!["A", "B", "C"]),
            ("RETURN ';' ; RETURN \";\"", vec!["RETURN ';'", "RETURN \";\""]),
            (r"RETURN 'it\';s'; B", vec![r"RETURN 'it\';s'", "B"]),
            ("RETURN `a;b`; B", vec!["RETURN `a;b`", "B"]),
            ("A // one; two\n; B /* ; */", vec!["A // one; two", "B /* ; */"]),
            ("// nothing;\n /* ; */ ;", vec![]),
            ("", vec![]),
            ("RETURN 'never closed; B", vec!["RETURN 'never closed; B"]),
        ] {
            assert_eq!(split(text), expected, "{text:?}");
        }
    }

    fn statement() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            "[A-Za-z0-9 =(){}.,]{1,8}",
            "'[a-z;\"`/]{0,6}'",
            "\"[a-z;'`/]{0,6}\"",
            "`[a-z;'\"/]{1,6}`",
            "/\\*[a-z;'\"`]{0,6}\\*/",
            "//[a-z;'\"`]{0,6}\n",
        ];
        prop::collection::vec(piece, 0..5).prop_map(|pieces| format!("X{}", pieces.concat()))
    }

    proptest! {
        #[test]
        fn joining_and_splitting_are_inverse(statements in prop::collection::vec(statement(), 0..5)) {
            let text = statements.join(";");
            let expected: Vec<&str> = statements.iter().map(|statement| statement.trim()).collect();
            prop_assert_eq!(split(&text), expected);
        }
    }
}
