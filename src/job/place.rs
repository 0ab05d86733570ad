//! The parts of a job, and where they stand in its file.

use std::fmt::{self, Display, Formatter};

use super::script_place::script_place;
use super::source::{self, SourceLines, SourceSpan, YamlNode};
use crate::text::Position;

/// A place in a job, whatever its file looks like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobPlace {
    /// The part of the job.
    pub part: JobPart,
    /// The character within its text.
    pub within: Option<Position>,
}

/// A part of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JobPart {
    /// The value at a path of keys: `target.http.say.body.items[0]`.
    Key(String),
    /// The Cypher of a setup or an assertion.
    Statement(StatementPlace),
}

/// The place of a setup or an assertion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatementPlace {
    /// The key of its list, `setups` or `assertions`, and what one of them is called.
    pub list: StatementList,
    /// The number in the case's list, from 1. Those for all cases come first.
    pub number: usize,
    /// The id of its case.
    pub case: String,
    /// Whether the job has other cases too.
    pub is_one_of_several: bool,
}

/// A list of statements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StatementList {
    /// The statements that prepare the graph.
    Setups,
    /// The requirement.
    Assertions,
}

impl StatementList {
    fn key(self) -> &'static str {
        match self {
            StatementList::Setups => "setups",
            StatementList::Assertions => "assertions",
        }
    }

    fn one(self) -> &'static str {
        match self {
            StatementList::Setups => "setup",
            StatementList::Assertions => "assertion",
        }
    }
}

impl Display for StatementPlace {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.list.one(), self.number)?;
        if self.is_one_of_several {
            write!(f, " of case `{}`", self.case)?;
        }
        Ok(())
    }
}

/// A place in a job's file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FilePlace {
    /// The character.
    pub at: Position,
    /// Whether it is that of [`JobPlace::within`]; else it is where the part begins.
    pub is_within: bool,
}

impl JobPlace {
    /// The value at a path of keys.
    pub fn key(path: impl Into<String>) -> JobPlace {
        JobPlace { part: JobPart::Key(path.into()), within: None }
    }

    /// Where it stands in a file with this text, if it does.
    pub fn find(&self, text: &str) -> Option<FilePlace> {
        let lines = SourceLines::new(text);
        let root = source::read_leniently(text).into_iter().next()?;
        let (node, at) = match &self.part {
            JobPart::Key(path) => value_at(&root, path)?,
            JobPart::Statement(place) => {
                let node = statement_at(&root, place)?;
                (Some(node), node.span)
            }
        };
        let within = self.within.and_then(|at| script_place(&lines, node?, at.line, at.column));
        let span = within.unwrap_or(at);
        Some(FilePlace { at: Position { line: span.line, column: span.column }, is_within: within.is_some() })
    }
}

/// The text of a setup or an assertion. A case's own come after those of all cases.
fn statement_at<'r>(root: &'r YamlNode, place: &StatementPlace) -> Option<&'r YamlNode> {
    let list = |node: &'r YamlNode| node.get(place.list.key()).map(YamlNode::items).unwrap_or_default();
    let (of_all, number) = (list(root), place.number.checked_sub(1)?);
    let statement = match of_all.get(number) {
        Some(statement) => statement,
        None => {
            let cases = root.get("cases").map(YamlNode::items).unwrap_or_default();
            let is_it = |case: &&YamlNode| case.get("id").and_then(YamlNode::text) == Some(place.case.as_str());
            list(cases.iter().find(is_it)?).get(number - of_all.len())?
        }
    };
    ["cypher", "expression", "changes"].iter().find_map(|key| statement.get(key))
}

/// The value at a path such as `target.http.say.body.items[0]`, and its place; that of the last key of it which the file has,
/// where it does not have them all.
fn value_at<'r>(root: &'r YamlNode, path: &str) -> Option<(Option<&'r YamlNode>, SourceSpan)> {
    let (mut node, mut at, mut rest) = (root, None, path);
    while !rest.is_empty() {
        // A header's name may hold dots.
        let key = node.entries().iter().filter(|entry| starts_with_key(rest, &entry.key.text));
        if let Some(entry) = key.max_by_key(|entry| entry.key.text.len()) {
            rest = rest[entry.key.text.len()..].trim_start_matches('.');
            node = &entry.value;
            let is_text = node.text().is_some_and(|text| !text.is_empty());
            // A block begins at its key.
            at = Some(if is_text { node.span } else { entry.key.span });
            continue;
        }
        let index = rest.strip_prefix('[').and_then(|rest| rest.split_once(']'));
        let item = index.and_then(|(index, rest)| Some((node.items().get(index.parse::<usize>().ok()?)?, rest)));
        let Some((item, after)) = item else { return Some((None, at?)) };
        (node, at, rest) = (item, Some(item.span), after.trim_start_matches('.'));
    }
    Some((Some(node), at?))
}

fn starts_with_key(path: &str, key: &str) -> bool {
    !key.is_empty() && path.strip_prefix(key).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "target:
  http:
    say:
      url: http://h
      headers: {X.Y: a}
      body: {a: [\"{{ usr }}\", 1]}
      reply: text
assertions:
  - {cypher: 'MATCH (n) RETURN m', expected: 1}
  - expression: |
      let n = 1;
      n
cases:
  - {id: a}
  - id: b
    setups: [{cypher: CREATE (n)}]
    assertions:
      - {cypher: RETURN m, expected: 1}
      - cypher: >
          RETURN
          m
";

    fn place(part: JobPart, within: Option<(usize, usize)>) -> Option<(usize, usize, bool)> {
        let within = within.map(|(line, column)| Position { line, column });
        let FilePlace { at, is_within } = JobPlace { part, within }.find(FILE)?;
        Some((at.line, at.column, is_within))
    }

    #[test]
    fn a_key_stands_at_its_value_or_at_a_character_of_it() {
        for (path, within, expected) in [
            ("target.http.say.reply", None, Some((7, 14, false))),
            ("target.http.say.body.a[0]", Some((1, 4)), Some((6, 22, true))),
            ("target.http.say.headers.X.Y", None, Some((5, 22, false))),
            ("target.http.say", None, Some((3, 5, false))),
            ("target.http.open.url", Some((1, 4)), Some((2, 3, false))),
            ("evaluator.model", None, None),
        ] {
            assert_eq!(place(JobPart::Key(path.to_owned()), within), expected, "{path}");
        }
    }

    #[test]
    fn a_statement_of_a_case_comes_after_those_of_all() {
        let statement = |list, number, case: &str| {
            JobPart::Statement(StatementPlace { list, number, case: case.to_owned(), is_one_of_several: true })
        };
        use StatementList::{Assertions, Setups};
        for (part, within, expected) in [
            (statement(Assertions, 1, "a"), Some((1, 18)), Some((9, 32, true))),
            (statement(Assertions, 2, "b"), None, Some((11, 7, false))),
            (statement(Assertions, 3, "b"), Some((1, 8)), Some((18, 25, true))),
            (statement(Assertions, 4, "b"), Some((1, 8)), Some((20, 11, false))),
            (statement(Assertions, 3, "a"), None, None),
            (statement(Assertions, 0, "a"), None, None),
            (statement(Setups, 1, "b"), None, Some((16, 23, false))),
            (statement(Setups, 1, "c"), None, None),
        ] {
            assert_eq!(place(part.clone(), within), expected, "{part:?}");
        }
    }
}
