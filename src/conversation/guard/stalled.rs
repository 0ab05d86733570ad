//! A user who says nothing about its tasks any more: the same empty line again and again, or anything else until there is no
//! room for another message.

use super::GuardInput;
use super::early_end::open_tasks;
use super::fact_asked::last_question;
use super::known_texts::KnownTexts;
use super::open_word::is_open;
use super::phrases::{List, PHRASES};
use super::repetition::is_answer;
use super::scene::Scene;
use super::tasks_raised::is_comparable;
use super::text_view::TextView;
use crate::evidence::Role;

/// The messages of the user, the turn among them, in which it says no more than two different things.
const SAME_LINES: usize = 5;

/// The same for one thing.
const SAME_LINE: usize = 3;

/// The last messages of the user that speak of something else.
const LAST_MESSAGES: usize = 3;

/// From this likeness on two questions of the agent are the same.
const SAME_QUESTION: f64 = 0.8;

/// Whether the turn is a line without a word about the case that the user has said in its last two messages, or one of two such lines
/// of its last four, while the agent answered and asks nothing new.
pub(super) fn is_stuck(scene: &Scene<'_>) -> bool {
    let line = |text: &TextView<'_>| text.plain().trim().to_owned();
    let turn = scene.text();
    let mut lines: Vec<String> = scene.users().rev().take(SAME_LINES - 1).map(line).collect();
    lines.insert(0, line(turn));
    let different = |count: usize| {
        let mut some: Vec<&String> = lines.iter().take(count).collect();
        some.sort();
        some.dedup();
        some.len()
    };
    let is_same = lines.len() >= SAME_LINE && different(SAME_LINE) == 1
        || lines.len() >= SAME_LINES && different(SAME_LINES) <= 2;
    is_same
        && !is_about_the_case(scene, turn)
        && !asks_something_new(scene)
        && is_answered(scene)
        && !(is_answer(turn) && scene.last_agent().is_some_and(asks_yes_or_no))
}

/// Whether a message asks for yes or no: whoever says so as often as it is asked does what a user would.
fn asks_yes_or_no(agent: &TextView<'_>) -> bool {
    if agent.has(List::Confirms) {
        return true;
    }
    let is_general = || agent.has(List::OpenQuestion) || agent.has(List::AnythingElse);
    agent.asks() && !is_general() && !is_open(&TextView::new(last_question(agent).unwrap_or(agent.plain())))
}

/// Whether the agent has answered the user's last message.
fn is_answered(scene: &Scene<'_>) -> bool {
    scene.last_agent().is_some_and(|agent| !agent.raw.trim().is_empty())
}

/// Whether the agent's last message asks something that the one before did not ask: "yes" may answer it.
fn asks_something_new(scene: &Scene<'_>) -> bool {
    let mut agents = scene.agents().rev();
    let (Some(last), Some(before)) = (agents.next(), agents.next()) else { return true };
    let is_general = |agent: &TextView<'_>| agent.has(List::OpenQuestion) || agent.has(List::AnythingElse);
    last.asks() && last.likeness(before) < SAME_QUESTION && !(is_general(last) && is_general(before))
}

/// Whether a text has a word of a task, a fact or the user's other instructions.
fn is_about_the_case(scene: &Scene<'_>, text: &TextView<'_>) -> bool {
    let is_own = |word: &str| !PHRASES.task_words.contains_key(word);
    text.content()
        .filter(|word| is_own(word.text))
        .any(|word| scene.tasks.iter().chain(scene.facts).chain(scene.background).any(|subject| subject.says(&word)))
}

/// The first task that the user did not raise in a conversation for which there was no more room, because it spoke of something else in
/// its last messages, and not because the agent asked: its place among the tasks. In unclear cases it is `None`.
pub fn stalled_task(input: &GuardInput<'_>) -> Option<usize> {
    let texts = KnownTexts::of(input);
    let scene = Scene::new(input, &texts);
    let mut last = Vec::new();
    for (at, (role, text)) in texts.messages.iter().enumerate().rev() {
        if *role == Role::User {
            last.push((text, at.checked_sub(1).map(|before| &texts.messages[before].1)));
        }
    }
    last.truncate(LAST_MESSAGES);
    let asked_before = |agent: &TextView<'_>| agent.asks() && !agent.has(List::AnythingElse);
    let is_beside = |(user, before): &(&TextView<'_>, Option<&TextView<'_>>)| {
        !is_about_the_case(&scene, user) && !before.is_some_and(asked_before)
    };
    if last.len() < LAST_MESSAGES || !last.iter().all(is_beside) || !scene.users().all(|it| is_comparable(&scene, it)) {
        return None;
    }
    let open = open_tasks(&scene);
    let requests = scene.users().filter(|user| !is_about_the_case(&scene, user) && may_request(user)).count();
    open.first().copied().filter(|_| requests < open.len())
}

/// The word that goes with a request.
const PLEASE: [&str; 12] = [
    "please",
    "bitte",
    "plait",
    "favor",
    "favore",
    "alstublieft",
    "graag",
    "prosze",
    "пожалуйста",
    "lutfen",
    "请",
    "ください",
];

/// Whether a message may raise a task in other words: it asks, or has the courtesy of a request.
fn may_request(user: &TextView<'_>) -> bool {
    user.asks() || user.has(List::Inquiry) || user.words().any(|word| PLEASE.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conversation::guard::check;
    use crate::evidence::Message;

    const TASKS: [&str; 2] = ["Book the train to Lyon", "Ask what the weather is in Lyon"];

    fn messages(said: &[&str]) -> Vec<Message> {
        let role = |at: usize| if at.is_multiple_of(2) { Role::User } else { Role::Assistant };
        said.iter().enumerate().map(|(at, text)| Message::new(role(at), *text)).collect()
    }

    fn input<'a>(transcript: &'a [Message], turn: &'a str) -> GuardInput<'a> {
        GuardInput {
            has_facts: true,
            tasks: &TASKS,
            facts: &[],
            signoff: "",
            transcript,
            turn,
            ..GuardInput::default()
        }
    }

    #[test]
    fn a_line_without_a_word_about_the_case_is_not_said_again_and_again() {
        let is_stuck = |said: &[&str], turn: &str| {
            check(&input(&messages(said), turn)).iter().any(|finding| finding.why.starts_with("it says the same again"))
        };
        let (sorry, can) = ("Sorry, which train would you like to book?", "I can book trains and tell the weather.");
        for line in ["Hello?", "Hmm", "Next", "👍", "Yes, please.", "Thanks!"] {
            for reply in [sorry, can, "Hello! How can I help you?"] {
                assert!(is_stuck(&[line, reply, line, reply], line), "{line} {reply}");
            }
            assert!(!is_stuck(&[line, can], line) || line == "Thanks!", "{line}: once more");
        }
        for asks in ["Shall I book it?", "So is it the 9 am train?", "Soll ich ihn buchen?"] {
            let said = ["Book the 9 am train.", asks, "Yes.", asks, "Yes.", asks];
            assert!(!is_stuck(&said, "Yes."), "the agent asks for yes or no: {asks}");
            assert!(is_stuck(&["Hmm", asks, "Hmm", asks], "Hmm"), "no answer: {asks}");
        }
        let more = "Is there anything else?";
        assert!(is_stuck(&["Yes.", more, "Yes.", more], "Yes."), "it never says what");
        assert!(is_stuck(&["ok", can, "fine", can, "ok", can, "fine", can], "ok"));
        let booked = ["A train.", "To Lyon?", "Yes.", "On Friday?", "Yes.", "At nine?"];
        assert!(!is_stuck(&booked, "Yes."), "each question is another one");
        let wish = "To Lyon, please.";
        assert!(!is_stuck(&[wish, sorry, wish, sorry], wish), "it says what it wants to who does not understand");
    }

    #[test]
    fn whoever_chats_to_the_end_has_left_a_task_open() {
        let done = "Your train is booked. Anything else?";
        let chat = |last: &[&str]| {
            let mut said = vec!["Could you please book the train to Lyon?", done];
            last.iter().for_each(|line| said.extend([*line, done]));
            messages(&said)
        };
        let beside = ["The coffee on board is awful, though.", "It has a beautiful clock.", "My cat is called Tom."];
        assert_eq!(stalled_task(&input(&chat(&beside), "")), Some(1));
        assert_eq!(stalled_task(&input(&chat(&["And how is the weather there?", "I see.", "Good."]), "")), None);
        assert_eq!(stalled_task(&input(&chat(&beside[..2]), "")), None, "two messages are too few");
        let mut asked = chat(&beside);
        asked[5].content = "Which seat would you like?".to_owned();
        assert_eq!(stalled_task(&input(&asked, "")), None, "the agent asked");
    }
}
