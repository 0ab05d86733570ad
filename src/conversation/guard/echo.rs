//! A sentence of the assistant's that the turn says again with the same persons in it. Who takes something up turns them round: of
//! "you are registered" a user makes "so I am registered".

use super::phrases::{Owner, PHRASES, is_sentence_end};
use super::scene::Scene;
use super::text_view::TextView;

/// Words for the one who is addressed, where they are what the sentence is about.
const YOU: [&str; 20] = [
    "you", "sie", "du", "ihr", "vous", "tu", "usted", "ustedes", "lei", "voce", "voces", "u", "jij", "pan", "pani",
    "вы", "ты", "siz", "ni", "du",
];

/// Words that may stand before them.
const BEFORE: [&str; 20] = [
    "and", "then", "so", "now", "that", "if", "und", "dann", "dass", "wenn", "et", "alors", "y", "entonces", "e",
    "allora", "en", "dan", "i", "wtedy",
];

/// Words behind them that tell what to do.
const MODALS: [&str; 22] = [
    "can",
    "could",
    "need",
    "must",
    "should",
    "have",
    "may",
    "will",
    "ll",
    "konnen",
    "mussen",
    "sollten",
    "pouvez",
    "devez",
    "puede",
    "debe",
    "puo",
    "deve",
    "pode",
    "kunt",
    "moet",
    "можете",
];

/// Words by which the one who speaks is the subject.
const I: [&str; 16] =
    ["i", "we", "ich", "wir", "je", "nous", "yo", "io", "noi", "eu", "nos", "ik", "wij", "we", "я", "мы"];

/// The fewest words of a sentence that is said again, those at its beginning that are the same, and those that say something.
const LEAST: usize = 4;
const SAME_WORDS: usize = 3;
const LEAST_SHARED: usize = 2;

/// The sentence of the turn that speaks to the other as the agent's last message speaks to the user.
pub(super) fn echoed<'s>(scene: &'s Scene<'_>) -> Option<&'s str> {
    let (turn, agent) = (scene.text(), scene.last_agent()?);
    let sentences = turn.plain().split_inclusive(is_sentence_end).map(str::trim);
    sentences.filter(|sentence| !sentence.ends_with(['?', '؟'])).find(|sentence| {
        let start = sentence.as_ptr() as usize - turn.plain().as_ptr() as usize;
        let words = words_of(sentence);
        let is_of_self = PHRASES.has_first_person(sentence);
        let speaks_to = || addresses(&words) && !is_of_self && is_said(agent, sentence, addressed);
        let instructs =
            || instructs(&words) && !is_of_self && is_said(agent, sentence, |it, _| !PHRASES.has_first_person(it));
        let speaks_of_self =
            || words.first().is_some_and(|word| I.contains(word)) && is_said(agent, sentence, begins_alike);
        words.len() >= LEAST && (speaks_to() || instructs() || speaks_of_self()) && !turn.is_quoted(start)
    })
}

fn words_of(sentence: &str) -> Vec<&str> {
    sentence.split(|c: char| !crate::text::is_of_word(c)).filter(|word| !word.is_empty()).collect()
}

/// Whether the one who is addressed is the subject, or has something.
fn addresses(words: &[&str]) -> bool {
    let is_subject = |at: usize| YOU.contains(&words[at]) && (at == 0 || BEFORE.contains(&words[at - 1]));
    let is_owner = |word: &&str| PHRASES.possessives.get(*word) == Some(&Owner::Addressed);
    (0..words.len()).any(is_subject) || words.iter().any(is_owner)
}

/// Whether a sentence begins by telling the other what to do: "You can".
fn instructs(words: &[&str]) -> bool {
    words.first().is_some_and(|word| YOU.contains(word)) && words.get(1).is_some_and(|word| MODALS.contains(word))
}

/// Whether a sentence of the agent's, of which that holds beside the one of the turn, has most that this one says.
fn is_said(agent: &TextView<'_>, sentence: &str, holds: fn(&str, &str) -> bool) -> bool {
    let own = TextView::new(sentence);
    agent.plain().split_inclusive(is_sentence_end).map(str::trim).filter(|their| holds(their, sentence)).any(|their| {
        let their = TextView::new(their);
        let all = own.content().count();
        let shared = own.content().filter(|word| their.says(word)).count();
        shared >= LEAST_SHARED && shared * 2 >= all
    })
}

/// Whether the agent speaks to the user, and not of itself.
fn addressed(their: &str, _: &str) -> bool {
    addresses(&words_of(their)) && !PHRASES.has_first_person(their)
}

fn begins_alike(their: &str, own: &str) -> bool {
    let (their, own) = (words_of(their), words_of(own));
    their.get(..SAME_WORDS).is_some_and(|their| own.get(..SAME_WORDS) == Some(their))
}

#[cfg(test)]
mod tests {
    use crate::conversation::guard::{GuardInput, check};
    use crate::evidence::{Guard, Message, Role};

    fn is_found(agent: &str, turn: &str) -> bool {
        let transcript = [Message::new(Role::User, "I want to give blood."), Message::new(Role::Assistant, agent)];
        let found = check(&GuardInput {
            has_facts: false,
            tasks: &["Register for the next donation of blood"],
            facts: &[],
            signoff: "So Long",
            transcript: &transcript,
            turn,
            ..GuardInput::default()
        });
        found.iter().any(|finding| finding.guard == Guard::RoleSwap)
    }

    #[test]
    fn who_says_it_again_with_the_same_persons_speaks_as_the_other() {
        for (agent, turn) in [
            ("You're registered for Saturday.", "You're registered for Saturday, please drink enough."),
            ("I'll send a nurse up now.", "I'll send a nurse up to the room now."),
            ("Sie sind für Samstag angemeldet.", "Sie sind nun für Samstag angemeldet."),
            ("Vous êtes inscrite pour samedi.", "Vous êtes bien inscrite pour samedi matin."),
        ] {
            assert!(is_found(agent, turn), "{turn}");
        }
        for (agent, turn) in [
            ("You're registered for Saturday.", "So I'm registered for Saturday, great."),
            ("You're registered for Saturday.", "Am I registered for Saturday?"),
            ("We open at nine on Saturday.", "You open at nine on Saturday, understood."),
            ("I have a slot on Saturday.", "I have time on Saturday."),
            ("Sie sind für Samstag angemeldet.", "Gut, ich bin für Samstag angemeldet."),
        ] {
            assert!(!is_found(agent, turn), "{turn}");
        }
    }
}
