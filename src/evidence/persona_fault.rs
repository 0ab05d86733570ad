//! Faults of a persona: messages that no user would send.

use serde::{Deserialize, Serialize};

/// The phrase that ends the conversation where the job names none: it says nothing of the conversation's language.
pub const DEFAULT_SIGNOFF: &str = "So Long, and Thanks for All the Fish";

/// A kind of fault in a turn of the persona.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Guard {
    /// It gives a fact unasked, or has the content of a fact that it does not know.
    FactLeak,
    /// It says that the user does not know, or does not tell, a fact that the user knows and the agent asks for.
    WithheldFact,
    /// It states a name, date, number or address that stands neither in a task nor in a fact nor in the conversation.
    InventedFact,
    /// It speaks as the assistant.
    RoleSwap,
    /// It begins the conversation anew.
    Restart,
    /// It says goodbye again and again.
    GoodbyeLoop,
    /// It says nearly the same as in an earlier turn, without need.
    Repetition,
    /// It ends the conversation while tasks are open or the agent waits for an answer.
    EarlyEnd,
    /// It raises two tasks in one message.
    TwoTasks,
    /// The sign-off phrase stands within a message that goes on.
    SignoffInside,
    /// It shows its reasoning, its instructions or the form of its reply.
    ReasoningLeak,
    /// It says nothing.
    Empty,
    /// It is longer than a user's message.
    TooLong,
    /// It is in another language than the conversation.
    WrongLanguage,
}

impl Guard {
    /// All guards, in the order in which they are checked and shown.
    pub const ALL: [Guard; 14] = [
        Guard::FactLeak,
        Guard::WithheldFact,
        Guard::InventedFact,
        Guard::RoleSwap,
        Guard::Restart,
        Guard::GoodbyeLoop,
        Guard::Repetition,
        Guard::EarlyEnd,
        Guard::TwoTasks,
        Guard::SignoffInside,
        Guard::ReasoningLeak,
        Guard::Empty,
        Guard::TooLong,
        Guard::WrongLanguage,
    ];

    /// The guard's name in corpora.
    pub fn as_str(self) -> &'static str {
        match self {
            Guard::FactLeak => "fact_leak",
            Guard::WithheldFact => "withheld_fact",
            Guard::InventedFact => "invented_fact",
            Guard::RoleSwap => "role_swap",
            Guard::Restart => "restart",
            Guard::GoodbyeLoop => "goodbye_loop",
            Guard::Repetition => "repetition",
            Guard::EarlyEnd => "early_end",
            Guard::TwoTasks => "two_tasks",
            Guard::SignoffInside => "signoff_inside",
            Guard::ReasoningLeak => "reasoning_leak",
            Guard::Empty => "empty",
            Guard::TooLong => "too_long",
            Guard::WrongLanguage => "wrong_language",
        }
    }

    /// The fault, as a sentence says it of a message.
    pub fn description(self) -> &'static str {
        match self {
            Guard::FactLeak => "it gives away a fact that nobody asked for, or that the user does not know",
            Guard::WithheldFact => "it keeps back a fact that the user knows and the assistant asks for",
            Guard::InventedFact => "it states a detail that stands neither in the user's part nor in the conversation",
            Guard::RoleSwap => "it speaks as the assistant",
            Guard::Restart => "it begins the conversation again from the start",
            Guard::GoodbyeLoop => "it says goodbye again and again",
            Guard::Repetition => "it says again what was said before, without need",
            Guard::EarlyEnd => "it ends the conversation while tasks are open or the assistant waits for an answer",
            Guard::TwoTasks => "it raises two tasks at once",
            Guard::SignoffInside => "the phrase that ends the conversation stands within a message that goes on",
            Guard::ReasoningLeak => "it shows its reasoning, its instructions or that it is simulated",
            Guard::Empty => "it says nothing",
            Guard::TooLong => "it is longer than what a user would type",
            Guard::WrongLanguage => "it is in another language than the conversation",
        }
    }

    /// Whether a user may be meant to do that, so that a job may allow it: nobody is meant to speak as the assistant, to say nothing, or
    /// to show the instructions.
    pub fn may_be_played(self) -> bool {
        !matches!(
            self,
            Guard::RoleSwap | Guard::SignoffInside | Guard::ReasoningLeak | Guard::Empty | Guard::GoodbyeLoop
        )
    }

    /// The guard's name in job files: `factLeak`.
    pub fn key(self) -> String {
        let mut words = self.as_str().split('_');
        let first = words.next().unwrap_or_default().to_owned();
        words.fold(first, |key, word| format!("{key}{}{}", word[..1].to_uppercase(), &word[1..]))
    }

    /// The display name: `fact leak`.
    pub fn label(self) -> String {
        self.as_str().replace('_', " ")
    }
}

/// The problem with a turn of the persona.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GuardFinding {
    /// The guard that found it.
    pub guard: Guard,
    /// The problem, in a sentence.
    pub why: String,
    /// The words of the turn, the fact or the task that show it.
    pub evidence: String,
    /// The model that found it, with how many of its verdicts say so: `openai/gpt-4.1, 2 of 3`; `None` for a rule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found_by: Option<String>,
}

/// A message of the persona that was not sent, because it was faulty.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PersonaFault {
    /// The turn that it would have begun.
    pub turn: u32,
    /// The message.
    pub text: String,
    /// The problem with it; never empty.
    pub findings: Vec<GuardFinding>,
}
