//! Reads a reply while it comes, event by event, and times it.

use serde_json::Value;

use super::{NextStep, ReplyForm, Wire};
use crate::agent::attempts::AttemptFailure;
use crate::agent::{AgentErrorKind, AgentRun, Reply};
use crate::http::{
    BODY_CAP, EventSplitter, HttpFault, HttpFaultKind, HttpReply, HttpStream, STREAM_CAP, SseEvent, too_long,
};

/// The outcome of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::agent) enum EventOutcome {
    Nothing,
    /// Text for the user.
    Text,
    /// The end: nothing that follows is read.
    End,
    /// Text for the user, and the end.
    LastText,
}

impl EventOutcome {
    /// The outcome of an event that has text or not, and that ends the reply or not.
    pub(in crate::agent) fn of(has_text: bool, is_last: bool) -> EventOutcome {
        match (has_text, is_last) {
            (false, false) => EventOutcome::Nothing,
            (true, false) => EventOutcome::Text,
            (false, true) => EventOutcome::End,
            (true, true) => EventOutcome::LastText,
        }
    }
}

/// A reply that has come, whole or in part. Times are milliseconds from the request's last byte.
pub(in crate::agent) struct Received {
    /// The reply; of a stream its head, without a body.
    pub(in crate::agent) reply: HttpReply,
    /// Whether it came as one document.
    pub(in crate::agent) is_document: bool,
    /// Whether anything came.
    pub(in crate::agent) has_begun: bool,
    /// Whether the stream's end was received.
    pub(in crate::agent) is_over: bool,
    /// The fault that ended it early.
    pub(in crate::agent) fault: Option<HttpFault>,
    /// The time to the first text, where it came before the rest.
    pub(in crate::agent) first_ms: Option<f64>,
    /// The time to the last byte that was read.
    pub(in crate::agent) last_ms: f64,
    /// The time since the message was sent, with the replies before this one.
    pub(in crate::agent) turn_ms: f64,
}

impl Received {
    /// Fails where the reply broke off.
    pub(in crate::agent) fn broken(&self) -> Result<(), AttemptFailure> {
        self.fault.clone().map_or(Ok(()), |fault| Err(fault.into()))
    }

    /// A reply with this text and the measured times.
    pub(in crate::agent) fn timed_reply(&self, text: String) -> Reply {
        let (latency_ms, first_token_ms) = (self.last_ms, self.first_ms);
        Reply { text, events: Vec::new(), latency_ms, first_token_ms, usage: None }
    }

    /// The reply of a run, with the measured times.
    pub(in crate::agent) fn run_reply(&self, run: AgentRun) -> Result<NextStep, AttemptFailure> {
        NextStep::reply(Reply { events: run.events, usage: run.usage, ..self.timed_reply(run.text) })
    }

    /// A failure that the agent itself reports, or a reply without content: never retried.
    pub(in crate::agent) fn reported(&self, what: &str) -> AttemptFailure {
        let quoted = self.reply.quote(what);
        let message = format!("{}: {}", self.reply.place, quoted.trim_matches('"'));
        AttemptFailure::reported(AgentErrorKind::BadReply, message)
    }

    fn took(&mut self, took: EventOutcome) {
        if matches!(took, EventOutcome::Text | EventOutcome::LastText) {
            self.first_ms = self.first_ms.or(Some(self.last_ms));
        }
        self.is_over |= matches!(took, EventOutcome::End | EventOutcome::LastText);
    }

    /// Reads a reply to its end, to its last event, or to where it breaks off. The wire is fed with each event as soon as it
    /// is complete.
    ///
    /// # Errors
    /// The errors of the wire.
    pub(super) async fn read<W: Wire>(
        stream: HttpStream,
        form: ReplyForm,
        wire: &mut W,
    ) -> Result<Received, AttemptFailure> {
        let mut received = Received {
            reply: stream.head.clone(),
            is_document: false,
            has_begun: false,
            is_over: false,
            fault: None,
            first_ms: None,
            last_ms: 0.0,
            turn_ms: 0.0,
        };
        let pieces = match form {
            ReplyForm::Document => None,
            ReplyForm::EventsOrDocument if !stream.head.is_event_stream() => None,
            ReplyForm::Events | ReplyForm::EventsOrDocument => Some(EventSplitter::sse()),
            ReplyForm::Lines => Some(EventSplitter::lines()),
        };
        match pieces {
            None => received.document(stream, wire).await?,
            Some(pieces) => received.stream(stream, pieces, wire).await?,
        }
        received.turn_ms = received.last_ms;
        Ok(received)
    }

    async fn document<W: Wire>(&mut self, stream: HttpStream, wire: &mut W) -> Result<(), AttemptFailure> {
        let (reply, last_ms) = stream.whole(BODY_CAP).await?;
        let document = wire.document(&reply)?;
        (self.reply, self.last_ms, self.is_document) = (reply, last_ms, true);
        (self.has_begun, self.is_over) = (true, true);
        wire.feed(document, &self.reply).map(drop)
    }

    async fn stream<W: Wire>(
        &mut self,
        mut stream: HttpStream,
        mut pieces: EventSplitter,
        wire: &mut W,
    ) -> Result<(), AttemptFailure> {
        if stream.head.is_page() {
            let page = stream.whole(BODY_CAP).await;
            self.fault = Some(
                page.map_or_else(|fault| fault, |(page, _)| page.unreadable("answered a web page instead of a stream")),
            );
            return Ok(());
        }
        loop {
            let chunk = stream.chunk().await;
            self.last_ms = stream.elapsed_ms();
            let chunk = match chunk {
                Ok(Some(chunk)) => chunk,
                Ok(None) => break,
                Err(fault) => {
                    // Bytes that can't be read were received too.
                    self.has_begun |= matches!(fault.kind, HttpFaultKind::Useless | HttpFaultKind::BeyondLimit);
                    self.fault = Some(fault);
                    return Ok(());
                }
            };
            self.has_begun = true;
            let Some(events) = pieces.push(&chunk) else {
                let fault = stream.head.malformed(&too_long("an event of the stream", STREAM_CAP));
                self.fault = Some(HttpFault { kind: HttpFaultKind::BeyondLimit, ..fault });
                return Ok(());
            };
            for event in &events {
                self.event(event, wire, W::event)?;
                if self.is_over || self.fault.is_some() {
                    return Ok(());
                }
            }
        }
        match pieces.finish() {
            Some(rest) => self.event(&rest, wire, W::rest),
            None => Ok(()),
        }
    }

    fn event<W: Wire>(
        &mut self,
        event: &SseEvent,
        wire: &mut W,
        read: impl Fn(&mut W, &SseEvent, &HttpReply) -> Result<Value, HttpFault>,
    ) -> Result<(), AttemptFailure> {
        match event.data.trim() {
            "" => {}
            "[DONE]" => self.is_over = true,
            _ => match read(wire, event, &self.reply) {
                Ok(event) => {
                    let took = wire.feed(event, &self.reply)?;
                    self.took(took);
                }
                Err(fault) => self.fault = Some(fault),
            },
        }
        Ok(())
    }
}
