//! Mechanical guards on what the persona says: whether a turn is one that no user would send, found without a model.
//!
//! In: what the persona was given (tasks, facts, sign-off phrase), the conversation so far, and its next turn. Out: what is
//! wrong with that turn, one [`GuardFinding`] a guard at the most.
//!
//! Invariants: a guard is a pure function; it reads the turn in the light of the conversation and never judges the agent;
//! in unclear cases it finds nothing. The phrases that the guards look for are data, in `phrases/`, one line a language.

mod asked_kind;
mod asked_surely;
mod awaited;
mod confirmation;
mod content_word;
mod counted;
mod derived;
mod early_end;
mod echo;
mod empty;
mod fact_asked;
mod fact_leak;
mod fact_uses;
mod foreign;
mod goals;
mod goodbye_loop;
mod informs;
mod invented_fact;
mod invented_name;
mod known_texts;
mod known_values;
mod off_task;
mod open_word;
mod ordinals;
mod other_name;
mod passed_over;
mod phrases;
mod planned;
mod reasoning_leak;
mod repetition;
mod restart;
mod retry_echo;
mod role_swap;
mod scene;
mod shape;
mod signoff_inside;
mod stalled;
mod task_read_out;
mod tasks_raised;
mod text_view;
mod too_long;
mod tool_named;
mod turn_mark;
mod two_tasks;
mod unexplained;
mod values;
mod wanted_answer;
mod withheld_fact;
mod words;
mod wrong_language;

pub use fact_uses::fact_uses;
pub use known_texts::KnownTexts;
pub use off_task::is_off_task;
pub use retry_echo::{RETRY_OPENING, retry_request};
use scene::Scene;
pub use stalled::stalled_task;

use crate::evidence::{Guard, GuardFinding, Message, Role};

fn find(guard: Guard, scene: &Scene<'_>) -> Option<GuardFinding> {
    let found = match guard {
        Guard::FactLeak => fact_leak::find(scene),
        Guard::WithheldFact => withheld_fact::find(scene),
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
    found.map(|Fault { why, evidence }| GuardFinding { guard, why, evidence, found_by: None })
}

/// The input of the guards.
#[derive(Debug, Clone, Copy, Default)]
pub struct GuardInput<'a> {
    /// Whether the persona knows the facts.
    pub has_facts: bool,
    /// Whether the user has done something by tools of its own, of which it may tell.
    pub has_acted: bool,
    /// The names of the tools that the user has.
    pub tools: &'a [&'a str],
    /// The case's tasks, in order, in the words of the job.
    pub tasks: &'a [&'a str],
    /// The case's facts, also where the persona does not know them.
    pub facts: &'a [&'a str],
    /// The persona's other instructions: a story, its character. What they say is not invented.
    pub background: &'a [&'a str],
    /// The phrase by which the persona ends the conversation.
    pub signoff: &'a str,
    /// The conversation so far.
    pub transcript: &'a [Message],
    /// The persona's next turn, as the model wrote it.
    pub turn: &'a str,
    /// Whether the persona's reply says that the conversation is done, beside what the turn says.
    pub is_done: bool,
}

/// A finding of a guard that does not yet say which one.
struct Fault {
    why: String,
    evidence: String,
}

fn fault(why: impl Into<String>, evidence: impl Into<String>) -> Option<Fault> {
    Some(Fault { why: why.into(), evidence: evidence.into() })
}

/// The faults of a turn, each counted once: what is copied from the assistant is found as its part and as a repetition, "as an AI
/// language model" as its part and as a leak.
///
/// `known` is kept from turn to turn of one conversation; a new one gives the same findings, later.
pub fn faults(input: &GuardInput<'_>, known: &mut KnownTexts) -> Vec<GuardFinding> {
    known.update(input);
    let mut findings = find_all(&Scene::new(input, known));
    if let Some(role) = findings.iter().find(|finding| finding.guard == Guard::RoleSwap).map(|it| it.evidence.clone()) {
        let is_same = |finding: &GuardFinding| match finding.guard {
            Guard::Repetition => finding.why == repetition::COPIED,
            Guard::ReasoningLeak => role.contains(&finding.evidence),
            _ => false,
        };
        findings.retain(|finding| !is_same(finding));
    }
    if findings.len() > 1 {
        findings.retain(|finding| finding.why != withheld_fact::EVADED);
    }
    findings
}

/// Loads the phrases, which takes as long as some hundred turns: before the first conversation, where nobody waits for a reply.
pub fn load() {
    let transcript = [Message::new(Role::Assistant, "What is your name?")];
    // A turn in which a figure, an accent and a name are looked for.
    check(&GuardInput {
        has_facts: true,
        tasks: &["Find the way"],
        facts: &["The user's name is Zoë"],
        signoff: "",
        transcript: &transcript,
        turn: "My name is Zoë, and I am 42.",
        ..GuardInput::default()
    });
}

/// What each guard finds in a turn.
pub fn check(input: &GuardInput<'_>) -> Vec<GuardFinding> {
    find_all(&Scene::new(input, &KnownTexts::of(input)))
}

fn find_all(scene: &Scene<'_>) -> Vec<GuardFinding> {
    if scene.turn.is_empty {
        return find(Guard::Empty, scene).into_iter().collect();
    }
    Guard::ALL.into_iter().filter_map(|guard| find(guard, scene)).collect()
}
