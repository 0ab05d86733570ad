//! A dataset as a job file of ours, which means the same.

mod case;
mod context;
mod ignored;
mod judges;
mod measures;
mod not_compared;
mod quickstart;
mod unusable;
mod warnings;

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

pub use self::unusable::check_expected;

use self::case::{JobDefaults, lower_case, most_messages};
use self::warnings::Warnings;
use super::{CaseUser, Dataset, DatasetCase, MeasureKind, System, UserLine};
use crate::job::{SeparateExpectations, UserPersona};

/// A dataset as a job file.
#[derive(Debug, Clone, PartialEq)]
pub struct LoweredJob {
    /// The job file's content. Of a part of a larger file `null` stands in the places of what cases expect.
    pub document: Value,
    /// What each case expects.
    pub expected: Vec<SeparateExpectations>,
    /// The requests of the file that the job does not serve, each in a sentence.
    pub warnings: Vec<String>,
}

/// How a dataset becomes a job.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LowerOptions {
    /// The transport, a key of `target`, with its settings: `("adk", {"baseUrl": "http://localhost:8000"})`.
    pub target: (String, Map<String, Value>),
    /// Whether metrics give their system's own answer also where that is unsound.
    pub strict: bool,
    /// Whether a conversation with this transport can begin with an earlier one.
    pub takes_history: bool,
    /// Whether the conversations were held already: nobody asks the agent.
    pub is_recorded: bool,
    /// Whether the cases are some of a larger file's: what the others have is not known.
    pub is_part: bool,
    /// Whether calls of tools are answered for the agent behind this transport.
    pub mocks_tools: bool,
    /// Whether the same holds of the second agent.
    pub mocks_reference: bool,
    /// Whether a conversation with the second agent can begin with an earlier one.
    pub reference_takes_history: bool,
    /// The transport of a second agent, whose turns are expected where a case asks for one, with its settings.
    pub reference: Option<(String, Map<String, Value>)>,
    /// Whether the report is to tell where the scores of the other mode, strict or not, differ.
    pub tells_difference: bool,
}

impl LowerOptions {
    /// Whether the agent tells its trace where it is asked to: trpc-agent-go's agent server does.
    fn tells_trace(&self) -> bool {
        let (transport, settings) = &self.target;
        transport == "trpc" && settings.get("server").is_none_or(|server| server == "agent")
    }
}

impl Dataset {
    /// Whether a turn without expected calls expects none.
    fn absent_calls_are_none(&self) -> bool {
        matches!(self.kind.system(), System::Adk | System::Trpc)
            && self.metrics.iter().any(|metric| metric.kind == MeasureKind::Trajectory)
    }

    /// Its cases, each with all that its file's metrics make of it: a case that is added to another file leaves those behind.
    pub fn into_cases(mut self) -> Vec<DatasetCase> {
        if self.absent_calls_are_none() {
            for case in self.cases.iter_mut().filter(|case| case.expects_by_turn()) {
                let CaseUser::Lines(lines) = &mut case.user else { continue };
                for line in lines {
                    line.expected.calls.get_or_insert_default();
                }
            }
        }
        self.cases
    }
}

/// The job that a dataset means.
pub fn lower(dataset: &Dataset, options: &LowerOptions) -> LoweredJob {
    lower_from(&mut dataset.clone(), options)
}

/// The same; the calls that are expected in turns are taken out of the dataset.
pub fn lower_from(dataset: &mut Dataset, options: &LowerOptions) -> LoweredJob {
    let mut warnings = Warnings::default();
    let mut taken = BTreeSet::new();
    if options.strict && !options.is_recorded && dataset.kind.system() == System::Redhat {
        dataset.cases.iter_mut().for_each(|case| end_at_quit(case, &mut warnings));
    }
    let texts = dataset.cases.first().map(|case| case.context_files.clone()).unwrap_or_default();
    let shares_context = dataset.cases.iter().all(|case| case.context_files == texts);
    let of_all = JobDefaults {
        max_turns: dataset.cases.iter().map(most_messages).max().unwrap_or(2),
        absent_calls_are_none: dataset.absent_calls_are_none(),
        shares_context,
        takes_empty_replies: options.strict || measures::wants_same_text(dataset),
        asks_judge: dataset.metrics.iter().any(|metric| metric.kind == MeasureKind::Judge),
    };
    let (mut cases, mut expected) = (Vec::new(), Vec::new());
    for case in &mut dataset.cases {
        let id = own_id(&case.id, &mut taken);
        let mut lowered = lower_case(case, id, of_all, options, &mut warnings);
        if !options.is_part {
            lowered.expected.write_into(&mut lowered.value);
        }
        cases.push(lowered.value);
        expected.push(lowered.expected);
    }
    let dataset = &*dataset;
    let metrics = measures::lower(dataset, options, &mut warnings);
    not_compared::not_compared(dataset).into_iter().for_each(|sentence| warnings.about_file(sentence));
    let app = dataset.cases.iter().find_map(|case| case.session.app.as_deref());
    let user = dataset.cases.iter().find_map(|case| case.session.user.as_deref());
    let (transport, settings) = (options.target.0.as_str(), &options.target.1);
    let name_key =
        [("adk", "app"), ("trpc", "app"), ("watsonx", "agent")].into_iter().find(|(key, _)| *key == transport);
    if let (Some((_, key)), None) = (name_key, app)
        && !settings.contains_key(key)
    {
        warnings.about_file(format!(
            "no case names its {key}: it is taken to be `{}`, as the file's folder; say `--target {transport}=ADDRESS,{key}=NAME`",
            own_app(dataset)
        ));
    }
    let mut target = Map::new();
    target.insert("user".to_owned(), user.unwrap_or("test_user_id").into());
    target.insert("chatbot".to_owned(), app.unwrap_or_else(|| own_app(dataset)).into());
    let reference = options.reference.as_ref().map(|(key, settings)| {
        let mut reference = target.clone();
        reference.insert(key.clone(), Value::Object(settings.clone()));
        Value::Object(reference)
    });
    let shows_trace = |metric: &Value| metric.get("template").and_then(judges::traced_variable).is_some();
    let mut settings = settings.clone();
    if options.tells_trace() && !options.is_recorded && metrics.iter().any(shows_trace) {
        settings.insert("executionTrace".to_owned(), true.into());
    }
    target.insert(transport.to_owned(), Value::Object(settings));
    let mut job = Map::new();
    job.insert("name".to_owned(), last_part(&dataset.name).into());
    if let Some(description) = dataset.description.as_deref().filter(|text| !text.trim().is_empty()) {
        job.insert("description".to_owned(), description.into());
    }
    job.insert("target".to_owned(), Value::Object(target));
    if let Some(reference) = reference.filter(|_| cases.iter().any(|case| case.get("reference").is_some())) {
        job.insert("reference".to_owned(), reference);
    }
    // The first line of a script begins.
    job.insert("greetings".to_owned(), json!([]));
    let is_simulated = dataset.cases.iter().any(|case| matches!(case.user, CaseUser::Scenario(_)));
    // Fixed lines have the room that they need.
    if is_simulated {
        job.insert("maxTurns".to_owned(), of_all.max_turns.into());
    }
    let mut evaluator = Map::new();
    evaluator.extend(stop_signal(dataset).map(|signal| ("signoff".to_owned(), signal.into())));
    // None of the originals checks what its simulated user says.
    evaluator.extend((options.strict && is_simulated).then(|| ("allow".to_owned(), "all".into())));
    evaluator.extend(personas(dataset, options, &mut warnings).map(|them| ("personas".to_owned(), them)));
    if !evaluator.is_empty() {
        job.insert("evaluator".to_owned(), Value::Object(evaluator));
    }
    if of_all.shares_context && !texts.is_empty() {
        job.insert("context".to_owned(), json!(texts));
    }
    if let Some(runs) = dataset.runs.filter(|runs| *runs > 1) {
        job.insert("repeat".to_owned(), runs.into());
    }
    job.insert("metrics".to_owned(), metrics.into());
    job.insert("cases".to_owned(), cases.into());
    LoweredJob { document: Value::Object(job), expected, warnings: warnings.into_sentences() }
}

/// Ends a conversation where the original's program ends, which is never told to the agent.
fn end_at_quit(case: &mut DatasetCase, warnings: &mut Warnings) {
    let CaseUser::Lines(lines) = &mut case.user else { return };
    let ends = |line: &UserLine| ["quit", "exit"].iter().any(|word| line.say.trim().eq_ignore_ascii_case(word));
    if let Some(end) = lines.iter().position(ends).filter(|end| *end > 0) {
        lines.truncate(end);
        let what =
            format!("its messages end after {end}: `quit` and `exit` end the quickstart's program, and are no message");
        warnings.about_case(&case.id, &what);
    }
}

/// The kinds of people with each of whom the simulated users' cases are held.
fn personas(dataset: &Dataset, options: &LowerOptions, warnings: &mut Warnings) -> Option<Value> {
    let is_free = |case: &DatasetCase| matches!(&case.user, CaseUser::Scenario(scenario) if scenario.persona.is_none());
    // A recording is about a case, whoever held it.
    if dataset.personas.is_empty() || options.is_recorded || !dataset.cases.iter().any(is_free) {
        return None;
    }
    if options.strict {
        warnings.about_file("its personas are not played: the original's own run does not play them either");
        return None;
    }
    let written = |persona: &UserPersona| match persona.is_shipped() {
        true => persona.name.as_str().into(),
        false => serde_json::to_value(persona).unwrap_or_default(),
    };
    Some(dataset.personas.iter().map(written).collect())
}

/// The mark by which the simulated users of all cases end; watsonx Orchestrate's is a plain word, which others may say too.
fn stop_signal(dataset: &Dataset) -> Option<&str> {
    let mut signals = dataset.cases.iter().filter_map(|case| match &case.user {
        CaseUser::Scenario(scenario) => Some(scenario.stop_signal.as_deref()),
        CaseUser::Lines(_) => None,
    });
    let first = signals.next().flatten().filter(|_| dataset.kind.system() != System::Watsonx)?;
    signals.all(|other| other == Some(first)).then_some(first)
}

/// The most characters of a case's id, and room for a number behind it.
const LONGEST_ID: usize = 90;

/// An id that a job takes: one short line that no other case has. Of a path, as ADK's old files have, it is the last part.
fn own_id(id: &str, taken: &mut BTreeSet<String>) -> String {
    let line: String = id.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
    let line = line.trim();
    let line = if line.chars().count() > LONGEST_ID { last_part(line).trim() } else { line };
    let short: String = line.chars().take(LONGEST_ID).collect();
    let short = if short.trim().is_empty() { "case".to_owned() } else { short.trim().to_owned() };
    let (mut own, mut copies) = (short.clone(), 1);
    while !taken.insert(own.clone()) {
        copies += 1;
        own = format!("{short} ({copies})");
    }
    own
}

/// The app of a file that names none: that of its folder, as ADK and trpc-agent-go have them lie.
fn own_app(dataset: &Dataset) -> &str {
    dataset.folder.as_deref().unwrap_or_else(|| last_part(&dataset.name))
}

/// A path's last part.
fn last_part(path: &str) -> &str {
    path.rsplit(['/', '\\']).find(|part| !part.is_empty()).unwrap_or(path)
}

/// The text, where there is one.
fn filled(text: &str) -> Option<&str> {
    Some(text).filter(|text| !text.trim().is_empty())
}

#[cfg(test)]
mod tests;
