//! The evidence of a trial: plain data, collected while the trial runs and never edited afterwards. In comes what `run`
//! observes of agent, graph and models; out goes one [`Evidence`], and a [`Judgement`] for each [`Question`].
//!
//! Invariants: nothing in here knows a network, a job or a score; everything serialises, so that a stored trial can be
//! graded again in ten years.

mod agent_message;
mod agent_output;
mod change;
mod divergence;
mod ending;
mod event;
mod fact_use;
pub mod figures;
mod judgement;
mod lazy_value;
mod message;
mod object_context;
mod observation;
mod persona_fault;
mod review;
mod state;
mod tool_use;
mod trace_step;
mod transcript;
mod trial;
mod turn;
mod unread_call;
mod usage;
mod user_tool_call;
mod value;

pub use agent_message::AgentMessage;
pub use agent_output::AgentOutput;
pub use change::{Change, ChangeTime, Entity, PropertyChange};
pub use divergence::{Speaker, TranscriptDigest};
pub use ending::Ending;
pub use event::{Event, EventKind, ToolCall};
pub use fact_use::FactUse;
pub use judgement::{AskedQuestion, Judgement, Question, QuestionTo, ReplySchema, ReplyToken, ScoreAlternative};
pub use lazy_value::LazyValue;
pub use message::{Message, Role};
pub use object_context::{Function, ObjectContext, Resource};
pub use observation::{AssertionId, Observed, QueryObservation};
pub use persona_fault::{DEFAULT_SIGNOFF, Guard, GuardFinding, PersonaFault};
pub use review::{CallFinding, ExpectationReview, MissedCall, ReviewedCall, TurnExpectation, ValueDifference};
pub use state::ObservedState;
pub use tool_use::{CallsByTurn, ToolUse};
pub use trace_step::{TRACE_STEP, trace_steps};
pub use transcript::Transcript;
pub use trial::{TrialId, case_and_persona};
pub use turn::{FailedAttempt, GREETINGS, Redelivery, Turn, TurnContext};
pub use usage::Usage;
pub use user_tool_call::UserToolCall;
pub use value::{Node, ParsedTemporal, Path, Point, Relationship, Table, Temporal, TemporalKind, Value, zone_offset};

use serde::{Deserialize, Serialize};

/// Which of the two conversations of a job this is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Condition {
    /// The persona does not know the facts.
    WithoutFacts,
    /// The persona knows the facts and gives one when it is asked for it.
    WithFacts,
}

impl Condition {
    /// Both conditions, in the order in which they are run and shown.
    pub const ALL: [Condition; 2] = [Condition::WithoutFacts, Condition::WithFacts];

    /// As the job file and the journal spell it.
    pub fn as_str(self) -> &'static str {
        match self {
            Condition::WithoutFacts => "withoutFacts",
            Condition::WithFacts => "withFacts",
        }
    }

    /// The name that readers see.
    pub fn label(self) -> &'static str {
        match self {
            Condition::WithoutFacts => "without facts",
            Condition::WithFacts => "with facts",
        }
    }
}

/// Everything that one trial left behind: the only thing that grading reads, beside the judgements.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Evidence {
    /// The id that the agent gave to the conversation.
    pub session_id: String,
    /// The user that the conversation was opened for.
    #[serde(default)]
    pub user: String,
    /// The model that the agent was asked to use.
    pub model: String,
    /// Which of the two conversations this was.
    pub condition: Condition,
    /// The conversation itself, without seeds.
    pub transcript: Transcript,
    /// The conversation with the reference agent, of which the turns are expected; `None` where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<Transcript>,
    /// How the conversation ended.
    pub ending: Ending,
    /// The agent's observable state after the conversation; `None` when nothing asked for it.
    pub object_context: Option<Observed<ObjectContext>>,
    /// The result of each Cypher assertion's query after the conversation.
    pub queries: Vec<QueryObservation>,
    /// The changes of the graph, but those by the user's own tools, in the order in which they were seen, or why they could not be observed; `None`
    /// without a graph, and in records of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changes: Option<Observed<Vec<Change>>>,
    /// The observable state just before the first turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<ObservedState>,
    /// The observable state on an empty graph; the agent's part of it is an empty object context.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub empty: Option<ObservedState>,
    /// Tokens and calls of the persona in this trial.
    pub persona_usage: Usage,
    /// Settings that the persona's model refused, a sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub persona_notes: Vec<String>,
    /// The messages of the persona that were not sent, because they were faulty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub persona_faults: Vec<PersonaFault>,
    /// The calls of the user's own tools, in order: none of them is the agent's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub user_tool_calls: Vec<UserToolCall>,
    /// When the agent asked for each fact and the user said it; `None` where that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fact_uses: Option<Vec<FactUse>>,
}

impl Evidence {
    /// The evidence of a conversation that has just been opened.
    pub fn new(session_id: String, user: String, trial: &TrialId) -> Evidence {
        Evidence {
            session_id,
            user,
            model: trial.model.clone(),
            condition: trial.condition,
            transcript: Transcript::default(),
            reference: None,
            ending: Ending::CutOff,
            object_context: None,
            queries: Vec::new(),
            changes: None,
            before: None,
            empty: None,
            persona_usage: Usage::default(),
            persona_notes: Vec::new(),
            persona_faults: Vec::new(),
            user_tool_calls: Vec::new(),
            fact_uses: None,
        }
    }

    /// Adds a call of the user's own tools; with its result, it replaces what was noted when it began.
    pub fn add_user_tool_call(&mut self, call: UserToolCall) {
        user_tool_call::add(&mut self.user_tool_calls, call);
    }

    /// What the user's own tools changed in the graph.
    pub fn changes_by_user(&self) -> impl Iterator<Item = &Change> {
        self.user_tool_calls.iter().flat_map(|call| &call.changes)
    }

    /// How many tries of a message to the agent failed, over the whole conversation. Seeds do not count, nor do tries that
    /// failed while something else than the agent was wrong. The message at which the agent failed for good counts as all
    /// [`TRIES`], however often it was sent: a 403 is not tried again, a 500 is, and the end is the same.
    pub fn failure_count(&self) -> u32 {
        let has_failed = matches!(self.ending, Ending::AgentFailed { .. });
        let counts = |turn: &Turn| {
            let failed = turn.failures.iter().filter(|failed| failed.excuse.is_none()).count() as u32;
            let is_last = has_failed && turn.agent.is_none() && (failed > 0 || turn.failures.is_empty());
            if is_last { failed.max(TRIES) } else { failed }
        };
        self.transcript.turns.iter().map(counts).sum()
    }

    /// The first turn whose message may have reached the agent more than once, so that side effects can be doubled;
    /// `None` where the agent never answered it: that is a failure and no doubt.
    pub fn first_maybe_doubled_turn(&self) -> Option<u32> {
        self.transcript.turns.iter().find(|turn| turn.maybe_delivered && turn.agent.is_some()).map(|turn| turn.number)
    }

    /// The first answered turn whose reply and calls are not to be charged to the agent, since eval-job was cut off while it was on its
    /// way, and the agent may have done then what is asked for; `None` where the agent failed to the end.
    pub fn turn_after_break(&self) -> Option<u32> {
        let has_failed = matches!(self.ending, Ending::AgentFailed { .. });
        self.first_redelivered(|it| it == Redelivery::AfterBreak).filter(|_| !has_failed)
    }

    /// The first answered turn in which the agent may have made more calls than it reported, at an earlier delivery of the message; `None` where
    /// the agent ended the conversation.
    pub fn turn_with_unseen_calls(&self) -> Option<u32> {
        let unseen = self.first_redelivered(|_| true).filter(|_| !self.agent_ended_it());
        self.turn_after_break().into_iter().chain(unseen).min()
    }

    fn first_redelivered(&self, is_it: impl Fn(Redelivery) -> bool) -> Option<u32> {
        let turns = self.transcript.turns.iter().filter(|turn| turn.agent.is_some());
        turns.filter(|turn| turn.redelivered.is_some_and(&is_it)).map(|turn| turn.number).next()
    }

    /// Whether the agent brought the conversation to its end by failing or by taking too long.
    pub fn agent_ended_it(&self) -> bool {
        matches!(self.ending, Ending::AgentFailed { .. } | Ending::TimeLimit { .. })
    }

    /// The rows that the query of an assertion returned after the conversation; `None` if it was not run or failed.
    pub fn table(&self, assertion: &AssertionId) -> Option<&Table> {
        state::table_of(&self.queries, assertion)
    }

    /// Both sides of the comparison that the query of an assertion returned after the conversation.
    pub fn sides(&self, assertion: &AssertionId) -> Option<&Table> {
        state::sides_of(&self.queries, assertion)
    }
}

/// How often Embabel's runner tries a message, whatever the failure.
pub const TRIES: u32 = 4;

#[cfg(test)]
impl Evidence {
    /// A conversation that ended well, without turns.
    pub(crate) fn sample() -> Evidence {
        let trial = TrialId {
            number: 1,
            case: "c".to_owned(),
            model: "m".to_owned(),
            condition: Condition::WithFacts,
            repeat: 1,
        };
        let evidence = Evidence::new("s".to_owned(), "user".to_owned(), &trial);
        Evidence { ending: Ending::SignedOff { reason: None }, ..evidence }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A conversation whose second message failed in these ways and was then answered, or never.
    fn failed(failures: &[Option<&str>], answer: Option<&str>, ending: Ending) -> Evidence {
        let tried = |excuse: &Option<&str>| FailedAttempt {
            excuse: excuse.map(str::to_owned),
            ..FailedAttempt::untimed("answered 4xx".to_owned(), true)
        };
        let failures = failures.iter().map(tried).collect();
        let second = Turn { failures, agent: answer.map(str::to_owned), ..Turn::begun(2, "Hi".to_owned()) };
        let transcript = Transcript { turns: vec![Turn::answered(1, "Hello", "Hello"), second] };
        Evidence { transcript, ending, ..Evidence::sample() }
    }

    #[test]
    fn an_agent_that_fails_for_good_pays_the_same_however_often_it_was_tried() {
        let for_good = || Ending::AgentFailed { error: "answered 4xx".to_owned() };
        for tries in 0..=4 {
            assert_eq!(failed(&vec![None; tries], None, for_good()).failure_count(), TRIES, "{tries}");
        }
        assert_eq!(
            failed(&[None], Some("Hello"), Ending::SignedOff { reason: None }).failure_count(),
            1,
            "what was retried"
        );
        assert_eq!(failed(&[Some("the graph")], None, for_good()).failure_count(), 0, "not the agent's");
        assert_eq!(failed(&[None], None, Ending::TimeLimit { seconds: 1.0 }).failure_count(), 1, "our limit");
    }
}
