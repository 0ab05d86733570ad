//! A table of stories: a user of the agent a row, as watsonx Orchestrate has them, and what should come of it.

use super::{UserGoal, UserKnowledge};
use crate::evidence::Condition;
use crate::job::{Problem, Problems};
use crate::metric::trajectory::ExpectedCall;
use crate::secret::looks_like_a_key;
use crate::text::{Position, TableRow, nearest, table_rows};
use crate::tool_list::Tool;

/// The columns, each with the other names that it goes by.
const COLUMNS: [(&str, &[&str]); 7] = [
    ("story", &["scenario"]),
    ("outcome", &["expected_outcome", "acceptanceCriteria", "expectedOutcome"]),
    ("facts", &[]),
    ("tools", &["expected_tools"]),
    ("persona", &[]),
    ("agent", &[]),
    ("id", &["name"]),
];

/// The names that the rows are checked against.
pub struct StoryCheck<'a> {
    /// The agent's tools; empty where they are not known.
    pub tools: &'a [Tool],
    /// The problem with the name of a persona.
    pub persona_problem: &'a dyn Fn(&str) -> Option<String>,
}

/// Stories as goals.
#[derive(Debug, Clone, PartialEq)]
pub struct Stories {
    /// A goal for each story, in their order.
    pub goals: Vec<UserGoal>,
    /// The agents that they name.
    pub agents: Vec<String>,
}

/// A table that is being read.
struct StoryTable<'a> {
    file: &'a str,
    text: &'a str,
    columns: Vec<Option<&'static str>>,
    problems: Vec<Problem>,
}

/// Reads a table whose first row names its columns; `story` must be there. Where there are outcomes, each story needs one.
///
/// # Errors
/// Everything that is wrong with it, each with its place.
pub fn read_stories(file: &str, text: &str, check: &StoryCheck<'_>) -> Result<Stories, Problems> {
    let text = text.trim_start_matches('\u{feff}');
    let first = text.lines().next().unwrap_or_default();
    let separator = if first.contains('\t') && !first.contains(',') { '\t' } else { ',' };
    let rows = table_rows(text, separator);
    let mut table = StoryTable { file, text, columns: Vec::new(), problems: Vec::new() };
    let start = Position { line: 1, column: 1 };
    match rows.split_first() {
        None => table.problem(start, "there is nothing in this file", "a table with the columns story,outcome"),
        Some((header, [])) => {
            table.read_header(header);
            let below = Position { line: header.line, column: 1 };
            table.problem(
                below,
                "there are no stories below the names of the columns",
                "a row for each user of the agent",
            );
        }
        Some((header, _)) => table.read_header(header),
    }
    let mut stories = Stories { goals: Vec::new(), agents: Vec::new() };
    if table.problems.is_empty() {
        for (row, number) in rows[1..].iter().zip(1..) {
            let goal = table.read_row(row, number, check);
            stories.goals.extend(goal);
            let agent = table.cell(row, "agent").map(|(agent, _)| agent.to_owned());
            stories.agents.extend(agent.filter(|agent| !stories.agents.contains(agent)));
        }
    }
    match table.problems.is_empty() {
        true => Ok(stories),
        false => Err(Problems { list: table.problems, untold: 0 }),
    }
}

impl StoryTable<'_> {
    fn problem(&mut self, at: Position, message: impl Into<String>, help: impl Into<String>) {
        let source_line = self.text.lines().nth(at.line - 1).unwrap_or_default();
        let is_secret = source_line.split([',', '\t', ' ', '"']).any(looks_like_a_key);
        self.problems.push(Problem {
            file: self.file.to_owned(),
            line: at.line,
            column: at.column,
            caret: if is_secret { 1 } else { at.column },
            width: 1,
            source_line: if is_secret { String::new() } else { source_line.to_owned() },
            message: message.into(),
            expected: Vec::new(),
            help: Some(help.into()),
        });
    }

    fn read_header(&mut self, header: &TableRow) {
        let named = |cell: &str| {
            let is = |name: &&str| name.eq_ignore_ascii_case(cell);
            COLUMNS.iter().find(|(name, others)| is(name) || others.iter().any(&is)).map(|(name, _)| *name)
        };
        self.columns = header.cells.iter().map(|cell| named(cell)).collect();
        let start = Position { line: header.line, column: 1 };
        let known = COLUMNS.map(|(name, _)| name).join(", ");
        if !self.columns.contains(&Some("story")) {
            let there = header.cells.join(", ");
            self.problem(
                start,
                format!("no column is named `story` (or `scenario`); there are: {there}"),
                format!("the first row names the columns: {known}"),
            );
            return;
        }
        for (place, cell) in header.cells.iter().enumerate() {
            let is_twice = self.columns[place].is_some_and(|name| self.columns[..place].contains(&Some(name)));
            let what = match self.columns[place] {
                None if !cell.is_empty() => format!("there is no column `{cell}`"),
                Some(name) if is_twice => format!("the column `{name}` is there twice"),
                _ => continue,
            };
            self.problem(header.places[place], what, format!("the columns are: {known}"));
        }
    }

    /// The text of a column of a row, with its place; `None` where the table has no such column. Of a row that ends before, it
    /// is its end.
    fn cell<'r>(&self, row: &'r TableRow, name: &str) -> Option<(&'r str, Position)> {
        let place = self.columns.iter().position(|column| *column == Some(name))?;
        let last = row.places.last().copied().unwrap_or(Position { line: row.line, column: 1 });
        let text = row.cells.get(place).map(String::as_str).unwrap_or_default();
        Some((text, row.places.get(place).copied().unwrap_or(last)))
    }

    fn read_row(&mut self, row: &TableRow, number: usize, check: &StoryCheck<'_>) -> Option<UserGoal> {
        let before = self.problems.len();
        if let Some(place) = row.places.get(self.columns.len()) {
            let what = format!("this row has {} cells, and {} columns are named", row.cells.len(), self.columns.len());
            self.problem(*place, what, "a text with commas stands between quotes");
        }
        let (story, at) = self.cell(row, "story")?;
        if story.is_empty() {
            self.problem(at, "this row has no story", "say what the user wants, or delete the row");
        }
        let outcome = self.cell(row, "outcome");
        if let Some((_, at)) = outcome.filter(|(outcome, _)| outcome.is_empty()) {
            let what = "this story has no outcome: nobody could say whether the agent did what it should";
            self.problem(at, what, "say what should have come of the conversation when it is over");
        }
        let persona = self.cell(row, "persona").filter(|(persona, _)| !persona.is_empty());
        if let Some((name, at)) = persona
            && let Some(problem) = (check.persona_problem)(name)
        {
            self.problem(at, problem, "eval-job's own personas are in docs/persona.md");
        }
        let calls = self.calls(row, check);
        let list = |name: &str| self.cell(row, name).map(|(text, _)| parts(text).map(str::to_owned).collect());
        let facts: Vec<String> = list("facts").unwrap_or_default();
        let name = self.cell(row, "id").map(|(id, _)| id.to_owned()).filter(|id| !id.is_empty());
        (self.problems.len() == before).then(|| UserGoal {
            name: name.unwrap_or_else(|| format!("story-{number}")),
            wishes: vec![story.to_owned()],
            situations: situations(UserKnowledge {
                outcome: outcome.map_or_else(|| WITHOUT_OUTCOME.to_owned(), |(outcome, _)| outcome.to_owned()),
                facts,
                condition: None,
                calls,
            }),
            persona: persona.map(|(persona, _)| persona.to_owned()),
        })
    }

    /// The tools that a row names, with semicolons between them.
    fn calls(&mut self, row: &TableRow, check: &StoryCheck<'_>) -> Option<Vec<ExpectedCall>> {
        let (text, at) = self.cell(row, "tools").filter(|(text, _)| !text.is_empty())?;
        for name in parts(text) {
            let mut known = check.tools.iter().map(|tool| tool.name.as_str());
            if check.tools.is_empty() || known.clone().any(|tool| tool == name) {
                continue;
            }
            let near = nearest(name, known.clone()).map(|near| format!("did you mean `{near}`?"));
            let all = known.by_ref().take(20).collect::<Vec<_>>().join(", ");
            self.problem(
                at,
                format!("the agent has no tool `{name}`"),
                near.unwrap_or(format!("its tools are: {all}")),
            );
        }
        let calls = parts(text).map(|tool| ExpectedCall { tool: tool.to_owned(), ..ExpectedCall::default() });
        Some(calls.collect())
    }
}

/// A story whose user knows facts and whose tools are named, once with them known and once not: who lacks what a tool needs and asks
/// for it does right, and calls nothing.
fn situations(known: UserKnowledge) -> Vec<UserKnowledge> {
    if known.facts.is_empty() || known.calls.is_none() {
        return vec![known];
    }
    let outcome = known.outcome.trim_end_matches('.');
    let unknown = UserKnowledge {
        outcome: format!(
            "{outcome}; or, as the user can't say what is needed for it, the assistant asked for that or said what it lacks, and \
             made nothing up"
        ),
        facts: known.facts.clone(),
        condition: Some(Condition::WithoutFacts),
        calls: None,
    };
    vec![UserKnowledge { condition: Some(Condition::WithFacts), ..known }, unknown]
}

/// The criterion where a table has no column of outcomes.
const WITHOUT_OUTCOME: &str = "All that the user asks for in the story was done or answered, correctly and completely, and the \
                               assistant claimed nothing that it had not done";

/// The parts of a cell with semicolons between them.
fn parts(text: &str) -> impl Iterator<Item = &str> {
    text.split(';').map(str::trim).filter(|part| !part.is_empty())
}
