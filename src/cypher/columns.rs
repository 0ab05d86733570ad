//! The column names of a statement's result, read off its last RETURN.

use super::statement::{Span, Statement};
use super::token::{TokenKind, unquoted};

/// The columns of a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Columns {
    /// It has no RETURN at the top: no rows, whatever it does.
    Nothing,
    /// `RETURN *`: the variables in scope, which only the backend knows, and then these.
    Star(Vec<String>),
    /// Only the backend knows: a procedure's own columns, or a text that is no Cypher.
    Unknown,
    /// The names: an alias, or else the expression as it was written.
    Named(Vec<String>),
}

/// The columns of one statement.
pub fn columns(statement: &Statement<'_>) -> Columns {
    let Some(last) = statement.projections.iter().rev().find(|projection| projection.returns) else {
        return if statement.keyword(0, "CALL") { Columns::Unknown } else { Columns::Nothing };
    };
    let is_star = |item: &&Span| item.len() == 1 && statement.is(item.start, "*");
    if last.items.iter().any(Span::is_empty) {
        return Columns::Unknown;
    }
    let names = last.items.iter().filter(|item| !is_star(item)).map(|item| name(statement, item)).collect();
    if last.items.iter().any(|item| is_star(&item)) { Columns::Star(names) } else { Columns::Named(names) }
}

fn name(statement: &Statement<'_>, item: &Span) -> String {
    match statement.alias(item) {
        Some(alias) if statement.kind(alias) == Some(TokenKind::Backtick) => unquoted(statement.at(alias)),
        Some(alias) => statement.at(alias).to_owned(),
        None => statement.text(item).to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns(text: &str) -> Columns {
        super::columns(&Statement::parse(text))
    }

    #[test]
    fn columns_are_read_off_the_last_return() {
        for (statement, expected) in [
            ("RETURN 1 AS one, 1+1, 'a, b' AS `two words`", vec!["one", "1+1", "two words"]),
            ("MATCH (n) RETURN n.name, count( * ) ORDER BY n.name LIMIT 2", vec!["n.name", "count( * )"]),
            ("MATCH (n) RETURN DISTINCT n SKIP 1", vec!["n"]),
            ("RETURN 1 AS x UNION ALL RETURN 2 AS x", vec!["x"]),
            ("RETURN {return: 1, b: [1, 2]} AS m, n.return // RETURN 1", vec!["m", "n.return"]),
            ("MATCH (n) WHERE EXISTS { MATCH (n)-->(m) RETURN m } RETURN CASE WHEN true THEN 1 END AS c", vec!["c"]),
            ("RETURN CASE 2 WHEN 1,2 THEN 'a, b' END, 1", vec!["CASE 2 WHEN 1,2 THEN 'a, b' END", "1"]),
            (
                "RETURN CASE x WHEN 1, 2 THEN CASE y WHEN 1, 2 THEN 3 END END AS c, n.case, n.end",
                vec!["c", "n.case", "n.end"],
            ),
            ("RETURN n.limit AS limit, 1 AS skip LIMIT 1", vec!["limit", "skip"]),
            ("RETURN `a b`", vec!["a b"]),
            ("return 1 as Ä;", vec!["Ä"]),
        ] {
            let expected = Columns::Named(expected.into_iter().map(str::to_owned).collect());
            assert_eq!(columns(statement), expected, "{statement}");
        }
    }

    #[test]
    fn what_can_not_be_read_is_left_to_the_backend() {
        assert_eq!(columns("MATCH (n) RETURN *"), Columns::Star(vec![]));
        assert_eq!(columns("MATCH (n) RETURN *, 1 AS x"), Columns::Star(vec!["x".to_owned()]));
        assert_eq!(columns("CALL db.labels()"), Columns::Unknown);
        assert_eq!(columns("RETURN"), Columns::Unknown);
    }

    #[test]
    fn a_statement_without_return_returns_nothing() {
        assert_eq!(columns("CREATE (:RETURN {x: 1})"), Columns::Nothing);
        assert_eq!(columns("MATCH (n) SET n.return = 1"), Columns::Nothing);
        assert_eq!(columns(""), Columns::Nothing);
    }
}
