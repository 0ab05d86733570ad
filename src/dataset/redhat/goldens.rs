//! Scenarios of DeepEval's conversation simulator: what a simulated user is to bring about, and what should come of it.

use super::metrics::{MetricSet, metrics};
use crate::dataset::Kind;
use crate::dataset::cursor::{Cursor, Spelling, UnknownKeys};
use crate::dataset::json::JsonContent;
use crate::dataset::model::{
    CaseSession, CaseUser, ContextFile, ContextMessage, Dataset, DatasetCase, Rubric, Scenario,
};

/// How often the user speaks at most, where nothing says so: as in Red Hat's `evaluate.py`.
const MOST_MESSAGES: u32 = 20;

/// The metric of what a scenario's `expectations` say must hold, and must not.
pub(in crate::dataset) const EXPECTATIONS: &str = "Expectations";

/// Reads one scenario, or a list of them: a case each, named after the file. Users are drawn from the known ones in turn.
pub(in crate::dataset) fn read_goldens(value: Cursor<'_>, name: &str, known_users: Option<&[String]>) -> Dataset {
    let mut dataset = Dataset::new(Kind::RedhatGoldens, name);
    let all = match value.node.content {
        JsonContent::List(_) => value.items(),
        _ => vec![value],
    };
    let is_one = all.len() == 1;
    for (golden, number) in all.into_iter().zip(1..) {
        let Some(case) = read_golden(golden) else { continue };
        let id = if is_one { name.to_owned() } else { format!("{name}-{number}") };
        dataset.cases.push(DatasetCase { id, ..case });
    }
    dataset.known_users = known_users.unwrap_or_default().to_vec();
    draw_users(&mut dataset.cases, &dataset.known_users);
    dataset.metrics = metrics(MetricSet::default());
    dataset
}

fn read_golden(value: Cursor<'_>) -> Option<DatasetCase> {
    let mut fields = value.fields(Spelling::SnakeOrCamel)?;
    let plan = fields.required("scenario").and_then(Cursor::filled_text)?.to_owned();
    let outcome = fields.get("expected_outcome").and_then(Cursor::filled_text).map(str::to_owned);
    let rubrics = fields.get("expectations").map(read_expectations).unwrap_or_default();
    if outcome.is_none() && rubrics.is_empty() {
        value.error_with(
            "this scenario has no `expected_outcome`: nobody could say whether the agent did what it should",
            "say what should have come of the conversation when it is over",
        );
    }
    let persona = fields.get("persona").and_then(|persona| {
        let mut fields = persona.fields(Spelling::SnakeOrCamel)?;
        let characteristics = fields.text("characteristics");
        fields.rest(UnknownKeys::Kept);
        characteristics
    });
    let description = fields.get("user_description");
    let described = description.and_then(Cursor::text).map(str::to_owned);
    if let (Some(cursor), Some(one), Some(other)) = (description, &described, &persona)
        && one != other
    {
        cursor.error_with(
            "`user_description` and `characteristics` of `persona` say different things of the user",
            "keep `persona`: the other is its old name",
        );
    }
    let context = fields.get("context").map(read_texts).unwrap_or_default();
    let case = DatasetCase {
        line: value.line(),
        rubrics,
        session: CaseSession {
            context: fields.items("turns").into_iter().filter_map(read_message).collect(),
            ..CaseSession::default()
        },
        context_files: context,
        ..DatasetCase::default()
    };
    let scenario = Scenario {
        plan,
        style: described.or(persona).into_iter().collect(),
        expected_outcome: outcome,
        max_turns: Some(MOST_MESSAGES),
        extra: fields.rest(UnknownKeys::Kept),
        ..Scenario::default()
    };
    Some(DatasetCase { user: CaseUser::Scenario(Box::new(scenario)), ..case })
}

/// The texts that judges are shown beside a conversation.
fn read_texts(value: Cursor<'_>) -> Vec<ContextFile> {
    let named = |(text, number): (String, usize)| ContextFile { name: format!("context {number}"), text };
    value.texts().into_iter().zip(1..).map(named).collect()
}

/// What must hold of a conversation, and what must not: a rubric each.
fn read_expectations(value: Cursor<'_>) -> Vec<Rubric> {
    let Some(mut fields) = value.fields(Spelling::SnakeOrCamel) else { return Vec::new() };
    let mut rubrics = Vec::new();
    for (key, is_wanted) in [("must", true), ("must_not", false)] {
        for (condition, number) in fields.items(key).into_iter().zip(1..) {
            let Some(text) = condition.filled_text() else { continue };
            let text = if is_wanted { text.to_owned() } else { format!("This does not hold: {text}") };
            let (id, metric) = (format!("{key} {number}"), Some(EXPECTATIONS.to_owned()));
            rubrics.push(Rubric { id, text, metric, ..Rubric::default() });
        }
    }
    if let Some(model) = fields.get("model") {
        model.warn("it is not asked: `scorer.model` is, or --scorer-model");
    }
    if let Some(mode) = fields.get("eval_mode").filter(|mode| mode.node.text() != Some("llm")) {
        mode.warn("a judge decides on each condition, as in the mode `llm`");
    }
    fields.rest(UnknownKeys::Refused);
    rubrics
}

/// Reads a message that stands before the first one of the simulated user.
fn read_message(value: Cursor<'_>) -> Option<ContextMessage> {
    let mut fields = value.fields(Spelling::SnakeOrCamel)?;
    let role = fields.required("role");
    let content = fields.required("content").and_then(Cursor::text)?.to_owned();
    let known = role.and_then(Cursor::text).filter(|role| ["user", "assistant"].contains(role));
    if let (Some(role), None) = (role, known) {
        role.error("a role is `user` or `assistant`");
    }
    let extra = fields.rest(UnknownKeys::Kept);
    Some(ContextMessage { role: known.unwrap_or_default().to_owned(), content, extra })
}

/// Gives each case the next user of the list.
fn draw_users(cases: &mut [DatasetCase], users: &[String]) {
    for (case, user) in cases.iter_mut().zip(users.iter().cycle()) {
        case.session.user = Some(user.clone());
    }
}

/// Puts so many cases in the place of each whose user is simulated: `ID-1`, `ID-2` and so on, each with the next of the known users.
/// Returns how many there are now.
pub(in crate::dataset) fn multiply(dataset: &mut Dataset, times: u32) -> usize {
    let is_simulated = |case: &DatasetCase| matches!(case.user, CaseUser::Scenario(_));
    let mut generated: Vec<DatasetCase> = Vec::new();
    let (simulated, fixed): (Vec<DatasetCase>, _) =
        std::mem::take(&mut dataset.cases).into_iter().partition(is_simulated);
    for number in 1..=times {
        let copy = |case: &DatasetCase| DatasetCase { id: format!("{}-{number}", case.id), ..case.clone() };
        generated.extend(simulated.iter().map(copy));
    }
    draw_users(&mut generated, &dataset.known_users);
    let many = generated.len();
    dataset.cases = fixed.into_iter().chain(generated).collect();
    many
}
