//! Scenarios of DeepEval's conversation simulator: what a simulated user is to bring about, and what should come of it.

use super::metrics::{MetricSet, metrics};
use crate::dataset::Kind;
use crate::dataset::cursor::{Cursor, Spelling, UnknownKeys};
use crate::dataset::json::JsonContent;
use crate::dataset::model::{CaseSession, CaseUser, Dataset, DatasetCase, Scenario};

/// How often the user speaks at most, where nothing says so: as in Red Hat's `evaluate.py`.
const MOST_MESSAGES: u32 = 20;

/// Reads one scenario, or a list of them: a case each, named after the file. Users are drawn from the known ones in turn.
pub(in crate::dataset) fn read_goldens(value: Cursor<'_>, name: &str, known_users: Option<&[String]>) -> Dataset {
    let mut dataset = Dataset::new(Kind::RedhatGoldens, name);
    let all = match value.node.content {
        JsonContent::List(_) => value.items(),
        _ => vec![value],
    };
    let is_one = all.len() == 1;
    for (golden, number) in all.into_iter().zip(1..) {
        let Some(scenario) = read_golden(golden) else { continue };
        let id = if is_one { name.to_owned() } else { format!("{name}-{number}") };
        dataset.cases.push(DatasetCase {
            id,
            line: golden.line(),
            user: CaseUser::Scenario(Box::new(scenario)),
            ..DatasetCase::default()
        });
    }
    dataset.known_users = known_users.unwrap_or_default().to_vec();
    draw_users(&mut dataset.cases, &dataset.known_users);
    dataset.metrics = metrics(MetricSet::default());
    dataset
}

fn read_golden(value: Cursor<'_>) -> Option<Scenario> {
    let mut fields = value.fields(Spelling::SnakeOrCamel)?;
    let plan = fields.required("scenario").and_then(Cursor::filled_text)?.to_owned();
    let outcome = fields.get("expected_outcome").and_then(Cursor::filled_text).map(str::to_owned);
    if outcome.is_none() {
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
    let style = fields.text("user_description").or(persona).into_iter().collect();
    let extra = fields.rest(UnknownKeys::Kept);
    Some(Scenario {
        plan,
        style,
        expected_outcome: outcome,
        max_turns: Some(MOST_MESSAGES),
        extra,
        ..Scenario::default()
    })
}

/// Gives each case the next user of the list.
fn draw_users(cases: &mut [DatasetCase], users: &[String]) {
    for (case, user) in cases.iter_mut().zip(users.iter().cycle()) {
        case.session = CaseSession { user: Some(user.clone()), ..CaseSession::default() };
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
