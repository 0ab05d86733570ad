//! Asks a second model about each message of the persona before it is sent.
//!
//! Invariant: nobody is charged because the reviewer fails. Where it gives no usable verdict, the message goes on as if there were
//! no reviewer, and the conversation has a note of it.

use futures_util::future::try_join_all;
use serde_json::{Value, json};

use super::Engine;
use super::conversation_seed::conversation_seed;
use super::metered_call::{LastFailure, ask};
use super::trial::TrialAbort;
use crate::evidence::{Guard, GuardFinding, Message, ReplySchema, Role};
use crate::job::Review;
use crate::llm::{Llm, LlmErrorKind, LlmRequest, LlmRole, repair};
use crate::plan::Trial;
use crate::prompt::UserMessageView;
use crate::text::{DenseText, cut, nearest, visible};

/// The most times that it is asked for one verdict.
const TRIES: usize = 2;

/// After so many messages in a row without a verdict it is not asked again in the conversation.
const PATIENCE: u32 = 2;

/// The most tokens of a verdict.
const VERDICT_TOKENS: u32 = 300;

/// The most characters of its reason and of its quote.
const LONGEST: u32 = 400;

/// The most characters of a problem that a note shows.
const SHOWN: usize = 200;

/// The reviewer's word for no fault.
const NONE: &str = "none";

/// The reviewer of one conversation.
pub(super) struct PersonaReview<'a> {
    engine: &'a Engine,
    trial: &'a Trial,
    llm: &'a dyn Llm,
    review: &'a Review,
    /// Messages that it has read.
    reviewed: u32,
    /// Messages about which it gave no usable verdict, with the last reason.
    without_verdict: u32,
    why: String,
    /// How many of them were the last ones.
    in_a_row: u32,
}

/// The verdict of one sample.
#[derive(Debug, Clone, PartialEq, Eq)]
struct SampleVerdict {
    fault: Option<Guard>,
    quote: String,
}

impl<'a> PersonaReview<'a> {
    /// The reviewer of a trial; `None` where the job has none.
    pub(super) fn new(engine: &'a Engine, trial: &'a Trial) -> Option<PersonaReview<'a>> {
        let review = engine.plan.job.review()?;
        let llm = engine.clients.reviewer()?;
        let why = String::new();
        Some(PersonaReview { engine, trial, llm, review, reviewed: 0, without_verdict: 0, why, in_a_row: 0 })
    }

    /// The fault of a message, where most samples find one. A message about which most give no usable verdict has none.
    pub(super) async fn fault_of(
        &mut self,
        view: &UserMessageView<'_>,
        last_failure: &LastFailure,
    ) -> Result<Option<GuardFinding>, TrialAbort> {
        self.reviewed += 1;
        if self.in_a_row >= PATIENCE {
            self.without_verdict += 1;
            return Ok(None);
        }
        let prompt = self.engine.templates.user_message(view).map_err(|error| TrialAbort::broken(error.to_string()))?;
        // A key that the agent repeated goes to nobody.
        let prompt = self.engine.clients.redactor().redact_known(&prompt).into_owned();
        let samples = (1..=self.review.samples).map(|sample| self.verdict(prompt.clone(), sample, view, last_failure));
        let (mut verdicts, mut why) = (Vec::new(), String::new());
        for verdict in try_join_all(samples).await? {
            match verdict {
                Ok(verdict) => verdicts.push(verdict),
                Err(problem) => why = problem.0,
            }
        }
        if verdicts.len() * 2 <= self.review.samples as usize {
            self.without_verdict += 1;
            self.in_a_row += 1;
            self.why = why;
            return Ok(None);
        }
        self.in_a_row = 0;
        Ok(self.majority(&verdicts))
    }

    /// One note about the messages that nobody reviewed.
    pub(super) fn note(&self) -> Option<String> {
        let (missed, reviewed, llm) = (self.without_verdict, self.reviewed, self.llm.name());
        (missed > 0).then(|| {
            let why = cut(visible(&self.why), SHOWN);
            let why = why.trim_end_matches('.');
            format!(
                "the reviewer {llm} gave no usable verdict on {missed} of {reviewed} messages of the persona: {why}"
            )
        })
    }

    /// A fault counts where more than half of the samples see one, whichever; it is called what most of those call it.
    fn majority(&self, verdicts: &[SampleVerdict]) -> Option<GuardFinding> {
        let samples = self.review.samples as usize;
        let faults: Vec<(Guard, &str)> =
            verdicts.iter().filter_map(|verdict| Some((verdict.fault?, verdict.quote.as_str()))).collect();
        if faults.len() * 2 <= samples {
            return None;
        }
        let votes = |guard: Guard| faults.iter().filter(|(fault, _)| *fault == guard).count();
        // Of faults that are named as often, the first of all guards.
        let guard = Guard::ALL.into_iter().rev().max_by_key(|guard| votes(*guard))?;
        let evidence = faults.iter().find(|(fault, _)| *fault == guard).map_or("", |(_, quote)| quote);
        let found_by = match samples {
            1 => self.llm.name().to_owned(),
            _ => format!("{}, {} of {samples}", self.llm.name(), faults.len()),
        };
        let why = guard.description().to_owned();
        Some(GuardFinding { guard, why, evidence: evidence.to_owned(), found_by: Some(found_by) })
    }

    /// One sample's verdict; where it has none, why.
    async fn verdict(
        &self,
        prompt: String,
        sample: u32,
        view: &UserMessageView<'_>,
        last_failure: &LastFailure,
    ) -> Result<Result<SampleVerdict, NoReviewVerdict>, TrialAbort> {
        let seed = conversation_seed(self.engine.rng_seed, &self.trial.id, LlmRole::Reviewer, self.trial.attempt);
        let mut request = LlmRequest {
            role: LlmRole::Reviewer,
            messages: vec![Message::new(Role::User, prompt)],
            temperature: self.review.temperature(),
            schema: Some(verdict_schema(view.faults)),
            sample,
            conversation_seed: Some(seed),
        };
        let mut problem = NoReviewVerdict(String::new());
        for _ in 0..TRIES {
            let reply = match ask(self.engine, self.trial.id.number, self.llm, &request, last_failure).await? {
                Ok(reply) => reply.text,
                // Not the reviewer's failure, and no other request could be made either.
                Err(error) if error.kind == LlmErrorKind::NoDescriptor => {
                    return Err(TrialAbort::broken(format!("the reviewer's model: {error}")));
                }
                Err(error) => return Ok(Err(NoReviewVerdict(error.to_string()))),
            };
            match read_verdict(&reply, view) {
                Ok(verdict) => return Ok(Ok(verdict)),
                Err(why) => problem = why,
            }
            request.messages.push(Message::new(Role::Assistant, cut(reply, LONGEST as usize * 4)));
            let again = format!(
                "That verdict could not be used: {problem}. Reply again with the whole object, and nothing else."
            );
            request.messages.push(Message::new(Role::User, again));
        }
        Ok(Err(problem))
    }
}

/// Why a reply holds no verdict: a clause without a full stop.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
struct NoReviewVerdict(String);

fn no_verdict(why: &str) -> NoReviewVerdict {
    NoReviewVerdict(why.to_owned())
}

/// Reads a verdict on a message. A fault must be one of those that count, and quote words of the message.
fn read_verdict(reply: &str, view: &UserMessageView<'_>) -> Result<SampleVerdict, NoReviewVerdict> {
    let object =
        repair(reply).ok_or_else(|| no_verdict("it is not one JSON object with `reason`, `fault` and `quote`"))?;
    let object: Value =
        serde_json::from_str(&object).map_err(|error| NoReviewVerdict(format!("it is no JSON: {error}")))?;
    let text = |key: &str| object.get(key).and_then(Value::as_str).map(str::trim);
    let fault = text("fault").ok_or_else(|| no_verdict("it has no `fault`"))?;
    if fault.eq_ignore_ascii_case(NONE) {
        return Ok(SampleVerdict { fault: None, quote: String::new() });
    }
    let is_called =
        |guard: &&Guard| [guard.key(), guard.as_str().to_owned(), guard.label()].iter().any(|it| it == fault);
    let Some(guard) = view.faults.iter().find(is_called).copied() else {
        let keys: Vec<String> = view.faults.iter().map(|guard| guard.key()).collect();
        let near = nearest(fault, keys.iter().map(String::as_str)).map(|near| format!("; did you mean `{near}`?"));
        let why = format!("`{}` is no fault of the list{}", cut(visible(fault), 40), near.unwrap_or_default());
        return Err(NoReviewVerdict(why));
    };
    let quote = text("quote").unwrap_or_default();
    // A message without a word has none to quote.
    let needs_quote = guard != Guard::Empty;
    if needs_quote && (quote.is_empty() || !DenseText::new(view.message).contains(quote)) {
        return Err(no_verdict("the quote of a fault must be words of the message, copied exactly"));
    }
    Ok(SampleVerdict { fault: Some(guard), quote: quote.to_owned() })
}

/// `{reason, fault, quote}`.
fn verdict_schema(faults: &[Guard]) -> ReplySchema {
    let names: Vec<String> = faults.iter().map(|guard| guard.key()).chain([NONE.to_owned()]).collect();
    ReplySchema {
        name: "message_review".to_owned(),
        schema: json!({
            "type": "object",
            "properties": {
                "reason": {"type": "string", "maxLength": LONGEST},
                "fault": {"type": "string", "enum": names},
                "quote": {"type": "string", "maxLength": LONGEST, "description": "words of the message; empty where the fault is none"}
            },
            "required": ["reason", "fault", "quote"],
            "additionalProperties": false
        }),
        max_tokens: VERDICT_TOKENS,
        wants_alternatives: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::Transcript;

    fn read(reply: &str) -> Result<SampleVerdict, NoReviewVerdict> {
        let transcript = Transcript::default();
        read_verdict(
            reply,
            &UserMessageView {
                tasks: &[],
                facts: &[],
                knows_facts: true,
                background: &[],
                signoff: "Bye",
                faults: &[Guard::RoleSwap, Guard::Empty],
                tools: &[],
                tool_calls: &[],
                transcript: &transcript,
                message: "I have booked it\nfor you.",
                is_done: false,
            },
        )
    }

    #[test]
    fn a_fault_quotes_the_message() {
        let found = read(r#"Sure: {"reason": "r", "fault": "roleSwap", "quote": "booked it for"}"#).unwrap();
        assert_eq!(found, SampleVerdict { fault: Some(Guard::RoleSwap), quote: "booked it for".to_owned() });
        assert_eq!(read(r#"{"fault": "None"}"#).unwrap().fault, None);
        assert_eq!(read(r#"{"fault": "role_swap", "quote": "booked"}"#).unwrap().fault, Some(Guard::RoleSwap));
        assert_eq!(read(r#"{"fault": "empty", "quote": ""}"#).unwrap().fault, Some(Guard::Empty));
        for (reply, why) in [
            ("fine", "it is not one JSON object"),
            ("{\"fault\": \"none\"} {\"fault\": \"roleSwap\", \"quote\": \"it\"}", "it is not one JSON object"),
            ("{}", "it has no `fault`"),
            (r#"{"fault": 3}"#, "it has no `fault`"),
            // It is allowed, or unknown: it is not of the list.
            (r#"{"fault": "factLeak", "quote": "it"}"#, "`factLeak` is no fault of the list"),
            (r#"{"fault": "roleSwop", "quote": "it"}"#, "did you mean `roleSwap`?"),
            (r#"{"fault": "roleSwap", "quote": ""}"#, "the quote of a fault"),
            (r#"{"fault": "roleSwap", "quote": "I am the assistant"}"#, "the quote of a fault"),
        ] {
            let problem = read(reply).unwrap_err();
            assert!(problem.to_string().contains(why), "{reply}: {problem}");
        }
    }
}
