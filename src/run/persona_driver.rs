//! Asks the persona's model for its messages.

mod faults;
mod tools;

use std::sync::Arc;

use serde_json::json;

use faults::{described, for_persona, is_allowed};
use tools::ToolCalls;

use super::Engine;
use super::conversation_seed::conversation_seed;
use super::evaluate::off_thread;
use super::metered_call::{LastFailure, ask};
use super::persona_review::PersonaReview;
use super::trial::TrialAbort;
use crate::clock::BusyTime;
use crate::conversation::{PersonaReply, guard, read_persona_reply};
use crate::evidence::{
    Condition, Guard, GuardFinding, Message, PersonaFault, ReplySchema, Role, Transcript, Usage, UserToolCall,
};
use crate::job::{Case, Job, ModelName, UserTool};
use crate::llm::{Llm, LlmError, LlmErrorKind, LlmRequest, LlmRole};
use crate::plan::{Trial, UnfinishedTrial};
use crate::prompt::{PersonaView, PromptError, Templates, USER_TOOLS_TEMPLATE, WantedTask, persona_turn};
use crate::record::Entry;
use crate::text::DenseText;

/// The most times that the persona is asked for one line.
const TRIES: usize = 3;

/// The most characters of one line: some ten sentences.
const MAX_MESSAGE: u32 = 1000;

/// The most characters of the reason for the end.
const MAX_REASON: u32 = 200;

/// The most tokens of one line, with the JSON around it.
const MESSAGE_TOKENS: u32 = 400;

/// Asks the persona of one trial. Its request only ever grows, so that prompt caches hit.
pub(super) struct PersonaDriver<'a> {
    engine: &'a Engine,
    trial: &'a Trial,
    llm: &'a dyn Llm,
    signoff: &'a str,
    /// Whether its messages are checked for faults: rules make none that a second try would mend.
    is_guarded: bool,
    /// How many turns there are, the agent's greeting left out, once the user has asked for something: none where the case's own
    /// first message does that, two where the first one is a mere greeting.
    begun_after: usize,
    /// The instructions and their template, to be searched for its messages.
    dense_instructions: DenseText,
    dense_template: DenseText,
    request: LlmRequest,
    /// The conversation as the guards look at it.
    known_texts: guard::KnownTexts,
    /// Who reads its messages before they are sent.
    review: Option<PersonaReview<'a>>,
    /// The turns that the request holds.
    turns: usize,
    tool_calls: ToolCalls,
    /// Why its model's last try failed.
    pub(super) last_failure: LastFailure,
    /// Its usage so far.
    usage: Usage,
    /// Notes about settings that its model refuses.
    notes: Vec<String>,
    /// Its messages that were faulty, and were not sent.
    faults: Vec<PersonaFault>,
}

/// The results of the persona when a conversation is over.
#[derive(Default)]
pub(super) struct PersonaEnd {
    /// The usage of its model.
    pub(super) usage: Usage,
    /// Notes about its model and its reviewer.
    pub(super) notes: Vec<String>,
    /// Its messages that were faulty, and were not sent.
    pub(super) faults: Vec<PersonaFault>,
    /// The calls of its tools.
    pub(super) user_tool_calls: Vec<UserToolCall>,
}

impl<'a> PersonaDriver<'a> {
    /// The persona of a trial; `None` where fixed lines take its place.
    pub(super) async fn new(engine: &'a Engine, trial: &'a Trial) -> Result<Option<PersonaDriver<'a>>, TrialAbort> {
        let Some(llm) = engine.clients.persona().filter(|_| trial.case.user.is_persona()) else {
            return Ok(None);
        };
        let (id, case, job) = (&trial.id, &trial.case, &engine.plan.job);
        let instructions = if engine.templates.is_quick(&job.persona.prompt) {
            instructions(job, case, &engine.templates, id.condition)
        } else {
            let (job, case, templates, condition) = (job.clone(), case.clone(), engine.templates.clone(), id.condition);
            off_thread(engine, move || instructions(&job, &case, &templates, condition)).await?
        };
        let instructions = instructions.map_err(|error| TrialAbort::broken(error.to_string()))?;
        let dense_instructions = DenseText::new(&instructions.content);
        let of_tools = (!job.persona.tools.is_empty()).then_some(USER_TOOLS_TEMPLATE);
        let names = [job.persona.prompt.as_str()].into_iter().chain(of_tools);
        let template: Vec<&str> =
            names.filter_map(|name| engine.templates.sources().get(name)).map(String::as_str).collect();
        let dense_template = DenseText::new(&template.join("\n"));
        let request = LlmRequest {
            role: LlmRole::Persona,
            messages: vec![instructions],
            temperature: job.persona.temperature,
            schema: Some(reply_schema(&job.persona.tools)),
            sample: 1,
            conversation_seed: Some(conversation_seed(engine.rng_seed, id, LlmRole::Persona, trial.attempt)),
        };
        Ok(Some(PersonaDriver {
            engine,
            trial,
            llm,
            signoff: &job.persona.signoff,
            is_guarded: !(job.persona.allow.is_all()
                || job.persona_model().is_some_and(|model| model.name == ModelName::Scripted)),
            begun_after: match (trial.case.opening.is_empty(), job.greetings.is_empty()) {
                (false, _) => 0,
                (true, true) => 1,
                (true, false) => 2,
            },
            dense_instructions,
            dense_template,
            request,
            known_texts: guard::KnownTexts::default(),
            review: PersonaReview::new(engine, trial),
            turns: 0,
            tool_calls: ToolCalls::default(),
            last_failure: LastFailure::default(),
            usage: Usage::default(),
            notes: Vec::new(),
            faults: Vec::new(),
        }))
    }

    /// Takes over what the persona came to before the conversation was cut off.
    pub(super) fn go_on(&mut self, left: &UnfinishedTrial) {
        self.usage = left.persona_usage;
        self.faults.clone_from(&left.evidence.persona_faults);
        self.tool_calls = ToolCalls::of_earlier(left.evidence.user_tool_calls.clone());
    }

    /// Its results when the conversation is over.
    pub(super) fn end(self) -> PersonaEnd {
        let PersonaDriver { usage, mut notes, faults, review, tool_calls, .. } = self;
        notes.extend(review.as_ref().and_then(PersonaReview::note));
        PersonaEnd { usage, notes, faults, user_tool_calls: tool_calls.into_all() }
    }

    /// Measures the time of the next message, but for waits in our own queues.
    pub(super) fn timed(&mut self) -> Arc<BusyTime> {
        let busy = BusyTime::new(self.engine.clock);
        self.last_failure = LastFailure::timed_by(busy.clone());
        busy
    }

    /// Asks the persona for its next message.
    pub(super) async fn ask(&mut self, transcript: &Transcript) -> Result<PersonaReply, TrialAbort> {
        // An agent that repeats its key must not make us send it to somebody else.
        let cleared = |message: Message| {
            let content = self.engine.clients.redactor().redact_known(&message.content).into_owned();
            Message { content, ..message }
        };
        for turn in &transcript.turns[self.turns..] {
            let calls = self.tool_calls.messages_up_to(turn.number);
            self.request.messages.extend(calls.into_iter().chain(persona_turn(turn)).map(cleared));
        }
        self.turns = transcript.turns.len();
        if self.request.messages.len() == 1 {
            // Some endpoints want a message beside the instructions.
            self.request.messages.push(Message::new(Role::User, "The conversation begins. Say your first message."));
        }
        self.request.messages.extend(self.tool_calls.messages_up_to(next_turn(transcript)).into_iter().map(cleared));
        let before = self.request.messages.len();
        let reply = self.ask_until_usable(transcript).await;
        // Unusable replies are not part of the conversation.
        self.request.messages.truncate(before);
        reply
    }

    /// A model that is there and says nothing, or never comes to an end, does not play its part.
    fn stopped_by(&self, error: &LlmError) -> TrialAbort {
        let what = format!("the persona's model: {error}");
        let is_bounded_by_job = self.engine.plan.job.persona_model().is_some_and(|model| model.max_tokens.is_some());
        match error.kind {
            LlmErrorKind::Silence => TrialAbort::persona_invalid(what),
            LlmErrorKind::CutOff(_) if !is_bounded_by_job => TrialAbort::persona_invalid(what),
            _ => TrialAbort::broken(what),
        }
    }

    async fn ask_until_usable(&mut self, transcript: &Transcript) -> Result<PersonaReply, TrialAbort> {
        let mut unusable = String::new();
        let (mut was_cut_off, mut was_faulty, mut was_wrong_call) = (false, false, false);
        let has_tools = !self.engine.plan.job.persona.tools.is_empty();
        let is_begun = transcript.turns.iter().filter(|turn| !turn.is_greeting()).count() >= self.begun_after;
        for _ in 0..TRIES {
            let reply = ask(self.engine, self.trial.id.number, self.llm, &self.request, &self.last_failure).await?;
            let usage = reply.as_ref().map_or_else(|error| *error.usage, |reply| reply.usage);
            self.usage = self.usage.plus(usage);
            let reply = match reply {
                Ok(reply) => reply,
                Err(error) if !was_cut_off && error.cut_off_text().is_some() => {
                    was_cut_off = true;
                    self.request.ask_for_less(error.cut_off_text().unwrap_or_default());
                    continue;
                }
                Err(error) => return Err(self.stopped_by(&error)),
            };
            for note in reply.notes {
                if !self.notes.contains(&note) {
                    self.notes.push(note);
                }
            }
            match read_persona_reply(&reply.text, self.signoff, has_tools) {
                Ok(PersonaReply { tool: Some(wanted), .. }) => {
                    let turn = next_turn(transcript);
                    let Some(problem) = self.wrong_call(&wanted, turn) else {
                        return Ok(PersonaReply { tool: Some(wanted), ..PersonaReply::default() });
                    };
                    if std::mem::replace(&mut was_wrong_call, true) {
                        self.engine.stuck_persona.failed(self.trial, format!("{turn} wrong use of its tools"));
                        let what = format!("before its message {turn} it used its tools wrongly twice: {problem}");
                        return Err(TrialAbort::persona_invalid(what));
                    }
                    unusable = problem;
                }
                Ok(PersonaReply { message: Some(message), .. }) if self.is_of_instructions(&message) => {
                    unusable = "it repeats its instructions instead of saying something".to_owned();
                }
                Ok(reply) => match self.all_faults_of(transcript, &reply, is_begun).await? {
                    findings if findings.is_empty() && (!reply.done || is_begun) => return Ok(reply),
                    findings if findings.is_empty() => {
                        unusable = "it said goodbye before it had asked for anything".to_owned();
                    }
                    findings => {
                        unusable = for_persona(&findings, &reply.written);
                        let described = described(&findings);
                        let what = findings.iter().map(|it| it.guard.as_str()).collect::<Vec<_>>().join(" ");
                        self.keep_fault(transcript, reply, findings)?;
                        if std::mem::replace(&mut was_faulty, true) {
                            let turn = self.faults.last().map_or(0, |fault| fault.turn);
                            self.engine.stuck_persona.failed(self.trial, format!("{turn} {what}"));
                            return Err(TrialAbort::persona_invalid(format!(
                                "its message {turn} was faulty twice: {described}"
                            )));
                        }
                    }
                },
                Err(why) => unusable = why.to_string(),
            }
            self.request.messages.push(Message::new(Role::Assistant, reply.text));
            self.request.messages.push(Message::new(Role::User, guard::retry_request(&unusable)));
        }
        self.engine.stuck_persona.failed(self.trial, format!("{} no usable line", transcript.turns.len()));
        Err(TrialAbort::persona_invalid(format!("the persona gave no usable line in {TRIES} tries: {unusable}")))
    }

    fn keep_fault(
        &mut self,
        transcript: &Transcript,
        reply: PersonaReply,
        findings: Vec<GuardFinding>,
    ) -> std::io::Result<()> {
        let turn = next_turn(transcript);
        let fault = PersonaFault { turn, text: reply.written, findings };
        self.engine.sink.append(Entry::PersonaFaulted { trial: self.trial.id.number, fault: fault.clone() })?;
        self.faults.push(fault);
        Ok(())
    }
}

/// The number of the turn that the persona's next message begins.
fn next_turn(transcript: &Transcript) -> u32 {
    transcript.turns.last().map_or(1, |turn| turn.number + 1)
}

fn instructions(job: &Job, case: &Case, templates: &Templates, condition: Condition) -> Result<Message, PromptError> {
    let tasks: Vec<WantedTask<'_>> =
        case.tasks.iter().map(|task| WantedTask { kind: task.kind.as_str(), task: &task.task }).collect();
    let traits = case.user_traits();
    let allowed: Vec<Guard> = Guard::ALL.into_iter().filter(|guard| is_allowed(job, case, *guard)).collect();
    let view = PersonaView {
        name: &job.persona.name,
        voice: case.user_style().unwrap_or(&job.persona.voice),
        signoff: &job.persona.signoff,
        tasks: &tasks,
        facts: case.facts_known(condition),
        plan: case.plan.as_deref(),
        traits: &traits,
        allowed: &allowed,
    };
    let mut instructions = templates.persona_instructions(&job.persona.prompt, &view)?;
    if let Some(of_tools) = tools::instructions(job, templates) {
        instructions.content = format!("{}\n\n{}", instructions.content.trim_end(), of_tools?);
    }
    Ok(instructions)
}

/// `{message, done, reason}`, and `tool` where there are tools.
fn reply_schema(user_tools: &[UserTool]) -> ReplySchema {
    let mut schema = json!({
        "type": "object",
        "properties": {
            "message": {"type": "string", "maxLength": MAX_MESSAGE},
            "done": {"type": "boolean", "description": "true with your last message"},
            "reason": {
                "type": "string",
                "maxLength": MAX_REASON,
                "description": "with your last message, why you end the chat; else empty"
            }
        },
        "required": ["message", "done", "reason"],
        "additionalProperties": false
    });
    if !user_tools.is_empty() {
        schema["properties"]["tool"] = tools::call_schema(user_tools);
        schema["required"] = json!(["message", "done", "reason", "tool"]);
    }
    ReplySchema { name: "persona_reply".to_owned(), schema, max_tokens: MESSAGE_TOKENS, wants_alternatives: false }
}
