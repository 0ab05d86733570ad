//! Recorded conversations, whoever wrote them down: nobody has to ask the agent. In comes a file; out come
//! conversations as the evidence of a trial has them.

mod case;
mod context;
mod matching;
mod messages;
mod open;
mod openai;
mod otlp;
mod otlp_figures;
mod otlp_history;
mod otlp_spans;
mod otlp_turns;
mod results;

use serde_json::{Map, Value, json};

use super::cursor::Cursor;
use super::findings::about_file;
use super::json::JsonText;
use super::load::{read_tree, single, stem};
use super::model::{AuthoredText, CaseSession, Dataset, DatasetCall, RecordedTurn, UserLine};
use super::recognise::{LOOKED_FOR, Recognised, look_at};
use super::{Beside, Kind, load, watsonx};
use crate::evidence::{
    Ending, Event, EventKind, Evidence, ObjectContext, Observed, ToolCall, Transcript, TrialId, Turn, trace_steps,
};
use crate::job::{Problem, Problems};

pub use matching::{CaseKey, Matching, match_cases};
pub(super) use open::{LARGE, Pieces, cut_items};
pub use open::{RecordingKey, Recordings};

/// The conversations of a file.
#[derive(Debug, Clone, PartialEq)]
pub struct Recording {
    /// The format of the file.
    pub kind: Kind,
    /// The conversations, in the file's order.
    pub conversations: Vec<Recorded>,
    /// Deviations that were accepted: what is odd, and what is missing.
    pub warnings: Vec<Problem>,
}

/// A conversation that was run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Recorded {
    /// The case that it was about, as far as the file says.
    pub id: String,
    /// Other ids in it that may be the case's, in the order in which they are looked for.
    pub other_ids: Vec<String>,
    /// Which of several runs of the case it was, as the file counts.
    pub run: Option<u64>,
    /// The agent's model, where one is named, and no other.
    pub model: Option<String>,
    /// With whom it was run.
    pub session: CaseSession,
    /// The turns: one without a user's message is the agent's greeting, turn 0.
    pub turns: Vec<Turn>,
    /// The expectations, where the file has them too: a line for each turn.
    pub expected: Vec<UserLine>,
    /// The session's state after the conversation, where the recording has it.
    pub state: Option<Value>,
    /// Why it broke off, where it did.
    pub error: Option<String>,
    /// All other content of the file.
    pub extra: Map<String, Value>,
}

impl Recorded {
    /// A conversation of these turns.
    pub(in crate::dataset) fn new(id: impl Into<String>, turns: Vec<RecordedTurn>) -> Recorded {
        Recorded { id: id.into(), turns: numbered(turns), ..Recorded::default() }
    }

    /// The conversation as the evidence of a trial: what was not recorded is not there.
    pub fn into_evidence(self, trial: &TrialId) -> Evidence {
        let CaseSession { id, user, .. } = self.session;
        let ending = self.error.map_or(Ending::ScriptEnded, |error| Ending::AgentFailed { error });
        let evidence = Evidence::new(id.unwrap_or(self.id), user.unwrap_or_default(), trial);
        let object_context = self.state.map(|context| Observed::Seen(ObjectContext { context, ..Default::default() }));
        Evidence { transcript: Transcript { turns: self.turns }, ending, object_context, ..evidence }
    }
}

/// Turns of evidence: counted from 1, a greeting is turn 0.
pub(in crate::dataset) fn numbered(turns: Vec<RecordedTurn>) -> Vec<Turn> {
    let has_greeting = turns.first().is_some_and(|first| first.user.is_empty());
    turns.into_iter().zip(u32::from(!has_greeting)..).map(|(turn, number)| turn.into_turn(number)).collect()
}

impl RecordedTurn {
    /// The turn as evidence.
    pub fn into_turn(self, number: u32) -> Turn {
        let mut said = self.messages_in_order().into_iter().peekable();
        let RecordedTurn { user, reply, calls, usage, extra, .. } = self;
        let mut turn = Turn::begun(number, user);
        turn.agent = reply;
        turn.events.reserve(2 * calls.len());
        for (call, before) in calls.into_iter().zip(0..) {
            while let Some((_, event)) = said.next_if(|(after_calls, _)| *after_calls <= before) {
                turn.events.push(event);
            }
            turn.events.extend(events_of(call));
        }
        turn.events.extend(said.map(|(_, event)| event));
        let trace = extra.get("executionTrace");
        turn.events.extend(trace.into_iter().flat_map(trace_steps).map(Event::other));
        let search = extra.get("conversationalSearch");
        turn.events.extend(search.map(|it| Event::other(json!({ "conversational_search_metadata": it }))));
        turn.context = context::texts(&extra);
        let seconds = ["duration", "responseTime"].iter().find_map(|key| extra.get(*key)?.as_f64());
        turn.usage = usage;
        turn.latency_ms =
            seconds.filter(|seconds| *seconds >= 0.0 && turn.agent.is_some()).map(|seconds| seconds * 1000.0);
        turn
    }

    /// The messages before the reply, and the place of the reply where calls came after it, each after so many calls.
    fn messages_in_order(&self) -> Vec<(usize, Event)> {
        let calls = self.calls.len();
        let event =
            |said: &AuthoredText| (said.after_calls.unwrap_or(calls), Event::intermediate(&said.text, &said.author));
        let replied = self.reply_after_calls.filter(|after_calls| *after_calls < calls && self.reply.is_some());
        let replied = replied.map(|after_calls| (after_calls, Event::replied()));
        let mut said: Vec<(usize, Event)> = self.intermediate.iter().map(event).chain(replied).collect();
        said.sort_by_key(|(after_calls, _)| *after_calls);
        said
    }
}

/// A call, and its result where it has one.
fn events_of(call: DatasetCall) -> impl Iterator<Item = Event> {
    let DatasetCall { id, tool, args, result, is_parallel, .. } = call;
    let result = result.map(|output| {
        let raw = match &id {
            Some(id) => json!({"tool_call_id": id, "name": tool}),
            None => json!({"name": tool}),
        };
        // It is this call's, whatever other call has the same id or name.
        Event { raw: Some(raw), ..Event::from(EventKind::FunctionResponse { output }) }.of_call_before()
    });
    let args = args.unwrap_or_else(|| Value::Object(Map::new()).into());
    let kind = EventKind::FunctionCall(ToolCall { function: tool, args });
    let made = Event { raw: id.map(|id| json!({"id": id})), ..Event::from(kind) };
    let made = if is_parallel { made.parallel() } else { made };
    std::iter::once(made).chain(result)
}

/// Reads a file of conversations that were run.
///
/// # Errors
/// It holds none, or there are errors in it: all of them, each with its place.
pub fn load_recorded(file_name: &str, text: &str) -> Result<Recording, Problems> {
    load_named(file_name, stem(file_name), text)
}

/// The same; `name` names conversations that the text does not name.
fn load_named(file_name: &str, name: &str, text: &str) -> Result<Recording, Problems> {
    let Recognised { kind, json, inner } = look_at(file_name, text).map_err(of_recordings)?;
    let text = inner.as_deref().unwrap_or(text);
    let Some(json) = json else { return Err(nothing_recorded(file_name, kind)) };
    let read = |read: fn(Cursor<'_>, &str) -> Vec<Recorded>| read_with(file_name, text, &json, name, kind, read);
    let mut recording = match kind {
        Kind::AdkResult => read(results::read_adk)?,
        Kind::AdkInvocations => read(results::read_adk_invocations)?,
        Kind::TrpcResult => read(results::read_trpc)?,
        Kind::WatsonxMessages => read(|root, name| vec![Recorded::new(case_of(name), watsonx::read_messages(root))])?,
        Kind::WatsonxAnalyze => read(|root, name| vec![Recorded::new(case_of(name), watsonx::read_analyzed(root))])?,
        Kind::MessageList => read(openai::read)?,
        Kind::OtlpTraces => read(otlp::read)?,
        Kind::RedhatConversation | Kind::TrpcEvalSet => of_cases(load(file_name, text, &Beside::default())?),
        _ => return Err(nothing_recorded(file_name, kind)),
    };
    if recording.conversations.iter().all(|conversation| conversation.turns.is_empty()) {
        return Err(nothing_recorded(file_name, kind));
    }
    for conversation in &recording.conversations {
        let silent: Vec<String> =
            conversation.turns.iter().filter(|turn| turn.agent.is_none()).map(|turn| turn.number.to_string()).collect();
        if !silent.is_empty() {
            let message =
                format!("{}: no reply of the agent is recorded in turn {}", conversation.id, silent.join(", "));
            recording.warnings.push(about_file(file_name, message, None));
        }
    }
    Ok(recording)
}

fn read_with(
    file_name: &str,
    text: &str,
    json: &JsonText<'_>,
    name: &str,
    kind: Kind,
    read: fn(Cursor<'_>, &str) -> Vec<Recorded>,
) -> Result<Recording, Problems> {
    let (conversations, warnings) = read_tree(file_name, text, json, |root| read(root, name))?;
    Ok(Recording { kind, conversations, warnings })
}

/// The searched-for kind, for messages.
const LOOKED_FOR_RECORDED: &str = "looked for: results of ADK or trpc-agent-go, cases with `\"evalMode\": \"trace\"`, messages of watsonx \
                                   Orchestrate, conversations of Red Hat's with the agent's turns, message lists, OpenTelemetry's JSON";

/// The search for a recording.
fn of_recordings(mut problems: Problems) -> Problems {
    for problem in problems.list.iter_mut().filter(|problem| problem.help.as_deref() == Some(LOOKED_FOR)) {
        problem.help = Some(LOOKED_FOR_RECORDED.to_owned());
        problem.message = problem.message.replace("no evaluation file", "no recording");
    }
    problems
}

fn nothing_recorded(file_name: &str, kind: Kind) -> Problems {
    let message = format!("this is {}: nothing that an agent said is recorded in it", kind.name());
    single(about_file(file_name, message, Some(LOOKED_FOR_RECORDED)))
}

/// The cases of a dataset that are recorded.
fn of_cases(dataset: Dataset) -> Recording {
    let mut conversations = Vec::new();
    for case in dataset.cases {
        let Some(turns) = case.recorded else { continue };
        conversations.push(Recorded { session: case.session, ..Recorded::new(case.id, turns) });
    }
    // What is odd about the file as a whole is about its metrics, which recordings do without.
    let warnings = dataset.warnings.into_iter().filter(|warning| warning.line > 0).collect();
    Recording { kind: dataset.kind, conversations, warnings }
}

/// The case of a file of messages: `data.run1.messages` is about `data`.
fn case_of(name: &str) -> &str {
    let name = name.strip_suffix(".analyze").unwrap_or(name);
    let name = name.strip_suffix(".messages").unwrap_or(name);
    match name.rsplit_once(".run") {
        Some((case, number)) if !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) => case,
        _ => name,
    }
}
