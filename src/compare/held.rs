//! The rules of a run: all that makes its scores comparable with another run's.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use serde::Serialize;
use serde_json::Value;

use super::Scores;
use crate::record::{NamePlaces, Provenance, TrialRecord};

/// The keys of a job that may differ: who is asked, how often, how fast, and what counts as passed.
const MAY_DIFFER: &[&str] =
    &["name", "description", "tags", "target", "repeat", "graph", "isolation", "gate", "limits", "cases"];

/// The keys of a job that say how a conversation is judged, and not how it is run.
const OF_JUDGING: &[&str] =
    &["scorer", "metrics", "weights", "timing", "aspirationalAverage", "context", "expected", "assertions"];

/// The same of a case.
const OF_JUDGING_IN_CASE: &[&str] = &["description", "tags", "context", "expected", "assertions", "conditions"];

/// The prompts of the simulated user beside the job's own: of a second model that reads what the persona says before it is sent, and
/// the instructions about the persona's tools.
const USER_PROMPTS: [&str; 2] = ["judge/user_message", "eval/user_tools"];

/// The most columns of a value that are shown.
const MAX_VALUE_WIDTH: usize = 60;

/// The most differing cases that are listed.
const MAX_CASES: usize = 5;

/// The rules of a run.
#[derive(Debug, Clone, Default)]
pub struct RunRules {
    /// The parts of the job that must be the same; null where an earlier version kept none.
    job: Value,
    /// The prompts' digests by name.
    prompts: Vec<(String, String)>,
    /// The tool's version up to which scores mean the same: the first number that is not 0.
    version: String,
    /// Where persona and judge were asked; `None` at their providers' own addresses.
    endpoint: Option<String>,
    /// Whether only the judge is asked there: no model played the persona.
    is_judge_alone: bool,
    /// The digests of each case.
    cases: HashMap<Box<str>, CaseDigests>,
    /// The names of the parts of cases.
    part_names: NamePlaces,
}

/// The digests of a case: of all of it, of what decides how its conversations are run, and of each of its parts. Of many cases they are
/// all that is held: some 100 bytes each.
#[derive(Debug, Clone)]
struct CaseDigests {
    whole: u64,
    conversation: u64,
    /// They only name what differs: fewer digits will do.
    parts: Box<[PartDigest]>,
}

#[derive(Debug, Clone, Copy)]
struct PartDigest {
    /// The place of its name.
    name: u32,
    digest: u32,
}

impl CaseDigests {
    fn new(case: &Value, names: &mut NamePlaces) -> CaseDigests {
        let parts = case.as_object().into_iter().flatten();
        let part =
            |(key, value): (&String, &Value)| PartDigest { name: names.place_of(key), digest: digest(value) as u32 };
        let parts = parts.map(part).collect();
        CaseDigests { whole: digest(case), conversation: digest(&conversation_of(case)), parts }
    }

    /// The parts by their names.
    fn parts<'a>(&'a self, names: &'a [String]) -> impl Iterator<Item = (&'a str, u32)> {
        self.parts.iter().map(|part| (names[part.name as usize].as_str(), part.digest))
    }
}

/// What stands for both sides of a difference of cases, whose texts are long.
const UNNAMED: [&str; 2] = ["one text", "another"];

/// A difference between the rules of two runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RuleDifference {
    /// Its place in the job: `scorer.temperature`.
    pub what: String,
    /// The first run's value.
    pub first: String,
    /// The second run's value.
    pub second: String,
    /// How many differences it stands for: of many cases only some are named.
    #[serde(skip)]
    pub count: usize,
    /// Whether it is only about how conversations are judged, so that those that are kept can be judged again.
    #[serde(skip)]
    pub is_of_judging: bool,
}

impl RuleDifference {
    /// Whether its two values say nothing: a case has another text.
    pub fn is_unnamed(&self) -> bool {
        [self.first.as_str(), &self.second] == UNNAMED
    }
}

/// Metrics without what is measured beside them in another mode: that scores nothing.
fn without_beside(mut metrics: Value) -> Value {
    for options in metrics.as_array_mut().into_iter().flatten().filter_map(Value::as_object_mut) {
        options.shift_remove("beside");
    }
    metrics
}

impl RunRules {
    /// A run of this job.
    pub fn new(provenance: &Provenance, job: Option<&Value>) -> RunRules {
        let (mut cases, mut part_names) = (HashMap::new(), NamePlaces::default());
        for case in job.and_then(|job| job.get("cases")?.as_array()).into_iter().flatten() {
            if let Some(id) = case.get("id").and_then(Value::as_str) {
                cases.insert(id.into(), CaseDigests::new(case, &mut part_names));
            }
        }
        let must_be_same = |(key, _): &(&String, &Value)| !MAY_DIFFER.contains(&key.as_str());
        let job: Value = match job {
            // Its cases may be many: they are not copied.
            Some(Value::Object(keys)) => {
                let of_key = |(key, value): (&String, &Value)| match key.as_str() {
                    "metrics" => (key.clone(), without_beside(value.clone())),
                    _ => (key.clone(), value.clone()),
                };
                keys.iter().filter(must_be_same).map(of_key).collect()
            }
            other => other.cloned().unwrap_or_default(),
        };
        let prompts = provenance.prompts.iter().map(|prompt| (prompt.name.clone(), prompt.digest.clone())).collect();
        RunRules {
            job,
            prompts,
            version: compatible(&provenance.tool_version),
            endpoint: provenance.model_endpoint.clone(),
            is_judge_alone: matches!(provenance.persona_model.as_str(), "script" | "scripted")
                && provenance.reviewer_model.is_none(),
            cases,
            part_names,
        }
    }

    /// Takes in a trial's case, where the run's job does not hold it.
    pub fn add(&mut self, trial: &TrialRecord) {
        if let Some(case) = &trial.case
            && !self.cases.contains_key(trial.trial.case.as_str())
        {
            let digests = CaseDigests::new(case, &mut self.part_names);
            self.cases.insert(trial.trial.case.as_str().into(), digests);
        }
    }

    /// Takes in the cases of a run that was made alike, as far as they are not known.
    pub fn extend(&mut self, other: &RunRules) {
        for (case, digests) in &other.cases {
            if !self.cases.contains_key(case) {
                let named = digests.parts(other.part_names.names());
                let part = |(name, digest)| PartDigest { name: self.part_names.place_of(name), digest };
                let digests = CaseDigests { parts: named.map(part).collect(), ..*digests };
                self.cases.insert(case.clone(), digests);
            }
        }
    }

    /// The differences in rules and in the cases that both sides have; none where the runs can be compared.
    pub fn differences(&self, other: &RunRules, first: &Scores, second: &Scores) -> Vec<RuleDifference> {
        self.differences_in(other, first.cases().iter().map(String::as_str).filter(|case| second.has(case)))
    }

    /// The differences in rules and in all cases that both know; none where the runs can be compared.
    pub fn differences_from(&self, other: &RunRules) -> Vec<RuleDifference> {
        let mut cases: Vec<&str> = self.cases.keys().map(|case| &**case).collect();
        cases.sort_unstable();
        self.differences_in(other, cases)
    }

    fn differences_in<'a>(&self, other: &RunRules, shared: impl IntoIterator<Item = &'a str>) -> Vec<RuleDifference> {
        let mut found = Vec::new();
        if self.version != other.version {
            found.push(difference("the version of eval-job", &self.version, &other.version));
        }
        if self.endpoint != other.endpoint {
            let [first, second] = [self, other].map(|it| it.endpoint.as_deref().unwrap_or("the provider's"));
            let what = "the address of persona and judge";
            let is_of_judging = self.is_judge_alone && other.is_judge_alone;
            found.push(RuleDifference { is_of_judging, ..difference(what, first, second) });
        }
        if self.job.is_null() != other.job.is_null() {
            let word = |job: &Value| if job.is_null() { "was not kept" } else { "was kept" };
            found.push(difference("the job", word(&self.job), word(&other.job)));
        } else {
            differing("", &self.job, &other.job, &mut found);
        }
        let of_persona = self.job.pointer("/evaluator/prompt").and_then(Value::as_str);
        for (name, digest) in &self.prompts {
            let theirs = other.prompts.iter().find(|(known, _)| known == name);
            if let Some((_, theirs)) = theirs.filter(|(_, theirs)| theirs != digest) {
                let is_of_judging = !USER_PROMPTS.contains(&name.as_str()) && of_persona.is_some_and(|own| own != name);
                let text = difference(&format!("the text of {name}"), short(digest), short(theirs));
                found.push(RuleDifference { is_of_judging, ..text });
            }
        }
        let pair = |case: &str| self.cases.get(case).zip(other.cases.get(case));
        let differs = |case: &&str| pair(case).is_some_and(|(one, other)| one.whole != other.whole);
        let cases: Vec<&str> = shared.into_iter().filter(differs).collect();
        let is_judged_apart =
            |case: &&str| pair(case).is_some_and(|(one, other)| one.conversation == other.conversation);
        for case in cases.iter().take(MAX_CASES) {
            let parts = pair(case).map(|(own, theirs)| self.differing(other, [own, theirs])).unwrap_or_default();
            let case_difference = difference(&format!("case {case} ({parts})"), UNNAMED[0], UNNAMED[1]);
            found.push(RuleDifference { is_of_judging: is_judged_apart(case), ..case_difference });
        }
        if let Some(more @ [_, ..]) = cases.get(MAX_CASES..) {
            let more_cases = difference(&format!("{} more cases", more.len()), UNNAMED[0], UNNAMED[1]);
            let (count, is_of_judging) = (more.len(), more.iter().all(is_judged_apart));
            found.push(RuleDifference { count, is_of_judging, ..more_cases });
        }
        found
    }
}

impl RunRules {
    /// The names of the parts in which a case differs from that of another run, with commas between them.
    fn differing(&self, other: &RunRules, [own, theirs]: [&CaseDigests; 2]) -> String {
        let own: Vec<(&str, u32)> = own.parts(self.part_names.names()).collect();
        let theirs: Vec<(&str, u32)> = theirs.parts(other.part_names.names()).collect();
        let only = |one: &[(&str, u32)], other: &[(&str, u32)]| -> Vec<String> {
            one.iter().filter(|part| !other.contains(part)).map(|(name, _)| (*name).to_owned()).collect()
        };
        let mut names = [only(&own, &theirs), only(&theirs, &own)].concat();
        names.sort();
        names.dedup();
        names.join(", ")
    }
}

/// Of a version what must be the same: `1` of 1.4.2, `0.4` of 0.4.2.
fn compatible(version: &str) -> String {
    let mut numbers = version.split('.');
    match (numbers.next(), numbers.next()) {
        (Some("0"), Some(minor)) => format!("0.{minor}"),
        (major, _) => major.unwrap_or_default().to_owned(),
    }
}

/// The part of a case that decides how its conversations are run, without that by which they are judged.
fn conversation_of(case: &Value) -> Value {
    let mut case = case.clone();
    let Some(keys) = case.as_object_mut() else { return case };
    keys.retain(|key, _| !OF_JUDGING_IN_CASE.contains(&key.as_str()));
    let kept: [(&str, &[&str]); 2] = [("tasks", &["type", "task"]), ("script", &["say", "mocks"])];
    for (list, kept) in kept {
        for item in keys.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten() {
            match item {
                Value::Object(parts) => parts.retain(|key, _| kept.contains(&key.as_str())),
                Value::String(say) => *item = serde_json::json!({ "say": say }),
                _ => {}
            }
        }
    }
    case
}

/// A number that stands for a value, the same in every order of its keys.
fn digest(value: &Value) -> u64 {
    fn feed(value: &Value, hasher: &mut DefaultHasher) {
        match value {
            Value::Object(keys) => {
                let mut keys: Vec<_> = keys.iter().collect();
                keys.sort_by_key(|(key, _)| key.as_str());
                for (key, value) in keys {
                    key.hash(hasher);
                    feed(value, hasher);
                }
            }
            Value::Array(values) => {
                values.len().hash(hasher);
                values.iter().for_each(|value| feed(value, hasher));
            }
            other => other.to_string().hash(hasher),
        }
    }
    let mut hasher = DefaultHasher::new();
    feed(value, &mut hasher);
    hasher.finish()
}

/// The places at which two values differ.
fn differing(place: &str, first: &Value, second: &Value, found: &mut Vec<RuleDifference>) {
    match (first, second) {
        (Value::Object(one), Value::Object(other)) => {
            let keys = one.keys().chain(other.keys().filter(|key| !one.contains_key(*key)));
            for key in keys {
                let below = if place.is_empty() { key.clone() } else { format!("{place}.{key}") };
                let (one, other) = (one.get(key).unwrap_or(&Value::Null), other.get(key).unwrap_or(&Value::Null));
                differing(&below, one, other, found);
            }
        }
        (first, second) if first == second => {}
        (first, second) => found.push(difference(place, &shown(first), &shown(second))),
    }
}

fn difference(what: &str, first: &str, second: &str) -> RuleDifference {
    let key = what.split('.').next().unwrap_or_default();
    let is_of_judging = OF_JUDGING.contains(&key);
    let [what, first, second] = [what, first, second].map(str::to_owned);
    RuleDifference { what, first, second, count: 1, is_of_judging }
}

fn shown(value: &Value) -> String {
    let text = match value {
        Value::Null => "nothing".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    match text.char_indices().nth(MAX_VALUE_WIDTH) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

fn short(digest: &str) -> &str {
    digest.get(..8).unwrap_or(digest)
}
