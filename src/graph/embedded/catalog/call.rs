//! `CALL procedure() YIELD …` and `SHOW …`, as statements over rows that are given as a parameter.
//!
//! ```text
//! CALL db.labels() YIELD label WHERE label STARTS WITH 'P' RETURN label
//! UNWIND $_anon_call0 AS _anon_row0 WITH _anon_row0.`label` AS label WHERE label STARTS WITH 'P' RETURN label
//! ```

use std::collections::HashMap;

use graphdblite::Value as Engine;

use super::{procedures, show};
use crate::graph::cypher::{Kind, Token, closing, significant};
use crate::graph::embedded::engine::Store;
use crate::graph::embedded::gap;
use crate::graph::embedded::refusal::{Refusal, RefusalReason};
use crate::graph::embedded::stages::past;
use crate::graph::{GraphError, GraphErrorKind};

/// Rows under names.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Rows {
    pub(super) columns: &'static [&'static str],
    pub(super) rows: Vec<Vec<Engine>>,
}

/// A statement without calls.
#[derive(Debug, Clone, PartialEq, Default)]
pub(in crate::graph::embedded) struct Rewritten {
    /// The statement; empty when there is nothing left to do.
    pub(in crate::graph::embedded) text: String,
    /// Its further parameters.
    pub(in crate::graph::embedded) given: HashMap<String, Engine>,
}

/// Writes a statement without its calls; `None` when it has none that is known here.
pub(in crate::graph::embedded) fn rewrite(store: &Store, statement: &str) -> Result<Option<Rewritten>, Refusal> {
    let tokens = significant(statement);
    let mut rewritten = Rewritten::default();
    if tokens.first().is_some_and(|first| first.is_word("SHOW")) {
        let Some(shown) = show::shown(store, &tokens)? else { return Ok(None) };
        let (yielded, tail) = yields(statement, &tokens, shown.next, true)?;
        let rows = if yielded.is_some() { shown.full } else { shown.brief };
        let items = chosen(&rows, yielded.as_deref())?;
        let filters = tokens.get(tail).is_some_and(|token| token.is_word("WHERE"));
        let returns = (tail..tokens.len()).any(|at| tokens[at].is_word("RETURN") && yielded.is_some());
        if !filters && tail < tokens.len() && yielded.is_none() {
            return Err(mistake("SHOW takes YIELD or WHERE, and RETURN only after YIELD."));
        }
        let source = rewritten.source(&rows);
        let rest = tokens.get(tail).map_or("", |token| &statement[token.at..]);
        let last = if returns { String::new() } else { format!(" RETURN {}", names(&items)) };
        rewritten.text = format!("{source} WITH {} {rest}{last}", columns(&items, 0));
        return Ok(Some(rewritten));
    }
    let (mut at, mut written) = (0, 0);
    while at < tokens.len() {
        let Some(call) = call(&tokens, at) else {
            at = past(&tokens, at);
            continue;
        };
        // The engine has procedures of its own, which Neo4j has not.
        let Some(procedure) = procedures::procedure(&call.name) else { return Err(missing(&call.name)) };
        procedure.accepts(&call.arguments)?;
        let (yielded, tail) = yields(statement, &tokens, call.next, false)?;
        let filtered = (tail < tokens.len() && tokens[tail].is_word("WHERE")).then(|| end(&tokens, tail + 1));
        let next = filtered.unwrap_or(tail);
        let first = at == 0 || tokens[at - 1].is_word("UNION") || tokens[at - 1].is_word("ALL");
        let alone = at == 0 && next == tokens.len();
        let rows = procedure.rows(store)?;
        let text = if rows.columns.is_empty() {
            if yielded.is_some() {
                return Err(mistake("Cannot yield value from void procedure."));
            }
            String::new()
        } else {
            if yielded.is_none() && !alone {
                return Err(mistake(
                    "Procedure call inside a query does not support naming results implicitly (name explicitly using \
                     `YIELD` instead)",
                ));
            }
            let items = chosen(&rows, yielded.as_deref())?;
            let number = rewritten.given.len();
            let source = rewritten.source(&rows);
            let filter = filtered.map_or("", |end| &statement[tokens[tail].at..tokens[end - 1].end()]);
            let last = if alone { format!(" RETURN {}", names(&items)) } else { String::new() };
            if first {
                format!("{source} WITH {} {filter}{last}", columns(&items, number))
            } else {
                // The engine has no `WITH *, x`.
                let item = |(column, alias): &Item<'_>| format!(" UNWIND [_anon_row{number}.`{column}`] AS {alias}");
                let all = if filtered.is_some() { " WITH * " } else { "" };
                format!("{source}{}{all}{filter}", items.iter().map(item).collect::<String>())
            }
        };
        rewritten.text.push_str(&statement[written..tokens[at].at]);
        rewritten.text.push_str(&text);
        rewritten.text.push(' ');
        written = tokens.get(next).map_or(statement.len(), |token| token.at);
        at = next;
        if alone {
            return Ok(Some(rewritten));
        }
    }
    if written == 0 {
        return Ok(None);
    }
    rewritten.text.push_str(&statement[written..]);
    Ok(Some(rewritten))
}

impl Rewritten {
    /// The rows as a parameter, and the clause that begins with them.
    fn source(&mut self, rows: &Rows) -> String {
        let number = self.given.len();
        let map = |row: &Vec<Engine>| {
            Engine::Map(rows.columns.iter().map(|column| (*column).to_owned()).zip(row.iter().cloned()).collect())
        };
        self.given.insert(format!("_anon_call{number}"), Engine::List(rows.rows.iter().map(map).collect()));
        format!("UNWIND $_anon_call{number} AS _anon_row{number}")
    }
}

/// Whether a statement asks about the server and not about the graph.
pub(in crate::graph::embedded) fn administers(statement: &str) -> bool {
    let tokens = significant(statement);
    let word = |at: usize, word: &str| tokens.get(at).is_some_and(|token| token.is_word(word));
    let shows = word(0, "SHOW")
        && (1..3).any(|at| ["DATABASE", "DATABASES", "USER", "USERS"].iter().any(|sort| word(at, sort)));
    let calls = |at| {
        call(&tokens, at)
            .and_then(|call| procedures::procedure(&call.name))
            .is_some_and(|procedure| procedure.administers())
    };
    shows || (0..tokens.len()).any(calls)
}

/// Refuses a procedure that isn't there.
fn missing(name: &str) -> Refusal {
    let error = match gap::is_procedure(name) {
        true => gap::unsupported(&format!("The procedure {name}()"), None),
        false => GraphError {
            kind: GraphErrorKind::Statement,
            message: format!("There is no procedure with the name `{name}`."),
        },
    };
    Refusal { reason: RefusalReason::Procedure, error }
}

struct Call<'t, 'a> {
    name: String,
    arguments: Vec<&'t [Token<'a>]>,
    /// The token after it.
    next: usize,
}

/// `CALL name(…)` or `CALL name` at this token.
fn call<'t, 'a>(tokens: &'t [Token<'a>], at: usize) -> Option<Call<'t, 'a>> {
    let named = at.checked_sub(1).is_some_and(|before| tokens[before].is(".") || tokens[before].is(":"));
    if named || !tokens[at].is_word("CALL") {
        return None;
    }
    let mut next = at + 1;
    let mut name = String::new();
    loop {
        let part = tokens.get(next).filter(|part| matches!(part.kind, Kind::Word | Kind::Backtick))?;
        name.push_str(part.text.trim_matches('`'));
        next += 1;
        if !tokens.get(next).is_some_and(|dot| dot.is(".")) {
            break;
        }
        name.push('.');
        next += 1;
    }
    let mut arguments = Vec::new();
    if tokens.get(next).is_some_and(|open| open.is("(")) {
        let close = closing(tokens, next)?;
        let (mut from, mut at) = (next + 1, next + 1);
        while at < close {
            if tokens[at].is(",") {
                arguments.push(&tokens[from..at]);
                from = at + 1;
            }
            at = past(tokens, at);
        }
        if from < close {
            arguments.push(&tokens[from..close]);
        }
        next = close + 1;
    }
    Some(Call { name, arguments, next })
}

/// A column and the name that it gets.
type Item<'a> = (String, &'a str);

/// `YIELD *` or `YIELD name AS alias, …` at this token, and the token after it. An empty list means all.
fn yields<'a>(
    statement: &'a str,
    tokens: &[Token<'a>],
    at: usize,
    shows: bool,
) -> Result<(Option<Vec<Item<'a>>>, usize), Refusal> {
    if !tokens.get(at).is_some_and(|token| token.is_word("YIELD")) {
        return Ok((None, at));
    }
    if tokens.get(at + 1).is_some_and(|star| star.is("*")) {
        return Ok((Some(Vec::new()), at + 2));
    }
    let wrong =
        || mistake(if shows { "This SHOW … YIELD is not understood." } else { "This YIELD is not understood." });
    let (mut items, mut at) = (Vec::new(), at + 1);
    loop {
        let column =
            tokens.get(at).filter(|token| matches!(token.kind, Kind::Word | Kind::Backtick)).ok_or_else(wrong)?;
        let mut alias = column;
        at += 1;
        if tokens.get(at).is_some_and(|token| token.is_word("AS")) {
            alias = tokens.get(at + 1).ok_or_else(wrong)?;
            at += 2;
        }
        items.push((column.text.trim_matches('`').to_owned(), &statement[alias.at..alias.end()]));
        if !tokens.get(at).is_some_and(|token| token.is(",")) {
            return Ok((Some(items), at));
        }
        at += 1;
    }
}

/// The columns that are yielded; all of them when none is named.
fn chosen<'a>(rows: &Rows, yielded: Option<&[Item<'a>]>) -> Result<Vec<Item<'a>>, Refusal> {
    match yielded {
        None | Some([]) => Ok(rows.columns.iter().map(|column| ((*column).to_owned(), *column)).collect()),
        Some(items) => match items.iter().find(|(column, _)| !rows.columns.contains(&column.as_str())) {
            Some((column, _)) => Err(mistake(&format!("Unknown procedure output: `{column}`"))),
            None => Ok(items.to_vec()),
        },
    }
}

fn columns(items: &[Item<'_>], number: usize) -> String {
    let item = |(column, alias): &Item<'_>| format!("_anon_row{number}.`{column}` AS {alias}");
    items.iter().map(item).collect::<Vec<_>>().join(", ")
}

fn names(items: &[Item<'_>]) -> String {
    items.iter().map(|(_, alias)| *alias).collect::<Vec<_>>().join(", ")
}

/// Where a WHERE after YIELD ends: at the next clause.
fn end(tokens: &[Token<'_>], from: usize) -> usize {
    const CLAUSES: [&str; 13] = [
        "MATCH", "OPTIONAL", "UNWIND", "CREATE", "MERGE", "SET", "DELETE", "DETACH", "REMOVE", "CALL", "WITH",
        "RETURN", "UNION",
    ];
    let mut at = from;
    while at < tokens.len() {
        let name = tokens[at - 1].is(".") || tokens[at - 1].is(":") || tokens[at - 1].is_word("AS");
        let predicate = tokens[at - 1].is_word("STARTS") || tokens[at - 1].is_word("ENDS");
        if !name && !predicate && CLAUSES.iter().any(|clause| tokens[at].is_word(clause)) {
            return at;
        }
        at = past(tokens, at);
    }
    tokens.len()
}

pub(super) fn mistake(message: &str) -> Refusal {
    Refusal::statement(message)
}
