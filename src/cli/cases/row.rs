//! One case in a list.

use serde::Serialize;

use super::file::{FoundCase, LocatedCase};
use crate::dataset::{CaseUser, DatasetCase};
use crate::job::{Case, User};
use crate::metric::trajectory::Expectation;
use crate::report::{count, one_line, plain};

/// A case in a list.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CaseRow {
    /// The file that it is in.
    pub(super) file: String,
    pub(super) id: String,
    /// The kind of user: `script`, fixed lines; or `persona`, a simulated user.
    kind: &'static str,
    /// How many lines the script has.
    #[serde(skip_serializing_if = "Option::is_none")]
    turns: Option<usize>,
    /// How many of each are expected.
    expected: ExpectedCounts,
    /// Words to pick it by.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tags: Vec<String>,
    /// Its purpose.
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
}

/// How many of each are expected.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
struct ExpectedCounts {
    calls: usize,
    replies: usize,
    goals: usize,
    keywords: usize,
    states: usize,
    assertions: usize,
}

impl ExpectedCounts {
    fn add(&mut self, expectation: &Expectation) {
        self.calls += expectation.calls.as_ref().map_or(0, Vec::len);
        self.replies += usize::from(expectation.reply.is_some());
        self.goals += expectation.goals.as_ref().map_or(0, std::collections::BTreeMap::len);
        self.keywords += expectation.keywords.len();
        self.states += usize::from(expectation.state.is_some());
    }

    fn description(self) -> String {
        let parts = [
            (self.calls, "call"),
            (self.replies, "reply"),
            (self.goals, "goal"),
            (self.keywords, "keyword"),
            (self.states, "state"),
            (self.assertions, "assertion"),
        ];
        let parts = parts.into_iter().filter(|(number, _)| *number > 0).map(|(number, noun)| match noun {
            "reply" if number > 1 => format!("{number} replies"),
            noun => count(number, noun),
        });
        let parts: Vec<String> = parts.collect();
        if parts.is_empty() { "expects nothing".to_owned() } else { parts.join(", ") }
    }
}

impl CaseRow {
    /// The row of a case.
    pub(super) fn new(found: &LocatedCase) -> CaseRow {
        let row = match &found.case {
            FoundCase::OfJob(case) => CaseRow::from_job(case),
            FoundCase::OfData(case) => CaseRow::from_data(case),
        };
        CaseRow { file: found.file.display().to_string(), ..row }
    }

    fn from_data(case: &DatasetCase) -> CaseRow {
        let mut expected = ExpectedCounts::default();
        expected.add(&case.expected.to_expectation());
        let (kind, turns) = match &case.user {
            CaseUser::Lines(lines) => {
                lines.iter().for_each(|line| expected.add(&line.expected.to_expectation()));
                ("script", Some(lines.len()))
            }
            CaseUser::Scenario(_) => ("persona", None),
        };
        let (tags, description) = (case.tags.clone(), case.description.clone());
        CaseRow { id: case.id.clone(), kind, turns, expected, tags, description, ..CaseRow::default() }
    }

    fn from_job(case: &Case) -> CaseRow {
        let mut expected = ExpectedCounts { assertions: case.assertions.len(), ..ExpectedCounts::default() };
        case.expectations().for_each(|expectation| expected.add(expectation));
        let (kind, turns) = match &case.user {
            User::Lines(lines) => ("script", Some(lines.len())),
            User::Persona => ("persona", None),
        };
        let (tags, description) = (case.tags.clone(), case.description.clone());
        CaseRow { id: case.id.clone(), kind, turns, expected, tags, description, ..CaseRow::default() }
    }

    /// It on a line; ids have so many characters.
    pub(super) fn line(&self, width: usize) -> String {
        let who = self.turns.map_or_else(|| self.kind.to_owned(), |turns| count(turns, "turn"));
        let tags = if self.tags.is_empty() { String::new() } else { format!("  [{}]", plain(&self.tags.join(", "))) };
        format!("{:<width$}  {who:<9}  {}{tags}", self.shown_id(), self.expected.description())
    }

    /// The id, as it is shown.
    pub(super) fn shown_id(&self) -> String {
        one_line(&self.id, 60)
    }
}
