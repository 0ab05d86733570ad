//! What the runs of the parts of one job were made with that differs, so that they can't be merged.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::merge::RunStart;
use super::{PromptDigest, Provenance};

/// The name of a persona's model in a part whose cases are all scripted, and of a judge in one that asks none.
pub(super) const NO_PERSONA: &str = "script";
pub(super) const NO_JUDGE: &str = "none";

/// Whether two names differ and neither says that there is none.
fn differ_but_for(none: &str, one: &str, other: &str) -> bool {
    one != other && one != none && other != none
}

fn named(prompts: &[PromptDigest]) -> BTreeMap<String, String> {
    prompts.iter().map(|prompt| (prompt.name.clone(), prompt.digest.clone())).collect()
}

/// Whether two parts have something else under one name. A part has only what its own cases need.
fn contradict(one: &BTreeMap<String, String>, other: &BTreeMap<String, String>) -> bool {
    one.iter().any(|(name, text)| other.get(name).is_some_and(|there| there != text))
}

/// The parts of what two runs were made with that must be the same and are not.
pub(super) fn differences(one: &RunStart, other: &RunStart) -> Vec<String> {
    let without_cases = |run: &RunStart| {
        let mut job = run.job.clone().unwrap_or_default();
        job.as_object_mut().map(|job| job.remove("cases"));
        job
    };
    let made_with = |run: &RunStart| {
        let Provenance { tool_version, job_digest, prompts, models, persona_model, judge_model, part, .. } =
            run.provenance.clone();
        let split = part.map(|it| (it.of, it.cases, it.suite, it.selection));
        (tool_version, job_digest, prompts, models, (persona_model, judge_model), split)
    };
    let (a, b) = (made_with(one), made_with(other));
    let mut found: Vec<String> = [
        (a.0 != b.0, "the version of eval-job"),
        (a.1 != b.1, "the job file"),
        (contradict(&named(&a.2), &named(&b.2)) || contradict(&one.templates, &other.templates), "the prompts"),
        (a.3 != b.3, "the agent's models"),
        (differ_but_for(NO_PERSONA, &a.4.0, &b.4.0), "the persona's model"),
        (differ_but_for(NO_JUDGE, &a.4.1, &b.4.1), "the judge's model"),
        (a.5 != b.5, "the suite, or into how many parts it was split"),
    ]
    .into_iter()
    .filter(|(differs, _)| *differs)
    .map(|(_, what)| what.to_owned())
    .collect();
    let (a, b) = (without_cases(one), without_cases(other));
    if found.is_empty() && a != b {
        let mut places = Vec::new();
        different_places(&a, &b, String::new(), &mut places);
        let more = if places.len() > MOST_PLACES {
            format!(" and {} more", places.len() - MOST_PLACES)
        } else {
            String::new()
        };
        places.truncate(MOST_PLACES);
        found.push(format!("the job as flags or a judge's own steps completed it ({}{more})", places.join(", ")));
    }
    found
}

/// The most places of a job that are named.
const MOST_PLACES: usize = 4;

/// Where two values differ: `limits.cost`.
fn different_places(one: &Value, other: &Value, place: String, found: &mut Vec<String>) {
    match (one, other) {
        (Value::Object(a), Value::Object(b)) => {
            let keys: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
            for key in keys {
                let within = if place.is_empty() { key.clone() } else { format!("{place}.{key}") };
                different_places(a.get(key).unwrap_or(&Value::Null), b.get(key).unwrap_or(&Value::Null), within, found);
            }
        }
        (a, b) if a != b => found.push(place),
        _ => {}
    }
}
