//! Mechanical guards on what the persona says: whether a turn is one that no user would send, found without a model.
//!
//! In: what the persona was told (tasks, facts, sign-off phrase), the conversation so far, and its next turn. Out: what is
//! wrong with that turn, one [`Finding`] a guard at the most.
//!
//! Invariants: a guard is a pure function; it reads the turn in the light of the conversation and never judges the agent;
//! in unclear cases it finds nothing. The phrases that the guards look for are data, in `phrases/`, one line a language.

mod early_end;
mod empty;
mod fact_leak;
mod goodbye_loop;
mod invented_fact;
mod phrases;
mod reasoning_leak;
mod repetition;
mod restart;
mod role_swap;
mod scene;
mod signoff_inside;
mod tasks_raised;
mod text_view;
mod too_long;
mod two_tasks;
mod values;
mod words;
mod wrong_language;

use scene::Scene;

use crate::evidence::Message;

/// What a turn of the persona is checked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Guard {
    /// It gives a fact unasked, or has the content of a fact that it does not know.
    FactLeak,
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
    pub const ALL: [Guard; 13] = [
        Guard::FactLeak,
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

    /// The guard's name in reports and corpora.
    pub fn as_str(self) -> &'static str {
        match self {
            Guard::FactLeak => "fact_leak",
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

    fn find(self, scene: &Scene<'_>) -> Option<Finding> {
        let found = match self {
            Guard::FactLeak => fact_leak::find(scene),
            Guard::InventedFact => invented_fact::find(scene),
            Guard::RoleSwap => role_swap::find(scene),
            Guard::Restart => restart::find(scene),
            Guard::GoodbyeLoop => goodbye_loop::find(scene),
            Guard::Repetition => repetition::find(scene),
            Guard::EarlyEnd => early_end::find(scene),
            Guard::TwoTasks => two_tasks::find(scene),
            Guard::SignoffInside => signoff_inside::find(scene),
            Guard::ReasoningLeak => reasoning_leak::find(scene),
            Guard::Empty => empty::find(scene),
            Guard::TooLong => too_long::find(scene),
            Guard::WrongLanguage => wrong_language::find(scene),
        };
        found.map(|Fault { why, evidence }| Finding { guard: self, why, evidence })
    }
}

/// What the guards look at.
#[derive(Debug, Clone, Copy)]
pub struct GuardInput<'a> {
    /// Whether the persona knows the facts.
    pub has_facts: bool,
    /// The case's tasks, in order, in the words of the job.
    pub tasks: &'a [&'a str],
    /// The case's facts, also where the persona does not know them.
    pub facts: &'a [&'a str],
    /// The phrase by which the persona ends the conversation.
    pub signoff: &'a str,
    /// The conversation so far.
    pub transcript: &'a [Message],
    /// The persona's next turn, as the model wrote it.
    pub turn: &'a str,
    /// Whether the persona's reply says that the conversation is done, beside what the turn says.
    pub is_done: bool,
}

/// What is wrong with a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The guard that found it.
    pub guard: Guard,
    /// A sentence for the persona's model and for people.
    pub why: String,
    /// The words of the turn, the fact or the task that show it.
    pub evidence: String,
}

/// A finding of a guard that does not yet say which one.
struct Fault {
    why: String,
    evidence: String,
}

fn fault(why: impl Into<String>, evidence: impl Into<String>) -> Option<Fault> {
    Some(Fault { why: why.into(), evidence: evidence.into() })
}

/// Everything that is wrong with a turn.
pub fn check(input: &GuardInput<'_>) -> Vec<Finding> {
    let scene = Scene::new(input);
    if scene.turn.is_empty {
        return Guard::Empty.find(&scene).into_iter().collect();
    }
    Guard::ALL.into_iter().filter_map(|guard| guard.find(&scene)).collect()
}
