//! The requests of a conversation, by templates, and their replies, by JSONPath.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};
use serde_json_path::JsonPath;

use super::config::{HttpConfig, StreamConfig};
use super::user_tools;
use crate::agent::attempts::{AttemptFailure, Retry};
use crate::agent::freeform::{
    DoneMark, FilledRequest, OffThreadError, PickedReply, ReplyPaths, RequestTemplate, StatePaths, TemplateValues,
    off_thread, path, text, where_text_is, with_call,
};
use crate::agent::history::earlier;
use crate::agent::rest::{AgentRequest, Caller, EventOutcome, Hints, NextStep, Received, ReplyForm, TurnInput, Wire};
use crate::agent::{AgentContext, AgentError, AgentErrorKind, SettingError, UnfinishedSession};
use crate::evidence::{ObjectContext, UserToolCall};
use crate::http::{HttpFault, HttpFaultKind, HttpReply, SseEvent, read_json};
use crate::text::is_blank;

/// The longest reply that is evaluated between two awaits, in bytes.
const QUICK: usize = 64 * 1024;

const HINTS: Hints = Hints {
    unreachable: "",
    unauthorized: "; check the keys in target.http, in its headers for example",
    not_found: "; target.http.say.url says what was asked for; or is the session over?",
};

/// The hints on requests that open a conversation.
const OPEN_HINTS: Hints = Hints { not_found: "; target.http.open.url and its method say what was asked for", ..HINTS };

/// The hints on requests that read the state.
const STATE_HINTS: Hints = Hints { not_found: "; target.http.state.url says what was asked for", ..HINTS };

/// A conversation by templates and JSONPath.
#[derive(Clone)]
pub(super) struct HttpWire {
    config: Arc<HttpConfig>,
    values: TemplateValues,
    paths: Arc<ReplyPaths>,
    state_paths: Arc<StatePaths>,
    session_path: Option<Arc<JsonPath>>,
    /// The parts of the agent's state that assertions use, and those that were found in a reply.
    looked_at: Vec<&'static str>,
    found: BTreeSet<&'static str>,
    /// Whether the path of the events has found anything in this conversation.
    has_found_calls: bool,
    /// Whether text was read in any conversation with the agent.
    has_read: Arc<AtomicBool>,
    /// The mark of a stream's last event.
    done: Option<Arc<DoneMark>>,
    /// Whether a stream has had its last event in any conversation with the agent.
    has_ended: Arc<AtomicBool>,
    /// The failure that the agent reports in a stream.
    reported: Option<AttemptFailure>,
    /// The conversation so far, as `{role, content}`.
    history: Vec<Value>,
    picked: PickedReply,
    /// A document that is too long to be evaluated at once.
    document: Option<Value>,
}

impl HttpWire {
    pub(super) fn new(config: &HttpConfig, context: &AgentContext) -> Result<HttpWire, SettingError> {
        let session_path = config.open.as_ref().map(|open| path("target.http.open.sessionId", &open.session_id));
        Ok(HttpWire {
            values: TemplateValues::from(context),
            paths: Arc::new(config.say.paths()?),
            state_paths: Arc::new(config.state_paths()?),
            session_path: session_path.transpose()?.map(Arc::new),
            looked_at: context.state_parts.clone(),
            config: Arc::new(config.clone()),
            found: BTreeSet::new(),
            has_read: Arc::default(),
            done: config.say.done_mark()?.map(Arc::new),
            has_ended: Arc::default(),
            reported: None,
            history: Vec::new(),
            has_found_calls: false,
            picked: PickedReply::default(),
            document: None,
        })
    }

    async fn request(
        &self,
        key: &str,
        template: RequestTemplate<'_>,
        input: &TurnInput,
    ) -> Result<AgentRequest, AttemptFailure> {
        self.filled(key, template, self.values.in_turn(input, &self.history)).await
    }

    async fn filled(
        &self,
        key: &str,
        template: RequestTemplate<'_>,
        values: Value,
    ) -> Result<AgentRequest, AttemptFailure> {
        let filled = template.fill_off_thread(&values).await;
        let FilledRequest { method, url, headers, body } = filled.map_err(|error| HttpFault {
            kind: HttpFaultKind::Unsendable,
            message: error.below(&format!("target.http.{key}")).to_string(),
        })?;
        let hints = match key {
            "open" => OPEN_HINTS,
            "state" => STATE_HINTS,
            "userTools" => user_tools::HINTS,
            _ => HINTS,
        };
        let request = AgentRequest { headers, ..AgentRequest::to(method, url, hints) };
        Ok(match body {
            Some(body) => request.with_body(&body),
            None => request,
        })
    }

    /// Whether the data of an event are text that is not JSON, and the path of the text finds such text.
    fn is_text(&self, data: &str) -> bool {
        let looks_json = data.trim_start().starts_with(['{', '[']) || read_json::<Value>(data).is_ok();
        self.config.say.stream == StreamConfig::Sse && !looks_json && self.paths.find_text(&data.into())
    }

    /// Fails where a stream lacks its last event: the job's own mark, or the `[DONE]` of the agent's earlier replies.
    fn check_end(&self, received: &Received) -> Result<(), AttemptFailure> {
        if received.is_over {
            self.has_ended.store(true, Ordering::Relaxed);
            return Ok(());
        }
        let mark = match &self.done {
            Some(_) => "what target.http.say.done names",
            None if self.has_ended.load(Ordering::Relaxed) => "[DONE], with which earlier replies of the agent end",
            None => return Ok(()),
        };
        Err(received.reply.malformed(&format!("the stream was cut off: it ends without {mark}")).into())
    }

    /// Makes a request that is not a message, and returns its document.
    async fn fetch(
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
    async fn reopen(&mut self, _: &Caller, left: &UnfinishedSession) -> Result<(), AgentError> {
        self.history = earlier(&left.messages);
        Ok(())
    }

    async fn open(&mut self, caller: &Caller) -> Result<String, AgentError> {
        let own = caller.session_id();
        let (Some(open), Some(path)) = (&self.config.open, &self.session_path) else { return Ok(own) };
        let reply = self.fetch(caller, "open", open.template(), &TurnInput::default()).await?;
        let id = path.query(&reply).all().first().map(|node| text(node)).filter(|id| !id.is_empty());
        id.ok_or_else(|| {
            let what = "target.http.open.sessionId: nothing, or no text, is there in the agent's reply";
            AgentError::new(AgentErrorKind::Unreadable, format!("{what}{}", where_text_is(&reply)))
        })
    }

    fn is_agent_confirmed(&self) -> bool {
        self.config.opens_at_message_host()
    }

    async fn send(&mut self, input: &TurnInput) -> Result<AgentRequest, AttemptFailure> {
        (self.picked, self.document, self.reported) = (PickedReply::default(), None, None);
        let request = self.request("say", self.config.say.template(), input).await?;
        let form = match self.config.say.stream {
            StreamConfig::Json => ReplyForm::Document,
            StreamConfig::Sse => ReplyForm::Events,
            StreamConfig::Ndjson => ReplyForm::Lines,
        };
        Ok(request.in_form(form, None))
    }

    fn document(&mut self, reply: &HttpReply) -> Result<Value, HttpFault> {
        json_of(reply)
    }

    /// Server-sent events may be text that is not JSON, too, where the path of the text finds it.
    fn event(&mut self, event: &SseEvent, head: &HttpReply) -> Result<Value, HttpFault> {
        let SseEvent { name, data } = event;
        match name.as_str() {
            "error" => {
                self.reported = Some(reported(head, data));
                Ok(Value::Null)
            }
            // They keep the connection open, and say nothing.
            "ping" | "heartbeat" | "keepalive" | "keep-alive" => Ok(Value::Null),
            _ if self.is_text(data) => Ok(data.as_str().into()),
            _ => head.event_json(data),
        }
    }

    fn rest(&mut self, event: &SseEvent, head: &HttpReply) -> Result<Value, HttpFault> {
        match event.name != "error" && self.is_text(&event.data) {
            true => {
                let what = format!("the stream stops in the middle of an event: {}", head.quote(&event.data));
                Err(head.malformed(&what))
            }
            false => self.event(event, head),
        }
    }

    fn feed(&mut self, event: Value, reply: &HttpReply) -> Result<EventOutcome, AttemptFailure> {
        if reply.body.len() > QUICK {
            self.document = Some(event);
            return Ok(EventOutcome::Nothing);
        }
        if let Some(failure) = self.reported.take() {
            return Err(failure);
        }
        let has_text = self.paths.take(&event, &mut self.picked);
        if self.config.say.stream == StreamConfig::Json {
            return Ok(EventOutcome::of(has_text, false));
        }
        if let Some(error) = error_of(&event).filter(|_| !has_text) {
            return Err(reported(reply, &error));
        }
        Ok(EventOutcome::of(has_text, self.done.as_ref().is_some_and(|done| done.is_in(&event))))
    }

    async fn finish(&mut self, input: &TurnInput, received: &Received) -> Result<NextStep, AttemptFailure> {
        received.broken()?;
        let (reply, is_json) = (&received.reply, self.config.say.stream == StreamConfig::Json);
        if !is_json {
            self.check_end(received)?;
        }
        if let Some(document) = self.document.take() {
            let paths = Arc::clone(&self.paths);
            let taken = off_thread(move || {
                let mut picked = PickedReply::default();
                paths.take(&document, &mut picked);
                picked
            });
            self.picked = taken.await.map_err(not_picked)?;
        }
        let PickedReply { text, events, usage, is_missed, missed_calls } = std::mem::take(&mut self.picked);
        if is_blank(&text) {
            let is_other = self.config.say.stream == StreamConfig::Sse && !reply.is_event_stream();
            let what = match (is_json, is_other) {
                (true, _) => "target.http.say.reply picks no text out of the agent's reply",
                (_, true) => "what came is no event stream: target.http.say.stream says how the reply comes",
                (_, false) => "target.http.say.reply picks no text out of the agent's stream",
            };
            let is_missed = is_missed.unwrap_or(is_other);
            let kind = if is_missed { HttpFaultKind::Unreadable } else { HttpFaultKind::Useless };
            let elsewhere = json_of(reply).ok().filter(|_| is_json).map(|document| where_text_is(&document));
            let what = format!("{what}{}", elsewhere.unwrap_or_default());
            let fault = if is_json { reply.useless(&what) } else { reply.malformed(&what) };
            let failure = AttemptFailure::from(HttpFault { kind, ..fault });
            // A path that has never found any text finds none in a second reply either.
            let is_wrong = is_missed && !self.has_read.load(Ordering::Relaxed);
            return Err(if is_wrong { AttemptFailure { retry: Retry::Never, ..failure } } else { failure });
        }
        self.has_found_calls |= !events.is_empty();
        if let Some(place) = missed_calls.filter(|_| is_json && !self.has_found_calls) {
            let what = format!("target.http.say.events has found nothing, and there are tool calls at {place}");
            let fault = HttpFault { kind: HttpFaultKind::Unsendable, ..reply.useless(&what) };
            return Err(AttemptFailure { retry: Retry::Never, ..AttemptFailure::from(fault) });
        }
        self.has_read.store(true, Ordering::Relaxed);
        self.history.push(json!({"role": "user", "content": input.message}));
        self.history.push(json!({"role": "assistant", "content": text}));
        let reply = received.timed_reply(text);
        // A document comes at once.
        let first_token_ms = reply.first_token_ms.filter(|_| !is_json);
        NextStep::reply(crate::agent::Reply { events, usage, first_token_ms, ..reply })
    }

    async fn state(&mut self, caller: &Caller, input: &TurnInput) -> Result<ObjectContext, AgentError> {
        let not_found = |message| AgentError::new(AgentErrorKind::NotFound, message);
        let Some(config) = &self.config.state else {
            return Err(not_found(
                "the job does not say where the agent shows its state (target.http.state)".to_owned(),
            ));
        };
        let input = TurnInput { message: String::new(), ..input.clone() };
        let document = self.fetch(caller, "state", config.template(), &input).await?;
        let (paths, looked_at, mut found) = (Arc::clone(&self.state_paths), self.looked_at.clone(), self.found.clone());
        let picked = off_thread(move || {
            let missing = paths.missing(&document, &looked_at, &mut found);
            (found, missing.map_or_else(|| Ok(paths.object_context(document)), Err))
        });
        let not_picked = |error: OffThreadError| {
            let what = "target.http.state: what its JSONPaths mean can't be picked out of the agent's reply";
            not_found(format!("{what}: {error}"))
        };
        let (found, context) = picked.await.map_err(not_picked)?;
        self.found = found;
        context.map_err(not_found)
    }

    async fn call_user_tool(
        &self,
        caller: &Caller,
        input: &TurnInput,
        call: &UserToolCall,
    ) -> Result<Value, AgentError> {
        let Some(config) = &self.config.user_tools else {
            let what = "the job does not say how the user's tools are called (target.http.userTools)";
            return Err(AgentError::new(AgentErrorKind::Unsendable, what));
        };
        let input = TurnInput { message: String::new(), ..input.clone() };
        let values = with_call(self.values.in_turn(&input, &self.history), &call.name, &call.arguments);
        let request = self.filled("userTools", config.template(), values).await.map_err(|failure| failure.error)?;
        let reply = caller.call_once(&request, |reply| Ok(user_tools::reply(reply)?)).await?;
        user_tools::result(reply, config.result_path()?).await
    }
}

/// The failure that the agent reports in a stream.
fn reported(reply: &HttpReply, error: &str) -> AttemptFailure {
    let message = format!("{}: the agent reported an error in its stream: {}", reply.place, reply.quote(error));
    AttemptFailure::reported(AgentErrorKind::BadReply, message)
}

/// The error that an event without text reports: its `error`, or all of it where that is its type.
fn error_of(event: &Value) -> Option<String> {
    let error = event.get("error").filter(|error| match error {
        Value::Null | Value::Bool(false) => false,
        Value::String(text) => !is_blank(text),
        Value::Object(fields) => !fields.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Bool(true) | Value::Number(_) => true,
    });
    let error = error.or_else(|| (event.get("type")?.as_str()? == "error").then_some(event))?;
    let message = error.get("message").and_then(Value::as_str).or(error.as_str());
    Some(message.map_or_else(|| error.to_string(), str::to_owned))
}

/// The fault of the job's own paths, in whichever turn.
fn not_picked(error: OffThreadError) -> HttpFault {
    let what = "target.http.say: what its JSONPaths mean can't be picked out of the agent's reply";
    HttpFault { kind: HttpFaultKind::Unsendable, message: format!("{what}: {error}") }
}

/// A reply that may be any JSON.
pub(super) fn json_of(reply: &HttpReply) -> Result<Value, HttpFault> {
    match str::from_utf8(&reply.body).map(read_json::<Value>) {
        // Some servers call JSON a page; no page is an object.
        Ok(Ok(value)) if !reply.is_page() || value.is_object() || value.is_array() => Ok(value),
        // It explains in which way the body can't be read.
        _ => reply.object(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::AgentErrorKind;

    #[test]
    fn paths_that_do_not_end_are_the_jobs_doing() {
        let failure = AttemptFailure::from(not_picked(OffThreadError::TooSlow));
        assert_eq!(failure.error.kind, AgentErrorKind::Unsendable);
    }
}
