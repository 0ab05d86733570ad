//! Whether a query fixes the order of its rows.

use crate::cypher::Statement;

/// Whether the last `RETURN` of the query has an `ORDER BY`. The branches of a `UNION` have no order together, whatever the
/// last one says.
pub(super) fn is_ordered(cypher: &str) -> bool {
    let statement = Statement::parse(cypher);
    let last = statement.projections.iter().rev().find(|projection| projection.returns);
    !statement.has_union() && last.is_some_and(|last| !last.sorts.is_empty())
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
