//! From what a plan refuses to its place in the job file.

use super::script_place::script_place;
use super::source::{self, SourceLines, SourceSpan, YamlNode};

/// The place of a refusal in the job file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusalPlace {
    /// The line, from 1.
    pub line: usize,
    /// The character in the line, from 1.
    pub column: usize,
    /// The problem, without a place within a text of the file where that is part of this place.
    pub what: String,
}

/// The place of a problem that begins with a key (`target.http.say.url: …`) or with an assertion or setup (`assertion 2 can't
/// run: …`), and may go on with a place in its text (`line 1, column 8: …`).
pub fn place_of_refusal(text: &str, what: &str) -> Option<RefusalPlace> {
    let lines = SourceLines::new(text);
    let root = source::read_leniently(text).into_iter().next()?;
    let (before, rest) = what.split_once(": ")?;
    let (node, at) = match before.split_once(' ') {
        None => place_at(&root, before)?,
        Some(_) => place_of_statement(&root, before)?,
    };
    let in_text =
        in_text(rest).and_then(|(line, column, what)| Some((script_place(&lines, node?, line, column)?, what)));
    let (at, what) = match in_text {
        Some((at, rest)) => (at, format!("{before}: {rest}")),
        None => (at, what.to_owned()),
    };
    Some(RefusalPlace { line: at.line, column: at.column, what })
}

/// The place within a text that a problem begins with, and what comes after it.
fn in_text(problem: &str) -> Option<(usize, usize, &str)> {
    let problem = problem.strip_prefix("Syntax error at ").unwrap_or(problem);
    let (line, rest) = problem.strip_prefix("line ")?.split_once(", column ")?;
    let (column, what) = rest.split_once(": ")?;
    Some((line.parse().ok()?, column.parse().ok()?, what))
}

/// The text of `assertion 2 can't run` or `setup 1 …`. Where a file has several cases, their numbers are not those of one list.
fn place_of_statement<'r>(root: &'r YamlNode, words: &str) -> Option<(Option<&'r YamlNode>, SourceSpan)> {
    let mut words = words.split(' ');
    let list = match words.next()? {
        "assertion" => "assertions",
        "setup" => "setups",
        _ => return None,
    };
    let number = words.next()?.parse::<usize>().ok()?;
    let is_alone = words.next() != Some("of") && root.get("cases").is_none();
    let statement = root.get(list)?.items().get(number.checked_sub(1)?).filter(|_| is_alone)?;
    let node = ["cypher", "expression", "changes"].iter().find_map(|key| statement.get(key))?;
    Some((Some(node), node.span))
}

/// The value at a path such as `target.http.say.body.items[0]`, and its place; that of the last key of it which the file has,
/// where it does not have them all.
fn place_at<'r>(root: &'r YamlNode, path: &str) -> Option<(Option<&'r YamlNode>, SourceSpan)> {
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
";

    #[test]
    fn a_problem_stands_at_its_key_or_at_its_character() {
        for (problem, line, column, what) in [
            ("target.http.say.reply: bad", 7, 14, "target.http.say.reply: bad"),
            ("target.http.say.body.a[0]: line 1, column 4: bad", 6, 22, "target.http.say.body.a[0]: bad"),
            ("target.http.say.headers.X.Y: bad", 5, 22, "target.http.say.headers.X.Y: bad"),
            ("target.http.say: bad", 3, 5, "target.http.say: bad"),
            ("target.http.open.url: bad", 2, 3, "target.http.open.url: bad"),
            (
                "assertion 1 can't run: Syntax error at line 1, column 18: m is not there",
                9,
                32,
                "assertion 1 can't run: m is not there",
            ),
            ("assertion 2 (`x: y`) can't be told: it is 1", 11, 7, "assertion 2 (`x: y`) can't be told: it is 1"),
        ] {
            let place = place_of_refusal(FILE, problem).unwrap_or_else(|| panic!("{problem}"));
            assert_eq!((place.line, place.column, place.what.as_str()), (line, column, what), "{problem}");
        }
    }

    #[test]
    fn what_stands_nowhere_in_the_file_has_no_place() {
        for problem in [
            "OPENAI_BASE_URL: the address is empty",
            "timing.on is firstToken",
            "setup 1 can't run: bad",
            "assertion 3 can't run: bad",
            "assertion 1 of case `a` can't run: bad",
            "the model `x: y` is named twice",
        ] {
            assert_eq!(place_of_refusal(FILE, problem), None, "{problem}");
        }
    }
}
