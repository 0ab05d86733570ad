//! Which conversation of a run this is.

use std::fmt::{self, Formatter};

use serde::{Deserialize, Serialize};

use super::Condition;

/// Which trial of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TrialId {
    /// Its place in the plan, counted from 1: what the journal's entries refer to. It says nothing beyond this run.
    pub number: u32,
    /// The case that it is about; empty in what an earlier version kept.
    #[serde(default)]
    pub case: String,
    /// The agent's model.
    pub model: String,
    /// Which of the case's conditions.
    pub condition: Condition,
    /// Which repetition, counted from 1.
    pub repeat: u32,
}

impl TrialId {
    /// The key that pairs it with the same trial of another run of the job: `case/model/condition/repeat`, each
    /// percent-encoded where it holds a `/` or a `%`.
    pub fn key(&self) -> String {
        self.to_string()
    }
}

/// The case of the file and the persona: `refund@terse` is `refund` in a run that holds its cases
/// with a `terse` user. Conversations of one case are correlated, also between personas.
pub fn case_and_persona<'a>(case: &'a str, personas: &[String]) -> (&'a str, Option<&'a str>) {
    let parts = |persona: &String| case.strip_suffix(persona.as_str())?.strip_suffix('@').filter(|own| !own.is_empty());
    match personas.iter().find_map(parts) {
        Some(own) => (own, Some(&case[own.len() + 1..])),
        None => (case, None),
    }
}

impl fmt::Display for TrialId {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let part = |text: &str| text.replace('%', "%25").replace('/', "%2F");
        write!(f, "{}/{}/{}/{}", part(&self.case), part(&self.model), self.condition.as_str(), self.repeat)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kind_of_user_is_no_part_of_the_case() {
        let personas = ["terse", "not terse", "a@b"].map(str::to_owned);
        for (case, expected) in [
            ("refund@terse", ("refund", Some("terse"))),
            ("refund@not terse", ("refund", Some("not terse"))),
            ("a@terse@a@b", ("a@terse", Some("a@b"))),
            ("refund@hostile", ("refund@hostile", None)),
            ("refund", ("refund", None)),
            ("@terse", ("@terse", None)),
            ("terse", ("terse", None)),
        ] {
            assert_eq!(case_and_persona(case, &personas), expected);
        }
        assert_eq!(case_and_persona("refund@terse", &[]), ("refund@terse", None));
    }

    fn id(case: &str, model: &str) -> TrialId {
        TrialId {
            number: 7,
            case: case.to_owned(),
            model: model.to_owned(),
            condition: Condition::WithFacts,
            repeat: 2,
        }
    }

    #[test]
    fn a_key_says_which_trial_it_is_and_not_where_it_stood() {
        assert_eq!(id("book", "openai/gpt").key(), "book/openai%2Fgpt/withFacts/2");
        assert_eq!(TrialId { number: 1, ..id("a", "b") }.key(), id("a", "b").key());
        assert_ne!(id("a/b", "c").key(), id("a", "b/c").key());
        assert_ne!(id("a%2Fb", "c").key(), id("a/b", "c").key());
    }
}
