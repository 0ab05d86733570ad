//! One turn: a message and the agent's answer.

use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::managed::ended;
use super::trial_limit::{AgentTime, TrialLimit};
use super::written_results::WrittenResults;
use super::{Engine, hint};
use crate::agent::managed::Lifeline;
use crate::agent::{AgentError, AgentErrorKind, Attempts, OutageCheck, Reply, Session};
use crate::cassette::Tape;
use crate::evidence::{FailedAttempt, Redelivery, Turn};

/// The end of a turn.
pub(super) enum TurnEnd {
    Replied,
    Failed(AgentError),
    OutOfTime,
    /// The time ran out while the agent refused us because of our other conversations.
    RefusedTogether,
    /// The time ran out while the agent refused us, with no other conversation open.
    RateLimited,
}

/// An agent with which a conversation is run, and what bounds it.
pub(super) struct Partner<'s> {
    pub(super) session: &'s mut (dyn Session + 'static),
    pub(super) limit: TrialLimit,
    /// Notifies when the agent's process has ended.
    pub(super) lifeline: Option<Lifeline>,
    /// The trial's part of the cassette.
    pub(super) tape: Tape,
    /// Which agent it is, in notes.
    pub(super) name: &'static str,
    /// Who makes up the results of its tools.
    pub(super) writer: Arc<WrittenResults>,
}

/// The decisions of the clock about a turn.
#[derive(Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct TurnTime {
    spent_ms: f64,
    waited_ms: f64,
    #[serde(default)]
    refused_ms: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    process_end: Option<String>,
}

impl Partner<'_> {
    /// Sends a message and waits until the agent has answered, the time is up, or the agent's process has ended.
    pub(super) async fn say(&mut self, number: u32, user: String, outage_check: OutageCheck) -> (Turn, TurnEnd) {
        let mut turn = Turn::begun(number, user);
        let before = self.limit.agent_begins();
        let mut process_end = None;
        let mut attempts = Attempts::default();
        let saying = outage_check.clone().during(self.session.say(&turn.user, &mut attempts));
        let reply = tokio::select! {
            biased;
            reply = self.limit.within(saying) => reply,
            how = ended(self.lifeline.as_mut()) => {
                process_end = Some(format!("the agent's process ended ({how}) in turn {number}"));
                None
            }
        };
        let calls = self.noted(number, "had results made up", self.writer.take_calls());
        if self.tape.is_replayed() {
            self.writer.replay(calls);
        }
        let AgentTime { spent_ms, waited_ms, refused_ms } = self.limit.agent_ends(before);
        let time = TurnTime { spent_ms, waited_ms, refused_ms, process_end };
        let TurnTime { spent_ms, waited_ms, refused_ms, mut process_end } = self.noted(number, "took", time);
        turn.spent_ms = Some(spent_ms);
        if let Some(error) = &process_end {
            attempts.failures.push(FailedAttempt::untimed(error.clone(), true));
        }
        let timeout = |message| AgentError { kind: AgentErrorKind::Timeout, message };
        let error = match (&reply, &process_end) {
            (Some(Ok(_)), _) => None,
            (Some(Err(error)), _) => Some(error.clone()),
            (None, Some(process_end)) => Some(timeout(process_end.clone())),
            (None, None) => Some(timeout(self.limit.ran_out_while("the agent's reply was being waited for"))),
        };
        // Not every transport checks for an outage, and none does for a message that was given up.
        if let Some(error) = &error
            && (reply.is_none() || attempts.failures.last().is_none_or(|last| last.excuse.is_none()))
        {
            let excuse = outage_check.excuse(error).await;
            if let Some(excuse) = self.noted(number, "is excused", excuse) {
                if reply.is_none() && process_end.is_none() {
                    attempts.failures.push(FailedAttempt::untimed(error.message.clone(), true));
                    process_end = Some(error.message.clone());
                }
                if let Some(failed) = attempts.failures.last_mut() {
                    failed.excuse = Some(excuse);
                }
            }
        }
        turn.failures = attempts.failures;
        turn.maybe_delivered = attempts.maybe_delivered;
        let may_be_known = turn.maybe_delivered && !self.session.forgets_unanswered();
        turn.redelivered = may_be_known.then_some(Redelivery::AfterFailure);
        let end = match reply {
            None => match process_end {
                Some(message) => TurnEnd::Failed(timeout(message)),
                None if waited_ms > spent_ms => TurnEnd::RefusedTogether,
                None if refused_ms * 2.0 > spent_ms => TurnEnd::RateLimited,
                None => TurnEnd::OutOfTime,
            },
            Some(Err(error)) => TurnEnd::Failed(error),
            Some(Ok(reply)) => {
                set_reply(&mut turn, reply);
                TurnEnd::Replied
            }
        };
        (turn, end)
    }

    /// Something about a turn that the clock or other trials decide: as it is, or in replay as it was.
    pub(super) fn noted<T>(&self, turn: u32, what: &str, value: T) -> T
    where
        T: Serialize + DeserializeOwned + Default + PartialEq,
    {
        self.tape.noted(&format!("{}, turn {turn}: {what}", self.name), value)
    }
}

/// Whether a failure before the first answer may be the job's and not the agent's: the request is refused, the reply has an
/// unexpected shape, no agent is there, or the program that was started has never answered.
pub(super) fn blames_the_job(session: &dyn Session, error: &AgentError, turn: &Turn) -> bool {
    let is_undelivered = !turn.failures.is_empty() && turn.failures.iter().all(|failed| !failed.maybe_received);
    // A port that ends every connection without a byte may be any other program's.
    let is_nobody_there = !session.is_agent_confirmed()
        && (error.kind == AgentErrorKind::Unreachable && is_undelivered
            || !turn.failures.is_empty() && turn.failures.iter().all(|failed| failed.was_cut));
    error.kind.may_be_of_the_job() || is_nobody_there || !session.has_agent_output()
}

/// The error, with the hint of `probe` where it does not name the key itself.
pub(super) fn with_hint(engine: &Engine, error: &AgentError) -> String {
    let target = &engine.plan.job.target;
    let message = &error.message;
    match message.contains(&format!("target.{}.", target.transport.key())) {
        true => message.clone(),
        false => format!("{message}; try {}", hint(target, error)),
    }
}

/// Makes the agent's reply a part of the turn.
pub(super) fn set_reply(turn: &mut Turn, reply: Reply) {
    turn.agent = Some(reply.text);
    turn.events = reply.events;
    turn.latency_ms = Some(reply.latency_ms);
    turn.first_token_ms = reply.first_token_ms;
    turn.usage = reply.usage;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A conversation for which nothing was sent to open it, or something was.
    struct OpenedSession(bool);

    #[async_trait::async_trait]
    impl Session for OpenedSession {
        fn id(&self) -> &str {
            "1"
        }

        fn is_agent_confirmed(&self) -> bool {
            self.0
        }

        async fn say(&mut self, _: &str, _: &mut Attempts) -> Result<Reply, AgentError> {
            Err(cut())
        }
    }

    fn cut() -> AgentError {
        let message = "POST http://h/: the connection broke before a reply came (closed)".to_owned();
        AgentError { kind: AgentErrorKind::Cut, message }
    }

    #[test]
    fn a_port_that_ends_every_connection_without_a_byte_may_be_any_programs() {
        let turn = |errors: &[&str]| {
            let failed = |error: &&str| FailedAttempt {
                was_cut: error.starts_with("POST http://h/: the connection broke"),
                ..FailedAttempt::untimed((*error).to_owned(), true)
            };
            let failures = errors.iter().map(failed).collect();
            Turn { failures, ..Turn::begun(1, "Hello".to_owned()) }
        };
        let broke = cut().message;
        assert!(blames_the_job(&OpenedSession(false), &cut(), &turn(&[&broke, &broke])));
        assert!(!blames_the_job(&OpenedSession(true), &cut(), &turn(&[&broke, &broke])), "a session was opened there");
        assert!(!blames_the_job(&OpenedSession(false), &cut(), &turn(&["POST http://h/: answered 500", &broke])));
        let quoted = "POST http://h/: answered 500: \"the connection broke before a reply came\"";
        assert!(!blames_the_job(&OpenedSession(false), &cut(), &turn(&[quoted, quoted])), "the agent's own words");
        assert!(!blames_the_job(&OpenedSession(false), &cut(), &turn(&[])));
    }
}
