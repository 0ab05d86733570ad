//! Stories without goals: comma-separated for generating cases, tab-separated for validating an agent.

use super::{MAX_USER_TURNS, STOP_SIGNAL};
use crate::dataset::Kind;
use crate::dataset::findings::about_file;
use crate::dataset::model::{CaseSession, CaseUser, Dataset, DatasetCase, DatasetGoals, Goal, GoalKind, Scenario};
use crate::job::Problem;
use crate::text::table_rows;

fn case(id: String, line: usize, story: &str, agent: Option<&String>) -> DatasetCase {
    let scenario = Scenario {
        plan: story.to_owned(),
        stop_signal: Some(STOP_SIGNAL.to_owned()),
        max_turns: Some(MAX_USER_TURNS),
        ..Scenario::default()
    };
    let app = agent.filter(|agent| !agent.is_empty()).cloned();
    let session = CaseSession { app, ..CaseSession::default() };
    DatasetCase { id, line, user: CaseUser::Scenario(Box::new(scenario)), session, ..DatasetCase::default() }
}

fn at_line(file: &str, line: usize, message: &str) -> Problem {
    Problem { line, ..about_file(file, message, None) }
}

/// Reads `story,agent`: a case each, of which nothing is expected yet.
pub(in crate::dataset) fn read_stories(file: &str, text: &str, name: &str) -> Dataset {
    let mut dataset = Dataset::new(Kind::WatsonxStories, name);
    let mut rows = table_rows(text, ',').into_iter().map(|row| (row.line, row.cells));
    let header: Vec<String> = rows.next().map(|(_, row)| row).unwrap_or_default();
    let column = |name: &str| header.iter().position(|cell| cell.eq_ignore_ascii_case(name));
    let (story, agent) = (column("story"), column("agent"));
    for ((line, row), number) in rows.zip(1..) {
        let cell = |column: Option<usize>| column.and_then(|column| row.get(column));
        let Some(text) = cell(story).filter(|story| !story.is_empty()) else {
            dataset.warnings.push(at_line(file, line, "this row has no story; it is skipped"));
            continue;
        };
        if row.len() > header.len() {
            dataset.warnings.push(at_line(
                file,
                line,
                "this row has more columns than the header: does a story need quotes?",
            ));
        }
        dataset.cases.push(case(format!("{name}-{number}"), line, text, cell(agent)));
    }
    dataset.warnings.push(about_file(file, "stories have no goals: nothing is expected of these conversations", None));
    dataset
}

/// Reads story, expected response and agent, of which only the first must be there.
pub(in crate::dataset) fn read_validation(file: &str, text: &str, name: &str) -> Dataset {
    let mut dataset = Dataset::new(Kind::WatsonxValidation, name);
    for (row, number) in table_rows(text, '\t').into_iter().zip(1..) {
        let (line, row) = (row.line, row.cells);
        let Some(story) = row.first().filter(|story| !story.is_empty()) else {
            dataset.warnings.push(at_line(file, line, "this row has no story; it is skipped"));
            continue;
        };
        let mut case = case(format!("{name}-{number}"), line, story, row.get(2));
        if let Some(response) = row.get(1).filter(|response| !response.is_empty()) {
            let kind = GoalKind::Text { response: Some(response.clone()), keywords: Vec::new(), is_summary: false };
            let goal = Goal { name: "response".to_owned(), kind, extra: serde_json::Map::new() };
            case.expected.goals = Some(DatasetGoals { nodes: vec![goal], edges: Vec::new() });
        }
        dataset.cases.push(case);
    }
    dataset.metrics = super::metrics::metrics_for(None, &dataset.cases);
    dataset
}
