//! The new schema: an eval set with its cases, and the session that a case begins with.

use super::invocation::{AdkInvocation, read_invocation};
use super::rubric::read_rubrics;
use super::scenario::read_scenario;
use super::{KEYS, TEST_USER};
use crate::dataset::Kind;
use crate::dataset::cursor::{Cursor, UnknownKeys};
use crate::dataset::model::{CaseSession, CaseUser, Dataset, DatasetCase};

/// Reads an eval set. `name` stands in for a missing id.
pub(in crate::dataset) fn read_eval_set(value: Cursor<'_>, name: &str) -> Dataset {
    let mut dataset = Dataset::new(Kind::AdkEvalSet, name);
    let Some(mut fields) = value.fields(KEYS) else { return dataset };
    if value.node.has("evalSetId") || value.node.has("evalCases") {
        value.warn("ADK itself reads the keys of an eval set's outermost object in snake_case only");
    }
    if let Some(id) = fields.required("eval_set_id").and_then(Cursor::filled_text) {
        dataset.name = id.to_owned();
    }
    if let Some(title) = fields.text("name").filter(|title| *title != dataset.name && !title.is_empty()) {
        dataset.extra.insert("name".to_owned(), title.into());
    }
    dataset.description = fields.text("description").filter(|text| !text.is_empty());
    dataset.created = fields.number("creation_timestamp");
    if let Some(cases) = fields.required("eval_cases") {
        let cases = cases.items();
        if cases.is_empty() {
            value.warn("this eval set has no cases");
        }
        dataset.cases = cases.into_iter().filter_map(read_case).collect();
    }
    dataset.extra.extend(fields.rest(UnknownKeys::Kept));
    dataset
}

fn read_case(value: Cursor<'_>) -> Option<DatasetCase> {
    let mut fields = value.fields(KEYS)?;
    let id = fields.required("eval_id").and_then(Cursor::filled_text).unwrap_or_default().to_owned();
    let conversation = fields.get("conversation");
    let scenario = fields.get("conversation_scenario");
    let user = match (conversation, scenario) {
        (Some(conversation), None) => {
            let turns = conversation.items();
            if turns.is_empty() {
                conversation.error("this conversation has no turns");
            }
            CaseUser::Lines(turns.into_iter().filter_map(read_invocation).map(AdkInvocation::into_line).collect())
        }
        (None, Some(scenario)) => CaseUser::Scenario(Box::new(read_scenario(scenario)?)),
        (Some(_), Some(second)) => {
            second.error("a case has either a `conversation` or a `conversation_scenario`, not both");
            return None;
        }
        (None, None) => {
            value.error("a case needs a `conversation` or a `conversation_scenario`");
            // Its keys may be misspelled.
            fields.rest(UnknownKeys::Kept);
            return None;
        }
    };
    let session = fields.get("session_input").map(|session| read_session(session, true)).unwrap_or_default();
    let rubrics = read_rubrics(fields.items("rubrics"));
    let state = fields.get("final_session_state").and_then(Cursor::map).filter(|state| !state.is_empty());
    let created = fields.number("creation_timestamp");
    let mut case = DatasetCase { id, user, session, rubrics, created, line: value.line(), ..DatasetCase::default() };
    case.expected.state = state;
    case.extra = fields.rest(UnknownKeys::Kept);
    Some(case)
}

/// Reads the session that conversations begin with. In an eval set app and user must be named.
pub(in crate::dataset) fn read_session(value: Cursor<'_>, is_strict: bool) -> CaseSession {
    let Some(mut fields) = value.fields(KEYS) else { return CaseSession::default() };
    let mut name = |key: &'static str| {
        let value = if is_strict { fields.required(key) } else { fields.get(key) };
        value.and_then(Cursor::text).map(str::to_owned).filter(|name| !name.is_empty())
    };
    let (app, user) = (name("app_name"), name("user_id"));
    let id = fields.text("session_id");
    let state = fields.map("state");
    fields.rest(UnknownKeys::Kept);
    CaseSession { app, user: user.or_else(|| Some(TEST_USER.to_owned())), id, state, ..CaseSession::default() }
}
