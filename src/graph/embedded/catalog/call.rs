//! `CALL procedure() YIELD …` and `SHOW …`, as statements over rows that are given as a parameter.
//!
//! ```text
//! CALL db.labels() YIELD label WHERE label STARTS WITH 'P' RETURN label
//! UNWIND $_anon_call0 AS _anon_row0 WITH _anon_row0.`label` AS label WHERE label STARTS WITH 'P' RETURN label
//! ```

use std::collections::HashMap;

use graphdblite::Value as Engine;

use super::{procedures, show};
use crate::cypher::Statement;
use crate::graph::embedded::engine::OpenDatabase;
use crate::graph::embedded::error::{StatementError, StatementErrorKind};
use crate::graph::embedded::gap;

/// Rows with named columns.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct NamedRows {
    pub(super) columns: Vec<&'static str>,
    pub(super) rows: Vec<Vec<Engine>>,
}

/// A statement without calls.
#[derive(Debug, Clone, PartialEq, Default)]
pub(in crate::graph::embedded) struct RewrittenCall {
    /// The statement; empty when there is nothing left to do.
    pub(in crate::graph::embedded) text: String,
    /// Its further parameters.
    pub(in crate::graph::embedded) given: HashMap<String, Engine>,
}

/// Writes a statement without its calls; `None` when it has none that is known here.
pub(in crate::graph::embedded) fn rewrite(
    store: &OpenDatabase,
    s: &Statement<'_>,
) -> Result<Option<RewrittenCall>, StatementError> {
    if s.keyword(0, "SHOW") {
        return show::shown(store, s)?.map(|shown| showing(s, shown)).transpose();
    }
    let mut rewritten = RewrittenCall::default();
    let (mut at, mut written) = (0, 0);
    while at < s.len() {
        let Some(call) = call(s, at) else {
            at = s.past(at);
            continue;
        };
        // The engine has procedures of its own, which Neo4j has not.
        let Some(procedure) = procedures::procedure(&call.name) else { return Err(missing(&call.name)) };
        procedure.accepts(call.arguments)?;
        let (yielded, tail) = yields(s, call.next)?;
        let next = if s.keyword(tail, "WHERE") { s.part_end(tail + 1) } else { tail };
        let alone = at == 0 && next == s.len();
        let rows = procedure.rows(store)?;
        rewritten.text.push_str(&s.text[written..s.tokens[at].at]);
        if rows.columns.is_empty() {
            if yielded.is_some() {
                return Err(StatementError::statement("Cannot yield value from void procedure."));
            }
        } else if yielded.is_none() && !alone {
            return Err(StatementError::statement(
                "Procedure call inside a query does not support naming results implicitly (name explicitly using \
                 `YIELD` instead)",
            ));
        } else {
            let items = chosen(&rows, yielded.as_deref())?;
            let number = rewritten.given.len();
            let source = rewritten.source(&rows);
            let filter = s.text(&(tail..next));
            if at == 0 || s.keyword(at - 1, "UNION ALL") {
                let last = if alone { format!(" RETURN {}", names(&items)) } else { String::new() };
                rewritten.text.push_str(&format!("{source} WITH {} {filter}{last}", columns(&items, number)));
            } else {
                // The engine has no `WITH *, x`.
                let item =
                    |(column, alias): &YieldItem<'_>| format!(" UNWIND [_anon_row{number}.`{column}`] AS {alias}");
                let all = if filter.is_empty() { "" } else { " WITH * " };
                rewritten
                    .text
                    .push_str(&format!("{source}{}{all}{filter}", items.iter().map(item).collect::<String>()));
            }
        }
        rewritten.text.push(' ');
        written = s.text.len() - s.rest(next).len();
        at = next;
        if alone {
            return Ok(Some(rewritten));
        }
    }
    if written == 0 {
        return Ok(None);
    }
    rewritten.text.push_str(&s.text[written..]);
    Ok(Some(rewritten))
}

fn showing(s: &Statement<'_>, shown: show::ShowAnswer) -> Result<RewrittenCall, StatementError> {
    let mut rewritten = RewrittenCall::default();
    let (yielded, tail) = yields(s, shown.next)?;
    let rows = if yielded.is_some() { shown.full } else { shown.brief };
    let items = chosen(&rows, yielded.as_deref())?;
    let returns = (tail..s.len()).any(|at| s.keyword(at, "RETURN") && yielded.is_some());
    if !s.keyword(tail, "WHERE") && tail < s.len() && yielded.is_none() {
        return Err(StatementError::statement("SHOW takes YIELD or WHERE, and RETURN only after YIELD."));
    }
    let source = rewritten.source(&rows);
    let last = if returns { String::new() } else { format!(" RETURN {}", names(&items)) };
    rewritten.text = format!("{source} WITH {} {}{last}", columns(&items, 0), s.rest(tail));
    Ok(rewritten)
}

impl RewrittenCall {
    /// The rows as a parameter, and the clause that begins with them.
    fn source(&mut self, rows: &NamedRows) -> String {
        let number = self.given.len();
        let map = |row: &Vec<Engine>| {
            Engine::Map(rows.columns.iter().map(|column| (*column).to_owned()).zip(row.iter().cloned()).collect())
        };
        self.given.insert(format!("_anon_call{number}"), Engine::List(rows.rows.iter().map(map).collect()));
        format!("UNWIND $_anon_call{number} AS _anon_row{number}")
    }
}

/// Whether a statement asks about the server and not about the graph.
pub(in crate::graph::embedded) fn administers(s: &Statement<'_>) -> bool {
    let shows = s.keyword(0, "SHOW") && (1..3).any(|at| s.keyword(at, "DATABASE DATABASES USER USERS"));
    let calls = |at| call(s, at).and_then(|call| procedures::procedure(&call.name));
    shows || (0..s.len()).filter_map(calls).any(|procedure| procedure.administers())
}

/// Refuses a procedure that isn't there.
fn missing(name: &str) -> StatementError {
    let refusal = match gap::is_procedure(name) {
        true => gap::unsupported(&format!("The procedure {name}()"), None).into(),
        false => StatementError::statement(format!("There is no procedure with the name `{name}`.")),
    };
    StatementError { reason: StatementErrorKind::Procedure, ..refusal }
}

struct ProcedureCall {
    name: String,
    /// The number of arguments.
    arguments: usize,
    /// The token after it.
    next: usize,
}

/// `CALL name(…)` or `CALL name` at this token.
fn call(s: &Statement<'_>, at: usize) -> Option<ProcedureCall> {
    if s.symbol(at.wrapping_sub(1), ".:") || !s.keyword(at, "CALL") {
        return None;
    }
    let mut next = at + 2;
    while s.is(next, ".") {
        next += 2;
    }
    if !(at + 1..next).step_by(2).all(|part| s.named(part)) {
        return None;
    }
    let name = (at + 1..next).map(|part| s.at(part).trim_matches('`')).collect();
    let mut arguments = 0;
    if s.is(next, "(") {
        let close = s.close(next)?;
        arguments = s.list(next + 1..close).iter().filter(|argument| !argument.is_empty()).count();
        next = close + 1;
    }
    Some(ProcedureCall { name, arguments, next })
}

/// A column and the name that it gets.
type YieldItem<'a> = (String, &'a str);

/// `YIELD *` or `YIELD name AS alias, …` at this token, and the token after it. An empty list means all.
fn yields<'a>(s: &Statement<'a>, at: usize) -> Result<(Option<Vec<YieldItem<'a>>>, usize), StatementError> {
    if !s.keyword(at, "YIELD") {
        return Ok((None, at));
    }
    if s.is(at + 1, "*") {
        return Ok((Some(Vec::new()), at + 2));
    }
    let (mut items, mut at) = (Vec::new(), at + 1);
    loop {
        let alias = if s.keyword(at + 1, "AS") { at + 2 } else { at };
        if !s.named(at) || alias >= s.len() {
            return Err(StatementError::statement("This YIELD is not understood."));
        }
        items.push((s.at(at).trim_matches('`').to_owned(), s.at(alias)));
        at = alias + 1;
        if !s.is(at, ",") {
            return Ok((Some(items), at));
        }
        at += 1;
    }
}

/// The columns that are yielded; all of them when none is named.
fn chosen<'a>(rows: &NamedRows, yielded: Option<&[YieldItem<'a>]>) -> Result<Vec<YieldItem<'a>>, StatementError> {
    match yielded {
        None | Some([]) => Ok(rows.columns.iter().map(|column| ((*column).to_owned(), *column)).collect()),
        Some(items) => match items.iter().find(|(column, _)| !rows.columns.contains(&column.as_str())) {
            Some((column, _)) => Err(StatementError::statement(format!("Unknown procedure output: `{column}`"))),
            None => Ok(items.to_vec()),
        },
    }
}

fn columns(items: &[YieldItem<'_>], number: usize) -> String {
    let item = |(column, alias): &YieldItem<'_>| format!("_anon_row{number}.`{column}` AS {alias}");
    items.iter().map(item).collect::<Vec<_>>().join(", ")
}

fn names(items: &[YieldItem<'_>]) -> String {
    items.iter().map(|(_, alias)| *alias).collect::<Vec<_>>().join(", ")
}
