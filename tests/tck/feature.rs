//! Reads the TCK's feature files: the part of Gherkin that they use.
//!
//! Our own reader of a hundred lines, because the crate `gherkin` brings nine others, tables of Unicode among them.

use std::fs;
use std::path::Path;

/// A scenario, or one example of an outline.
#[derive(Debug, Clone, PartialEq)]
pub struct Scenario {
    /// The file, without its ending.
    pub feature: String,
    /// Its name in the file; the number in it is the feature's own.
    pub name: String,
    /// Which of the examples, from 1.
    pub example: Option<usize>,
    /// Whether the TCK leaves it out itself.
    pub ignored: bool,
    /// What is done and what must come of it, in order.
    pub steps: Vec<Step>,
}

/// A line that begins with Given, When, Then, And or But, and what hangs on it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Step {
    /// The line without its first word and without the colon at its end.
    pub text: String,
    /// What stands between the triple quotes.
    pub doc: String,
    /// The rows of its table.
    pub table: Vec<Vec<String>>,
}

/// All scenarios of a file.
pub fn read(path: &Path) -> Vec<Scenario> {
    let feature = path.file_stem().unwrap().to_string_lossy();
    scenarios(&feature, &fs::read_to_string(path).unwrap())
}

fn scenarios(feature: &str, text: &str) -> Vec<Scenario> {
    let mut background = Vec::new();
    let mut found: Vec<(Scenario, Vec<Vec<Vec<String>>>)> = Vec::new();
    let (mut in_examples, mut ignored) = (false, false);
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let bare = line.trim();
        if bare.is_empty() || bare.starts_with('#') || bare.starts_with("Feature:") || bare == "Background:" {
            continue;
        }
        let (word, rest) = bare.split_once(' ').unwrap_or((bare, ""));
        if bare.starts_with('@') {
            ignored = bare.contains("@ignore");
        } else if let Some(name) = ["Scenario:", "Scenario Outline:"].iter().find_map(|word| bare.strip_prefix(word)) {
            let (feature, name) = (feature.to_owned(), name.trim().to_owned());
            let steps = background.clone();
            found.push((Scenario { feature, name, example: None, ignored, steps }, Vec::new()));
            (in_examples, ignored) = (false, false);
        } else if bare.starts_with("Examples:") {
            in_examples = true;
            found.last_mut().unwrap().1.push(Vec::new());
        } else if bare.starts_with('|') && in_examples {
            found.last_mut().unwrap().1.last_mut().unwrap().push(cells(bare));
        } else {
            let steps = found.last_mut().map_or(&mut background, |(scenario, _)| &mut scenario.steps);
            if bare.starts_with('|') {
                steps.last_mut().unwrap().table.push(cells(bare));
            } else if bare == "\"\"\"" {
                let indent = line.len() - line.trim_start().len();
                let inside = lines.by_ref().take_while(|line| line.trim() != "\"\"\"");
                steps.last_mut().unwrap().doc =
                    inside.map(|line| line.get(indent..).unwrap_or_default()).collect::<Vec<_>>().join("\n");
            } else if ["Given", "When", "Then", "And", "But"].contains(&word) {
                let text = rest.trim().trim_end_matches([':', '#']).trim_end().to_owned();
                steps.push(Step { text, ..Step::default() });
            } else {
                panic!("{feature}: not understood: {line}");
            }
        }
    }
    found.into_iter().flat_map(|(scenario, examples)| outlined(&scenario, &examples)).collect()
}

/// The cells of a row; `\|`, `\\` and `\n` stand for a bar, a backslash and a line's end.
fn cells(row: &str) -> Vec<String> {
    let (mut cells, mut cell) = (Vec::new(), String::new());
    let mut rest = row.strip_prefix('|').unwrap().chars();
    while let Some(c) = rest.next() {
        match c {
            '|' => cells.push(std::mem::take(&mut cell).trim().to_owned()),
            '\\' => match rest.next() {
                Some('n') => cell.push('\n'),
                Some(escaped @ ('|' | '\\')) => cell.push(escaped),
                other => cell.extend(['\\'].into_iter().chain(other)),
            },
            c => cell.push(c),
        }
    }
    cells
}

/// The scenario once for each row of its examples, or as it is when it has none.
fn outlined(scenario: &Scenario, examples: &[Vec<Vec<String>>]) -> Vec<Scenario> {
    if examples.is_empty() {
        return vec![scenario.clone()];
    }
    let rows = examples.iter().flat_map(|table| table[1..].iter().map(|row| (&table[0], row)));
    let outlined = rows.enumerate().map(|(at, (names, row))| {
        let fill = |text: &str| filled(text, names, row);
        let mut scenario = Scenario { example: Some(at + 1), ..scenario.clone() };
        for step in &mut scenario.steps {
            step.text = fill(&step.text);
            step.doc = fill(&step.doc);
            step.table.iter_mut().flatten().for_each(|cell| *cell = fill(cell));
        }
        scenario
    });
    outlined.collect()
}

/// The text with every `<name>` replaced by the row's cell.
fn filled(text: &str, names: &[String], row: &[String]) -> String {
    let mut filled = String::new();
    let mut rest = text;
    while let Some(open) = rest.find('<') {
        filled.push_str(&rest[..open]);
        rest = &rest[open + 1..];
        let named = rest.find('>').and_then(|close| {
            let at = names.iter().position(|name| *name == rest[..close])?;
            Some((&row[at], close))
        });
        match named {
            Some((cell, close)) => {
                filled.push_str(cell);
                rest = &rest[close + 1..];
            }
            None => filled.push('<'),
        }
    }
    filled + rest
}

#[test]
fn a_feature_is_read() {
    let text = "
# © somebody
Feature: F
  Background:
    Given an empty graph
  @skipGrammarCheck
  Scenario: [1] One
    When executing query:
      \"\"\"
      RETURN '<x>'
        AS y
      \"\"\"
    Then the result should be, in any order:
      | y | z\\|\\\\n |
    And no side effects#
  @ignore
  Scenario Outline: [2] Two
    When executing query:
      \"\"\"
      RETURN 1 <> <x> <op>
      \"\"\"
    Examples:
      | x  | op |
      | <a | <  |
      | 2  | =  |
";
    let found = scenarios("F1", text);
    let shown: Vec<(&str, Option<usize>, bool, &str)> =
        found.iter().map(|one| (one.name.as_str(), one.example, one.ignored, one.steps[1].doc.as_str())).collect();
    assert_eq!(
        shown,
        [
            ("[1] One", None, false, "RETURN '<x>'\n  AS y"),
            ("[2] Two", Some(1), true, "RETURN 1 <> <a <"),
            ("[2] Two", Some(2), true, "RETURN 1 <> 2 ="),
        ]
    );
    let texts: Vec<&str> = found[0].steps.iter().map(|step| step.text.as_str()).collect();
    assert_eq!(texts, ["an empty graph", "executing query", "the result should be, in any order", "no side effects"]);
    assert_eq!(found[0].steps[2].table, [["y", "z|\\n"]]);
}
