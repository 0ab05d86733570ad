//! A turn that speaks of the user as of somebody else ("the user is content"), or says aloud what its own next line has to be.

use super::phrases::{NOW, PHRASES, PLAYS, Words, is_sentence_end};
use super::scene::Scene;
use super::text_view::TextView;

/// The one who is played, in languages that join their words.
const JOINED_USERS: [&str; 4] = ["ユーザーは", "ユーザーとして", "用户应该", "사용자는"];
const THE: [&str; 14] = ["the", "der", "die", "den", "dem", "des", "le", "la", "l", "el", "il", "lo", "o", "de"];
/// Words with which it is a thing of theirs: "the user account".
const THEIRS: [&str; 14] = [
    "account",
    "name",
    "manual",
    "id",
    "guide",
    "interface",
    "group",
    "data",
    "role",
    "rights",
    "konto",
    "name",
    "profile",
    "settings",
];

/// Words by which somebody is spoken to.
const YOU: [&str; 21] = [
    "you", "your", "sie", "ihnen", "ihr", "dich", "dir", "du", "vous", "te", "tu", "usted", "lei", "ti", "voce", "lhe",
    "u", "pana", "pani", "вас", "вам",
];

/// The words that speak of the user as of somebody else, or of the other one, where no message has them.
pub(super) fn speaks_of_user<'s>(scene: &'s Scene<'_>) -> Option<&'s str> {
    let turn = scene.text();
    let plain = turn.plain();
    // A cheap test that rules most turns out.
    if turn.marks() & PLAYS == 0 && plain.is_ascii() {
        return None;
    }
    let [.., played, bare, other] = &PHRASES.persons;
    let words: Vec<&str> = turn.words().collect();
    let is_he = |at: usize| {
        let is_the = || at > 0 && THE.contains(&words[at - 1]);
        let is_theirs = || words.get(at + 1).is_some_and(|next| THEIRS.contains(next));
        bare.contains(words[at]) || played.contains(words[at]) && is_the() && !is_theirs()
    };
    // "The agent", "agenten": at the beginning of a sentence.
    let begins = |at: usize| {
        let first = if at > 0 && THE.contains(&words[at - 1]) { at - 1 } else { at };
        plain[..turn.places()[first].start].trim_end().chars().next_back().is_none_or(is_sentence_end)
    };
    let is_other = |at: usize| other.contains(words[at]) && begins(at) && words.len() > at + 2 && !turn.asks();
    let spaced =
        || (0..words.len()).find(|at| is_he(*at) || is_other(*at)).map(|at| (turn.places()[at].start, words[at]));
    let joined = || {
        let mut all = JOINED_USERS.into_iter().filter(|_| !plain.is_ascii());
        all.find_map(|word| Some((plain.find(word)?, word)))
    };
    let (start, word) = spaced().or_else(joined)?;
    // Who has to do with users or agents speaks of them. Facts name the user always.
    let known = scene.messages.iter().map(|(_, text)| text).chain(scene.tasks);
    let is_of_case = known.into_iter().any(|text| text.plain().contains(word));
    (!is_of_case && !turn.is_quoted(start)).then(|| turn.sentence(start))
}

/// The sentence that says what the turn has to say next, to nobody.
pub(super) fn planned<'s>(scene: &'s Scene<'_>) -> Option<&'s str> {
    let turn = scene.text();
    // A cheap test that rules most turns out.
    if turn.marks() & NOW == 0 {
        return None;
    }
    turn.plain().split_inclusive(is_sentence_end).map(str::trim).find(|sentence| {
        let view = TextView::new(*sentence);
        let has = |words: &Words| view.words().any(|word| words.contains(word));
        let says = || view.words().any(|word| PHRASES.says.iter().any(|begin| word.starts_with(begin)));
        let is_of_somebody = |word: &str| YOU.contains(&word) || PHRASES.possessives.contains_key(word);
        let says_so = || PHRASES.has_first_person(sentence) || !view.words().any(|word| BOTH.contains(&word));
        !view.asks()
            && has(&PHRASES.now)
            && has(&PHRASES.due)
            && says()
            && !view.words().any(is_of_somebody)
            && says_so()
    })
}

/// Forms of what is due that are others' as well.
const BOTH: [&str; 11] = ["should", "must", "need", "will", "sollte", "muss", "soll", "moet", "zou", "zal", "maste"];

#[cfg(test)]
mod tests {
    use crate::conversation::guard::{GuardInput, check};
    use crate::evidence::{Guard, Message, Role};

    fn is_found(turn: &str) -> bool {
        let transcript =
            [Message::new(Role::User, "I want a new key."), Message::new(Role::Assistant, "Shall I order one?")];
        let found = check(&GuardInput {
            has_facts: false,
            tasks: &["Have a new key made"],
            facts: &["The user's flat is 12B"],
            signoff: "So Long",
            transcript: &transcript,
            turn,
            ..GuardInput::default()
        });
        found.iter().any(|finding| finding.guard == Guard::ReasoningLeak)
    }

    /// The same of an opening with a task.
    fn is_found_with(task: &str, turn: &str) -> bool {
        let input = GuardInput { tasks: &[task], signoff: "So Long", turn, ..GuardInput::default() };
        check(&input).iter().any(|finding| finding.guard == Guard::ReasoningLeak)
    }

    #[test]
    fn who_has_to_do_with_users_or_agents_speaks_of_them() {
        for (task, turn) in [
            ("Find out how to remove a user from the workspace", "How do I remove the user from our workspace?"),
            ("Complain about the estate agent", "The agent never showed me the flat."),
        ] {
            assert!(!is_found_with(task, turn), "{turn}");
        }
        // A sign that is a letter to some and none to others stands before a label.
        assert!(!is_found_with("Ask for a parking space", "🅿 План парковки готов."));
    }

    #[test]
    fn who_speaks_of_the_user_or_plans_aloud_is_no_user() {
        for turn in [
            "Note: the user is content now.",
            "Penso che l'utente ringrazi. Grazie!",
            "Пользователь доволен. Спасибо!",
            "I should agree now. Yes, please.",
            "Ik moet nu instemmen. Graag!",
        ] {
            assert!(is_found(turn), "{turn}");
        }
        for turn in [
            "The user account is locked, too.",
            "Can another user have one?",
            "I need to ask my wife now.",
            "You should answer now.",
            "Ich muss jetzt meinen Mann fragen.",
        ] {
            assert!(!is_found(turn), "{turn}");
        }
    }
}
