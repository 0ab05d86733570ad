//! The column names of a statement's result, read off its last RETURN.

use super::token::{Kind, Token, significant};

/// What a statement returns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::graph) enum Columns {
    /// It has no RETURN at the top: no rows, whatever it does.
    Nothing,
    /// `RETURN *`: what is in scope, which only the backend knows, and then these.
    Star(Vec<String>),
    /// Only the backend knows: a procedure's own columns, or what is no Cypher.
    Unknown,
    /// The names: an alias, or else the expression as it was written.
    Named(Vec<String>),
}

/// The columns of one statement.
pub(in crate::graph) fn columns(statement: &str) -> Columns {
    let tokens = significant(statement);
    let depths = depths(&tokens);
    let top = |at: usize, word: &str| depths[at] == 0 && tokens[at].is_word(word) && !is_name(&tokens, at);
    let Some(start) = (0..tokens.len()).rev().find(|at| top(*at, "RETURN")) else {
        return if tokens.first().is_some_and(|first| first.is_word("CALL")) {
            Columns::Unknown
        } else {
            Columns::Nothing
        };
    };
    let ends = |at: usize| {
        top(at, "UNION")
            || top(at, "SKIP")
            || top(at, "LIMIT")
            || top(at, "ORDER") && tokens.get(at + 1).is_some_and(|next| next.is_word("BY"))
            || depths[at] == 0 && tokens[at].is(";")
    };
    let first = if tokens.get(start + 1).is_some_and(|next| next.is_word("DISTINCT")) { start + 2 } else { start + 1 };
    let end = (first..tokens.len()).find(|at| ends(*at)).unwrap_or(tokens.len());
    let (mut names, mut star) = (Vec::new(), false);
    let mut from = first;
    for at in first..=end {
        if at == end || depths[at] == 0 && tokens[at].is(",") {
            match &tokens[from..at] {
                [] => return Columns::Unknown,
                [only] if only.is("*") => star = true,
                item => names.push(name(statement, item)),
            }
            from = at + 1;
        }
    }
    if star { Columns::Star(names) } else { Columns::Named(names) }
}

/// The name of one item, which has at least one token.
fn name(statement: &str, item: &[Token<'_>]) -> String {
    let (first, last) = (&item[0], &item[item.len() - 1]);
    let aliased = item.len() > 2 && item[item.len() - 2].is_word("AS");
    match last.kind {
        Kind::Backtick if aliased || item.len() == 1 => unquoted(last.text),
        _ if aliased => last.text.to_owned(),
        _ => statement[first.at..last.end()].to_owned(),
    }
}

fn unquoted(backticks: &str) -> String {
    backticks.strip_prefix('`').and_then(|name| name.strip_suffix('`')).unwrap_or(backticks).replace("``", "`")
}

/// Whether a word stands where only a name can: `n.return`, `:RETURN`, `AS return`.
fn is_name(tokens: &[Token<'_>], at: usize) -> bool {
    at.checked_sub(1)
        .map(|before| &tokens[before])
        .is_some_and(|before| before.is(".") || before.is(":") || before.is("|") || before.is_word("AS"))
}

/// How many brackets are open around each token. `CASE … END` is one, too.
fn depths(tokens: &[Token<'_>]) -> Vec<usize> {
    let (mut depth, mut depths, mut cases) = (0usize, Vec::with_capacity(tokens.len()), Vec::new());
    for (at, token) in tokens.iter().enumerate() {
        if token.kind == Kind::Symbol && matches!(token.text, ")" | "]" | "}") {
            depth = depth.saturating_sub(1);
        }
        depths.push(depth);
        if token.kind == Kind::Symbol && matches!(token.text, "(" | "[" | "{") {
            depth += 1;
        }
        let is_key = || is_name(tokens, at) || tokens.get(at + 1).is_some_and(|next| next.is(":"));
        if token.is_word("CASE") && !is_key() {
            cases.push(at);
        } else if token.is_word("END")
            && !is_key()
            && let Some(case) = cases.pop()
        {
            // Only where it ends: a variable may have the name.
            depths[case + 1..at].iter_mut().for_each(|depth| *depth += 1);
        }
    }
    depths
}

#[cfg(test)]
mod tests {
    use super::*;

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
