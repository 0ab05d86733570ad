//! Whether something of one conversation came up in another.
//!
//! Each trial has marks that nobody else can have: the token in its user's id, and the id that the agent gave to its
//! session where that is long enough to be unique. A foreign mark in what a trial's agent showed means that state leaked.
//!
//! Invariants: no mark is planted anywhere, only looked for; what a trial showed is read once, however many marks there
//! are.

use std::collections::HashMap;

use crate::evidence::{Evidence, ObjectContext, Observed, TrialId};

/// The characters of a token: those that survive in ids, names and addresses.
pub(super) const TOKEN: usize = 16;

/// The shortest session id that is taken for unique: a UUID without its dashes has 32, with them 36.
const SESSION: usize = 20;

/// All marks of a run.
#[derive(Debug, Default)]
pub(super) struct LeakDetector {
    /// By their first 16 bytes, in lower case: no mark is shorter.
    by_start: HashMap<[u8; TOKEN], Vec<Mark>>,
}

#[derive(Debug, Clone)]
struct Mark {
    kind: MarkKind,
    /// In lower case.
    text: Vec<u8>,
    /// `None` when two trials have it: then it marks neither.
    trial: Option<TrialId>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MarkKind {
    User,
    Session,
}

impl LeakDetector {
    /// The token of a trial's user.
    pub(super) fn add_token(&mut self, trial: &TrialId, token: &str) {
        self.add(trial, MarkKind::User, token);
    }

    /// The id that the agent gave to a trial's session; nothing happens when it is too short to be unique.
    pub(super) fn add_session(&mut self, trial: &TrialId, session_id: &str) {
        if session_id.len() >= SESSION {
            self.add(trial, MarkKind::Session, session_id);
        }
    }

    fn add(&mut self, trial: &TrialId, kind: MarkKind, text: &str) {
        let text = text.to_ascii_lowercase().into_bytes();
        let Some(start) = text.first_chunk::<TOKEN>().copied() else { return };
        let marks = self.by_start.entry(start).or_default();
        match marks.iter_mut().find(|mark| mark.text == text) {
            Some(mark) if mark.trial.as_ref() != Some(trial) => mark.trial = None,
            Some(_) => {}
            None => marks.push(Mark { kind, text, trial: Some(trial.clone()) }),
        }
    }

    /// Which other trial's mark stands in what this trial's agent showed, and where; `None` when none does.
    pub(super) fn leak(&self, trial: &TrialId, evidence: &Evidence) -> Option<String> {
        if self.by_start.is_empty() {
            return None;
        }
        shown(evidence, &mut |place, text| self.foreign(trial, text).map(|mark| words(mark, place)))
    }

    /// The first mark of another trial in a text.
    fn foreign(&self, trial: &TrialId, text: &str) -> Option<&Mark> {
        let text = text.to_ascii_lowercase().into_bytes();
        text.windows(TOKEN).enumerate().find_map(|(at, window)| {
            let start = <&[u8; TOKEN]>::try_from(window).ok()?;
            let marks = self.by_start.get(start)?;
            marks.iter().find(|mark| {
                let is_foreign = mark.trial.as_ref().is_some_and(|owner| owner != trial);
                is_foreign && text[at..].starts_with(&mark.text) && mark.stands_alone(&text, at)
            })
        })
    }
}

impl Mark {
    /// A token is random; of counted session ids one can be the beginning of another.
    fn stands_alone(&self, text: &[u8], at: usize) -> bool {
        let ends_word = |byte: Option<&u8>| !byte.is_some_and(u8::is_ascii_alphanumeric);
        let before = at.checked_sub(1).and_then(|before| text.get(before));
        self.kind == MarkKind::User || ends_word(before) && ends_word(text.get(at + self.text.len()))
    }
}

/// Everything that the agent and its graph showed, piece by piece, until one piece is found out.
fn shown(evidence: &Evidence, look: &mut dyn FnMut(String, &str) -> Option<String>) -> Option<String> {
    for turn in &evidence.transcript.turns {
        if let Some(text) = &turn.agent
            && let Some(found) = look(format!("the reply of turn {}", turn.number), text)
        {
            return Some(found);
        }
        for event in &turn.events {
            if let Some(found) = look(format!("an event of turn {}", turn.number), &json(event)) {
                return Some(found);
            }
        }
    }
    let before = evidence.before.iter().flat_map(|state| [(&state.object_context, &state.queries, " before turn 1")]);
    for (context, queries, when) in before.chain([(&evidence.object_context, &evidence.queries, "")]) {
        if let Some(Observed::Seen(context)) = context
            && let Some(found) = look(format!("the object context{when}"), &json::<ObjectContext>(context))
        {
            return Some(found);
        }
        for query in queries {
            if let Observed::Seen(table) = &query.result
                && let Some(found) = look(format!("the rows of assertion {}{when}", query.assertion), &json(table))
            {
                return Some(found);
            }
        }
    }
    let Some(Observed::Seen(changes)) = &evidence.changes else { return None };
    changes.iter().find_map(|change| look("what changed in the graph".to_owned(), &json(change)))
}

fn json<T: serde::Serialize>(value: &T) -> String {
    // Evidence is written as JSON before it gets here.
    serde_json::to_string(value).unwrap_or_default()
}

fn words(mark: &Mark, place: String) -> String {
    let Some(trial) = &mark.trial else { return String::new() };
    let what = match mark.kind {
        MarkKind::User => "its user id's token",
        MarkKind::Session => "its session's id",
    };
    format!(
        "state leaked from the trial {} {} (repeat {}): {what} was found in {place}",
        trial.model,
        trial.condition.words(),
        trial.repeat
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::evidence::{AssertionId, Condition, EventKind, QueryObservation, Resource, State, Table, Turn, Value};

    const OTHER: &str = "u-k3f9qz7m2x8c5v1b";
    const UUID: &str = "5f0c2b5e-0d3a-4a57-9a54-1f6f0c8e7d21";

    fn trial(number: u32) -> TrialId {
        TrialId { number, case: "c".to_owned(), model: "m".to_owned(), condition: Condition::WithFacts, repeat: number }
    }

    fn marks() -> LeakDetector {
        let mut marks = LeakDetector::default();
        marks.add_token(&trial(1), "aaaabbbbccccdddd");
        marks.add_token(&trial(2), "k3f9qz7m2x8c5v1b");
        marks.add_session(&trial(2), UUID);
        marks.add_session(&trial(2), "session-7");
        marks
    }

    fn said(text: &str) -> Evidence {
        let mut evidence = Evidence::sample();
        evidence.transcript.turns = vec![Turn::said(1, "hi", "hello"), Turn::said(2, OTHER, text)];
        evidence
    }

    fn leak(evidence: &Evidence) -> Option<String> {
        marks().leak(&trial(1), evidence)
    }

    #[test]
    fn a_foreign_mark_is_found_wherever_it_stands_and_in_any_case() {
        let leaked = |what: &str, place: &str| {
            Some(format!("state leaked from the trial m with facts (repeat 2): {what} was found in {place}"))
        };
        let (token, session) = ("its user id's token", "its session's id");
        assert_eq!(leak(&said(&format!("Hello {OTHER}!"))), leaked(token, "the reply of turn 2"));
        assert_eq!(leak(&said(&format!("(x{}y)", OTHER.to_uppercase()))), leaked(token, "the reply of turn 2"));
        assert_eq!(leak(&said(&format!("it is {UUID}."))), leaked(session, "the reply of turn 2"));

        let mut evidence = said("fine");
        evidence.transcript.turns[0].events =
            vec![EventKind::FunctionResponse { output: json!({"user": OTHER}) }.into()];
        assert_eq!(leak(&evidence), leaked(token, "an event of turn 1"));

        let mut evidence = said("fine");
        let resource = Resource { name: OTHER.to_owned(), ..Resource::default() };
        let context = ObjectContext { resources: vec![resource], ..ObjectContext::default() };
        evidence.object_context = Some(Observed::Seen(context.clone()));
        assert_eq!(leak(&evidence), leaked(token, "the object context"));
        let mut evidence = said("fine");
        evidence.before = Some(State { object_context: Some(Observed::Seen(context)), ..State::default() });
        assert_eq!(leak(&evidence), leaked(token, "the object context before turn 1"));

        let mut evidence = said("fine");
        let table = Table { columns: vec!["x".to_owned()], rows: vec![vec![Value::String(OTHER.to_owned())]] };
        evidence.queries = vec![QueryObservation {
            assertion: AssertionId::new("booked"),
            result: Observed::Seen(table),
            sides: None,
        }];
        assert_eq!(leak(&evidence), leaked(token, "the rows of assertion booked"));
    }

    #[test]
    fn what_is_its_own_or_nobodys_is_no_leak() {
        // The user's own words are not the agent's.
        assert_eq!(leak(&said("fine")), None);
        assert_eq!(leak(&said("u-aaaabbbbccccdddd in session-7")), None);
        // A part of a mark is none, and neither is a session id within a longer word.
        assert_eq!(leak(&said("k3f9qz7m2x8c5v1")), None);
        assert_eq!(leak(&said(&format!("{UUID}0"))), None);
        // An id that the agent gave to both tells nothing.
        let mut marks = marks();
        marks.add_session(&trial(1), UUID);
        assert_eq!(marks.leak(&trial(1), &said(UUID)), None);
        assert_eq!(LeakDetector::default().leak(&trial(1), &said(OTHER)), None);
    }

    proptest! {
        #[test]
        fn a_mark_is_found_exactly_where_it_stands(before in "[a-z0-9 -]{0,40}", after in "[a-z0-9 -]{0,40}", mark in "[a-z0-9]{16}", cut in 0..17_usize) {
            let mut marks = LeakDetector::default();
            marks.add_token(&trial(2), &mark);
            let text = format!("{before}{}{after}", &mark[..cut]);
            prop_assert_eq!(marks.leak(&trial(1), &said(&text)).is_some(), text.contains(&mark));
            prop_assert_eq!(marks.leak(&trial(2), &said(&text)), None);
        }
    }

    #[test]
    fn many_marks_cost_no_more_than_one() {
        let mut marks = LeakDetector::default();
        for number in 2..20_000 {
            marks.add_token(&trial(number), &format!("{number:016}"));
        }
        // Would be 20,000 searches of a megabyte.
        assert_eq!(marks.leak(&trial(1), &said(&"lorem ipsum ".repeat(90_000))), None);
        assert!(marks.leak(&trial(1), &said(&format!("{}{:016}", "x".repeat(1 << 20), 19_999))).is_some());
    }
}
