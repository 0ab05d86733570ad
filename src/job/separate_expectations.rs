//! The expectations of a case beside the document of its job, in which `null` keeps their places: they are most of a large job, and
//! need not become a document and be read back.

use serde_json::{Value, json};

use super::{Case, User};
use crate::metric::trajectory::Expectation;

/// The expectations of a case.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SeparateExpectations {
    /// Those of the whole conversation.
    pub whole: Option<Expectation>,
    /// Those of each line of its script.
    pub lines: Vec<Option<Expectation>>,
}

impl SeparateExpectations {
    /// All of them: those of the whole conversation first.
    pub fn all(&self) -> impl Iterator<Item = &Expectation> {
        self.whole.iter().chain(self.lines.iter().flatten())
    }

    /// Puts them into the document of the case.
    pub fn write_into(&self, case: &mut Value) {
        put_at(case, self.whole.as_ref());
        let lines = case.get_mut("script").and_then(Value::as_array_mut).into_iter().flatten();
        lines.zip(&self.lines).for_each(|(line, expected)| put_at(line, expected.as_ref()));
    }

    /// Puts them into the case.
    pub(super) fn put_into(self, case: &mut Case) {
        case.expected = self.whole.map(Box::new);
        if let User::Lines(lines) = &mut case.user {
            for (line, expected) in lines.iter_mut().zip(self.lines) {
                line.expected = expected.map(Box::new);
            }
        }
    }
}

/// Puts an expectation into a case or a line, where `null` keeps its place.
fn put_at(part: &mut Value, expected: Option<&Expectation>) {
    if let (Some(part), Some(expected)) = (part.as_object_mut(), expected) {
        part.insert("expected".to_owned(), json!(expected));
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;
    use crate::job::{Job, secrets_of_document, secrets_of_part};
    use crate::secret::Secret;

    /// A job whose one case expects these, as a document and beside one.
    fn job(whole: Value, line: Value) -> (Value, Value, Vec<SeparateExpectations>) {
        let document = json!({
            "name": "j", "target": {"user": "u", "chatbot": "c"}, "greetings": [], "metrics": [{"trajectory": {}}],
            "cases": [{"id": "a", "script": ["Hi", {"say": "Bye", "expected": null}], "expected": null, "session": {"user": "v"}}],
        });
        let read = |value: &Value| Expectation::deserialize(value).unwrap();
        let expected = SeparateExpectations { whole: Some(read(&whole)), lines: vec![None, Some(read(&line))] };
        let mut together = document.clone();
        expected.write_into(&mut together["cases"][0]);
        assert_eq!(
            (&together["cases"][0]["expected"], &together["cases"][0]["script"][1]["expected"]),
            (&whole, &line)
        );
        (together, document, vec![expected])
    }

    #[test]
    fn a_job_is_the_same_whichever_way_its_expectations_come() {
        let whole = json!({"state": {"a": null}, "rubrics": [{"id": "r", "text": "t"}]});
        let line =
            json!({"calls": [{"tool": "t", "args": null, "match": {"a": "fuzzy"}}, {"tool": "u"}], "reply": "x"});
        let (together, document, beside) = job(whole, line);
        assert_eq!(Job::restored(&together).unwrap(), Job::restored_with(&document, beside).unwrap());
    }

    #[test]
    fn what_a_job_keeps_secret_is_the_same_too() {
        let texts = |secrets: Vec<Secret>| secrets.iter().map(|it| it.expose().to_owned()).collect::<Vec<_>>();
        let none = json!({"keywords": ["k"]});
        for (line, is_there) in [
            (json!({"reply": "see postgres://bob:hunter22@host/db", "calls": []}), true),
            (json!({"calls": [{"tool": "t", "args": {"a": [{"password": "hunter22", "b": 1}]}}]}), true),
            (
                json!({"calls": [{"tool": "t", "args": {"a": {"token": ["hunter22"]}}, "result": "http://h/?key=abc123x"}]}),
                true,
            ),
            (json!({"calls": [{"tool": "t", "args": {"command": "curl --api-key sk-1a2b3c4d5e6f7g8h"}}]}), true),
            (json!({"calls": [{"tool": "t", "args": {"command": "x AKIA1a2b3c4d5e6f"}}], "rubrics": []}), true),
            (json!({"calls": [{"tool": "a://b:c@d", "args": {"limit": 5, "keys": 7, "monkey": null}}]}), true),
            (
                json!({"calls": [{"tool": "t", "args": {"query": "order 7: 1@2=3", "tags": ["a"]}}], "reply": "10:30 is fine"}),
                false,
            ),
        ] {
            let line = serde_json::to_value(Expectation::deserialize(&line).unwrap()).unwrap();
            let (together, document, beside) = job(none.clone(), line.clone());
            let found = texts(secrets_of_part(&document, &beside));
            assert_eq!(found, texts(secrets_of_document(&together)), "{line}");
            assert_eq!(!found.is_empty(), is_there, "{line}: {found:?}");
        }
    }
}
