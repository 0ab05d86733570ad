//! Rewrites of braces: `CALL { … } IN TRANSACTIONS`, `COUNT { … }`, `n {.name}`.

use super::{Rewritten, plain, write};
use crate::cypher::{Statement, TokenKind};

const WRITES: &str = "DELETE DETACH SET REMOVE CREATE MERGE";

/// `CALL { WITH a … } IN TRANSACTIONS OF 1000 ROWS` at the end of a statement, when it only writes: as nothing comes
/// after it, it makes no difference that it is one transaction.
pub(super) fn batches(s: &Statement<'_>, at: usize) -> Rewritten {
    if !s.keyword(at, "CALL") {
        return None;
    }
    let scoped = s.is(at + 1, "(");
    let open = if scoped { s.close(at + 1)? + 1 } else { at + 1 };
    let close = s.close(open).filter(|_| s.is(open, "{"))?;
    let counts = matches!(s.kind(close + 4), Some(TokenKind::Number | TokenKind::Parameter));
    let sized = s.keyword(close + 3, "OF") && counts && s.keyword(close + 5, "ROWS ROW") && s.len() == close + 6;
    if !s.keyword(close + 1, "IN") || !s.keyword(close + 2, "TRANSACTIONS") || !sized && s.len() != close + 3 {
        return None;
    }
    let mut start = open + 1;
    if s.keyword(start, "WITH") && !scoped {
        start = (start..close).find(|at| s.keyword(*at, WRITES))?;
        if !(open + 2..start).all(|at| s.named(at) || s.is(at, ",")) {
            return None;
        }
    }
    let others = (start..close).any(|at| s.keyword(at, "WITH RETURN MATCH UNWIND CALL FOREACH UNION AS LOAD"));
    (s.keyword(start, WRITES) && !others).then(|| (write(s, start..close), s.len()))
}

/// `COUNT { pattern WHERE … }`, for one pattern with a relationship in it.
pub(super) fn count(s: &Statement<'_>, at: usize) -> Rewritten {
    if !s.keyword(at, "COUNT") || !s.is(at + 1, "{") {
        return None;
    }
    let close = s.close(at + 1)?;
    let first = at + 2 + usize::from(s.keyword(at + 2, "MATCH"));
    let mut relates = false;
    for inside in first..close {
        let top = s.open(inside) == Some(at + 1);
        if s.keyword(inside, "MATCH OPTIONAL RETURN WITH UNWIND UNION CALL")
            || top && s.is(inside, ",")
            || top && !relates && (s.is(inside, "=") || s.keyword(inside, "WHERE"))
        {
            return None;
        }
        relates |= top && s.is(inside, "-");
    }
    relates.then(|| (format!("size([{} | 1])", write(s, first..close)), close + 1))
}

/// `n {.name, key: value}`.
pub(super) fn projection(s: &Statement<'_>, at: usize) -> Rewritten {
    if !s.named(at) || !s.is(at + 1, "{") || !s.is(at + 2, ".") || s.symbol(at.wrapping_sub(1), ".:|") {
        return None;
    }
    let close = s.close(at + 1)?;
    let (variable, items) = (plain(s, at), s.list(at + 2..close));
    let all = |first: usize| s.is(first, ".") && s.is(first + 1, "*");
    if items.len() == 1 && all(at + 2) {
        return Some((format!("properties({variable})"), close + 1));
    }
    let entry = |item: crate::cypher::Span| match item.start {
        first if item.is_empty() || all(first) => None,
        first if s.is(first, ".") => Some(format!("{0}: {variable}.{0}", plain(s, first + 1))),
        _ if item.clone().any(|at| s.is(at, ":")) => Some(write(s, item)),
        _ => None,
    };
    let entries = items.into_iter().map(entry).collect::<Option<Vec<_>>>()?.join(", ");
    Some((format!("(CASE WHEN {variable} IS NULL THEN NULL ELSE {{{entries}}} END)"), close + 1))
}
