//! A dataset as a job file of ours, which means the same.

mod measures;

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::{CaseUser, Dataset, DatasetCase, Scenario, ScenarioDriver, UserLine};
use crate::metric::trajectory::Expectation;

/// A dataset as a job file.
#[derive(Debug, Clone, PartialEq)]
pub struct LoweredJob {
    /// The job file's content.
    pub document: Value,
    /// What the file says that the job does not do, each in a sentence.
    pub warnings: Vec<String>,
}

/// How a dataset becomes a job.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LowerOptions {
    /// The transport, a key of `target`, with its settings: `("adk", {"baseUrl": "http://localhost:8000"})`.
    pub target: (String, Map<String, Value>),
    /// Whether metrics give their system's own answer also where that is unsound.
    pub strict: bool,
}

/// The job that a dataset means.
pub fn lower(dataset: &Dataset, options: &LowerOptions) -> LoweredJob {
    let mut warnings = Vec::new();
    let mut taken = BTreeSet::new();
    let cases: Vec<Value> = dataset
        .cases
        .iter()
        .map(|case| {
            let id = own_id(&case.id, &mut taken);
            lower_case(case, id, &mut warnings)
        })
        .collect();
    let metrics = measures::lower(dataset, options.strict, &mut warnings);
    let app = dataset.cases.iter().find_map(|case| case.session.app.as_deref());
    let user = dataset.cases.iter().find_map(|case| case.session.user.as_deref());
    if app.is_none() {
        warnings.push("no case names its app or agent: the file's own name stands for it".to_owned());
    }
    let mut target = Map::new();
    target.insert("user".to_owned(), user.unwrap_or("test_user_id").into());
    target.insert("chatbot".to_owned(), app.unwrap_or_else(|| last_part(&dataset.name)).into());
    target.insert(options.target.0.clone(), Value::Object(options.target.1.clone()));
    let mut job = Map::new();
    job.insert("name".to_owned(), last_part(&dataset.name).into());
    if let Some(description) = dataset.description.as_deref().filter(|text| !text.trim().is_empty()) {
        job.insert("description".to_owned(), description.into());
    }
    job.insert("target".to_owned(), Value::Object(target));
    // The first line of a script begins.
    job.insert("greetings".to_owned(), json!([]));
    job.insert("maxTurns".to_owned(), dataset.cases.iter().map(most_messages).max().unwrap_or(2).into());
    if let Some(runs) = dataset.runs.filter(|runs| *runs > 1) {
        job.insert("repeat".to_owned(), runs.into());
    }
    job.insert("metrics".to_owned(), metrics.into());
    job.insert("cases".to_owned(), cases.into());
    LoweredJob { document: Value::Object(job), warnings }
}

/// The most characters of a case's id, and room for a number behind it.
const LONGEST_ID: usize = 90;

/// An id that a job takes: one short line that no other case has. Of a path, as ADK's old files have, it is the last part.
fn own_id(id: &str, taken: &mut BTreeSet<String>) -> String {
    let line: String = id.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
    let line = line.trim();
    let line = if line.chars().count() > LONGEST_ID { last_part(line).trim() } else { line };
    let short: String = line.chars().take(LONGEST_ID).collect();
    let short = if short.trim().is_empty() { "case".to_owned() } else { short.trim().to_owned() };
    let (mut own, mut copies) = (short.clone(), 1);
    while !taken.insert(own.clone()) {
        copies += 1;
        own = format!("{short} ({copies})");
    }
    own
}

/// A path's last part.
fn last_part(path: &str) -> &str {
    path.rsplit(['/', '\\']).find(|part| !part.is_empty()).unwrap_or(path)
}

/// How many messages, of both sides, a case may need.
fn most_messages(case: &DatasetCase) -> u32 {
    let turns = match &case.user {
        CaseUser::Lines(lines) => u32::try_from(lines.len()).unwrap_or(u32::MAX),
        CaseUser::Scenario(scenario) => scenario.max_turns.unwrap_or(20),
    };
    turns.saturating_mul(2).max(2)
}

fn lower_case(case: &DatasetCase, id: String, warnings: &mut Vec<String>) -> Value {
    let mut warn = |what: &str| warnings.push(format!("case {}: {what}", case.id));
    let mut lowered = Map::new();
    lowered.insert("id".to_owned(), id.into());
    if let Some(description) = case.description.as_deref().filter(|text| !text.trim().is_empty()) {
        lowered.insert("description".to_owned(), description.into());
    }
    if !case.tags.is_empty() {
        lowered.insert("tags".to_owned(), json!(case.tags));
    }
    match &case.user {
        CaseUser::Lines(lines) => {
            let script: Vec<Value> = lines.iter().map(|line| lower_line(line, &mut warn)).collect();
            lowered.insert("script".to_owned(), script.into());
        }
        CaseUser::Scenario(scenario) => lower_scenario(scenario, &mut lowered, &mut warn),
    }
    let (expected, left_out) = case.expected.to_expectation();
    for goal in left_out {
        warn(&format!("the goal {goal} is neither a tool call nor a message: it is left out of the graph"));
    }
    if expected != Expectation::default() {
        lowered.insert("expected".to_owned(), json!(expected));
    }
    let mut state = case.session.state.clone();
    state.extend(case.session.variables.clone());
    let mut session = Map::new();
    for (key, text) in [("user", &case.session.user), ("chatbot", &case.session.app)] {
        session.extend(text.as_ref().map(|text| (key.to_owned(), Value::from(text.as_str()))));
    }
    if !state.is_empty() {
        session.insert("state".to_owned(), Value::Object(state));
    }
    if !session.is_empty() {
        lowered.insert("session".to_owned(), Value::Object(session));
    }
    if !case.session.context.is_empty() {
        let messages = case.session.context.iter().filter(|it| ["user", "assistant"].contains(&it.role.as_str()));
        let messages: Vec<Value> =
            messages.map(|message| json!({ "role": message.role, "content": message.content })).collect();
        if messages.len() < case.session.context.len() {
            warn("its context has messages that are neither the user's nor the agent's: they are left out");
        }
        if !messages.is_empty() {
            lowered.insert("seeds".to_owned(), json!([{ "conversation": messages }]));
        }
    }
    let not_done = [
        (case.session.id.is_some(), "the id of its session is not kept: the agent gives one"),
        (case.recorded.is_some(), "what was recorded is not scored: the agent is asked instead"),
        (case.expected_runner, "there is no second agent for the expected side: what the file expects counts"),
        (!case.rubrics.is_empty(), "its rubrics need a judge's metric, which is not there yet"),
        (!case.checks.is_empty(), "its checks need a judge's metric, which is not there yet"),
        (!case.uploads.is_empty(), "its files are not offered to the agent"),
    ];
    not_done.into_iter().filter(|(is, _)| *is).for_each(|(_, what)| warn(what));
    Value::Object(lowered)
}

fn lower_line(line: &UserLine, warn: &mut impl FnMut(&str)) -> Value {
    let not_done = [
        (!line.attachments.is_empty(), "parts of a message that are no text are not sent"),
        (!line.context.is_empty(), "messages that are put before a turn are not sent"),
        (!line.mocks.is_empty(), "answers for tools are not given: the agent calls its own"),
        (!line.expected.rubrics.is_empty(), "the rubrics of a turn need a judge's metric, which is not there yet"),
    ];
    not_done.into_iter().filter(|(is, _)| *is).for_each(|(_, what)| warn(what));
    let expected = line.expected.to_expectation();
    match expected == Expectation::default() {
        true => Value::from(line.say.as_str()),
        false => json!({ "say": line.say, "expected": expected }),
    }
}

fn lower_scenario(scenario: &Scenario, lowered: &mut Map<String, Value>, warn: &mut impl FnMut(&str)) {
    if let Some(opening) = scenario.starting_prompt.as_deref().filter(|text| !text.trim().is_empty()) {
        lowered.insert("opening".to_owned(), opening.into());
    }
    let task = json!({ "task": scenario.plan, "acceptanceCriteria": "The user has got what the plan asks for." });
    lowered.insert("tasks".to_owned(), json!([task]));
    let not_done = [
        (!scenario.prompts.is_empty(), "its fixed messages after the first one are not said: the persona speaks"),
        (scenario.persona.is_some(), "its persona is not played: the job's persona follows the plan"),
        (!scenario.style.is_empty(), "its style is not followed: the job's persona speaks as evaluator.voice says"),
        (scenario.driver == ScenarioDriver::Expected, "the persona talks with the agent, not with an expected runner"),
    ];
    not_done.into_iter().filter(|(is, _)| *is).for_each(|(_, what)| warn(what));
}

#[cfg(test)]
mod tests;
