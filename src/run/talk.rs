//! A trial's conversation, turn by turn.

mod user_tools;

use std::io;
use std::time::Duration;

use serde_json::Value;

use super::persona_driver::{PersonaDriver, PersonaEnd};
use super::sink::Durability;
use super::trial::TrialAbort;
use super::trial_env::TrialEnv;
use super::trial_limit::TrialLimit;
use super::turn::{Partner, TurnEnd, blames_the_job, set_reply, with_hint};
use super::watch::Watch;
use super::{Engine, observe};
use crate::agent::{AgentError, AgentErrorKind, Reply, Session};
use crate::clock::Stopwatch;
use crate::conversation::{Conversation, ConversationRules, Next, PersonaReply};
use crate::evidence::{Ending, Event, PersonaFault, Redelivery, TrialId, Turn, Usage, UserToolCall};
use crate::job::User;
use crate::limiter::WaitReason;
use crate::record::Entry;

/// The time after which waiting for an agent's greeting is reported.
const GREETING: Duration = Duration::from_secs(3);

/// Why a failed try of the first message after a break is not the agent's.
const BUSY_SINCE_BREAK: &str = "the agent may have been busy with the message that it had when eval-job was cut off";

/// A conversation that has ended.
pub(super) struct Ended<'a> {
    pub(super) watch: Watch<'a>,
    pub(super) conversation: Conversation,
    pub(super) ending: Ending,
    pub(super) persona_usage: Usage,
    pub(super) persona_notes: Vec<String>,
    pub(super) persona_faults: Vec<PersonaFault>,
    pub(super) user_tool_calls: Vec<UserToolCall>,
}

/// Holds the whole conversation, the greeting first. `repeated` are the user's messages of another conversation, to be sent again.
pub(super) async fn converse<'a>(
    env: &'a TrialEnv<'a>,
    session: &mut (dyn Session + 'static),
    watch: Watch<'a>,
    repeated: Option<Vec<String>>,
) -> Result<Ended<'a>, TrialAbort> {
    let (engine, id) = (env.engine, &env.trial.id);
    let mut conversation = Conversation::new(ConversationRules {
        max_messages: engine.plan.job.most_messages(&env.trial.case),
        opening: if repeated.is_some() { Vec::new() } else { opening(env) },
        lines: repeated.clone().or_else(|| fixed_lines(&env.trial.case.user)),
    });
    let mut persona = if repeated.is_some() { None } else { PersonaDriver::new(engine, env.trial).await? };
    if let Some(left) = env.trial.left.as_deref() {
        conversation.go_on(&left.evidence.transcript.turns, left.pending.as_deref(), left.farewell.clone());
        if let Some(persona) = &mut persona {
            persona.go_on(left);
        }
    } else if let Some(turn) = greeting(env, session).await? {
        conversation.agent_greeted(turn);
    }
    let limit = TrialLimit::new(engine.plan.job.limits.trial_seconds, engine.clock.start(), env.limiter.clone());
    let limit = limit.without(env.writer.busy());
    let limit = match &env.trial.left {
        Some(left) => limit.after(left.used_ms),
        None => limit,
    };
    let (tape, name) = (env.tape.clone(), "the agent");
    let partner = Partner { session, limit, lifeline: env.lifeline(), tape, name, writer: env.writer.clone() };
    let is_continued = env.trial.left.is_some();
    let mut talk = LiveConversation {
        env,
        partner,
        watch,
        conversation,
        last_reply: engine.clock.start(),
        is_continued,
        tool_calls: 0,
    };
    let mut outcome = talk.hold(persona.as_mut()).await;
    if let (Ok(ending @ (Ending::SignedOff { .. } | Ending::MaxTurns)), Some(persona)) = (&outcome, &persona)
        && let Some(why) = persona.missed_tasks(talk.conversation.transcript(), ending)
    {
        outcome = Err(TrialAbort::persona_invalid(why));
    }
    let PersonaEnd { usage: persona_usage, notes: persona_notes, faults: persona_faults, user_tool_calls } =
        persona.map(PersonaDriver::end).unwrap_or_default();
    if let Err(TrialAbort::Outcome(_) | TrialAbort::NotContinued(_)) = outcome {
        // The persona's calls so far were paid for.
        engine.sink.append(Entry::conversation_cut_off(id.number, persona_usage.plus(env.writer.usage())))?;
    }
    let LiveConversation { watch, conversation, .. } = talk;
    Ok(Ended { watch, conversation, ending: outcome?, persona_usage, persona_notes, persona_faults, user_tool_calls })
}

/// The turn of the agent's greeting, if it has one.
async fn greeting(env: &TrialEnv<'_>, session: &mut (dyn Session + 'static)) -> Result<Option<Turn>, TrialAbort> {
    let greeted = greeted(env.engine, session).await;
    let greeted = greeted.map_err(|error| TrialAbort::broken(format!("the agent's greeting did not come: {error}")))?;
    let Some(reply) = greeted else { return Ok(None) };
    let mut turn = Turn::begun(0, String::new());
    set_reply(&mut turn, reply);
    keep(env.engine, &env.trial.id, &mut turn, None).await?;
    Ok(Some(turn))
}

/// The agent's greeting, if it has one. A long wait for it is reported.
pub(super) async fn greeted(engine: &Engine, session: &mut dyn Session) -> Result<Option<Reply>, AgentError> {
    let mut greeting = session.greeting();
    match tokio::time::timeout(GREETING, &mut greeting).await {
        Ok(greeted) => greeted,
        Err(_) => {
            let turn_limit = Duration::from_secs_f64(engine.plan.job.limits.turn_seconds);
            if let Some(on_wait) = &engine.on_wait {
                on_wait(WaitReason::Greeting, turn_limit.saturating_sub(GREETING));
            }
            greeting.await
        }
    }
}

/// A conversation that is under way, with all that its turns need.
struct LiveConversation<'a, 's> {
    env: &'a TrialEnv<'a>,
    partner: Partner<'s>,
    watch: Watch<'a>,
    conversation: Conversation,
    /// Runs since the agent's last reply.
    last_reply: Stopwatch,
    /// Whether it was cut off before, and the agent has not answered since.
    is_continued: bool,
    /// How many calls of the user's tools there were since it began or was continued.
    tool_calls: u32,
}

impl LiveConversation<'_, '_> {
    /// Takes turns until the conversation ends.
    async fn hold(&mut self, mut persona: Option<&mut PersonaDriver<'_>>) -> Result<Ending, TrialAbort> {
        loop {
            let next = self.conversation.next();
            if !matches!(next, Next::Done(_))
                && let Some(limit_exceeded) = self.exhausted(&next)
            {
                return Err(TrialAbort::broken(limit_exceeded));
            }
            match next {
                Next::Done(ending) => return Ok(ending),
                Next::AskPersona => {
                    let Some(persona) = persona.as_deref_mut() else {
                        return Err(TrialAbort::broken("eval-job itself failed: fixed lines have no model to ask"));
                    };
                    self.ask(persona).await?;
                }
                Next::SayToAgent(text) => self.take_turn(text).await?,
            }
        }
    }

    /// The limit on money or tokens that leaves nothing for the next step.
    fn exhausted(&self, next: &Next) -> Option<String> {
        let step = if matches!(next, Next::AskPersona) { "persona" } else { "agent" };
        // Told apart from the rounds before: what was decided then is noted by these words.
        let after =
            if self.tool_calls > 0 { format!(", after {} calls of tools", self.tool_calls) } else { String::new() };
        let when = format!("limit before the {step}, turn {}{after}", self.conversation.turn_number());
        self.env.engine.exhausted(self.env.trial.id.number, &when)
    }

    /// Whether the agent took most of the time that ran out.
    fn is_spent_by_agent(&self) -> bool {
        let turn = self.conversation.turn_number();
        self.partner.noted(turn, "had most of the time", self.partner.limit.is_spent_by_agent())
    }

    async fn ask(&mut self, persona: &mut PersonaDriver<'_>) -> Result<(), TrialAbort> {
        let (busy, clock) = (persona.timed(), self.env.engine.clock);
        let asking = persona.ask(self.conversation.transcript());
        match self.partner.limit.within_busy(&busy, clock, asking).await {
            Some(reply) => match reply? {
                PersonaReply { tool: Some(wanted), .. } => self.use_tool(persona, wanted).await?,
                reply => self.conversation.persona_replied(reply),
            },
            // The time is the agent's doing where it took most of it.
            None if self.is_spent_by_agent() => self.conversation.time_ran_out(self.partner.limit.seconds),
            None => {
                let what = self.partner.limit.ran_out_while("the persona's model was being waited for");
                return Err(TrialAbort::broken(persona.last_failure.after(what)));
            }
        }
        Ok(())
    }

    async fn take_turn(&mut self, text: String) -> Result<(), TrialAbort> {
        let (engine, id, number) = (self.env.engine, &self.env.trial.id, self.conversation.turn_number());
        let farewell = self.conversation.farewell().cloned();
        let used_ms = Some(self.partner.limit.spent_ms());
        engine.sink.append(Entry::UserSaid {
            trial: id.number,
            turn: number,
            text: text.clone(),
            farewell,
            used_ms,
        })?;
        engine.sink.kept(Durability::Process).await?;
        let outage_check = observe::outage_check(self.env, self.last_reply);
        let (mut turn, end) = self.partner.say(number, text, outage_check).await;
        let is_continued = std::mem::take(&mut self.is_continued);
        if is_continued && self.env.trial.left.as_ref().is_some_and(|left| left.may_repeat()) {
            note_break(&mut turn, self.partner.session);
            self.partner.limit.excuse(turn.spent_ms.take().unwrap_or_default());
        }
        if is_continued && !matches!(end, TurnEnd::Replied) {
            let why = "the agent did not answer in the session that was to be continued";
            return Err(TrialAbort::NotContinued(why.to_owned()));
        }
        keep(engine, id, &mut turn, self.partner.session.resume_point()).await?;
        let before = self.partner.limit.elapsed_ms();
        self.watch.after_turn(number).await?;
        self.partner.limit.pause(self.partner.limit.elapsed_ms() - before);
        let error = match end {
            TurnEnd::Replied => {
                engine.resources.note_answer();
                self.last_reply = engine.clock.start();
                self.conversation.agent_replied(turn);
                return Ok(());
            }
            // An unanswered message is the agent's failure only where it had most of the conversation's time.
            TurnEnd::OutOfTime if self.is_spent_by_agent() => {
                let error =
                    self.partner.limit.ran_out_while("the agent's reply was awaited, and the agent had most of it");
                self.conversation.agent_failed(turn, error);
                return Ok(());
            }
            TurnEnd::OutOfTime => {
                let is_refused = self.partner.limit.is_spent_by_refusals();
                let what = match self.partner.noted(number, "was refused", is_refused) {
                    true => {
                        "the agent's reply was awaited, and most of it had gone in waits for the agent's rate limit (429); \
                         try a longer limits.trial"
                    }
                    false => {
                        "the agent's reply was awaited, and most of it had gone elsewhere; try a longer limits.trial"
                    }
                };
                return Err(TrialAbort::broken(self.partner.limit.ran_out_while(what)));
            }
            TurnEnd::RateLimited => {
                let what = "the agent refused the message (429, its rate limit) with no other conversation open; try a longer \
                            limits.trial, or again when its rate limit allows more";
                return Err(TrialAbort::broken(self.partner.limit.ran_out_while(what)));
            }
            TurnEnd::RefusedTogether => {
                let what = "the agent refused requests because of our other conversations; try target.maxConcurrency";
                return Err(TrialAbort::broken(self.partner.limit.ran_out_while(what)));
            }
            TurnEnd::Failed(error) => error,
        };
        match error.kind {
            AgentErrorKind::RefusedTogether => return Err(TrialAbort::broken(error.message)),
            // It is the job's doing, whatever the agent had answered before.
            AgentErrorKind::Unsendable => return Err(TrialAbort::broken(with_hint(engine, &error))),
            // What it said may be right; it is beyond what is read.
            AgentErrorKind::BeyondLimit => return Err(TrialAbort::broken(with_hint(engine, &error))),
            _ if self.blames_the_job(&error, &turn) => {
                return Err(TrialAbort::broken(with_hint(engine, &error)));
            }
            AgentErrorKind::Busy => self.conversation.agent_failed(turn, with_hint(engine, &error)),
            _ => self.conversation.agent_failed(turn, error.message),
        }
        Ok(())
    }
}

impl LiveConversation<'_, '_> {
    /// Whether the job may be wrong, and not the agent.
    fn blames_the_job(&self, error: &AgentError, turn: &Turn) -> bool {
        let is_job =
            !self.env.engine.resources.agent_has_answered() && blames_the_job(self.partner.session, error, turn);
        self.partner.noted(turn.number, "blames the job", is_job)
    }
}

/// Notes that the agent may have had the message of a turn before eval-job was cut off, so that what it did may be doubled, and what it
/// says now may rest on that. It may still have been busy with it: the tries that failed and the time of the reply are not its doing.
fn note_break(turn: &mut Turn, session: &dyn Session) {
    turn.maybe_delivered = true;
    turn.redelivered = (!session.forgets_unanswered()).then_some(Redelivery::AfterBreak);
    (turn.latency_ms, turn.first_token_ms) = (None, None);
    for failed in &mut turn.failures {
        failed.excuse.get_or_insert_with(|| BUSY_SINCE_BREAK.to_owned());
    }
}

/// Records a finished turn. The sink clears each entry of secrets; secrets that are spread over several events are cleared here.
async fn keep(engine: &Engine, id: &TrialId, turn: &mut Turn, resume_point: Option<Value>) -> io::Result<()> {
    engine.clients.redactor().redact_across(turn.events.iter_mut().flat_map(Event::documents_mut));
    let resume_point = resume_point.filter(|_| turn.agent.is_some()).map(Box::new);
    engine.sink.append(Entry::TurnFinished { trial: id.number, turn: turn.clone(), resume_point })?;
    engine.sink.kept(Durability::Process).await?;
    engine.budget.agent_used(id.number, &id.model, turn.usage.as_ref());
    Ok(())
}

/// The first user messages: the case's own, or one of the job's greetings, the same for both conditions of a repeat, so that
/// they differ in nothing but the facts.
pub(super) fn opening(env: &TrialEnv<'_>) -> Vec<String> {
    let (engine, trial) = (env.engine, env.trial);
    let mut rng = fastrand::Rng::with_seed(engine.rng_seed.wrapping_add(u64::from(trial.id.repeat)));
    match trial.case.opening.0.as_slice() {
        [] => rng.choice(&engine.plan.job.greetings).cloned().into_iter().collect(),
        own => own.to_vec(),
    }
}

pub(super) fn fixed_lines(user: &User) -> Option<Vec<String>> {
    match user {
        User::Lines(lines) => Some(lines.iter().map(|line| line.say.clone()).collect()),
        User::Persona => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::Attempts;
    use crate::evidence::FailedAttempt;

    struct LeftConversation {
        forgets: bool,
    }

    #[async_trait::async_trait]
    impl Session for LeftConversation {
        fn id(&self) -> &str {
            "1"
        }

        fn forgets_unanswered(&self) -> bool {
            self.forgets
        }

        async fn say(&mut self, _: &str, _: &mut Attempts) -> Result<Reply, AgentError> {
            Ok(Reply::default())
        }
    }

    #[test]
    fn an_agent_that_was_busy_with_the_message_before_a_break_does_not_pay_for_it() {
        for forgets in [false, true] {
            let busy = FailedAttempt::untimed("answered 503".to_owned(), false);
            let failures = vec![FailedAttempt { excuse: Some("no network".to_owned()), ..busy.clone() }, busy];
            let mut turn = Turn { failures, latency_ms: Some(9_000.0), ..Turn::begun(2, "Book it".to_owned()) };
            note_break(&mut turn, &LeftConversation { forgets });
            let excuses: Vec<&str> = turn.failures.iter().filter_map(|failed| failed.excuse.as_deref()).collect();
            assert_eq!(excuses, ["no network", BUSY_SINCE_BREAK]);
            assert_eq!((turn.latency_ms, turn.maybe_delivered), (None, true));
            assert_eq!(turn.redelivered.is_some(), !forgets);
        }
    }
}
