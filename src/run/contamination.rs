//! Detects state that leaked from one conversation into another.
//!
//! Each trial has unique marks: the token in its user's id, and the id that the agent gave to its session where that is long
//! enough to be unique. Another trial's mark in the output of a trial's agent means that state leaked.
//!
//! Invariants: no mark is planted, only searched for; the output of a trial is read once, however many marks there are.

use std::collections::hash_map::{Entry, RandomState};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt;
use std::hash::BuildHasher;

use crate::evidence::{Evidence, ObjectContext, Observed};
use crate::plan::Trial;

/// The characters of a token: those that survive in ids, names and addresses.
pub(super) const TOKEN: usize = 16;

/// The shortest session id that is taken for unique: a UUID without its dashes has 32, with them 36.
const SESSION: usize = 20;

/// A trial as it was run: for the first time (`attempt` 0), or again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TrialAttempt {
    pub(super) trial: u32,
    pub(super) attempt: u32,
}

impl From<&Trial> for TrialAttempt {
    fn from(trial: &Trial) -> TrialAttempt {
        TrialAttempt { trial: trial.id.number, attempt: trial.attempt }
    }
}

/// All marks of a run, a few bytes each.
#[derive(Debug, Default)]
pub(super) struct LeakDetector {
    /// The first 16 bytes of all marks, in lower case: no mark is shorter.
    starts: HashSet<[u8; TOKEN]>,
    lengths: BTreeSet<usize>,
    /// By the hash of a mark in lower case.
    marks: HashMap<u64, Mark>,
    hasher: RandomState,
}

#[derive(Debug, Clone, Copy)]
struct Mark {
    kind: MarkKind,
    /// `None` where two conversations have it: then it marks neither.
    owner: Option<TrialAttempt>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MarkKind {
    User,
    Session,
}

/// A mark of another trial that was found in a trial's evidence.
#[derive(Debug, PartialEq)]
pub(super) struct Leak {
    /// The other conversation.
    pub(super) owner: TrialAttempt,
    kind: MarkKind,
    place: String,
}

impl fmt::Display for Leak {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.kind {
            MarkKind::User => "its user id's token",
            MarkKind::Session => "its session's id",
        };
        write!(f, "{what} was found in {}", self.place)
    }
}

impl LeakDetector {
    /// Adds the token of a trial's user.
    pub(super) fn add_token(&mut self, owner: TrialAttempt, token: &str) {
        self.add(owner, MarkKind::User, token);
    }

    /// Adds the id that the agent gave to a trial's session, unless it is too short to be unique.
    pub(super) fn add_session(&mut self, owner: TrialAttempt, session_id: &str) {
        if session_id.len() >= SESSION {
            self.add(owner, MarkKind::Session, session_id);
        }
    }

    fn add(&mut self, owner: TrialAttempt, kind: MarkKind, text: &str) {
        let text = text.to_ascii_lowercase().into_bytes();
        let Some(start) = text.first_chunk::<TOKEN>() else { return };
        self.starts.insert(*start);
        self.lengths.insert(text.len());
        match self.marks.entry(self.hasher.hash_one(&text[..])) {
            Entry::Occupied(mut known) if known.get().owner != Some(owner) => known.get_mut().owner = None,
            Entry::Occupied(_) => {}
            Entry::Vacant(new) => {
                new.insert(Mark { kind, owner: Some(owner) });
            }
        }
    }

    /// Finds another trial's mark in the output of this trial's agent.
    pub(super) fn leak(&self, of: TrialAttempt, evidence: &Evidence) -> Option<Leak> {
        if self.marks.is_empty() {
            return None;
        }
        shown(evidence, &mut |place, text| {
            let (owner, kind) = self.foreign(of, text)?;
            Some(Leak { owner, kind, place })
        })
    }

    /// The first mark of another trial in a text.
    fn foreign(&self, of: TrialAttempt, text: &str) -> Option<(TrialAttempt, MarkKind)> {
        let text = text.to_ascii_lowercase().into_bytes();
        text.windows(TOKEN).enumerate().find_map(|(at, start)| {
            if !self.starts.contains(start) {
                return None;
            }
            self.lengths.iter().find_map(|length| {
                let mark = self.marks.get(&self.hasher.hash_one(text.get(at..at + length)?))?;
                let owner = mark.owner.filter(|owner| *owner != of)?;
                mark.kind.stands_alone(&text, at, *length).then_some((owner, mark.kind))
            })
        })
    }
}

impl MarkKind {
    /// Whether the mark is not part of a longer one: a token is random, but a session id can be the beginning of another.
    fn stands_alone(self, text: &[u8], at: usize, length: usize) -> bool {
        let is_boundary = |byte: Option<&u8>| !byte.is_some_and(u8::is_ascii_alphanumeric);
        let before = at.checked_sub(1).and_then(|before| text.get(before));
        self == MarkKind::User || is_boundary(before) && is_boundary(text.get(at + length))
    }
}

/// Applies `look` to all output of the agent and its graph, piece by piece, until it finds a leak.
fn shown(evidence: &Evidence, look: &mut dyn FnMut(String, &str) -> Option<Leak>) -> Option<Leak> {
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::evidence::{AssertionId, EventKind, ObservedState, QueryObservation, Resource, Table, Turn, Value};

    const OTHER: &str = "u-k3f9qz7m2x8c5v1b";
    const UUID: &str = "5f0c2b5e-0d3a-4a57-9a54-1f6f0c8e7d21";

    fn held(trial: u32) -> TrialAttempt {
        TrialAttempt { trial, attempt: 0 }
    }

    fn marks() -> LeakDetector {
        let mut marks = LeakDetector::default();
        marks.add_token(held(1), "aaaabbbbccccdddd");
        marks.add_token(held(2), "k3f9qz7m2x8c5v1b");
        marks.add_session(held(2), UUID);
        marks.add_session(held(2), "session-7");
        marks
    }

    fn replied(text: &str) -> Evidence {
        let mut evidence = Evidence::sample();
        evidence.transcript.turns = vec![Turn::answered(1, "hi", "hello"), Turn::answered(2, OTHER, text)];
        evidence
    }

    fn leak(evidence: &Evidence) -> Option<(u32, String)> {
        marks().leak(held(1), evidence).map(|leak| (leak.owner.trial, leak.to_string()))
    }

    #[test]
    fn a_foreign_mark_is_found_wherever_it_stands_and_in_any_case() {
        let leaked = |what: &str, place: &str| Some((2, format!("{what} was found in {place}")));
        let (token, session) = ("its user id's token", "its session's id");
        assert_eq!(leak(&replied(&format!("Hello {OTHER}!"))), leaked(token, "the reply of turn 2"));
        assert_eq!(leak(&replied(&format!("(x{}y)", OTHER.to_uppercase()))), leaked(token, "the reply of turn 2"));
        assert_eq!(leak(&replied(&format!("it is {UUID}."))), leaked(session, "the reply of turn 2"));

        let mut evidence = replied("fine");
        evidence.transcript.turns[0].events =
            vec![EventKind::FunctionResponse { output: json!({"user": OTHER}).into() }.into()];
        assert_eq!(leak(&evidence), leaked(token, "an event of turn 1"));

        let mut evidence = replied("fine");
        let resource = Resource { name: OTHER.to_owned(), ..Resource::default() };
        let context = ObjectContext { resources: vec![resource], ..ObjectContext::default() };
        evidence.object_context = Some(Observed::Seen(context.clone()));
        assert_eq!(leak(&evidence), leaked(token, "the object context"));
        let mut evidence = replied("fine");
        evidence.before =
            Some(ObservedState { object_context: Some(Observed::Seen(context)), ..ObservedState::default() });
        assert_eq!(leak(&evidence), leaked(token, "the object context before turn 1"));

        let mut evidence = replied("fine");
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
        // The user's own text is not the agent's.
        assert_eq!(leak(&replied("fine")), None);
        assert_eq!(leak(&replied("u-aaaabbbbccccdddd in session-7")), None);
        // A part of a mark is none, and neither is a session id within a longer token.
        assert_eq!(leak(&replied("k3f9qz7m2x8c5v1")), None);
        assert_eq!(leak(&replied(&format!("{UUID}0"))), None);
        // An id that the agent gave to both tells nothing.
        let mut marks = marks();
        marks.add_session(held(1), UUID);
        assert_eq!(marks.leak(held(1), &replied(UUID)), None);
        let again = TrialAttempt { attempt: 1, ..held(1) };
        assert_eq!(marks.leak(again, &replied("aaaabbbbccccdddd")).unwrap().owner, held(1));
        assert_eq!(LeakDetector::default().leak(held(1), &replied(OTHER)), None);
    }

    proptest! {
        #[test]
        fn a_mark_is_found_exactly_where_it_stands(before in "[a-z0-9 -]{0,40}", after in "[a-z0-9 -]{0,40}", mark in "[a-z0-9]{16}", cut in 0..17_usize) {
            let mut marks = LeakDetector::default();
            marks.add_token(held(2), &mark);
            let text = format!("{before}{}{after}", &mark[..cut]);
            prop_assert_eq!(marks.leak(held(1), &replied(&text)).is_some(), text.contains(&mark));
            prop_assert_eq!(marks.leak(held(2), &replied(&text)), None);
        }
    }

    #[test]
    fn many_marks_cost_no_more_than_one() {
        let mut marks = LeakDetector::default();
        for number in 2..20_000 {
            marks.add_token(held(number), &format!("{number:016}"));
        }
        // Would be 20,000 searches of a megabyte.
        assert_eq!(marks.leak(held(1), &replied(&"lorem ipsum ".repeat(90_000))), None);
        assert!(marks.leak(held(1), &replied(&format!("{}{:016}", "x".repeat(1 << 20), 19_999))).is_some());
    }
}
