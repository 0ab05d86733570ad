//! One line of the journal.

mod resumed;
mod texts;
mod trial_number;

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Deserializer, Serialize};

use super::tag_first::TagFirst;
use super::{BaselineCheck, ModelCall, PlannedTrials, Provenance};
use crate::evidence::{
    AgentOutput, AskedQuestion, Change, Ending, FactUse, Judgement, ObjectContext, Observed, ObservedState,
    PersonaFault, QueryObservation, Turn, Usage, UserToolCall,
};
use crate::limiter::Refusals;
use crate::money::{Amount, Dollars, Price};
use crate::score::{Outcome, RepeatsEnded, Scorecard};

/// Defines [`Entry`], which is written with its variant's name as the first field, `kind`, and is read as it comes.
macro_rules! entry {
    ($(#[$doc:meta])* pub enum Entry { $($variants:tt)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Serialize)]
        #[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
        pub enum Entry { $($variants)* }

        impl<'de> Deserialize<'de> for Entry {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Entry, D::Error> {
                /// The same variants without the tag, for serde.
                #[derive(Deserialize)]
                #[serde(remote = "Entry", rename_all = "camelCase", rename_all_fields = "camelCase")]
                enum Untagged { $($variants)* }
                Untagged::deserialize(TagFirst { tag: "kind", inner: deserializer })
            }
        }
    };
}

entry! {
/// One line of the journal: what just happened. An entry is written before whatever comes after it begins.
pub enum Entry {
    /// The first line.
    RunStarted {
        /// The format's version.
        version: u32,
        /// The run's id.
        id: String,
        /// When it started.
        at: DateTime<Utc>,
        /// The job, models, prompts and limits of the run.
        provenance: Box<Provenance>,
        /// The whole job, as it was completed, without secrets; earlier versions kept none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        job: Option<Box<serde_json::Value>>,
        /// The prompts' templates by name; earlier versions kept none.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        templates: BTreeMap<String, String>,
        /// The trials to come.
        trials: PlannedTrials,
    },
    /// The first line of what another judge is asked about a run's conversations.
    GradingStarted {
        /// The format's version.
        version: u32,
        /// When it started.
        at: DateTime<Utc>,
        /// The judge's model.
        judge: String,
        /// The whole job that was graded by, without secrets.
        job: Box<serde_json::Value>,
        /// The prompts' templates by name.
        templates: BTreeMap<String, String>,
    },
    /// A trial's setups begin.
    TrialStarted {
        /// Which trial.
        trial: u32,
        /// When.
        at: DateTime<Utc>,
        /// The case, where the job of the first line does not hold it: there may be more cases than memory.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        case: Option<Box<serde_json::Value>>,
    },
    /// Setups and seeds are done and the agent has opened a session.
    SessionOpened {
        /// Which trial.
        trial: u32,
        /// The agent's id for it.
        session_id: String,
        /// The user that it was opened for.
        #[serde(default)]
        user: String,
    },
    /// The assertions were evaluated before the first message.
    LookedBefore {
        /// Which trial.
        trial: u32,
        /// The observable state just before the first turn.
        before: ObservedState,
        /// The observable state on an empty graph.
        empty: ObservedState,
    },
    /// The persona's message, which is about to be sent.
    UserSaid {
        /// Which trial.
        trial: u32,
        /// The turn that begins.
        turn: u32,
        /// The message.
        text: String,
        /// How the conversation ends with the reply, where the persona said goodbye in the message.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        farewell: Option<Ending>,
        /// Milliseconds of `limits.trial` that the conversation had used by then.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        used_ms: Option<f64>,
    },
    /// The persona's message was faulty: it was not sent, and it was asked for another one.
    PersonaFaulted {
        /// Which trial.
        trial: u32,
        /// The message, and what is wrong with it.
        fault: PersonaFault,
    },
    /// A tool of the user is about to be called, or, with its result, was called.
    UserToolCalled {
        /// Which trial.
        trial: u32,
        /// The call.
        call: UserToolCall,
    },
    /// A turn is over.
    TurnFinished {
        /// Which trial.
        trial: u32,
        /// The turn.
        turn: Turn,
        /// What another process needs of the turn to continue the conversation, where its transport has it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        resume_point: Option<Box<serde_json::Value>>,
    },
    /// A turn of the conversation with the reference agent is over.
    ReferenceTurn {
        /// Which trial.
        trial: u32,
        /// The turn.
        turn: Turn,
    },
    /// The graph is not what it was at the last look.
    GraphChanged {
        /// Which trial.
        trial: u32,
        /// The differences; never empty.
        changes: Vec<Change>,
    },
    /// The conversation is over and everything was looked at.
    ConversationEnded {
        /// Which trial.
        trial: u32,
        /// How it ended.
        ending: Ending,
        /// The agent's observable state.
        object_context: Option<Observed<ObjectContext>>,
        /// The rows of the Cypher assertions.
        queries: Vec<QueryObservation>,
        /// All that changed in the graph, or why it could not be watched.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        changes: Option<Observed<Vec<Change>>>,
        /// Tokens and calls of the persona.
        persona_usage: Usage,
        /// Settings that the persona's model refused.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        persona_notes: Vec<String>,
        /// When the agent asked for each fact and the user said it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fact_uses: Option<Vec<FactUse>>,
    },
    /// The agent's memory was primed with the job's seeds.
    Primed {
        /// Which trial.
        trial: u32,
        /// The agent's own tokens, where its transport reports them.
        usage: Option<Usage>,
    },
    /// A request to one of our own models is about to be sent: should nothing more be heard of it, the call came to this. Only where
    /// money or tokens are limited.
    ModelAsking {
        /// Which trial.
        trial: u32,
        /// The number of the call, which this process gives once; a later entry of the same number takes this one's place.
        number: u64,
        /// The call so far, this request included.
        call: ModelCall,
        /// The most that its requests without a known usage can cost.
        set_aside: Amount,
    },
    /// One of our own models has answered, or has not.
    ModelAsked {
        /// Which trial.
        trial: u32,
        /// The number of the call, where it was logged before its requests were sent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        number: Option<u64>,
        /// The call; of no request where all of them were refused.
        call: ModelCall,
        /// The most that its requests without a known usage can have cost, which counts as spent; `None` where there are none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        set_aside: Option<Amount>,
    },
    /// The judge has answered.
    Judged {
        /// Which trial.
        trial: u32,
        /// The question; earlier versions kept none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        question: Option<Box<AskedQuestion>>,
        /// The judge's answer.
        judgement: Judgement,
        /// The question's place among those about the conversation, from 0: answers are kept in whichever order they come. Earlier
        /// versions kept them in the order of the questions.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        place: Option<u32>,
    },
    /// The output of an agent that eval-job started, where there was any.
    AgentOutput {
        /// Which trial.
        trial: u32,
        /// The output.
        output: AgentOutput,
    },
    /// The agent refused requests because other conversations were open: they were slowed down.
    AgentRefused {
        /// Which trial.
        trial: u32,
        /// How many requests of it, and how many conversations were open.
        refusals: Refusals,
    },
    /// The persona did not play its part: what was run so far does not count, and the conversation is run again.
    TrialDiscarded {
        /// Which trial.
        trial: u32,
        /// When.
        at: DateTime<Utc>,
        /// In what way the persona failed.
        error: String,
    },
    /// A trial is over.
    TrialFinished {
        /// Which trial.
        trial: u32,
        /// When.
        at: DateTime<Utc>,
        /// How it came out.
        outcome: Outcome,
        /// Its scores, where the trial says something about the agent.
        scorecard: Option<Scorecard>,
    },
    /// A limit of the whole run is reached: what is not over by then is not resumed.
    LimitReached {
        /// When.
        at: DateTime<Utc>,
        /// Which, and how far it was, in a sentence.
        why: String,
        /// The most that the costliest request can take that did not fit any more, in US dollars and in tokens; `None` where none was
        /// refused, and in what earlier versions wrote.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        wanted: Option<Amount>,
    },
    /// A trial is run again from its setups: the run was cut off, or the trial says nothing about the agent. What was run of
    /// it so far does not count.
    TrialRestarted {
        /// Which trial.
        trial: u32,
        /// When.
        at: DateTime<Utc>,
    },
    /// A trial that was cut off goes on where it was: nothing of it is held again.
    TrialContinued {
        /// Which trial.
        trial: u32,
        /// When.
        at: DateTime<Utc>,
        /// When the run had stopped; earlier versions did not say.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        stopped_at: Option<DateTime<Utc>>,
        /// Whether it was over, only since a limit had left nothing for its judge: it is judged now.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        was_over: bool,
    },
    /// The next entry of the trial does not hold all that it was made of: secrets were cleared from it.
    TextsCleared {
        /// Which trial.
        trial: u32,
    },
    /// The run is resumed, after it was cut off or had ended.
    RunResumed {
        /// When.
        at: DateTime<Utc>,
        /// When the run had stopped; earlier versions did not say.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        stopped_at: Option<DateTime<Utc>>,
        /// Whether the end of the journal may have been lost before, so that more was said in the conversations that were under way
        /// than it has.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        may_lack_turns: bool,
        /// The version of eval-job that goes on with it.
        tool_version: String,
        /// The limit in US dollars of all that is spent on the run, from now on.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cost_limit: Option<Dollars>,
        /// The same in tokens.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        token_limit: Option<u64>,
        /// The limit in seconds from now on.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        time_limit: Option<f64>,
        /// The known prices of the models, by which all of the run is priced, what was spent before included; none in what an earlier
        /// version kept.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        prices: BTreeMap<String, Price>,
        /// The day of the prices.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        prices_dated: String,
    },
    /// No more repetitions are run of a run that adds them until its models are told apart: those that are planned beyond
    /// these are none of it any more.
    RepeatsEnded {
        /// When.
        at: DateTime<Utc>,
        /// How many there are, and why.
        ended: RepeatsEnded,
    },
    /// The run is compared with the baseline of its gate.
    BaselineCompared {
        /// When.
        at: DateTime<Utc>,
        /// The outcome.
        check: Box<BaselineCheck>,
    },
    /// The last line of a run that was not killed.
    RunFinished {
        /// When.
        at: DateTime<Utc>,
        /// Whether it was stopped by its user.
        interrupted: bool,
    },
}
}

#[cfg(test)]
mod tests;
