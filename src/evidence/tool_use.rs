//! The agent's calls of tools with their results: what a trajectory is made of.

use std::cell::OnceCell;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::event::present;
use super::{Event, EventKind, LazyValue, Transcript, Turn};

/// One call of a tool by the agent, with its result where one was reported.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ToolUse {
    /// The call's id, where the agent gave it one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The tool's name.
    pub tool: String,
    /// Its arguments, as the agent reported them.
    #[serde(default)]
    pub args: LazyValue,
    /// Its result; `None` where none was reported.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub result: Option<LazyValue>,
}

impl ToolUse {
    /// A call without an id and without a result.
    pub fn new(tool: impl Into<String>, args: impl Into<LazyValue>) -> ToolUse {
        ToolUse { id: None, tool: tool.into(), args: args.into(), result: None }
    }

    /// The calls among some events, in the order in which they were made, each with its result: the response with the
    /// call's id, and where responses have no ids, the next in order.
    pub fn from_events<'a>(events: impl IntoIterator<Item = &'a Event>) -> Vec<ToolUse> {
        let mut pairing = Pairing::default();
        pairing.take_turn(events);
        pairing.uses
    }
}

impl Turn {
    /// How many calls of tools the agent made in this turn. Which they are, [`Transcript::tool_uses_by_turn`] says: their results
    /// may have come later.
    pub fn call_count(&self) -> usize {
        self.events.iter().filter(|event| matches!(event.kind, EventKind::FunctionCall(_))).count()
    }
}

impl Transcript {
    /// The calls of tools of the whole conversation. A result may come in a later turn than its call.
    pub fn tool_uses(&self) -> Vec<ToolUse> {
        let mut pairing = Pairing::default();
        for turn in &self.turns {
            pairing.take_turn(&turn.events);
        }
        pairing.uses
    }

    /// The calls that are the first, or only, one of their message.
    pub fn first_tool_uses(&self) -> Vec<ToolUse> {
        let calls = self.events().filter(|event| matches!(event.kind, EventKind::FunctionCall(_)));
        let uses = self.tool_uses().into_iter().zip(calls);
        uses.filter(|(_, event)| !event.is_parallel).map(|(used, _)| used).collect()
    }

    /// The calls of each turn, with results that came in a later turn too.
    pub fn tool_uses_by_turn(&self) -> Vec<Vec<ToolUse>> {
        let mut uses = self.tool_uses().into_iter();
        self.turns.iter().map(|turn| uses.by_ref().take(turn.call_count()).collect()).collect()
    }
}

/// The calls of tools of a conversation, turn by turn, worked out when the first of them is asked for.
#[derive(Debug)]
pub struct CallsByTurn<'a> {
    transcript: &'a Transcript,
    has_results: bool,
    calls: OnceCell<Vec<Vec<ToolUse>>>,
}

impl<'a> CallsByTurn<'a> {
    /// The calls of this conversation.
    pub fn new(transcript: &'a Transcript) -> CallsByTurn<'a> {
        CallsByTurn { transcript, has_results: true, calls: OnceCell::new() }
    }

    /// The same without their results, for who does not look at them.
    pub fn without_results(transcript: &'a Transcript) -> CallsByTurn<'a> {
        CallsByTurn { has_results: false, ..CallsByTurn::new(transcript) }
    }

    /// The calls of the turn with this number, with results that came in a later turn too; none for a turn that was not run.
    pub fn of_turn(&self, turn: u32) -> &[ToolUse] {
        let calls = self.calls.get_or_init(|| match self.has_results {
            true => self.transcript.tool_uses_by_turn(),
            false => self.transcript.turns.iter().map(calls_alone).collect(),
        });
        let place = self.transcript.turns.iter().position(|known| known.number == turn);
        place.and_then(|place| calls.get(place)).map(Vec::as_slice).unwrap_or_default()
    }
}

/// The calls of a turn without their results.
fn calls_alone(turn: &Turn) -> Vec<ToolUse> {
    let is_call = |event: &&Event| matches!(event.kind, EventKind::FunctionCall(_));
    ToolUse::from_events(turn.events.iter().filter(is_call))
}

#[derive(Default)]
struct Pairing {
    uses: Vec<ToolUse>,
    /// The call that the endpoint itself ran, if the last event was one: its result comes next, or never.
    hosted: Option<usize>,
    /// The other calls without a result, in order.
    open: Vec<usize>,
    /// The first call of the turn, as soon as there is one.
    turn: usize,
    /// The call, if the last event was one.
    last: Option<usize>,
}

impl Pairing {
    fn take_turn<'a>(&mut self, events: impl IntoIterator<Item = &'a Event>) {
        (self.turn, self.last) = (self.uses.len(), None);
        for event in events {
            self.take(event);
        }
    }

    fn take(&mut self, event: &Event) {
        let (hosted, before) = (self.hosted.take(), self.last.take());
        match &event.kind {
            EventKind::FunctionCall(call) => {
                let raw = event.raw.as_ref();
                let id = raw.and_then(|raw| text_at(raw, CALL_IDS)).map(str::to_owned);
                let at = self.uses.len();
                self.uses.push(ToolUse { id, tool: call.function.clone(), args: call.args.clone(), result: None });
                self.last = Some(at);
                match raw.is_some_and(is_hosted) {
                    true => self.hosted = Some(at),
                    false => self.open.push(at),
                }
            }
            EventKind::FunctionResponse { output } => {
                let raw = event.raw.as_ref();
                let id = raw.and_then(|raw| text_at(raw, RESPONSE_IDS));
                let name = raw.and_then(|raw| text_at(raw, RESPONSE_NAMES));
                let before = before.filter(|_| event.is_of_call_before);
                if let Some(at) = before.or_else(|| self.call_of(id, name, hosted)) {
                    self.open.retain(|open| *open != at);
                    // A tool that runs long reports again; its last word counts.
                    self.uses[at].result = Some(output.clone());
                }
            }
            _ => {}
        }
    }

    fn call_of(&self, id: Option<&str>, name: Option<&str>, hosted: Option<usize>) -> Option<usize> {
        if let Some(id) = id {
            let own = |at: &usize| self.uses[*at].id.as_deref() == Some(id);
            // Ids may come again in a later turn: the one that still waits, of this turn before others, or else the last.
            let found = self.waiting().find(own);
            let found = found.or_else(|| (0..self.uses.len()).rev().find(own));
            // What names another call is no answer to this one.
            return found.or_else(|| {
                let without_id = |at: &usize| self.uses[*at].id.is_none();
                self.in_order(name, without_id)
            });
        }
        hosted.or_else(|| self.in_order(name, |_| true))
    }

    /// The calls that wait: those of this turn, then those of earlier ones. What was never answered takes no later call's result.
    fn waiting(&self) -> impl Iterator<Item = usize> {
        let (earlier, own) = self.open.split_at(self.open.partition_point(|at| *at < self.turn));
        own.iter().chain(earlier).copied()
    }

    /// The first call that waits, of the response's own tool where it names one.
    fn in_order(&self, name: Option<&str>, may: impl Fn(&usize) -> bool) -> Option<usize> {
        let waiting = || self.waiting().filter(&may);
        let named = name.and_then(|name| waiting().find(|at| self.uses[*at].tool == name));
        named.or_else(|| waiting().next())
    }
}

/// The steps to a value: keys, and places in lists.
type ValueSteps = &'static [&'static str];

/// Where the transports' events hold a call's id: ADK, A2A, trpc-agent-go, and the shape of chat completions.
const CALL_IDS: &[ValueSteps] = &[
    &["content", "parts", "0", "functionCall", "id"],
    &["data", "data", "id"],
    &["data", "id"],
    &["choices", "0", "message", "tool_calls", "0", "id"],
    &["tool_calls", "0", "id"],
    &["call_id"],
    &["tool_call_id"],
    &["toolCallId"],
    &["id"],
];

/// Where they hold the id of the call that a response answers. A bare `id` may be the response's own.
const RESPONSE_IDS: &[ValueSteps] = &[
    &["content", "parts", "0", "functionResponse", "id"],
    &["data", "data", "id"],
    &["data", "id"],
    &["choices", "0", "message", "tool_id"],
    &["tool_id"],
    &["call_id"],
    &["tool_call_id"],
    &["toolCallId"],
];

/// Where they hold the name of the tool that responds.
const RESPONSE_NAMES: &[ValueSteps] = &[
    &["content", "parts", "0", "functionResponse", "name"],
    &["data", "data", "name"],
    &["data", "name"],
    &["choices", "0", "message", "tool_name"],
    &["tool_name"],
    &["name"],
    &["tool"],
];

fn text_at<'a>(raw: &'a Value, places: &[ValueSteps]) -> Option<&'a str> {
    places.iter().find_map(|place| value_at(raw, place)?.as_str().filter(|text| !text.is_empty()))
}

/// The value at the end of these steps.
fn value_at(raw: &Value, place: ValueSteps) -> Option<&Value> {
    place.iter().try_fold(raw, |value, step| match value {
        Value::Object(entries) => entries.get(*step),
        Value::Array(items) => items.get(step.parse::<usize>().ok()?),
        _ => None,
    })
}

/// Whether the endpoint ran the tool itself, as the Responses API has it: its result is in the same item.
fn is_hosted(raw: &Value) -> bool {
    let kind = raw.get("type").and_then(Value::as_str).unwrap_or_default();
    kind.ends_with("_call") && kind != "function_call" && kind != "tool_call"
}

#[cfg(test)]
mod tests;
