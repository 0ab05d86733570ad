//! The two sides of a comparison that a query returns: `RETURN count(b) = 1` is true or false, and whether it would be true
//! without what was there before only its sides can tell.

use crate::evidence::{Table, Value};

/// A query that returns both sides instead of what comes of comparing them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sides {
    /// The query.
    pub cypher: String,
    sign: &'static str,
}

/// Words beside which a sign is not all that is returned.
const MORE: [&str; 13] =
    ["AND", "OR", "XOR", "NOT", "IN", "STARTS", "ENDS", "CONTAINS", "IS", "ORDER", "SKIP", "LIMIT", "DISTINCT"];

/// The sides of a query's comparison; `None` where it returns anything but one comparison.
pub fn sides(cypher: &str) -> Option<Sides> {
    let cypher = cypher.trim_end().trim_end_matches(';');
    if cypher.contains("//") || cypher.contains("/*") {
        return None;
    }
    let pieces = top_level(cypher);
    let is = |text: &str, word: &str| text.eq_ignore_ascii_case(word);
    if pieces.iter().any(|(_, text)| is(text, "UNION")) {
        return None;
    }
    let last = pieces.iter().rposition(|(_, text)| is(text, "RETURN"))?;
    let (start, rest) = (pieces[last].0, &pieces[last + 1..]);
    let end = rest.iter().position(|(_, text)| is(text, "AS"));
    let compared = &rest[..end.unwrap_or(rest.len())];
    if compared.iter().any(|(_, text)| *text == "," || *text == "|" || MORE.iter().any(|word| is(text, word))) {
        return None;
    }
    let mut signs = compared.iter().filter_map(|(at, text)| {
        let sign = ["<>", "<=", ">=", "=", "<", ">"].into_iter().find(|sign| sign == text)?;
        Some((*at, sign))
    });
    let ((at, sign), None) = (signs.next()?, signs.next()) else { return None };
    let stop = end.map_or(cypher.len(), |end| rest[end].0);
    let (left, right) = (cypher.get(start + 6..at)?.trim(), cypher.get(at + sign.len()..stop)?.trim());
    let is_pattern = left.ends_with('-') || right.starts_with(['-', '~']) && !right[1..].starts_with(char::is_numeric);
    let is_whole = !left.is_empty() && !right.is_empty() && !is_pattern;
    is_whole.then(|| Sides { cypher: format!("{}RETURN {left} AS left, {right} AS right", &cypher[..start]), sign })
}

impl Sides {
    /// What the comparison comes to without what was there before; `None` where that can't be told.
    pub(super) fn without(&self, before: &Table, after: &Table) -> Option<bool> {
        let ([old], [new]) = (before.rows.as_slice(), after.rows.as_slice()) else { return None };
        let ([old_left, old_right], [left, right]) = (old.as_slice(), new.as_slice()) else { return None };
        let added = |old: &Value, new: &Value| super::added::difference(old, new);
        // The side that does not count anything is as it is.
        let (left, right) = match (old_left.is_same(left), old_right.is_same(right)) {
            (_, true) => (added(old_left, left), right.clone()),
            (true, false) => (left.clone(), added(old_right, right)),
            (false, false) => (added(old_left, left), added(old_right, right)),
        };
        let order = match (&left, &right) {
            (Value::Int(left), Value::Int(right)) => left.cmp(right),
            _ => {
                let equal = left.is_same(&right);
                return match self.sign {
                    "=" => Some(equal),
                    "<>" => Some(!equal),
                    _ => None,
                };
            }
        };
        Some(match self.sign {
            "=" => order.is_eq(),
            "<>" => order.is_ne(),
            "<=" => order.is_le(),
            ">=" => order.is_ge(),
            "<" => order.is_lt(),
            _ => order.is_gt(),
        })
    }
}

/// Words, commas and signs of comparison outside of brackets and quotes, with their places in bytes.
fn top_level(cypher: &str) -> Vec<(usize, &str)> {
    let (mut pieces, mut depth, mut at) = (Vec::new(), 0usize, 0);
    while let Some(first) = cypher[at..].chars().next() {
        let rest = &cypher[at..];
        let length = match first {
            '\'' | '"' | '`' => quoted(rest, first),
            _ if first.is_alphanumeric() || first == '_' => {
                rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len())
            }
            _ if ["<>", "<=", ">="].iter().any(|sign| rest.starts_with(sign)) => 2,
            _ => first.len_utf8(),
        };
        match first {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            '\'' | '"' | '`' => {}
            _ if depth > 0 || first.is_whitespace() => {}
            // The name of a label, a property or a parameter is no word.
            _ if first.is_alphanumeric() && cypher[..at].ends_with(['.', ':', '$']) => {}
            _ => pieces.push((at, &rest[..length])),
        }
        at += length;
    }
    pieces
}

fn quoted(rest: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, character) in rest.char_indices().skip(1) {
        match character {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if character == quote => return at + 1,
            _ => {}
        }
    }
    rest.len()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn one_comparison_has_two_sides() {
        let of = |cypher: &str| sides(cypher).map(|sides| sides.cypher);
        for (cypher, expected) in [
            ("MATCH (b:B) RETURN count(b) = 1", "MATCH (b:B) RETURN count(b) AS left, 1 AS right"),
            ("MATCH (b:B) return count(b)>=1 AS ok;", "MATCH (b:B) RETURN count(b) AS left, 1 AS right"),
            (
                "MATCH (b:B {x: '='}) RETURN 2 <> size(collect(b.x))",
                "MATCH (b:B {x: '='}) RETURN 2 AS left, size(collect(b.x)) AS right",
            ),
            (
                "MATCH (b) WHERE b.x = 1 RETURN count(b) < $n",
                "MATCH (b) WHERE b.x = 1 RETURN count(b) AS left, $n AS right",
            ),
        ] {
            assert_eq!(of(cypher).as_deref(), Some(expected), "{cypher}");
        }
        for cypher in [
            "MATCH (b) RETURN count(b)",
            "MATCH (b) RETURN count(b) = 1 AND true",
            "MATCH (b) RETURN count(b) = 1, 2",
            "MATCH (b) RETURN NOT count(b) = 1",
            "MATCH (a)-->(b) RETURN (a)-->(b)",
            "MATCH (b) RETURN b.x =~ 'a'",
            "RETURN 1 < 2 < 3",
            "RETURN 1 = 1 UNION RETURN 2 = 2",
            "RETURN 1 = 1 // = 2",
            "CREATE (n)",
        ] {
            assert_eq!(of(cypher), None, "{cypher}");
        }
    }

    #[test]
    fn what_was_there_is_taken_away_from_the_side_that_counts() {
        let table = |left: i64, right: i64| Table {
            columns: vec!["left".to_owned(), "right".to_owned()],
            rows: vec![vec![Value::Int(left), Value::Int(right)]],
        };
        let one = sides("MATCH (b) RETURN count(b) = 1").unwrap();
        assert_eq!(one.without(&table(2, 1), &table(3, 1)), Some(true), "the third conversation");
        assert_eq!(one.without(&table(2, 1), &table(4, 1)), Some(false), "done twice");
        assert_eq!(one.without(&table(2, 1), &table(2, 1)), Some(false), "not done");
        let turned = sides("MATCH (b) RETURN 1 = count(b)").unwrap();
        assert_eq!(turned.without(&table(1, 2), &table(1, 3)), Some(true));
        assert_eq!(sides("MATCH (b) RETURN count(b) < 2").unwrap().without(&table(5, 2), &table(6, 2)), Some(true));
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in "(RETURN |AS |[a-z ()\\[\\]{}'\"`.,=<>é\n-]){0,20}") {
            let _ = sides(&text);
        }
    }
}
