//! A task that the turn reads out as it was given, instead of asking for it as a user would.

use super::phrases::{List, PHRASES, is_sentence_end};
use super::scene::Scene;
use super::text_view::TextView;

/// Words that name what a persona is given.
const TASK: [&str; 13] = [
    "task",
    "goal",
    "objective",
    "aufgabe",
    "ziel",
    "tache",
    "tarea",
    "compito",
    "tarefa",
    "taak",
    "opdracht",
    "zadanie",
    "задача",
];

/// Words of somebody who asks.
const PLEASE: [&str; 13] = [
    "please",
    "kindly",
    "bitte",
    "plait",
    "favor",
    "favore",
    "cortesia",
    "graag",
    "alstublieft",
    "prosze",
    "пожалуйста",
    "lutfen",
    "thanks",
];

/// The fewest words of a task that no user asks for in the same words by chance.
const LEAST: usize = 5;
/// The same of one that says what the user is to find out, not what the assistant is to do.
const LEAST_OF_INQUIRY: usize = 3;
/// Of so many words of a task one may be another, missing or too much.
const PER_SLIP: usize = 6;

/// The task that the turn reads out. One that is itself put as a user would put it, as a question or of "I", is none.
pub(super) fn read_out<'s>(scene: &'s Scene<'_>) -> Option<&'s str> {
    let turn = scene.text();
    let (at, _) = scene.tasks.iter().enumerate().find(|(_, task)| {
        let is_inquiry = task.hits_in(List::Inquiry).any(|hit| hit.start == 0);
        // In English a task has the form of a request.
        let is_short = is_inquiry || !PHRASES.is_english(task) && task.plain().trim() == turn.plain().trim();
        let least = if is_short { LEAST_OF_INQUIRY } else { LEAST };
        let first = task.words().next();
        // A cheap test that rules most turns out.
        task.places().len() >= least
            && turn.words().any(|word| Some(word) == first)
            && turn.places().len() + task.places().len() / PER_SLIP >= task.places().len()
            && !task.asks()
            && !PHRASES.has_first_person(task.plain())
            && candidates(turn, task).any(|sentence| is_task(&TextView::new(sentence), task))
    })?;
    scene.input.tasks.get(at).copied()
}

/// The sentences of the turn, and all of it where the task has several.
fn candidates<'t>(turn: &'t TextView<'_>, task: &TextView<'_>) -> impl Iterator<Item = &'t str> {
    let whole = task.plain().trim_end_matches(is_sentence_end).contains(is_sentence_end).then(|| turn.plain());
    turn.plain().split_inclusive(is_sentence_end).chain(whole)
}

/// Whether a sentence has the words of a task in their order, and hardly others. Whoever says "I" or "please", or asks, puts it in
/// words of its own; who calls it a task does not.
fn is_task(sentence: &TextView<'_>, task: &TextView<'_>) -> bool {
    let wanted: Vec<&str> = task.words().collect();
    let mut said: Vec<&str> = sentence.words().collect();
    let slips = wanted.len() / PER_SLIP;
    // By far the most sentences end here.
    if said.len() + slips < wanted.len() || !said.iter().any(|word| wanted.first() == Some(word)) {
        return false;
    }
    let greeting = sentence.hits_in(List::Greeting).filter(|hit| hit.start == 0).map(|hit| hit.end).max().unwrap_or(0);
    said.drain(..sentence.places().iter().take_while(|word| word.end <= greeting).count());
    let named = said.iter().take(LEAST).position(|word| TASK.contains(word) && !wanted.contains(word));
    if let Some(at) = named {
        let skipped = said[at + 1..].iter().position(|word| wanted.first() == Some(word)).unwrap_or_default();
        said.drain(..at + 1 + skipped);
    }
    // "Quiero reservar …": who begins with a word of their own puts it as a user would.
    if said.first() != wanted.first() || said.len().abs_diff(wanted.len()) > slips {
        return false;
    }
    let is_own = || {
        PHRASES.has_first_person(sentence.plain())
            || sentence.words().any(|word| PLEASE.contains(&word))
            || sentence.asks()
    };
    let common = common(&said, &wanted);
    wanted.len() - common <= slips && said.len() - common <= slips && (named.is_some() || !is_own())
}

/// How many words two texts have in common, in one order.
fn common(one: &[&str], other: &[&str]) -> usize {
    let mut row = vec![0; other.len() + 1];
    for word in one {
        let mut diagonal = 0;
        for (at, their) in other.iter().enumerate() {
            let above = row[at + 1];
            row[at + 1] = if word == their { diagonal + 1 } else { above.max(row[at]) };
            diagonal = above;
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use crate::conversation::guard::{GuardInput, check};
    use crate::evidence::Guard;

    fn is_found(task: &str, turn: &str) -> bool {
        let found = check(&GuardInput {
            has_facts: false,
            tasks: &[task],
            facts: &[],
            signoff: "So Long",
            transcript: &[],
            turn,
            ..GuardInput::default()
        });
        found.iter().any(|finding| finding.guard == Guard::ReasoningLeak && finding.evidence == task)
    }

    #[test]
    fn a_task_that_is_read_out_is_no_message_of_a_user() {
        let book = "Book a table for four and confirm the time";
        for (task, turn) in [
            (book, book),
            (book, "book a table for four, and confirm the time."),
            (book, "Hello! Book a table for 4 and confirm the time"),
            (book, "My task is to book a table for four and confirm the time."),
            ("Ask whether dogs are allowed", "Ask whether dogs are allowed."),
            ("Find out what a locker costs", "Task 1: find out what a locker costs"),
            ("Herausfinden, wann der Schalter öffnet", "Herausfinden, wann der Schalter öffnet"),
        ] {
            assert!(is_found(task, turn), "{turn}");
        }
    }

    #[test]
    fn who_asks_for_it_as_a_user_does_reads_nothing_out() {
        let book = "Book a table for four and confirm the time";
        for (task, turn) in [
            (book, "Please book a table for four and confirm the time."),
            (book, "I'd like to book a table for four, can you confirm the time?"),
            (book, "Book me a table for four and confirm the time"),
            (book, "Could you book a table for four and confirm the time?"),
            ("Reservar una mesa para cuatro personas", "Quiero reservar una mesa para cuatro personas."),
            ("Cancel order 4711", "Cancel order 4711"),
            ("I want to know when you open on Sundays", "I want to know when you open on Sundays"),
            ("What does a locker cost for a day?", "What does a locker cost for a day?"),
            ("Find out what a locker costs", "I need to find out what a locker costs"),
        ] {
            assert!(!is_found(task, turn), "{turn}");
        }
    }
}
