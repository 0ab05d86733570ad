//! A whole conversation in which the user speaks of none of its tasks.

use super::phrases::PHRASES;
use super::text_view::{Content, TextView};

/// The fewest messages of the user by which that can be decided.
const LEAST_MESSAGES: usize = 3;

/// The first letters by which a word of a task is known in a compound: "hair" of "haircut".
const PREFIX: usize = 4;

/// Whether neither the user nor the agent has a word of any task, fact or instruction of the persona, where all of them are in one
/// known language. `subjects` are those texts. In unclear cases it is `false`.
pub fn is_off_task(subjects: &[&str], users: &[&str], agents: &[&str]) -> bool {
    if users.len() < LEAST_MESSAGES {
        return false;
    }
    let views = |texts: &[&str]| texts.join(". ");
    let (subjects, users, agents) = (views(subjects), views(users), views(agents));
    let [subjects, users, agents] = [&subjects, &users, &agents].map(TextView::new);
    let is_one_language = users.language().is_some() && users.language() == subjects.language();
    let words: Vec<Content<'_>> =
        subjects.content().filter(|word| !PHRASES.task_words.contains_key(word.text)).collect();
    let has = |text: &TextView<'_>, word: &Content<'_>| {
        let prefix: String = word.text.chars().take(PREFIX).collect();
        text.says(word) || prefix.chars().count() == PREFIX && text.words().any(|own| own.starts_with(&prefix))
    };
    is_one_language && !words.is_empty() && !words.iter().any(|word| has(&users, word) || has(&agents, word))
}

#[cfg(test)]
mod tests {
    use super::is_off_task;

    const TASKS: [&str; 2] = ["Book a haircut for Friday", "Ask for the price of the shampoo"];

    #[test]
    fn a_user_who_speaks_of_something_else_to_the_end_is_off_task() {
        let users = [
            "What lovely weather we have today, don't you think?",
            "I heard that it will rain in the evening.",
            "The sun was so warm this morning.",
        ];
        let agents = ["Hello! How can I help you?", "It is nice indeed.", "I see."];
        assert!(is_off_task(&TASKS, &users, &agents));
        assert!(!is_off_task(&TASKS, &users[..2], &agents), "two messages are too few");
    }

    #[test]
    fn where_it_is_not_certain_nobody_is_off_task() {
        let agents = ["Hello!", "I can do that.", "Done."];
        let compound = ["I would like to have my hair cut.", "At ten would be fine with me.", "Thank you so much."];
        assert!(!is_off_task(&TASKS, &compound, &agents));
        let foreign = ["Das Wetter ist heute wirklich schön.", "Es regnet bestimmt am Abend.", "Die Sonne scheint."];
        assert!(!is_off_task(&TASKS, &foreign, &agents), "the tasks are in another language");
        let other_words = ["I want the usual one.", "Yes, that would be good for me.", "And what do I pay for it?"];
        assert!(!is_off_task(&TASKS, &other_words, &["Hello!", "Your haircut is booked.", "Twelve euros."]));
        assert!(!is_off_task(&["Ask the assistant"], &other_words, &agents), "the task has no word of its own");
    }
}
