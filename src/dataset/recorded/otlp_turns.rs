//! The turns that the spans of a conversation tell.

use serde_json::Value;

use super::messages::{HistoryMessage, answer, turns_of};
use super::otlp::text;
use super::otlp_figures::{TurnSpan, add_figures, is_agent};
use super::otlp_history::{history_of, message_of_event};
use super::otlp_spans::OtlpRecord;
use crate::dataset::json::json_within;
use crate::dataset::model::{DatasetCall, RecordedTurn};

/// A trace's turns, and what its spans tell of them.
#[derive(Default)]
struct TraceTurns<'a> {
    id: &'a str,
    turns: Vec<RecordedTurn>,
    /// The caller of a model whose call lists them.
    caller: String,
    spans: Vec<TurnSpan<'a>>,
    /// The calls within each turn that only the messages between agents tell, by the caller of the model.
    inner: Vec<(usize, String, Vec<DatasetCall>)>,
}

/// The turns of a conversation: those of its last history, or where histories begin anew, of all of them one after the other.
pub(super) fn turns<'a>(spans: &[&'a OtlpRecord], events: &[&OtlpRecord]) -> Vec<RecordedTurn> {
    let mut traces: Vec<TraceTurns<'a>> = Vec::new();
    let agents: Vec<AgentSpan<'_>> = spans.iter().filter_map(|span| AgentSpan::new(span, events)).collect();
    for span in spans {
        let history = history_of(span, events);
        let caller = caller_of(span, &history);
        let turns = turns_of(history);
        let place = traces.iter().position(|trace| trace.id == span.trace).unwrap_or_else(|| {
            traces.push(TraceTurns { id: &span.trace, ..TraceTurns::default() });
            traces.len() - 1
        });
        let trace = &mut traces[place];
        let has_asked = asked(&turns) > 0;
        match has_asked && is_of_another_agent(span, &turns, &agents) {
            true => trace.add_inner(turns, caller),
            false if has_asked => trace.add(turns, caller),
            false => {}
        }
        trace.spans.push((*span, if has_asked { asked(&trace.turns) } else { 0 }));
    }
    for trace in &mut traces {
        let between_agents: Vec<DatasetCall> = trace.inner.iter().flat_map(|(_, _, calls)| calls.clone()).collect();
        trace.add_inner_calls();
        trace.add_tool_spans(&between_agents);
        add_figures(&mut trace.turns, &trace.spans);
    }
    if traces.iter().all(|trace| trace.turns.is_empty()) {
        return turns_of_events(spans, events);
    }
    let mut turns: Vec<RecordedTurn> = Vec::new();
    for TraceTurns { turns: mut next, .. } in traces {
        // A later trace tells the earlier turns again, or the last ones of them, without their figures.
        let again = repeated_messages(&turns, &next).filter(|again| next.len() > *again).unwrap_or_default();
        let from = turns.len() - again;
        for (new, old) in next.iter_mut().zip(turns.drain(from..)) {
            (new.usage, new.extra) = (old.usage, old.extra);
            // Calls that only spans list are not in the later messages either.
            let mut listed = new.calls.clone();
            old.calls.into_iter().for_each(|call| add_unlisted(new, call, &mut listed));
        }
        turns.extend(next);
    }
    add_tools(&mut turns, spans);
    turns
}

/// The turns that events alone tell: those of a span that is not in the file stand for it.
fn turns_of_events(spans: &[&OtlpRecord], events: &[&OtlpRecord]) -> Vec<RecordedTurn> {
    let mut absent: Vec<OtlpRecord> = Vec::new();
    let is_of = |event: &OtlpRecord, span: &OtlpRecord| event.trace == span.trace && event.span == span.span;
    for event in events {
        let is_there = spans.iter().any(|span| is_of(event, span)) || absent.iter().any(|span| is_of(event, span));
        if !is_there {
            let (trace, span, start) = (event.trace.clone(), event.span.clone(), event.start);
            absent.push(OtlpRecord { trace, span, start, ..OtlpRecord::default() });
        }
    }
    let asks =
        |span: &OtlpRecord| Some(history_of(span, events)).filter(|it| !it.is_empty()).map(|it| asked(&turns_of(it)));
    let messages: Vec<usize> = absent.iter().filter_map(asks).collect();
    if !messages.is_empty() && !messages.contains(&0) {
        let mut all: Vec<&OtlpRecord> = spans.iter().copied().chain(&absent).collect();
        all.sort_by_key(|span| span.start);
        return turns(&all, events);
    }
    // Where each message has a span of its own all of them are one history.
    let mut turns = turns_of(events.iter().filter_map(|event| message_of_event(event)).collect());
    add_tools(&mut turns, spans);
    turns
}

/// How many of these turns have a message of the user.
fn asked(turns: &[RecordedTurn]) -> usize {
    turns.iter().filter(|turn| !turn.user.is_empty()).count()
}

/// How many turns at the end of these stand at the beginning of others: all of them by what the user says, some of them by what the
/// agent says too. `None` where none do.
fn repeated_messages(turns: &[RecordedTurn], next: &[RecordedTurn]) -> Option<usize> {
    let has_said = |old: &RecordedTurn, new: &RecordedTurn| match (&old.reply, &new.reply) {
        (Some(old), Some(reply)) => old == reply || new.intermediate.iter().any(|it| it.text == *old),
        _ => true,
    };
    (1..=turns.len().min(next.len())).rev().find(|again| {
        let mut pairs = turns[turns.len() - again..].iter().zip(next);
        pairs.all(|(old, new)| old.user == new.user && (*again == turns.len() || has_said(old, new)))
    })
}

impl TraceTurns<'_> {
    /// Takes in a further history of the trace, of this caller of a model.
    fn add(&mut self, next: Vec<RecordedTurn>, caller: String) {
        if let Some(again) = repeated_messages(&self.turns, &next) {
            let from = self.turns.len() - again;
            // Of two that say as much, the later one.
            if next.len() > again || weight(&next) >= weight(&self.turns[from..]) {
                self.turns.truncate(from);
                self.turns.extend(next);
                self.caller = caller;
            }
            return;
        }
        // One who sends only what is new each time; another caller asks a question of its own.
        let is_new = next.iter().all(|new| !self.turns.iter().any(|old| old.user == new.user));
        if is_new && self.caller == caller && self.turns.last().is_some_and(is_over) {
            self.turns.extend(next);
        } else if weight(&next) >= weight(&self.turns) {
            (self.turns, self.caller) = (next, caller);
        }
    }
}

impl TraceTurns<'_> {
    /// Takes in messages between one agent and another: only their calls are the turn's.
    fn add_inner(&mut self, turns: Vec<RecordedTurn>, caller: String) {
        let calls: Vec<DatasetCall> = turns.into_iter().flat_map(|turn| turn.calls).collect();
        let place = self.turns.len().saturating_sub(1);
        match self.inner.iter_mut().find(|(at, known, _)| (*at, known.as_str()) == (place, caller.as_str())) {
            Some((_, _, known)) if calls.len() >= known.len() => *known = calls,
            Some(_) => {}
            None => self.inner.push((place, caller, calls)),
        }
    }

    /// Adds them to the turns of which no message tells a call.
    fn add_inner_calls(&mut self) {
        let wants: Vec<bool> = self.turns.iter().map(|turn| turn.calls.is_empty()).collect();
        for (place, _, calls) in self.inner.drain(..).filter(|(place, ..)| wants.get(*place) == Some(&true)) {
            self.turns[place].calls.extend(calls);
            self.turns[place].reply_after_calls = None;
        }
    }
}

impl TraceTurns<'_> {
    /// Adds the calls that only spans of tools tell to the turns in which they were made, where neither the agent's messages nor
    /// those between agents tell them.
    fn add_tool_spans(&mut self, between_agents: &[DatasetCall]) {
        let mut between_agents = between_agents.to_vec();
        let mut listed: Vec<Vec<DatasetCall>> = self.turns.iter().map(|turn| turn.calls.clone()).collect();
        for (at, (span, _)) in self.spans.iter().enumerate() {
            let Some(call) = tool_call(span) else { continue };
            // The histories before it end with the turn that it is of.
            let before = self.spans[..at].iter().rev().chain(&self.spans[at..]);
            let Some(asked) = before.map(|(_, asked)| *asked).find(|asked| *asked > 0) else { continue };
            let place = self.turns.iter().enumerate().filter(|(_, turn)| !turn.user.is_empty()).nth(asked - 1);
            let Some(place) = place.map(|(place, _)| place).or(self.turns.len().checked_sub(1)) else { continue };
            if let Some(at) = between_agents.iter().position(|known| is_same(known, &call)) {
                between_agents.swap_remove(at);
                continue;
            }
            let has_id = |known: &DatasetCall| known.id.is_some() && known.id == call.id;
            if !listed.iter().flatten().any(has_id) {
                add_unlisted(&mut self.turns[place], call, &mut listed[place]);
            }
        }
    }
}

/// Adds a call, unless it is one of those that messages tell, which is taken out of them. Where it stands among the agent's
/// messages is not known: they count as behind it.
fn add_unlisted(turn: &mut RecordedTurn, call: DatasetCall, listed: &mut Vec<DatasetCall>) {
    if let Some(at) = listed.iter().position(|known| is_same(known, &call)) {
        listed.swap_remove(at);
        return;
    }
    turn.calls.push(call);
    turn.reply_after_calls = None;
    turn.intermediate.iter_mut().for_each(|message| message.after_calls = None);
}

/// Whether two reports are of one call: by its id where both have one, else by the tool and, where both have them, the arguments.
fn is_same(known: &DatasetCall, call: &DatasetCall) -> bool {
    match (&known.id, &call.id) {
        (Some(known), Some(id)) => known == id,
        _ => known.tool == call.tool && (known.args.is_none() || call.args.is_none() || known.args == call.args),
    }
}

/// The call that a tool's span tells. A span that stands for several calls at once is none.
fn tool_call(span: &OtlpRecord) -> Option<DatasetCall> {
    let is_tool = text(span, "gen_ai.operation.name") == Some("execute_tool");
    let tool = text(span, "gen_ai.tool.name").filter(|tool| is_tool && *tool != "(merged tools)")?;
    let first = |keys: [&str; 2]| {
        keys.iter().find_map(|key| span.attributes.get(*key).cloned()).map(|it| json_within(it).into())
    };
    Some(DatasetCall {
        id: text(span, "gen_ai.tool.call.id").map(str::to_owned),
        tool: tool.to_owned(),
        args: first(["gen_ai.tool.call.arguments", "gcp.vertex.agent.tool_call_args"]),
        result: first(["gen_ai.tool.call.result", "gcp.vertex.agent.tool_response"]),
        ..DatasetCall::default()
    })
}

/// Whether the agent has replied, and calls nothing after that.
fn is_over(turn: &RecordedTurn) -> bool {
    turn.reply.is_some() && turn.reply_after_calls.is_none_or(|before| before >= turn.calls.len())
}

/// What tells one caller of a model from another: its agent, model and instructions.
fn caller_of(span: &OtlpRecord, history: &[HistoryMessage]) -> String {
    let keys = ["gen_ai.operation.name", "gen_ai.agent.name", "gen_ai.request.model", "gen_ai.system_instructions"];
    let own = keys.map(|key| span.attributes.get(key).map(Value::to_string));
    let instructions = history.iter().filter(|message| matches!(message.role.as_ref(), "system" | "developer"));
    format!("{own:?} {:?}", instructions.map(|message| &message.text).collect::<Vec<_>>())
}

/// The span of an agent, with what its user says.
struct AgentSpan<'a> {
    span: &'a OtlpRecord,
    asked: Vec<String>,
}

impl<'a> AgentSpan<'a> {
    /// `None` for a span that is no agent's, or tells no message.
    fn new(span: &'a OtlpRecord, events: &[&OtlpRecord]) -> Option<AgentSpan<'a>> {
        let turns = if is_agent(span) { turns_of(history_of(span, events)) } else { Vec::new() };
        let asked: Vec<String> = turns.into_iter().map(|turn| turn.user).filter(|user| !user.is_empty()).collect();
        (!asked.is_empty()).then_some(AgentSpan { span, asked })
    }
}

/// Whether the messages of a span are those between one agent and another: some agent's span is around it, and what
/// is said last here is not what its user says.
fn is_of_another_agent(span: &OtlpRecord, turns: &[RecordedTurn], agents: &[AgentSpan<'_>]) -> bool {
    let last = turns.iter().rev().map(|turn| &turn.user).find(|user| !user.is_empty());
    let mut around = agents.iter().filter(|agent| agent.span.encloses(span)).peekable();
    around.peek().is_some() && around.any(|agent| !last.is_some_and(|last| agent.asked.contains(last)))
}

fn weight(turns: &[RecordedTurn]) -> usize {
    turns.iter().map(|turn| 1 + turn.calls.len() + usize::from(turn.reply.is_some())).sum()
}

/// Adds what spans of tools tell of calls that are known: results that no message brings. Where only events tell the turns, their
/// calls are added too.
fn add_tools(turns: &mut [RecordedTurn], spans: &[&OtlpRecord]) {
    let has_calls = turns.iter().any(|turn| !turn.calls.is_empty());
    for call in spans.iter().filter_map(|span| tool_call(span)) {
        if !has_calls {
            turns.last_mut().into_iter().for_each(|turn| add_unlisted(turn, call.clone(), &mut Vec::new()));
        } else if call.result.is_some() {
            let is_known = |known: &DatasetCall| known.result.is_some() && known.id.is_some() && known.id == call.id;
            if !turns.iter().any(|turn| turn.calls.iter().any(is_known)) {
                answer(turns, call);
            }
        }
    }
}
