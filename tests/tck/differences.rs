//! The list of scenarios that do not pass, one a line: class, feature, scenario, example, reason.

use std::fmt;
use std::path::PathBuf;

use super::feature::Scenario;
use super::root;
use super::run::Outcome;

/// What a blessed line says until somebody gives the reason.
const NO_REASON: &str = "why?";

/// How a scenario does not pass.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Class {
    /// A clear error that names Neo4j as the place where the query runs.
    Refused,
    /// Another error, where rows were expected.
    Failed,
    /// A result, where an error was expected.
    Accepted,
    /// Not the expected rows, columns or changes.
    WrongResult,
}

/// A scenario that does not pass.
#[derive(Debug, Clone)]
pub struct Difference {
    /// How.
    pub class: Class,
    /// Which: feature, name, example.
    scenario: String,
    /// What came of it instead.
    got: String,
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Class::Refused => "refused",
            Class::Failed => "failed",
            Class::Accepted => "accepted",
            Class::WrongResult => "wrong result",
        })
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} | {}", self.class, self.scenario)
    }
}

impl Difference {
    /// The difference that a scenario shows; none for one that passes or does not apply.
    pub fn of((scenario, outcome): (&Scenario, &Outcome)) -> Option<Difference> {
        let (class, got) = match outcome {
            Outcome::Passed | Outcome::NotApplicable => return None,
            Outcome::Refused(got) => (Class::Refused, got),
            Outcome::Failed(got) => (Class::Failed, got),
            Outcome::Accepted(got) => (Class::Accepted, got),
            Outcome::WrongResult(got) => (Class::WrongResult, got),
        };
        let example = scenario.example.map(|example| example.to_string()).unwrap_or_default();
        let scenario = format!("{} | {} | {example}", scenario.feature, scenario.name);
        Some(Difference { class, scenario, got: got.clone() })
    }
}

/// Holds what was found against the list, or writes the list when it is to be blessed.
pub fn hold(found: &[Difference]) {
    let path: PathBuf = root().join("tests/tck/differences.txt");
    let list = std::fs::read_to_string(&path).unwrap_or_default();
    let listed: Vec<(&str, &str)> = list.lines().map(|line| line.rsplit_once(" | ").unwrap()).collect();
    let reason = |difference: &str| listed.iter().find(|(listed, _)| *listed == difference).map(|(_, why)| *why);
    if std::env::var_os("EVAL_JOB_TEST_BLESS").is_some() {
        let line = |found: &Difference| format!("{found} | {}\n", reason(&found.to_string()).unwrap_or(NO_REASON));
        std::fs::write(&path, found.iter().map(line).collect::<String>()).unwrap();
        return;
    }
    let new: Vec<String> = found
        .iter()
        .filter(|found| reason(&found.to_string()).is_none())
        .map(|found| format!("{found}\n    {}", found.got))
        .collect();
    assert!(new.is_empty(), "{} scenarios do not pass and are not listed:\n{}", new.len(), new.join("\n"));
    let found: Vec<String> = found.iter().map(Difference::to_string).collect();
    let gone: Vec<&str> =
        listed.iter().map(|(listed, _)| *listed).filter(|listed| !found.contains(&(*listed).to_owned())).collect();
    assert!(gone.is_empty(), "no longer so; bless the list: {gone:#?}");
    let bare: Vec<&str> = listed.iter().filter(|(_, why)| *why == NO_REASON).map(|(listed, _)| *listed).collect();
    assert!(bare.is_empty(), "without a reason: {bare:#?}");
}
