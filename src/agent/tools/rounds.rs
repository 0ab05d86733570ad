//! One turn of a bare model: its rounds put together.

use serde_json::{Value, json};

use super::mock::{Returned, returned};
use super::{CallAnswers, WantedResult};
use crate::agent::attempts::{AttemptFailure, Retry};
use crate::agent::rest::{NextStep, Received};
use crate::agent::{AgentErrorKind, Reply};
use crate::evidence::{Event, EventKind, Usage};
use crate::http::{HttpReply, read_json};
use crate::text::is_blank;

/// The most rounds of one turn in which the model may call functions.
const ROUNDS: usize = 10;

/// A call of a function, as the model wrote it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::agent) struct RequestedCall {
    pub(in crate::agent) id: String,
    pub(in crate::agent) name: String,
    /// JSON in a string, which may be broken.
    pub(in crate::agent) arguments: String,
}

impl RequestedCall {
    /// The call in the shape of chat completions.
    pub(in crate::agent) fn to_json(&self) -> Value {
        let function = json!({"name": self.name, "arguments": self.arguments});
        json!({"id": self.id, "type": "function", "function": function})
    }

    /// The arguments as JSON: an empty mapping where there are none, and a text where they are not JSON.
    pub(in crate::agent) fn args(&self) -> Value {
        if self.arguments.trim().is_empty() {
            return json!({});
        }
        read_json(&self.arguments).unwrap_or_else(|_| self.arguments.clone().into())
    }
}

/// The error that an endpoint sends instead of a reply, within a success.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::agent) struct EndpointError {
    pub(in crate::agent) message: String,
    /// Its code, where that is a name.
    pub(in crate::agent) code: Option<String>,
    /// The status that it stands for.
    pub(in crate::agent) status: u16,
}

/// The HTTP status that an error has as its code or its status.
pub(in crate::agent) fn named_status(error: &Value) -> Option<u16> {
    let code = error.get("code").or_else(|| error.get("status"))?;
    let number = code.as_u64().or_else(|| code.as_str()?.parse().ok())?;
    u16::try_from(number).ok().filter(|status| (400..600).contains(status))
}

/// The result of one round.
#[derive(Default)]
pub(in crate::agent) struct Round {
    pub(in crate::agent) text: String,
    pub(in crate::agent) events: Vec<Event>,
    pub(in crate::agent) calls: Vec<RequestedCall>,
    pub(in crate::agent) usage: Option<Usage>,
    pub(in crate::agent) error: Option<EndpointError>,
    /// The part that is missing at its end, where the stream broke off.
    pub(in crate::agent) unended: Option<&'static str>,
    /// The part that is missing in all that came, where it is no reply of this API.
    pub(in crate::agent) foreign: Option<&'static str>,
    /// Why there is no text, where the endpoint says so.
    pub(in crate::agent) why_empty: Option<&'static str>,
    /// Whether the same request is worth another attempt then.
    pub(in crate::agent) may_differ: bool,
}

impl Round {
    /// Fails where the round has neither text nor calls.
    fn check(&self, reply: &HttpReply) -> Result<(), AttemptFailure> {
        if let (Some(what), None, None) = (self.unended, &self.error, self.foreign) {
            return Err(reply.malformed(&format!("the stream ended in the middle: {what}")).into());
        }
        if let Some(EndpointError { message, code, status }) = &self.error {
            let code = code.as_ref().map(|code| format!(" ({})", reply.quote(code))).unwrap_or_default();
            let message = format!("{}: answered with an error: {}{code}", reply.place, reply.quote(message));
            return Err(AttemptFailure::from_status(*status, message, None));
        }
        if !is_blank(&self.text) || !self.calls.is_empty() {
            return Ok(());
        }
        if let Some(what) = self.foreign {
            return Err(reply.misshapen(&format!("what came is {what}")).into());
        }
        let failure = AttemptFailure::from(reply.malformed(self.why_empty.unwrap_or("the agent's message is empty")));
        let is_final = self.why_empty.is_some() && !self.may_differ;
        Err(if is_final { AttemptFailure { retry: Retry::Never, ..failure } } else { failure })
    }
}

/// The rounds of a turn so far.
#[derive(Clone, Default)]
pub(in crate::agent) struct ToolRounds {
    reply: Reply,
    /// The tokens that each round reported.
    usages: Vec<Option<Usage>>,
}

impl ToolRounds {
    /// Adds a round to the turn. Returns its calls with their results; without any, the reply is complete. Times and tokens
    /// are those of all rounds together.
    pub(in crate::agent) async fn add(
        &mut self,
        round: Round,
        received: &Received,
        answers: CallAnswers<'_>,
    ) -> Result<Vec<(RequestedCall, String)>, AttemptFailure> {
        round.check(&received.reply)?;
        let reply = &mut self.reply;
        if let (None, Some(first_ms)) = (reply.first_token_ms, received.first_ms) {
            reply.first_token_ms = Some(reply.latency_ms + first_ms);
        }
        reply.latency_ms += received.last_ms;
        self.usages.push(round.usage);
        reply.usage = Usage::sum_reported(self.usages.iter().copied());
        if !is_blank(&round.text) {
            if !reply.text.is_empty() {
                reply.text.push_str("\n\n");
            }
            reply.text.push_str(&round.text);
        }
        reply.events.extend(round.events);
        if !round.calls.is_empty() && self.usages.len() > ROUNDS {
            let message = format!("the model called functions in {ROUNDS} rounds of one turn, and then again");
            return Err(AttemptFailure::reported(AgentErrorKind::BadReply, message));
        }
        let mut answered = Vec::with_capacity(round.calls.len());
        for call in round.calls {
            answered.push(self.answer(answers, call).await?);
        }
        Ok(answered)
    }

    /// The reply of all rounds.
    pub(in crate::agent) fn finish(&mut self) -> Result<NextStep, AttemptFailure> {
        NextStep::reply(std::mem::take(&mut self.reply))
    }

    /// Answers a call. Returns it with its result for the model; both become events.
    async fn answer(
        &mut self,
        answers: CallAnswers<'_>,
        call: RequestedCall,
    ) -> Result<(RequestedCall, String), AttemptFailure> {
        let args = call.args();
        let output = match returned(answers.tools, answers.mocks, &call.name, &args) {
            Returned::Value(output) => output,
            Returned::Written(prompt) => {
                let wanted = WantedResult { tool: &call.name, prompt, args: &args };
                answers.written(wanted).await.map_err(|error| {
                    // The agent has not failed, and nothing that it does would help.
                    let message = format!("the result of its tool {} could not be made up: {error}", call.name);
                    AttemptFailure::reported(AgentErrorKind::Unsendable, message)
                })?
            }
        };
        let answer = output.as_str().map_or_else(|| output.to_string(), str::to_owned);
        self.reply.events.push(Event::call(call.name.clone(), args, call.to_json()));
        self.reply.events.push(EventKind::FunctionResponse { output: output.into() }.into());
        Ok((call, answer))
    }
}
