//! `assertions`: what must hold after the conversation.

use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::rules;
use crate::assertion::AssertionCheck;
use crate::assertion::changes::ChangesConfig;
use crate::assertion::cypher::CypherCheck;
use crate::assertion::expression::ExpressionCheck;
use crate::evidence::{AssertionId, Condition};
use crate::score::{OutOfRange, Weight};

/// A condition that must hold after the conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "AssertionFile", into = "AssertionFile")]
pub struct Assertion {
    /// The assertion's id in evidence and across runs: its name, else a digest of its check. No two assertions of a
    /// case share one.
    pub id: AssertionId,
    /// The name that readers see, if the job gives one.
    pub name: Option<String>,
    /// How much it counts among the assertions.
    pub weight: Weight,
    /// The one condition in which it must hold; `None` means both.
    pub when: Option<Condition>,
    /// It may hold before the conversation too.
    pub holds_before: bool,
    /// The check: its subject and the expected result.
    pub check: AssertionCheck,
}

impl Assertion {
    /// The name, or the check's own text.
    pub fn label(&self) -> String {
        self.name.clone().unwrap_or_else(|| self.check.label())
    }

    /// Whether it is checked in this condition.
    pub fn applies_in(&self, condition: Condition) -> bool {
        self.when.is_none_or(|when| when == condition)
    }
}

/// A condition that must hold after the conversation: `cypher` with `expected`, `expression`, or `changes`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(title = "assertion", rename = "Assertion", transform = one_assertion_kind)]
struct AssertionFile {
    /// The assertion's name in reports. Default: its own text
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = r"\S"))]
    name: Option<String>,
    /// How much it counts among the assertions; 0 shows it and leaves it out of the score.
    #[serde(default = "one")]
    #[schemars(range(min = 0, max = 1_000_000))]
    weight: f64,
    /// The one condition in which it must hold. Without it, both.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    when: Option<Condition>,
    /// It may hold before the conversation too, like something that must never come to be. Then it does not count as
    /// vacuous.
    #[serde(default)]
    holds_before: bool,
    /// A Cypher query that only reads. `$user`, `$sessionId`, `$trial` and `$model` are parameters.
    #[serde(default, deserialize_with = "rules::present", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", regex(pattern = r"\S"))]
    cypher: Option<String>,
    /// The expected result: a value, a list for one row, a list of lists or mappings for a table. 1 equals 1.0, not "1".
    #[serde(default, deserialize_with = "rules::present", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Value")]
    expected: Option<Value>,
    /// A Rhai script that must be true, over `objectContext`, `evaluation` and `changes`.
    #[serde(default, deserialize_with = "rules::present", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", regex(pattern = r"\S"))]
    expression: Option<String>,
    /// The changes that the conversation must or may make to the graph: any other change fails.
    #[serde(default, deserialize_with = "rules::present", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "ChangesConfig")]
    changes: Option<ChangesConfig>,
}

fn one() -> f64 {
    1.0
}

fn one_assertion_kind(schema: &mut Schema) {
    rules::exactly_one(schema, &["cypher", "expression", "changes"]);
    schema.insert("dependentRequired".to_owned(), json!({ "cypher": ["expected"], "expected": ["cypher"] }));
}

/// Why an assertion of the file is none.
#[derive(Debug, thiserror::Error)]
enum AssertionError {
    #[error(transparent)]
    Weight(#[from] OutOfRange),
    #[error("an assertion is either `cypher` with `expected`, `expression` or `changes`")]
    Kind,
}

impl TryFrom<AssertionFile> for Assertion {
    type Error = AssertionError;

    fn try_from(file: AssertionFile) -> Result<Assertion, AssertionError> {
        let id = AssertionId::new(file.name.clone().unwrap_or_else(|| digest(&file)));
        let weight = Weight::try_from(file.weight)?;
        let AssertionFile { name, when, holds_before, .. } = file;
        let check = match (file.cypher, file.expected, file.expression, file.changes) {
            (Some(cypher), Some(expected), None, None) => AssertionCheck::Cypher(CypherCheck { cypher, expected }),
            (None, None, Some(expression), None) => AssertionCheck::Expression(ExpressionCheck::new(expression)),
            (None, None, None, Some(changes)) => AssertionCheck::Changes(changes),
            _ => return Err(AssertionError::Kind),
        };
        Ok(Assertion { id, name, weight, when, holds_before, check })
    }
}

impl From<Assertion> for AssertionFile {
    fn from(assertion: Assertion) -> AssertionFile {
        let Assertion { id: _, name, weight, when, holds_before, check } = assertion;
        let (mut cypher, mut expected, mut expression, mut changes) = (None, None, None, None);
        match check {
            AssertionCheck::Cypher(check) => (cypher, expected) = (Some(check.cypher), Some(check.expected)),
            AssertionCheck::Expression(check) => expression = Some(check.text().to_owned()),
            AssertionCheck::Changes(check) => changes = Some(check),
        }
        AssertionFile { name, weight: weight.get(), when, holds_before, cypher, expected, expression, changes }
    }
}

/// Stands for what is observed, however it is compared and whatever it counts: a query's id stays when its `expected` is corrected.
fn digest(file: &AssertionFile) -> String {
    match &file.cypher {
        Some(cypher) => digits(&json!([cypher])),
        None => digits(&json!([file.expression, file.changes])),
    }
}

/// Twelve hexadecimal digits of a value.
fn digits(value: &Value) -> String {
    Sha256::digest(value.to_string()).iter().take(6).map(|byte| format!("{byte:02x}")).collect()
}

/// Gives assertions of one id each an id of its own, by what it checks, so that their order means nothing. Only of those that
/// check the same the place decides, and then either may.
pub(super) fn tell_apart(assertions: &mut [Assertion]) {
    let mut times = std::collections::BTreeMap::new();
    assertions.iter().for_each(|assertion| *times.entry(assertion.id.clone()).or_insert(0) += 1);
    let mut taken = std::collections::BTreeSet::new();
    for assertion in assertions {
        if times.get(&assertion.id).is_some_and(|times| *times > 1) {
            assertion.id = AssertionId::new(format!("{}#{}", assertion.id, check_digits(assertion)));
        }
        let first = assertion.id.clone();
        let mut copies = 1;
        while !taken.insert(assertion.id.clone()) {
            copies += 1;
            assertion.id = AssertionId::new(format!("{first}#{copies}"));
        }
    }
}

/// The digits of what an assertion checks, and when.
fn check_digits(assertion: &Assertion) -> String {
    let file = AssertionFile::from(assertion.clone());
    digits(&json!([file.when, file.holds_before, file.cypher, file.expected, file.expression, file.changes]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(file: Value) -> Assertion {
        serde_json::from_value(file).unwrap()
    }

    #[test]
    fn an_id_is_the_name_or_what_is_checked_and_nothing_else() {
        let query = json!({"cypher": "RETURN 1", "expected": 1});
        let mut weighed = query.clone();
        weighed["weight"] = json!(3);
        assert_eq!(read(query.clone()).id, read(weighed).id);
        assert_eq!(read(query.clone()).id, read(json!({"cypher": "RETURN 1", "expected": 2})).id, "corrected");
        assert_ne!(read(query).id, read(json!({"cypher": "RETURN 2", "expected": 1})).id);
        assert_eq!(read(json!({"name": "booked", "expression": "true"})).id, AssertionId::new("booked"));
    }

    #[test]
    fn two_of_one_id_are_distinguished_by_what_they_check() {
        let ids = |checks: &[&str]| {
            let mut all: Vec<Assertion> =
                checks.iter().map(|check| read(json!({"name": "a", "expression": check}))).collect();
            tell_apart(&mut all);
            all.into_iter().map(|one| one.id.to_string()).collect::<Vec<_>>()
        };
        let (one, other) = (ids(&["true", "false"]), ids(&["false", "true"]));
        assert_eq!((&one[0], &one[1]), (&other[1], &other[0]), "whatever their order");
        assert!(one[0].starts_with("a#") && one[0] != one[1], "{one:?}");
        let copies = ids(&["true", "true"]);
        assert_eq!(copies[1], format!("{}#2", copies[0]));
        assert_eq!(ids(&["true"]), ["a"]);
    }

    #[test]
    fn what_is_stored_is_read_again() {
        let changes =
            json!({"changes": {"created": [{"node": "Train", "count": 1}]}, "when": "withFacts", "weight": 2});
        let assertion = read(changes);
        assert_eq!(read(serde_json::to_value(&assertion).unwrap()), assertion);
    }
}
