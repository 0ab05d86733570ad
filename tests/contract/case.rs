//! The form of a case:
//!
//! ```text
//! == its name
//! differs: how the embedded graph differs, if it does
//! $name = 1                     a parameter of all its steps, as typed JSON
//! write CREATE (:A {x: 1})      a step that must succeed; further lines are indented
//! read MATCH (a:A) RETURN a.x   a step with a result
//! | a.x |                       the columns,
//! | 1 |                         and a line for each row, as `Value` prints itself
//! unordered                     if the rows may come in any order
//! read RETURN 1 / 0
//! ! Statement                   a step that must fail, with the error's kind
//! embedded ! Unsupported        what the embedded graph does instead: it fails so,
//! embedded accepts              or it takes what Neo4j refuses
//! ```

use eval_job::graph::Parameters;

/// A case of the contract.
pub struct Case {
    /// What it shows.
    pub name: &'static str,
    /// How the embedded graph differs.
    pub differs: Option<&'static str>,
    /// What its steps are given.
    pub parameters: Parameters,
    /// What is done, on a fresh graph.
    pub steps: Vec<Step>,
}

/// A statement and what must come of it.
pub struct Step {
    /// Whether it may write.
    pub writes: bool,
    /// The statement.
    pub statement: String,
    /// What comes of it on Neo4j.
    pub expected: Expected,
    /// What comes of it on the embedded graph, if something else does.
    pub embedded: Option<Expected>,
}

/// What must come of a statement.
#[derive(Debug, Clone, PartialEq)]
pub enum Expected {
    /// It succeeds, whatever it returns.
    Success,
    /// An error of this kind.
    Error(&'static str),
    /// These columns and rows.
    Rows { columns: Vec<&'static str>, rows: Vec<Vec<&'static str>>, ordered: bool },
}

impl Case {
    /// What Neo4j does, in a word or two.
    pub fn in_neo4j(&self) -> String {
        let Some(step) = self.steps.iter().find(|step| step.embedded.is_some()) else { return String::new() };
        match &step.expected {
            Expected::Error(kind) => format!("refuses: {kind}"),
            _ => format!("runs `{}`", step.statement.replace('|', "\\|").replace('\n', " ")),
        }
    }
}

/// Reads a file of cases.
pub fn read(file: &'static str) -> Vec<Case> {
    file.split("\n== ").skip(1).map(case).collect()
}

fn case(text: &'static str) -> Case {
    let mut lines = text.lines();
    let name = lines.next().unwrap_or_default().trim();
    let mut case = Case { name, differs: None, parameters: Parameters::new(), steps: Vec::new() };
    for line in lines.filter(|line| !line.trim().is_empty() && !line.starts_with('#')) {
        line_of(line, &mut case);
    }
    assert!(!case.steps.is_empty(), "{} does nothing", case.name);
    assert_eq!(case.differs.is_some(), case.steps.iter().any(|step| step.embedded.is_some()), "{}", case.name);
    case
}

fn line_of(line: &'static str, case: &mut Case) {
    let name = case.name;
    if let Some(differs) = line.strip_prefix("differs: ") {
        case.differs = Some(differs);
    } else if let Some(parameter) = line.strip_prefix('$') {
        let Some((key, json)) = parameter.split_once(" = ") else { panic!("{name}: {line}") };
        let value = serde_json::from_str(json).unwrap_or_else(|error| panic!("{name}: {line}: {error}"));
        case.parameters.insert(key.to_owned(), value);
    } else if let Some(statement) = line.strip_prefix("write ").or(line.strip_prefix("read ")) {
        let writes = line.starts_with("write");
        let statement = statement.to_owned();
        case.steps.push(Step { writes, statement, expected: Expected::Success, embedded: None });
    } else {
        let step = case.steps.last_mut().unwrap_or_else(|| panic!("{name}: {line} before any step"));
        if let Some(more) = line.strip_prefix("  ") {
            step.statement.push('\n');
            step.statement.push_str(more);
        } else if let Some(kind) = line.strip_prefix("! ") {
            step.expected = Expected::Error(kind.trim());
        } else if let Some(kind) = line.strip_prefix("embedded ! ") {
            step.embedded = Some(Expected::Error(kind.trim()));
        } else if line == "embedded accepts" {
            step.embedded = Some(Expected::Success);
        } else if line == "unordered" {
            let Expected::Rows { ordered, .. } = &mut step.expected else { panic!("{name}: no rows before unordered") };
            *ordered = false;
        } else if let Some(cells) = line.strip_prefix('|').and_then(|line| line.trim_end().strip_suffix('|')) {
            let cells: Vec<&str> = cells.split(" | ").map(str::trim).collect();
            match &mut step.expected {
                Expected::Rows { rows, columns, .. } => {
                    assert_eq!(cells.len(), columns.len(), "{name}: {line}");
                    rows.push(cells);
                }
                _ => step.expected = Expected::Rows { columns: cells, rows: Vec::new(), ordered: true },
            }
        } else {
            panic!("{name}: not understood: {line}");
        }
    }
}
