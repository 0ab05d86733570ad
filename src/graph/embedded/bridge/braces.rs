//! What stands in braces: `CALL { … } IN TRANSACTIONS`, `COUNT { … }`, `n {.name}`.

use super::{Bridge, items, next, plain, previous};
use crate::graph::cypher::{Kind, Token, closing};

impl Bridge {
    /// `CALL { WITH a … } IN TRANSACTIONS OF 1000 ROWS` at the end of a statement, when it only writes: as nothing comes
    /// after it, it makes no difference that it is one transaction.
    pub(super) fn batches(&mut self, tokens: &[Token<'_>], at: usize) -> Option<usize> {
        if !tokens[at].is_word("CALL") {
            return None;
        }
        let mut open = next(tokens, at)?;
        let scoped = tokens[open].is("(");
        if scoped {
            open = next(tokens, closing(tokens, open)?)?;
        }
        let close = closing(tokens, open).filter(|_| tokens[open].is("{"))?;
        let after: Vec<&Token<'_>> =
            tokens[close + 1..].iter().filter(|token| !matches!(token.kind, Kind::Space | Kind::Comment)).collect();
        let ends = |words: &[&str], rest: &[&Token<'_>]| {
            words.len() == rest.len()
                && words.iter().zip(rest).all(|(word, token)| match *word {
                    "1" => matches!(token.kind, Kind::Number | Kind::Parameter),
                    word => token.is_word(word),
                })
        };
        if !ends(&["IN", "TRANSACTIONS"], &after)
            && !ends(&["IN", "TRANSACTIONS", "OF", "1", "ROWS"], &after)
            && !ends(&["IN", "TRANSACTIONS", "OF", "1", "ROW"], &after)
        {
            return None;
        }
        let body = &tokens[open + 1..close];
        let first = body.iter().position(|token| !matches!(token.kind, Kind::Space | Kind::Comment))?;
        let writes = |token: &&Token<'_>| {
            ["DELETE", "DETACH", "SET", "REMOVE", "CREATE", "MERGE"].iter().any(|word| token.is_word(word))
        };
        let mut start = first;
        if body[first].is_word("WITH") && !scoped {
            start = body.iter().position(|token| writes(&token))?;
            let plain = |token: &Token<'_>| {
                matches!(token.kind, Kind::Space | Kind::Comment | Kind::Word | Kind::Backtick) || token.is(",")
            };
            if !body[first + 1..start].iter().all(plain) {
                return None;
            }
        }
        let others = ["WITH", "RETURN", "MATCH", "UNWIND", "CALL", "FOREACH", "UNION", "AS", "LOAD"];
        if !writes(&&body[start]) || body[start..].iter().any(|token| others.iter().any(|word| token.is_word(word))) {
            return None;
        }
        let written = self.written(&body[start..]);
        self.text.push_str(&written);
        Some(tokens.len())
    }

    /// `COUNT { pattern WHERE … }`, for one pattern with a relationship in it.
    pub(super) fn count(&mut self, tokens: &[Token<'_>], at: usize) -> Option<usize> {
        let open = next(tokens, at)?;
        if !tokens[at].is_word("COUNT") || !tokens[open].is("{") {
            return None;
        }
        let close = closing(tokens, open)?;
        let mut first = next(tokens, open)?;
        if tokens[first].is_word("MATCH") {
            first = next(tokens, first)?;
        }
        let inside = tokens.get(first..close)?;
        let clauses = ["MATCH", "OPTIONAL", "RETURN", "WITH", "UNWIND", "UNION", "CALL"];
        let mut depth = 0usize;
        let mut relationships = 0;
        for token in inside {
            match token.text {
                "(" | "[" | "{" if token.kind == Kind::Symbol => depth += 1,
                ")" | "]" | "}" if token.kind == Kind::Symbol => depth = depth.checked_sub(1)?,
                "," if depth == 0 => return None,
                "=" if depth == 0 && relationships == 0 => return None,
                "-" if depth == 0 => relationships += 1,
                _ if clauses.iter().any(|clause| token.is_word(clause)) => return None,
                word if depth == 0 && relationships == 0 && word.eq_ignore_ascii_case("WHERE") => return None,
                _ => {}
            }
        }
        if relationships == 0 {
            return None;
        }
        let pattern = self.written(inside);
        self.text.push_str(&format!("size([{} | 1])", pattern.trim()));
        Some(close + 1)
    }

    /// `n {.name, key: value}`.
    pub(super) fn projection(&mut self, tokens: &[Token<'_>], at: usize) -> Option<usize> {
        let open = next(tokens, at)?;
        if !matches!(tokens[at].kind, Kind::Word | Kind::Backtick) || !tokens[open].is("{") {
            return None;
        }
        if previous(tokens, at).is_some_and(|token| token.is(".") || token.is(":") || token.is("|")) {
            return None;
        }
        let close = closing(tokens, open)?;
        if !tokens[next(tokens, open)?].is(".") {
            return None;
        }
        let variable = plain(&tokens[at]);
        let mut entries = Vec::new();
        for item in items(&tokens[open + 1..close]) {
            let first = item.iter().position(|token| !matches!(token.kind, Kind::Space | Kind::Comment))?;
            let entry = if item[first].is(".") {
                let key = next(item, first)?;
                if item[key].is("*") { None } else { Some(format!("{0}: {variable}.{0}", plain(&item[key]))) }
            } else if item.iter().any(|token| token.is(":")) {
                Some(self.written(item).trim().to_owned())
            } else {
                return None;
            };
            entries.push(entry);
        }
        let projected = match entries.iter().cloned().collect::<Option<Vec<String>>>() {
            Some(entries) => format!("(CASE WHEN {variable} IS NULL THEN NULL ELSE {{{}}} END)", entries.join(", ")),
            None if entries.len() == 1 => format!("properties({variable})"),
            None => return None,
        };
        self.text.push_str(&projected);
        Some(close + 1)
    }
}
