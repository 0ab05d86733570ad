//! Whether every statement of a text keeps to one user's part of the graph, as far as its tokens show.

use super::split::split;
use super::token::{Token, TokenKind, significant};

/// Which statement names no `$user`, quoted; `None` when all do. Statements about indexes and constraints touch no data.
pub fn unscoped_problem(text: &str) -> Option<String> {
    let unscoped = split(text).into_iter().find(|statement| {
        let tokens = significant(statement);
        !is_schema(&tokens) && !tokens.iter().any(names_user)
    })?;
    let text = unscoped.split_whitespace().collect::<Vec<_>>().join(" ");
    const LONGEST: usize = 80;
    let cut = text.char_indices().nth(LONGEST).map(|(at, _)| format!("{}…", &text[..at]));
    Some(cut.unwrap_or(text))
}

fn names_user(token: &Token<'_>) -> bool {
    token.kind == TokenKind::Parameter && matches!(token.text, "$user" | "$`user`")
}

/// `CREATE … INDEX`, `DROP … CONSTRAINT`: the leading keywords.
fn is_schema(tokens: &[Token<'_>]) -> bool {
    let creates = tokens.first().is_some_and(|first| first.keyword("CREATE DROP"));
    let mut leading = tokens.iter().take_while(|token| token.kind == TokenKind::Word);
    creates && leading.any(|token| token.keyword("INDEX CONSTRAINT"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_statement_must_name_the_user_outside_of_strings_and_comments() {
        for scoped in [
            "MATCH (u:User {id: $user}) RETURN u",
            "MERGE (:A {u: $`user`}); CREATE CONSTRAINT one IF NOT EXISTS FOR (u:User) REQUIRE u.id IS UNIQUE",
            "create or replace fulltext index names FOR (n:Person) ON EACH [n.name]",
            "DROP INDEX names IF EXISTS",
            "// nothing",
        ] {
            assert_eq!(unscoped_problem(scoped), None, "{scoped}");
        }
        for (text, statement) in [
            ("MATCH (n)  DETACH\nDELETE n", "MATCH (n) DETACH DELETE n"),
            ("MERGE (:A {u: $user}); CREATE (:Index)", "CREATE (:Index)"),
            ("RETURN '$user'", "RETURN '$user'"),
            ("RETURN 1 // $user", "RETURN 1 // $user"),
            ("RETURN $users", "RETURN $users"),
            ("RETURN `$user`", "RETURN `$user`"),
            ("CREATE (c:INDEX)", "CREATE (c:INDEX)"),
        ] {
            assert_eq!(unscoped_problem(text).as_deref(), Some(statement), "{text}");
        }
        assert_eq!(unscoped_problem(&format!("RETURN '{}'", "é".repeat(100))).unwrap().chars().count(), 81);
    }
}
