//! A recorded conversation as a case: what was said is its script, what was done and replied is what it expects.

use serde_json::{Map, Value};

use super::Recorded;
use crate::dataset::Kind;
use crate::dataset::NO_TEXT;
use crate::dataset::model::{CaseUser, Dataset, DatasetCall, DatasetCase, LineExpectation, UserLine};
use crate::evidence::{LazyValue, ToolUse, Turn};

impl Recorded {
    /// The conversation as a case. Results of tools are not expected: they are the world's.
    pub fn into_case(self) -> DatasetCase {
        let lines = self.turns.iter().filter(|turn| !turn.is_greeting()).map(line).collect();
        let session = super::CaseSession { id: None, ..self.session };
        DatasetCase { id: self.id, user: CaseUser::Lines(lines), session, ..DatasetCase::default() }
    }
}

fn line(turn: &Turn) -> UserLine {
    let args = |made: LazyValue| if made.is_null() { Value::Object(Map::new()).into() } else { made };
    let calls = ToolUse::from_events(&turn.events).into_iter();
    let calls: Vec<DatasetCall> = calls
        .map(|used| DatasetCall { tool: used.tool, args: Some(args(used.args)), ..DatasetCall::default() })
        .collect();
    // What an agent that never answered would have called, nobody knows.
    let calls = (turn.agent.is_some() || !calls.is_empty()).then_some(calls);
    let say = if turn.user.trim().is_empty() { NO_TEXT.to_owned() } else { turn.user.clone() };
    let expected = LineExpectation { reply: turn.agent.clone(), calls, ..LineExpectation::default() };
    UserLine { say, expected, ..UserLine::default() }
}

impl Dataset {
    /// A dataset of recorded conversations.
    pub fn from_recorded(name: &str, conversations: impl IntoIterator<Item = Recorded>) -> Dataset {
        Dataset::of_cases(name, conversations.into_iter().map(Recorded::into_case).collect())
    }

    /// A dataset of these cases, which is no system's own.
    pub fn of_cases(name: &str, cases: Vec<DatasetCase>) -> Dataset {
        Dataset { cases, ..Dataset::new(Kind::MessageList, name) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::Event;

    #[test]
    fn a_line_that_was_never_answered_expects_nothing() {
        assert_eq!(line(&Turn::begun(2, "Order it".to_owned())).expected, LineExpectation::default());
        assert_eq!(line(&Turn::answered(1, "Hi", "Hello")).expected.calls, Some(Vec::new()));
        let call = Event::call("order", Value::Null, Value::Null);
        let cut = Turn { events: vec![call], ..Turn::begun(2, "Order it".to_owned()) };
        assert_eq!(line(&cut).expected.calls.map(|calls| calls.len()), Some(1));
    }
}
