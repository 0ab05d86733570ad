//! Differences between the configuration of a run and another one.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{Provenance, RunStart};
use crate::score::UntilDecided;

/// Parts of a job that may change while a run goes on: they only say when it is stopped.
const MAY_CHANGE: [&str; 3] = ["limits.cost", "limits.tokens", "limits.time"];

/// Something that a run was made with, and is not so any more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingDifference {
    /// Its name: `the agent's models`, `cases[train].tasks[0].task`.
    pub what: String,
    /// The value before and the value now, where they say something.
    pub values: Option<(String, String)>,
}

/// A part of a run's provenance, by its name in messages.
type TextOf = fn(&Provenance) -> String;

impl RunStart {
    /// The differences from another run in whatever decides how conversations go and how they are scored. The places of files, and
    /// the limits of money, tokens and time may differ.
    pub fn differences(&self, now: &RunStart) -> Vec<SettingDifference> {
        let mut found = Vec::new();
        let (a, b) = (&self.provenance, &now.provenance);
        if major(&a.tool_version) != major(&b.tool_version) {
            found.push(between("the version of eval-job", &a.tool_version, &b.tool_version));
        }
        let texts: [(&str, TextOf); 7] = [
            ("--until", |it| {
                let words = |until: &UntilDecided| {
                    let most = until.looks.last().copied().unwrap_or_default();
                    format!("decided, with --max-repeats {most} --min-effect {}", until.min_effect)
                };
                it.until.as_ref().map_or_else(|| "nothing".to_owned(), words)
            }),
            ("the agent's models", |it| it.models.join(", ")),
            ("the agent", |it| it.agent.clone()),
            ("the address of persona and judge", |it| {
                it.model_endpoint.clone().unwrap_or_else(|| "the provider's".to_owned())
            }),
            ("the graph", |it| it.graph.clone().unwrap_or_else(|| "none".to_owned())),
            ("the isolation", |it| it.isolation.clone()),
            ("--rng-seed", |it| it.rng_seed.to_string()),
        ];
        for (what, text) in texts {
            if text(a) != text(b) {
                found.push(between(what, &text(a), &text(b)));
            }
        }
        if a.part != b.part {
            let text = |run: &Provenance| {
                run.part.as_ref().map_or_else(|| "all of it".to_owned(), |part| format!("{}/{}", part.number, part.of))
            };
            found.push(between("the part of the suite", &text(a), &text(b)));
        }
        let nothing = Value::Null;
        let [then, job] = [&self.job, &now.job].map(|job| job.as_ref().unwrap_or(&nothing));
        compare(then, job, String::new(), &mut found);
        templates(&self.templates, &now.templates, &mut found);
        if found.is_empty() && self.trials != now.trials {
            let [then, now] = [self, now].map(|run| format!("{} of them", run.trials.len()));
            found.push(between("the conversations, by model, condition and repetition", &then, &now));
        }
        found
    }
}

fn between(what: &str, then: &str, now: &str) -> SettingDifference {
    let values = (then != now).then(|| (then.to_owned(), now.to_owned()));
    SettingDifference { what: what.to_owned(), values }
}

/// The part of a version that tells what understands each other: the first number that is not 0.
fn major(version: &str) -> String {
    let numbers: Vec<&str> = version.split('.').collect();
    let first = numbers.iter().position(|number| *number != "0").unwrap_or(numbers.len().saturating_sub(1));
    numbers.into_iter().take(first + 1).collect::<Vec<_>>().join(".")
}

fn templates(then: &BTreeMap<String, String>, now: &BTreeMap<String, String>, found: &mut Vec<SettingDifference>) {
    let names: BTreeSet<&String> = then.keys().chain(now.keys()).collect();
    for name in names.into_iter().filter(|name| then.get(*name) != now.get(*name)) {
        found.push(SettingDifference { what: format!("the prompt template {name}"), values: None });
    }
}

/// Finds the smallest parts of two values that differ.
fn compare(then: &Value, now: &Value, path: String, found: &mut Vec<SettingDifference>) {
    if then == now || MAY_CHANGE.contains(&path.as_str()) {
        return;
    }
    match (then, now) {
        (Value::Object(a), Value::Object(b)) => {
            let keys: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
            for key in keys {
                let below = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                let [a, b] = [a, b].map(|it| it.get(key).unwrap_or(&Value::Null));
                compare(a, b, below, found);
            }
        }
        (Value::Array(a), Value::Array(b)) if ids(a) != ids(b) => found.push(between(&path, &ids(a), &ids(b))),
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            for (at, (a, b)) in a.iter().zip(b).enumerate() {
                let place = a["id"].as_str().map_or_else(|| at.to_string(), str::to_owned);
                compare(a, b, format!("{path}[{place}]"), found);
            }
        }
        (Value::Array(a), Value::Array(b)) => found.push(between(&path, &length(a), &length(b))),
        // Early versions kept no job.
        _ if path.is_empty() => found.push(between("the job", &text(then), &text(now))),
        _ => found.push(between(&path, &text(then), &text(now))),
    }
}

/// The ids of what is in a list, where it has some.
fn ids(list: &[Value]) -> String {
    list.iter().filter_map(|it| it["id"].as_str()).collect::<Vec<_>>().join(", ")
}

fn length(list: &[Value]) -> String {
    format!("{} of them", list.len())
}

fn text(value: &Value) -> String {
    match value {
        Value::Null => "nothing".to_owned(),
        Value::String(text) => format!("\"{text}\""),
        Value::Object(_) => "something".to_owned(),
        Value::Array(list) => length(list),
        value => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::record::{Entry, FORMAT_VERSION};

    fn beginning(change: impl Fn(&mut Provenance, &mut Value, &mut BTreeMap<String, String>)) -> RunStart {
        let mut provenance =
            Provenance { tool_version: "0.1.0".to_owned(), models: vec!["a".to_owned()], ..Provenance::default() };
        let mut job = json!({
            "cases": [{"id": "train", "tasks": [{"task": "Book"}, {"task": "Pay"}]}],
            "limits": {"turn": 60.0, "cost": 1.0},
            "gate": {"minScore": 0.5},
        });
        let mut templates = BTreeMap::from([("eval/socrates".to_owned(), "Ask.".to_owned())]);
        change(&mut provenance, &mut job, &mut templates);
        let entry = Entry::RunStarted {
            version: FORMAT_VERSION,
            id: "a".to_owned(),
            at: chrono::DateTime::UNIX_EPOCH,
            provenance: Box::new(provenance),
            job: Some(Box::new(job)),
            templates,
            trials: Default::default(),
        };
        RunStart::from_entry(entry).unwrap()
    }

    fn found(change: impl Fn(&mut Provenance, &mut Value, &mut BTreeMap<String, String>)) -> Vec<String> {
        let words = |it: SettingDifference| match it.values {
            Some((then, now)) => format!("{}: {then} -> {now}", it.what),
            None => it.what,
        };
        beginning(|_, _, _| {}).differences(&beginning(change)).into_iter().map(words).collect()
    }

    #[test]
    fn whatever_decides_how_conversations_go_is_named_where_it_differs() {
        assert_eq!(found(|_, _, _| {}), Vec::<String>::new());
        assert_eq!(
            found(|_, job, _| job["cases"][0]["tasks"][1]["task"] = json!("Cancel")),
            ["cases[train].tasks[1].task: \"Pay\" -> \"Cancel\""]
        );
        assert_eq!(
            found(|_, job, _| job["cases"][0]["tasks"] = json!([])),
            ["cases[train].tasks: 2 of them -> 0 of them"]
        );
        assert_eq!(found(|_, job, _| job["cases"][0]["id"] = json!("plane")), ["cases: train -> plane"]);
        assert_eq!(found(|_, job, _| job["gate"]["minScore"] = Value::Null), ["gate.minScore: 0.5 -> nothing"]);
        assert_eq!(
            found(|_, _, templates| drop(templates.insert("eval/score".to_owned(), "Score.".to_owned()))),
            ["the prompt template eval/score"]
        );
        assert_eq!(
            found(|run, _, _| (run.models, run.rng_seed) = (vec!["b".to_owned()], 7)),
            ["the agent's models: a -> b", "--rng-seed: 0 -> 7"]
        );
    }

    #[test]
    fn limits_and_places_of_files_may_change() {
        let changed = found(|run, job, _| {
            (job["limits"]["cost"], job["limits"]["time"]) = (json!(2.0), json!(600.0));
            (run.job_file, run.job_digest) = ("other.yml".to_owned(), "00".to_owned());
            run.tool_version = "0.1.7".to_owned();
        });
        assert_eq!(changed, Vec::<String>::new());
        assert_eq!(found(|_, job, _| job["limits"]["turn"] = json!(5.0)), ["limits.turn: 60.0 -> 5.0"]);
    }

    #[test]
    fn versions_understand_each_other_by_their_first_number_that_is_not_zero() {
        assert_eq!(major("1.4.2"), major("1.9.0"));
        assert_eq!(major("0.1.4"), major("0.1.9"));
        assert_ne!(major("0.1.4"), major("0.2.0"));
        assert_ne!(major("1.0.0"), major("2.0.0"));
        assert_ne!(major("0.0.1"), major("0.0.2"));
    }
}
