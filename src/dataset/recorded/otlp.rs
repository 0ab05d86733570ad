//! Traces of agents by OpenTelemetry's conventions for generative AI: the message attributes of 1.37 and later, the message
//! events before them, and what ADK adds of its own.
//!
//! A conversation is what has one `gen_ai.conversation.id`, or one trace. A model's call carries the history so far: the
//! last call of a conversation tells most of it.

use std::collections::{BTreeMap, HashMap};

use super::messages::OTHER_PARTS;
use super::otlp_history::history_of;
use super::otlp_spans::{OtlpRecord, records};
use super::otlp_turns::turns;
use super::{Recorded, numbered};
use crate::dataset::cursor::Cursor;
use crate::dataset::model::{CaseSession, RecordedTurn};

/// Attributes that tell to which conversation a span belongs.
pub(super) const CONVERSATION_IDS: [&str; 2] = ["gen_ai.conversation.id", "gcp.vertex.agent.session_id"];

/// Reads a document, or one a line.
pub(super) fn read(value: Cursor<'_>, _: &str) -> Vec<Recorded> {
    let (spans, events) = records(value.node);
    let conversations = Conversations::new(&spans, &events);
    let mut order: Vec<&str> = Vec::new();
    let mut groups: BTreeMap<&str, (Vec<&OtlpRecord>, Vec<&OtlpRecord>)> = BTreeMap::new();
    for (record, is_span) in spans.iter().map(|span| (span, true)).chain(events.iter().map(|event| (event, false))) {
        let id = conversations.of(record);
        let group = groups.entry(id).or_insert_with(|| {
            order.push(id);
            (Vec::new(), Vec::new())
        });
        if is_span { group.0.push(record) } else { group.1.push(record) }
    }
    let (mut recorded, mut is_partly_read) = (Vec::new(), false);
    for id in order {
        let Some((spans, events)) = groups.get(id) else { continue };
        let turns = turns(spans, events);
        let has_others = |span: &&OtlpRecord| history_of(span, events).iter().any(|message| message.has_others);
        is_partly_read |= spans.iter().any(has_others);
        if !turns.is_empty() {
            let user = spans.iter().find_map(|span| text(span, "user.id").or_else(|| text(span, "enduser.id")));
            let session = CaseSession {
                id: Some(id.to_owned()),
                user: user.map(str::to_owned),
                app: spans.iter().find_map(|span| text(span, "gen_ai.agent.name")).map(str::to_owned),
                ..CaseSession::default()
            };
            let (id, model, error) = (id.to_owned(), model(spans), error(spans, &turns));
            recorded.push(Recorded { id, model, session, error, turns: numbered(turns), ..Recorded::default() });
        }
    }
    if is_partly_read {
        value.warn(OTHER_PARTS);
    }
    if recorded.is_empty() {
        value.error_with(
            "no message of a user or an agent is in these traces",
            "content is recorded only where the agent was told to (OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT)",
        );
    }
    recorded
}

/// Why the agent failed in the last turn: the last span to end has failed. A tool that fails is its agent's to handle, and what was
/// made again has ended before.
fn error(spans: &[&OtlpRecord], turns: &[RecordedTurn]) -> Option<String> {
    turns.last().filter(|last| last.reply.is_none())?;
    let own = spans.iter().filter(|span| text(span, "gen_ai.operation.name") != Some("execute_tool"));
    own.max_by_key(|span| span.end)?.error.clone()
}

/// The model that all of its calls went to.
fn model(spans: &[&OtlpRecord]) -> Option<String> {
    let keys = ["gen_ai.request.model", "gen_ai.response.model"];
    let mut names = spans.iter().filter_map(|span| keys.iter().find_map(|key| text(span, key)));
    let first = names.next()?;
    names.all(|name| name == first).then(|| first.to_owned())
}

pub(super) fn text<'a>(record: &'a OtlpRecord, key: &str) -> Option<&'a str> {
    record.attributes.get(key)?.as_str()
}

/// Which conversation a record is of: the one that it names, else its span or the next one around it, else the first of its trace.
struct Conversations<'a> {
    by_span: HashMap<(&'a str, &'a str), (&'a str, &'a str)>,
    by_trace: HashMap<&'a str, &'a str>,
}

impl<'a> Conversations<'a> {
    fn new(spans: &'a [OtlpRecord], events: &'a [OtlpRecord]) -> Conversations<'a> {
        let (mut by_span, mut by_trace) = (HashMap::new(), HashMap::new());
        for record in spans.iter().chain(events) {
            let id = named(record);
            if let Some(id) = id {
                by_trace.entry(&*record.trace).or_insert(id);
            }
        }
        for span in spans {
            by_span.insert((&*span.trace, &*span.span), (named(span).unwrap_or_default(), &*span.parent));
        }
        Conversations { by_span, by_trace }
    }

    fn of(&self, record: &'a OtlpRecord) -> &'a str {
        /// The most spans within each other that are looked through: there may be a circle.
        const DEEPEST: usize = 100;
        if let Some(id) = named(record) {
            return id;
        }
        let mut span = &*record.span;
        for _ in 0..DEEPEST {
            match self.by_span.get(&(&*record.trace, span)) {
                Some((id, _)) if !id.is_empty() => return id,
                Some((_, parent)) if !parent.is_empty() => span = parent,
                _ => break,
            }
        }
        self.by_trace.get(&*record.trace).copied().unwrap_or(&record.trace)
    }
}

/// The conversation that a record names.
fn named(record: &OtlpRecord) -> Option<&str> {
    CONVERSATION_IDS.iter().find_map(|key| text(record, key)).filter(|id| !id.is_empty())
}
