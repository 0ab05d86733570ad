//! Datasets as another system's files, which mean the same as far as the format can say it.
//!
//! Invariant: nothing is lost without a word. What was written is read back, and whatever is not there as it was is a
//! warning ([`lost`](super::lost)).

use serde_json::{Map, Value};

use super::lost::lost;
use super::{
    CaseExpectation, CaseUser, Dataset, DatasetCase, Kind, Scenario, ScenarioPersona, System, adk, redhat, trpc,
    watsonx,
};

/// A dataset as another system's files.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WrittenDataset {
    /// The files.
    pub files: Vec<WrittenFile>,
    /// The content that they have no place for, each in a sentence.
    pub warnings: Vec<String>,
}

/// One file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenFile {
    /// Its name: harmless, perhaps with a folder.
    pub name: String,
    /// Its text.
    pub text: String,
    /// Whether it stands beside a file with cases, as a metrics file does.
    pub is_companion: bool,
}

impl WrittenDataset {
    /// Adds a file with cases.
    pub(in crate::dataset) fn add(&mut self, name: String, content: &Value) {
        self.files.push(WrittenFile { name, text: text(content), is_companion: false });
    }

    /// Adds a file that stands beside it.
    pub(in crate::dataset) fn add_beside(&mut self, name: String, text: String) {
        self.files.push(WrittenFile { name, text, is_companion: true });
    }

    pub(in crate::dataset) fn warn(&mut self, what: impl Into<String>) {
        self.warnings.push(what.into());
    }
}

/// The dataset with a case for each of its personas in the place of each that a simulated user has: only watsonx Orchestrate's
/// files name them once.
fn with_each_persona(dataset: &Dataset) -> Dataset {
    let mut each = Dataset { personas: Vec::new(), cases: Vec::new(), ..dataset.clone() };
    for case in &dataset.cases {
        let CaseUser::Scenario(scenario) = &case.user else {
            each.cases.push(case.clone());
            continue;
        };
        if scenario.persona.is_some() {
            each.cases.push(case.clone());
            continue;
        }
        each.cases.extend(dataset.personas.iter().map(|persona| {
            let scenario = Scenario { persona: Some(ScenarioPersona::from(persona)), ..(**scenario).clone() };
            let id = format!("{}@{}", case.id, persona.name);
            DatasetCase { id, user: CaseUser::Scenario(Box::new(scenario)), ..case.clone() }
        }));
    }
    each
}

/// Writes a dataset as this system's files.
pub fn write(dataset: &Dataset, system: System) -> WrittenDataset {
    if !dataset.personas.is_empty() && system != System::Watsonx {
        return write(&with_each_persona(dataset), system);
    }
    let mut written = match system {
        System::Adk => adk::write(dataset),
        System::Trpc => trpc::write(dataset),
        System::Watsonx => watsonx::write(dataset),
        System::Redhat | System::Shared => redhat::write(dataset),
    };
    for file in written.files.iter_mut().filter(|file| !file.is_companion) {
        file.text = with_digits(&file.text, &dataset.long_integers);
    }
    let lost = lost(dataset, &written, system);
    written.warnings.extend(lost);
    written
}

/// The JSON with whole numbers as they were written. Of two that read as the same number neither is restored.
fn with_digits(json: &str, long_integers: &[(String, String)]) -> String {
    let written = |read: &str| {
        let mut known = long_integers.iter().filter(|(it, _)| it == read).map(|(_, written)| written);
        known.next().filter(|first| known.all(|other| other == *first))
    };
    if long_integers.is_empty() {
        return json.to_owned();
    }
    let mut text = String::with_capacity(json.len());
    let mut rest = json;
    while let Some(at) = rest.find(|c: char| c == '"' || c == '-' || c.is_ascii_digit()) {
        text.push_str(&rest[..at]);
        rest = &rest[at..];
        let length = match rest.strip_prefix('"') {
            Some(inner) => {
                let mut is_escaped = false;
                let end = inner.find(|c| {
                    let ends = c == '"' && !is_escaped;
                    is_escaped = c == '\\' && !is_escaped;
                    ends
                });
                end.map_or(rest.len(), |end| end + 2)
            }
            None => rest.find([',', ']', '}', '\n']).unwrap_or(rest.len()),
        };
        let (token, after) = rest.split_at(length);
        text.push_str(written(token).map_or(token, String::as_str));
        rest = after;
    }
    text + rest
}

/// A case as it stands in an eval set of this kind, and what that does not say; `own` is the kind of the file that it comes from.
/// `None` where there are no such cases, or where it would expect nothing any more.
pub fn written_case(case: &DatasetCase, own: Option<Kind>, kind: Kind) -> Option<(Value, Vec<String>)> {
    let list = match kind {
        Kind::AdkEvalSet if case.expected.goals.is_none() => "eval_cases",
        Kind::TrpcEvalSet if case.expected == CaseExpectation::default() => "evalCases",
        _ => return None,
    };
    let cases = Dataset::of_cases("cases", vec![case.clone()]);
    let written = write(&Dataset { kind: own.unwrap_or(cases.kind), ..cases }, kind.system());
    let set = written.files.iter().find(|file| !file.is_companion)?;
    let set: Value = serde_json::from_str(&set.text).ok()?;
    Some((set[list].get(0)?.clone(), written.warnings))
}

/// JSON with a newline at its end.
pub(in crate::dataset) fn text(content: &Value) -> String {
    format!("{content:#}\n")
}

/// An object without entries that are null, empty texts, lists or objects.
pub(in crate::dataset) fn object<'a>(entries: impl IntoIterator<Item = (&'a str, Value)>) -> Value {
    let is_empty = |value: &Value| match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => map.is_empty(),
        _ => false,
    };
    let entries = entries.into_iter().filter(|(_, value)| !is_empty(value));
    Value::Object(entries.map(|(key, value)| (key.to_owned(), value)).collect())
}

/// Adds what a file says beside what it is known to say; what is there already stays.
pub(in crate::dataset) fn extend(value: &mut Value, extra: &Map<String, Value>, but: &[&str]) {
    if let Value::Object(map) = value {
        for (key, value) in extra.iter().filter(|(key, _)| !but.contains(&key.as_str())) {
            map.entry(key.clone()).or_insert_with(|| value.clone());
        }
    }
}
