//! Problems of a Cypher text that are errors on any backend. A valid text is never refused: what only a compiler can know
//! is left to the backend.

use super::split::split;
use super::statement::Statement;
use super::token::{Token, TokenKind, is_one_of, significant};
use crate::text::nearest;

/// The parameters that every statement is given.
const PARAMETERS: &str = "user sessionId trial model";

/// The purpose of a Cypher text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CypherUse {
    /// An assertion: one statement that only reads.
    Reads,
    /// A setup: any number of statements.
    Writes,
}

/// A problem of a text, and its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CypherProblem {
    /// The line within the text, from 1.
    pub line: usize,
    /// The column within the line, in characters, from 1.
    pub column: usize,
    /// The problem, in a sentence.
    pub message: String,
    /// A suggestion.
    pub help: Option<String>,
}

/// Words with which a clause begins that changes the graph.
const WRITES: &str = "CREATE MERGE SET REMOVE DELETE";

/// Words after which an expression or a name stands, and no clause.
const BEFORE_NAMES: &str =
    "AS RETURN WITH BY DISTINCT AND OR XOR NOT IN WHERE THEN ELSE WHEN CASE UNWIND YIELD SKIP LIMIT CONTAINS";

/// Words with which a statement begins.
const FIRST: &str = "MATCH OPTIONAL CREATE MERGE WITH UNWIND RETURN CALL FOREACH LOAD DROP SHOW DETACH DELETE REMOVE \
                     EXPLAIN PROFILE";

/// Words that may be misspelled after a bracket.
const CLAUSES: &str = "WHERE RETURN WITH MATCH OPTIONAL ORDER";

/// Words that may stand after a bracket, and are no misspelling of those.
const AFTER_BRACKETS: &str = "WHERE RETURN WITH MATCH OPTIONAL ORDER SKIP OFFSET LIMIT UNION UNWIND SET REMOVE DELETE DETACH \
                              CREATE MERGE CALL YIELD AND OR XOR IN IS NOT STARTS ENDS CONTAINS AS ASC DESC ASCENDING \
                              DESCENDING THEN ELSE WHEN END ON FOREACH FINISH USE USING COLLATE FILTER LET NEXT INSERT";

/// Whether this is the name of a parameter without its `$`, as in `{id: user}`: a value in a map or beside `=`, of a name
/// that stands nowhere where it could be bound.
fn is_bare_parameter(s: &Statement<'_>, place: usize) -> bool {
    let name = s.at(place);
    let is_same = |at: &usize| s.kind(*at) == Some(TokenKind::Word) && s.at(*at) == name;
    let before = |at: usize, symbol: &str| at.checked_sub(1).is_some_and(|at| s.is(at, symbol));
    let in_map = |at: usize| s.open(at).is_some_and(|bracket| s.is(bracket, "{"));
    let is_value = |at: usize| {
        let is_whole =
            !s.symbol(at + 1, ".([{:") && (s.symbol(at + 1, "})],") || s.kind(at + 1) != Some(TokenKind::Symbol));
        is_whole && (in_map(at) && before(at, ":") || before(at, "="))
    };
    // Keys, properties and labels bind nothing.
    let is_key = |at: usize| in_map(at) && s.is(at + 1, ":");
    let binds_nothing = |at: usize| is_value(at) || before(at, ".") || before(at, ":") || is_key(at);
    PARAMETERS.split(' ').any(|known| known == name)
        && is_same(&place)
        && is_value(place)
        && (0..s.len()).filter(is_same).all(binds_nothing)
}

/// The first problem of an assertion's Cypher: an unknown parameter, a bracket or quote that is
/// never closed, a misspelled first keyword, more statements than one, a write.
pub fn assertion_problem(text: &str) -> Option<CypherProblem> {
    cypher_problem(text, CypherUse::Reads)
}

/// The first thing that is wrong with a setup's Cypher, which may be several statements that write.
pub fn setup_problem(text: &str) -> Option<CypherProblem> {
    cypher_problem(text, CypherUse::Writes)
}

fn cypher_problem(text: &str, used: CypherUse) -> Option<CypherProblem> {
    let at = |byte: usize, message: String, help: Option<String>| {
        let before = &text[..byte];
        let start = before.rfind('\n').map_or(0, |place| place + 1);
        let (line, column) = (before.matches('\n').count() + 1, before[start..].chars().count() + 1);
        Some(CypherProblem { line, column, message, help })
    };
    let whole = Statement::parse(text);
    let tokens = &whole.tokens;
    if tokens.is_empty() {
        return at(0, "there is no statement in this text".to_owned(), Some("write one, like RETURN 1".to_owned()));
    }
    if let Some((byte, message)) = unclosed(tokens) {
        return at(byte, message, None);
    }
    for statement in split(text) {
        let first = significant(statement).first().map(|token| token.text).unwrap_or_default();
        let known = is_one_of(first, FIRST);
        let near = nearest(&first.to_uppercase(), FIRST.split(' ')).filter(|_| !known && first.len() > 2);
        if let Some(near) = near {
            let byte = statement.as_ptr() as usize - text.as_ptr() as usize;
            let byte = byte + statement.find(first).unwrap_or(0);
            return at(byte, format!("no statement begins with `{first}`"), Some(format!("did you mean `{near}`?")));
        }
    }
    if let Some((byte, message, help)) = other_language(tokens) {
        return at(byte, message, Some(help));
    }
    for (place, token) in tokens.iter().enumerate().filter(|(_, token)| token.kind == TokenKind::Parameter) {
        let name = token.text.trim_matches(['$', '`']);
        // A label that is computed: `:$all(…)`.
        if !PARAMETERS.split(' ').any(|known| known == name) && !whole.is(place + 1, "(") {
            let help = match nearest(name, PARAMETERS.split(' ')) {
                Some(near) => format!("did you mean `${near}`?"),
                None => "the parameters are $user, $sessionId, $trial and $model".to_owned(),
            };
            return at(token.at, format!("there is no parameter `{}`", token.text), Some(help));
        }
    }
    // `{id: '$user'}` finds nothing.
    let is_quoted = |text: &str| {
        let name = text.trim_matches(['\'', '"']).strip_prefix('$');
        name.is_some_and(|name| PARAMETERS.split(' ').any(|known| known == name))
    };
    if let Some(token) = tokens.iter().find(|token| token.kind == TokenKind::Quoted && is_quoted(token.text)) {
        let name = &token.text[1..token.text.len() - 1];
        let message = format!("within quotes `{name}` is a text, and no parameter");
        return at(token.at, message, Some(format!("write {name} without the quotes")));
    }
    if let Some(place) = (0..whole.len()).find(|place| is_bare_parameter(&whole, *place)) {
        let name = whole.at(place);
        let message = format!("no clause binds the variable `{name}`");
        return at(tokens[place].at, message, Some(format!("did you mean the parameter `${name}`?")));
    }
    if used == CypherUse::Writes {
        return None;
    }
    let statements = split(text);
    if let [_, second, ..] = statements.as_slice() {
        let byte = second.as_ptr() as usize - text.as_ptr() as usize;
        let message = format!("an assertion is one statement, not {}", statements.len());
        return at(
            byte,
            message,
            Some("put each into an assertion of its own, and what writes into a setup".to_owned()),
        );
    }
    let write = (0..tokens.len()).find(|place| is_write(&whole, *place))?;
    let message = format!("an assertion only reads, and this writes to the graph: `{}`", tokens[write].text);
    at(tokens[write].at, message, Some("move CREATE, MERGE, SET, REMOVE and DELETE to a setup".to_owned()))
}

/// Operators and clauses that Cypher does not have, with how it writes them: its byte, the problem, the help.
fn other_language(tokens: &[Token<'_>]) -> Option<(usize, String, String)> {
    if let Some(first) = tokens.first().filter(|first| first.keyword("SELECT UPDATE")) {
        let message = format!("no statement begins with `{}`: that is SQL", first.text);
        return Some((
            first.at,
            message,
            "in Cypher: `MATCH (n:Label) WHERE n.name = \"x\" RETURN count(n)`".to_owned(),
        ));
    }
    tokens.iter().zip(tokens.iter().skip(1)).find_map(|(first, second)| {
        if first.is("{") && second.is("{") && first.end() == second.at {
            let help = "the parameters are $user, $sessionId, $trial and $model, without quotes".to_owned();
            return Some((first.at, "templates (`{{ … }}`) are not filled in in Cypher".to_owned(), help));
        }
        let operator = [("=", "=", "=="), ("!", "=", "!="), ("&", "&", "&&")]
            .into_iter()
            .find(|(a, b, _)| first.is(a) && second.is(b) && first.end() == second.at);
        if let Some((_, _, operator)) = operator {
            let written = match operator {
                "==" => "=",
                "!=" => "<>",
                _ => "AND",
            };
            return Some((
                first.at,
                format!("`{operator}` is no operator of Cypher"),
                format!("it is written `{written}`"),
            ));
        }
        // No name can stand right after a bracket.
        let is_word = first.symbol(")]") && second.kind == TokenKind::Word && !second.keyword(AFTER_BRACKETS);
        let near =
            nearest(&second.text.to_uppercase(), CLAUSES.split(' ')).filter(|_| is_word && second.text.len() > 3)?;
        Some((second.at, format!("no clause begins with `{}`", second.text), format!("did you mean `{near}`?")))
    })
}

/// Whether a clause that changes the graph begins here: the keyword, where a clause can stand, with what must come after it.
fn is_write(s: &Statement<'_>, at: usize) -> bool {
    let stands = match at.checked_sub(1).map(|before| &s.tokens[before]) {
        None => true,
        Some(before) if before.kind == TokenKind::Symbol => before.symbol(")]}{"),
        Some(before) => !before.keyword(BEFORE_NAMES),
    };
    let schema = "INDEX CONSTRAINT FULLTEXT VECTOR RANGE TEXT POINT LOOKUP OR DATABASE USER";
    let pattern = s.is(at + 1, "(") || s.named(at + 1) && s.is(at + 2, "=");
    stands
        && s.keyword(at, WRITES)
        && match s.at(at).to_uppercase().as_str() {
            "CREATE" => pattern || s.keyword(at + 1, schema),
            "MERGE" => pattern,
            "SET" | "REMOVE" => s.named(at + 1) && s.symbol(at + 2, ".:=+[") || s.is(at + 1, "("),
            _ => s.named(at + 1) || s.is(at + 1, "("),
        }
}

/// A bracket or quote that is never closed, or never opened.
fn unclosed(tokens: &[Token<'_>]) -> Option<(usize, String)> {
    let mut open: Vec<&Token<'_>> = Vec::new();
    for token in tokens {
        let is_whole = |quote: char| token.text.len() > 1 && token.text.ends_with(quote);
        match (token.kind, token.text) {
            (TokenKind::Quoted, text) if !text.chars().next().is_some_and(is_whole) => {
                return Some((token.at, "this text is never closed".to_owned()));
            }
            (TokenKind::Backtick, _) if !is_whole('`') => {
                return Some((token.at, "this name is never closed".to_owned()));
            }
            (TokenKind::Symbol, "(" | "[" | "{") => open.push(token),
            (TokenKind::Symbol, closing @ (")" | "]" | "}")) => {
                let opening = match closing {
                    ")" => "(",
                    "]" => "[",
                    _ => "{",
                };
                match open.pop() {
                    Some(token) if token.text == opening => {}
                    Some(other) => return Some((other.at, format!("this `{}` is closed by `{closing}`", other.text))),
                    None => return Some((token.at, format!("this `{closing}` closes nothing"))),
                }
            }
            _ => {}
        }
    }
    open.pop().map(|token| (token.at, format!("this `{}` is never closed", token.text)))
}

#[cfg(test)]
mod tests;
