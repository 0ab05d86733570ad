//! The requests of a conversation, by templates, and their replies, by JSONPath.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Value, json};
use serde_json_path::JsonPath;

use super::config::{HttpConfig, StreamConfig};
use crate::agent::attempts::AttemptFailure;
use crate::agent::freeform::{
    FilledRequest, PickedReply, ReplyPaths, RequestTemplate, StatePaths, TemplateValues, off_thread, path, text,
};
use crate::agent::rest::{Caller, EventOutcome, Form, Hints, Next, Received, Request, TurnInput, Wire};
use crate::agent::{AgentContext, AgentError, AgentErrorKind};
use crate::evidence::ObjectContext;
use crate::http::{HttpFault, HttpFaultKind, HttpReply, read_json};
use crate::text::is_blank;

/// The longest reply that is looked through between two awaits, in bytes.
const QUICK: usize = 64 * 1024;

const HINTS: Hints = Hints {
    unreachable: "",
    unauthorized: "; check the keys in target.http, in its headers for example",
    not_found: "; check the addresses in target.http; or is the session over?",
};

/// A conversation by templates and JSONPath.
#[derive(Clone)]
pub(super) struct HttpWire {
    config: Arc<HttpConfig>,
    values: TemplateValues,
    picks: Arc<ReplyPaths>,
    state: Arc<StatePaths>,
    session_path: Option<Arc<JsonPath>>,
    /// The parts of the agent's state that assertions look at, and those that were found in a reply.
    looked_at: Vec<&'static str>,
    found: BTreeSet<&'static str>,
    /// The conversation so far, as `{role, content}`.
    history: Vec<Value>,
    picked: PickedReply,
    /// A document that is too long to be looked through at once.
    document: Option<Value>,
}

impl HttpWire {
    /// The error names the path that is none.
    pub(super) fn new(config: &HttpConfig, context: &AgentContext) -> Result<HttpWire, String> {
        let session_path = config.open.as_ref().map(|open| path("target.http.open.sessionId", &open.session_id));
        Ok(HttpWire {
            values: TemplateValues::from(context),
            picks: Arc::new(config.say.picks()?),
            state: Arc::new(config.state_picks()?),
            session_path: session_path.transpose()?.map(Arc::new),
            looked_at: context.state_parts.clone(),
            config: Arc::new(config.clone()),
            found: BTreeSet::new(),
            history: Vec::new(),
            picked: PickedReply::default(),
            document: None,
        })
    }

    async fn request(
        &self,
        key: &str,
        template: RequestTemplate<'_>,
        input: &TurnInput,
    ) -> Result<Request, AttemptFailure> {
        let filled = template.fill_off_thread(&self.values.in_turn(input, &self.history)).await;
        let FilledRequest { method, url, headers, body } = filled.map_err(|problem| HttpFault {
            kind: HttpFaultKind::Unsendable,
            message: format!("target.http.{key}.{problem}"),
        })?;
        let request = Request { headers, ..Request::to(method, url, HINTS) };
        Ok(match body {
            Some(body) => request.with_body(&body),
            None => request,
        })
    }

    /// The document that answers a request which is no message.
    async fn look(
        &self,
        caller: &Caller,
        key: &str,
        template: RequestTemplate<'_>,
        input: &TurnInput,
    ) -> Result<Value, AgentError> {
        let request = self.request(key, template, input).await.map_err(|failure| failure.error)?;
        caller.call(&request, |reply| Ok(json_of(reply)?)).await
    }
}

impl Wire for HttpWire {
    async fn open(&mut self, caller: &Caller) -> Result<String, AgentError> {
        let own = caller.session_id();
        let (Some(open), Some(path)) = (&self.config.open, &self.session_path) else { return Ok(own) };
        let reply = self.look(caller, "open", open.template(), &TurnInput::default()).await?;
        let id = path.query(&reply).all().first().map(|node| text(node)).filter(|id| !id.is_empty());
        id.ok_or_else(|| {
            let what = "target.http.open.sessionId: nothing, or no text, is there in the agent's reply";
            AgentError::new(AgentErrorKind::Unreadable, what)
        })
    }

    fn is_met(&self) -> bool {
        self.config.opens_where_it_talks()
    }

    async fn send(&mut self, input: &TurnInput) -> Result<Request, AttemptFailure> {
        (self.picked, self.document) = (PickedReply::default(), None);
        let request = self.request("say", self.config.say.template(), input).await?;
        let form = match self.config.say.stream {
            StreamConfig::Json => Form::Document,
            StreamConfig::Sse => Form::Events,
            StreamConfig::Ndjson => Form::Lines,
        };
        Ok(request.in_form(form, None))
    }

    fn document(&mut self, reply: &HttpReply) -> Result<Value, HttpFault> {
        json_of(reply)
    }

    /// Of server-sent events, text that is no JSON too.
    fn event(&self, data: &str, head: &HttpReply) -> Result<Value, HttpFault> {
        let looks_json = data.trim_start().starts_with(['{', '[']);
        match self.config.say.stream {
            StreamConfig::Sse if !looks_json => Ok(read_json(data).unwrap_or_else(|_| data.into())),
            _ => head.event_json(data),
        }
    }

    fn feed(&mut self, event: Value, reply: &HttpReply) -> Result<EventOutcome, AttemptFailure> {
        if reply.body.len() > QUICK {
            self.document = Some(event);
            return Ok(EventOutcome::Nothing);
        }
        Ok(if self.picks.take(&event, &mut self.picked) { EventOutcome::Text } else { EventOutcome::Nothing })
    }

    async fn finish(&mut self, input: &TurnInput, received: &Received) -> Result<Next, AttemptFailure> {
        received.broken()?;
        let (reply, is_json) = (&received.reply, self.config.say.stream == StreamConfig::Json);
        if let Some(document) = self.document.take() {
            let picks = Arc::clone(&self.picks);
            let taken = off_thread(move || {
                let mut picked = PickedReply::default();
                picks.take(&document, &mut picked);
                picked
            });
            self.picked = taken.await.map_err(unpicked)?;
        }
        let PickedReply { text, events, usage, is_missed } = std::mem::take(&mut self.picked);
        if is_blank(&text) {
            let is_other = self.config.say.stream == StreamConfig::Sse && !reply.is_event_stream();
            let what = match (is_json, is_other) {
                (true, _) => "target.http.say.reply picks no words out of the agent's reply",
                (_, true) => "what came is no event stream: target.http.say.stream says how the words come",
                (_, false) => "target.http.say.reply picks no words out of the agent's stream",
            };
            let is_missed = is_missed.unwrap_or(is_other);
            let kind = if is_missed { HttpFaultKind::Unreadable } else { HttpFaultKind::Useless };
            let fault = if is_json { reply.useless(what) } else { reply.malformed(what) };
            return Err(HttpFault { kind, ..fault }.into());
        }
        self.history.push(json!({"role": "user", "content": input.message}));
        self.history.push(json!({"role": "assistant", "content": text}));
        let reply = received.timed_reply(text);
        // A document has no first words.
        let first_token_ms = reply.first_token_ms.filter(|_| !is_json);
        Next::reply(crate::agent::Reply { events, usage, first_token_ms, ..reply })
    }

    async fn state(&mut self, caller: &Caller, input: &TurnInput) -> Result<ObjectContext, AgentError> {
        let not_found = |message| AgentError::new(AgentErrorKind::NotFound, message);
        let Some(config) = &self.config.state else {
            return Err(not_found(
                "the job does not say where the agent shows its state (target.http.state)".to_owned(),
            ));
        };
        let input = TurnInput { message: String::new(), ..input.clone() };
        let document = self.look(caller, "state", config.template(), &input).await?;
        let (state, looked_at, mut found) = (Arc::clone(&self.state), self.looked_at.clone(), self.found.clone());
        let picked = off_thread(move || {
            let wanting = state.wanting(&document, &looked_at, &mut found);
            (found, wanting.map_or_else(|| Ok(state.object_context(document)), Err))
        });
        let unread = |problem| {
            let what = "target.http.state: what its JSONPaths mean can't be picked out of the agent's reply";
            not_found(format!("{what}: {problem}"))
        };
        let (found, context) = picked.await.map_err(unread)?;
        self.found = found;
        context.map_err(not_found)
    }
}

/// A reply that has come and can't be read for the job's own doing, in whichever turn.
fn unpicked(problem: String) -> HttpFault {
    let what = "target.http.say: what its JSONPaths mean can't be picked out of the agent's reply";
    HttpFault { kind: HttpFaultKind::Unsendable, message: format!("{what}: {problem}") }
}

/// A reply that may be any JSON.
fn json_of(reply: &HttpReply) -> Result<Value, HttpFault> {
    match str::from_utf8(&reply.body).map(read_json) {
        Ok(Ok(value)) if !reply.is_page() => Ok(value),
        // It has words for each way in which a body can't be read.
        _ => reply.object(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::AgentErrorKind;

    #[test]
    fn paths_that_do_not_end_are_the_jobs_doing() {
        let failure = AttemptFailure::from(unpicked("it takes longer than 5s".to_owned()));
        assert_eq!(failure.error.kind, AgentErrorKind::Unsendable);
    }
}
